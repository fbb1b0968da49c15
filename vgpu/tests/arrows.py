"""Who imports whom in a package: its rooms, from what is built upon to what builds on it, and its circles."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """A package `name` in `folder`. `rooms`: subpackages and modules; each may import itself and those before it.
    `beside`: folders that aren't part of it, such as its tests."""

    name: str
    folder: Path
    rooms: Sequence[str]
    beside: tuple[str, ...] = ()

    @cached_property
    def modules(self) -> dict[str, Path]:
        """Every module's file by its full name."""
        found = {}
        for path in sorted(self.folder.rglob("*.py")):
            parts = path.relative_to(self.folder).with_suffix("").parts
            if parts[0] not in self.beside:
                found[".".join([self.name, *(parts[:-1] if parts[-1] == "__init__" else parts)])] = path
        return found

    def height(self, module: str) -> int | None:
        """Where a module stands; None for another package's, and for a package above several rooms."""
        return next((number for number, room in enumerate(self.rooms) if under(module, f"{self.name}.{room}")), None)

    def climbing(self, doors: Iterable[str] = ()) -> list[str]:
        """Imports of what stands above, as messages; `doors` are modules that may import anything."""
        wrong = []
        for name, path in self.modules.items():
            if name in (self.name, *doors):
                continue
            own = self.height(name)
            if own is None:
                wrong.append(f"{name} stands in no room of the table")
                continue
            for line, imported in imports(name, path):
                above = self.height(imported)
                if above is not None and above > own:
                    wrong.append(f"{name}:{line} imports {imported}, which stands above it: turn the arrow round")
        return wrong

    def circles(self) -> dict[str, set[str]]:
        """The modules of each circle, by the folder that it lies in."""
        arrows = {name: {m for m in self.needs(name) if m != name} for name in self.modules}
        found: dict[str, set[str]] = {}
        for circle in strongly_connected(arrows):
            common = os.path.commonpath([name.replace(".", "/") for name in circle]).replace("/", ".")
            found.setdefault(common.removeprefix(f"{self.name}."), set()).update(circle)
        return found

    def needs(self, module: str) -> set[str]:
        """The package's modules that one imports: of `from package import module` the module, not the package."""
        wanted = [name for _, name in imports(module, self.modules[module])]
        return {
            name
            for name, after in pairwise([*wanted, ""])
            if name in self.modules and not (after in self.modules and after.rpartition(".")[0] == name)
        }

    def strays(self, imported: str, files: str | tuple[str, ...]) -> list[str]:
        """Imports of a module outside the files whose paths in the package begin so."""
        return [
            f"{path.relative_to(self.folder).as_posix()}:{line}"
            for name, path in self.modules.items()
            if not path.relative_to(self.folder).as_posix().startswith(files)
            for line, each in imports(name, path)
            if under(each, imported)
        ]

    def unexplained(self, but_for: Callable[[Path], bool] = lambda folder: False) -> list[str]:
        """Folders whose `__init__.py` doesn't say what they are for, but for those that need none."""
        folders = {path.parent for path in self.modules.values() if not but_for(path.parent)}
        first = lambda folder: ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
        return [str(folder) for folder in sorted(folders) if len(first(folder).split("\n")[0]) <= 30]


def under(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")


def imports(module: str, path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, wherever in it, with the line; `from a import b` gives a and a.b."""
    own = module.split(".")
    package = own if path.name == "__init__.py" else own[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            yield node.lineno, source
            yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)


def strongly_connected(arrows: dict[str, set[str]]) -> list[set[str]]:
    """Sets of two modules or more, each of which leads to every other."""
    reached: dict[str, set[str]] = {}
    for start in arrows:
        seen, todo = set(), [start]
        while todo:
            for step in arrows[todo.pop()] - seen:
                seen.add(step)
                todo.append(step)
        reached[start] = seen
    circles = {frozenset(m for m in reached[name] if name in reached[m]) for name in arrows if name in reached[name]}
    return [set(circle) for circle in circles]
