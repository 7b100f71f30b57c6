import { chart } from "./charts.js";
import { behind, h, svg, table, wordText } from "./dom.js";
import { count, fixed, percent } from "./numbers.js";
import { bar, card } from "./parts.js";
import { topicAddress } from "./route.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {import("./model.js").EditStep} EditStep
 * @typedef {import("./model.js").TopicChange} TopicChange
 * @typedef {import("./model.js").Side} Side
 */

const ROLES = /** @type {Record<string, string>} */ ({
	edited: "edited",
	new: "new",
	gone: "gone",
	moved: "moved",
});
const ROW = 24; // height of a topic in the picture of shares

/**
 * What people edited, the last step first: the edits, what they cost, and the topics before and after.
 * @param {Context} context
 */
export function editsView(context) {
	const steps = /** @type {EditStep[]} */ (context.model.edits);
	return h(
		"div",
		{ class: "view edits" },
		h("h1", {}, "Edits"),
		h(
			"p",
			{ class: "lead" },
			`${steps.length === 1 ? "One step of edits." : `${count(steps.length)} steps of edits, the last one first.`} Topics have the numbers that they had before and after each step.`,
		),
		...d3
			.range(steps.length)
			.reverse()
			.map((place) => stepCard(steps[place], place, place === steps.length - 1)),
	);
}

/**
 * @param {EditStep} step
 * @param {number} place
 * @param {boolean} isLast whether the topics after the step are those of this report
 */
function stepCard(step, place, isLast) {
	const title = `Step ${place + 1}`;
	const topics = step.topics.filter(({ before, after }) => before || after);
	return card(
		title,
		null,
		h("ul", { class: "asked" }, ...step.edits.map((edit) => h("li", {}, edit))),
		h("p", {}, costOf(step)),
		h("p", { class: "note" }, movedOf(step)),
		topics.length
			? h(
					"div",
					{ class: "scroll", tabindex: 0, role: "region", "aria-label": `${title}: topics before and after` },
					changesTable(title, topics, isLast),
				)
			: h("p", { class: "note" }, "The model does not tell what this step did to its topics."),
		topics.length ? shareChart(title, topics) : null,
	);
}

/** @param {EditStep} step */
function costOf({ before, after }) {
	if (before === null || after === null) return "What it cost in likelihood is not known.";
	const cost = before - after;
	const told =
		Math.abs(cost) < 5e-5 ? "cost nothing" : cost > 0 ? `cost ${fixed(cost, 4)}` : `gained ${fixed(-cost, 4)}`;
	return `Log-likelihood of a word pair: ${fixed(before, 4)} before, ${fixed(after, 4)} after. The edits ${told}.`;
}

/** @param {EditStep} step */
function movedOf({ topics }) {
	const moved = topics.filter(({ role }) => role === "moved");
	if (!moved.length) return "No other topic moved.";
	const far = fixed(moved[0].distance);
	return `${moved.length === 1 ? "One other topic" : `${count(moved.length)} other topics`} moved, by an l1 distance of up to ${far} (0: the same words, 2: no word in common).`;
}

/**
 * @param {string} title
 * @param {TopicChange[]} topics
 * @param {boolean} isLast
 */
function changesTable(title, topics, isLast) {
	return table(
		`${title}: topics before and after`,
		["", "before", "after", "moved by"],
		topics.map(({ role, before, after, distance }) => [
			h("span", { class: `role ${role}` }, ROLES[role] ?? role),
			side(before, after, "del", false),
			side(after, before, "ins", isLast),
			distance === null
				? "–"
				: h(
						"span",
						{ class: "distance" },
						bar(distance / 2, "var(--accent)"),
						h("span", { class: "number" }, fixed(distance)),
					),
		]),
		"plain compared",
	);
}

/**
 * A topic on one side of a step; words that the other side lacks are marked.
 * @param {Side} topic
 * @param {Side} other
 * @param {"ins" | "del"} mark
 * @param {boolean} isHere whether this report has the topic
 */
function side(topic, other, mark, isHere) {
	if (!topic) return "–";
	const number = h("span", { class: "topic-number" }, String(topic.number));
	const words = topic.words.flatMap((word, i) => [
		i ? ", " : "",
		other && !other.words.includes(word) ? h(mark, {}, wordText(word)) : wordText(word),
	]);
	return h(
		"span",
		{},
		isHere ? h("a", { href: topicAddress(topic.number) }, number) : number,
		" ",
		topic.label ? h("strong", { class: "label" }, `${topic.label} `) : null,
		h("span", { class: "muted" }, `· ${percent(topic.share)}`),
		h("div", { class: "small" }, ...words),
	);
}

/**
 * Shares before and after, a row for each topic.
 * @param {string} title
 * @param {TopicChange[]} topics
 */
function shareChart(title, topics) {
	const caption = `${title}: share of each topic before (ring) and after (disc)`;
	const height = ROW * topics.length + 50; // with the margins of a chart
	return h(
		"figure",
		{ style: { "--c": "var(--accent)" } },
		h("figcaption", { class: "note" }, "Share of each topic before (ring) and after (disc)"),
		chart(caption, { height, left: 84, hasTitleBelow: false }, (box) => drawnShares(topics, box)),
		behind("As a table", () =>
			table(
				caption,
				["topic", "#before", "#after"],
				topics.map((change) => [
					numbered(change),
					change.before ? percent(change.before.share) : "–",
					change.after ? percent(change.after.share) : "–",
				]),
			),
		),
	);
}

/**
 * @param {TopicChange[]} topics
 * @param {import("./charts.js").Box} box
 */
function drawnShares(topics, box) {
	const largest = d3.max(topics, ({ before, after }) => Math.max(before?.share ?? 0, after?.share ?? 0)) ?? 1;
	const x = d3.scaleLinear([0, largest || 1], [box.left, box.right - 12]).nice(4);
	return [
		...x
			.ticks(4)
			.map((tick) =>
				svg(
					"g",
					{ class: "grid" },
					svg("line", { x1: x(tick), x2: x(tick), y1: box.top - 6, y2: box.bottom }),
					svg("text", { x: x(tick), y: box.top - 10, "text-anchor": "middle" }, percent(tick)),
				),
			),
		...topics.flatMap((change, row) => {
			const y = box.top + ROW * (row + 0.5);
			const [from, to] = [change.before, change.after];
			return [
				svg("text", { x: box.left - 10, y: y + 4, "text-anchor": "end" }, `topic ${numbered(change)}`),
				...(from && to ? [svg("line", { class: "whisker", x1: x(from.share), x2: x(to.share), y1: y, y2: y })] : []),
				...(from ? [svg("circle", { class: "before", cx: x(from.share), cy: y, r: 4.5 })] : []),
				...(to ? [svg("circle", { cx: x(to.share), cy: y, r: 4.5 })] : []),
			];
		}),
	];
}

/**
 * The number of a topic; if a step changed it, the old one and the new one.
 * @param {TopicChange} change
 */
function numbered({ before, after }) {
	return before && after && before.number !== after.number
		? `${before.number} → ${after.number}`
		: String((after ?? before)?.number);
}
