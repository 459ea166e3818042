"""Reading in a real browser: contents, lessons, search, marked places, hostile pages, weight."""

import json
import re
import subprocess
import sys
from collections import Counter

import pytest
from axe_playwright_python.sync_playwright import Axe
from markdown_it import MarkdownIt
from playwright.sync_api import expect
from running import ROOT
from site_under_test import HOSTILE, LESSON, QUESTION
from widget import Widget

pytestmark = pytest.mark.xdist_group("browser")
SAMPLE = ROOT / "data" / "books" / "physical-ai-robotics"
LIGHTEST = 150_000  # bytes of a first load, without the book's own text
_RENDER = """async ({ source, mdx, spans }) => {
  const { renderMarkdown } = await import("/markdown.js");
  const { utf16Offset } = await import("/source-text.js");
  const { content, placed } = renderMarkdown(source, { mdx });
  const words = ({ node, start, end }, from, to) => node.data?.length === end - start
    ? node.data.slice(Math.max(0, from - start), to - start) : node.textContent;
  return spans.map((span) => {
    const [from, to] = span.map((offset) => utf16Offset(source, offset));
    return placed.filter((each) => each.start < to && each.end > from)
      .map((each) => words(each, from, to)).join(" ");
  });
}"""


def test_the_shelf_leads_through_contents_to_lessons_and_on(page):
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.locator("main").get_by_role("link", name="Topics and Quality of Service").click()
    heading = page.get_by_role("heading", level=1, name="Topics and Quality of Service")
    expect(heading).to_be_focused()  # screen readers go on from there
    current = page.locator("#contents [aria-current=page]")
    expect(current).to_have_text("Topics and Quality of Service")
    page.get_by_role("link", name=re.compile("^Previous")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Nodes, Executors"))
    page.go_back()
    expect(heading).to_be_visible()
    page.locator("#outline").get_by_role("link", name="Setting QoS in code").click()
    expect(page.locator("#setting-qos-in-code")).to_be_in_viewport()


def test_a_lesson_shows_tables_code_admonitions_and_none_of_its_markup(page):
    page.goto(f"/#/read/book/{LESSON}")
    lesson = page.locator(".lesson")
    expect(lesson.locator("table").first).to_contain_text("transient local")
    expect(lesson.locator("#qos-matching")).to_have_text("When a pair does not match")
    expect(lesson.locator(".admonition-title").first).to_have_text(
        "Three commands for a silent topic"
    )
    expect(lesson.locator("pre .code-word").first).to_have_text("from")
    expect(lesson.locator(".label").first).to_have_text("Python")
    text = lesson.inner_text()
    for markup in (
        "import Tabs",
        "export const",
        "<Tab",
        "```",
        ":::",
        "**",
        "| ---",
        "qos-matching",
    ):
        assert markup not in text


def test_every_chunk_of_the_sample_book_is_found_again_at_its_offsets(page):
    """What the chunker took from a span is what the reader shows at that span."""
    done = subprocess.run(
        [sys.executable, "-m", "askbook.cli", "chunks", SAMPLE, "--json"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    by_file: dict[str, list[dict]] = {}
    for chunk in json.loads(done.stdout):
        by_file.setdefault(chunk["source_file"], []).append(chunk)
    page.goto("/")
    lost, total = Counter(), 0
    for file, chunks in by_file.items():
        spans = [[c["start_char_offset"], c["end_char_offset"]] for c in chunks]
        source = (SAMPLE / file).read_bytes().decode()
        shown = page.evaluate(
            _RENDER, {"source": source, "mdx": file.endswith(".mdx"), "spans": spans}
        )
        for chunk, text in zip(chunks, shown, strict=True):
            wanted = _words(chunk["text"])
            total += wanted.total()
            lost[file] += (wanted - _words(text)).total()
    assert total > 20_000
    assert lost.total() / total < 0.02, lost.most_common(5)  # notes stand elsewhere in the file


_CONSTRUCTS = [
    "*a* **b** ***c*** _d_ __e__ a*b*c a_b_c **a*b*c**",
    "a `code *x*` and ``a ` b`` \\*no\\* &amp; &lt;tag&gt; &#65;",
    '[text *em*](http://x.example/a_(b)_c "title") <http://x.example> [ref][r] [r]\n\n[r]: http://y.example',
    "# One #\n\nTwo\n===\n\nThree\n---\n\n#### Four",
    "- a\n- b\n  - c\n\n    d\n- e",
    "- a\n\n- b",
    "3. three\n4. four\n   more\n\n1) other",
    "> quote\nlazy\n>\n> - item\n> - item\n\nafter",
    "```py\n# no heading\n- no item\n```\n\n    indented\n\n~~~\n```\n~~~",
    "| a | b |\n|:-:|--:|\n| `x\\|y` | **z** |\n| only |\n\nafter",
    "a  \nb\\\nc\nd",
    "***\n\n- - -\n\ntext\n***",
    "1. a\n\n   ```\n   code\n   ```\n2. b",
    "unclosed **bold and `code and [link](",
    "```\nunclosed fence",
    "~~gone~~ and a ~ b",
    "* a\n\n  b\n* c\n+ d",
]


def test_markdown_is_read_as_an_independent_parser_reads_it(page):
    page.goto("/health")  # any page of this host will do
    shown = page.evaluate(
        """async (sources) => {
          const { renderMarkdown } = await import("/markdown.js");
          return sources.map((source) => {
            const box = document.createElement("div");
            box.append(renderMarkdown(source).content);
            for (const each of box.querySelectorAll("figcaption")) each.remove();
            return box.innerHTML;
          });
        }""",
        _CONSTRUCTS,
    )
    oracle = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for markdown, html in zip(_CONSTRUCTS, shown, strict=True):
        assert _bare(html) == _bare(oracle.render(markdown)), markdown


def test_a_link_into_a_lesson_marks_the_exact_span(site, page):
    source = (site.book / LESSON).read_text(encoding="utf-8")
    sentence = "A mismatch is not an exception."
    start = source.index(sentence)
    page.goto(f"/#/read/book/{LESSON}?start={start}&end={start + len(sentence)}")
    expect(page.locator("mark.cited")).to_have_text(sentence)
    expect(page.locator("mark.cited")).to_be_in_viewport()


def test_offsets_count_code_points_not_utf16_units(page):
    page.goto("/")
    marked = page.evaluate(
        """async () => {
          const { renderMarkdown } = await import("/markdown.js");
          const { markSpan } = await import("/lesson.js");
          const source = "\\u{1F916}\\u{1F916} robots\\r\\n> quoted\\r\\n> **here** it is";
          const { content, placed } = renderMarkdown(source);
          const box = document.createElement("div");
          box.append(content);
          const start = [...source].join("\\u0000").split("\\u0000").indexOf("h");
          markSpan(source, placed, { start, end: start + 4, quotes: [] });
          return [...box.querySelectorAll("mark")].map((mark) => mark.textContent);
        }"""
    )
    assert marked == ["here"]


def test_search_finds_passages_marks_the_words_and_filters(page):
    page.goto("/")
    page.get_by_role("searchbox").fill("reliability policy")
    page.keyboard.press("Enter")
    hits = page.locator(".hits li")
    expect(hits.first).to_be_visible()
    expect(hits.locator("mark", has_text=re.compile("reliab", re.IGNORECASE)).first).to_be_visible()
    with page.expect_request("**/api/search") as asked:
        page.get_by_label("Level").select_option("B1")
    assert asked.value.post_data_json["proficiency_levels"] == ["B1"]
    with page.expect_request("**/api/search") as asked:
        page.get_by_label("Hardware").select_option("2")
    assert asked.value.post_data_json["hardware_tier_filter"] == 2
    with page.expect_request("**/api/search") as asked:
        page.get_by_label("Module").select_option("ros2")
    assert asked.value.post_data_json["module_filter"] == "ros2"
    hits.first.get_by_role("link").click()
    expect(page.locator("mark.cited").first).to_be_in_viewport()


def test_nothing_in_a_hostile_page_runs_or_leaves_the_host(page):
    outside = []
    page.on("request", lambda request: outside.append(request.url))
    page.goto(f"/#/read/book/{HOSTILE}")
    lesson = page.locator(".lesson")
    expect(lesson).to_contain_text("Zebrafish hide here")
    assert page.evaluate("window.hurt") is None
    assert lesson.locator("script, iframe, style, svg, [onclick], [onerror], [onload]").count() == 0
    links = lesson.locator("a").evaluate_all("links => links.map((link) => link.protocol)")
    assert set(links) <= {"http:", "https:"}
    assert all(url.startswith(page.url.split("/#")[0]) for url in outside)
    hebrew = lesson.locator("p", has_text="שלום")
    assert hebrew.evaluate("p => getComputedStyle(p).direction") == "rtl"


def _stored(message: dict) -> str:
    when = "2026-01-01T00:00:00Z"
    messages = [{"timestamp": when, **message}]
    return json.dumps({"session_id": "s", "created_at": when, "messages": messages})


@pytest.mark.parametrize(
    "stored",
    [
        "{not json",
        '"text"',
        _stored({"role": "system", "content": "x"}),
        _stored({"role": "user", "content": {"a": 1}}),
        _stored({"role": "assistant", "content": "x", "citations": "many"}),
        _stored({"role": "assistant", "content": "x", "confidence": 7}),
    ],
)
def test_a_stored_conversation_that_is_not_one_is_discarded(page, stored):
    page.add_init_script(
        f"sessionStorage.getItem('seen') ?? (sessionStorage.setItem('seen', 1), "
        f"sessionStorage.setItem('chatbot_session', {json.dumps(stored)}))"
    )
    page.goto("/")
    widget = Widget(page)
    widget.open()
    expect(widget.find(".welcome")).to_be_visible()
    assert widget.stored() is None


def test_script_in_a_question_and_in_stored_data_stays_text(page):
    evil = "<img src=x onerror=\"window.hurt='stored'\"> [x](javascript:window.hurt=1) [1]"
    when = "2026-01-01T00:00:00Z"
    citation = {
        "chapter_title": evil, "section": evil, "source_file": '"><script>window.hurt=1</script>',
        "excerpt": evil, "anchor": "javascript:window.hurt=1", "start_char_offset": 0, "end_char_offset": 9,
    }  # fmt: skip
    answer = {
        "role": "assistant",
        "content": evil,
        "timestamp": when,
        "confidence": 0.9,
        "citations": [citation],
    }
    session = {
        "session_id": "s",
        "created_at": when,
        "messages": [{"role": "user", "content": evil, "timestamp": when}, answer],
    }
    page.goto("/")
    page.evaluate("text => sessionStorage.setItem('chatbot_session', text)", json.dumps(session))
    page.reload()
    widget = Widget(page)
    widget.open()
    widget.find("button.chip").first.click()
    expect(page.get_by_role("dialog", name="Source 1")).to_contain_text("onerror=")
    widget.page.get_by_role("link", name="Open in the book").click()
    widget.ask(evil)
    expect(widget.find("li.question").last).to_contain_text("<img src=x")
    dangerous = "[...document.querySelector('ask-book').shadowRoot.querySelectorAll('img, script, a[href^=javascript]')].length"
    assert page.evaluate(dangerous) == 0
    assert page.evaluate("window.hurt") is None


def test_a_first_load_is_light_and_asks_this_host_alone(site, browser):
    context = browser.new_context(base_url=site.address)
    page = context.new_page()
    sizes, packed = {}, {}
    page.on("requestfinished", lambda each: sizes.update({each.url: len(each.response().body())}))
    page.on(
        "requestfinished",
        lambda each: packed.update({each.url: each.sizes()["responseBodySize"]}),
    )
    page.goto("/")
    expect(page.locator(".modules")).to_be_visible()
    page.wait_for_load_state("networkidle")
    context.close()
    assert all(url.startswith(site.address) for url in sizes)
    own = {url: size for url, size in sizes.items() if "/api/" not in url}
    assert len(own) > 15
    assert sum(own.values()) < LIGHTEST, own  # as they are
    assert sum(packed[url] for url in own) < LIGHTEST / 2  # as they are sent


def test_pages_are_sent_under_a_strict_policy_and_only_when_changed(site):
    client = site.running.client
    reply = client.get("/")
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    again = client.get("/", headers={"If-None-Match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/markdown.js").headers["content-type"].startswith("text/javascript")
    for name in ("/app.py", "/..%2fapp.py", "/web", "/%2e%2e%2fapp.py", "/nothing.js"):
        assert client.get(name).status_code == 404


def test_a_phone_shows_one_column_a_menu_and_no_sideways_scrolling(site, browser):
    context = browser.new_context(base_url=site.address, viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto(f"/#/read/book/{LESSON}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.get_by_role("button", name="Contents").click()
    page.locator("#contents").get_by_role("link", name="Nodes, Executors and Workspaces").click()
    expect(page.locator("#contents")).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Nodes, Executors"))
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(site, page, scheme):
    page.emulate_media(color_scheme=scheme)
    Widget(page)
    for address in ("/", f"/#/read/book/{LESSON}", "/#/search?q=quality of service", "/status"):
        page.goto(address)
        expect(page.locator("main h1").first).to_be_visible()
        _check_with_axe(page)
    page.goto(f"/#/read/book/{LESSON}")
    widget = Widget(page)
    widget.open()
    _check_with_axe(page)
    widget.ask("sourdough baguette")
    widget.ask(QUESTION)
    widget.find("button.chip").first.click()
    _check_with_axe(page)


def _check_with_axe(page) -> None:
    found = Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in {"serious", "critical"}]
    assert not serious, [(each["id"], [node["html"] for node in each["nodes"]]) for each in serious]


def _words(text: str) -> Counter[str]:
    readable = re.sub(
        r"\$\$?[^$]*\$\$?|\[\^[^\]]*\]:?|^```.*$|^~~~.*$", " ", text, flags=re.MULTILINE
    )
    readable = re.sub(r"\]\([^)]*\)", "]", readable)
    return Counter(word for word in re.findall(r"\w+", readable) if not word.isdigit())


def _bare(html: str) -> str:
    """Tags without attributes, without our wrappers, with no blanks between."""
    html = re.sub(r"<(/?[a-z0-9]+)(?:\s[^>]*)?/?>", r"<\1>", html)
    html = re.sub(r"</?(?:figure|div|span|thead|tbody|figcaption)>", "", html)
    html = re.sub(
        r"\s*(</?(?:p|ul|ol|li|blockquote|pre|table|tr|td|th|h\d|hr|br)>)\s*", r"\1", html
    )
    html = html.replace("<s>", "<del>").replace("</s>", "</del>")
    return html.replace("&quot;", '"').replace("\n</code>", "</code>").strip()
