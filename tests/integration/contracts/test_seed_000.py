"""`POST /api/chat` as document 000 has it: field names, limits, formats."""

import re

import pytest

pytestmark = pytest.mark.xdist_group("api")

EXAMPLE = {
    "query": "What is a topic's reliability policy?",
    "selected_text": None,
    "conversation_history": [
        {"role": "user", "content": "What is a topic?"},
        {"role": "assistant", "content": "A named, typed, many-to-many stream."},
    ],
}


def refused_fields(response) -> set[str]:
    assert response.status_code == 422, response.text
    return {each["field"].split(".")[0] for each in response.json()["errors"]}


def test_the_example_request_gets_the_documented_response(reader):
    body = reader.post("/api/chat", json=EXAMPLE).json()
    assert set(body) == {"response", "source_chunks", "mode", "timestamp"}
    assert body["response"]
    assert body["mode"] == "rag"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["timestamp"])
    assert body["source_chunks"]
    for source in body["source_chunks"]:
        assert {"chapter", "section", "snippet"} <= set(source)
        assert len(source["snippet"]) <= 200


def test_a_selection_alone_is_explained_from_itself_and_located_in_the_book(reader):
    selected = (
        "A publisher does not know who listens, a subscriber does not know who speaks, and "
        "neither waits for the other."
    )
    body = reader.post("/api/chat", json={"selected_text": selected}).json()
    assert body["mode"] == "selected_text"
    assert "publisher does not know" in body["response"]
    assert body["source_chunks"][0]["source_file"].endswith("02-topics-and-qos.mdx")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x" * 4001}, "query"),
        ({"query": "q ! " * 1000}, "query"),  # 4,000 characters, more than 1,000 tokens
        ({"query": "What?", "selected_text": "x" * 5001}, "selected_text"),
        (
            {"query": "What?", "conversation_history": [{"role": "user", "content": "x"}] * 11},
            "conversation_history",
        ),
        ({"query": "What?", "conversation_history": [{"role": "user"}]}, "conversation_history"),
        (
            {"query": "What?", "conversation_history": [{"role": "system", "content": "x"}]},
            "conversation_history",
        ),
        ({"query": "What?", "temperature": 1}, "temperature"),
    ],
)
def test_each_limit_is_refused_by_the_name_of_its_field(reader, body, field):
    assert refused_fields(reader.post("/api/chat", json=body)) == {field}


def test_the_largest_allowed_question_and_selection_pass(reader):
    body = {"query": "robots " * 571, "selected_text": "x" * 5000}
    assert len(body["query"].strip()) <= 4000
    assert reader.post("/api/chat", json=body).status_code == 200
