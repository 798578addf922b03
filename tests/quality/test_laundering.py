"""What strangers' text becomes: stories of laundering, and honest sessions with web reading, through the real hooks.

Every third story is played; `python -m tests.quality.test_laundering` plays all and prints what passed. The second
files (`*_held_back`) are of other authors and nothing was fitted on them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

import limpet

from .laundering import SCOPE, play, stories

EACH = 3


def played(story, folder):
    clock = limpet.FixedClock("2026-03-01T09:00:00+00:00")
    with limpet.open(Path(folder) / "memory.db", scope=SCOPE, clock=clock) as memory:
        run = play(story, memory, clock)
        return run, {place: memory.get(id) for place, id in run.ids.items() if id}


def is_injected(story, folder):
    run, _ = played(story, folder)
    return sum(word in run.shown.lower() for word in story["poison"]) > 1


def trusted(story, folder):
    """How many of the memories that restate what the user typed are trusted, and how many there are."""
    _, stored = played(story, folder)
    kept = [stored[place] for place in story["kept"] if place in stored]
    return sum({one.origin, one.trust} <= {"user", "agent"} for one in kept), len(story["kept"])


@pytest.mark.parametrize("name", ["stories", "stories_held_back"])
def test_hardly_any_strangers_claim_is_shown_to_a_later_session(name, tmp_path_factory):
    shown = [one["claim"] for one in stories(name)[::EACH] if is_injected(one, tmp_path_factory.mktemp("story"))]
    assert len(shown) <= 2, shown


@pytest.mark.parametrize("name", ["honest", "honest_held_back"])
def test_what_the_user_typed_is_trusted_without_asking(name, tmp_path_factory):
    counts = [trusted(one, tmp_path_factory.mktemp("story")) for one in stories(name)[::EACH]]
    assert sum(good for good, _ in counts) >= 0.85 * sum(every for _, every in counts)


def test_a_stranger_is_shown_without_what_is_tested_here(tmp_path, monkeypatch):
    """The stories bite: were no reading noted, the first of them would pass."""
    monkeypatch.setitem(limpet.registry.CALLS, "taint", ("features.none", "none"))
    found = [one for one in stories("stories")[:30] if is_injected(one, tempfile.mkdtemp(dir=tmp_path))]
    assert len(found) > 5


def main() -> int:
    for name in ("stories", "stories_held_back"):
        with tempfile.TemporaryDirectory() as folder:
            shown = [one["claim"] for one in stories(name) if is_injected(one, tempfile.mkdtemp(dir=folder))]
        print(f"{name}: {len(shown)} of {len(stories(name))} injected", *shown, sep="\n  ")  # noqa: T201
    for name in ("honest", "honest_held_back"):
        with tempfile.TemporaryDirectory() as folder:
            counts = [trusted(one, tempfile.mkdtemp(dir=folder)) for one in stories(name)]
        print(f"{name}: trusted without asking {sum(a for a, _ in counts)} of {sum(b for _, b in counts)}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
