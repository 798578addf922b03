"""`AsyncLimpet`: the verbs as coroutines, on one open store; what is cancelled leaves nothing half done."""

from __future__ import annotations

import asyncio
import inspect
import threading

import pytest

import limpet
from limpet.features import mirror
from limpet.history.queries import History


def public(owner):
    return {name for name, one in vars(owner).items() if inspect.isfunction(one) and not name.startswith("_")}


def test_it_has_every_verb_with_its_signature():
    for plain, several in ((limpet.Limpet, limpet.AsyncLimpet), (History, limpet.AsyncHistory)):
        assert public(plain) <= public(several)
        for name in public(plain) - {"in_scope", "in_all_scopes"}:
            verb = getattr(several, name)
            assert inspect.iscoroutinefunction(verb), name
            assert inspect.signature(verb) == inspect.signature(getattr(plain, name)) or name == "close", name


def test_a_program_remembers_and_recalls(tmp_path):
    async def story():
        async with limpet.AsyncLimpet(tmp_path / "memory.db", scope="project:api") as memory:
            receipt = await memory.remember("Deploys go out on Tuesdays", topics=["deploy"])
            await memory.correct(receipt.id, "Deploys go out on Fridays")
            found = await memory.recall("when do deploys go out?", lexical_only=True)
            assert (memory.scope, memory.read_only) == ("project:api", False)
            assert [one.content for one in found] == ["Deploys go out on Fridays"]
            assert (await memory.get(receipt.id)).state == "superseded"
            assert len((await memory.graph.chain(found[0].id)).before) == 1

    asyncio.run(story())
    with limpet.open(tmp_path / "memory.db", scope="project:api") as memory:
        assert memory.count() == 1


def test_many_verbs_at_once_share_one_open_store(tmp_path):
    async def story():
        async with limpet.AsyncLimpet(tmp_path / "memory.db", scope="project:api") as memory:
            writes = [memory.remember(f"Service {n} listens on port {8000 + n}") for n in range(40)]
            reads = [memory.recall("which port?", lexical_only=True) for _ in range(10)]
            receipts = await asyncio.gather(*writes, *reads)
            assert {one.status for one in receipts[:40]} == {"created"}
            assert await memory.count() == 40
            other = memory.in_scope("project:web")
            assert (await other.count(), other.scope) == (0, "project:web")
            await other.close()  # closes nothing
            assert await other.in_all_scopes().count() == 40
            assert await memory.verify() == []

    asyncio.run(story())


def test_errors_are_those_of_the_verbs(tmp_path):
    async def story():
        with pytest.raises(limpet.StoreMissing):
            async with limpet.AsyncLimpet(tmp_path / "none.db", create=False):
                pass
        async with limpet.AsyncLimpet(tmp_path / "memory.db") as memory:
            with pytest.raises(limpet.NotFound):
                await memory.get("0190" * 8)
            with pytest.raises(limpet.BadInput, match="topics"):
                await memory.remember("x", topics="api")
        await memory.close()
        with pytest.raises(limpet.StoreError, match="closed"):
            await memory.count()

    asyncio.run(story())


def test_a_cancelled_batch_is_stored_as_whole_transactions(tmp_path):
    """The wait ends at once; what had begun ends by itself before the file is given back."""
    begun = threading.Event()

    def lines():
        for n in range(2_500):
            begun.set()
            yield {"content": f"Line {n} of the log", "kind": "note"}

    async def story():
        async with limpet.AsyncLimpet(tmp_path / "memory.db", scope="project:api") as memory:
            writing = asyncio.create_task(memory.remember_batch(lines()))
            await asyncio.to_thread(begun.wait)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing

    asyncio.run(story())
    with limpet.open(tmp_path / "memory.db", scope="project:api") as memory:
        assert memory.count() == 2_500
        assert memory.verify() == []


def test_a_function_of_a_feature_runs_on_a_thread(tmp_path):
    async def story():
        with limpet.open(tmp_path / "memory.db", scope="project:api") as memory:
            await asyncio.to_thread(mirror.init, memory, tmp_path / "notes")
            memory.remember("Deploys go out on Tuesdays")
            assert (await asyncio.to_thread(mirror.sync, memory, tmp_path / "notes")).added == 1

    asyncio.run(story())
