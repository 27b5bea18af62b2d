-- Searches for better parameters and prompts, and the prompts that a user keeps; read both by the store, which runs it as a
-- migration, and by sqlc. A deleted search keeps its row: its use of the held-out cases still counts. holdout_use numbers
-- the uses of a suite's held-out cases, from 1; 0: none. content is the request, the parts of the suite and the result in JSON.
CREATE TABLE tunes(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, suite TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
	suite_id TEXT NOT NULL, experiment_id TEXT NOT NULL, created BIGINT NOT NULL, updated BIGINT NOT NULL, deleted BIGINT NOT NULL,
	holdout_use BIGINT NOT NULL, content BYTEA NOT NULL);
CREATE INDEX tunes_of ON tunes(user_id, suite, created, id);
CREATE INDEX tunes_experiment ON tunes(experiment_id, created, id);
-- content is the text with its metadata in JSON.
CREATE TABLE prompts(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, version BIGINT NOT NULL, parent TEXT NOT NULL,
	source TEXT NOT NULL, shared BOOLEAN NOT NULL, created BIGINT NOT NULL, deleted BIGINT NOT NULL, content BYTEA NOT NULL);
CREATE UNIQUE INDEX prompts_of ON prompts(user_id, name, version);
-- The spaces that a user keeps by name; content is the text of a space file.
CREATE TABLE tune_presets(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, created BIGINT NOT NULL, content BYTEA NOT NULL);
CREATE UNIQUE INDEX tune_presets_of ON tune_presets(user_id, name);
