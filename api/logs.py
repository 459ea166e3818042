"""One JSON line per request and per event, tied together by the request's id.

No question and no answer is written, unless ASKBOOK_LOG_QUESTIONS says so; no address, no token.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import uuid
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final

from litestar.datastructures import MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID_HEADER: Final = "X-Request-ID"
_SAFE_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_log = logging.getLogger("askbook.api")


class JsonLines(logging.Formatter):
    """A record as one line of JSON; what is passed as `extra={"facts": …}` becomes fields."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if (request_id := _request_id.get()) is not None:
            line["request_id"] = request_id
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def write_json_lines() -> None:
    """Send all logs of this process to stderr as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("askbook").setLevel(logging.INFO)


def note_question(text: str, *, allowed: bool) -> None:
    """Write a reader's question to the log, if the operator wants that."""
    if allowed:
        _log.info("question", extra={"facts": {"question": text}})


class RequestLog(ASGIMiddleware):
    """Gives every request an id, sends it back, and writes one line when the reply is out."""

    scopes = (ScopeType.HTTP,)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Serve one request."""
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        request_id = given if _SAFE_ID.fullmatch(given) else uuid.uuid4().hex
        started = time.perf_counter()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableScopeHeaders.from_message(message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        token = _request_id.set(request_id)
        try:
            await next_app(scope, receive, send_with_id)
        finally:
            facts = {
                "method": scope.get("method"),
                "path": scope.get("path_template") or scope["path"],
                "status": status,
                "ms": round((time.perf_counter() - started) * 1000, 1),
            }
            _log.info("request", extra={"facts": facts})
            _request_id.reset(token)
