"""What the certificate does to a store: operations by chance, and what the store says after each of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from limpet.api import Limpet
from limpet.api import open as open_store
from limpet.model.errors import StoreError
from limpet.settings import DEFAULT_EMBEDDER

if TYPE_CHECKING:
    from limpet.remember.write import Receipt


SCOPE = "global"
WORDS = 400


class Told(NamedTuple):
    """What holds after an acknowledged operation: events in the ledger, and what changed of memories by it."""

    events: int
    changed: dict[str, tuple[str, str]]  # id -> (state, content)


def stored(receipt: Receipt) -> str:
    """The id of what was stored. Raises StoreError when nothing was."""
    if receipt.id is None:
        raise StoreError(f"nothing was stored: {receipt.status}")
    return receipt.id


class Workload:
    """Operations on one store in an order that a seed decides, as a context manager. `reopens`: now and then the store
    is closed and opened again."""

    def __init__(self, path: Path, seed: int, *, reopens: bool = True) -> None:
        self.path = path
        self._reopens = reopens
        self._chance = random.Random(seed)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._words = ["".join(self._chance.choices(letters, k=self._chance.randint(3, 9))) for _ in range(WORDS)]
        self._live: list[str] = []
        self._number = 0
        self.memory = self._open()

    def _open(self) -> Limpet:
        return open_store(self.path, scope=SCOPE, durable=True, embedder=DEFAULT_EMBEDDER)

    def __enter__(self) -> Workload:
        return self

    def __exit__(self, *_: object) -> None:
        self.memory.close()

    def step(self) -> list[str]:
        """Do one operation; the ids that it is about. Raises LimpetError, and nothing is expected to have changed."""
        memory, live, share = self.memory, self._live, self._chance.random()
        if len(live) < 5 or share < 0.60:
            topics = [self._chance.choice(self._words)] if share < 0.2 else []
            id = stored(memory.remember(self._text(), topics=topics, session=f"run {self._number // 50}"))
            live.append(id)
            return [id]
        one = self._chance.choice(live)
        if share < 0.74:
            memory.edit(one, self._text())
        elif share < 0.82:
            new = stored(memory.correct(one, self._text()))
            live[live.index(one)] = new
            return [one, new]
        elif share < 0.87:
            memory.tag(one, add=[self._chance.choice(self._words)], values={"number": self._number})
        elif share < 0.92:
            memory.retract(one, "no longer so")
            live.remove(one)
        elif share < 0.95:
            memory.link(one, "supports", self._chance.choice([other for other in live if other != one]))
        elif share < 0.975:
            memory.work(limit=10)
            return []
        elif share < 0.985:
            memory.purge(one, confirm=True)
            live.remove(one)
        elif share < 0.995 and self._reopens:
            memory.close()
            self.memory = self._open()
            return []
        else:
            memory.gc()
            return []
        return [one]

    def told(self, ids: list[str]) -> Told:
        """What the store says now, after an operation about these memories."""
        found = [self.memory.get(id) for id in ids]
        return Told(self.memory.stats().events, {one.id: (one.state, one.content) for one in found})

    def _text(self) -> str:
        self._number += 1
        some = " ".join(self._chance.choices(self._words, k=self._chance.choice([6, 12, 40, 300])))
        return f"Statement {self._number}: {some}"


def check_whole(path: Path, expected: dict[str, tuple[str, str]], *, or_else: dict[str, tuple[str, str]]) -> list[str]:
    """What is wrong with a store that should hold this, in words. `or_else`: what an operation that was under way when
    the store was last written may have made of some memories. Writes one memory more. Raises LimpetError."""
    wrong = []
    with open_store(path, scope=SCOPE, durable=True) as memory:
        there = {one.id: (one.state, one.content) for one in memory.list(limit=10_000, all_states=True).memories}
        for id, said in expected.items():
            if there.get(id) not in (said, or_else.get(id)):
                wrong.append(f"{id} is {there.get(id)}, acknowledged was {said}")
        wrong += [f"{one.check}: {one.message}" for one in memory.verify()]
        id = stored(memory.remember("One more, after all that"))
        if memory.get(id).content != "One more, after all that":
            wrong.append("a memory that was stored afterwards cannot be read")
    return wrong
