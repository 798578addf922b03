"""The score: everything that decides a place, as terms of one number.

Read first: `features.py`, what each signal says. Its weighted sum times the factors of a memory's own history is the
ranking. The following terms add to the score or cap it; the order is that of the scores:

- `alike`: in conversations, behind the first results, how near a text is to the best of them. A question may have
  several answers ("how many plants did I buy?"), and one of these is often told in other words than the question's,
  but in words like the others' (Rocchio's relevance feedback, with the best results taken for relevant);
- `judge`: the log-odds of the relevance judge, for the first; `prior`: what those that answer are worth by age, use,
  weight and kind; `unread`: what it has not read stays below those;
- `newer` and `replaced`: a newer text takes the place of an older one that it replaces, which is capped below it;
- `unconfirmed`: what nobody here has vouched for is capped below a trusted text on the same matter; `gone`: so is what
  names code that is gone or renamed, below what holds;
- `outside` (answer.py): what is not of the time that was asked for stands below all that is; `folded` (pack.py): the
  newest of some that say the same takes the place of the best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass, field
from ..model.errors import EmbedderUnavailable
from ..model.memory import FOREIGN
from ..rank import constants as C
from ..rank.adjust import factors, worth
from ..rank.weights import WEIGHTS
from ..text.describe import labels, searchable
from ..text.excerpt import excerpt, nearest, parts, words_of
from .newer import Told, asked_for, ended, past_end, replacements
from .relevance import relevance
from .shape import SEVERAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Memory
    from ..store import Store
    from .candidates import Candidates
    from .plan import Plan
    from .semantic import SemanticSearch

# How far below another a capped score lies, at most and at least; what the judge has not read lies BELOW what it has.
BELOW, LEAST = 0.001, 1e-9
# Results that stay before those that are like the best; how many are the best; how many others are compared.
STAYING, BEST, OTHERS = 5, 3, 60
# What a cosine of 1 with the best is worth beside a score, and by how much lower a score halves what a result counts
# among the best, in log-odds. Chosen on the questions with several answers of training/long_chats.jsonl.
ALIKE, HALVING = 5.0, 1.4
# A result falls by so much for each earlier one of its session, if the question counts or lists: the answer is spread
# over sessions. LongMemEval's development half finds as much from .15 to .4; what was held back of the long
# conversations, from .2 to .4.
OF_A_SESSION = 0.25
# Characters of a result that the judge reads: the passage with most of the question's words.
PASSAGE = 240
# What a trusted result needs for an unconfirmed one to be capped below it: this share of its score, since a text that
# is made to be found repeats the question and scores above what answers it in words of its own; and to be about the
# same, by the cosine of the two, so that notes on other matters do not hold back what alone answers. Chosen on the
# tuning half of tests/quality/poisoning and on the project's own recall set with a tenth and half of its notes from the
# web.
SHARE, SAME = 0.5, 0.4
# Results whose code is looked at, at least: of what is shown, and of what may come before it.
LOOKED_AT = 10
# Without vectors, the score alone must show that both answer.
SHARE_BY_WORDS = 0.9


@dataclass(slots=True, kw_only=True)
class Ranking:
    """The candidates by place, best first, their scores, and the terms that these are made of."""

    order: list[int]
    scores: list[float]
    ranked: list[float]  # the scores by signals and factors, before likeness, judge and caps; thresholds apply to these
    terms: dict[str, dict[int, float]] = field(default_factory=dict)
    judged: Mapping[int, float] = field(default_factory=dict)  # what the judge says of those it has read
    # Of a candidate the newer one that changed it, and what a model said: (place, "replaces sure").
    changed: dict[int, tuple[int, str]] = field(default_factory=dict)
    relevance: float = 0.0  # the probability that something here answers the query
    relevant: bool = False  # whether that is enough

    def add(self, name: str, terms: Mapping[int, float]) -> None:
        """Add a term to some scores and put the candidates in order again; equal ones stay as they are."""
        added = self.terms.setdefault(name, {})
        for i, value in terms.items():
            added[i] = added.get(i, 0.0) + value
            self.scores[i] += value
        self.order.sort(key=self.scores.__getitem__, reverse=True)


def rank(
    store: Store, semantic: SemanticSearch | None, candidates: Candidates, plan: Plan, *, skip: bytes | None = None,
    thorough: bool = False,
) -> Ranking:  # fmt: skip
    """Score the candidates. `skip`: the id of one that is left out. `thorough`: the judge reads more of them."""
    ranking = by_signals(candidates, plan.now)
    behind = {j for earlier in candidates.before.values() for j in earlier}
    ranking.order = [i for i in ranking.order if i not in behind and candidates.table.ids[i] != skip]
    ranking.add("alike", _alike(candidates, ranking, plan))
    candidates.memories(store, ranking.order[: plan.k])  # all at once: each step would read a part of them
    read_by_judge(store, semantic, candidates, ranking, plan, thorough=thorough)
    ranking.add("judge", {i: C.JUDGE_WEIGHT * odds for i, odds in ranking.judged.items()})
    ranking.add("prior", _prior(store, candidates, ranking, plan))
    read = [i for i in ranking.order if i in ranking.judged]
    unread = [i for i in ranking.order if i not in ranking.judged]
    if read and unread:
        over = ranking.scores[unread[0]] - ranking.scores[read[-1]]  # the best unread, the last read
        ranking.add("unread", dict.fromkeys(unread, -(over + BELOW)) if over >= 0 else {})
    end = past_end(plan)
    for newest, earlier in candidates.before.items():
        asked = newest if end is None else asked_for(candidates, newest, end)
        answers = newest == ranking.order[0] or ranking.judged.get(newest, 0.0) >= C.ANSWERS_FROM
        if asked != newest and answers:
            earlier.remove(asked)
            ranking.order.append(asked)
            _put_before(ranking, newest, asked)
            ranking.changed[asked] = newest, "replaces"
    for older, newer, what in replacements(store, candidates, ranking, plan):
        _put_before(ranking, older, newer)
        if what != "asked":
            ranking.changed[older] = newer, what
    first = ranking.order[: plan.k]
    foreign = {i for i in first if candidates.table.priors[i].trust in FOREIGN}
    ranking.add("unconfirmed", _capped(candidates, ranking, foreign, [i for i in first if i not in foreign]))
    if plan.code is not None:
        first = ranking.order[: max(plan.k, LOOKED_AT)]
        memories = candidates.memories(store, first)
        marks = plan.code([(memory.id, memory.scope) for memory in memories])
        gone = {
            i
            for i, memory in zip(first, memories, strict=True)
            if any(is_gone for _, is_gone in marks.get(memory.id, ()))
        }
        answer = [i for i in first if ranking.judged.get(i, C.ANSWERS_FROM) >= C.ANSWERS_FROM]
        holding = [i for i in answer if i not in gone and candidates.table.priors[i].trust not in FOREIGN]
        ranking.add("gone", _capped(candidates, ranking, gone, holding))
    return ranking


def _prior(store: Store, candidates: Candidates, ranking: Ranking, plan: Plan) -> dict[int, float]:
    """Return what moves the results that answer by the judge among each other: they come nearer, and what the memory
    itself is worth counts, whatever the question. The best place is not moved. Turns of a conversation are as they were
    said, and a question about another time asks for no age."""
    answers = [
        i for i in ranking.order if ranking.judged.get(i, 0.0) >= C.ANSWERS_FROM and not candidates.table.speakers[i]
    ]
    if len(answers) < 2 or "recency" in plan.without or not plan.timeless or past_end(plan) is not None:
        return {}
    weights = store.relations.weights([candidates.table.ids[i] for i in answers])
    top, worths = ranking.scores[answers[0]], {}
    for i, memory in zip(answers, candidates.memories(store, answers), strict=True):
        stated = memory.observed_at_us if memory.observations > 1 else memory.valid_from_us
        weighs = weights.get(candidates.table.ids[i], 0.0)
        worths[i] = worth(candidates.table.priors[i], stated, weighs, plan.now) - C.APART * (top - ranking.scores[i])
    best = max(worths.values())
    return {i: top - ranking.scores[i] + value - best for i, value in worths.items()}


def _put_before(ranking: Ranking, older: int, newer: int) -> None:
    """Give a newer candidate the score of an older one, and cap the older just below it, still above the next."""
    order, scores = ranking.order, ranking.scores
    at = order.index(older)
    if scores[newer] > scores[older]:
        return
    below = [scores[i] for i in order[at + 1 :] if i != newer]
    gained = scores[older] - scores[newer]
    ranking.add("replaced", {older: -min(BELOW, max((scores[older] - below[0]) / 2, LEAST) if below else BELOW)})
    ranking.add("newer", {newer: gained})


def by_signals(candidates: Candidates, now: int) -> Ranking:
    """Score by the signals alone: their weighted sum, times the factors of each memory's history."""
    scores = [0.0] * len(candidates.table.rows)
    for name, values in candidates.features.items():
        weight = WEIGHTS.get(name, 0.0)
        if weight and any(values):  # most questions are of no date and name no speaker
            scores = [score + weight * value for score, value in zip(scores, values, strict=True)]
    for i, prior in enumerate(candidates.table.priors):
        for factor in factors(prior, now - now % MICROSECONDS_PER_DAY).values():
            scores[i] = scores[i] * factor if scores[i] > 0 else scores[i] / factor
    order = sorted(range(len(scores)), key=candidates.table.ids.__getitem__)
    order.sort(key=scores.__getitem__, reverse=True)  # equal ones stay in the order of their ids
    return Ranking(order=order, scores=scores, ranked=list(scores))


def contributions(candidates: Candidates, ranking: Ranking, i: int, now: int) -> dict[str, tuple[float, float]]:
    """Return each term of a candidate's score by name: (raw value, what it adds). They add up to the score."""
    terms = {name: (values[i], WEIGHTS.get(name, 0.0) * values[i]) for name, values in candidates.features.items()}
    score = sum(added for _, added in terms.values())
    prior = candidates.table.priors[i]
    for name, factor in factors(prior, now - now % MICROSECONDS_PER_DAY).items():
        changed = score * factor if score > 0 else score / factor
        terms[name] = (factor, changed - score)
        score = changed
    for name, added in ranking.terms.items():
        if i in added:
            terms[name] = (ranking.judged[i] if name == "judge" else added[i], added[i])
    return {name: (raw, added + 0.0) for name, (raw, added) in terms.items()}  # -0.0 is none


def _alike(candidates: Candidates, ranking: Ranking, plan: Plan) -> dict[int, float]:
    """Return what the candidates behind the first gain by being like the best; none of them comes before the first.

    Not used for notes: a note that is like an answer is its neighbour.
    """
    order, scores, ids = ranking.order, ranking.scores, candidates.table.text_ids
    best, rest = order[:BEST], order[STAYING:]
    if not rest or candidates.hits is None or plan.k <= STAYING or not all(candidates.table.speakers[i] for i in best):
        return {}
    weights = [2.0 ** ((scores[i] - scores[best[0]]) / HALVING) for i in best]
    near = candidates.hits.near([ids[i] for i in best], weights, [ids[i] for i in rest[:OTHERS]])
    known = [cosine for cosine in near if cosine is not None]
    mean = sum(known) / len(known) if known else 0.0  # of what was not compared, or waits for its vector
    gains = {i: ALIKE * (mean if cosine is None else cosine) for i, cosine in zip(rest, near, strict=False)}
    gains |= dict.fromkeys(rest[OTHERS:], ALIKE * mean)
    if plan.shape in SEVERAL:
        seen = Counter(candidates.table.sessions[i] for i in order[:STAYING])
        for i in sorted(rest, key=lambda i: -scores[i] - gains[i]):
            if session := candidates.table.sessions[i]:
                gains[i] -= OF_A_SESSION * seen[session]
                seen[session] += 1
    over = max(scores[i] + gains[i] for i in rest) - scores[order[STAYING - 1]]
    return {i: gain - (over + BELOW if over >= 0 else 0.0) for i, gain in gains.items()}


def read_by_judge(
    store: Store, semantic: SemanticSearch | None, candidates: Candidates, ranking: Ranking, plan: Plan,
    *, thorough: bool = False,
) -> None:  # fmt: skip
    """Let the relevance judge (vectors/judge.py) read the first results, if it can be asked, for the log-odds that each
    answers the question; if it doubts them all, it reads on. Set the relevance of the ranking."""
    order = ranking.order
    asked = parts(plan.query)  # of a long message the part that speaks of the result: the judge knows questions
    first = max(C.JUDGED_THOROUGHLY, plan.k) if thorough else C.JUDGED
    read: dict[int, float] = {}
    for some in (order[:first], order[first : C.JUDGED_IN_DOUBT]):
        judge = None if semantic is None or candidates.hits is None else semantic.judge(plan, asked_for=thorough)
        if judge is None or not some or max(read.values(), default=-math.inf) >= C.JUDGE_DOUBTS:
            break
        also = [candidates.also_said.get(i, ()) for i in some]
        before = [ended(store, candidates, candidates.before.get(i, ())) for i in some]
        memories = candidates.memories(store, some)
        told = [candidates.part_of(i, memory.content, plan.query) for i, memory in zip(some, memories, strict=True)]
        texts = passages(plan.query, memories, also, before, told)
        try:
            read |= dict(zip(some, judge.scores([nearest(asked, text) for text in texts], texts), strict=True))
        except EmbedderUnavailable as error:
            candidates.miss("judge", error.message)
            read = {}
            break
    ranking.judged = read
    ranking.relevance, ranking.relevant = relevance(store, candidates, ranking, plan)


def passages(
    query: str, memories: Sequence[Memory], also_said: Iterable[Iterable[Told]] = repeat(()),
    before: Iterable[Iterable[Told]] = repeat(()), told: Iterable[str] = repeat(""),
) -> list[str]:  # fmt: skip
    """Return what the judge reads of each memory: the part nearest to the question, with its key, its topics, the
    metadata that the question names, what it replaced (`before`) and why, and who said it. `also_said`: what was merged
    into each."""
    words, texts = words_of(query), []
    for memory, others, replaced, part in zip(memories, also_said, before, told, strict=False):
        whole = "\n".join([part or memory.content, *(other[1] for other in others)])
        named = [label for label in labels(memory.metadata) if not words.isdisjoint(words_of(label))]
        named += [f"before: {'; '.join(parts)}" for _, *parts in replaced]
        text = searchable(excerpt(whole, words, PASSAGE)[0], memory.key, (*memory.topics, *named))
        texts.append(f"{memory.speaker}: {text}" if memory.speaker else text)
    return texts


def _capped(
    candidates: Candidates, ranking: Ranking, lower: Collection[int], others: Sequence[int]
) -> dict[int, float]:
    """Return by how much some candidates are lowered, each to stay below the best of others on its matter."""
    if not lower or not others:
        return {}
    both = [*lower, *others]
    cosines, place = candidates.among(both), {i: number for number, i in enumerate(both)}
    share = SHARE_BY_WORDS if candidates.hits is None else SHARE
    capped = {}
    for i in lower:
        for j in others:
            about_the_same = candidates.hits is None or cosines.get((place[i], place[j]), 0.0) >= SAME
            if about_the_same and ranking.ranked[j] >= share * ranking.ranked[i] > 0:
                if ranking.scores[j] - BELOW < ranking.scores[i]:
                    capped[i] = ranking.scores[j] - BELOW - ranking.scores[i]
                break
    return capped
