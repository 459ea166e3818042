"""Conversations: who asked what, what was answered from where, and what ends them."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any, Final  # a transcript is JSON
from uuid import UUID

from sqlalchemy import Connection, text

from askbook.models import Answer, Message

LAPSE_MINUTES: Final = 30  # after so long without activity, a question starts afresh
_WINDOW: Final = 10  # messages: the last five questions and answers
_LONGEST_MESSAGE: Final = 10_000  # characters, as the table allows
_LONGEST_CHAPTER: Final = 100
_LONGEST_TITLE: Final = 255


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation. Whoever has the token, or is the user, may go on with it."""

    id: UUID
    token: str
    user_id: UUID | None


def start(connection: Connection, user_id: UUID | None = None) -> Session:
    """A new conversation with a token that nobody can guess."""
    token = secrets.token_urlsafe(48)
    found = connection.scalar(
        text("INSERT INTO chat_sessions (user_id, session_token) VALUES (:u, :t) RETURNING id"),
        {"u": user_id, "t": token},
    )
    return Session(UUID(str(found)), token, user_id)


def find(connection: Connection, session_id: UUID) -> Session | None:
    """The conversation with this id; whether the caller may see it is not decided here."""
    row = connection.execute(
        text("SELECT id, session_token, user_id FROM chat_sessions WHERE id = :id"),
        {"id": session_id},
    ).one_or_none()
    return Session(row.id, row.session_token, row.user_id) if row else None


def context(connection: Connection, session_id: UUID) -> tuple[Message, ...]:
    """The last five questions and answers, oldest first; none once the context has lapsed."""
    rows = connection.execute(
        text("""
            SELECT m.role, m.content
            FROM chat_messages m JOIN chat_sessions s ON s.id = m.session_id
            WHERE s.id = :id AND s.last_activity_at > now() - make_interval(mins => :lapse)
            ORDER BY m.created_at DESC, m.role LIMIT :window
        """),
        {"id": session_id, "lapse": LAPSE_MINUTES, "window": _WINDOW},
    )
    return tuple(Message(row.role, row.content) for row in reversed(rows.all()))


def remember(connection: Connection, session_id: UUID, question: str, answer: Answer) -> None:
    """Add a question and its answer, with the answer's citations, to a conversation."""
    _add(connection, session_id, Message("user", question), {}, None)
    usage = answer.usage
    tokens = {
        "input": usage.prompt_tokens,
        "output": usage.completion_tokens,
        "total": usage.prompt_tokens + usage.completion_tokens,
    }
    told = Message("assistant", answer.answer)
    message_id = _add(connection, session_id, told, tokens, answer.confidence)
    for position, citation in enumerate(answer.citations, start=1):
        connection.execute(
            text("""
                INSERT INTO source_citations
                    (message_id, chapter_id, chapter_title, relevance_score, excerpt, position)
                VALUES (:message, :chapter, :title, :score, :excerpt, :position)
            """),
            {
                "message": message_id,
                "chapter": citation.chapter_id[:_LONGEST_CHAPTER],
                "title": citation.chapter_title[:_LONGEST_TITLE],
                "score": min(max(citation.score, 0.0), 1.0),
                "excerpt": citation.excerpt,
                "position": position,
            },
        )
    connection.execute(
        text("UPDATE chat_sessions SET last_activity_at = now() WHERE id = :id"),
        {"id": session_id},
    )


def _add(
    connection: Connection,
    session_id: UUID,
    message: Message,
    tokens: dict[str, int],
    confidence: float | None,
) -> UUID:
    """Insert one message; both of a transaction get times of their own, so that order holds."""
    found = connection.scalar(
        text("""
            INSERT INTO chat_messages
                (session_id, role, content, tokens_used, confidence, created_at)
            VALUES
                (:session, :role, :content, CAST(:tokens AS jsonb), :confidence, clock_timestamp())
            RETURNING id
        """),
        {
            "session": session_id,
            "role": message.role,
            "content": message.content.replace("\0", "")[:_LONGEST_MESSAGE],
            "tokens": json.dumps(tokens),
            "confidence": confidence,
        },
    )
    return UUID(str(found))


def transcript(connection: Connection, session_id: UUID) -> dict[str, Any]:
    """A whole conversation: the session's columns, its messages and their citations, in order."""
    session = connection.execute(
        text("""
            SELECT id, user_id, created_at, last_activity_at FROM chat_sessions WHERE id = :id
        """),
        {"id": session_id},
    ).one()
    messages = connection.execute(
        text("""
            SELECT m.id, m.session_id, m.role, m.content, m.confidence, m.created_at,
                nullif(m.tokens_used, '{}') AS tokens_used,
                coalesce(
                    (SELECT jsonb_agg(to_jsonb(c) - 'message_id' ORDER BY c.position)
                     FROM source_citations c WHERE c.message_id = m.id), '[]') AS sources
            FROM chat_messages m WHERE m.session_id = :id ORDER BY m.created_at
        """),
        {"id": session_id},
    )
    return {
        **session._mapping,  # noqa: SLF001 - SQLAlchemy's public name for it
        "messages": [dict(row._mapping) for row in messages],  # noqa: SLF001
    }


def remove(connection: Connection, session_id: UUID) -> None:
    """End a conversation: its messages and citations go with it."""
    connection.execute(text("DELETE FROM chat_sessions WHERE id = :id"), {"id": session_id})


def purge(connection: Connection, *, days: int) -> dict[str, int]:
    """Remove sessions without activity for so many days, with all they hold, and old limits."""
    sessions = connection.scalar(text("SELECT purge_old_chat_sessions(:d)"), {"d": days})
    limits = connection.execute(
        text("DELETE FROM rate_limits WHERE window_start < now() - interval '1 day'")
    )
    return {"sessions": int(sessions or 0), "rate_limits": limits.rowcount}
