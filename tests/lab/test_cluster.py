"""The same experiment on a real Dask cluster of processes, with one of them killed on the way."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import subprocess
import sys

import pytest

import multiduel as md
from multiduel.lab import cluster as lab_cluster
from multiduel.lab import runner, task
from multiduel.lab.experiment import parse
from tests.engine.own_policy import TEXT

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'multiduel[cluster]'")

EXPERIMENT = """
horizon = 300_000
runs = 20
checkpoints = 8
[problem]
kind = "synthetic"
arms = 16
[[contenders]]
policy = "uniform"
"""
PARTS = 10


def experiment():
    return parse(EXPERIMENT, "spread.toml")


def merged(out):
    return (out / "spread" / "results.parquet").read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    out = tmp_path_factory.mktemp("reference")
    runner.run(experiment(), out)
    return out


@pytest.fixture(scope="module")
def workers():
    """Two worker processes, each under a nanny that starts it anew when it dies."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs=50
    ) as cluster:
        yield cluster


def test_a_worker_killed_on_the_way_loses_nothing(reference, workers, tmp_path):
    with distributed.Client(workers.scheduler_address, set_as_default=False) as client:
        before = set(client.run(os.getpid).values())
    victims = sorted(before)[:1]
    assert len(before) == 2 and os.getpid() not in before
    shares = []

    def kill_one(done, total):
        shares.append(done / total)
        if done and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    runner.run(experiment(), tmp_path, cluster=workers.scheduler_address, progress=kill_one)
    assert not victims and shares[0] < 1.0, "it must be killed in the middle"
    assert merged(tmp_path) == merged(reference)
    with distributed.Client(workers.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        after = set(client.run(os.getpid).values())
    assert len(before & after) == 1, "one of the two must have been replaced"


def test_a_run_goes_on_from_threads_to_a_cluster(reference, workers, tmp_path):
    stopped = []

    def stop(done, total):
        if done > total / 4:
            stopped.append(done)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(experiment(), tmp_path, threads=1, progress=stop)
    parts = tmp_path / "spread" / "parts"
    kept = {path.name: path.stat().st_mtime_ns for path in parts.glob("*.parquet")}
    assert stopped and 1 <= len(kept) < PARTS
    runner.run(experiment(), tmp_path, cluster=workers.scheduler_address)
    assert {name: (parts / name).stat().st_mtime_ns for name in kept} == kept
    assert merged(tmp_path) == merged(reference)


def test_local_starts_a_cluster_and_ends_it(reference, tmp_path):
    runner.run(experiment(), tmp_path, cluster="local", threads=2)
    assert merged(tmp_path) == merged(reference)


def test_workers_with_other_code_are_refused():
    block = task.task(experiment(), md.synthetic(16), task.Block("uniform", 0, 2))
    with pytest.raises(md.BadInput, match="must have the same multiduel"):
        task.play(dataclasses.replace(block, code="other"))


def test_an_error_on_a_worker_arrives_as_it_is(workers, tmp_path, monkeypatch):
    monkeypatch.setattr(task, "code_here", lambda policy: "other")  # here, not in the workers
    with pytest.raises(md.BadInput, match="must have the same multiduel"):
        runner.run(experiment(), tmp_path, cluster=workers.scheduler_address)


def test_a_policy_in_a_file_travels_with_its_helpers(workers, tmp_path):
    (tmp_path / "own_robin.py").write_text(TEXT.replace("import numpy as np", "import beside_robin\nimport numpy as np", 1))
    (tmp_path / "beside_robin.py").write_text("STEP = 1\n")
    text = EXPERIMENT.replace("300_000", "3000").replace("uniform", f"{tmp_path}/own_robin.py:SPEC")
    for out, words in (("there", {"cluster": workers.scheduler_address}), ("here", {"threads": 1})):
        runner.run(parse(text, "spread.toml"), tmp_path / out, **words)
    assert merged(tmp_path / "there") == merged(tmp_path / "here")
    where = "[m.__file__ for m in __import__('sys').modules.values() if 'robin' in str(getattr(m, '__file__', ''))]"
    with distributed.Client(workers.scheduler_address, set_as_default=False) as client:
        files = [file for there in client.run(eval, where).values() for file in there]
    assert len(files) >= 2 and not any(file.startswith(str(tmp_path)) for file in files), "they were sent, not found"


def test_workers_without_multiduel_are_named():
    class Lacking:
        def run(self, function, *args, on_error):
            return {"tcp://a:1": md.__version__, "tcp://b:1": ModuleNotFoundError("No module named 'multiduel'")}

    said = r"1 of the 2 workers at 'tcp://s:1' cannot import multiduel \(tcp://b:1 says: No module named 'multiduel'\)"
    with pytest.raises(md.BadInput, match=said):
        lab_cluster._look_for_multiduel(Lacking(), "tcp://s:1")


def test_addresses_that_lead_nowhere(tmp_path, monkeypatch):
    with pytest.raises(md.BadInput, match=r"'cluster' must be local or an address .* Got 'lokal'"):
        runner.run(experiment(), tmp_path, cluster="lokal")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setattr(lab_cluster, "CONNECT", 1.0)
    with pytest.raises(md.BadInput, match=f"There is no Dask scheduler at '{address}'"):
        runner.run(experiment(), tmp_path, cluster=address)


def test_a_cluster_that_goes_away_keeps_the_parts(reference, tmp_path, capfd):
    """A scheduler and a worker started as in the docs; the scheduler is killed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    start = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], **start)
    worker = subprocess.Popen([*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"], **start)

    def kill(done, total):
        if done:
            scheduler.kill()

    try:
        with pytest.raises(md.BadInput, match=r"The connection to the cluster at .* was lost\. Finished parts are kept"):
            runner.run(experiment(), tmp_path / "out", cluster=address, progress=kill)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    assert "Traceback" not in capfd.readouterr().err
    assert 1 <= len(list((tmp_path / "out" / "spread" / "parts").glob("*.parquet"))) < PARTS
    runner.run(experiment(), tmp_path / "out")
    assert merged(tmp_path / "out") == merged(reference)


def test_a_cluster_without_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(lab_cluster, "PATIENCE", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50) as empty,
        pytest.raises(md.BadInput, match=r"has no workers\. Start some: dask worker"),
    ):
        runner.run(experiment(), tmp_path, cluster=empty.scheduler_address)
