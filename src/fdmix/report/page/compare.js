import { h, table } from "./dom.js";
import { count, fixed, percent } from "./numbers.js";
import { histogram } from "./overview.js";
import { bar, card, topicLink } from "./parts.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {import("./model.js").Comparison} Comparison
 */

/**
 * Two models side by side.
 * @param {Context} context
 */
export function compare(context) {
	const given = /** @type {Comparison} */ (context.model.compare);
	const apart = given.pairs.filter(([, , distance]) => distance > given.noCounterpart);
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
			tile("mean distance", fixed(given.mean)),
			tile("matched", count(near.length)),
			tile("without a counterpart", count(apart.length)),
			tile("words in both", count(given.sharedWords)),
		),
		card(
			"How far apart matched topics are",
			"l1 distance of the word probabilities: 0 if two topics are equal, 2 if they share no word. Topics are matched so that the sum is smallest.",
			histogram(
				given.pairs.map(([, , distance]) => distance),
				"Distances of matched topics",
				"distance",
				[0, 2],
			),
		),
		card(
			"Matched topics",
			null,
			h(
				"div",
				{
					class: "scroll",
					tabindex: 0,
					role: "region",
					"aria-label": "Matched topics",
				},
				pairTable(context, given, near),
			),
		),
		onlyCard(context, given, apart),
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
 * @param {Comparison} given
 * @param {number} topic
 */
function other(given, topic) {
	const label = given.labels[String(topic)];
	return h(
		"span",
		{},
		h("span", { class: "topic-number" }, String(topic)),
		" ",
		label ? h("strong", { class: "label" }, `${label} `) : null,
		given.words[topic].slice(0, 8).join(", "),
		h("span", { class: "muted" }, ` ${percent(given.shares[topic])}`),
	);
}

/**
 * @param {Context} context
 * @param {number} topic
 */
function own(context, topic) {
	const { model } = context;
	const words = model.topicWords(topic, 1, 8).map(({ word }) => model.words[word]);
	return h(
		"span",
		{},
		topicLink(context, topic),
		h("span", { class: "muted" }, ` ${percent(model.shares[topic])}`),
		h("div", { class: "small" }, words.join(", ")),
	);
}

/**
 * @param {Context} context
 * @param {Comparison} given
 * @param {[number, number, number][]} pairs
 */
function pairTable(context, given, pairs) {
	return table(
		"Matched topics",
		[given.names[0], given.names[1], "distance"],
		pairs.map(([mine, theirs, distance]) => [
			own(context, mine),
			other(given, theirs),
			h(
				"span",
				{ class: "distance" },
				bar(distance / 2, "var(--accent)"),
				h("span", { class: "number" }, fixed(distance)),
			),
		]),
		"plain compared",
	);
}

/**
 * @param {Context} context
 * @param {Comparison} given
 * @param {[number, number, number][]} apart
 */
function onlyCard(context, given, apart) {
	const mine = [...apart.map(([t]) => t), ...given.onlyLeft].sort(d3.ascending);
	const theirs = [...apart.map(([, t]) => t), ...given.onlyRight].sort(d3.ascending);
	const list = (/** @type {Node[]} */ items) =>
		items.length
			? h("ul", { class: "only" }, ...items.map((item) => h("li", {}, item)))
			: h("p", { class: "note" }, "Every topic has a counterpart.");
	return h(
		"div",
		{ class: "columns" },
		card(
			`Only in ${given.names[0]}`,
			"No topic of the other model is nearer than 1.",
			list(mine.map((t) => own(context, t))),
		),
		card(`Only in ${given.names[1]}`, null, list(theirs.map((t) => other(given, t)))),
	);
}
