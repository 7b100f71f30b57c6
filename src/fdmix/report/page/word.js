import { colourOf } from "./colours.js";
import { h, table, wordText } from "./dom.js";
import { count, percent, times } from "./numbers.js";
import { bar, card, topicLink, wordLink } from "./parts.js";

/** @typedef {import("./parts.js").Context} Context */

const N_TOPICS = 15;
const N_PARTNERS = 12;
const N_WORDS = 100;
const NOT_EXPLAINED = 1.5; // Mhat / M

const state = { query: "" };

/**
 * One word: its topics, its partners, and the pairs that the model does not explain.
 * @param {Context} context
 * @param {number} word
 */
export function wordView(context, word) {
	const { model } = context;
	return h(
		"div",
		{ class: "view" },
		h("h1", {}, h("span", { class: "muted" }, "Word "), wordText(model.words[word])),
		h("p", { class: "lead" }, `${percent(model.wordShares[word])} of the text`),
		h(
			"div",
			{ class: "columns" },
			h("div", { class: "stack" }, topicsCard(context, word), unexplainedCard(context, word)),
			partnersCard(context, word),
		),
	);
}

/**
 * @param {Context} context
 * @param {number} word
 */
function topicsCard(context, word) {
	const { model } = context;
	const found = model.topicsOf(word);
	return card(
		"Its topics",
		"p(topic | word): the share of the word's tokens that come from the topic.",
		found.length
			? h(
					"ol",
					{ class: "ranked" },
					...found
						.slice(0, N_TOPICS)
						.map(({ topic, ofWord }) =>
							h(
								"li",
								{},
								topicLink(context, topic),
								bar(ofWord / found[0].ofWord, colourOf(model, topic)),
								h("span", { class: "number" }, percent(ofWord)),
							),
						),
				)
			: h("p", { class: "note" }, "No topic has this word."),
		found.length > N_TOPICS ? h("p", { class: "note" }, `and ${count(found.length - N_TOPICS)} more topics`) : null,
	);
}

/**
 * A link to the other word of a pair.
 * @param {Context} context
 * @param {import("./model.js").Pair} pair
 * @param {number} word
 */
function otherLink(context, pair, word) {
	return wordLink(context, pair.word === word ? pair.other : pair.word);
}

/**
 * @param {Context} context
 * @param {number} word
 */
function partnersCard(context, word) {
	const { model } = context;
	const partners = model.partners(word, N_PARTNERS);
	return card(
		"Its strongest partners",
		model.hasPairs
			? "How often both are in a document, against chance, as counted in the text. Frequent pairs come first."
			: "How often both are in a document, against chance, as the model has it (give --moments for counts).",
		partners.length
			? table(
					"Words that come together with it",
					["word", "#against chance"],
					partners.map((pair) => [otherLink(context, pair, word), times(pair.lift)]),
				)
			: h("p", { class: "note" }, "No partner is kept in this page."),
	);
}

/**
 * @param {Context} context
 * @param {number} word
 */
function unexplainedCard(context, word) {
	const { model } = context;
	if (!model.hasPairs) return null;
	const strange = (model.pairsOfWord.get(word) ?? [])
		.filter((pair) => (pair.ratio ?? 0) >= NOT_EXPLAINED)
		.sort((a, b) => b.seen * Math.log(b.ratio ?? 1) - a.seen * Math.log(a.ratio ?? 1))
		.slice(0, N_PARTNERS);
	return card(
		"Pairs the model does not explain",
		"How often both are in a document, against what the topics predict. Frequent pairs come first.",
		strange.length
			? table(
					"Pairs that the model does not explain",
					["word", "#against the model"],
					strange.map((pair) => [otherLink(context, pair, word), times(pair.ratio ?? 0)]),
				)
			: h("p", { class: "note" }, "The topics explain all its frequent pairs."),
	);
}

/**
 * All words, and the pairs of the whole text that the model does not explain.
 * @param {Context} context
 */
export function words(context) {
	const { model } = context;
	const order = d3.range(model.nWords).sort((a, b) => model.wordShares[b] - model.wordShares[a] || a - b);
	const place = h("div", {});
	const found = h("p", { class: "note", role: "status" });
	const show = () => {
		const query = state.query.trim().toLowerCase();
		const matching = query ? order.filter((u) => model.words[u].toLowerCase().includes(query)) : order;
		found.textContent =
			matching.length > N_WORDS
				? `The ${N_WORDS} most frequent of ${count(matching.length)} words`
				: `${count(matching.length)} words`;
		place.replaceChildren(
			table(
				"Words",
				["word", "#share", "best topic", "#its part"],
				matching.slice(0, N_WORDS).map((u) => {
					const best = model.topicsOf(u)[0];
					return [
						wordLink(context, u),
						percent(model.wordShares[u]),
						best ? topicLink(context, best.topic) : "–",
						best ? percent(best.ofWord) : "–",
					];
				}),
				"plain words-table",
			),
		);
	};
	show();
	return h(
		"div",
		{ class: "view" },
		h("h1", {}, "Words"),
		h(
			"div",
			{ class: "toolbar" },
			h("label", { for: "word-filter" }, "Words that contain"),
			h("input", {
				type: "search",
				id: "word-filter",
				value: state.query,
				autocomplete: "off",
				spellcheck: "false",
				on: {
					input: (/** @type {Event} */ event) => {
						state.query = /** @type {HTMLInputElement} */ (event.target).value;
						show();
					},
				},
			}),
		),
		h("div", { class: "columns" }, h("section", { class: "card" }, found, place), unexplained(context)),
	);
}

/** @param {Context} context */
function unexplained(context) {
	const { model } = context;
	const title = "Pairs the model does not explain";
	if (!model.hasPairs) {
		return card(
			title,
			null,
			h("p", { class: "note" }, "This needs word-pair counts: fdmix report MODEL --moments FILE."),
		);
	}
	if (!model.unexplained.length) {
		return card(title, null, h("p", { class: "note" }, "The topics explain all frequent pairs of words."));
	}
	return card(
		title,
		"Words that are seen together more often than the topics predict: phrases, boilerplate, or topics that are missing.",
		table(
			title,
			["pair", "#against the model", "#against chance"],
			model.unexplained.map((pair) => [
				h(
					"span",
					{},
					wordLink(context, pair.word),
					h("span", { class: "muted" }, " + "),
					wordLink(context, pair.other),
				),
				times(pair.ratio ?? 0),
				times(pair.lift),
			]),
		),
	);
}
