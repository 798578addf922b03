"""Weights of linear fusion, fitted by `python -m benchmarks.tune`: see there for the procedure.

Fitted on the questions of: locomo dev (759), longmemeval dev (149); guarded by tests/unit/test_rank.py.
"""

WEIGHTS: dict[str, float] = {
    "lexical": 5.1204,
    "fields": 11.3673,
    "vector": 9.3713,
    "lexical_previous": 2.5428,
    "lexical_next": -0.5527,
    "lexical_around": 0.4239,
    "vector_previous": -0.2841,
    "vector_next": 2.2264,
    "vector_around": 3.2188,
    "answer": 0.947,
    "session": 0.612,
    "date": 2.3873,
    "speaker": 3.2703,
    "length": 0.7481,
    "long": -1.9763,
    "brief_vector": -6.7301,
    "by_person": 1.4781,
    "question": -0.9877,
}
