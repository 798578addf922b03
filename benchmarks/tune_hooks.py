"""What a message to an agent is shown: the models of `agents/hooks/fit.py`.

Fitted on stores written for training, each alone and twenty of the messages' in one, which are no test data;
`python -m benchmarks.injection` measures. Only on those that neither embedder nor judge was trained on: of others they
know too much.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import limpet
from limpet.agents.hooks import fit
from limpet.agents.hooks.injected import ASKED, item_text, signals
from limpet.model.clock import FixedClock
from training.data import held_back

from .fitting import logistic
from .recency import ASKED_AT
from .tune_newer import WRITTEN, stated

MESSAGES = (WRITTEN / "prompts.jsonl", WRITTEN.parent / "messages.jsonl")
# Those that nothing was trained on.
UNSEEN = tuple(WRITTEN.parent / f"{name}_held_back.jsonl" for name in ("messages", "messages_thought"))
QUESTIONS = tuple(WRITTEN / f"{name}.jsonl" for name in ("agents", "near_misses", "paraphrases", "chats", "assistant"))
# What questions weigh; the rest are messages.
WEIGHT_OF_QUESTIONS = 0.25
# Stores in one; of these every other message is asked, as each is asked in its own store too.
TOGETHER = 20
RIDGE = 1e-3
# No written message is long, and those that a memory helps with are longer: of each store so many are made of several,
# with and without one that a memory helps with, and so many of another store's are asked.
LONG, FOREIGN = 8, 4
# Chosen on the tuning half of tests/quality/injection, and on tests/quality/prompts.jsonl.
FROM, SHARE_OF_BEST = (0.4, 0.32, 0.27), 0.7  # by meaning, with the judge, by words
# How a message is asked, and what is known of each result then.
WAYS = {
    "FITS": ("cosine", "behind"),
    "FITS_JUDGED": ("behind", "judge"),
    "FITS_BY_WORDS": ("word_vectors", "behind", "shared"),
}


class Asked(NamedTuple):
    """A message, the features of each result, which of these are wanted, and whether any memory is."""

    known: list[dict[str, float]]
    wanted: list[bool]
    answerable: bool


def groups(files: Sequence[Path], *, together: bool) -> list[list[dict[str, Any]]]:
    """Written stores that no model was trained on; those of a group are one memory."""
    read = [(file, json.loads(line)) for file in files for line in file.read_text("utf-8").splitlines()]
    every = [one for file, one in read if file in UNSEEN or held_back(one["id"])]
    every.sort(key=lambda one: hashlib.sha256(f"order {one['id']}".encode()).digest())
    count = max(1, len(every) // TOGETHER) if together else len(every)
    return [every[number::count] for number in range(count)]


def longer(store: Mapping[str, Any], draw: random.Random) -> list[tuple[str, list[int]]]:
    """Messages of several sentences, made of a store's: of what nothing helps with, half of them with one more."""
    plain, wanted = store["unanswerable"], store["questions"]
    if len(plain) < 4 or not wanted:
        return []
    found: list[tuple[str, list[int]]] = []
    for number in range(LONG):
        parts, answers = draw.sample(plain, draw.choice((1, 2, 3))), []
        if number % 2:
            one = draw.choice(wanted)
            parts, answers = [*parts, one["q"]], one["answers"]
            draw.shuffle(parts)
        found.append((" ".join(part if part[-1] in ".?!" else f"{part}." for part in parts), answers))
    return found


def asked_of(
    embedder: Any, several: Sequence[dict[str, Any]], way: str, another: Mapping[str, Any] | None = None
) -> Iterator[Asked]:
    """Each message of some stores, which are one memory; of one alone also longer ones, and those of `another`."""
    judge, words = way == "FITS_JUDGED", way == "FITS_BY_WORDS"
    clock = FixedClock(ASKED_AT)
    with (
        tempfile.TemporaryDirectory(prefix="limpet-hooks-") as folder,
        limpet.open(
            Path(folder) / "memory.db", scope="written", embedder=embedder, clock=clock, durable=False, judge=judge
        ) as memory,
    ):
        places: dict[str, tuple[str, int]] = {}
        for store in several:
            receipts = memory.remember_batch(stated(store["id"], one) for one in store["memories"])
            places |= {str(receipt.id): (store["id"], place) for place, receipt in enumerate(receipts)}
        if not words:
            memory.work(only_vectors=True)
        for store in several:
            messages = [(one["q"], one["answers"]) for one in store["questions"]]
            messages += [(one, []) for one in store["unanswerable"]]
            messages = messages[:: 1 if len(several) == 1 else 2]
            if another is not None:
                draw = random.Random(store["id"])
                messages += longer(store, draw)
                strange = another["questions"]
                messages += [(one["q"], []) for one in draw.sample(strange, min(FOREIGN, len(strange)))]
            for message, answers in messages:
                found = memory.recall(message, k=ASKED, trace=True, thorough=judge, lexical_only=words)
                wanted = [places[one.id] in {(store["id"], place) for place in answers} for one in found.items]
                yield Asked(known_of(found, message), wanted, bool(answers))


def known_of(found: Any, message: str) -> list[dict[str, float]]:
    said, scores = [signals(one.why) for one in found.items], [one.why.ranked for one in found.items]
    return fit.features(scores, said, list(map(item_text, found.items)), message)


def gathered(embedder: Any, way: str) -> tuple[list[Asked], list[Asked]]:
    """Messages and questions. With the judge, of their results what it read."""
    files = (*MESSAGES, *UNSEEN)
    apart, together = (groups(files, together=one) for one in (False, True))
    alone = groups(QUESTIONS, together=False)
    others = [apart[(place + 1) % len(apart)][0] for place in range(len(apart))]
    messages = [
        one
        for several, another in [*zip(apart, others, strict=True), *((one, None) for one in together)]
        for one in asked_of(embedder, several, way, another)
    ]
    questions = [one for several in alone for one in asked_of(embedder, several, way)]
    return (_read(messages), _read(questions)) if way == "FITS_JUDGED" else (messages, questions)


def _read(several: Sequence[Asked]) -> list[Asked]:
    """With the results that the judge read."""
    found = []
    for one in several:
        pairs = [(known, wanted) for known, wanted in zip(one.known, one.wanted, strict=True) if "judge" in known]
        if pairs:
            found.append(one._replace(known=[known for known, _ in pairs], wanted=[wanted for _, wanted in pairs]))
    return found


def fitted(messages: Sequence[Asked], questions: Sequence[Asked], *, names: Sequence[str]) -> dict[str, float]:
    """Weights of some features. Of either, what wants a memory weighs as much as what wants none."""
    rows, labels, weights = [], [], []
    for several, share in ((messages, 1 - WEIGHT_OF_QUESTIONS), (questions, WEIGHT_OF_QUESTIONS)):
        rows += [[1.0, *(known[name] for name in names)] for one in several for known in one.known]
        labels += [float(wanted) for one in several for wanted in one.wanted]
        answerable = np.array([one.answerable for one in several for _ in one.wanted])
        weights.append(share * np.where(answerable, 0.5 / answerable.sum(), 0.5 / (~answerable).sum()))
    x = np.array(rows)
    scale = x.std(axis=0).clip(1e-6)
    scale[0] = 1.0
    penalty = np.full(x.shape[1], RIDGE)
    penalty[0] = 0.0
    theta = logistic(x / scale, np.array(labels), np.concatenate(weights), penalty) / scale
    return {"one": float(theta[0])} | {name: float(value) for name, value in zip(names, theta[1:], strict=True)}


def run(embedder: Any, *, write: bool) -> dict[str, Any]:
    """Fit, print, and with `write` put the weights into src/limpet/agents/hooks/fit_weights.py. Returns the figures."""
    found = {}
    for way, names in WAYS.items():
        messages, questions = gathered(embedder, way)
        print(f"{way}: {len(messages)} messages, {len(questions)} questions")
        found[way] = fitted(messages, questions, names=names)
    lines = "".join(
        f"{name}: dict[str, float] = {{\n"
        + "".join(f'    "{feature}": {value:.4f},\n' for feature, value in weights.items())
        + "}\n"
        for name, weights in found.items()
    )
    print(lines)
    if write:
        (Path(limpet.__file__).parent / "agents" / "hooks" / "fit_weights.py").write_text(
            '"""The weights of the fit of a memory to a message: log-odds, see agents/hooks/fit.py.\n\n'
            f"Written by `python -m benchmarks.tune --part hooks --write`, fitted on {len(messages)} messages and\n"
            f"{len(questions)} questions of training/ that no model was trained on. Guarded by\n"
            "tests/quality/test_prompts.py.\n"
            '"""\n\n'
            f"{lines}"
            "# A memory is shown from this probability on, and from this share of the best one's.\n"
            f"SHOWN_FROM, SHOWN_FROM_JUDGED, SHOWN_FROM_BY_WORDS = {', '.join(map(str, FROM))}\n"
            f"SHARE_OF_BEST = {SHARE_OF_BEST}\n",
            encoding="utf-8",
        )
    return {"messages": len(messages), "questions": len(questions)} | found
