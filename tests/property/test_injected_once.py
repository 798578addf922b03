"""Whatever a session asks, in whatever order and by whichever process: a memory is shown once, until it changes or the
context is compacted.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limpet
from limpet.agents.hooks.entry import handle

TURNS = 20
MEMORIES = (
    "The staging database listens on port 5433",
    "Deploys to staging go out by the pipeline on Tuesdays",
    "The database password is kept in the vault, never in staging's configuration",
    "Ana prefers small pull requests to the database package",
    "Retries of payments carry an idempotency key",
    "The payments worker reads its queue from Redis on port 6380",
    "Backups of the staging database are made at night",
    "Search was moved from Postgres to a service of its own",
)
PROMPTS = (
    "Which port does the staging database listen on?",
    "When do deploys to staging go out by the pipeline?",
    "Where is the database password of staging kept?",
    "How large are the pull requests to the database package that Ana prefers?",
    "What do retries of payments carry?",
    "Where does the payments worker read its queue, on which port?",
    "When are backups of the staging database made?",
    "Please commit this.",
)
step = st.one_of(
    st.tuples(st.just("ask"), st.integers(0, len(PROMPTS) - 1), st.booleans()),
    st.tuples(st.just("ask"), st.integers(0, len(PROMPTS) - 1), st.booleans()),
    st.tuples(st.just("ask"), st.integers(0, len(PROMPTS) - 1), st.booleans()),
    st.tuples(st.just("edit"), st.integers(0, len(MEMORIES) - 1), st.just(False)),
    st.tuples(st.sampled_from(["compact", "start"]), st.just(0), st.just(False)),
)


@pytest.fixture(scope="module")
def store():
    """A store that a running process has open."""
    with tempfile.TemporaryDirectory(prefix="limpet-") as folder:
        path = Path(folder) / "m.db"
        with limpet.open(path, scope="global") as memory:
            ids = [memory.remember(text).id for text in MEMORIES]
            memory.recall("a first question loads the model")
            yield path, memory, ids


@settings(max_examples=int(os.environ.get("LIMPET_FUZZ", "12")), deadline=None)
@given(st.lists(step, min_size=TURNS, max_size=TURNS))
def test_no_memory_is_shown_twice(store, steps):
    path, memory, ids = store
    short = dict(zip(memory.abbreviate(ids), ids, strict=True))
    session = uuid.uuid4().hex
    shown: set[str] = set()

    def call(event, cold=True, **data):
        raw = json.dumps({"session_id": session, "cwd": "/", **data}).encode()
        argv = ["claude", event, "--store", str(path), "--scope", "global"]
        return handle(argv, raw, memory=None if cold else memory).decode()

    for what, number, cold in steps:
        if what == "edit":
            memory.edit(ids[number], f"{MEMORIES[number]} ({uuid.uuid4().hex[:8]})")
            shown.discard(ids[number])
            continue
        if what == "compact":
            shown.clear()
            out = call("SessionStart", source="compact")
        elif what == "start":
            out = call("SessionStart", source="startup")
        else:
            out = call("UserPromptSubmit", cold, prompt=PROMPTS[number])
        found = {short[one] for one in re.findall(r"- \[(\w+) \|", out)}
        assert not found & shown
        shown |= found
