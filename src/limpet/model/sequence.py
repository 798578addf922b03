"""Answers that are lists with something beside: each is a sequence of what it holds, and keeps its fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeVar, overload

T = TypeVar("T")


class Holds(Sequence[T]):
    """An answer as the sequence of what one of its fields holds: len, iteration, index, slice, `in`, truth."""

    __slots__ = ()
    HELD: ClassVar[str] = "items"  # the field

    def _held(self) -> Sequence[T]:
        held: Sequence[T] = getattr(self, self.HELD)
        return held

    def __len__(self) -> int:
        return len(self._held())

    def __iter__(self) -> Iterator[T]:
        return iter(self._held())

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: Any) -> Any:
        return self._held()[place]
