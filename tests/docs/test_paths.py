"""Every file that the documentation names is there: of `src/limpet/`, of the tests, of the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "limpet"
# The log tells what was: it marks what is gone by itself.
PAGES = [
    page
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if page.name != "log.md"
]
BASES = (SRC, ROOT, ROOT / "docs", ROOT / "src")
PACKAGES = "|".join(sorted(path.name for path in SRC.iterdir() if (path / "__init__.py").exists()))
# Examples for users name files of theirs; diagrams, which have no language, name ours.
EXAMPLES = re.compile(r"^```\w.*?^```", re.MULTILINE | re.DOTALL)
# With its ending anywhere; without one in backticks.
NAMED = re.compile(
    rf"(?<![\w./~$-])((?:[a-z_0-9]+/)+[a-z_0-9]+\.(?:py|sql))\b|`(?:src/limpet/)?((?:{PACKAGES})/[a-z_/]*)`"
)


def named(page):
    text = EXAMPLES.sub("", page.read_text(encoding="utf-8"))
    return sorted({one or other for one, other in NAMED.findall(text)})


@pytest.mark.parametrize("page", [page for page in PAGES if named(page)], ids=lambda page: page.stem)
def test_every_file_that_a_page_names_is_there(page):
    missing = [
        name
        for name in named(page)
        if not any((base / name).exists() or (base / f"{name}.py").exists() for base in BASES)
    ]
    assert missing == []


def test_the_architecture_page_names_every_package_and_the_files_of_the_journeys():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = [path.name for path in SRC.iterdir() if (path / "__init__.py").exists()]

    assert [name for name in packages if f"{name}/" not in text] == []
    assert len(named(ROOT / "docs" / "architecture.md")) > 50
    assert len(named(ROOT / "docs" / "inside.md")) > 60
    assert len(text.split()) < 1_600, "three pages"
