"""Whatever a public verb takes or gives can be named by its user: `limpet.X`, with a docstring, shown by `help(limpet)`."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import pydoc
import subprocess
import sys
import typing

import limpet
from limpet.model import errors
from tests.feature_functions import FUNCTIONS


def of(home, name):
    """What a module or a package holds by a name: a class, or a module that nothing has imported yet. None: it is there
    for type checkers alone."""
    if hasattr(home, name):
        return getattr(home, name)
    with contextlib.suppress(ModuleNotFoundError):
        return importlib.import_module(f"{home.__name__}.{name}")
    return None


@functools.cache
def imported_for_checkers(module):
    """Name -> class of what a module imports under `if TYPE_CHECKING`."""
    found = {}
    for branch in ast.parse(inspect.getsource(module)).body:
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING":
            for line in branch.body:
                if not isinstance(line, ast.ImportFrom):
                    continue
                home = importlib.import_module("." * line.level + (line.module or ""), module.__package__)
                found |= {one.asname or one.name: of(home, one.name) for one in line.names}
    return found


def named(module, annotation):
    """The classes of limpet that an annotation names, as text or evaluated."""
    if isinstance(annotation, str):
        known = vars(module) | imported_for_checkers(module)
        nodes = list(ast.walk(ast.parse(annotation)))
        found = [known.get(one.id) for one in nodes if isinstance(one, ast.Name)]
        found += [
            getattr(known.get(one.value.id), one.attr, None)
            for one in nodes
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)
        ]
    else:
        found = [annotation]
        for part in typing.get_args(annotation):
            yield from named(module, part)
    yield from (one for one in found if isinstance(one, type) and one.__module__.startswith("limpet"))


def annotations(owner):
    """Those of a function, or of a class's fields and public methods."""
    if inspect.isfunction(owner):
        yield from owner.__annotations__.values()
        return
    yield from inspect.get_annotations(owner).values()
    for name, member in vars(owner).items():
        method = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if inspect.isfunction(method) and not name.startswith("_"):
            yield from annotations(method)


def reached():
    """Every class that a user of `limpet.open` can come to, or must give."""
    functions = [one for name, one in FUNCTIONS.items() if name != "evaluate.run"]
    left, found = [limpet.open, *limpet.Limpet.__mro__[:-1], *functions], {}
    while left:
        owner = left.pop()
        module = sys.modules[owner.__module__]
        for annotation in annotations(owner):
            for one in named(module, annotation):
                if one not in found:
                    found[one] = owner
                    left.append(one)
    return found


def test_every_type_that_a_verb_takes_or_gives_is_public():
    missing = {one.__name__: by.__qualname__ for one, by in reached().items() if one.__name__ not in limpet.__all__}

    assert missing == {}
    assert [one for one in reached() if getattr(limpet, one.__name__) is not one] == []


def test_every_error_is_public():
    every = {one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Exception)}

    assert {one.__name__ for one in every} <= set(limpet.__all__)


def test_every_public_name_says_what_it_is():
    classes = [getattr(limpet, name) for name in limpet.__all__ if not name.startswith("_")]

    # A class made by `dataclass` without a docstring gets its signature as one.
    assert [one.__name__ for one in classes if (inspect.getdoc(one) or "").startswith(f"{one.__name__}(")] == []
    assert [one.__name__ for one in classes if not one.__doc__] == []


def test_help_shows_every_public_name():
    shown = pydoc.render_doc(limpet, renderer=pydoc.plaintext)

    assert set(limpet.__all__) <= set(dir(limpet))
    assert [name for name in limpet.__all__ if not name.startswith("_") and name not in shown] == []


def test_importing_limpet_imports_nothing_else_of_it():
    ask = "import sys, limpet; print([one for one in sys.modules if one.startswith('limpet.')])"

    assert subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout == "[]\n"
