import { histogram } from "./charts.js";
import { h, table } from "./dom.js";
import { count, fixed, percent } from "./numbers.js";
import { bar, card, topicLink } from "./parts.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {import("./model.js").Comparison} Comparison
 * @typedef {import("./model.js").Match} Match
 */

const N_WORDS = 10; // of each topic

/**
 * Two models side by side.
 * @param {Context} context
 */
export function compare(context) {
	const given = /** @type {Comparison} */ (context.model.compare);
	const near = given.pairs.filter(([, , distance]) => distance <= given.noCounterpart);
	const [left, right] = given.names;
	return h(
		"div",
		{ class: "view" },
		h("h1", {}, "Compare"),
		h(
			"p",
			{ class: "lead" },
			`${left} (${count(context.model.nTopics)} topics) and ${right} (${count(given.words.length)} topics)`,
		),
		h(
			"dl",
			{ class: "tiles" },
			tile("topics in both", count(near.length)),
			tile(`only in ${left}`, count(given.onlyLeft.length)),
			tile(`only in ${right}`, count(given.onlyRight.length)),
			tile("mean distance", fixed(given.mean)),
			tile("words in both", count(given.sharedWords)),
		),
		card(
			"How far apart matched topics are",
			"l1 distance of the word probabilities: 0 if two topics are equal, 2 if they share no word. Topics are matched so that the sum of the distances is smallest.",
			histogram(
				given.pairs.map(([, , distance]) => distance),
				"Distances of matched topics",
				"distance",
				[0, 2],
			),
		),
		card(
			"Topics in both",
			near.length ? "Words that are not among the first of the other topic are grey." : null,
			near.length ? pairTable(context, given, near) : h("p", { class: "note" }, "No two topics are nearer than 1."),
		),
		h(
			"div",
			{ class: "columns" },
			onlyCard(
				left,
				given.onlyLeft,
				(t) => own(context, t),
				(t) => theirs(given, t),
			),
			onlyCard(
				right,
				given.onlyRight,
				(t) => theirs(given, t),
				(t) => own(context, t),
			),
		),
	);
}

/**
 * @param {string} name
 * @param {string} value
 */
function tile(name, value) {
	return h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value));
}

/**
 * A topic of the other model.
 * @param {Comparison} given
 * @param {number} topic
 */
function theirs(given, topic) {
	const name = given.labels[String(topic)] || given.words[topic].slice(0, 3).join(", ");
	return h(
		"span",
		{},
		h("span", { class: "topic-number" }, String(topic)),
		" ",
		h("bdi", { class: given.labels[String(topic)] ? "label" : "words" }, name),
		h("span", { class: "muted" }, ` ${percent(given.shares[topic])}`),
	);
}

/**
 * A topic of this model.
 * @param {Context} context
 * @param {number} topic
 */
function own(context, topic) {
	return h(
		"span",
		{},
		topicLink(context, topic),
		h("span", { class: "muted" }, ` ${percent(context.model.shares[topic])}`),
	);
}

/**
 * The words of a topic; those that its partner has, too, are darker.
 * @param {string[]} words
 * @param {string[]} others
 */
function wordsBeside(words, others) {
	const shared = new Set(others);
	return h(
		"div",
		{ class: "small" },
		...words.flatMap((word, i) => [i ? ", " : "", h("bdi", { class: shared.has(word) ? null : "muted" }, word)]),
	);
}

/**
 * @param {Context} context
 * @param {Comparison} given
 * @param {Match[]} pairs
 */
function pairTable(context, given, pairs) {
	return table(
		"Matched topics",
		[given.names[0], given.names[1], "distance"],
		pairs.map(([mine, other, distance]) => {
			const [left, right] = [context.model.typicalWords(mine, N_WORDS), given.words[other].slice(0, N_WORDS)];
			return [
				h("div", {}, own(context, mine), wordsBeside(left, right)),
				h("div", {}, theirs(given, other), wordsBeside(right, left)),
				h(
					"span",
					{ class: "distance" },
					bar(distance / 2, "var(--accent)"),
					h("span", { class: "number" }, fixed(distance)),
				),
			];
		}),
		"plain compared",
	);
}

/**
 * The topics of one model without a counterpart, with the nearest topic of the other model.
 * @param {string} name
 * @param {Match[]} rows
 * @param {(topic: number) => Node} show
 * @param {(topic: number) => Node} showOther
 */
function onlyCard(name, rows, show, showOther) {
	const title = `Only in ${name}`;
	if (!rows.length) return card(title, null, h("p", { class: "note" }, "Every topic has a counterpart."));
	return card(
		title,
		"No topic of the other model is matched with these, or it is further away than 1. The nearest one stands beside.",
		table(
			title,
			["topic", "nearest in the other", "#distance"],
			rows.map(([topic, nearest, distance]) => [show(topic), showOther(nearest), fixed(distance)]),
			"plain only",
		),
	);
}
