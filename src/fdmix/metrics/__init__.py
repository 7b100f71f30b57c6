"""How good topics are: distances, likelihoods, coherence, sharpness, agreement with labels."""

from fdmix.metrics.coherence import Coherence, coherence
from fdmix.metrics.dominance import dominating_words
from fdmix.metrics.labels import adjusted_mutual_information, normalised_mutual_information, purity
from fdmix.metrics.likelihood import (
    Score,
    completion_log_likelihood,
    holdout_log_likelihood,
    pair_log_likelihood,
    perplexity,
)
from fdmix.metrics.matching import Matching, matching_distance, stability
from fdmix.metrics.sharpness import Anchor, anchor_words, diversity, exclusivity

__all__ = [
    "Anchor",
    "Coherence",
    "Matching",
    "Score",
    "adjusted_mutual_information",
    "anchor_words",
    "coherence",
    "completion_log_likelihood",
    "diversity",
    "dominating_words",
    "exclusivity",
    "holdout_log_likelihood",
    "matching_distance",
    "normalised_mutual_information",
    "pair_log_likelihood",
    "perplexity",
    "purity",
    "stability",
]
