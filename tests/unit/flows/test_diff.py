"""What a run decides to do, from the folder and from what is indexed."""

import hashlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askbook.errors import RunRefused
from askbook.models import Action, Document, Lesson, Mode
from flows.diff import Plan, diff, guard_deletions
from flows.discover import Quarantined, Survey


def lesson(path: str, text: str = "text") -> Lesson:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Lesson("book", path, digest, "ros2", 1, 1, "m/c", "Title", True, path)  # noqa: FBT003


def document(path: str, text: str = "text", **changes: object) -> Document:
    digest = hashlib.sha256(text.encode()).hexdigest()
    facts = {
        "location": path,
        "embedding_model": "model",
        "chunker": "cut",
        "chunk_ids": (f"{path}-1",),
    }
    return Document(
        "book",
        path,
        digest,
        module="ros2",
        chapter=1,
        lesson=1,
        last_indexed_at=datetime(2026, 1, 1, tzinfo=UTC),
        **{**facts, **changes},
    )


def plan(lessons, known, *, mode=Mode.INCREMENTAL, quarantined=()) -> Plan:
    survey = Survey(tuple(lessons), tuple(quarantined))
    return diff(survey, known, mode=mode, embedding_model="model", chunker="cut")


def actions(made: Plan) -> dict[str, Action]:
    return {step.source_file: step.action for step in made.steps}


def test_a_first_run_finds_everything_new():
    assert actions(plan([lesson("a.md"), lesson("b.md")], [])) == {
        "a.md": Action.NEW,
        "b.md": Action.NEW,
    }


def test_an_unchanged_book_gives_an_empty_plan():
    made = plan([lesson("a.md")], [document("a.md")])
    assert actions(made) == {"a.md": Action.UNCHANGED}
    assert made.is_empty


def test_changed_bytes_make_a_file_modified():
    made = plan([lesson("a.md", "new words")], [document("a.md")])
    assert actions(made) == {"a.md": Action.MODIFIED}


def test_a_file_that_is_gone_is_deleted():
    made = plan([lesson("a.md")], [document("a.md"), document("b.md", "other")])
    assert actions(made)["b.md"] is Action.DELETED
    assert not made.is_empty


def test_a_file_with_the_same_bytes_at_another_path_was_moved():
    made = plan([lesson("new.md")], [document("old.md")])
    assert actions(made) == {"new.md": Action.MOVED}
    assert made.steps[0].known.file_path == "old.md"


def test_a_copy_is_new_and_the_original_stays():
    made = plan([lesson("a.md"), lesson("copy.md")], [document("a.md")])
    assert actions(made) == {"a.md": Action.UNCHANGED, "copy.md": Action.NEW}


def test_two_copies_of_one_vanished_file_are_one_move_and_one_new_file():
    made = plan([lesson("x.md"), lesson("y.md")], [document("old.md")])
    assert sorted(actions(made).values()) == [Action.MOVED, Action.NEW]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"chunker": "older"}, "chunk settings"),
        ({"embedding_model": "older"}, "embedding model"),
        ({"location": "elsewhere"}, "place in the book"),
    ],
)
def test_other_settings_make_an_indexed_file_stale(change, reason):
    (step,) = plan([lesson("a.md")], [document("a.md", **change)]).steps
    assert step.action is Action.MODIFIED
    assert reason in step.reason


def test_full_mode_takes_every_file_again():
    assert actions(plan([lesson("a.md")], [document("a.md")], mode=Mode.FULL)) == {
        "a.md": Action.MODIFIED
    }


def test_a_quarantined_file_keeps_its_last_good_version():
    bad = Quarantined("a.md", "broken YAML", 3)
    made = plan([], [document("a.md")], quarantined=[bad])
    assert actions(made) == {"a.md": Action.QUARANTINED}
    assert made.is_empty


def test_the_guard_stops_when_too_much_vanished():
    known = [document(f"{n}.md", f"text {n}") for n in range(10)]
    made = plan([lesson(f"{n}.md", f"text {n}") for n in range(6)], known)
    with pytest.raises(RunRefused, match=r"4 of 10 .* --force"):
        guard_deletions(made, known=10, max_share=0.3)
    guard_deletions(made, known=10, max_share=0.4)


def test_a_renamed_folder_does_not_alarm_the_guard():
    known = [document(f"old/{n}.md", f"text {n}") for n in range(10)]
    made = plan([lesson(f"new/{n}.md", f"text {n}") for n in range(10)], known)
    guard_deletions(made, known=10, max_share=0.0)


folder = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["1", "2", "3"]))


@given(now=folder, before=folder)
def test_every_file_gets_exactly_one_action_and_applying_the_plan_settles_the_book(now, before):
    known = [document(path, text) for path, text in before.items()]
    made = plan([lesson(path, text) for path, text in now.items()], known)
    paths = [step.source_file for step in made.steps]
    assert len(paths) == len(set(paths))
    assert set(now) <= set(paths)

    left = {d.file_path: d for d in known}
    for step in made.of(Action.DELETED, Action.MOVED):
        del left[step.known.file_path]
    for step in made.to_index:
        left[step.source_file] = document(step.source_file, now[step.source_file])
    assert plan([lesson(p, t) for p, t in now.items()], left.values()).is_empty
    assert set(left) == set(now)
