"""The statements of a chapter that one name needs: what runs where the whole chapter would take minutes."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Sequence

MAY_NOT_RUN = (ast.If, ast.For, ast.While, ast.Try)
"""Statements that may leave a name as it was before them."""


def needed(name: str, cells: Sequence[str]) -> str:
    """The statements of `cells`, in order, that the last value of a global variable depends on.

    Those count that assign to a name in use, to one of its items or to one of its attributes, and `device("H100")`,
    which chooses what kernels are compiled for. Another call, such as `values.sort()`, is left out. Of an import only
    the names in use are kept. Magics are no statements.
    """
    kept: list[str] = []
    wanted = {name}
    for statement in reversed(list(_statements(cells))):
        stored, _ = _names(statement)
        if not wanted & (stored | _changed(statement)) and not _chooses(statement):
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            statement.names = [each for each in statement.names if _bound(each) in wanted]
        if not isinstance(statement, MAY_NOT_RUN):
            wanted -= stored
        wanted |= _needs([statement], set())
        kept.append(ast.unparse(statement))
    return "\n".join(reversed(kept)) + "\n"


def _statements(cells: Sequence[str]) -> Iterator[ast.stmt]:
    for source in cells:
        try:
            yield from ast.parse(source).body
        except SyntaxError:  # a magic, or a mistake that is meant
            continue


def _chooses(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Call(ast.Name("device"))):
            return True
    return False


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _needs(statements: Sequence[ast.stmt], defined: set[str]) -> set[str]:
    """The global names that `statements` read before they define them."""
    found: set[str] = set()
    for each in statements:
        match each:
            case ast.For(target, source, body, orelse):
                found |= _names(source)[1] - defined
                found |= _needs(body, defined | _names(target)[0]) | _needs(orelse, set(defined))
            case ast.With(items, body):
                for item in items:
                    found |= _names(item.context_expr)[1] - defined
                    defined |= _names(item.optional_vars)[0] if item.optional_vars else set()
                found |= _needs(body, defined)
            case ast.If(test, body, orelse):
                found |= _names(test)[1] - defined
                found |= _needs(body, set(defined)) | _needs(orelse, set(defined))
            case _:
                stored, loaded = _names(each)
                found |= loaded - defined
                defined |= stored
    return found


def _names(node: ast.AST) -> tuple[set[str], set[str]]:
    """The global names that a piece of code defines, and those that it or a function in it reads."""
    if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), ast.Store):
        node = ast.Assign([node], ast.Constant(None), lineno=1)
    top = symtable.symtable(ast.unparse(node), "cell", "exec")
    stored = {each.get_name() for each in top.get_symbols() if each.is_assigned() or each.is_imported()}
    loaded = {each.get_name() for each in top.get_symbols() if each.is_referenced()}
    inner = list(top.get_children())
    while inner:
        table = inner.pop()
        loaded |= {each.get_name() for each in table.get_symbols() if each.is_global() and each.is_referenced()}
        inner += table.get_children()
    return stored, loaded


def _changed(statement: ast.stmt) -> set[str]:
    """The names whose items or attributes a statement assigns; a function assigns nothing until it is called."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return set()
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            value: ast.expr = node
            while isinstance(value, ast.Subscript | ast.Attribute):
                value = value.value
            if isinstance(value, ast.Name):
                found.add(value.id)
    return found
