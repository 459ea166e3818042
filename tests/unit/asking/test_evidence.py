"""What a sentence and its passages have in common, and where they disagree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askbook.asking.evidence import features, names_in, rank, unfaithful_quote
from askbook.asking.quantities import quantities, wrong_number
from askbook.asking.signs import contradicted
from askbook.asking.support import is_verbatim, places_of, sentences_of
from askbook.asking.words import prepare, recall, stem

WORDS = st.sampled_from(["robot", "moves", "its", "arm", "by", "torque", "Nav2", "10", "ms"])
SENTENCE = st.lists(WORDS, min_size=3, max_size=12).map(
    lambda words: "The " + " ".join(words) + "."
)


def compare(sentence, *passages):
    text = prepare(sentence)
    places = [place for passage in passages for place in places_of(passage)]
    best = next(iter(rank(text, places)), None)
    return features(text, [prepare(passage) for passage in passages], best)


@pytest.mark.parametrize("word", ["publish", "publishes", "published", "publishing", "publisher"])
def test_forms_of_a_word_share_a_stem(word):
    assert stem(word) == "publish"


def test_negations_and_stop_words_keep_their_form():
    assert [stem(word) for word in ("never", "does", "isn't")] == ["never", "does", "isn't"]


def test_recall_is_the_share_of_content_words():
    found = compare("The robot lifts heavy boxes.", "A robot lifts the arm.")
    assert found.word_recall == 2 / 4  # robot and lift of robot, lift, heavy, box
    assert found.missing.words == ("heavy", "boxes")


def test_runs_of_words_are_shares_of_the_sentence():
    found = compare("the left arm moves slowly", "Then the left arm stops.")
    assert found.bigram_recall == 2 / 4  # the left, left arm
    assert found.trigram_recall == 1 / 3
    assert found.longest_run == 3 / 5


def test_scripts_without_spaces_are_compared_by_pairs_of_characters():
    passage = "机器人通过话题发布消息。"
    assert compare("机器人发布消息。", passage).word_recall > 0.6
    assert compare("今天天气很好。", passage).word_recall == 0


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1,000 steps", 1000),
        ("twenty-five joints", 25),
        ("5 million steps", 5_000_000),
        ("the 20th step", 20),
        ("minus -5 °C", -5),
        ("50 percent", 50),
    ],
)
def test_numbers_are_read_as_they_are_meant(written, meant):
    assert [each.value for each in quantities(written)] == [meant]


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("It waits 1000 ms.", "It waits 1,000 ms."),
        ("It waits 0.5 s.", "It waits 500 ms."),
        ("It has two arms.", "It has 2 arms."),
        ("It has 2 arms.", "It has two arms."),
        ("It runs at 50 Hz.", "| rate in Hz | 50 |"),
        ("About 5 percent fail.", "5% fail."),
        ("ROS 2 came later.", "ROS2 came later."),
        ("There are three ways to do it.", "Walk, roll or fly."),
        ("2. Start the node.", "Start the node."),
    ],
)
def test_numbers_that_mean_the_same_agree(sentence, passage):
    assert wrong_number(sentence, [passage]) is None


@pytest.mark.parametrize(
    ("sentence", "passage", "clause"),
    [
        ("It waits 5 ms.", "It waits 5 s.", "the source it names says 5 s, not 5 ms"),
        ("It waits 50 ms.", "It waits.", "the number 50 ms is not in the source it names"),
        ("It has three arms.", "It has two arms.", "the source it names says two, not three"),
        ("It came in 2019.", "It came in 2018.", "the number 2019 is not in the source it names"),
        ("Half, or 50 %, fail.", "40 % fail.", "the number 50 % is not in the source it names"),
    ],
)
def test_numbers_and_units_that_differ_are_named(sentence, passage, clause):
    assert wrong_number(sentence, [passage]) == clause


def test_names_are_capitals_that_no_sentence_start_explains():
    assert names_in("Then Gazebo loads the URDF of Atlas.") == ["Gazebo", "URDF", "Atlas"]
    assert names_in("MoveIt plans.") == ["MoveIt"]
    assert names_in("Plans are made.") == []


def test_missing_names_are_told():
    found = compare("The arm runs MoveIt on Linux.", "The arm runs on Linux.")
    assert found.missing.names == ("MoveIt",)
    assert found.names_missing == 1 / 2


@pytest.mark.parametrize(
    ("sentence", "unfaithful"),
    [
        ('He calls it a "safe stop".', None),
        ("He calls it a “Safe  Stop”.", None),
        ('He calls it a "hard stop".', '"hard stop"'),
        ("Run `ros2 topic list` first.", None),
        ("Run `ros2 topic echo` first.", "`ros2 topic echo`"),
        ("The package tf2_ros helps.", None),
        ("The package tf2_tools helps.", "tf2_tools"),
        ("Pass --verbose to it.", "--verbose"),
        ("Version 1.2.3 has it.", "1.2.3"),
    ],
)
def test_quotations_and_identifiers_must_stand_in_the_passage(sentence, unfaithful):
    passage = "It is a safe\nstop. Run ros2 topic list. Use `tf2_ros` in 1.2.4."
    assert unfaithful_quote(sentence, [passage]) == unfaithful


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("The node does not publish scans.", "The node publishes scans."),
        ("The node publishes scans.", "The node never publishes scans."),
        ("The gain increases the error.", "The gain decreases the error."),
        ("The planner runs after the controller.", "The planner runs before the controller."),
    ],
)
def test_a_near_copy_with_the_opposite_sign_is_a_contradiction(sentence, passage):
    assert contradicted(prepare(sentence), places_of(passage))


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("The node never publishes scans.", "The node does not publish scans."),
        ("The node publishes scans.", "The node not only publishes scans."),
        ("Nodes publish scans.", "Without a laser no scan is ever made, as nodes publish nothing."),
    ],
)
def test_negations_that_change_nothing_are_no_contradiction(sentence, passage):
    assert contradicted(prepare(sentence), places_of(passage)) is None


@given(st.lists(SENTENCE, min_size=1, max_size=5), st.sampled_from([" ", "\n", "\n\n- ", "\n> "]))
def test_every_sentence_of_a_passage_is_verbatim_in_it(sentences, between):
    passage = between.join(sentences)
    assert all(is_verbatim(sentence, passage) for sentence in sentences_of(passage))


@given(st.text(), st.lists(st.text(), max_size=3), st.text())
def test_more_passages_never_lower_the_recall(sentence, passages, another):
    fewer, more = compare(sentence, *passages), compare(sentence, *passages, another)
    assert more.word_recall >= fewer.word_recall
    assert more.local_recall >= fewer.local_recall
    assert more.bigram_recall >= fewer.bigram_recall
    assert more.longest_run >= fewer.longest_run


@given(st.text(), st.text())
def test_any_text_can_be_compared(sentence, passage):
    compare(sentence, passage)
    unfaithful_quote(sentence, [passage])
    wrong_number(sentence, [passage])
    contradicted(prepare(sentence), places_of(passage))
    assert 0 <= recall(prepare(sentence), prepare(passage)) <= 1
