"""src/limpet/*.pyi from the table of public names and the signatures of the verbs; `docs/generate.py` writes them."""

from __future__ import annotations

import ast
import inspect
import sys
from types import ModuleType

import limpet
from limpet import api, asynchronous, every_day
from limpet.history import queries

HEAD = '''\
"""Signatures of `asynchronous.py`. Made by `python -m docs.generate`; do not edit."""

from collections.abc import AsyncIterator
'''


def package_stub() -> str:
    """`limpet` itself: an import of each public name from where it lives."""
    lines = ['"""Public names. Made by `python -m docs.generate`; do not edit."""\n', "__version__: str"]
    homes = sorted((name, home) for home, names in limpet._NAMES.items() for name in names.split())
    lines += [f"from .{home} import {name} as {name}" for name, home in homes]
    return "\n".join([*lines, f"__all__ = {limpet.__all__!r}\n"])


def asynchronous_stub() -> str:
    """Every class as a stub: its own methods, then the verbs of the class that it stands before, as coroutines."""
    classes = [
        _class(
            "AsyncHistory", {queries: "History"}, ["def __init__(self, runner: object, limpet: object) -> None: ..."]
        ),
        _class("AsyncLimpet", {every_day: "EveryDay", api: "Limpet"}, [_opening()]),
    ]
    body = "\n\n".join(classes)
    imports = {line for home in (api, every_day, queries) for line in _imports(home, body)}
    return HEAD + "".join(sorted(imports)) + "\n" + body + "\n"


def _opening() -> str:
    """`__init__` with the arguments of `limpet.open`."""
    opener = next(one for one in _tree(api).body if isinstance(one, ast.FunctionDef) and one.name == "open")
    return f"def __init__(self, {_arguments(opener)}) -> None: ..."


def _class(name: str, sources: dict[ModuleType, str], lines: list[str]) -> str:
    """`sources`: module -> the class in it."""
    own = _class_in(asynchronous, name)
    mine = [
        one
        for one in own.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        and (one.name[0] != "_" or one.name in ("__aenter__", "__aexit__"))
    ]
    given = [_class_in(module, source) for module, source in sources.items()]
    verbs = [one for each in given for one in each.body if isinstance(one, ast.FunctionDef)]
    known = {one.name for one in mine}
    rows = [row for one in mine for row in _method(one, coroutine=isinstance(one, ast.AsyncFunctionDef))]
    rows += [
        row
        for one in verbs
        if one.name[0] != "_" and one.name not in known
        for row in _method(one, coroutine=not _is_property(one))
    ]
    said = inspect.cleandoc(ast.get_docstring(own) or "").split("\n")[0]
    return f'class {name}:\n    """{said}"""\n\n' + "".join(f"    {row}\n" for row in lines + rows)


def _class_in(module: ModuleType, name: str) -> ast.ClassDef:
    return next(one for one in _tree(module).body if isinstance(one, ast.ClassDef) and one.name == name)


def _is_property(one: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(mark) == "property" for mark in one.decorator_list)


def _method(one: ast.FunctionDef | ast.AsyncFunctionDef, *, coroutine: bool) -> list[str]:
    answer = ast.unparse(one.returns) if one.returns else "None"
    waits = coroutine and not answer.startswith("AsyncIterator")
    marks = ["@property"] if _is_property(one) else []
    return [*marks, f"{'async ' * waits}def {one.name}({_arguments(one)}) -> {answer}: ..."]


def _arguments(one: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The arguments with what stands for them; what is no plain value is left to the verb."""
    given = one.args
    for several in (given.defaults, given.kw_defaults):
        several[:] = [
            default if default is None or isinstance(default, ast.Constant | ast.Tuple) else ast.Constant(...)
            for default in several
        ]
    return ast.unparse(given)


def _imports(module: ModuleType, text: str) -> set[str]:
    """The lines that import what a text names, as they stand in a module of `limpet` itself."""
    names = {one.id for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Name)}
    package, found = module.__package__ or "", set()
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            found |= {f"import {one.name}\n" for one in node.names if one.name in names}
        elif isinstance(node, ast.ImportFrom):
            home = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            full = ".".join(part for part in (home, node.module) if part)
            short = "." + full.removeprefix("limpet").removeprefix(".") if full.startswith("limpet") else full
            found |= {f"from {short} import {one.name}\n" for one in node.names if one.name in names}
    found |= {f"from .{module.__name__.removeprefix('limpet.')} import {one}\n" for one in _own(module) & names}
    return {one for one in found if "__future__" not in one and "AsyncIterator" not in one}


def _own(module: ModuleType) -> set[str]:
    """What a module defines: its classes, and names for types."""
    body = _tree(module).body
    named = {one.name for one in body if isinstance(one, ast.ClassDef)}
    return named | {
        target.id
        for one in body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }


def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module.__name__]))
