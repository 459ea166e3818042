"""The sample book's golden set keeps what its README says."""

import re
from collections import Counter

import pytest
from dataset_files import BOOK, SAMPLE

from askbook.book.frontmatter import read_frontmatter
from askbook.book.locate import locate
from askbook.book.source import decode
from askbook.golden.questions import Golden
from askbook.models import ChunkFilter, Lesson
from evaluation.datasets import (
    load_golden,
    locate_labels,
)


@pytest.fixture(scope="module")
def sample() -> Golden:
    return load_golden(SAMPLE)


def page(file: str) -> str:
    return decode((BOOK / file).read_bytes(), file)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[i : i + length]) for i in range(len(found) - length + 1)}


def passes(lesson: Lesson, where: ChunkFilter) -> bool:
    """What the index does with a filter, said of a lesson."""
    exact = ("module", "lesson", "layer", "difficulty", "source_file", "chapter_id")
    return (
        all(getattr(where, name) in {None, getattr(lesson, name)} for name in exact)
        and lesson.hardware_tier <= (where.max_hardware_tier or 4)
        and (where.chapter_min or 0) <= lesson.chapter <= (where.chapter_max or 99)
        and (not where.proficiency_levels or lesson.proficiency_level in where.proficiency_levels)
        and (not where.tags or bool(set(where.tags) & set(lesson.tags)))
    )


def test_the_sample_set_has_enough_questions_of_each_kind(sample):
    counts = Counter(each.kind for each in sample.questions)
    least = {
        "plain": 70,
        "two-lessons": 12,
        "filtered": 16,
        "selection": 12,
        "follow-up": 16,
        "unanswerable": 26,
    }
    assert counts.total() >= 130
    assert {kind: counts[kind] for kind in least if counts[kind] < least[kind]} == {}


def test_every_label_of_the_sample_set_stands_in_the_book_exactly_once(sample):
    located = locate_labels(sample, BOOK)
    assert [str(problem) for problem in located.problems] == []
    for question in sample.questions:
        for label, span in zip(question.answers, located.spans[question.id], strict=True):
            assert page(span.file)[span.start : span.end] == label.quote


def test_the_sample_set_asks_about_every_lesson(sample):
    asked = {label.file for each in sample.questions for label in each.answers}
    lessons = {path.relative_to(BOOK).as_posix() for path in BOOK.rglob("0*.md*")}
    assert len(lessons) == 24
    assert lessons - asked == set()


def test_no_question_is_asked_twice_or_in_the_words_of_its_answer(sample):
    asked = Counter(" ".join(words(each.question)) for each in sample.questions)
    assert [question for question, times in asked.items() if times > 1] == []
    copied = {
        each.id
        for each in sample.questions
        for label in each.answers
        if runs(each.question, 6) & runs(label.quote, 6)
    }
    assert copied == set()


def test_filters_let_the_answering_lessons_through(sample):
    for question in sample.questions:
        for label in question.answers if question.filters else ():
            text = page(label.file)
            lesson = locate(label.file, text, read_frontmatter(text, label.file), "book", "")
            assert passes(lesson, question.filters), question.id


def test_what_a_reader_has_selected_holds_the_answer(sample):
    kinds = Counter()
    for question in sample.questions:
        if question.selection:
            where = question.selection
            kinds["range"] += 1
            selected = page(where.source_file)[where.start : where.end]
            assert all(label.quote in selected for label in question.answers), question.id
        elif question.selected_text:
            kinds["text"] += 1
            selected = " ".join(words(question.selected_text))
            assert all(" ".join(words(each.quote)) in selected for each in question.answers)
    assert min(kinds["range"], kinds["text"]) >= 4


def test_two_lesson_questions_need_two_lessons(sample):
    for question in sample.questions:
        if question.kind == "two-lessons":
            assert len({label.file for label in question.answers}) == len(question.answers) == 2


def test_most_unanswerable_questions_are_about_the_books_subject(sample):
    near = Counter(each.is_near_miss for each in sample.questions if not each.answers)
    assert near[True] >= 18
    assert near[False] <= 8


def test_both_splits_hold_half_of_every_kind_and_every_module(sample):
    dev, test = (sample.of_split(split) for split in ("dev", "test"))
    assert len(dev) + len(test) == len(sample.questions)
    by_kind = [Counter(each.kind for each in part) for part in (dev, test)]
    assert all(abs(by_kind[0][kind] - by_kind[1][kind]) <= 1 for kind in by_kind[0])
    for part in (dev, test):
        modules = {label.file.split("/")[0] for each in part for label in each.answers}
        assert len({module for module in modules if module.startswith("module-")}) == 4


def test_the_readme_of_the_sample_set_tells_its_counts(sample):
    readme = (SAMPLE.parent / "README.md").read_text("utf-8")
    assert f"{len(sample.questions)} questions" in readme
    counts = Counter((each.kind, each.split) for each in sample.questions)
    for kind in {each.kind for each in sample.questions}:
        assert f"| {kind} | {counts[kind, 'dev']} | {counts[kind, 'test']} |" in readme
    near = Counter(each.is_near_miss for each in sample.questions if not each.answers)
    assert f"{near[True]} are on its subject (`near_miss`), {near[False]} are not" in readme
