"""Columns computed before a gate, vectorised, so that one expectation can check each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Objects = npt.NDArray[np.object_]
Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def missing_fields(
    table: pa.Table, required: Iterable[str], where: Flags | None = None
) -> Objects:
    """By row, the names of the required fields that are null; None where none is."""
    found = np.full(table.num_rows, None, dtype=object)
    for name in required:
        if table[name].null_count:
            null: Flags = pc.is_null(table[name]).to_numpy()
            for row in np.flatnonzero(null if where is None else null & where):
                found[row] = f"{found[row]}, {name}" if found[row] else name
    return found


def present(column: pa.ChunkedArray) -> Flags:
    """By row, whether there is a value."""
    flags: Flags = pc.is_valid(column).to_numpy()
    return flags


def characters(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """By row, the length of the text without the white space around it; null for null."""
    return pc.utf8_length(pc.utf8_trim_whitespace(column))


def occurrences(column: pa.ChunkedArray) -> Integers:
    """By row, how often its value occurs in the column."""
    codes = _codes(column)
    return np.bincount(codes)[codes] if len(codes) else codes


def first_of_group(groups: pa.ChunkedArray, values: pa.ChunkedArray) -> Objects:
    """By row, the value that the first row of its group has."""
    _, first, group = np.unique(_codes(groups), return_index=True, return_inverse=True)
    result: Objects = _objects(values)[first[group]]
    return result


def chain_breaks(table: pa.Table) -> Objects:
    """By chunk, what is wrong with its place in the chain of its file; None where nothing is."""
    if not table.num_rows:
        return np.empty(0, dtype=object)
    files, index = _codes(table["source_file"]), _integers(table["chunk_index"])
    order = np.lexsort((index, files))
    ids, before, after, index = (
        values[order]
        for values in (
            _objects(table["id"]),
            _objects(table["prev_chunk_id"]),
            _objects(table["next_chunk_id"]),
            index,
        )
    )
    first = np.append(True, np.diff(files[order]) != 0)  # noqa: FBT003 - a value, not a switch
    last = np.append(first[1:], True)  # noqa: FBT003
    rows = np.arange(len(ids))
    position = rows - np.maximum.accumulate(np.where(first, rows, 0))

    found = np.full(len(ids), None, dtype=object)
    found[after != np.where(last, None, np.roll(ids, -1))] = "next_chunk_id is not the chunk after"
    found[before != np.where(first, None, np.roll(ids, 1))] = (
        "prev_chunk_id is not the chunk before"
    )
    found[last & (after != None)] = "the last chunk has a next_chunk_id"  # noqa: E711 - by element
    found[first & (before != None)] = "the first chunk has a prev_chunk_id"  # noqa: E711
    found[index != position] = "chunk_index is not its position in the file"
    breaks = np.empty_like(found)
    breaks[order] = found
    return breaks


def squared_norms(vectors: pa.ChunkedArray, dimensions: int) -> tuple[Floats, Flags]:
    """By row, the squared length of a vector, and whether it has the right dimensions.

    The length of a vector of other dimensions is left NaN, as is that of one with a NaN in it.
    """
    array = vectors.combine_chunks()
    right: Flags = pc.fill_null(lengths(array) == dimensions, False).to_numpy(zero_copy_only=False)  # noqa: FBT003
    whole = array if right.all() else array.filter(pa.array(right))
    values = whole.flatten().to_numpy(zero_copy_only=False).reshape(-1, dimensions)
    squares = np.full(len(right), np.nan)
    squares[right] = np.einsum("ij,ij->i", values, values, dtype=np.float64)
    return squares, right


def rows_without(have: pa.ChunkedArray, wanted: pa.ChunkedArray) -> Flags:
    """By wanted row, whether it is missing from what there is."""
    flags: Flags = pc.invert(pc.is_in(wanted, value_set=have)).to_numpy()
    return flags


def _codes(column: pa.ChunkedArray) -> Integers:
    """A small number for each different value; null is a value, too."""
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    codes: Integers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _integers(column: pa.ChunkedArray) -> Integers:
    values: Integers = pc.fill_null(column, -1).to_numpy()
    return values


def _objects(column: pa.ChunkedArray) -> Objects:
    values: Any = column.to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=object)
