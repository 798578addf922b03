"""The scopes of checkouts: the first repository of a name has `project:<name>`, others a name with a mark.

A remote gives nothing by itself: it is in a file that a stranger may have written. Where it is known, `namesake` says
whose it is, and a person may join the folder to that scope (`limpet scope merge`).
"""

from __future__ import annotations

from collections.abc import Iterable

from ...checkout import Checkout
from ...model.memory import GLOBAL_SCOPE
from .store import Connection, Repository

# Characters of the mark: more only where two repositories of one name agree in these.
MARK_CHARACTERS = (4, 8, 16, 64)
# git is asked for a first commit only where one is known that it could be.
_HAS_COMMITS = "SELECT 1 FROM checkout WHERE identity >= 'commit:' AND identity < 'commit;' LIMIT 1"


class Checkouts(Repository):
    """The scope of each repository."""

    def scope_of(self, checkout: Checkout | None) -> str:
        """Return a repository's scope, or the one it would get if it has claimed none; `global` outside of any."""
        if checkout is None:
            return GLOBAL_SCOPE
        with self._database.reading() as con:
            return scope_of(con, checkout)

    def namesake(self, checkout: Checkout | None, *, fresh: bool = False) -> str | None:
        """Return the scope of another repository with this one's remote, if it is not in that scope. `fresh`: only if
        it has claimed none yet."""
        if checkout is None or checkout.remote is None:
            return None
        with self._database.reading() as con:
            known = None if fresh and _held(con, checkout.identities) else _held(con, [checkout.remote])
            scope = None if known is None else _renamed(con, *known)
            return None if scope == scope_of(con, checkout) else scope

    def claim(self, checkout: Checkout, scope: str, at: int) -> None:
        """Give a scope to a repository, unless it has one already."""
        with self._database.reading() as con:
            known = all(_held(con, [identity]) for identity in checkout.identities)
        if known:
            return
        others = [checkout.remote or checkout.first_commit()]
        with self._database.writing() as con:
            con.executemany(
                "INSERT INTO checkout (identity, scope, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [(identity, scope, at) for identity in (*checkout.identities, *filter(None, others))],
            )


def scope_of(con: Connection, checkout: Checkout) -> str:
    """Return the scope that a checkout has or, if it has claimed none, would get."""
    held, first = _held(con, checkout.identities), None
    if held is None and not checkout.remote and con.execute(_HAS_COMMITS).get:
        first = checkout.first_commit()
        held = _held(con, [first]) if first else None
    if held is None and not _taken(con, checkout.scope):
        held = (checkout.scope, 0)
    if held is not None:
        return _renamed(con, *held)
    from hashlib import sha256

    mark = sha256((first or checkout.identities[0]).encode()).hexdigest()
    names = [f"{checkout.scope}-{mark[:length]}" for length in MARK_CHARACTERS]
    return next((name for name in names if not _taken(con, name)), names[-1])


def _held(con: Connection, identities: Iterable[str]) -> tuple[str, int] | None:
    """Return the scope of the first of these that has one, and since when."""
    for identity in identities:
        if row := con.execute("SELECT scope, at FROM checkout WHERE identity = ?", (identity,)).fetchone():
            return row[0], row[1]
    return None


def _taken(con: Connection, scope: str) -> bool:
    return con.execute("SELECT 1 FROM checkout WHERE scope = ? LIMIT 1", (scope,)).get is not None


def _renamed(con: Connection, scope: str, at: int) -> str:
    """Return the present name of a scope that was given at a time."""
    for was, name in con.execute(
        "SELECT r.was, r.scope FROM renamed r JOIN event v ON v.id = r.event WHERE r.at >= ? ORDER BY v.seq", (at,)
    ).fetchall():
        scope = name if scope == was else scope
    return scope
