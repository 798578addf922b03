"""How a person names a memory: by six characters, by its number in the last listing, as the last one, by its words."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path

import pytest

import limpet
from limpet.cli import names
from limpet.cli.main import main

UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@pytest.fixture
def state(tmp_path, monkeypatch):
    """Where this user's listings are kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "limpet" / "listings"


@pytest.fixture
def run(path, state, memory, capsys):
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
                  ("why", newer), ("audit", newer), ("timeline",), ("purge", newer), ("correct", id, "x"), ("pin", newer),
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


def test_numbers_name_the_results_of_the_last_listing(memory, run, clock):
    ids = []
    for text in ("first", "second", "third"):
        clock.advance(seconds=1)
        ids.append(memory.remember(f"The {text} note").id)

    run("list")
    assert run("pin", "@3")[0] == 0 and memory.get(ids[0]).pinned
    run("recall", "second note", "--lexical", "-k", "1")
    run("retract", "@1", "--why", "wrong")
    assert memory.get(ids[1]).state == "retracted"
    code, _, err = run("pin", "@2")
    assert code == 1 and "`limpet recall`) numbered 1 results" in err


def test_numbers_name_memories_in_every_place_of_an_id(memory, run, clock):
    texts = ("The queue is slow", "The database is full")
    cause, effect = [memory.remember(text).id for text in texts][::-1]
    run("recall", "database full", "--lexical", "-k", "1")

    run("link", effect, "caused_by", "@1")
    code, out, _ = run("remember", "Writes are refused", "--because", "@1", "--json")
    refused = json.loads(out)["id"]
    for words in (("why", effect), ("graph", "why", effect), ("path", refused, "@1"), ("impact", "@1"), ("why", "--last"),
                  ("graph", "impact", "--match", "database full"), ("timeline", "@1"), ("audit", "@1"),
                  ("graph", "context", "@1")):  # fmt: skip
        code, out, _ = run(*words)
        assert code == 0 and "The database is full" in out, words
    assert memory.graph.why(refused).reasons[0].id == cause


def test_without_a_listing_or_with_an_old_one_a_number_names_nothing(memory, run, state, monkeypatch):
    memory.remember("a note")
    code, _, err = run("pin", "@1")
    assert code == 1 and "nothing was listed in this terminal yet" in err

    run("list")
    later = time.time() + 13 * 3600
    monkeypatch.setattr(names.time, "time", lambda: later)
    code, _, err = run("pin", "@1")
    assert code == 1 and "13 hours old" in err and "limpet list" in err
    assert not memory.list().memories[0].pinned


def test_a_listing_is_kept_privately_with_ids_alone(memory, run, state):
    id = memory.remember("A text that is nobody's business").id
    run("list", "--json")
    assert not state.exists()
    run("list")

    [kept] = state.iterdir()
    assert json.loads(kept.read_text())["ids"] == [id]
    assert "business" not in kept.read_text()
    assert os.name == "nt" or stat.S_IMODE(kept.stat().st_mode) == 0o600
    # Of another store it says nothing.
    with limpet.open(Path(memory.path).with_name("other.db")) as other:
        other.remember("elsewhere")
        assert main(["--store", other.path, "pin", "@1"]) == 1


def test_the_last_one_stored(memory, run):
    memory.remember("one")
    last = memory.remember("two").id

    assert run("pin", "--last")[0] == 0
    assert memory.get(last).pinned
    assert run("tag", "+x", "--last", "k=1")[0] == 0
    assert memory.get(last).topics == ("x",) and memory.get(last).metadata == {"k": 1}


def test_the_last_one_is_the_same_for_every_verb_also_when_it_holds_only_later(memory, run, clock):
    memory.remember("The backup key is kept by Ana")
    clock.advance(seconds=1)
    future = memory.remember("The office moves to Hamburg", valid_from="2027-03-01").id
    [short] = memory.abbreviate([future])

    for words in (("show",), ("tag", "+office"), ("pin",), ("purge",), ("edit", "Our office moves to Hamburg")):
        code, out, err = run(words[0], "--last", *words[1:])
        assert code == 0 and short in out, words
    assert run("retract", "--last", "--why", "wrong")[0] == 0
    code, out, err = run("edit", "--last", "x")
    assert (code, out) == (2, "") and short in err and "retracted" in err
    assert memory.list().memories[0].content == "The backup key is kept by Ana"


def test_from_when_a_memory_holds_is_said_where_it_is_not_now(memory, run):
    """A date that was read from words is shown as it was read."""
    assert "valid from" not in run("remember", "The office is in Kiel")[1]
    out = run("remember", "The office moves to Hamburg", "--valid-from", "1 Mar 2999", "--valid-to", "3000-01-01")[1]
    assert "   valid from 2999-03-01 00:00:00 until 3000-01-01 00:00:00\n" in out
    run("remember", "The office was in Pisa", "--valid-from", "1999-01-01", "--valid-to", "2001-01-01")

    lines = run("list", "--all")[1].splitlines()
    assert [line.split("  ")[-1] for line in lines] == [
        "[ended] The office was in Pisa", "[future] The office moves to Hamburg", "The office is in Kiel"
    ]  # fmt: skip
    run("correct", "--match", "Hamburg", "The office moves to Bremen")
    assert "[superseded] The office moves to Hamburg" in run("list", "--all")[1]


def test_words_also_name_what_holds_only_later(memory, run):
    id = memory.remember("The office moves to Hamburg", valid_from="2027-03-01").id

    assert run("correct", "--match", "Hamburg", "The office moves to Bremen")[0] == 0
    assert memory.get(id).superseded_by is not None
    assert run("pin", "--match", "Hamburg")[0] == 1


def test_restore_takes_what_was_archived_last_and_nothing_that_an_undo_took_away(memory, run, clock):
    rent = memory.remember("Rent is 900 euros").id
    bob = memory.remember("Bob is the landlord of the flat").id
    clock.advance(seconds=1)
    undone = memory.correct(rent, "Rent is 950 euros").id
    memory.undo()
    clock.advance(seconds=1)
    memory.archive(bob)

    assert run("restore", "--last")[0] == 0
    assert memory.get(bob).state == "active" and memory.get(undone).state == "retracted"
    assert run("restore", "--last")[0] == 1
    assert run("restore", "--match", "950")[0] == 1
    assert [one.content for one in memory.matching("rent")] == ["Rent is 900 euros"]


def test_what_erases_takes_no_beginning_of_a_word_and_shows_what_it_erased(memory, run):
    id = memory.remember("Bob owns the invoice batch job").id
    memory.note_action("monday", "said", "the invoice is paid")

    for words in (("purge", "--match", "i", "--confirm"), ("forget", "--match", "invo", "--confirm"),
                  ("journal", "drop", "--match", "inv"), ("retract", "--match", "inv", "--why", "x")):  # fmt: skip
        assert run(*words)[0] == 1, words
    assert memory.get(id).state == "active" and len(memory.actions()) == 1
    assert "'Bob owns the invoice batch job'" in run("purge", "--match", "i")[2]
    code, out, _ = run("purge", "--match", "INVOICE", "--confirm")
    assert code == 0 and "Bob owns the invoice batch job" in out
    assert memory.get(id).state == "purged"


def test_whole_words_are_parted_by_what_is_no_letter_and_found_anywhere_where_nothing_parts_them(memory):
    memory.remember("Die \u00dcbung heizt rate_limit auf, \u6771\u4eac\u30bf\u30ef\u30fc, well-known")

    for words in ("\u00dcBUNG", "limit", "\u4eac\u30bf", "well", "well-known"):
        assert len(memory.matching(words, whole=True)) == 1, words
    for words in ("\u00dcbun", "bung", "lim", "know"):
        assert memory.matching(words, whole=True) == [], words


def test_one_of_two_memories_is_the_last_one_or_has_these_words(memory, run):
    cause = memory.remember("The cache was cold after the deploy").id
    effect = memory.remember("The first request took nine seconds").id
    assert run("link", "--last", "caused_by", cause)[0] == 0
    assert memory.graph.path(effect, cause).found
    assert run("unlink", "--match", "nine seconds", "caused_by", "--match=cache cold")[0] == 0
    assert not memory.graph.path(effect, cause).found
    assert run("link", cause, "supports", "--last")[0] == 0
    assert run("path", cause, "--last")[0] == 0


def test_words_name_the_one_memory_that_has_them(memory, run):
    id = memory.remember("The staging API allows 100 requests a minute").id
    memory.remember("The staging API allows 1000 requests a minute for admins")

    assert run("edit", "--match", "ALLOWS 100", "Staging allows 100 requests a minute")[0] == 0
    assert memory.get(id).content == "Staging allows 100 requests a minute"
    assert run("correct", "Staging allows 200", "--match=minute 100", "--why", "raised")[0] == 0
    assert memory.get(id).superseded_by is not None


def test_words_that_several_memories_have_are_never_guessed(memory, run):
    stored = [memory.remember(text) for text in ("The API is slow", "The API is fast")]

    code, out, err = run("retract", "--match", "the api", "--why", "x")

    assert (code, out) == (2, "")
    assert all(one.content in err for one in map(memory.get, (one.id for one in stored)))
    assert {one.state for one in memory.list().memories} == {"active"}
    code, _, err = run("retract", "--match", "zebra", "--why", "x")
    assert code == 1 and "no memory that is held has the words 'zebra'" in err


def test_words_are_found_whole_or_by_their_beginning(memory):
    memory.remember("Separate rates for each Straße, since 1000 years")

    for words in ("rate", "RATES separate", "straße", "for each", "1000"):
        assert len(memory.matching(words)) == 1, words
    for words in ("parate", "100", "each for zebra"):
        assert memory.matching(words) == [], words
    with pytest.raises(limpet.BadInput):
        memory.matching(" ")


def test_restore_finds_by_words_what_is_archived(memory, run):
    id = memory.remember("Old build notes").id
    memory.archive(id)

    assert run("pin", "--match", "build notes")[0] == 1
    assert run("restore", "--match", "build notes")[0] == 0
    assert memory.get(id).state == "active"


def test_show_says_what_was_replaced_and_why(memory, run):
    old = memory.remember("The limit is 100").id
    new = memory.correct(old, "The limit is 1000", why="the gateway was upgraded").id

    for id, label, text in ((old, "replaced by", "The limit is 1000"), (new, "replaces", "The limit is 100")):
        out = run("show", id)[1]
        [line] = [line for line in out.splitlines() if label in line]
        assert text in line and "because: the gateway was upgraded" in out


def test_columns_stand_below_each_other(memory, run):
    memory.remember("short", id="01890000-0000-7000-8000-0000000000ab")
    memory.remember("near", id="01890000-0000-7000-8000-0000000000ac")
    memory.remember("a preference", kind="preference", id="01890000-0000-7000-8000-ff00000000ac")

    lines = run("list")[1].splitlines()
    assert len({len(line.split()[0]) for line in lines}) == 2
    assert len({line.index("2026-03-01") for line in lines}) == 1


@pytest.fixture
def plain(path, state, memory, capsys, monkeypatch):
    """Runs a command on the store where no option names a scope."""
    monkeypatch.setenv("LIMPET_SCOPE", "project:api")

    def call(*words):
        code = main(["--store", str(path), *words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_numbers_of_all_scopes_name_memories_of_other_scopes(memory, plain):
    """A scope with a slip in it is found by --all-scopes: then what is there can be shown and put right."""
    slip = memory.in_scope("projct:api").remember("The wrong scope has this").id
    ours = memory.remember("Another scope has nothing wrong").id

    assert plain("list", "--all-scopes")[1].count("\n") == 2
    found = plain("recall", "wrong", "--all-scopes", "--lexical")[1]
    assert found.count("projct:api") == 1
    number = 1 if memory.in_all_scopes().abbreviate([slip])[0] in found.splitlines()[0] else 2
    code, out, err = plain("show", f"@{number}")
    assert code == 0 and "The wrong scope has this" in out and "--scope projct:api" in err
    assert plain("pin", f"@{number}")[0] == 0 and memory.in_scope("projct:api").get(slip).pinned
    assert plain("pin", f"@{3 - number}")[0] == 0 and memory.get(ours).pinned
    code, _, err = plain("forget", "@1", "@2")
    assert code == 2 and "of several scopes" in err
    assert plain("move", f"@{number}", "--scope", "project:api")[0] == 0 and memory.get(slip).scope == "project:api"


def test_of_an_id_of_another_scope_it_is_said_how_to_look_elsewhere(memory, plain):
    """No more: what another scope is called is not told to who asks in this one."""
    slip = memory.in_scope("projct:api").remember("The wrong scope has this").id
    [short] = memory.in_all_scopes().abbreviate([slip])

    for words in (("show", short), ("forget", slip), ("remember", "A reason", "--because", short)):
        code, _, err = plain(*words)
        assert code == 1 and "--scope NAME looks elsewhere" in err and "projct" not in err, words
    assert "projct" not in plain("show", "zzzzzz")[2]
    # One in ten ids is of letters alone, as words are.
    assert 'looks elsewhere; words are found by --match "vqkeqh"' in plain("show", "vqkeqh")[2]


def test_the_last_one_is_refused_where_another_process_stored_since(path, memory, run):
    run("remember", "A is written by hand")
    assert run("pin", "--last")[0] == 0
    with limpet.open(path, scope="project:api") as agent:
        agent.remember("B comes from an agent")

    code, out, err = run("retract", "--last", "--why", "a slip")
    assert (code, out) == (2, "")
    assert [line.split(maxsplit=1)[1] for line in err.splitlines()[1:3]] == [
        "A is written by hand", "B comes from an agent"
    ]  # fmt: skip
    assert {one.state for one in memory.list(all_states=True).memories} == {"active"}
    run("remember", "C is written by hand again")
    assert run("retract", "--last", "--why", "a slip")[0] == 0
    held = {one.content[0] for one in memory.list(all_states=True).memories if one.state == "active"}
    assert held == {"A", "B"}


def test_forget_and_move_know_the_last_one_and_redo_an_operation(memory, run, clock):
    first = memory.remember("Lunch is at noon").id
    clock.advance(seconds=1)
    last = memory.remember("Dinner is at eight").id

    assert run("forget", "--last")[0] == 0
    assert (memory.get(first).state, memory.get(last).state) == ("active", "retracted")
    assert "retracted already" in run("forget", last)[2]
    undone = memory.log(limit=1)[0]
    memory.undo()
    memory.remember("Something else")
    assert run("redo")[0] == 1
    assert run("redo", undone.short)[1].startswith("redone ") and memory.get(last).state == "retracted"
    code, _, err = run("redo", undone.short)
    assert code == 2 and "was not undone" in err
    assert run("move", "--match", "lunch noon", "--scope", "global", "--from", "project:api")[0] == 0
    assert memory.get(first).scope == "global"


@pytest.mark.parametrize("given", [("Lunch",), ("Lunch at noon",), ("Lunch", "at", "noon"), ("dentist",)])
def test_words_in_the_place_of_an_id_are_told_where_they_go(memory, run, given):
    memory.remember("Lunch at noon with the dentist")
    code, _, err = run("rm", *given)
    assert code in (1, 2) and f'--match "{" ".join(given)}"' in err


def test_a_retraction_without_a_reason_is_told_of_forget(memory, run):
    memory.remember("Lunch at noon")
    for words, shown in ((("@2",), "@2"), (("--last",), "--last")):
        code, _, err = run("retract", *words)
        assert code == 2 and f"`limpet forget {shown}` needs no reason" in err


@pytest.mark.parametrize("words", ["ghent.carrier", "Ghent.Carrier = dsv", "carrier", "ghent.carrier dsv", "DSV"])
def test_a_value_is_found_by_its_key_as_listings_write_it(memory, run, words):
    id = memory.set_fact("ghent.carrier", "DSV").id
    memory.set_fact("lager.größe_in_m2", "120")
    memory.remember("The attic is full")

    assert json.loads(run("show", "--match", words, "--json")[1])["id"] == id
    assert json.loads(run("show", "--match", "lager.GRÖSSE_in_m2".replace("SS", "ß"), "--json")[1])["content"] == "120"
    assert "ghent.carrier = DSV" in run("forget", "--match", words)[1]
    assert run("purge", "--match", words, "--confirm")[0] == 0
    assert memory.get(id).state == "purged"


def test_several_values_are_told_apart_by_their_keys(memory, run):
    for key in ("ghent.carrier", "lima.carrier"):
        memory.set_fact(key, "DSV")
    code, _, err = run("show", "--match", "DSV")
    assert code == 2 and "ghent.carrier = DSV" in err and "lima.carrier = DSV" in err


def test_forget_takes_no_value_whose_key_has_another_word(memory, run):
    memory.set_fact("ghent.carrier_limit", "40")
    assert run("forget", "--match", "carriers")[0] == 1
    assert memory.count() == 1
