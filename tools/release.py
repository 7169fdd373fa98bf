"""Build a release and try it out as strangers would: ``make release``. Everything but the upload.

Source distribution, then the wheel made from it; ``twine check --strict``; contents compared with the repository; then fresh
environments away from it, in which pip installs the wheel (on every Python that is found) and the source distribution (on the
first) with all that they need, and the README's minutes are followed. ``--quick``: the first Python only.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.request
import zipfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
MINUTES = (
    *("Draw a regret plot", "Choose among your own options", "Rank options from a file of votes"),
    *("Let a team vote", "Let a model judge"),
)
ALONE = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
CORE = """
import multiduel as md
policy = md.make("due-duel", n_arms=5, slate_size=3, seed=7)
for _ in range(50):
    slate = policy.ask()
    policy.tell(slate, md.ranking(sorted(slate.arms)))
result = md.simulate("multi-rucb", md.synthetic(8), horizon=2000, runs=4)
print(md.__version__, policy.recommend(), policy.verdict(), result.mean[-1])
"""
WHERE = "import multiduel, sys; assert multiduel.__file__.startswith(sys.prefix), multiduel.__file__"


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, env=ALONE | env)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def warn_of_links() -> None:
    """An index shows the README without the repository around it: its links need an address, which nobody can invent."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    if not {"Source", "Documentation"} & set(named):
        links = re.findall(r"\]\((?!https?:)([^)]+)\)", (ROOT / "README.md").read_text())
        print(f"WARNING: before an upload name 'Source' in pyproject's urls, and put it before the README's {len(links)} links.")


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
    env = ALONE | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "BROWSER": "true", "HOME": str(folder)}
    run(bin / "python", "-c", WHERE, cwd=folder)
    shutil.copytree(ROOT / "examples", folder / "examples")  # the README reads a file there
    for title, blocks in minutes().items():
        start = spent()
        for kind, text in blocks:
            if kind == "python":
                subprocess.run([bin / "python", "-c", text], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
            elif "arena demo" in text:
                demo(text, folder, env)
            else:
                subprocess.run(["bash", "-e", "-c", text], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
        print(f"  {title}: {since(start)}", flush=True)


def spent() -> tuple[float, float]:
    """Time on the clock, and of the processor in the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def since(start: tuple[float, float]) -> str:
    clock, processor = (now - then for now, then in zip(spent(), start, strict=True))
    return f"{clock:.1f} s, of which the processor worked {processor:.1f} s"


def demo(line: str, folder: Path, env: dict[str, str]) -> None:
    """Start it, go to the page that it names, as a browser would, until it asks the first question; stop it."""
    running = subprocess.Popen(["bash", "-c", f"exec {line.strip()}"], cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
    assert running.stdout
    try:
        said = ""
        while not (address := re.search(r"http://\S+", said)):
            said = running.stdout.readline()
            assert said, "The demo ended without a word."
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        end = time.monotonic() + 300
        while b"data-ticket" not in browser.open(address[0], timeout=60).read():  # it loads, and says so meanwhile
            assert time.monotonic() < end, "The demo asks nothing."
            time.sleep(0.2)
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
            for file in (wheel, source) if number == 0 else (wheel,):
                folder = Path(place, f"{version}-{file.suffix[1:]}")
                folder.mkdir()
                start = spent()
                bin = environment(folder / "all", python, f"multiduel[lab,arena] @ {file.as_uri()}")
                print(f"\nPython {version}, {file.name} with [lab,arena], installed in {since(start)}:", flush=True)
                follow(bin, folder)
            bin = environment(folder / "core", python, f"multiduel @ {file.as_uri()}")
            start = spent()
            said = run(bin / "python", "-c", CORE, cwd=folder, HOME=str(folder)).strip()
            print(f"  without extras: {said} ({since(start)})", flush=True)
            assert run(bin / "multiduel", "--version", cwd=folder).startswith("multiduel ")
    untried = [version for version in PYTHONS if version not in found]
    print(f"\nTried on Python {', '.join(found)}." + (f" Not found here: {', '.join(untried)}." if untried else ""))
    warn_of_links()
    print("Ready: twine upload dist/*")


if __name__ == "__main__":
    main()
