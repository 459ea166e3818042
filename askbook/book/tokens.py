"""Exact cl100k_base tokens, from the vocabulary inside a wheel: no download.

Where counts add up: cl100k_base first cuts text with a regular expression, and no match of
it crosses from a newline into a line that is not blank. So the tokens of A + B are those of
A plus those of B whenever A ends with a newline and B starts with a non-blank line. The
chunker encodes a page once and reads every such count off the token borders.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
import splintr

IntArray = npt.NDArray[np.int64]


@functools.cache
def _encoding() -> splintr.AnyTokenizer:
    return splintr.Tokenizer.from_pretrained("cl100k_base")


@functools.cache
def _token_lengths() -> IntArray:
    """Return how many bytes each token stands for, by its number."""
    encoding = _encoding()
    lengths = [0] * encoding.vocab_size
    for token in range(encoding.vocab_size):
        try:
            lengths[token] = len(encoding.decode_token_bytes(token))
        except ValueError:  # the few unused numbers between the last token and the special ones
            continue
    return np.array(lengths, dtype=np.int64)


def count_tokens(text: str) -> int:
    """Return the number of cl100k_base tokens; special tokens count as the text they are."""
    return len(_encoding().encode_ordinary(text))


def token_starts(text: str) -> IntArray:
    """Return the UTF-8 byte offset at which each token of `text` starts, and the end."""
    tokens = _encode(text)
    starts = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum(_token_lengths()[tokens], out=starts[1:])
    return starts


def _encode(text: str) -> npt.NDArray[np.uint32]:
    if "<|" in text:  # only this way a special token, such as <|endoftext|>, is the text it is
        return np.array(_encoding().encode_ordinary(text), dtype=np.uint32)
    return np.frombuffer(_encoding().encode_flat(text), dtype="<u4")
