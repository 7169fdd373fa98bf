"""The Slurm example on a real Slurm of one node, with its daemons on loopback. Needs root and Debian's slurm-wlm."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from multiduel.lab import runner
from multiduel.lab.experiment import parse
from tests.lab.test_shards import SMALL, merged

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "slurm" / "experiment.sbatch"
MISSING = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"Slurm is not installed (apt install slurm-wlm): {', '.join(MISSING)}"),
    pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="Slurm's daemons must be started by root"),
]
CONFIG = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={port}
SlurmdPort={next_port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName={host} NodeAddr=127.0.0.1 CPUs=1
PartitionName=all Nodes={host} Default=YES State=UP
"""


@pytest.fixture
def slurm(tmp_path):
    """A cluster of this machine alone; the environment of its commands."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    port = 20_000 + 2 * (os.getpid() % 10_000)
    config = CONFIG.format(host=platform.node(), folder=folder, port=port, next_port=port + 1)
    (folder / "slurm.conf").write_text(config)
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    env = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    munge = {
        "key-file": "munge.key",
        "socket": "munge.socket",
        "pid-file": "munge.pid",
        "log-file": "munge.log",
        "seed-file": "seed",
    }
    commands = [
        ["munged", "--force", *(f"--{option}={folder / file}" for option, file in munge.items())],
        ["slurmctld"],
        ["slurmd"],
    ]
    try:
        for command in commands:
            subprocess.run(command, env=env, check=True, timeout=60)
        yield env
    finally:
        for name in ("slurmd", "slurmctld", "munge"):
            file = folder / f"{name}.pid"
            if file.exists():
                os.kill(int(file.read_text()), 15)


def test_array_of_jobs_writes_the_file_of_one_command(slurm, tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    submit = ["sbatch", "--wait", "--array=1-3", EXAMPLE, "small.toml", "results"]
    for _ in range(20):  # until the controller listens
        done = subprocess.run(submit, env=slurm, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        if "Unable to contact" not in done.stderr:
            break
        time.sleep(1.0)
    said = "\n".join(log.read_text() for log in tmp_path.glob("multiduel-*.log"))
    assert done.returncode == 0, done.stderr + said
    assert said.count("Parts of other shards are missing") == 2
    runner.run(parse(SMALL, "small.toml"), tmp_path / "alone", threads=1)
    assert merged(tmp_path / "results").read_bytes() == merged(tmp_path / "alone").read_bytes()
