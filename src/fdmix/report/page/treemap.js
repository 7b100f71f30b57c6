import { colourOf } from "./colours.js";
import { behind, h, table } from "./dom.js";
import { roving } from "./keyboard.js";
import { percent } from "./numbers.js";
import { topicLink, topicTip } from "./parts.js";
import { topicAddress } from "./route.js";
import { hideTip, showTip } from "./tip.js";

/** @typedef {import("./parts.js").Context} Context */

const MANY = 200; // topics that need a higher picture
const GAP = 2; // pixels between tiles
const WIDER = 1.9; // tiles are wider than high, because words are

/**
 * Topics as areas: an area is a topic's share, a colour is a family of topics with similar words.
 * @param {Context} context
 * @param {number[]} topics
 */
export function treemap(context, topics) {
	const { model } = context;
	const place = h("div", {
		class: topics.length > MANY ? "treemap higher" : "treemap",
		role: "group",
		"aria-label": "Topics; arrow keys move, Enter opens",
	});
	const draw = () => {
		place.replaceChildren(...tiles(context, topics, place.clientWidth, place.clientHeight));
		roving(place, "a.tile");
	};
	new ResizeObserver(() => {
		if (place.clientWidth > 0 && place.dataset.width !== String(place.clientWidth)) {
			place.dataset.width = String(place.clientWidth);
			draw();
		}
	}).observe(place);
	const rows = () =>
		topics.map((t) => [topicLink(context, t), percent(model.shares[t]), String(model.family[t] + 1)]);
	return h(
		"div",
		{},
		place,
		behind("The treemap as a table", () => table("Topics", ["topic", "#share", "#family"], rows())),
	);
}

/**
 * @param {Context} context
 * @param {number[]} topics
 * @param {number} width
 * @param {number} height
 */
function tiles(context, topics, width, height) {
	const { model, labels } = context;
	/** @typedef {{ topic?: number, children?: Node[] }} Node */
	const families = d3.groups(topics, (t) => model.family[t]);
	/** @type {Node} */
	const tree = {
		children: families.map(([, members]) => ({
			children: members.map((topic) => ({ topic })),
		})),
	};
	const root = d3
		.hierarchy(tree)
		.sum((node) => (node.topic === undefined ? 0 : Math.max(model.shares[node.topic], 1e-9)))
		.sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
	const placed = d3.treemap().size([width / WIDER, height])(/** @type {any} */ (root));
	return placed.leaves().map((leaf) => {
		const topic = /** @type {Node} */ (leaf.data).topic ?? 0;
		const [left, top] = [Math.round(leaf.x0 * WIDER), Math.round(leaf.y0)];
		const w = Math.round(leaf.x1 * WIDER) - left - GAP;
		const tall = Math.round(leaf.y1) - top - GAP;
		const label = labels.label(topic);
		const words = model.typicalWords(topic, 12);
		const text = w < 26 || tall < 16 ? [] : [h("span", { class: "tile-name" }, label || words[0])];
		const lines = Math.floor((tall - 42) / 16);
		if (w >= 60 && lines > 0) {
			const rest = words.slice(label ? 0 : 1).join(", ");
			text.push(h("span", { class: "tile-words", style: { "-webkit-line-clamp": lines } }, rest));
		}
		if (w >= 56 && tall >= 40) text.push(h("span", { class: "tile-share" }, percent(model.shares[topic])));
		return h(
			"a",
			{
				class: w < 74 || tall < 40 ? "tile small-tile" : "tile",
				href: topicAddress(topic),
				"aria-label": `Topic ${topic}, ${percent(model.shares[topic])}: ${labels.name(topic)}`,
				style: {
					left: `${left}px`,
					top: `${top}px`,
					width: `${w}px`,
					height: `${tall}px`,
					"--c": colourOf(model, topic),
				},
				on: {
					mousemove: (/** @type {MouseEvent} */ event) =>
						showTip(event.clientX, event.clientY, ...topicTip(context, topic)),
					mouseleave: hideTip,
				},
			},
			...text,
		);
	});
}
