import { behind, h, switcher, table } from "./dom.js";
import { matrix } from "./matrix.js";
import { percent, times } from "./numbers.js";
import { card, topicLink } from "./parts.js";
import { points } from "./points.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {import("./points.js").Edge} Edge
 */

const N_PAIRS = 50;
const N_LEAST = 20;
const N_PARTNERS = 5; // of each topic in the table behind the pictures
const MAX_EDGES = 1500; // lines of the network, at most

const state = { form: "matrix", least: 0 };

/** @type {{ most: Edge[], least: Edge[] } | undefined} */
let extremes; // computed when they are first needed

/**
 * Which topics come together in documents: the matrix of lift, and its network.
 * @param {Context} context
 */
export function together(context) {
	const place = h("div", {});
	const forms = h("div", {});
	extremes ??= extremePairs(context);
	const { most, least } = extremes;
	const choose = (/** @type {string} */ form) => {
		state.form = form;
		forms.replaceChildren(
			switcher(
				"Form",
				[
					["matrix", "Matrix"],
					["network", "Network"],
				],
				state.form,
				choose,
			),
		);
		place.replaceChildren(form === "matrix" ? matrix(context) : network(context, most));
	};
	choose(state.form);
	const row = (/** @type {Edge} */ pair) => [
		topicLink(context, pair.source),
		topicLink(context, pair.target),
		times(pair.lift),
	];
	const headings = ["topic", "and topic", "#against chance"];
	return h(
		"div",
		{ class: "view" },
		h("h1", {}, "Together"),
		h(
			"p",
			{ class: "note" },
			"Which topics share documents? Lift says how often two topics are in the same document, against chance: 1× is chance, 2× is twice as often.",
		),
		h("div", { class: "toolbar" }, forms),
		place,
		partnersTable(context),
		most.length
			? h(
					"div",
					{ class: "columns" },
					card(
						"Most often together",
						null,
						table("Topics that come together most", headings, most.slice(0, N_PAIRS).map(row), "plain pairs"),
					),
					card(
						"Least often together",
						"Of topics that are large enough to meet by chance.",
						table("Topics that come together least", headings, least.map(row), "plain pairs"),
					),
				)
			: null,
	);
}

/**
 * The pairs of topics with the largest lift, the largest first, and those with the smallest, the smallest first. Topics
 * of a tiny share are left out.
 * @param {Context} context
 * @returns {{ most: Edge[], least: Edge[] }}
 */
function extremePairs({ model }) {
	const tiny = 0.1 / model.nTopics;
	const topics = d3.range(model.nTopics).filter((t) => model.shares[t] >= tiny);
	const lifts = new Float32Array((topics.length * (topics.length - 1)) / 2);
	let n = 0;
	for (const [place, i] of topics.entries()) {
		for (let k = place + 1; k < topics.length; k++) lifts[n++] = model.liftOf(i, topics[k]);
	}
	lifts.sort();
	const [low, high] = [lifts[Math.min(N_LEAST, n) - 1], lifts[Math.max(0, n - MAX_EDGES)]];
	/** @type {Edge[]} */
	const most = [];
	/** @type {Edge[]} */
	const least = [];
	for (const [place, source] of topics.entries()) {
		for (const target of topics.slice(place + 1)) {
			const lift = model.liftOf(source, target);
			if (lift >= high) most.push({ source, target, lift });
			if (lift <= low) least.push({ source, target, lift });
		}
	}
	most.sort((a, b) => b.lift - a.lift);
	least.sort((a, b) => a.lift - b.lift || model.shares[b.source] - model.shares[a.source]);
	return { most: most.slice(0, MAX_EDGES), least: least.slice(0, N_LEAST) };
}

/**
 * @param {Context} context
 * @param {Edge[]} pairs
 */
function network(context, pairs) {
	const { model } = context;
	const strong = pairs.filter(({ lift }) => lift > 1);
	if (!strong.length) return h("p", { class: "note" }, "No two topics come together more often than by chance.");
	const [low, high] = [Math.max(1, strong[strong.length - 1].lift), strong[0].lift];
	const scale = d3.scaleLog([low, Math.max(high, low * 1.01)], [0, 100]);
	const start = strong[Math.min(strong.length - 1, Math.round(model.nTopics * 1.2))].lift;
	state.least ||= Math.max(start, low);
	const edges = () => strong.filter(({ lift }) => lift >= state.least);
	const value = h("output", { for: "least" }, times(state.least));
	const { frame, redraw } = points(
		context,
		model.network,
		"Network of the topics; arrow keys move, Enter opens",
		edges,
	);
	const slider = h("input", {
		type: "range",
		id: "least",
		min: 0,
		max: 100,
		step: 1,
		value: scale(Math.min(high, Math.max(low, state.least))),
		on: {
			input: (/** @type {Event} */ event) => {
				const chosen = scale.invert(Number(/** @type {HTMLInputElement} */ (event.target).value));
				state.least = Math.min(high, chosen) * 0.9999; // the strongest pair always has its line
				value.textContent = times(state.least);
				redraw();
			},
		},
	});
	return h(
		"div",
		{},
		h("div", { class: "slider" }, h("label", { for: "least" }, "Lines from a lift of"), slider, value),
		frame,
	);
}

/**
 * Each topic with those that it comes together with: the table behind the matrix and the network.
 * @param {Context} context
 */
function partnersTable(context) {
	const { model } = context;
	const partners = (/** @type {number} */ topic) =>
		model
			.related(topic, N_PARTNERS, 0)
			.flatMap((other) => [topicLink(context, other), ` ${times(model.liftOf(topic, other))} `]);
	return behind("The lift of all topics as a table", () =>
		table(
			"Topics and those that they come together with",
			["topic", "#share", "comes together with"],
			d3
				.range(model.nTopics)
				.map((t) => [topicLink(context, t), percent(model.shares[t]), h("span", {}, ...partners(t))]),
		),
	);
}
