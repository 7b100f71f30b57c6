import { liftScale } from "./colours.js";
import { behind, h, say, switcher, table } from "./dom.js";
import { percent, times } from "./numbers.js";
import { card, topicLink } from "./parts.js";
import { points } from "./points.js";
import { topicAddress } from "./route.js";
import { hideTip, showTip } from "./tip.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {import("./points.js").Edge} Edge
 */

const N_PAIRS = 50;
const N_LEAST = 20;
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
			"Lift: how often two topics are in the same document, against chance. 1× is chance; the diagonal says how much of a document a topic fills.",
		),
		h("div", { class: "toolbar" }, forms),
		place,
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

/** @param {Context} context */
function matrix(context) {
	const { model, labels } = context;
	const n = model.nTopics;
	const canvas = h("canvas", { "aria-hidden": "true" });
	const readout = h(
		"p",
		{ class: "readout" },
		"Point at a cell, or move with the arrow keys. The wheel zooms; Enter opens the topic of the row.",
	);
	const frame = h(
		"div",
		{
			class: "matrix",
			tabindex: 0,
			role: "application",
			"aria-label": "Matrix of lift; arrow keys move between cells, Enter opens the topic of the row",
		},
		canvas,
	);
	let transform = d3.zoomIdentity;
	let cursor = [-1, -1];
	const image = document.createElement("canvas");
	image.width = image.height = n;

	const paint = () => {
		const colours = Array.from(model.liftSteps, liftScale());
		const brush = /** @type {CanvasRenderingContext2D} */ (image.getContext("2d"));
		const pixels = brush.createImageData(n, n);
		for (let row = 0, at = 0; row < n; row++) {
			for (let column = 0; column < n; column++, at += 4) {
				const { r, g, b } = colours[model.liftCode[model.order[row] * n + model.order[column]]];
				pixels.data[at] = r;
				pixels.data[at + 1] = g;
				pixels.data[at + 2] = b;
				pixels.data[at + 3] = 255;
			}
		}
		brush.putImageData(pixels, 0, 0);
		draw();
	};
	const draw = () => {
		const side = frame.clientWidth;
		const sharp = window.devicePixelRatio || 1;
		canvas.width = canvas.height = Math.round(side * sharp);
		const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
		brush.imageSmoothingEnabled = false;
		brush.setTransform(sharp, 0, 0, sharp, 0, 0);
		brush.clearRect(0, 0, side, side);
		brush.drawImage(image, transform.x, transform.y, side * transform.k, side * transform.k);
		if (cursor[0] >= 0) {
			const cell = (side * transform.k) / n;
			const [x, y] = [transform.x + cursor[1] * cell, transform.y + cursor[0] * cell];
			brush.strokeStyle = getComputedStyle(frame).color;
			brush.lineWidth = 2;
			brush.strokeRect(x - 1, y - 1, Math.max(cell, 3) + 2, Math.max(cell, 3) + 2);
		}
	};
	const describe = () => {
		const [i, j] = [model.order[cursor[0]], model.order[cursor[1]]];
		readout.replaceChildren(
			topicLink(context, i),
			i === j ? " fills a document " : " and ",
			...(i === j ? [] : [topicLink(context, j), ": "]),
			h("strong", {}, times(model.liftOf(i, j))),
			i === j ? " as much as its average share" : " as often as by chance",
		);
	};
	const cellAt = (/** @type {MouseEvent} */ event) => {
		const box = canvas.getBoundingClientRect();
		const cell = (box.width * transform.k) / n;
		const place = [(event.clientY - box.top - transform.y) / cell, (event.clientX - box.left - transform.x) / cell];
		return place.map((value) => Math.max(0, Math.min(n - 1, Math.floor(value))));
	};
	frame.addEventListener("mousemove", (event) => {
		cursor = cellAt(event);
		const [i, j] = [model.order[cursor[0]], model.order[cursor[1]]];
		showTip(
			event.clientX,
			event.clientY,
			h("strong", {}, times(model.liftOf(i, j))),
			h("div", {}, `${i} ${labels.name(i)}`),
			i === j ? "" : h("div", {}, `${j} ${labels.name(j)}`),
		);
		describe();
		draw();
	});
	frame.addEventListener("mouseleave", hideTip);
	frame.addEventListener("click", (event) => {
		cursor = cellAt(event);
		describe();
		draw();
	});
	frame.addEventListener("keydown", (event) => {
		/** @type {Record<string, number[]>} */
		const steps = {
			ArrowUp: [-1, 0],
			ArrowDown: [1, 0],
			ArrowLeft: [0, -1],
			ArrowRight: [0, 1],
		};
		const step = steps[event.key];
		if (step) {
			event.preventDefault();
			cursor = cursor.map((place, axis) => Math.max(0, Math.min(n - 1, Math.max(0, place) + step[axis])));
			describe();
			draw();
			say(readout.textContent ?? "");
		} else if (event.key === "Enter" && cursor[0] >= 0) {
			location.hash = topicAddress(model.order[cursor[0]]);
		}
	});
	const zoom = d3
		.zoom()
		.scaleExtent([1, Math.max(1, n / 8)])
		.on("zoom", (event) => {
			transform = event.transform;
			draw();
		});
	new ResizeObserver(() => {
		if (frame.clientWidth > 0) {
			const side = frame.clientWidth;
			zoom
				.extent([
					[0, 0],
					[side, side],
				])
				.translateExtent([
					[0, 0],
					[side, side],
				]);
			draw();
		}
	}).observe(frame);
	d3.select(/** @type {Element} */ (frame))
		.call(zoom)
		.on("dblclick.zoom", null);
	document.addEventListener("themechange", () => {
		if (frame.isConnected) paint();
	});
	requestAnimationFrame(paint);
	return h(
		"div",
		{ class: "matrix-with-key" },
		frame,
		h("div", { class: "card beside" }, h("h2", {}, "Lift"), key(), readout),
	);
}

/** What the colours of the matrix mean. */
function key() {
	const lifts = [1 / 32, 1 / 8, 1 / 2, 1, 2, 4, 8, 16];
	return h(
		"ul",
		{ class: "key", "aria-label": "Colours of the matrix" },
		...lifts.map((lift) =>
			h(
				"li",
				{},
				h("span", {
					class: "swatch",
					"data-lift": lift,
					"aria-hidden": "true",
					style: { background: liftColour(lift) },
				}),
				times(lift),
			),
		),
	);
}

/**
 * The colour of a lift as a CSS expression, which follows the theme.
 * @param {number} lift
 */
function liftColour(lift) {
	const strength = Math.log2(lift);
	const [name, part] = strength < 0 ? ["--less", -strength / 5] : ["--more", strength / 4];
	return `color-mix(in srgb, var(${name}) ${Math.round(100 * Math.min(1, part))}%, var(--even))`;
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
		behind("The network as a table", () =>
			table(
				"Topics and those that they come together with",
				["topic", "#share", "comes together with"],
				d3
					.range(model.nTopics)
					.map((t) => [
						topicLink(context, t),
						percent(model.shares[t]),
						h(
							"span",
							{},
							...model
								.related(t, 3)
								.flatMap((other) => [topicLink(context, other), ` ${times(model.liftOf(t, other))} `]),
						),
					]),
			),
		),
	);
}
