"""What Prometheus reads at `/metrics`, beside Litestar's own request metrics."""

from __future__ import annotations

import time

import anyio.to_thread
from litestar import Response, get
from litestar.datastructures import State
from litestar.plugins.prometheus import PrometheusConfig, PrometheusController
from prometheus_client import Counter, Gauge, Histogram

from askbook.models import Answer
from askbook.wiring import Parts

STAGE_SECONDS = Histogram(
    "askbook_stage_seconds",
    "Seconds a question spends in a stage.",
    ["stage"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
ANSWERS = Counter("askbook_answers", "Questions by how they ended.", ["door", "outcome"])
WITHHELD = Counter("askbook_withheld_sentences", "Sentences that failed grounding.")
TOKENS = Counter("askbook_tokens", "Tokens of the writer.", ["kind"])
LIMITS_HIT = Counter("askbook_limits_hit", "Questions refused by the rate limit.", ["tier"])
RUNNING = Gauge("askbook_answers_running", "Answers being made now.", multiprocess_mode="livesum")
INDEX_AGE = Gauge(
    "askbook_index_age_seconds",
    "Seconds since the published index version was made.",
    multiprocess_mode="mostrecent",
)

REQUESTS = PrometheusConfig(app_name="askbook", prefix="askbook_http", group_path=True)


def observe(door: str, answer: Answer) -> None:
    """Count a finished answer."""
    ANSWERS.labels(door, "refused" if answer.refused else "answered").inc()
    WITHHELD.inc(len(answer.withheld))
    TOKENS.labels("input").inc(answer.usage.prompt_tokens)
    TOKENS.labels("output").inc(answer.usage.completion_tokens)
    for stage, seconds in answer.seconds.items():
        STAGE_SECONDS.labels(stage).observe(seconds)


class Metrics(PrometheusController):
    """Litestar's controller, with the age of the index looked up at every scrape."""

    include_in_schema = False

    @get()
    async def get(self, state: State) -> Response[bytes]:
        """All metrics of all worker processes, in Prometheus' text format."""
        await anyio.to_thread.run_sync(_note_index_age, state.parts)
        return await super().get.fn(self)  # type: ignore[no-any-return]


def _note_index_age(parts: Parts) -> None:
    made = next((v.created_at for v in parts.index.versions() if v.current), None)
    if made is not None:
        INDEX_AGE.set(time.time() - made.timestamp())
