"""The table of contents, files with their states, and a lesson's source."""

import os
import shutil

import pytest
from litestar.testing import TestClient
from running import Installation

from api.app import create_app
from askbook.settings import Settings

pytestmark = pytest.mark.xdist_group("api")

CHAPTER = "module-1-ros2/chapter-1-ros2-graph"


def lessons_of(client) -> list[dict]:
    (book,) = client.get("/api/books").json()["books"]
    return [
        lesson
        for module in book["modules"]
        for chapter in module["chapters"]
        for lesson in chapter["lessons"]
    ]


def test_the_books_have_modules_chapters_and_lessons_in_reading_order(reader):
    (book,) = reader.get("/api/books").json()["books"]
    assert book["book_id"] == "book"
    (module,) = book["modules"]
    assert module["module"] == "ros2"
    assert [chapter["chapter"] for chapter in module["chapters"]] == [0, 1, 2, 3]
    first = module["chapters"][1]
    assert first["chapter_id"] == CHAPTER
    assert [lesson["lesson"] for lesson in first["lessons"]] == [0, 1, 2]
    assert first["title"] == first["lessons"][0]["title"]
    lessons = lessons_of(reader)
    assert [lesson["order"] for lesson in lessons] == list(range(len(lessons)))
    assert book["total_chunks"] == sum(lesson["chunk_count"] for lesson in lessons)


def test_a_lessons_source_is_its_file_with_the_lessons_before_and_after(reader, indexed_home):
    lessons = lessons_of(reader)
    book = indexed_home.home.parent / "book"
    for at, lesson in enumerate(lessons):
        source = reader.get(f"/api/lessons/{lesson['parent_doc_id']}/source").json()
        raw = (book / lesson["source_file"]).read_bytes()
        assert source["text"] == raw.decode()
        assert source["state"] == "indexed"
        assert source["title"] == lesson["title"]
        near = [source["previous"], source["next"]]
        wanted = [lessons[at - 1] if at else None, (lessons[at + 1 :] or [None])[0]]
        assert [each and each["source_file"] for each in near] == [
            each and each["source_file"] for each in wanted
        ]


def test_a_citations_offsets_point_into_the_source(reader):
    body = reader.post("/api/query", json={"query": "What is a topic?"}).json()
    for cited in body["sources"]:
        chunk = reader.get(f"/api/chunks/{cited['chunk_id']}").json()["chunk"]
        source = reader.get(f"/api/lessons/{chunk['parent_doc_id']}/source").json()
        span = source["text"][cited["start_char_offset"] : cited["end_char_offset"]]
        assert span
        if len(span) == len(cited["excerpt"]):
            assert span == cited["excerpt"]


@pytest.fixture
def edited(indexed_home: Installation, tmp_path):
    """The same index with a copy of the book that may be spoilt."""
    from sqlalchemy import text

    settings = Settings(home=indexed_home.home, embedder="hashing", book_id="book")
    shutil.copytree(indexed_home.home.parent / "book", tmp_path / "book")
    with TestClient(create_app(settings)) as client:
        database = client.app.state.parts.database

        def point_to(folder) -> None:
            with database.begin() as connection:
                connection.execute(
                    text("UPDATE ingestion_state SET book_dir = :d"), {"d": str(folder)}
                )

        point_to(tmp_path / "book")
        yield client, tmp_path / "book"
        point_to(indexed_home.home.parent / "book")


def test_states_are_found_by_comparing_with_the_folder(edited):
    client, book = edited
    (book / CHAPTER / "02-topics-and-qos.mdx").write_text("# Changed", "utf-8")
    (book / CHAPTER / "01-nodes-executors-workspaces.md").unlink()
    (book / "module-1-ros2" / "new.md").write_text("# New", "utf-8")
    body = client.get("/api/documents?limit=1000").json()
    states = {each["file_path"]: (each["state"], each["exists"]) for each in body["documents"]}
    assert states[f"{CHAPTER}/02-topics-and-qos.mdx"] == ("stale", True)
    assert states[f"{CHAPTER}/01-nodes-executors-workspaces.md"] == ("stale", False)
    assert states["module-1-ros2/new.md"] == ("unindexed", True)
    assert body["states"] == {"unindexed": 1, "indexed": len(states) - 3, "stale": 2}
    only = client.get("/api/documents?state=stale&limit=1&offset=1").json()
    assert (len(only["documents"]), only["total"]) == (1, 2)
    assert client.get("/api/documents?limit=0").status_code == 422


def test_a_file_that_changed_is_shown_as_stale_and_one_that_is_gone_is_not_found(edited):
    client, book = edited
    changed, gone = lessons_of(client)[:2]
    (book / changed["source_file"]).write_text("# Changed", "utf-8")
    (book / gone["source_file"]).unlink()
    source = client.get(f"/api/lessons/{changed['parent_doc_id']}/source").json()
    assert (source["text"], source["state"]) == ("# Changed", "stale")
    assert client.get(f"/api/lessons/{gone['parent_doc_id']}/source").status_code == 404


def test_no_link_leads_out_of_the_book(edited, tmp_path):
    client, book = edited
    secret = tmp_path / "secret.md"
    secret.write_text("secret", "utf-8")
    by_link, by_folder = lessons_of(client)[1:3]
    (book / by_link["source_file"]).unlink()
    (book / by_link["source_file"]).symlink_to(secret)
    folder = (book / by_folder["source_file"]).parent
    shutil.rmtree(folder)
    folder.symlink_to(tmp_path)
    os.link(secret, tmp_path / "01-nodes-executors-workspaces.md")
    for lesson in (by_link, by_folder):
        response = client.get(f"/api/lessons/{lesson['parent_doc_id']}/source")
        assert response.status_code == 404
        assert str(tmp_path) not in response.text
