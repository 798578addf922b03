-- The schema on Postgres. Tables are in limpet_rows, each with the tenant first in its key. What statements speak of are
-- views in limpet, of the rows of one tenant: so that the tenant is in every predicate. Row-level security says the same once
-- more. Texts compare by their bytes, as SQLite's do. Times are microseconds UTC; ids are 16-byte UUIDs.

CREATE SCHEMA limpet_rows;
CREATE SCHEMA limpet;
CREATE TABLE limpet_rows.schema_version (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());

-- Whose rows there are in this transaction. Nobody's, when nobody said.
CREATE FUNCTION limpet_rows.tenant() RETURNS text LANGUAGE sql STABLE
  RETURN nullif(current_setting('limpet.tenant', true), '');

SET LOCAL search_path = limpet_rows;

-- One row a tenant. Who writes takes it first. `making`: rows were made anew without an event. `texts` and `words`: of the index.
CREATE TABLE store (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant() PRIMARY KEY, version bigint NOT NULL DEFAULT 1,
  making bigint NOT NULL DEFAULT 0, texts bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE scope (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, name text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, num), UNIQUE (tenant, name)
);
CREATE TABLE session (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, scope bigint NOT NULL,
  name text COLLATE "C" NOT NULL, started_at bigint NOT NULL, ended_at bigint, title text COLLATE "C",
  PRIMARY KEY (tenant, num), UNIQUE (tenant, scope, name)
);
CREATE INDEX session_name ON session (tenant, name);
-- `size`: how many index terms it has.
CREATE TABLE body (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, content text COLLATE "C" NOT NULL,
  topics text COLLATE "C", labels text COLLATE "C", dates text COLLATE "C", scope text COLLATE "C", grams text COLLATE "C",
  size bigint NOT NULL, PRIMARY KEY (tenant, num)
);
-- The index: where a word is. `counts`: how often in each column, from the text on, as variable-length integers.
CREATE TABLE posting (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), word text COLLATE "C" NOT NULL, body bigint NOT NULL,
  counts bytea NOT NULL, PRIMARY KEY (tenant, word, body)
);
CREATE TABLE event (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), seq bigint NOT NULL, id bytea NOT NULL,
  type text COLLATE "C" NOT NULL, memory bytea NOT NULL, at bigint NOT NULL, operation bytea, origin text COLLATE "C" NOT NULL,
  body bigint, data json, place bigint, salt bytea, link bytea, PRIMARY KEY (tenant, seq), UNIQUE (tenant, id)
);
-- The hash chain over the ledger (store/sql/chain.py): places that no event has, and where it ends.
CREATE TABLE chain (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), place bigint NOT NULL, event bytea, leaf bytea NOT NULL,
  link bytea NOT NULL, PRIMARY KEY (tenant, place)
);
CREATE TABLE chain_end (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant() PRIMARY KEY, place bigint NOT NULL DEFAULT 0,
  link bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex')
);
CREATE INDEX event_memory ON event (tenant, memory, seq) WHERE memory <> id;
CREATE INDEX event_operation ON event (tenant, operation) WHERE operation IS NOT NULL;

CREATE TABLE memory (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, id bytea NOT NULL, scope bigint NOT NULL,
  kind text COLLATE "C" NOT NULL, body bigint, topics json, key text COLLATE "C", metadata json, state text COLLATE "C" NOT NULL,
  origin text COLLATE "C" NOT NULL, trust text COLLATE "C" NOT NULL, source text COLLATE "C", session bigint,
  speaker text COLLATE "C", position bigint NOT NULL, importance float8 NOT NULL, stated_confidence float8,
  observations bigint NOT NULL, observed_at bigint NOT NULL, pinned boolean NOT NULL, valid_from bigint NOT NULL,
  valid_to bigint, created_at bigint NOT NULL, recorded_at bigint NOT NULL, retired_at bigint, superseded_by bytea,
  reason text COLLATE "C", fingerprint bigint, PRIMARY KEY (tenant, num)
);
CREATE UNIQUE INDEX memory_current ON memory (tenant, id) WHERE retired_at IS NULL;
CREATE INDEX memory_past ON memory (tenant, id, recorded_at) WHERE retired_at IS NOT NULL;
CREATE INDEX memory_body ON memory (tenant, body) WHERE body <> num;
CREATE INDEX memory_created ON memory (tenant, scope, created_at, id) WHERE retired_at IS NULL;
CREATE INDEX memory_updated ON memory (tenant, scope, recorded_at, id) WHERE retired_at IS NULL AND num >= 4294967296;
CREATE INDEX memory_session ON memory (tenant, session, position) WHERE session IS NOT NULL;
CREATE INDEX memory_key ON memory (tenant, scope, key) WHERE key IS NOT NULL;
CREATE INDEX memory_replaced ON memory (tenant, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_fingerprint ON memory (tenant, fingerprint) WHERE retired_at IS NULL AND state IN ('active', 'merged');
CREATE INDEX memory_short ON memory (tenant, substr(id, 12)) WHERE retired_at IS NULL;
CREATE INDEX memory_standing ON memory (tenant, scope,
  (CASE WHEN pinned THEN 'pinned' WHEN key IS NOT NULL THEN 'keyed' ELSE kind END), importance, created_at, valid_to
) WHERE retired_at IS NULL AND state = 'active' AND (pinned OR key IS NOT NULL OR kind IN ('preference', 'goal'));

CREATE TABLE edge (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, source bytea NOT NULL,
  type text COLLATE "C" NOT NULL, target bytea NOT NULL, weight float8 NOT NULL, event bytea NOT NULL,
  recorded_at bigint NOT NULL, retired_at bigint, PRIMARY KEY (tenant, num)
);
CREATE INDEX edge_source ON edge (tenant, source, type);
CREATE INDEX edge_target ON edge (tenant, target, type);
CREATE TABLE usage (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), id bytea NOT NULL, scope bigint NOT NULL, uses bigint NOT NULL,
  used_at bigint NOT NULL, useful bigint NOT NULL DEFAULT 0, not_useful bigint NOT NULL DEFAULT 0, wrong bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX usage_uses ON usage (tenant, scope, uses, id);
CREATE INDEX usage_used ON usage (tenant, scope, used_at, id);

-- Vectors: int8 codes and float16 in one row. A slot whose text is gone stays, with body 0 and no code.
CREATE TABLE embedder (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, fingerprint text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL, dimensions integer NOT NULL, unrelated float8, related float8, apart float8, PRIMARY KEY (tenant, num), UNIQUE (tenant, fingerprint)
);
CREATE TABLE slot (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), embedder bigint NOT NULL, chunk bigint NOT NULL,
  slot integer NOT NULL, body bigint NOT NULL, part smallint NOT NULL DEFAULT 0, scope integer NOT NULL, code bytea NOT NULL, scale bytea NOT NULL,
  exact bytea NOT NULL, PRIMARY KEY (tenant, embedder, chunk, slot)
);
CREATE UNIQUE INDEX slot_body ON slot (tenant, embedder, body, part) WHERE body > 0;
CREATE INDEX slot_of_body ON slot (tenant, body) WHERE body > 0;
CREATE TABLE chunk (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, embedder bigint NOT NULL,
  version bigint NOT NULL DEFAULT 1, used integer NOT NULL DEFAULT 0, PRIMARY KEY (tenant, num)
);

CREATE TABLE job (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), kind text COLLATE "C" NOT NULL, subject bigint NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'waiting', attempts integer NOT NULL DEFAULT 0, not_before bigint NOT NULL,
  leased_until bigint NOT NULL DEFAULT 0, error text COLLATE "C", PRIMARY KEY (tenant, kind, subject)
);
CREATE TABLE taken (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant() PRIMARY KEY, through bigint NOT NULL DEFAULT 0
);
CREATE TABLE review (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), id bytea NOT NULL, kind text COLLATE "C" NOT NULL,
  scope bigint NOT NULL, memory bytea NOT NULL, other bytea NOT NULL, reason text COLLATE "C" NOT NULL, score float8 NOT NULL,
  created_at bigint NOT NULL, verdict text COLLATE "C", decided_at bigint, PRIMARY KEY (tenant, id),
  UNIQUE (tenant, memory, other, kind)
);
CREATE INDEX review_waiting ON review (tenant, scope, created_at) WHERE verdict IS NULL;
CREATE INDEX review_other ON review (tenant, other) WHERE verdict IS NULL;
CREATE TABLE relation (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), older bytea NOT NULL, newer bytea NOT NULL,
  relation text COLLATE "C" NOT NULL, level text COLLATE "C" NOT NULL, probability float8 NOT NULL,
  model text COLLATE "C" NOT NULL, PRIMARY KEY (tenant, older, newer)
);
CREATE INDEX relation_newer ON relation (tenant, newer);
CREATE TABLE anchor (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), memory bytea NOT NULL, names text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, memory)
);
CREATE TABLE source (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), scope text COLLATE "C" NOT NULL, path text COLLATE "C" NOT NULL,
  digest text COLLATE "C", reached text COLLATE "C", waits integer NOT NULL DEFAULT 0, at bigint NOT NULL,
  PRIMARY KEY (tenant, scope, path)
);
CREATE TABLE journal (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, scope text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL, at bigint NOT NULL, kind text COLLATE "C" NOT NULL, what text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, num)
);
CREATE INDEX journal_session ON journal (tenant, scope, session, num);
CREATE TABLE surfaced (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, scope text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL, client text COLLATE "C" NOT NULL, at bigint NOT NULL, via text COLLATE "C" NOT NULL,
  memory bytea NOT NULL, tokens bigint NOT NULL, shown boolean NOT NULL, drawn boolean NOT NULL, used integer,
  PRIMARY KEY (tenant, num)
);
CREATE INDEX surfaced_waiting ON surfaced (tenant, scope, session) WHERE used IS NULL;
CREATE INDEX surfaced_session ON surfaced (tenant, session, memory);
CREATE TABLE compacted (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), session text COLLATE "C" NOT NULL, through bigint NOT NULL,
  PRIMARY KEY (tenant, session)
);
CREATE TABLE outside_read (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), session text COLLATE "C" NOT NULL,
  what text COLLATE "C" NOT NULL, scope text COLLATE "C" NOT NULL, at bigint NOT NULL, origin text COLLATE "C" NOT NULL,
  ended integer NOT NULL DEFAULT 0, PRIMARY KEY (tenant, session, what)
);

CREATE TABLE device (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, id bytea NOT NULL,
  place text COLLATE "C" NOT NULL, PRIMARY KEY (tenant, num), UNIQUE (tenant, id)
);
CREATE TABLE segment (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), num bigint NOT NULL, device bytea NOT NULL,
  number bigint NOT NULL, digest text COLLATE "C" NOT NULL, header text COLLATE "C" NOT NULL, PRIMARY KEY (tenant, num),
  UNIQUE (tenant, digest)
);
CREATE INDEX segment_device ON segment (tenant, device, number);
CREATE TABLE synced (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), id bytea NOT NULL, stamp bigint NOT NULL,
  operation bytea NOT NULL, place bigint NOT NULL, segment bigint NOT NULL, PRIMARY KEY (tenant, id)
);
CREATE INDEX synced_stamp ON synced (tenant, stamp);
CREATE INDEX synced_segment ON synced (tenant, segment);
CREATE TABLE sealed (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant() PRIMARY KEY, through bigint NOT NULL DEFAULT 0
);
CREATE TABLE trusted (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), device bytea NOT NULL, at bigint NOT NULL,
  PRIMARY KEY (tenant, device)
);
CREATE TABLE checkout (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), identity text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL, at bigint NOT NULL, PRIMARY KEY (tenant, identity)
);
CREATE INDEX checkout_scope ON checkout (tenant, scope);
CREATE TABLE renamed (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), event bytea NOT NULL, at bigint NOT NULL,
  was text COLLATE "C" NOT NULL, scope text COLLATE "C" NOT NULL, PRIMARY KEY (tenant, event)
);
CREATE TABLE scope_left (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), scope bigint NOT NULL, PRIMARY KEY (tenant, scope)
);
CREATE TABLE copy (
  tenant text COLLATE "C" NOT NULL DEFAULT limpet_rows.tenant(), path text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
  at bigint NOT NULL, PRIMARY KEY (tenant, path)
);

-- Numbers of a tenant begin with 1 and have no gaps: its writers go one after the other.
CREATE FUNCTION limpet_rows.number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT coalesce(max(num), 0) + 1 FROM limpet_rows.%I WHERE tenant = $1', TG_TABLE_NAME)
    INTO NEW.num USING NEW.tenant;
  RETURN NEW;
END $$;
-- The last rows stay: as many as the trigger is told.
CREATE FUNCTION limpet_rows.ring() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DELETE FROM limpet_rows.%I WHERE tenant = $1 AND num <= $2', TG_TABLE_NAME)
    USING NEW.tenant, NEW.num - TG_ARGV[0]::bigint;
  RETURN NULL;
END $$;
DO $$
DECLARE one text;
BEGIN
  FOREACH one IN ARRAY ARRAY['scope', 'session', 'edge', 'embedder', 'chunk', 'journal', 'surfaced', 'device', 'segment'] LOOP
    EXECUTE format('CREATE TRIGGER number BEFORE INSERT ON %I FOR EACH ROW WHEN (NEW.num IS NULL)'
                   ' EXECUTE FUNCTION limpet_rows.number()', one);
  END LOOP;
END $$;
CREATE TRIGGER ring AFTER INSERT ON surfaced FOR EACH ROW EXECUTE FUNCTION limpet_rows.ring(50000);
CREATE TRIGGER ring AFTER INSERT ON journal FOR EACH ROW EXECUTE FUNCTION limpet_rows.ring(10000);

-- A table of tenants: its view, and the policy that says the same.
CREATE FUNCTION limpet_rows.separate(name text, view text, condition text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE listed text;
BEGIN
  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attname = 'tenant', a.attnum) INTO listed FROM pg_attribute a
    WHERE a.attrelid = format('limpet_rows.%I', name)::regclass AND a.attnum > 0 AND NOT a.attisdropped;
  EXECUTE format('CREATE OR REPLACE VIEW limpet.%I WITH (security_invoker = true) AS SELECT %s FROM limpet_rows.%I'
                 ' WHERE tenant = limpet_rows.tenant() AND %s', view, listed, name, condition);
  IF view = name THEN
    EXECUTE format('ALTER TABLE limpet_rows.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON limpet_rows.%I USING (tenant = limpet_rows.tenant())', name);
  END IF;
END $$;
SELECT limpet_rows.separate(c.relname, c.relname, 'true') FROM pg_class c
 WHERE c.relnamespace = 'limpet_rows'::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_version';
-- Vectors are the slots that have a text.
SELECT limpet_rows.separate('slot', 'vector', 'body > 0');
