"""Every scoring number: unit, source, guarding test.

Sources: "domain model" = docs/domain-model.md; measured = docs/log.md. What is fitted stands in files of its own,
written by `python -m benchmarks.tune`: weights.py, session_weights.py, relevance_weights.py.
"""

# Candidates that each signal contributes to fusion, and the best ones whose session neighbours join them.
# About 100 a query hold 95 % of the answers on conversations (docs/log.md). test_rank.py.
LEXICAL_CANDIDATES = 60
VECTOR_CANDIDATES = 50
NEIGHBOURHOODS = 12
NEIGHBOUR_REACH = 2

# How fast a memory fades, per day since it was stated or used: exp(-rate x days), half-life ln 2 / rate. A pinned one
# does not. Domain model. test_rank.py.
DECAY_PER_DAY = {
    "skill": 0.002,
    "preference": 0.002,
    "lesson": 0.005,
    "fact": 0.01,
    "decision": 0.01,
    "correction": 0.01,
    "goal": 0.01,
    "note": 0.01,
    "opinion": 0.01,
    "episode": 0.01,
    "inference": 0.02,
}
# Use: boost = 1 + 0.1 ln(1 + u), u the uses, faded since the last one. Domain model. test_rank.py.
USE_BOOST = 0.1
# The prior among results that the judge takes for answers, by these log-odds of it. Of what they lie apart a share
# stays, since they answer alike; then use, age, weight and kind count, in log-odds. Chosen on half of a written set in
# which these decide; the project's own set and those of newer and older statements lose nothing (docs/log.md).
# test_prior.py.
ANSWERS_FROM, APART = 1.0, 0.3
USED, FADED, WEIGHTY, PASSING = 0.5, 1.0, 3.0, 1.0
# Importance 0.5 is neutral; 0 and 1 take or give this share. What is above it fades like use, by DECAY_PER_DAY, from
# the last time that the memory was stated or used. test_rank.py.
IMPORTANCE_SPAN, USUAL_IMPORTANCE = 0.1, 0.5
# Confidence 0 takes this share of a score, 1 none. Small, because most memories are stated once, and the thresholds of
# relevance know it. Below 0.1, down to an opinion that nobody repeated, another share of up to 0.3 is lost: the least
# at which a fact of the user stood first in all pairs of docs/log.md. test_rank.py.
CONFIDENCE_SPAN, DOUBT_SPAN = 0.05, 0.3
# Feedback: verdicts against a memory take up to this share, half of it when so many `not_useful` are unanswered; a
# `wrong` counts as so many of them, and a `useful` answers as many. test_feedback.py.
FEEDBACK_SPAN, FEEDBACK_HALF, VERDICT_WORTH = 0.6, 4, 5

# Confidence by observations n on distinct days. Domain model. test_rank.py.
OBSERVED_PER_DAY = 0.1
HYPOTHESIS_BASE, HYPOTHESIS_CAP, HYPOTHESIS_DAYS = 0.3, 0.6, 2
VERIFIED_BASE, VERIFIED_CAP, VERIFIED_DAYS = 0.5, 0.95, 3
OPINION_LOSS_PER_DAY = 0.02
# From this confidence on the word for it is "confirmed": stated by the user or on VERIFIED_DAYS. test_rank.py.
CONFIRMED = 0.8

# The scale of cosines on which all weights and thresholds were chosen, that of all-MiniLM-L6-v2: mean cosines of a
# question with a text that does not answer it, with its answer, and of two texts that say different things. Those of
# other embedders are moved to it (vectors/calibration.py). test_calibration.py.
UNRELATED_COSINE, RELATED_COSINE, APART_COSINE = 0.0528, 0.471, 0.0775

# The cosine by which the nearest of e (2.7) parts of a long text is nearer than one part, by chance: as much is taken
# off for each e-fold of parts. And the characters that such a text counts as. Chosen on sixty technical texts of 1,000
# to 30,000 characters among 260 notes (docs/log.md). test_long_texts.py.
PARTS_BY_CHANCE, COUNTS_AS = 0.04, 600

# The best candidates by approximate cosine whose cosine is computed exactly, from float16. test_vectors.py.
RESCORED = 64

# Results that the relevance judge reads, and what its log-odds weigh beside the ranking's when these are put in order.
# Chosen on written stores and notes that it was not trained on, and by the time that each takes (docs/log.md).
# test_judge.py.
JUDGED, JUDGE_WEIGHT = 3, 1.0
# If none of them has these log-odds, the judge reads on, up to so many results. The answer may stand below them, or
# there is none, which more results show. So for a third of the own set's questions and half of the notes'.
# test_judge.py.
JUDGE_DOUBTS, JUDGED_IN_DOUBT = -1.0, 8
# Results that it reads when a caller asks it to be thorough, as hooks do.
JUDGED_THOROUGHLY = 10

# Characters a token is counted as when a budget is fitted: English averages 4; 3.5 errs on the safe side.
CHARACTERS_PER_TOKEN = 3.5
# Tokens that an item costs beside its content (id, kind, date).
TOKENS_PER_ITEM = 16

# Days without being stated or used after which a belief of these kinds should be looked at: two and a half half-lives
# of a fact (69 days), so that less than a fifth of its weight is left. test_graph.py, test_prepare.py.
STALE_DAYS = 180
STALE_KINDS = ("fact", "decision", "inference", "opinion", "goal")

# `prepare`: tokens of a brief when nobody says otherwise. Clients cut or replace injected context from 2,000 tokens or
# 9,000 characters on. test_prepare.py.
BRIEF_TOKENS = 1_500
# Characters of one memory that a brief quotes; the rest is a `show` away. test_prepare.py.
BRIEF_EXCERPT = 480

# Sessions as results (recall/sessions.py): the best others that each is compared with, those whose sentences are read,
# memories and characters of each that are, and the words at which a sentence counts half. Chosen on the development
# sets of `python -m benchmarks.tune --part sessions`, docs/log.md. test_sessions.py.
SESSIONS_COMPARED, SESSIONS_READ, MEMORIES_READ, CHARACTERS_READ, SENTENCE_WORDS = 4, 20, 3, 2_000, 15
