"""Headings, their anchors as Docusaurus makes them, and the path down to a chunk."""

import pytest
from book_pages import SMALL, chunks_of

from askbook.book.headings import Anchors
from askbook.book.identify import chunk_id, content_hash, parent_id
from askbook.book.tokens import count_tokens


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("Hello World", "hello-world"),
        ("What's new? (v2.0)", "whats-new-v20"),
        ("A & B -- C", "a--b----c"),
        ("snake_case `code`", "snake_case-code"),
        ("Über café 机器人", "über-café-机器人"),
        ("😀 emoji", "-emoji"),
        ("C++ / C#", "c--c"),
        ("№ ½ ²", "--"),
    ],
)
def test_anchors_are_made_as_docusaurus_makes_them(title, anchor):
    assert Anchors().add(title) == anchor


def test_repeated_anchors_are_numbered_and_custom_ids_are_not_counted():
    anchors = Anchors()
    given = [("Foo", None), ("Foo", None), ("Foo 1", None), ("Bar", "foo"), ("Foo", None)]
    assert [anchors.add(*each) for each in given] == ["foo", "foo-1", "foo-1-1", "foo", "foo-2"]


@pytest.mark.parametrize(
    "heading",
    [
        "## Title {#own-id}",
        "## Title {/* #own-id */}",
        "## Title <!-- #own-id -->",
        "Title {#own-id}\n-----",
        "## Title {#own-id} ",
        "## Title {#own-id} ##",
    ],
)
@pytest.mark.parametrize("name", ["a.md", "a.mdx"])
def test_custom_ids_are_kept_and_not_shown(heading, name):
    (chunk,) = chunks_of(f"{heading}\n\nText.\n", source_file=name)
    assert (chunk.section_title, chunk.section_id) == ("Title", "own-id")
    assert "own-id" not in chunk.text


def test_a_chunk_knows_the_headings_above_it():
    text = "The robot moves its arm to the left and waits. " * 5
    page = f"# Top\n\n{text}\n\n## Mid\n\n{text}\n\n### Low\n\n{text}\n\n## Next\n\n{text}\n"
    paths = [chunk.heading_path for chunk in chunks_of(page, SMALL)]
    assert paths == [("Top",), ("Top", "Mid"), ("Top", "Mid", "Low"), ("Top", "Next")]


def test_text_before_the_first_heading_has_no_section():
    (chunk,) = chunks_of("Text.\n")
    assert (chunk.section_title, chunk.section_id, chunk.heading_path) == (None, None, ())


def test_ids_follow_the_documented_formula():
    digest = content_hash("Some text.")
    assert digest[:16] == "13b4c5aecd1b6d74"
    assert chunk_id("physical-ai-robotics", "ros2:1:2", digest) == (
        "2ee478d5-dbba-54e0-97d1-cca5c3b54e4f"  # ...:ros2:1:2:13b4c5aecd1b6d74
    )
    assert chunk_id("physical-ai-robotics", "ros2:1:2", digest, occurrence=2) == (
        "f04eb9d8-e643-5fb7-82fd-aa0022c871cc"  # the same with :2
    )
    assert chunk_id("b", "guide/a.md", digest) == "76e769cb-118e-508a-9f52-d46b8e1d7152"
    assert parent_id("physical-ai-robotics", "ros2:1:2") == "5df8e4c6-b613-5f8f-bf36-76dce32af825"


def test_special_tokens_are_counted_as_text_and_long_blanks_do_not_fail():
    assert count_tokens("<|endoftext|>") > 1
    assert count_tokens("a" + " " * 1_000_000 + "b") > 1000
