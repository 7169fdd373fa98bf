"""Pages of the site that are made from the code while MkDocs builds it: policies, command, experiments, problems, Python.

MkDocs calls the functions whose names begin with ``on_``. Nothing is played here: numbers come from docs/figures/results.json.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).parent)]

import benchmark_pages  # noqa: E402  (beside this file)
import policy_pages  # noqa: E402
import settings_table  # noqa: E402
from docstrings import escaped, slug, table  # noqa: E402

from multiduel import __all__ as public_names  # noqa: E402
from multiduel import __version__  # noqa: E402
from multiduel.inputs import PUBLISHED  # noqa: E402
from multiduel.policies import ALL  # noqa: E402

RESULTS = ROOT / "docs" / "figures" / "results.json"
TOP = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
}  # files above docs/, as pages

# Modules of the Python reference beside the names of ``multiduel`` itself, which are listed by what they are for.
API = {
    "Ask and tell": ("make", "restore", "Policy", "Slate", "Outcome", "best", "worst", "ranking", "duels", "tie"),
    "Simulate": (
        *("simulate", "Result", "Results", "read_results", "Rankings", "catalogue", "suggest", "Suggestion", "register"),
        "BadInput",
    ),
    "Problems": (
        *("Problem", "instance", "synthetic", "random_utilities", "bradley_terry", "random_tournament", "cyclic", "from_matrix"),
        *("from_utilities", "read_csv", "EstimatedProblem"),
    ),
    "Votes": ("read_votes", "Votes", "next_slates", "NextSlates"),
    "Options with features": ("contexts", "context_arms", "random_contexts", "ContextProblem"),
    "Verdicts": ("verdict", "Verdict", "forecast", "Forecast", "Tally", "estimate"),
    "Standings": ("standings", "Standings"),
    "Judges": ("judge", "Judged"),
}
MODULES = {
    "Theory": ("multiduel.theory", "multiduel.theory.slates"),
    "The lab": ("multiduel.lab.experiment", "multiduel.lab.runner", "multiduel.lab.results"),
    "The arena's client": ("multiduel.arena.client",),
    "For authors of policies": (
        *("multiduel.kernels.contract", "multiduel.machines.contract", "multiduel.kernels.validity", "multiduel.checks"),
    ),
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Pages that are made get their places in the navigation."""
    sections = {name: pages for entry in config.nav or [] if isinstance(entry, dict) for name, pages in entry.items()}
    sections["Policies"][:] = ["policies/index.md", *({spec.title: policy_pages.page_name(spec)} for spec in ALL)]
    sections["Benchmark"] += [{title: place} for title, place in benchmark_pages.PAGES.items()]
    python = next(entry["Python"] for entry in sections["Reference"] if isinstance(entry, dict) and "Python" in entry)
    python[:] = [{title: f"reference/api/{slug(title)}.md"} for title in (*API, "Rankers", *MODULES)]
    config.extra["version_of_package"] = __version__
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, content in made_pages():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links to files of the repository lead to their pages; installation is from where the package is."""
    markdown = markdown.replace('title="not run: ', 'title="')  # for the tests; readers need the reason only
    if page.file.src_uri == "glossary.md":
        markdown = with_anchors(markdown)
    return _linked(_installed(markdown) if PUBLISHED else markdown, page.file.src_uri)


def with_anchors(glossary: str) -> str:
    """Let pages link to a word: glossary.md#slate.

    >>> with_anchors("| **plug-in policy** | A policy. |")
    '| **plug-in policy**{ #plug-in-policy } | A policy. |'
    """
    return re.sub(r"^\| \*\*(.+?)\*\* \|", lambda word: f"| **{word[1]}**{{ #{slug(word[1])} }} |", glossary, flags=re.M)


def _installed(markdown: str) -> str:
    """
    >>> _installed("pip install -c constraints.txt '.[lab]'")
    "pip install 'multiduel[lab]'"
    """
    here = re.sub(
        r"pip install -c constraints\.txt '?\.(\[[\w,]+\])?'?", lambda found: f"pip install 'multiduel{found[1] or ''}'", markdown
    )
    return here.replace(" In a copy of the repository:", "")


def made_pages() -> Iterator[tuple[str, str]]:
    """Every page that is made, by its place in docs/."""
    for source, place in TOP.items():
        if source != "README.md":
            yield place, _from_above((ROOT / source).read_text(encoding="utf-8"))
    yield "policies/index.md", policy_pages.list_page()
    known = json.loads(RESULTS.read_text())
    for spec in ALL:
        yield policy_pages.page_name(spec), policy_pages.policy_page(spec, known.get(f"policy-{spec.name}"))
    yield from benchmark_pages.pages()
    yield "reference/cli.md", _commands()
    yield "reference/experiment.md", _experiment()
    yield "reference/problems.md", _problems()
    yield "reference/settings.md", settings_table.settings_page()
    yield "reference/examples.md", _examples()
    for title, names in API.items():
        yield f"reference/api/{slug(title)}.md", _api(title, [_home(name) for name in names])
    yield (
        "reference/api/rankers.md",
        _api("Rankers", [_home(name, "multiduel.rankers") for name in _ranker_names()], "multiduel.rankers"),
    )
    for title, modules in MODULES.items():
        helpers = _helpers() if title == "For authors of policies" else ()
        yield f"reference/api/{slug(title)}.md", _api(title, (*modules, *helpers), "")
    missing = set(public_names) - {name for names in API.values() for name in names}
    known_modules = {"authoring", "checks", "rankers", "theory", "policies", "__version__"}
    assert missing <= known_modules, f"The Python reference lacks {sorted(missing - known_modules)}: put them into API."


# -- links --------------------------------------------------------------------------------------------------------------


def _from_above(markdown: str) -> str:
    """A page from above docs/: its links to docs/x.md are links to x.md here."""
    return re.sub(r"\]\((?:docs/)?(?!https?:|#)([^)]+)\)", lambda link: f"]({_target(link[1], 'docs/' in link[0])})", markdown)


def _target(link: str, in_docs: bool) -> str:
    return link if in_docs or link.partition("#")[0] in TOP.values() else f"../{link}"


def _linked(markdown: str, place: str) -> str:
    up = "../" * (len(PurePosixPath(place).parts) - 1)

    def page_of(link: re.Match[str]) -> str:
        inside = PurePosixPath(place).parent.joinpath(link[1]).as_posix()
        target = re.sub(r"[^/]+/\.\./", "", inside)
        if not target.startswith("../"):
            return link[0]
        name, _, anchor = target[3:].partition("#")
        anchor = anchor and f"#{anchor}"
        if name in TOP:
            return f"]({up}{TOP[name]}{anchor})"
        if name.startswith("examples"):
            parts = PurePosixPath(name).parts
            return f"]({up}reference/examples.md{'#' + slug(parts[1]) if len(parts) > 1 else ''})"
        raise ValueError(f"'{place}' links to '{link[1]}', which has no page.")

    return re.sub(r"\]\((?!https?:|#|mailto:)([^)\s]*\.\./[^)\s]+)\)", page_of, markdown)


# -- the command, experiments, problems, examples -----------------------------------------------------------------------


def _commands() -> str:
    import typer

    from multiduel.cli import app

    lines = [
        "# The command",
        "",
        "Made from the command's own help: `multiduel --help`, `multiduel simulate --help` and so on.",
        "",
    ]

    def told(command: Any, words: list[str]) -> None:
        if len(words) > 1:
            lines.extend([f"{'#' * min(len(words), 4)} {' '.join(words)}", "", escaped(command.help or ""), ""])
        rows = []
        for parameter in command.params:
            if getattr(parameter, "hidden", False) or parameter.name == "help":
                continue
            kind = parameter.param_type_name
            shown = parameter.metavar or parameter.name.upper()
            flags = ", ".join(f"`{flag}`" for flag in (*parameter.opts, *parameter.secondary_opts))
            default = parameter.default
            given = (
                "must be given"
                if parameter.required
                else ""
                if default in (None, "", False) or callable(default)
                else f"`{default}`"
            )
            rows.append((f"`{shown}`" if kind == "argument" else flags, given, getattr(parameter, "help", "") or ""))
        if rows:
            lines.extend([table(("argument or option", "default", "meaning"), rows), ""])
        for name, inner in getattr(command, "commands", {}).items():
            told(inner, [*words, name])

    told(typer.main.get_command(app), ["multiduel"])
    return "\n".join(lines)


def _experiment() -> str:
    from multiduel.lab.experiment import Contender, Experiment
    from multiduel.lab.problem import KINDS, MUST_TELL
    from multiduel.problems import CATALOGUE

    kinds = [
        (f"`{kind}`", ", ".join(f"`{key}`" for key in keys), f"`{MUST_TELL[kind]}`" if kind in MUST_TELL else "",
         CATALOGUE[kind].arms if kind in CATALOGUE else "")
        for kind, keys in KINDS.items()
    ]  # fmt: skip
    return "\n".join(
        [
            "# Experiments in TOML",
            "",
            "These are the keys of an experiment's file. [Experiments from files](../lab.md) has examples.",
            "",
            "## The experiment",
            "",
            table(("key", "type", "default", "meaning"), _fields(Experiment)),
            "",
            "## `[[contenders]]`",
            "",
            table(("key", "type", "default", "meaning"), _fields(Contender, without=("source", "anytime", "cite"))),
            "",
            "## `[problem]`",
            "",
            table(("`kind`", "keys", "must be given", "arms if not given"), kinds),
            "",
            "[Problems that ship](problems.md) says what each is.",
        ]
    )


def _fields(kind: Any, without: tuple[str, ...] = ()) -> list[tuple[str, str, str, str]]:
    """Of a dataclass: each field, its type, its default, and what it means."""
    source = inspect.getsource(kind)
    rows = []
    for entry in dataclasses.fields(kind):
        if entry.name in without:
            continue
        comment = re.search(rf"^    {entry.name}:[^#\n]*#\s*(.*)$", source, re.M)
        default = "" if entry.name == "name" else "must be given"  # a file has a name
        if entry.default is not dataclasses.MISSING:
            default = f"`{json.dumps(entry.default)}`" if entry.default not in ("", None) else ""
        elif entry.default_factory is not dataclasses.MISSING:
            default = ""
        meaning = escaped(comment[1]) if comment else ""
        rows.append((f"`{entry.name}`", f"`{entry.type}`".replace("|", "or"), default, meaning))
    return rows


def _problems() -> str:
    from multiduel.problems import CATALOGUE

    rows = [
        (f"`{name}`", family.arms, ", ".join(f"`{key}`" for key in family.options), family.about, family.source)
        for name, family in CATALOGUE.items()
    ]
    return "\n".join(
        [
            "# Problems that ship",
            "",
            'By name everywhere: `md.instance("swirl", 9)`, `multiduel problem swirl`, `multiduel simulate ccb --problem swirl`, '
            'and `kind = "swirl"` in an experiment. `multiduel problem --list` prints this list.',
            "",
            table(("name", "arms if not given", "options", "what it is", "source"), rows),
            "",
            "*In the manner of* means: it has the property that made the published instance worth playing, in a matrix of ours, "
            "because the published one is in no public file that we know. The arithmetic one equals the file that the paper's "
            "first author published with his code, and the cyclic one the lower triangle of his; Ailon's utilities were compared "
            "with no table. "
            "[Data](../data.md) says where public matrices are.",
            "",
            "![The instances as matrices](../figures/problems.svg)",
        ]
    )


def _examples() -> str:
    lines = ["# Examples", "", "Files of the folder `examples/`; the tests run them.", ""]
    kinds = {".py": "python", ".toml": "toml", ".md": "markdown"}
    for path in sorted((ROOT / "examples").iterdir()):
        if path.name.startswith((".", "__")):
            continue
        lines += [f"## {path.name} {{ #{slug(path.name)} }}", ""]
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix in kinds and "__pycache__" not in file.parts:
                name = file.relative_to(ROOT).as_posix()
                text = file.read_text(encoding="utf-8").rstrip()
                fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", text)), default=2))
                lines += [f'{fence}{kinds[file.suffix]} title="{name}"', text, fence, ""]
            elif file.suffix == ".ipynb":
                title = json.loads(file.read_text(encoding="utf-8"))["cells"][0]["source"][0].lstrip("# ").strip()
                lines += [f"- `{file.relative_to(ROOT).as_posix()}`: {title}, as a notebook.", ""]
            elif file.suffix == ".csv":
                head, *rows = file.read_text(encoding="utf-8").splitlines()
                lines += [f"{len(rows):,} rows with the columns `{head}`.", ""]
    return "\n".join(lines)


# -- Python -------------------------------------------------------------------------------------------------------------


def _home(name: str, package: str = "multiduel") -> str:
    """Where a public name is defined."""
    value = getattr(importlib.import_module(package), name)
    return f"{value.__module__}.{value.__name__}"


def _ranker_names() -> list[str]:
    from multiduel import rankers

    return [name for name in rankers.__all__ if hasattr(getattr(rankers, name), "__name__")]  # not the tables of words


def _helpers() -> list[str]:
    """Find the functions that an author calls; those to implement are in the contract."""
    from multiduel import authoring

    return [_home(name, "multiduel.authoring") for name in authoring.__all__ if inspect.isfunction(getattr(authoring, name))]


def _api(title: str, names: Any, package: str = "multiduel") -> str:
    lines = [f"# {title}", ""]
    if package:
        lines += [f"All of them are names of `{package}`.", ""]
    for name in names:
        lines += [f"::: {name}"]
        options = ['filters: ["!^_"]', *(() if package else ("show_root_full_path: true", "show_if_no_docstring: false"))]
        lines += ["    options:", *(f"      {option}" for option in options), ""]
    return "\n".join(lines)
