"""Column arithmetic: a number for each candidate. Features and fusion are written in it, once.

It is there twice, with the same results to the last bit: on lists here, for a process that makes one recall and would
wait longer for NumPy than for its answer; on arrays in `array_arithmetic.py`, where the index holds arrays anyway. The
index says which (`SearchIndex.arithmetic`). Sums are taken one after the other: other orders round in other ways, and
part candidates that are equal.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import repeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:
    Any = object

# A `ListColumn` or a NumPy array. Both have operators by elements, `len`, iteration, indexing and `tolist`.
Column = Any


def _by_elements(operation: Callable[[Any, Any], Any]) -> Callable[[ListColumn, Any], ListColumn]:
    def of(one: ListColumn, other: Any) -> ListColumn:
        return ListColumn(list(map(operation, one.values, _values(other))))

    return of


def _values(of: Any) -> Iterable[Any]:
    return of.values if isinstance(of, ListColumn) else repeat(of)


class ListColumn:
    """A column as a list."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[Any] = ()) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, place: int) -> Any:
        return self.values[place]

    def tolist(self) -> list[Any]:
        return list(self.values)

    __add__ = __radd__ = _by_elements(operator.add)
    __mul__ = __rmul__ = _by_elements(operator.mul)
    __sub__ = _by_elements(operator.sub)
    __truediv__ = _by_elements(operator.truediv)
    __rtruediv__ = _by_elements(lambda value, by: by / value)
    __and__ = _by_elements(operator.and_)
    __or__ = _by_elements(operator.or_)
    __rshift__ = _by_elements(operator.rshift)
    __gt__ = _by_elements(operator.gt)


class Arithmetic:
    """On lists."""

    def column(self, values: Any) -> Column:
        """From a list or an array."""
        return ListColumn(values if isinstance(values, list) else values.tolist())

    def zeros(self, count: int) -> Column:
        return ListColumn([0.0] * count)

    def each(self, function: Callable[[Any], float], column: Column) -> Column:
        """A function of each value. Also for logarithms: NumPy's own differ in the last bit."""
        return ListColumn([function(value) for value in column])

    def each_size(self, function: Callable[[int], float], column: Column) -> Column:
        """The same of whole numbers from 0 on, by a function that is there as long as the process."""
        return self.each(function, column)

    def maximum(self, column: Column, other: Any) -> Column:
        return ListColumn([a if a > b else b for a, b in zip(column, _values(other), strict=False)])

    def where(self, condition: Column, one: Any, other: Any) -> Column:
        """Of two columns or numbers."""
        several = zip(condition, _values(one), _values(other), strict=False)
        return ListColumn([a if chosen else b for chosen, a, b in several])

    def at(self, places: Column, column: Column) -> Column:
        """The values at some places of a column; 0 at the place after its last."""
        values = [*column, 0]
        return ListColumn([values[place] for place in places])

    def look_up(self, column: Column, values: Mapping[Any, float]) -> Column:
        """What stands for each value."""
        return ListColumn([values[key] for key in column])

    def neighbours(self, keys: Column, offsets: Sequence[int]) -> list[Column]:
        """For each offset: the place whose key is a place's own plus the offset, the last of several, n for none."""
        nobody = len(keys)
        find = dict(zip(keys, range(nobody), strict=True)).get
        return [ListColumn([find(key + offset, nobody) for key in keys]) for offset in offsets]

    def groups(self, keys: Column) -> tuple[Column, int]:
        """For each key the number of its group, those of equal keys; and how many groups there are."""
        numbers: dict[Any, int] = {}
        return ListColumn([numbers.setdefault(key, len(numbers)) for key in keys]), len(numbers)

    def sums(self, groups: tuple[Column, int], values: Column) -> Column:
        """Of each group."""
        found = [0.0] * groups[1]
        for group, value in zip(groups[0], values, strict=True):
            found[group] += value
        return ListColumn(found)

    def means_of_best(self, groups: tuple[Column, int], values: Column, most: int) -> Column:
        """Of each group the mean of its highest values, at most so many, summed from the lowest."""
        of: dict[int, list[float]] = defaultdict(list)
        for group, value in zip(groups[0], values, strict=True):
            of[group].append(value)
        best = [sorted(of[group])[-most:] for group in range(groups[1])]
        # Not `sum`, which rounds in another way since Python 3.12.
        return ListColumn([reduce(operator.add, several) / len(several) for several in best])

    def weighted(self, columns: Sequence[Column], weights: Sequence[float], count: int) -> Column:
        """The sum of some columns of `count` values, each times its weight."""
        total = [0.0] * count
        for column, weight in zip(columns, weights, strict=True):
            if any(column):  # most questions are of no date and name no speaker
                total = [value + weight * more for value, more in zip(total, column, strict=True)]
        return ListColumn(total)

    def order(self, scores: Column, ids: Sequence[bytes]) -> list[int]:
        """Places from the highest score on, ties by id."""
        return [i for _, _, i in sorted(zip([-score for score in scores], ids, range(len(ids)), strict=True))]
