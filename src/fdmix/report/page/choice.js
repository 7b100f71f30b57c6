import { chart, horizontalAxis, verticalAxis } from "./charts.js";
import { behind, h, svg, table } from "./dom.js";
import { count, fixed } from "./numbers.js";
import { card } from "./parts.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {import("./model.js").Choice} Choice
 * @typedef {import("./model.js").Score} Score
 * @typedef {import("./charts.js").Box} Box
 */

const NAMES = /** @type {Record<string, string>} */ ({
	pairs: "word pairs of left-out documents",
	completion: "completion of left-out documents",
	coherence: "coherence of the top words",
	exclusivity: "exclusivity of the top words",
	stability: "stability of the topics",
});
const MEANINGS = /** @type {Record<string, string>} */ ({
	pairs: "Log-likelihood of a word pair of documents that the fit has not seen.",
	completion: "Log-likelihood of a token, given the other half of its document.",
	coherence: "NPMI: how often top words of a topic occur together, from -1 to 1.",
	exclusivity: "How much of the top words belongs to their topic. It falls with the number of topics by itself.",
	stability: "How alike the topics of two fits without different folds are, from 0 to 1.",
});
const LABEL = 30; // pixels between the numbers below a chart, at least

/**
 * How the numbers of topics compare, which one is chosen and why, and what other scores would choose.
 * @param {Context} context
 */
export function choiceView({ model }) {
	const given = /** @type {Choice} */ (model.choice);
	const others = given.scores.filter(({ decides }) => !decides);
	return h(
		"div",
		{ class: "view choice" },
		h("h1", {}, "How many topics"),
		h("p", { class: "lead" }, given.verdict),
		given.chosen === model.nTopics
			? null
			: h("p", { class: "note" }, `The model of this report has ${count(model.nTopics)}.`),
		card(
			"What each number of topics gains",
			`Log-likelihood of a ${given.unit} of left-out documents above that of one topic, with standard errors over ${given.folds} folds of ${count(given.documents)} documents. The band reaches from the best number to one standard error below it: the choice is the smallest number in it.`,
			gainChart(given),
		),
		h("h2", {}, "What other scores would choose"),
		h(
			"div",
			{ class: "small-multiples" },
			...others.map((score) =>
				h(
					"section",
					{ class: "card" },
					h("h3", {}, `${score.chosen > 1 ? count(score.chosen) : "None"}, by ${NAMES[score.name] ?? score.name}`),
					h("p", { class: "note" }, MEANINGS[score.name] ?? ""),
					scoreChart(given, score),
				),
			),
		),
		allScores(given),
	);
}

/**
 * Numbers of topics on a logarithmic scale, and those whose labels do not overlap.
 * @param {number[]} candidates
 * @param {Box} box
 */
function numbersOfTopics(candidates, box) {
	const x = d3.scaleLog([candidates[0], candidates[candidates.length - 1]], [box.left + 8, box.right - 8]);
	/** @type {[number, string][]} */
	const ticks = [];
	for (const n of candidates) {
		if (!ticks.length || x(n) - ticks[ticks.length - 1][0] >= LABEL) ticks.push([x(n), count(n)]);
	}
	return { x, ticks };
}

/** @param {Choice} given */
function gainChart(given) {
	const title = "Gain of each number of topics over one topic";
	const rows = given.candidates.map((n, i) => [
		count(n),
		fixed(given.gains[i], 5),
		fixed(given.errors[i], 5),
		n === given.chosen ? "chosen" : n === given.best ? "best" : "",
	]);
	return h(
		"figure",
		{ style: { "--c": "var(--accent)" } },
		chart(title, { height: 280, left: 50 }, (box) => drawnGains(given, box)),
		behind(`${title}, as a table`, () => table(title, ["#topics", "#gain", "#standard error", ""], rows)),
	);
}

/**
 * @param {Choice} given
 * @param {Box} box
 */
function drawnGains(given, box) {
	const { candidates, gains, errors } = given;
	const { x, ticks } = numbersOfTopics(candidates, box);
	const low = d3.min(gains, (gain, i) => gain - errors[i]) ?? 0;
	const high = d3.max(gains, (gain, i) => gain + errors[i]) ?? 1;
	const y = d3.scaleLinear([low, high > low ? high : low + 1e-9], [box.bottom, box.top]).nice(4);
	const best = candidates.indexOf(given.best);
	const at = candidates.indexOf(given.chosen);
	return [
		...verticalAxis(box, y, y.ticks(4), y.tickFormat(4), `log-likelihood of a ${given.unit} above one topic`),
		svg("rect", {
			class: "band",
			x: box.left,
			width: box.right - box.left,
			y: y(gains[best]),
			height: Math.max(1, y(gains[best] - errors[best]) - y(gains[best])),
		}),
		svg("path", {
			class: "line",
			d: d3.line(
				(/** @type {number} */ i) => x(candidates[i]),
				(/** @type {number} */ i) => y(gains[i]),
			)(d3.range(candidates.length)),
		}),
		...candidates.flatMap((n, i) => [
			svg("line", { class: "whisker", x1: x(n), x2: x(n), y1: y(gains[i] - errors[i]), y2: y(gains[i] + errors[i]) }),
			svg("circle", { cx: x(n), cy: y(gains[i]), r: i === at ? 7 : 3.5, class: i === at ? "chosen" : null }),
		]),
		chosenText(given, box, x(given.chosen), Math.max(y(gains[at] - errors[at]), y(gains[at]) + 8)),
		...horizontalAxis(box, ticks, "number of topics"),
	];
}

/**
 * The chosen number, below its point. The curve rises from the left, so that there is room at the right.
 * @param {Choice} given
 * @param {Box} box
 * @param {number} x
 * @param {number} below the lower end of the point
 */
function chosenText(given, box, x, below) {
	const text = given.hasTopics ? `take ${count(given.chosen)}` : "no topics";
	const isLast = x > box.right - 70;
	return svg(
		"text",
		{ class: "chosen", x: isLast ? x : x + 9, y: below + 14, "text-anchor": isLast ? "end" : "start" },
		text,
	);
}

/**
 * The means of one score, with the number that it would choose.
 * @param {Choice} given
 * @param {Score} score
 */
function scoreChart(given, score) {
	const known = d3.range(given.candidates.length).filter((i) => score.means[i] !== null);
	const value = (/** @type {number} */ i) => score.means[i] ?? 0;
	const [low, high] = [d3.min(known, value) ?? 0, d3.max(known, value) ?? 1];
	const place = given.candidates.indexOf(score.chosen);
	const title = `${NAMES[score.name] ?? score.name}: means for each number of topics; the table below has them`;
	const draw = (/** @type {Box} */ box) => {
		const { x, ticks } = numbersOfTopics(given.candidates, box);
		const y = d3.scaleLinear([low, high > low ? high : low + 1e-9], [box.bottom, box.top - 14]).nice(3);
		return [
			...verticalAxis(box, y, y.ticks(3), y.tickFormat(3)),
			svg("path", {
				class: "line",
				d: d3.line(
					(/** @type {number} */ i) => x(given.candidates[i]),
					(/** @type {number} */ i) => y(value(i)),
				)(known),
			}),
			...(known.includes(place)
				? [svg("circle", { class: "chosen", cx: x(score.chosen), cy: y(value(place)), r: 5 })]
				: []),
			...horizontalAxis(box, ticks),
		];
	};
	return h(
		"figure",
		{ style: { "--c": "var(--accent)" } },
		chart(title, { height: 140, left: 46, hasTitleBelow: false }, draw),
	);
}

/** @param {Choice} given */
function allScores(given) {
	const rows = given.candidates.map((n, i) => [
		count(n),
		...given.scores.map(({ means, chosen }) =>
			chosen === n && means[i] !== null ? h("strong", {}, fixed(means[i], 4)) : fixed(means[i], 4),
		),
	]);
	const title = "All scores";
	return card(
		title,
		"Means over the folds. The number that a score would choose is in bold: for likelihoods the smallest within one standard error of the best, for others the best.",
		h(
			"div",
			{ class: "scroll", tabindex: 0, role: "region", "aria-label": title },
			table(title, ["#topics", ...given.scores.map(({ name }) => `#${name}`)], rows),
		),
	);
}
