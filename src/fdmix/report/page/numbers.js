/** Numbers as people read them. */

const whole = new Intl.NumberFormat("en");

/**
 * A whole number with separators; a dash if it is unknown.
 * @param {number | null} n
 */
export function count(n) {
	return n === null ? "–" : whole.format(Math.round(n));
}

/**
 * A share with two digits: 12%, 3.1%, 0.042%.
 * @param {number} share
 */
export function percent(share) {
	const value = 100 * share;
	if (!(value > 0)) return "0%";
	if (value >= 9.95) return `${value.toFixed(0)}%`;
	if (value < 0.00095) return "<0.001%";
	const digits = Math.min(3, Math.max(1, 1 - Math.floor(Math.log10(value))));
	return `${value.toFixed(digits)}%`;
}

/**
 * A ratio with two digits: 340×, 4.2×, 0.31×.
 * @param {number} ratio
 */
export function times(ratio) {
	if (!(ratio > 0)) return "0×";
	if (ratio >= 9.95) return `${whole.format(Number(ratio.toPrecision(2)))}×`;
	if (ratio < 0.005) return "<0.01×";
	return `${ratio.toFixed(ratio < 0.95 ? 2 : 1)}×`;
}

/**
 * A number with a fixed number of digits after the point; a dash if it is unknown.
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export function fixed(value, digits = 2) {
	return value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−");
}
