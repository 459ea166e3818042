from passages import hit

from askbook.asking.excerpt import find_excerpt
from askbook.asking.ground import Checked
from askbook.asking.passages import number, with_neighbours
from askbook.asking.reply import Reply, cite
from askbook.asking.retrieve import collapse
from askbook.asking.selected import locate
from askbook.models import Source, StoredChunk


class Chain:
    """An index of which only `retrieve` is used."""

    def retrieve(self, ids):
        return [StoredChunk(id_, hit(f"text of {id_}", index=9).payload) for id_ in ids]


def test_a_very_short_sentence_takes_the_next_ones_of_its_paragraph_along():
    passage = "# QoS\n\n**Deadline.** A sample comes every so often.\n\nAnother paragraph."
    start, end = find_excerpt(passage, "Deadline.")
    assert passage[start:end] == "**Deadline.** A sample comes every so often."


def test_passages_of_one_lesson_stand_together_in_reading_order():
    hits = [hit(file="b.md", index=5), hit(file="a.md", index=2), hit(file="b.md", index=1)]
    places = [(s.hit.payload["source_file"], s.hit.payload["chunk_index"]) for s in number(hits)]
    assert places == [("b.md", 1), ("b.md", 5), ("a.md", 2)]
    assert [source.number for source in number(hits)] == [1, 2, 3]


def test_neighbours_of_the_best_come_along_once():
    hits = [
        hit(index=1, prev_chunk_id="a.md-0", next_chunk_id="x"),
        hit(index=0, next_chunk_id="y"),
    ]
    assert [h.id for h in with_neighbours(hits, Chain(), 1)] == ["a.md-1", "a.md-0", "x"]
    assert with_neighbours(hits, Chain(), 0) == hits


def test_a_hit_that_repeats_a_better_one_is_left_out():
    words = " ".join(f"word{n}" for n in range(40))
    hits = [hit(words), hit(words + " more", index=1), hit("something else entirely", index=2)]
    assert [h.payload["chunk_index"] for h in collapse(hits)] == [0, 2]


def test_a_short_passage_inside_a_long_one_is_no_repetition():
    assert len(collapse([hit("one two three four five six"), hit("one two", index=1)])) == 2


def test_an_excerpt_is_found_whatever_marks_and_line_ends_stand_between_its_words():
    passage = "# Title\n\n> A **node** runs\n> in a process. It stops."
    start, end = find_excerpt(passage, "A node runs in a process.")
    assert passage[start:end] == "A **node** runs\n> in a process."


def test_a_long_excerpt_ends_between_words():
    passage = "word " * 100
    start, end = find_excerpt(passage, passage)
    assert end - start <= 200
    assert passage[start:end].rsplit(maxsplit=1)[-1] == "word"


def test_words_that_are_not_there_cite_the_beginning_without_its_heading():
    assert find_excerpt("# Title\n\nA node runs.", "Foreign words") == (9, 21)


def test_a_citation_points_at_the_very_sentence_where_nothing_was_cleaned():
    passage = "First sentence. Second sentence."
    citation = cite(hit(passage), "Second sentence.")
    assert citation.excerpt == "Second sentence."
    assert (citation.start_char_offset, citation.end_char_offset) == (116, 132)


def test_a_citation_spans_the_passage_where_something_was_cleaned():
    citation = cite(hit("First. Second.", end_char_offset=150), "Second.")
    assert (citation.start_char_offset, citation.end_char_offset) == (100, 150)


def test_citations_are_numbered_as_they_first_appear():
    reply = Reply()
    third, first = Source(3, hit("Cc.", index=3)), Source(1, hit("Aa.", index=1))
    assert reply.add(Checked("Cc.", " ", (third,), 1.0)) == "Cc. [1]"
    assert reply.add(Checked("Aa.", "\n", (first, third), 1.0)) == " Aa. [2][1]"
    assert reply.add(Checked("Dd.", " ", (first,), 1.0)) == "\nDd. [2]"
    assert [c.excerpt for c in reply.citations] == ["Cc.", "Aa."]


def test_a_withheld_sentence_leaves_no_trace_but_its_reason():
    reply = Reply()
    assert reply.add(Checked("Wrong.", " ", (), reason="names no source")) == ""
    assert reply.text == ""
    assert reply.withheld[0].reason == "names no source"


def test_a_selection_is_found_in_the_passage_that_holds_it():
    other = hit("Nothing of the sort is said in this passage at all, believe me.", index=1)
    holds = hit("The **planner** computes a path and the controller follows it closely.", index=2)
    assert locate("planner computes a path and the controller follows", [other, holds]) == [holds]
    assert locate("an entirely foreign sentence about cooking pasta", [other, holds]) == []


def test_an_excerpt_is_found_where_the_passage_has_a_link_and_a_footnote():
    passage = "As [Launch files](./launch.mdx) shows,[^1] a node starts. It stops."
    start, end = find_excerpt(passage, "As Launch files shows, a node starts.")
    assert passage[start:end] == passage.removesuffix(" It stops.")
