"""Figures of topics for papers and slides, drawn by matplotlib in one style.

Every function returns a matplotlib `Figure`, or draws into the `axes=` that it is given and returns their figure.
`save_figure(figure, "topics.pdf")` writes a file. Words, labels and names are plain text: `$` starts no formula, and
hidden characters are written out.
"""

try:
    import matplotlib.figure  # noqa: F401
except ImportError as missing:
    raise ImportError("plots need matplotlib: pip install 'fdmix[plots]'") from missing

from fdmix.plots.bars import topic_bars
from fdmix.plots.changes import edit_changes, word_trends
from fdmix.plots.choices import choice_curve
from fdmix.plots.curves import likelihood_curve, score_lines, score_panels
from fdmix.plots.histograms import distance_histogram, histogram
from fdmix.plots.maps import topic_map
from fdmix.plots.matrices import adjacency_matrix, lift_matrix, pair_matrix
from fdmix.plots.saving import save_figure
from fdmix.plots.shares import topic_shares
from fdmix.plots.sureness import share_intervals
from fdmix.plots.trees import topic_tree

__all__ = [
    "adjacency_matrix",
    "choice_curve",
    "distance_histogram",
    "edit_changes",
    "histogram",
    "lift_matrix",
    "likelihood_curve",
    "pair_matrix",
    "save_figure",
    "score_lines",
    "score_panels",
    "share_intervals",
    "topic_bars",
    "topic_map",
    "topic_shares",
    "topic_tree",
    "word_trends",
]
