/** Unpack what `encoding.py` packed: base64, gzip, a JSON text and arrays of whole numbers. */

/**
 * The bytes of gzip in base64.
 * @param {string} text
 * @returns {Promise<Uint8Array>}
 */
export async function inflated(text) {
	const binary = atob(text.trim());
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * The facts and the arrays of packed data.
 * @param {Uint8Array} bytes
 * @returns {{ facts: any, arrays: Record<string, Uint32Array> }}
 */
export function unpacked(bytes) {
	const length = bytes[0] + 256 * (bytes[1] + 256 * (bytes[2] + 256 * bytes[3]));
	const facts = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
	const rest = bytes.subarray(4 + length);
	/** @type {Record<string, Uint32Array>} */
	const arrays = {};
	for (const [name, place] of Object.entries(facts.arrays)) {
		const [size, at, n] = /** @type {[number, number, number]} */ (place);
		const array = new Uint32Array(n);
		for (let plane = 0; plane < size; plane++) {
			const first = at + plane * n;
			for (let i = 0; i < n; i++) array[i] += rest[first + i] * 256 ** plane;
		}
		arrays[name] = array;
	}
	return { facts, arrays };
}

const LOG_STEP = 0.02;
const ZERO = 0xffff;

/**
 * Probabilities from their logarithms in steps of 2 %.
 * @param {Uint32Array} codes
 */
export function probabilities(codes) {
	return Float32Array.from(codes, (code) => (code === ZERO ? 0 : Math.exp(-LOG_STEP * code)));
}

/**
 * Ratios around 1 from their logarithms.
 * @param {Uint32Array} codes
 * @param {number} step
 */
export function ratios(codes, step) {
	return Float32Array.from(codes, (code) => (code === 0 ? 0 : Math.exp(step * (code - 128))));
}
