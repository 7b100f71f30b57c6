"""The forms of stems: counted from each text itself, and added and removed as exactly as its pairs."""

import pickle
from collections import Counter, defaultdict

import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmix import Corpus, Moments, read_corpus, read_moments
from fdmix.text import reading
from fdmix.text.files import Layout
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of

STEMMED = {"stem": "english", "stop_words": None, "min_letters": 1, "min_count": 1}
WORDS = ["family", "families", "middle", "middles", "run", "running", "runs", "learned", "learning", "x"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=6)
STEM = Stemmer.Stemmer("english").stemWord


def forms_by_hand(documents, vocabulary=None, min_tokens=0, least=2):
    """forms[stem][form]: how often the documents that have a pair write the stem so."""
    forms = defaultdict(Counter)
    for document in documents:
        known = [word for word in document.split() if vocabulary is None or STEM(word) in vocabulary]
        if len(known) >= max(min_tokens, least):
            for word in known:
                forms[STEM(word)][word] += 1
    return {stem: dict(counter) for stem, counter in forms.items()}


def forms(counted):
    return {word: dict(found) for word, found in counted.preparation.forms.items()}


@given(texts, texts, st.sampled_from([0, 3]))
@settings(deadline=None, max_examples=60)
def test_a_count_like_another_counts_its_own_forms(first, second, min_tokens):
    a = read_moments(first, **STEMMED, min_tokens=min_tokens)
    b = read_moments(second, like=a)
    assert forms(a) == forms_by_hand(first, a.vocabulary, min_tokens)
    assert forms(b) == forms_by_hand(second, a.vocabulary, min_tokens)
    assert forms(Moments.of(read_corpus(second, like=a))) == forms(b)


@given(texts, texts)
@settings(deadline=None, max_examples=60)
def test_forms_add_and_subtract_exactly(first, second):
    a = read_moments(first + second, **STEMMED)
    b = read_moments(second, like=a)
    rest = read_moments(first, like=a)
    assert forms(a) == forms_by_hand(first + second)
    assert forms(rest + b) == forms(a)
    assert forms(a - b) == forms(rest)
    assert forms(a - rest - b) == {}


@given(texts, st.data())
@settings(deadline=None, max_examples=40)
def test_forms_of_some_documents_are_theirs(documents, data):
    corpus = read_corpus(documents, **STEMMED)
    chosen = data.draw(st.lists(st.integers(0, len(documents) - 1), unique=True))
    others = [d for d in range(len(documents)) if d not in chosen]
    some, rest = Moments.of(corpus[chosen]), Moments.of(corpus[others])
    assert forms(some) == forms_by_hand([documents[d] for d in chosen])
    assert forms(some + rest) == forms(Moments.of(corpus)) == forms_by_hand(documents)
    assert forms(corpus) == forms_by_hand(documents, least=0)
    assert forms(Moments.of(pickle.loads(pickle.dumps(corpus[chosen])))) == forms(some)
    copies = [data.draw(st.integers(0, 3)) for _ in documents]
    repeated = [document for document, n in zip(documents, copies, strict=True) for _ in range(n)]
    assert forms(Moments.of(corpus, weights=copies)) == forms_by_hand(repeated)


def test_removing_one_text_leaves_words_as_people_write_them():
    whole = read_moments(["family middle families family", "middle family", "runs middle family"], **STEMMED)
    rest = whole - read_moments(["middle family"], like=whole)
    assert [rest.preparation.shown(word) for word in rest.vocabulary] == ["family", "middle", "runs"]


def test_documents_that_were_never_counted_cannot_be_removed():
    whole = read_moments(["learned x learned x"], **STEMMED)
    with pytest.raises(ValueError, match="not all part of these moments"):
        whole - read_moments(["learning x"], like=whole)


def test_forms_follow_words_that_are_joined_or_dropped():
    moments = read_moments(["families run", "family runs running", "kin x"], **STEMMED)
    joined = moments.merge_words({"famili": "kin"})
    assert joined.preparation.forms["kin"] == {"kin": 1, "families": 1, "family": 1}
    assert "famili" not in joined.preparation.forms
    assert "run" not in moments.drop_words(["run"]).preparation.forms
    phrase = read_moments(["deep families"] * 6, **STEMMED | {"ngrams": 2})
    assert phrase.drop_words(["famili"]).preparation.shown("deep famili") == "deep families"


def test_text_that_is_not_stemmed_has_no_forms():
    corpus = read_corpus(["learning learned", "x y", "x"], min_letters=1)
    assert forms(corpus[1:]) == forms(Moments.of(corpus[[0, 2]])) == {}


def test_a_stream_of_corpora_keeps_its_forms():
    corpus = read_corpus(["learning learned", "learned x", "running runs"], **STEMMED)
    assert forms(Moments.of(iter([corpus[:1], corpus[1:]]))) == forms(corpus)
    assert Moments.of(iter([corpus, Corpus([[1]], ["x"])])).preparation is None


def test_a_resumed_count_has_the_same_forms(tmp_path, monkeypatch):
    """Checkpoints after every batch, one failure in the middle of counting: the bytes of an undisturbed count."""
    text = tmp_path / "text.txt"
    text.write_text("\n".join(f"{WORDS[i % 9]} {WORDS[(i * 7) % 9]} family" for i in range(4_000)))
    monkeypatch.setattr(reading, "ENTRIES_AT_A_TIME", 1_000)
    monkeypatch.setattr("fdmix.text.batches.in_batches.__defaults__", (1 << 12,))
    files = files_of([text], Layout())
    cleaning = read_moments(["x"], **STEMMED).preparation.cleaning

    def stop_in_the_middle(step, done, of):
        if step == "counting" and done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CountInProgress(files, cleaning, tmp_path / "a", every=0.0).run(report=stop_in_the_middle)
    again = CountInProgress(files, cleaning, tmp_path / "a", every=0.0)
    assert again.resumes
    again.run()
    CountInProgress(files, cleaning, tmp_path / "b").run()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert forms(Moments.load(tmp_path / "a")) == forms_by_hand(text.read_text().splitlines())
