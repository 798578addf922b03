"""The scopes of projects: the first one of a name has `project:<name>`, others a name with a mark.

A remote gives nothing by itself: it is in a file that a stranger may have written. Where it is known, `namesake` says
whose it is, and a person may join the folder to that scope (`limpet scope merge`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...checkout import Checkout, machine_place
from .store import BUSY_TIMEOUT_MS, Connection, Database, Repository

# Characters of the mark: more only where two repositories of one name agree in these.
MARK_CHARACTERS = (4, 8, 16, 64)
# git is asked for a first commit only where one is known that it could be.
_HAS_COMMITS = "SELECT 1 FROM checkout WHERE identity >= 'commit:' AND identity < 'commit;' LIMIT 1"


class Checkouts(Repository):
    """The scope of each project."""

    def scopes_of(self, checkout: Checkout) -> tuple[str, ...]:
        """Return a project's scope, or the one it would get if it has claimed none, then those around it, of which it
        sees the memories too."""
        with self._database.reading() as con:
            return tuple(dict.fromkeys(scopes_of(con, checkout)))

    def namesake(self, checkout: Checkout | None, *, fresh: bool = False) -> str | None:
        """Return the scope of another repository with this one's remote, if it is not in that scope. `fresh`: only if
        it has claimed none yet."""
        if checkout is None:
            return None
        with self._database.reading() as con:
            checkout = _granted(con, checkout)
            if checkout.remote is None or checkout.is_named:
                return None
            known = None if fresh and _held(con, checkout.identities) else _held(con, [checkout.remote])
            scope = None if known is None else _renamed(con, *known)
            return None if scope == _scope_of(con, checkout) else scope

    def git_folders(self, scope: str) -> list[str]:
        """Return git's own folders of the repositories on this machine that have a scope."""
        here, found = machine_place(""), []
        with self._database.reading() as con:
            for identity, name, at in con.execute("SELECT identity, scope, at FROM checkout").fetchall():
                allowed, place = identity.startswith("allowed:"), identity.removeprefix("allowed:")
                if place.startswith(here) and _renamed(con, name, at) == scope:
                    folder = place.removeprefix(here).partition(" part ")[0]
                    found.append(f"{folder.rpartition(':')[0]}/.git" if allowed else folder)
        return found

    def shared(self, checkout: Checkout) -> tuple[str, str]:
        """Return the scope of the whole repository, and the folder in it that a team shares with whoever has allowed
        that; "" for none."""
        with self._database.reading() as con:
            here = _granted(con, checkout)
            while here.part and here.outer is not None:
                here = here.outer
            return _scope_of(con, here), f"{here.root}/{here.shared}" if here.shared else ""

    def may_ask(self, checkout: Checkout, *, fresh: bool) -> bool:
        """Return whether nobody has allowed yet what the project's `.limpet` asks for. `fresh`: as in `namesake`."""
        with self._database.reading() as con:
            return not _held(con, [checkout.permission]) and not (fresh and _held(con, checkout.identities))

    def allow(self, checkout: Checkout, at: int, *, off: bool = False) -> None:
        """Allow what the project's `.limpet` asks for, or no longer."""
        wish = checkout.wish
        while wish is not None and wish.part:
            wish = wish.outer
        # With a name it is taken: no other project gets that scope for its folder's name.
        name = wish.scope if wish is not None and wish.is_named else ""
        with self._database.writing() as con:
            con.execute("DELETE FROM checkout WHERE identity = ?", (checkout.permission,))
            if not off:
                row = (checkout.permission, name, at)
                con.execute("INSERT INTO checkout (identity, scope, at) VALUES (?, ?, ?)", row)


def claim(
    database: Database, checkout: Checkout, at: int, scope: str | None = None, *, wait_ms: int = BUSY_TIMEOUT_MS
) -> bool:
    """Give a project a scope, None: its own, unless it has one already, and to a repository around it. Return False for
    one whose `.limpet` names it. Raises StoreBusy."""
    with database.reading() as con:
        checkout = _granted(con, checkout)
        known = checkout.is_named or all(_held(con, [identity]) for identity in checkout.identities)
        scope = scope or _scope_of(con, checkout)
    if checkout.part and checkout.outer is not None:
        claim(database, checkout.outer, at, wait_ms=wait_ms)
    if not known:
        others = [checkout.remote or checkout.first_commit()]
        with database.writing(wait_ms=wait_ms) as con:
            con.executemany(
                "INSERT INTO checkout (identity, scope, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [(identity, scope, at) for identity in (*checkout.identities, *filter(None, others))],
            )
    return not checkout.is_named


def scopes_of(con: Connection, checkout: Checkout | None) -> Iterator[str]:
    """Yield the scope that a project has or, if it has claimed none, would get, then those around it."""
    while checkout is not None:
        checkout = _granted(con, checkout)
        yield _scope_of(con, checkout)
        checkout = checkout.outer


def _granted(con: Connection, checkout: Checkout) -> Checkout:
    is_allowed = checkout.wish is not None and _held(con, [checkout.permission])
    return checkout.wish if is_allowed and checkout.wish is not None else checkout


def _scope_of(con: Connection, checkout: Checkout) -> str:
    if checkout.is_named:
        return _renamed(con, *(_held(con, [checkout.permission]) or (checkout.scope, 0)))
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
