/**
 * What the page shows is in its address: #view=map, #topic=17, #word=neural, #view=tree&cut=20.
 * @typedef {{ view: string, topic: number, word: number }} Route
 */

/**
 * The route of an address, or null if it names something that is not there.
 * @param {string} hash
 * @param {import("./model.js").Model} model
 * @param {string[]} views
 * @returns {Route | null}
 */
export function routeOf(hash, model, views) {
	const parameters = new URLSearchParams(hash.replace(/^#/, ""));
	const topic = parameters.get("topic");
	const word = parameters.get("word");
	if (topic !== null) {
		const number = Number(topic);
		const known = /^\d+$/.test(topic) && number < model.nTopics;
		return known ? { view: "topic", topic: number, word: -1 } : null;
	}
	if (word !== null) {
		const stated = Number(parameters.get("n") ?? -1);
		const place = model.words[stated] === word ? stated : model.places.get(word);
		return place === undefined ? null : { view: "word", topic: -1, word: place };
	}
	const view = parameters.get("view") ?? "overview";
	return views.includes(view) ? { view, topic: -1, word: -1 } : null;
}

/** @param {number} topic */
export function topicAddress(topic) {
	return `#topic=${topic}`;
}

/**
 * Two stems can be shown as the same word; then the address holds the number of the word, too.
 * @param {number} word
 * @param {import("./model.js").Model} model
 */
export function wordAddress(word, model) {
	const name = model.words[word];
	const number = model.places.get(name) === word ? "" : `&n=${word}`;
	return `#word=${encodeURIComponent(name)}${number}`;
}

/**
 * The tree with this many topics; for a leaf of it, the topic, or the topics that it merges.
 * @param {number} cut
 * @param {number} [node]
 * @param {number} [nTopics]
 */
export function treeAddress(cut, node, nTopics = 0) {
	if (node !== undefined && node < nTopics) return topicAddress(node);
	return `#view=tree&cut=${cut}${node === undefined ? "" : `&node=${node}`}`;
}

/** @param {string} view */
export function viewAddress(view) {
	return `#view=${view}`;
}
