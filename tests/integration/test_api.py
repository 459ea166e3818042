"""The HTTP doors, on a real index, through Litestar's own client."""

import pytest
from litestar.testing import TestClient
from running import Installation

from api.app import create_app
from askbook.settings import Settings

pytestmark = pytest.mark.xdist_group("api")


@pytest.fixture(scope="module")
def client(indexed_home: Installation):
    with TestClient(
        create_app(Settings(home=indexed_home.home, embedder="hashing", book_id="book"))
    ) as made:
        yield made


def test_a_question_gets_a_cited_answer(client):
    response = client.post("/api/ask", json={"question": "What is a topic's reliability policy?"})
    body = response.json()
    assert response.status_code == 200
    assert 0 < body["confidence"] <= 1
    assert body["citations"]
    for citation in body["citations"]:
        assert len(citation["excerpt"]) <= 200
        assert citation["source_file"].startswith("module-1-ros2/")


def test_a_question_the_book_has_no_words_for_is_refused(client):
    body = client.post("/api/ask", json={"question": "sourdough baguette"}).json()
    assert body == {
        "answer": "The book does not contain information about this topic.",
        "citations": [],
        "confidence": 0.0,
    }


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"question"}),
        ({"question": "  a  "}, {"question"}),
        ({"question": "x" * 1001}, {"question"}),
        ({"question": "What is a node?", "top_k": 0}, {"top_k"}),
        ({"question": "", "top_k": 21, "mood": "good"}, {"question", "top_k", "mood"}),
    ],
)
def test_invalid_input_is_a_problem_document_that_names_every_field(client, body, fields):
    response = client.post("/api/ask", json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert {each["field"] for each in response.json()["errors"]} == fields


@pytest.mark.parametrize(
    ("content", "status"), [(b"{", 400), (b"\xff", 400), (b'{"question": "' + b"x" * 70_000, 413)]
)
def test_a_body_that_is_not_json_or_too_long_is_refused(client, content, status):
    headers = {"content-type": "application/json"}
    response = client.post("/api/ask", content=content, headers=headers)
    assert response.status_code == status
    assert response.json()["status"] == status


def test_an_unknown_address_is_a_problem_document(client):
    response = client.get("/api/nothing")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"


def test_health_and_readiness(client):
    assert client.get("/health").json() == {"status": "ok"}
    ready = client.get("/ready")
    assert ready.status_code == 200
    assert ready.json()["index_version"] == "v000001"


def test_the_page_and_the_schema_are_served(client):
    assert "Ask the book" in client.get("/").text
    assert "/api/ask" in client.get("/schema").json()["paths"]
