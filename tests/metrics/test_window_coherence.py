"""c_v and c_npmi: known answers, a slow twin of gensim's windows, and gensim itself."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fdmix import metrics
from fdmix.corpus.sequences import TokenSequences
from fdmix.metrics import windows

WORDS = list("abcdef")
documents = st.lists(st.lists(st.sampled_from([*WORDS, "-"]), max_size=12), min_size=1, max_size=8)
sizes = st.integers(1, 14)


def presence(document, size, forget_repeats):
    """The set of words that each window has; the slow twin of the kernel."""
    sets = [set(document[begin : begin + size]) for begin in range(max(1, len(document) - size + 1))]
    if not forget_repeats:
        return sets
    now, found = set(sets[0]), [set(sets[0])]
    for begin in range(1, len(sets)):
        now = (now - {document[begin - 1]}) | {document[begin + size - 1]}
        found.append(set(now))
    return found


@given(documents, sizes, st.booleans())
def test_windows_are_those_of_the_slow_twin(documents, size, forget_repeats):
    sets = [found for document in documents for found in presence(document, size, forget_repeats)]
    single, joint, total = windows.window_counts([WORDS], documents, size, forget_repeats=forget_repeats)
    known = [word for word in WORDS if any(word in found for found in sets)]
    assert total == len(sets)
    assert single[0].tolist() == [sum(word in found for found in sets) for word in known]
    for i, j in combinations(range(len(known)), 2):
        both = sum(known[i] in found and known[j] in found for found in sets)
        assert joint[0][i, j] == joint[0][j, i] == both


@given(documents, sizes)
def test_sequences_count_like_lists_and_streams(documents, size):
    given_forms = (documents, iter(documents), TokenSequences.of(documents))
    counts = [windows.window_counts([WORDS], form, size, forget_repeats=True) for form in given_forms]
    for single, joint, total in counts[1:]:
        assert total == counts[0][2]
        assert_allclose(single[0], counts[0][0][0])
        assert_allclose(joint[0], counts[0][1][0])


@pytest.mark.parametrize("stream", [False, True])
def test_many_words_are_counted_in_groups(monkeypatch, stream):
    texts = [["a", "b", "c"], ["c", "d"], ["a", "d", "e", "f"]]
    topics = [["a", "b"], ["c", "d"], ["e", "f"]]
    whole = metrics.coherence(topics, texts, "c_npmi").topics
    monkeypatch.setattr(windows, "WORDS_AT_A_TIME", 3)
    assert_allclose(metrics.coherence(topics, iter(texts) if stream else texts, "c_npmi").topics, whole)


def test_known_answers():
    """Four documents shorter than a window: p_a = 3/4, p_b = 1/2, p_ab = 1/2, p_c = 1/2, p_bc = 0."""
    texts = [["a", "b"], ["a", "b"], ["c"], ["c", "a"]]
    together = math.log((1 / 2) / (3 / 8)) / -math.log(1 / 2)
    never = math.log(1e-12 / (1 / 4)) / -math.log(1e-12)
    found = metrics.coherence([["a", "b"], ["b", "c"]], texts, "c_npmi").topics
    assert_allclose(found, [together, never], rtol=1e-9)
    for together_or_never, expected in ((together, ["a", "b"]), (never, ["b", "c"])):
        x = together_or_never  # the vectors are (1, x) and (x, 1), their sum (1 + x, 1 + x)
        cosine = (1 + x) / math.sqrt(2 * (1 + x * x)) if x > -1 else 0
        assert_allclose(metrics.coherence([expected], texts, "c_v").topics, [cosine], rtol=1e-6)


def test_a_repeated_word_in_a_window_as_gensim_counts_it():
    """Windows of 3 tokens: (a a b), (a b c). gensim says that a is absent from the second one."""
    text = [["a", "a", "b", "c"]]
    single = {
        forget: windows.window_counts([["a", "b"]], text, 3, forget_repeats=forget)[0][0].tolist()
        for forget in (True, False)
    }
    assert single == {True: [1, 2], False: [2, 2]}


def test_words_that_the_text_does_not_have_are_left_out():
    texts = [["a", "b"], ["a", "b"], ["c"], ["c", "a"]]
    for measure in ("c_v", "c_npmi"):
        some = metrics.coherence([["a", "b"]], texts, measure).topics
        assert_allclose(metrics.coherence([["a", "zebra", "b"]], texts, measure).topics, some)
        assert np.isnan(metrics.coherence([["a", "b"], ["a", "zebra"]], texts, measure).topics).tolist() == [0, 1]


def test_sequences_of_documents():
    sequences = TokenSequences.of([["a", "b"], [], ["c", "a", "x"]], ("a", "b", "c"))
    assert list(sequences) == [["a", "b"], [], ["c", "a"]]
    assert list(sequences[[2, 0]]) == [["c", "a"], ["a", "b"]]
    assert list(sequences[np.array([False, True, True])]) == [[], ["c", "a"]]
    assert len(sequences[:1]) == 1
    with pytest.raises(TypeError, match="not a string"):
        TokenSequences.of(["a b"])


def random_texts(seed, n_documents=60, longest=260):
    """Documents that are shorter and longer than both windows, with Zipf's word frequencies; some are empty."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(80)]
    p = 1 / np.arange(1, 81)
    texts = [rng.choice(words, rng.integers(0, longest), p=p / p.sum()).tolist() for _ in range(n_documents)]
    topics = [rng.choice(words[:60], 10, replace=False).tolist() for _ in range(6)]
    return texts, topics


@pytest.mark.parametrize("measure", ["c_v", "c_npmi"])
@pytest.mark.parametrize("longest", [8, 260])
def test_agrees_with_gensim(measure, longest):
    gensim = pytest.importorskip("gensim", reason="gensim is not installed: the slow twin alone is compared with")
    from gensim.models.coherencemodel import CoherenceModel

    texts, topics = random_texts(0, longest=longest)
    dictionary = gensim.corpora.Dictionary(texts)
    topics = [[word for word in topic if word in dictionary.token2id] for topic in topics]
    theirs = CoherenceModel(topics=topics, texts=texts, dictionary=dictionary, coherence=measure, topn=10)
    ours = metrics.coherence(topics, texts, measure).topics
    assert_allclose(ours, theirs.get_coherence_per_topic(), rtol=1e-9)


GENSIM_4_4_0 = {  # CoherenceModel(...).get_coherence_per_topic() on small_text(), topn=10
    "c_v": [0.7592998588064148, 0.8336324820954821],
    "c_npmi": [0.6391424314776258, 0.18211206047548756],
}


@pytest.mark.parametrize("measure", ["c_v", "c_npmi"])
def test_numbers_of_gensim(measure):
    texts, topics = small_text()
    assert_allclose(metrics.coherence(topics, texts, measure).topics, GENSIM_4_4_0[measure], rtol=1e-9)


def small_text():
    """Two documents of 300 and 7 words from a fixed rule, so that gensim's numbers can be written down."""
    words = [f"w{(i * i + 3 * i) % 23}" for i in range(300)]
    return [words, words[40:47]], [["w0", "w4", "w10", "w18"], ["w5", "w17", "w8", "w1"]]
