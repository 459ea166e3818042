import anyio
import numpy as np
from passages import source

from askbook.asking.quotes import quotes_of, rank_quotes
from askbook.asking.support import is_verbatim
from askbook.ports import BatchLimits

PASSAGE = """# Nodes

A node runs in a process. It has a name.

There are three ways to start it:

- by hand, with `ros2 run`
- from a launch file of the package
- inside a container of components

```bash
ros2 run demo talker

ros2 node list
```

A managed node has two states. Its callbacks run between them.

| State | Meaning |
| --- | --- |
| inactive | waits |
| active | works |

Why does it not start?

See [the launch lesson](./launch.mdx) for the whole file.[^1]
"""


class Even:
    """To whom all texts are alike, so that words and passages decide."""

    model, dimensions, limits = "even", 2, BatchLimits()

    async def embed_query(self, text):
        return np.array([1.0, 0.0])

    async def embed_passages(self, texts):
        return np.tile([1.0, 0.0], (len(texts), 1))


def texts(passage=PASSAGE):
    return [quote.text for quote in quotes_of(passage)]


def test_a_paragraph_is_quoted_whole():
    assert "A node runs in a process.\nIt has a name." in texts()


def test_a_list_comes_with_the_sentence_that_introduces_it():
    (found,) = (text for text in texts() if text.startswith("There are three ways"))
    assert found.count("\n- ") == 3


def test_code_is_never_cut():
    assert "```bash\nros2 run demo talker\n\nros2 node list\n```" in texts()


def test_a_table_comes_with_the_short_paragraph_before_it():
    (found,) = (text for text in texts() if "| active |" in text)
    assert found.startswith("A managed node has two states.")
    assert found.endswith("| active | works |")


def test_a_lone_question_and_an_announcement_are_no_answers():
    assert "Why does it not start?" not in texts()
    assert "There are three ways to start it:" not in texts()


def test_links_and_footnotes_become_words_and_still_count_as_copied():
    (found,) = (text for text in texts() if text.startswith("See"))
    assert found == "See the launch lesson for the whole file."
    assert is_verbatim(found, PASSAGE)


def test_a_link_that_the_passage_does_not_have_is_not_copied():
    sentence = "See [the launch lesson](https://elsewhere.example) for the whole file."
    assert not is_verbatim(sentence, PASSAGE)


def ranked(question, *sources):
    return [each.quote.text for each in anyio.run(rank_quotes, question, sources, Even())]


def test_the_title_above_a_quote_counts():
    plain = source(1, "It is drawn at random every time.", section_title="Start")
    titled = source(2, "It is drawn anew for each episode.", section_title="Domain randomization")
    found = ranked("How is domain randomization done?", plain, titled)
    assert found[0] == "It is drawn anew for each episode."


def test_only_so_many_quotes_are_embedded():
    passage = "\n\n".join(f"Paragraph {n} speaks of robots." for n in range(60))
    found = ranked("What of paragraph 7?", source(1, passage))
    assert len(found) == 16
    assert found[0] == "Paragraph 7 speaks of robots."
