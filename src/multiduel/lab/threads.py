"""Blocks on threads of this process: one policy compiles while others play."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from multiduel.engine.result import Result
from multiduel.lab.parts import Block
from multiduel.lab.task import TICK, Played, Task, play


def on_threads(tasks: list[Task], threads: int, shares: dict[Block, float]) -> Played:
    """Play the tasks on so many threads; ``shares`` is kept up to date with how much of each is done."""
    stop = threading.Event()

    def one(task: Task) -> Result:
        def watch(share: float) -> None:
            if stop.is_set():
                raise InterruptedError
            shares[task.block] = max(shares[task.block], min(share, 0.99))

        return play(task, watch)

    with ThreadPoolExecutor(threads, thread_name_prefix="multiduel-block") as pool:
        waiting: dict[Future[Result], Task] = {pool.submit(one, task): task for task in tasks}
        try:
            while waiting:
                done, _ = wait(waiting, timeout=TICK, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()
                if not done:
                    yield tasks[0], None
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
