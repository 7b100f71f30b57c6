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
 * @typedef {{ topic: number, lines: string[], x: number, y: number, anchor: string, isInside: boolean }} Name
 */

const COVERED = 0.2; // share of the picture that the circles cover
const SPREADING_STEPS = 40;
const LABEL_SIZE = 12;
const LINE_HEIGHT = 13;
const MIN_RADIUS_OF_NAME = 20; // a smaller circle has its name beside it
const MAX_RADIUS = 72; // pixels; two topics would fill the picture
const MAX_LABELS = 120;
const MAX_NAME = 28; // characters
const ROOM_FOR_BUTTONS = 44; // pixels at the right
const SQUARE = 40; // pixels; of the grid that finds circles near a name

const measure = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));

measure.font = `${LABEL_SIZE}px system-ui, sans-serif`;

/** @type {Map<string, number>} */
const widths = new Map();

/** @type {WeakMap<Uint32Array, Map<string, Point[]>>} */
const spreads = new WeakMap(); // a view that is opened again has its circles at once

/**
 * The width of a name in pixels.
 * @param {string} text
 */
function widthOf(text) {
	let width = widths.get(text);
	if (width === undefined) {
		width = measure.measureText(text).width;
		widths.set(text, width);
	}
	return width;
}

/**
 * Topics as circles that can be zoomed, with names that do not overlap.
 * @param {Context} context
 * @param {Uint32Array} places x and y of each topic, from 0 to 65535
 * @param {string} label of the picture
 * @param {() => Edge[]} [edgesOf] lines between topics
 */
export function points(context, places, label, edgesOf) {
	const covered = edgesOf ? COVERED / 2 : COVERED; // lines need room
	const { model, labels } = context;
	const paths = svg("g", { class: "edges" });
	const circles = svg("g", {});
	const names = svg("g", { class: "names", "aria-hidden": "true" });
	const picture = svg("svg", { class: "points", role: "group", "aria-label": label }, paths, circles, names);
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
		const pieces = (/** @type {number} */ t) => (labels.label(t) ? [labels.label(t)] : model.wordsOf(t).split(", "));
		const chosen = namesToShow(placed, transform, size, radius, pieces, active);
		names.replaceChildren(
			...chosen.flatMap(({ lines, x, y, anchor, isInside }) =>
				lines.map((line, i) =>
					svg(
						"text",
						{
							x,
							y: y + i * LINE_HEIGHT,
							"text-anchor": anchor,
							class: isInside ? "inside" : null,
						},
						line,
					),
				),
			),
		);
	};
	const drawEdges = () => {
		if (!edgesOf) return;
		const strengths = d3.groups(edgesOf(), ({ source, target, lift }) =>
			source === active || target === active ? 4 : Math.min(3, Math.floor(Math.log2(lift))),
		);
		const byTopic = new Map(placed.map((point) => [point.topic, transform.apply([point.x, point.y])]));
		paths.replaceChildren(
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
		placed = spread(context, places, size[0], size[1], covered);
		const activate = (/** @type {number} */ topic) => {
			if (topic === active) return;
			active = topic;
			drawNames();
			drawEdges();
		};
		circles.replaceChildren(...placed.map((point) => circle(context, point, activate)));
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
			h(
				"button",
				{
					type: "button",
					"aria-label": "Zoom out",
					on: { click: by(1 / 1.6) },
				},
				"−",
			),
			h("button", { type: "button", "aria-label": "Show all", on: { click: by(0) } }, "⤢"),
		),
	);
	new ResizeObserver(() => {
		const resized = frame.clientWidth !== size[0] || frame.clientHeight !== size[1];
		if (frame.clientWidth > 0 && resized) {
			zoom.extent([
				[0, 0],
				[frame.clientWidth, frame.clientHeight],
			]);
			zoom.translateExtent([
				[0, 0],
				[frame.clientWidth, frame.clientHeight],
			]);
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
 * Circles near their places that do not overlap, computed once for each size of the frame.
 * @param {Context} context
 * @param {Uint32Array} places
 * @param {number} width
 * @param {number} height
 * @param {number} covered the share of the frame that the circles cover
 * @returns {Point[]}
 */
function spread(context, places, width, height, covered) {
	const known = spreads.get(places) ?? new Map();
	spreads.set(places, known);
	const key = `${width},${height},${covered}`;
	if (!known.has(key)) known.set(key, spreadAnew(context, places, width, height, covered));
	return known.get(key);
}

/**
 * @param {Context} context
 * @param {Uint32Array} places
 * @param {number} width
 * @param {number} height
 * @param {number} covered
 * @returns {Point[]}
 */
function spreadAnew({ model }, places, width, height, covered) {
	const margin = Math.min(60, width * 0.08);
	const scale = Math.sqrt((covered * width * height) / Math.PI);
	const order = d3.range(model.nTopics).sort((a, b) => model.shares[b] - model.shares[a] || a - b);
	const upright = Number(height > width); // a high frame shows the map turned by 90 degrees
	const found = order.map((topic) => {
		const x = margin + (places[2 * topic + upright] / 0xffff) * (width - 2 * margin - ROOM_FOR_BUTTONS);
		const y = margin + (places[2 * topic + 1 - upright] / 0xffff) * (height - 2 * margin);
		const r = Math.max(3, Math.min(width / 12, MAX_RADIUS, scale * Math.sqrt(model.shares[topic])));
		return { topic, homeX: x, homeY: y, x, y, r };
	});
	d3.forceSimulation(found)
		.force("x", d3.forceX((/** @type {Point} */ point) => point.homeX).strength(0.15))
		.force("y", d3.forceY((/** @type {Point} */ point) => point.homeY).strength(0.15))
		.force("apart", d3.forceCollide((/** @type {Point} */ point) => point.r + 1.2).iterations(1))
		.stop()
		.tick(SPREADING_STEPS);
	for (const point of found) {
		point.x = Math.max(point.r + 2, Math.min(width - point.r - 2 - ROOM_FOR_BUTTONS, point.x));
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
 * Names in order of size: inside of a circle if they fit, else beside it where nothing is covered.
 * @param {Point[]} placed
 * @param {import("d3").ZoomTransform} transform
 * @param {number[]} size
 * @param {(point: Point) => number} radius
 * @param {(topic: number) => string[]} wordsOf the name in pieces that may stand below each other
 * @param {number} active the topic that must have a name
 * @returns {Name[]}
 */
function namesToShow(placed, transform, size, radius, wordsOf, active) {
	/** @type {Box[]} */
	const taken = [];
	/** @type {Name[]} */
	const chosen = [];
	const circles = placed.map((point) => ({
		at: transform.apply([point.x, point.y]),
		r: radius(point),
	}));
	const grid = new Grid(circles);
	const order = d3.range(placed.length);
	if (active >= 0) order.sort((a, b) => Number(placed[b].topic === active) - Number(placed[a].topic === active));
	for (const i of order) {
		const [x, y] = circles[i].at;
		if (x < 0 || y < 0 || x > size[0] || y > size[1]) continue;
		const { topic } = placed[i];
		const words = wordsOf(topic);
		const inside = linesInside(words, circles[i].r);
		if (inside.length) {
			chosen.push({
				topic,
				lines: inside,
				x,
				y: y + 4 - ((inside.length - 1) * LINE_HEIGHT) / 2,
				anchor: "middle",
				isInside: true,
			});
			continue;
		}
		if (taken.length >= MAX_LABELS) continue;
		for (const option of besides(words, x, y, circles[i].r)) {
			const { box, text } = option;
			const outside = box.left < 0 || box.top < 0 || box.right > size[0] || box.bottom > size[1];
			const free =
				!outside &&
				taken.every((other) => apart(box, other)) &&
				(topic === active || grid.near(box).every((j) => j === i || clear(box, circles[j].at, circles[j].r)));
			if (free) {
				taken.push(box);
				chosen.push({
					topic,
					lines: [text],
					x: option.x,
					y: option.y,
					anchor: option.anchor,
					isInside: false,
				});
				break;
			}
		}
	}
	return chosen;
}

/**
 * As many words as fit below each other into a circle.
 * @param {string[]} words
 * @param {number} r
 */
function linesInside(words, r) {
	if (r < MIN_RADIUS_OF_NAME) return [];
	for (let n = Math.min(words.length, 3); n > 0; n--) {
		const half = (n * LINE_HEIGHT) / 2;
		const width = half < r ? 2 * Math.sqrt(r * r - half * half) - 2 : 0;
		const lines = words.slice(0, n);
		if (lines.every((line) => widthOf(line) <= width)) return lines;
	}
	return [];
}

/**
 * Where a name can stand: beside its circle, or across it; with all its words, or with fewer.
 * @param {string[]} words
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
function besides(words, x, y, r) {
	const found = [];
	// A single word beside a small circle says little.
	for (let n = words.length; n > (words.length > 1 && r < MIN_RADIUS_OF_NAME ? 1 : 0); n--) {
		const text = short(words.slice(0, n).join(", "));
		const width = widthOf(text);
		const options = [
			{ x: x + r + 3, y: y + 4, anchor: "start", left: x + r + 3 },
			{ x: x - r - 3, y: y + 4, anchor: "end", left: x - r - 3 - width },
			{ x, y: y - r - 4, anchor: "middle", left: x - width / 2 },
			{ x, y: y + r + 12, anchor: "middle", left: x - width / 2 },
			{ x, y: y + 4, anchor: "middle", left: x - width / 2 },
		];
		for (const option of options.slice(0, r >= MIN_RADIUS_OF_NAME ? 5 : 4)) {
			const box = {
				left: option.left - 1,
				right: option.left + width + 1,
				top: option.y - 10,
				bottom: option.y + 3,
			};
			found.push({ ...option, text, box });
		}
	}
	return found;
}

/**
 * @param {Box} a
 * @param {Box} b
 */
function apart(a, b) {
	return a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top;
}

/**
 * Whether a box does not touch a circle.
 * @param {Box} box
 * @param {number[]} at
 * @param {number} r
 */
function clear(box, at, r) {
	const dx = Math.max(box.left - at[0], 0, at[0] - box.right);
	const dy = Math.max(box.top - at[1], 0, at[1] - box.bottom);
	return dx * dx + dy * dy >= r * r;
}

/** Finds the circles near a box: the picture is cut into squares, and each knows the circles that touch it. */
class Grid {
	/** @param {{ at: number[], r: number }[]} circles */
	constructor(circles) {
		/** @type {Map<string, number[]>} */
		this.squares = new Map();
		for (const [i, { at, r }] of circles.entries()) {
			const box = {
				left: at[0] - r,
				right: at[0] + r,
				top: at[1] - r,
				bottom: at[1] + r,
			};
			for (const square of this.touched(box)) {
				const members = this.squares.get(square);
				if (members) members.push(i);
				else this.squares.set(square, [i]);
			}
		}
	}

	/**
	 * @param {Box} box
	 * @returns {string[]}
	 */
	touched(box) {
		const found = [];
		for (let x = Math.floor(box.left / SQUARE); x <= box.right / SQUARE; x++) {
			for (let y = Math.floor(box.top / SQUARE); y <= box.bottom / SQUARE; y++) found.push(`${x} ${y}`);
		}
		return found;
	}

	/**
	 * The circles whose squares a box touches.
	 * @param {Box} box
	 */
	near(box) {
		return this.touched(box).flatMap((square) => this.squares.get(square) ?? []);
	}
}
