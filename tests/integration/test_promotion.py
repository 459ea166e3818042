"""A rebuilt index replaces the live one only where the book's golden set does not suffer."""

import json
import re
from pathlib import Path

import pytest
from running import ROOT

from askbook.errors import RunRefused
from askbook.models import ChunkFilter, Mode

QUESTIONS = ROOT / "data" / "benchmarks" / "physical-ai-robotics" / "questions.jsonl"
QOS = "module-1-ros2/chapter-1-ros2-graph/02-topics-and-qos.mdx"


@pytest.fixture
def judged(library, tmp_path):
    """The library with a golden set: what the sample book's set asks of module 1."""
    records = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    kept = [
        each
        for each in records
        if each["answers"] and all(a["file"].startswith("module-1-ros2/") for a in each["answers"])
    ]
    file = tmp_path / "golden" / "book" / "questions.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(map(json.dumps, kept)), "utf-8")
    library.set("GOLDEN_DIR", tmp_path / "golden")
    return library


def artifact(key: str):
    """The newest artifact of this name on the Prefect server."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

    with get_client(sync_client=True) as client:
        wanted = ArtifactFilter(key=ArtifactFilterKey(any_=[key]))
        return max(client.read_artifacts(artifact_filter=wanted), key=lambda each: each.created)


def rebuild(library, *, force: bool = False):
    from flows.maintain import rebuild as flow

    return flow(book_dir=str(library.book), book_id="book", force=force)


def test_a_rebuild_that_finds_as_much_is_promoted_with_its_numbers(judged):
    before = judged.ingest(Mode.RECREATE)["index_version"]
    first = artifact("promotion").description
    assert "there is no live index to compare with" in first
    assert rebuild(judged)["index_version"] == judged.version != before
    second = artifact("promotion").description
    assert second.startswith("promoted: nDCG@10 0.")
    assert "(p 1.0000; 0 won," in second

    judged.set("EMBEDDER", "minilm")  # the live index is still asked with the model it was made by
    rebuild(judged)
    score = re.search(r"nDCG@10 ([.\d]+) on", first)[1]
    assert f"the live index has {score} " in artifact("promotion").description


def test_a_rebuild_that_lost_a_lesson_is_not_promoted_and_force_promotes_it(judged):
    judged.ingest()
    version, texts = judged.version, judged.texts
    judged.set("EXCLUDE", QOS)  # an operator's slip: the lesson is still in the book's folder
    with pytest.raises(RunRefused, match="significantly worse than the live one, which stays"):
        rebuild(judged)
    assert judged.version == version
    assert judged.texts == texts
    judged.check_invariants()
    assert judged.last_job.status == "failed"
    shown = artifact("promotion")
    assert shown.description.startswith("not promoted: nDCG@10 0.")
    assert "| question that lost |" in shown.data

    rebuild(judged, force=True)
    assert judged.version != version
    assert not judged.parts.index.count(ChunkFilter(book_id="book", source_file=QOS))
    assert artifact("promotion").description.startswith("promoted by force")


def test_the_nightly_evaluation_asks_the_live_index_and_shows_its_figures(judged):
    from flows.maintain import evaluate

    judged.ingest()
    found = evaluate(book_dir=str(judged.book), book_id="book")
    assert found["condition"]["live"] is True
    assert found["nDCG@10"] > 0.5
    shown = artifact("evaluation")
    assert f"on {found['queries']} questions" in shown.description
    page = shown.description.rpartition("page: ")[2]
    assert "<svg" in Path(page).read_text("utf-8")
