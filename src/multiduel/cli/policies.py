"""``multiduel policies`` and ``multiduel suggest``. Heavy imports wait."""

from __future__ import annotations

from typing import Annotated

import typer

from multiduel.cli.terminal import POLICY, console, whole_number

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def policies(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="A policy or machine to show in full; your own as path/to/file.py:SPEC."),
    ] = None,
) -> None:
    """List the policies, or describe one. A description has paper, parameters, limits and defaults."""
    from multiduel.cli import policy_descriptions

    screen = console()
    if name is not None:
        policy_descriptions.print_description(name, screen)
    else:
        screen.print(policy_descriptions.policy_table(screen.width))
        screen.print("slate: how many arms it compares at once. 'multiduel policies NAME' shows all about one.")


@app.command()
def cite(
    names: Annotated[list[str], typer.Argument(metavar="POLICY|DIR...", help=f"{POLICY} Or folders of results.")],
) -> None:
    """Print BibTeX entries of the papers behind policies. A folder of results stands for all its policies."""
    from pathlib import Path

    from multiduel.engine.registry.registry import MACHINES, POLICIES, find
    from multiduel.inputs import shortened, visible
    from multiduel.lab.results import MANIFEST, find_folder, folders_in
    from multiduel.policies.citations import bibtex

    entries: dict[str, None] = {}
    folders = {name: [folder for folder in folders_in(Path(name)) if (folder / MANIFEST).exists()] for name in names}
    typed = {name: MACHINES[name] if name in MACHINES else find(name, "typed") for name in names if not folders[name]}
    for name in names:
        if name in typed:
            entries[bibtex(typed[name].cite)] = None
        for folder in folders[name]:
            for contender in find_folder(folder).experiment.contenders:
                if contender.policy in POLICIES:
                    entries[bibtex(POLICIES[contender.policy].cite)] = None
                elif contender.cite and contender.cite != "none":  # a plug-in: what it cites stands in the results
                    entries[visible(bibtex(contender.cite))] = None
                else:  # its code is not run because results name it
                    entries[f"% {shortened(contender.policy)} is a plug-in policy, and its results name no paper"] = None
    print("\n\n".join(entry for entry in entries if entry) or "% no paper")


@app.command()
def suggest(
    arms: Annotated[int, typer.Option("--arms", help="Number of options.")],
    slate_size: Annotated[int, typer.Option("--slate-size", help="How many can be shown at once.")] = 2,
    horizon: Annotated[str | None, typer.Option("--horizon", help="Number of rounds, if known.")] = None,
    assume: Annotated[str, typer.Option("--assume", help="What you assume: utilities, condorcet or copeland.")] = "condorcet",
    dimension: Annotated[int | None, typer.Option(help="Features of an option, if they change from round to round.")] = None,
) -> None:
    """Suggest a policy, and say why, from measured results."""
    from multiduel.engine.registry.suggest import suggest as choose

    rounds = whole_number("--horizon", horizon) if horizon else None
    choice = choose(n_arms=arms, slate_size=slate_size, horizon=rounds, assume=assume, dimension=dimension)
    print(choice, "Next: " + ", ".join(f"{name} ({mean:,.0f})" for name, mean in choice.others) + ".", sep="\n")
