"""Walking a folder: what is part of the book, and what is quarantined with a reason."""

import os
import sys

import pytest

from askbook.book.walk import Globs, newest_change
from askbook.errors import BookError
from askbook.models import Action
from flows.discover import Survey, discover


def survey(folder, **globs) -> Survey:
    return discover(folder, "book", globs=Globs(**globs), max_bytes=1000)


def reasons(found: Survey) -> dict[str, str]:
    return {each.source_file: each.reason for each in found.quarantined}


def names(found: Survey) -> list[str]:
    return [lesson.source_file for lesson in found.lessons]


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "book"
    root.mkdir()
    (root / "good.md").write_text("# Good\n\nA page of text.\n", "utf-8")
    return root


def write(folder, name, text="# Page\n\nSome words.\n"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_drafts_hidden_and_underscored_files_are_left_out_as_docusaurus_does(folder):
    for name in ("_partial.md", "_parts/a.md", ".hidden/a.md", "node_modules/x/README.md", "a.txt"):
        write(folder, name)
    write(folder, "draft.md", "---\ndraft: true\n---\n# Draft\n")
    assert names(survey(folder)) == ["good.md"]
    assert reasons(survey(folder)) == {}


def test_patterns_choose_files(folder):
    write(folder, "a/one.md")
    write(folder, "a/two.mdx")
    assert names(survey(folder, include=("a/",))) == ["a/one.md", "a/two.mdx"]
    assert names(survey(folder, exclude=("*.mdx", "good.md"))) == ["a/one.md"]


def test_every_bad_file_is_quarantined_and_the_good_ones_stay(folder):
    (folder / "binary.md").write_bytes(b"\x00\x01\x02")
    (folder / "latin.md").write_bytes("# Über\n\ncaf\xe9".encode("latin-1"))
    (folder / "long.md").write_text("x" * 2000, "utf-8")
    write(folder, "yaml.md", "---\ntitle: [broken\n---\n# A\n")
    write(folder, "tier.md", "---\nhardware_tier: 9\n---\n# A\n")
    found = survey(folder)
    assert names(found) == ["good.md"]
    assert set(reasons(found)) == {"binary.md", "latin.md", "long.md", "yaml.md", "tier.md"}
    assert "hardware_tier" in reasons(found)["tier.md"]
    lines = {each.source_file: each.line for each in found.quarantined}
    assert lines["latin.md"] == 1


def test_links_inside_the_book_are_followed_others_are_quarantined(folder, tmp_path):
    write(folder, "part/page.md")
    (folder / "alias.md").symlink_to(folder / "good.md")
    (folder / "part" / "up").symlink_to(folder)
    (tmp_path / "outside.md").write_text("secret", "utf-8")
    (folder / "out.md").symlink_to(tmp_path / "outside.md")
    (folder / "away").symlink_to(tmp_path)
    (folder / "dead.md").symlink_to(folder / "nothing.md")
    (folder / "self.md").symlink_to(folder / "self.md")
    found = survey(folder)
    assert names(found) == ["alias.md", "good.md", "part/page.md"]
    told = reasons(found)
    assert "circle" in told["part/up"]
    assert "out of the book" in told["out.md"]
    assert "out of the book" in told["away"]
    assert "points nowhere" in told["dead.md"]
    assert "symbolic links" in told["self.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_or_folder_is_quarantined(folder):
    write(folder, "closed.md").chmod(0)
    write(folder, "shut/page.md").parent.chmod(0)
    found = survey(folder)
    (folder / "shut").chmod(0o755)
    assert set(reasons(found)) == {"closed.md", "shut"}


def test_files_below_a_folder_that_cannot_be_read_are_not_taken_for_deleted(folder):
    from test_diff import document, plan

    from flows.discover import Quarantined

    bad = Quarantined("shut", "the folder cannot be listed", None)
    made = plan([], [document("shut/page.md"), document("shutter.md", "other")], quarantined=[bad])
    assert {s.source_file for s in made.of(Action.DELETED)} == {"shutter.md"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux allows such names")
def test_a_name_that_is_not_text_is_quarantined(folder):
    (folder / os.fsdecode(b"b\xff.md")).write_bytes(b"# Bad name\n")
    (told,) = reasons(survey(folder)).values()
    assert "rename it" in told


def test_a_folder_without_pages_is_an_error(tmp_path):
    with pytest.raises(BookError, match=r"no \.md or \.mdx"):
        survey(tmp_path)


def test_two_files_that_claim_one_place_are_told_apart_by_their_paths(folder):
    write(folder, "module-1-a/chapter-1-b/01-x.md", "# X\n")
    write(folder, "module-1-a/chapter-1-c/01-y.md", "# Y\n")
    located = {lesson.source_file: lesson.location for lesson in survey(folder).lessons}
    assert located["module-1-a/chapter-1-b/01-x.md"] == "module-1-a/chapter-1-b/01-x.md"
    assert located["module-1-a/chapter-1-c/01-y.md"] == "module-1-a/chapter-1-c/01-y.md"


def test_a_file_that_did_not_change_is_read_once(folder, monkeypatch):
    monkeypatch.setattr("flows.discover._SETTLED_SECONDS", -1)
    first = survey(folder)
    monkeypatch.setattr("flows.discover.read_bytes", lambda *_: pytest.fail("read again"))
    assert survey(folder) == first


def test_a_file_is_read_again_when_only_its_words_changed(folder, monkeypatch):
    monkeypatch.setattr("flows.discover._SETTLED_SECONDS", -1)
    first, page = survey(folder), folder / "good.md"
    before = page.stat()
    while page.stat().st_ctime_ns == before.st_ctime_ns:  # the file system's clock has to tick
        page.write_text("# Good\n\nA page of news.\n", "utf-8")
        os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (page.stat().st_size, page.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert survey(folder).lessons[0].source_file_hash != first.lessons[0].source_file_hash


def test_a_file_that_was_just_written_is_not_remembered(folder, monkeypatch):
    """It may be written again within the same tick of the file system's clock."""
    monkeypatch.setattr("flows.discover._read_once", lambda *_: pytest.fail("remembered"))
    assert names(survey(folder)) == ["good.md"]


def test_the_newest_change_is_that_of_any_page_or_folder(folder):
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (1000, 1000))
    assert newest_change(folder) == 1000
    os.utime(folder / "good.md", (2000, 2000))
    assert newest_change(folder) == 2000
    (folder / "good.md").unlink()  # seen by its folder's date
    assert newest_change(folder) > 2000
    assert newest_change(folder / "nowhere") == 0
