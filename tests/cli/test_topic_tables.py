"""Topics as tables: words that dominate all of them, and how topics are shown."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from fdmix import Cleaning, Mixture
from fdmix.cli.tables import hint_at_dominating_words, topic_facts, topic_table
from fdmix.corpus.preparation import Preparation
from fdmix.metrics import dominating_words


def mixture_with(n_common, n_topics=10, words=None, preparation=None):
    """Topics with two words of their own each; the first word is in `n_common` of them, the most probable one."""
    topics = np.zeros((n_topics, 2 * n_topics + 1))
    topics[:n_common, 0] = 3
    for t in range(n_topics):
        topics[t, [2 * t + 1, 2 * t + 2]] = 1
    words = words or ["said", *(f"w{u}" for u in range(2 * n_topics))]
    return Mixture(topics / topics.sum(axis=1, keepdims=True), np.eye(n_topics) / n_topics, words, preparation)


@pytest.mark.parametrize(
    ("n_common", "n_topics", "found"),
    [(10, 10, ["said"]), (5, 10, ["said"]), (4, 10, []), (3, 3, ["said"]), (2, 2, []), (2, 3, [])],
)
def test_a_word_of_half_of_the_topics_dominates(n_common, n_topics, found):
    assert dominating_words(mixture_with(n_common, n_topics)) == found


def test_words_of_probability_zero_do_not_dominate():
    """A sparse topic has fewer than ten words: what fills up its list is not among its words."""
    assert dominating_words(mixture_with(0)) == []


def test_the_hint_says_what_to_type(capsys):
    hint_at_dominating_words(mixture_with(10))
    assert "--add-stop-words said" in capsys.readouterr().err
    hint_at_dominating_words(mixture_with(4))
    assert not capsys.readouterr().err


def test_the_hint_names_all_forms_of_a_stem(capsys):
    forms = {"said": {"saying": 7, "said": 2}}
    hint_at_dominating_words(mixture_with(10, preparation=Preparation(Cleaning(stem="english"), forms)))
    error = capsys.readouterr().err
    assert "apart: saying." in error
    assert "--add-stop-words saying,said" in error


@pytest.mark.parametrize("word", ["$(rm -rf ~)", "a;b", "--help", "\x1b[31m", "supreme court"])
def test_the_hint_is_safe_to_paste(word, capsys):
    hint_at_dominating_words(mixture_with(10, words=[word, *(f"w{u}" for u in range(20))]))
    error = capsys.readouterr().err
    assert "do not tell topics apart" in error
    assert "--add-stop-words" not in error
    assert "\x1b" not in error


def test_topics_show_only_words_that_they_have():
    facts = topic_facts(mixture_with(1), n_words=5)
    assert [len(fact["words"]) for fact in facts] == [3] + 9 * [2]
    assert all(min(fact["probabilities"]) > 0 for fact in facts)


def test_phrases_are_separated(capsys):
    words = ["supreme court", *(f"w{u}" for u in range(20))]
    topic_table(mixture_with(10, words=words))
    shown = capsys.readouterr().out
    assert "supreme court · w0 · w1" in shown
    topic_table(mixture_with(10))
    assert "said w0 w1" in capsys.readouterr().out


def test_lines_of_a_table_do_not_end_in_blanks(capsys):
    topic_table(mixture_with(10), typical=["some.name"] * 10)
    assert not any(line.endswith(" ") for line in capsys.readouterr().out.splitlines())


def test_the_table_shows_the_chosen_ranking(capsys):
    mixture = replace(mixture_with(10), relevance=0.1)
    topic_table(mixture, 2)
    assert "said" not in capsys.readouterr().out
    topic_table(mixture, 2, ranking="probability")
    assert "said w0" in capsys.readouterr().out
    facts = topic_facts(mixture, 3)
    assert facts[0]["words"] == ["w0", "w1", "said"]
    assert facts[0]["probabilities"] == pytest.approx([0.2, 0.2, 0.6])


@pytest.mark.parametrize(
    "command", ["info", *(pytest.param(name, marks=pytest.mark.slow) for name in ("topics", "assign", "evaluate"))]
)
def test_commands_take_a_ranking(command, tmp_path):
    cleaned = Preparation(Cleaning(stop_words=None, min_letters=1))
    replace(mixture_with(10, preparation=cleaned), relevance=0.1).save(tmp_path / "model")
    (tmp_path / "text.txt").write_text("said w0 w1\nsaid w2 w3\n")

    def run(*ranking):
        inputs = ["text.txt"] if command in ("assign", "evaluate") else []
        per_topic = ["--per-topic"] if command == "evaluate" else []
        arguments = [sys.executable, "-m", "fdmix", command, "model", *inputs, *per_topic, *ranking]
        return subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)

    if command == "info":
        assert "weight 0.1" in run().stdout
        return
    first = run()
    assert "w0 w1" in first.stdout.replace(",", "")
    for ranking in ("probability", "1", "1.0"):
        assert "said w0" in run("--ranking", ranking).stdout.replace(",", "")
    wrong = run("--ranking", "frequency")
    assert wrong.returncode
    assert "there are probability, relevance, exclusive" in " ".join(wrong.stderr.split())


def test_info_warns_of_topics_without_a_word_of_their_own(tmp_path):
    topics = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]]
    Mixture(topics, vocabulary=["ant", "bee", "cow", "dog"]).save(tmp_path / "model")
    arguments = [sys.executable, "-m", "fdmix", "info", tmp_path / "model"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert "topics with an anchor word" in done.stdout
    assert "1 of 3 topics has no word of its own (topic 2)" in " ".join(done.stderr.split())
    facts = json.loads(subprocess.run([*arguments, "--json"], capture_output=True, text=True, check=False).stdout)
    assert facts["topics without a word of their own"] == [2]
    assert facts["mean anchor slack"] == pytest.approx((1 / 3 + 1 / 3 + 2 / 3) / 3, abs=1e-4)
