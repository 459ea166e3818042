"""Columns computed before a gate, vectorised, so that one expectation can check each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Objects = npt.NDArray[np.object_]
Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def missing_fields(table: pa.Table, required: Mapping[str, Flags | None]) -> Objects:
    """By row, the names of the fields that are null but must not be; None where all are there.

    A field is required in the rows that its flags name, or in all.
    """
    found = np.full(table.num_rows, None, dtype=object)
    for name, where in required.items():
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
    ids = _objects(table["id"])[order]
    before = _objects(table["prev_chunk_id"])[order]
    after = _objects(table["next_chunk_id"])[order]
    first = np.append([True], np.diff(files[order]) != 0)
    last = np.append(first[1:], [True])
    nothing = np.full(len(ids), None, dtype=object)
    rows = np.arange(len(ids))
    position = rows - np.maximum.accumulate(np.where(first, rows, 0))

    found = nothing.copy()
    found[after != np.where(last, nothing, np.roll(ids, -1))] = "next_chunk_id is not the one after"
    found[before != np.where(first, nothing, np.roll(ids, 1))] = (
        "prev_chunk_id is not the one before"
    )
    found[last & (after != nothing)] = "the last chunk has a next_chunk_id"
    found[first & (before != nothing)] = "the first chunk has a prev_chunk_id"
    found[index[order] != position] = "chunk_index is not its position in the file"
    breaks = np.empty_like(found)
    breaks[order] = found
    return breaks


def squared_norms(vectors: pa.ChunkedArray, dimensions: int) -> tuple[Floats, Flags]:
    """By row, the squared length of a vector, and whether it has the right dimensions.

    The length of a vector of other dimensions is left NaN, as is that of one with a NaN in it.
    """
    array = vectors.combine_chunks()
    right: Flags = pc.list_value_length(array).fill_null(-1).to_numpy() == dimensions
    whole = array if right.all() else array.filter(pa.array(right))
    values = whole.flatten().to_numpy(zero_copy_only=False).reshape(-1, dimensions)
    squares = np.full(len(right), np.nan)
    squares[right] = np.einsum("ij,ij->i", values, values, dtype=np.float64)
    return squares, right


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
