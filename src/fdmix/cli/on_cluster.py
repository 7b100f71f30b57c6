"""count and assign on a cluster: --engine dask or spark."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from fdmix.cells import MomentsByGroup
from fdmix.cli.console import print_json, say, steps, timed
from fdmix.cli.count_cells import cell_facts, show_documents
from fdmix.cli.info import facts_of
from fdmix.mixture.mixture import Mixture
from fdmix.text.sources import Files

ENGINES = ("dask", "spark")
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="With --engine: the scheduler of Dask (tcp://host:8786) or the master of Spark (yarn, spark://..., "
        "k8s://..., sc://...). Default: processes of this machine.",
    ),
]


def refuse_cluster(engine: str | None, cluster: str | None, memory: Any = None) -> None:
    """Refuse --cluster without an engine that has clusters, and a limit of this machine's memory with one."""
    if memory is not None and engine is not None:
        raise ValueError("--memory is for counting on one machine: leave out --engine")
    if cluster is not None and engine not in ENGINES:
        raise ValueError("--cluster is the address of a cluster: say also --engine dask or --engine spark")


def _quiet(engine: str) -> None:
    """The engine's own log, which tells of every connection, is not shown; its errors reach us as exceptions."""
    from fdmix.distributed.engines import engine_module  # noqa: PLC0415  (not needed elsewhere)

    engine_module(engine)  # refuses an engine that is not there, before anything is read
    for handler in logging.getLogger().handlers:
        handler.addFilter(lambda record: record.name.split(".")[0] not in ("distributed", "py4j", "pyspark"))


def count_on_cluster(files: Files, out: Path, engine: str, cluster: str | None, as_json: bool, **how: Any) -> None:
    """Count on a cluster and write the file of moments, or of moments by group."""
    from fdmix.distributed import count_moments  # noqa: PLC0415

    _quiet(engine)
    with steps() as bars, timed() as seconds:
        total = count_moments(files, engine=engine, cluster=cluster, report=bars.report, **how)
        total.save(out)
        took = seconds()
    say(f"Read {len(files.paths):,} file(s) in {took:.1f} s.")
    for source in total.ledger.counted_twice():
        say(f"Warning: {source.times} files hold the same {source.documents:,} documents as {source.name}.")
    if isinstance(total, MomentsByGroup):
        if as_json:
            print_json({"moments by group": str(out)} | cell_facts(total) | {"seconds": round(took, 3)})
        else:
            show_documents(total)
    else:
        if not total.n_documents:
            say("Warning: no document has two or more words.")
        if as_json:
            print_json({"moments": str(out)} | facts_of(total) | {"seconds": round(took, 3)})
    say(f"Wrote {out}: {total!r}")


def assign_on_cluster(
    mixture: Mixture, files: Files, out: Any, engine: str, cluster: str | None, force: bool, **how: Any
) -> None:
    """Write the topics of documents into a folder of Parquet files."""
    from fdmix.distributed import assign  # noqa: PLC0415

    _quiet(engine)
    if out.suffix:
        raise ValueError(f"a cluster writes a folder of Parquet files: give a name without {out.suffix!r}")
    how |= {"engine": engine, "cluster": cluster, "overwrite": force}
    with steps() as bars, timed() as seconds:
        done = assign(files, mixture, out, report=bars.report, **how)
        took = seconds()
    if done.n_empty:
        say(f"Documents without a word that the model knows: {done.n_empty:,}. They have no topic.")
    say(f"{done.n_documents:,} documents in {took:.1f} s. Wrote {len(done.files):,} files into {out}.")
