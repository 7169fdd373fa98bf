"""The same blocks on a Dask cluster. Results travel back here and are stored here: workers need no shared disk.

Each task carries its whole problem instead of pointing at one copy held by a worker, so that a worker that dies takes
nothing with it: Dask gives its tasks to another.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from multiduel.engine.simulation.result import Result
from multiduel.inputs import BadInput, install
from multiduel.lab.task import TICK, Played, Task, play

CONNECT = 10.0  # seconds to reach a scheduler
PATIENCE = 60.0  # seconds without any worker before we give up
KEPT = "Finished parts are kept: run it again to go on."


def check_address(address: str) -> Any:
    """Dask, if it is there and this may be one of its clusters."""
    try:
        import distributed
    except ImportError:
        raise BadInput(f"A cluster needs Dask, which is not installed. Try: {install('cluster')}.") from None
    if address != "local" and "://" not in address:
        raise BadInput(f"'cluster' must be local or an address such as tcp://10.0.0.1:8786. Got '{address}'.")
    return distributed


def on_cluster(tasks: list[Task], address: str, *, workers: int) -> Played:
    """Play the tasks on the cluster at ``address``; "local" starts one of so many ``workers``, each a process."""
    distributed = check_address(address)
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        client = stack.enter_context(_connect(distributed, address, workers, stack))
        ours = uuid.uuid4().hex  # others may use the cluster too: tasks of equal names would be taken for the same
        where = {client.submit(play, task, key=f"multiduel-{ours}-{n}", pure=False): task for n, task in enumerate(tasks)}
        try:
            yield from _collect(distributed, client, where, address)
        finally:
            if client.status == "running":
                client.cancel(list(where))


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask logs tracebacks of what we say in a sentence, such as a lost connection."""
    before = {name: logging.getLogger(name).level for name in ("distributed", "distributed.client")}
    try:
        for name in before:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _connect(distributed: Any, address: str, workers: int, stack: ExitStack) -> Any:
    if address == "local":
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # any free port, for this computer only
            silence_logs=logging.CRITICAL,
        )
        return distributed.Client(stack.enter_context(cluster), set_as_default=False)
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise BadInput(f"There is no Dask scheduler at '{address}': {error}.") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        client.close()
        raise BadInput(f"The cluster at '{address}' has no workers. Start some: dask worker {address}") from None
    try:
        _look_for_multiduel(client, address)
    except BadInput:
        client.close()
        raise
    return client


def _look_for_multiduel(client: Any, address: str) -> None:
    """A worker that cannot import multiduel dies of its first task without a word to us, so it is asked before."""
    answers = client.run(eval, "__import__('multiduel').__version__", on_error="return")
    lacking = [worker for worker, answer in answers.items() if isinstance(answer, BaseException)]
    if lacking:
        raise BadInput(
            f"{len(lacking)} of the {len(answers)} workers at '{address}' cannot import multiduel ({lacking[0]} says: "
            f"{answers[lacking[0]]}). Install it there, as it is here."
        )


def _collect(distributed: Any, client: Any, where: dict[Any, Task], address: str) -> Played:
    """Results as they come. Gives up only when the cluster is gone."""
    arriving = distributed.as_completed(list(where), loop=client.loop)
    left, seen = len(where), time.monotonic()
    while left:
        batch = arriving.next_batch(block=False)
        for future in batch:
            left -= 1
            task = where[future]
            yield task, _result(distributed, future, task, address)
            future.release()
        if batch or client.scheduler_info().get("workers"):
            seen = time.monotonic()
        elif time.monotonic() - seen > PATIENCE:
            raise BadInput(f"The cluster at '{address}' has had no workers for {PATIENCE:g} seconds. {KEPT}")
        if not batch:
            time.sleep(TICK)
            yield next(iter(where.values())), None


def _result(distributed: Any, future: Any, task: Task, address: str) -> Result:
    from concurrent.futures import CancelledError

    block = task.block
    which = f"runs {block.first_run} to {block.first_run + block.runs - 1} of '{block.contender}'"
    try:
        result: Result = future.result()
    except distributed.scheduler.KilledWorker:
        raise BadInput(f"Workers died again and again while they played {which}: out of memory? {KEPT}") from None
    except (CancelledError, OSError):
        raise BadInput(f"The connection to the cluster at '{address}' was lost. {KEPT}") from None
    return result
