"""Where a file stands in the book."""

import dataclasses

import pytest
from book_pages import lesson_of

from askbook.book.frontmatter import read_frontmatter
from askbook.book.locate import is_left_out, resolve_collisions
from askbook.errors import UnreadableFile

LESSON = "module-1-ros2/chapter-9-x/02-y.md"


def given(frontmatter: str, source_file: str = LESSON):
    return lesson_of(f"---\n{frontmatter}\n---\n# A title\n", source_file)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (LESSON, ("ros2", 9, 2, "ros2:9:2")),
        ("docs/en/module-1-ros2/chapter-9-x/02-y.mdx", ("ros2", 9, 2, "ros2:9:2")),
        ("module-1-ros2/chapter-9-x/README.md", ("ros2", 9, 0, "ros2:9:0")),
        ("module-1-ros2/chapter-9-x/index.mdx", ("ros2", 9, 0, "ros2:9:0")),
        ("module-1-ros2/README.md", ("ros2", 0, 0, "ros2:0:0")),
    ],
)
def test_the_path_says_module_chapter_and_lesson(path, place):
    lesson = lesson_of("", path)
    assert (lesson.module, lesson.chapter, lesson.lesson, lesson.location) == place


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("intro.md", "book"),
        ("Getting Started/setup.md", "getting-started"),
        ("02-basics/a.md", "basics"),
        ("module-1-ros2/intro.md", "ros2"),
        ("module-1-ros2/chapter-25-x/01-a.md", "ros2"),
        ("module-1-ros2/chapter-2-x/quiz.md", "ros2"),
        ("module-1-ros2/chapter-2-x/99-z.md", "ros2"),
    ],
)
def test_the_path_stands_in_for_a_location_it_does_not_say(path, module):
    lesson = lesson_of("", path)
    assert (lesson.module, lesson.location) == (module, path)
    assert lesson.chapter in range(21)
    assert lesson.lesson in range(16)


def test_frontmatter_goes_before_the_path():
    lesson = given("module: module-2-gazebo\nchapter: 'Chapter 4'\nlesson_number: '3'")
    assert lesson.location == "gazebo:4:3"


def test_a_bare_module_number_leaves_the_name_to_the_path():
    assert given("module: 1").module == "ros2"


@pytest.mark.parametrize(
    ("line", "tier"),
    [
        ("hardware_tier: 2", 2),
        ("hardwareTier: '2'", 2),
        ("hardware-tier: 2.0", 2),
        ("tier: Tier 2+", 2),
        ("hardware_tier: tier 3", 3),
        ("hardware_tier: 2-4", 2),
        ("tier: free", 1),
        ("hardware_tier:", 1),
    ],
)
def test_the_hardware_tier_is_understood_in_many_spellings(line, tier):
    assert given(line).hardware_tier == tier


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("proficiency_level: B1", "B1"),
        ("proficiency: a2", "A2"),
        ("cefr_level: A2-B1", "A2"),
        ("cefr: [B2, A1]", "A1"),
        ("proficiencyLevel: 'B1 / B2'", "B1"),
        ("title: x", "A2"),
    ],
)
def test_the_lower_end_of_a_level_counts(line, level):
    assert given(line).proficiency_level == level


@pytest.mark.parametrize("layer", ["L3", "3", "Layer 3", "l3", "'L3: Agents'", "L3 Intelligence"])
def test_the_layer_is_understood_in_many_spellings(layer):
    assert given(f"layer: {layer}").layer == "L3"


@pytest.mark.parametrize(
    ("line", "difficulty"),
    [
        ("difficulty: Beginner", "beginner"),
        ("difficulty: medium", "intermediate"),
        ("difficulty_level: beginner-intermediate", "beginner"),
        ("difficulty: HARD", "advanced"),
        ("title: x", None),
    ],
)
def test_the_difficulty_is_understood_in_many_words(line, difficulty):
    assert given(line).difficulty == difficulty


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("tags: [a, b, a]", ("a", "b")),
        ("tags: 'a, b'", ("a", "b")),
        ("keywords: [x y, z]", ("x y", "z")),
        ("tags: [{label: a, permalink: /a}, 7]", ("a", "7")),
        ("tags: []\nkeywords: k", ("k",)),
    ],
)
def test_tags_come_as_lists_or_words(line, tags):
    assert given(line).tags == tags


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hardware_tier", 7),
        ("hardware_tier", "high"),
        ("hardware_tier", "true"),
        ("tier", 0),
        ("proficiency_level", "D1"),
        ("layer", "L9"),
        ("layer", "none"),
        ("chapter", -1),
        ("chapter", 21),
        ("chapter", 2.5),
        ("lesson", 16),
        ("lesson", "[a]"),
        ("difficulty", "purple"),
    ],
)
def test_a_value_outside_its_range_names_the_key_its_line_and_what_is_allowed(key, value):
    with pytest.raises(UnreadableFile) as caught:
        given(f"title: x\n{key}: {value}")
    assert f"`{key}: " in caught.value.reason
    assert "allowed: " in caught.value.reason
    assert caught.value.line == 3


def test_a_chapter_given_in_words_is_not_a_number():
    assert given("chapter: Kinematics").chapter == 9


@pytest.mark.parametrize(
    ("text", "title", "is_written"),
    [
        ("---\nchapter_title: C\ntitle: T\n---\n# H", "C", True),
        ("---\ntitle: T\n---\n# H", "T", True),
        ("---\nsidebar_label: S\n---\n# H", "S", True),
        ("```\n# no\n```\n<!--\n# no\n-->\n# Real `code` *title* {#id}\n", "Real code title", True),
        ("Setext\n======\n", "Setext", True),
        ("## only a section", "Y", False),
    ],
)
def test_a_title_is_written_or_made_from_the_file_name(text, title, is_written):
    lesson = lesson_of(text, LESSON)
    assert (lesson.chapter_title, lesson.title_is_written) == (title, is_written)


def test_chapter_ids_are_folders_or_paths_of_at_most_100_characters():
    assert lesson_of("", "docs/" + LESSON).chapter_id == "module-1-ros2/chapter-9-x"
    assert lesson_of("", "guide/setup.md").chapter_id == "guide/setup"
    ids = {lesson_of("", f"{'long/' * 40}{n}.md").chapter_id for n in range(3)}
    assert [len(each) for each in ids] == [100, 100, 100]


def test_files_that_claim_one_location_all_get_their_paths():
    one = lesson_of("", "a/module-1-ros2/chapter-1-x/01-a.md")
    other = lesson_of("", "b/module-1-ros2/chapter-1-x/01-a.md")
    alone = lesson_of("", LESSON)
    resolved = resolve_collisions([one, alone, other])
    assert [each.location for each in resolved] == [one.source_file, "ros2:9:2", other.source_file]
    assert resolved[1] == dataclasses.replace(alone)


@pytest.mark.parametrize("path", ["_partial.md", "a/_drafts/b.md", ".hidden/a.md"])
def test_underscored_and_hidden_files_are_left_out(path):
    assert is_left_out(path)


@pytest.mark.parametrize(("value", "is_out"), [("true", True), ("'yes'", True), ("false", False)])
def test_drafts_are_left_out(value, is_out):
    text = f"---\ndraft: {value}\n---\n"
    assert is_left_out("a.md", read_frontmatter(text, "a.md")) is is_out


def test_values_inside_a_metadata_block_count_where_the_top_level_is_silent():
    lesson = given("layer: L2\nmetadata:\n  hardware_tier: 4\n  proficiencyLevel: C1\n  layer: L3")
    assert (lesson.hardware_tier, lesson.proficiency_level, lesson.layer) == (4, "C1", "L2")


def test_a_value_out_of_range_inside_a_block_is_named_with_the_block_and_its_line():
    with pytest.raises(UnreadableFile, match=r"02-y\.md:3: `metadata\.hardware_tier: 9`"):
        given("title: x\nmetadata:\n  hardware_tier: 9")
