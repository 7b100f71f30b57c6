"""Cut UTF-8 text into tokens and number them, in one loop over bytes with a hash table of distinct tokens."""

from __future__ import annotations

import numpy as np

from fdmix.kernels.compiling import njit

AT, AMPERSAND, SEMICOLON, HASH = ord("@"), ord("&"), ord(";"), ord("#")
H, T, P, S, W = (ord(letter) for letter in "htpsw")
COLON, SLASH, DOT = ord(":"), ord("/"), ord(".")
LONGEST_ENTITY = 10  # bytes of an HTML entity such as &amp;
LONGEST_TOKEN = 200  # characters; the longest of a million tweets has 195, the longest German words have about 80
FNV_START, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@njit
def code_point(data, i, end):
    """(code point, number of bytes) of the UTF-8 character at data[i]; (0, 1) if it is damaged."""
    c = np.int64(data[i])
    if c < 0x80:
        return c, 1
    if c >= 0xF0 and i + 3 < end:
        return (c & 7) << 18 | (data[i + 1] & 63) << 12 | (data[i + 2] & 63) << 6 | (data[i + 3] & 63), 4
    if c >= 0xE0 and i + 2 < end:
        return (c & 15) << 12 | (data[i + 1] & 63) << 6 | (data[i + 2] & 63), 3
    if c >= 0xC0 and i + 1 < end:
        return (c & 31) << 6 | (data[i + 1] & 63), 2
    return np.int64(0), 1


@njit
def is_word(data, i, end, word):
    """(whether the character at data[i] is part of a word, its number of bytes)."""
    code, size = code_point(data, i, end)
    return code < word.size and word[code] != 0, size


@njit
def url_end(data, i, end):
    """The end of the URL that begins at data[i], which is the next white space; i if no URL begins there."""
    n = end - i
    found = n > 4 and (
        (data[i] | 32) == W and (data[i + 1] | 32) == W and (data[i + 2] | 32) == W and data[i + 3] == DOT
    )
    if not found and n > 7 and (data[i] | 32) == H and (data[i + 1] | 32) == T and (data[i + 2] | 32) == T:
        k = i + 5 if (data[i + 4] | 32) == S else i + 4
        found = (
            (data[i + 3] | 32) == P
            and k + 2 < end
            and data[k] == COLON
            and data[k + 1] == SLASH
            and data[k + 2] == SLASH
        )
    if not found:
        return i
    while i < end and data[i] > 32:
        i += 1
    return i


@njit
def glued_url(data, i, j, end):
    """The beginning of a URL that is glued to the end of the token data[i:j]; j if there is none."""
    if j + 2 < end and data[j] == COLON and data[j + 1] == SLASH and data[j + 2] == SLASH:
        for size in (4, 5):
            if j - size > i and url_end(data, j - size, end) > j - size:
                return j - size
    return j


@njit
def mention_or_entity_end(data, i, end, word, after_word, mentions, entities):
    """The end of the mention or HTML entity that begins with the @ or & at data[i]; i if there is none."""
    j = i + 1
    if mentions and data[i] == AT and not after_word:
        while j < end:
            inside, size = is_word(data, j, end, word)
            if not inside:
                break
            j += size
        return j
    if entities and data[i] == AMPERSAND:
        if j < end and data[j] == HASH:
            j += 1
        while j < min(end, i + LONGEST_ENTITY) and data[j] < 0x80 and word[data[j]]:
            j += 1
        if j < end and data[j] == SEMICOLON and j > i + 1:
            return j + 1
    return i


@njit
def is_too_long(data, i, j):
    """Whether data[i:j] has more than LONGEST_TOKEN characters."""
    if j - i > 4 * LONGEST_TOKEN:
        return True
    n = 0
    for k in range(i, j):
        n += (data[k] & 0xC0) != 0x80  # other bytes continue a character
    return n > LONGEST_TOKEN


@njit
def tokenise(
    data, offsets, first, word, fold, urls, mentions, entities,
    slots, hashes, starts, pool, counts, used, ids, lengths,
):  # fmt: skip
    """Number the tokens of the documents from `first` on; returns the document in which memory ran out.

    If memory suffices, it returns the number of documents. Otherwise, the next call with more memory goes on from
    there: used = (table entries, ids written, where in `data` memory ran out).

    Input: the text of document d is data[offsets[d] : offsets[d + 1]]. A token is a run of characters with
    word[code] != 0, with ASCII bytes folded by fold[byte]. A token that is too long becomes the empty token, which is
    never a word and keeps its neighbours from forming a phrase.

    Table of distinct tokens: entry e is pool[starts[e] : starts[e + 1]], seen counts[e] times. `slots` is its
    open-addressing index (-1: free).

    Output: `ids` gets the entry of every token; lengths[d] grows by the number of tokens of document d.
    """
    mask = np.uint64(slots.size - 1)
    n_entries, n_ids = used[0], used[1]
    for d in range(first, offsets.size - 1):
        i = max(offsets[d], used[2])
        end = offsets[d + 1]
        begun = n_ids
        after_word = False
        while i < end:
            c = data[i]
            if c < 0x80:
                inside, size = word[c] != 0, 1
            else:
                inside, size = is_word(data, i, end, word)
            if not inside:
                j = i
                if c in (AT, AMPERSAND):
                    j = mention_or_entity_end(data, i, end, word, after_word, mentions, entities)
                after_word = False
                i = j if j > i else i + size
                continue
            if urls and not after_word and ((c | 32) == H or (c | 32) == W):
                j = url_end(data, i, end)
                if j > i:
                    i = j
                    continue
            j = i
            h = FNV_START
            while j < end:
                c = data[j]
                if c < 0x80:
                    if word[c] == 0:
                        break
                    h = (h ^ np.uint64(fold[c])) * FNV_PRIME
                    j += 1
                    continue
                inside, size = is_word(data, j, end, word)
                if not inside:
                    break
                for k in range(j, j + size):
                    h = (h ^ np.uint64(data[k])) * FNV_PRIME
                j += size
            after = j
            if urls and j < end and data[j] == COLON:
                cut = glued_url(data, i, j, end)
                if cut < j:
                    after = url_end(data, cut, end)
                    j = cut
                    h = FNV_START
                    for k in range(i, j):
                        h = (h ^ np.uint64(fold[data[k]])) * FNV_PRIME
            n = j - i
            if n > LONGEST_TOKEN and is_too_long(data, i, j):
                n = 0
                h = FNV_START
            h ^= h >> np.uint64(32)
            slot = h & mask
            full = n_ids == ids.size
            while not full:
                e = slots[slot]
                if e < 0:
                    e = n_entries
                    at = starts[e]
                    full = at + n > pool.size or e == counts.size or 2 * e >= slots.size
                    if full:
                        break
                    slots[slot] = e
                    hashes[e] = h
                    for k in range(n):
                        pool[at + k] = fold[data[i + k]]
                    starts[e + 1] = at + n
                    counts[e] = 0
                    n_entries += 1
                    break
                if hashes[e] == h and starts[e + 1] - starts[e] == n:
                    same = True
                    for k in range(n):
                        if pool[starts[e] + k] != fold[data[i + k]]:
                            same = False
                            break
                    if same:
                        break
                slot = (slot + np.uint64(1)) & mask
            if full:
                lengths[d] += n_ids - begun
                used[0], used[1], used[2] = n_entries, n_ids, i
                return d
            counts[e] += 1
            ids[n_ids] = e
            n_ids += 1
            i = after
            after_word = True
        lengths[d] += n_ids - begun
    used[0], used[1] = n_entries, n_ids
    return offsets.size - 1


@njit
def letters_by_script(pool, starts, counts, n_entries, script, letters, tokens):
    """letters[s] += the characters in script s of all tokens; tokens[s] += the tokens that begin with script s.

    script[code] is the script of a character. A token counts as often as it was seen.
    """
    for e in range(n_entries):
        i = starts[e]
        while i < starts[e + 1]:
            code, size = code_point(pool, i, starts[e + 1])
            s = script[code] if code < script.size else 0
            letters[s] += counts[e]
            if i == starts[e]:
                tokens[s] += counts[e]
            i += size


@njit
def reindex(slots, hashes, n_entries):
    """Fill a larger open-addressing index with the table's entries."""
    mask = np.uint64(slots.size - 1)
    slots[:] = -1
    for e in range(n_entries):
        slot = hashes[e] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = e


@njit
def _sort_row(indices, data, begin, end):
    """Sort the counts of a row by their words, which are distinct: Shell's sort, without memory of its own.

    np.argsort would do the same, but it takes two seconds to compile.
    """
    gap = 1
    while gap < (end - begin) // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            word, count = indices[i], data[i]
            j = i
            while j >= begin + gap and indices[j - gap] > word:
                indices[j], data[j] = indices[j - gap], data[j - gap]
                j -= gap
            indices[j], data[j] = word, count
        gap //= 3


@njit
def count_rows(words, lengths, seen, indptr, indices, data):
    """Rows of counts of documents given as word numbers (-1: not a word); returns the number of stored counts.

    seen[word] = 1 + the place of the word's count in the current row; older values point before the row.
    """
    at = 0
    stored = 0
    seen[:] = 0
    for d in range(lengths.size):
        begin = stored
        for i in range(at, at + lengths[d]):
            u = words[i]
            if u < 0:
                continue
            where = seen[u] - 1
            if where >= begin:
                data[where] += 1
            else:
                indices[stored] = u
                data[stored] = 1
                seen[u] = stored + 1
                stored += 1
        at += lengths[d]
        _sort_row(indices, data, begin, stored)
        indptr[d + 1] = stored
    return stored


@njit
def join_pairs(words, lengths, codes, n_words, joined):
    """Replace neighbours (u, v) that form a phrase by its number, from left to right; returns the length of `joined`.

    (u, v) is phrase number n_words + k if u n_words + v = codes[k]. `lengths` is updated.
    """
    at = 0
    out = 0
    for d in range(lengths.size):
        begun = out
        end = at + lengths[d]
        while at < end:
            u = words[at]
            if at + 1 < end and u >= 0 and words[at + 1] >= 0:
                code = u * n_words + words[at + 1]
                place = np.searchsorted(codes, code)
                if place < codes.size and codes[place] == code:
                    joined[out] = n_words + place
                    out += 1
                    at += 2
                    continue
            joined[out] = u
            out += 1
            at += 1
        lengths[d] = out - begun
    return out
