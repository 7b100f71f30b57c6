import { behind, h, svg, table } from "./dom.js";
import { fixed } from "./numbers.js";

/**
 * Charts with axes. A chart is drawn as wide as its place, so that its text is as large as the page's on every screen.
 *
 * @typedef {{ left: number, right: number, top: number, bottom: number }} Box where the data is drawn, in pixels
 */

const MARGIN = { top: 26, right: 14, bottom: 24 };
const AXIS_TITLE = 18; // pixels below the values of the horizontal axis
const LETTER = 6.3; // pixels of a digit, about

/**
 * A chart that is drawn again when its place gets wider or narrower.
 * @param {string} title what it shows, for screen readers
 * @param {{ height: number, left: number, hasTitleBelow?: boolean }} room left: pixels for the values at the left
 * @param {(box: Box) => Node[]} draw
 */
export function chart(title, { height, left, hasTitleBelow = true }, draw) {
	// A place that changed its height while it is drawn would be observed again, which browsers report as an error.
	const place = h("div", { class: "chart-place", style: { "min-height": `${height}px` } });
	const low = height - MARGIN.bottom - (hasTitleBelow ? AXIS_TITLE : 0);
	let drawn = 0;
	const redraw = () => {
		const width = place.clientWidth;
		if (width <= 0 || width === drawn) return;
		drawn = width;
		const box = { left, right: width - MARGIN.right, top: MARGIN.top, bottom: low };
		place.replaceChildren(
			svg(
				"svg",
				{ class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title },
				...draw(box),
			),
		);
	};
	new ResizeObserver(redraw).observe(place);
	return place;
}

/**
 * Horizontal lines with their values at the left, and what they are above them.
 * @param {Box} box
 * @param {d3.ScaleLinear<number, number>} y
 * @param {number[]} ticks
 * @param {(tick: number) => string} text
 * @param {string} [title]
 */
export function verticalAxis(box, y, ticks, text, title = "") {
	return [
		title ? svg("text", { class: "axis", x: 0, y: 11 }, title) : svg("g", {}),
		...ticks.map((tick) =>
			svg(
				"g",
				{ class: "grid" },
				svg("line", { x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }),
				svg("text", { x: box.left - 8, y: y(tick) + 4, "text-anchor": "end" }, text(tick)),
			),
		),
	];
}

/**
 * Values below the data, and what they are at the right end. A value that would leave the picture moves inside.
 * @param {Box} box
 * @param {[number, string][]} ticks places and texts
 * @param {string} [title]
 */
export function horizontalAxis(box, ticks, title = "") {
	const end = box.right + MARGIN.right;
	const inside = (/** @type {number} */ place, /** @type {string} */ text) => {
		const half = (text.length * LETTER) / 2;
		return Math.max(half, Math.min(end - half, place));
	};
	return [
		...ticks.map(([place, text]) =>
			svg("text", { x: inside(place, text), y: box.bottom + 17, "text-anchor": "middle" }, text),
		),
		title
			? svg("text", { class: "axis", x: box.right, y: box.bottom + 35, "text-anchor": "end" }, title)
			: svg("g", {}),
	];
}

/**
 * Bars that count topics by a value, with the mean as a line.
 * @param {number[]} values
 * @param {string} title
 * @param {string} unit what the values are
 * @param {[number, number]} [domain]
 */
export function histogram(values, title, unit, domain) {
	const scale = d3.scaleLinear(domain ?? /** @type {[number, number]} */ (d3.extent(values)), [0, 1]);
	if (!domain) scale.nice(24);
	const bins = d3
		.bin()
		.domain(/** @type {[number, number]} */ (scale.domain()))
		.thresholds(scale.ticks(24))(values);
	const most = d3.max(bins, (bin) => bin.length) ?? 1;
	const mean = d3.mean(values) ?? 0;
	const draw = (/** @type {Box} */ box) => {
		const x = scale.copy().range([box.left, box.right]);
		const y = d3.scaleLinear([0, most], [box.bottom, box.top]).nice(3);
		const steps = x.ticks(Math.max(3, Math.floor((box.right - box.left) / 70)));
		const text = x.tickFormat(steps.length);
		return [
			...verticalAxis(box, y, y.ticks(3).filter(Number.isInteger), String, "number of topics"),
			...bins.map((bin) =>
				svg("rect", {
					class: "column",
					x: x(bin.x0 ?? 0) + 0.5,
					width: Math.max(0, x(bin.x1 ?? 0) - x(bin.x0 ?? 0) - 1),
					y: y(bin.length),
					height: y(0) - y(bin.length),
				}),
			),
			svg("line", { class: "mean-mark", x1: x(mean), x2: x(mean), y1: box.top - 4, y2: box.bottom }),
			svg("text", { class: "axis", x: box.right, y: 11, "text-anchor": "end" }, `dashed: mean ${fixed(mean)}`),
			...horizontalAxis(
				box,
				steps.map((tick) => [x(tick), text(tick)]),
				unit,
			),
		];
	};
	const rows = bins.map((bin) => [`${fixed(bin.x0)} to ${fixed(bin.x1)}`, String(bin.length)]);
	return h(
		"figure",
		{},
		chart(title, { height: 180, left: 34 }, draw),
		behind(`${title}, as a table`, () => table(title, [unit, "#topics"], rows)),
	);
}
