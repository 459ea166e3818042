"""`askbook watch`: an author saves, a reader finds it."""

import signal

from running import wait_for


def test_a_saved_page_is_searchable_without_another_command(library, processes):
    library.ingest()
    page = library.book / "module-1-ros2/README.md"

    def found(word: str) -> bool:
        return any(word in text for text in library.texts)

    with processes.start("watch", library.book) as watching:
        page.write_text("# Neptune\n\nIts winds blow at 2,100 km an hour.\n", "utf-8")
        wait_for(lambda: found("Neptune"), "the saved page")
        page.write_bytes(b"\x00 not text")
        page.with_name("more.md").write_text("# Uranus\n\nIt rolls on its side.\n", "utf-8")
        wait_for(lambda: found("Uranus"), "the second page, beside a broken one")
        assert found("Neptune")  # the broken page stays as it was indexed
        watching.send_signal(signal.SIGINT)
        output, errors = watching.communicate(timeout=60)
    assert "module-1-ros2/README.md: 1 embedded" in output
    assert "quarantined module-1-ros2/README.md" in errors
    assert "Traceback" not in errors
    library.check_invariants()
