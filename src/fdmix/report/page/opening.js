import { byId, h } from "./dom.js";
import { inflated } from "./unpack.js";

/**
 * Unpack D3 and the page's own modules, and run them in this order. The page's policy names the checksums of both
 * scripts, so nothing else can run here.
 */
async function open() {
	const packed = ["d3-packed", "page-packed"].map((id) => inflated(byId(id).textContent ?? ""));
	for (const bytes of await Promise.all(packed)) {
		const script = document.createElement("script");
		script.textContent = new TextDecoder().decode(bytes);
		document.head.append(script);
	}
}

open().catch((error) => {
	const text = `This report cannot be shown: ${error instanceof Error ? error.message : error}. Use a current browser.`;
	byId("main").replaceChildren(h("p", { class: "loading" }, text));
	throw error;
});
