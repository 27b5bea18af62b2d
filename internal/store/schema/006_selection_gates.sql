-- What a server keeps of selection and of gates, read both by the store, which runs it as a migration, and by sqlc.

-- Runs that ask a catalogue the questions of a suite, with what was searched and how.
CREATE TABLE select_runs(
	run_id TEXT NOT NULL PRIMARY KEY, catalogue_id TEXT NOT NULL, catalogue_version BIGINT NOT NULL, preset TEXT NOT NULL,
	depth BIGINT NOT NULL, -- how many tools are given
	created BIGINT NOT NULL);
CREATE INDEX select_runs_created ON select_runs(created, run_id);

-- Gates that users keep by name. content is the text as it was sent.
CREATE TABLE gate_entries(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, shared BOOLEAN NOT NULL, created BIGINT NOT NULL, updated BIGINT NOT NULL,
	content BYTEA NOT NULL);
CREATE INDEX gate_entries_user ON gate_entries(user_id, created, id);

-- What kept gates said of runs. hash is the SHA-256 of the text that the gates had then; failed is a list of gates in JSON.
CREATE TABLE gate_verdicts(
	id TEXT NOT NULL PRIMARY KEY, gate_id TEXT NOT NULL, user_id TEXT NOT NULL, run_id TEXT NOT NULL, baseline TEXT NOT NULL, created BIGINT NOT NULL,
	verdict TEXT NOT NULL, hash TEXT NOT NULL, failed BYTEA NOT NULL);
CREATE INDEX gate_verdicts_gate ON gate_verdicts(gate_id, created, id);
CREATE INDEX gate_verdicts_run ON gate_verdicts(run_id);
