"""Shared fixtures: a real store on disk, the real embedder, a clock that moves when told to."""

from __future__ import annotations

import os
import tempfile

# Workers share the cores: threads of NumPy that wait for each other take ten times as long. As the command has it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.pop("LIMPET_STORE", None)
os.environ.pop("LIMPET_SCOPE", None)
# What a hook answers does not depend on how busy this machine is; what ends it in time has tests of its own.
os.environ["LIMPET_HOOK_SECONDS"] = "50"
# A commit waits for the disk where a test is about that: what is certified says so (`durable=True`), as does the default.
os.environ["LIMPET_DURABILITY"] = "normal"
# No command leaves a worker behind, but where that is what is tested: the store's folder may be gone before it ends.
os.environ["LIMPET_WORK"] = "off"
# The order of results is the ranking's alone, but where the relevance judge is what is tested, and in what documents show.
os.environ["LIMPET_JUDGE"] = "off"
# What `limpet list` numbers is noted there, and not among what the person who runs the tests has listed.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="limpet-tests-")

import pytest
from hypothesis import HealthCheck, settings

import limpet
from tests import postgres_server

# The everyday suite tries the same few examples on every machine; `make fuzz` looks for LIMPET_FUZZ new ones.
settings.register_profile(
    "suite",
    max_examples=int(os.environ.get("LIMPET_FUZZ", "25")),
    deadline=None,
    print_blob=True,
    derandomize="LIMPET_FUZZ" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("suite")


# `make test-postgres`: the same tests, on a server.
if os.environ.get("LIMPET_TEST_POSTGRES") == "stores":
    postgres_server.take_over()


def pytest_collection_modifyitems(items):
    """What takes longest first, then what one worker does alone: so that none is left with it at the end."""
    items.sort(key=lambda item: ("property" not in item.path.parts, item.get_closest_marker("xdist_group") is None))


def pytest_make_parametrize_id(val):
    """Cut long texts in names of tests: workers, the log and the cache hold the names of all."""
    return f"{val[:80]!a}..." if isinstance(val, str | bytes) and len(val) > 200 else None


@pytest.fixture
def arrays_of_few_texts(monkeypatch):
    """Let a second recall be answered from arrays, as in a store of many texts."""
    monkeypatch.setattr("limpet.store.sql.search.ROWS_UP_TO", 0)


@pytest.fixture
def clock():
    return limpet.FixedClock("2026-03-01T12:00:00Z")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def opened(path, clock):
    """open(embedder) on one file; all are closed at the end."""
    handles = []

    def one(embedder=None):
        handles.append(limpet.open(path, scope="project:api", clock=clock, embedder=embedder))
        return handles[-1]

    yield one
    for handle in handles:
        handle.close()


@pytest.fixture
def memory(path, clock):
    """An open store in scope project:api."""
    with limpet.open(path, scope="project:api", clock=clock) as opened:
        yield opened


@pytest.fixture
def ids():
    """Ids of the items of a recall, or of any memories."""

    def of(found):
        return [one.id for one in getattr(found, "items", found)]

    return of
