"""What a provider answered: errors sorted into transient and terminal, vectors checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import numpy as np

from askbook.errors import AskbookError, ProviderError, ProviderUnavailable
from askbook.ports import Vectors

_RETRIED = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
_MESSAGE_LENGTH = 300


def failure(
    provider: str,
    status: int | None,
    message: str,
    wait: float | None = None,
    *,
    secret: str | None = None,
) -> AskbookError:
    """The error for an HTTP status (None: no answer at all). Only some are worth a retry.

    `secret` is cut out of the message: some servers repeat the key that they refuse.
    """
    message = message.replace(secret, "***") if secret else message
    message = " ".join(message.split())[:_MESSAGE_LENGTH]
    if status is None:
        return ProviderUnavailable(f"{provider} cannot be reached: {message}")
    if status in _RETRIED or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ProviderUnavailable(f"{provider} answered {status}: {message}", wait)
    hint = " Check the API key." if status == HTTPStatus.UNAUTHORIZED else ""
    return ProviderError(f"{provider} answered {status}: {message}.{hint}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by the `Retry-After` header, given as seconds or as a date."""
    value = next((v for k, v in headers.items() if k.lower() == "retry-after"), None)
    if value is None:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def retry_within(longest: float) -> Callable[[Exception], bool | float]:
    """For stamina: retry what is transient, after the wait the provider asked for.

    A provider that asks for more than `longest` seconds is not asked again: a reader waits.
    """

    def wait(error: Exception) -> bool | float:
        if not isinstance(error, ProviderUnavailable):
            return False
        if error.retry_after is None:
            return True
        return error.retry_after <= longest and error.retry_after

    return wait


def checked_vectors(
    provider: str, rows: Sequence[Sequence[float]], *, count: int, dimensions: int
) -> Vectors:
    """Unit vectors as float32; a short answer, a wrong length or a NaN is an error."""
    if len(rows) != count:
        raise ProviderError(f"{provider} answered {len(rows)} vectors for {count} texts.")
    wrong = next((len(row) for row in rows if len(row) != dimensions), None)
    if wrong is not None:
        raise ProviderError(
            f"{provider} answered a vector of {wrong} numbers; expected {dimensions}."
        )
    vectors = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(vectors).all() or (lengths == 0).any():
        raise ProviderError(f"{provider} answered a vector that is not a direction (NaN or zero).")
    return np.asarray(vectors / lengths, dtype=np.float32)
