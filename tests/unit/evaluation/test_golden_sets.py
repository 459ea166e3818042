"""Golden questions and their labels: where they stand in the book, or why they do not."""

from pathlib import Path

import pytest
from dataset_files import refusal, write_lines

from askbook.golden.questions import Golden, LabelSpan, Selection
from askbook.models import ChunkFilter, Message
from evaluation.datasets import (
    load_golden,
    locate_labels,
)

QUESTION = {
    "id": "q1",
    "question": "why is it slow?",
    "kind": "plain",
    "split": "dev",
    "answers": [{"file": "a.md", "quote": "because of heat"}],
}


def golden_of(tmp_path: Path, *records: dict) -> Golden:
    return load_golden(write_lines(tmp_path / "questions.jsonl", *records))


def test_a_question_carries_its_filters_history_and_selection(tmp_path):
    more = {
        "filtered": {"filters": {"module": "ros2", "tags": ["qos"], "chapter_max": 3}},
        "follow-up": {"history": [{"role": "user", "content": "hi"}]},
        "selection": {"selection": {"source_file": "a.md", "start": 0, "end": 4}},
    }
    golden = golden_of(
        tmp_path, *(QUESTION | {"id": kind, "kind": kind} | each for kind, each in more.items())
    )
    filtered, follow_up, selection = golden.questions
    assert filtered.filters == ChunkFilter(module="ros2", tags=("qos",), chapter_max=3)
    assert follow_up.history == (Message("user", "hi"),)
    assert selection.selection == Selection("a.md", 0, 4)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kind": "hard"}, 'field "kind" is "hard"; use one of: plain'),
        ({"split": "train"}, "use one of: dev, test"),
        ({"answer": []}, 'field "answer" is not known'),
        ({"answers": []}, 'field "answers" does not fit the kind "plain"'),
        ({"kind": "unanswerable"}, 'field "answers" does not fit'),
        ({"kind": "two-lessons", "needs": "all"}, 'field "needs" does not fit'),
        ({"kind": "filtered"}, 'field "filters" does not fit'),
        (
            {"filters": {"modul": "ros2"}},
            'filters: field "modul" is not known; use some of: module',
        ),
        ({"filters": {"lesson": "2"}}, 'filters: field "lesson" is "2"; make it an integer'),
        ({"kind": "follow-up"}, 'field "history" does not fit'),
        ({"history": [{"role": "robot", "content": "x"}]}, "use one of: user, assistant"),
        ({"kind": "selection"}, 'field "selection" does not fit'),
        ({"selection": {"source_file": "a.md", "start": 4, "end": 4}}, "give 0 <= start < end"),
        ({"near_miss": True}, 'field "near_miss" does not fit'),
        ({"answers": [{"file": "a.md", "quote": ""}]}, 'answers[0]: field "quote" is empty'),
    ],
)
def test_a_question_that_contradicts_itself_is_refused(tmp_path, change, complaint):
    assert complaint in refusal(golden_of, tmp_path, QUESTION | change)


def test_labels_are_found_in_code_points_after_a_byte_order_mark(tmp_path):
    (tmp_path / "a.md").write_bytes("\ufeff# 😀\r\nIt is because of heat.".encode())
    located = locate_labels(golden_of(tmp_path, QUESTION), tmp_path)
    assert located.spans == {"q1": (LabelSpan("a.md", 12, 27),)}
    assert located.problems == ()


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("It is because of cold.", "the quote is no longer in the file"),
        ("because of heat, because of heat", "the quote stands in the file more than once"),
        (None, "the file is not in the book"),
    ],
)
def test_a_label_that_does_not_fit_the_book_is_reported_and_never_dropped(tmp_path, page, reason):
    if page is not None:
        (tmp_path / "a.md").write_text(page, "utf-8")
    located = locate_labels(golden_of(tmp_path, QUESTION), tmp_path)
    (problem,) = located.problems
    assert (problem.question_id, problem.file, problem.quote_start) == (
        "q1",
        "a.md",
        "because of heat",
    )
    assert problem.reason.startswith(reason)
    assert located.spans == {"q1": ()}


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ({"start": 17, "end": 32}, "because of heat"),
        ({"quote": "because of heat", "start": 17}, "because of heat"),
        ({"start": 17, "end": 99}, "the label ends at 99, the file at 32"),
        ({"quote": "because of cold", "start": 0}, "other words than the quote stand"),
    ],
)
def test_a_label_may_be_offsets_and_they_tell_a_repeated_quote_apart(tmp_path, label, found):
    (tmp_path / "a.md").write_text("because of heat, because of heat", "utf-8")
    golden = golden_of(tmp_path, QUESTION | {"answers": [{"file": "a.md"} | label]})
    located = locate_labels(golden, tmp_path)
    told = [span.text for span in located.spans["q1"]] + [p.reason for p in located.problems]
    assert len(told) == 1
    assert told[0].startswith(found)


def test_a_selection_beyond_the_end_of_its_file_is_reported(tmp_path):
    (tmp_path / "a.md").write_text("because of heat", "utf-8")
    selection = {"source_file": "a.md", "start": 0, "end": 99}
    golden = golden_of(tmp_path, QUESTION | {"kind": "selection", "selection": selection})
    (problem,) = locate_labels(golden, tmp_path).problems
    assert str(problem) == "q1: a.md: '': the selection ends at 99, the file at 15"


def test_a_book_that_is_not_there_is_an_error(tmp_path):
    assert "there is no such folder" in refusal(
        locate_labels, golden_of(tmp_path, QUESTION), tmp_path / "gone"
    )
