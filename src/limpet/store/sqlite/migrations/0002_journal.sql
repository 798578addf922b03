-- The journal: what was asked and done in a session, a line each, written by hooks. Not ledger: a ring of the last 10,000.
CREATE TABLE journal (
  num INTEGER PRIMARY KEY, scope TEXT NOT NULL, session TEXT NOT NULL, at INTEGER NOT NULL,
  kind TEXT NOT NULL, what TEXT NOT NULL
);
CREATE INDEX journal_session ON journal (scope, session, num);
CREATE TRIGGER journal_ring AFTER INSERT ON journal BEGIN
  DELETE FROM journal WHERE num <= new.num - 10000;
END;
