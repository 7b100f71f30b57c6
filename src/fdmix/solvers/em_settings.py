"""The constants of sparse EM. docs/explanation/fitting.md has a table of them with the measurements behind each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OverRelaxation:
    """Powers to which EM raises the factor by which an entry changes (docs/explanation/fitting.md, "Acceleration").

    first_power : the power of the first step, and the largest one of the sparse phase; 1.7 needs a third fewer passes
        than plain EM
    growth : factor on the power after each step that gained; halves the passes of long runs
    largest_power : limit in the likelihood phase; even at 8, a step overshoots now and then
        (docs/evidence/research/pairs.md)
    """

    first_power: float = 1.7
    growth: float = 1.1
    largest_power: float = 8.0


@dataclass(frozen=True)
class LikelihoodPhase:
    """How the likelihood phase starts and ends (docs/explanation/fitting.md, "The phases" and "Known weaknesses").

    spare_topics : topics of the start beyond those asked for, as a share of these. A start with twice the topics
        finds most of those that are missed otherwise, and merging removes what is too many; three times find no more
    stops : numbers of topics, as multiples of those asked for, at which merging stops for some passes. All at once,
        topics are merged that would have become different ones
    min_passes : passes before a small gain may end the phase; a guard
    passes_after : the same, after topics were merged
    tolerance : share of the likelihood gained so far; a pass that gains less ends the phase. 0.15 % instead of 0.05 %
        misses twice the topics on the paper's kind of truth
    plain_tolerance : factor on the user's tolerance where only the likelihood counts (sparsity=0), because EM
        converges slowly near the optimum
    alpha_every : passes between updates of alpha, in all phases; passes without one are a fifth faster, and no more
        of them are needed (docs/evidence/performance.md)
    """

    spare_topics: float = 1.0
    stops: tuple[float, ...] = (1.3,)
    min_passes: int = 12
    passes_after: int = 6
    tolerance: float = 0.0005
    plain_tolerance: float = 0.01
    alpha_every: int = 2


@dataclass(frozen=True)
class SparsePhase:
    """How far topics are shrunk, and when the sparse phase ends (docs/explanation/fitting.md, "The phases").

    shrinkage : tokens subtracted from every expected count, unless the user chooses `sparsity`: a Dirichlet(0.8)
        prior on topics. Being in units of data, it removes entries that the data cannot support
    min_passes : passes before the phase may end, if an entry has at most `tokens_per_entry` tokens behind it
    window : passes over which the number of non-zero entries must settle
    tokens_per_entry : tokens behind a topic entry, n_tokens / (N T), beyond which shrinkage works more slowly and the
        phase takes longer
    longest : limit for how much longer; unmixing does the rest
    unmixings : how often topics may be unmixed at the end of the phase
    smallest_blur : the share of a topic that leaked into others, below which none is unmixed
    largest_fall : share of the likelihood gained that one pass may lose; more is a sign of too much over-relaxation.
        Unmixing may lose no more, either, where shrinkage can sharpen topics by itself
    less_unmixing : factor on the part of the blur that is removed, until unmixing loses little enough
    least_unmixing : the part below which no smaller one is tried
    repair_passes : passes that may lose more than this, because they repair what unmixing cut off
    revived : share of the unigram in topics that meet more pairs, so that words which only these have can enter
    """

    shrinkage: float = 0.2
    min_passes: int = 20
    window: int = 5
    tokens_per_entry: float = 30.0
    longest: float = 400.0
    unmixings: int = 10
    smallest_blur: float = 1e-4
    largest_fall: float = 0.05
    less_unmixing: float = 0.7
    least_unmixing: float = 0.01
    repair_passes: int = 3
    revived: float = 0.02


@dataclass(frozen=True)
class SwapSchedule:
    """When topics are swapped in the sparse phase (docs/evidence/research/pairs.md, "Swaps").

    first_pass : pass after which topics are sharp enough; waiting for them to settle takes nine passes more
    max_rounds : rounds of swaps; the first one repairs most
    passes_after : passes between swaps and the end of the phase
    """

    first_pass: int = 10
    max_rounds: int = 4
    passes_after: int = 10


OVER_RELAXATION, LIKELIHOOD, SPARSE, SWAPS = OverRelaxation(), LikelihoodPhase(), SparsePhase(), SwapSchedule()
