import { chart, histogram, horizontalAxis, verticalAxis } from "./charts.js";
import { behind, h, svg, table } from "./dom.js";
import { count, fixed, percent } from "./numbers.js";
import { bar, card, topicLink, wordLink } from "./parts.js";
import { colourOf } from "./colours.js";
import { viewAddress } from "./route.js";

/** @typedef {import("./parts.js").Context} Context */

const N_LARGEST = 12;
const N_WORDS = 9; // of each of them
const N_LISTED = 8; // topics of a remark that are named at first

/**
 * What was read, how the fit went, how good the topics are, and what to look at.
 * @param {Context} context
 */
export function overview(context) {
	const { model } = context;
	const { source } = model.facts;
	return h(
		"div",
		{ class: "view" },
		h("h1", {}, model.facts.title),
		h(
			"dl",
			{ class: "tiles" },
			tile("topics", count(model.nTopics)),
			tile("words", count(model.nWords)),
			source.documents === null ? null : tile("documents", count(source.documents)),
			source.tokens === null ? null : tile("tokens", count(source.tokens)),
			tile("topics per document", fixed(model.facts.quality.topicsADocument, 1)),
		),
		remarks(context),
		h(
			"div",
			{ class: "columns" },
			h("div", { class: "stack" }, largest(context), qualityCard(context)),
			h("div", { class: "stack" }, fitCard(context), sourceCard(context)),
		),
	);
}

/**
 * @param {string} name
 * @param {string} value
 */
function tile(name, value) {
	return h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value));
}

/** @param {Context} context */
function remarks(context) {
	const { model } = context;
	if (!model.remarks.length) {
		return h(
			"section",
			{ class: "card fine" },
			h("h2", {}, "No warnings"),
			h(
				"p",
				{},
				"No topics are near copies of each other, no word is on top everywhere, and no topic looks like an accident.",
			),
		);
	}
	return h(
		"section",
		{ class: "card remarks" },
		h("h2", {}, "Before you use these topics"),
		h("ul", {}, ...model.remarks.map((remark) => remarkItem(context, remark))),
	);
}

/**
 * @param {Context} context
 * @param {import("./model.js").Remark} remark
 */
function remarkItem(context, remark) {
	const links = remark.topics.map((group) =>
		h("li", { class: group.length > 1 ? "pair" : null }, ...group.map((t) => topicLink(context, t))),
	);
	return h(
		"li",
		{},
		h("h3", {}, remark.title, remark.topics.length > 1 ? ` (${remark.topics.length})` : ""),
		h("p", {}, remark.text),
		remark.words.length
			? h("p", { class: "word-list" }, ...remark.words.map((word) => wordLink(context, word)))
			: null,
		links.length ? h("ul", { class: "topic-list" }, ...links.slice(0, N_LISTED)) : null,
		links.length > N_LISTED
			? h(
					"details",
					{},
					h("summary", {}, `${links.length - N_LISTED} more`),
					h("ul", { class: "topic-list" }, ...links.slice(N_LISTED)),
				)
			: null,
	);
}

/** @param {Context} context */
function largest(context) {
	const { model } = context;
	const order = d3.range(model.nTopics).sort((a, b) => model.shares[b] - model.shares[a] || a - b);
	const top = model.shares[order[0]] || 1;
	return card(
		"Largest topics",
		null,
		h(
			"ol",
			{ class: "ranked wide-names" },
			...order
				.slice(0, N_LARGEST)
				.map((t) =>
					h(
						"li",
						{},
						largeTopic(context, t),
						bar(model.shares[t] / top, colourOf(model, t)),
						h("span", { class: "number" }, percent(model.shares[t])),
					),
				),
		),
		h("p", {}, h("a", { href: viewAddress("topics") }, `All ${count(model.nTopics)} topics`)),
	);
}

/**
 * A link to a topic with more of its words than its name has.
 * @param {Context} context
 * @param {number} topic
 */
function largeTopic(context, topic) {
	const link = topicLink(context, topic);
	const words = context.model.typicalWords(topic, N_WORDS);
	const rest = context.labels.label(topic) ? words : words.slice(3);
	if (rest.length)
		link.append(h("bdi", { class: "muted" }, `${context.labels.label(topic) ? " " : ", "}${rest.join(", ")}`));
	return link;
}

/** @param {Context} context */
function qualityCard({ model }) {
	const { quality } = model.facts;
	/** @type {number[]} */
	const coherence = quality.coherence.filter((/** @type {number | null} */ value) => value !== null);
	const rows = [
		[
			"diversity",
			percent(quality.diversity),
			"distinct words among the first 25 of all topics: 100% if no two topics share a word",
		],
		[
			"best topic of a word",
			percent(quality.bestTopic),
			"how much of a word's tokens come from its best topic: 100% if each word has a single topic",
		],
		[
			"effective topics",
			fixed(quality.effectiveTopics, 1),
			`of ${count(model.nTopics)}: fewer if some topics are much larger than others`,
		],
	];
	if (coherence.length) {
		rows.unshift([
			"coherence (NPMI)",
			fixed(d3.mean(coherence) ?? null),
			"mean over topics, from −1 to 1: 0 if their top words occur together as often as by chance",
		]);
	}
	if (quality.reliability) {
		rows.push([
			"topics that come back",
			percent(d3.mean(quality.reliability.returned) ?? 0),
			`mean over topics, in ${quality.reliability.refits} fits to resampled documents. ${quality.reliability.check}`,
		]);
	}
	return card(
		"Quality",
		null,
		h(
			"dl",
			{ class: "facts" },
			...rows.flatMap(([name, value, meaning]) => [
				h("dt", {}, name),
				h("dd", {}, h("strong", {}, value), h("span", { class: "muted" }, meaning)),
			]),
		),
		coherence.length > 3 ? histogram(coherence, "Coherence of the topics", "coherence (NPMI)") : null,
		coherence.length
			? null
			: h("p", { class: "note" }, "Coherence needs word-pair counts: fdmix report MODEL --moments FILE."),
	);
}

/** @param {Context} context */
function fitCard({ model }) {
	/** @type {{ curve: [number, number][], passes: number | null, reason: string } | null} */
	const fit = model.facts.fit;
	const title = "How the fit went";
	if (!fit || fit.curve.length < 2) {
		const told = fit?.reason ? `It ended because ${fit.reason}.` : "This model does not keep the story of its fit.";
		return card(title, null, h("p", { class: "note" }, told));
	}
	// Passes over documents come last and serve the documents: the likelihood of the pairs may fall.
	const { refined } = model.facts.source;
	const pairs = refined ? fit.curve.slice(0, -1) : fit.curve;
	const last = fit.curve[fit.curve.length - 1][1];
	const after = refined
		? `, then passes over the documents. The log-likelihood of a word pair is ${fixed(last, 3)} after them`
		: "";
	const falls = d3.pairs(pairs).some(([before, now]) => now[1] < before[1] - 1e-6);
	return card(
		title,
		`${count(fit.passes)} passes over the word pairs${after}. Why it stopped: ${fit.reason}.`,
		pairs.length > 1 ? curve(pairs) : null,
		falls && pairs.length > 1
			? h(
					"p",
					{ class: "note" },
					"The line falls where the fit drops words from topics, or exchanges topics, on purpose.",
				)
			: null,
	);
}

/** @param {[number, number][]} points */
function curve(points) {
	const values = points.map(([, value]) => value).sort(d3.ascending);
	// The first passes improve so much that the rest would look flat: begin the scale a little below the rest.
	const low = Math.max(
		values[0],
		values[values.length - 1] - 3 * (values[values.length - 1] - (d3.quantile(values, 0.3) ?? 0)),
	);
	const title = "Log-likelihood after each pass";
	const draw = (/** @type {import("./charts.js").Box} */ box) => {
		const x = d3.scaleLinear([points[0][0], points[points.length - 1][0]], [box.left, box.right]);
		const y = d3
			.scaleLinear([low, values[values.length - 1]], [box.bottom, box.top])
			.nice(4)
			.clamp(true);
		const line = d3
			.line(
				([pass]) => x(pass),
				([, value]) => y(value),
			)
			.defined(([, value]) => value >= y.domain()[0]);
		return [
			...verticalAxis(box, y, y.ticks(4), y.tickFormat(4), "log-likelihood of a word pair"),
			svg("path", { class: "line", d: line(points) }),
			...horizontalAxis(
				box,
				x.ticks(6).map((tick) => [x(tick), String(tick)]),
				"pass",
			),
		];
	};
	return h(
		"figure",
		{},
		chart(title, { height: 210, left: 62 }, draw),
		behind(`${title}, as a table`, () =>
			table(
				title,
				["#pass", "#log-likelihood"],
				points.map(([pass, value]) => [String(pass), fixed(value, 5)]),
			),
		),
	);
}

/** @param {Context} context */
function sourceCard({ model }) {
	const { source } = model.facts;
	/** @type {[string, string | Node][]} */
	const facts = [];
	const add = (/** @type {string} */ name, /** @type {string | Node | null} */ value) => {
		if (value) facts.push([name, value]);
	};
	if (source.files.length) {
		add(
			"read",
			h(
				"ul",
				{ class: "bare" },
				...source.files
					.slice(0, 6)
					.map((/** @type {[string, number]} */ [name, n]) => h("li", {}, `${name} (${count(n)} documents)`)),
				source.nFiles > 6 ? h("li", {}, `and ${count(source.nFiles - 6)} more`) : null,
			),
		);
	}
	add("documents", source.documents === null ? null : `${count(source.documents)} with two or more words`);
	add("skipped", source.skipped ? `${count(source.skipped)} with fewer than two words` : null);
	add("word pairs", source.pairs === null ? null : `${count(source.pairs)} different ones`);
	add(
		"cleaning",
		source.cleaning.length
			? h("ul", { class: "bare" }, ...source.cleaning.map((/** @type {string} */ step) => h("li", {}, step)))
			: "not known to the model",
	);
	add("fitted to", source.refined ? "word pairs, then the documents" : "word pairs alone");
	add(
		"made with",
		source.version ? `fdmix ${source.version}${source.seed === null ? "" : `, seed ${source.seed}`}` : null,
	);
	add(
		"in this page",
		`${percent(model.facts.keptProbability)} of the topics' probability; probabilities are precise to 1%, lifts to 2%`,
	);
	return card(
		"What was read, and how it was cleaned",
		null,
		h("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
	);
}
