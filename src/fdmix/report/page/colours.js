/** Colours: a hue for each family of topics, a scale from blue over grey to orange for lift. */

/**
 * The colour of a topic's family.
 * @param {import("./model.js").Model} model
 * @param {number} topic
 */
export function colourOf(model, topic) {
	return `var(--family-${model.family[topic]})`;
}

/**
 * The colour that a CSS expression has now, in light or dark.
 * @param {string} expression
 */
export function resolved(expression) {
	const probe = document.createElement("span");
	probe.style.color = expression;
	document.body.append(probe);
	const colour = d3.rgb(getComputedStyle(probe).color);
	probe.remove();
	return colour;
}

/**
 * A colour for a lift: less often than by chance, as often, more often.
 * @returns {(lift: number) => import("d3").RGBColor}
 */
export function liftScale() {
	const [less, even, more] = ["--less", "--even", "--more"].map((name) => resolved(`var(${name})`));
	const below = d3.interpolateRgb(even, less);
	const above = d3.interpolateRgb(even, more);
	return (lift) => {
		const strength = lift > 0 ? Math.log2(lift) : -5;
		return d3.rgb(strength < 0 ? below(Math.min(1, -strength / 5)) : above(Math.min(1, strength / 4)));
	};
}
