"""The page over an encrypted store: every page answers, changes hold, and no file of the folder has a plain byte."""

from __future__ import annotations

import time

import pytest

import limpet
from limpet.features import usefulness
from limpet.model.errors import StoreLocked
from tests.encryption.test_store import WORD, holding
from tests.web.conftest import open_page

PAGES = ("/", "/memories", f"/memories?q={WORD}", "/review", f"/why?q={WORD}", f"/brief?q={WORD}", "/beliefs", "/sessions", "/graph",
         "/changes", "/care?check=1", "/scopes")  # fmt: skip


def test_pages_of_an_encrypted_store_show_all_and_leave_no_plain_byte(path, key, monkeypatch):
    with limpet.open(path, scope="project:api") as memory:
        id = memory.remember(f"The safe opens with {WORD}", topics=["safe"], session="one").id
        usefulness.note_action(memory, "one", "did", f"opened it with {WORD}")
        memory.work()
        page = open_page(memory).enter()
        assert {one: page.get(one).status_code for one in (*PAGES, f"/memory/{id}")} == dict.fromkeys(
            (*PAGES, f"/memory/{id}"), 200
        )
        assert WORD in page.get(f"/memory/{id}").text
        version = memory.get(id).recorded_at_us
        page.submit(f"/memory/{id}/edit", content=f"The safe opens with {WORD} twice", version=version)
        page.submit("/undo")
        assert memory.get(id).content == f"The safe opens with {WORD}"
        backup = path.parent / "backup.db"
        page.submit("/care/backup", path=str(backup))
        for _ in range(100):
            if "Look again" not in page.get("/care").text:
                break
            time.sleep(0.1)
        assert backup.is_file() and holding(path.parent) == []
    monkeypatch.delenv("LIMPET_KEY")
    with pytest.raises(StoreLocked):
        limpet.open(path)
