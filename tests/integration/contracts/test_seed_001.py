"""Document 001: refusals in its words, selections by range, five pairs of conversation."""

import pytest
from sqlalchemy import text

pytestmark = pytest.mark.xdist_group("api")

TOPICS = "module-1-ros2/chapter-1-ros2-graph/02-topics-and-qos.mdx"


def test_what_the_book_does_not_hold_is_refused_in_the_documents_words(reader):
    body = reader.post("/api/query", json={"query": "sourdough baguette"}).json()
    assert body["answer"] == "The book does not contain information about this topic."
    assert (body["sources"], body["confidence"], body["refused"]) == ([], 0.0, True)


def test_a_selection_finds_the_chunks_that_overlap_it_though_it_is_shorter_than_any(reader):
    selection = {"source_file": TOPICS, "start": 900, "end": 910}
    body = reader.post("/api/query", json={"query": "topics", "selection": selection}).json()
    assert body["sources"]
    for source in body["sources"]:
        chunk = reader.get(f"/api/chunks/{source['chunk_id']}").json()["chunk"]
        assert chunk["source_file"] == TOPICS
        assert chunk["start_char_offset"] < 910
        assert chunk["end_char_offset"] > 900


@pytest.mark.parametrize(
    "selection",
    [
        {"start": 1, "end": 2},
        {"source_file": "a.md", "chapter_id": "b", "start": 1, "end": 2},
        {"source_file": "a.md", "start": 2, "end": 2},
        {"source_file": "a.md", "start": -1, "end": 2},
    ],
)
def test_a_selection_without_a_place_or_a_length_is_refused(reader, selection):
    response = reader.post("/api/query", json={"query": "topics", "selection": selection})
    assert response.status_code == 422
    assert {each["field"].split(".")[0] for each in response.json()["errors"]} == {"selection"}


def test_a_conversation_lapses_after_thirty_minutes_but_stays_readable(reader, api):
    first = reader.post("/api/query", json={"query": "What is a topic?"}).json()
    session = {"session_id": first["session_id"]}
    with api.app.state.parts.database.begin() as connection:
        connection.execute(
            text(
                "UPDATE chat_sessions SET last_activity_at = now() - interval '31 minutes' "
                "WHERE id = :session_id"
            ),
            session,
        )
        from askbook.store import sessions

        assert sessions.context(connection, first["session_id"]) == ()
    again = reader.post("/api/query", json={"query": "What is a node?", **session})
    assert again.status_code == 200
    told = reader.get(f"/api/sessions/{first['session_id']}").json()
    assert [message["role"] for message in told["messages"]] == ["user", "assistant"] * 2
