"""Conversations over HTTP: whose they are, and reading and ending one (seed 003)."""

from __future__ import annotations

import hmac
from datetime import datetime
from http import HTTPStatus
from typing import Final, Literal
from uuid import UUID

import anyio.to_thread
from litestar import delete, get
from litestar.datastructures import Cookie
from litestar.di import NamedDependency
from litestar.params import FromPath
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from api.auth import Caller
from api.errors import Refused, problems
from askbook.models import Answer, Message
from askbook.store import sessions
from askbook.store.sessions import Session
from askbook.wiring import Parts

_COOKIE: Final = "askbook_session_"  # one cookie per conversation: every tab keeps its own
_NOT_FOUND: Final = "There is no such session, or it is not yours."


class TokenUsage(BaseModel):
    """Tokens of the writer; 0 where no language model wrote."""

    input: int = Field(ge=0, description="Tokens of the prompt.")
    output: int = Field(ge=0, description="Tokens of the answer.")
    total: int = Field(ge=0, description="Both together.")


class StoredCitation(BaseModel):
    """A citation as it was stored with its message."""

    id: UUID = Field(description="Id of the citation.")
    chapter_id: str = Field(description="Chapter, e.g. module-1-ros2/chapter-2-nodes.")
    chapter_title: str = Field(description="Title of the page.")
    relevance_score: float = Field(ge=0.0, le=1.0, description="How well the passage fits.")
    excerpt: str = Field(max_length=1000, description="The cited words.")
    position: int = Field(ge=1, description="Its number in the answer, from 1.")


class ChatMessage(BaseModel):
    """One message of a conversation."""

    id: UUID = Field(description="Id of the message.")
    session_id: UUID = Field(description="The conversation it belongs to.")
    role: Literal["user", "assistant"] = Field(description="Who said it.")
    content: str = Field(description="What was said.")
    tokens_used: TokenUsage | None = Field(description="Tokens of the writer; answers only.")
    confidence: float | None = Field(description="0 to 1; answers only.")
    sources: list[StoredCitation] = Field(description="Citations in the order of their numbers.")
    created_at: datetime = Field(description="When it was said.")


class ChatSession(BaseModel):
    """A conversation with all its messages, oldest first."""

    id: UUID = Field(description="Id of the conversation.")
    user_id: UUID | None = Field(description="The reader, where one is known by a token.")
    created_at: datetime = Field(description="When it began.")
    last_activity_at: datetime = Field(description="When something was last said.")
    messages: list[ChatMessage] = Field(description="Oldest first.")


def begin(connection: Connection, caller: Caller) -> Session:
    """A new conversation of this caller."""
    return sessions.start(connection, caller.user_id)


def go_on(
    connection: Connection, session_id: UUID, caller: Caller
) -> tuple[Session, tuple[Message, ...]]:
    """The caller's own conversation and what of it still counts as context."""
    session = own(connection, session_id, caller)
    return session, sessions.context(connection, session_id)


def own(connection: Connection, session_id: UUID, caller: Caller) -> Session:
    """The conversation, if it is the caller's; 404 for everybody else, as for unknown ids."""
    session = sessions.find(connection, session_id)
    if session is None or not _is_owner(session, caller):
        raise Refused(HTTPStatus.NOT_FOUND, _NOT_FOUND)
    return session


def _is_owner(session: Session, caller: Caller) -> bool:
    if session.user_id is not None:
        return session.user_id == caller.user_id
    given = caller.session_token or caller.cookies.get(_COOKIE + str(session.id)) or ""
    return hmac.compare_digest(given.encode(), session.token.encode())


def cookie(session: Session, *, secure: bool) -> Cookie:
    """Holds the conversation's token until the browser is closed; no script can read it.

    `secure`: it goes back by https only.
    """
    return Cookie(
        key=_COOKIE + str(session.id),
        value=session.token,
        path="/api",
        httponly=True,
        secure=secure,
        samesite="lax",
    )


def remember(parts: Parts, session_id: UUID, question: str, answer: Answer) -> None:
    """Store a question and its answer."""
    with parts.database.begin() as connection:
        sessions.remember(connection, session_id, question, answer)


@get("/api/sessions/{session_id:uuid}", responses=problems(401, 404, 503))
async def read_session(
    session_id: FromPath[UUID], caller: NamedDependency[Caller], parts: NamedDependency[Parts]
) -> ChatSession:
    """A conversation, for its owner."""
    return await anyio.to_thread.run_sync(_read, parts, session_id, caller)


@delete("/api/sessions/{session_id:uuid}", responses=problems(401, 404, 503))
async def end_session(
    session_id: FromPath[UUID], caller: NamedDependency[Caller], parts: NamedDependency[Parts]
) -> None:
    """Remove a conversation and all it holds, for its owner."""
    await anyio.to_thread.run_sync(_end, parts, session_id, caller)


def _read(parts: Parts, session_id: UUID, caller: Caller) -> ChatSession:
    with parts.database.begin() as connection:
        own(connection, session_id, caller)
        return ChatSession.model_validate(sessions.transcript(connection, session_id))


def _end(parts: Parts, session_id: UUID, caller: Caller) -> None:
    with parts.database.begin() as connection:
        own(connection, session_id, caller)
        sessions.remove(connection, session_id)
