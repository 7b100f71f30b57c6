"""The command line through its real entry point, from a folder of text to topics, and what goes wrong."""

import csv
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest

import fdmix
from fdmix import Cleaning, Mixture, Moments, read_moments, worlds
from fdmix.storage.places import did_you_mean
from fdmix.text.files import Layout
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of

COMMANDS = (
    "demo",
    "count",
    "merge",
    "subtract",
    "fit",
    "refine",
    "reproduce",
    "topics",
    "assign",
    "evaluate",
    "compare",
    "edit",
    "update",
    "forget",
    "info",
)


def program():
    return str(Path(sys.executable).with_name("fdmix"))


def run(*arguments, code=0, **options):
    done = subprocess.run(
        [program(), *map(str, arguments)], capture_output=True, text=True, check=False, timeout=280, **options
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_python_m_is_the_same_program():
    done = subprocess.run([sys.executable, "-m", "fdmix", "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.replace("python -m fdmix", "fdmix").split() == run("--help").stdout.split()


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Documents of a world with known topics, as a CSV in two halves, and all of it as JSON lines."""
    folder = tmp_path_factory.mktemp("cli")
    world = worlds.authors(seed=3)
    corpus = world.sample(3_000, length=20, seed=4)
    words = np.array([f"w{u}" for u in range(corpus.n_words)])
    lines = [" ".join(np.repeat(words[row.indices], row.data)) for row in (corpus.counts[[d]] for d in range(3_000))]
    for name, part in (("a.csv", lines[:1500]), ("b.csv", lines[1500:])):
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["number", "text"])
            writer.writerows(enumerate(part))
    (folder / "all.jsonl").write_text("\n".join(json.dumps({"text": line}) for line in lines))
    return folder


@pytest.fixture(scope="module")
def model(texts):
    run("fit", texts / "a.csv", texts / "b.csv", "--column", "text", "--topics", 20, "-o", texts / "model")
    return texts / "model"


def test_help_and_version():
    assert run("--version").stdout == f"fdmix {fdmix.__version__}\n"
    shown = run("--help").stdout
    for command in COMMANDS:
        assert command in shown


def test_help_is_for_people(monkeypatch):
    """No types of Python and no braces, whatever typer's version writes; nothing is cut at 80 columns."""
    from typer.testing import CliRunner

    monkeypatch.setenv("COLUMNS", "80")
    for command in ["", *COMMANDS]:
        shown = CliRunner().invoke(fdmix.cli.app, [*command.split(), "--help"]).stdout
        usage = next(line for line in shown.splitlines() if "Usage:" in line)
        assert not re.search(r"<(bool|str|int|list|path|text)|[{}]|\.{4}|…", usage + shown.partition("╭")[2])


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command):
    assert "Example" in run(command, "--help").stdout


@pytest.mark.slow
def test_fit_says_what_to_do_next(texts):
    """The command that it shows runs as it is, and shows the documents that were read."""
    done = run("fit", texts / "a.csv", "--column", "text", "--topics", 5, "--force", "-o", texts / "next")
    said = done.stderr.splitlines()
    assert said[-1].startswith("To look at them in a browser: fdmix report ")
    command = shlex.split(said[-1].partition("fdmix ")[2])
    run(*command, cwd=texts)
    assert (texts / "report.html").stat().st_size > 10_000
    assert "Read 1,500 documents: " in done.stderr


def test_a_name_with_a_slip_is_corrected(tmp_path):
    (tmp_path / "text.txt").write_text("one two\n")
    said = run("fit", "tezt.txt", "--topics", 2, "-o", "m", code=1, cwd=tmp_path).stderr
    assert said == "fdmix: there is no file or folder 'tezt.txt'; did you mean text.txt?\n"
    for name, meant in (("text.tx", True), ("txet.txt", True), ("text.txtt", True), ("other.csv", False)):
        assert did_you_mean(tmp_path / name) == (f"; did you mean {tmp_path / 'text.txt'}?" if meant else "")
    assert did_you_mean(tmp_path / "no folder" / "text.txt") == ""


def test_a_missing_model_is_told_before_a_report_that_exists(tmp_path, model):
    (tmp_path / "report.html").write_text("")
    said = run("report", model.with_name("modl"), code=1, cwd=tmp_path).stderr
    assert (
        said.replace("\n", " ").strip()
        == f"fdmix: there is no model {model.with_name('modl')}; did you mean {model}?"
    )


def test_fit_finds_the_topics(model):
    mixture = Mixture.load(model)
    assert mixture.n_topics == 20
    columns = [int(word[1:]) for word in mixture.vocabulary]
    found = np.zeros((20, 250))
    found[:, columns] = mixture.topics
    assert fdmix.metrics.matching_distance(found, worlds.authors(seed=3).topics).mean < 0.2
    assert mixture.provenance["seed"] == 0
    assert len(mixture.provenance["moments"]["sha256"]) == 64
    assert {path.name for path in model.iterdir()} == {"model.json", "mixture.safetensors", "README.md"}


def test_topics(model):
    facts = json.loads(run("topics", model, "--json", "--words", 5).stdout)
    assert [fact["topic"] for fact in facts] == list(range(20))
    assert all(len(fact["words"]) == 5 for fact in facts)
    assert sum(fact["share"] for fact in facts) == pytest.approx(1)
    assert facts[0]["words"][0] in run("topics", model).stdout


@pytest.mark.slow
def test_count_merge_subtract(texts, tmp_path):
    a, b, both = tmp_path / "a.moments", tmp_path / "b.moments", tmp_path / "both.moments"
    steps = ("--column", "text", "--preset", "plain")
    run("count", texts / "a.csv", *steps, "-o", a)
    run("count", texts / "b.csv", *steps, "-o", b)
    run("count", texts / "a.csv", texts / "b.csv", *steps, "-o", both)
    run("merge", a, b, "-o", tmp_path / "merged")
    assert Moments.load(tmp_path / "merged") == Moments.load(both)
    assert Moments.load(both) == read_moments(texts / "all.jsonl", preset="plain")
    run("subtract", both, b, "-o", tmp_path / "rest")
    assert Moments.load(tmp_path / "rest").restrict(Moments.load(a).vocabulary) == Moments.load(a)
    run("subtract", both, texts / "b.csv", "--column", "text", "-o", tmp_path / "rest too")
    assert Moments.load(tmp_path / "rest too") == Moments.load(tmp_path / "rest")
    assert not list(tmp_path.glob("*.partial"))
    error = run("subtract", a, b, "-o", tmp_path / "x", code=1).stderr
    assert "cannot remove these documents" in error
    facts = json.loads(run("info", both, "--json").stdout)
    assert facts["documents"] == 3_000
    assert facts["cleaning"]["min_letters"] == 1


@pytest.mark.slow
def test_fit_from_moments_and_folders(texts, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("a", "b"):
        run("count", texts / f"{name}.csv", "--column", "text", "-o", folder / name)
    done = run("fit", folder, "--topics", 5, "-o", tmp_path / "model", "--json")
    assert len(json.loads(done.stdout)["topics"]) == 5
    forced = ("-o", tmp_path / "model", "--force")
    again = run("fit", folder / "a", folder / "b", "-t", 5, *forced, "--json", "--threads", 1)
    assert json.loads(again.stdout)["topics"] == json.loads(done.stdout)["topics"]
    assert "do not apply" in run("fit", folder, "-t", 5, "-o", tmp_path / "m", "--stem", "english", code=1).stderr
    warm = run("fit", folder / "a", "-t", 5, "-o", tmp_path / "warm", "--start", tmp_path / "model")
    assert "Wrote" in warm.stderr


@pytest.mark.slow
def test_assign(model, texts, tmp_path):
    theta = tmp_path / "theta.parquet"
    form = ("--form", "wide", "--min-share", 0)
    run("assign", model, texts / "a.csv", "--column", "text", "--id", "number", *form, "-o", theta)
    import pyarrow.parquet as pq

    table = pq.read_table(theta)
    assert table.num_rows == 1500
    assert table.column("id").to_pylist()[:2] == ["0", "1"]
    shares = np.column_stack([table.column(f"topic_{t}").to_numpy() for t in range(20)])
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
    corpus = fdmix.read_corpus(texts / "a.csv", column="text", like=Mixture.load(model))
    np.testing.assert_allclose(shares, Mixture.load(model).assign(corpus), atol=1e-12)
    np.testing.assert_array_equal(table.column("topic").to_numpy(), shares.argmax(axis=1))
    np.testing.assert_array_equal(table.column("share").to_numpy(), shares.max(axis=1))
    word = Mixture.load(model).top_words(1)[3][0]
    printed = run("assign", model, "-", input=f"{word} {word}\nnothing known\n").stdout.splitlines()
    assert printed[0] == "document,topic,words,share,known_words"
    assert printed[2] == "1,,,,0"
    assert len(printed) == 3
    for kind in ("csv", "jsonl"):
        run("assign", model, texts / "b.csv", "--column", "text", "-o", tmp_path / f"theta.{kind}")
    assert len((tmp_path / "theta.jsonl").read_text().splitlines()) == 1500
    assert "must end in" in run("assign", model, texts / "b.csv", "-o", tmp_path / "theta.xls", code=1).stderr


@pytest.mark.slow
def test_fit_learns_from_documents(texts, tmp_path):
    from_file = ("fit", texts / "all.jsonl", "--topics", 20)
    run(*from_file, "-o", tmp_path / "model")
    mixture = Mixture.load(tmp_path / "model")
    expected = fdmix.fit_documents(fdmix.read_corpus(texts / "all.jsonl"), 20).mixture
    np.testing.assert_allclose(mixture.topics, expected.topics, rtol=1e-6, atol=1e-12)
    assert "refined" in mixture.provenance
    run(*from_file, "--documents", "-o", tmp_path / "as before")  # what it was called when it was no default
    np.testing.assert_array_equal(Mixture.load(tmp_path / "as before").topics, mixture.topics)
    cut = run(*from_file, "--time-limit", 0.001, "-o", tmp_path / "cut")
    assert "the time limit" in cut.stderr
    assert "--documents" not in run("fit", "--help").stdout


@pytest.mark.slow
def test_fit_from_pairs_alone(texts, tmp_path):
    from_file = ("fit", texts / "all.jsonl", "--topics", 20)
    moments = read_moments(texts / "all.jsonl")
    pairs = fdmix.fit_mixture(moments, 20).mixture
    alone = "topics are fitted to word pairs alone"
    done = run(*from_file, "--pairs-only", "-o", tmp_path / "model")
    np.testing.assert_allclose(Mixture.load(tmp_path / "model").topics, pairs.topics, rtol=1e-6, atol=1e-12)
    assert alone not in done.stderr  # it was asked for
    assert (
        f"--sparsity goes with word pairs only, so {alone}"
        in run(*from_file, "--sparsity", 0, "--time-limit", 5, "-o", tmp_path / "m", "--force").stderr
    )
    both = run(*from_file, "--sparsity", 1, "--start", tmp_path / "model", "-o", tmp_path / "m", "--force")
    assert f"--sparsity and --start go with word pairs only, so {alone}" in both.stderr
    assert alone not in run(*from_file, "--sparsity", 0, "--pairs-only", "-o", tmp_path / "m", "--force").stderr
    run("count", texts / "all.jsonl", "-o", tmp_path / "moments")
    done = run("fit", tmp_path / "moments", "--topics", 20, "-o", tmp_path / "m", "--force")
    assert f"Moments do not keep documents, so {alone}" in done.stderr
    np.testing.assert_allclose(Mixture.load(tmp_path / "m").topics, pairs.topics, rtol=1e-6, atol=1e-12)


@pytest.mark.slow
def test_documents_and_what_does_not_go_with_them(texts, tmp_path):
    from_file = ("fit", texts / "all.jsonl", "--topics", 20, "--documents", "-o", tmp_path / "model")
    assert "--documents does not go with --sparsity" in run(*from_file, "--sparsity", 0, code=1).stderr
    assert "contradict each other" in run(*from_file, "--pairs-only", code=1).stderr
    run("count", texts / "all.jsonl", "-o", tmp_path / "moments")
    refused = run("fit", tmp_path / "moments", "--topics", 20, "--documents", "-o", tmp_path / "another", code=1)
    assert "needs the text" in refused.stderr


def test_text_that_does_not_fit_into_memory_is_refused_before_it_is_read(texts, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from fdmix.cli.app import app

    monkeypatch.setattr("fdmix.cli.fit.available_bytes", lambda: 100_000)
    command = ["fit", str(texts / "all.jsonl"), "-t", "20", "-o", str(tmp_path / "m")]
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, MemoryError)
    assert "use --pairs-only" in str(refused.exception)


@pytest.mark.slow
def test_too_many_topics_are_warned_of(texts, tmp_path):
    lines = (texts / "all.jsonl").read_text().splitlines()[:199]
    (tmp_path / "few.jsonl").write_text("\n".join(lines))
    few = run("fit", tmp_path / "few.jsonl", "-t", 100, "-o", tmp_path / "m", "--force")
    assert "100 topics are too many for this corpus" in few.stderr
    assert "Try 7 topics or fewer" in few.stderr
    assert "too many" not in run("fit", tmp_path / "few.jsonl", "-t", 7, "-o", tmp_path / "m", "--force").stderr
    (tmp_path / "few.jsonl").write_text(lines[0])
    one = run("fit", tmp_path / "few.jsonl", "-t", 2, "-o", tmp_path / "m", "--force").stderr
    assert "Read 1 document: " in one
    assert "1 document to learn from: topics show only across many documents" in one


@pytest.mark.slow
def test_refine(model, texts, tmp_path):
    run("refine", model, texts / "a.csv", "--column", "text", "-o", tmp_path / "better", "--unseen", texts / "b.csv")
    better = Mixture.load(tmp_path / "better")
    assert better.vocabulary == Mixture.load(model).vocabulary
    assert better.preparation == Mixture.load(model).preparation
    assert "refined" in better.provenance


@pytest.mark.slow
def test_refine_on_text_that_the_model_does_not_know(model, texts, tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n")
    (tmp_path / "foreign.txt").write_text("mittwoch montag\n" * 50)
    (tmp_path / "single.txt").write_text("w1\nw2\nw3\n")
    rng = np.random.default_rng(0)
    lines = [" ".join([f"w{u}" for u in rng.integers(0, 100, 3)] + ["montag"] * 9) for _ in range(100)]
    (tmp_path / "hardly.txt").write_text("\n".join(lines))
    for name, message in (
        ("empty.txt", "there is no word in the text"),
        ("foreign.txt", "the model knows no word of the text"),
        ("single.txt", "has two tokens that the mixture knows"),
    ):
        assert message in run("refine", model, tmp_path / name, "-o", tmp_path / "better", code=1).stderr
        assert not (tmp_path / "better").exists()
    known = run("refine", model, tmp_path / "hardly.txt", "-o", tmp_path / "better").stderr
    share = float(re.search(r"knows only ([0-9.]+)% of the tokens of the text", known)[1])
    assert 20 < share <= 25  # some of w0 ... w99 were too rare to be in the model
    unseen = ("--unseen", tmp_path / "foreign.txt")
    refused = run("refine", model, texts / "all.jsonl", *unseen, "-o", tmp_path / "m", code=1)
    assert "the unseen text" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "refine"])
def test_ctrl_c_at_any_moment(command, model, texts, tmp_path):
    """A saved model, or the sentence that there was nothing to keep; and the program ends."""
    given = ["fit", texts / "all.jsonl", "-t", 20] if command == "fit" else ["refine", model, texts / "all.jsonl"]
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"import fdmix.cli.{command}\n"  # what takes time from here on is the work
        "from fdmix.cli import main; sys.argv[0] = 'fdmix'; print('ready', flush=True); main()"
    )

    def started(out):
        arguments = [sys.executable, "-c", code, *map(str, given), "-o", str(out)]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        return process

    begin = time.monotonic()
    assert started(tmp_path / "whole").communicate(timeout=120) is not None
    took = time.monotonic() - begin
    n_models = 0
    for number, moment in enumerate(np.linspace(0.3, took, 15)):
        out = tmp_path / f"model {number}"
        process = started(out)
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        assert "Traceback" not in error
        if out.exists():
            n_models += 1
            assert Mixture.load(out).n_topics == 20
            assert "Wrote" in error
            assert process.returncode in (0, 130, -signal.SIGINT)  # the last is the end of Python itself
        else:
            assert "Stopped before" in error
            assert process.returncode == 130
        assert not list(tmp_path.glob(".*"))
    assert n_models >= 5


def test_ctrl_c_while_a_command_waits_for_its_input(model):
    """A command that has no sentence of its own still says that it was stopped."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from fdmix.cli import main; sys.argv[0] = 'fdmix'; print('ready', flush=True); main()"
    )
    arguments = [sys.executable, "-c", code, "evaluate", str(model), "-"]
    with subprocess.Popen(arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        error = process.stderr.read()
    assert "Stopped before the end." in error
    assert "Traceback" not in error


@pytest.mark.slow
def test_evaluate(model, texts):
    facts = json.loads(run("evaluate", model, texts / "all.jsonl", "--json").stdout)
    assert facts["documents"] == 3_000
    assert -6 < facts["completion log-likelihood, Dirichlet prior"] < -2
    done = run("evaluate", model, texts / "all.jsonl")
    assert "coherence" in done.stdout
    assert "--reference" in done.stderr


@pytest.mark.slow
def test_evaluate_several_models_with_labels(model, texts, tmp_path):
    """Labels are the topics of the same model, so that it agrees with them and a model of two topics does not."""
    mixture = Mixture.load(model)
    corpus = fdmix.read_corpus(texts / "a.csv", column="text", like=mixture)
    labels = mixture.assign(corpus, prior="dirichlet").argmax(axis=1)
    lines = [json.loads(line)["text"] for line in (texts / "all.jsonl").read_text().splitlines()[:1500]]
    rows = [{"text": line, "label": f"label {t}"} for line, t in zip(lines, labels, strict=True)]
    rows += [{"text": "w1 w2", "label": None}, {"text": "unknown words", "label": "label 0"}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    merged = mixture.topics.reshape(2, 10, -1).mean(axis=1)
    Mixture(merged, np.eye(2) / 2, mixture.vocabulary, mixture.preparation).save(tmp_path / "two")
    arguments = ("evaluate", model, tmp_path / "two", tmp_path / "in.jsonl", "--column", "text", "--labels", "label")
    good, bad = json.loads(run(*arguments, "--json", "--per-topic").stdout)
    assert (good["model"], bad["model"]) == (str(model), str(tmp_path / "two"))
    assert good["labelled documents"] == 1501
    assert good["labels"] == 20
    assert good["purity"] == 1  # documents without a known word are a group of their own
    agreement = ("NMI", "AMI", "FMI", "harmonic purity")
    for score in (name for name in good if any(word in name for word in agreement)):
        assert good[score] > 0.99
        assert bad[score] < 0.9
    assert len(good["topics"]) == 20
    assert len(bad["topics"]) == 2
    shown = run(*arguments, "--per-topic").stdout
    assert shown.splitlines()[0].split() == ["model", "two"]
    assert "purity" in shown


@pytest.mark.slow
def test_evaluate_by_a_reference(model, texts, tmp_path):
    run("count", texts / "all.jsonl", "--preset", "plain", "-o", tmp_path / "moments")
    for reference, expected in (
        (tmp_path / "moments", Moments.load(tmp_path / "moments")),
        (texts / "b.csv", fdmix.read_corpus(texts / "b.csv", column="text", like=Mixture.load(model))),
    ):
        arguments = ("evaluate", model, texts / "a.csv", "--column", "text", "--reference", reference)
        facts = json.loads(run(*arguments, "--json").stdout)
        shown = fdmix.metrics.coherence(Mixture.load(model), expected, ranking=None).mean
        assert facts["coherence (NPMI)"] == pytest.approx(shown)
        facts = json.loads(run(*arguments, "--ranking", "probability", "--json").stdout)
        by_probability = fdmix.metrics.coherence(Mixture.load(model), expected).mean
        assert facts["coherence (NPMI)"] == pytest.approx(by_probability)
        assert facts["coherence measured on"] == str(reference)
        assert "themselves" not in run(*arguments).stderr


@pytest.mark.slow
def test_evaluate_by_more_coherences(model, texts, tmp_path):
    mixture = Mixture.load(model)
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("\n".join(f"{word} {u % 7} 1 {u}" for u, word in enumerate(mixture.vocabulary)))
    arguments = ("evaluate", model, texts / "a.csv", "--column", "text", "--json")
    facts = json.loads(run(*arguments, "--coherence", "c_v,c_npmi,embedding", "--vectors", vectors).stdout)
    with (texts / "a.csv").open(newline="") as file:
        lines = [row["text"].split() for row in csv.DictReader(file)]
    tokens = [[word for word in line if word in mixture.vocabulary] for line in lines]
    for name in ("c_v", "c_npmi"):
        assert facts[f"coherence ({name})"] == pytest.approx(fdmix.metrics.coherence(mixture, tokens, name).mean)
    assert 0 < facts["coherence (word vectors of the text)"] < 1
    assert 0 < facts["coherence (word vectors of the file)"] < 1
    assert 0.3 < facts["inverted rank-biased overlap (IRBO)"] <= 1
    plain = json.loads(run(*arguments).stdout)
    assert "coherence (c_v)" not in plain  # it reads the text a second time
    assert "there is no coherence 'cv'" in run(*arguments, "--coherence", "cv", code=1).stderr
    run("count", texts / "a.csv", "--column", "text", "--preset", "plain", "-o", tmp_path / "moments")
    of_moments = (*arguments, "--reference", tmp_path / "moments", "--coherence")
    assert "order of words" in run(*of_moments, "c_v", code=1).stderr
    assert json.loads(run(*of_moments, "embedding").stdout)["coherence (word vectors of the text)"] > 0


@pytest.mark.slow
def test_evaluate_needs_a_model_and_text(model, texts):
    assert "is not a model of fdmix" in run("evaluate", texts / "a.csv", code=1).stderr
    assert "there is no text to score on" in run("evaluate", model, code=1).stderr
    assert "no column 'nix'" in run("evaluate", model, texts / "a.csv", "--labels", "nix", code=1).stderr
    Mixture.load(model).save(texts / "again")
    done = run("evaluate", model, texts / "again", "-", code=1, input="w1 w2\n")
    assert "can be read only once" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("fit", "nowhere.csv", "-t", "5", "-o", "m"), 1, "there is no file or folder"),
        (("topics", "nowhere"), 1, "there is no model"),
        (("topics", "."), 1, "is not a model of fdmix"),
        (("fit", "x.csv", "-o", "m"), 2, "'--topics' / '-t'. How many topics? For example: --topics 20"),
        (("fit", "x.csv", "-t", "3"), 2, "'--out' / '-o'. Model folder to write."),
        (("fit", "x.csv", "-t", "0", "-o", "m"), 2, "'--topics' / '-t': it must be 1 or more"),
        (("plot", "m"), 2, "'KIND'. Such as bars, map or tree"),
        (("x.csv",), 2, "To learn topics from it: fdmix fit x.csv --topics 20 -o model"),
        (("fit", "a.pdf", "-t", "3", "-o", "m"), 1, "a.pdf is a PDF, which fdmix does not read: save it as .txt"),
        (("fit", "a.docx", "-t", "3", "-o", "m"), 1, "a.docx is an Office document or another archive"),
        (("fit", "pdfs", "-t", "3", "-o", "m"), 1, "pdfs holds no text: its files end in .pdf, and fdmix reads .csv"),
        (("fit", "empty.txt", "-t", "3", "-o", "m"), 1, "there is no document in empty.txt: it is empty"),
        (("fit", "empty.csv", "-t", "3", "-o", "m", "--column", "a"), 1, "does the column 'a' hold text?"),
        (("fit", "x.csv", "-t", "ten", "-o", "m"), 2, "'--topics' / '-t': it must be a whole number, such as 20"),
        (("fit", "x.csv", "-t", "3", "-o", "m", "--max-share", "all"), 2, "it must be a number, such as 0.5"),
        (("fit", "x.csv", "-t", "3", "-o", "m", "--column", "body"), 1, "no column 'body'; it has a, b"),
        (("fit", "x.csv", "-t", "3", "-o", "m", "--preset", "books"), 1, "there is no preset"),
        (("fit", "tiny.txt", "-t", "3", "-o", "m"), 1, "no word is left after cleaning"),
        (("count", "x.csv", "--column", "a", "-o", "no/such/folder/m"), 1, "there is no folder"),
        (("merge", "x.csv", "-o", "m"), 1, "merge adds files of moments"),
        (("nonsense",), 2, "No such command"),
    ],
)
def test_errors_are_a_sentence(arguments, code, message, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\none two,three four\n")
    (tmp_path / "tiny.txt").write_text("one\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "empty.csv").write_text("a,b\n,three\n,four\n")
    (tmp_path / "pdfs").mkdir()
    for path in (tmp_path / "a.pdf", tmp_path / "pdfs" / "b.pdf"):
        path.write_bytes(b"%PDF-1.7\n\0")
    (tmp_path / "a.docx").write_bytes(b"PK\3\4\0")
    error = run(*arguments, code=code, cwd=tmp_path, env={**os.environ, "COLUMNS": "200"}).stderr
    assert message in error
    assert len(error.strip().splitlines()) <= (6 if code == 2 else 3)
    if code == 1:
        done = subprocess.run(
            [program(), *arguments, "--debug"], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert "Traceback" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_count_survives_sigkill(seed, tmp_path):
    """Killed at random moments and started again until it is done: the same bytes as an undisturbed count."""
    rng = np.random.default_rng(seed)
    for name in ("a", "b", "c"):
        words = rng.integers(0, 3000, (15_000, 12))
        (tmp_path / f"{name}.txt").write_text("\n".join(" ".join(f"w{u}" for u in row) for row in words))
    inputs = [str(tmp_path / f"{name}.txt") for name in ("a", "b", "c")]
    code = (
        "import sys; import fdmix.text.resuming as r, fdmix.text.batches as b, fdmix.text.reading as g;"
        "r.CountInProgress.__init__.__kwdefaults__['every'] = 0.0;"  # a checkpoint after each batch
        "b.in_batches.__defaults__ = (1 << 18,); g.ENTRIES_AT_A_TIME = 20_000;"
        "from fdmix.cli import main; sys.argv[0] = 'fdmix'; main()"
    )
    command = [sys.executable, "-c", code, "count", *inputs, "-o", str(tmp_path / "killed")]
    begin = time.monotonic()
    subprocess.run([*command[:-1], str(tmp_path / "whole")], check=True, capture_output=True)
    whole = time.monotonic() - begin
    moments = random.Random(seed)
    kills = 0
    while True:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            _, error = process.communicate(timeout=moments.uniform(0.3, 1.1) * whole)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
            if (tmp_path / "killed").exists() and not list(tmp_path.glob("*.partial")):
                break  # all was done but to end
            continue
        assert process.returncode == 0, error
        break
    assert (tmp_path / "killed").read_bytes() == (tmp_path / "whole").read_bytes()
    assert not list(tmp_path.glob("*.partial"))


def test_another_count_is_not_mixed_in(tmp_path):
    (tmp_path / "a.txt").write_text("one two three\n" * 10)
    partial = tmp_path / "out.partial"
    partial.mkdir()
    (partial / "plan.json").write_text("{}")
    (partial / "read").write_text("")
    job = CountInProgress(files_of([tmp_path / "a.txt"], Layout()), Cleaning(), tmp_path / "out")
    with pytest.raises(ValueError, match="left from another count"):
        job.run()
    assert partial.is_dir()
    (partial / "read").unlink()  # nothing was done: begin anew
    assert job.run().n_documents == 10
    assert not partial.exists()


def test_two_counts_into_one_file(tmp_path):
    (tmp_path / "a.txt").write_text("one two three\n" * 10)
    first, second = (
        CountInProgress(files_of([tmp_path / "a.txt"], Layout()), Cleaning(), tmp_path / "out") for _ in range(2)
    )

    def interrupt(*_):
        with pytest.raises(ValueError, match="another count is at work"):
            second.run()

    assert first.run(report=interrupt).n_documents == 10
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")] == ["out"]


def test_an_error_leaves_nothing_in_the_way(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,text\n1,two words\n2\n")
    job = CountInProgress(files_of([path], Layout("text")), Cleaning(), tmp_path / "out")
    with pytest.raises(ValueError, match="line 3"):
        job.run()
    path.write_text("a,text\n1,two words\n2,big words\n")
    assert job.run().n_documents == 2


def test_a_partial_folder_with_a_part_missing_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("one two three\n" * 10)
    job = CountInProgress(files_of([tmp_path / "a.txt"], Layout()), Cleaning(), tmp_path / "out", every=0)

    def die(name, *_):
        if name == "counting":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job.run(report=die)
    (job.folder / "tokens").unlink()
    with pytest.raises(ValueError, match="damaged"):
        job.run()


@pytest.mark.slow
def test_nothing_of_the_users_is_overwritten(texts, tmp_path):
    (tmp_path / "t.csv").write_text("text\none two\nthree four\n")
    assert "is an input" in run("count", tmp_path / "t.csv", "-o", tmp_path / "t.csv", code=1).stderr
    (tmp_path / "notes").write_text("precious")
    assert "not a file of moments" in run("count", tmp_path / "t.csv", "-o", tmp_path / "notes", code=1).stderr
    folder = tmp_path / "mixed"
    folder.mkdir()
    run("count", tmp_path / "t.csv", "-o", folder / "a.moments")
    (folder / "t.csv").write_text("text\nx y\n")
    assert "take one kind" in run("fit", folder, "-t", 2, "-o", tmp_path / "m", code=1).stderr


@pytest.mark.slow
def test_parts_counted_alike(texts, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    run("count", texts / "a.csv", "--column", "text", "--min-count", 40, "-o", a)
    run("count", texts / "b.csv", "--column", "text", "--min-count", 40, "-o", b)
    assert "Warning" in run("merge", a, b, "-o", tmp_path / "unlike").stderr
    run("count", texts / "b.csv", "--column", "text", "--like", a, "-o", b, "--force")
    assert "Warning" not in run("merge", a, b, "-o", tmp_path / "both").stderr
    run("subtract", tmp_path / "both", texts / "b.csv", "--column", "text", "-o", tmp_path / "rest")
    assert Moments.load(tmp_path / "rest") == Moments.load(a)


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_so_far(texts, tmp_path):
    run("count", texts / "all.jsonl", "-o", tmp_path / "moments")
    code = (
        "import os, signal, sys, fdmix.cli.fit as f\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def show(bars, phases):\n"
        "    return lambda now: os.kill(os.getpid(), signal.SIGINT) if now.passes == 5 else None\n"
        "f.fitting = show\n"
        "from fdmix.cli import main; sys.argv[0] = 'fdmix'; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", tmp_path / "moments", "-t", "20", "-o", tmp_path / "model"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130, done.stderr
    assert "interrupted by the user" in done.stderr
    assert Mixture.load(tmp_path / "model").n_topics == 20


def test_a_model_is_replaced_whole_or_not_at_all(model, tmp_path):
    mixture = Mixture.load(model)
    mixture.save(tmp_path / "m")
    mixture.save(tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(FileExistsError, match="files other than a model"):
        mixture.save(tmp_path / "mine")
    text = (tmp_path / "m" / "model.json").read_text()
    (tmp_path / "m" / "model.json").write_text(text.replace('"w1"', '"w_1"'))
    with pytest.raises(fdmix.storage.arrays.FileError, match="is damaged"):
        Mixture.load(tmp_path / "m")
    (tmp_path / "m" / "model.json").write_text(text)
    content = (tmp_path / "m" / "mixture.safetensors").read_bytes()
    (tmp_path / "m" / "mixture.safetensors").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(fdmix.storage.arrays.FileError, match="checksum does not match"):
        Mixture.load(tmp_path / "m")


@pytest.mark.slow
def test_demo(tmp_path):
    done = run("demo", "--out", tmp_path / "demo", "--topics", 10, "--documents", 1500)
    assert "is about" in done.stdout
    assert Mixture.load(tmp_path / "demo" / "model").n_topics == 10
    assert Moments.load(tmp_path / "demo" / "docstrings.moments").n_documents > 500
    page = tmp_path / "demo" / "report.html"
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert page.as_uri() in done.stderr
