-- Named statements. Each says what it is for and which index SQLite uses. Loaded by statements.py.
-- Fragments that several share stand at the top; {visible} is the filter, filled in there too. CROSS JOIN fixes the
-- order of a join where the planner, which knows nothing of carray's size, would scan a whole scope.

-- fragment: columns
-- A whole version row, in the order that `to_memory` reads.
m.num, m.id, s.name, m.kind, b.content, m.topics, m.key, m.metadata, m.state, m.origin, m.source, e.name, m.speaker,
m.position, m.importance, m.stated_confidence, m.observations, m.observed_at, m.pinned, m.valid_from, m.valid_to,
m.created_at, m.recorded_at, m.retired_at, m.superseded_by, m.reason, u.uses, u.used_at, m.trust,
u.useful, u.not_useful, u.wrong

-- fragment: tables
memory m JOIN scope s ON s.num = m.scope LEFT JOIN body b ON b.num = m.body
LEFT JOIN session e ON e.num = m.session LEFT JOIN usage u ON u.id = m.id

-- fragment: event
-- An event, in the order that `to_event` reads.
v.seq, v.id, v.type, v.memory, v.at, v.operation, v.origin, b.content, v.data

-- fragment: events
event v LEFT JOIN body b ON b.num = v.body

-- fragment: proposals
SELECT r.id, r.kind, s.name, r.memory, r.other, r.reason, r.score, r.created_at, r.verdict, r.decided_at
  FROM scope s JOIN review r ON r.scope = s.num

-- fragment: sessions
-- Sessions with the number and the last time of what they hold.
SELECT e.name, s.name, e.started_at, e.ended_at, e.title, count(m.num), max(e.started_at, ifnull(max(m.created_at), 0))
  FROM scope s JOIN session e ON e.scope = s.num
  LEFT JOIN memory m ON m.session = e.num AND m.retired_at IS NULL AND m.state = 'active'

-- fragment: session_num
(SELECT num FROM session WHERE scope = (SELECT num FROM scope WHERE name = :scope) AND name = :name)

-- fragment: candidate
m.num, m.body, m.id, b.content, m.session, m.position, m.speaker, m.valid_from, b.topics, b.labels, b.dates,
m.kind, m.importance, m.pinned, m.trust, m.observations, m.observed_at, m.stated_confidence, u.uses, u.used_at,
u.useful, u.not_useful, u.wrong, m.key, b.grams

-- fragment: of_body
-- {joins}, {joined}: how an engine joins a row that it finds by number.
SELECT {column} FROM b {joins} b.current {joined} {lengths}

-- fragment: column
-- {length} and, below, {lengths}: how many index terms a text has, as the engine keeps it.
b.num, m.num, CAST(substr(b.scope, 2) AS INTEGER), m.state, m.kind, m.trust, m.pinned, m.session, m.position, m.speaker,
m.valid_from, m.valid_to, m.importance, m.observations, m.observed_at, m.stated_confidence, b.content, b.topics, b.labels,
b.dates, m.id, m.key, {length}

-- fragment: current
-- The current memory of a body, if it has one.
coalesce(
  (SELECT f.num FROM memory f WHERE f.num = body.num AND f.body = body.num AND f.retired_at IS NULL),
  (SELECT l.num FROM memory l INDEXED BY memory_body
    WHERE l.body = body.num AND l.body <> l.num AND l.retired_at IS NULL)) AS current

-- fragment: in_scopes
-- An event `v` of some scopes, or of a memory that left one of them. Before scope_of_event, which it has.
(:scopes IS NULL OR v.data ->> 'was' IN (SELECT value FROM json_each(:scopes))
  OR {scope_of_event} IN (SELECT value FROM json_each(:scopes)))

-- fragment: scope_of_event
-- The scope of an event `v`: that of its memory, or the one it names (sessions), or that of its session (an undone of it).
coalesce(
  (SELECT s.name FROM memory m JOIN scope s ON s.num = m.scope WHERE m.id = v.memory AND m.retired_at IS NULL),
  v.data ->> 'scope',
  (SELECT e.data ->> 'scope' FROM event e WHERE e.memory = v.memory AND e.memory <> e.id AND e.type = 'session_started' LIMIT 1))

-- fragment: not_rejected
-- Of a relation `r` of two memories: no person has said that both hold.
r.older <> r.newer AND NOT EXISTS (SELECT 1 FROM review v WHERE v.memory = r.newer AND v.other = r.older AND v.verdict = 'rejected')
  AND NOT EXISTS (SELECT 1 FROM review v WHERE v.memory = r.older AND v.other = r.newer AND v.verdict = 'rejected')

-- name: memory_current
-- The current version of one memory. memory_current.
SELECT {columns} FROM {tables} WHERE m.id = :id AND m.retired_at IS NULL

-- name: memory_versions
-- All versions of one memory, oldest first. memory_current, memory_past.
SELECT {columns} FROM {tables} WHERE m.num IN {versions} ORDER BY m.recorded_at, m.num

-- name: memories_by_num
-- Whole rows by number. Primary key.
SELECT {columns} FROM carray(:nums) c CROSS JOIN {tables} WHERE m.num = c.value

-- name: memories_named
-- Ids in a range, or those whose last bytes are: twelve are enough to list candidates. memory_current, memory_short.
SELECT id FROM memory WHERE {part} BETWEEN :low AND :high AND retired_at IS NULL
   AND (:scopes IS NULL OR scope IN (SELECT s.num FROM json_each(:scopes) j JOIN scope s ON s.name = j.value))
 ORDER BY id LIMIT 12

-- name: stated
-- Rows with this fingerprint, whether they are held true at :at or other memories have replaced them, and whether they were
-- merged into others; nearly always none, so that sorting is left to the caller: to set it up costs SQLite five times the
-- look-up. memory_fingerprint.
SELECT valid_to IS NULL OR :at < valid_to, state = 'merged', created_at, num FROM memory INDEXED BY memory_fingerprint
 WHERE fingerprint = :fingerprint AND retired_at IS NULL AND state IN ('active', 'merged')
   AND (valid_to IS NULL OR :at < valid_to OR superseded_by IS NOT NULL)

-- name: marked
-- Those among some fingerprints that an active memory has, or one that was merged. memory_fingerprint.
SELECT DISTINCT m.fingerprint FROM carray(:marks) c
  CROSS JOIN memory m INDEXED BY memory_fingerprint ON m.fingerprint = c.value
 WHERE m.retired_at IS NULL AND m.state IN ('active', 'merged')

-- name: key_in_other_case
-- The key in use that differs from :key in case alone ({same}), the oldest. memory_key.
SELECT m.key FROM memory m INDEXED BY memory_key
 WHERE m.scope = (SELECT num FROM scope WHERE name = :scope) AND m.key IS NOT NULL AND {same}
   AND m.key <> :key AND m.retired_at IS NULL AND m.state = 'active'
 ORDER BY m.created_at, m.id LIMIT 1

-- name: session
-- One session. Primary key by (scope, name), memory_session.
{sessions} WHERE s.name = :scope AND e.name = :name GROUP BY e.num, e.name, s.name, e.started_at, e.ended_at, e.title

-- name: sessions
-- Sessions of a scope, the latest first: by when they began, which their memories follow. memory_session.
{sessions} WHERE s.name = :scope
 GROUP BY e.num, e.name, s.name, e.started_at, e.ended_at, e.title ORDER BY 7 DESC, e.name LIMIT :limit

-- name: session_memories
-- What a session holds, the last first. memory_session.
SELECT {columns} FROM {tables}
 WHERE m.session = {session_num}
   AND m.retired_at IS NULL AND m.state = 'active'
 ORDER BY m.position DESC, m.created_at DESC, m.id DESC LIMIT :limit

-- name: session_turns
-- The turns of a session, the last first. memory_session.
SELECT id, fingerprint, valid_from, state FROM memory
 WHERE session = {session_num}
   AND retired_at IS NULL AND kind = 'episode' AND speaker IS NOT NULL AND key IS NULL
 ORDER BY position DESC, created_at DESC, id DESC LIMIT :limit

-- name: last_position
-- The last place taken in a session. memory_session.
SELECT max(position) FROM memory WHERE session = {session_num}

-- name: events_of_memory
-- One memory's ledger. event_id, event_memory.
SELECT {event}
  FROM {events}
 WHERE v.seq IN (SELECT seq FROM event WHERE id = :memory AND memory = :memory
                 UNION ALL SELECT seq FROM event WHERE memory = :memory AND memory <> id)
   AND v.seq > :after ORDER BY v.seq

-- name: events_after
-- The ledger from a place on. Primary key.
SELECT {event} FROM {events} WHERE v.seq > :after ORDER BY v.seq LIMIT :limit

-- name: events_by_ids
-- Some events, in order. event_id.
SELECT {event}
  FROM carray(:ids) c CROSS JOIN event v ON v.id = c.value LEFT JOIN body b ON b.num = v.body
 WHERE v.seq > :after ORDER BY v.seq

-- name: undone_events
-- What takes back events of some memories, in order. event_memory.
SELECT v.seq, v.id, v.type, v.memory, v.at, v.operation, v.origin, NULL, v.data
  FROM carray(:memories) c CROSS JOIN event v ON v.memory = c.value AND v.memory <> v.id
 WHERE v.type = 'undone' ORDER BY v.seq

-- name: known_events
-- Which of some events there are. event_id.
SELECT v.id, v.type, v.memory FROM carray(:ids) c CROSS JOIN event v ON v.id = c.value

-- name: events_named
-- The same of events. By last bytes it scans event_id: an operation is seldom named, and a write need not keep an index for it.
SELECT id FROM event INDEXED BY event_id WHERE {part} BETWEEN :low AND :high ORDER BY id LIMIT 12

-- name: events_like
-- The last events whose ids' last bytes begin as those of some ids do, for abbreviations. Primary key.
SELECT id FROM event WHERE seq > (SELECT max(seq) FROM event) - :last
   AND substr(id, 12, 3) IN (SELECT substr(c.value, 12, 3) FROM carray(:ids) c)

-- name: newest_events
-- Events of some scopes before a place, the newest first. Primary key, memory_current.
SELECT {event}
  FROM {events}
 WHERE v.seq < :before AND {in_scopes}
 ORDER BY v.seq DESC LIMIT :limit

-- name: operation_size
-- How many events an operation has, in whatever scope. event_id, event_operation.
SELECT count(*) FROM event WHERE id = :operation OR operation = :operation

-- name: operation_events
-- An operation: its first event and those that name it. event_id, event_operation.
SELECT {event} FROM {events}
 WHERE v.seq IN (SELECT seq FROM event WHERE id = :operation UNION SELECT seq FROM event WHERE operation = :operation)
   AND {in_scopes}
 ORDER BY v.seq

-- name: next_numbers
-- Those of the next text and the next event. Primary keys.
SELECT ifnull((SELECT max(num) FROM body), 0) + 1, ifnull((SELECT max(seq) FROM event), 0) + 1

-- name: insert_event
-- The ledger grows; its row is made by chain.py.
INSERT INTO event (seq, id, type, memory, at, operation, origin, body, data, place, salt, link)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_memory
-- A version begins. The columns after `fingerprint` are fields of a state as they are.
INSERT INTO memory (num, scope, body, topics, metadata, session, recorded_at, fingerprint, id, kind, key, state, origin, trust,
  source, speaker, position, importance, stated_confidence, observations, observed_at, pinned, valid_from, valid_to, created_at,
  superseded_by, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_job
-- Work waits; the same work once. Primary key.
INSERT INTO job (kind, subject, not_before) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: look_again
-- The check that finds anchors, for a memory that has some. memory_current, primary key of anchor.
INSERT INTO job (kind, subject, not_before) SELECT 'duplicates', m.body, 0 FROM memory m JOIN anchor a ON a.memory = m.id
 WHERE m.id = ? AND m.retired_at IS NULL AND m.body IS NOT NULL ON CONFLICT DO NOTHING

-- name: retire_memory
-- A version ends, at the earliest when it began: clocks of several devices may disagree. memory_current.
UPDATE memory SET retired_at = max(:at, recorded_at) WHERE id = :id AND retired_at IS NULL RETURNING retired_at

-- name: bodies_of_current
-- Which bodies the current versions of some memories use. memory_current.
SELECT m.id, m.body FROM carray(:ids) c CROSS JOIN memory m ON m.id = c.value AND m.retired_at IS NULL
 WHERE m.body IS NOT NULL

-- name: bodies_of_memory
-- Every body a memory ever had, versions and ledger. memory_current, memory_past, event_id, event_memory.
SELECT body FROM memory WHERE num IN {versions} AND body IS NOT NULL
UNION SELECT body FROM event WHERE id = :id AND memory = :id AND body IS NOT NULL
UNION SELECT body FROM event WHERE memory = :id AND memory <> id AND body IS NOT NULL

-- name: candidates
-- What ranking needs, for the bodies that pass the filter. Primary key, memory_body.
SELECT {candidate} FROM carray(:bodies) c
  CROSS JOIN memory m ON m.num = c.value AND m.body = m.num
  CROSS JOIN body b ON b.num = m.body
  LEFT JOIN usage u ON u.id = m.id
 WHERE {visible}
UNION ALL
SELECT {candidate} FROM carray(:bodies) c
  CROSS JOIN memory m INDEXED BY memory_body ON m.body = c.value AND m.body <> m.num
  CROSS JOIN body b ON b.num = m.body
  LEFT JOIN usage u ON u.id = m.id
 WHERE {visible}

-- name: columns_after
-- Bodies from a number on as `TextColumns`, with the current memory of each, if it has one. Primary key,
-- memory_body.
WITH b AS MATERIALIZED (SELECT body.*, {current} FROM body WHERE num > :after ORDER BY num LIMIT :limit)
{of_body} ORDER BY b.num

-- name: columns_of
-- The same of some bodies. Primary key.
WITH b AS MATERIALIZED (SELECT body.*, {current} FROM carray(:bodies) c CROSS JOIN body ON body.num = c.value) {of_body}

-- name: bodies_of_memories
-- Every body that versions of some memories have. memory_current, memory_past.
SELECT m.body FROM carray(:ids) c CROSS JOIN memory m ON m.id = c.value AND m.retired_at IS NULL
 WHERE m.body IS NOT NULL
UNION
SELECT m.body FROM carray(:ids) c CROSS JOIN memory m ON m.id = c.value AND m.retired_at IS NOT NULL
 WHERE m.body IS NOT NULL

-- name: usage_of
-- Use of some memories. Primary keys.
SELECT m.body, u.uses, u.used_at, u.useful, u.not_useful, u.wrong FROM carray(:nums) c CROSS JOIN memory m ON m.num = c.value
  CROSS JOIN usage u ON u.id = m.id

-- name: neighbours
-- Rows near the given ones in their sessions, some more than once. Primary key, memory_session.
SELECT {candidate} FROM carray(:nums) c
  CROSS JOIN memory a ON a.num = c.value
  CROSS JOIN memory m INDEXED BY memory_session
    ON m.session = a.session AND m.position BETWEEN a.position - :reach AND a.position + :reach
  CROSS JOIN body b ON b.num = m.body
  LEFT JOIN usage u ON u.id = m.id
 WHERE m.session IS NOT NULL AND m.num <> a.num AND {visible}

-- name: allowed
-- Every body that passes the filter. memory_created by scope.
SELECT m.body FROM memory m JOIN scope s ON s.num = m.scope WHERE m.body IS NOT NULL AND {visible}

-- name: allowed_of_session
-- The same for one session. memory_session.
SELECT m.body FROM session e CROSS JOIN memory m INDEXED BY memory_session ON m.session = e.num
 WHERE e.name = :session AND m.body IS NOT NULL AND {visible}

-- name: allowed_of_topic
-- The same for topics. {found}: the texts that the index finds, from the engine. Primary key, memory_body.
WITH found AS MATERIALIZED ({found})
SELECT m.body FROM found f CROSS JOIN memory m ON m.num = f.body AND m.body = m.num WHERE {visible}
UNION ALL
SELECT m.body FROM found f CROSS JOIN memory m INDEXED BY memory_body ON m.body = f.body AND m.body <> m.num
 WHERE {visible}

-- name: substring
-- Bodies that contain a text, case-folded for ASCII by LIKE. A scan: of all only where every other layer found nothing, else
-- of the newest :newest of each of :scopes. memory_created.
SELECT m.body FROM memory m JOIN scope s ON s.num = m.scope JOIN body b ON b.num = m.body
 WHERE (b.content LIKE :pattern ESCAPE '\' OR b.labels LIKE :pattern ESCAPE '\' OR b.topics LIKE :pattern ESCAPE '\')
   AND m.created_at >= ifnull((SELECT max((SELECT n.created_at FROM memory n WHERE n.scope = o.num AND n.retired_at IS NULL
                                            ORDER BY n.created_at DESC LIMIT 1 OFFSET :newest - 1))
                                 FROM scope o WHERE :scopes IS NULL OR o.name IN (SELECT value FROM json_each(:scopes))), 0)
   AND {visible}
 ORDER BY m.created_at DESC, m.id DESC LIMIT :limit

-- name: count
-- How many pass the filter. memory_created.
SELECT count(*) FROM memory m JOIN scope s ON s.num = m.scope WHERE {visible}

-- name: use
-- A memory was used. Primary key.
INSERT INTO usage (id, scope, uses, used_at, useful, not_useful, wrong)
SELECT m.id, m.scope, :used, :at, :useful, :not_useful, :wrong FROM memory m WHERE m.id = :id AND m.retired_at IS NULL
ON CONFLICT (id) DO UPDATE SET uses = usage.uses + excluded.uses, used_at = max(usage.used_at, excluded.used_at),
  useful = usage.useful + excluded.useful, not_useful = usage.not_useful + excluded.not_useful,
  wrong = usage.wrong + excluded.wrong

-- name: restore_use
-- Counts of another store, of a memory that is here. Primary key, memory_current.
INSERT INTO usage (id, scope, uses, used_at, useful, not_useful, wrong)
SELECT m.id, m.scope, :uses, :used_at, :useful, :not_useful, :wrong FROM memory m WHERE m.id = :id AND m.retired_at IS NULL
ON CONFLICT (id) DO UPDATE SET scope = excluded.scope, uses = excluded.uses, used_at = excluded.used_at,
  useful = excluded.useful, not_useful = excluded.not_useful, wrong = excluded.wrong

-- name: disputed
-- What was said to be wrong, and how often. A scan of the used ones; memory_current.
SELECT u.id, u.wrong FROM usage u JOIN memory m ON m.id = u.id AND m.retired_at IS NULL AND m.state = 'active'
 WHERE u.wrong > 0 AND u.scope IN (SELECT s.num FROM json_each(:scopes) j JOIN scope s ON s.name = j.value) ORDER BY u.id

-- name: texts
-- Texts to embed, with the key of a keyed fact: "Tampa" alone says nothing. Primary key, memory_body.
SELECT b.num, b.content, nullif(max(
    ifnull((SELECT m.key FROM memory m WHERE m.num = b.num AND m.body = m.num), ''),
    ifnull((SELECT max(m.key) FROM memory m INDEXED BY memory_body WHERE m.body = b.num AND m.body <> m.num), '')), ''),
    b.topics
  FROM carray(:bodies) c CROSS JOIN body b ON b.num = c.value

-- name: proposal
-- One proposal. Primary key.
{proposals} WHERE r.id = :id

-- name: proposals
-- What waits in a scope and is still about two active memories that nothing replaced; of a concurrent pair, one has replaced the
-- other already. review_waiting, memory_current.
{proposals} AND r.verdict IS NULL
 WHERE s.name = :scope AND (:kind IS NULL OR r.kind = :kind)
   AND EXISTS (SELECT 1 FROM memory m WHERE m.id = r.memory AND m.retired_at IS NULL AND m.state = 'active'
                                        AND (m.superseded_by IS NULL OR r.kind = 'concurrent'))
   AND EXISTS (SELECT 1 FROM memory m WHERE m.id = r.other AND m.retired_at IS NULL AND m.state = 'active'
                                        AND (m.superseded_by IS NULL OR r.kind = 'concurrent'))
 ORDER BY r.created_at, r.id LIMIT :limit

-- name: withdraw
-- What waits of a kind about pairs of some memories. review_memory.
DELETE FROM review WHERE verdict IS NULL AND kind = :kind AND memory IN (SELECT value FROM carray(:ids))
                     AND other IN (SELECT value FROM carray(:ids))

-- name: lease_jobs
-- Take jobs that are due and not leased. {among}: of some subjects. Primary key.
UPDATE job SET leased_until = :until, attempts = attempts + 1
 WHERE kind = :kind AND subject IN (SELECT subject FROM job WHERE kind = :kind AND state = 'waiting'
                                       AND not_before <= :at AND leased_until <= :at {among} ORDER BY subject LIMIT :limit)
RETURNING kind, subject, attempts, error

-- name: chunks_changed
-- Chunk versions of an embedder, without their data. chunk_version.
SELECT num, version FROM chunk WHERE embedder = :embedder ORDER BY num

-- name: exact_vectors
-- Float16 vectors of the beginnings of some bodies. Primary key.
SELECT v.body, v.exact FROM carray(:bodies) c
  CROSS JOIN vector v ON v.embedder = :embedder AND v.body = c.value AND v.part = 0

-- Edges. {linked} is which types and as known when; {this} finds a memory by its id, as known when; both from memories.py and statements.py.

-- fragment: edge
e.source, e.type, e.target, e.weight, e.event, e.recorded_at, e.retired_at

-- name: edge_live
-- The edge between two memories that holds now. edge_source.
SELECT {edge} FROM edge e WHERE e.source = :source AND e.type = :type AND e.target = :target AND e.retired_at IS NULL

-- name: edge_reaches
-- Whether edges of a type lead from :start to :goal, now. edge_source.
WITH RECURSIVE reached (id) AS (
  SELECT :start
  UNION
  SELECT e.target FROM reached r CROSS JOIN edge e ON e.source = r.id AND e.type = :type AND e.retired_at IS NULL
)
SELECT 1 FROM reached WHERE id = :goal LIMIT 1

-- name: edges_out
-- Edges that leave some memories. edge_source.
SELECT {edge} FROM carray(:ids) c CROSS JOIN edge e INDEXED BY edge_source ON e.source = c.value WHERE {linked}

-- name: edges_in
-- Edges that reach some memories. edge_target.
SELECT {edge} FROM carray(:ids) c CROSS JOIN edge e INDEXED BY edge_target ON e.target = c.value WHERE {linked}

-- name: temporal
-- What stands next to some memories in their sessions: {sign} and {order} say on which side. memory_current, memory_session.
SELECT m.id, n.id, m.created_at, n.created_at FROM carray(:ids) c CROSS JOIN memory m ON {this}
  CROSS JOIN memory n ON n.num = (
    SELECT x.num FROM memory x INDEXED BY memory_session
     WHERE x.session = m.session AND x.position {sign} m.position AND x.state <> 'purged' AND {known_x}
     ORDER BY x.position {order}, x.id {order} LIMIT 1)
 WHERE {visible}

-- name: memories_by_id
-- Whole rows by id, of those that pass the filter. memory_current, memory_past.
SELECT {columns} FROM carray(:ids) c CROSS JOIN memory m ON {this}
  JOIN scope s ON s.num = m.scope LEFT JOIN body b ON b.num = m.body
  LEFT JOIN session e ON e.num = m.session LEFT JOIN usage u ON u.id = m.id
 WHERE {visible}

-- name: lives_by_id
-- How some memories stand, of those that pass the filter. memory_current, memory_past.
SELECT m.id, m.state, m.superseded_by IS NOT NULL, m.valid_from, m.valid_to
  FROM carray(:ids) c CROSS JOIN memory m ON {this} WHERE {visible}

-- name: graph_edges
-- Every edge of some types. A scan.
SELECT {edge} FROM edge e WHERE {linked}

-- name: edges_from_matching
-- Edges whose source passes the filter. memory_current, memory_past.
SELECT {edge} FROM edge e JOIN memory m ON {this} WHERE {linked} AND {visible}

-- name: changed_ids
-- Memories about which something became known in (:start, :end], or began or ceased to hold then. A scan of the scopes.
SELECT DISTINCT m.id FROM memory m
 WHERE {visible}
   AND ((m.recorded_at > :start AND m.recorded_at <= :end) OR (m.retired_at > :start AND m.retired_at <= :end)
     OR (m.valid_from > :held_start AND m.valid_from <= :held_end) OR (m.valid_to > :held_start AND m.valid_to <= :held_end))

-- name: changed_edges
-- Edges that began or ended in (:start, :end]. A scan.
SELECT {edge} FROM edge e
 WHERE (e.recorded_at > :start AND e.recorded_at <= :end) OR (e.retired_at > :start AND e.retired_at <= :end)

-- name: session_around
-- A memory and those up to :reach places around it in its session. memory_session.
SELECT {columns} FROM memory a CROSS JOIN memory m INDEXED BY memory_session
    ON m.session = a.session AND m.position BETWEEN a.position - :reach AND a.position + :reach
  JOIN scope s ON s.num = m.scope LEFT JOIN body b ON b.num = m.body
  LEFT JOIN session e ON e.num = m.session LEFT JOIN usage u ON u.id = m.id
 WHERE a.id = :id AND a.retired_at IS NULL AND a.session IS NOT NULL AND {visible} ORDER BY m.position, m.created_at, m.id

-- name: key_history
-- Every memory of a key, along the valid time. memory_key.
SELECT {columns} FROM {tables} WHERE m.key = :key AND {visible} ORDER BY m.valid_from, m.created_at, m.id

-- name: replaced_by_key
-- (new, old): what some values of a key replaced. memory_current, memory_key.
SELECT n.id, m.id FROM carray(:ids) c CROSS JOIN memory n ON n.id = c.value AND n.retired_at IS NULL
  CROSS JOIN memory m INDEXED BY memory_key ON m.scope = n.scope AND m.key = n.key
 WHERE m.superseded_by = n.id AND {visible}

-- name: merged_into
-- Memories for which some others speak. memory_replaced.
SELECT {columns} FROM carray(:ids) c CROSS JOIN memory m INDEXED BY memory_replaced ON m.superseded_by = c.value
  JOIN scope s ON s.num = m.scope LEFT JOIN body b ON b.num = m.body
  LEFT JOIN session e ON e.num = m.session LEFT JOIN usage u ON u.id = m.id
 WHERE m.state = 'merged' AND {visible} ORDER BY m.created_at, m.id

-- What `prepare` asks.

-- name: standing
-- The weightiest of each group that stands in every brief. {scopes} are names. memory_standing.
SELECT g.column1, m.num FROM (VALUES ('pinned'), ('keyed'), ('preference'), ('goal')) g
  CROSS JOIN scope s
  CROSS JOIN memory m ON m.num IN (
    SELECT x.num FROM memory x INDEXED BY memory_standing
     WHERE x.scope = s.num
       AND (CASE WHEN x.pinned THEN 'pinned' WHEN x.key IS NOT NULL THEN 'keyed' ELSE x.kind END) = g.column1
       AND x.retired_at IS NULL AND x.state = 'active' AND (x.pinned OR x.key IS NOT NULL OR x.kind IN ('preference', 'goal'))
       AND (x.valid_to IS NULL OR :at < x.valid_to) AND x.valid_from <= :at
     ORDER BY x.importance DESC, x.created_at DESC LIMIT :limit)
 WHERE s.name IN ({scopes}) ORDER BY m.importance DESC, m.created_at DESC, m.id

-- name: lately
-- The newest memories that pass the filter, of one scope, without their texts; none that a rule made an episode for what
-- it says of a person, or because it says nothing (features/policy). memory_created, event_id, event_memory.
SELECT m.num, m.kind, e.name, e.title, e.num IS NOT NULL AND e.ended_at IS NULL, m.topics, m.origin, m.importance, m.created_at, m.valid_from
  FROM memory m LEFT JOIN session e ON e.num = m.session
 WHERE {visible} AND m.created_at > :after
   AND NOT (m.kind = 'episode' AND EXISTS (
     SELECT 1 FROM event v
      WHERE v.seq IN (SELECT seq FROM event WHERE id = m.id AND memory = m.id
                      UNION ALL SELECT seq FROM event WHERE memory = m.id AND memory <> id)
        AND v.data -> 'demoted' ->> 'rule' IN ('guess about a mind', 'inferred status', 'personality label', 'small talk or order')))
 ORDER BY m.created_at DESC, m.id DESC LIMIT :limit

-- name: warnings
-- (what, one of some memories, the other): links that deny it, what it replaced, contradictions that wait for review,
-- what a newer one says of it.
-- edge_source, edge_target, memory_replaced, review_memory, review_other.
SELECT 'contradicts', e.source, e.target FROM carray(:ids) c CROSS JOIN edge e INDEXED BY edge_source
    ON e.source = c.value AND e.type = 'contradicts' AND e.retired_at IS NULL
UNION SELECT 'contradicts', e.target, e.source FROM carray(:ids) c CROSS JOIN edge e INDEXED BY edge_target
    ON e.target = c.value AND e.type = 'contradicts' AND e.retired_at IS NULL
UNION SELECT 'replaced', c.value, m.id FROM carray(:ids) c CROSS JOIN memory m INDEXED BY memory_replaced
    ON m.superseded_by = c.value WHERE m.retired_at IS NULL AND m.state = 'active'
UNION SELECT r.kind, r.memory, r.other FROM carray(:ids) c CROSS JOIN review r INDEXED BY review_memory
    ON r.memory = c.value WHERE r.verdict IS NULL AND r.kind = 'contradiction'
UNION SELECT r.kind, r.other, r.memory FROM carray(:ids) c CROSS JOIN review r INDEXED BY review_other
    ON r.other = c.value WHERE r.verdict IS NULL AND r.kind = 'contradiction'
UNION SELECT r.relation || ' ' || r.level, r.older, r.newer FROM carray(:ids) c CROSS JOIN relation r ON r.older = c.value
 WHERE {not_rejected}

-- name: relations
-- Verdicts about some memories that nobody rejected. Primary key of relation, relation_newer.
SELECT r.older, r.newer, r.relation, r.level, r.probability, r.model FROM carray(:ids) c CROSS JOIN relation r
    ON r.older = c.value WHERE {not_rejected}
UNION SELECT r.older, r.newer, r.relation, r.level, r.probability, r.model FROM carray(:ids) c
  CROSS JOIN relation r INDEXED BY relation_newer ON r.newer = c.value WHERE {not_rejected}

-- name: merged_texts
-- (text, id, content) of those among some texts whose memory was merged, and the text of the active one that speaks for
-- it, else NULL. memory_body, memory_current.
SELECT m.body, m.id, b.content, s.body FROM carray(:bodies) c
  CROSS JOIN memory m INDEXED BY memory_body ON m.body = c.value AND m.body <> m.num CROSS JOIN body b ON b.num = m.body
  LEFT JOIN memory s ON s.id = m.superseded_by AND s.retired_at IS NULL AND s.state = 'active'
 WHERE m.retired_at IS NULL AND m.state = 'merged'

-- name: weights
-- What some memories weigh: a verdict about each alone. Primary key of relation.
SELECT r.older, r.probability FROM carray(:ids) c CROSS JOIN relation r ON r.older = c.value AND r.newer = c.value

-- name: newer_texts
-- Texts of memories that say what became of those which have some texts. Primary keys, memory_body, memory_current.
SELECT n.body FROM carray(:bodies) c CROSS JOIN memory m ON m.num = c.value AND m.body = m.num
  CROSS JOIN relation r ON r.older = m.id CROSS JOIN memory n INDEXED BY memory_current ON n.id = r.newer
 WHERE n.retired_at IS NULL AND n.body IS NOT NULL AND r.relation <> 'same' AND {not_rejected}
UNION
SELECT n.body FROM carray(:bodies) c CROSS JOIN memory m INDEXED BY memory_body ON m.body = c.value AND m.body <> m.num
  CROSS JOIN relation r ON r.older = m.id CROSS JOIN memory n INDEXED BY memory_current ON n.id = r.newer
 WHERE m.retired_at IS NULL AND n.retired_at IS NULL AND n.body IS NOT NULL AND r.relation <> 'same' AND {not_rejected}

-- name: standing_for
-- (text, text of what stands in the place of its memory, now or for a time) for texts of memories that were replaced.
-- Primary key, memory_body, memory_current.
WITH RECURSIVE step (body, id, steps) AS (
  SELECT c.value, m.superseded_by, 1 FROM carray(:bodies) c CROSS JOIN memory m ON m.num = c.value AND m.body = m.num
   WHERE m.retired_at IS NULL AND m.state = 'active' AND m.superseded_by IS NOT NULL
  UNION
  SELECT c.value, m.superseded_by, 1 FROM carray(:bodies) c
    CROSS JOIN memory m INDEXED BY memory_body ON m.body = c.value AND m.body <> m.num
   WHERE m.retired_at IS NULL AND m.state = 'active' AND m.superseded_by IS NOT NULL
  UNION
  SELECT s.body, m.superseded_by, s.steps + 1 FROM step s CROSS JOIN memory m INDEXED BY memory_current ON m.id = s.id
   WHERE m.retired_at IS NULL AND m.superseded_by IS NOT NULL AND s.steps < 100)
SELECT s.body, n.body FROM step s CROSS JOIN memory n INDEXED BY memory_current ON n.id = s.id
 WHERE n.retired_at IS NULL AND n.body IS NOT NULL

-- name: ids_around
-- Of some ids those that are next to them by their last bytes, and one that ends alike, for abbreviations. memory_short.
SELECT c.value,
  (SELECT id FROM memory WHERE substr(id, 12) < substr(c.value, 12) AND retired_at IS NULL ORDER BY substr(id, 12) DESC LIMIT 1),
  (SELECT id FROM memory WHERE substr(id, 12) > substr(c.value, 12) AND retired_at IS NULL ORDER BY substr(id, 12) LIMIT 1),
  (SELECT id FROM memory WHERE substr(id, 12) = substr(c.value, 12) AND retired_at IS NULL AND id <> c.value LIMIT 1)
  FROM carray(:ids) c

-- name: items_like
-- Items of the review list whose last bytes begin as those of some ids do. A scan of the list, which a person decides about.
SELECT id FROM review WHERE substr(id, 12, 3) IN (SELECT substr(c.value, 12, 3) FROM carray(:ids) c)

-- name: proposals_named
-- The same of items of the review list. Primary key of review; by last bytes a scan of the list, which a person decides about.
SELECT id FROM review WHERE {part} BETWEEN :low AND :high
   AND scope IN (SELECT s.num FROM json_each(:scopes) j JOIN scope s ON s.name = j.value) ORDER BY id LIMIT 12

-- name: count_by
-- How many memories pass the filter, by some of their columns. A scan of the scopes.
SELECT {counted}, count(*) FROM memory m{unnested} WHERE {visible} GROUP BY {parts}

-- name: scopes_with
-- (scope, how many memories pass the filter, when the last was stored). A scan of the memories.
SELECT s.name, count(*), max(m.created_at) FROM memory m JOIN scope s ON s.num = m.scope
 WHERE {visible} GROUP BY m.scope, s.name ORDER BY 2 DESC, 1

-- name: most_used
-- The most used memories that pass the filter. usage_uses.
SELECT m.num, u.uses FROM usage u CROSS JOIN memory m ON m.id = u.id
 WHERE u.scope = (SELECT num FROM scope WHERE name = :scope0) AND u.uses > 0 AND {visible}
 ORDER BY u.uses DESC, u.id DESC LIMIT :limit

-- name: unseen
-- The oldest that were neither stated nor used since :before, of what can grow stale. memory_created.
SELECT m.num FROM memory m LEFT JOIN usage u ON u.id = m.id
 WHERE {visible} AND m.created_at < :before AND m.observed_at < :before AND ifnull(u.used_at, 0) < :before AND NOT m.pinned
 ORDER BY m.created_at, m.id LIMIT :limit

-- name: bodies_of_events
-- Where the texts of one memory's events are. event_id, event_memory.
SELECT seq, body FROM event WHERE id = :id AND memory = :id AND body IS NOT NULL
UNION ALL SELECT seq, body FROM event WHERE memory = :id AND memory <> id AND body IS NOT NULL

-- name: keys_of_memory
-- Every key that a memory ever had. memory_current, memory_past.
SELECT DISTINCT scope, key FROM memory WHERE num IN {versions} AND key IS NOT NULL

-- name: sessions_of_memory
-- Every session that a memory ever was in. memory_current, memory_past.
SELECT DISTINCT session FROM memory WHERE num IN {versions} AND session IS NOT NULL

-- name: session_begins
-- The earliest time of what names a session. memory_session, event_memory.
SELECT min(at) FROM (
  SELECT created_at AS at FROM memory WHERE session = :num
  UNION ALL SELECT at FROM event WHERE memory = :mark AND memory <> id AND type IN ('session_started', 'session_ended')
   AND seq > (SELECT coalesce(max(seq), 0) FROM event WHERE memory = :mark AND memory <> id AND type = 'purged')) AS named

-- name: segment_lines
-- The events of one segment, in the order of all devices. synced_segment, event_id.
SELECT {event}, s.stamp, s.place
  FROM synced s CROSS JOIN event v ON v.id = s.id LEFT JOIN body b ON b.num = v.body
 WHERE s.segment = :num ORDER BY s.stamp, s.operation, s.place, s.id

-- name: purged_in_segments
-- (segment, memory) of purged memories. A scan of the ledger's types, then event_id, event_memory, synced.
SELECT DISTINCT s.segment, p.memory FROM event p
  CROSS JOIN event v ON v.seq IN (SELECT seq FROM event WHERE id = p.memory AND memory = p.memory
                                  UNION ALL SELECT seq FROM event WHERE memory = p.memory AND memory <> id)
  JOIN synced s ON s.id = v.id
 WHERE p.type = 'purged' AND v.type IN ('remembered', 'edited', 'tagged', 'keyed', 'retracted', 'observed', 'superseded', 'session_started', 'session_ended')

-- name: edits
-- (device, segment, text) of the edits of a memory. event_memory, synced.
SELECT g.device, g.number, b.content FROM event v JOIN synced s ON s.id = v.id JOIN segment g ON g.num = s.segment
  JOIN body b ON b.num = v.body
 WHERE v.memory = :id AND v.memory <> v.id AND v.type = 'edited'

-- name: ledger_watermark
-- What tells whether anything was said or used since. Primary key; all rows of usage.
SELECT e.seq, e.id, u.rows, u.uses, u.used_at
  FROM (SELECT count(*) AS rows, total(uses) AS uses, max(used_at) AS used_at FROM usage) u
  LEFT JOIN event e ON e.seq = (SELECT max(seq) FROM event)
