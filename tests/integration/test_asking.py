"""The question's river on a real index: what is released, what is withheld, what is refused."""

import re
from contextlib import aclosing

import anyio
import pytest
from running import Installation

from askbook.asking.answer import ENDS_EARLY, QUOTED_INSTEAD
from askbook.asking.chain import Asking
from askbook.asking.find import FILTERS_LEFT_NOTHING, RERANKER_FAILED, SEARCHED_ALL
from askbook.asking.relevance import NOTHING, UNSURE, Calibration
from askbook.asking.reply import CLOSEST, NOTHING_FOUND, NOTHING_SUPPORTED
from askbook.errors import ProviderUnavailable
from askbook.models import Answer, ChunkFilter, Message, Question, Released
from askbook.providers.extractive import ExtractiveWriter
from askbook.settings import Settings
from askbook.wiring import Parts

pytestmark = pytest.mark.xdist_group("language-model")
BOOK = ChunkFilter(book_id="book")
QUESTION = Question("What does the reliability policy of a topic decide?", BOOK)
ANSWERS_ALL = Calibration(5.0, NOTHING, threshold=0.0)


class Scripted:
    """A writer that says what a test wants: pieces, and at the end perhaps an error."""

    name = "scripted"

    def __init__(self, *pieces, error=None):
        self.pieces = pieces
        self.error = error
        self.is_closed = False
        self.sent = 0

    async def write(self, prompt, usage):
        try:
            for piece in self.pieces:
                text = piece(prompt) if callable(piece) else piece
                self.sent += 1
                yield text
            if self.error:
                raise self.error
        finally:
            self.is_closed = True


class Reranker:
    name = "reranker"

    def __init__(self, scores=None, error=None):
        self.scores, self.error = scores, error

    async def rerank(self, query, passages):
        if self.error:
            raise self.error
        return self.scores(passages)


@pytest.fixture(scope="module")
def parts(indexed_home: Installation):
    opened = Parts(Settings(home=indexed_home.home, embedder="hashing", book_id="book"))
    yield opened
    opened.close()


def asking(parts, writer=None, *, reranker=None, calibration=ANSWERS_ALL, **settings):
    quoter = ExtractiveWriter(parts.embedder)
    return Asking(
        embedder=parts.embedder,
        index=parts.index,
        writer=writer or quoter,
        quoter=quoter,
        reranker=reranker,
        settings=parts.settings.model_copy(update=settings),
        calibration=calibration,
    )


def events_of(asking, question=QUESTION):
    async def collect():
        async with aclosing(asking.stream(question)) as stream:
            return [event async for event in stream]

    return anyio.run(collect)


def verbatim(prompt):
    """A sentence of the first source, copied."""
    found = re.search(r"[A-Z][a-z][^\n.|`*#\[\]:]{40,}\.", prompt.sources[0].text)
    return f"{found[0]} [Source 1] "


def check(events) -> Answer:
    """What holds for every stream: one terminal event, and citations that resolve."""
    *released, answer = events
    assert isinstance(answer, Answer)
    assert all(isinstance(event, Released) for event in released)
    if answer.refused:
        assert answer.citations == ()
        assert answer.confidence == 0
    else:
        assert "".join(event.text for event in released) == answer.answer
    return answer


def test_every_citation_resolves_to_a_chunk_that_holds_its_excerpt(parts):
    answer = check(events_of(asking(parts)))
    assert answer.citations
    for citation in answer.citations:
        (chunk,) = parts.index.retrieve([citation.chunk_id])
        assert citation.excerpt in str(chunk.payload["text"])
        assert chunk.payload["start_char_offset"] <= citation.start_char_offset
        assert citation.end_char_offset <= chunk.payload["end_char_offset"]


def test_the_quoting_writer_is_always_supported(parts):
    for text in ("How are services different from actions?", "Which command builds a workspace?"):
        answer = check(events_of(asking(parts), Question(text, BOOK)))
        assert not answer.refused
        assert answer.withheld == ()


def test_an_invented_sentence_is_withheld_and_the_rest_is_released(parts):
    lie = "Bananas are cheaper than 900 wombats in Antwerp. [Source 1] "
    answer = check(events_of(asking(parts, Scripted(verbatim, lie))))
    assert "Bananas" not in answer.answer
    assert [each.text for each in answer.withheld] == [lie.partition(" [")[0]]
    assert answer.withheld[0].reason


def test_strict_grounding_withholds_the_whole_answer(parts):
    writer = Scripted(verbatim, "Bananas are cheaper than 900 wombats. [Source 1] ")
    events = events_of(asking(parts, writer, grounding="strict"))
    assert check(events).answer == NOTHING_SUPPORTED
    assert len(events) == 1


def test_strict_grounding_releases_what_is_wholly_supported(parts):
    answer = check(events_of(asking(parts, Scripted(verbatim), grounding="strict")))
    assert not answer.refused


def test_a_source_that_was_not_given_is_not_believed(parts):
    writer = Scripted(lambda prompt: verbatim(prompt).replace("Source 1", "Source 99"))
    answer = check(events_of(asking(parts, writer)))
    assert answer.refused
    assert answer.withheld[0].reason == "names a source that was not given"


def test_a_writer_that_rambles_without_markers_is_stopped_and_nothing_is_released(parts):
    writer = Scripted(*[f"Thought number {n} goes on.\n" for n in range(200)])
    answer = check(events_of(asking(parts, writer)))
    assert answer.refused
    assert writer.sent < 20
    assert writer.is_closed


def test_a_marker_may_stand_for_the_sentence_before_it_too(parts):
    def two(prompt):
        first, second = re.findall(
            r"[A-Z][a-z][^\n.|`*#\[\]:]{30,}\.", "\n".join(s.text for s in prompt.sources[:1])
        )[:2]
        return f"{first} {second} [Source 1] "

    answer = check(events_of(asking(parts, Scripted(two))))
    assert answer.withheld == ()
    assert answer.answer.count("[1]") == 2


def test_a_writer_that_repeats_itself_is_heard_once(parts):
    answer = check(events_of(asking(parts, Scripted(*[verbatim] * 50))))
    assert answer.answer.count("[1]") == 1
    assert all("again" in each.reason for each in answer.withheld)


def test_a_writer_that_says_nothing_ends_in_a_refusal(parts):
    assert check(events_of(asking(parts, Scripted()))).answer == NOTHING_SUPPORTED


def test_a_writer_that_declines_is_taken_at_its_word(parts):
    writer = Scripted("The book does not contain sufficient information about wombats.")
    assert check(events_of(asking(parts, writer))).answer == NOTHING_FOUND


def test_a_writer_that_fails_at_once_is_replaced_by_quotes(parts):
    writer = Scripted(error=ProviderUnavailable("down"))
    answer = check(events_of(asking(parts, writer)))
    assert answer.parts["writer"] == "extractive"
    assert QUOTED_INSTEAD in answer.notes
    assert not answer.refused


def test_a_writer_that_fails_is_an_error_where_the_settings_say_so(parts):
    writer = Scripted(error=ProviderUnavailable("down"))
    with pytest.raises(ProviderUnavailable):
        events_of(asking(parts, writer, on_writer_failure="unavailable"))


def test_a_writer_that_fails_half_way_leaves_what_passed_and_says_so(parts):
    writer = Scripted(verbatim, "Half a sen", error=ProviderUnavailable("gone"))
    answer = check(events_of(asking(parts, writer)))
    assert not answer.refused
    assert ENDS_EARLY in answer.notes
    assert "Half" not in answer.answer


def test_a_reader_who_leaves_stops_the_writer(parts):
    writer = Scripted(verbatim, "More. ", *["and more " for _ in range(1000)])

    async def leave():
        async with aclosing(asking(parts, writer).stream(QUESTION)) as stream:
            await anext(stream)

    anyio.run(leave)
    assert writer.is_closed
    assert writer.sent < 1000


def test_the_first_sentence_is_released_before_the_last_is_written(parts):
    writer = Scripted(verbatim, "Next one begins ", "and ends. [Source 1]")

    async def first():
        async with aclosing(asking(parts, writer).stream(QUESTION)) as stream:
            event = await anext(stream)
            return event, writer.sent

    event, sent = anyio.run(first)
    assert isinstance(event, Released)
    assert sent < 3


def test_a_reranker_decides_the_order_and_is_named(parts):
    shortest_first = Reranker(lambda passages: [1 / (1 + len(p)) for p in passages])
    writer = Scripted(verbatim)
    answer = check(events_of(asking(parts, writer, reranker=shortest_first, top_k=1)))
    assert answer.parts["reranker"] == "reranker"


def test_a_reranker_that_fails_is_skipped_or_an_error_by_setting(parts):
    broken = Reranker(error=ProviderUnavailable("down"))
    answer = check(events_of(asking(parts, reranker=broken)))
    assert answer.parts["reranker"] is None
    assert RERANKER_FAILED in answer.notes
    with pytest.raises(ProviderUnavailable):
        events_of(asking(parts, reranker=broken, on_reranker_failure="unavailable"))


def test_filters_that_leave_nothing_say_so(parts):
    nowhere = Question(QUESTION.text, ChunkFilter(book_id="book", module="no-such-module"))
    answer = check(events_of(asking(parts), nowhere))
    assert answer.answer == NOTHING_FOUND
    assert answer.notes == (FILTERS_LEFT_NOTHING,)


def test_filters_that_leave_nothing_are_lifted_only_for_those_who_asked(parts):
    where = ChunkFilter(book_id="book", module="no-such-module")
    answer = check(events_of(asking(parts), Question(QUESTION.text, where, broaden=True)))
    assert not answer.refused
    assert answer.notes == (SEARCHED_ALL,)


def test_every_source_of_a_filtered_question_fits_the_filter(parts):
    where = ChunkFilter(book_id="book", chapter_min=2, chapter_max=2)
    answer = check(events_of(asking(parts), Question(QUESTION.text, where)))
    assert all("chapter-2" in citation.source_file for citation in answer.citations)


def test_a_question_below_the_threshold_never_reaches_the_writer(parts):
    writer = Scripted(verbatim)
    refusing = Calibration(-5.0, NOTHING, threshold=0.5)
    answer = check(events_of(asking(parts, writer, calibration=refusing)))
    assert answer.answer == NOTHING_FOUND
    assert writer.sent == 0


def test_an_answer_that_is_likely_beside_the_point_says_so(parts):
    unsure = Calibration(0.0, NOTHING, threshold=0.0)  # a chance of one half
    assert unsure.probability(NOTHING) < UNSURE
    answer = check(events_of(asking(parts, Scripted(verbatim), calibration=unsure)))
    assert not answer.refused
    assert CLOSEST in answer.notes
    sure = check(events_of(asking(parts, Scripted(verbatim))))
    assert CLOSEST not in sure.notes


def chunk_with_prose(parts):
    """A passage of the book and a long sentence of it."""
    for chunk in parts.index.scroll(BOOK):
        found = re.search(r"[A-Z][a-z][^\n.|`*#\[\]:]{60,}\.", str(chunk.payload["text"]))
        if found:
            return chunk, found[0]
    raise AssertionError


def test_selected_text_is_the_only_context_and_is_cited_where_it_stands(parts):
    chunk, sentence = chunk_with_prose(parts)
    seen = []
    writer = Scripted(lambda prompt: seen.append(prompt) or f"{sentence} [Source 1]")
    question = Question("What does this mean?", BOOK, selected_text=sentence)
    answer = check(events_of(asking(parts, writer), question))
    assert [source.text for source in seen[0].sources] == [sentence]
    assert answer.mode == "selected_text"
    assert [citation.chunk_id for citation in answer.citations] == [chunk.id]


def test_a_selection_from_elsewhere_is_answered_without_a_citation(parts):
    foreign = "Sourdough needs a long cold rest before it goes into a very hot oven."
    answer = check(events_of(asking(parts), Question("", BOOK, selected_text=foreign)))
    assert foreign.rstrip(".") in answer.answer
    assert answer.citations == ()
    assert answer.confidence == 0


def test_a_selected_range_restricts_the_sources_to_chunks_that_overlap_it(parts):
    chunk, _ = chunk_with_prose(parts)
    start = int(chunk.payload["start_char_offset"])
    where = ChunkFilter(
        book_id="book", source_file=str(chunk.payload["source_file"]), overlaps=(start, start + 5)
    )
    answer = check(events_of(asking(parts), Question("What is this about?", where)))
    assert {citation.chunk_id for citation in answer.citations} <= {chunk.id}


def test_a_follow_up_is_searched_together_with_what_it_refers_to(parts):
    talk = (
        Message("user", "What is a lifecycle node?"),
        Message("assistant", "A node with states."),
    )
    question = Question("Which ones does it have?", BOOK, history=talk)
    answer = check(events_of(asking(parts), question))
    assert any("lifecycle" in citation.source_file for citation in answer.citations)


def test_a_real_language_model_is_never_shown_without_support(parts, language_model):
    from askbook.providers.openai_writer import OpenAIWriter

    writer = OpenAIWriter(  # a busy machine may read the prompt for a minute
        language_model.model, None, base_url=language_model.base_url, timeout=300
    )
    for text in ("What is a topic?", "Why do actions exist next to services?"):
        question = Question(text, BOOK, top_k=2)
        answer = check(events_of(asking(parts, writer, prompt_tokens=2500), question))
        assert answer.usage.prompt_tokens > 0
        for citation in answer.citations:
            (chunk,) = parts.index.retrieve([citation.chunk_id])
            assert citation.excerpt in str(chunk.payload["text"])
