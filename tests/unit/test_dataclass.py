"""limpet's dataclasses are as the standard library's: here each is held against the same class made by that."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing
from types import SimpleNamespace

import pytest

from limpet.model import dataclass as ours


def made(library):
    """A class of every kind of field, one that has its own methods, one that inherits, and one that may change."""

    @library.dataclass(frozen=True, slots=True, kw_only=True)
    class Value:
        text: str
        size: int = 3
        names: list[str] = library.field(default_factory=list, metadata={"form": "list"})
        mark: int | None = library.field(default=None, compare=False, repr=False)

        @property
        def twice(self) -> str:
            return self.text * 2

    @library.dataclass(frozen=True, slots=True, kw_only=True)
    class Said:
        text: str

        def __repr__(self) -> str:
            return "said"

    @library.dataclass(slots=True, kw_only=True)
    class Base:
        a: int
        b: int = 1

    @library.dataclass(slots=True, kw_only=True)
    class Longer(Base):
        c: int = 2

    @library.dataclass(slots=True)
    class Open:
        a: int
        b: list[int] = library.field(default_factory=list)

    return SimpleNamespace(Value=Value, Said=Said, Longer=Longer, Open=Open)


OURS, STANDARD = made(ours), made(dataclasses)


@pytest.mark.parametrize(
    "ask",
    [
        lambda of: of.Value(text="a"),
        lambda of: of.Value(text="a", names=["b"], mark=4),
        lambda of: of.Value(text="a").twice,
        lambda of: of.Value(text="a", mark=1) == of.Value(text="a", mark=2),
        lambda of: of.Value(text="a") == of.Value(text="b"),
        lambda of: of.Value(text="a") == "a",
        lambda of: of.Value(text="a").names is of.Value(text="a").names,
        lambda of: of.Value(),
        lambda of: of.Value("a"),
        lambda of: of.Value(text="a", other=1),
        lambda of: hash(of.Value(text="a")),
        lambda of: setattr(of.Value(text="a"), "text", "b"),
        lambda of: delattr(of.Value(text="a"), "text"),
        lambda of: hasattr(of.Value(text="a"), "__dict__"),
        lambda of: of.Value.__match_args__,
        lambda of: str(inspect.signature(of.Value)),
        lambda of: dataclasses.is_dataclass(of.Value),
        lambda of: dataclasses.replace(of.Value(text="a"), size=7),
        lambda of: dataclasses.asdict(of.Value(text="a")),
        lambda of: [(one.name, dict(one.metadata), one.init) for one in dataclasses.fields(of.Value)],
        lambda of: copy.copy(of.Value(text="a")),
        lambda of: copy.deepcopy(of.Value(text="a")),
        lambda of: (of.Said(text="a"), hash(of.Said(text="a")) == hash(of.Said(text="a")), {of.Said(text="a"): 1}),
        lambda of: (of.Longer(a=1), of.Longer(a=1, c=5) == of.Longer(a=1), of.Longer.__slots__),
        lambda of: of.Longer(b=1),
        lambda of: hash(of.Longer(a=1)),
        lambda of: (of.Open(1, [2]), of.Open(1, b=[2]) == of.Open(1, [2]), of.Open.__match_args__),
        lambda of: of.Open(1, [2], 3),
        lambda of: of.Open(1, a=2),
        lambda of: of.Open(b=[2]),
        lambda of: setattr(of.Open(1), "c", 2),
        lambda of: dataclasses.replace(of.Open(1), b=[4]),
    ],
)  # fmt: skip
def test_a_class_is_as_the_standard_library_makes_it(ask):
    assert outcome(ask, OURS) == outcome(ask, STANDARD)


def outcome(ask, classes):
    """What comes back in words, or how it is refused."""
    try:
        return repr(ask(classes))
    except Exception as error:
        return type(error), str(error)


def test_its_own_functions_are_as_the_standard_library_s():
    one = OURS.Value(text="a", mark=2)
    assert ours.replace(one, size=7) == dataclasses.replace(one, size=7)
    assert [field.name for field in ours.fields(one)] == [field.name for field in dataclasses.fields(one)]
    assert ours.replace(one, size=7).mark == 2


def test_public_values_go_through_pickle():
    from limpet import Filter

    one = Filter(kinds=("fact",), since=4)
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_class_without_slots_is_refused():
    with pytest.raises(TypeError, match="slots"):
        ours.dataclass(slots=False)


def tuples(kind):
    """A named tuple with defaults, a method and a text of its own, and what is derived from it."""

    class Row(kind):
        """A row."""

        num: int
        words: tuple[str, ...] = ()
        other: Row | None = None

        @property
        def size(self) -> int:
            return len(self.words)

        def __str__(self) -> str:
            return f"row {self.num}"

    class Longer(Row):
        __slots__ = ()

        def twice(self) -> int:
            return 2 * self.num

    return SimpleNamespace(Row=Row, Longer=Longer)


OUR_TUPLES, STANDARD_TUPLES = tuples(ours.NamedTuple), tuples(typing.NamedTuple)


@pytest.mark.parametrize(
    "ask",
    [
        lambda of: (of.Row(1), of.Row(2, ("a",)), str(of.Row(3)), of.Row(1, ("a", "b")).size, of.Longer(4).twice()),
        lambda of: (of.Row(1) == (1, (), None), {of.Row(1): 2}, of.Row(1) < of.Row(2), [*of.Row(1)]),
        lambda of: (of.Row._make([1, (), 3]), of.Row(1)._replace(num=2), of.Row(1)._asdict(), of.Longer(num=1)),
        lambda of: (of.Row._fields, of.Row._field_defaults, of.Row.__match_args__, of.Row.__doc__, of.Row.num.__doc__),
        lambda of: (of.Row.__name__, of.Row.__qualname__, of.Row.__module__, of.Row.__bases__, of.Longer.__mro__[2:]),
        lambda of: (inspect.signature(of.Row).parameters.keys(), list(of.Row.__annotations__)),
        lambda of: of.Row(),
        lambda of: of.Row(1, unknown=2),
        lambda of: setattr(of.Row(1), "num", 2),
        lambda of: copy.deepcopy(of.Row(1, ("a",), of.Row(2))),
    ],
)  # fmt: skip
def test_a_named_tuple_is_as_the_standard_library_makes_it(ask):
    assert outcome(ask, OUR_TUPLES) == outcome(ask, STANDARD_TUPLES)


def test_the_types_of_a_row_can_be_asked_for():
    from limpet import PurgeReport, Scan, StoreStats

    assert typing.get_type_hints(PurgeReport)["proof"] == Scan | None
    assert typing.get_type_hints(StoreStats)["memories"] is int
    one = PurgeReport("a", 1, 2, purged=True)
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_time_beyond_all_dates_is_shown_as_a_number():
    @ours.dataclass(frozen=True, slots=True, kw_only=True)
    class Dated:
        text: str
        valid_to_us: int

    assert f"valid_to_us={2**60}" in repr(Dated(text="x" * 1_000, valid_to_us=2**60))
