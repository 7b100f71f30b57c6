import { byId } from "./dom.js";

/**
 * Show a remark near a point of the window.
 * @param {number} x
 * @param {number} y
 * @param {...(Node | string)} content
 */
export function showTip(x, y, ...content) {
	const tip = byId("tip");
	tip.replaceChildren(...content);
	tip.hidden = false;
	const { width, height } = tip.getBoundingClientRect();
	const left = Math.min(x + 14, window.innerWidth - width - 8);
	const below = y + 18 + height > window.innerHeight;
	tip.style.left = `${Math.max(8, left)}px`;
	tip.style.top = `${below ? Math.max(8, y - height - 12) : y + 18}px`;
}

/** Hide it. */
export function hideTip() {
	byId("tip").hidden = true;
}
