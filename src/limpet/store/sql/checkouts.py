"""Which scope a checkout has: the first repository of a name has `project:<name>`, others a name with a mark."""

from __future__ import annotations

from collections.abc import Sequence

from ...checkout import Checkout
from ...model.memory import GLOBAL_SCOPE
from .store import Connection, Repository

# Characters of the mark: more only where two repositories of one name agree in these.
MARK_CHARACTERS = (4, 8, 16, 64)
# git is asked for a first commit only where one is known that it could be.
_HAS_COMMITS = "SELECT 1 FROM checkout WHERE identity >= 'commit:' AND identity < 'commit;' LIMIT 1"


class Checkouts(Repository):
    """Which scope each repository has."""

    def scope_of(self, checkout: Checkout | None) -> str:
        """The scope of a repository; if it has claimed none, the one that it would get; `global` outside of any."""
        if checkout is None:
            return GLOBAL_SCOPE
        with self._database.reading() as con:
            return scope_of(con, checkout)

    def claim(self, checkout: Checkout, scope: str, at: int) -> None:
        """From now on the scope is that of this repository, unless it has one already."""
        with self._database.reading() as con:
            known = _held(con, checkout.identities)
        if len(known) == len(checkout.identities):
            return
        others = [] if checkout.remote else [one for one in [checkout.first_commit()] if one]
        with self._database.writing() as con:
            con.executemany(
                "INSERT INTO checkout (identity, scope, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [(one, scope, at) for one in (*checkout.identities, *others)],
            )


def scope_of(con: Connection, checkout: Checkout) -> str:
    """The scope that a checkout has or, if it has claimed none, would get."""
    held = _held(con, checkout.identities)
    for identity in checkout.identities:
        if identity in held:
            return _renamed(con, *held[identity])
    first = None
    if not checkout.remote and con.execute(_HAS_COMMITS).get:
        first = checkout.first_commit()
        if first and (found := _held(con, [first])):
            return _renamed(con, *found[first])
    if not _taken(con, checkout.scope):
        return _renamed(con, checkout.scope, 0)
    from hashlib import sha256

    mark = sha256((checkout.remote or first or checkout.place).encode()).hexdigest()
    names = [f"{checkout.scope}-{mark[:length]}" for length in MARK_CHARACTERS]
    return next((name for name in names if not _taken(con, name)), names[-1])


def _held(con: Connection, identities: Sequence[str]) -> dict[str, tuple[str, int]]:
    marks = ", ".join("?" * len(identities))
    found = con.execute(f"SELECT identity, scope, at FROM checkout WHERE identity IN ({marks})", tuple(identities))
    return {identity: (scope, at) for identity, scope, at in found}


def _taken(con: Connection, scope: str) -> bool:
    return con.execute("SELECT 1 FROM checkout WHERE scope = ? LIMIT 1", (scope,)).get is not None


def _renamed(con: Connection, scope: str, at: int) -> str:
    """What a scope that was given at a time is called now."""
    for was, name in con.execute(
        "SELECT r.was, r.scope FROM renamed r JOIN event v ON v.id = r.event WHERE r.at >= ? ORDER BY v.seq", (at,)
    ).fetchall():
        scope = name if scope == was else scope
    return scope
