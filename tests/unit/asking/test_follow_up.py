import anyio
import pytest

from askbook.asking.follow_up import depends, join, standalone
from askbook.errors import ProviderUnavailable
from askbook.models import Message, Usage

TALK = (
    Message("user", "What is a lifecycle node in ROS 2?"),
    Message("assistant", "A node with managed states."),
)


class Rewriter:
    name = "rewriter"

    def __init__(self, answer):
        self.answer = answer

    async def write(self, prompt, usage):
        if isinstance(self.answer, Exception):
            raise self.answer
        yield self.answer


def ask(question, history=TALK, writer=None):
    return anyio.run(standalone, question, history, writer, Usage())


@pytest.mark.parametrize(
    "question",
    ["How does it start?", "And on a Jetson?", "Why?", "what about those states", "which ones"],
)
def test_a_question_that_points_back_is_searched_with_the_one_before(question):
    assert ask(question) == f"What is a lifecycle node in ROS 2?\n{question}"


def test_a_question_that_stands_alone_is_searched_as_it_is():
    question = "Which physics engines does Gazebo support for contact simulation?"
    assert ask(question) == question


def test_the_first_question_never_depends():
    assert not depends("Why is it?", ())


def test_a_chain_of_follow_ups_goes_back_to_the_one_that_names_the_subject():
    talk = (*TALK, Message("user", "How does it start?"), Message("assistant", "By configure."))
    assert join("And then?", talk).splitlines() == [
        "What is a lifecycle node in ROS 2?",
        "How does it start?",
        "And then?",
    ]


def test_a_writer_rewrites_the_question():
    rewritten = "How does a lifecycle node start?"
    assert ask("How does it start?", writer=Rewriter(rewritten)) == rewritten


@pytest.mark.parametrize(
    "answer", [ProviderUnavailable("down"), "", "Bananas are yellow fruits.", "word " * 200]
)
def test_a_writer_that_fails_or_rambles_is_not_needed(answer):
    assert ask("How does it start?", writer=Rewriter(answer)).endswith("\nHow does it start?")
