"""Results of the Python API: the JSON form of a dataclass, as its fields declare it, and results that are sequences.

`docs/reference/json.md` describes them; `tests/unit/test_json_forms.py` checks them to the byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

from .clock import format_time
from .dataclass import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, TypeVar, overload  # noqa: F401  read by type checkers alone

    T = TypeVar("T")
else:
    T = object

# Metadata of fields, joined with `|`: `name` in JSON, where it is another, and `form`, what makes a JSON value of it. A
# field of microseconds, NAME_us, is NAME in JSON.
TIME: dict[str, Any] = {"form": format_time}
# Left out when it is None or, if it is never None, when it is empty.
OPTIONAL: dict[str, Any] = {"optional": True}
# Its own fields stand among ours.
INLINE: dict[str, Any] = {"inline": True}


def rounded(digits: int) -> dict[str, Any]:
    return {"form": lambda value: None if value is None else round(value, digits)}


def rows(*names: str) -> dict[str, Any]:
    """Return the metadata of a field whose JSON form shows a list of tuples as objects."""
    return {"form": lambda values: [dict(zip(names, row, strict=True)) for row in values]}


class JsonForm:
    """A dataclass with a JSON form. SHOWN: the fields and properties in it, if not all fields in their order."""

    __slots__ = ()
    SHOWN = ()  # type: ClassVar[tuple[str, ...]]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form, see docs/reference/json.md: times in ISO 8601."""
        return encode(self)


class Holds(Sequence[T]):
    """An answer as the sequence in one of its fields: len, iteration, index, slice, `in`, truth."""

    __slots__ = ()
    HELD = "items"  # the field

    def _held(self) -> Sequence[T]:
        held: Sequence[T] = getattr(self, self.HELD)
        return held

    def __len__(self) -> int:
        return len(self._held())

    def __iter__(self) -> Iterator[T]:
        return iter(self._held())

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, place: int) -> T: ...
        @overload
        def __getitem__(self, place: slice) -> Sequence[T]: ...

    def __getitem__(self, place: Any) -> Any:
        return self._held()[place]


def encode(item: Any) -> dict[str, Any]:
    """Return a dataclass (of JsonForm) as a JSON value."""
    shown: dict[str, Any] = {}
    parts = _parts(type(item))  # type: ignore[arg-type]  # mypy takes no class for hashable
    for attribute, about, never_none in parts:
        value = getattr(item, attribute)
        if about.get("optional") and (value is None or (never_none and not value)):
            continue
        if about.get("inline"):
            shown |= value.as_dict()
        else:
            shown[about.get("name", attribute.removesuffix("_us"))] = about.get("form", plain)(value)
    return shown


def decoded(cls: type, shown: Mapping[str, Any], *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a class that its JSON form holds, unchanged except for parsed times."""
    from .times import parse_time

    names = {field.name: field.name.removesuffix("_us") for field in fields(cls) if field.name not in without}
    return {
        name: shown[label] if name == label or shown[label] is None else parse_time(shown[label], now=0)
        for name, label in names.items()
        if label in shown
    }


def plain(value: Any) -> Any:
    """Return a value by its type: answers as objects, tuples as lists, counts in the order of names."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Counter):
        return dict(sorted(value.items()))
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.as_dict()


@cache
def _parts(cls: type[Any]) -> list[tuple[str, Mapping[str, Any], bool]]:
    """Return of each field and property in the form its name, its metadata, and whether it is a field never None."""
    own = {field.name: field for field in fields(cls)}
    return [
        (name, own[name].metadata, own[name].default is not None) if name in own else (name, {}, False)
        for name in cls.SHOWN or own
    ]
