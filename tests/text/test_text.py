"""Reading text: every kind of source, every step of the cleaning, and every kind of error."""

import bz2
import csv
import gzip
import json
import lzma
import re
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmix import Cleaning, Moments, read_corpus, read_moments
from fdmix.text.batches import Batch
from fdmix.text.files import TextError
from fdmix.text.lexicon import Lexicon

TEXTS = ["Cats chase mice.", "Dogs chase cats, cats!", "Mice eat cheese."]
PLAIN = {"preset": "plain"}


def bags(corpus):
    """Documents as sorted lists of words."""
    words = np.array(corpus.vocabulary)
    return [sorted(np.repeat(words, row)) for row in corpus.counts.toarray()]


EXPECTED = [["cats", "chase", "mice"], ["cats", "cats", "chase", "dogs"], ["cheese", "eat", "mice"]]


def sources(folder):
    """Write the same three documents in every format."""
    rows = [{"title": f"t{i}", "text": text, "day": f"2020-01-0{i + 1}"} for i, text in enumerate(TEXTS)]
    (folder / "a.txt").write_text("\n".join(TEXTS) + "\n")
    (folder / "paragraphs.txt").write_text("\n\n \n".join(TEXTS))
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
        with (folder / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
    (folder / "a.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (folder / "array.json").write_text(json.dumps(rows, indent=1))
    for suffix, opened in ((".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)):
        with opened(folder / f"a.csv{suffix}", "wb") as file:
            file.write((folder / "a.csv").read_bytes())
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(rows)
    pq.write_table(table, folder / "a.parquet")
    with pa.CompressedOutputStream(str(folder / "a.jsonl.zst"), "zstd") as file:
        file.write((folder / "a.jsonl").read_bytes())
    (folder / "each").mkdir()
    for i, text in enumerate(TEXTS):
        (folder / "each" / f"{i}.txt").write_text(text.replace(" ", "\n"))
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    sources(folder)
    return folder


TABLES = [
    "a.csv", "a.tsv", "a.jsonl", "array.json", "a.csv.gz", "a.csv.bz2", "a.csv.xz", "a.jsonl.zst", "a.parquet",
]  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_tables_in_files(folder, name):
    corpus = read_corpus(folder / name, column="text", id="title", date="day", **PLAIN)
    assert bags(corpus) == EXPECTED
    assert corpus.documents["id"].tolist() == ["t0", "t1", "t2"]
    assert corpus[1:].documents["date"].tolist() == ["2020-01-02", "2020-01-03"]
    assert read_moments(folder / name, column="text", **PLAIN) == Moments.of(corpus)
    assert bags(read_corpus(folder / name, **PLAIN)) == EXPECTED  # there is a column called text


def test_text_files(folder):
    assert bags(read_corpus(folder / "a.txt", **PLAIN)) == EXPECTED
    assert bags(read_corpus(str(folder / "paragraphs.txt"), split="paragraphs", **PLAIN)) == EXPECTED
    assert bags(read_corpus(folder / "a.txt", split="files", **PLAIN)) == [sorted(chain.from_iterable(EXPECTED))]
    each = read_corpus(folder / "each", **PLAIN)
    assert bags(each) == EXPECTED  # a folder: a document per file
    assert [name[-5:] for name in each.documents["file"]] == ["0.txt", "1.txt", "2.txt"]
    mixed = read_corpus([folder / "each", folder / "a.txt"], **PLAIN)  # but lines of a file that is named
    assert bags(mixed) == EXPECTED * 2
    assert bags(read_corpus(str(folder / "each" / "*.txt"), split="files", **PLAIN)) == EXPECTED
    assert bags(read_corpus([folder / "a.txt", folder / "a.csv"], split="lines", **PLAIN)) == EXPECTED * 2


def test_tables_in_memory(folder):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": [*TEXTS, None], "n": [1, 2, 3, 4]})
    expected = [*EXPECTED, []]
    assert bags(read_corpus(table, **PLAIN)) == expected
    assert bags(read_corpus(table.column("text"), **PLAIN)) == expected
    assert read_corpus(table.slice(1), label="n", **PLAIN).documents["label"].tolist() == [2, 3, 4]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"body": [*TEXTS, None], "n": [1, 2, 3, 4]})
    assert bags(read_corpus(frame, column="body", id="n", **PLAIN)) == expected
    assert bags(read_corpus(frame["body"], **PLAIN)) == expected
    assert bags(read_corpus(pa.array(TEXTS), **PLAIN)) == EXPECTED
    assert bags(read_corpus(pa.array(TEXTS).dictionary_encode(), **PLAIN)) == EXPECTED
    assert read_corpus(pa.table({"text": pa.nulls(2)}), **PLAIN).n_documents == 2
    lists = pa.table({"text": TEXTS, "tags": [["a"], ["b", "c"], []]})
    assert read_corpus(lists, label="tags", **PLAIN).documents["label"].tolist() == [["a"], ["b", "c"], []]
    polars = pytest.importorskip("polars")
    categorical = polars.DataFrame({"text": TEXTS}).with_columns(polars.col("text").cast(polars.Categorical))
    assert bags(read_corpus(categorical, **PLAIN)) == EXPECTED
    with pytest.raises(TypeError, match="collect"):
        read_corpus(categorical.lazy())
    frame = polars.DataFrame({"body": [*TEXTS, None], "n": [1, 2, 3, 4]})
    assert bags(read_corpus(frame, column="body", **PLAIN)) == expected


def test_strings_and_streams():
    assert bags(read_corpus(TEXTS, **PLAIN)) == EXPECTED
    assert bags(read_corpus((text for text in TEXTS), **PLAIN)) == EXPECTED
    assert read_moments(iter(TEXTS), **PLAIN) == Moments.of(read_corpus(TEXTS, **PLAIN))
    assert bags(read_corpus(["one\n\ntwo two", "three"], split="paragraphs", **PLAIN)) == [
        ["one"], ["two", "two"], ["three"],
    ]  # fmt: skip


def test_kaggle_papers(tmp_path):
    """Many columns, texts over several lines, paragraphs between blank lines."""
    with (tmp_path / "papers.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "year", "title", "abstract", "paper_text"])
        writer.writerow([1, 1987, "A", "Missing", 'First "quoted",\nparagraph.\n\nSecond one.\n  \nThird.'])
        writer.writerow([2, 1988, "B", "Missing", "Only one"])
    corpus = read_corpus(tmp_path / "papers.csv", column="paper_text", split="paragraphs", id="id", **PLAIN)
    assert bags(corpus) == [["first", "paragraph", "quoted"], ["one", "second"], ["third"], ["one", "only"]]
    assert corpus.documents["id"].tolist() == ["1", "1", "1", "2"]


def test_newlines_of_all_kinds(tmp_path):
    (tmp_path / "mixed.txt").write_bytes(b"one\r\ntwo\rthree\nfour")
    assert bags(read_corpus(tmp_path / "mixed.txt", **PLAIN)) == [["one"], ["two"], ["three"], ["four"]]


@settings(max_examples=60)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=8))
def test_tokens_are_runs_of_word_characters(texts):
    """Compare with a definition by Unicode categories; unlike Python's \\w, it counts marks as parts of words."""
    import unicodedata

    def is_word(c):
        emoji_style = 0xFE00 <= ord(c) < 0xFE10
        kind = unicodedata.category(c)
        inside = kind in ("Mn", "Mc") or kind[0] in "LN" or c in "_\u200c\u200d"
        return inside and not emoji_style and ord(c) < 0x33480

    lexicon = Lexicon(Cleaning(drop_urls=False, drop_mentions=False, drop_entities=False, lowercase=False))
    ids, lengths = lexicon.read(Batch.of(texts))
    tokens = np.array([*lexicon.tokens(), ""], object)[ids].tolist()
    expected = ["".join(c if is_word(c) else " " for c in text).split(" ") for text in texts]
    expected = [[token for token in row if token] for row in expected]
    assert lengths.tolist() == [len(row) for row in expected]
    assert tokens == list(chain.from_iterable(expected))


def test_a_growing_lexicon():
    texts = [" ".join(f"w{i}x{j}" for i in range(300)) for j in range(200)]
    lexicon = Lexicon(Cleaning())
    ids, lengths = lexicon.read(Batch.of(texts))
    names = lexicon.tokens()
    assert [names[i] for i in ids] == " ".join(texts).split()
    assert lengths.tolist() == [300] * 200
    assert (lexicon.counts[: lexicon.size] == 1).all()
    again = Lexicon.restored(Cleaning(), lexicon.arrays())
    more, _ = again.read(Batch.of(["w0x0 w5x7 fresh"]))
    assert [again.tokens()[i] for i in more] == ["w0x0", "w5x7", "fresh"]


@pytest.mark.parametrize(
    ("text", "step", "on", "off"),
    [
        ("See https://t.co/aB1?x now", "drop_urls", ["now", "see"], ["ab1", "co", "https", "now", "see", "t", "x"]),
        ("at WWW.example.org/x it", "drop_urls", ["at", "it"], ["at", "example", "it", "org", "www", "x"]),
        ("word09https://t.co/a b", "drop_urls", ["b", "word09"], ["a", "b", "co", "t", "word09https"]),
        ("hi @Some_One! a@b", "drop_mentions", ["a", "b", "hi"], ["a", "b", "hi", "some_one"]),
        ("cats &amp; dogs &#39;n A&B", "drop_entities", [*"abn", "cats", "dogs"],
         ["39", "amp", "a", "b", "cats", "dogs", "n"]),
        ("born 1984 in b2b 3_000", "drop_numbers", ["b2b", "born", "in"], ["1984", "3_000", "b2b", "born", "in"]),
        ("naïve café plain", "drop_non_ascii", ["plain"], ["café", "naïve", "plain"]),
        ("ÉCOLE École The", "lowercase", ["the", "école", "école"], ["The", "École", "ÉCOLE"]),
    ],
)  # fmt: skip
def test_each_step_can_be_switched(text, step, on, off):
    plain = {"preset": "plain", "lowercase": step != "lowercase"} | (
        {"lowercase": True} if step != "lowercase" else {}
    )
    assert bags(read_corpus([text], **{**plain, step: True}))[0] == sorted(on)
    assert bags(read_corpus([text], **{**plain, step: False}))[0] == sorted(off)


def test_unicode():
    decomposed = "cafe\u0301"
    corpus = read_corpus([f"{decomposed} café CAFÉ", "हिन्दी में", "Ünïcödé ŒUVRE"], **PLAIN)
    assert corpus.vocabulary == tuple(sorted(["café", "हिन्दी", "में", "ünïcödé", "œuvre"]))
    assert bags(corpus)[0] == ["café"] * 3
    assert bags(read_corpus(["⚠️raise 👍🏽"], **PLAIN)) == [["raise"]]


def test_stop_words(tmp_path):
    text = ["The cat and the dog are in the house", "Der Hund und die Katze sind in dem Haus"]
    assert read_corpus(text[:1]).vocabulary == ("cat", "dog", "house")  # the language is detected
    assert read_corpus(text[1:]).vocabulary == ("haus", "hund", "katze")
    assert read_corpus(text[1:]).preparation.cleaning.stop_words == "german"
    (tmp_path / "stop.txt").write_text("cat DOG # and no more\n")
    kept = read_corpus(text[:1], stop_words=tmp_path / "stop.txt").vocabulary
    assert kept == ("and", "are", "house", "in", "the")
    assert "cat" not in read_corpus(text[:1], stop_words=["CAT"]).vocabulary
    with pytest.raises(ValueError, match="neither a file nor a language"):
        read_corpus(text, stop_words="klingon")


def test_stems_are_shown_in_their_most_frequent_form():
    corpus = read_corpus(
        ["learning learning learned", "networks learn network networks"], stem="english", min_count=1
    )
    assert corpus.vocabulary == ("learn", "network")
    assert corpus.counts.toarray().tolist() == [[3, 0], [1, 3]]
    shown = corpus.preparation.shown
    assert (shown("learn"), shown("network")) == ("learning", "networks")
    with pytest.raises(ValueError, match="no stemmer for 'klingon'"):
        read_corpus(["x"], stem="klingon")


def test_forms_add_up():
    a = read_moments(["learning learning network x"], stem="english", stop_words=None)
    b = read_moments(["learned learned learned network"], stem="english", stop_words=None)
    assert (a + b).preparation.shown("learn") == "learned"
    assert (a + b - b).preparation.forms == a.preparation.forms
    assert a.preparation.shown("learn") == "learning"
    with pytest.raises(ValueError, match=r"prepared differently \(stem\)"):
        a + read_moments(["learning network"], stop_words=None)


def test_choice_of_the_vocabulary():
    texts = ["a a a b b c", "a b d d", "a e f"]
    assert read_corpus(texts, **PLAIN, min_count=2).vocabulary == ("a", "b", "d")
    assert read_corpus(texts, **PLAIN, max_words=2).vocabulary == ("a", "b")
    assert read_corpus(texts, **PLAIN, max_share=0.7).vocabulary == ("b", "c", "d", "e", "f")
    assert bags(read_corpus(texts, **PLAIN, min_count=2, min_tokens=4)) == [list("aaabb"), list("abdd")]
    kept = read_corpus(texts, **PLAIN, min_count=2, min_tokens=4)
    assert kept.documents["document"].tolist() == [0, 1]
    exact = ["learn learning", "learned", "x", "y"]  # in 2 of 4 documents, though its forms are in 3
    assert "learn" in read_corpus(exact, **PLAIN, stem="english", max_share=0.5).vocabulary


def test_presets():
    """Known answers for the two cleanings of the paper."""
    paper = "We propose networks, 2 networks and a deep-learning network of 12 layers; see http://x.org."
    papers = read_corpus([paper] * 25, preset="papers", min_tokens=1)
    assert papers.vocabulary == ("deep", "layer", "learn", "network", "propos")
    assert papers.preparation.shown("propos") == "propose"
    assert read_corpus([paper] * 25, preset="papers").n_documents == 0  # under 20 tokens
    assert read_corpus([paper] * 24, preset="papers").vocabulary == ("network",)  # the others under 25 times
    tweet = "RT @you: Voting is OUR right in 2020 &amp; beyond 👍 café https://t.co/x #VoteNow"
    tweets = read_corpus([tweet], preset="tweets")
    assert tweets.vocabulary == ("beyond", "right", "vote", "votenow")
    assert read_corpus(["vote now"], preset="tweets").n_documents == 0


def test_ngrams():
    texts = ["new york city", "new york state", "the city of new york"]
    corpus = read_corpus(texts, **PLAIN, ngrams=3, min_count=1)
    expected = [
        sorted(" ".join(w[i : i + n]) for n in (1, 2, 3) for i in range(len(w) - n + 1))
        for w in (t.split() for t in texts)
    ]
    assert bags(corpus) == expected
    frequent = read_corpus(texts, **PLAIN, ngrams=3, min_count=2)
    assert frequent.vocabulary == ("city", "new", "new york", "york")
    again = read_corpus(texts, like=frequent)
    assert (again.counts != frequent.counts).nnz == 0


def test_phrases():
    rng = np.random.default_rng(0)
    filler = [f"w{i}" for i in range(200)]
    texts = [
        " ".join([*rng.choice(filler, 5), *(["neural", "network"] if i % 4 == 0 else []), *rng.choice(filler, 5)])
        for i in range(400)
    ]
    corpus = read_corpus(texts, phrases=True, min_count=2)
    assert "neural network" in corpus.vocabulary
    column = corpus.vocabulary.index("neural network")
    assert corpus.counts[:, [column]].sum() == 100
    assert "neural" not in corpus.vocabulary or corpus.counts[:, [corpus.vocabulary.index("neural")]].sum() == 0
    few = read_corpus(["new york is big"] * 10 + ["york"], phrases=True, stop_words=None, min_count=5)
    assert dict(zip(few.vocabulary, few.counts.sum(axis=0).tolist(), strict=True)) == {"is big": 10, "new york": 10}
    stop = read_corpus(["neural the network"] * 50, phrases=True, stop_words=["the"])
    assert stop.vocabulary == ("network", "neural")  # the stop word between them keeps them apart


def test_new_text_is_cleaned_in_the_same_way():
    corpus = read_corpus(["Learning networks learn", "cats and dogs learn"], stem="english", min_count=1)
    new = read_corpus(["The LEARNED network, unknown https://cat.org"], like=corpus)
    assert new.vocabulary == corpus.vocabulary
    assert bags(new) == [["learn", "network"]]
    moments = read_moments(["learned networks", "dogs learned"], like=Moments.of(corpus))
    assert moments.vocabulary == corpus.vocabulary
    with pytest.raises(ValueError, match="min_count cannot choose them"):
        read_corpus(["x"], like=corpus, min_count=3)
    with pytest.raises(ValueError, match="does not know how its text was cleaned"):
        read_corpus(["x"], like=Moments.of([[1, 1]], ["a", "b"]))


def test_tokens_are_read_while_another_thread_adds_more():
    """With `like=`, words are looked up while other threads still read: earlier tokens must not change."""
    lexicon = Lexicon(Cleaning())
    lexicon.read(Batch.of(["one two three"]))

    class Growing(np.ndarray):
        def tolist(self):
            lexicon.read(Batch.of(["four five six"]))  # between reading the size and reading the tokens
            return super().tolist()

    lexicon.starts = lexicon.starts.view(Growing)
    assert lexicon.tokens() == ["one", "two", "three"]


def test_moments_of_other_tokenizers_are_not_mixed():
    plain = read_moments(["a b c d"], stop_words=None, min_letters=1)
    own = read_moments(["a b c d"], stop_words=None, min_letters=1, tokenizer=str.split)
    with pytest.raises(ValueError, match="prepared differently"):
        plain + own


def test_a_tokenizer_of_the_user():
    corpus = read_corpus(["a|b c|B", "a|2"], tokenizer=lambda text: text.split("|"), stop_words=None, min_letters=1)
    assert bags(corpus) == [["a", "b", "b_c"], ["a"]]
    with pytest.raises(TypeError, match="must give a list"):
        read_corpus(["a b"], tokenizer=str.lower)


@given(st.integers(1, 3), st.integers(0, 10**6))
@settings(max_examples=10)
def test_threads_change_nothing(n_threads, seed):
    rng = np.random.default_rng(seed)
    texts = [" ".join(f"w{u}" for u in rng.integers(0, 40, rng.integers(0, 9))) for _ in range(50)]
    one = read_moments(texts, n_threads=1, **PLAIN)
    assert read_moments(texts, n_threads=n_threads, **PLAIN) == one
    assert Moments.of(read_corpus(texts, n_threads=n_threads, **PLAIN)) == one


def test_it_agrees_with_count_vectorizer():
    from sklearn.feature_extraction.text import CountVectorizer

    docs = [
        re.sub(r"\s+", " ", str(thing.__doc__)) for thing in (np.array, np.dot, np.linalg.svd, np.einsum, json.loads)
    ]
    vectorizer = CountVectorizer(token_pattern=r"(?u)\b\w+\b")
    theirs = vectorizer.fit_transform(docs)
    ours = read_corpus(docs, **PLAIN)
    shared = [word for word in ours.vocabulary if word in vectorizer.vocabulary_]
    assert len(shared) > 0.95 * len(ours.vocabulary)  # ours have no underscores at their ends
    elsewhere = {word.strip("_") for word in vectorizer.vocabulary_ if word != word.strip("_")}
    for word in shared:
        if "_" not in word and word not in elsewhere:
            same = theirs[:, [vectorizer.vocabulary_[word]]] != ours.counts[:, [ours.vocabulary.index(word)]]
            assert same.nnz == 0, word


def test_odd_files(tmp_path):
    (tmp_path / "empty.txt").write_bytes(b"")
    assert read_corpus(tmp_path / "empty.txt").n_documents == 0
    (tmp_path / "empty.csv").write_bytes(b"")
    assert read_corpus(tmp_path / "empty.csv", column="text").n_documents == 0
    (tmp_path / "binary.txt").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(TextError, match="looks like a binary file"):
        read_corpus(tmp_path / "binary.txt")
    (tmp_path / "latin.txt").write_bytes("caf\xe9 ol\xe9".encode("latin-1"))
    with pytest.raises(TextError, match=r"is not UTF-8 text .*give its encoding"):
        read_corpus(tmp_path / "latin.txt")
    assert read_corpus(tmp_path / "latin.txt", encoding="latin-1").vocabulary == ("café", "olé")
    (tmp_path / "wide.txt").write_text("wide words", encoding="utf-16")
    assert read_corpus(tmp_path / "wide.txt").vocabulary == ("wide", "words")
    (tmp_path / "bom.csv").write_text("text,n\nhello world,1\n", encoding="utf-8-sig")
    assert read_corpus(tmp_path / "bom.csv", column="text").vocabulary == ("hello", "world")
    (tmp_path / "fake.csv.gz").write_bytes(b"text\nhello\n")
    with pytest.raises(TextError, match="damaged or not compressed"):
        read_corpus(tmp_path / "fake.csv.gz")
    (tmp_path / "fake.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(TextError, match="not a valid Parquet file"):
        read_corpus(tmp_path / "fake.parquet")


def test_odd_tables(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\nx,y\n")
    with pytest.raises(TextError, match=r"which column holds the text\? .*a, b"):
        read_corpus(path)
    with pytest.raises(TextError, match="no column 'text'; it has a, b"):
        read_corpus(path, column="text")
    path.write_text("a,b\nx,y\nz\n")
    with pytest.raises(TextError, match="line 3: the row has 1 columns"):
        read_corpus(path, column="b")
    for content, message in (
        ("a,text\nx,hello big, wide world\n", "line 2: the row has 3 columns"),
        ('a,text\nx,fine\ny,"never closed\nz,more\n', "line 3: .*not closed"),
        ("text,text\nx,y\n", "2 columns called 'text'"),
    ):
        path.write_text(content)
        with pytest.raises(TextError, match=message):
            read_corpus(path)
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"text": "fine"}\n{"text": broken}\n')
    with pytest.raises(TextError, match="line 2 is not JSON"):
        read_corpus(lines)
    lines.write_text('{"user": "bob", "text": null}\n{"user": "al", "text": "cats chase mice"}\n')
    assert bags(read_corpus(lines, **PLAIN)) == [[], ["cats", "chase", "mice"]]
    lines.write_text('{"text": "fine"}\n{"text": 7}\n')
    with pytest.raises(TextError, match="entry 2: column 'text' holds int"):
        read_corpus(lines)
    (tmp_path / "plain.txt").write_text("x")
    with pytest.raises(TextError, match="plain text and has no columns"):
        read_corpus(tmp_path / "plain.txt", column="text")
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        read_corpus(tmp_path / "nowhere.csv")
    with pytest.raises(FileNotFoundError, match="give a list"):
        read_corpus("this is a text and not a file")
    with pytest.raises(TypeError, match="names of files: give Path objects"):
        read_corpus([str(path)])
    with pytest.raises(TypeError, match="document 1 is list"):
        read_corpus(["fine", ["tokens"]])
    with pytest.raises(TypeError, match="no step 'stemming'"):
        read_corpus(["x"], stemming=True)
    with pytest.raises(ValueError, match="no preset"):
        read_corpus(["x"], preset="books")
    with pytest.raises(ValueError, match="split is one of"):
        read_corpus(["x"], split="words")


@pytest.mark.slow
def test_a_line_of_100_megabytes(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("word other " * 9_000_000 + "\nshort line\n")
    corpus = read_corpus(path, **PLAIN)
    assert corpus.lengths.tolist() == [18_000_000, 2]
    with pytest.raises(ValueError, match="split long texts"):
        Moments.of(corpus)
