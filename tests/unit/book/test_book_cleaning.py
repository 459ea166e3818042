"""What readers see: MDX, HTML and directives taken out, and nothing else."""

import pytest
from book_pages import chunks_of, texts_of


def shown(text: str, name: str = "page.mdx") -> str:
    return "\n\n".join(texts_of(text, source_file=name))


@pytest.mark.parametrize(
    "gone",
    [
        "import Tabs from '@theme/Tabs';",
        "import {\n  a,\n  b,\n} from 'x';",
        "import 'side-effect.css'",
        "export const a = 1;",
        "export const f = () => {\n  const s = '}';\n\n  return <p>no</p>;\n};",
        "export default function Page() {\n\n  return null;\n}",
        "export {x} from './x';",
        "{/* a comment */}",
        "{/*\n several\n\n lines\n*/}",
        "<!-- a comment -->",
        "{frontMatter.title}",
        "{items.map((i) => (\n  <li key={i}>{`${i}`}</li>\n))}",
        "<DocCardList items={[{a: '>'}]} />",
        "<style>{`.a { color: red }`}</style>",
        "<script>var a = 1;</script>",
    ],
)
def test_mdx_that_readers_do_not_see_is_gone(gone):
    assert shown(f"{gone}\n\nBefore it all.\n\n{gone}\n\nAfter it all.\n") == (
        "Before it all.\n\nAfter it all."
    )


@pytest.mark.parametrize(
    "kept",
    [
        "a < b and c > d",
        "std::vector<int> and List<String> are types",
        "Use { to open and } to close",
        "An empty set of {a, b, c} or {some words in braces}",
        "`<Tabs>` and ``{a ` b}`` are code",
        "```jsx\nimport A from 'a';\n<A b={c}>{d}</A>\n{/* stays */}\n```",
        "~~~~md\n```\n<!-- stays -->\n```\n~~~~",
        "$\\frac{a}{b}$ and $$\\sqrt{c}$$",
        "import the module to begin.",
        "export your data as a file first.",
        "<https://example.org> and <me@example.org>",
        "\\{not an expression\\} and \\<not a tag>",
        "Replace <your-name> and <path> yourself",
        "2 <3 and x<y",
        "{ never closed",
        "<Tabs never closed",
        "<!-- never closed",
    ],
)
@pytest.mark.parametrize("name", ["page.mdx", "page.md"])
def test_what_only_looks_like_markup_stays(kept, name):
    assert shown(f"Before.\n\n{kept}\n\nAfter.\n", name) == f"Before.\n\n{kept}\n\nAfter."


def test_children_of_components_stay_without_their_indentation():
    page = """<Tabs groupId="os">
  <TabItem value="u" label="Ubuntu" attributes={{title: "a > b"}}>

    Run this:

    ```bash
    sudo apt install {x}
      --yes
    ```

    - one
      - two

  </TabItem>
  <TabItem value="m">Use brew.</TabItem>
</Tabs>
"""
    assert shown(page) == (
        "Ubuntu\n\nRun this:\n\n```bash\nsudo apt install {x}\n  --yes\n```\n\n"
        "- one\n  - two\n\nUse brew."
    )


def test_components_in_plain_markdown_are_read_as_mdx():
    page = "import Tabs from 'x';\n\n<Tabs>\n<TabItem>\n\nInside {kept}.\n\n</TabItem>\n</Tabs>\n"
    assert shown(page, "page.md") == "Inside {kept}."


def test_components_inside_a_list_leave_the_item_in_one_piece():
    page = "1. One\n\n   <Note>\n     Careful.\n   </Note>\n\n2. Two\n"
    assert shown(page) == "1. One\n\n   Careful.\n\n2. Two"


@pytest.mark.parametrize("name", ["page.mdx", "page.md"])
def test_html_tags_go_and_their_text_stays(name):
    page = "<details>\n<summary>More</summary>\n\nIt is <b>bo</b>ld.<br/>Next.\n\n</details>\n"
    assert shown(page, name) == "More\n\nIt is bold. Next."


def test_cells_of_an_html_table_do_not_run_together():
    assert shown("<table><tr><td>one</td><td>two</td></tr></table>", "page.md") == "one two"


def test_lines_inside_pre_are_not_headings():
    chunks = chunks_of("# Real\n\n<pre>\n# not one\n</pre>\n", source_file="page.md")
    assert [chunk.heading_path for chunk in chunks] == [("Real",)]


def test_string_expressions_are_text():
    assert shown("Hello{' '}there {\"you\"} {`all`}.") == "Hello there you all."


def test_words_on_both_sides_of_an_expression_stay_apart():
    assert shown("One{'\\n'}two and ({x}) v{version}.") == "One two and () v."


@pytest.mark.parametrize(
    ("directive", "title"),
    [
        (":::note", ""),
        (":::tip Title here", "Title here"),
        (":::tip[A *title*]", "A *title*"),
        (":::note{.big #id}", ""),
        ("::: warning", ""),
        (":::info[T]{.c}", "T"),
    ],
)
def test_a_directive_line_becomes_its_title_or_goes(directive, title):
    page = f"Before.\n\n{directive}\n\nInside.\n\n:::\n\nAfter.\n"
    expected = ["Before.", *([title] if title else []), "Inside.", "After."]
    assert shown(page, "page.md") == shown(page) == "\n\n".join(expected)


def test_admonitions_nest_with_more_colons():
    page = "::::info Outer\n\nOne.\n\n:::tip Inner\n\nTwo.\n\n:::\n\nThree.\n\n::::\n"
    assert shown(page) == "Outer\n\nOne.\n\nInner\n\nTwo.\n\nThree."


def test_includes_and_shortcodes_of_other_tools_stay_readable():
    page = 'Text.\n\n{{#include ../a.rs:3}}\n\n{{< figure src="a.png" >}}\n'
    assert shown(page, "page.md") == page.strip()


def test_only_frontmatter_and_imports_make_no_chunk():
    assert (
        chunks_of("---\ntitle: x\n---\nimport A from 'a';\n\n{/* - */}\n", source_file="a.mdx")
        == []
    )


def test_a_span_covers_what_was_cleaned_inside_it():
    page = "# T\n\nOne <b>two</b> three.\n\n{/* gone */}\n\nFour.\n"
    (chunk,) = chunks_of(page, source_file="a.mdx")
    assert page[chunk.start_char_offset : chunk.end_char_offset] == page.strip()
    assert chunk.text == "# T\n\nOne two three.\n\nFour."


@pytest.mark.parametrize(
    "expression",
    [
        "{/[}\"']/.test(word)}",
        "{\n  // it isn't closed by this }\n  words.length\n}",
        "{a > 1 ? '}' : `{${b}`}",
        "{words.map((w) => `<b>${`the ${w}`}</b>`)}",
        "{url /* https://a.b } */}",
    ],
)
def test_an_expression_ends_at_its_own_brace(expression):
    assert shown(f"Before {expression} after.") == "Before  after."


def test_strings_in_braces_are_text_with_their_holes_and_escapes():
    page = "<CodeBlock>{`a = ${b}\nc = \\`d\\``}</CodeBlock>\n\nIt{'\\'s'} so.\n"
    assert shown(page) == "a = ${b}\nc = \\`d\\`\n\nIt\\'s so."


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ('<Step title="First">\n\nDo it.\n\n</Step>', "First\n\nDo it."),
        ("<TabItem label={'On Linux'}>\n\nDo it.\n\n</TabItem>", "On Linux\n\nDo it."),
        ("<Card title={`More`} href='/x' />\n\nEnd.", "More\n\nEnd."),
        ('An <Image src={require("./a.png")} alt="arm" /> here.', "An arm here."),
        ("A <Tip title='long story'>word</Tip> here.", "A word here."),
        ("<Card title={<b>Rich</b>}>\n\nDo it.\n\n</Card>", "Do it."),
    ],
)
def test_what_a_component_shows_of_its_attributes_stays(page, text):
    assert shown(page) == text
