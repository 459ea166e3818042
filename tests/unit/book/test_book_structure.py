"""Structures stay whole while they fit, and keep what they need when they do not."""

import itertools
import unicodedata

import pytest
from book_pages import COMPACT, SMALL, chunks_of, lesson_of, texts_of

from askbook.book.chunk import chunk_lesson_with_report
from askbook.book.tokens import count_tokens
from askbook.models import ChunkSettings

PARAGRAPH = "The robot moves its arm to the left and waits there for a message from the planner. "


def filled(times: int) -> str:
    return (PARAGRAPH * times).strip()


def test_a_short_page_is_one_chunk_and_exactly_its_source():
    page = "# Title\n\nOne.\n\n## Section\n\nTwo.\n"
    (chunk,) = chunks_of(page)
    assert chunk.text == page.strip()
    assert (chunk.start_char_offset, chunk.end_char_offset) == (0, len(page) - 1)


def test_sections_are_cut_at_their_headings():
    page = "\n\n".join(f"## Part {n}\n\n{filled(2)}" for n in range(4))
    assert [text.partition("\n")[0] for text in texts_of(page, SMALL)] == [
        f"## Part {n}" for n in range(4)
    ]


def test_a_fence_that_fits_stays_whole_and_its_comments_are_no_headings():
    fence = "```py\n# not a heading\n" + "x = robot.arm\n" * 8 + "```"
    texts = texts_of(f"# T\n\n{filled(2)}\n\n{fence}\n\n{filled(2)}\n", SMALL)
    assert any(fence in text for text in texts)
    assert {c.section_title for c in chunks_of(fence, SMALL)} == {None}


@pytest.mark.parametrize("mark", ["```", "~~~~", "`````"])
def test_a_fence_that_must_be_cut_gets_its_first_and_last_line_in_every_part(mark):
    lines = [f"value_{n} = compute(first, second, {n})" for n in range(40)]
    texts = texts_of(f"{mark}python title='a'\n" + "\n".join(lines) + f"\n{mark}\n", SMALL)
    assert len(texts) > 3
    for text in texts:
        first, *inner, last = text.split("\n")
        assert (first, last) == (f"{mark}python title='a'", mark)
        assert all(line in lines for line in inner)
    assert [line for text in texts for line in text.split("\n")[1:-1]] == lines


def test_an_unclosed_fence_runs_to_the_end_and_is_closed_when_cut():
    texts = texts_of("```\n" + "a = robot.arm.left\n" * 60, SMALL)
    assert all(text.startswith("```\n") for text in texts)
    assert all(text.endswith("\n```") for text in texts[:-1])


def test_a_table_that_must_be_cut_repeats_its_header():
    header = "| name | value |\n|------|-------|"
    rows = [f"| joint number {n} | {n} degrees |" for n in range(30)]
    texts = texts_of(header + "\n" + "\n".join(rows) + "\n", SMALL)
    assert len(texts) > 2
    assert all(text.startswith(header + "\n") for text in texts)
    assert [row for text in texts for row in text.split("\n")[2:]] == rows


def test_a_table_carries_the_paragraph_before_it():
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 4
    texts = texts_of(f"{filled(3)}\n\nThe values are these.\n\n{table}\n{filled(3)}", SMALL)
    assert any("these.\n\n| a | b |" in text for text in texts)


def test_a_quote_keeps_its_attribution():
    texts = texts_of(f"{filled(2)}\n\n> {filled(1)}\n\n— A. Author\n\n{filled(3)}", SMALL)
    assert any("planner.\n\n— A. Author" in text for text in texts)


@pytest.mark.parametrize(
    "whole",
    [
        ":::note\n\nOne robot.\n\nTwo robots.\n\nThree robots.\n\n:::",
        "> [!TIP]\n> One robot.\n>\n> Two robots.",
        "$$\nx = \\frac{1}{2}\n$$",
        "<table>\n<tr><td>one</td></tr>\n\n<tr><td>two</td></tr>\n</table>",
    ],
)
def test_other_structures_stay_whole_too(whole):
    texts = texts_of(f"{filled(3)}\n\n{whole}\n\n{filled(3)}", SMALL)
    alone = texts_of(whole, SMALL)[0]
    assert any(alone in text for text in texts)


def test_a_footnote_goes_with_the_chunks_that_refer_to_it():
    told = f"{filled(2)} It is told[^a].\n\n{filled(3)}\n\n{filled(3)} Again[^a].\n\n"
    page = f"{told}[^a]: By the book.\n"
    chunks = chunks_of(page, SMALL)
    for chunk in chunks:
        assert ("[^a]: By the book." in chunk.text) is ("[^a]." in chunk.text)
    assert chunks[-1].end_char_offset == len(page) - 1


def test_footnotes_under_their_own_heading_also_stay_there():
    page = f"{filled(3)} Told[^1].\n\n{filled(3)}\n\n## Notes\n\n[^1]: By the book.\n"
    texts = texts_of(page, SMALL)
    assert sum("[^1]: By the book." in text for text in texts) == 2
    assert not any(text.endswith("## Notes") for text in texts)


def test_a_heading_is_never_left_at_the_end_even_before_a_block_that_fills_a_chunk():
    line = "call(robot, arm, left, 1)\n"
    fence = "```\n" + line * 6 + "```"
    assert SMALL.max_tokens - 6 <= count_tokens(fence) <= SMALL.max_tokens
    texts = texts_of(
        f"{filled(2)}\n\n## A long section title here\n\n{fence}\n\n{filled(2)}", SMALL
    )
    assert any(fence in text for text in texts)
    assert not any(text.endswith("title here") for text in texts)


def test_lists_are_cut_between_items_before_inside_them():
    items = [f"- item {n}: {filled(1)}" for n in range(8)]
    texts = texts_of("\n".join(items), SMALL)
    assert all(text.startswith("- item") for text in texts)


def test_long_paragraphs_are_cut_between_sentences():
    texts = texts_of(filled(20), SMALL)
    assert all(text.startswith("The robot") and text.endswith("planner.") for text in texts)


def test_words_are_cut_only_when_one_alone_is_too_long():
    page = ("lorem ipsum dolor " * 100) + "x" * 4000 + (" lorem ipsum dolor" * 100)
    texts = texts_of(page, SMALL)
    words = [word for text in texts for word in text.split()]
    assert {word for word in words if "x" not in word} == {"lorem", "ipsum", "dolor"}
    assert "".join(words) == page.replace(" ", "")


def test_overlap_starts_at_a_sentence_or_paragraph_within_its_budget():
    sizes = ChunkSettings("t", 60, 100, 20, overlap_tokens=30)
    sentences = [f"Sentence number {n} speaks of a robot and its many joints." for n in range(60)]
    page = "\n\n".join(" ".join(sentences[n : n + 3]) for n in range(0, 60, 3))
    chunks = chunks_of(page, sizes)
    for one, other in itertools.pairwise(chunks):
        shared = page[other.start_char_offset : one.end_char_offset]
        assert shared.startswith("Sentence")
        assert 0 < count_tokens(shared) <= 30


def test_a_section_repeats_nothing_from_the_one_before():
    sizes = ChunkSettings("t", 60, 100, 20, overlap_tokens=30)
    texts = texts_of("\n\n".join(f"## S{n}\n\n{filled(3)}" for n in range(3)), sizes)
    assert [text[:5] for text in texts] == ["## S0", "## S1", "## S2"]


def test_the_report_says_what_was_cut_and_why():
    page = "Intro.\n\n```\n" + "a = robot.arm\n" * 300 + "```\n"
    _, splits = chunk_lesson_with_report(page, lesson_of(page), COMPACT)
    (split,) = splits
    assert (split.kind, split.start_char_offset) == ("code fence", 8)
    assert "more than the maximum of 512" in split.reason


def test_the_same_text_twice_gives_two_chunks_with_two_ids():
    section = f"## Same\n\n{filled(3)}"
    chunks = chunks_of(f"{section}\n\n{section}\n", SMALL)
    assert chunks[0].text == chunks[1].text
    assert chunks[0].id != chunks[1].id


def test_signs_that_join_are_not_cut_off_in_text_without_blanks():
    page = "กำลังเรียนรู้วิธีทำให้หุ่นยนต์เดินได้" * 40 + "\n\n" + "👩‍👩‍👧‍👦" * 60
    texts = texts_of(page, SMALL)
    assert "".join(texts) == page.replace("\n", "")
    assert not [t for t in texts if unicodedata.category(t[0]) in ("Mn", "Cf")]
    assert not [t for t in texts if t.endswith("\u200d")]


def test_text_without_blanks_is_cut_between_its_sentences():
    sentence = "机器人把手臂移动到左边，等待规划器的消息。"
    assert all(text.endswith("。") for text in texts_of(sentence * 40, SMALL))
