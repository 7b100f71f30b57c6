import { probabilities, ratios } from "./unpack.js";

/**
 * A word in a topic. `inTopic` is p(word | topic), `inCorpus` is p(word), `ofWord` is p(topic | word).
 * @typedef {{ word: number, inTopic: number, inCorpus: number, ofWord: number }} TopicWord
 *
 * A pair of words. `lift` is Mhat / (p_u p_v), `ratio` is Mhat / M; it is null if there are no moments.
 * @typedef {{ word: number, other: number, seen: number, lift: number, ratio: number | null }} Pair
 *
 * @typedef {{ title: string, text: string, topics: number[][], words: number[] }} Remark
 * @typedef {{ number: number, share: number, pieces: string[], place?: string }} TypicalDocument
 * @typedef {{ column: string, ordered: boolean, names: string[], documents: number[], shares: (number | null)[][],
 *   errors: (number | null)[][], nLeftOut: number, low?: (number | null)[][], high?: (number | null)[][],
 *   rises?: string[][], falls?: string[][], series?: Series[], nSeriesLeftOut?: number }} Groups
 * Shares of one group over the bins of the calendar.
 * @typedef {{ name: string, documents: number[], shares: (number | null)[][], low: (number | null)[][],
 *   high: (number | null)[][] }} Series
 * A row of a comparison: a topic, a topic of the other model, and their l1 distance.
 * @typedef {[number, number, number]} Match
 * @typedef {{ names: [string, string], pairs: Match[], onlyLeft: Match[], onlyRight: Match[],
 *   noCounterpart: number, mean: number, words: string[][], shares: number[], labels: Record<string, string>,
 *   nWords: [number, number], sharedWords: number }} Comparison
 *
 * A number of topics that a score would choose, and the score's means for all numbers tried.
 * @typedef {{ name: string, decides: boolean, isLikelihood: boolean, chosen: number, means: (number | null)[] }} Score
 * @typedef {{ candidates: number[], gains: number[], errors: number[], chosen: number, best: number,
 *   hasTopics: boolean, unit: string, verdict: string, documents: number, folds: number, scores: Score[] }} Choice
 *
 * A topic before or after a step of edits; null if it is new, or gone.
 * @typedef {{ number: number, label: string, share: number, words: string[] } | null} Side
 * @typedef {{ role: string, before: Side, after: Side, distance: number | null }} TopicChange
 * @typedef {{ edits: string[], topics: TopicChange[], before: number | null, after: number | null }} EditStep
 *
 * Merge k joins nodes merges[2 k] and merges[2 k + 1] to node nTopics + k, which is described by words[k].
 * @typedef {{ merges: Uint32Array, costs: number[], words: number[][] }} TopicTree
 */

const NAME_WORDS = 3;
const TOO_RARE = 1e6; // taken from the score of a word that does not compete, more than any logarithm
const ROUNDED = 0.99; // probabilities of the page are precise to 1 %

/** The fitted model, as far as the page holds it. */
export class Model {
	/**
	 * @param {any} facts
	 * @param {Record<string, Uint32Array>} arrays
	 */
	constructor(facts, arrays) {
		this.facts = facts;
		/** @type {number} */
		this.nTopics = facts.nTopics;
		/** @type {number} */
		this.nWords = facts.nWords;
		/** @type {string[]} */
		this.words = facts.words;
		/** @type {number[]} */
		this.shares = facts.shares;
		/** @type {number} lambda of the words that name a topic without a label */
		this.relevance = facts.ranking.relevance;
		/** @type {number[]} the probability from which words of a topic compete; rarer ones come after all others */
		this.least = facts.ranking.least;
		/** @type {Remark[]} */
		this.remarks = facts.remarks;
		/** @type {TypicalDocument[][] | null} */
		this.documents = facts.documents;
		/** @type {Groups | null} */
		this.groups = facts.groups;
		/** @type {Comparison | null} */
		this.compare = facts.compare;
		/** @type {Choice | null} */
		this.choice = facts.choice;
		/** @type {EditStep[] | null} */
		this.edits = facts.edits;
		/** @type {TopicTree | null} */
		this.tree = facts.tree ? readTree(facts.tree.costs, arrays) : null;
		this.wordShares = probabilities(arrays.wordShares);
		this.family = arrays.family;
		this.order = arrays.order;
		this.map = arrays.map;
		this.network = arrays.network;
		this.nearest = arrays.nearest;
		const n = arrays.topicSteps.length;
		// Entries by word: topic and p(word | topic) of word u are at wordStart[u] to wordStart[u + 1].
		this.wordStart = new Uint32Array(this.nWords + 1);
		this.wordTopic = new Uint16Array(n);
		this.wordValue = probabilities(arrays.probabilities);
		// The same entries by topic, with p(topic | word).
		this.topicStart = new Uint32Array(this.nTopics + 1);
		this.topicWord = new Uint32Array(n);
		this.topicValue = new Float32Array(n);
		this.ofWord = new Float32Array(n);
		this.readTopics(arrays);
		this.logValue = this.topicValue.map((value) => Math.log(value));
		this.logCorpus = this.wordShares.map((share) => (share > 0 ? Math.log(share) : 0));
		// The lift of topics i and j is liftSteps[liftCode[i * nTopics + j]].
		this.liftSteps = ratios(Uint32Array.from(d3.range(256)), facts.steps.lift);
		this.liftCode = new Uint8Array(this.nTopics * this.nTopics);
		this.readLift(arrays.lift);
		/** @type {Pair[]} */
		this.pairs = [];
		/** @type {Map<number, Pair[]>} */
		this.pairsOfWord = new Map();
		/** @type {Pair[]} */
		this.unexplained = [];
		this.readPairs(arrays, facts.steps.ratio);
		/** @type {number[][]} the words that describe each topic, the most typical first; at most 12 */
		this.typical = [];
		for (let topic = 0, i = 0; topic < this.nTopics; topic++) {
			const end = i + arrays.typicalSizes[topic];
			this.typical.push(Array.from(arrays.typicalWords.subarray(i, end)));
			i = end;
		}
		/** @type {Map<string, number>} */
		this.places = new Map();
		for (let u = this.nWords - 1; u >= 0; u--) this.places.set(this.words[u], u);
	}

	/** @param {Record<string, Uint32Array>} arrays */
	readTopics(arrays) {
		for (let u = 0, i = 0; u < this.nWords; u++) {
			const end = i + arrays.topicsOfWord[u];
			for (let topic = 0; i < end; i++) {
				topic += arrays.topicSteps[i];
				this.wordTopic[i] = topic;
				this.topicStart[topic + 1]++;
			}
			this.wordStart[u + 1] = end;
		}
		for (let t = 0; t < this.nTopics; t++) this.topicStart[t + 1] += this.topicStart[t];
		const next = this.topicStart.slice();
		for (let u = 0; u < this.nWords; u++) {
			let total = 0;
			for (let i = this.wordStart[u]; i < this.wordStart[u + 1]; i++) {
				total += this.wordValue[i] * this.shares[this.wordTopic[i]];
			}
			for (let i = this.wordStart[u]; i < this.wordStart[u + 1]; i++) {
				const topic = this.wordTopic[i];
				const at = next[topic]++;
				this.topicWord[at] = u;
				this.topicValue[at] = this.wordValue[i];
				this.ofWord[at] = total > 0 ? (this.wordValue[i] * this.shares[topic]) / total : 0;
			}
		}
	}

	/** @param {Uint32Array} codes of the pairs i <= j */
	readLift(codes) {
		for (let i = 0, at = 0; i < this.nTopics; i++) {
			for (let j = i; j < this.nTopics; j++, at++) {
				this.liftCode[i * this.nTopics + j] = codes[at];
				this.liftCode[j * this.nTopics + i] = codes[at];
			}
		}
	}

	/**
	 * @param {Record<string, Uint32Array>} arrays
	 * @param {number} step
	 */
	readPairs(arrays, step) {
		if (!arrays.pairFirst) return;
		const seen = probabilities(arrays.pairSeen);
		const ratio = ratios(arrays.pairRatio, step);
		for (let i = 0, word = 0; i < seen.length; i++) {
			word += arrays.pairFirst[i];
			const other = arrays.pairSecond[i];
			const lift = seen[i] / (this.wordShares[word] * this.wordShares[other]);
			const pair = { word, other, seen: seen[i], lift, ratio: ratio[i] };
			this.pairs.push(pair);
			for (const u of [word, other]) {
				const list = this.pairsOfWord.get(u);
				if (list) list.push(pair);
				else this.pairsOfWord.set(u, [pair]);
			}
		}
		this.unexplained = Array.from(arrays.unexplained, (place) => this.pairs[place]);
	}

	/** Whether moments were given. */
	get hasPairs() {
		return Boolean(this.facts.hasPairs);
	}

	/**
	 * The words of a topic by relevance: lambda log p(w | t) + (1 - lambda) log(p(w | t) / p(w)). Words that are too
	 * rare in the topic to tell follow by probability.
	 * @param {number} topic
	 * @param {number} lambda
	 * @param {number} n
	 * @returns {TopicWord[]}
	 */
	topicWords(topic, lambda, n) {
		/** @type {number[]} */
		const best = [];
		/** @type {number[]} */
		const scores = [];
		const least = this.least[topic] * ROUNDED;
		for (let i = this.topicStart[topic]; i < this.topicStart[topic + 1]; i++) {
			const competes = lambda === 1 || this.topicValue[i] >= least;
			const score = competes
				? this.logValue[i] - (1 - lambda) * this.logCorpus[this.topicWord[i]]
				: this.logValue[i] - TOO_RARE;
			if (best.length === n && score <= scores[n - 1]) continue;
			let at = Math.min(best.length, n - 1);
			for (; at > 0 && scores[at - 1] < score; at--) {
				best[at] = best[at - 1];
				scores[at] = scores[at - 1];
			}
			best[at] = i;
			scores[at] = score;
		}
		const found = best.filter((i) => this.topicValue[i] > 0).map((i) => this.entry(i));
		if (lambda !== this.relevance) return found;
		const order = this.typical[topic]; // the page's rounded numbers could turn two words round
		const place = (/** @type {TopicWord} */ { word }) => (order.includes(word) ? order.indexOf(word) : order.length);
		return found.sort((a, b) => place(a) - place(b));
	}

	/**
	 * The words that describe a topic: frequent in it and rare elsewhere.
	 * @param {number} topic
	 * @param {number} n at most 12
	 * @returns {string[]}
	 */
	typicalWords(topic, n) {
		return this.typical[topic].slice(0, n).map((word) => this.words[word]);
	}

	/**
	 * The words that almost only this topic has, the most frequent first.
	 * @param {number} topic
	 * @param {number} n
	 * @returns {TopicWord[]}
	 */
	ownWords(topic, n) {
		const found = [];
		for (let i = this.topicStart[topic]; i < this.topicStart[topic + 1]; i++) {
			if (this.ofWord[i] >= 0.9) found.push(this.entry(i));
		}
		return found.sort((a, b) => b.inTopic - a.inTopic || a.word - b.word).slice(0, n);
	}

	/**
	 * @param {number} i
	 * @returns {TopicWord}
	 */
	entry(i) {
		const word = this.topicWord[i];
		return {
			word,
			inTopic: this.topicValue[i],
			inCorpus: this.wordShares[word],
			ofWord: this.ofWord[i],
		};
	}

	/**
	 * The topics of a word by p(topic | word).
	 * @param {number} word
	 * @returns {{ topic: number, ofWord: number, inTopic: number }[]}
	 */
	topicsOf(word) {
		const found = [];
		let total = 0;
		for (let i = this.wordStart[word]; i < this.wordStart[word + 1]; i++) {
			const topic = this.wordTopic[i];
			const joint = this.wordValue[i] * this.shares[topic];
			total += joint;
			found.push({ topic, ofWord: joint, inTopic: this.wordValue[i] });
		}
		for (const each of found) each.ofWord /= total || 1;
		return found.sort((a, b) => b.ofWord - a.ofWord || a.topic - b.topic);
	}

	/**
	 * How often two topics occur together, against chance.
	 * @param {number} i
	 * @param {number} j
	 */
	liftOf(i, j) {
		return this.liftSteps[this.liftCode[i * this.nTopics + j]];
	}

	/**
	 * The topics that come together with a topic most often, those with a lift above `least`.
	 * @param {number} topic
	 * @param {number} n
	 * @param {number} [least]
	 */
	related(topic, n, least = 1) {
		const others = d3.range(this.nTopics).filter((t) => t !== topic && this.shares[t] > 0);
		others.sort((a, b) => this.liftOf(topic, b) - this.liftOf(topic, a) || a - b);
		return others.slice(0, n).filter((t) => this.liftOf(topic, t) > least);
	}

	/**
	 * The topics with the most similar words.
	 * @param {number} topic
	 */
	nearestOf(topic) {
		const n = this.nTopics > 0 ? this.nearest.length / this.nTopics : 0;
		return Array.from(this.nearest.subarray(topic * n, (topic + 1) * n));
	}

	/**
	 * The partners of a word: as counted if there are moments, otherwise as the model has them.
	 * @param {number} word
	 * @param {number} n
	 * @returns {Pair[]}
	 */
	partners(word, n) {
		const pairs = this.hasPairs ? (this.pairsOfWord.get(word) ?? []) : this.modelPartners(word);
		return pairs
			.filter((pair) => pair.lift > 1)
			.sort((a, b) => b.seen * Math.log(b.lift) - a.seen * Math.log(a.lift))
			.slice(0, n);
	}

	/**
	 * M[u, v] = sum_ij alpha_ij mu_i(u) mu_j(v) for all words v, alpha_ij = lift_ij p_i p_j.
	 * @param {number} word
	 * @returns {Pair[]}
	 */
	modelPartners(word) {
		const beside = new Float64Array(this.nTopics);
		for (let i = this.wordStart[word]; i < this.wordStart[word + 1]; i++) {
			const topic = this.wordTopic[i];
			const weight = this.wordValue[i] * this.shares[topic];
			for (let t = 0; t < this.nTopics; t++) {
				beside[t] += weight * this.liftOf(topic, t) * this.shares[t];
			}
		}
		const pairs = [];
		for (let v = 0; v < this.nWords; v++) {
			let seen = 0;
			for (let i = this.wordStart[v]; i < this.wordStart[v + 1]; i++) {
				seen += beside[this.wordTopic[i]] * this.wordValue[i];
			}
			const chance = this.wordShares[word] * this.wordShares[v];
			if (v !== word && seen > chance) {
				pairs.push({ word, other: v, seen, lift: seen / chance, ratio: null });
			}
		}
		return pairs;
	}

	/**
	 * A few words that name a topic: those that are frequent in it and rare elsewhere.
	 * @param {number} topic
	 */
	wordsOf(topic) {
		return this.typicalWords(topic, NAME_WORDS).join(", ") || "no words";
	}

	/**
	 * The topics that have all the given beginnings of words, the best first, with the words that matched.
	 * @param {string} query words, separated by blanks
	 * @param {(topic: number) => string} labelOf
	 * @returns {{ topics: number[], words: Set<number> }}
	 */
	matching(query, labelOf) {
		const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
		const score = new Float64Array(this.nTopics);
		const hits = new Uint16Array(this.nTopics);
		/** @type {Set<number>} */
		const words = new Set();
		for (const term of terms) {
			const mass = new Float64Array(this.nTopics);
			for (let u = 0; u < this.nWords; u++) {
				if (!this.words[u].toLowerCase().startsWith(term)) continue;
				words.add(u);
				for (let i = this.wordStart[u]; i < this.wordStart[u + 1]; i++) {
					mass[this.wordTopic[i]] += this.wordValue[i];
				}
			}
			for (let t = 0; t < this.nTopics; t++) {
				if (labelOf(t).toLowerCase().includes(term) || String(t) === term) mass[t] += 1;
				if (mass[t] > 0.001) {
					hits[t]++;
					score[t] += Math.log(mass[t]);
				}
			}
		}
		const topics = d3.range(this.nTopics).filter((t) => hits[t] === terms.length);
		if (terms.length) topics.sort((a, b) => score[b] - score[a] || a - b);
		return { topics, words };
	}
}

/**
 * @param {number[]} costs
 * @param {Record<string, Uint32Array>} arrays
 * @returns {TopicTree}
 */
function readTree(costs, arrays) {
	const words = [];
	let at = 0;
	for (const n of arrays.nodeSizes) {
		words.push(Array.from(arrays.nodeWords.subarray(at, at + n)));
		at += n;
	}
	return { merges: arrays.merges, costs, words };
}
