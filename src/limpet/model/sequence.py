"""Answers that are lists with something beside: each is a sequence of what it holds, and keeps its fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, overload

    T = TypeVar("T")
else:
    T = object


class Holds(Sequence[T]):
    """An answer as the sequence of what one of its fields holds: len, iteration, index, slice, `in`, truth."""

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
