"""Build a release and try it out as strangers would: ``make release``. Everything but the upload.

Source distribution, then the wheel made from it; ``twine check --strict``; contents compared with the repository; then fresh
environments away from it, one per Python that is found, in which the README's minutes are followed. ``--quick``: this one only.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import zipfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
MINUTES = ("A regret plot in a minute", "Ask and tell in a minute", "A voting page in a minute")
CORE = """
import multiduel as md
policy = md.make("due-duel", n_arms=5, slate_size=3, seed=7)
for _ in range(50):
    slate = policy.ask()
    policy.tell(slate, md.ranking(sorted(slate.arms)))
result = md.simulate("multi-rucb", md.synthetic(8), horizon=2000, runs=4)
print(md.__version__, policy.recommend(), policy.verdict(), result.mean[-1])
"""


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, env={**os.environ, **env})
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def build() -> tuple[Path, Path]:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT)  # the wheel is made from the source distribution
    (source,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    print(run(sys.executable, "-m", "twine", "check", "--strict", source, wheel).strip())
    return source, wheel


def contents(source: Path, wheel: Path) -> None:
    """Say what is in them; nothing may be there that the repository does not have."""
    tracked = set(run("git", "ls-files").splitlines())
    with tarfile.open(source) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames() if packed.getmember(name).isfile()}
    report(source, inside, inside - tracked - {"PKG-INFO", ".gitignore"})
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if not name.endswith("/")}
    report(wheel, names, {name for name in names if f"src/{name}" not in tracked and ".dist-info/" not in name})
    missing = {name.removeprefix("src/") for name in tracked if name.startswith("src/multiduel/")} - names
    if missing:
        sys.exit(f"The wheel lacks {sorted(missing)}.")


def report(file: Path, names: set[str], strange: set[str]) -> None:
    places = Counter("/".join(name.split("/")[:2]) if name.count("/") > 1 else name for name in names)
    print(f"\n{file.name}: {file.stat().st_size:,} bytes, {len(names)} files")
    print("  " + ", ".join(f"{place} ({count})" if count > 1 else place for place, count in sorted(places.items())))
    if strange:
        sys.exit(f"{file.name} has files that are not in the repository: {sorted(strange)}.")


def pythons() -> dict[str, str]:
    """The interpreters to try, by version: on the PATH, or of pyenv."""
    found = {f"{sys.version_info.major}.{sys.version_info.minor}": getattr(sys, "_base_executable", sys.executable)}
    for version in PYTHONS:
        for path in (shutil.which(f"python{version}"), *sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))):
            works = path and subprocess.run([str(path), "-c", "import venv, ssl"], capture_output=True).returncode == 0
            if works:
                found.setdefault(version, str(path))
    return {version: found[version] for version in sorted(found)}


def environment(folder: Path, python: str, what: str) -> Path:
    """A fresh environment with this installed; its folder of commands."""
    run(python, "-m", "venv", folder)
    run(
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-c",
        ROOT / "constraints.txt",
        what,
    )
    return folder / "bin"


def minutes() -> dict[str, list[tuple[str, str]]]:
    """The code blocks of the README's minutes, word for word: kind and text."""
    text = (ROOT / "README.md").read_text()
    found = {}
    for title in MINUTES:
        section = re.search(rf"^## {title}\n(.*?)(?=^## )", text, re.M | re.S)
        assert section, title
        found[title] = re.findall(r"^```(sh|python)[^\n]*\n(.*?)^```$", section[1], re.M | re.S)
    return found


def follow(bin: Path, folder: Path) -> None:
    """The README's minutes, with the commands of this environment; installing is done already."""
    env = {**os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "BROWSER": "true", "HOME": str(folder)}
    env.pop("PYTHONPATH", None)
    for title, blocks in minutes().items():
        start = time.monotonic()
        for kind, text in blocks:
            if kind == "python":
                subprocess.run([bin / "python", "-c", text], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
                continue
            lines = "\n".join(line for line in text.splitlines() if not line.startswith(("pip ", "python3 -m venv")))
            if "arena demo" in lines:
                demo(lines, folder, env)
            elif lines:
                subprocess.run(["bash", "-e", "-c", lines], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
        print(f"  {title}: {time.monotonic() - start:.1f} s")


def demo(line: str, folder: Path, env: dict[str, str]) -> None:
    """Start it, as somebody would whose browser is on another machine; fetch the page that it names; stop it."""
    running = subprocess.Popen(["bash", "-c", f"exec {line.strip()}"], cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
    assert running.stdout
    try:
        said = ""
        while not (address := re.search(r"http://\S+", said)):
            said = running.stdout.readline()
            assert said, "The demo ended without a word."
        with urllib.request.urlopen(address[0], timeout=60) as answer:
            assert answer.status == 200 and b"<html" in answer.read().lower()
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(30)


def main() -> None:
    source, wheel = build()
    contents(source, wheel)
    found = pythons()
    if "--quick" in sys.argv:
        found = dict([next(iter(found.items()))])
    with tempfile.TemporaryDirectory() as place:
        for number, (version, python) in enumerate(found.items()):
            folder = Path(place, version)
            folder.mkdir()
            if number == 0:  # all of it, once
                bin = environment(folder / "all", python, f"multiduel[lab,arena] @ {wheel.as_uri()}")
                print(f"\nPython {version}, wheel with [lab,arena], the README's minutes:")
                follow(bin, folder)
                what = source.as_uri()
            else:
                what = wheel.as_uri()
            bin = environment(folder / "core", python, f"multiduel @ {what}")
            start = time.monotonic()
            said = run(bin / "python", "-c", CORE, cwd=folder, HOME=str(folder)).strip()
            print(f"Python {version}, {Path(what).name}: {said} ({time.monotonic() - start:.1f} s, compiling included)")
            assert run(bin / "multiduel", "--version", cwd=folder).startswith("multiduel ")
    untried = [version for version in PYTHONS if version not in found]
    print(f"\nTried on Python {', '.join(found)}." + (f" Not found here: {', '.join(untried)}." if untried else ""))
    print("Ready: twine upload dist/*")


if __name__ == "__main__":
    main()
