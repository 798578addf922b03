"""A name of the public interface that was given up keeps working, and means what the new one means."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.cli.main import COMMANDS, main
from limpet.model import old_names
from limpet.settings import ENVIRONMENT, read_settings
from limpet.vectors.calibration import Calibration, stated


@pytest.fixture
def shown(path, monkeypatch):
    """A store whose memory was put before an agent."""
    monkeypatch.setenv("LIMPET_STORE", str(path))
    monkeypatch.setenv("LIMPET_SCOPE", "project:api")
    with limpet.open(path, scope="project:api") as memory:
        id = memory.remember("Deploys need the VPN").id
        memory.note_exposures([(id, 20)], client="claude", via="message")
        yield memory


@pytest.mark.parametrize(("old", "new"), old_names.COMMANDS.items())
def test_an_old_command_is_the_new_one(shown, capsys, old, new):
    assert new in COMMANDS and old not in COMMANDS
    answers = []
    for name in (old, new):
        assert main(["--json", name, "--limit", "5"]) == 0
        answers.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])

    assert answers[0] == answers[1] and len(answers[0]) == 1


@pytest.mark.parametrize(("old", "new"), old_names.SETTINGS.items())
def test_an_old_setting_is_read_where_the_new_one_is_not_given(monkeypatch, old, new):
    assert new in ENVIRONMENT and old not in ENVIRONMENT
    monkeypatch.setenv(old, "0.25")
    assert read_settings("m.db", "global", None).holdout == 0.25
    monkeypatch.setenv(new, "0.5")
    assert read_settings("m.db", "global", None).holdout == 0.5

    monkeypatch.delenv(new)
    monkeypatch.setenv(old, "much")
    with pytest.raises(limpet.BadInput, match=old):
        read_settings("m.db", "global", None)


@pytest.mark.parametrize(("old", "new"), old_names.METHODS.items())
def test_an_old_verb_is_the_new_one(shown, old, new):
    assert getattr(shown, old) == getattr(shown, new)
    assert old not in dir(shown), "help shows the new name alone"
    with pytest.raises(AttributeError, match="no attribute 'remembr'"):
        shown.remembr  # noqa: B018


@pytest.mark.parametrize(("old", "new"), old_names.EMBEDDER.items())
def test_an_embedder_may_have_its_old_attribute(old, new):
    class Old:
        pass

    class Both:
        pass

    setattr(Old, old, Calibration(0.1, 0.5, 0.4))
    setattr(Both, old, Calibration(0.1, 0.5, 0.4))
    setattr(Both, new, Calibration(0.2, 0.6, 0.5))

    assert stated(Old()) == (0.1, 0.5, 0.4)
    assert stated(Both()) == (0.2, 0.6, 0.5)
    assert stated(object()) is None


def test_an_unknown_command_is_still_one(capsys):
    assert main(["surface"]) == 2
    assert "unknown command" in capsys.readouterr().err
