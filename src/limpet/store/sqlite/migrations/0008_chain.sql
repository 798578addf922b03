-- The hash chain over the ledger (chain.py). Events that are there already get their places right after this.

-- `place`: when this store appended it; `salt`: makes the hash of a short text one that cannot be guessed; `link`: the
-- hash of the event and of the link before it.
ALTER TABLE event ADD COLUMN place INTEGER;
ALTER TABLE event ADD COLUMN salt BLOB;
ALTER TABLE event ADD COLUMN link BLOB;
-- Places that no event has: of one that was erased, taken out or named anew, `leaf` is its hash, its salt is gone; with
-- no `event`, it is the hash of the order in which all events stood then.
CREATE TABLE chain (place INTEGER PRIMARY KEY, event BLOB, leaf BLOB NOT NULL, link BLOB NOT NULL);
-- The last place and its link, and up to which place there is a signature.
CREATE TABLE chain_end (place INTEGER NOT NULL, link BLOB NOT NULL, signed INTEGER, signature BLOB);
INSERT INTO chain_end VALUES (0, zeroblob(32), NULL, NULL);
