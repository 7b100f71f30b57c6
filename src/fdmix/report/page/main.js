import { choiceView } from "./choice.js";
import { compare } from "./compare.js";
import { byId, h, say } from "./dom.js";
import { editsView } from "./edits.js";
import { groups } from "./groups.js";
import { Labels } from "./labels.js";
import { map } from "./map.js";
import { Model } from "./model.js";
import { overview } from "./overview.js";
import { routeOf, viewAddress } from "./route.js";
import { searchField } from "./search.js";
import { hideTip } from "./tip.js";
import { together } from "./together.js";
import { topicView } from "./topic.js";
import { topics } from "./topics.js";
import { treeView } from "./tree.js";
import { inflated, unpacked } from "./unpack.js";
import { words, wordView } from "./word.js";

/** @typedef {import("./parts.js").Context} Context */

const THEMES = /** @type {const} */ (["auto", "light", "dark"]);
const THEME_KEY = "fdmix-theme";

/**
 * The views that this report has, with their names in the bar.
 * @param {Context} context
 * @returns {[string, string, (context: Context) => Node][]}
 */
function viewsOf({ model }) {
	/** @type {[string, string, (context: Context) => Node][]} */
	const views = [
		["overview", "Overview", overview],
		["topics", "Topics", topics],
		["map", "Map", map],
		["together", "Together", together],
		["words", "Words", words],
	];
	if (model.tree) views.push(["tree", "Tree", treeView]);
	if (model.groups) views.push(["groups", `By ${model.groups.column}`, groups]);
	if (model.choice) views.push(["choice", "How many", choiceView]);
	if (model.edits) views.push(["edits", "Edits", editsView]);
	if (model.compare) views.push(["compare", "Compare", compare]);
	return views;
}

/** Open the report. */
async function open() {
	const { facts, arrays } = unpacked(await inflated(byId("data-packed").textContent ?? ""));
	const model = new Model(facts, arrays);
	const context = { model, labels: new Labels(model) };
	const views = viewsOf(context);
	applyTheme(storedTheme());
	bar(context, views);
	const show = () => showRoute(context, views);
	window.addEventListener("hashchange", show);
	document.addEventListener("keydown", shortcuts);
	if (location.protocol === "about:") document.addEventListener("click", followInside);
	byId("skip").addEventListener("click", (event) => {
		event.preventDefault();
		byId("main").focus();
	});
	show();
	performance.mark("ready");
	document.documentElement.dataset.ready = "yes";
}

/**
 * @param {Context} context
 * @param {[string, string, (context: Context) => Node][]} views
 */
function bar(context, views) {
	byId("bar").replaceChildren(
		h("a", { class: "brand", href: viewAddress("overview") }, context.model.facts.title),
		h(
			"nav",
			{ "aria-label": "Views" },
			...views.map(([name, title]) => h("a", { href: viewAddress(name), "data-view": name }, title)),
		),
		searchField(context),
		h("button", { type: "button", id: "theme", on: { click: nextTheme } }),
	);
	applyTheme(storedTheme());
}

/**
 * @param {Context} context
 * @param {[string, string, (context: Context) => Node][]} views
 */
function showRoute(context, views) {
	hideTip();
	const names = views.map(([name]) => name);
	const route = routeOf(location.hash, context.model, names);
	const main = byId("main");
	if (!route) {
		main.replaceChildren(
			h(
				"div",
				{ class: "view" },
				h("h1", {}, "Not in this report"),
				h("p", {}, "The address names a topic, a word or a view that this report does not have. "),
				h("p", {}, h("a", { href: viewAddress("overview") }, "To the overview")),
			),
		);
		return;
	}
	const view = views.find(([name]) => name === route.view);
	if (view) main.replaceChildren(view[2](context));
	else if (route.view === "topic") main.replaceChildren(topicView(context, route.topic));
	else main.replaceChildren(wordView(context, route.word));
	const current = { topic: "topics", word: "words" }[route.view] ?? route.view;
	for (const link of document.querySelectorAll("[data-view]")) {
		if (link.getAttribute("data-view") === current) {
			link.setAttribute("aria-current", "page");
			intoSight(/** @type {HTMLElement} */ (link));
		} else link.removeAttribute("aria-current");
	}
	const heading = main.querySelector("h1")?.textContent ?? "";
	document.title = `${heading} · ${context.model.facts.title}`;
	if (document.documentElement.dataset.ready) {
		window.scrollTo(0, 0);
		main.focus({ preventScroll: true });
		say(heading);
	}
}

/**
 * Scroll the bar so that the name of the view is in sight: on a phone it has more views than room.
 * @param {HTMLElement} link
 */
function intoSight(link) {
	const nav = /** @type {HTMLElement} */ (link.parentElement);
	if (nav.scrollWidth > nav.clientWidth) nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
}

/**
 * Follow a link inside of an iframe. There the address of this page is about:srcdoc, but the browser completes
 * "#topic=17" by the address of the page around it, and would leave the report.
 * @param {MouseEvent} event
 */
function followInside(event) {
	const link = event.target instanceof Element ? event.target.closest("a") : null;
	const address = link?.getAttribute("href") ?? "";
	if (event.defaultPrevented || !address.startsWith("#")) return;
	event.preventDefault();
	location.hash = address;
}

/** @param {KeyboardEvent} event */
function shortcuts(event) {
	const typing = event.target instanceof HTMLInputElement;
	if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
		event.preventDefault();
		byId("search").focus();
	}
	if (event.key === "Escape") hideTip();
}

/** @returns {string} */
function storedTheme() {
	try {
		return localStorage.getItem(THEME_KEY) ?? document.documentElement.dataset.theme ?? "auto";
	} catch {
		return document.documentElement.dataset.theme ?? "auto";
	}
}

function nextTheme() {
	const theme = THEMES[(THEMES.indexOf(/** @type {any} */ (storedTheme())) + 1) % THEMES.length];
	document.documentElement.dataset.theme = theme;
	try {
		localStorage.setItem(THEME_KEY, theme);
	} catch {
		// The browser keeps nothing for this page.
	}
	applyTheme(theme);
	say(`Colours: ${theme}.`);
}

/** @param {string} theme */
function applyTheme(theme) {
	document.documentElement.dataset.theme = theme;
	const button = document.getElementById("theme");
	if (button) {
		const text = { light: "☀ Light", dark: "☾ Dark" }[theme] ?? "◐ Auto";
		button.textContent = text;
		button.setAttribute("aria-label", `Colours: ${theme}. Change`);
	}
	document.dispatchEvent(new Event("themechange"));
}

open().catch((error) => {
	const text = `This report cannot be shown: ${error instanceof Error ? error.message : error}. Use a current browser.`;
	byId("main").replaceChildren(h("p", { class: "loading" }, text));
	throw error;
});
