"""Review: what waits for a person, side by side, a key or a click each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from starlette.responses import Response

from ...model.errors import BadInput
from ...remember.review import QUESTIONS

if TYPE_CHECKING:
    from .site import Ask, View

SHOWN = 20


def review(ask: Ask) -> Response:
    kind = ask.query.get("kind", "")
    items = ask.site.waiting(ask.scope)
    kinds = Counter(item.kind for item in items)
    shown = [item for item in items if kind in ("", item.kind)]
    start = max(0, ask.number("from", 0))
    return ask.page(
        "review.html", items=shown[start : start + SHOWN], start=start, left=len(shown) - start - SHOWN,
        kinds=kinds, kind=kind, total=len(items), QUESTIONS=QUESTIONS,
        following=start + SHOWN, command=ask.command("review"),
    )  # fmt: skip


def decide(ask: Ask) -> Response:
    """Accept or reject one item, or several."""
    verdict, ids = ask.form.get("verdict", ""), ask.lists.get("id", [])
    if verdict not in ("accept", "reject"):
        raise BadInput("yes or no?")
    events: list[str] = []
    wrong = None
    decided = ask.memory.reject if verdict == "reject" else ask.memory.accept
    for id in ids:
        try:
            event = decided(id).event
            events += [event] if event else []
        except BadInput as error:  # one of a group that can no longer be carried out keeps none of the others
            wrong = error
    if wrong is not None and not events:
        raise wrong
    return ask.back(done=" ".join(events), said=None if events else "unchanged")


VIEWS: list[tuple[str, str, View]] = [("GET", "/review", review), ("POST", "/review", decide)]
