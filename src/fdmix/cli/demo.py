"""demo: topics of real text that is there already, the docstrings of the installed Python packages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fdmix import worlds
from fdmix.cli.console import fitting, say, steps, timed
from fdmix.cli.console import out as console
from fdmix.cli.demo_docstrings import installed_docstrings
from fdmix.cli.inputs import require_local
from fdmix.cli.tables import topic_table
from fdmix.display import shown_words
from fdmix.fit.fitting import fit_mixture
from fdmix.mixture.mixture import Mixture
from fdmix.moments.moments import Moments
from fdmix.report.writing import write_report
from fdmix.text.reading import read_corpus

SENTENCE = "Compute the eigenvalues of a symmetric matrix and plot them as a line with labels on the axes."


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files that are written.")] = Path("demo"),
    topics: Annotated[int, typer.Option("--topics", "-t", min=2, help="Number of topics.")] = 40,
    documents: Annotated[int, typer.Option(min=100, help="Docstrings to read, at most.")] = 12_000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same topics.")] = 0,
) -> None:
    """Learn topics from the docstrings of the Python packages on this machine.

    Example: fdmix demo --topics 60 --out demo
    """
    require_local(out)
    with timed() as seconds:
        names, texts = installed_docstrings(documents)
        read = seconds()
        say(f"Read {len(texts):,} docstrings of installed Python packages ({read:.1f} s).")
        corpus = read_corpus(texts, min_letters=3, stop_words="english", min_count=10, max_share=0.2, min_tokens=10)
        moments = Moments.of(corpus)
        say(f"Counted their {moments.n_pairs:,} different word pairs ({seconds() - read:.1f} s).")
        with steps() as bars:
            solution = fit_mixture(moments, topics, seed=seed, callback=fitting(bars))
        say(f"Fitted {topics} topics in {len(solution.log_likelihoods) - 1} passes ({seconds():.1f} s in all).\n")
        mixture = solution.mixture
        theta = mixture.assign(corpus, prior="dirichlet")
        kept = [names[d] for d in corpus.documents["document"]] if corpus.documents else names
        topic_table(mixture, 7, typical=_typical(mixture, theta, corpus.lengths, kept), most=40)
        _assign_a_sentence(mixture)
        _write(out, moments, mixture)
        page = out / "report.html"
        write_report(mixture, page, moments=moments, documents=texts, title="Docstrings of installed Python packages")
        say(f"Wrote {page}, a report of the topics. To look at it, open this address in a browser:")
        say(f"  {page.resolve().as_uri()}")
    say(f"\nAll of it took {seconds():.1f} seconds. Now your own text:  fdmix fit FILE --topics 20 -o model")


def _typical(mixture: Mixture, theta: np.ndarray, lengths: np.ndarray, names: list[str]) -> list[str]:
    """For each topic a document that is mostly made of it, and long."""
    weight = theta * np.minimum(lengths, 60)[:, None]
    return [names[int(d)] for d in weight.argmax(axis=0)]


def _assign_a_sentence(mixture: Mixture) -> None:
    theta = mixture.assign(read_corpus([SENTENCE], like=mixture, min_tokens=0), prior="dirichlet")[0]
    words = shown_words(mixture.typical_words(4))
    console.print(f'\n"{SENTENCE}" is about', style="bold")
    for topic in np.argsort(-theta)[:3].tolist():
        if theta[topic] >= 0.05:
            console.print(f"  {theta[topic]:4.0%}  topic {topic}: {words[topic]}")


def _write(out: Path, moments: Moments, mixture: Mixture) -> None:
    out.mkdir(parents=True, exist_ok=True)
    moments.save(out / "docstrings.moments")
    mixture.save(out / "model")
    say(f"\nWrote {out / 'docstrings.moments'} and {out / 'model'} (try: fdmix topics {out / 'model'} --words 20).")
    try:
        from fdmix import plots  # noqa: PLC0415  (matplotlib is optional)

        plots.save_figure(plots.topic_map(mixture), out / "map.png")
        say(f"Wrote {out / 'map.png'}: topics with similar words are near each other.")
        overlapping = Moments.of(worlds.intervals().sample(20_000, length=30, seed=0))
        plots.save_figure(plots.pair_matrix(overlapping), out / "mhat.png")
        say(f"Wrote {out / 'mhat.png'}: the paper's picture of a pair matrix.")
    except ImportError as missing:
        say(str(missing))
