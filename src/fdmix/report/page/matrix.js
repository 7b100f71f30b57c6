import { liftScale } from "./colours.js";
import { h, say } from "./dom.js";
import { times } from "./numbers.js";
import { topicLink } from "./parts.js";
import { topicAddress } from "./route.js";
import { hideTip, showTip } from "./tip.js";

/** @typedef {import("./parts.js").Context} Context */

const MIN_ROW = 13; // pixels of a row that has room for a name
const MIN_COLUMN = 19; // pixels of a column that has room for a number
const MAX_CELL = 72; // pixels; a few topics need no large picture
const ZOOM = 1.6; // of a button

/**
 * The matrix of lift, ordered so that topics that come together are neighbours.
 * @param {Context} context
 */
export function matrix(context) {
	const picture = new Matrix(context);
	return h(
		"div",
		{ class: "matrix-with-key" },
		h(
			"div",
			{ class: "matrix-grid", style: { "--most": `${MAX_CELL * context.model.nTopics}px` } },
			picture.columns,
			picture.rows,
			picture.frame,
		),
		h("div", { class: "card beside" }, h("h2", {}, "Lift"), key(), picture.buttons(), picture.readout),
	);
}

/** A square of coloured cells on a canvas, with names beside it, that can be zoomed and walked through. */
class Matrix {
	/** @param {Context} context */
	constructor(context) {
		this.context = context;
		this.n = context.model.nTopics;
		this.transform = d3.zoomIdentity;
		this.cursor = [-1, -1]; // row and column
		this.canvas = h("canvas", { "aria-hidden": "true" });
		this.rows = h("div", { class: "matrix-rows", "aria-hidden": "true" });
		this.columns = h("div", { class: "matrix-columns", "aria-hidden": "true" });
		this.readout = h("p", { class: "readout" }, HINT);
		this.image = document.createElement("canvas"); // a pixel for each cell
		this.image.width = this.image.height = this.n;
		this.frame = h(
			"div",
			{
				class: "matrix",
				tabindex: 0,
				role: "application",
				"aria-label": "Matrix of lift; arrow keys move between cells, Enter opens the topic of the row",
			},
			this.canvas,
		);
		this.zoom = d3
			.zoom()
			.scaleExtent([1, Math.max(1, this.n / 8)])
			.on("zoom", (event) => {
				this.transform = event.transform;
				this.draw();
			});
		this.listen();
		requestAnimationFrame(() => this.paint());
	}

	listen() {
		const { frame } = this;
		d3.select(/** @type {Element} */ (frame))
			.call(this.zoom)
			.on("dblclick.zoom", null);
		frame.addEventListener("mousemove", (event) => this.point(event));
		frame.addEventListener("mouseleave", hideTip);
		frame.addEventListener("click", (event) => this.moveTo(this.cellAt(event)));
		frame.addEventListener("keydown", (event) => this.press(event));
		document.addEventListener("themechange", () => {
			if (frame.isConnected) this.paint();
		});
		new ResizeObserver(() => {
			const side = frame.clientWidth;
			if (side <= 0) return;
			/** @type {[[number, number], [number, number]]} */
			const extent = [
				[0, 0],
				[side, side],
			];
			this.zoom.extent(extent).translateExtent(extent);
			this.draw();
		}).observe(frame);
	}

	/** Colour the cells; needed again when the theme changes. */
	paint() {
		const { model } = this.context;
		const colours = Array.from(model.liftSteps, liftScale());
		const brush = /** @type {CanvasRenderingContext2D} */ (this.image.getContext("2d"));
		const pixels = brush.createImageData(this.n, this.n);
		for (let row = 0, at = 0; row < this.n; row++) {
			for (let column = 0; column < this.n; column++, at += 4) {
				const { r, g, b } = colours[model.liftCode[model.order[row] * this.n + model.order[column]]];
				pixels.data[at] = r;
				pixels.data[at + 1] = g;
				pixels.data[at + 2] = b;
				pixels.data[at + 3] = 255;
			}
		}
		brush.putImageData(pixels, 0, 0);
		this.draw();
	}

	draw() {
		const side = this.frame.clientWidth;
		const sharp = window.devicePixelRatio || 1;
		const { x, y, k } = this.transform;
		this.canvas.width = this.canvas.height = Math.round(side * sharp);
		const brush = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
		brush.imageSmoothingEnabled = false;
		brush.setTransform(sharp, 0, 0, sharp, 0, 0);
		brush.clearRect(0, 0, side, side);
		brush.drawImage(this.image, x, y, side * k, side * k);
		const cell = (side * k) / this.n;
		if (this.cursor[0] >= 0) {
			brush.strokeStyle = getComputedStyle(this.frame).color;
			brush.lineWidth = 2;
			const [left, top] = [x + this.cursor[1] * cell, y + this.cursor[0] * cell];
			brush.strokeRect(left - 1, top - 1, Math.max(cell, 3) + 2, Math.max(cell, 3) + 2);
		}
		this.drawNames(side, cell);
	}

	/**
	 * Names of the rows and numbers of the columns, if they have room.
	 * @param {number} side
	 * @param {number} cell
	 */
	drawNames(side, cell) {
		const { model, labels } = this.context;
		const { x, y } = this.transform;
		const places = d3.range(this.n);
		const isSeen = (/** @type {number} */ centre) => centre > 4 && centre < side - 4;
		const shownRows = cell < MIN_ROW ? [] : places.filter((i) => isSeen(y + (i + 0.5) * cell));
		this.rows.replaceChildren(
			...shownRows.map((i) => {
				const t = model.order[i];
				const isHere = i === this.cursor[0] || i === this.cursor[1];
				return h(
					"span",
					{ class: isHere ? "here" : null, style: { top: `${y + (i + 0.5) * cell}px` } },
					h("bdi", {}, labels.name(t)),
					h("span", { class: "topic-number" }, ` ${t}`),
				);
			}),
			cell < MIN_ROW ? h("p", { class: "note" }, `${this.n} topics: zoom in to see their names.`) : "",
		);
		const shownColumns = cell < MIN_COLUMN ? [] : places.filter((i) => isSeen(x + (i + 0.5) * cell));
		this.columns.replaceChildren(
			...shownColumns.map((i) => h("span", { style: { left: `${x + (i + 0.5) * cell}px` } }, String(model.order[i]))),
		);
	}

	/**
	 * Row and column under the mouse.
	 * @param {MouseEvent} event
	 */
	cellAt(event) {
		const box = this.canvas.getBoundingClientRect();
		const cell = (box.width * this.transform.k) / this.n;
		const place = [
			(event.clientY - box.top - this.transform.y) / cell,
			(event.clientX - box.left - this.transform.x) / cell,
		];
		return place.map((value) => Math.max(0, Math.min(this.n - 1, Math.floor(value))));
	}

	/** @param {number[]} cell */
	moveTo(cell) {
		this.cursor = cell;
		const { model } = this.context;
		const [i, j] = cell.map((place) => model.order[place]);
		const lift = h("strong", {}, times(model.liftOf(i, j)));
		this.readout.replaceChildren(
			...(i === j
				? [topicLink(this.context, i), " fills its documents ", lift, " as much as its average share"]
				: [topicLink(this.context, i), " and ", topicLink(this.context, j), ": ", lift, " as often as by chance"]),
		);
		this.draw();
	}

	/** @param {MouseEvent} event */
	point(event) {
		const { model, labels } = this.context;
		const cell = this.cellAt(event);
		if (cell[0] !== this.cursor[0] || cell[1] !== this.cursor[1]) this.moveTo(cell);
		const [i, j] = cell.map((place) => model.order[place]);
		showTip(
			event.clientX,
			event.clientY,
			h("strong", {}, times(model.liftOf(i, j))),
			h("div", {}, `${i} ${labels.name(i)}`),
			i === j ? "" : h("div", {}, `${j} ${labels.name(j)}`),
		);
	}

	/** @param {KeyboardEvent} event */
	press(event) {
		const step = STEPS[event.key];
		if (step) {
			event.preventDefault();
			this.moveTo(this.cursor.map((at, axis) => Math.max(0, Math.min(this.n - 1, Math.max(0, at) + step[axis]))));
			say(this.readout.textContent ?? "");
		} else if (event.key === "Enter" && this.cursor[0] >= 0) {
			location.hash = topicAddress(this.context.model.order[this.cursor[0]]);
		}
	}

	/** Zoom without a wheel. */
	buttons() {
		const frame = d3.select(/** @type {Element} */ (this.frame));
		const button = (/** @type {string} */ name, /** @type {string} */ sign, /** @type {() => void} */ click) =>
			h("button", { type: "button", "aria-label": name, on: { click } }, sign);
		return h(
			"div",
			{ class: "button-row", role: "group", "aria-label": "Zoom" },
			button("Zoom in", "+", () => this.zoom.scaleBy(frame, ZOOM)),
			button("Zoom out", "−", () => this.zoom.scaleBy(frame, 1 / ZOOM)),
			button("Show all", "⤢", () => this.zoom.transform(frame, d3.zoomIdentity)),
		);
	}
}

/** @type {Record<string, number[]>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

const HINT =
	"Point at a cell, or move with the arrow keys. Enter opens the topic of the row. " +
	"Cells on the diagonal say how much of its documents a topic fills.";

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
