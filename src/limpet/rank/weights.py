"""Weights of linear fusion, fitted by `python -m benchmarks.tune`: see there for the procedure.

Fitted on the questions of: locomo dev (759), longmemeval dev (149); guarded by tests/unit/test_rank.py.
"""

WEIGHTS: dict[str, float] = {
    "lexical": 5.4568,
    "fields": 10.3461,
    "vector": 9.6669,
    "lexical_previous": 2.9102,
    "lexical_next": -0.5771,
    "lexical_around": 0.6976,
    "vector_previous": -0.6299,
    "vector_next": 2.3799,
    "vector_around": 3.3621,
    "answer": 0.868,
    "session": 0.7172,
    "date": 3.5433,
    "speaker": 3.3932,
    "length": 0.7904,
    "long": -1.9861,
    "brief_vector": -6.6958,
    "by_person": 1.501,
    "question": -1.022,
}
