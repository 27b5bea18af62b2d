-- What the statements of a server read of runs. The table is made by migrate.go; this is for sqlc alone.
CREATE TABLE runs(
	num BIGINT NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, suite_name TEXT NOT NULL, created BIGINT NOT NULL,
	judges TEXT, -- what a run of a judge is about
	bytes BIGINT NOT NULL); -- of its attempts
