/**
 * Make elements. Text is always data: it becomes a text node, never markup.
 *
 * @typedef {Node | string | null | undefined} Child
 * @typedef {{ class?: string | null, style?: Record<string, string | number>, on?: Record<string, (event: any) => void> }
 *   & Record<string, any>} Properties
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * A new HTML element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Properties} [properties] attributes; `on` holds listeners, `style` holds CSS properties
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, properties = {}, ...children) {
	return filled(document.createElement(tag), properties, children);
}

/**
 * A new SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, properties = {}, ...children) {
	return filled(document.createElementNS(SVG, tag), properties, children);
}

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element
 * @param {Properties} properties
 * @param {Child[]} children
 * @returns {E}
 */
function filled(element, properties, children) {
	for (const [name, value] of Object.entries(properties)) {
		if (value === null || value === undefined || value === false) continue;
		if (name === "on") {
			for (const [event, listener] of Object.entries(value)) {
				element.addEventListener(event, /** @type {EventListener} */ (listener));
			}
		} else if (name === "style") {
			for (const [property, setting] of Object.entries(value)) {
				element.style.setProperty(property, String(setting));
			}
		} else {
			element.setAttribute(name, value === true ? "" : String(value));
		}
	}
	for (const child of children) {
		if (child !== null && child !== undefined) element.append(child);
	}
	return element;
}

/**
 * The element of the page with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
	const found = document.getElementById(id);
	if (!found) throw new Error(`the page has no element ${id}`);
	return found;
}

/**
 * Tell screen readers something that changed.
 * @param {string} text
 */
export function say(text) {
	byId("said").textContent = text;
}

/**
 * The text with escapes in place of characters that hide or reorder text; words come from Python like that already.
 * @param {string} text
 */
export function visible(text) {
	return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
		const code = character.codePointAt(0) ?? 0;
		return code === 0x200c || code === 0x200d ? character : `\\u${code.toString(16).padStart(4, "0")}`;
	});
}

/**
 * A word of the text: isolated, so that its writing direction does not reorder its neighbours.
 * @param {string} word
 * @param {string} [className]
 */
export function wordText(word, className = "word") {
	return h("bdi", { class: className }, word);
}

/**
 * A table. Cells are text or nodes; columns whose heading begins with # hold numbers.
 * @param {string} caption
 * @param {string[]} headings
 * @param {Child[][]} rows
 * @param {string} [className]
 */
export function table(caption, headings, rows, className = "plain") {
	const numeric = headings.map((heading) => heading.startsWith("#"));
	const cells = (/** @type {Child[]} */ row) =>
		row.map((cell, i) => h("td", { class: numeric[i] ? "number" : null }, cell));
	return h(
		"table",
		{ class: className },
		h("caption", { class: "hidden-text" }, caption),
		h(
			"thead",
			{},
			h(
				"tr",
				{},
				...headings.map((heading, i) =>
					h("th", { scope: "col", class: numeric[i] ? "number" : null }, heading.replace(/^#/, "")),
				),
			),
		),
		h("tbody", {}, ...rows.map((row) => h("tr", {}, ...cells(row)))),
	);
}

/**
 * The table behind a picture: folded up, and made when it is opened.
 * @param {string} summary
 * @param {() => Node} make
 */
export function behind(summary, make) {
	const details = h("details", { class: "behind" }, h("summary", {}, summary));
	details.addEventListener("toggle", () => {
		if (details.open && details.children.length === 1) {
			details.append(
				h(
					"div",
					{
						class: "scroll",
						tabindex: 0,
						role: "region",
						"aria-label": summary,
					},
					make(),
				),
			);
		}
	});
	return details;
}

/**
 * Buttons of which one is chosen.
 * @param {string} label
 * @param {[string, string][]} choices value and text
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
export function switcher(label, choices, chosen, choose) {
	return h(
		"div",
		{ class: "switcher", role: "group", "aria-label": label },
		...choices.map(([value, text]) =>
			h(
				"button",
				{
					type: "button",
					"aria-pressed": String(value === chosen),
					on: { click: () => choose(value) },
				},
				text,
			),
		),
	);
}
