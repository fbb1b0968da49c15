"""A chapter with its explorers and what they need, so that a walk through them does not wait for all the rest."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def explorers_only(path: Path) -> None:
    """Leave out, in the notebook at `path`, every code cell that no explorer of it needs."""
    notebook = nbformat.read(path, 4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    needed = {id(code[number]) for number in needed_by_explorers([cell.source for cell in code])}
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type != "code" or id(cell) in needed]
    nbformat.write(notebook, path)


def needed_by_explorers(sources: list[str]) -> list[int]:
    """Numbers, in order and from 0, of the cells that show an explorer or give a name that those cells use.

    Of several cells that give a name the last one before is taken, and those before it where it changes what they gave.
    """
    wanted: set[str] = set()
    found = []
    trees = [ast.parse(TransformerManager().transform_cell(source)) for source in sources]
    modules = {name for tree in trees for name in imported(tree)}
    for number in reversed(range(len(sources))):
        tree = trees[number]
        if shows_an_explorer(tree) or wanted.intersection({*given(tree), *(set(called_upon(tree)) - modules)}):
            found.append(number)
            bound: set[str] = set()
            used = asked(tree.body, bound)
            wanted = (wanted - bound) | used
    return found[::-1]


def asked(statements: list[ast.stmt], bound: set[str]) -> set[str]:
    """The names that statements read before they bind them; `bound` gets those that they are sure to bind.

    What a branch or a loop binds is sure within it only. A function reads what its body does not bind.
    """
    found: set[str] = set()
    for one in statements:
        inner = [part for field in ("body", "orelse", "finalbody") for part in getattr(one, field, [])]
        inner += [part for handler in getattr(one, "handlers", []) for part in handler.body]
        if isinstance(one, ast.ClassDef):  # its methods do not see one another's names
            found |= {name for part in one.body for name in asked([part], set())} - bound
            bound.add(one.name)
            continue
        if isinstance(one, ast.FunctionDef):
            own = {node.arg for node in ast.walk(one) if isinstance(node, ast.arg)}
            own |= {name for part in inner for name in given(part)}
            names = [node for node in ast.walk(one) if isinstance(node, ast.Name)]
            found |= {name.id for name in names if is_read(name)} - own - bound
            bound.add(one.name)
            continue
        outer = [node for node in shallow(one, inner) if isinstance(node, ast.Name)]
        found |= {node.id for node in outer if is_read(node)} - bound
        within = bound if isinstance(one, ast.With) else set(bound)
        if inner:
            within |= {node.id for node in outer if not is_read(node)}
            found |= asked(inner, within)
        elif not isinstance(one, ast.AugAssign):
            bound |= set(given(one)) - {node.id for node in outer if is_read(node)}
    return found


def shallow(statement: ast.stmt, inner: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a statement without those of the statements in it."""
    yield statement
    for child in ast.iter_child_nodes(statement):
        if child not in inner and not isinstance(child, ast.ExceptHandler):
            yield from ast.walk(child)


def is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def shows_an_explorer(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and ast.unparse(node.value) == "widgets" for node in ast.walk(tree))


def imported(tree: ast.AST) -> Iterator[str]:
    """The names that code gives to modules, and to what it takes from them."""
    return ((node.asname or node.name).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.alias))


def called_upon(tree: ast.Module) -> Iterator[str]:
    """The names of which a statement of the cell itself calls a method, which may change them: `log.run(…)`."""
    for statement in tree.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                yield name


def given(tree: ast.AST) -> Iterator[str]:
    """The names that code binds, and those of what it writes into."""
    yield from imported(tree)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                yield from (part.id for part in ast.walk(node.value) if isinstance(part, ast.Name))
