"""When a recall says that nothing relevant was found, and when not."""

from __future__ import annotations

import pytest

REGIONS = ("Frankfurt", "Dublin", "Oregon", "Tokyo", "Paris")
CAUSES = ("a full disk", "a lost lease", "an expired token", "a bad checksum", "a missing header", "a slow replica")


@pytest.fixture
def codes(memory):
    """Error codes from E4200 to E4239, hosts from mx0 to mx19, and what is about neither."""
    memory.remember_batch(
        {"content": f"Error E{4200 + i} means {CAUSES[i % 6]} on the billing service"} for i in range(40)
    )
    memory.remember_batch({"content": f"Host mx{i}.example.org runs in {REGIONS[i % 5]}"} for i in range(20))
    memory.remember_batch(
        {"content": text}
        for text in (
            "Error responses use the RFC 9457 problem format",
            "We deploy on Tuesdays with make VERSION=v2.3.1",
        )
    )
    memory.work()
    return memory


@pytest.mark.parametrize("lexical_only", [False, True])
@pytest.mark.parametrize("known, unknown", [("E4211", "E4299"), ("mx7.example.org", "mx77.example.org")])
def test_what_is_about_another_code_is_no_answer(codes, known, unknown, lexical_only):
    for question in ("{}", "what does error {} mean?", "which region has {}?", "where does {} run?"):
        assert not codes.recall(question.format(unknown), lexical_only=lexical_only).relevant
    for question in ("{}", "what does {} mean?" if known[0] == "E" else "which region has {}?"):
        found = codes.recall(question.format(known), lexical_only=lexical_only)
        assert found.relevant and known in found.items[0].content


@pytest.mark.parametrize(
    "known, unknown", [("E4211 means a full disk", "E4212"), ("mx1.example.org is in Paris", "mx2.example.org")]
)
def test_the_only_code_there_is_answers_for_no_other(memory, known, unknown):
    memory.remember(known)
    memory.work()
    assert not memory.recall(f"what is {unknown}?").relevant
    assert not memory.recall(unknown).relevant


def test_what_two_of_three_memories_name_is_a_word_in_common(memory):
    """A word in most texts is not searched for, and yet it is the one that the question is about."""
    for text in ("The deploy is done by Ana", "After the deploy Bob calls", "Bread rests overnight"):
        memory.remember(text)
    assert memory.recall("when is the deploy?", lexical_only=True).relevant


def test_words_with_a_hyphen_are_no_names(memory):
    memory.remember_batch(["We re-run failed jobs twice", "Use read-only replicas for reports"])
    memory.work()
    assert memory.recall("how often do we re-try failed jobs?").relevant
    assert memory.recall("which replicas serve write-only reports?").relevant


@pytest.mark.parametrize(
    "known, question",
    [
        ("Python 3.11 is required for the build", "can we use Python 3.12?"),  # what is general answers of others too
        ("Deploys to node 12 need a new image first", "how do deploys to node 14 work, do they need a new image?"),
        ("The retro of May 12 was moved to Friday", "what about the retro of May 14?"),
        ("Sprint 12 follows on sprint 13 of the other team", "when is sprint 13?"),
    ],
)
def test_a_number_in_a_question_hides_no_answer(memory, known, question):
    memory.remember_batch(
        {"content": text} for text in (known, "Bread rests overnight", "Ana owns the billing service")
    )
    memory.work()
    assert memory.recall(question).relevant


def test_a_new_ticket_file_or_version_beside_a_question_hides_no_answer(codes):
    for question in (
        "Fix JIRA-4711: which error format do we use?",
        "In src/app/errors9.py, which error format do we use?",
        "I see E4299 in the logs, which error format do we use?",
        "how do I deploy v2.4.0?",
    ):
        found = codes.recall(question)
        assert found.relevant and ("RFC 9457" in found.items[0].content or "make VERSION" in found.items[0].content)


def test_a_result_that_has_the_whole_query_is_not_called_irrelevant(memory):
    memory.remember("The initialisation of the cluster takes ten minutes")
    memory.remember("Bread rests overnight")
    memory.work()
    for part in ("ialisati", "initialis", "of the clus"):
        assert memory.recall(part).relevant
    assert not memory.recall("zqxvw").relevant


@pytest.mark.parametrize(
    "part, whole",
    [
        ("ialisati", "The initialisation of the cluster takes ten minutes"),
        ("of the clus", "The initialisation of the cluster takes ten minutes"),
        ("e clus", "The initialisation of the cluster takes ten minutes"),
        ("29vb77", "the key is sk_xk29vb77qzl in the vault for tests"),
        ("frame 308", "The mainframe 3081 was sold in May"),
    ],
)
def test_a_part_of_a_word_is_found_among_many_that_lie_nearer_by_meaning(codes, part, whole):
    codes.remember(whole)
    codes.work()
    for lexical_only in (False, True):
        found = codes.recall(part, lexical_only=lexical_only)
        assert found.items[0].content == whole and found.relevant


def test_what_is_a_part_of_many_words_hides_nothing_that_is_meant(memory):
    memory.remember_batch({"content": f"During the engineering week {i} we restored string {i}"} for i in range(40))
    meant = "Her wedding band was made by a goldsmith in Trier"
    memory.remember(meant)
    memory.work()
    assert memory.recall("ring").items[0].content == meant


def test_what_is_related_is_found_before_anybody_made_vectors(memory):
    memory.remember("Deploys hang when the VPN is down")
    release = memory.remember("The release pipeline needs the company VPN").id
    memory.remember("Bread is baked at 6")

    found = memory.related(release)

    assert found.missing == [] and len(found.items) == 2
    assert found.items[0].content == "Deploys hang when the VPN is down"
    assert memory.stats().waiting_jobs == 0


def test_an_answer_says_in_a_sentence_what_it_is_worth(memory):
    asked = "who painted the ceiling of the chapel?"
    assert memory.recall(asked).note == "Nothing was found."
    alone = memory.remember("Tests need Redis on port 6380", session="s1").id
    memory.work()
    for answer in (memory.recall(asked), memory.recall_sessions(asked)):
        assert not answer.relevant and answer.note == "Nothing here answers this well; the nearest are shown."
        assert answer.as_dict()["note"] == answer.note == type(answer).from_dict(answer.as_dict()).note
    assert memory.recall("redis port").note == "The first of these probably answers it."
    assert memory.related(alone).note == "No other memory here is near it."
    memory.remember("Redis is restarted by the tests")
    assert memory.related(alone).note == ""


def test_the_value_of_now_is_no_answer_to_what_it_was(memory, ids):
    old = memory.set_fact("adyen.api_version", "v68", valid_from="2025-01-01").id
    new = memory.set_fact("adyen.api_version", "v71", valid_from="2025-06-01").id
    memory.remember("Bread rests overnight")
    memory.work()

    assert ids(memory.recall("what was the adyen api version before v71?"))[:2] == [old, new]
    assert ids(memory.recall("what is the adyen api version?"))[0] == new
    assert ids(memory.recall("what was the adyen api version?", as_of="2025-02-01"))[0] == old


@pytest.mark.parametrize(
    "question",
    [
        "Wer darf die Abrechnung des Lagers freigeben?",
        "Quel jour la cantine est-elle fermée ?",
        "¿Cuándo cierran las oficinas del almacén?",
        "Chi ha le chiavi del magazzino?",
    ],
)
def test_in_a_language_that_the_models_do_not_know_nothing_probably_answers(codes, question):
    codes.remember_batch(["The warehouse closes at six", "Ana approves the invoices of the warehouse"])
    codes.work()
    assert "probably" not in codes.recall(question).note
