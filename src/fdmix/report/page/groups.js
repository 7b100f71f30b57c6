import { colourOf } from "./colours.js";
import { chart, horizontalAxis, verticalAxis } from "./charts.js";
import { behind, h, svg, table } from "./dom.js";
import { count, percent } from "./numbers.js";
import { topicLink } from "./parts.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {import("./model.js").Groups} Groups
 */

const N_CHARTS = 48;

/**
 * The shares of topics in groups of documents, those that differ most between groups first.
 * @param {Context} context
 */
export function groups(context) {
	const { model } = context;
	const given = /** @type {Groups} */ (model.groups);
	const variation = (/** @type {number} */ t) => {
		const values = given.shares.map((row) => row[t]).filter((share) => share !== null);
		return (d3.deviation(values) ?? 0) / (d3.mean(given.errors, (row) => row[t]) || 1e-9);
	};
	const order = d3.range(model.nTopics).sort((a, b) => variation(b) - variation(a) || a - b);
	return h(
		"div",
		{ class: "view" },
		h("h1", {}, `By ${given.column}`),
		h("p", { class: "note" }, explained(given, model.nTopics)),
		h(
			"div",
			{ class: "small-multiples" },
			...order
				.slice(0, N_CHARTS)
				.map((t) =>
					h(
						"section",
						{ class: "card" },
						h("h2", {}, topicLink(context, t)),
						groupChart(context, given, t),
						...changes(given, t),
					),
				),
		),
	);
}

/**
 * What the charts show.
 * @param {Groups} given
 * @param {number} nTopics
 */
function explained(given, nTopics) {
	const isMonthly = given.ordered && given.names.every((name) => /^\d{4}-\d{2}$/.test(name));
	const unit = isMonthly ? "months" : "groups";
	const one = isMonthly ? "month" : "group";
	const what = given.low
		? `Share of each topic, fitted to the word pairs of a ${one}`
		: `Mean share of each topic in the documents of a ${one}`;
	const leftOut = given.nLeftOut ? ` (${count(given.nLeftOut)} smaller ones are left out)` : "";
	const first =
		nTopics > N_CHARTS
			? `The ${N_CHARTS} of ${count(nTopics)} topics that differ most between ${unit}; each topic's page has its own chart.`
			: `Topics that differ most between ${unit} come first.`;
	const drawn = given.ordered ? "The band is" : "The bars are";
	return `${what}, over ${count(given.names.length)} ${unit}${leftOut}. ${drawn} the 95% interval. ${first}`;
}

/**
 * The words of a topic that rise and fall over time, if there are any.
 * @param {Groups} given
 * @param {number} topic
 */
function changes(given, topic) {
	/** @type {[string, string[]][]} */
	const lists = [
		["Rising words: ", given.rises?.[topic] ?? []],
		["Falling words: ", given.falls?.[topic] ?? []],
	];
	return lists
		.filter(([, words]) => words.length)
		.map(([name, words]) => h("p", { class: "note changes" }, h("strong", {}, name), words.join(", ")));
}

/**
 * The share of one topic in each group. Groups without documents are gaps.
 * @param {Context} context
 * @param {Groups} given
 * @param {number} topic
 */
export function groupChart({ model, labels }, given, topic) {
	const shares = given.shares.map((row) => row[topic] ?? 0);
	const errors = given.errors.map((row) => 1.96 * (row[topic] ?? 0));
	const low = shares.map((share, i) => given.low?.[i][topic] ?? Math.max(0, share - errors[i]));
	const high = shares.map((share, i) => given.high?.[i][topic] ?? share + errors[i]);
	const isKnown = (/** @type {number} */ i) => given.shares[i][topic] !== null;
	const places = d3.range(given.names.length);
	const title = `Share of topic ${topic} (${labels.name(topic)}) by ${given.column}`;
	const draw = (/** @type {import("./charts.js").Box} */ box) => {
		const x = d3.scalePoint(places, [box.left + 8, box.right - 4]).padding(given.ordered ? 0 : 0.4);
		const y = d3.scaleLinear([0, d3.max(high) || 1e-6], [box.bottom, box.top - 12]).nice(3);
		const at = (/** @type {number} */ i) => x(i) ?? 0;
		/** @type {[number, string][]} */
		const ticks = shownGroups(given, box.right - box.left).map(([i, text]) => [at(i), text]);
		return [
			...verticalAxis(box, y, y.ticks(3), percentOf(y)),
			...(given.ordered
				? [
						svg("path", {
							class: "band",
							d: d3
								.area(
									(/** @type {number} */ i) => at(i),
									(/** @type {number} */ i) => y(low[i]),
									(/** @type {number} */ i) => y(high[i]),
								)
								.defined(isKnown)(places),
						}),
						svg("path", {
							class: "line",
							d: d3.line(at, (/** @type {number} */ i) => y(shares[i])).defined(isKnown)(places),
						}),
					]
				: places
						.filter(isKnown)
						.flatMap((i) => [
							svg("line", { class: "whisker", x1: at(i), x2: at(i), y1: y(low[i]), y2: y(high[i]) }),
							svg("circle", { cx: at(i), cy: y(shares[i]), r: 3.5 }),
						])),
			...horizontalAxis(box, ticks),
		];
	};
	return h(
		"figure",
		{ style: { "--c": colourOf(model, topic) } },
		chart(title, { height: 150, left: 44, hasTitleBelow: false }, draw),
		behind("As a table", () =>
			table(
				title,
				[given.column, "#share", "#95% from", "#to", "#documents"],
				places.map((i) => [
					given.names[i],
					...(isKnown(i) ? [shares[i], low[i], high[i]].map(percent) : ["–", "–", "–"]),
					count(given.documents[i]),
				]),
			),
		),
	);
}

/**
 * Shares on an axis, all with as many digits as the smallest step needs.
 * @param {d3.ScaleLinear<number, number>} y
 */
function percentOf(y) {
	const ticks = y.ticks(3);
	const step = 100 * ((ticks[1] ?? 1) - (ticks[0] ?? 0));
	const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
	return (/** @type {number} */ tick) => `${(100 * tick).toFixed(digits)}%`;
}

/**
 * The groups whose names fit below a chart. Of many months, the Januaries stand for their years.
 * @param {Groups} given
 * @param {number} width pixels
 * @returns {[number, string][]} places and texts
 */
function shownGroups(given, width) {
	const places = d3.range(given.names.length);
	const januaries = places.filter((i) => /^\d{4}-01$/.test(given.names[i]));
	if (given.ordered && given.names.length > 24 && januaries.length > 2) {
		const step = Math.ceil((januaries.length * 38) / width);
		return januaries.filter((_, k) => k % step === 0).map((i) => [i, given.names[i].slice(0, 4)]);
	}
	const letters = Math.min(14, d3.max(given.names, (name) => name.length) ?? 1);
	const most = Math.max(1, Math.floor(width / (letters * 6.3 + 12)));
	const step = Math.ceil(places.length / most);
	return places.filter((i) => i % step === 0).map((i) => [i, shortName(given.names[i], letters)]);
}

/**
 * @param {string} name
 * @param {number} letters
 */
function shortName(name, letters) {
	return name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
}
