"""Streams on a real port: heartbeats, one last event, a server that stops."""

import json
import threading

import pytest
from api_server import ObedientWriter, events_of, give_writer, served

from api.app import create_app
from askbook.errors import ProviderError, ProviderUnavailable

pytestmark = pytest.mark.xdist_group("api")

ASKED = {"question": "What is a topic's reliability policy?"}


@pytest.fixture(scope="module")
def live(api_settings):
    with served(create_app(api_settings)) as running:
        yield running


@pytest.fixture
def writer(live):
    made = ObedientWriter()
    give_writer(live.app, made, refuse_below=0.0)
    yield made
    made.may_end.set()


def test_a_sentence_comes_before_the_answer_ends_and_silence_is_filled_with_heartbeats(
    live, writer
):
    with live.client.stream("POST", "/api/ask/stream", json=ASKED) as response:
        lines = (line for line in response.iter_lines() if line)
        first = next(line for line in lines if line.startswith("data:"))
        assert json.loads(first.removeprefix("data: "))["done"] is False
        assert next(lines).startswith(":")  # the writer is silent now
        assert next(lines).startswith(":")
        writer.may_end.set()
        rest = [json.loads(line.removeprefix("data: ")) for line in lines if line[0] == "d"]
    assert [event["done"] for event in rest] == [False, True]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ProviderUnavailable("https://secret.example:8443 timed out"), "A model provider does not"),
        (ProviderError("key sk-secret was refused"), "A model provider refused"),
        (RuntimeError("/srv/secret/path"), "The server could not answer"),
    ],
)
@pytest.mark.parametrize("door", ["ask", "query"])
def test_our_failures_end_a_stream_with_one_event_and_give_the_question_back(
    live, writer, door, error, said
):
    give_writer(live.app, writer, refuse_below=0.0, on_writer_failure="unavailable")
    writer.error = error
    asked = ASKED if door == "ask" else {"query": ASKED["question"]}
    response = live.client.post(f"/api/{door}/stream", json=asked)
    (only,) = events_of(response)
    assert only["done"] is True
    assert only["error"].startswith(said)
    assert "secret" not in response.text
    failed = live.client.post(f"/api/{door}", json=asked)
    assert failed.status_code == (500 if isinstance(error, RuntimeError) else 503)
    assert "secret" not in failed.text
    writer.error = None
    writer.may_end.set()
    after = live.client.post(f"/api/{door}", json=asked)
    left = int(response.headers["x-ratelimit-remaining"])
    assert int(after.headers["x-ratelimit-remaining"]) == left


def test_tokens_of_the_writer_are_told(live, writer):
    writer.may_end.set()
    body = live.client.post("/api/query", json={"query": ASKED["question"]}).json()
    assert body["tokens_used"] == {"input": 7, "output": 3, "total": 10}
    assert body["parts"]["writer"] == "obedient"


def test_a_server_that_is_stopped_finishes_its_running_answers(api_settings):
    writer = ObedientWriter()
    with served(create_app(api_settings)) as running:
        give_writer(running.app, writer, refuse_below=0.0)
        with running.client.stream("POST", "/api/ask/stream", json=ASKED) as response:
            lines = response.iter_lines()
            next(line for line in lines if line.startswith("data:"))
            running.server.should_exit = True
            threading.Timer(0.3, writer.may_end.set).start()
            last = [line for line in lines if line.startswith("data:")][-1]
    assert json.loads(last.removeprefix("data: "))["done"] is True


def test_metrics_count_answers_stages_and_the_age_of_the_index(live, writer):
    writer.may_end.set()
    live.client.post("/api/ask", json=ASKED)
    text = live.client.get("/metrics").text
    for name in (
        'askbook_answers_total{door="ask",outcome="answered"}',
        'askbook_stage_seconds_count{stage="find"}',
        'askbook_tokens_total{kind="output"}',
        "askbook_withheld_sentences_total",
        "askbook_index_age_seconds",
        "askbook_http_requests_total",
    ):
        assert name in text
