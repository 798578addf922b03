"""Indexing a project: symbols and documents as notes, refreshed by what changed, honest about what drifted."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import limpet
from limpet.cli.main import main

PYTHON = '''"""Deploys, step by step."""


def roll_back(version, *, force=False):
    """Go back to an older release.

    Raises NoSuchRelease.
    """
    return version


class Fleet:
    """All machines of one region."""

    def drain(self):
        """Take one machine out of rotation."""
'''
GO = "package main\n\n// Retry calls f until it works.\nfunc Retry(f func() error) error {\n\treturn f()\n}\n"
TYPESCRIPT = "/** Formats a price in cents. */\nexport const price = (cents: number) => `${cents}`;\n"
C = "/* Adds two numbers. */\nint add(int a, int b) {\n  return a + b;\n}\n"
RUST = "struct Pool;\nimpl Pool {\n    /// Borrow a connection.\n    pub fn borrow(&self) {}\n}\n"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "deploy.py").write_text(PYTHON)
    (folder / "docs").mkdir()
    (folder / "docs" / "ops.md").write_text(
        "# Deploys\n\n- Deploys hang when the VPN is down\n- Releases are cut on Tuesday\n"
    )
    return folder


def contents(memory):
    return sorted(one.content for one in memory.list(limit=1_000).memories)


def symbols(memory):
    return {one.metadata["indexed"]["key"]: one for one in memory.list(limit=1_000).memories}


def test_symbols_have_signature_docstring_and_place(memory, project):
    report = memory.import_from("code", project)
    assert (report.new, report.rejected) == (4, [])
    found = symbols(memory)
    assert set(found) == {"module", "roll_back", "Fleet", "Fleet.drain"}
    one = found["roll_back"]
    assert one.content == (
        "src/deploy.py: function roll_back\ndef roll_back(version, *, force=False)\n"
        "Go back to an older release.\n\nRaises NoSuchRelease."
    )
    assert (one.kind, one.origin, one.source) == ("note", "import", "src/deploy.py:4")


@pytest.mark.parametrize(
    ("name", "text", "symbol", "says"),
    [
        ("a.go", GO, "Retry", "Retry calls f until it works."),
        ("a.ts", TYPESCRIPT, "price", "Formats a price in cents."),
        ("a.c", C, "add", "Adds two numbers."),
        ("a.rs", RUST, "Pool.borrow", "Borrow a connection."),
        ("a.rb", "# A shop.\nclass Shop\n  # Opens it.\n  def open\n  end\nend\n", "Shop.open", "Opens it."),
        ("A.java", "/** A shop. */\nclass Shop {\n  /** Opens it. */\n  void open() {}\n}\n", "Shop.open", "Opens it."),
        ("a.sh", "# Builds all.\nbuild() {\n  make\n}\n", "build", "Builds all."),
    ],
)
def test_other_languages(memory, tmp_path, name, text, symbol, says):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / name).write_text(text)
    memory.import_from("code", tmp_path / "code")
    assert says in symbols(memory)[symbol].content


def test_again_brings_only_what_changed(memory, project, clock):
    memory.import_from("code", project)
    before = symbols(memory)
    again = memory.import_from("code", project)
    assert (again.new, again.changed, again.known) == (0, 0, 4)
    assert again.notes == {"files that did not change were not read again": 1}

    clock.advance(days=1)
    path = project / "src" / "deploy.py"
    path.write_text(
        PYTHON.replace("# ", "").replace("force=False", "force=True").replace("    def drain", "    def empty")
    )
    report = memory.import_from("code", project)
    clock.advance(days=1)
    assert (report.new, report.changed) == (1, 1)
    assert report.notes == {"pieces that are gone were archived": 1}
    after = symbols(memory)
    assert "force=True" in after["roll_back"].content
    assert after["roll_back"].id == before["roll_back"].id
    assert "force=False" in memory.history(after["roll_back"].id)[0].content
    assert memory.get(before["Fleet.drain"].id).state == "archived"

    path.write_text(PYTHON)
    memory.import_from("code", project)
    clock.advance(days=1)
    assert {key: one.content for key, one in symbols(memory).items()} == {k: one.content for k, one in before.items()}
    path.unlink()
    memory.import_from("code", project)
    assert memory.count() == 0


def test_lines_that_only_moved_are_the_same_memory(memory, project):
    memory.import_from("docs", project)
    memory.import_from("code", project)
    before = symbols(memory)
    path = project / "src" / "deploy.py"
    path.write_text("import os\n\n" + PYTHON)
    assert memory.get(before["roll_back"].id).source_state == "fresh"
    report = memory.import_from("code", project)
    assert (report.new, report.changed) == (0, 0)
    assert symbols(memory)["roll_back"].metadata["indexed"]["line"] == 6


def test_recall_says_whether_the_source_is_as_it_was(memory, project, path, capsys):
    memory.import_from("docs", project)
    memory.remember("Deploys go out from the main branch")
    ops = project / "docs" / "ops.md"

    def states():
        return {one.content.split("\n")[-1]: one.source_state for one in memory.recall("deploys releases").items}

    vpn, tuesday = "Deploys hang when the VPN is down", "Releases are cut on Tuesday"
    assert states() == {vpn: "fresh", tuesday: "fresh", "Deploys go out from the main branch": None}
    ops.write_text("# Deploys\n\nNew words.\n\n- Deploys hang when the VPN is down\n- Releases are cut on Friday\n")
    assert (states()[vpn], states()[tuesday]) == ("fresh", "drifted")
    ops.unlink()
    assert states()[tuesday] == "gone"
    store = ["--store", str(path), "--scope", "project:api"]
    assert main([*store, "recall", "--json", "releases"]) == 0
    assert {one.get("source_state") for one in json.loads(capsys.readouterr().out)["items"]} >= {"gone"}
    (id,) = [one.id for one in memory.recall("releases").items if "Tuesday" in one.content]
    assert main([*store, "show", id]) == 0
    assert "docs/ops.md:4 (gone)" in capsys.readouterr().out
    # On another machine, or after the folder moved, nobody can tell.
    project.rename(project.with_name("moved"))
    assert states()[tuesday] is None


def test_a_heading_about_tokens_is_found_again(memory, project):
    """Its key ends in a digest, which is no secret."""
    page = project / "docs" / "ops.md"
    page.write_text(
        "# Token Behavior\n\n- Tokens expire after an hour\n\n# The key is ghp_" + "a1B2" * 9 + "\n\n- It is old\n"
    )
    assert memory.import_from("docs", project).redacted == 1
    first = {one.id for one in memory.list().memories}
    page.write_text(page.read_text() + "\n")
    report = memory.import_from("docs", project)
    assert (report.new, report.changed, report.known) == (0, 0, 2)

    tokens = next(one for one in memory.list().memories if "hour" in one.content)
    mark = tokens.metadata["indexed"]
    assert mark["key"].startswith("Token Behavior#")
    assert {one.id for one in memory.list().memories} == first


def test_what_git_ignores_is_binary_or_huge_is_left_out(memory, project):
    (project / ".gitignore").write_text("build/\n*.gen.py\n")
    (project / "build").mkdir()
    (project / "build" / "made.py").write_text("def made(): pass\n")
    (project / "a.gen.py").write_text("def generated(): pass\n")
    (project / "src" / ".gitignore").write_text("!kept.gen.py\nlocal_*.py\n")
    (project / "src" / "kept.gen.py").write_text("def kept(): pass\n")
    (project / "src" / "local_settings.py").write_text("def local(): pass\n")
    (project / "src" / "binary.py").write_bytes(b"def no\0pe(): pass")
    (project / "src" / "huge.py").write_bytes(b"x = 1\n" * 300_000)
    (project / "src" / "link.py").symlink_to(project / "src" / "deploy.py")
    (project / "src" / "broken.py").write_text("def fine():\n    pass\n\n\nclass (:\n")
    report = memory.import_from("code", project)
    found = set(symbols(memory))
    assert {"kept", "fine", "roll_back"} <= found
    assert not {"made", "generated", "local", "nope"} & found
    assert report.notes["binary files were skipped"] == 1
    assert report.notes["files larger than 1,000,000 bytes were skipped"] == 1
    assert report.notes["links of the file system were not followed"] == 1


def test_what_was_changed_purged_or_retracted_here_stays_so(memory, project, clock):
    memory.import_from("docs", project)
    vpn, tuesday = sorted(memory.list().memories, key=lambda one: one.metadata["indexed"]["line"])
    memory.edit(vpn.id, "Deploys hang without the VPN, says Ann")
    memory.purge(tuesday.id, confirm=True)
    report = memory.import_from("docs", project)
    assert report.new == 0
    (project / "docs" / "ops.md").write_text(
        "# Deploys\n\n- Deploys hang when the VPN is down\n- Releases are cut on Tuesday\n\nMore.\n"
    )
    assert memory.import_from("docs", project).new == 1
    assert "Deploys hang without the VPN, says Ann" in contents(memory)
    assert not any("Tuesday" in one for one in contents(memory))


def test_a_dry_run_stores_nothing(memory, project):
    assert memory.import_from("code", project, dry_run=True).new == 4
    assert memory.count() == 0


def pdf(*pages):
    """A PDF by hand; each page is some lines."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>"
        % (b" ".join(b"%d 0 R" % (5 + 2 * number) for number in range(len(pages))), len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for lines in pages:
        text = b"BT /F1 12 Tf 14 TL 72 720 Td " + b" ".join(b"(%s) Tj T*" % line.encode() for line in lines) + b" ET"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        size, table, size, len(out),
    )  # fmt: skip


def test_pages_of_a_pdf(memory, tmp_path):
    """One of a page, one that is none, and one of pictures only."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "warranty.pdf").write_bytes(pdf(["The warranty ends after two years"]))
    (tmp_path / "papers" / "broken.pdf").write_bytes(b"%PDF-1.4 and nothing more")
    (tmp_path / "papers" / "scanned.pdf").write_bytes(pdf([""]))
    report = memory.import_from("docs", tmp_path / "papers")
    assert [place for place, _ in report.rejected] == ["broken.pdf", "scanned.pdf"]
    assert report.rejected[1][1] == "no text in it: pictures of pages are not read"
    (one,) = memory.list().memories
    assert one.content == "warranty.pdf: page 1\nThe warranty ends after two years"
    assert (one.source, memory.get(one.id).source_state) == ("warranty.pdf page 1", "fresh")


# A page of a lease, as its lines stand in a PDF.
LEASE = """The tenant may use the yard on weekdays between seven in the morning and six in the evening.
Vehicles are parked along the northern wall, and never in front of the hydrant. Bicycles have
a rack of their own beside the gate. Refuse is collected on Mondays; the bins go back behind the
fence on the same day.
The tenant keeps the roof drains clear of leaves. After a storm they are looked at within two
days, and what is broken is reported to the landlord in writing. Repairs above two hundred
pounds are the landlord's, repairs below that are the tenant's.
The deposit is four thousand one hundred pounds. It is held by the Millbrook deposit scheme,
and returned within thirty days of the last inspection, less what cleaning costs.
Subletting of single benches is allowed to members of the association. A bench may not be
sublet for longer than three months, and the landlord is told the name of who uses it.
Keys are handed over in person, at the office on the corner, and each of them is signed for.
Noise is limited to fifty-five decibels at the boundary after eight in the evening.""".splitlines()


def test_a_page_is_passages_and_the_answer_is_one_of_them_with_its_page(memory, tmp_path, path, capsys):
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "lease.pdf").write_bytes(pdf(["This lease is between the landlord and the tenant."], LEASE))
    memory.import_from("docs", papers)
    memory.work()
    passages = contents(memory)
    assert len(passages) == 3 and all(len(text) < 1_050 for text in passages)
    assert " ".join(LEASE) == " ".join(
        " ".join(text.split("\n", 1)[1].split()) for text in sorted(passages, key=lambda text: text.split("\n")[1] != LEASE[0])
        if text.startswith("lease.pdf: page 2\n")
    )  # fmt: skip

    for question, answer in (
        ("Where do vehicles park?", "northern wall"), ("Who holds the deposit?", "Millbrook"),
        ("How loud may it be in the evening?", "fifty-five decibels"),
    ):  # fmt: skip
        first = memory.recall(question).items[0]
        assert answer in first.content and first.content.startswith("lease.pdf: page 2\n"), question
        assert memory.get(first.id).source == "lease.pdf page 2"
    assert main(["--store", str(path), "--scope", "project:api", "recall", "how loud in the evening?", "-k", "1"]) == 0
    said = capsys.readouterr().out
    assert "lease.pdf: page 2" in said and "fifty-five decibels" in said and "parked along" not in said

    again = memory.import_from("docs", papers)
    assert (again.new, again.known) == (0, 3)
    assert again.notes == {"files that did not change were not read again": 1}


def test_a_long_paragraph_is_passages_that_each_know_their_file(memory, project):
    text = " ".join(LEASE)
    (project / "docs" / "lease.rst").write_text(f"Lease\n=====\n\n{text}\n")
    memory.import_from("docs", project / "docs" / "lease.rst")
    one, other = sorted(contents(memory), key=lambda content: "The tenant may use" not in content)
    assert one.startswith("lease.rst: Lease\nThe tenant may use") and other.startswith("lease.rst: Lease\n")
    assert one.split("\n")[1] + " " + other.split("\n")[1] == text
    assert {memory.get(item.id).source_state for item in memory.list().memories} == {"fresh"}
    (project / "docs" / "lease.rst").write_text(f"Lease\n=====\n\nNew.\n\n{text}\n")
    assert {memory.get(item.id).source_state for item in memory.list().memories} == {"fresh"}


def test_a_document_in_another_encoding_is_fresh_after_lines_were_put_before_it(memory, project):
    page = project / "docs" / "tor.txt"
    page.write_bytes("Das Tor hängt schief, der Schlüssel fehlt.\n".encode("cp1252"))
    memory.import_from("docs", page)
    (one,) = memory.list().memories
    assert one.content == "tor.txt:\nDas Tor hängt schief, der Schlüssel fehlt."
    page.write_bytes("Über allem: die Höhe.\n\nDas Tor hängt schief, der Schlüssel fehlt.\n".encode("cp1252"))
    assert memory.get(one.id).source_state == "fresh"


def test_without_the_extra_the_error_names_it(project, path):
    code = (
        "import sys\nsys.modules['tree_sitter_language_pack'] = None\nimport limpet\n"
        f"limpet.open({str(path)!r}).import_from('code', {str(project)!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "limpet[code]" in done.stderr
    with pytest.raises(limpet.BadInput):
        limpet.open(path).import_from("code", project / "nowhere")
