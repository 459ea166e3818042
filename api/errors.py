"""Errors as RFC 9457 problem details: one table from our errors to HTTP.

What a caller reads never names a path, an address or a secret of the server: the words of our
own errors go to the log, under the request's id.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from litestar import Request, Response
from litestar.exceptions import (
    HTTPException,
    InternalServerException,
    SerializationException,
    ValidationException,
)
from litestar.openapi.datastructures import ResponseSpec
from pydantic import BaseModel, Field

from askbook.errors import (
    AskbookError,
    DatabaseDown,
    IndexDown,
    IndexFault,
    ProviderError,
    ProviderUnavailable,
    RunRefused,
    TransientError,
    WrongUse,
)

_log = logging.getLogger("askbook.api")
_MEDIA_TYPE = "application/problem+json"
_SEE_LOG = "The server could not answer. Its log says why."


class FieldError(BaseModel):
    """One field that is not as it must be."""

    field: str = Field(description="Path of the field, e.g. filters.module.")
    message: str = Field(description="What is wrong with it.")


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str = Field(description="Always about:blank: the status says what kind it is.")
    title: str = Field(description="The status in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What happened, and what to do about it.")
    errors: list[FieldError] | None = Field(None, description="With 422: every offending field.")
    dependency: str | None = Field(None, description="With 503: which part does not answer.")


class Refused(Exception):
    """The caller gets this problem; raised by handlers for what only HTTP knows."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        headers: Mapping[str, str] | None = None,
        dependency: str | None = None,
    ) -> None:
        self.status = status
        self.detail = detail
        self.headers = headers
        self.dependency = dependency
        super().__init__(detail)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a caller is told of one of our errors; no `detail`: the error's own words are fit."""

    status: HTTPStatus
    detail: str | None = None
    dependency: str | None = None


_DOWN = HTTPStatus.SERVICE_UNAVAILABLE
TOLD_OF: tuple[tuple[type[AskbookError], _Told], ...] = (
    (WrongUse, _Told(HTTPStatus.UNPROCESSABLE_ENTITY)),
    (RunRefused, _Told(HTTPStatus.CONFLICT)),
    (DatabaseDown, _Told(_DOWN, "PostgreSQL does not answer. Try again soon.", "postgresql")),
    (IndexDown, _Told(_DOWN, "Qdrant does not answer. Try again soon.", "qdrant")),
    (IndexFault, _Told(_DOWN, "The index cannot be read. The server's log says why.", "qdrant")),
    (
        ProviderUnavailable,
        _Told(_DOWN, "A model provider does not answer. Try again soon.", "provider"),
    ),
    (ProviderError, _Told(_DOWN, "A model provider refused the server's call.", "provider")),
    (TransientError, _Told(_DOWN, "A part of the server does not answer. Try again soon.")),
    (AskbookError, _Told(HTTPStatus.INTERNAL_SERVER_ERROR, _SEE_LOG)),
)


def told_of(error: AskbookError) -> _Told:
    """What a caller may know of this error."""
    return next(told for kind, told in TOLD_OF if isinstance(error, kind))


def spoken(error: Exception) -> str:
    """One sentence about an error, for the last event of a stream."""
    if isinstance(error, AskbookError):
        return told_of(error).detail or str(error)
    return _SEE_LOG


def problem(
    status: HTTPStatus,
    detail: str,
    *,
    errors: list[FieldError] | None = None,
    dependency: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response[dict[str, object]]:
    """A problem document; `errors` names every offending field."""
    body = Problem(
        type="about:blank",
        title=status.phrase,
        status=status.value,
        detail=detail,
        errors=errors or None,
        dependency=dependency,
    )
    return Response(
        body.model_dump(exclude_none=True),
        status_code=status.value,
        media_type=_MEDIA_TYPE,
        headers=dict(headers or {}),
    )


def _on_validation(_: Request, error: ValidationException) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    fields = [
        FieldError(field=str(each.get("key", "")), message=str(each.get("message", "")))
        for each in error.extra or []
        if isinstance(each, dict)
    ]
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY, "The request is not valid.", errors=fields or None
    )


def _on_http(request: Request, error: HTTPException) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    status = HTTPStatus(error.status_code)
    if isinstance(error, InternalServerException):
        return _on_anything(request, error)
    is_ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    detail = _SEE_LOG if is_ours else error.detail or status.phrase
    return problem(status, detail, headers=error.headers)


def _on_refused(_: Request, error: Refused) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    return problem(error.status, error.detail, dependency=error.dependency, headers=error.headers)


def _on_unreadable_body(_: Request, __: Exception) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    return problem(HTTPStatus.BAD_REQUEST, "The body is not JSON that can be read.")


def _on_ours(_: Request, error: AskbookError) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    told = told_of(error)
    if told.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.error("%s: %s", type(error).__name__, error)
    wait = getattr(error, "retry_after", None)
    headers = {"Retry-After": str(max(1, round(wait)))} if wait else {}
    detail = told.detail or str(error)
    return problem(told.status, detail, dependency=told.dependency, headers=headers)


def _on_anything(_: Request, error: Exception) -> Response[dict[str, object]]:  # type: ignore[type-arg]
    _log.error("unexpected error", exc_info=error)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, _SEE_LOG)


EXCEPTION_HANDLERS: dict[int | type[Exception], Callable[..., Response[dict[str, object]]]] = {
    ValidationException: _on_validation,
    SerializationException: _on_unreadable_body,
    RecursionError: _on_unreadable_body,  # nested too deeply
    UnicodeDecodeError: _on_unreadable_body,
    HTTPException: _on_http,
    Refused: _on_refused,
    AskbookError: _on_ours,
    Exception: _on_anything,
}

_WORDS = {
    400: "The body is not JSON that can be read.",
    401: "The bearer token or the admin key is not valid.",
    403: "No admin key is configured.",
    404: "There is no such thing, or it is somebody else's.",
    409: "Another run is in the way.",
    413: "The body is too large.",
    422: "The request is not valid; `errors` names every offending field.",
    429: "Too many questions; `Retry-After` says in how many seconds to come back.",
    503: "A part does not answer; `dependency` names it.",
}


def problems(*statuses: int) -> dict[int, ResponseSpec]:
    """The problem documents that a route may answer with, for the OpenAPI."""
    return {
        status: ResponseSpec(
            Problem, description=_WORDS[status], media_type=_MEDIA_TYPE, generate_examples=False
        )
        for status in statuses
    }
