"""What is released is complete: the manual page, the page of licences, the place of every page in the site."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import limpet
from docs import licences, man
from limpet.cli.verbs import table
from release import site

ROOT = Path(__file__).resolve().parents[2]


def test_the_manual_page_tells_of_every_command_and_is_sound():
    text = man.man()
    for verb in table():
        assert f"\\fBlimpet {verb.name}\\fR" in text
    # A line that begins with a dot is a request: only those meant are there.
    requests = {line.split(" ")[0] for line in text.splitlines() if line.startswith((".", "'"))}
    assert requests == {r".\"", ".TH", ".SH", ".SS", ".B", ".TP", ".RS", ".RE"}


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
def test_groff_reads_the_manual_page_without_a_warning():
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", man.TARGET], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_wheel_brings_the_manual_page():
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert hatch["targets"]["wheel"]["shared-data"] == {"man/limpet.1": "share/man/man1/limpet.1"}


def test_the_page_of_licences_names_everything_that_is_installed_with_limpet():
    """Where it does not: `make docs`. Another system may need other packages, so the page may have more."""
    here = {name: licences.licence(one) for name, one in licences.installed_with().items()}
    assert set(here) <= set(licences.listed())
    assert licences.NOTICE.read_text(encoding="utf-8") in licences.TARGET.read_text(encoding="utf-8")


def test_nothing_installed_with_limpet_asks_its_users_to_publish_their_own_work():
    strict = {name: said for name, said in licences.listed().items() if "GPL" in said or "not said" in said}
    assert strict == {}


def test_every_page_has_its_place_in_the_site_once():
    placed = [page for part in site.pages().values() for page in part]
    assert len(placed) == len(set(placed))
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")} <= set(placed)
    assert placed[0] == "README.md", "the home"


def test_every_public_name_stands_once_in_the_reference_made_of_docstrings(tmp_path):
    said = "".join((tmp_path / page).read_text(encoding="utf-8") for page in site.api(tmp_path))
    names = re.findall(r"^::: limpet\.(?:\w+\.)*(\w+)$", said, re.MULTILINE)
    assert sorted([*names, "__version__"]) == sorted(limpet.__all__)


def test_what_the_comparison_says_was_measured_stands_in_the_benchmarks():
    """`python -m benchmarks.page` writes those; the comparison follows."""
    recorded = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    measured = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8").split("## Where others are better")[0]
    rows = [line for line in measured.splitlines() if line.startswith("|")]
    assert len(rows) > 10
    assert [row for row in rows if row not in recorded] == []
