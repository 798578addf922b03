"""Whether a memory fits a message by meaning: log-odds, see agents/hooks/fit.py.

Written by `python -m benchmarks.tune --part hooks --write`, fitted on 4176 messages and
941 questions of training/, with the judge on 4176 and 941,
that no model was trained on. Guarded by tests/quality/test_prompts.py.
"""

FITS: dict[str, float] = {
    "one": -5.3394,
    "cosine": 4.9445,
    "behind": -0.6928,
    "alone": 2.2846,
    "length": 0.1344,
}
FITS_JUDGED: dict[str, float] = {
    "one": -1.8916,
    "behind": -0.6403,
    "alone": 1.9711,
    "length": 0.0697,
    "judge": 0.4457,
}
# From which probability on a memory is shown, and from which share of the best one's.
SHOWN_FROM, SHOWN_FROM_JUDGED, SHARE_OF_BEST = 0.4, 0.28, 0.5
