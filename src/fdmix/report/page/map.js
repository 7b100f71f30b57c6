import { behind, h, table } from "./dom.js";
import { percent } from "./numbers.js";
import { topicLink } from "./parts.js";
import { points } from "./points.js";
import { colourOf } from "./colours.js";

/** @typedef {import("./parts.js").Context} Context */

/**
 * The map: topics with similar words are near each other.
 * @param {Context} context
 */
export function map(context) {
	const { model } = context;
	const { frame } = points(context, model.map, "Map of the topics; arrow keys move, Enter opens");
	const rows = () =>
		d3.range(model.nTopics).map((t) => [
			topicLink(context, t),
			percent(model.shares[t]),
			h(
				"span",
				{},
				...model
					.nearestOf(t)
					.slice(0, 3)
					.flatMap((other) => [topicLink(context, other), " "]),
			),
		]);
	return h(
		"div",
		{ class: "view" },
		h("h1", {}, "Map"),
		h(
			"p",
			{ class: "note" },
			"Topics with similar words are near each other; directions and large distances mean nothing. Area: share of the text.",
		),
		familyLegend(context),
		frame,
		behind("The map as a table", () =>
			table("Topics and their neighbours", ["topic", "#share", "nearest topics"], rows()),
		),
	);
}

/**
 * What the colours mean: a family of topics, named by the words of its largest topics.
 * @param {Context} context
 */
export function familyLegend({ model, labels }) {
	const families = d3
		.groups(
			d3.range(model.nTopics).sort((a, b) => model.shares[b] - model.shares[a] || a - b),
			(t) => model.family[t],
		)
		.sort(([a], [b]) => a - b);
	const name = (/** @type {number[]} */ members) =>
		members.length > 1
			? members
					.slice(0, 2)
					.map((t) => labels.label(t) || model.wordsOf(t).split(", ").slice(0, 2).join(", "))
					.join(" · ")
			: labels.name(members[0]);
	return h(
		"ul",
		{ class: "legend", "aria-label": "Families of topics" },
		...families.map(([, members]) =>
			h(
				"li",
				{},
				h("span", {
					class: "dot",
					"aria-hidden": "true",
					style: { "--c": colourOf(model, members[0]) },
				}),
				name(members),
				members.length > 1 ? h("span", { class: "muted" }, ` ${members.length}`) : null,
			),
		),
	);
}
