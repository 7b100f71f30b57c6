"""Checked counts: any table of numbers as a canonical array of whole counts, or a clear error."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.kernels import pair_sums as kernels

LARGEST_COUNT = np.iinfo(np.int32).max
MOST_WORDS = np.iinfo(np.int32).max  # columns are numbered in 32 bits
WHOLE_COUNTS = (
    "fdmix needs whole token counts, not weights such as tf-idf: use CountVectorizer instead of TfidfVectorizer"
)


def whole_counts(counts: Any, *, copy: bool = True) -> sp.csr_array:
    """Check that these are whole, non-negative counts and return them as a canonical, read-only int32 CSR array.

    Canonical: columns sorted in each row, none twice, no stored zero. With `copy=False` the result may share memory
    with the input: only for counts that are used at once.
    """
    table = _as_csr(counts)
    check_width(table.shape[1])
    _check_values(table.data)
    if not table.has_canonical_format:
        table = sp.csr_array((table.data.astype(np.int64), table.indices, table.indptr), shape=table.shape, copy=True)
        table.sum_duplicates()
        _check_values(table.data)
    if table.nnz and not table.data.all():
        table = table.copy()
        table.eliminate_zeros()
    n_stored = int(table.indptr[-1])
    arrays = [
        table.data[:n_stored].astype(np.int32, copy=copy),
        table.indices[:n_stored].astype(np.int32, copy=copy),
        table.indptr.astype(np.int32 if n_stored < LARGEST_COUNT else np.int64, copy=copy),
    ]
    result = sp.csr_array(tuple(arrays), shape=table.shape)
    if copy:
        for array in (result.data, result.indices, result.indptr):
            array.setflags(write=False)
    return result


def _check_values(data: Any) -> None:
    if not np.issubdtype(data.dtype, np.number) and data.dtype != bool:
        raise TypeError(f"counts must be numbers, not {data.dtype}")
    if np.issubdtype(data.dtype, np.complexfloating) or np.issubdtype(data.dtype, np.timedelta64):
        raise TypeError(f"counts must be numbers, not {data.dtype}")
    if np.issubdtype(data.dtype, np.floating) and data.size:
        if not np.isfinite(data).all():
            raise ValueError("counts contain NaN or infinite values")
        if (data != np.floor(data)).any():
            raise ValueError(WHOLE_COUNTS)
    if data.size and data.min() < 0:
        raise ValueError("counts contain negative values")
    if data.size and int(data.max()) > LARGEST_COUNT:  # as an int: float16 cannot hold the limit
        raise ValueError(f"a count is larger than {LARGEST_COUNT:,}, the largest that fdmix takes")


def check_width(n_words: int) -> None:
    """Refuse more columns than 32 bits can number."""
    if n_words > MOST_WORDS:
        raise ValueError(
            f"the counts have {n_words:,} columns, more than the {MOST_WORDS:,} that fdmix takes: leave out words "
            "that do not occur"
        )


def document_lengths(counts: sp.csr_array) -> np.ndarray[Any, np.dtype[np.int64]]:
    """l_d = sum_u c_d(u)."""
    lengths = np.zeros(counts.shape[0], np.int64)
    kernels.row_sums(counts.indptr, counts.data, lengths)
    return lengths


def _as_csr(counts: Any) -> sp.csr_array:
    """Any table of numbers as a CSR array that may share memory with it."""
    if sp.issparse(counts):
        return _csr_of_sparse(counts)
    if isinstance(counts, str | bytes):
        raise TypeError("counts must be a table of numbers, not text: see Corpus.from_documents")
    if isinstance(counts, np.ma.MaskedArray):
        raise TypeError("counts must not be masked: fill the array first, for instance with counts.filled(0)")
    try:
        table = np.asarray(counts)
    except ValueError:
        raise ValueError("counts are ragged: every document needs a number for every word") from None
    if table.dtype == object and not any(isinstance(value, str) for value in table.ravel()):
        with suppress(TypeError, ValueError):
            table = table.astype(np.float64)
    if not (np.issubdtype(table.dtype, np.number) or table.dtype == bool):
        raise TypeError("counts must be a table of numbers; for lists of tokens use Corpus.from_documents")
    if table.ndim != 2:
        raise ValueError(
            f"counts must be a table of documents x words, not of {table.ndim} dimension"
            f"{'' if table.ndim == 1 else 's'}"
        )
    table = table.astype(table.dtype.newbyteorder("="), copy=False)
    _check_values(table)
    if table.dtype == np.float16:  # which SciPy's sparse arrays do not take
        table = table.astype(np.float32)
    return sp.csr_array(table)


def _csr_of_sparse(counts: Any) -> sp.csr_array:
    if counts.ndim != 2:
        raise ValueError(f"counts must be a table of documents x words, not of {counts.ndim} dimensions")
    if counts.format == "coo":
        _check_values(counts.data)  # before duplicates are added up, in a type that holds the sum
        for coordinates, size in zip(counts.coords, counts.shape, strict=True):
            if coordinates.size and not 0 <= coordinates.min() <= coordinates.max() < size:
                raise ValueError("the sparse counts are damaged: a coordinate lies outside the table")
        return sp.csr_array(sp.coo_array((counts.data.astype(np.int64), counts.coords), shape=counts.shape))
    if counts.format in ("csr", "csc", "bsr"):
        shell = type(counts)((counts.data, counts.indices, counts.indptr), shape=counts.shape)
        try:
            shell.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"the sparse counts are damaged: {error}") from None
    return sp.csr_array(counts)
