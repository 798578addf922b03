"""The documentation is true: its examples run and answer what is shown, its generated parts are as the code makes them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from docs import console, picture

ROOT = console.ROOT
PAGES = console.PAGES
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# Pages on which every command that answers shows what it answers.
SHOWN = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", ROOT / "docs" / "how-to" / "beliefs.md"]
SILENT = ("export ", "printf ")  # of these nothing comes back
ID_TYPED = re.compile(r"(?<![\w./-])(?=[0-9a-f-]*\d)[0-9a-f]{8}[0-9a-f-]*")


def examples(page):
    return console.examples(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_the_examples_of_a_page_answer_what_is_shown(page, tmp_path):
    """Where a page is right and the answer has changed, `make docs` writes it anew."""
    home = tmp_path / "home"
    _, wrong = console.written_anew(page, home)
    assert not wrong, "\n\n".join(wrong)

    python = "\n".join(text for language, text, _ in examples(page) if language == "python")
    done = subprocess.run(
        [sys.executable, "-c", python],
        env={**os.environ, "HOME": str(home), "LIMPET_STORE": str(home / "memory.db"), "LIMPET_SCOPE": "project:shop"},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{page.name}\n{done.stderr}"


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.stem)
def test_what_is_typed_needs_no_long_id_and_no_other_command(page):
    for one in console.commands(page.read_text(encoding="utf-8")):
        assert one.lines or one.line.startswith(SILENT), f"it does not show what it answers: {one.line}"
        assert "$(" not in one.line and "`" not in one.line and "python" not in one.line
        assert not ID_TYPED.search(one.line), one.line


@pytest.mark.parametrize(
    ("shown", "said", "is_true"),
    [
        (["created 19y93r  A"], ["created 19y93r  A"], True),
        (["created 19y93r  A"], ["created 19y93r  B"], False),
        (["created 19y93r  A"], ["created 19y93r  A", "`limpet undo` takes it back"], True),
        (["`limpet undo` takes it back", "A"], ["A", "`limpet undo` takes it back"], False),
        (["A", "..."], ["A", "B", "C"], True),
        (["...", "C"], ["A", "B", "D"], False),
        (["store /home/..."], ["store /home/ana/memory.db"], True),
        (["score 9.883"], ["score 9.881"], True),
        (["score 9.883"], ["score 8.883"], False),
        (["1"], ["2"], False),
        (["A"], ["A", "B"], False),
    ],
)
def test_what_is_shown_is_compared_line_by_line(shown, said, is_true):
    assert console.same(tuple(shown), said) is is_true


def test_a_screen_has_what_progress_left_on_it():
    """It moves up and clears what it wrote."""
    assert console.lines("A\n\x1b[?25lembedding 1/8\r\x1b[2Kembedding 8/8\n\x1b[1A\x1b[2K\x1b[32mB\x1b[0m\n") == [
        "A",
        "B",
    ]


def test_the_picture_of_a_terminal_is_what_the_commands_answer(tmp_path):
    kept = picture.TARGET.read_text(encoding="utf-8")
    ElementTree.fromstring(kept)
    told = picture.drawn(tmp_path / "home").splitlines()

    assert len(told) == len(kept.splitlines())
    differ = [pair for pair in zip(kept.splitlines(), told, strict=True) if not console.same_line(*pair)]
    assert not differ, f"run `make docs`: {differ}"
    assert "http" not in kept.replace('xmlns="http://www.w3.org/2000/svg"', ""), "it loads nothing from elsewhere"


def test_the_generated_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "-m", "docs.generate", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_links_between_pages_lead_somewhere():
    missing = []
    for page in [*PAGES, *sorted((ROOT / "docs").rglob("*.md"))]:
        text = FENCED.sub("", page.read_text(encoding="utf-8"))  # links in examples are not ours
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            if not (page.parent / target).exists():
                missing.append(f"{page.relative_to(ROOT)}: {target}")
    assert not missing
