"""Conversations and what ends them."""

from __future__ import annotations

from sqlalchemy import Connection, text


def purge(connection: Connection, *, days: int) -> dict[str, int]:
    """Remove sessions without activity for so many days, with all they hold, and old limits."""
    sessions = connection.execute(
        text(
            "DELETE FROM chat_sessions WHERE last_activity_at < now() - make_interval(days => :d)"
        ),
        {"d": days},
    )
    limits = connection.execute(
        text("DELETE FROM rate_limits WHERE window_start < now() - interval '1 day'")
    )
    return {"sessions": sessions.rowcount, "rate_limits": limits.rowcount}
