import { h, wordText } from "./dom.js";
import { percent } from "./numbers.js";
import { topicLink } from "./parts.js";
import { topicAddress, wordAddress } from "./route.js";

/** @typedef {import("./parts.js").Context} Context */

const N_WORDS = 7;
const N_TOPICS = 4;

/**
 * A field that finds words and topics: a combobox with a list of suggestions.
 * @param {Context} context
 */
export function searchField(context) {
	const list = h("ul", {
		id: "found",
		role: "listbox",
		"aria-label": "Words and topics",
		hidden: true,
	});
	/** @type {string[]} */
	let addresses = [];
	let chosen = -1;
	const choose = (/** @type {number} */ place) => {
		chosen = place;
		for (const [i, option] of [...list.children].entries()) {
			option.setAttribute("aria-selected", String(i === place));
		}
		if (place >= 0) input.setAttribute("aria-activedescendant", `found-${place}`);
		else input.removeAttribute("aria-activedescendant");
	};
	const close = () => {
		list.hidden = true;
		input.setAttribute("aria-expanded", "false");
		choose(-1);
	};
	const go = (/** @type {string} */ address) => {
		close();
		input.value = "";
		location.hash = address;
	};
	const show = () => {
		const found = suggestions(context, input.value);
		addresses = found.map(({ address }) => address);
		list.replaceChildren(
			...found.map(({ content, address }, i) =>
				h(
					"li",
					{
						id: `found-${i}`,
						role: "option",
						"aria-selected": "false",
						on: {
							mousedown: (/** @type {Event} */ event) => {
								event.preventDefault();
								go(address);
							},
						},
					},
					content,
				),
			),
		);
		list.hidden = !found.length;
		input.setAttribute("aria-expanded", String(found.length > 0));
		choose(-1);
	};
	const input = h("input", {
		type: "search",
		id: "search",
		role: "combobox",
		"aria-expanded": "false",
		"aria-controls": "found",
		"aria-autocomplete": "list",
		"aria-label": "Find a word or a topic",
		placeholder: "Find a word or a topic  ( / )",
		autocomplete: "off",
		spellcheck: "false",
		on: {
			input: show,
			blur: close,
			keydown: (/** @type {KeyboardEvent} */ event) => {
				const n = addresses.length;
				if (event.key === "ArrowDown" && n) choose((chosen + 1) % n);
				else if (event.key === "ArrowUp" && n) choose((chosen + n - 1 + Number(chosen < 0)) % n);
				else if (event.key === "Enter" && n) go(addresses[Math.max(0, chosen)]);
				else if (event.key === "Escape") close();
				else return;
				event.preventDefault();
			},
		},
	});
	return h("div", { class: "search" }, input, list);
}

/**
 * @param {Context} context
 * @param {string} query
 * @returns {{ content: Node, address: string }[]}
 */
function suggestions(context, query) {
	const { model, labels } = context;
	const sought = query.trim().toLowerCase();
	if (!sought) return [];
	const found = [];
	for (let u = 0; u < model.nWords; u++) {
		const place = model.words[u].toLowerCase().indexOf(sought);
		if (place >= 0)
			found.push({
				u,
				rank: (place > 0 ? 2 : 0) + Number(model.words[u].length !== sought.length),
			});
	}
	found.sort((a, b) => a.rank - b.rank || model.wordShares[b.u] - model.wordShares[a.u]);
	const words = found.slice(0, N_WORDS).map(({ u }) => ({
		content: h(
			"span",
			{},
			h("span", { class: "muted" }, "word "),
			wordText(model.words[u]),
			h("span", { class: "muted" }, ` ${percent(model.wordShares[u])}`),
		),
		address: wordAddress(u, model),
	}));
	const { topics } = model.matching(query, (t) => labels.label(t));
	const links = topics.slice(0, N_TOPICS).map((t) => ({
		content: h("span", {}, h("span", { class: "muted" }, "topic "), ...topicLink(context, t).childNodes),
		address: topicAddress(t),
	}));
	return [...words, ...links];
}
