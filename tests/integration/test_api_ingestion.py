"""Ingestion jobs over HTTP, on a real Prefect server; the flow runs in this process."""

import httpx
import pytest
from litestar.testing import TestClient
from pydantic import SecretStr

from api.app import create_app
from api.prefect import UP_FILE
from askbook.settings import load_settings

pytestmark = pytest.mark.xdist_group("api")

ADMIN = {"X-Admin-Key": "key"}


@pytest.fixture
def deployed(prefect_api):
    """The deployment `ingest/ingest` without a worker: runs stay scheduled."""
    with httpx.Client(base_url=prefect_api + "/", timeout=60) as prefect:
        flow = prefect.post("flows/", json={"name": "ingest"}).json()
        made = prefect.post("deployments/", json={"name": "ingest", "flow_id": flow["id"]})
        assert made.is_success, made.text
        yield prefect
        prefect.delete(f"deployments/{made.json()['id']}")


@pytest.fixture
def admin(library, prefect_api):
    """The API of a fresh home whose book was never ingested."""
    settings = load_settings().model_copy(
        update={
            "admin_key": SecretStr(ADMIN["X-Admin-Key"]),
            "prefect_api_url": prefect_api,
            "book_id": "book",
            "book_dir": library.book,
        }
    )
    with TestClient(create_app(settings)) as client:
        client.headers.update(ADMIN)
        yield client


def test_a_job_is_queued_taken_up_by_the_flow_and_followed_to_its_end(admin, library, deployed):
    started = admin.post("/api/ingest", json={"mode": "incremental"})
    assert started.status_code == 202
    job = started.json()
    assert job["status"] == "queued"
    run = deployed.get(f"flow_runs/{job['flow_run_id']}").json()
    assert run["parameters"] == {
        "book_dir": str(library.book),
        "book_id": "book",
        "mode": "incremental",
        "force": False,
    }
    again = admin.post("/api/ingest", json={})
    assert again.status_code == 409
    assert f"Job {job['job_id']}" in again.json()["detail"]

    library.ingest()  # what a worker would do with that run

    done = admin.get(started.headers["location"]).json()
    assert done["status"] == "completed"
    assert done["files_processed"] > 0
    assert done["chunks_created"] > 0
    assert done["completed_at"]
    assert done["report"]["index_version"] == "v000001"
    (listed,) = admin.get("/api/ingest/jobs").json()["jobs"]
    assert listed["job_id"] == job["job_id"]
    versions = admin.get("/api/index/versions").json()["versions"]
    assert [(v["name"], v["current"]) for v in versions] == [("v000001", True)]

    library.edit("module-1-ros2/README.md", "ROS", "RAS")
    library.ingest()
    back = admin.post("/api/index/rollback", json={}).json()["versions"]
    assert [(v["name"], v["current"]) for v in back] == [("v000002", False), ("v000001", True)]
    stale = admin.get("/api/documents?state=stale").json()["documents"]
    assert [each["file_path"] for each in stale] == ["module-1-ros2/README.md"]
    unknown = admin.post("/api/index/rollback", json={"version": "v999999"})
    assert unknown.status_code == 404


def test_a_run_that_prefect_gave_up_does_not_block_the_next(admin, deployed):
    started = admin.post("/api/ingest", json={})
    assert started.status_code == 202, started.text
    first = started.json()
    crashed = {"state": {"type": "CRASHED", "message": "no such machine"}, "force": True}
    deployed.post(f"flow_runs/{first['flow_run_id']}/set_state", json=crashed)
    failed = admin.get(f"/api/ingest/jobs/{first['job_id']}").json()
    assert failed["status"] == "failed"
    assert "no such machine" in failed["error_message"]
    assert admin.post("/api/ingest", json={}).status_code == 202


def test_without_prefect_the_admin_is_told_what_to_do(admin):
    settings = admin.app.state.settings
    admin.app.state.prefect._settings = settings.model_copy(update={"prefect_api_url": None})
    response = admin.post("/api/ingest", json={})
    assert response.status_code == 503
    assert response.json()["dependency"] == "prefect"
    assert "askbook up" in response.json()["detail"]
    admin.app.state.prefect._settings = settings.model_copy(
        update={"prefect_api_url": "http://127.0.0.1:9/api"}
    )
    assert "does not answer" in admin.post("/api/ingest", json={}).json()["detail"]
    assert admin.get("/api/ingest/jobs").json()["jobs"] == []


def test_unknown_books_jobs_and_a_missing_key(admin):
    assert admin.post("/api/ingest", json={"book_id": "other"}).status_code == 404
    assert admin.get("/api/ingest/jobs/7").status_code == 404
    assert admin.get(f"/api/ingest/jobs/{2**40}").status_code == 404
    admin.app.state.settings = admin.app.state.settings.model_copy(update={"admin_key": None})
    assert admin.post("/api/ingest", json={}).status_code == 403


def test_the_note_of_a_running_prefect_has_one_name_in_both_rivers():
    from flows.environment import UP_FILE as WRITTEN

    assert UP_FILE == WRITTEN
