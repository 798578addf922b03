"""A store is repositories; none of their methods only hands a call on."""

from __future__ import annotations

import ast
from pathlib import Path

STORE = Path(__file__).parents[2] / "src" / "limpet" / "store"


def classes(folder):
    for path in sorted((STORE / folder).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield path.name, node


def methods(node):
    return [one for one in node.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]


def forwards(method):
    """Whether a body is one call with the method's own arguments, also inside of one `with`."""
    body = [one for one in method.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if len(body) == 1 and isinstance(body[0], ast.With):
        body = body[0].body
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr) or not isinstance(body[0].value, ast.Call):
        return False
    call = body[0].value
    own = {one.arg for one in (*method.args.args, *method.args.kwonlyargs)} - {"self"}
    given = [one.id if isinstance(one, ast.Name) else None for one in call.args]
    given += [one.value.id if isinstance(one.value, ast.Name) else None for one in call.keywords]
    return bool(own) and own <= set(given) and set(given) - own <= {"con"}


def test_no_method_of_a_repository_only_hands_its_call_on():
    found = [
        f"{file}: {node.name}.{method.name}"
        for folder in ("sql", "sqlite")
        for file, node in classes(folder)
        for method in methods(node)
        if forwards(method)
    ]

    assert found == []
