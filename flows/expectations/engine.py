"""Run expectations on a frame: one quiet Great Expectations context per process.

The first pass asks only for yes or no, which is twice as fast; what failed is asked again for
the rows.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flows.expectations.results import Failure

if TYPE_CHECKING:
    import pandas as pd
    from great_expectations.core.batch_definition import BatchDefinition
    from great_expectations.core.expectation_validation_result import ExpectationValidationResult
    from great_expectations.expectations.expectation import Expectation
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

SAMPLE_ROWS = 5
SAMPLE_CHARACTERS = 80

_one_at_a_time = threading.RLock()  # a context keeps the batch it works on


def preload() -> None:
    """Import Great Expectations (4 s) and make the context, e.g. in a thread of its own."""
    with _one_at_a_time:
        _batches()


def failures_of(
    frame: pd.DataFrame, expectations: Sequence[Expectation], keys: Sequence[str]
) -> tuple[Failure, ...]:
    """The expectations that do not hold, in their order; `keys` name a row to a reader."""
    failed = _validate(frame, expectations, "BOOLEAN_ONLY")
    doubtful = [each for each in expectations if _label(each.configuration) in failed]
    if not doubtful:
        return ()
    details = _validate(frame, doubtful, "SUMMARY")
    return tuple(
        _failure(frame, each, details[_label(each.configuration)], keys) for each in doubtful
    )


@lru_cache(maxsize=1)
def _batches() -> BatchDefinition[Any]:
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.enable_analytics(enable=False)
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas("askbook").add_dataframe_asset("stage")
    return asset.add_batch_definition_whole_dataframe("whole")


def _validate(
    frame: pd.DataFrame, expectations: Sequence[Expectation], result_format: str
) -> dict[str, Mapping[str, Any]]:
    """The results of those that failed, by label."""
    with _one_at_a_time:
        batches = _batches()
        from great_expectations import ExpectationSuite

        outcome = batches.get_batch({"dataframe": frame}).validate(
            ExpectationSuite(name="stage", expectations=list(expectations)),
            result_format={
                "result_format": result_format,
                "partial_unexpected_count": SAMPLE_ROWS,
            },
        )
    return {
        _label(each.expectation_config): each.result or {"exception": _exception(each)}
        for each in outcome.results
        if not each.success and each.expectation_config
    }


def _failure(
    frame: pd.DataFrame, expectation: Expectation, result: Mapping[str, Any], keys: Sequence[str]
) -> Failure:
    kwargs = expectation.configuration.kwargs
    own = _columns(kwargs)
    shown = list(dict.fromkeys([*keys, *own]))
    rows = frame.iloc[_positions(frame, kwargs, result)][shown].to_dict("records") if own else []
    return Failure(
        _label(expectation.configuration),
        _observed(frame, result),
        [{str(name): _short(value) for name, value in row.items()} for row in rows],
    )


def _positions(
    frame: pd.DataFrame, kwargs: Mapping[str, Any], result: Mapping[str, Any]
) -> list[int]:
    """Rows that show the failure: those it names, or the farthest out for a whole column."""
    if "partial_unexpected_index_list" in result:
        return list(result["partial_unexpected_index_list"])[:SAMPLE_ROWS]
    if "observed_value" in result:
        order: list[int] = frame[kwargs["column"]].argsort(kind="stable").tolist()
        return order[::-1][:SAMPLE_ROWS] if "max_value" in kwargs else order[:SAMPLE_ROWS]
    return []


def _observed(frame: pd.DataFrame, result: Mapping[str, Any]) -> str:
    if "exception" in result:
        return f"could not be checked: {result['exception']}"
    if "unexpected_count" in result:
        return f"{result['unexpected_count']} of {len(frame)} rows"
    missing = result.get("details", {}).get("mismatched", {}).get("missing")
    if missing:
        return f"missing: {', '.join(missing)}"
    value = result.get("observed_value")
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _exception(result: ExpectationValidationResult) -> str:
    """The message of the first exception that Great Expectations noted."""
    info = result.exception_info
    noted = next((each for each in info.values() if isinstance(each, Mapping)), info)
    return str(_short(noted.get("exception_message")))


def _label(configuration: ExpectationConfiguration) -> str:
    """As in `expect_column_values_to_be_between(chapter, min_value=0)`."""
    kwargs = configuration.kwargs
    bounds = [
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name in ("min_value", "max_value", "value_set", "regex")
        if (value := kwargs.get(name)) is not None
    ]
    return f"{configuration.type}({', '.join([*_columns(kwargs), *bounds])})"


def _columns(kwargs: Mapping[str, Any]) -> list[str]:
    return [kwargs[name] for name in ("column", "column_A", "column_B") if name in kwargs]


def _short(value: Any) -> object:  # noqa: ANN401 - whatever a cell holds
    """A plain value that is quick to read; None for every kind of missing."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return None
    if isinstance(value, bool | int | float):
        return value
    text = str(value)
    return text if len(text) <= SAMPLE_CHARACTERS else text[: SAMPLE_CHARACTERS - 1] + "…"
