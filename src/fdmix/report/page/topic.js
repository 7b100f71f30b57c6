import { colourOf } from "./colours.js";
import { h, say } from "./dom.js";
import { groupChart, seriesLegend } from "./groups.js";
import { fixed, percent, times } from "./numbers.js";
import { bar, card, dot, topicLink, wordLink } from "./parts.js";
import { topicAddress } from "./route.js";

/** @typedef {import("./parts.js").Context} Context */

const N_WORDS = 30;
const N_RELATED = 8;
const N_RARELY_RELATED = 3; // if none comes together with it more often than by chance
const N_OWN = 24;
const N_DOCUMENTS_AT_FIRST = 5;

/** @type {{ lambda: number | null }} */
const state = { lambda: null }; // as the model ranks its words, until somebody moves the slider

/**
 * One topic.
 * @param {Context} context
 * @param {number} topic
 */
export function topicView(context, topic) {
	const { model } = context;
	const order = d3.range(model.nTopics).sort((a, b) => model.shares[b] - model.shares[a] || a - b);
	const place = order.indexOf(topic);
	const { coherence, exclusivity, reliability } = model.facts.quality;
	const facts = [
		`${percent(model.shares[topic])} of the text`,
		`number ${place + 1} of ${model.nTopics} by size`,
		coherence[topic] === null ? "" : `coherence ${fixed(coherence[topic])}`,
		`top words ${percent(exclusivity[topic] ?? 0)} exclusive`,
		reliability
			? `came back in ${percent(reliability.returned[topic])} of ${reliability.refits} refits; ` +
				`share ${percent(reliability.low[topic])} to ${percent(reliability.high[topic])} ` +
				`(${reliability.interval})`
			: "",
	];
	return h(
		"div",
		{ class: "view" },
		heading(context, topic, order, place),
		h("p", { class: "lead" }, facts.filter(Boolean).join(" · ")),
		h(
			"div",
			{ class: "columns wide-left" },
			wordsCard(context, topic),
			h(
				"div",
				{ class: "stack" },
				ownCard(context, topic),
				relatedCard(context, topic),
				nearestCard(context, topic),
				model.groups
					? card(
							`By ${model.groups.column}`,
							null,
							seriesLegend(model.groups),
							groupChart(context, model.groups, topic),
						)
					: null,
			),
		),
		documentsCard(context, topic),
	);
}

/**
 * @param {Context} context
 * @param {number} topic
 * @param {number[]} order
 * @param {number} place
 */
function heading(context, topic, order, place) {
	const { model, labels } = context;
	const title = h("span", { class: labels.label(topic) ? "label" : "words" }, labels.name(topic));
	const input = h("input", {
		id: "label",
		type: "text",
		maxlength: 200,
		value: labels.text(topic),
		placeholder: "give this topic a name",
		autocomplete: "off",
		on: {
			change: (/** @type {Event} */ event) => {
				labels.set(topic, /** @type {HTMLInputElement} */ (event.target).value);
				title.textContent = labels.name(topic);
				title.className = labels.label(topic) ? "label" : "words";
				say(labels.label(topic) ? `Topic ${topic} is now ${labels.label(topic)}.` : "The label was removed.");
			},
		},
	});
	const step = (/** @type {number} */ by, /** @type {string} */ text) => {
		const other = order[(place + by + model.nTopics) % model.nTopics];
		return h("a", { class: "button", href: topicAddress(other), "aria-label": text }, by < 0 ? "←" : "→");
	};
	return h(
		"div",
		{ class: "topic-heading", style: { "--c": colourOf(model, topic) } },
		h("h1", {}, dot(context, topic), h("span", { class: "muted" }, `Topic ${topic} `), title),
		h(
			"div",
			{ class: "toolbar" },
			h("label", { for: "label" }, "Label"),
			input,
			h("button", { type: "button", on: { click: () => labels.download() } }, "Export labels"),
			model.nTopics > 1 ? step(-1, "The next larger topic") : null,
			model.nTopics > 1 ? step(1, "The next smaller topic") : null,
		),
	);
}

/**
 * @param {Context} context
 * @param {number} topic
 */
function wordsCard(context, topic) {
	const { model } = context;
	const body = h("tbody", {});
	const value = h("output", { for: "lambda" });
	const show = () => {
		const lambda = state.lambda ?? model.relevance;
		value.textContent = lambda.toFixed(2);
		const words = model.topicWords(topic, lambda, N_WORDS);
		const longest = d3.max(words, (each) => each.inTopic) || 1;
		body.replaceChildren(
			...words.map((each) =>
				h(
					"tr",
					{},
					h("th", { scope: "row" }, wordLink(context, each.word)),
					h(
						"td",
						{ class: "bar-cell" },
						bar(each.inTopic / longest, colourOf(model, topic), each.inCorpus / longest),
					),
					h("td", { class: "number" }, percent(each.inTopic)),
					h("td", { class: "number" }, percent(each.inCorpus)),
					h("td", { class: "number" }, times(each.inTopic / (each.inCorpus || each.inTopic))),
				),
			),
		);
	};
	const slider = h("input", {
		type: "range",
		id: "lambda",
		min: 0,
		max: 1,
		step: 0.05,
		value: state.lambda ?? model.relevance,
		on: {
			input: (/** @type {Event} */ event) => {
				state.lambda = Number(/** @type {HTMLInputElement} */ (event.target).value);
				show();
			},
		},
	});
	show();
	return card(
		"Words",
		null,
		h(
			"div",
			{ class: "slider" },
			h("label", { for: "lambda" }, "Relevance λ"),
			value,
			h("span", { class: "muted scale-end" }, "rare elsewhere"),
			slider,
			h("span", { class: "muted scale-end" }, "most frequent"),
		),
		h(
			"table",
			{ class: "bars" },
			h("caption", { class: "hidden-text" }, "Words of the topic by relevance"),
			h(
				"thead",
				{},
				h(
					"tr",
					{},
					h("th", { scope: "col" }, "word"),
					h("th", { scope: "col" }, h("span", { class: "hidden-text" }, "bar")),
					h("th", { scope: "col", class: "number" }, "in topic"),
					h("th", { scope: "col", class: "number" }, "in text"),
					h("th", { scope: "col", class: "number" }, "ratio"),
				),
			),
			body,
		),
		h("p", { class: "note" }, "Bar: share of the word in this topic. Line: its share in the whole text."),
	);
}

/**
 * @param {Context} context
 * @param {number} topic
 */
function ownCard(context, topic) {
	const words = context.model.ownWords(topic, N_OWN);
	return card(
		"Words that only this topic has",
		null,
		words.length
			? h("p", { class: "word-list" }, ...words.map(({ word }) => wordLink(context, word)))
			: h("p", { class: "note" }, "No word belongs to this topic by 90% or more."),
	);
}

/**
 * @param {Context} context
 * @param {number} topic
 */
function relatedCard(context, topic) {
	const { model } = context;
	const above = model.related(topic, N_RELATED);
	const related = above.length ? above : model.related(topic, N_RARELY_RELATED, 0);
	const most = related.length ? Math.max(1, model.liftOf(topic, related[0])) : 1;
	return card(
		"Comes together with",
		above.length
			? "How often both are in a document, against chance. The line marks chance (1×)."
			: "It shares documents with other topics less often than by chance. Those that come nearest to chance (1×):",
		related.length
			? h(
					"ol",
					{ class: "ranked" },
					...related.map((t) =>
						h(
							"li",
							{},
							topicLink(context, t),
							bar(model.liftOf(topic, t) / most, colourOf(model, t), 1 / most),
							h("span", { class: "number" }, times(model.liftOf(topic, t))),
						),
					),
				)
			: h("p", { class: "note" }, "It shares no document with another topic."),
	);
}

/**
 * @param {Context} context
 * @param {number} topic
 */
function nearestCard(context, topic) {
	const nearest = context.model.nearestOf(topic);
	if (!nearest.length) return null;
	return card(
		"Topics with similar words",
		null,
		h("ul", { class: "topic-list" }, ...nearest.map((t) => h("li", {}, topicLink(context, t)))),
	);
}

/**
 * @param {Context} context
 * @param {number} topic
 */
function documentsCard({ model }, topic) {
	if (!model.documents) return null;
	const documents = model.documents[topic];
	const list = h("ol", { class: "documents" }, ...documents.slice(0, N_DOCUMENTS_AT_FIRST).map(documentItem));
	const rest = documents.slice(N_DOCUMENTS_AT_FIRST);
	const more = h(
		"button",
		{
			type: "button",
			on: {
				click: () => {
					list.append(...rest.map(documentItem));
					more.remove();
					/** @type {HTMLElement | null} */ (list.children[N_DOCUMENTS_AT_FIRST])?.focus();
				},
			},
		},
		`Show ${rest.length} more`,
	);
	return card(
		"Most typical documents",
		"Near copies are left out. Marked: words that are at least twice as frequent in this topic as in the text.",
		documents.length ? list : h("p", { class: "note" }, "No document has this topic."),
		rest.length ? more : null,
	);
}

/** @param {import("./model.js").TypicalDocument} document */
function documentItem(document) {
	return h(
		"li",
		{ tabindex: -1 },
		h(
			"p",
			{ class: "note" },
			`${percent(document.share)} of this document · number ${document.number}`,
			document.place ? ` · ${document.place}` : "",
		),
		h("blockquote", { dir: "auto" }, ...document.pieces.map((piece, i) => (i % 2 ? h("mark", {}, piece) : piece))),
	);
}
