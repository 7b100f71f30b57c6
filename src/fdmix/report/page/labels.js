import { say, visible } from "./dom.js";

/** The names of topics: given with the model, typed here, or made of words. Typed ones are kept by the browser. */
export class Labels {
	/** @param {import("./model.js").Model} model */
	constructor(model) {
		this.model = model;
		/** @type {Map<number, string>} */
		this.given = new Map(Object.entries(model.facts.labels).map(([t, label]) => [Number(t), String(label)]));
		/** @type {Map<number, string>} */
		this.typed = new Map();
		this.key = `fdmix-labels-${model.facts.digest}`;
		try {
			const kept = JSON.parse(localStorage.getItem(this.key) ?? "{}");
			for (const [t, label] of Object.entries(kept)) {
				if (typeof label === "string" && Number(t) < model.nTopics) this.typed.set(Number(t), label);
			}
		} catch {
			// The browser keeps nothing for this page: labels last until it is closed.
		}
	}

	/**
	 * The label that a person gave to a topic, as it was typed, or "".
	 * @param {number} topic
	 */
	text(topic) {
		return this.typed.get(topic) ?? this.given.get(topic) ?? "";
	}

	/**
	 * The same, safe to show.
	 * @param {number} topic
	 */
	label(topic) {
		return visible(this.text(topic));
	}

	/**
	 * The label of a topic, or the words that name it.
	 * @param {number} topic
	 */
	name(topic) {
		return this.label(topic) || this.model.wordsOf(topic);
	}

	/**
	 * Give a label; "" removes it.
	 * @param {number} topic
	 * @param {string} label
	 */
	set(topic, label) {
		this.typed.set(topic, label.trim().replace(/\s+/g, " ").slice(0, 200));
		try {
			localStorage.setItem(this.key, JSON.stringify(Object.fromEntries(this.typed)));
		} catch {
			// As above.
		}
	}

	/** How many topics have a label. */
	get n() {
		return d3.range(this.model.nTopics).filter((t) => this.label(t)).length;
	}

	/** All labels as JSON, for `fdmix label MODEL --from labels.json`. */
	toJson() {
		const labels = Object.fromEntries([...this.given, ...this.typed]);
		return JSON.stringify({ kind: "fdmix labels", topics: this.model.facts.digest, labels }, null, 1);
	}

	/** Save the labels as a file. */
	download() {
		const link = document.createElement("a");
		link.href = URL.createObjectURL(new Blob([this.toJson()], { type: "application/json" }));
		link.download = "labels.json";
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 1000);
		say("The labels were saved as labels.json.");
	}
}
