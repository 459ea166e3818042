"""How many questions somebody asked in the current hour; counted atomically by PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, text

WINDOW_SECONDS: Final = 3600

# One statement: two processes that count at the same time wait for each other's row.
_COUNT: Final = text("""
    INSERT INTO rate_limits AS held (identifier, query_count, window_start, limit_tier)
    VALUES (:identifier, 1, now(), :tier)
    ON CONFLICT (identifier) DO UPDATE SET
        query_count = CASE WHEN held.window_start <= now() - make_interval(secs => :window)
                           THEN 1 ELSE held.query_count + 1 END,
        window_start = CASE WHEN held.window_start <= now() - make_interval(secs => :window)
                            THEN now() ELSE held.window_start END,
        limit_tier = excluded.limit_tier
    WHERE held.query_count < :limit
       OR held.window_start <= now() - make_interval(secs => :window)
    RETURNING query_count, window_start,
        extract(epoch FROM window_start + make_interval(secs => :window) - now()) AS seconds_left
""")
_LOOK: Final = text("""
    SELECT query_count, window_start,
        extract(epoch FROM window_start + make_interval(secs => :window) - now()) AS seconds_left
    FROM rate_limits WHERE identifier = :identifier
""")
_GIVE_BACK: Final = text("""
    UPDATE rate_limits SET query_count = query_count - 1
    WHERE identifier = :identifier AND window_start = :window_start AND query_count > 0
""")


@dataclass(frozen=True, slots=True)
class Quota:
    """Where somebody stands in the current window."""

    identifier: str
    limit: int
    used: int
    window_start: datetime
    seconds_left: float
    allowed: bool  # whether this question was counted and may be asked

    @property
    def remaining(self) -> int:
        """Questions that may still be asked in this window."""
        return max(0, self.limit - self.used)


def count(connection: Connection, identifier: str, *, tier: str, limit: int) -> Quota:
    """Count one question, unless the limit is reached."""
    values = {"identifier": identifier, "tier": tier, "limit": limit, "window": WINDOW_SECONDS}
    row = connection.execute(_COUNT, values).one_or_none()
    allowed = row is not None
    if row is None:
        row = connection.execute(_LOOK, values).one()
    return Quota(
        identifier, limit, row.query_count, row.window_start, float(row.seconds_left), allowed
    )


def give_back(connection: Connection, quota: Quota) -> None:
    """The question was not answered by our fault: it does not count."""
    values = {"identifier": quota.identifier, "window_start": quota.window_start}
    connection.execute(_GIVE_BACK, values)
