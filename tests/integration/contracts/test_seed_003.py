"""`POST /api/query`, its stream, sessions and their tables as document 003 has them."""

import uuid

import pytest
from api_server import events_of
from sqlalchemy import text

pytestmark = pytest.mark.xdist_group("api")

QUESTION = {"query": "What is a topic's reliability policy?"}


def test_a_question_gets_the_documented_response_and_begins_a_session(reader):
    response = reader.post("/api/query", json=QUESTION)
    body = response.json()
    assert {"answer", "sources", "confidence", "session_id", "tokens_used"} <= set(body)
    assert uuid.UUID(body["session_id"])
    assert body["tokens_used"] == {"input": 0, "output": 0, "total": 0}
    assert [source["position"] for source in body["sources"]] == list(
        range(1, len(body["sources"]) + 1)
    )
    for source in body["sources"]:
        assert {"chapter_id", "chapter_title", "relevance_score", "excerpt"} <= set(source)
        assert 0 <= source["relevance_score"] <= 1
    assert "HttpOnly" in response.headers["set-cookie"]


def test_a_stream_is_chunks_and_one_last_event_in_snake_case(reader):
    response = reader.post("/api/query/stream", json=QUESTION)
    *pieces, last = events_of(response)
    whole = reader.post("/api/query", json=QUESTION).json()
    assert all(set(piece) == {"chunk"} for piece in pieces)
    assert "".join(piece["chunk"] for piece in pieces) == whole["answer"]
    assert last["done"] is True
    assert last["sources"] == whole["sources"]
    assert last["confidence"] == whole["confidence"]
    assert last["tokens_used"] == whole["tokens_used"]
    assert reader.get(f"/api/sessions/{last['session_id']}").status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "<b></b>"}, "query"),
        ({"query": "x" * 501}, "query"),
        ({"query": "x", "top_k": 11}, "top_k"),
        ({"query": "x", "session_id": "mine"}, "session_id"),
        ({"query": "x", "filters": {"module": 11}}, "filters.module"),
        ({"query": "x", "filters": {"difficulty": "hard"}}, "filters.difficulty"),
        ({"query": "x", "filters": {"mood": "good"}}, "filters.mood"),
        ({"query": "x", "userId": "camel"}, "userId"),
    ],
)
def test_each_limit_is_refused_by_the_name_of_its_field(reader, body, field):
    response = reader.post("/api/query", json=body)
    assert response.status_code == 422
    assert [each["field"] for each in response.json()["errors"]] == [field]


def test_a_filter_that_leaves_nothing_says_so_and_widens_only_on_request(reader):
    nothing = {**QUESTION, "filters": {"module": 7}}
    body = reader.post("/api/query", json=nothing).json()
    assert body["filter_message"] == "No passage of the book fits these filters."
    assert (body["sources"], body["confidence"]) == ([], 0.0)
    wider = reader.post("/api/query", json={**nothing, "broaden": True}).json()
    assert "the whole book was searched" in wider["filter_message"]
    assert wider["sources"]


def test_a_module_is_found_by_its_number(reader):
    body = reader.post("/api/query", json={**QUESTION, "filters": {"module": 1}}).json()
    assert body["sources"]
    assert body["filter_message"] is None


def test_messages_and_citations_are_stored_with_their_session(reader):
    first = reader.post("/api/query", json=QUESTION).json()
    session_id = first["session_id"]
    reader.post("/api/query", json={"query": "What is a node?", "session_id": session_id})
    told = reader.get(f"/api/sessions/{session_id}").json()
    assert {"id", "user_id", "created_at", "last_activity_at", "messages"} == set(told)
    assert told["user_id"] is None
    question, answer = told["messages"][:2]
    assert (question["role"], question["content"]) == ("user", QUESTION["query"])
    assert question["confidence"] is None
    assert (answer["role"], answer["content"]) == ("assistant", first["answer"])
    assert answer["confidence"] == first["confidence"]
    assert answer["tokens_used"] == first["tokens_used"]
    stored = [(c["position"], c["chapter_id"], c["excerpt"]) for c in answer["sources"]]
    assert stored == [(s["position"], s["chapter_id"], s["excerpt"]) for s in first["sources"]]
    assert len(told["messages"]) == 4


def test_a_user_id_in_the_body_makes_nobody_a_user(reader):
    body = reader.post("/api/query", json={**QUESTION, "user_id": str(uuid.uuid4())}).json()
    assert reader.get(f"/api/sessions/{body['session_id']}").json()["user_id"] is None


def test_a_session_that_is_deleted_is_gone_with_all_it_held(reader, api):
    session_id = reader.post("/api/query", json=QUESTION).json()["session_id"]
    assert reader.delete(f"/api/sessions/{session_id}").status_code == 204
    assert reader.get(f"/api/sessions/{session_id}").status_code == 404
    with api.app.state.parts.database.begin() as connection:
        left = connection.scalar(
            text("SELECT count(*) FROM chat_messages WHERE session_id = :id"), {"id": session_id}
        )
    assert left == 0


def test_sessions_without_activity_for_thirty_days_are_purged(reader, api):
    old = reader.post("/api/query", json=QUESTION).json()["session_id"]
    fresh = reader.post("/api/query", json=QUESTION).json()["session_id"]
    with api.app.state.parts.database.begin() as connection:
        connection.execute(
            text(
                "UPDATE chat_sessions SET last_activity_at = now() - interval '31 days' "
                "WHERE id = :id"
            ),
            {"id": old},
        )
        assert connection.scalar(text("SELECT purge_old_chat_sessions()")) == 1
    assert reader.get(f"/api/sessions/{old}").status_code == 404
    assert reader.get(f"/api/sessions/{fresh}").status_code == 200


def test_html_is_removed_from_a_question_but_not_code(reader):
    asked = {
        "query": "<script>alert(1)</script>What is a <b>topic</b>, std::vector<int> and a < b?"
    }
    session_id = reader.post("/api/query", json=asked).json()["session_id"]
    stored = reader.get(f"/api/sessions/{session_id}").json()["messages"][0]["content"]
    assert stored == "alert(1)What is a topic, std::vector<int> and a < b?"
