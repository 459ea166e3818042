"""Data sets are read whole or refused with file, line, field and advice; labels are in the book."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from askbook.book.frontmatter import read_frontmatter
from askbook.book.locate import locate
from askbook.book.source import decode
from askbook.errors import DatasetError, TerminalError
from askbook.golden.questions import Golden, LabelSpan, Selection
from askbook.models import ChunkFilter, Lesson, Message
from evaluation.datasets import (
    dataset_hash,
    load_beir,
    load_golden,
    load_grounding,
    load_spans,
    locate_labels,
)

ROOT = Path(__file__).parents[3]
BOOK = ROOT / "data" / "books" / "physical-ai-robotics"
SAMPLE = ROOT / "data" / "benchmarks" / "physical-ai-robotics" / "questions.jsonl"
SHARED = ROOT.parent / "shared" / "datasets"

QUESTION = {
    "id": "q1",
    "question": "why is it slow?",
    "kind": "plain",
    "split": "dev",
    "answers": [{"file": "a.md", "quote": "because of heat"}],
}
GROUNDED = {
    "id": "g1",
    "question": "Who?",
    "passages": ["Ada did."],
    "answer": "Ada. Bob too.",
    "model": "m",
    "sentences": [
        {"text": "Ada.", "start": 0, "end": 4, "label": "supported"},
        {"text": "Bob too.", "start": 5, "end": 13, "label": "unsupported"},
    ],
}


def write_lines(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (each if isinstance(each, str) else json.dumps(each) for each in records)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def refusal(load, *args) -> str:
    with pytest.raises(DatasetError) as caught:
        load(*args)
    assert isinstance(caught.value, TerminalError)
    return str(caught.value)


# --- BEIR


@pytest.fixture
def beir(tmp_path):
    write_lines(
        tmp_path / "corpus.jsonl",
        {"_id": "d1", "title": "", "text": "one"},
        {"_id": "d2", "title": "Two", "text": "two"},
    )
    write_lines(
        tmp_path / "queries.jsonl", {"_id": "1", "text": "uno?"}, {"_id": "2", "text": "due?"}
    )
    write_lines(tmp_path / "qrels" / "dev.tsv", "query-id\tcorpus-id\tscore", "1\td1\t2")
    write_lines(tmp_path / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore", "2\td2\t1")
    return tmp_path


def test_a_split_holds_its_own_queries_and_no_split_means_test_or_else_all(beir):
    dev = load_beir(beir, "dev")
    assert dev.queries == {"1": "uno?"}
    assert dev.judgements == {"1": {"d1": 2}}
    assert list(dev.documents) == ["d1", "d2"]
    assert load_beir(beir).judgements == {"2": {"d2": 1}}
    (beir / "qrels" / "test.tsv").rename(beir / "qrels" / "train.tsv")
    assert load_beir(beir).judgements == {"1": {"d1": 2}, "2": {"d2": 1}}


def test_an_unknown_split_is_answered_with_the_splits_there_are(beir):
    assert refusal(load_beir, beir, "train").endswith(
        "train.tsv: there is no such split; use one of: dev, test"
    )


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("9\td1\t1", 'dev.tsv:3: field "query-id" is "9"; use an id of queries.jsonl'),
        ("1\td9\t1", 'dev.tsv:3: field "corpus-id" is "d9"; use an id of corpus.jsonl'),
        ("1\td1\t1", 'dev.tsv:3: field "corpus-id" judges "d1" again'),
        ("2\td1\thigh", 'dev.tsv:3: field "score" is "high"; make it an integer'),
        ("2 d1 1", "dev.tsv:3: the row has 1 columns"),
    ],
)
def test_a_broken_judgement_is_named_by_line_and_field(beir, row, complaint):
    write_lines(beir / "qrels" / "dev.tsv", "query-id\tcorpus-id\tscore", "1\td1\t2", row)
    assert complaint in refusal(load_beir, beir, "dev")


@pytest.mark.parametrize("rows", [["1\td1\t2"], ["q\td\ts", "1\t0\td1\t2.0", "1\t0\td1\t2"]])
def test_judgements_come_without_header_or_in_trecs_columns_too(beir, rows):
    write_lines(beir / "qrels" / "dev.tsv", *rows)
    assert load_beir(beir, "dev").judgements == {"1": {"d1": 2}}


def test_titles_may_be_missing_and_ids_may_be_numbers(beir):
    write_lines(beir / "corpus.jsonl", {"_id": "d1", "text": "one", "url": "x"},
                {"_id": "d2", "title": None, "text": "two"},
                {"_id": 3, "title": "Three", "text": ""})  # fmt: skip
    assert [(d.id, d.title) for d in load_beir(beir).documents.values()] == [
        ("d1", ""), ("d2", ""), ("3", "Three"),
    ]  # fmt: skip


def test_judgements_need_at_least_one_row(beir):
    write_lines(beir / "qrels" / "dev.tsv", "query-id\tcorpus-id\tscore")
    assert "dev.tsv: holds no judgements" in refusal(load_beir, beir, "dev")
    for path in (beir / "qrels").iterdir():
        path.unlink()
    assert "qrels: holds no *.tsv files" in refusal(load_beir, beir)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_missing_or_empty_file_is_named(beir, name):
    (beir / name).write_text("\n \n", "utf-8")
    assert f"{name}: the file is empty" in refusal(load_beir, beir)
    (beir / name).unlink()
    assert f"{name}: cannot be read (No such file or directory)" in refusal(load_beir, beir)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"_id": "d2", "title": ', "corpus.jsonl:2: not valid JSON"),
        ("[" * 100_000, "corpus.jsonl:2: not valid JSON"),
        ('["d2"]', 'corpus.jsonl:2: ["d2"] is no JSON object'),
        ('{"_id": "d1", "title": "", "text": "x"}', 'corpus.jsonl:2: field "_id" is "d1" as in'),
        ('{"_id": 2.5, "title": "", "text": "x"}', 'field "_id" is 2.5; make it a string'),
        ('{"_id": "d2", "title": 1, "text": "x"}', 'field "title" is 1; make it a string'),
        ('{"_id": "d2", "title": "", "text": " "}', 'field "text" is empty'),
        ('{"_id": "d2", "title": ""}', 'corpus.jsonl:2: field "text" is missing'),
    ],
)
def test_a_broken_line_is_named_with_what_to_do(beir, line, complaint):
    write_lines(beir / "corpus.jsonl", {"_id": "d1", "title": "", "text": "one"}, line)
    message = refusal(load_beir, beir)
    assert complaint in message
    assert ";" in message


def test_a_file_that_is_not_utf8_is_refused(beir):
    (beir / "corpus.jsonl").write_bytes(b'{"_id": "caf\xe9"}\n')
    assert "corpus.jsonl:1: byte 0xe9" in refusal(load_beir, beir)


def test_a_line_separator_inside_a_text_does_not_end_the_line(beir):
    text = "a\u2028b\u0085c"
    line = json.dumps({"_id": "d1", "title": "", "text": text}, ensure_ascii=False)
    second = {"_id": "d2", "title": "", "text": "two"}
    write_lines(beir / "corpus.jsonl", "\ufeff" + line + "\r", second)
    assert load_beir(beir).documents["d1"].text == text


# --- spans


@pytest.fixture
def spans(tmp_path):
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "talk.md").write_bytes("Grüße.\r\nTwo 😀 lines.".encode())
    return tmp_path


def ask_span(folder: Path, **change: object) -> Path:
    reference = {"content": "Two 😀", "start_index": 8, "end_index": 13} | change
    record = {"_id": "c1", "question": "How many?", "corpus_id": "talk", "references": [reference]}
    write_lines(folder / "questions.jsonl", record)
    return folder


def test_spans_are_code_points_of_the_text_as_it_lies_on_disk(spans):
    loaded = load_spans(ask_span(spans))
    (reference,) = loaded.questions[0].references
    assert (reference.text, reference.start, reference.end) == ("Two 😀", 8, 13)
    assert loaded.corpora["talk"][8:13] == "Two 😀"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"start_index": 7, "end_index": 12}, 'field "content" differs from what stands there'),
        ({"end_index": 400}, '"end_index" and start_index are 400 and 8 in a text of 20'),
        ({"start_index": 13}, "give 0 <= start_index < end_index"),
        ({"start_index": True}, '"start_index" is true; make it an integer'),
    ],
)
def test_a_span_that_does_not_hold_its_words_is_refused(spans, change, complaint):
    message = refusal(load_spans, ask_span(spans, **change))
    assert "questions.jsonl:1, references[0]" in message
    assert complaint in message


def test_questions_need_a_corpus_that_is_there(spans):
    record = {"_id": "c1", "question": "?", "corpus_id": "gone", "references": []}
    write_lines(spans / "questions.jsonl", record)
    assert 'field "corpus_id" is "gone"; use one of: talk' in refusal(load_spans, spans)
    record["corpus_id"] = "talk"
    write_lines(spans / "questions.jsonl", record)
    assert 'field "references" is empty' in refusal(load_spans, spans)
    (spans / "corpora" / "talk.md").unlink()
    assert "corpora: holds no *.md files" in refusal(load_spans, spans)


# --- grounding


def test_sentences_of_answers_carry_what_people_said_of_them(tmp_path):
    file = write_lines(
        tmp_path / "g.jsonl", GROUNDED, GROUNDED | {"id": "g2", "answer_saw_passages": False}
    )
    first, second = load_grounding(file)
    assert [(each.text, each.is_supported) for each in first.sentences] == [
        ("Ada.", True),
        ("Bob too.", False),
    ]
    assert first.saw_passages is None
    assert second.saw_passages is False


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"sentences": []}, 'field "sentences" is empty'),
        ({"passages": "Ada did."}, 'field "passages" is "Ada did."; make it a list'),
        ({"passages": [1]}, "make it a list of strings"),
        ({"answer": "Eve. Bob too."}, 'sentences[0]: field "text" differs'),
        ({"answer_saw_passages": "no"}, "make it true or false"),
        (
            {"sentences": [{"text": "Ada.", "start": 0, "end": 4, "label": "maybe"}]},
            "use one of: supported, unsupported",
        ),
    ],
)
def test_a_broken_answer_is_refused(tmp_path, change, complaint):
    assert complaint in refusal(
        load_grounding, write_lines(tmp_path / "g.jsonl", GROUNDED | change)
    )


# --- golden sets


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


# --- hashes


def test_a_hash_depends_on_names_and_bytes_and_not_on_where_they_lie(tmp_path):
    for folder in ("here", "there"):
        write_lines(tmp_path / folder / "sub" / "b.jsonl", "b")
        write_lines(tmp_path / folder / "a.jsonl", "a")
    here, there = tmp_path / "here", tmp_path / "there"
    before = dataset_hash(here)
    assert re.fullmatch(r"[0-9a-f]{64}", before)
    assert dataset_hash(there) == before
    (there / "a.jsonl").rename(there / "c.jsonl")
    assert dataset_hash(there) != before
    write_lines(here / "a.jsonl", "A")
    assert dataset_hash(here) != before
    assert dataset_hash(here / "a.jsonl") != dataset_hash(here)


def test_nothing_has_no_hash(tmp_path):
    assert "the folder holds no files" in refusal(dataset_hash, tmp_path)
    assert "cannot be read" in refusal(dataset_hash, tmp_path / "gone.jsonl")


# --- the sample book's golden set


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


# --- data sets that are not part of the repository


def shared(name: str) -> Path:
    if not (SHARED / name).exists():
        pytest.skip(f"../shared/datasets/{name} is not here: only small made-up sets were read")
    return SHARED / name


@pytest.mark.parametrize(
    "name", ["anthropic-docs", "scifact-train", "anusbutt-objectives", "robolearn-objectives"]
)
def test_shared_retrieval_sets_load(name):
    loaded = load_beir(shared(name))
    assert loaded.queries.keys() == loaded.judgements.keys()
    assert len(loaded.queries) >= 100


def test_the_shared_span_set_loads():
    loaded = load_spans(shared("chroma-chunking"))
    assert len(loaded.corpora) == len({each.corpus_id for each in loaded.questions}) == 3


@pytest.mark.parametrize(("name", "answers"), [("salad_train", 240), ("wice_dev", 349)])
def test_shared_grounding_sets_load(name, answers):
    assert len(load_grounding(shared(f"grounding/{name}.jsonl"))) == answers
