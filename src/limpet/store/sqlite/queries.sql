-- Named statements. Each says what it is for and which index it uses. Loaded by sql.py.
-- Fragments that several share stand at the top; {visible} is the filter, filled in by search.py. CROSS JOIN fixes the
-- order of a join where the planner, which knows nothing of carray's size, would scan a whole scope.

-- fragment: columns
-- A whole version row, in the order that rows.py reads.
m.num, m.id, s.name, m.kind, b.content, m.topics, m.key, m.metadata, m.state, m.origin, m.source, e.name, m.speaker,
m.position, m.importance, m.stated_confidence, m.observations, m.observed_at, m.pinned, m.valid_from, m.valid_to,
m.created_at, m.recorded_at, m.retired_at, m.superseded_by, m.reason, u.uses, u.used_at, m.trust

-- fragment: tables
memory m JOIN scope s ON s.num = m.scope LEFT JOIN body b ON b.num = m.body
LEFT JOIN session e ON e.num = m.session LEFT JOIN usage u ON u.id = m.id

-- fragment: candidate
m.num, m.body, m.id, b.content, m.session, m.position, m.speaker, m.valid_from, b.topics, b.labels, b.dates,
m.kind, m.importance, m.pinned, m.trust, m.observations, m.observed_at, m.stated_confidence, u.uses, u.used_at, m.key

-- name: memory_current
-- The current version of one memory. memory_current.
SELECT {columns} FROM {tables} WHERE m.id = :id AND m.retired_at IS NULL

-- name: memory_known_at
-- The version of one memory that the store held at :known_at. memory_current, memory_past.
SELECT {columns} FROM {tables}
 WHERE m.num IN (SELECT num FROM memory WHERE id = :id AND retired_at IS NULL
                 UNION ALL SELECT num FROM memory WHERE id = :id AND retired_at IS NOT NULL)
   AND m.recorded_at <= :known_at AND (m.retired_at IS NULL OR :known_at < m.retired_at)

-- name: memory_versions
-- All versions of one memory, oldest first. memory_current, memory_past.
SELECT {columns} FROM {tables}
 WHERE m.num IN (SELECT num FROM memory WHERE id = :id AND retired_at IS NULL
                 UNION ALL SELECT num FROM memory WHERE id = :id AND retired_at IS NOT NULL)
 ORDER BY m.recorded_at, m.num

-- name: memories_by_num
-- Whole rows by number. Primary key.
SELECT {columns} FROM carray(:nums) c CROSS JOIN {tables} WHERE m.num = c.value

-- name: ids_from_prefix
-- Ids in a range: a true range scan, twelve are enough to list candidates. memory_current.
SELECT id FROM memory WHERE id BETWEEN :low AND :high AND retired_at IS NULL ORDER BY id LIMIT 12

-- name: id_before
-- The id just below, for abbreviations. memory_current.
SELECT id FROM memory WHERE id < :id AND retired_at IS NULL ORDER BY id DESC LIMIT 1

-- name: id_after
-- The id just above. memory_current.
SELECT id FROM memory WHERE id > :id AND retired_at IS NULL ORDER BY id LIMIT 1

-- name: same_statement
-- Rows with this fingerprint that are held true at :at, first said first; nearly always none. memory_fingerprint.
SELECT num FROM memory INDEXED BY memory_fingerprint
 WHERE fingerprint = :fingerprint AND retired_at IS NULL AND state = 'active'
   AND (valid_to IS NULL OR :at < valid_to)
 ORDER BY created_at, num LIMIT 1

-- name: keyed
-- Active memories of a key as known now, along the valid time. memory_key.
SELECT {columns} FROM {tables}
 WHERE m.scope = (SELECT num FROM scope WHERE name = :scope) AND m.key = :key
   AND m.retired_at IS NULL AND m.state = 'active'
 ORDER BY m.valid_from, m.num

-- name: keyed_known_at
-- The same as the store knew them at :known_at. memory_key.
SELECT {columns} FROM {tables}
 WHERE m.scope = (SELECT num FROM scope WHERE name = :scope) AND m.key = :key AND m.state = 'active'
   AND m.recorded_at <= :known_at AND (m.retired_at IS NULL OR :known_at < m.retired_at)
 ORDER BY m.valid_from, m.num

-- name: keys
-- Keys in use. memory_key.
SELECT DISTINCT key FROM memory
 WHERE scope = (SELECT num FROM scope WHERE name = :scope) AND key IS NOT NULL AND retired_at IS NULL AND state = 'active'
 ORDER BY key

-- name: session
-- One session. Primary key by (scope, name), memory_session.
SELECT e.name, s.name, e.started_at, e.ended_at, e.title, count(m.num), max(e.started_at, ifnull(max(m.created_at), 0))
  FROM scope s JOIN session e ON e.scope = s.num
  LEFT JOIN memory m ON m.session = e.num AND m.retired_at IS NULL AND m.state = 'active'
 WHERE s.name = :scope AND e.name = :name GROUP BY e.num

-- name: sessions
-- Sessions of a scope, the latest first: by when they began, which their memories follow. memory_session.
SELECT e.name, s.name, e.started_at, e.ended_at, e.title, count(m.num), max(e.started_at, ifnull(max(m.created_at), 0))
  FROM scope s JOIN session e ON e.scope = s.num
  LEFT JOIN memory m ON m.session = e.num AND m.retired_at IS NULL AND m.state = 'active'
 WHERE s.name = :scope GROUP BY e.num ORDER BY 7 DESC, e.num DESC LIMIT :limit

-- name: session_memories
-- What a session holds, in its order. memory_session.
SELECT {columns} FROM {tables}
 WHERE m.session = (SELECT num FROM session
                     WHERE scope = (SELECT num FROM scope WHERE name = :scope) AND name = :name)
   AND m.retired_at IS NULL AND m.state = 'active'
 ORDER BY m.position, m.num

-- name: last_position
-- The last place taken in a session. memory_session.
SELECT max(position) FROM memory
 WHERE session = (SELECT num FROM session
                   WHERE scope = (SELECT num FROM scope WHERE name = :scope) AND name = :session)

-- name: events_of_memory
-- One memory's ledger. event_memory.
SELECT v.seq, v.id, v.type, v.memory, v.at, v.operation, v.origin, b.content, v.data
  FROM event v LEFT JOIN body b ON b.num = v.body WHERE v.memory = :memory AND v.seq > :after ORDER BY v.seq

-- name: events_after
-- The ledger from a place on. Primary key.
SELECT v.seq, v.id, v.type, v.memory, v.at, v.operation, v.origin, b.content, v.data
  FROM event v LEFT JOIN body b ON b.num = v.body WHERE v.seq > :after ORDER BY v.seq

-- name: event_by_id
-- One event. event_id.
SELECT v.seq, v.id, v.type, v.memory, v.at, v.operation, v.origin, b.content, v.data
  FROM event v LEFT JOIN body b ON b.num = v.body WHERE v.id = :id

-- name: events_by_prefix
-- Events whose id is in a range. event_id.
SELECT id FROM event WHERE id BETWEEN :low AND :high ORDER BY id LIMIT 12

-- name: last_event
-- The newest event. Primary key.
SELECT id FROM event ORDER BY seq DESC LIMIT 1

-- name: operation_events
-- An operation: its first event and those that name it. event_id, event_operation.
SELECT v.seq, v.id, v.type, v.memory, v.at, v.operation, v.origin, b.content, v.data
  FROM event v LEFT JOIN body b ON b.num = v.body
 WHERE v.seq IN (SELECT seq FROM event WHERE id = :operation UNION SELECT seq FROM event WHERE operation = :operation)
 ORDER BY v.seq

-- name: insert_body
-- Text arrives. Primary key; the triggers index it.
INSERT INTO body (num, content, topics, labels, dates, scope, grams) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: insert_event
-- The ledger grows.
INSERT INTO event (seq, id, type, memory, at, operation, origin, body, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_memory
-- A version begins.
INSERT INTO memory (id, scope, kind, body, topics, key, metadata, state, origin, trust, source, session, speaker, position,
  importance, stated_confidence, observations, observed_at, pinned, valid_from, valid_to, created_at, recorded_at,
  superseded_by, reason, fingerprint)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_job
-- Work waits; the same work once. Primary key.
INSERT INTO job (kind, subject, not_before) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: retire_memory
-- A version ends. memory_current.
UPDATE memory SET retired_at = :at WHERE id = :id AND retired_at IS NULL

-- name: body_of_memory
-- Which body the current version uses. memory_current.
SELECT body FROM memory WHERE id = :id AND retired_at IS NULL

-- name: bodies_of_memory
-- Every body a memory ever had, versions and ledger. memory_current, memory_past, event_memory.
SELECT body FROM memory WHERE id = :id AND retired_at IS NULL AND body IS NOT NULL
UNION SELECT body FROM memory WHERE id = :id AND retired_at IS NOT NULL AND body IS NOT NULL
UNION SELECT body FROM event WHERE memory = :id AND body IS NOT NULL

-- name: candidates
-- What ranking needs, for the bodies that pass the filter. memory_body.
SELECT {candidate} FROM carray(:bodies) c
  CROSS JOIN memory m INDEXED BY memory_body ON m.body = c.value
  CROSS JOIN body b ON b.num = m.body
  LEFT JOIN usage u ON u.id = m.id
 WHERE {visible}

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
-- The same for topics, from the index. body_fts, memory_body.
SELECT m.body FROM body_fts f CROSS JOIN memory m INDEXED BY memory_body ON m.body = f.rowid
 WHERE f.body_fts MATCH :expression AND {visible}

-- name: recent
-- The newest bodies that pass the filter. memory_created.
SELECT m.body FROM memory m JOIN scope s ON s.num = m.scope
 WHERE m.body IS NOT NULL AND {visible} ORDER BY m.created_at DESC, m.id DESC LIMIT :limit

-- name: substring
-- Bodies that contain a text, case-folded for ASCII by LIKE. A scan: only when every other layer found nothing.
SELECT m.body FROM memory m JOIN scope s ON s.num = m.scope JOIN body b ON b.num = m.body
 WHERE (b.content LIKE :pattern ESCAPE '\' OR b.labels LIKE :pattern ESCAPE '\' OR b.topics LIKE :pattern ESCAPE '\')
   AND {visible}
 ORDER BY m.created_at DESC, m.id DESC LIMIT :limit

-- name: count
-- How many pass the filter. memory_created.
SELECT count(*) FROM memory m JOIN scope s ON s.num = m.scope WHERE {visible}

-- name: use
-- A memory was used. Primary key.
INSERT INTO usage (id, scope, uses, used_at, useful, not_useful, wrong)
SELECT m.id, m.scope, :used, :at, :useful, :not_useful, :wrong FROM memory m WHERE m.id = :id AND m.retired_at IS NULL
ON CONFLICT (id) DO UPDATE SET uses = uses + excluded.uses, used_at = max(used_at, excluded.used_at),
  useful = useful + excluded.useful, not_useful = not_useful + excluded.not_useful, wrong = wrong + excluded.wrong

-- name: texts
-- Texts to embed, with the key of a keyed fact: "Tampa" alone says nothing. Primary key, memory_body.
SELECT b.num, b.content, (SELECT max(m.key) FROM memory m WHERE m.body = b.num)
  FROM carray(:bodies) c CROSS JOIN body b ON b.num = c.value

-- name: proposal
-- One proposal. Primary key.
SELECT r.id, r.kind, s.name, r.memory, r.other, r.reason, r.score, r.created_at, r.verdict, r.decided_at
  FROM review r JOIN scope s ON s.num = r.scope WHERE r.id = :id

-- name: proposals
-- What waits in a scope and is still about two active memories that nothing replaced. review_waiting, memory_current.
SELECT r.id, r.kind, s.name, r.memory, r.other, r.reason, r.score, r.created_at, r.verdict, r.decided_at
  FROM scope s JOIN review r ON r.scope = s.num AND r.verdict IS NULL
 WHERE s.name = :scope
   AND EXISTS (SELECT 1 FROM memory m WHERE m.id = r.memory AND m.retired_at IS NULL AND m.state = 'active'
                                        AND m.superseded_by IS NULL)
   AND EXISTS (SELECT 1 FROM memory m WHERE m.id = r.other AND m.retired_at IS NULL AND m.state = 'active'
                                        AND m.superseded_by IS NULL)
 ORDER BY r.created_at, r.id LIMIT :limit

-- name: lease_jobs
-- Take jobs that are due and not leased. Primary key.
UPDATE job SET leased_until = :until, worker = :worker, attempts = attempts + 1
 WHERE kind = :kind AND subject IN (SELECT subject FROM job WHERE kind = :kind AND state = 'waiting'
                                       AND not_before <= :at AND leased_until <= :at ORDER BY subject LIMIT :limit)
RETURNING kind, subject, attempts, error

-- name: chunks_changed
-- Chunk versions of an embedder, without their data. chunk_version.
SELECT num, version FROM chunk WHERE embedder = :embedder ORDER BY num

-- name: exact_vectors
-- Float16 vectors of some bodies. Primary key.
SELECT v.body, v.exact FROM carray(:bodies) c CROSS JOIN vector v ON v.embedder = :embedder AND v.body = c.value

-- name: unembedded
-- Bodies of memories that have no vector of this embedder. memory_body, vector primary key.
SELECT b.num FROM body b
 WHERE b.num > :after AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.embedder = :embedder AND v.body = b.num)
 ORDER BY b.num LIMIT :limit

-- Edges. {linked} is which types and as known when; {this} finds a memory by its id, as known when; both from edges.py.

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

-- name: temporal_out
-- What follows some memories in their sessions. memory_current, memory_session.
SELECT m.id, n.id, n.created_at FROM carray(:ids) c CROSS JOIN memory m ON {this}
  CROSS JOIN memory n ON n.num = (
    SELECT x.num FROM memory x INDEXED BY memory_session
     WHERE x.session = m.session AND x.position > m.position AND x.state <> 'purged' AND {known_x}
     ORDER BY x.position LIMIT 1)
 WHERE {visible}

-- name: temporal_in
-- What some memories follow in their sessions. memory_current, memory_session.
SELECT n.id, m.id, m.created_at FROM carray(:ids) c CROSS JOIN memory m ON {this}
  CROSS JOIN memory n ON n.num = (
    SELECT x.num FROM memory x INDEXED BY memory_session
     WHERE x.session = m.session AND x.position < m.position AND x.state <> 'purged' AND {known_x}
     ORDER BY x.position DESC LIMIT 1)
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

-- name: graph_nodes
-- What the whole graph needs of every memory. A scan of the scopes.
SELECT m.id, m.kind, m.state, m.superseded_by, m.valid_from, m.valid_to, m.trust, m.observations, m.observed_at,
  m.stated_confidence, m.importance, m.pinned, u.used_at, m.key
  FROM memory m LEFT JOIN usage u ON u.id = m.id WHERE {visible}

-- name: graph_edges
-- Every edge of some types. A scan.
SELECT {edge} FROM edge e WHERE {linked}

-- name: edges_from_matching
-- Edges whose source passes the filter. memory_current, memory_past.
SELECT {edge} FROM edge e JOIN memory m ON {this} WHERE {linked} AND {visible}

-- name: matching_ids
-- Those among some ids that pass the filter. memory_current, memory_past.
SELECT m.id FROM carray(:ids) c CROSS JOIN memory m ON {this} WHERE {visible}

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
 WHERE a.id = :id AND a.retired_at IS NULL AND a.session IS NOT NULL AND {visible} ORDER BY m.position, m.num

-- name: key_history
-- Every memory of a key, along the valid time. memory_key.
SELECT {columns} FROM {tables} WHERE m.key = :key AND {visible} ORDER BY m.valid_from, m.num

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

-- name: pieces
-- What consolidation needs of every memory. A scan of the scopes.
SELECT m.body, m.id, m.scope, m.kind, m.session, m.topics, octet_length(b.content)
  FROM memory m JOIN body b ON b.num = m.body WHERE {visible} ORDER BY m.created_at, m.id
