"""Lessons, real pages and generated ones, for the tests of the book package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hypothesis import strategies as st

from askbook.book.chunk import chunk_lesson
from askbook.book.frontmatter import read_frontmatter
from askbook.book.locate import locate
from askbook.book.presets import PRESETS
from askbook.book.source import decode
from askbook.models import Chunk, ChunkSettings, Lesson

ROOT = Path(__file__).parents[3]
SAMPLE_BOOK = ROOT / "data" / "books" / "physical-ai-robotics"
CORPORA = ROOT.parent / "shared" / "corpora"
COMPACT = PRESETS["compact"]
SMALL = ChunkSettings("test", target_tokens=48, max_tokens=64, min_tokens=12)


def lesson_of(text: str, source_file: str = "part/page.md") -> Lesson:
    return locate(source_file, text, read_frontmatter(text, source_file), "book", "0" * 64)


def chunks_of(
    text: str, settings: ChunkSettings = COMPACT, source_file: str = "part/page.md"
) -> list[Chunk]:
    return chunk_lesson(text, lesson_of(text, source_file), settings)


def texts_of(text: str, settings: ChunkSettings = COMPACT, source_file: str = "p.md") -> list[str]:
    return [chunk.text for chunk in chunks_of(text, settings, source_file)]


def real_pages(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.md*")):
        if path.suffix in (".md", ".mdx"):
            name = path.relative_to(folder).as_posix()
            yield name, decode(path.read_bytes(), name)


_WORDS = "robot node topic frame sensor joint planner message torque graph naïve 机器人 ذراع"
_word = st.sampled_from(_WORDS.split())
_sentence = st.lists(_word, min_size=2, max_size=12).map(lambda w: " ".join(w).capitalize() + ".")
_prose = st.lists(_sentence, min_size=1, max_size=8).map(" ".join)
_title = st.lists(_word, min_size=1, max_size=3).map(" ".join)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


_heading = st.tuples(st.integers(1, 4), _title).map(lambda h: f"{'#' * h[0]} {h[1]}")
_fence = st.tuples(st.sampled_from(["```", "````", "~~~"]), st.lists(_sentence, max_size=12)).map(
    lambda f: f"{f[0]}py\n" + "\n".join(f"# {line}" for line in f[1]) + f"\n{f[0]}"
)
_table = st.lists(st.tuples(_word, _title), min_size=1, max_size=12).map(
    lambda rows: "| name | what |\n|---|---|\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)
)
_list = st.lists(_prose, min_size=1, max_size=6).map(lambda ps: "\n".join(f"- {p}" for p in ps))
_nested = st.lists(_sentence, min_size=2, max_size=6).map(
    lambda ps: "\n".join(f"{'  ' * (i % 3)}- {p}" for i, p in enumerate(ps))
)
_quote = _prose.map(lambda p: _quoted(p + "\n\n— An Author"))
_alert = _prose.map(lambda p: _quoted("[!NOTE]\n" + p))
_math = _word.map(lambda w: f"$$\n\\frac{{{w}}}{{2}}\n$$")
_admonition = st.tuples(_title, _prose).map(lambda a: f":::tip[{a[0]}]\n\n{a[1]}\n\n:::")
_note = st.tuples(st.integers(1, 3), _sentence).map(
    lambda n: f"Told[^{n[0]}].\n\n[^{n[0]}]: {n[1]}"
)
_tabs = st.tuples(_title, _prose).map(
    lambda t: f'<Tabs>\n  <TabItem value="a" label="{t[0]}">\n\n    {t[1]}\n\n  </TabItem>\n</Tabs>'
)
_odd = st.sampled_from(
    [
        "a < b and std::vector<int>",
        "---",
        "{/* gone */}",
        "<!-- gone -->",
        "Use { in prose",
        "***",
        "[ref]: https://example.org",
        "1. one\n2. two",
        "Setext\n===",
        "    indented = 1",
        "`a <b> {c}`",
    ],
)

blocks = st.one_of(
    _prose,
    _prose,
    _heading,
    _heading,
    _fence,
    _table,
    _list,
    _nested,
    _quote,
    _alert,
    _math,
    _admonition,
    _note,
    _tabs,
    _odd,
)
pages = st.tuples(
    st.sampled_from(["", "---\ntitle: A page\n---\n", "\ufeff", "\ufeff---\nid: x\n---\n"]),
    st.lists(blocks, max_size=16),
    st.sampled_from(["\n", "\r\n"]),
).map(lambda p: p[0].replace("\n", p[2]) + "\n\n".join(p[1]).replace("\n", p[2]) + p[2])
settings_ = st.sampled_from(
    [SMALL, COMPACT, ChunkSettings("t", 40, 64, 20, 16), ChunkSettings("t", 100, 128, 64, 20)],
)
# Nothing that can be typed may break a page: marks of all sorts, in any order.
noise = st.lists(
    st.sampled_from(
        [
            "`",
            "```",
            "~~~",
            "<",
            ">",
            "</",
            "/>",
            "<a>",
            "<A>",
            "{",
            "}",
            "{/*",
            "*/}",
            "<!--",
            "-->",
            "$",
            "$$",
            "*",
            "_",
            "[",
            "]",
            "(",
            ")",
            "[^1]",
            "[^1]: ",
            "|",
            "|-|",
            "#",
            "# ",
            "- ",
            "1. ",
            "> ",
            ":::",
            ":::note",
            "\n",
            "\n\n",
            "\r\n",
            "\r",
            "\t",
            "    ",
            " ",
            "a",
            "word",
            "A b. C",
            "import a from 'a'",
            "export const a = {",
            "'",
            '"',
            "\\",
            "é",
            "机",
            "😀",
            "\ufeff",
            "---",
            "===",
        ],
    ),
    max_size=60,
).map("".join)
names = st.sampled_from(["part/page.md", "part/page.mdx"])
