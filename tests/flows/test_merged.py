"""Two memories that became one: by a person, by the same words, by a model that read both. All ids lead to the one that
stays, and nothing that only one of them said is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

import limpet
from limpet.agents.recall_server import RecallServer
from limpet.folders import locked
from limpet.model.errors import BadInput
from limpet.recall_client import address_of, is_served
from limpet.work import later

TWO, THREE = "Backups run at two at night", "Backups run at three at night"


@pytest.fixture
def merged(memory, clock):
    """The id that stays, and the one that was merged into it."""
    first = memory.remember("The nightly dumps begin at 2:00", topics=["backup"]).id
    clock.advance(days=1)
    second = memory.remember(TWO, kind="decision").id
    memory.merge(first, second)
    return first, second


@pytest.mark.parametrize(
    "verb",
    [
        lambda memory, id: memory.edit(id, "Backups run at 2:00"), lambda memory, id: memory.tag(id, ["nightly"]),
        lambda memory, id: memory.pin(id), lambda memory, id: memory.archive(id),
        lambda memory, id: memory.retract(id, "we stopped"),
        lambda memory, id: memory.link(id, "supports", memory.remember("Recovery takes an hour").id),
    ],
    ids=["edit", "tag", "pin", "archive", "retract", "link"],
)  # fmt: skip
def test_a_verb_by_the_id_of_a_merged_memory_acts_on_the_one_that_stays_and_says_so(memory, merged, verb):
    kept, gone = merged
    receipt = verb(memory, gone)
    assert receipt.id == kept and receipt.status == "changed"
    assert receipt.reason == f"{gone} was merged into {kept}"
    assert memory.get(gone).state == "merged" and memory.get(gone).content == TWO


def test_a_correction_by_a_merged_id_ends_the_belief(memory, merged, clock):
    kept, gone = merged
    clock.advance(days=1)
    new = memory.correct(gone, THREE)
    assert new.reason == f"{gone} was merged into {kept}"
    assert memory.get(kept).superseded_by == new.id
    assert [item.id for item in memory.recall("when do backups run?")] == [new.id]


def test_what_reads_by_a_merged_id_shows_the_one_that_stays(memory, merged):
    kept, gone = merged
    assert memory.show(gone).id == memory.why(gone).memory.id == kept
    assert memory.feedback(gone, "useful").id == kept and memory.get(kept).useful == 1
    assert [one.id for one in memory.forget(gone).memories] == [kept]
    assert memory.undo()[0].id == kept
    assert [node.content for node in memory.graph.chain(kept).same] == [TWO]


def test_the_words_of_a_merged_memory_are_known(memory, merged):
    kept, gone = merged
    receipt = memory.remember(TWO)
    assert (receipt.id, receipt.status) == (kept, "observed")
    assert memory.remember_batch([TWO])[0].id == kept
    assert memory.remember(TWO, because=[gone]).id == kept
    memory.forget(kept)
    assert memory.remember(TWO).status == "created"


def test_a_memory_that_speaks_for_another_can_be_merged_itself(memory, merged):
    kept, gone = merged
    last = memory.remember("We back up nightly, at two").id
    memory.merge(last, kept)
    assert memory.show(gone).id == memory.show(kept).id == last
    assert {node.id for node in memory.graph.chain(last).same} == {kept, gone}
    assert memory.merge(last, gone).status == "unchanged"
    memory.undo()
    assert memory.show(gone).id == kept


@pytest.mark.usefixtures("arrays_of_few_texts")
@pytest.mark.parametrize("lexical", [True, False], ids=["by words", "by vectors"])
def test_what_only_the_merged_one_said_is_found(memory, clock, lexical):
    first = memory.remember("The staging API listens on port 8443", origin="user").id
    second = memory.remember("Staging has a certificate of Let's Encrypt, renewed by Marek", origin="user").id
    for text in ("The office has two kitchens", "Lunch is at noon in the garden", "Keys hang beside the door"):
        memory.remember(text)
    memory.merge(first, second)
    memory.work()
    for _ in range(2):  # from rows, then from arrays
        item = memory.recall("who renews the certificate?", lexical_only=lexical).items[0]
        assert item.id == first
        assert item.also_said == ((second, "Staging has a certificate of Let's Encrypt, renewed by Marek"),)
    assert memory.recall("which port does staging have?", lexical_only=lexical).items[0].id == first
    assert memory.count() == 4
    memory.purge(first, confirm=True)
    assert second not in [item.id for item in memory.recall("who renews the certificate?", lexical_only=lexical)]


def test_the_same_sentence_with_a_kind_and_without_is_one_memory_with_the_kind(memory):
    plain = memory.remember("Answer in British English").id
    kinded = memory.remember("Answer in British English", kind="preference")
    assert (kinded.id, kinded.added) == (plain, ("kind",))
    assert memory.remember("answer in British English.").id == plain
    other = memory.remember("Answer in British English", kind="decision")
    assert other.id == plain and other.reason == "not kept: kind decision (it is of kind preference)"
    assert memory.get(plain).kind == "preference" and memory.count() == 1
    memory.rebuild()
    assert memory.get(plain).kind == "preference"


def test_an_agent_gives_no_kind_to_what_a_user_said(memory):
    said = memory.remember("Answer in British English", origin="user").id
    assert "kind (that of origin user stays)" in memory.remember("Answer in British English", kind="goal").reason
    assert memory.get(said).kind == "fact"


# -- folded by the model that reads both


@pytest.fixture
def folded(memory, clock):
    """Ids of two wordings of one statement, the older first."""
    ids = []
    for text in ("Deploys go out on Tuesdays", "We deploy every Tuesday"):
        ids.append(memory.remember(text, origin="user").id)
        clock.advance(hours=1)
    memory.work()
    return ids


def test_rewordings_are_shown_as_one_and_stay_two_in_the_store(memory, folded):
    older, newer = folded
    answer = memory.recall("when do we deploy?")
    assert [item.id for item in answer] == [newer] and answer.also == {newer: (older,)}
    assert memory.count() == 2 and memory.get(older).state == "active"
    chain = memory.graph.chain(older)
    assert [node.id for node in chain.same] == [newer] and chain.read_as[newer] > 0.5


def test_a_person_who_says_that_they_are_two_is_believed(memory, folded):
    older, newer = folded
    assert memory.reject(older).reason == "duplicate rejected"
    assert {item.id for item in memory.recall("when do we deploy?")} == {older, newer}
    memory.rebuild()
    assert memory.graph.chain(older).same == []
    memory.undo()
    assert [item.id for item in memory.recall("when do we deploy?")] == [newer]


def test_a_person_who_says_that_they_are_one_merges_them(memory, folded):
    older, newer = folded
    assert memory.accept(newer).id == older
    assert memory.get(newer).state == "merged" and memory.count() == 1
    assert memory.review() == []


def test_a_correction_of_one_wording_ends_the_other_and_undo_brings_both_back(memory, folded):
    older, newer = folded
    receipt = memory.correct(older, "Deploys go out on Thursdays", origin="user")
    assert receipt.reason == f"{newer} says the same, and ends with it"
    assert [memory.get(id).superseded_by for id in folded] == [receipt.id] * 2
    memory.undo()
    assert {memory.get(id).superseded_by for id in folded} == {None}
    assert {one.id for one in memory.forget(newer).memories} == set(folded)


def test_an_agent_ends_no_wording_of_the_users(memory, clock):
    mine = memory.remember("Deploys go out on Tuesdays", origin="agent").id
    clock.advance(hours=1)
    theirs = memory.remember("We deploy every Tuesday", origin="user").id
    memory.work()
    memory.correct(mine, "Deploys go out on Thursdays", origin="agent")
    assert memory.get(theirs).superseded_by is None


def test_other_words_are_read_anew(memory, folded, clock):
    older, newer = folded
    memory.edit(newer, "We deploy every Friday")
    assert {item.id for item in memory.recall("when do we deploy?")} == {older, newer}


def test_how_sure_the_model_must_be_is_a_setting(memory, clock, monkeypatch):
    monkeypatch.setenv("LIMPET_SAME", "1")
    for text in ("Deploys go out on Tuesdays", "We deploy every Tuesday"):
        memory.remember(text, origin="user")
        clock.advance(hours=1)
    memory.work()
    assert len(memory.recall("when do we deploy?")) == 2
    monkeypatch.setenv("LIMPET_SAME", "often")
    memory.remember("Deploys go out each Tuesday", origin="user")
    with pytest.raises(BadInput, match="LIMPET_SAME"):
        memory.work()


# -- by the command line alone


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Runs a command on a store, as it is run without the tests' settings."""
    for name in ("LIMPET_WORK", "LIMPET_JUDGE"):
        monkeypatch.delenv(name, raising=False)
    store = tmp_path / "memory.db"

    def run(*words):
        command = [sys.executable, "-m", "limpet", "--store", str(store), "--scope", "project:api", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    yield run
    done(store)


def done(store):
    """Wait until nothing waits in a store, and its worker has ended."""
    until = time.monotonic() + 120
    with limpet.open(store, scope="project:api") as memory:
        while (waiting(memory) or held(f"{store}.work")) and time.monotonic() < until:
            time.sleep(0.2)


def waiting(memory):
    stats = memory.stats()
    return stats.waiting_jobs + stats.waiting_checks


def held(path):
    with locked(str(path)) as free:
        return not free


@pytest.mark.skipif(os.name == "nt", reason="the lock of a worker")
def test_by_the_command_line_alone_rewordings_are_folded_and_look_alikes_are_not(command, tmp_path):
    for text in (
        "Deploys go out on Tuesdays",
        "We deploy every Tuesday",
        "The user wants a reminder one day before each deadline.",
        "The user wants a reminder one week before each deadline.",
    ):
        command("remember", text)
    done(tmp_path / "memory.db")
    assert "also 1 like it" in command("recall", "when do we deploy?")
    assert "also" not in command("recall", "when is the user reminded?", "-k", "2")


@pytest.mark.skipif(os.name == "nt", reason="the lock of a worker")
def test_no_second_worker_is_started_and_none_beside_a_worker(command, tmp_path):
    store = tmp_path / "memory.db"
    with locked(f"{store}.work") as free:
        assert free
        command("remember", "Deploys go out on Tuesdays")
        later.work(str(store))  # as one that was started at the same instant
        with limpet.open(store, scope="project:api") as memory:
            assert waiting(memory) == 1
    command("log")
    done(store)
    with limpet.open(store, scope="project:api") as memory:
        assert waiting(memory) == 0


@pytest.fixture
def started(monkeypatch):
    """The workers that are started, of which none runs."""
    workers = []
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: workers.append(argv))
    monkeypatch.delenv("LIMPET_WORK")
    return workers


@pytest.mark.skipif(os.name == "nt", reason="the lock of a worker")
def test_a_worker_is_left_only_where_something_waits_in_a_file_and_the_setting_allows_it(memory, started, monkeypatch):
    later.leave(memory._context)
    with limpet.open(":memory:", scope="project:api") as other:
        other.remember("Deploys go out on Tuesdays")
        later.leave(other._context)
    memory.remember("Deploys go out on Tuesdays")
    monkeypatch.setenv("LIMPET_WORK", "off")
    later.leave(memory._context)
    assert started == []
    monkeypatch.delenv("LIMPET_WORK")
    later.leave(memory._context)
    assert len(started) == 1


@pytest.mark.skipif(os.name == "nt", reason="sockets")
def test_no_worker_is_left_beside_a_server_and_none_goes_on_beside_one(memory, path, started):
    memory.remember("Deploys go out on Tuesdays")
    server = RecallServer(memory)
    server.start()
    try:
        while not is_served(address_of(str(path))):
            time.sleep(0.01)
        later.leave(memory._context)
        later.work(str(path))
    finally:
        server.stop()
    assert started == [] and waiting(memory) == 1


@pytest.mark.skipif(os.name == "nt", reason="a store that is open cannot be deleted there")
def test_a_worker_ends_when_its_store_is_deleted(tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    with limpet.open(folder / "memory.db", scope="project:api") as memory:
        texts = [f"Machine {n} of the hall was serviced in week {n}, and needed {n * 3} parts" for n in range(900)]
        memory.remember_batch(texts)
    worker = subprocess.Popen([sys.executable, "-m", "limpet.work.later", folder / "memory.db"], stderr=subprocess.PIPE)
    try:
        while not held(folder / "memory.db.work"):
            assert worker.poll() is None
            time.sleep(0.05)
        shutil.rmtree(folder)
        worker.communicate(timeout=60)
    finally:
        worker.kill()
    assert not folder.exists()


def test_the_command_merges_two_and_shows_them(command):
    first, second = (
        command("remember", text).split()[1] for text in ("The shop shuts at 6", "We close the shop at six")
    )
    command("merge", first, second)
    assert "also said" in command("show", second)
    command("undo")
    assert command("show", second).split()[0] == second
