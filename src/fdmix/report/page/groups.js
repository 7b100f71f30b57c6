import { colourOf } from "./colours.js";
import { chart, horizontalAxis, verticalAxis } from "./charts.js";
import { behind, h, svg, table } from "./dom.js";
import { count, percent } from "./numbers.js";
import { topicLink } from "./parts.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {import("./model.js").Groups} Groups
 * @typedef {import("./model.js").Series} Series
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
		seriesLegend(given),
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
	const lines = given.nSeriesLeftOut ? ` The ${given.series?.length} groups with most documents have lines.` : "";
	const first =
		nTopics > N_CHARTS
			? `The ${N_CHARTS} of ${count(nTopics)} topics that differ most between ${unit}; each topic's page has its own chart.`
			: `Topics that differ most between ${unit} come first.`;
	const drawn = given.ordered ? "The band is" : "The bars are";
	return `${what}, over ${count(given.names.length)} ${unit}${leftOut}. ${drawn} the 95% interval.${lines} ${first}`;
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
 * Which colour is which group, if groups are lines over time.
 * @param {Groups} given
 */
export function seriesLegend(given) {
	if (!given.series) return null;
	return h(
		"ul",
		{ class: "legend", "aria-label": "Groups" },
		...given.series.map(({ name }, n) =>
			h("li", {}, h("span", { class: "dot", "aria-hidden": "true", style: { "--c": seriesColour(n) } }), name),
		),
	);
}

/** @param {number} n */
function seriesColour(n) {
	return `var(--family-${[0, 5, 2, 6][n]})`;
}

/**
 * The share of one topic in each group, or over time in each group. Groups without documents are gaps.
 * @param {Context} context
 * @param {Groups} given
 * @param {number} topic
 */
export function groupChart({ model, labels }, given, topic) {
	const places = d3.range(given.names.length);
	const lines = (given.series ?? [given]).map((one) => new Line(one, topic));
	const title = `Share of topic ${topic} (${labels.name(topic)}) by ${given.column}`;
	const draw = (/** @type {import("./charts.js").Box} */ box) => {
		const x = d3.scalePoint(places, [box.left + 8, box.right - 4]).padding(given.ordered ? 0 : 0.4);
		const highest = d3.max(lines, ({ high }) => d3.max(high)) || 1e-6;
		const y = d3.scaleLinear([0, highest], [box.bottom, box.top - 12]).nice(3);
		const at = (/** @type {number} */ i) => x(i) ?? 0;
		/** @type {[number, string][]} */
		const ticks = shownGroups(given, box.right - box.left).map(([i, text]) => [at(i), text]);
		return [
			...verticalAxis(box, y, y.ticks(3), percentOf(y)),
			...lines.map((line, n) =>
				svg(
					"g",
					given.series ? { style: { "--c": seriesColour(n) } } : {},
					...(given.ordered ? line.band(places, at, y) : line.whiskers(places, at, y)),
				),
			),
			...horizontalAxis(box, ticks),
		];
	};
	return h(
		"figure",
		{ style: { "--c": colourOf(model, topic) } },
		chart(title, { height: 150, left: 44, hasTitleBelow: false }, draw),
		behind("As a table", () =>
			given.series ? seriesTable(title, given, lines) : sharesTable(title, given, lines[0]),
		),
	);
}

/** The shares of one topic in all groups, or in one group over time, with their intervals. */
class Line {
	/**
	 * @param {Groups | Series} given
	 * @param {number} topic
	 */
	constructor(given, topic) {
		this.isKnown = (/** @type {number} */ i) => given.shares[i][topic] !== null;
		this.shares = given.shares.map((row) => row[topic] ?? 0);
		const errors = "errors" in given ? given.errors.map((row) => 1.96 * (row[topic] ?? 0)) : [];
		this.low = this.shares.map((share, i) => given.low?.[i][topic] ?? Math.max(0, share - (errors[i] ?? 0)));
		this.high = this.shares.map((share, i) => given.high?.[i][topic] ?? share + (errors[i] ?? 0));
	}

	/**
	 * @param {number[]} places
	 * @param {(i: number) => number} at
	 * @param {d3.ScaleLinear<number, number>} y
	 */
	band(places, at, y) {
		const band = d3.area(
			at,
			(/** @type {number} */ i) => y(this.low[i]),
			(/** @type {number} */ i) => y(this.high[i]),
		);
		const line = d3.line(at, (/** @type {number} */ i) => y(this.shares[i]));
		return [
			svg("path", { class: "band", d: band.defined(this.isKnown)(places) }),
			svg("path", { class: "line", d: line.defined(this.isKnown)(places) }),
		];
	}

	/**
	 * @param {number[]} places
	 * @param {(i: number) => number} at
	 * @param {d3.ScaleLinear<number, number>} y
	 */
	whiskers(places, at, y) {
		return places
			.filter(this.isKnown)
			.flatMap((i) => [
				svg("line", { class: "whisker", x1: at(i), x2: at(i), y1: y(this.low[i]), y2: y(this.high[i]) }),
				svg("circle", { cx: at(i), cy: y(this.shares[i]), r: 3.5 }),
			]);
	}

	/**
	 * The share and its interval in a group, as text.
	 * @param {number} i
	 */
	texts(i) {
		return this.isKnown(i) ? [this.shares[i], this.low[i], this.high[i]].map(percent) : ["–", "–", "–"];
	}
}

/**
 * @param {string} title
 * @param {Groups} given
 * @param {Line} line
 */
function sharesTable(title, given, line) {
	return table(
		title,
		[given.column, "#share", "#95% from", "#to", "#documents"],
		given.names.map((name, i) => [name, ...line.texts(i), count(given.documents[i])]),
	);
}

/**
 * @param {string} title
 * @param {Groups} given
 * @param {Line[]} lines
 */
function seriesTable(title, given, lines) {
	return table(
		title,
		[given.column, ...(given.series ?? []).flatMap(({ name }) => [`#${name}`, "#95% from", "#to"])],
		given.names.map((name, i) => [name, ...lines.flatMap((line) => line.texts(i))]),
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
