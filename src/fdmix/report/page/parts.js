import { colourOf } from "./colours.js";
import { h, wordText } from "./dom.js";
import { percent } from "./numbers.js";
import { topicAddress, wordAddress } from "./route.js";

/**
 * What every view needs.
 * @typedef {{ model: import("./model.js").Model, labels: import("./labels.js").Labels }} Context
 */

/**
 * A dot in the colour of a topic's family.
 * @param {Context} context
 * @param {number} topic
 */
export function dot({ model }, topic) {
	return h("span", {
		class: "dot",
		"aria-hidden": "true",
		style: { "--c": colourOf(model, topic) },
	});
}

/**
 * A link to a topic: its dot, number and name.
 * @param {Context} context
 * @param {number} topic
 */
export function topicLink(context, topic) {
	return h(
		"a",
		{ class: "topic-link", href: topicAddress(topic) },
		dot(context, topic),
		h("span", { class: "topic-number" }, String(topic)),
		" ",
		wordText(context.labels.name(topic), context.labels.label(topic) ? "label" : "words"),
	);
}

/**
 * A link to a word.
 * @param {Context} context
 * @param {number} word
 */
export function wordLink({ model }, word) {
	return h("a", { class: "word-link", href: wordAddress(word, model) }, wordText(model.words[word]));
}

/**
 * A bar for a share between 0 and 1 of the longest bar; the number beside it says the same to everybody.
 * @param {number} part
 * @param {string} colour
 * @param {number | null} [mark] a second share, drawn as a thin line
 */
export function bar(part, colour, mark = null) {
	return h(
		"span",
		{ class: "bar-track", "aria-hidden": "true" },
		h("span", {
			class: "bar-fill",
			style: { width: `${Math.min(100, 100 * part)}%`, "--c": colour },
		}),
		mark === null
			? null
			: h("span", {
					class: "bar-mark",
					style: { left: `${Math.min(100, 100 * mark)}%` },
				}),
	);
}

/**
 * A panel with a heading.
 * @param {string} title
 * @param {string | null} note
 * @param {...(Node | string | null)} content
 */
export function card(title, note, ...content) {
	return h(
		"section",
		{ class: "card" },
		h("h2", {}, title),
		note ? h("p", { class: "note" }, note) : null,
		...content,
	);
}

/**
 * What a tip says about a topic.
 * @param {Context} context
 * @param {number} topic
 */
export function topicTip(context, topic) {
	const words = context.model.typicalWords(topic, 8);
	return [
		h("strong", {}, `Topic ${topic}`),
		h("span", { class: "muted" }, ` · ${percent(context.model.shares[topic])} of the text`),
		context.labels.label(topic) ? h("div", { class: "label" }, context.labels.label(topic)) : "",
		h("div", {}, words.join(", ")),
	];
}
