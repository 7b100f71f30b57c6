"""A Markdown page from the results of `benchmarks.compare`: `python -m benchmarks.comparison_page DIR > page.md`.

For each corpus: what it is, the scores, the differences from fdmix paired by seed, and every cell where fdmix is not
the best.
"""

import argparse
import json
from pathlib import Path

from fdmix.compare.methods import METHODS
from fdmix.compare.scores import SCORES
from fdmix.compare.tables import cell, failures, markdown, paired_markdown, shown_scores, summaries

OF_TOPICS = (
    *("completion", "completion_own_prior", "holdout", "npmi", "c_v", "c_npmi", "diversity", "irbo"),
    *("npmi_by_probability", "diversity_by_probability"),
)
OF_DOCUMENTS = ("nmi", "ami", "purity", "harmonic_purity", "fmi", "accuracy")
COST = ("seconds", "cpu_seconds", "peak_megabytes")
OURS = ("fdm", "fdm-pairs")
OVERVIEW = ("completion", "npmi", "nmi", "cpu_seconds")
INTRODUCTION = """\
How good are the topics, and what do they cost, beside those of other packages? Every method got the same documents,
and was scored on documents that it had not seen. The best number of a column is in bold type; below each table stands
where fdmix is not the best.

- `fdm` is what `fdmix fit` does with text; `fdm-pairs` learns from word pairs alone; `fdm-noise` is its sampling
  without the start from pairs. `tomotopy`, `mallet` and `sklearn-lda` are LDA (`tomotopy-averaged`: the mean of ten
  of its states), `nmf` is NMF of scikit-learn.
- *completion*: how well one half of an unseen document predicts the other (log-probability of a word; nearer to 0 is
  better). *NPMI*, *c_v*: do the words of a topic occur together? *diversity*, *IRBO*: do topics differ? *AMI*: do
  topics of documents agree with labels that people gave?

The corpora nyt, news, raw_news, health_tweets and snippets were run once, after all rules had been fixed, and nothing
was changed after that. The other corpora were looked at while rules were chosen. Not every method was run on every
corpus, because some take hours: what a table does not have was not run.

[Which scores to trust](../explanation/scores.md) and [how to make such a table of your own
text](../how-to/comparison.md) say more.
"""


def page(folder):
    """The page as text."""
    folders = [path.parent for path in sorted(folder.glob("*/comparison.json"))]
    if not folders:
        raise FileNotFoundError(f"there are no results in {folder}: run python -m benchmarks.compare --out {folder}")
    parts = ["# fdmix and other topic models on public corpora", "", INTRODUCTION, *overview(folders)]
    return "\n".join([*parts, *map(section, folders)])


def runs_of(folder):
    """The rows of a corpus, in the order of the table."""
    rows = [json.loads(path.read_text()) for path in (folder / "runs").glob("*.json")]
    order = list(METHODS)
    return sorted(rows, key=lambda row: (row["topics"], order.index(row["method"]), row["seed"]))


def overview(folders):
    """A table with a row for each corpus and number of topics: fdmix, and the best of the other packages."""
    shown = [name for name in OVERVIEW if any(name in row for folder in folders for row in runs_of(folder))]
    titles = [f"{SCORES[name].title}: fdm" for name in shown]
    heads = ["corpus", "topics", *(part for title in titles for part in (title, "pairs", "best other"))]
    lines = ["## In one table", "", f"| {' | '.join(heads)} |", "|---|---:|" + "---:|" * (3 * len(shown))]
    for folder in folders:
        found = [one for one in summaries(runs_of(folder)) if one.means]
        for topics in sorted({one.topics for one in found}):
            here = [one for one in found if one.topics == topics]
            cells = [text for name in shown for text in _compared(here, name)]
            lines.append(f"| {folder.name} | {topics} | {' | '.join(cells)} |")
    return [*lines, ""]


def _compared(found, name):
    """The scores of `fdm`, of `fdm-pairs` and of the best other package, the best of the three in bold type."""
    score = SCORES[name]
    sign = -1 if score.less_is_better else 1
    means = {one.method: one.means[name] for one in found if name in one.means}
    others = {method: value for method, value in means.items() if not method.startswith("fdm")}
    peer = max(others, key=lambda method: sign * others[method], default=None)
    best = max((sign * means[method] for method in (*OURS, peer) if method in means), default=None)
    for method in (*OURS, peer):
        if method not in means:
            yield ""
            continue
        text = f"{means[method]:,.{score.digits}f}"
        text = f"**{text}**" if sign * means[method] == best else text
        yield f"{text} {method}" if method == peer else text


def section(folder):
    """One corpus."""
    facts = json.loads((folder / "comparison.json").read_text())
    about = json.loads((folder / "machine.json").read_text())
    rows = runs_of(folder)
    found = summaries(rows)
    done = [one for one in found if one.means]
    sizes = facts["documents"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items() if number)
    lines = [
        f"## {folder.name}",
        "",
        f"{about['about']} {sizes['documents']:,} documents, {sizes['words']:,} words, {sizes['tokens']:,} tokens. "
        f"{about['machine']}; {versions}.",
        "",
    ]
    for title, names in (("Topics", OF_TOPICS), ("Topics of documents", OF_DOCUMENTS), ("Cost of the fit", COST)):
        if set(names) & set(shown_scores(done)):
            lines += [f"**{title}**", "", markdown(done, names)]
    if paired := paired_markdown(rows):
        lines += ["**Differences from the first method, paired by seed**", "", paired]
    lines += ["**Where fdmix is not the best**", "", *(f"- {loss}" for loss in losses(done)), ""]
    lines += [f"- {note}" for note in failures(found)]
    return "\n".join(lines)


def losses(found):
    """A line for each number of topics and score where another method is better than `fdm` (or than `fdm-pairs`)."""
    for ours in OURS:
        for one in (one for one in found if one.method == ours):
            peers = [peer for peer in found if peer.topics == one.topics and not peer.method.startswith("fdm")]
            better = [text for name in shown_scores(found) if (text := _loss(one, peers, name))]
            if better:
                yield f"{ours}, {one.topics} topics: {'; '.join(better)}"


def _loss(one, peers, name):
    """The best peer, if it is better than ours by what the digits show."""
    score = SCORES[name]
    sign = -1 if score.less_is_better else 1
    rivals = [peer for peer in peers if name in peer.means]
    if name not in one.means or not rivals:
        return None
    best = max(rivals, key=lambda peer: sign * peer.means[name])
    gain = sign * (best.means[name] - one.means[name])
    return (
        f"{score.title} {cell(one, name)}, {best.method} {cell(best, name)}"
        if gain >= 10**-score.digits / 2
        else None
    )


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison_page", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="the --out of benchmarks.compare")
    print(page(parser.parse_args().folder))


if __name__ == "__main__":
    main()
