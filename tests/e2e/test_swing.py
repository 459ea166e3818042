"""Readers and an ingest, as real processes side by side."""

QUESTION = {"question": "How large are the rings of Saturn?"}


def saturn(client) -> bool:
    response = client.post("/api/ask", json=QUESTION)
    assert response.status_code == 200
    return "Saturn" in response.json()["answer"]


def add_saturn(book) -> None:
    (book / "module-1-ros2/README.md").write_text(
        "# Saturn\n\nThe rings of Saturn are 282,000 km wide.\n", "utf-8"
    )


def test_the_api_answers_from_the_old_version_until_the_new_one_is_published(library, processes):
    library.ingest()
    with processes.api() as client:
        assert not saturn(client)
        add_saturn(library.book)
        with processes.start("ingest", library.book) as run:
            while run.poll() is None:
                saturn(client)  # every answer while it runs is a 200
            assert run.returncode == 0
        assert saturn(client)  # the same API process, not restarted
