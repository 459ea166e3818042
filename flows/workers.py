"""Who works on the shards: threads of this process, or the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol  # tasks and what they return are of many types

from prefect.futures import PrefectFutureList
from prefect.task_runners import ThreadPoolTaskRunner

from askbook.errors import SettingsError, TransientError
from askbook.settings import Settings

_THREADS = 2  # the embedder uses all cores by itself; the second thread cuts and writes meanwhile
_CONNECT_SECONDS = 15


class Runner(Protocol):
    """What is used of Prefect's task runners."""

    def map(self, task: Any, parameters: dict[str, Any]) -> PrefectFutureList[Any]:  # noqa: ANN401
        """Run a task once for every value of the parameters that are lists."""


class DaskDown(TransientError):
    """The Dask scheduler that the settings name does not answer."""


@contextmanager
def workers(settings: Settings) -> Iterator[Runner]:
    """The task runner that the settings name, ready for work, stopped with the block."""
    address = settings.dask_address
    if address is None:
        threads: Runner
        with ThreadPoolTaskRunner(max_workers=_THREADS) as threads:
            yield threads
        return
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError:
        raise SettingsError(
            "ASKBOOK_DASK_ADDRESS needs the extra `dask`: pip install 'askbook[dask]'"
        ) from None
    if address == "local":
        # One thread a process: a worker that is killed takes one shard with it, not several.
        cluster = {"threads_per_worker": 1, "dashboard_address": None}
        made = DaskTaskRunner(cluster_kwargs=cluster)
    else:
        made = DaskTaskRunner(address=address, client_kwargs={"timeout": _CONNECT_SECONDS})
    with made as runner:
        try:
            _ = runner.client  # connects, or starts the local cluster
        except OSError as error:
            raise DaskDown(
                f"The Dask scheduler at {address} does not answer. Start it with "
                "`dask scheduler`, or unset ASKBOOK_DASK_ADDRESS to work on threads."
            ) from error
        yield runner
