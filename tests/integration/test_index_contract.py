"""One contract, two engines: the embedded one, and a server through its client."""

import os
import uuid
from collections.abc import Iterator

import numpy as np
import pytest
from qdrant_client import QdrantClient

from askbook.errors import IndexFault
from askbook.index.edge import EdgeIndex
from askbook.index.server import ServerIndex
from askbook.models import ChunkFilter, IndexPoint
from askbook.ports import VectorIndex

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
SERVER = os.environ.get("ASKBOOK_QDRANT_URL")  # the contract also runs on a real one, if given
MODEL = {"embedding_model": "test-3", "dimensions": 3}
EVERYTHING = ChunkFilter()


def _server(client: QdrantClient) -> Iterator[VectorIndex]:
    alias = f"contract_{uuid.uuid4().hex[:8]}"
    yield ServerIndex(client, alias, keep_versions=2)
    for collection in client.get_collections().collections:
        if collection.name.startswith(alias):
            client.delete_collection(collection.name)


@pytest.fixture(params=["edge", "server-in-memory", *(["server"] if SERVER else [])])
def index(request, tmp_path) -> Iterator[VectorIndex]:
    if request.param == "edge":
        yield EdgeIndex(tmp_path / "index", keep_versions=2)
    elif request.param == "server-in-memory":
        yield from _server(QdrantClient(":memory:"))
    else:
        yield from _server(QdrantClient(SERVER))


def point(text: str, vector: list[float], **payload: object) -> IndexPoint:
    defaults = {
        "book_id": "robots",
        "text": text,
        "module": "ros2",
        "chapter": 1,
        "lesson": 1,
        "hardware_tier": 1,
        "proficiency_level": "A2",
        "layer": "L1",
        "difficulty": "beginner",
        "tags": ["motion"],
        "start_char_offset": 0,
        "end_char_offset": 100,
        "source_file": "a.md",
        "chapter_id": "module-1/chapter-1",
        "parent_doc_id": "p",
        "embedded_hash": text,
    }
    return IndexPoint(
        str(uuid.uuid5(uuid.NAMESPACE_URL, text)), vector, text, {**defaults, **payload}
    )


ARM = point("the robot arm lifts a box", [1.0, 0.0, 0.0])
LEG = point(
    "legs walk over uneven ground", [0.0, 1.0, 0.0], chapter=3, hardware_tier=3, tags=["gait"]
)
EYE = point(
    "a camera sees depth",
    [0.0, 0.0, 1.0],
    module="isaac",
    lesson=2,
    proficiency_level="B1",
    layer="L2",
    difficulty="advanced",
    start_char_offset=100,
    end_char_offset=200,
    source_file="b.md",
    chapter_id="module-3/chapter-7",
    parent_doc_id="q",
    tags=["vision", "depth"],
)


def publish(index: VectorIndex, *points: IndexPoint, delete: tuple[IndexPoint, ...] = ()) -> str:
    with index.build(**MODEL) as draft:
        draft.upsert(points)
        draft.delete([each.id for each in delete])
        return draft.publish()


def found(index: VectorIndex, where: ChunkFilter) -> set[str]:
    hits = index.search(np.array([1, 1, 1], dtype=np.float32), "robot", where, 10, 100)
    return {hit.id for hit in hits}


def test_an_index_nobody_built_is_empty_not_an_error(index):
    assert index.search(np.ones(3, dtype=np.float32), "robot", EVERYTHING, 5, 100) == []
    assert index.count(EVERYTHING) == 0
    assert index.retrieve([ARM.id]) == []
    assert list(index.scroll(EVERYTHING)) == []
    assert index.facets("module", EVERYTHING) == {}
    assert index.versions() == []


def test_a_draft_is_seen_only_when_it_is_published(index):
    with index.build(**MODEL) as draft:
        draft.upsert([ARM, LEG])
        assert draft.count(EVERYTHING) == 2
        assert index.count(EVERYTHING) == 0
        draft.publish()
    assert index.count(EVERYTHING) == 2


def test_a_first_draft_that_fails_leaves_nothing_behind(index):
    def fail() -> None:
        with index.build(**MODEL) as draft:
            draft.upsert([ARM])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert index.versions() == []
    publish(index, LEG)
    assert found(index, EVERYTHING) == {LEG.id}


def test_search_finds_by_meaning_and_by_words(index):
    publish(index, ARM, LEG, EYE)
    by_vector = index.search(np.array([0, 1, 0], dtype=np.float32), "nothing", EVERYTHING, 1, 100)
    by_words = index.search(
        np.array([1, 1, 1], dtype=np.float32), "camera depth", EVERYTHING, 1, 100
    )
    assert by_vector[0].id == LEG.id
    assert by_words[0].id == EYE.id
    assert by_vector[0].payload["text"] == LEG.payload["text"]
    assert by_vector[0].similarity == pytest.approx(1.0, abs=1e-5)


def test_scores_fall_and_stay_between_0_and_1(index):
    publish(index, ARM, LEG, EYE)
    scores = [
        hit.score
        for hit in index.search(
            np.array([3, 2, 1], dtype=np.float32) / 14**0.5, "robot", EVERYTHING, 10, 100
        )
    ]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (ChunkFilter(book_id="robots"), {ARM.id, LEG.id, EYE.id}),
        (ChunkFilter(book_id="other"), set()),
        (ChunkFilter(max_hardware_tier=2), {ARM.id, EYE.id}),
        (ChunkFilter(module="isaac"), {EYE.id}),
        (ChunkFilter(chapter_min=2), {LEG.id}),
        (ChunkFilter(chapter_max=2), {ARM.id, EYE.id}),
        (ChunkFilter(chapter_min=1, chapter_max=3), {ARM.id, LEG.id, EYE.id}),
        (ChunkFilter(lesson=2), {EYE.id}),
        (ChunkFilter(proficiency_levels=("B1", "C2")), {EYE.id}),
        (ChunkFilter(proficiency_levels=("A2", "B1")), {ARM.id, LEG.id, EYE.id}),
        (ChunkFilter(layer="L2"), {EYE.id}),
        (ChunkFilter(difficulty="advanced"), {EYE.id}),
        (ChunkFilter(tags=("gait", "depth")), {LEG.id, EYE.id}),
        (ChunkFilter(source_file="b.md"), {EYE.id}),
        (ChunkFilter(chapter_id="module-3/chapter-7"), {EYE.id}),
        (ChunkFilter(parent_doc_id="q"), {EYE.id}),
        (ChunkFilter(overlaps=(99, 100)), {ARM.id, LEG.id}),
        (ChunkFilter(overlaps=(50, 150)), {ARM.id, LEG.id, EYE.id}),
        (ChunkFilter(overlaps=(100, 101)), {EYE.id}),
        (ChunkFilter(overlaps=(200, 300)), set()),
        (ChunkFilter(module="ros2", max_hardware_tier=2), {ARM.id}),
    ],
)
def test_every_filter_holds_in_search_scroll_and_count(index, where, expected):
    publish(index, ARM, LEG, EYE)
    assert found(index, where) == expected
    assert {each.id for each in index.scroll(where)} == expected
    assert index.count(where) == len(expected)


def test_stored_chunks_come_back_whole(index):
    publish(index, ARM, LEG)
    (stored,) = index.retrieve([ARM.id, str(uuid.uuid4())], with_vectors=True)
    assert stored.payload == ARM.payload
    assert stored.vector == pytest.approx(ARM.vector)
    assert index.retrieve([ARM.id])[0].vector is None


def test_facets_count_values(index):
    publish(index, ARM, LEG, EYE)
    assert index.facets("module", EVERYTHING) == {"ros2": 2, "isaac": 1}
    assert index.facets("module", ChunkFilter(max_hardware_tier=1)) == {"ros2": 1, "isaac": 1}


def test_upserting_an_id_again_replaces_it(index):
    publish(index, ARM, LEG)
    publish(index, IndexPoint(ARM.id, [0.0, 0.6, 0.8], "new words", {**ARM.payload, "lesson": 9}))
    (stored,) = index.retrieve([ARM.id], with_vectors=True)
    assert stored.payload["lesson"] == 9
    assert index.count(EVERYTHING) == 2


def test_deleting_removes_and_unknown_ids_are_no_error(index):
    publish(index, ARM, LEG, EYE)
    publish(index, delete=(ARM, point("never there", [1, 0, 0])))
    assert found(index, EVERYTHING) == {LEG.id, EYE.id}


def test_a_book_is_built_anew_beside_the_other_books(index):
    other = point("another book", [0.6, 0.8, 0.0], book_id="cooking")
    publish(index, ARM, LEG, other)
    with index.build(**MODEL, without_book="robots") as draft:
        draft.upsert([EYE])
        assert found(index, EVERYTHING) == {ARM.id, LEG.id, other.id}
        draft.publish()
    assert found(index, EVERYTHING) == {EYE.id, other.id}
    assert index.search(np.ones(3, dtype=np.float32), "another", EVERYTHING, 1, 9)[0].id == other.id


def test_a_draft_that_begins_empty_replaces_all_books_even_of_another_model(index):
    publish(index, ARM, point("another book", [0.6, 0.8, 0.0], book_id="cooking"))
    with index.build(embedding_model="other", dimensions=2, empty=True) as draft:
        draft.upsert([point("two numbers", [1.0, 0.0])])
        assert index.count(EVERYTHING) == 2
        draft.publish()
    assert [stored.payload["text"] for stored in index.scroll(EVERYTHING)] == ["two numbers"]


def test_a_chunk_put_back_with_its_vector_and_words_is_found_as_before(index):
    publish(index, ARM, LEG)
    before = index.search(np.ones(3, dtype=np.float32), "robot", EVERYTHING, 2, 9)
    held = list(index.scroll(EVERYTHING, with_vectors=True, with_words=True))
    with index.build(**MODEL, empty=True) as draft:
        draft.upsert(IndexPoint(s.id, s.vector, "", s.payload, s.words) for s in held)
        draft.publish()
    assert index.search(np.ones(3, dtype=np.float32), "robot", EVERYTHING, 2, 9) == before
    assert [stored.words for stored in index.scroll(EVERYTHING)] == [None, None]


def test_rollback_brings_the_older_version_back(index):
    publish(index, ARM)
    with index.build(**MODEL, without_book="robots") as draft:
        draft.upsert([LEG])
        draft.publish()
    assert found(index, EVERYTHING) == {LEG.id}
    index.rollback()
    assert found(index, EVERYTHING) == {ARM.id}
    assert [version.current for version in index.versions()] == [False, True]


def test_rollback_without_an_older_or_a_known_version_says_so(index):
    publish(index, ARM)
    with pytest.raises(IndexFault, match="no older"):
        index.rollback()
    with pytest.raises(IndexFault, match="v999"):
        index.rollback("v999")


def test_only_the_last_versions_are_kept(index):
    for _ in range(4):
        with index.build(**MODEL, without_book="robots") as draft:
            draft.upsert([ARM])
            draft.publish()
    versions = index.versions()
    assert len(versions) == 2
    assert versions[0].current
    assert versions[0].points == 1


def test_vectors_of_another_model_cannot_join_but_can_replace(index):
    publish(index, ARM)
    with (
        pytest.raises(IndexFault, match="test-3"),
        index.build(embedding_model="other", dimensions=2),
    ):
        pass
    with index.build(embedding_model="other", dimensions=2, without_book="robots") as draft:
        draft.upsert([point("two numbers", [1.0, 0.0])])
        draft.publish()
    assert index.versions()[0].embedding_model == "other"


def test_a_vector_of_the_wrong_length_is_refused_before_it_is_written(index):
    publish(index, ARM)
    with pytest.raises(IndexFault, match="2 numbers"), index.build(**MODEL) as draft:
        draft.upsert([point("short", [1.0, 0.0])])
    assert index.count(EVERYTHING) == 1
