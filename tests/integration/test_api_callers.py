"""Who is calling: addresses behind proxies, pages of other origins; and what is noted of them."""

import json

import pytest
from api_server import ObedientWriter, give_writer, served
from litestar.testing import TestClient
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from api.app import create_app

pytestmark = pytest.mark.xdist_group("api")

ASKED = {"question": "What is a topic's reliability policy?"}
READERS_PAGE, OTHER_PAGE = "https://book.example", "https://evil.example"


def from_address(forwarded: str) -> dict[str, str]:
    return {"X-Forwarded-For": forwarded}


@pytest.fixture(scope="module")
def behind_proxy(api_settings):
    """A server that trusts the proxy at 127.0.0.1 and lets an address ask twice."""
    update = {"trusted_proxies": ("127.0.0.0/8", "10.0.0.1"), "anonymous_per_hour": 2}
    with served(create_app(api_settings.model_copy(update=update))) as running:
        yield running.client


def test_behind_a_trusted_proxy_every_reader_has_an_hour_of_their_own(behind_proxy):
    def status(forwarded: str) -> int:
        response = behind_proxy.post("/api/ask", json=ASKED, headers=from_address(forwarded))
        return response.status_code

    assert [status("198.51.100.7") for _ in range(3)] == [200, 200, 429]
    assert status("198.51.100.8") == 200
    # What a reader claims stands to the left of what the proxies added, and is not believed.
    assert status("198.51.100.9, 198.51.100.7") == 429
    assert status("198.51.100.9, 198.51.100.7, 10.0.0.1") == 429
    assert status("2001:db8:5:5::1") == 200


def test_without_a_trusted_proxy_nobody_can_claim_another_address(api_settings):
    with served(create_app(api_settings)) as running:
        left = [
            int(
                running.client.post(
                    "/api/ask", json=ASKED, headers=from_address(f"198.51.100.{number}")
                ).headers["x-ratelimit-remaining"]
            )
            for number in range(3)
        ]
    assert left == [left[0], left[0] - 1, left[0] - 2]


def test_a_cookie_that_was_set_by_https_goes_back_by_https_only(behind_proxy):
    def cookie(**headers: str) -> str:
        who = from_address(f"198.51.100.{20 + len(headers)}")
        asked = {"query": "topics"}
        return behind_proxy.post("/api/query", json=asked, headers={**who, **headers}).headers[
            "set-cookie"
        ]

    assert "HttpOnly" in cookie()
    assert "Secure" not in cookie()
    assert "Secure" in cookie(**{"X-Forwarded-Proto": "https"})


def preflight(client, origin, method="POST", headers="content-type, x-session-token"):
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    return client.options("/api/query", headers={"Origin": origin, **asked})


@pytest.fixture(scope="module")
def cors(api_settings):
    update = {"cors_origins": (READERS_PAGE, "https://two.example")}
    with TestClient(create_app(api_settings.model_copy(update=update))) as client:
        yield client


def test_a_page_of_an_allowed_origin_may_ask_with_its_cookies_and_read_the_reply(cors):
    allowed = preflight(cors, READERS_PAGE)
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == READERS_PAGE
    assert allowed.headers["access-control-allow-credentials"] == "true"
    assert "x-session-token" in allowed.headers["access-control-allow-headers"]
    for body, status in (({"query": "topics"}, 200), ({}, 422)):
        reply = cors.post("/api/query", json=body, headers={"Origin": READERS_PAGE})
        assert reply.status_code == status
        assert reply.headers["access-control-allow-origin"] == READERS_PAGE
        assert reply.headers["access-control-allow-credentials"] == "true"
        assert "X-Session-Token" in reply.headers["access-control-expose-headers"]
        assert "Origin" in reply.headers["vary"]


@pytest.mark.parametrize(
    "origin", [OTHER_PAGE, f"{READERS_PAGE}.evil.example", "http://book.example", "null"]
)
def test_a_page_of_another_origin_may_neither_ask_nor_read(cors, origin):
    refused = preflight(cors, origin)
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in refused.headers
    reply = cors.get("/api/books", headers={"Origin": origin})
    assert "access-control-allow-origin" not in reply.headers


def test_only_the_apis_own_methods_and_headers_are_allowed(cors):
    assert preflight(cors, READERS_PAGE, method="PUT").status_code == 400
    assert preflight(cors, READERS_PAGE, headers="x-forwarded-for").status_code == 400
    ours = "authorization, content-type, x-admin-key, x-session-token, x-request-id"
    assert preflight(cors, READERS_PAGE, headers=ours).status_code == 204


def test_a_page_may_read_where_a_job_is_and_how_much_is_left_of_its_hour(cors):
    reply = cors.get("/api/books", headers={"Origin": READERS_PAGE})
    exposed = {name.strip() for name in reply.headers["access-control-expose-headers"].split(",")}
    assert exposed >= {"Location", "Retry-After", "X-RateLimit-Remaining", "X-Request-ID"}


def test_any_origin_may_ask_but_then_without_cookies(api_settings):
    update = {"cors_origins": ("*",)}
    with TestClient(create_app(api_settings.model_copy(update=update))) as client:
        allowed = preflight(client, OTHER_PAGE)
        assert allowed.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in allowed.headers


def test_without_the_setting_no_other_origin_may_ask(reader):
    assert "access-control-allow-origin" not in preflight(reader, READERS_PAGE).headers


DOORS = [
    ("/api/ask", "question"),
    ("/api/ask/stream", "question"),
    ("/api/chat", "query"),
    ("/api/query", "query"),
    ("/api/query/stream", "query"),
    ("/api/search", "text"),
]


@pytest.mark.parametrize("door", DOORS, ids=[path for path, _ in DOORS])
def test_no_question_is_in_the_log_even_where_the_server_fails(reader, log, door):
    path, field = door
    asked = {field: "What did Zerlina whisper about topics?"}
    assert reader.post(path, json=asked).status_code == 200
    assert reader.post(path, json={**asked, "unknown": "Zerlina"}).status_code == 422
    writer = ObedientWriter(error=RuntimeError("broken"))
    before = reader.app.state.parts.__dict__["asking"]
    give_writer(reader.app, writer, refuse_below=0.0, on_writer_failure="unavailable")
    try:
        reader.post(path, json=asked)
    finally:
        reader.app.state.parts.__dict__["asking"] = before
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["path"] for line in lines if line["message"] == "request"] == [path] * 3
    assert "Zerlina" not in log.getvalue()


def test_questions_are_in_the_log_where_the_operator_wants_them(api_settings, log):
    update = {"log_questions": True}
    with TestClient(create_app(api_settings.model_copy(update=update))) as client:
        reply = client.post("/api/ask", json={"question": "What did Zerlina whisper?"})
    lines = [json.loads(line) for line in log.getvalue().lstrip("\0").splitlines()]
    (noted,) = [line for line in lines if line["message"] == "question"]
    assert noted["question"] == "What did Zerlina whisper?"
    assert noted["request_id"] == reply.headers["x-request-id"]


def test_an_error_of_the_database_does_not_repeat_what_a_reader_said(reader):
    said = {"content": "What did Zerlina whisper?"}
    with (
        pytest.raises(DBAPIError) as caught,
        reader.app.state.parts.database.begin() as connection,
    ):
        connection.execute(text("SELECT 1/0, :content"), said)
    assert "Zerlina" not in str(caught.value)
