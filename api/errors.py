"""Errors as RFC 9457 problem details: one table from our errors to HTTP."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from askbook.errors import AskbookError, TransientError, WrongUse

_log = logging.getLogger("askbook.api")

STATUS_OF: tuple[tuple[type[AskbookError], HTTPStatus], ...] = (
    (WrongUse, HTTPStatus.UNPROCESSABLE_ENTITY),
    (TransientError, HTTPStatus.SERVICE_UNAVAILABLE),
    (AskbookError, HTTPStatus.INTERNAL_SERVER_ERROR),
)


def problem(
    status: HTTPStatus, detail: str, errors: list[dict[str, object]] | None = None
) -> Response[dict[str, object]]:
    """A problem document; `errors` names every offending field."""
    body: dict[str, object] = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
    }
    if errors:
        body["errors"] = errors
    return Response(body, status_code=status.value, media_type="application/problem+json")


def _on_validation(_: Request, error: ValidationException) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    fields: list[dict[str, object]] = [
        {"field": str(each.get("key", "")), "message": str(each.get("message", ""))}
        for each in error.extra or []
        if isinstance(each, dict)
    ]
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "The request is not valid.", fields)


def _on_http(_: Request, error: HTTPException) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    return problem(HTTPStatus(error.status_code), error.detail)


def _on_ours(_: Request, error: AskbookError) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    status = next(status for kind, status in STATUS_OF if isinstance(error, kind))
    if status is HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.error("%s: %s", type(error).__name__, error)
        return problem(status, "The server could not answer. Its log says why.")
    return problem(status, str(error))


def _on_anything(_: Request, error: Exception) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    _log.exception("unexpected error", exc_info=error)
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR, "The server could not answer. Its log says why."
    )


EXCEPTION_HANDLERS: dict[int | type[Exception], Callable[..., Response[dict[str, object]]]] = {
    ValidationException: _on_validation,
    HTTPException: _on_http,
    AskbookError: _on_ours,
    Exception: _on_anything,
}
