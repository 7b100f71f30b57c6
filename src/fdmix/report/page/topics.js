import { colourOf } from "./colours.js";
import { h, say, switcher } from "./dom.js";
import { count, fixed, percent } from "./numbers.js";
import { bar, dot } from "./parts.js";
import { topicAddress } from "./route.js";
import { treemap } from "./treemap.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {{ name: string, title: string, value: (topic: number) => number, text: (topic: number) => string }} Measure
 */

const MANY_TOPICS = 120; // from here on, the treemap gives the better first impression
const N_WORDS = 10;
const ROWS_A_FRAME = 30; // a screen full of rows appears at once, the others in the next frames

const state = { query: "", sort: "share", form: "" };

/**
 * All topics, as a table or a treemap.
 * @param {Context} context
 */
export function topics(context) {
	const { model, labels } = context;
	state.form ||= model.nTopics >= MANY_TOPICS ? "treemap" : "table";
	const rows = /** @type {(HTMLTableRowElement | undefined)[]} */ (new Array(model.nTopics));
	const measures = measuresOf(context);
	const place = h("div", { class: "place" });
	const found = h("p", { class: "note", role: "status" });

	const show = () => {
		const { topics: matching, words } = model.matching(state.query, (t) => labels.label(t));
		const chosen = measures.find((measure) => measure.name === state.sort);
		const order = state.query && state.sort === "share" ? matching : sorted(matching, chosen);
		found.textContent =
			matching.length === model.nTopics
				? `${count(model.nTopics)} topics`
				: `${count(matching.length)} of ${count(model.nTopics)} topics have ${state.query.trim()}`;
		if (state.form === "treemap") {
			place.replaceChildren(treemap(context, order));
		} else {
			const notes = h("p", { class: "note below" }, columnNotes(context));
			place.replaceChildren(topicTable(context, order, measures, words, rows, sortBy), notes);
		}
	};
	const sortBy = (/** @type {string} */ name) => {
		state.sort = name;
		show();
		say(`Sorted by ${name}.`);
	};
	const input = h("input", {
		type: "search",
		id: "filter",
		value: state.query,
		placeholder: exampleOf(context),
		autocomplete: "off",
		spellcheck: "false",
		on: {
			input: (/** @type {InputEvent} */ event) => {
				state.query = /** @type {HTMLInputElement} */ (event.target).value;
				show();
			},
		},
	});
	const forms = h("div", {});
	const choose = (/** @type {string} */ form) => {
		state.form = form;
		forms.replaceChildren(formSwitch());
		show();
		forms.querySelector('[aria-pressed="true"]')?.dispatchEvent(new Event("focus"));
	};
	const formSwitch = () =>
		switcher(
			"Form",
			[
				["table", "Table"],
				["treemap", "Treemap"],
			],
			state.form,
			choose,
		);
	forms.append(formSwitch());
	const view = h(
		"div",
		{ class: "view" },
		h("h1", {}, "Topics"),
		h(
			"div",
			{ class: "toolbar" },
			h("label", { for: "filter" }, "Topics that have"),
			input,
			forms,
			h("button", { type: "button", on: { click: () => labels.download() } }, "Export labels"),
		),
		found,
		place,
	);
	requestAnimationFrame(show);
	return view;
}

/**
 * Two words to filter by, from the largest topic.
 * @param {Context} context
 */
function exampleOf({ model }) {
	return model.typicalWords(d3.maxIndex(model.shares), 2).join(" ");
}

/**
 * What the columns mean.
 * @param {Context} context
 */
function columnNotes({ model }) {
	const { quality } = model.facts;
	const hasCoherence = quality.coherence.some((/** @type {number | null} */ value) => value !== null);
	return [
		"Share: how much of the text the topic makes up.",
		hasCoherence ? "Coherence: whether its top words occur together, from −1 to 1 (NPMI)." : "",
		"Exclusive: how much of its top words is its own, against all topics.",
		quality.reliability ? "Comes back: in how many refits to resampled documents it is found again." : "",
	]
		.filter(Boolean)
		.join(" ");
}

/**
 * @param {Context} context
 * @returns {Measure[]}
 */
function measuresOf({ model }) {
	const { quality } = model.facts;
	/** @type {Measure[]} */
	const measures = [
		{ name: "topic", title: "Topic", value: (t) => -t, text: String },
		{
			name: "share",
			title: "Share",
			value: (t) => model.shares[t],
			text: (t) => percent(model.shares[t]),
		},
	];
	if (quality.coherence.some((/** @type {number | null} */ value) => value !== null)) {
		measures.push({
			name: "coherence",
			title: "Coherence",
			value: (t) => quality.coherence[t] ?? -2,
			text: (t) => fixed(quality.coherence[t]),
		});
	}
	measures.push({
		name: "exclusivity",
		title: "Exclusive",
		value: (t) => quality.exclusivity[t] ?? 0,
		text: (t) => percent(quality.exclusivity[t] ?? 0),
	});
	if (quality.reliability) {
		measures.push({
			name: "returned",
			title: "Comes back",
			value: (t) => quality.reliability.returned[t],
			text: (t) => percent(quality.reliability.returned[t]),
		});
	}
	return measures;
}

/**
 * @param {number[]} list
 * @param {Measure | undefined} measure
 */
function sorted(list, measure) {
	return measure ? [...list].sort((a, b) => measure.value(b) - measure.value(a) || a - b) : list;
}

/**
 * @param {Context} context
 * @param {number[]} order
 * @param {Measure[]} measures
 * @param {Set<number>} matched
 * @param {(HTMLTableRowElement | undefined)[]} rows
 * @param {(name: string) => void} sortBy
 */
function topicTable(context, order, measures, matched, rows, sortBy) {
	const { model } = context;
	const top = d3.max(model.shares) || 1;
	const heading = (/** @type {Measure} */ measure, /** @type {string} */ className = "number") =>
		h(
			"th",
			{
				scope: "col",
				class: className,
				"aria-sort": state.sort === measure.name ? "descending" : null,
			},
			h("button", { type: "button", on: { click: () => sortBy(measure.name) } }, measure.title),
		);
	const [number, share, ...others] = measures;
	const rowOf = (/** @type {number} */ t) => {
		const row = rows[t] ?? topicRow(context, t, measures, top);
		rows[t] = row;
		for (const word of row.querySelectorAll("[data-word]")) {
			word.classList.toggle("hit", matched.has(Number(word.getAttribute("data-word"))));
		}
		return row;
	};
	const body = h("tbody", {}, ...order.slice(0, ROWS_A_FRAME).map(rowOf));
	const more = (/** @type {number} */ done) => {
		if (done >= order.length || (done > ROWS_A_FRAME && !body.isConnected)) return;
		requestAnimationFrame(() => {
			body.append(...order.slice(done, done + ROWS_A_FRAME).map(rowOf));
			more(done + ROWS_A_FRAME);
		});
	};
	more(ROWS_A_FRAME);
	return h(
		"table",
		{ class: "topics" },
		h("caption", { class: "hidden-text" }, "Topics with their share of the text and their words"),
		h(
			"thead",
			{},
			h(
				"tr",
				{},
				heading(number),
				heading(share, "share"),
				h("th", { scope: "col" }, "Words"),
				...others.map((measure) => heading(measure)),
			),
		),
		body,
	);
}

/**
 * @param {Context} context
 * @param {number} topic
 * @param {Measure[]} measures
 * @param {number} top
 */
function topicRow(context, topic, measures, top) {
	const { model, labels } = context;
	const label = labels.label(topic);
	const words = model.typical[topic].slice(0, N_WORDS);
	return h(
		"tr",
		{},
		h(
			"th",
			{ scope: "row", class: "number" },
			h("a", { href: topicAddress(topic), class: "topic-link" }, dot(context, topic), String(topic)),
		),
		h(
			"td",
			{ class: "share" },
			h(
				"span",
				{ class: "share-bar" },
				h("span", { class: "number" }, percent(model.shares[topic])),
				bar(model.shares[topic] / top, colourOf(model, topic)),
			),
		),
		h(
			"td",
			{},
			h(
				"a",
				{ href: topicAddress(topic), class: "words-cell" },
				label ? h("strong", { class: "label" }, label) : null,
				...words.flatMap((word) => [h("bdi", { "data-word": word }, model.words[word]), " "]),
			),
		),
		...measures.slice(2).map((measure) => h("td", { class: "number" }, measure.text(topic))),
	);
}
