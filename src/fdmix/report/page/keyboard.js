/** One stop of the Tab key for a whole picture; arrow keys move inside of it. */

const DIRECTIONS = {
	ArrowLeft: [-1, 0],
	ArrowRight: [1, 0],
	ArrowUp: [0, -1],
	ArrowDown: [0, 1],
};

/**
 * Let arrow keys move the focus between the links of a picture, to the nearest one in that direction.
 * @param {HTMLElement | SVGElement} picture
 * @param {string} selector
 */
export function roving(picture, selector) {
	const links = /** @type {(HTMLElement | SVGElement)[]} */ ([...picture.querySelectorAll(selector)]);
	const focused = links.indexOf(/** @type {any} */ (document.activeElement));
	const stop = Math.max(0, focused); // a picture to which links are added keeps its focus
	for (const [i, link] of links.entries()) link.setAttribute("tabindex", i === stop ? "0" : "-1");
	const centre = (/** @type {Element} */ link) => {
		const box = link.getBoundingClientRect();
		return [box.x + box.width / 2, box.y + box.height / 2];
	};
	const focus = (/** @type {HTMLElement | SVGElement} */ next) => {
		for (const link of links) link.setAttribute("tabindex", "-1");
		next.setAttribute("tabindex", "0");
		next.focus();
	};
	picture.onkeydown = (/** @type {KeyboardEvent} */ event) => {
		const direction = DIRECTIONS[/** @type {keyof typeof DIRECTIONS} */ (event.key)];
		const here = links.find((link) => link === document.activeElement);
		if (!direction || !here || event.altKey || event.ctrlKey || event.metaKey) return;
		event.preventDefault();
		const [x, y] = centre(here);
		let [best, least] = [here, Number.POSITIVE_INFINITY];
		for (const link of links) {
			const [linkX, linkY] = centre(link);
			const along = (linkX - x) * direction[0] + (linkY - y) * direction[1];
			const across = Math.abs((linkX - x) * direction[1]) + Math.abs((linkY - y) * direction[0]);
			if (along > 0.5 && along + 2 * across < least) [best, least] = [link, along + 2 * across];
		}
		focus(best);
	};
}
