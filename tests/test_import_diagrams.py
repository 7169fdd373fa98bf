"""The diagrams of who may import whom are those of the import contracts, and the contracts name every module."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS: dict[str, Any] = {
    container: contract["layers"]
    for contract in CONTRACTS
    if contract["type"] == "layers"
    for container in contract["containers"]
}


def test_diagram_of_packages_is_the_contract() -> None:
    assert "```text\n" + "\n".join(LAYERS["multiduel"]) + "\n```" in (ROOT / "docs/architecture.md").read_text()


def test_diagrams_of_engine_and_arena_are_the_contracts() -> None:
    lines = re.findall(r"^((?:engine|arena)[.\w]*)  +(.* > .*)$", (ROOT / "docs/architecture.md").read_text(), re.M)
    assert [name for name, _ in lines] == ["engine", "arena", "arena.service"]
    for name, layers in lines:
        assert layers.split(" > ") == LAYERS[f"multiduel.{name}"], name


@pytest.mark.parametrize("package", ["engine", "arena"])
def test_every_package_has_an_exhaustive_contract(package: str) -> None:
    folder = ROOT / "src/multiduel"
    packages = {
        ".".join(("multiduel", *init.parent.relative_to(folder).parts)) for init in (folder / package).rglob("__init__.py")
    }
    assert packages <= set(LAYERS)
    assert all(contract.get("exhaustive") for contract in CONTRACTS if set(contract.get("containers", ())) & packages)
