"""Pack numbers and text into a short string for a page: gzip in base64, which browsers unpack by themselves.

The packed bytes are: the length of the JSON text (4 bytes, little-endian), the JSON text, and arrays of whole
numbers. The JSON object has a key "arrays": {name: [bytes of a number, place of its first byte, how many]}. Numbers
of several bytes are stored as all lowest bytes, then all next ones: gzip finds more repetition in that order.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

LOG_STEP = 0.02  # probabilities and ratios are stored as logarithms in steps of 2 %: precise to 1 %
ZERO = 0xFFFF  # stands for a probability of 0
MAX_CODE = 0xFFFE


def as_logarithms(values: Any) -> Any:
    """-log(value) in steps of 2 %, for values between 0 and 1, as numbers of two bytes.

    >>> as_logarithms(np.array([1.0, 0.0])).tolist()
    [0, 65535]
    """
    given = np.asarray(values, np.float64)
    codes = np.rint(-np.log(np.where(given > 0, given, 1)) / LOG_STEP)
    return np.where(given > 0, np.clip(codes, 0, MAX_CODE), ZERO).astype(np.uint16)


def as_signed_logarithms(values: Any, step: float) -> Any:
    """log(value) / step + 128 as one byte, for ratios around 1; 0 stands for a ratio of 0.

    >>> as_signed_logarithms(np.array([0.0, 1.0, np.e]), step=0.5).tolist()
    [0, 128, 130]
    """
    given = np.asarray(values, np.float64)
    codes = np.rint(np.log(np.where(given > 0, given, 1)) / step) + 128
    return np.where(given > 0, np.clip(codes, 1, 255), 0).astype(np.uint8)


def packed(facts: dict[str, Any], arrays: dict[str, Any]) -> str:
    """The facts and arrays as base64 text; arrays must be of uint8, uint16 or uint32."""
    places: dict[str, list[int]] = {}
    parts: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        if array.dtype not in (np.uint8, np.uint16, np.uint32):
            raise TypeError(f"{name} must be of uint8, uint16 or uint32, not {array.dtype}")
        size = array.dtype.itemsize
        planes = np.ascontiguousarray(array.astype(f"<u{size}")).view(np.uint8).reshape(-1, size).T
        places[name] = [size, at, array.size]
        parts.append(np.ascontiguousarray(planes).tobytes())
        at += len(parts[-1])
    text = json.dumps(facts | {"arrays": places}, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    whole = len(text).to_bytes(4, "little") + text + b"".join(parts)
    return compressed(whole)


def compressed(content: bytes) -> str:
    """gzip in base64; the same content gives the same text."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode("ascii")
