"""The widget as its users see it."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect


@dataclass(frozen=True)
class Widget:
    """`<ask-book>` on a page. Locators look into its shadow tree by themselves."""

    page: Page

    def find(self, selector: str, **more: str) -> Locator:
        return self.page.locator(f"ask-book {selector}", **more)

    @property
    def input(self) -> Locator:
        return self.page.get_by_label("Your question")

    @property
    def answers(self) -> Locator:
        return self.find("li.answer")

    @property
    def stop(self) -> Locator:
        return self.page.get_by_role("button", name="Stop answering")

    def open(self) -> None:
        self.page.get_by_role("button", name="Ask the book").click()

    def put(self, question: str) -> None:
        """Ask and do not wait."""
        self.input.fill(question)
        self.input.press("Enter")

    def ask(self, question: str) -> Locator:
        """Ask and wait for the whole answer."""
        before = self.answers.count()
        self.put(question)
        answer = self.answers.nth(before)
        expect(answer.locator(".actions")).to_be_visible()
        return answer

    def stored(self) -> dict | None:
        return self.page.evaluate("JSON.parse(sessionStorage.getItem('chatbot_session'))")
