"""Support of sentences by passages, with the real embedding model."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askbook.asking.support import LEXICAL, MODELS, Support, is_verbatim, score_sentences
from askbook.providers.hashing import HashingEmbedder
from askbook.providers.minilm import MiniLM

embedder = MiniLM()

QOS = """## Quality of service

A publisher that offers *best effort* never matches a subscriber that asks for reliable delivery.
The laser driver publishes scans at 40 Hz on the topic `/scan`. A queue depth of 10 keeps the last
ten messages and drops older ones.

- Reliable delivery resends lost messages until they arrive.
- Transient local durability hands the last message to late subscribers.
"""
BALANCE = """The humanoid keeps its balance by moving the zero moment point inside the support polygon.
Its controller runs at 500 Hz, and a reading of the IMU takes 2 ms. The leg has six joints, each
with a torque limit of 120 Nm. Without contact sensors the robot cannot tell stance from swing.
"""
NAVIGATION = """Nav2 plans a path with the global planner before the local controller follows it.
Set `use_sim_time` to true when Gazebo publishes the clock, or pass `--ros-args -p use_sim_time:=true`.
The costmap marks cells within 0.55 m of an obstacle as inflated. The package tf2_ros keeps
transforms for 10 seconds by default. "Never trust odometry alone" is the first rule of the lab.
"""

SUPPORTED = [
    (QOS, "A best effort publisher never matches a subscriber that asks for reliable delivery."),
    (QOS, "The laser driver publishes its scans at 40 Hz."),
    (QOS, "Scans are published on `/scan` by the laser driver."),
    (QOS, "With a queue depth of 10, the last 10 messages are kept and older ones dropped."),
    (QOS, "Lost messages are resent until they arrive when delivery is reliable."),
    (QOS, "Late subscribers get the last message with transient local durability."),
    (QOS, "The topic `/scan` carries laser scans."),
    (BALANCE, "The humanoid keeps the zero moment point inside the support polygon to balance."),
    (BALANCE, "The controller runs at 0.5 kHz."),
    (BALANCE, "Reading the IMU takes 2 milliseconds."),
    (BALANCE, "The leg has 6 joints with a torque limit of 120 Nm each."),
    (BALANCE, "The robot cannot tell stance from swing without contact sensors."),
    (BALANCE, "Each joint of the leg has a torque limit of 120 Nm."),
    (NAVIGATION, "The global planner plans a path before the local controller follows it."),
    (NAVIGATION, "In Nav2, a path is planned by the global planner."),
    (NAVIGATION, "Set `use_sim_time` to true when Gazebo publishes the clock."),
    (NAVIGATION, "Cells within 55 cm of an obstacle are marked as inflated in the costmap."),
    (NAVIGATION, "By default, tf2_ros keeps transforms for 10 seconds."),
    (NAVIGATION, 'The first rule of the lab is "never trust odometry alone".'),
    (NAVIGATION, "Transforms are kept for 10 s by the package tf2_ros."),
]
CONTRADICTED = [
    (QOS, "The laser driver publishes scans at 50 Hz.", "the number 50 Hz is not in"),
    (QOS, "The laser driver publishes scans at 40 kHz.", "says 40 Hz, not 40 kHz"),
    (QOS, "The laser driver publishes scans on `/laser`.", "`/laser` is not so in"),
    (QOS, "A best effort publisher matches a subscriber that asks for reliable delivery.", None),
    (QOS, "Reliable delivery never resends lost messages until they arrive.", "the opposite"),
    (QOS, "A queue depth of 20 keeps the last messages.", "says 10, not 20"),
    (QOS, "The Velodyne driver was written by Open Robotics in Mountain View.", "Velodyne"),
    (BALANCE, "Its controller runs at 500 kHz.", "says 500 Hz, not 500 kHz"),
    (BALANCE, "A reading of the IMU takes 2 s.", "says 2 ms, not 2 s"),
    (BALANCE, "The leg has seven joints.", "says six, not seven"),
    (BALANCE, "Each joint has a torque limit of 150 Nm.", "the number 150 Nm"),
    (BALANCE, "Without contact sensors the robot can tell stance from swing.", None),
    (BALANCE, "With contact sensors the robot cannot tell stance from swing.", None),
    (BALANCE, "Boston Dynamics sells the humanoid to warehouses in Europe.", "is not in"),
    (
        NAVIGATION,
        "Nav2 plans a path with the global planner after the local controller follows it.",
        "the opposite",
    ),
    (NAVIGATION, "Set `use_sim_clock` to true when Gazebo publishes the clock.", "`use_sim_clock`"),
    (NAVIGATION, "Pass --sim-time to every node so that Gazebo's clock is used.", "--sim-time"),
    (NAVIGATION, "The package tf2_geometry keeps transforms for 10 seconds.", "tf2_geometry"),
    (
        NAVIGATION,
        "The package tf2_ros keeps transforms for 10 minutes.",
        "says 10 seconds, not 10 minutes",
    ),
    (NAVIGATION, 'The first rule of the lab is "always trust odometry first".', "is not so in"),
    (NAVIGATION, "Reinforcement learning makes grippers cheaper than suction cups.", "its source"),
]


def score(sentence: str, *passages: str) -> Support:
    return anyio.run(score_sentences, [sentence], passages, embedder)[0]


@pytest.mark.parametrize(("passage", "sentence"), SUPPORTED)
def test_a_sentence_in_other_words_passes(passage, sentence):
    found = score(sentence, passage)
    assert found.reason is None, found


@pytest.mark.parametrize(("passage", "sentence", "reason"), CONTRADICTED)
def test_a_contradicted_or_invented_sentence_fails_and_says_why(passage, sentence, reason):
    found = score(sentence, passage)
    assert found.reason is not None, found
    assert (reason or "") in found.reason


def test_a_sentence_without_passages_names_no_source():
    assert score("The leg has six joints.") == Support(0.0, "names no source", None)


def test_a_copied_sentence_scores_1_whatever_the_layout():
    wrapped = "A queue depth of 10 keeps the last ten messages and drops older ones."
    assert score(wrapped, QOS).score == 1
    item = "Reliable delivery resends lost messages until they arrive."
    assert score(item, "> " + QOS.replace("\n", "\n> ")).score == 1


def test_words_copied_from_inside_a_sentence_are_not_a_copied_sentence():
    assert not is_verbatim("Robots can fly.", "It is wrong that Robots can fly.")
    assert not is_verbatim("Robots can fly.", "Robots can fly only in dreams.")


def test_the_evidence_is_the_sentence_that_matches_best():
    found = score("The driver of the laser publishes at 40 Hz.", BALANCE, QOS)
    assert found.evidence == "The laser driver publishes scans at 40 Hz on the topic `/scan`."


def test_a_model_without_weights_of_its_own_is_judged_by_words_and_never_asked():
    class Silent(HashingEmbedder):
        async def embed_passages(self, texts):
            raise AssertionError("asked")

    assert Silent.model not in MODELS
    assert "cosine" not in LEXICAL.weights
    found = anyio.run(score_sentences, [text for _, text in SUPPORTED[:3]], [QOS], Silent())
    assert [each.reason for each in found] == [None, None, None]


def test_what_is_decided_without_a_model_is_not_embedded():
    class Counting(MiniLM):
        asked = 0

        async def embed_passages(self, texts):
            Counting.asked += len(texts)
            return await embedder.embed_passages(texts)

    copied = "Its controller runs at 500 Hz, and a reading of the IMU takes 2 ms."
    anyio.run(score_sentences, [copied, "It runs at 70 Hz."], [BALANCE], Counting())
    assert Counting.asked == 0


@pytest.mark.xfail(reason="a known blind spot, see docs/grounding.md", strict=True)
@pytest.mark.parametrize(
    ("passage", "sentence"),
    [
        (  # the same words in other roles
            "The local controller follows the path that the global planner made.",
            "The global planner follows the path that the local controller made.",
        ),
        (BALANCE, "The zero moment point moves outside the support polygon to keep its balance."),
    ],
)
def test_swapped_roles_and_opposites_in_free_wording_fail(passage, sentence):
    assert score(sentence, passage).reason is not None


@given(st.lists(st.text(min_size=1), max_size=3), st.lists(st.text(), max_size=3))
def test_any_text_gets_a_score_between_0_and_1(sentences, passages):
    found = anyio.run(score_sentences, sentences, passages, HashingEmbedder())
    assert all(0 <= each.score <= 1 for each in found)
