"""It works wherever it is installed: from a wheel, outside the checkout, in every way that pip offers, as other users too."""

from __future__ import annotations

import functools
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = sysconfig.get_path("purelib")  # NumPy and so on are not installed again: a line of a .pth file leads to them
PLAIN = getattr(sys, "_base_executable", sys.executable)  # the interpreter without this environment
NOBODY = 65534

TRIAL = """
import sys
import multiduel as md
assert md.__file__.startswith(sys.argv[1]), md.__file__
slate = md.make('rucb', n_arms=4, seed=0).ask()
result = md.simulate('uniform', md.synthetic(4), horizon=100, runs=2)
print(len(slate.arms), result.final.mean() > 0)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    (made,) = folder.glob("multiduel-*.whl")
    return made


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Folders that other users may enter, and that are gone at the end although they were made read-only."""
    places = []

    def new(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        for parent in (folder, *folder.parents):
            if parent.owner() == folder.owner() and not stat.S_IMODE(parent.stat().st_mode) & stat.S_IXOTH:
                parent.chmod(0o755)
        places.append(folder)
        return folder

    yield new
    for folder in places:
        subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)


@pytest.fixture(scope="module")
def installed(wheel, place) -> Path:
    """An environment with the wheel in its site-packages."""
    folder = environment(place("venv"))
    pip("--python", str(folder / "bin" / "python"), "install", str(wheel))
    return folder


def pip(*args: str, **env: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *args]
    command[-1:-1] = ["--no-deps"] if "wheel" in args else ["--no-deps", "--no-index"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, cwd="/")
    assert done.returncode == 0, done.stderr


def environment(folder: Path, *paths: str) -> Path:
    """A virtual environment that sees the libraries and these paths."""
    subprocess.run([PLAIN, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "overlay.pth").write_text("\n".join([*paths, LIBRARIES, ""]))
    return folder


@functools.cache
def as_nobody() -> tuple[str, ...] | None:
    """How to run a command as a user who may write nowhere; () if we are such a user, None if there is no way."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        return None
    become = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")
    enter = ("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search")  # an interpreter in root's own home
    for way in (become, (*become, *enter)):
        if subprocess.run([*way, PLAIN, "-c", ""], capture_output=True, cwd="/").returncode == 0:
            return way
    return None


def try_out(
    where: Path, python: str, command: list[str], cwd: Path, *, before: tuple[str, ...] = (), **env: str
) -> subprocess.CompletedProcess[str]:
    """Ask, simulate and --help, from outside the checkout."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "NUMBA", "COV", "XDG"))}
    run = functools.partial(subprocess.run, capture_output=True, text=True, cwd=cwd, env={**kept, **env})
    helped = run([*before, *command, "--help"])
    assert helped.returncode == 0 and "simulate" in helped.stdout and not helped.stderr, helped.stderr
    done = run([*before, python, "-c", TRIAL, str(where)])
    assert (done.returncode, done.stdout) == (0, "2 True\n"), done.stderr
    return done


def test_a_wheel_in_an_environment(installed, tmp_path):
    python = str(installed / "bin" / "python")
    done = try_out(installed, python, [str(installed / "bin" / "multiduel")], tmp_path, HOME=str(tmp_path))
    assert not done.stderr
    assert list(installed.rglob("*ask_once_rucb*.nbi")), "compiled code lies beside the package"


def test_installed_for_the_user(wheel, place, tmp_path):
    base = place("user")
    asked = [PLAIN, "-c", "import site; print(site.getusersitepackages())"]
    packages = Path(subprocess.check_output(asked, text=True, env={**os.environ, "PYTHONUSERBASE": str(base)}).strip())
    pip("--python", PLAIN, "install", "--user", str(wheel), PYTHONUSERBASE=str(base), PIP_BREAK_SYSTEM_PACKAGES="1")
    (packages / "overlay.pth").write_text(f"{LIBRARIES}\n")
    done = try_out(base, PLAIN, [str(base / "bin" / "multiduel")], tmp_path, PYTHONUSERBASE=str(base), HOME=str(tmp_path))
    assert not done.stderr


def test_installed_into_a_target(wheel, place, tmp_path):
    target = place("target")
    pip("install", "--target", str(target), str(wheel))
    paths = f"{target}{os.pathsep}{LIBRARIES}"
    done = try_out(target, PLAIN, [PLAIN, str(target / "bin" / "multiduel")], tmp_path, PYTHONPATH=paths, HOME=str(tmp_path))
    assert not done.stderr


def test_overlaid_by_a_path_file(wheel, place, tmp_path):
    overlay = place("overlay")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(overlay)
    python = str(environment(place("overlaid"), str(overlay)) / "bin" / "python")
    assert not try_out(overlay, python, [python, "-m", "multiduel"], tmp_path, HOME=str(tmp_path)).stderr


def test_as_another_user_compiled_code_is_kept_in_the_home(installed, place):
    way = as_nobody()
    if not way:
        pytest.skip("needs root and setpriv, to become another user")
    home = place("home")
    os.chown(home, NOBODY, NOBODY)
    subprocess.run(["chmod", "-R", "a+rX", str(installed)], check=True)
    python = str(installed / "bin" / "python")
    done = try_out(installed, python, [str(installed / "bin" / "multiduel")], home, before=way, HOME=str(home))
    assert not done.stderr
    assert list(home.rglob("*ask_once_rucb*.nbi"))


def test_read_only_with_a_home_that_cannot_be_written_says_so_once(installed, place):
    way = as_nobody()
    if way is None:
        pytest.skip("needs setpriv, to become a user who cannot write everywhere")
    home = place("locked")
    home.chmod(0o555)
    subprocess.run(["chmod", "-R", "a+rX,a-w", str(installed)], check=True)
    before = sorted(installed.rglob("*"))
    python = str(installed / "bin" / "python")
    try:
        done = try_out(installed, python, [str(installed / "bin" / "multiduel")], home, before=way, HOME=str(home))
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(installed)], check=True)
    said = "Compiled code cannot be kept, so that every process compiles anew: no folder can be written. Set NUMBA_CACHE_DIR"
    assert done.stderr.count(said) == 1 and done.stderr.count("Warning") == 1, done.stderr
    assert sorted(installed.rglob("*")) == before and not list(home.iterdir())
