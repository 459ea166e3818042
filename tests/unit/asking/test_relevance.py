from __future__ import annotations

import anyio
import numpy as np
import pytest
from passages import hit

from askbook.asking.asked import answer_test, focus_of, names_in
from askbook.asking.calibrations import calibration_of
from askbook.asking.relevance import NOTHING, measure
from askbook.ports import BatchLimits

ORIN = "The Jetson AGX Orin draws 60 W. Its price depends on the seller."


def by_words(question, *texts):
    hits = [hit(text, index=at) for at, text in enumerate(texts)]
    return anyio.run(measure, question, hits, (), None)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("how do I encrypt traffic with SROS2?", ["SROS2"]),
        ("Is rmw_zenoh faster than Fast DDS?", ["rmw_zenoh", "Fast", "DDS"]),
        ("Nodes need memory. Why is it so?", []),
    ],
)
def test_names_are_words_that_no_sentence_start_explains(question, names):
    assert names_in(question) == names


@pytest.mark.parametrize(
    ("question", "focus"),
    [
        ("how do I encrypt ROS traffic with SROS2?", {"encrypt", "ros", "traffic"}),
        ("what licence does Isaac Sim come under?", {"licenc", "isaac", "sim"}),
        ("What is a node?\nand which states does it have?", {"stat"}),
        ("my robot falls over", set()),
    ],
)
def test_the_focus_is_what_follows_the_question_word(question, focus):
    assert focus_of(question) == focus


@pytest.mark.parametrize(
    ("question", "good", "bad"),
    [
        ("how much does an Orin cost?", "It sells for $1,999.", "It draws 60 W."),
        ("how many milliseconds does it need?", "It takes 5 ms.", "It takes 5 W."),
        ("how many percent drift does it have?", "It drifts by 0.6 %.", "It drifts 3 m."),
        ("how many robots train in parallel?", "4096 robots train.", "It came out in 2024."),
        ("how many are there?", "There are 22.", "There are many."),
        ("how long does training take?", "Two hours on a GPU.", "It takes patience."),
        ("until when is it supported?", "Until May 2027.", "It is supported."),
    ],
)
def test_a_price_a_count_and_a_duration_are_told_from_other_texts(question, good, bad):
    can_answer = answer_test(question)
    assert can_answer(good)
    assert not can_answer(bad)


def test_a_question_for_a_reason_takes_any_text():
    assert answer_test("why does a node stop?") is None


def test_a_name_that_no_passage_has_is_unknown():
    assert by_words("what does the Jetson AGX Orin draw?", ORIN).known == 1
    assert by_words("what does the Jetson Thor draw?", ORIN).known == 0


def test_passages_on_the_subject_without_the_price_do_not_fit_a_question_for_it():
    assert by_words("how much does an Orin cost?", ORIN).fits == 0
    assert by_words("how much does an Orin cost?", f"{ORIN} An Orin may cost $900.").fits == 1


def test_a_missing_word_of_the_focus_lowers_it():
    asked = by_words("what does the Orin draw?", ORIN).focus
    assert by_words("what licence has the Orin?", ORIN).focus < asked


def test_nothing_found_is_no_signal_at_all():
    assert by_words("what is a node?") == NOTHING


def test_near_misses_are_believed_less_than_questions_the_passage_answers():
    by_words_alone = calibration_of("a model that nobody calibrated")
    assert not by_words_alone.needs_vectors
    chances = [
        by_words_alone.probability(by_words(question, ORIN))
        for question in (
            "how much power does the Jetson AGX Orin draw?",
            "how many TOPS does a Jetson Thor deliver?",
        )
    ]
    assert chances[0] > by_words_alone.threshold > chances[1]


class Letters:
    """Embeds a text as the letters in it."""

    model, dimensions, limits = "letters", 26, BatchLimits(8, 1000)

    async def embed_query(self, text):
        counts = np.array([text.lower().count(chr(97 + at)) for at in range(26)], float)
        return counts / max(np.linalg.norm(counts), 1e-9)

    async def embed_passages(self, texts):
        return np.stack([await self.embed_query(text) for text in texts])


def kept(question):
    return anyio.run(measure, question, [hit(ORIN)], (), Letters()).kept


def test_a_question_keeps_its_meaning_where_the_passages_have_its_words():
    assert kept("what does the Orin draw?") == 1
    assert kept("what does the Orin encrypt?") < 1
    assert kept("zebras quickly jump") == 0
