import { colourOf } from "./colours.js";
import { behind, gridLines, h, svg, table } from "./dom.js";
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
		h(
			"p",
			{ class: "note" },
			`${given.low ? "Share of each topic, fitted to the word pairs of a group" : "Mean share of each topic in the documents of a group"}, with 95% intervals. ${count(given.names.length)} groups${given.nLeftOut ? ` (${count(given.nLeftOut)} smaller ones are left out)` : ""}. Topics that differ most between groups come first.`,
		),
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
	const [width, height, left, bottom] = [320, 150, 42, 26];
	const shares = given.shares.map((row) => row[topic] ?? 0);
	const errors = given.errors.map((row) => 1.96 * (row[topic] ?? 0));
	const low = shares.map((share, i) => given.low?.[i][topic] ?? Math.max(0, share - errors[i]));
	const high = shares.map((share, i) => given.high?.[i][topic] ?? share + errors[i]);
	const isKnown = (/** @type {number} */ i) => given.shares[i][topic] !== null;
	const x = d3.scalePoint(d3.range(given.names.length), [left + 8, width - 12]);
	const y = d3.scaleLinear([0, d3.max(high) || 1e-6], [height - bottom, 8]).nice(3);
	const at = (/** @type {number} */ i) => x(i) ?? 0;
	const title = `Share of topic ${topic} (${labels.name(topic)}) by ${given.column}`;
	const step = Math.max(1, Math.ceil(given.names.length / 5));
	const shown = d3.range(0, given.names.length, step);
	const places = d3.range(given.names.length);
	const drawn = given.ordered
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
		: places.filter(isKnown).flatMap((i) => [
				svg("line", {
					class: "whisker",
					x1: at(i),
					x2: at(i),
					y1: y(low[i]),
					y2: y(high[i]),
				}),
				svg("circle", { cx: at(i), cy: y(shares[i]), r: 3.5 }),
			]);
	return h(
		"figure",
		{ style: { "--c": colourOf(model, topic) } },
		svg(
			"svg",
			{
				class: "chart",
				viewBox: `0 0 ${width} ${height}`,
				role: "img",
				"aria-label": title,
			},
			...gridLines(y, y.ticks(3), left, width - 8, percent),
			...drawn,
			...shown.map((i) =>
				svg("text", { x: at(i), y: height - 8, "text-anchor": "middle" }, given.names[i].slice(0, 10)),
			),
		),
		behind("As a table", () =>
			table(
				title,
				[given.column, "#share", "#95% from", "#to", "#documents"],
				places.map((i) => [
					given.names[i],
					...(isKnown(i) ? [shares[i], low[i], high[i]].map(percent) : ["-", "-", "-"]),
					count(given.documents[i]),
				]),
			),
		),
	);
}
