-- What `prepare` looks up: what stands in every brief of a scope, and what waits about a memory in the review list.

-- Pinned memories, keyed facts, preferences and goals: each in one group, the most important and newest at its end.
-- `valid_to` is there so that the ended values of a busy key are passed over without reading their rows.
CREATE INDEX memory_standing ON memory (
  scope, (CASE WHEN pinned THEN 'pinned' WHEN key IS NOT NULL THEN 'keyed' ELSE kind END), importance, created_at, valid_to
) WHERE retired_at IS NULL AND state = 'active' AND (pinned OR key IS NOT NULL OR kind IN ('preference', 'goal'));
CREATE INDEX review_memory ON review (memory) WHERE verdict IS NULL;
CREATE INDEX review_other ON review (other) WHERE verdict IS NULL;
