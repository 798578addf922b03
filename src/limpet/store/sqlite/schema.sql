-- The schema. Times are int64 microseconds UTC; ids are 16-byte UUIDs; names are interned once.

CREATE TABLE scope (num INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE session (
  num INTEGER PRIMARY KEY, scope INTEGER NOT NULL, name TEXT NOT NULL, started_at INTEGER NOT NULL,
  ended_at INTEGER, title TEXT,
  UNIQUE (scope, name)
);

-- Text, stored once: an event and the rows projected from it share it. `content` belongs to the ledger and never
-- changes; the other columns are what the search index reads, kept current by the projection.
CREATE TABLE body (
  num INTEGER PRIMARY KEY,
  content TEXT NOT NULL,
  topics TEXT,   -- words of the topics
  labels TEXT,   -- metadata values and the speaker, without keys or JSON syntax
  dates TEXT,    -- the date it is about, in words
  scope TEXT,    -- a token of the scope's number: lets the index restrict a search to a scope
  grams TEXT     -- pairs of characters of what is written without spaces (Chinese, Japanese, Korean, Thai)
);

-- The ledger: immutable. `operation` is NULL for the first event of an operation (it is its own). `place`: when this
-- store appended it; `salt`: makes the hash of a short text one that cannot be guessed; `link`: the hash of the event and
-- of the link before it (chain.py).
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  id BLOB NOT NULL,
  type TEXT NOT NULL,
  memory BLOB NOT NULL,
  at INTEGER NOT NULL,
  operation BLOB,
  origin TEXT NOT NULL,
  body INTEGER,
  data TEXT,
  place INTEGER,
  salt BLOB,
  link BLOB
);
CREATE UNIQUE INDEX event_id ON event (id);
-- The event that makes a memory mostly has the memory's own id; only the others need a second index.
CREATE INDEX event_memory ON event (memory, seq) WHERE memory <> id;
CREATE INDEX event_operation ON event (operation) WHERE operation IS NOT NULL;

-- Places that no event has: of one that was erased, taken out or named anew, `leaf` is its hash, its salt is gone; with
-- no `event`, it is the hash of the order in which all events stood then.
CREATE TABLE chain (place INTEGER PRIMARY KEY, event BLOB, leaf BLOB NOT NULL, link BLOB NOT NULL);
-- The last place and its link.
CREATE TABLE chain_end (place INTEGER NOT NULL, link BLOB NOT NULL);
INSERT INTO chain_end VALUES (0, zeroblob(32));

-- Beliefs: one row a version, at most one current (retired_at IS NULL) for a memory. Projection of the ledger.
-- An index costs every write a page of the log, so what is usual (first version, own text, never changed) is in none that
-- the row's number or another index can stand for.
CREATE TABLE memory (
  num INTEGER PRIMARY KEY,  -- of a first version: that of its text; of later ones: from 2^32 on
  id BLOB NOT NULL,
  scope INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body INTEGER,          -- NULL: purged
  topics TEXT,           -- JSON list
  key TEXT,
  metadata TEXT,         -- JSON object
  state TEXT NOT NULL,
  origin TEXT NOT NULL,
  trust TEXT NOT NULL,
  source TEXT,
  session INTEGER,
  speaker TEXT,
  position INTEGER NOT NULL,
  importance REAL NOT NULL,
  stated_confidence REAL,
  observations INTEGER NOT NULL,
  observed_at INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  valid_from INTEGER NOT NULL,
  valid_to INTEGER,
  created_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  retired_at INTEGER,
  superseded_by BLOB,
  reason TEXT,
  fingerprint INTEGER
);
CREATE UNIQUE INDEX memory_current ON memory (id) WHERE retired_at IS NULL;
CREATE INDEX memory_past ON memory (id, recorded_at) WHERE retired_at IS NOT NULL;
CREATE INDEX memory_body ON memory (body) WHERE body <> num;
CREATE INDEX memory_created ON memory (scope, created_at, id) WHERE retired_at IS NULL;
CREATE INDEX memory_updated ON memory (scope, recorded_at, id) WHERE retired_at IS NULL AND num >= 4294967296;
CREATE INDEX memory_session ON memory (session, position) WHERE session IS NOT NULL;
CREATE INDEX memory_key ON memory (scope, key) WHERE key IS NOT NULL;
CREATE INDEX memory_replaced ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_fingerprint ON memory (fingerprint) WHERE retired_at IS NULL AND state IN ('active', 'merged');
-- Memories by the last bytes of their ids (model/ids.py), which are random and so in no order of time.
CREATE INDEX memory_short ON memory (substr(id, 12)) WHERE retired_at IS NULL;
-- Pinned memories, keyed facts, preferences and goals: each in one group, the most important and newest at its end.
-- `valid_to` is there so that the ended values of a busy key are passed over without reading their rows.
CREATE INDEX memory_standing ON memory (
  scope, (CASE WHEN pinned THEN 'pinned' WHEN key IS NOT NULL THEN 'keyed' ELSE kind END), importance, created_at, valid_to
) WHERE retired_at IS NULL AND state = 'active' AND (pinned OR key IS NOT NULL OR kind IN ('preference', 'goal'));

CREATE TABLE edge (
  num INTEGER PRIMARY KEY,
  source BLOB NOT NULL,
  type TEXT NOT NULL,
  target BLOB NOT NULL,
  weight REAL NOT NULL,
  event BLOB NOT NULL,
  recorded_at INTEGER NOT NULL,
  retired_at INTEGER
);
CREATE INDEX edge_source ON edge (source, type);
CREATE INDEX edge_target ON edge (target, type);

-- Use: counted when a memory is opened, cited or confirmed, never when it is listed. Not ledger.
CREATE TABLE usage (
  id BLOB PRIMARY KEY, scope INTEGER NOT NULL, uses INTEGER NOT NULL, used_at INTEGER NOT NULL,
  useful INTEGER NOT NULL DEFAULT 0, not_useful INTEGER NOT NULL DEFAULT 0, wrong INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX usage_uses ON usage (scope, uses, id);
CREATE INDEX usage_used ON usage (scope, used_at, id);

-- Full text. External content: the text itself stays in `body`. secure-delete: a deleted posting leaves no bytes.
CREATE VIRTUAL TABLE body_fts USING fts5(
  content, topics, labels, dates, scope, grams,
  content = 'body', content_rowid = 'num', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO body_fts (body_fts, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE body_terms USING fts5vocab (body_fts, 'row');
CREATE TRIGGER body_inserted AFTER INSERT ON body BEGIN
  INSERT INTO body_fts (rowid, content, topics, labels, dates, scope, grams)
  VALUES (new.num, new.content, new.topics, new.labels, new.dates, new.scope, new.grams);
END;
CREATE TRIGGER body_deleted AFTER DELETE ON body BEGIN
  INSERT INTO body_fts (body_fts, rowid, content, topics, labels, dates, scope, grams)
  VALUES ('delete', old.num, old.content, old.topics, old.labels, old.dates, old.scope, old.grams);
END;
CREATE TRIGGER body_updated AFTER UPDATE ON body BEGIN
  INSERT INTO body_fts (body_fts, rowid, content, topics, labels, dates, scope, grams)
  VALUES ('delete', old.num, old.content, old.topics, old.labels, old.dates, old.scope, old.grams);
  INSERT INTO body_fts (rowid, content, topics, labels, dates, scope, grams)
  VALUES (new.num, new.content, new.topics, new.labels, new.dates, new.scope, new.grams);
END;

-- Vectors: float16 rows for exact scores, and chunks of 1,024 int8 codes for scanning. Part 0 of a text is its beginning;
-- a long one has more. A chunk has the number of the part in a body's upper 32 bits.
CREATE TABLE embedder (
  num INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  dimensions INTEGER NOT NULL, unrelated REAL, related REAL, apart REAL
);
CREATE TABLE vector (
  embedder INTEGER NOT NULL, body INTEGER NOT NULL, part INTEGER NOT NULL DEFAULT 0,
  chunk INTEGER NOT NULL, slot INTEGER NOT NULL, exact BLOB NOT NULL, PRIMARY KEY (embedder, body, part)
) WITHOUT ROWID;
CREATE TABLE chunk (
  num INTEGER PRIMARY KEY, embedder INTEGER NOT NULL, version INTEGER NOT NULL, used INTEGER NOT NULL,
  codes BLOB NOT NULL, scales BLOB NOT NULL, bodies BLOB NOT NULL, scopes BLOB NOT NULL
);
CREATE INDEX chunk_version ON chunk (embedder, num, version);

-- The queue of slow work: the same work waits once. A text gets its row when a worker comes for it.
CREATE TABLE job (
  kind TEXT NOT NULL, subject INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'waiting',
  attempts INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL, leased_until INTEGER NOT NULL DEFAULT 0,
  error TEXT, PRIMARY KEY (kind, subject)
) WITHOUT ROWID;

-- Texts numbered above `through` wait for their vectors without a row in the queue, so that a write adds none.
CREATE TABLE taken (through INTEGER NOT NULL);
INSERT INTO taken VALUES (0);

-- What waits for a person: proposals of background checks about a pair. Decisions are in the ledger (`reviewed`).
CREATE TABLE review (
  id BLOB PRIMARY KEY, kind TEXT NOT NULL, scope INTEGER NOT NULL, memory BLOB NOT NULL, other BLOB NOT NULL,
  reason TEXT NOT NULL, score REAL NOT NULL, created_at INTEGER NOT NULL, verdict TEXT, decided_at INTEGER,
  UNIQUE (memory, other, kind)
) WITHOUT ROWID;
CREATE INDEX review_waiting ON review (scope, created_at) WHERE verdict IS NULL;
CREATE INDEX review_memory ON review (memory) WHERE verdict IS NULL;
CREATE INDEX review_other ON review (other) WHERE verdict IS NULL;

-- How a newer memory stands to an older one, as a model has read both. Not ledger: without a row the pair is read again.
CREATE TABLE relation (
  older BLOB NOT NULL, newer BLOB NOT NULL, relation TEXT NOT NULL, level TEXT NOT NULL, probability REAL NOT NULL,
  model TEXT NOT NULL, PRIMARY KEY (older, newer)
) WITHOUT ROWID;
CREATE INDEX relation_newer ON relation (newer);

-- What the code that a memory speaks of was like when it was stored, as a background job found it: JSON (features/code).
-- Not ledger: without a row nothing is said of its code.
CREATE TABLE anchor (memory BLOB PRIMARY KEY, names TEXT NOT NULL) WITHOUT ROWID;

-- Transcripts and notes that the organizer has read, or that a hook has said are there to read. Not ledger: without a row
-- a source is read again, and what was taken from it is known by its id.
CREATE TABLE source (
  scope TEXT NOT NULL, path TEXT NOT NULL,
  digest TEXT, -- of what was read; NULL: nothing yet
  reached TEXT, -- JSON: how far a model has read each conversation
  waits INTEGER NOT NULL DEFAULT 0, -- 1: named by a hook since it was read
  at INTEGER NOT NULL, PRIMARY KEY (scope, path)
) WITHOUT ROWID;

-- The journal: what was asked and done in a session, a line each, written by hooks. Not ledger: a ring of the last 10,000.
CREATE TABLE journal (
  num INTEGER PRIMARY KEY, scope TEXT NOT NULL, session TEXT NOT NULL, at INTEGER NOT NULL,
  kind TEXT NOT NULL, what TEXT NOT NULL
);
CREATE INDEX journal_session ON journal (scope, session, num);
-- What was put before an agent, or held back by lot: a row a memory, ids and numbers alone. Not ledger: the last 50,000.
CREATE TABLE surfaced (
  num INTEGER PRIMARY KEY, scope TEXT NOT NULL, session TEXT NOT NULL, client TEXT NOT NULL, at INTEGER NOT NULL,
  via TEXT NOT NULL, memory BLOB NOT NULL, tokens INTEGER NOT NULL,
  shown INTEGER NOT NULL,  -- 0: held back
  drawn INTEGER NOT NULL,  -- 1: whether to show it was decided by lot
  used INTEGER             -- NULL: the turn has not ended; 1 or 0: it showed up in the work or not; -1: cannot be told
);
CREATE INDEX surfaced_waiting ON surfaced (scope, session) WHERE used IS NULL;
-- Whether a session has been shown a memory: asked for each that a hook is about to show.
CREATE INDEX surfaced_session ON surfaced (session, memory);
-- Sessions whose context was compacted: of what was put before them, rows of `surfaced` up to `through` are gone from it.
CREATE TABLE compacted (session TEXT PRIMARY KEY, through INTEGER NOT NULL) WITHOUT ROWID;
-- What a session's agent has read from outside since its context was new. `ended`: 1 once the client has ended it.
CREATE TABLE outside_read (
  session TEXT NOT NULL, what TEXT NOT NULL, scope TEXT NOT NULL, at INTEGER NOT NULL, origin TEXT NOT NULL,
  ended INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session, what)
) WITHOUT ROWID;
CREATE TRIGGER surfaced_ring AFTER INSERT ON surfaced BEGIN
  DELETE FROM surfaced WHERE num <= new.num - 50000;
END;
CREATE TRIGGER journal_ring AFTER INSERT ON journal BEGIN
  DELETE FROM journal WHERE num <= new.num - 10000;
END;

-- Sync by segments. A store that never syncs has no row here.
-- The identities of this file, the last is in use; `place` tells a copy from the original.
CREATE TABLE device (num INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, place TEXT NOT NULL);
-- Segments that were written here, were taken in, or wait. `header` is the first line of its file.
CREATE TABLE segment (
  num INTEGER PRIMARY KEY, device BLOB NOT NULL, number INTEGER NOT NULL, digest TEXT NOT NULL UNIQUE, header TEXT NOT NULL
);
CREATE INDEX segment_device ON segment (device, number);
-- The order of events on all devices: by (stamp, operation, place). Segment 0: derived here, in no segment.
CREATE TABLE synced (
  id BLOB PRIMARY KEY, stamp INTEGER NOT NULL, operation BLOB NOT NULL, place INTEGER NOT NULL, segment INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX synced_stamp ON synced (stamp);
CREATE INDEX synced_segment ON synced (segment);
-- Events up to this place in the ledger have their order.
CREATE TABLE sealed (through INTEGER NOT NULL);
INSERT INTO sealed VALUES (0);
-- Devices whose segments are taken in; an empty id: every device.
CREATE TABLE trusted (device BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;

-- What tells one repository from another (a remote, a first commit, a folder) and the scope that it was given at a time.
-- Not ledger: a checkout of another machine finds its scope by the remote it has.
CREATE TABLE checkout (identity TEXT PRIMARY KEY, scope TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX checkout_scope ON checkout (scope);
-- Scopes that were moved as a whole: projection of the ledger. What had the old name has the new one from then on.
CREATE TABLE renamed (event BLOB PRIMARY KEY, at INTEGER NOT NULL, was TEXT NOT NULL, scope TEXT NOT NULL) WITHOUT ROWID;
-- Scopes that a memory was ever moved out of: as known earlier, texts are found in them that the index has elsewhere.
CREATE TABLE scope_left (scope INTEGER PRIMARY KEY);

-- Copies that were written of what is stored: exports, backups, folders of segments. Not ledger.
CREATE TABLE copy (path TEXT PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
