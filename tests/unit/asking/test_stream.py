from hypothesis import given
from hypothesis import strategies as st

from askbook.asking.stream import SentenceStream, markers, without_markers


def cut(text, size=None):
    stream = SentenceStream()
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    return [s.strip() for piece in pieces for s in stream.feed(piece)] + [
        s.strip() for s in stream.finish()
    ]


def test_a_sentence_keeps_the_markers_behind_it():
    assert cut("A node runs. [Source 1] [Source 2] It stops. [Source 1]") == [
        "A node runs. [Source 1] [Source 2]",
        "It stops. [Source 1]",
    ]


def test_a_marker_before_the_full_stop_belongs_to_its_sentence():
    assert cut("A node runs [Source 1]. It stops [Source 2].") == [
        "A node runs [Source 1].",
        "It stops [Source 2].",
    ]


def test_a_sentence_is_held_back_until_its_marker_must_be_complete():
    stream = SentenceStream()
    assert stream.feed("A node runs. ") == []
    assert stream.feed("[Sour") == []
    assert stream.feed("ce 1] ") == []
    assert [s.strip() for s in stream.feed("It")] == ["A node runs. [Source 1]"]


def test_numbers_abbreviations_and_lower_case_do_not_end_a_sentence():
    text = (
        "It takes 3.5 s, e.g. Twice as long as ros2 vs. Gazebo. [Source 1] Then it ends. [Source 1]"
    )
    assert len(cut(text)) == 2


def test_list_items_are_sentences_of_their_own():
    assert cut("- first item [Source 1]\n- second item [Source 2]") == [
        "- first item [Source 1]",
        "- second item [Source 2]",
    ]


def test_code_is_never_cut():
    code = "Run this:\n```\na = 1. \nB = 2. \nC\n```\nDone. [Source 1]"
    assert any("```\na = 1. \nB = 2. \nC\n```" in sentence for sentence in cut(code))


def test_a_writer_that_never_ends_a_sentence_is_cut_off():
    stream = SentenceStream()
    assert stream.feed("word " * 1000)


def test_markers_are_read_in_the_ways_models_write_them():
    assert markers("a [Source 1]") == [1]
    assert markers("a [Source 1, 2] b [source 3]") == [1, 2, 3]
    assert markers("a [Sources 1 and 2]") == [1, 2]
    assert markers("a [Source 1, Source 4]") == [1, 4]
    assert markers("a list[1] and [2]") == []


def test_without_markers_nothing_of_them_is_left():
    assert without_markers("A node runs [Source 1]. ") == "A node runs."
    assert without_markers("A node [Source 1] runs. [Source 2]") == "A node runs."


@given(st.text(alphabet="Ab .!?\n[]Source12`e.g", max_size=200), st.integers(1, 7))
def test_nothing_is_lost_however_the_pieces_fall(text, size):
    stream = SentenceStream()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    sentences = [s for piece in pieces for s in stream.feed(piece)] + stream.finish()
    assert "".join("".join(sentences).split()) == "".join(text.split())


def test_a_sentence_that_begins_with_a_link_is_a_sentence_of_its_own():
    text = "A node starts. [Source 1] [Launch files](a.md) show it. [Source 2]"
    sentences = ["A node starts. [Source 1]", "[Launch files](a.md) show it. [Source 2]"]
    assert cut(text) == sentences
    assert cut(text, size=1) == sentences


def test_code_keeps_its_indentation():
    code = "```python\ndef main():\n    spin(node)\n        # deep\n```"
    assert without_markers(f"{code}\n[Source 1]") == code
