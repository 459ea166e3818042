"""Asking in a real browser: streams, citations, selections, stops, limits and broken wires."""

import re

import httpx
import pytest
from playwright.sync_api import expect
from site_under_test import LESSON, QUESTION, SLOWLY, breakable_wire, published
from widget import Widget

from askbook.errors import DatabaseDown

pytestmark = pytest.mark.xdist_group("browser")
SLOW_QUESTION = f"{QUESTION} Tell me {SLOWLY}."


@pytest.fixture
def widget(page):
    page.goto(f"/#/read/book/{LESSON}")
    made = Widget(page)
    made.open()
    return made


def test_an_answer_streams_in_and_its_citation_opens_the_marked_sentence(site, page, widget):
    page.goto("/")
    widget.open()
    widget.put(SLOW_QUESTION)
    first = widget.answers.locator(".text")
    expect(first).not_to_be_empty()
    expect(widget.stop).to_be_visible()  # shown while the answer is still being written
    site.writer.may_go_on.set()
    expect(widget.find(".confidence")).to_have_text(re.compile("confidence"))
    expect(widget.stop).to_be_hidden()

    chip = widget.find("button.chip").first
    chip.click()
    card = page.get_by_role("dialog", name="Source 1")
    excerpt = card.locator("blockquote").inner_text()
    card.get_by_role("link", name="Open in the book").click()
    mark = page.locator("mark.quoted").first
    expect(mark).to_be_in_viewport()
    marked = "".join(page.locator("mark.quoted").all_inner_texts())
    assert _letters(excerpt) in _letters(marked)
    assert re.search(r"start=\d+&end=\d+", page.url)


def test_only_one_answer_is_written_at_a_time(site, widget):
    widget.put(SLOW_QUESTION)
    expect(widget.answers.locator(".text")).not_to_be_empty()
    widget.put("Another question meanwhile?")
    expect(widget.find("li.question")).to_have_count(1)
    site.writer.may_go_on.set()
    expect(widget.answers.locator(".actions")).to_be_visible()
    assert widget.input.input_value() == "Another question meanwhile?"  # and is not lost


def test_a_refusal_is_shown_as_one(widget):
    answer = widget.ask("sourdough baguette")
    assert "refused" in answer.get_attribute("class")
    expect(answer).to_contain_text("The book does not contain information about this topic.")
    expect(answer.locator(".chip, .confidence")).to_have_count(0)


def test_selected_text_is_asked_about_alone(page, widget):
    widget.page.keyboard.press("Escape")
    paragraph = page.locator(".lesson p", has_text="Durability.")
    paragraph.evaluate("p => getSelection().selectAllChildren(p)")
    page.get_by_role("button", name="Ask about this").click()
    expect(widget.find(".badge")).to_have_text("Selection")
    with page.expect_request("**/api/ask/stream") as asked:
        widget.ask("What is transient local?")
    assert asked.value.post_data_json["selected_text"].startswith("Durability.")
    expect(widget.find("li.question blockquote")).to_contain_text("Durability.")
    expect(widget.find(".badge")).to_have_text("Whole book")  # the next question is free again
    assert widget.stored()["messages"][0]["mode"] == "selected_text"


def test_a_selection_without_a_question_is_explained(page, widget):
    paragraph = page.locator(".lesson p", has_text="Durability.")
    paragraph.evaluate("p => getSelection().selectAllChildren(p)")
    page.get_by_role("button", name="Ask about this").click()
    widget.ask("")
    expect(widget.find("li.question")).to_contain_text("What does this passage say?")


def test_a_follow_up_takes_the_conversation_along(page, widget):
    widget.ask(QUESTION)
    with page.expect_request("**/api/ask/stream") as asked:
        widget.ask("And which one keeps samples?")
    history = asked.value.post_data_json["conversation_history"]
    assert [each["role"] for each in history] == ["user", "assistant"]
    assert history[0]["content"] == QUESTION


def test_a_reload_keeps_the_conversation_and_another_tab_has_its_own(context, page, widget):
    said = widget.ask(QUESTION).locator(".text").inner_text()
    page.reload()
    widget.open()
    assert widget.answers.locator(".text").inner_text() == said
    widget.find("button.chip").first.click()
    expect(page.get_by_role("dialog", name="Source 1")).to_be_visible()

    other = Widget(context.new_page())
    other.page.goto("/")
    other.open()
    expect(other.find(".welcome")).to_be_visible()
    assert other.stored() is None


def test_stop_ends_the_answer_and_the_writer_and_keeps_what_was_said(site, widget):
    widget.put(SLOW_QUESTION)
    expect(widget.answers.locator(".text")).not_to_be_empty()
    widget.stop.click()
    expect(widget.find(".confidence")).to_have_text("Not complete")
    assert site.writer.stopped.wait(20)
    assert widget.stored()["messages"][-1]["stopped"] is True
    expect(widget.input).to_be_focused()


def test_ask_again_replaces_the_last_answer(widget):
    widget.ask(QUESTION)
    with widget.page.expect_request("**/api/ask/stream") as asked:
        widget.page.get_by_role("button", name="Ask again").click()
    expect(widget.answers.locator(".actions")).to_be_visible()
    assert asked.value.post_data_json == {"question": QUESTION, "book_id": "book"}
    expect(widget.answers).to_have_count(1)


def test_copy_takes_the_answer_and_its_sources(context, page, widget):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    widget.ask(QUESTION)
    page.get_by_role("button", name="Copy").click()
    expect(widget.find(".action", has_text="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(widget.stored()["messages"][1]["content"])
    assert f"({LESSON})" in copied


def test_clear_forgets_everything(page, widget):
    widget.ask(QUESTION)
    page.get_by_role("button", name="Clear the conversation").click()
    expect(widget.find(".welcome")).to_be_visible()
    assert widget.stored() is None


def test_the_hours_limit_says_how_long_to_wait(site, context, widget):
    ask = {"question": "sourdough baguette"}
    for _ in range(6):
        reply = httpx.post(
            f"{site.address}/api/ask", json=ask, headers={"X-Forwarded-For": context.visitor}
        )
    assert reply.status_code == 200
    widget.put(QUESTION)
    expect(widget.find(".notice")).to_have_text(
        re.compile(
            r"You have asked all your questions for now. You can ask again in \d+ minutes?\."
        )
    )
    expect(widget.page.get_by_role("button", name="Send")).to_be_disabled()
    expect(widget.page.get_by_role("button", name="Ask again")).to_be_disabled()


def test_a_part_that_is_down_is_said_and_the_question_can_be_asked_again(site, widget, monkeypatch):
    async def down(*_: object):
        raise DatabaseDown("PostgreSQL does not answer")

    reception = site.running.app.state.reception
    with monkeypatch.context() as patch:
        patch.setattr(type(reception), "admit", down)
        widget.put(QUESTION)
        expect(widget.find(".notice")).to_contain_text("PostgreSQL does not answer")
    widget.page.get_by_role("button", name="Ask again").click()
    expect(widget.find(".chip").first).to_be_visible()
    expect(widget.find(".notice")).to_be_hidden()


def test_a_connection_lost_in_mid_answer_keeps_what_came_and_can_be_retried(site, page, widget):
    with breakable_wire(site.running.client.base_url.port) as (address, broken):
        page.goto(address)
        widget.open()
        widget.put(SLOW_QUESTION)
        expect(widget.answers.locator(".text")).not_to_be_empty()
        broken.set()
        expect(widget.find(".notice")).to_contain_text("The connection was lost")
        expect(widget.find(".confidence")).to_have_text("Not complete")
        widget.page.get_by_role("button", name="Ask again").click()
        expect(widget.find(".notice")).to_contain_text("The server cannot be reached")
        expect(widget.find(".notice")).to_contain_text("Trying again in")
        expect(widget.find("li.question")).to_have_count(1)  # nothing of it is lost


def test_offline_is_said_and_ends_by_itself(context, widget):
    context.set_offline(True)
    widget.put(QUESTION)
    expect(widget.find(".notice")).to_contain_text("You are offline. Trying again in")
    context.set_offline(False)
    expect(widget.find(".notice")).to_be_hidden()
    widget.page.get_by_role("button", name="Ask again").click()
    expect(widget.find(".chip").first).to_be_visible()


def test_a_conversation_never_holds_more_than_fifty_messages(page, widget):
    page.evaluate(
        """() => {
          const at = (n) => new Date(1e12 + n).toISOString();
          const messages = Array.from({ length: 50 }, (_, n) => (
            { role: n % 2 ? "assistant" : "user", content: `message ${n}`, timestamp: at(n) }));
          sessionStorage.setItem("chatbot_session",
            JSON.stringify({ session_id: "s", messages, created_at: at(0) }));
        }"""
    )
    page.reload()
    widget.open()
    expect(widget.find(".log > li")).to_have_count(50)
    widget.put(QUESTION)
    expect(widget.find(".chip").first).to_be_visible()
    expect(widget.stop).to_be_hidden()
    kept = widget.stored()["messages"]
    assert len(kept) == 50
    assert kept[0]["content"] == "message 2"
    assert kept[48]["content"] == QUESTION


def test_the_keyboard_alone_is_enough(page, widget):
    expect(widget.input).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Ask the book")).to_be_focused()
    page.keyboard.press("Enter")
    expect(widget.input).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    chip = widget.find("button.chip").first
    expect(chip).to_be_visible()
    for _ in range(20):  # back from the input, over the actions and sources, to the first chip
        page.keyboard.press("Shift+Tab")
        if chip.evaluate("chip => chip.getRootNode().activeElement === chip"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Open in the book")).to_be_focused()
    page.keyboard.press("Escape")
    expect(chip).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Ask the book")).to_be_focused()


def test_screen_readers_hear_the_answer_once_it_is_whole(site, page, widget):
    status = widget.find("[role=status]")
    widget.put(SLOW_QUESTION)
    expect(widget.answers.locator(".text")).not_to_be_empty()
    expect(status).to_have_text("Looking in the book…")
    site.writer.may_go_on.set()
    expect(status).to_have_text(
        re.compile(r"^Answer: .* confidence.* \d cited passages?\.$", re.DOTALL)
    )


def test_two_lines_put_the_widget_on_another_site_with_a_policy_of_its_own(site, browser):
    site.give_writer()
    text = f"""<!doctype html><title>My docs</title><main>A page of ours.</main>
      <script type="module" src="{site.address}/ask-book.js"></script>
      <ask-book pages="/docs/{{path}}#{{anchor}}"></ask-book>"""
    policy = f"default-src 'none'; script-src {site.address}; connect-src {site.address}"
    context = browser.new_context()
    page = context.new_page()
    refused = []
    page.on("console", lambda said: refused.append(said.text) if said.type == "error" else None)
    with published(site.publisher, text, policy):
        page.goto(site.publisher)
        widget = Widget(page)
        widget.open()
        widget.ask(QUESTION)
        widget.find("button.chip").first.click()
        link = page.get_by_role("link", name="Open in the book").get_attribute("href")
    context.close()
    assert re.fullmatch(r"/docs/module-1-ros2/chapter-1-ros2-graph/topics-and-qos#[\w-]+", link)
    assert [each for each in refused if "favicon" not in each] == []


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())
