-- Which checkout has which scope, and what became of scopes.

-- What tells one repository from another (a remote, a first commit, a folder) and the scope that it was given at a time.
-- Not ledger: a checkout of another machine finds its scope by the remote it has.
CREATE TABLE checkout (identity TEXT PRIMARY KEY, scope TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX checkout_scope ON checkout (scope);
-- Scopes that were moved as a whole: projection of the ledger. What had the old name has the new one from then on.
CREATE TABLE renamed (event BLOB PRIMARY KEY, at INTEGER NOT NULL, was TEXT NOT NULL, scope TEXT NOT NULL) WITHOUT ROWID;
-- Scopes that a memory was ever moved out of: as known earlier, texts are found in them that the index has elsewhere.
CREATE TABLE scope_left (scope INTEGER PRIMARY KEY);
