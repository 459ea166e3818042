"""Whose conversation it is; how many questions an hour."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from litestar.testing import TestClient
from sqlalchemy import text

from api.app import create_app

pytestmark = pytest.mark.xdist_group("api")

QUESTION = {"query": "What is a topic?"}


def test_somebody_elses_session_is_not_found_whatever_they_try(reader, bearer):
    response = reader.post("/api/query", json=QUESTION)
    session_id = response.json()["session_id"]
    reader.cookies.clear()
    other = reader.post("/api/query", json=QUESTION)
    reader.cookies.clear()
    thieves = [
        {},
        {"X-Session-Token": "guess"},
        {"X-Session-Token": other.headers["x-session-token"]},
        {"Cookie": f"askbook_session_{session_id}={other.headers['x-session-token']}"},
        bearer(str(uuid.uuid4())),
    ]
    for headers in thieves:
        assert reader.get(f"/api/sessions/{session_id}", headers=headers).status_code == 404
        assert reader.delete(f"/api/sessions/{session_id}", headers=headers).status_code == 404
        for door in ("/api/query", "/api/query/stream"):
            asked = {**QUESTION, "session_id": session_id}
            assert reader.post(door, json=asked, headers=headers).status_code == 404
    mine = {"X-Session-Token": response.headers["x-session-token"]}
    assert reader.get(f"/api/sessions/{session_id}", headers=mine).status_code == 200


def test_unknown_and_foreign_sessions_answer_alike(reader):
    foreign = reader.post("/api/query", json=QUESTION).json()["session_id"]
    reader.cookies.clear()
    replies = [reader.get(f"/api/sessions/{each}") for each in (foreign, uuid.uuid4())]
    assert replies[0].json() == replies[1].json()


def test_a_readers_session_follows_their_token_and_not_a_cookie(reader, bearer):
    me = str(uuid.uuid4())
    session_id = reader.post("/api/query", json=QUESTION, headers=bearer(me)).json()["session_id"]
    assert reader.get(f"/api/sessions/{session_id}").status_code == 404  # the cookie alone
    reader.cookies.clear()
    told = reader.get(f"/api/sessions/{session_id}", headers=bearer(me)).json()
    assert told["user_id"] == me


def test_a_bad_token_is_refused_and_not_taken_for_nobody(reader, bearer):
    for headers in (bearer("x", lasts=-1), {"Authorization": "Bearer x.y.z"}):
        response = reader.post("/api/ask", json={"question": "topics"}, headers=headers)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"


@pytest.fixture(scope="module")
def strict(api_settings):
    """The same API with small limits."""
    settings = api_settings.model_copy(
        update={"anonymous_per_hour": 3, "authenticated_per_hour": 5}
    )
    with TestClient(create_app(settings)) as client:
        yield client


def ask(client, headers, door="/api/ask", body=None):
    return client.post(door, json=body or {"question": "topics"}, headers=headers)


def test_the_hours_questions_are_counted_and_the_rest_told_when_to_come_back(strict, bearer):
    me = bearer(str(uuid.uuid4()))
    left = [ask(strict, me).headers["x-ratelimit-remaining"] for _ in range(5)]
    assert left == ["4", "3", "2", "1", "0"]
    refused = ask(strict, me)
    assert refused.status_code == 429
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["x-ratelimit-limit"] == "5"
    assert 3500 < int(refused.headers["retry-after"]) <= 3600
    assert strict.post("/api/search", json={"text": "topics"}, headers=me).status_code == 200
    assert ask(strict, bearer(str(uuid.uuid4()))).status_code == 200


def test_invalid_questions_and_foreign_sessions_cost_nothing(strict, bearer):
    me = bearer(str(uuid.uuid4()))
    assert ask(strict, me, body={"question": ""}).status_code == 422
    foreign = {**QUESTION, "session_id": str(uuid.uuid4())}
    assert ask(strict, me, "/api/query", foreign).status_code == 404
    assert ask(strict, me).headers["x-ratelimit-remaining"] == "4"


def test_questions_asked_at_once_are_counted_exactly(strict, bearer):
    me = bearer(str(uuid.uuid4()))
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda _: ask(strict, me).status_code, range(12)))
    assert sorted(replies) == [200] * 5 + [429] * 7


def test_an_hour_later_the_count_starts_again(strict, bearer, api):
    user = str(uuid.uuid4())
    for _ in range(5):
        ask(strict, bearer(user))
    with api.app.state.parts.database.begin() as connection:
        connection.execute(
            text(
                "UPDATE rate_limits SET window_start = window_start - interval '1 hour' "
                "WHERE identifier = :who"
            ),
            {"who": f"user:{user}"},
        )
    assert ask(strict, bearer(user)).headers["x-ratelimit-remaining"] == "4"


def test_nobodys_questions_are_counted_by_address(strict, api):
    with api.app.state.parts.database.begin() as connection:
        connection.execute(text("DELETE FROM rate_limits WHERE identifier = 'anon:testclient'"))
    statuses = [ask(strict, {}).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
