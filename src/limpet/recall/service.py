"""Recall and briefs from a request. The contracts are those of the verbs in `every_day.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from ..model.dataclass import replace
from ..model.errors import BadInput
from ..model.ids import parse_id
from ..model.memory import Filter
from .lookup import GIT_ASKED, code_marks, marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ..context import Context, Time
    from ..store import Store
    from .answer import Recall
    from .brief import Brief
    from .plan import Plan
    from .semantic import SemanticSearch
    from .sessions import SessionRecall

    T = TypeVar("T")

# Milliseconds that a search for what is near a memory takes at most: an embedder of others may be slow.
RELATED_MS = 5_000
NOTHING_NEAR = "No other memory here is near it."
CHECK = "Some speak of code that differs here: look, then correct them or, if they hold, remember them again."


def recall(
    context: Context, query: str, where: Filter, *, as_of: Time, without: Iterable[str], trace: bool, explain: bool,
    thorough: bool, **limits: Any,
) -> Recall:  # fmt: skip
    """Answer a question. `limits`: of `make_plan`."""
    from .answer import recall

    plan = planned(context, query, where, as_of, without=frozenset(without), **limits)
    answer = _answered(context, plan, partial(recall, trace=trace, explain=explain, thorough=thorough))
    items = marked(context, answer.items)
    if items is answer.items:
        return answer
    return replace(answer, items=[*items], note=f"{answer.note} {CHECK}".lstrip())


def recall_sessions(
    context: Context, query: str, where: Filter, *, as_of: Time, evidence: int, explain: bool, **limits: Any
) -> SessionRecall:
    """Find the sessions that answer a question. `limits`: of `make_plan`."""
    from .sessions import recall_sessions

    if isinstance(evidence, bool) or not isinstance(evidence, int) or not 1 <= evidence <= 100:
        raise BadInput(f"evidence must be from 1 to 100, not {evidence!r}")
    plan = planned(context, query, where, as_of, **limits)
    return _answered(context, plan, partial(recall_sessions, evidence=evidence, explain=explain))


def planned(
    context: Context, query: str, where: Filter, as_of: Time = None, *, asks: int = GIT_ASKED, **given: Any
) -> Plan:
    """Make a plan of a request, held true at `as_of`. `asks`: questions to git about files."""
    from .plan import make_plan

    now, held = context.now(), context.time(as_of)
    if held is None:
        held = where.known_at
    timeless = {held, where.known_at} <= {None, now} and where.since is None and where.until is None
    limits: dict[str, Any] = {"timeless": timeless, "without": frozenset()} | given
    plan = make_plan(query, replace(where, as_of=now if held is None else held), now=now, **limits)
    in_code = plan.timeless and context.project is not None and context.project.by == "git"
    return replace(plan, code=partial(code_marks, context, asks=asks)) if in_code else plan


def _answered(context: Context, plan: Plan, answer: Callable[[Store, SemanticSearch | None, Plan], T]) -> T:
    """Answer a plan, with vectors if they take part; first embed as many waiting texts as there is time for."""
    if plan.lexical_only:
        return answer(context.store, None, plan)
    semantic = context.semantic()
    with context.store.snapshot(plan.deadline):  # also for the answer: a server is asked for its version once
        if not semantic.waiting(plan, most=1):
            return answer(context.store, semantic, plan)
    return answer(context.store, semantic, semantic.catch_up(plan))


def related(context: Context, id: str, *, k: int) -> Recall:
    from .answer import recall

    memory = context.memory(id)
    plan = planned(
        context, memory.content[:2_000], context.filter(), k=k, deadline_ms=RELATED_MS, budget_tokens=None,
        lexical_only=False, timeless=False, shape="one",
        without=frozenset(("neighbours", "session", "date", "speaker", "shape")),
    )  # fmt: skip
    result = _answered(context, plan, partial(recall, skip=parse_id(memory.id)))
    # Near memories answer no question: there is nothing to withhold.
    return replace(result, relevance=1.0, relevant=True, note="" if result.items else NOTHING_NEAR)


def prepare(
    context: Context,
    message: str,
    *,
    budget: int | None,
    full: bool,
    session: str | None,
    deadline_ms: float | None,
    lexical_only: bool | None,
) -> Brief:
    from ..rank.constants import BRIEF_TOKENS
    from .choose import MOST
    from .prepare import prepare

    if lexical_only is None:
        lexical_only = not context.semantic().is_loaded()
    plan = planned(
        context, message, context.filter(), k=MOST["matches"], deadline_ms=deadline_ms,
        budget_tokens=BRIEF_TOKENS if budget is None else budget, lexical_only=lexical_only, asks=0,
    )  # fmt: skip
    semantic = None if lexical_only else context.semantic()
    unjudged = context.policy.unjudged if context.policy else None
    return prepare(
        context.store,
        semantic,
        plan,
        session=session,
        full=full,
        unjudged=unjudged,
        marked=partial(marked, context, asks=0),
    )
