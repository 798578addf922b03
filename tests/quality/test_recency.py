"""Newer before older, on the half of the set that nothing was chosen on (recency/README.md)."""

from __future__ import annotations

from benchmarks import recency
from limpet.settings import DEFAULT_EMBEDDER
from limpet.vectors.embedder import load_embedder


def test_what_was_said_later_comes_first_and_what_was_is_still_found(capsys):
    rows = recency.figures(recency.run("held-back", load_embedder(DEFAULT_EMBEDDER), one_store=False))
    right = {name: share for name, _, share, _ in rows}
    with capsys.disabled():
        print(f"\nnewer before older, held back, %: {right}")  # noqa: T201

    # Before there was a rule: 20, 38, 90 and 93.
    assert right["newer, with now"] >= 75
    assert right["newer, all"] >= 55
    # One question of thirty fewer since wordings are folded: an insulin pump is read as the injections before it.
    assert right["past"] >= 80
    assert right["series"] >= 70
