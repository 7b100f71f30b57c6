import { colourOf } from "./colours.js";
import { h, svg } from "./dom.js";
import { roving } from "./keyboard.js";
import { percent } from "./numbers.js";
import { topicTip } from "./parts.js";
import { topicAddress } from "./route.js";
import { hideTip, showTip } from "./tip.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {{ topic: number, homeX: number, homeY: number, x: number, y: number, r: number, index?: number }} Point
 * @typedef {{ source: number, target: number, lift: number }} Edge
 * @typedef {{ left: number, top: number, right: number, bottom: number }} Box
 */

const COVERED = 0.16; // share of the picture that the circles cover
const SPREADING_STEPS = 60;
const LABEL_SIZE = 12;
const MAX_LABELS = 140;
const MAX_NAME = 28; // characters

const measure = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));

/**
 * Topics as circles that can be zoomed, with names that do not overlap.
 * @param {Context} context
 * @param {Uint32Array} places x and y of each topic, from 0 to 65535
 * @param {string} label of the picture
 * @param {() => Edge[]} [edgesOf] lines between topics
 */
export function points(context, places, label, edgesOf) {
	const { model, labels } = context;
	const lines = svg("g", { class: "edges" });
	const circles = svg("g", {});
	const names = svg("g", { class: "names", "aria-hidden": "true" });
	const picture = svg("svg", { class: "points", role: "group", "aria-label": label }, lines, circles, names);
	const frame = h("div", { class: "frame" }, picture);
	/** @type {Point[]} */
	let placed = [];
	let transform = d3.zoomIdentity;
	let size = [0, 0];
	let active = -1;

	const radius = (/** @type {Point} */ point) => point.r * Math.sqrt(transform.k);
	const draw = () => {
		const links = /** @type {SVGAElement[]} */ ([...circles.children]);
		for (const [i, point] of placed.entries()) {
			const [x, y] = transform.apply([point.x, point.y]);
			links[i].setAttribute("transform", `translate(${x.toFixed(1)},${y.toFixed(1)})`);
			links[i].firstElementChild?.setAttribute("r", radius(point).toFixed(1));
		}
		drawNames();
		drawEdges();
	};
	const drawNames = () => {
		const chosen = namesToShow(placed, transform, size, radius, (t) => short(labels.name(t)), active);
		names.replaceChildren(
			...chosen.map(({ topic, text, x, y, anchor }) =>
				svg("text", { x, y, "text-anchor": anchor, class: labels.label(topic) ? "label" : null }, text),
			),
		);
	};
	const drawEdges = () => {
		if (!edgesOf) return;
		const strengths = d3.groups(edgesOf(), ({ lift }) => Math.min(3, Math.floor(Math.log2(lift))));
		const byTopic = new Map(placed.map((point) => [point.topic, transform.apply([point.x, point.y])]));
		lines.replaceChildren(
			...strengths.map(([strength, edges]) => {
				const path = d3.path();
				for (const { source, target } of edges) {
					const [a, b] = [byTopic.get(source), byTopic.get(target)];
					if (a && b) {
						path.moveTo(a[0], a[1]);
						path.lineTo(b[0], b[1]);
					}
				}
				return svg("path", { d: path.toString(), class: `edge-${strength}` });
			}),
		);
	};
	const layout = () => {
		size = [frame.clientWidth, frame.clientHeight];
		placed = spread(context, places, size[0], size[1]);
		circles.replaceChildren(...placed.map((point) => circle(context, point, (t) => {
			active = t;
			drawNames();
		})));
		picture.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
		draw();
		roving(picture, "a");
	};
	const zoom = /** @type {import("d3").ZoomBehavior<SVGSVGElement, unknown>} */ (d3.zoom())
		.scaleExtent([1, 16])
		.on("zoom", (event) => {
			transform = event.transform;
			hideTip();
			draw();
		});
	const chosen = d3.select(picture);
	chosen.call(zoom).on("dblclick.zoom", null);
	const by = (/** @type {number} */ factor) => () => {
		if (factor) zoom.scaleBy(chosen, factor);
		else zoom.transform(chosen, d3.zoomIdentity);
	};
	frame.append(
		h(
			"div",
			{ class: "zoom-buttons", role: "group", "aria-label": "Zoom" },
			h("button", { type: "button", "aria-label": "Zoom in", on: { click: by(1.6) } }, "+"),
			h("button", { type: "button", "aria-label": "Zoom out", on: { click: by(1 / 1.6) } }, "−"),
			h("button", { type: "button", "aria-label": "Show all", on: { click: by(0) } }, "⤢"),
		),
	);
	new ResizeObserver(() => {
		const resized = frame.clientWidth !== size[0] || frame.clientHeight !== size[1];
		if (frame.clientWidth > 0 && resized) {
			zoom.extent([[0, 0], [frame.clientWidth, frame.clientHeight]]);
			zoom.translateExtent([[0, 0], [frame.clientWidth, frame.clientHeight]]);
			layout();
		}
	}).observe(frame);
	return { frame, redraw: drawEdges };
}

/** @param {string} name */
function short(name) {
	return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
}

/**
 * Circles near their places that do not overlap.
 * @param {Context} context
 * @param {Uint32Array} places
 * @param {number} width
 * @param {number} height
 * @returns {Point[]}
 */
function spread({ model }, places, width, height) {
	const margin = Math.min(60, width * 0.08);
	const scale = Math.sqrt((COVERED * width * height) / Math.PI);
	const order = d3.range(model.nTopics).sort((a, b) => model.shares[b] - model.shares[a] || a - b);
	const found = order.map((topic) => {
		const x = margin + (places[2 * topic] / 0xffff) * (width - 2 * margin);
		const y = margin * 0.7 + (places[2 * topic + 1] / 0xffff) * (height - 1.4 * margin);
		const r = Math.max(3, Math.min(width / 9, scale * Math.sqrt(model.shares[topic])));
		return { topic, homeX: x, homeY: y, x, y, r };
	});
	d3.forceSimulation(found)
		.force("x", d3.forceX((/** @type {Point} */ point) => point.homeX).strength(0.15))
		.force("y", d3.forceY((/** @type {Point} */ point) => point.homeY).strength(0.15))
		.force("apart", d3.forceCollide((/** @type {Point} */ point) => point.r + 1.2).iterations(2))
		.stop()
		.tick(SPREADING_STEPS);
	for (const point of found) {
		point.x = Math.max(point.r + 2, Math.min(width - point.r - 2, point.x));
		point.y = Math.max(point.r + 2, Math.min(height - point.r - 2, point.y));
	}
	return found;
}

/**
 * @param {Context} context
 * @param {Point} point
 * @param {(topic: number) => void} activate
 */
function circle(context, point, activate) {
	const { topic } = point;
	const tip = (/** @type {number} */ x, /** @type {number} */ y) => {
		showTip(x, y, ...topicTip(context, topic));
		activate(topic);
	};
	return svg(
		"a",
		{
			href: topicAddress(topic),
			"aria-label": `Topic ${topic}, ${percent(context.model.shares[topic])}: ${context.labels.name(topic)}`,
			style: { "--c": colourOf(context.model, topic) },
			on: {
				mousemove: (/** @type {MouseEvent} */ event) => tip(event.clientX, event.clientY),
				mouseleave: () => {
					hideTip();
					activate(-1);
				},
				focus: (/** @type {FocusEvent} */ event) => {
					const box = /** @type {Element} */ (event.target).getBoundingClientRect();
					if (/** @type {Element} */ (event.target).matches(":focus-visible")) tip(box.right, box.bottom);
				},
				blur: () => {
					hideTip();
					activate(-1);
				},
			},
		},
		svg("circle", { r: point.r }),
	);
}

/**
 * Names in order of size, each where it is free: inside its circle, right, left, above or below.
 * @param {Point[]} placed
 * @param {import("d3").ZoomTransform} transform
 * @param {number[]} size
 * @param {(point: Point) => number} radius
 * @param {(topic: number) => string} nameOf
 * @param {number} active the topic that must have a name
 */
function namesToShow(placed, transform, size, radius, nameOf, active) {
	measure.font = `${LABEL_SIZE}px system-ui, sans-serif`;
	/** @type {Box[]} */
	const taken = [];
	const chosen = [];
	const circles = placed.map((point) => ({ at: transform.apply([point.x, point.y]), r: radius(point) }));
	const order = d3.range(placed.length);
	if (active >= 0) order.sort((a, b) => Number(placed[b].topic === active) - Number(placed[a].topic === active));
	for (const i of order) {
		if (chosen.length >= MAX_LABELS) break;
		const [x, y] = circles[i].at;
		if (x < 0 || y < 0 || x > size[0] || y > size[1]) continue;
		const text = nameOf(placed[i].topic);
		const width = measure.measureText(text).width;
		const { r } = circles[i];
		const options = [
			{ x, y: y + 4, anchor: "middle", left: x - width / 2 },
			{ x: x + r + 3, y: y + 4, anchor: "start", left: x + r + 3 },
			{ x: x - r - 3, y: y + 4, anchor: "end", left: x - r - 3 - width },
			{ x, y: y - r - 4, anchor: "middle", left: x - width / 2 },
			{ x, y: y + r + 12, anchor: "middle", left: x - width / 2 },
		];
		for (const [k, option] of options.entries()) {
			if (k === 0 && width > 2 * r - 4) continue;
			const box = { left: option.left - 2, right: option.left + width + 2, top: option.y - 11, bottom: option.y + 4 };
			const outside = box.left < 0 || box.top < 0 || box.right > size[0] || box.bottom > size[1];
			const free =
				!outside &&
				taken.every((other) => apart(box, other)) &&
				(placed[i].topic === active ||
					circles.every(({ at, r: reach }, j) => j === i || clear(box, at[0], at[1], Math.min(reach, 6))));
			if (free) {
				taken.push(box);
				chosen.push({ topic: placed[i].topic, text, x: option.x, y: option.y, anchor: option.anchor });
				break;
			}
		}
	}
	return chosen;
}

/**
 * @param {Box} a
 * @param {Box} b
 */
function apart(a, b) {
	return a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top;
}

/**
 * Whether a box does not touch the middle of a circle.
 * @param {Box} box
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 */
function clear(box, x, y, reach) {
	return x + reach < box.left || x - reach > box.right || y + reach < box.top || y - reach > box.bottom;
}
