"""Signatures of `asynchronous.py`. Made by `python -m docs.generate`; do not edit."""

from collections.abc import AsyncIterator
from .api import Progress
from .context import Time
from .history import claims
from .history import reasons
from .history import walk
from .history import whole
from .history.audit import Audit
from .history.consolidate import Consolidation
from .history.diff import Diff
from .history.gaps import Gaps
from .history.names import EntityCount
from .history.names import Topic
from .history.quality import Quality
from .history.reasons import Impact
from .history.reasons import Why
from .history.threads import Thread
from .history.timeline import Chain
from .history.timeline import Timeline
from .history.usefulness import Exposure
from .history.usefulness import Usefulness
from .history.walk import GraphPath
from .history.whole import Contradictions
from .jobs.embed import WorkReport
from .mirror.report import MirrorReport
from .model.clock import Clock
from .model.memory import Memory
from .organize.report import OrganizeReport
from .recall.answer import Recall
from .recall.brief import Brief
from .recall.facts import Fact
from .recall.rerank import Reranker
from .recall.sessions import SessionRecall
from .remember.retention import Retention
from .remember.review import ReviewItem
from .remember.service import PurgeReport
from .remember.sweep import Swept
from .remember.write import Receipt
from .store.records import Action
from .store.records import Filter
from .store.records import Page
from .store.records import Problem
from .store.records import SessionRow
from .store.records import StoreStats
from .transfer.records import TransferReport
from .transfer.segments import SegmentReport
from .transfer.service import ImportReport
from .usefulness.adherence import Adherence
from .vectors.embedder import Embedder
from .work.doctor import Check
from .work.service import ModelInfo
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import IO
import builtins
import os
import threading

class AsyncHistory:
    """The queries of `History` as coroutines."""

    def __init__(self, runner: object, limpet: object) -> None: ...
    async def why(
        self,
        id: str,
        *,
        depth: int = ...,
        limit: int = ...,
        everything: bool = False,
        as_of: Time = None,
        known_at: Time = None,
    ) -> reasons.Why: ...
    async def impact(
        self,
        id: str,
        *,
        depth: int = ...,
        limit: int = ...,
        everything: bool = False,
        as_of: Time = None,
        known_at: Time = None,
    ) -> reasons.Impact: ...
    async def path(
        self,
        a: str,
        b: str,
        *,
        types: Iterable[str] = (),
        depth: int = 8,
        everything: bool = False,
        as_of: Time = None,
        known_at: Time = None,
    ) -> walk.GraphPath: ...
    async def context(
        self,
        ids: Iterable[str],
        *,
        types: Iterable[str] = (),
        depth: int = ...,
        limit: int = ...,
        everything: bool = False,
        as_of: Time = None,
        known_at: Time = None,
    ) -> walk.Subgraph: ...
    async def pattern(
        self,
        *,
        types: Iterable[str] = (),
        source: Filter | None = None,
        target: Filter | None = None,
        limit: int = ...,
        as_of: Time = None,
        known_at: Time = None,
    ) -> walk.Subgraph: ...
    async def timeline(
        self,
        what: str | None = None,
        *,
        types: Iterable[str] = (),
        reach: int = ...,
        limit: int = 50,
        as_of: Time = None,
        known_at: Time = None,
    ) -> Timeline: ...
    async def audit(self, about: str, *, limit: int = 10, as_of: Time = None, known_at: Time = None) -> Audit: ...
    async def chain(self, id: str, *, limit: int = ..., as_of: Time = None, known_at: Time = None) -> Chain: ...
    async def diff(self, start: Time, end: Time = None, *, as_of: Time = None, limit: int = ...) -> Diff: ...
    async def contradictions(
        self, *, everything: bool = False, limit: int = ..., as_of: Time = None, known_at: Time = None
    ) -> whole.Contradictions: ...
    async def gaps(
        self, *, kind: str | Iterable[str] = (), limit: int = 20, as_of: Time = None, known_at: Time = None
    ) -> Gaps: ...
    async def quality(self, *, limit: int = 3, as_of: Time = None, known_at: Time = None) -> Quality: ...
    async def centrality(
        self, *, types: Iterable[str] = (), limit: int = 20, as_of: Time = None, known_at: Time = None
    ) -> list[whole.Central]: ...
    async def consolidate(self, *, limit: int = 50, as_of: Time = None, known_at: Time = None) -> Consolidation: ...
    async def topics(self, *, limit: int = ..., as_of: Time = None, known_at: Time = None) -> list[Topic]: ...
    async def entities(self, *, limit: int = ..., as_of: Time = None) -> list[EntityCount]: ...
    async def threads(self, *, limit: int = ..., as_of: Time = None, known_at: Time = None) -> list[Thread]: ...
    async def ground(
        self, claim: str, *, limit: int = 20, as_of: Time = None, known_at: Time = None
    ) -> claims.Grounding: ...
    async def revise(
        self,
        claim: str,
        *,
        against: Iterable[str] = (),
        depth: int = ...,
        limit: int = 20,
        as_of: Time = None,
        known_at: Time = None,
    ) -> claims.Revision: ...
    async def analogy(
        self,
        situation: str,
        *,
        kind: str | Iterable[str] = (),
        session: str | None = None,
        limit: int = 5,
        as_of: Time = None,
        known_at: Time = None,
    ) -> list[claims.Analogy]: ...

class AsyncLimpet:
    """The verbs of `Limpet` as coroutines: same names, arguments, answers and errors."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        scope: str | None = None,
        read_only: bool = False,
        create: bool = True,
        durable: bool | None = None,
        clock: Clock | None = None,
        embedder: Embedder | str | None = None,
    ) -> None: ...
    async def __aenter__(self) -> AsyncLimpet: ...
    async def __aexit__(self, *_: object) -> None: ...
    async def close(self) -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def embedder(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def graph(self) -> AsyncHistory: ...
    def in_scope(self, scope: str) -> AsyncLimpet: ...
    def mirror_watch(
        self, path: str | os.PathLike[str], *, stop: threading.Event | None = None
    ) -> AsyncIterator[MirrorReport]: ...
    async def recall(
        self,
        query: str,
        *,
        k: int = 10,
        kind: str | Iterable[str] = (),
        topics: Iterable[str] = (),
        since: Time = None,
        until: Time = None,
        session: str | None = None,
        speaker: str | None = None,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        scope: str | None = None,
        as_of: Time = None,
        known_at: Time = None,
        budget_tokens: int | None = None,
        deadline_ms: float | None = None,
        lexical_only: bool = False,
        trace: bool = False,
        explain: bool = False,
        fusion: str = "linear",
        without: Iterable[str] = (),
        rerank: str | Reranker | None = None,
    ) -> Recall: ...
    async def recall_sessions(
        self,
        query: str,
        *,
        k: int = 5,
        evidence: int = 3,
        kind: str | Iterable[str] = (),
        topics: Iterable[str] = (),
        since: Time = None,
        until: Time = None,
        session: str | None = None,
        speaker: str | None = None,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        scope: str | None = None,
        as_of: Time = None,
        known_at: Time = None,
        budget_tokens: int | None = None,
        deadline_ms: float | None = None,
        lexical_only: bool = False,
        explain: bool = False,
    ) -> SessionRecall: ...
    async def related(self, id: str, *, k: int = 10) -> Recall: ...
    async def get(self, id: str, *, known_at: Time = None) -> Memory: ...
    async def show(self, id: str) -> Memory: ...
    async def history(self, id: str) -> builtins.list[Memory]: ...
    async def list(
        self,
        *,
        kind: str | Iterable[str] = (),
        topics: Iterable[str] = (),
        since: Time = None,
        until: Time = None,
        session: str | None = None,
        speaker: str | None = None,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        scope: str | None = None,
        sort: str = "created",
        limit: int = 50,
        cursor: str | None = None,
        all_states: bool = False,
    ) -> Page: ...
    async def count(
        self,
        *,
        kind: str | Iterable[str] = (),
        topics: Iterable[str] = (),
        since: Time = None,
        until: Time = None,
        session: str | None = None,
        speaker: str | None = None,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        scope: str | None = None,
        all_states: bool = False,
    ) -> int: ...
    async def topics(self, *, limit: int = 200) -> builtins.list[Topic]: ...
    async def entities(self, *, limit: int = 200) -> builtins.list[EntityCount]: ...
    async def threads(self, *, limit: int = 200) -> builtins.list[Thread]: ...
    async def abbreviate(self, ids: Sequence[str], *, items: bool = False) -> builtins.list[str]: ...
    async def note_action(self, session: str, kind: str, what: str) -> None: ...
    async def actions(self, *, session: str | None = None, limit: int = 20) -> builtins.list[Action]: ...
    async def adherence(self, session: str) -> builtins.list[Adherence]: ...
    async def work(
        self, *, limit: int | None = None, only_vectors: bool = False, progress: Progress | None = None
    ) -> WorkReport: ...
    async def reembed(self, *, progress: Progress | None = None) -> WorkReport: ...
    async def models(self) -> builtins.list[ModelInfo]: ...
    async def export_jsonl(
        self,
        target: str | os.PathLike[str] | IO[str],
        *,
        vectors: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> int: ...
    async def import_jsonl(
        self, source: str | os.PathLike[str] | IO[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> ImportReport: ...
    async def rebuild(self, *, progress: Progress | None = None) -> int: ...
    async def doctor(self) -> builtins.list[Check]: ...
    async def remember(
        self,
        content: str,
        *,
        kind: str | None = None,
        topics: Iterable[str] = (),
        key: str | None = None,
        importance: float | None = None,
        pin: bool = False,
        valid_from: Time = None,
        valid_to: Time = None,
        source: str | None = None,
        origin: str = "agent",
        session: str | None = None,
        speaker: str | None = None,
        because: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        confidence: float | None = None,
        scope: str | None = None,
        anyway: bool = False,
    ) -> Receipt: ...
    async def remember_batch(self, items: Iterable[Mapping[str, Any]]) -> builtins.list[Receipt]: ...
    async def correct(
        self, id: str, content: str, *, why: str | None = None, valid_from: Time = None, **given: Any
    ) -> Receipt: ...
    async def edit(self, id: str, content: str) -> Receipt: ...
    async def tag(
        self, id: str, add: Iterable[str] = (), remove: Iterable[str] = (), values: Mapping[str, Any] | None = None
    ) -> Receipt: ...
    async def pin(self, id: str) -> Receipt: ...
    async def unpin(self, id: str) -> Receipt: ...
    async def archive(self, id: str, *, origin: str | None = None) -> Receipt: ...
    async def restore(self, id: str) -> Receipt: ...
    async def reach(self, id: str, *, origin: str | None = None) -> Receipt: ...
    async def promote(self, id: str) -> Receipt: ...
    async def retract(self, id: str, why: str, *, origin: str | None = None) -> Receipt: ...
    async def purge(self, id: str, *, confirm: bool = False, dry_run: bool = False) -> PurgeReport: ...
    async def undo(self, event: str | None = None) -> builtins.list[Receipt]: ...
    async def feedback(self, id: str, verdict: str) -> Memory: ...
    async def set_fact(self, key: str, value: str, **given: Any) -> Receipt: ...
    async def fact(self, key: str, *, as_of: Time = None, known_at: Time = None, scope: str | None = None) -> Fact: ...
    async def fact_history(
        self, key: str, *, known_at: Time = None, scope: str | None = None
    ) -> builtins.list[Fact]: ...
    async def end_fact(
        self, key: str, *, at: Time = None, why: str | None = None, origin: str | None = None
    ) -> Receipt: ...
    async def session_start(self, name: str | None = None, *, title: str | None = None) -> SessionRow: ...
    async def session_end(self, name: str, *, summary: str | None = None, origin: str = "agent") -> Receipt: ...
    async def session(self, name: str) -> SessionRow: ...
    async def sessions(self, *, limit: int = 20) -> builtins.list[SessionRow]: ...
    async def session_memories(self, name: str) -> builtins.list[Memory]: ...
    async def compress(self, name: str, *, summary: str | None = None) -> Receipt: ...
    async def review(self, *, limit: int = 50) -> builtins.list[ReviewItem]: ...
    async def accept(self, id: str) -> Receipt: ...
    async def reject(self, id: str) -> Receipt: ...
    async def sweep(
        self, *, apply: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> builtins.list[Swept]: ...
    async def retention(
        self, *, days: float = 365, kind: str | Iterable[str] = ("episode",), fold: bool = True, apply: bool = False
    ) -> Retention: ...
    async def prepare(
        self,
        message: str = "",
        *,
        budget_tokens: int | None = None,
        full: bool = False,
        session: str | None = None,
        deadline_ms: float | None = None,
        lexical_only: bool | None = None,
    ) -> Brief: ...
    async def link(self, a: str, type: str, b: str, weight: float | None = None) -> Receipt: ...
    async def unlink(self, a: str, type: str, b: str) -> Receipt: ...
    async def mirror_init(
        self,
        path: str | os.PathLike[str],
        *,
        author: str = "user",
        index_bytes: int | None = None,
        with_global: bool = False,
    ) -> MirrorReport: ...
    async def mirror_sync(
        self, path: str | os.PathLike[str], *, dry_run: bool = False, forget: bool = False, full: bool = False
    ) -> MirrorReport: ...
    async def take_in_edits(self) -> None: ...
    async def read_topic(self, topic: str) -> str: ...
    async def mirrors(self) -> builtins.list[str]: ...
    async def note_transcript(self, path: str | os.PathLike[str]) -> None: ...
    async def organize(
        self,
        paths: Iterable[str | os.PathLike[str]] = (),
        *,
        clients: Sequence[str] = (),
        by_folder: bool = False,
        dry_run: bool = False,
        summaries: bool = True,
        models: Sequence[str] = (),
        budget_tokens: int = ...,
        budget_usd: float | None = None,
        progress: Progress | None = None,
    ) -> OrganizeReport: ...
    async def import_from(
        self, format: str, path: str | os.PathLike[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> TransferReport: ...
    async def export_to(
        self,
        format: str,
        path: str | os.PathLike[str],
        *,
        vectors: bool = False,
        all_scopes: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> TransferReport: ...
    async def export_segments(
        self, folder: str | os.PathLike[str], *, progress: Progress | None = None
    ) -> SegmentReport: ...
    async def import_segments(
        self, folder: str | os.PathLike[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> SegmentReport: ...
    async def note_exposures(
        self,
        items: Iterable[tuple[str, int]],
        *,
        session: str = "",
        client: str,
        via: str,
        withheld: Iterable[str] = (),
        drawn: Iterable[str] = (),
        asked: str = "",
    ) -> None: ...
    async def exposures(self, *, session: str | None = None, limit: int = 20) -> Sequence[Exposure]: ...
    async def usefulness(self, *, limit: int = 10) -> Usefulness: ...
    async def stats(self) -> StoreStats: ...
    async def backup(self, path: str | os.PathLike[str], *, progress: Progress | None = None) -> None: ...
    async def verify(self) -> builtins.list[Problem]: ...
    async def gc(self) -> dict[str, Any]: ...
    async def why(self, id: str, **given: Any) -> Why: ...
    async def impact(self, id: str, **given: Any) -> Impact: ...
    async def path_between(self, a: str, b: str, **given: Any) -> GraphPath: ...
    async def audit(self, about: str, **given: Any) -> Audit: ...
    async def timeline(self, what: str | None = None, **given: Any) -> Timeline: ...
    async def contradictions(self, **given: Any) -> Contradictions: ...
    async def gaps(self, **given: Any) -> Gaps: ...
    async def diff(self, start: Time, end: Time = None, **given: Any) -> Diff: ...
