"""Questions per hour (seed 003): counted before the work, given back where we fail."""

from __future__ import annotations

import math
from http import HTTPStatus

from sqlalchemy import Connection

from api import metrics
from api.auth import Caller
from api.errors import Refused
from askbook.settings import Settings
from askbook.store import limits
from askbook.store.limits import Quota


def count(connection: Connection, caller: Caller, settings: Settings) -> Quota:
    """Count one question of this caller; refuses with 429 when the hour's are used up."""
    is_known = caller.user_id is not None
    limit = settings.authenticated_per_hour if is_known else settings.anonymous_per_hour
    quota = limits.count(connection, caller.identifier, tier=caller.tier, limit=limit)
    if quota.allowed:
        return quota
    metrics.LIMITS_HIT.labels(caller.tier).inc()
    wait = math.ceil(max(quota.seconds_left, 1))
    raise Refused(
        HTTPStatus.TOO_MANY_REQUESTS,
        f"{limit} questions an hour are allowed. Ask again in {math.ceil(wait / 60)} minutes.",
        {**headers(quota), "Retry-After": str(wait)},
    )


def headers(quota: Quota) -> dict[str, str]:
    """Where the caller stands, for every reply to a question."""
    return {
        "X-RateLimit-Limit": str(quota.limit),
        "X-RateLimit-Remaining": str(quota.remaining),
        "X-RateLimit-Reset": str(math.ceil(max(quota.seconds_left, 0))),
    }
