"""The user's folders are where platformdirs says, which is not imported for them on Linux."""

from __future__ import annotations

import subprocess
import sys

import platformdirs
import pytest

from limpet.folders import user_folder


@pytest.mark.parametrize("said", [None, "", "  ", "/srv/files", "/srv/files/", "relative", "~/files"])
def test_folders_are_those_of_platformdirs(monkeypatch: pytest.MonkeyPatch, said: str | None) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if said is not None:
        monkeypatch.setenv("XDG_DATA_HOME", said)

    assert str(user_folder()) == platformdirs.user_data_dir("limpet", appauthor=False).rstrip("/")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs knows")
def test_on_linux_platformdirs_is_not_imported() -> None:
    code = "import sys; from limpet.folders import user_folder; user_folder(); sys.exit('platformdirs' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
