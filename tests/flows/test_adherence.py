"""Whether rules were kept in a session: by commands, their results and edits, and by nothing that was only said."""

from __future__ import annotations

import json

import pytest

from limpet.cli.main import main
from limpet.features import usefulness


def verdict(memory, rule, *lines):
    """Of one rule, after a session of (kind, what)."""
    id = memory.remember(rule, kind="preference", origin="user").id
    for kind, what in lines:
        usefulness.note_action(memory, "s", kind, what)
    (found,) = (one for one in usefulness.adherence(memory, "s") if one.memory.id == id)
    return found.verdict, found.evidence


GREEN_FIRST = "Run `make test` before every push; push only when it is green"


@pytest.mark.parametrize(
    ("rule", "lines", "expected"),
    [
        (GREEN_FIRST, [("did", "Bash: make test"), ("did", "Bash: git push origin main")], "kept"),
        (GREEN_FIRST, [("did", "Bash: make test && git push")], "kept"),
        (GREEN_FIRST, [("failed", "Bash: make test"), ("did", "Bash: git push origin main")], "broken"),
        # A claim is no evidence, and nor is that something was not seen.
        (GREEN_FIRST, [("said", "The pipeline was not green but I pushed to main anyway")], "unknown"),
        (GREEN_FIRST, [("said", "I ran make test, all green, and pushed")], "unknown"),
        (GREEN_FIRST, [("did", "Bash: git push origin main")], "unknown"),
        (GREEN_FIRST, [], "unknown"),
        ("Never run `git push --force` here", [("did", "Bash: git push --force origin main")], "broken"),
        ("Never run `git push --force` here", [("did", "Bash: git push --force-with-lease")], "unknown"),
        # The words of a rule in an edit break nothing: somebody may write them down.
        ("Never run `git push --force` here", [("did", "Edit: docs/git push --force.md")], "unknown"),
        ("Never run `git push --force` here", [("asked", "please git push --force")], "unknown"),
        ("Use pnpm, not npm", [("did", "Bash: pnpm install")], "kept"),
        ("Use pnpm, not npm", [("did", "Bash: cd web && npm install left-pad")], "broken"),
        ("Use pnpm, not npm", [("did", "Bash: echo use npm")], "unknown"),
        ("Never edit `migrations/0001_initial.sql`", [("did", "Edit: /work/migrations/0001_initial.sql")], "broken"),
        ("Never edit `migrations/0001_initial.sql`", [("did", "Edit: /work/migrations/0002_more.sql")], "unknown"),
        ("Never run `rm -rf build` without asking", [("did", "Bash: rm -rf build")], "unknown"),
        ("Prices are shown without tax", [("did", "Bash: make test")], "unknown"),
        ("In the sprint we do `make deploy` and never `make fast`", [("did", "Bash: make fast")], "broken"),
    ],
)  # fmt: skip
def test_a_rule_is_kept_or_broken_only_with_evidence(memory, rule, lines, expected):
    found, evidence = verdict(memory, rule, *lines)
    assert found == expected
    assert bool(evidence) == (expected != "unknown")


def test_a_verdict_is_revised_as_the_session_goes_on(memory):
    rule = ("Use pnpm, not npm", ("did", "Bash: pnpm install"))
    assert verdict(memory, *rule)[0] == "kept"
    usefulness.note_action(memory, "s", "did", "Bash: npm publish")
    assert [(one.verdict, one.evidence) for one in usefulness.adherence(memory, "s")] == [
        ("broken", ("Bash: npm publish",))
    ]


def test_another_session_says_nothing(memory):
    assert verdict(memory, "Use pnpm, not npm", ("did", "Bash: npm install"))[0] == "broken"
    assert [one.verdict for one in usefulness.adherence(memory, "other")] == ["unknown"]


def test_the_command_says_it_with_what_says_so(memory, path, capsys):
    verdict(memory, "Use pnpm, not npm", ("did", "Bash: npm install"))
    memory.remember("Prices are shown without tax", kind="decision")
    at = ["--store", str(path), "--scope", memory.scope, "session", "show", "s"]
    assert main(at) == 0
    out, _ = capsys.readouterr()
    assert "broken  Use pnpm, not npm\n   Bash: npm install" in out
    assert main([*at, "--json"]) == 0
    [rule] = json.loads(capsys.readouterr().out)["rules"]
    assert (rule["verdict"], rule["evidence"]) == ("broken", ["Bash: npm install"])
