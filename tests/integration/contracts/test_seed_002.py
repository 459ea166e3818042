"""`POST /api/ask` and its stream as document 002 has them."""

import pytest
from api_server import events_of

pytestmark = pytest.mark.xdist_group("api")

QUESTION = {"question": "What is a topic's reliability policy?"}


def test_a_question_gets_answer_citations_and_confidence(reader):
    response = reader.post("/api/ask", json=QUESTION)
    body = response.json()
    assert response.status_code == 200
    assert set(body) == {"answer", "citations", "confidence"}
    assert 0 < body["confidence"] <= 1
    assert body["citations"]
    for citation in body["citations"]:
        assert {"chapter", "chapter_title", "source_file", "excerpt"} <= set(citation)
        assert len(citation["excerpt"]) <= 200
        assert citation["source_file"].startswith("module-1-ros2/")


def test_every_excerpt_stands_in_the_chunk_that_is_cited(reader):
    for citation in reader.post("/api/ask", json=QUESTION).json()["citations"]:
        chunk = reader.get(f"/api/chunks/{citation['chunk_id']}").json()["chunk"]
        assert citation["excerpt"] in chunk["text"]


def test_a_refusal_has_no_citations_and_no_confidence(reader):
    body = reader.post("/api/ask", json={"question": "sourdough baguette"}).json()
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
@pytest.mark.parametrize("door", ["/api/ask", "/api/ask/stream"])
def test_invalid_input_names_every_field(reader, door, body, fields):
    response = reader.post(door, json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert {each["field"] for each in response.json()["errors"]} == fields


def test_a_stream_is_the_documented_sequence_and_says_what_the_whole_answer_says(reader):
    response = reader.post("/api/ask/stream", json=QUESTION)
    whole = reader.post("/api/ask", json=QUESTION).json()
    assert response.headers["content-type"].startswith("text/event-stream")
    *pieces, last = events_of(response)
    assert all(set(piece) == {"content", "done"} and not piece["done"] for piece in pieces)
    assert "".join(piece["content"] for piece in pieces) == whole["answer"]
    assert last == {
        "content": "",
        "done": True,
        "citations": whole["citations"],
        "confidence": whole["confidence"],
    }


def test_a_streamed_refusal_is_a_sentence_and_one_last_event(reader):
    response = reader.post("/api/ask/stream", json={"question": "sourdough baguette"})
    said, last = events_of(response)
    assert said["content"] == "The book does not contain information about this topic."
    assert last == {"content": "", "done": True, "citations": [], "confidence": 0.0}
