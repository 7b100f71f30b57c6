"""Typical documents: the right ones, near copies left out, and marks in the raw text."""

import numpy as np
import pytest
from examples import SUBJECTS, small_model

from fdmix import Corpus, Mixture, fit_documents, read_corpus, representatives
from fdmix.corpus.preparation import Cleaning, Preparation
from fdmix.report.highlighting import Highlighter, passage, segments
from fdmix.text.recipe import recipe_like


@pytest.fixture(scope="module")
def small():
    return small_model()


def subject_of(mixture, topic):
    """The subject whose words a topic has."""
    best = mixture.vocabulary[int(mixture.topics[topic].argmax())]
    return next(name for name, words in SUBJECTS.items() if best in words.split())


def test_documents_are_those_of_the_topic(small):
    mixture, _, texts, subjects = small
    for topic, found in enumerate(representatives(mixture, texts, n=20)):
        assert len(found) == 20
        assert {subjects[each.document] for each in found} == {subject_of(mixture, topic)}
        assert all(each.text == texts[each.document] for each in found)
        shares = [each.share for each in found]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > 0.7


def test_shares_are_those_of_assign(small):
    mixture, _, texts, _ = small
    theta = mixture.assign(read_corpus(texts, like=mixture), prior="dirichlet")
    for topic, found in enumerate(representatives(mixture, texts, n=5)):
        assert [each.share for each in found] == pytest.approx([theta[each.document, topic] for each in found])
        assert found[0].share == pytest.approx(theta[:, topic].max())


def test_highlights_are_words_of_the_topic(small):
    mixture, _, texts, _ = small
    for topic, found in enumerate(representatives(mixture, texts, n=5)):
        own = set(SUBJECTS[subject_of(mixture, topic)].split())
        for each in found:
            marked = {each.text[a:b] for a, b in each.highlights}
            assert marked == own & set(each.text.replace(".", " ").replace(":", " ").split())


def test_documents_are_a_stream(small, tmp_path):
    """A generator, a list, a file and a table give the same; the stream is read once."""
    mixture, _, texts, _ = small
    expected = [[each.document for each in topic] for topic in representatives(mixture, texts, n=3)]
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    import pandas

    for source in ((text for text in texts), tmp_path / "texts.txt", pandas.DataFrame({"text": texts})):
        found = representatives(mixture, source, n=3)
        assert [[each.document for each in topic] for topic in found] == expected


def test_batches_do_not_change_the_result(small, monkeypatch):
    mixture, _, texts, _ = small
    whole = representatives(mixture, texts, n=7)
    monkeypatch.setattr("fdmix.text.batches.in_batches.__defaults__", (500,))
    assert representatives(mixture, texts, n=7) == whole


def test_documents_without_the_topic_are_not_typical():
    texts = ["The cat chases the mouse.", "Stocks fell, and bonds rose."] * 30
    mixture = fit_documents(read_corpus(texts), 2).mixture
    assert [len(found) for found in representatives(mixture, texts)] == [1, 1]


def test_copies_and_near_copies_are_left_out(small):
    mixture, _, texts, _ = small
    first = representatives(mixture, texts, n=1)[0][0].text
    crowd = [*texts, *[first] * 200, *[f"{first} Once more, and the tax." for _ in range(50)]]
    found = representatives(mixture, crowd, n=20)[0]
    assert sum(each.text.startswith(first) for each in found) == 1
    assert len(found) == 20


def test_few_documents_give_few(small):
    mixture, _, texts, _ = small
    found = representatives(mixture, texts[:2], n=20)
    assert all(len(topic) <= 2 for topic in found)
    assert representatives(mixture, ["nothing known"], n=3) == [[]] * 4


def test_counts_are_refused(small):
    mixture, moments, texts, _ = small
    for counted in (read_corpus(texts), moments, Corpus([[1, 1]])):
        with pytest.raises(TypeError, match="does not keep the text"):
            representatives(mixture, counted)


def highlighter(words, **cleaning):
    topics = np.full((1, len(words)), 1 / len(words))
    prepared = Preparation(Cleaning(min_count=1, stop_words=None, **cleaning))
    return Highlighter(recipe_like(Mixture(topics, vocabulary=words, preparation=prepared)))


def marked(text, words, **cleaning):
    marks = highlighter(words, **cleaning).marked(text, np.ones(len(words), bool))
    return [text[a:b] for a, b in marks]


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("The CAT, a cat; concat!", ["cat"], ["CAT", "cat"]),
        ("see http://cat.org/cat and @cat or cat", ["cat"], ["cat"]),
        ("a&amp;b amp", ["amp"], ["amp"]),
        ("Élan, élan ELAN", ["élan"], ["Élan", "élan"]),
        ("snow_cat or _cat_", ["snow_cat", "cat"], ["snow_cat", "_cat_"]),
        ("cat cat cat dog cat", ["cat"], ["cat cat cat", "cat"]),
        ("中文 中", ["中文"], ["中文"]),
        ("x" * 300 + " cat", ["cat"], ["cat"]),
        ("dog", ["cat"], []),
        ("", ["cat"], []),
    ],
)
def test_tokens_are_found_in_the_raw_text(text, words, found):
    assert marked(text, words) == found


def test_stems_mark_all_forms():
    assert marked("Learning and learned, he learns.", ["learn"], stem="english") == ["Learning", "learned", "learns"]


def test_phrases_are_marked_as_a_whole():
    assert marked("A Neural Network is neural.", ["neural network"], phrases=True) == ["Neural Network"]
    assert marked("new york city, new city", ["new york city"], ngrams=3) == ["new york city"]


def test_own_tokenizers_are_used():
    assert marked("cat-dog|bee", ["cat-dog"], tokenizer=lambda text: text.split("|")) == ["cat-dog"]


def test_long_texts_are_cut_where_the_marks_are():
    text = "nothing " * 500 + "here is a cat and a cat " + "nothing " * 500
    at = [text.index("cat"), text.rindex("cat")]
    shown, marks = passage(text, [(a, a + 3) for a in at])
    assert len(shown) < 800
    assert [shown[a:b] for a, b in marks] == ["cat", "cat"]
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert "".join(segments(shown, marks)) == shown
    assert segments(shown, marks)[1::2] == ["cat", "cat"]
