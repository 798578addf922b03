"""Every answer that has a JSON form has the one that was written down: names, order, what is left out when empty."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pkgutil
import types
import typing
from collections import Counter
from pathlib import Path

import pytest

import limpet

FORMS = Path(__file__).parents[1] / "data" / "json_forms.jsonl"
# What a field of that name says, where any text will not do.
SAID = {"kind": "duplicate", "status": "created"}
# Those of recall/ are held by tests/flows.
PACKAGES = (
    "features.mirror", "features.organize", "features.policy", "features.transfer", "features.upkeep",
    "features.usefulness", "history", "model", "remember",
)  # fmt: skip


def answers():
    """Every dataclass of the packages that has a JSON form, by name."""
    found = {}
    for package in PACKAGES:
        inside = pkgutil.walk_packages([str(Path(limpet.__path__[0], *package.split(".")))], f"limpet.{package}.")
        for module in [f"limpet.{package}", *(part.name for part in inside)]:
            if module.endswith(".schema"):
                continue
            here = importlib.import_module(module)
            for name, one in inspect.getmembers(here, inspect.isclass):
                if dataclasses.is_dataclass(one) and hasattr(one, "as_dict") and one.__module__ == module:
                    found[f"{module.removeprefix('limpet.')}.{name}"] = one
    return dict(sorted(found.items()))


def made(kind, name, full, depth=0):
    """A value of a type: every field filled, or every field as empty as it may be."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if not full and types.NoneType in inner:
            return None
        return made(next(one for one in inner if one is not types.NoneType), name, full, depth)
    if origin in (list, tuple):
        filled = [made(one, name, full, depth + 1) for one in inner if one is not Ellipsis]
        if origin is tuple and Ellipsis not in inner:
            return tuple(filled)
        return origin(filled if full else ())
    if kind is Counter or origin is Counter:
        return Counter({"z": 2, "a": 1} if full else {})
    if origin is dict:
        return {"id": made(inner[1], name, full, depth + 1)} if full else {}
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        given = {
            one.name: made(hints[one.name], one.name, full, depth + 1)
            for one in dataclasses.fields(kind)
            if full or (one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING)
        }
        return kind(**given)
    if inspect.isclass(kind) and issubclass(kind, tuple):
        hints = typing.get_type_hints(kind)
        return kind(**{one: made(hints[one], one, full, depth + 1) for one in kind._fields})
    plain = {str: SAID.get(name, name), int: 1_770_000_000_123_456, float: 0.123456789, bool: full}
    return plain.get(kind, "any" if full else None)


def forms():
    """(class, how filled, JSON)"""
    for name, one in answers().items():
        for full in (True, False):
            yield name, "full" if full else "empty", made(one, name, full).as_dict()


@pytest.mark.parametrize("line", FORMS.read_text(encoding="utf-8").splitlines() if FORMS.exists() else [])
def test_the_json_form_is_the_one_written_down(line):
    name, how, form = json.loads(line)
    shown = made(answers()[name], name, how == "full").as_dict()

    assert json.dumps(shown) == json.dumps(form)


def test_every_json_form_is_written_down():
    assert [(name, how) for name, how, _ in forms()] == [
        tuple(json.loads(line)[:2]) for line in FORMS.read_text(encoding="utf-8").splitlines()
    ]
