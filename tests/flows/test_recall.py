"""What a query finds, what it must never find, and what it says about itself."""

from __future__ import annotations

import math

import apsw
import pytest

import limpet

TEXTS = {
    "deploy": "Deploys run on Friday afternoon",
    "limit": "The API rate limit is 100 requests per minute",
    "cat": "My cat Whiskers sleeps on the warm radiator",
    "bread": "Bread dough must rest overnight in the fridge",
    "wal": "The database uses write-ahead logging",
}


@pytest.fixture
def filled(memory):
    """(memory, name -> id): five memories with their vectors."""
    stored = {name: memory.remember(text).id for name, text in TEXTS.items()}
    memory.work()
    return memory, stored


def contents(found):
    return [one.content for one in found.items]


def test_a_word_finds_what_says_it(filled, ids):
    memory, stored = filled
    assert ids(memory.recall("radiator", k=1)) == [stored["cat"]]
    assert ids(memory.recall("logging", lexical_only=True)) == [stored["wal"]]


@pytest.mark.parametrize(
    ("query", "name"),
    [("feline pet naps somewhere cosy", "cat"), ("baking advice", "bread"), ("throttling of calls", "limit")],
)
def test_meaning_finds_what_no_word_does(filled, ids, query, name):
    memory, stored = filled
    found = memory.recall(query, k=1)
    assert ids(found) == [stored[name]]
    assert found.missing == []


def test_words_that_are_nowhere_do_not_empty_the_result(filled, ids):
    memory, stored = filled
    query = "xyzzy plugh radiator frobnicate"
    assert ids(memory.recall(query, lexical_only=True)) == [stored["cat"]]
    assert ids(memory.recall(query, k=1)) == [stored["cat"]]


@pytest.mark.parametrize(
    "query",
    ['"', '""', "'", '"unbalanced', "a AND", "OR", "NOT x", "NEAR(a b, 2)", "col:x", "content:deploys",
     "^deploys", "*", "deploy*",
     "-deploys", "write-ahead", "(", ")", "a)(b", "{a b}:c", "+", "%", "_",
     "\\", ";--", "😀", "👩‍👩‍👧", "\0", "a\0b", "\ud800", "\n\t ", "",
     "x" * 100_000, "deploys " * 12_500, "é" * 300, "東京", "؟", "1", "1.5e9", "../..", "<b>", "$1 ?1 :a @b"],
    ids=lambda text: ascii(text)[:20],
)  # fmt: skip
def test_any_query_is_only_text(filled, query):
    memory, _ = filled
    for lexical_only in (True, False):
        found = memory.recall(query, lexical_only=lexical_only)
        assert {one.content for one in found.items} <= set(TEXTS.values())
        assert all(math.isfinite(one.score) for one in found.items)


@pytest.mark.parametrize(
    "query",
    [
        "NEAR(radiator x, 2)",
        '"radiator',
        "radiator*",
        "-radiator",
        "content:radiator",
        "radiator AND",
        "rad\0 radiator",
        "😀 radiator",
    ],
)
def test_a_word_is_found_among_query_syntax(filled, ids, query):
    memory, stored = filled
    assert stored["cat"] in ids(memory.recall(query, lexical_only=True))


def test_hyphens_join_and_part_words(filled, ids):
    memory, stored = filled
    for query in ("write-ahead", "write ahead", "ahead"):
        assert ids(memory.recall(query, lexical_only=True)) == [stored["wal"]]


@pytest.mark.parametrize(
    "asked", [{"k": 0}, {"k": 1_001}, {"k": True}, {"deadline_ms": 0}, {"budget_tokens": 0}, {"k": 10**400}, {"deadline_ms": 10**400}, {"budget_tokens": 10**400},
              {"without": ["magic"]}, {"kind": ["rumour"]}, {"since": "not a time"}, {"topics": [""]}], ids=str,
)  # fmt: skip
def test_a_bad_request_is_refused(memory, asked):
    with pytest.raises(limpet.BadInput):
        memory.recall("x", **asked)


def test_scopes_never_leak_through_any_signal(path, clock):
    """Even when everything near the query, in words and in meaning, belongs to another project."""
    with limpet.open(path, scope="project:web", clock=clock) as web:
        web.remember_batch(
            {"content": f"The secret launch date of the web shop is May {i}", "session": "s"} for i in range(1, 25)
        )
        web.work()
    with limpet.open(path, scope="project:api", clock=clock) as api:
        mine = api.remember("Lunch is at noon").id
        shared = api.remember_batch([{"content": "Everyone writes English", "scope": "global"}])[0].id
        api.work()
        for without in ([], ["lexical", "fields"], ["vector"]):
            found = api.recall("secret launch date of the web shop", k=50, without=without)
            assert {one.id for one in found.items} <= {mine, shared}
        assert {one.id for one in api.recall("date", without=["lexical"], k=50).items} == {mine, shared}
        assert {one.id for one in api.related(mine, k=50).items} == {shared}
        assert api.recall("launch dat", lexical_only=True).items == []


def test_filters_hold_in_every_signal(memory, ids):
    items = {
        "a": {"content": "tea is green", "kind": "opinion", "topics": ["tea", "green"], "session": "s1",
              "valid_from": "2025-01-01"},
        "b": {"content": "tea is black", "kind": "fact", "topics": ["tea"], "session": "s1",
              "valid_from": "2025-02-01"},
        "c": {"content": "tea is white", "kind": "decision", "topics": ["green"], "session": "s2",
              "valid_from": "2025-03-01"},
    }  # fmt: skip
    stored = dict(zip(items, [one.id for one in memory.remember_batch(items.values())], strict=True))
    memory.work()

    def found(**asked):
        names = {stored[name]: name for name in stored}
        everything = [
            {names[id] for id in ids(memory.recall("tea", **asked, **how))}
            for how in ({}, {"lexical_only": True}, {"without": ["lexical"]})
        ]
        assert all(one == everything[0] for one in everything)
        return "".join(sorted(everything[0]))

    assert found() == "abc"
    assert found(kind=["opinion", "fact"]) == "ab"
    assert found(kind="decision") == "c"
    assert found(topics=["tea"]) == "ab"
    assert found(topics=["tea", "green"]) == "a"
    assert found(session="s1") == "ab"
    assert found(session="nowhere") == ""
    assert found(since="2025-02-01") == "bc"
    assert found(until="2025-02-01") == "a"
    assert found(since="2025-02-01", until="2025-03-01", kind=["fact"]) == "b"


def test_what_is_not_yet_or_no_longer_true_is_not_recalled(memory, ids):
    old = memory.remember("tea was green", valid_from="2020-01-01", valid_to="2021-01-01").id
    new = memory.remember("tea will be blue", valid_from="2030-01-01").id

    assert ids(memory.recall("tea")) == []
    assert ids(memory.recall("tea", as_of="2020-12-31T23:59:59")) == [old]
    assert ids(memory.recall("tea", as_of="2021-01-01")) == []
    assert ids(memory.recall("tea", as_of="2030-01-01")) == [new]


def test_an_edit_keeps_the_old_words_readable_as_then_known(memory, clock):
    id = memory.remember("Limit is 100").id
    memory.work()
    before = clock.now()
    clock.advance(days=1)
    memory.edit(id, "Limit is 1000")
    memory.work()

    for how in ({}, {"lexical_only": True}, {"without": ["lexical"]}):
        assert contents(memory.recall("limit", **how)) == ["Limit is 1000"]
        assert contents(memory.recall("limit", known_at=before, **how)) == ["Limit is 100"]


def test_a_correction_keeps_the_old_belief_readable(memory, clock):
    old = memory.remember("Limit is 100").id
    before = clock.now()
    clock.advance(days=1)
    memory.correct(old, "Limit is 1000", valid_from="2026-02-01")
    memory.work()

    assert contents(memory.recall("limit")) == ["Limit is 1000"]
    assert contents(memory.recall("limit", known_at=before)) == ["Limit is 100"]
    assert contents(memory.recall("limit", as_of="2026-02-15")) == ["Limit is 1000"]
    assert contents(memory.recall("limit", as_of="2026-02-15", known_at=before)) == []


@pytest.mark.parametrize("verb", ["archive", "retract", "purge"])
def test_what_was_taken_out_was_known_before(memory, clock, verb):
    id = memory.remember("Limit is 100").id
    memory.work()
    before = clock.now()
    clock.advance(days=1)
    more = {"retract": ["wrong"]}.get(verb, [])
    getattr(memory, verb)(id, *more, **({"confirm": True} if verb == "purge" else {}))

    for how in ({}, {"lexical_only": True}, {"without": ["lexical"]}):
        assert contents(memory.recall("limit", **how)) == []
        expected = [] if verb == "purge" else ["Limit is 100"]
        assert contents(memory.recall("limit", known_at=before, **how)) == expected
    assert contents(memory.recall("limit", known_at="2026-02-01")) == []


def test_a_part_of_a_word_finds_when_nothing_else_does(memory, ids):
    id = memory.remember("See ticket PROJ-90210x for the outage").id

    assert ids(memory.recall("0210x", lexical_only=True)) == [id]
    assert ids(memory.recall("%", lexical_only=True)) == []


def test_a_budget_limits_what_comes_back(memory):
    memory.remember("tea " + "x" * 3_500)
    memory.remember("tea is green")
    memory.remember("tea is black")

    assert len(memory.recall("tea", lexical_only=True).items) == 3
    tight = memory.recall("tea", lexical_only=True, budget_tokens=50)
    assert tight.truncated
    assert set(contents(tight)) == {"tea is green", "tea is black"}
    assert memory.recall("tea", lexical_only=True, budget_tokens=1).items == []
    assert not memory.recall("tea", lexical_only=True, budget_tokens=5_000).truncated


def test_signals_that_could_not_answer_are_named_with_the_reason(path, clock, memory, ids):
    id = memory.remember("Deploys run on Friday").id
    with limpet.open(path, scope="project:api", clock=clock, read_only=True) as reader:
        found = reader.recall("deploys")
        assert ids(found) == [id]
        assert found.missing == ["vector"]
        assert "no memory has a vector yet" in found.notes["vector"]
    assert memory.recall("deploys", lexical_only=True).missing == []
    memory.work()
    hurried = memory.recall("deploys", deadline_ms=0.001)
    assert "vector" in hurried.missing
    assert set(hurried.notes) == set(hurried.missing)
    assert hurried.as_dict()["missing"] == hurried.missing


def test_recall_embeds_a_small_backlog_first(memory):
    memory.remember("My cat Whiskers sleeps on the warm radiator")

    found = memory.recall("feline naps", without=["lexical"])

    assert contents(found) == ["My cat Whiskers sleeps on the warm radiator"]
    assert memory.stats().waiting_jobs == 0


def test_an_explanation_adds_up_to_the_score(memory, clock):
    memory.remember_batch(
        [
            {"content": text, "session": "s", "importance": i / 4, "speaker": "Ann"}
            for i, text in enumerate(TEXTS.values())
        ]
    )
    memory.work()
    memory.show(memory.list().memories[0].id)
    clock.advance(days=30)

    found = memory.recall("when did Ann deploy the database on Friday?", explain=True)

    assert len(found.items) == len(TEXTS)
    for one in found.items:
        total = sum(part.contribution for part in one.why.signals.values())
        assert one.score == pytest.approx(total, abs=1e-6)
        assert set(one.why.signals) >= {"vector", "use", "importance", "confidence", "feedback"}
        shown = one.as_dict()["why"]
        assert shown["signals"]["vector"]["raw"] == pytest.approx(one.why.signals["vector"].raw, abs=1e-3)
    ranks = sorted(one.why.signals["vector"].rank for one in found.items)
    assert ranks == list(range(1, len(TEXTS) + 1))


def test_the_same_question_gets_the_same_answer(filled, path, clock):
    memory, _ = filled
    first = memory.recall("database on friday", explain=True).as_dict()["items"]

    for _ in range(3):
        assert memory.recall("database on friday", explain=True).as_dict()["items"] == first
    with limpet.open(path, scope="project:api", clock=clock) as other:
        assert other.recall("database on friday", explain=True).as_dict()["items"] == first


def test_a_signal_left_out_says_nothing(filled):
    memory, _ = filled
    every = memory.recall("cat radiator", explain=True).items[0].why.signals
    assert {"lexical", "fields", "vector", "session", "date", "speaker"} <= set(every)
    for name in ("fields", "vector", "session", "date", "speaker"):
        part = memory.recall("cat radiator", explain=True, without=[name]).items[0].why.signals
        assert name not in part


def test_an_empty_store_answers_with_nothing(memory):
    found = memory.recall("anything")
    assert found.items == []
    assert found.as_dict()["items"] == []


def test_a_store_of_one_memory_finds_it(memory, ids):
    id = memory.remember("x").id
    assert ids(memory.recall("x")) == [id]
    assert ids(memory.recall("x", lexical_only=True)) == [id]
    assert memory.related(id).items == []


def test_related_finds_neighbours_in_meaning_and_leaves_itself_out(filled, ids):
    memory, stored = filled
    kitten = memory.remember("A kitten purrs in the basket").id

    found = ids(memory.related(kitten, k=2))

    assert found[0] == stored["cat"]
    assert kitten not in ids(memory.related(kitten, k=50))
    with pytest.raises(limpet.NotFound):
        memory.related("01890000-0000-7000-8000-000000000001")


def test_related_gives_as_many_as_asked_for(filled):
    memory, stored = filled
    assert len(memory.related(stored["cat"], k=3).items) == 3


def test_the_session_around_an_answer_comes_along(memory, ids):
    stored = [one.id for one in memory.remember_batch(
        {"content": text, "session": "s"}
        for text in ("What did the vet say?", "Twice a day with food", "Thanks, see you")
    )]  # fmt: skip

    assert stored[1] in ids(memory.recall("vet", lexical_only=True))


def test_what_one_handle_stores_the_other_sees(path, clock, ids):
    with (
        limpet.open(path, scope="project:api", clock=clock) as one,
        limpet.open(path, scope="project:api", clock=clock) as two,
    ):
        assert two.recall("deploys").items == []
        for i in range(3):
            id = one.remember(f"Deploys run on day {i}").id
            assert id in ids(two.recall("deploys"))
            assert id in ids(one.recall("deploys", without=["lexical"]))
        two.retract(id, "wrong")
        assert id not in ids(one.recall("deploys"))
        one.purge(ids(two.recall("day 0"))[0], confirm=True)
        assert len(two.recall("deploys").items) == 1


def test_an_item_says_where_it_comes_from(memory):
    memory.remember("tea is green", topics=["tea"], key="tea.colour", speaker="Ann", session="s1", metadata={"a": 1})

    shown = memory.recall("tea").items[0].as_dict()

    assert shown["recorded_at"] == shown["valid_from"] == "2026-03-01T12:00:00Z"
    assert (shown["topics"], shown["key"], shown["speaker"], shown["session"]) == (["tea"], "tea.colour", "Ann", "s1")
    assert (shown["metadata"], shown["scope"], shown["valid_to"]) == ({"a": 1}, "project:api", None)
    assert "why" not in shown


def test_what_is_contradicted_says_so(memory):
    """Both are held: whoever reads one of them must know about the other."""
    one = memory.remember("Releases are signed off by Kim", kind="decision").id
    other = memory.remember("Nobody has to sign off a release", kind="decision").id
    calm = memory.remember("Releases happen on Mondays", kind="decision").id
    memory.link(one, "contradicts", other)

    found = {item.id: item for item in memory.recall("releases sign off", lexical_only=True).items}

    assert found[one].disputed_by == (other,)
    assert found[other].disputed_by == (one,)
    assert found[calm].disputed_by == ()
    assert found[one].as_dict()["disputed_by"] == [other]
    memory.retract(other, "wrong")
    assert memory.recall("releases sign off", lexical_only=True).items[0].disputed_by == ()


NOVEMBER = [
    ("2026-10-30", "Ana started the migration of the billing tables"),
    ("2026-11-04", "The payment gateway was down for two hours"),
    ("2026-11-04", "Ben fixed the refund bug in the ledger"),
    ("2026-11-05", "The staging database is called kelp"),
    ("2026-11-20", "What happened with the outage was written up"),
    ("2026-11-20", "Ana happened to find the cause of the flaky test"),
    ("2026-11-24", "November's invoices went out"),
    ("2026-11-25", "Standup moved to 9:30"),
]


@pytest.mark.parametrize(
    ("asked", "days"),
    [
        ("What happened on November 4?", {"2026-11-04"}),
        ("what did we do on 2026-11-04", {"2026-11-04"}),
        ("what happened on 4 Nov 2026?", {"2026-11-04"}),
        ("What was going on last week?", {"2026-11-20"}),
        ("What did I do yesterday?", {"2026-11-25"}),
        ("What happened in October?", {"2026-10-30"}),
    ],
)
def test_what_happened_in_a_time_brings_what_is_of_that_time(path, asked, days):
    with limpet.open(path, scope="project:api", clock=limpet.FixedClock("2026-11-26T09:00:00Z")) as memory:
        for day, text in NOVEMBER:
            memory.remember(text, valid_from=day, kind="episode")
        memory.work()
        found = memory.recall(asked)
        within = [item for item in found.items if not item.outside]
        assert {f"{item.valid_from:%Y-%m-%d}" for item in within} == days and found.relevant
        assert found.items[: len(within)] == within and found.shape == "time"
        assert len(within) == found.count == sum(day in days for day, _ in NOVEMBER)
        assert [item.score for item in found.items] == sorted((item.score for item in found.items), reverse=True)
        none = memory.recall("What happened on March 3?")
        assert not none.relevant and len(none.items) > 1, "of a day of which nothing is known, the nearest are shown"
        named = memory.recall("What happened to the gateway on November 5?")
        assert [(item.content, item.outside) for item in named.items[:2]] == [
            (NOVEMBER[3][1], False),
            (NOVEMBER[1][1], True),
        ]


def test_what_was_believed_then_is_told_of_a_day(path):
    clock = limpet.FixedClock("2026-11-04T09:00:00Z")
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        was = memory.remember("The demo is on Thursday").id
        clock.advance(days=5)
        memory.correct(was, "The demo is on Friday")
        memory.work()
        clock.advance(days=1)
        assert [(one.id, one.outside) for one in memory.recall("What happened on November 4?", k=1).items] == [
            (was, False)
        ]


def test_a_question_about_last_tuesday_prefers_what_happened_then(memory, clock):
    """1 March 2026 is a Sunday."""
    for day, what in (("2026-02-17", "one"), ("2026-02-24", "two"), ("2026-02-26", "three")):
        memory.remember(
            f"Team meeting number {what}", kind="episode", session="s", speaker="user", valid_from=f"{day}T10:00:00Z"
        )

    found = memory.recall("what was the team meeting last Tuesday", lexical_only=True, explain=True)

    assert found.items[0].content == "Team meeting number two"
    assert [item.why.signals["date"].raw for item in found.items] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("requests pass through rateLimiter first", "where is the rate limiter?"),
        ("requests pass through RateLimiter first", "rate_limiter"),
        ("requests pass through rate_limiter first", "rateLimiter"),
        ("requests pass through the rate limiter first", "RateLimiter"),
        ("HTTPServer starts last", "http server"),
    ],
)
def test_a_name_is_found_in_any_spelling(memory, ids, text, query, arrays_of_few_texts):
    id = memory.remember(text).id
    memory.remember("Somebody waters the plants on Monday")
    for _ in range(2):  # from rows, then from arrays
        assert ids(memory.recall(query, lexical_only=True))[0] == id


def test_the_first_results_are_read_in_one_statement(path, clock):
    """By the judge, by what puts newer ones first, by what folds near-duplicates, and by the answer."""
    read = []

    def watch(connection):
        connection.exec_trace = lambda _, statement, bound: read.append(statement) or True

    apsw.connection_hooks.append(watch)
    try:
        with limpet.open(path, scope="project:api", clock=clock) as memory:
            for day in range(12):
                clock.set(f"2026-03-{day + 1:02}T12:00:00Z")
                memory.remember(f"The deploy of service {day} runs on port {8000 + day}")
            memory.work()
            memory.recall("on which port does the deploy run", k=10)
            read.clear()
            assert len(memory.recall("which port has the deploy", k=10).items) == 10
    finally:
        apsw.connection_hooks.remove(watch)
    assert sum("m.metadata" in statement for statement in read) == 1


ANSWERS = {
    "When does the backup start?": "The nightly backup starts at 02:30 and takes forty minutes",
    "Who owns billing?": "Ana owns the billing service and its on-call rota",
    "What do the tests need before they start?": "Tests need Redis on port 6380",
    "Which error is shown when the bank declines a card?": "The error E4021 means that the card was declined by the bank",
    "Where do I look when the deploy is stuck?": "The VPN has to be up before a deploy, else it hangs",
    "How is a payment retried after a failure?": "The payment retries wait 30 seconds and give up after five attempts",
}


def test_a_pasted_log_that_has_every_word_is_before_no_note_that_answers(memory):
    """Its length made all notes as good as of no length, and itself no longer than the mean."""
    words = [word for question in ANSWERS for word in question.lower().strip("?").split()]
    lines = [" ".join(words[n * by % len(words)] for by in (1, 7, 11, 13)) for n in range(4_000)]
    for text in (*ANSWERS.values(), "\n".join(f"{n:05d} INFO {line}" for n, line in enumerate(lines))):
        memory.remember(text)
    for question, answer in ANSWERS.items():
        assert memory.recall(question, lexical_only=True).items[0].content == answer


def test_of_few_memories_none_is_lost_as_its_words_are_in_half_of_them(memory):
    memory.remember("Ramesh owns the alerting rules of production")
    memory.remember("Alerting rules of production are Dagny's, Ramesh gave them up")
    memory.remember("The alerting budget is 20 EUR")

    found = memory.recall("Who owns the alerting rules of production?", lexical_only=True)
    assert len(found.items) == 3
    memory.remember("The office is open")
    assert len(memory.recall("Is the office of the owner there?", lexical_only=True).items) < 4  # "the" says nothing
