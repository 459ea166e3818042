"""`POST /api/search`, chunks and lessons as document 004 has them."""

import uuid

import pytest

pytestmark = pytest.mark.xdist_group("api")

RESULT = {
    "text", "score", "source_file", "section_title", "module", "chapter", "lesson",
    "hardware_tier", "proficiency_level", "layer", "chunk_index", "total_chunks",
    "parent_doc_id", "prev_chunk_id", "next_chunk_id", "content_hash",
}  # fmt: skip


def test_search_gives_the_documented_response_with_its_defaults(reader):
    body = reader.post("/api/search", json={"text": "quality of service"}).json()
    assert set(body) == {
        "query", "results", "total_found", "hardware_tier_filter", "module_filter", "book_id",
    }  # fmt: skip
    assert (body["query"], body["hardware_tier_filter"]) == ("quality of service", 1)
    assert (body["module_filter"], body["book_id"]) == (None, "book")
    assert 0 < len(body["results"]) <= 5
    assert body["total_found"] >= len(body["results"])
    assert all(set(result) >= RESULT for result in body["results"])
    scores = [result["score"] for result in body["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize(
    ("filters", "holds"),
    [
        ({"hardware_tier_filter": 2}, lambda r: r["hardware_tier"] <= 2),
        ({"module_filter": "ros2"}, lambda r: r["module"] == "ros2"),
        ({"chapter_min": 2, "chapter_max": 3}, lambda r: 2 <= r["chapter"] <= 3),
        ({"lesson_filter": 1}, lambda r: r["lesson"] == 1),
        ({"proficiency_levels": ["A2", "B1"]}, lambda r: r["proficiency_level"] in {"A2", "B1"}),
        ({"layer_filter": "L1"}, lambda r: r["layer"] == "L1"),
    ],
)
def test_each_filter_holds_for_every_result(reader, filters, holds):
    asked = {"text": "robot node topic", "hardware_tier_filter": 4, "limit": 20, **filters}
    results = reader.post("/api/search", json=asked).json()["results"]
    assert results
    assert all(map(holds, results))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": "ab"}, "text"),
        ({"text": "robot", "limit": 0}, "limit"),
        ({"text": "robot", "limit": 21}, "limit"),
        ({"text": "robot", "hardware_tier_filter": 5}, "hardware_tier_filter"),
        ({"text": "robot", "proficiency_levels": ["D1"]}, "proficiency_levels.0"),
        ({"text": "robot", "layer_filter": "L5"}, "layer_filter"),
        ({"text": "robot", "parent_doc_id": "x"}, "parent_doc_id"),
        ({"text": "robot", "query": "x"}, "query"),
    ],
)
def test_each_limit_is_refused_by_the_name_of_its_field(reader, body, field):
    response = reader.post("/api/search", json=body)
    assert response.status_code == 422
    assert [each["field"] for each in response.json()["errors"]] == [field]


def test_a_lesson_is_all_its_chunks_in_order_and_a_chunk_has_its_neighbours(reader):
    found = reader.post("/api/search", json={"text": "quality of service"}).json()["results"][0]
    lesson = reader.get(f"/api/lessons/{found['parent_doc_id']}").json()
    chunks = lesson["chunks"]
    assert [chunk["chunk_index"] for chunk in chunks] == list(range(found["total_chunks"]))
    assert len(chunks) > 3
    around = reader.get(f"/api/chunks/{chunks[2]['id']}?before=2&after=1").json()
    assert around["chunk"] == chunks[2]
    assert around["before"] == chunks[:2]
    assert around["after"] == chunks[3:4]
    edge = reader.get(f"/api/chunks/{chunks[0]['id']}?before=5&after=20").json()
    assert edge["before"] == []
    assert edge["after"] == chunks[1:]


@pytest.mark.parametrize("path", ["chunks", "lessons"])
def test_unknown_ids_are_not_found(reader, path):
    assert reader.get(f"/api/{path}/{uuid.uuid4()}").status_code == 404
    assert reader.get(f"/api/{path}/not-an-id").status_code == 404


def test_too_many_neighbours_are_refused_by_name(reader):
    response = reader.get(f"/api/chunks/{uuid.uuid4()}?before=21&after=-1")
    assert response.status_code == 422
    assert {each["field"] for each in response.json()["errors"]} == {"before", "after"}
