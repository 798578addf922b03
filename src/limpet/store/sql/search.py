"""What search asks of the rows: filters, and what ranking needs of texts. Full text is the engine's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from ..arrays.following import FollowingArrays
from ..records import ALL, Candidate, Filter, LexicalResult
from .database import Repository
from .filters import filtered, was_left
from .statements import statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .feed import ChangeFeed
    from .store import Store


class Search(Repository, ABC):
    """The current memories by their texts. A text is known by its number."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        # Current memories as arrays, for a process that asks often.
        self.arrays = FollowingArrays(self._feed)

    def close(self) -> None:
        """Let go of what follows the store."""
        self.arrays.close()

    @abstractmethod
    def _feed(self) -> ChangeFeed: ...

    @abstractmethod
    def lexical(
        self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None
    ) -> LexicalResult: ...

    @abstractmethod
    def stems(self, texts: Iterable[str]) -> dict[str, frozenset[str]]:
        """The index terms of some short texts, as they stand in `LexicalResult.stems`."""

    @abstractmethod
    def allowed(self, where: Filter) -> list[int]:
        """Every text that passes the filter."""

    @abstractmethod
    def substring(
        self, text: str, where: Filter, *, limit: int, deadline: float | None = None, newest: int = ALL
    ) -> list[int]:
        """Texts that hold a text as it is; none when the deadline comes first. `newest`: only so many memories are
        looked at, those that came last into the store."""

    def candidates(self, bodies: Iterable[int], where: Filter) -> list[Candidate]:
        """The candidates among some texts that pass the filter."""
        wanted = list(bodies)
        if not wanted:
            return []
        statement, bound = filtered("candidates", where)
        with self._database.reading() as con:
            return list(
                map(Candidate._make, con.execute(statement, bound | {"bodies": self._database.numbers(wanted)}))
            )

    def neighbours(self, nums: Iterable[int], where: Filter, *, reach: int) -> list[Candidate]:
        """Memories up to `reach` places before or after the given rows in their sessions, some more than once."""
        wanted = list(nums)
        if not wanted:
            return []
        statement, bound = filtered("neighbours", where)
        bound |= {"nums": self._database.numbers(wanted), "reach": reach}
        with self._database.reading() as con:
            return list(map(Candidate._make, con.execute(statement, bound)))

    def texts(self, bodies: Sequence[int]) -> list[tuple[int, str, str | None]]:
        """(number, text, key or None) of those that are there."""
        with self._database.reading() as con:
            return con.execute(statements()["texts"], {"bodies": self._database.numbers(bodies)}).fetchall()

    def texts_of(self, ids: Sequence[bytes]) -> list[int]:
        """The texts of the current versions of some memories."""
        if not ids:
            return []
        found = dict(self._database.rows(statements()["bodies_of_current"], {"ids": self._database.ids(ids)}))
        return [found[id] for id in ids if id in found]

    def was_left(self, scopes: Sequence[str]) -> bool:
        """Whether a memory was ever moved out of one of these: as known before, its text is found elsewhere."""
        with self._database.reading() as con:
            return bool(scopes) and was_left(con, scopes)

    def scope_numbers(self, names: Sequence[str]) -> list[int]:
        """The numbers that stand for scopes in vector chunks; unknown names are left out."""
        marks = ", ".join("?" * len(names))
        statement = f"SELECT num FROM scope WHERE name IN ({marks})"
        return self._database.cached(
            ("scopes", *names), lambda con: [row[0] for row in con.execute(statement, tuple(names))]
        )


def like_pattern(text: str) -> str | None:
    """What LIKE takes for a text that stands anywhere, escaped by a backslash; None: there is nothing to look for."""
    literal = text.strip()[:200].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{literal}%" if literal else None
