"""What a person edits in a mirror holds at the next session, server or recall, without a command."""

from __future__ import annotations

import pytest

import limpet
from limpet.agents.mcp import Drain
from limpet.features import mirror


@pytest.fixture
def root(memory, tmp_path):
    memory.remember("The staging API allows 100 requests a minute", topics=["limits"])
    mirror.init(memory, tmp_path / "mirror")
    return tmp_path / "mirror"


def edit(root):
    """As an editor that writes in place: the folder's own time stamp stays."""
    file = root / "limits.md"
    file.write_text(file.read_text(encoding="utf-8").replace("100", "250"), encoding="utf-8")


def texts(memory):
    return [one.content for one in memory.list().memories]


EDITED = ["The staging API allows 250 requests a minute"]


@pytest.mark.parametrize("ask", ["recall", "prepare", "recall_sessions"])
def test_a_persons_edit_holds_at_the_next_recall(memory, root, ask):
    edit(root)
    getattr(memory, ask)("how many requests does staging allow?")
    assert texts(memory) == EDITED


def test_a_new_file_and_a_removed_line_hold_too(memory, root):
    (root / "limits.md").unlink()
    (root / "vacuum.md").write_text("Vacuum only at night\n", encoding="utf-8")
    found = memory.recall("when to vacuum")
    assert [one.content for one in found.items] == ["Vacuum only at night"]


def test_an_edit_holds_when_a_server_begins(memory, root):
    edit(root)
    drain = Drain(memory)
    drain.start()
    drain.stop()
    assert texts(memory) == EDITED


def test_a_recall_leaves_large_folders_to_the_server(memory, root, monkeypatch):
    monkeypatch.setattr(mirror, "SEEN_BY_RECALLS", 1)
    edit(root)
    memory.recall("requests")
    assert texts(memory) != EDITED
    mirror.take_in_edits(memory)
    assert texts(memory) == EDITED


def test_what_cannot_be_taken_in_is_not_tried_at_every_recall(memory, root, monkeypatch):
    """A folder whose entries are gone asks first, once a change; recalls go on answering."""
    for number in range(30):
        memory.remember(f"Sensor {number} hangs in room {number * 7}", topics=["limits"])
    mirror.sync(memory, root)
    (root / "limits.md").unlink()
    tried = []
    real = mirror.sync_folder
    monkeypatch.setattr(mirror, "sync_folder", lambda *given, **more: tried.append(given) or real(*given, **more))
    for _ in range(3):
        assert memory.recall("sensor room").items
    assert len(tried) == 1


def test_another_scopes_folder_is_left_alone(memory, root):
    edit(root)
    memory.in_scope("project:other").recall("requests")
    assert texts(memory) != EDITED


def test_a_folder_that_is_gone_disturbs_nobody(memory, root):
    root.rename(root.with_name("elsewhere"))
    assert memory.recall("requests").items


def test_nothing_is_looked_at_in_a_store_that_cannot_be_written(memory, root):
    edit(root)
    with limpet.open(memory.path, scope=memory.scope, read_only=True) as reader:
        reader.recall("requests")
        assert texts(reader) != EDITED
