"""How a person names a memory: by six characters, or the beginning of its id; and what `forget --match` takes."""

from __future__ import annotations

import json

import pytest

from limpet.cli.main import main
from limpet.features import usefulness

UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@pytest.fixture
def run(path, memory, capsys):
    """Runs a command on the store; (exit code, stdout, stderr)."""

    def call(*words):
        code = main(["--store", str(path), "--scope", "project:api", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_six_characters_name_a_memory_everywhere(memory, run):
    id = memory.remember("Deploys need the VPN").id
    [short] = memory.abbreviate([id])

    assert len(short) == 6
    for way in (short, short.upper(), id, id[:13]):
        assert memory.get(way).id == id
        code, out, _ = run("show", way, "--json")
        assert code == 0 and json.loads(out)["id"] == id


def test_a_short_id_comes_before_a_prefix_that_reads_the_same(memory):
    """`abcdef` may begin one id and end another: what listings show is meant."""
    memory.remember("begins so", id="abcdef00-0000-7000-8000-000000000001")
    meant = memory.remember("is called so", id="01890000-0000-7000-8000-0052d8d73c00").id
    [short] = memory.abbreviate([meant])
    assert short == "abcdef"

    assert memory.get("abcdef").id == meant
    assert memory.get("abcdef00-0000").content == "begins so"


def test_ids_that_end_alike_are_shown_whole(memory):
    alike = [memory.remember(f"text {n}", id=f"0189000{n}-0000-7000-8000-00000000abcd").id for n in range(2)]
    assert memory.abbreviate(alike) == alike

    near = [memory.remember(f"near {n}", id=f"0189000{n}-0000-7000-8000-0000000000a{n}").id for n in range(2)]
    assert [len(one) for one in memory.abbreviate(near)] == [8, 8]


def test_what_people_read_has_short_ids_and_json_whole_ones(memory, run):
    import re

    id = memory.remember("The limit is 100", topics=["api"]).id
    memory.work()
    newer = memory.correct(id, "The limit is 1000", why="raised").id
    for words in (("list", "--all"), ("show", newer, "--history"), ("recall", "limit", "--lexical", "--explain"), ("log",),
                  ("why", newer), ("audit", newer), ("graph", "timeline",), ("purge", newer), ("correct", id, "x"), ("pin", newer),
                  ("feedback", newer, "useful"), ("undo",)):  # fmt: skip
        _, out, err = run(*words)
        rest = [line for line in (out + err).splitlines() if not line.strip().startswith("id ")]
        said = "\n".join(rest)
        for typed in (one for one in words if one in (id, newer)):
            said = said.replace(typed, "what was typed")
        assert not re.search(UUID, said), words
    assert json.loads(run("show", newer, "--json")[1])["id"] == newer


def test_an_ambiguous_id_lists_short_ids_with_their_words(memory, run):
    for n in range(2):
        memory.remember(f"text number {n}", id=f"01890000-0000-7000-8000-00000000000{n}")

    code, _, err = run("pin", "0189000000")

    assert code == 2
    lines = err.splitlines()
    assert [line.split() for line in lines[1:3]] == [[f"0000000{n}", "text", "number", str(n)] for n in range(2)]


def test_from_when_a_memory_holds_is_said_where_it_is_not_now(memory, run):
    run("remember", "The office is in Kiel")
    run("remember", "The office moves to Hamburg", "--valid-from", "1 Mar 2999", "--valid-to", "3000-01-01")
    run("remember", "The office was in Pisa", "--valid-from", "1999-01-01", "--valid-to", "2001-01-01")

    lines = run("list", "--all")[1].splitlines()
    assert [line.split("  ")[-1] for line in lines] == [
        "[ended] The office was in Pisa", "[future] The office moves to Hamburg", "The office is in Kiel"
    ]  # fmt: skip
    run(
        "correct",
        next(one.id for one in memory.list(all_states=True).memories if "Hamburg" in one.content),
        "Bremen it is",
    )
    assert "[superseded] The office moves to Hamburg" in run("list", "--all")[1]


def test_what_erases_takes_no_beginning_of_a_word_and_shows_what_it_erased(memory, run):
    id = memory.remember("Bob owns the invoice batch job").id
    usefulness.note_action(memory, "monday", "said", "the invoice is paid")

    for words in (("forget", "--match", "invo"), ("journal", "drop", "--match", "inv")):
        assert run(*words)[0] == 1, words
    assert memory.get(id).state == "active" and len(memory.journal()) == 1
    code, out, _ = run("purge", id, "--confirm")
    assert code == 0 and "Bob owns the invoice batch job" in out
    assert memory.get(id).state == "purged"


def test_whole_words_are_parted_by_what_is_no_letter_and_found_anywhere_where_nothing_parts_them(memory):
    memory.remember("Die \u00dcbung heizt rate_limit auf, \u6771\u4eac\u30bf\u30ef\u30fc, well-known")

    for words in ("\u00dcBUNG", "limit", "\u4eac\u30bf", "well", "well-known"):
        assert len(memory.forget(match=words, dry_run=True).memories) == 1, words
    for words in ("\u00dcbun", "bung", "lim", "know"):
        assert not memory.forget(match=words, dry_run=True).memories, words


def test_show_says_what_was_replaced_and_why(memory, run):
    old = memory.remember("The limit is 100").id
    new = memory.correct(old, "The limit is 1000", why="the gateway was upgraded").id

    for id, label, text in ((old, "replaced by", "The limit is 1000"), (new, "replaces", "The limit is 100")):
        out = run("show", id)[1]
        [line] = [line for line in out.splitlines() if label in line]
        assert text in line and "because      the gateway was upgraded" in out


def test_columns_stand_below_each_other(memory, run):
    memory.remember("short", id="01890000-0000-7000-8000-0000000000ab")
    memory.remember("near", id="01890000-0000-7000-8000-0000000000ac")
    memory.remember("a preference", kind="preference", id="01890000-0000-7000-8000-ff00000000ac")

    lines = run("list")[1].splitlines()
    assert len({len(line.split()[0]) for line in lines}) == 2
    assert len({line.index("2026-03-01") for line in lines}) == 1


@pytest.fixture
def plain(path, memory, capsys, monkeypatch):
    """Runs a command on the store where no option names a scope."""
    monkeypatch.setenv("LIMPET_SCOPE", "project:api")

    def call(*words):
        code = main(["--store", str(path), *words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_of_an_id_of_another_scope_it_is_said_how_to_look_elsewhere(memory, plain):
    """No more: what another scope is called is not told to who asks in this one."""
    slip = memory.in_scope("projct:api").remember("The wrong scope has this").id
    [short] = memory.in_all_scopes().abbreviate([slip])

    for words in (("show", short), ("forget", slip), ("remember", "A reason", "--because", short)):
        code, _, err = plain(*words)
        assert code == 1 and "--scope NAME looks elsewhere" in err and "projct" not in err, words
    assert "projct" not in plain("show", "zzzzzz")[2]


def test_an_undo_is_undone_after_other_changes(memory, run, clock):
    first = memory.remember("Lunch is at noon").id
    clock.advance(seconds=1)
    last = memory.remember("Dinner is at eight").id

    assert run("forget", last)[0] == 0
    assert (memory.get(first).state, memory.get(last).state) == ("active", "retracted")
    assert "retracted already" in run("forget", last)[2]
    memory.undo()
    undo = memory.log(limit=1)[0]
    memory.remember("Something else")
    assert run("undo", "--redo")[0] == 1
    assert run("undo", undo.short)[0] == 0 and memory.get(last).state == "retracted"
    assert run("edit", first, "--scope", "global")[0] == 0
    assert memory.get(first).scope == "global"


@pytest.mark.parametrize("words", ["ghent.carrier", "Ghent.Carrier = dsv", "carrier", "ghent.carrier dsv", "DSV"])
def test_a_value_is_found_by_its_key_as_listings_write_it(memory, run, words):
    id = memory.set_fact("ghent.carrier", "DSV").id
    memory.set_fact("lager.größe_in_m2", "120")
    memory.remember("The attic is full")

    assert [one.id for one in memory.forget(match=words, dry_run=True).memories] == [id]
    assert "120" in run("forget", "--match", "lager.GRÖSSE_in_m2".replace("SS", "ß"))[1]
    assert "ghent.carrier = DSV" in run("forget", "--match", words)[1]


def test_forget_takes_no_value_whose_key_has_another_word(memory, run):
    memory.set_fact("ghent.carrier_limit", "40")
    assert run("forget", "--match", "carriers")[0] == 1
    assert memory.count() == 1
