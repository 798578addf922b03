"""Only where the module apsw is that of apsw-sqlite3mc: `make test-encryption`."""

from __future__ import annotations

import apsw
import pytest


def pytest_collection_modifyitems(items):
    if getattr(apsw, "mc_version", None) is None:
        for item in items:
            if "encryption" in item.path.parts:
                item.add_marker(pytest.mark.skip(reason="apsw without ciphers: `make test-encryption`"))


KEY, OTHER = "1f" * 32, "2e" * 32


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("LIMPET_KEY", KEY)
    return KEY
