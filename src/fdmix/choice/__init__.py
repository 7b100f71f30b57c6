"""How many topics: fits of several numbers of topics, judged by documents that they have not seen."""

from fdmix.choice.candidates import numbers_of_topics
from fdmix.choice.choice import Choice
from fdmix.choice.choosing import choose_n_topics

__all__ = ["Choice", "choose_n_topics", "numbers_of_topics"]
