"""In how many sliding windows words occur, and occur together."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit


@njit
def _leave(word, now, since, present, place, n_present, joint):
    """The word is no longer in the windows from `now` on: count its windows with every word that is present."""
    for k in range(n_present):
        other = present[k]
        joint[word, other] += now - max(since[word], since[other])
    n_present -= 1
    last = present[n_present]
    present[place[word]] = last
    place[last] = place[word]
    place[word] = -1
    return n_present


@njit
def count_windows(tokens, offsets, size, forget_repeats, joint):
    """joint[u, v] += windows in which v is present until u leaves; joint + joint' - diag(joint) is the count of both.

    Document d is tokens[offsets[d] : offsets[d + 1]], a token of -1 is a word that does not count. The windows are
    all runs of `size` tokens; a shorter document is one window. Returns the number of windows.

    The work is done when a word leaves: since then is known in how many windows it was present together with each
    other word. That is (tokens) x (distinct words in a window) steps, not (windows) x (pairs in a window).

    forget_repeats : when a token leaves the window, its word counts as absent even if the window has it once more
        (as in gensim)
    """
    n_words = joint.shape[0]
    since = np.zeros(n_words, np.int64)  # the window in which a present word came in
    place = np.full(n_words, -1, np.int64)  # in `present`, -1 for absent words
    copies = np.zeros(n_words, np.int64)  # tokens of each word in the window
    present = np.zeros(n_words, np.int64)
    n_windows = 0
    for d in range(offsets.size - 1):
        begin, end = offsets[d], offsets[d + 1]
        last = max(1, end - begin - size + 1)  # windows of this document
        n_present = 0
        for now in range(last):
            if now > 0:
                gone = tokens[begin + now - 1]
                if gone >= 0:
                    copies[gone] -= 1
                    if place[gone] >= 0 and (forget_repeats or copies[gone] == 0):
                        n_present = _leave(gone, now, since, present, place, n_present, joint)
            first = begin if now == 0 else begin + now + size - 1
            for i in range(first, min(begin + now + size, end)):
                word = tokens[i]
                if word >= 0:
                    copies[word] += 1
                    if place[word] < 0:
                        place[word] = n_present
                        present[n_present] = word
                        since[word] = now
                        n_present += 1
        while n_present > 0:
            n_present = _leave(present[n_present - 1], last, since, present, place, n_present, joint)
        for i in range(begin, end):
            if tokens[i] >= 0:
                copies[tokens[i]] = 0
        n_windows += last
    return n_windows
