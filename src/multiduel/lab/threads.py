"""Blocks on threads of this process: one policy compiles while others play, and the dearest are played first, so that no core is
left with a long one while the others have nothing to do."""

from __future__ import annotations

import math
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from multiduel.engine.simulation.result import Result
from multiduel.lab.parts import Block
from multiduel.lab.task import TICK, Played, Task, play


class Queue:
    """Which task is next: the first of every contender in their order; then those of the contender that took longest. A single
    thread has nothing to balance, and takes them as they come."""

    def __init__(self, tasks: list[Task], threads: int) -> None:
        self.waiting = list(tasks)
        self.balanced = threads > 1
        self.begun: set[str] = set()
        self.pace: dict[str, float] = {}  # contender -> seconds per round
        self.lock = threading.Lock()

    def take(self) -> Task:
        with self.lock:
            task = self.waiting[0]
            if self.balanced:
                task = min(self.waiting, key=lambda each: (each.block.contender in self.begun, -self._seconds(each)))
            self.waiting.remove(task)
            self.begun.add(task.block.contender)
            return task

    def _seconds(self, task: Task) -> float:
        return self.pace.get(task.block.contender, math.inf) * task.rounds if task.block.contender in self.begun else 0.0

    def took(self, task: Task, seconds: float) -> None:
        self.pace[task.block.contender] = seconds / task.rounds


def on_threads(tasks: list[Task], threads: int, shares: dict[Block, float]) -> Played:
    """Play the tasks on so many threads; ``shares`` is kept up to date with how much of each is done."""
    stop = threading.Event()
    queue = Queue(tasks, threads)

    def one() -> tuple[Task, Result]:
        task = queue.take()

        def watch(share: float) -> None:
            if stop.is_set():
                raise InterruptedError
            shares[task.block] = max(shares[task.block], min(share, 0.99))

        result = play(task, watch)
        queue.took(task, result.seconds)
        return task, result

    with ThreadPoolExecutor(threads, thread_name_prefix="multiduel-block") as pool:
        waiting: set[Future[tuple[Task, Result]]] = {pool.submit(one) for _ in tasks}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=TICK, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
                if not done:
                    yield tasks[0], None
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
