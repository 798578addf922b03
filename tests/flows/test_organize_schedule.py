"""`organize --every 6h`: a timer of the machine, by one command; the machine's own programs are stand-ins here."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from limpet import BadInput
from limpet.agents.install import schedule

STAND_IN = """#!/bin/sh
echo "$0 $@" >> "$HOME/calls"
case "$*" in
  "-l") cat "$HOME/crontab" 2>/dev/null || exit 1 ;;
  "-") cat > "$HOME/crontab" ;;
esac
"""


@pytest.fixture
def machine(tmp_path):
    """A home and a path with nothing but the schedulers that a test names."""
    (tmp_path / "bin").mkdir()
    for name in ("cat", "sh"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))

    def have(*programs):
        for name in programs:
            path = tmp_path / "bin" / name
            path.write_text(STAND_IN)
            path.chmod(0o755)

    def limpet(*argv):
        return subprocess.run(
            [sys.executable, "-m", "limpet", *argv], capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": str(tmp_path / "bin"), "LIMPET_STORE": str(tmp_path / "m.db"),
                 "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        )  # fmt: skip

    return tmp_path, have, limpet


@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
def test_systemd_gets_a_user_timer_and_loses_it_again(machine):
    home, have, limpet = machine
    have("systemctl")
    folder = home / ".config" / "systemd" / "user"
    folder.mkdir(parents=True)

    dry = limpet("organize", "--client", "all", "--every", "6h", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "OnUnitActiveSec=21600s" in dry.stdout and "would be written" in dry.stderr
    assert list(folder.iterdir()) == [] and not (home / "calls").exists()

    done = limpet("organize", "--client", "all", "--every", "6h")
    assert done.returncode == 0, done.stderr
    service, timer = (folder / f"limpet-organize.{one}" for one in ("service", "timer"))
    assert str(service) in done.stderr and str(timer) in done.stderr
    assert f"--store {home / 'm.db'} organize --client all" in service.read_text()
    assert "WantedBy=timers.target" in timer.read_text()
    calls = (home / "calls").read_text()
    assert "--user daemon-reload" in calls and "--user enable --now limpet-organize.timer" in calls
    assert not (home / "m.db").exists()

    gone = limpet("organize", "--every", "off")
    assert (gone.returncode, list(folder.glob("*"))) == (0, [])
    assert "--user disable --now limpet-organize.timer" in (home / "calls").read_text()
    assert "nothing was scheduled" in limpet("organize", "--every", "off").stderr


def test_cron_gets_one_line_beside_the_others(machine):
    home, have, limpet = machine
    have("crontab")
    if Path("/run/systemd/system").is_dir():
        assert not (home / "bin" / "systemctl").exists()
    (home / "crontab").write_text("0 1 * * * backup\n")
    notes = home / "my notes"
    notes.mkdir()

    assert limpet("organize", str(notes), "--every", "6h").returncode == 0
    again = limpet("organize", str(notes), "--every", "1d", "--json")
    assert json.loads(again.stdout)["timers"][0]["kind"] == "cron"
    first, second = (home / "crontab").read_text().splitlines()
    assert first == "0 1 * * * backup"
    assert second.startswith("17 4 * * * ") and second.endswith(" # limpet-organize")
    assert f"organize '{notes}'" in second
    assert limpet("organize", "--every", "5h").returncode == 2

    assert limpet("organize", "--every", "off").returncode == 0
    assert (home / "crontab").read_text() == "0 1 * * * backup\n"


def test_launchd_gets_an_agent_of_the_user(tmp_path):
    timer = schedule.plan("launchd", 21_600, ["/opt/my tools/limpet", "organize"], tmp_path)
    ((path, data),) = timer.files
    assert path == tmp_path / "Library" / "LaunchAgents" / "dev.limpet.features.organize.plist"
    told = plistlib.loads(data)
    assert (told["StartInterval"], told["ProgramArguments"]) == (21_600, ["/opt/my tools/limpet", "organize"])
    assert [one[1] for one in timer.commands] == ["bootout", "bootstrap"]


def test_words_reach_systemd_as_they_are(tmp_path):
    (_, service), _ = schedule.plan("systemd", 3_600, ["/x/limpet", "--store", '/a b/100%"$HOME".db'], tmp_path)[1]
    assert 'ExecStart=/x/limpet --store "/a b/100%%\\"$$HOME\\".db"\n' in service.decode()


def test_a_machine_without_a_scheduler_is_told_what_to_do(machine):
    _, _, limpet = machine
    told = limpet("organize", "--every", "6h")
    if sys.platform == "linux":
        assert told.returncode == 2
        assert "limpet organize`" in told.stderr


@pytest.mark.parametrize("text", ["5m", "8d", "0h"])
def test_a_schedule_has_bounds(text):
    with pytest.raises(BadInput, match="10m to 7d"):
        schedule.seconds_of(text)


def test_what_is_no_time_is_refused(machine):
    _, _, limpet = machine
    assert "is no time" in limpet("organize", "--every", "sometimes").stderr
