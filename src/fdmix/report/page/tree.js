import { colourOf } from "./colours.js";
import { chart, horizontalAxis, verticalAxis } from "./charts.js";
import { behind, h, say, svg, table, wordText } from "./dom.js";
import { roving } from "./keyboard.js";
import { percent } from "./numbers.js";
import { card, topicLink } from "./parts.js";
import { treeAddress } from "./route.js";
import { hideTip, showTip } from "./tip.js";

/**
 * @typedef {import("./parts.js").Context} Context
 * @typedef {import("./model.js").TopicTree} TopicTree
 *
 * A node that is drawn. `x` is its height in the picture, `children` are missing where the tree is cut.
 * @typedef {{ node: number, children?: Drawn[] }} Drawn
 */

const FIRST_CUT = 20;
const ROW = 24; // pixels between two leaves of the picture
const LEAVES_A_FRAME = 100; // the first leaves appear at once, the others in the next frames
const LETTER = 6.6; // pixels of a letter, about
const NARROW = 560; // pixels of a picture in which names need more than half of the width

/**
 * The tree of topics: which ones merge when fewer are wanted, and what that costs.
 * @param {Context} context
 */
export function treeView(context) {
	const tree = /** @type {TopicTree} */ (context.model.tree);
	const n = context.model.nTopics;
	const chosen = chosenBy(location.hash, n);
	const groups = new Groups(context, tree);
	const value = h("output", { for: "cut" });
	const told = h("p", { class: "note", id: "cut-told" });
	const curve = h("div", { class: "tree-curve" });
	const place = h("div", {});
	const show = (/** @type {number} */ cut) => {
		value.textContent = String(cut);
		told.textContent = groups.told(cut);
		curve.replaceChildren(lossCurve(groups, cut));
		place.replaceChildren(picture(context, groups, cut), tableOf(context, groups, cut));
	};
	const slider = h("input", {
		type: "range",
		id: "cut",
		min: 1,
		max: n,
		step: 1,
		value: chosen.cut,
		"aria-describedby": "cut-told",
		on: {
			input: () => show(Number(slider.value)),
			change: () => {
				history.replaceState(null, "", treeAddress(Number(slider.value)));
				say(told.textContent ?? "");
			},
		},
	});
	show(chosen.cut);
	return h(
		"div",
		{ class: "view" },
		h("h1", {}, "Tree"),
		h(
			"p",
			{ class: "note" },
			"The two topics merge first that cost the least likelihood on the word pairs of the text. Branches that part far to the left differ most.",
		),
		h("div", { class: "slider wide-slider" }, h("label", { for: "cut" }, "Topics"), slider, value),
		told,
		chosen.node === null ? null : members(context, groups, chosen.node),
		card(
			"What is lost with fewer topics",
			null,
			curve,
			behind("The line as a table", () => table("Loss by number of topics", ["#topics", "#lost"], groups.lossRows())),
		),
		h("section", { class: "card" }, h("h2", {}, "The topics that are left"), place),
	);
}

/**
 * What an address chooses: #view=tree&cut=20&node=731.
 * @param {string} hash
 * @param {number} n
 * @returns {{ cut: number, node: number | null }}
 */
function chosenBy(hash, n) {
	const parameters = new URLSearchParams(hash.replace(/^#/, ""));
	const whole = (/** @type {string} */ name) =>
		/^\d{1,7}$/.test(parameters.get(name) ?? "") ? Number(parameters.get(name)) : null;
	const [cut, node] = [whole("cut"), whole("node")];
	return {
		cut: cut === null ? Math.min(n, FIRST_CUT) : Math.max(1, Math.min(n, cut)),
		node: node !== null && node >= n && node < 2 * n - 1 ? node : null,
	};
}

/** The nodes of the tree: topics are 0 to n - 1, and merge k makes node n + k. */
class Groups {
	/**
	 * @param {Context} context
	 * @param {TopicTree} tree
	 */
	constructor({ model, labels }, tree) {
		this.model = model;
		this.labels = labels;
		this.tree = tree;
		this.n = model.nTopics;
		this.root = 2 * this.n - 2;
		this.shares = Float64Array.from({ length: this.root + 1 }, (_, t) => model.shares[t] ?? 0);
		this.sizes = new Uint32Array(this.root + 1).fill(1);
		this.largest = Uint32Array.from({ length: this.root + 1 }, (_, t) => t);
		// What is lost when there are only m topics is losses[m].
		this.losses = new Float64Array(this.n + 1);
		for (let k = 0; k < this.n - 1; k++) {
			const [left, right] = this.childrenOf(this.n + k);
			this.shares[this.n + k] = this.shares[left] + this.shares[right];
			this.sizes[this.n + k] = this.sizes[left] + this.sizes[right];
			const [a, b] = [this.largest[left], this.largest[right]];
			this.largest[this.n + k] = model.shares[a] >= model.shares[b] ? a : b;
			this.losses[this.n - 1 - k] = this.losses[this.n - k] + tree.costs[k];
		}
	}

	/** @param {number} node */
	childrenOf(node) {
		const at = 2 * (node - this.n);
		return [this.tree.merges[at], this.tree.merges[at + 1]];
	}

	/**
	 * Whether a node is made of others in the cut with this many topics.
	 * @param {number} node
	 * @param {number} cut
	 */
	isOpen(node, cut) {
		return node >= 2 * this.n - cut;
	}

	/**
	 * What is lost once this node is made; nothing for a topic.
	 * @param {number} node
	 */
	lossOf(node) {
		return node < this.n ? 0 : this.losses[2 * this.n - 1 - node];
	}

	/**
	 * The tree above a cut, the larger branch first.
	 * @param {number} node
	 * @param {number} cut
	 * @returns {Drawn}
	 */
	above(node, cut) {
		if (node < this.n || !this.isOpen(node, cut)) return { node };
		const children = this.childrenOf(node).sort((a, b) => this.shares[b] - this.shares[a] || a - b);
		return { node, children: children.map((child) => this.above(child, cut)) };
	}

	/**
	 * The topics of a node, the largest first.
	 * @param {number} node
	 */
	topicsOf(node) {
		const found = [];
		const waiting = [node];
		while (waiting.length) {
			const next = /** @type {number} */ (waiting.pop());
			if (next < this.n) found.push(next);
			else waiting.push(...this.childrenOf(next));
		}
		return found.sort((a, b) => this.model.shares[b] - this.model.shares[a] || a - b);
	}

	/** @param {number} node */
	name(node) {
		if (node < this.n) return this.labels.name(node);
		return this.tree.words[node - this.n].map((word) => this.model.words[word]).join(", ") || "no words";
	}

	/** @param {number} node */
	size(node) {
		return this.sizes[node] === 1 ? "" : `${this.sizes[node]} topics`;
	}

	/** Numbers of topics and the share that is lost, in steps that fit on a page. */
	lossRows() {
		const cuts = d3.range(1, this.n + 1).filter((m) => m <= 30 || m % 10 === 0 || m === this.n);
		const all = this.losses[1] || 1;
		return cuts.map((m) => [String(m), percent(Math.max(0, this.losses[m]) / all)]);
	}

	/** @param {number} cut */
	told(cut) {
		if (cut === this.n) return `All ${cut} topics of the model; nothing is lost.`;
		const [loss, all] = [this.losses[cut], this.losses[1]];
		const part = all > 0 ? ` ${percent(Math.max(0, loss) / all)} of what the topics explain is lost` : "";
		return `${cut} of ${this.n} topics:${part} (${loss.toFixed(4)} of log-likelihood a pair of tokens).`;
	}
}

/**
 * What each number of topics loses, as a line, with a mark at the cut.
 * @param {Groups} groups
 * @param {number} cut
 */
function lossCurve(groups, cut) {
	const all = groups.losses[1] > 0 ? groups.losses[1] : 1;
	const ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((m) => m <= groups.n);
	const draw = (/** @type {import("./charts.js").Box} */ box) => {
		const x = d3.scaleLog([1, Math.max(2, groups.n)], [box.left, box.right]);
		const y = d3.scaleLinear([0, 1], [box.bottom, box.top]);
		const line = d3.line(
			(/** @type {number} */ m) => x(m),
			(m) => y(groups.losses[m] / all),
		);
		return [
			...verticalAxis(box, y, [0, 0.5, 1], (tick) => `${100 * tick}%`, "lost"),
			...horizontalAxis(
				box,
				ticks.map((m) => [x(m), String(m)]),
				"number of topics",
			),
			svg("path", { class: "line", d: line(d3.range(1, groups.n + 1)) ?? "" }),
			svg("line", { class: "cut-mark", x1: x(cut), x2: x(cut), y1: box.top, y2: box.bottom }),
			svg("circle", { cx: x(cut), cy: y(groups.losses[cut] / all), r: 4.5, style: { "--c": "var(--accent)" } }),
		];
	};
	const title = "Share of what the topics explain that is lost, by the number of topics";
	return chart(title, { height: 180, left: 44 }, draw);
}

/**
 * The tree above the cut: nodes stand where their merge has lost as much as it does.
 * @param {Context} context
 * @param {Groups} groups
 * @param {number} cut
 */
function picture(context, groups, cut) {
	const place = h("div", { class: "tree-picture", style: { "min-height": `${heightOf(cut)}px` } }); // as in charts.js
	const draw = () => {
		const width = place.clientWidth;
		const drawing = drawn(context, groups, cut, width);
		place.replaceChildren(drawing);
		drawing.addEventListener("mouseover", (event) => {
			const link = /** @type {Element} */ (event.target).closest("a.node");
			const node = Number(link?.getAttribute("data-node"));
			if (!link) return hideTip();
			const title = groups.size(node) || `Topic ${node}`;
			showTip(event.clientX, event.clientY, h("strong", {}, title), h("div", {}, groups.name(node)));
		});
		drawing.addEventListener("mouseleave", hideTip);
	};
	new ResizeObserver(() => {
		if (place.clientWidth > 0 && place.dataset.width !== String(place.clientWidth)) {
			place.dataset.width = String(place.clientWidth);
			draw();
		}
	}).observe(place);
	return place;
}

/**
 * The height of the picture in pixels: a row for each leaf, and room for the outline of the first and the last.
 * @param {number} cut
 */
function heightOf(cut) {
	return ROW * cut + 4;
}

/**
 * @param {Context} context
 * @param {Groups} groups
 * @param {number} cut
 * @param {number} width
 */
function drawn(context, groups, cut, width) {
	const height = ROW * cut;
	const names = width < NARROW ? 0.66 * width : Math.max(0.5 * width, width - 460);
	const root = d3.hierarchy(groups.above(groups.root, cut));
	const placed = d3
		.cluster()
		.size([height, 1])
		.separation(() => 1)(/** @type {any} */ (root));
	const least = groups.losses[cut];
	const x = d3.scaleLinear([Math.max(groups.losses[1], least + 1e-12), least], [6, width - names - 26]).clamp(true);
	const nodeOf = (/** @type {any} */ each) => /** @type {Drawn} */ (each.data).node;
	const across = (/** @type {any} */ each) => (each.children ? x(groups.lossOf(nodeOf(each))) : width - names - 10);
	const elbows = placed
		.links()
		.map(({ source, target }) => `M${across(source)},${source.x}V${target.x}H${across(target)}`);
	const drawing = svg(
		"svg",
		{
			class: "tree-lines",
			width,
			height: heightOf(cut),
			viewBox: `0 -2 ${width} ${heightOf(cut)}`,
			role: "group",
			"aria-label": "Tree of topics; arrow keys move, Enter opens",
		},
		svg("path", { class: "branches", d: elbows.join("") }),
	);
	const links = placed
		.leaves()
		.map((leaf) => () => leafLink(context, groups, cut, nodeOf(leaf), across(leaf), leaf.x, names));
	const add = (/** @type {number} */ done) => {
		drawing.append(...links.slice(done, done + LEAVES_A_FRAME).map((make) => make()));
		roving(drawing, "a.node");
		if (done + LEAVES_A_FRAME >= links.length) return;
		requestAnimationFrame(() => {
			if (drawing.isConnected) add(done + LEAVES_A_FRAME);
		});
	};
	add(0);
	return drawing;
}

/**
 * A leaf of the picture: a topic, or topics that the cut has merged.
 * @param {Context} context
 * @param {Groups} groups
 * @param {number} cut
 * @param {number} node
 * @param {number} x
 * @param {number} y
 * @param {number} room pixels for the name
 */
function leafLink({ model }, groups, cut, node, x, y, room) {
	const share = percent(groups.shares[node]);
	const size = groups.size(node);
	const note = size && room > NARROW / 2 ? ` ${share} · ${size}` : ` ${share}`;
	const letters = Math.max(6, Math.floor((room - 24) / LETTER) - note.length);
	const name = groups.name(node);
	return svg(
		"a",
		{
			class: "node",
			href: treeAddress(cut, node, groups.n),
			style: { "--c": colourOf(model, groups.largest[node]) },
			"data-node": node,
		},
		svg("rect", { x: x + 2, y: y - ROW / 2 + 1, width: room, height: ROW - 2, rx: 4 }),
		svg("circle", { cx: x + 9, cy: y, r: node < groups.n ? 4.5 : 6 }),
		svg(
			"text",
			{ x: x + 20, y: y + 4 },
			name.length > letters ? `${name.slice(0, letters - 1)}…` : name,
			svg("tspan", { class: "muted" }, note),
		),
	);
}

/**
 * The topics that a node merges.
 * @param {Context} context
 * @param {Groups} groups
 * @param {number} node
 */
function members(context, groups, node) {
	const topics = groups.topicsOf(node);
	return card(
		`${topics.length} topics: ${groups.name(node)}`,
		`Together ${percent(groups.shares[node])} of the text.`,
		h(
			"ul",
			{ class: "members" },
			...topics.map((t) =>
				h("li", {}, topicLink(context, t), h("span", { class: "muted" }, ` ${percent(context.model.shares[t])}`)),
			),
		),
	);
}

/**
 * @param {Context} context
 * @param {Groups} groups
 * @param {number} cut
 */
function tableOf(context, groups, cut) {
	const leaves = () =>
		d3
			.hierarchy(groups.above(groups.root, cut))
			.leaves()
			.map((leaf) => leaf.data.node);
	const links = (/** @type {number} */ node) =>
		h("span", {}, ...groups.topicsOf(node).flatMap((t) => [topicLink(context, t), " "]));
	return behind("The tree as a table", () =>
		table(
			"Topics after merging",
			["words", "#share", "#topics", "topics of the model"],
			leaves().map((node) => [
				wordText(groups.name(node)),
				percent(groups.shares[node]),
				String(groups.sizes[node]),
				links(node),
			]),
		),
	);
}
