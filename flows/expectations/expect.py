"""The expectations of Great Expectations that the gates use, by short names.

A null is never counted against these (but by `null`): `missing_fields` tells of it, once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from great_expectations.expectations.expectation import Expectation


def columns(names: Iterable[str]) -> Expectation:
    """The table has these columns, and perhaps others."""
    return _make("ExpectTableColumnsToMatchSet", column_set=list(names), exact_match=False)


def null(column: str) -> Expectation:
    """Nothing stands in the column: for columns that say what is wrong with a row."""
    return _make("ExpectColumnValuesToBeNull", column=column)


def unique(column: str) -> Expectation:
    """No value occurs twice."""
    return _make("ExpectColumnValuesToBeUnique", column=column)


def matching(column: str, regex: str) -> Expectation:
    """Every value has this form."""
    return _make("ExpectColumnValuesToMatchRegex", column=column, regex=regex)


def within(column: str, values: Iterable[object]) -> Expectation:
    """Every value is one of these."""
    return _make("ExpectColumnValuesToBeInSet", column=column, value_set=list(values))


def between(column: str, low: float, high: float | None = None) -> Expectation:
    """Every value lies in the range, its ends included."""
    return _make("ExpectColumnValuesToBeBetween", column=column, min_value=low, max_value=high)


def greater(column: str, other: str) -> Expectation:
    """Row by row, the first column is greater than the second."""
    return _pair("ExpectColumnPairValuesAToBeGreaterThanB", column, other)


def equal(column: str, other: str) -> Expectation:
    """Row by row, both columns hold the same."""
    return _pair("ExpectColumnPairValuesToBeEqual", column, other)


def median(column: str, low: float) -> Expectation:
    """The median is at least this."""
    return _make("ExpectColumnMedianToBeBetween", column=column, min_value=low)


def mean(column: str, high: float) -> Expectation:
    """The mean is at most this; of a column of 0 and 1, it is the share of the ones."""
    return _make("ExpectColumnMeanToBeBetween", column=column, max_value=high)


def _pair(kind: str, column: str, other: str) -> Expectation:
    return _make(kind, column_A=column, column_B=other, ignore_row_if="either_value_is_missing")


def _make(kind: str, **options: object) -> Expectation:
    from great_expectations import expectations

    made: Any = getattr(expectations, kind)
    expectation: Expectation = made(**options)
    return expectation
