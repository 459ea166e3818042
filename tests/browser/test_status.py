"""The operator's page in a real browser."""

import pytest
from playwright.sync_api import expect
from site_under_test import ADMIN_KEY

pytestmark = pytest.mark.xdist_group("browser")


def test_everybody_sees_the_parts_the_books_and_the_states_of_files(page):
    page.goto("/status")
    expect(page.locator("#health")).to_contain_text("Questions can be answered")
    expect(page.locator("#books")).to_contain_text("book")
    expect(page.locator("#documents .tiles li").first).to_contain_text("indexed")
    expect(page.locator("#admin")).to_be_hidden()


def test_a_wrong_key_shows_nothing_and_is_not_kept(page):
    page.goto("/status")
    page.get_by_label("Admin key").fill("not the key")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).not_to_be_empty()
    expect(page.locator("#admin")).to_be_hidden()
    assert page.evaluate("sessionStorage.getItem('askbook_admin_key')") is None


def test_the_admin_sees_runs_and_quarantine_and_rolls_back(site, page):
    page.goto("/status")
    page.get_by_label("Admin key").fill(ADMIN_KEY)
    page.keyboard.press("Enter")
    expect(page.locator("#quarantine")).to_contain_text("04-broken.md")
    expect(page.locator("#quarantine")).to_contain_text("hardware_tier")
    expect(page.locator("#runs tbody tr")).to_have_count(2)
    expect(page.locator("#runs")).to_contain_text("completed")
    rows = page.locator("#versions tbody tr")
    older = rows.filter(has=page.get_by_role("button", name="Roll back")).first
    name = older.locator("td").first.inner_text()
    older.get_by_role("button").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(rows.filter(has_text="readers see it").locator("td").first).not_to_have_text(name)
    older.get_by_role("button").click()
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    expect(page.locator("#said")).to_have_text(f"Readers see {name} now.")
    expect(rows.filter(has_text="readers see it").locator("td").first).to_have_text(name)
    # and forward again, for the tests that come after
    rows.filter(has=page.get_by_role("button", name="Roll back")).first.get_by_role(
        "button"
    ).click()
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    expect(rows.filter(has_text="readers see it").locator("td").first).not_to_have_text(name)
