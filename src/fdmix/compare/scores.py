"""The names of the scores, in the order of all tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScoreName:
    """How a score is called in tables, with how many digits, and whether less is better."""

    title: str
    digits: int = 3
    less_is_better: bool = False
    in_tables: bool = True  # otherwise in runs.csv and summary.csv only


SCORES = {
    "completion": ScoreName("completion"),
    "completion_own_prior": ScoreName("own prior"),
    "holdout": ScoreName("hold-out"),
    "npmi": ScoreName("NPMI"),
    "c_v": ScoreName("c_v"),
    "c_npmi": ScoreName("c_npmi"),
    "diversity": ScoreName("diversity"),
    "irbo": ScoreName("IRBO"),
    "nmi": ScoreName("NMI"),
    "ami": ScoreName("AMI"),
    "purity": ScoreName("purity"),
    "harmonic_purity": ScoreName("harmonic purity"),
    "fmi": ScoreName("FMI"),
    "accuracy": ScoreName("accuracy"),
    "seconds": ScoreName("seconds", 1, less_is_better=True),
    "cpu_seconds": ScoreName("CPU seconds", 1, less_is_better=True),
    "peak_megabytes": ScoreName("memory, MB", 0, less_is_better=True),
    "npmi_by_probability": ScoreName("NPMI by probability"),
    "c_v_by_probability": ScoreName("c_v by probability", in_tables=False),
    "c_npmi_by_probability": ScoreName("c_npmi by probability", in_tables=False),
    "diversity_by_probability": ScoreName("diversity by probability"),
    "irbo_by_probability": ScoreName("IRBO by probability", in_tables=False),
    "best_prior": ScoreName("best prior", in_tables=False),
    "topics_found": ScoreName("topics found", 0, in_tables=False),
}
