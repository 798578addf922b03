"""Moving in with a folder of text: each file is read or named, a statement says what it is about, and it is found."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

import limpet
from limpet.cli.main import main
from limpet.model.clock import FixedClock
from limpet.model.ids import format_id
from limpet.model.memory import KINDS
from tests.text_folder import HELD_BACK, NOTHING, TEXTS, TUNING, build


def contents(memory):
    return {one.content: one for one in memory.list(limit=1_000).memories}


@pytest.fixture
def folder(tmp_path):
    build(tmp_path / "mixed")
    return tmp_path / "mixed"


def brought(memory, tmp_path, name, text):
    """The statements of one file."""
    (tmp_path / "notes").mkdir(exist_ok=True)
    (tmp_path / "notes" / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    memory.import_from("text", tmp_path / "notes")
    return [one.content for one in sorted(contents(memory).values(), key=lambda one: int(one.source.split(":")[-1]))]


# -- forty files


def test_each_of_forty_files_is_read_or_named_with_the_reason(memory, folder):
    report = memory.import_from("text", folder)

    assert len(TEXTS) + len(NOTHING) == 40
    assert {one.metadata["file"] for one in contents(memory).values()} == set(TEXTS)
    assert {place for place, _ in report.rejected} == set(NOTHING)
    for place, why in report.rejected:
        assert NOTHING[place] in why, (place, why)
    assert report.notes == {
        "files in CP932, not UTF-8": 1, "files in GB18030, not UTF-8": 1, "files in MacRoman, not UTF-8": 1,
        "files in Windows-1252, not UTF-8": 1, "files in iso8859-15, not UTF-8": 1, "files in utf-16, not UTF-8": 1,
    }  # fmt: skip
    assert report.links == 8


def test_a_dry_run_says_the_same_with_the_same_exit_code(path, folder, capsys):
    def run(*more):
        code = main(["--store", str(path), "--scope", "project:m", "import", "text", str(folder), *more])
        said = capsys.readouterr()
        return code, said.out.removeprefix("would be "), [line for line in said.err.splitlines() if "mixed" not in line]

    code, out, err = run("--dry-run")
    assert code == 1 and out.startswith("new ") and "left out 8" in out
    assert {line.partition(": ")[0] for line in err} >= set(NOTHING)
    done, done_out, done_err = run()
    assert (done, done_out) == (code, out) and set(err) <= set(done_err)
    # Again: the same files are left out, and nothing is new.
    code, out, again = run()
    assert (code, out.split(", ")[0]) == (1, "new 0") and set(err) <= set(again)
    (folder / "alone.txt").write_text("The lease runs until June")
    assert main(["--store", str(path), "import", "text", str(folder / "alone.txt")]) == 0


def test_questions_about_the_folder_are_answered_first(tmp_path, folder):
    clock = FixedClock("2026-06-01T09:00:00+00:00")
    with limpet.open(tmp_path / "m.db", scope="project:m", clock=clock, durable=False) as memory:
        memory.import_from("text", folder)
        memory.work()
        missed = []
        for question in (*TUNING, *HELD_BACK):
            first = next(iter(memory.recall(question.text).items), None)
            if first is None or question.answer not in first.content or first.metadata["file"] != question.file:
                missed.append(question)

    assert len(missed) <= 3, missed


def test_kinds_come_from_the_reader_and_are_asked_once(memory, folder):
    memory.import_from("text", folder)
    there = contents(memory)
    kinds = Counter(one.kind for one in there.values())

    assert there["projects > overview > Kestrel: The client is Dr Farida Haddad."].kind == "fact"
    assert there["Rules for agents: Never push to the branch `release` without asking."].kind == "preference"
    fees = next(one for text, one in there.items() if "We raise the monthly fee" in text)
    assert fees.kind in ("decision", "fact") and fees.topics == ("Fees",)  # what a meeting resolved is both
    # What it does not know the language of, and what is no prose, is a note.
    assert there["中文 > 仓库: 每个月最后一个星期五盘点库存。"].kind == "note"
    assert next(one for text, one in there.items() if "| plywood 3 mm |" in text).kind == "note"
    assert set(kinds) <= set(KINDS) and kinds["fact"] > kinds["note"]
    again = memory.import_from("text", folder)
    assert (again.new, again.changed, again.known) == (0, 0, len(there))


def test_markdown_alone_names_the_other_files_and_text_adds_only_those(memory, folder):
    report = memory.import_from("markdown", folder)
    first = set(contents(memory))
    assert {one.metadata["file"] for one in contents(memory).values()} == {name for name in TEXTS if name[-3:] == ".md"}
    assert dict(report.rejected)["inbox.txt"] == "no Markdown: `limpet import text` reads it"

    assert memory.import_from("text", folder).known == len(first)
    assert first < set(contents(memory))


def test_parts_are_linked_to_the_parts_that_they_name(memory, folder):
    memory.import_from("text", folder)
    texts = {one.id: one.content for one in contents(memory).values()}
    see = next(id for id, text in texts.items() if "See [who to call]" in text)
    edges = memory._context.store.edges.all()
    ends = {texts[format_id(one.target)] for one in edges if format_id(one.source) == see}
    # One by its file, one by the heading in its file.
    assert ends == {
        "contacts > PEOPLE WE CALL: Plumber: Ines Carvalho, 020 5550 142, comes at weekends too",
        "tools > Laser cutter > Opening hours: Only between nine and seven: the extraction fan is loud in the courtyard.",
    }


# -- one format each


def test_lines_that_end_before_they_must_are_statements(memory, tmp_path):
    assert brought(
        memory, tmp_path, "kestrel.txt",
        "Project Kestrel\n\nthe client is Dr Haddad at the university\nthe kite may not fly above 120 metres\n"
        "delivery is due in September, with the camera\n\n"
        "The second spar was wrapped by hand in the winter, because the first one had\n"
        "cracked along its seam when it was bent over the edge of the bench, and then\nheld.\n\n"
        "12 Mill Lane\nSheffield\nEngland\n",
    ) == [
        "Project Kestrel: the client is Dr Haddad at the university",
        "Project Kestrel: the kite may not fly above 120 metres",
        "Project Kestrel: delivery is due in September, with the camera",
        "Project Kestrel: The second spar was wrapped by hand in the winter, because the first one had\n"
        "cracked along its seam when it was bent over the edge of the bench, and then\nheld.",
        "Project Kestrel: 12 Mill Lane\nSheffield\nEngland",
    ]  # fmt: skip


def test_short_lines_between_empty_ones_are_all_kept(memory, tmp_path):
    assert brought(memory, tmp_path, "todo", "buy tape\n\ncall Ines\n\nsharpen the plane\n") == [
        "todo: buy tape", "todo: call Ines", "todo: sharpen the plane",
    ]  # fmt: skip


def test_restructured_text(memory, tmp_path):
    assert brought(
        memory, tmp_path, "pump.rst",
        ".. _pump:\n\n====\nPump\n====\n\n:Date: 2024-05-06\n\n.. toctree::\n   :maxdepth: 2\n\n   other\n\n"
        "Rules\n-----\n\n- It runs dry in nine seconds.\n- Grease goes on in May.\n\n"
        ".. warning:: The guard is open.\n   Keep away.\n\n.. code-block:: sh\n   :linenos:\n\n   pump --off\n\n"
        "Sizes::\n\n    small  2\n\n=====  ====\nname   bar\n=====  ====\nlow    2\n=====  ====\n\n"
        "Read `the manual <other.rst>`_. .. no comment\n\n.. a comment\n   of two lines\n\n.. [1] Measured cold.\n",
    ) == [
        "Pump > Rules: It runs dry in nine seconds.", "Pump > Rules: Grease goes on in May.",
        "Pump > Rules: warning: The guard is open.\nKeep away.\n\n```\npump --off\n```",
        "Pump > Rules: Sizes:\n\n```\nsmall  2\n```", "Pump > Rules: =====  ====\nname   bar\n=====  ====\nlow    2\n=====  ====",
        "Pump > Rules: Read [the manual](other.rst). .. no comment", "Pump > Rules: [1]: Measured cold.",
    ]  # fmt: skip
    assert {one.valid_from.year for one in contents(memory).values()} == {2024}


def test_org(memory, tmp_path):
    assert brought(
        memory, tmp_path, "shed.org",
        "#+TITLE: Shed\n#+FILETAGS: :wood:\n# a comment\n* Roof\n  :PROPERTIES:\n  :ID: 7\n  :END:\n"
        "  It leaks when the wind is in the west, see [[file:other.org][the other]].\n  - Felt is in the loft\n"
        "** TODO Order slates :buy:\n* Keys\n  #+begin_src sh\n  # no heading\n  * no heading either\n  #+end_src\n"
        "* DONE Paint the door\n",
    ) == [
        "Shed > Roof: It leaks when the wind is in the west, see [the other](other.org).",
        "Shed > Roof: Felt is in the loft", "Shed > Roof: TODO Order slates",
        "Shed > Keys:\n```\n# no heading\n* no heading either\n```", "Shed: DONE Paint the door",
    ]  # fmt: skip
    assert all(one.topics[0] == "wood" for one in contents(memory).values())


def test_underlined_headings_of_markdown(memory, tmp_path):
    assert brought(
        memory, tmp_path, "a.md", "Wi-Fi\n=====\n\nIt is called Seagull.\n\nGuests\n------\n\nThey use Puffin.\n\n---\n\nEnd.\n"
    ) == ["a > Wi-Fi: It is called Seagull.", "a > Wi-Fi > Guests: They use Puffin.", "a > Wi-Fi > Guests: End."]  # fmt: skip


def test_list_items_of_markdown_may_be_indented_a_little(memory, tmp_path):
    assert brought(memory, tmp_path, "a.md", "Reads these:\n\n - PNG\n - JPEG\n\n# Writes\n\n - only PNG\n   by hand\n - a log\n") == [
        "a: Reads these:\n\n - PNG\n - JPEG", "a > Writes: only PNG\n by hand", "a > Writes: a log",
    ]  # fmt: skip


def test_a_line_of_tags_belongs_to_what_follows(memory, tmp_path):
    assert brought(memory, tmp_path, "a.md", "#travel #lisbon\n\nTram 28 is full.\n") == ["a: Tram 28 is full."]
    (one,) = contents(memory).values()
    assert one.topics == ("travel", "lisbon")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1251", "koi8-r", "iso8859-5"])
def test_one_text_in_many_encodings(memory, tmp_path, encoding):
    text = "Ключ от дачи лежит под третьим горшком. Электрик Павел приходит по вторникам."
    assert brought(memory, tmp_path, "dacha.txt", f"{text}\r\n".encode(encoding)) == [f"dacha: {text}"]


def test_what_is_not_ascii_decides_however_late_it_comes(memory, tmp_path):
    text = (
        " ".join(["The contract runs until March."] * 20) + "\n\n"
    ) * 500 + "Größe und Höhe der Türen stehen im Anhang.\n"
    assert brought(memory, tmp_path, "a.md", text.encode("cp1252"))[-1] == (
        "a: Größe und Höhe der Türen stehen im Anhang."
    )


def test_without_the_library_a_file_in_another_encoding_is_named(tmp_path, path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_bytes(
        "Die Tür klemmt im Winter, der Schlüssel hängt daneben.\n".encode("cp1252")
    )
    (tmp_path / "notes" / "b.txt").write_text("Die Tür klemmt im Winter, der Schlüssel hängt daneben.\n")
    code = (
        "import sys\nsys.modules['chardet'] = None\nimport limpet\n"
        f"report = limpet.open({str(path)!r}).import_from('text', {str(tmp_path / 'notes')!r})\n"
        "print(report.new, report.rejected)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1 [('a.txt', ") and "pip install 'limpet[docs]'" in done.stdout


def test_hidden_files_and_folders_are_counted_and_a_text_in_code_is_named(memory, tmp_path):
    notes = tmp_path / "notes"
    (notes / ".obsidian").mkdir(parents=True)
    (notes / ".obsidian" / "app.md").write_text("no note")
    (notes / ".DS_Store").write_text("no note")
    (notes / "deploy.py").write_text("print('no note')\n")
    (notes / "a.txt").write_text("a note of three words\n")
    report = memory.import_from("text", notes)
    assert report.new == 1
    assert report.rejected == [("deploy.py", ".py is no format of text: `limpet import code` reads it")]
    assert report.notes == {
        "hidden files were not looked into": 1, "hidden folders, and folders of packages, were not looked into": 1,
    }  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_named(memory, tmp_path):
    notes = tmp_path / "notes"
    (notes / "closed").mkdir(parents=True)
    (notes / "a.txt").write_text("a note of three words\n")
    (notes / "b.txt").write_text("another note\n")
    (notes / "b.txt").chmod(0)
    (notes / "closed").chmod(0)
    try:
        report = memory.import_from("text", notes)
    finally:
        (notes / "closed").chmod(0o700)
    assert report.rejected == [
        ("closed", "cannot be read: Permission denied"),
        ("b.txt", "cannot be read: Permission denied"),
    ]


def test_a_password_below_its_heading_is_seen(memory, tmp_path):
    """The heading is what says that it is one."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "wifi.md").write_text(
        "# Wi-Fi\n\n## Password\n\nSeagull2019!\n\n## Name\n\nPuffin upstairs\n"
    )
    report = memory.import_from("text", tmp_path / "notes")
    assert report.rejected == []
    assert not any("Seagull2019" in text for text in contents(memory))
    assert sum("Password: [redacted:" in text for text in contents(memory)) == 1
