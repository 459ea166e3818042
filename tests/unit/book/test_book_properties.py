"""Invariants of chunking, on generated pages, on the sample book and on real books."""

import itertools

import pytest
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
from book_words import readable_words, words
from hypothesis import given, settings

from askbook.book.chunk import chunk_lesson_with_report
from askbook.book.frontmatter import body_start
from askbook.book.presets import PRESETS

FOLDERS = [SAMPLE_BOOK, *(sorted(CORPORA.iterdir()) if CORPORA.is_dir() else [])]
# A second parser glues `a`s to one word and does not know template literals in JSX.
ORACLE_DIFFERS = 15  # words per book, all looked at


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
    lost = 0
    for name, text in real_pages(folder):
        chunks, splits = chunk_lesson_with_report(text, lesson_of(text, name), COMPACT)
        check(text, chunks, COMPACT)
        assert all(split.tokens > COMPACT.max_tokens for split in splits)
        assert not readable_words(uncovered(text, chunks)), name
        body = text[body_start(text) :].replace("\r\n", "\n")
        if not name.endswith(".mdx") and "<" not in body and ":::" not in body:
            assert not cut_structures(body, chunks, COMPACT), name
        wanted = readable_words(body)
        lost += (wanted - words("\n".join(chunk.text for chunk in chunks))).total()
    assert lost <= ORACLE_DIFFERS


@pytest.mark.parametrize("preset", ["standard", "wide"])
def test_the_sample_book_keeps_all_invariants_with_every_preset(preset):
    for name, text in real_pages(SAMPLE_BOOK):
        check(text, chunks_of(text, PRESETS[preset], name), PRESETS[preset])


def test_the_real_books_are_there_to_run_on():
    if not CORPORA.is_dir():
        pytest.skip("../shared/corpora is not here: only the sample book was run")
