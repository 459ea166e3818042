"""What all doors share: problem documents, health, the page, the OpenAPI."""

import pytest

pytestmark = pytest.mark.xdist_group("api")


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b"\xff", 400),
        (b'{"question": "\xc3\x28 what"}', 400),
        (b"[" * 60_000, 400),
        (b'{"question":' * 5_000, 400),
        (b'{"question": "' + b"x" * 70_000, 413),
        (b"[]", 422),
        (b"null", 422),
        (b"7", 422),
        (b"", 422),
    ],
)
@pytest.mark.parametrize("door", ["/api/ask", "/api/query/stream"])
def test_a_body_that_is_no_request_is_refused(reader, door, content, status):
    headers = {"content-type": "application/json"}
    response = reader.post(door, content=content, headers=headers)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["status"] == status


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/nothing", 404), ("GET", "/api/ask", 405), ("DELETE", "/api/search", 405)],
)
def test_unknown_addresses_and_methods_are_problem_documents(reader, method, path, status):
    response = reader.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert set(response.json()) == {"type", "title", "status", "detail"}


def test_health_and_readiness_name_every_part(reader):
    assert reader.get("/health").json() == {"status": "ok"}
    ready = reader.get("/ready")
    body = ready.json()
    assert ready.status_code == 200
    assert (body["status"], body["index_version"]) == ("ready", "v000001")
    parts = {name: each["status"] for name, each in body["dependencies"].items()}
    assert parts == {
        "index": "ok",
        "postgresql": "ok",
        "embedder": "ok",
        "writer": "ok",
        "reranker": "unused",
        "prefect": "unused",
    }


def test_the_page_and_the_schema_are_served(reader):
    assert "<html" in reader.get("/").text
    assert "/api/ask" in reader.get("/schema").json()["paths"]


def test_every_reply_carries_an_id_and_a_callers_own_id_is_kept_if_it_is_harmless(reader):
    assert len(reader.get("/health").headers["x-request-id"]) == 32
    kept = reader.get("/health", headers={"X-Request-ID": "trace-1.a"})
    assert kept.headers["x-request-id"] == "trace-1.a"
    changed = reader.get("/health", headers={"X-Request-ID": "a b\tc"})
    assert changed.headers["x-request-id"] != "a b\tc"
