"""The pages of past runs' gates."""

from flows.expectations import write_data_docs


def test_the_pages_of_the_last_hundred_runs_are_kept(tmp_path):
    for number in range(98, 203):
        page = write_data_docs([], tmp_path / f"job-{number}")
    assert page.is_file()
    kept = sorted(int(each.name.removeprefix("job-")) for each in tmp_path.iterdir())
    assert kept == list(range(103, 203))
