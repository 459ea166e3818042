"""Bytes to text, and the block on top of a page."""

import pytest

from askbook.book.frontmatter import body_start, read_frontmatter
from askbook.book.source import check_size, decode
from askbook.errors import UnreadableFile


def refusal(call, *arguments) -> UnreadableFile:
    with pytest.raises(UnreadableFile) as caught:
        call(*arguments)
    return caught.value


def test_a_byte_order_mark_is_the_first_code_point():
    assert decode(b"\xef\xbb\xbfHi", "a.md") == "\ufeffHi"


def test_a_binary_file_is_refused_with_its_line():
    error = refusal(decode, b"one\ntwo\0", "a.md")
    assert "binary" in error.reason
    assert (error.source_file, error.line) == ("a.md", 2)


def test_invalid_utf8_names_the_line_of_the_first_bad_byte():
    error = refusal(decode, b"one\ntwo\nth\xffree", "a.md")
    assert "0xff" in error.reason
    assert error.line == 3


def test_utf16_is_told_from_other_binary_files():
    assert "UTF-16" in refusal(decode, "Hi".encode("utf-16"), "a.md").reason


def test_a_file_over_the_limit_is_refused_with_both_sizes():
    error = refusal(check_size, 200_000_000, "a.md")
    assert "200,000,000" in error.reason
    assert "20,000,000" in error.reason


@pytest.mark.parametrize(
    ("text", "data", "body"),
    [
        ("Just text", {}, "Just text"),
        ("---\ntitle: A\n---\nText", {"title": "A"}, "Text"),
        ("\ufeff---\r\ntitle: A\r\n---\r\nText", {"title": "A"}, "Text"),
        ("---\n---\nText", {}, "Text"),
        ("---\n# only a comment\n---\nText", {}, "Text"),
        ("---\nnot closed", {}, "---\nnot closed"),
        ("---\na: {b: [1, {c: 2}]}\n---\n", {"a": {"b": [1, {"c": 2}]}}, ""),
        ("+++\ntitle = 'A'\n+++\nText", {"title": "A"}, "Text"),
        ("---\ntitle: A\n...\nText", {"title": "A"}, "Text"),
        ("\ufeffText", {}, "Text"),
    ],
)
def test_frontmatter_is_read_and_the_body_starts_after_it(text, data, body):
    found = read_frontmatter(text, "a.md")
    assert found.data == data
    assert text[found.end :] == body
    assert body_start(text) == found.end


@pytest.mark.parametrize("value", ["2024-01-31", "2024-99-99", "!tag x", "12:30:45", "null"])
def test_odd_values_are_tolerated(value):
    assert "date" in read_frontmatter(f"---\ndate: {value}\n---\n", "a.md").data


@pytest.mark.parametrize(
    ("block", "line"),
    [("a: b: c", 2), ("ok: 1\nbad: [", 4), ("- a\n- b", 2), ("just words", 2), ("a: \x01", 2)],
)
def test_broken_frontmatter_is_refused_with_its_line(block, line):
    error = refusal(read_frontmatter, f"---\n{block}\n---\nText", "a.md")
    assert error.line == line
    assert "frontmatter" in error.reason


@pytest.mark.parametrize("block", ["a: " + "[" * 50_000, "- " * 20_000, "? " * 20_000])
def test_nesting_that_would_end_the_process_is_refused(block):
    assert refusal(read_frontmatter, f"---\n{block}\n---\n", "a.md").source_file == "a.md"
