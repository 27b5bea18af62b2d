-- The looks at gates, read both by the store, which runs it as a migration, and by sqlc. A look stays when its run is
-- deleted: the next one is not the first. target is the identity of what was asked, content the gates and the sums of the
-- tasks in JSON.
CREATE TABLE looks(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, suite TEXT NOT NULL, target TEXT NOT NULL, run_id TEXT NOT NULL,
	created BIGINT NOT NULL, content BYTEA NOT NULL);
CREATE INDEX looks_of ON looks(user_id, suite, target, created, id);
