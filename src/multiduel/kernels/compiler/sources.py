"""Which code made a number: one hash over the source files behind a module, for the compile cache, the lab and the cluster.

From a module its import statements lead to the files behind it: all of multiduel's, and those of a user's own policy and its
helpers. Libraries are left out, wherever they are installed: the standard library, and what lies beside a ``.dist-info`` folder
(of such a package, a policy that was installed, its own files count). What changes with a library's version, the caches of
compiled code know by themselves, and results store versions beside the hash.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import os
import sys
import time
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parents[2]
LOADED = time.time()
LOADED_LATER: dict[Path, float] = {}  # a file's date when it was loaded, for those loaded again after an edit


def code_hash(*modules: str) -> str:
    """A hash of the files of these modules, which must be loaded, and of all that is behind them.

    A file edited after this process loaded it makes the hash one of this process alone: what runs here is not what the file
    says. The same holds of what has no file, such as a notebook's cell. A file dated in the future was not edited: clocks differ.
    """
    files = files_behind(*modules)
    contents = sorted(path.read_bytes() for path in files)  # wherever they lie: workers may have them elsewhere
    typed_in = any(_source(sys.modules[name]) is None for name in modules)
    if typed_in or any(LOADED_LATER.get(path, LOADED) < path.stat().st_mtime <= time.time() for path in files):
        contents.append(f"{os.getpid()} {time.time()}".encode())
    return digest(*contents)


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def files_behind(*modules: str) -> list[Path]:
    """The files that ``code_hash`` reads."""
    files: set[Path] = set()
    for name in modules:
        _collect(sys.modules[name], files)
    return sorted(files)


def _collect(module: ModuleType, files: set[Path]) -> None:
    """Add the module's file and, through its import statements, every file behind it."""
    path = _source(module)
    if path is None or path in files or path == PACKAGE / "__init__.py":  # which names all of the package, lazily
        return
    files.add(path)
    for name in _imports(path, module.__package__ or "", path.stat().st_mtime_ns):
        other = sys.modules.get(name)
        if other is not None and _belongs(other, module):
            _collect(other, files)


def _source(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return _resolved(file) if file and file.endswith(".py") else None


@functools.cache
def _resolved(file: str) -> Path:
    return Path(file).resolve()


@functools.cache
def _imports(path: Path, package: str, edited: int) -> tuple[str, ...]:
    """The modules that a file's import statements may mean, as of its last edit."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            stem = "." * node.level + (node.module or "")
            home = importlib.util.resolve_name(stem, package) if node.level else stem
            names += [home, *(f"{home}.{alias.name}" for alias in node.names)]
    for name in names[:]:  # a package is run before what is in it; multiduel's only gather what is
        parts = name.split(".")
        if parts[0] != __name__.partition(".")[0]:
            names += [".".join(parts[:k]) for k in range(1, len(parts))]
    return tuple(dict.fromkeys(names))


def _belongs(module: ModuleType, importer: ModuleType) -> bool:
    """Is the module multiduel's, of the importer's own package, or a file of the user's: anything but a library's?"""
    top = module.__name__.partition(".")[0]
    if top in (__name__.partition(".")[0], importer.__name__.partition(".")[0]):
        return True
    if top in sys.stdlib_module_names:
        return False
    path = _source(module)
    if path is None:
        return False
    root = path.parents[module.__name__.count(".") + (path.name == "__init__.py")]
    return not library_folder(root)


@functools.cache
def library_folder(folder: Path) -> bool:
    """Are packages installed in this folder?"""
    return any(folder.glob("*.dist-info")) or any(folder.glob("*.egg-info/PKG-INFO"))
