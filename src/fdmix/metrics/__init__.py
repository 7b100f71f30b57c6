"""How good topics are: distances, likelihoods, coherence, sharpness, agreement with labels.

All scores accept the same arguments (`fdmix.metrics.arguments`):

topics : a Mixture, a Solution, a fitted FDM, any fitted scikit-learn model with `components_` (also in a pipeline or
    a search), an array or DataFrame (T, N) whose rows sum to 1; also lists of words where only words matter:
    `coherence`, `embedding_coherence`, `diversity`, `inverted_rank_biased_overlap`
documents : a Corpus, a table of counts (array, sparse, DataFrame), lists of tokens; also texts, if the topics know
    how their own texts were cleaned
"""

from fdmix.metrics.coherence import Coherence, coherence
from fdmix.metrics.dominance import dominating_words
from fdmix.metrics.embeddings import WordVectors, embedding_coherence, read_word_vectors, word_vectors
from fdmix.metrics.identifiability import Identifiability, identifiability
from fdmix.metrics.labels import (
    adjusted_mutual_information,
    fowlkes_mallows,
    harmonic_purity,
    normalised_mutual_information,
    purity,
)
from fdmix.metrics.likelihood import (
    Score,
    completion_log_likelihood,
    holdout_log_likelihood,
    pair_log_likelihood,
    perplexity,
)
from fdmix.metrics.matching import Matching, matching_distance, stability
from fdmix.metrics.sharpness import Anchor, anchor_words, diversity, exclusivity, inverted_rank_biased_overlap

__all__ = [
    "Anchor",
    "Coherence",
    "Identifiability",
    "Matching",
    "Score",
    "WordVectors",
    "adjusted_mutual_information",
    "anchor_words",
    "coherence",
    "completion_log_likelihood",
    "diversity",
    "dominating_words",
    "embedding_coherence",
    "exclusivity",
    "fowlkes_mallows",
    "harmonic_purity",
    "holdout_log_likelihood",
    "identifiability",
    "inverted_rank_biased_overlap",
    "matching_distance",
    "normalised_mutual_information",
    "pair_log_likelihood",
    "perplexity",
    "purity",
    "read_word_vectors",
    "stability",
    "word_vectors",
]
