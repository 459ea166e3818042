"""Data sets are read whole or refused with file, line, field and advice."""

import json
import re
from pathlib import Path

import pytest
from dataset_files import SHARED, refusal, write_lines

from evaluation.datasets import (
    dataset_hash,
    load_beir,
    load_grounding,
    load_spans,
)

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
