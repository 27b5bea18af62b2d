-- What a server keeps beside runs: people, suites with versions, jobs, events, experiments.
-- The text is SQL that SQLite and PostgreSQL both take, and sqlc reads it as PostgreSQL's. Times are
-- milliseconds since 1970, 0 is none. Ids are made by the program, in lower case. Words that anybody may have
-- written are bytes where they may hold NUL.

CREATE TABLE users(
	id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL,
	password TEXT NOT NULL, -- argon2id; '' has none
	max_jobs BIGINT NOT NULL, -- that run at the same time
	created BIGINT NOT NULL, removed BIGINT NOT NULL,
	events BIGINT NOT NULL); -- the number of the last event

CREATE TABLE sessions(
	hash BYTEA NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT NOT NULL, seen BIGINT NOT NULL);
CREATE INDEX sessions_user ON sessions(user_id);

CREATE TABLE tokens(
	id TEXT NOT NULL PRIMARY KEY, hash BYTEA NOT NULL UNIQUE, user_id TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
	created BIGINT NOT NULL, expires BIGINT NOT NULL, used BIGINT NOT NULL, revoked BIGINT NOT NULL);
CREATE INDEX tokens_user ON tokens(user_id);

-- Links that work once: the first admin's, invitations, tickets of sockets.
CREATE TABLE links(
	hash BYTEA NOT NULL PRIMARY KEY, purpose TEXT NOT NULL, user_id TEXT NOT NULL, role TEXT NOT NULL,
	created BIGINT NOT NULL, expires BIGINT NOT NULL, used BIGINT NOT NULL);

CREATE TABLE audit(
	id TEXT NOT NULL PRIMARY KEY, at BIGINT NOT NULL, user_id TEXT NOT NULL, action TEXT NOT NULL, object TEXT NOT NULL,
	address TEXT NOT NULL, detail BYTEA NOT NULL);
CREATE INDEX audit_at ON audit(at, id);

-- Keys of providers, sealed with a key that is not in here.
CREATE TABLE provider_keys(
	user_id TEXT NOT NULL, variable TEXT NOT NULL, sealed BYTEA NOT NULL, hint TEXT NOT NULL, created BIGINT NOT NULL,
	PRIMARY KEY(user_id, variable));

CREATE TABLE settings(
	name TEXT NOT NULL PRIMARY KEY, value BYTEA NOT NULL);

-- Suites with a name, of a user. folded is the name for searching, last_case the largest number that a
-- case was called by, so that no id is given twice.
CREATE TABLE suite_entries(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL, version BIGINT NOT NULL, hash TEXT NOT NULL,
	last_case BIGINT NOT NULL, shared BOOLEAN NOT NULL, created BIGINT NOT NULL, updated BIGINT NOT NULL, deleted BIGINT NOT NULL);
CREATE INDEX suite_entries_user ON suite_entries(user_id, created, id);
CREATE INDEX suite_entries_shared ON suite_entries(shared, created, id);

-- Every version of a suite: its text in a form that is read, compressed. hash is that of the suite in
-- the store, where a run of it has put it.
CREATE TABLE suite_versions(
	suite_id TEXT NOT NULL, version BIGINT NOT NULL, hash TEXT NOT NULL, user_id TEXT NOT NULL, created BIGINT NOT NULL, note BYTEA NOT NULL,
	form TEXT NOT NULL, tools BIGINT NOT NULL, cases BIGINT NOT NULL, content BYTEA NOT NULL,
	PRIMARY KEY(suite_id, version));
CREATE INDEX suite_versions_hash ON suite_versions(hash);

-- Catalogues of tools that are searched: a file in any form that is read, compressed.
CREATE TABLE catalogue_entries(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, version BIGINT NOT NULL, hash TEXT NOT NULL, tools BIGINT NOT NULL,
	shared BOOLEAN NOT NULL, created BIGINT NOT NULL, updated BIGINT NOT NULL, content BYTEA NOT NULL);
CREATE INDEX catalogue_entries_user ON catalogue_entries(user_id, created, id);

-- Whose a run is, and what of the server it belongs to. Runs of the command line have no row.
CREATE TABLE run_entries(
	run_id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, suite_id TEXT NOT NULL, suite_version BIGINT NOT NULL,
	experiment_id TEXT NOT NULL, job_id TEXT NOT NULL, shared BOOLEAN NOT NULL, created BIGINT NOT NULL);
CREATE INDEX run_entries_user ON run_entries(user_id, created, run_id);
CREATE INDEX run_entries_experiment ON run_entries(experiment_id);

CREATE TABLE jobs(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, priority BIGINT NOT NULL,
	place BIGINT NOT NULL UNIQUE, -- in the order in which jobs came
	request BYTEA NOT NULL, result_ref TEXT NOT NULL, done BIGINT NOT NULL, total BIGINT NOT NULL, eta BIGINT NOT NULL,
	detail BYTEA NOT NULL, error BYTEA NOT NULL, attempt BIGINT NOT NULL,
	timeout BIGINT NOT NULL, ran BIGINT NOT NULL, -- milliseconds: how long it may run, and how long it has
	idle BIGINT NOT NULL, -- attempts in a row that were cut off and came no further than reached
	reached BIGINT NOT NULL,
	note BYTEA NOT NULL, -- what its handler keeps from one attempt to the next
	created BIGINT NOT NULL, queued BIGINT NOT NULL, started BIGINT NOT NULL, finished BIGINT NOT NULL,
	cancel BOOLEAN NOT NULL, idempotency TEXT NOT NULL);
CREATE INDEX jobs_state ON jobs(state, priority, place);
CREATE INDEX jobs_user ON jobs(user_id, place);
CREATE INDEX jobs_result ON jobs(result_ref);
CREATE UNIQUE INDEX jobs_idempotency ON jobs(user_id, idempotency) WHERE idempotency <> '';

-- A job runs while it has a slot of its user: slots are numbered from 1 to the user's limit.
CREATE TABLE slots(
	user_id TEXT NOT NULL, slot BIGINT NOT NULL, job_id TEXT NOT NULL UNIQUE, PRIMARY KEY(user_id, slot));

-- When it was a user's turn to get a slot: the turns of all users are numbered.
CREATE TABLE turns(
	user_id TEXT NOT NULL PRIMARY KEY, turn BIGINT NOT NULL);

-- What happened, numbered for each user without gaps. Of what a user has had, events before first are gone.
CREATE TABLE feeds(
	user_id TEXT NOT NULL PRIMARY KEY, first BIGINT NOT NULL, last BIGINT NOT NULL);

CREATE TABLE events(
	user_id TEXT NOT NULL, seq BIGINT NOT NULL, job_id TEXT NOT NULL, kind TEXT NOT NULL, at BIGINT NOT NULL, payload BYTEA NOT NULL,
	PRIMARY KEY(user_id, seq));
CREATE INDEX events_job ON events(job_id, seq);

CREATE TABLE experiments(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, description BYTEA NOT NULL, suite_id TEXT NOT NULL,
	baseline TEXT NOT NULL, baseline_target TEXT NOT NULL, state TEXT NOT NULL, shared BOOLEAN NOT NULL,
	created BIGINT NOT NULL, updated BIGINT NOT NULL, deleted BIGINT NOT NULL);
CREATE INDEX experiments_user ON experiments(user_id, created, id);

-- Runs that are made by themselves: at times (spec, in a zone), and when a suite or a catalogue has changed.
-- suite_seen and catalogue_seen are the versions for which a run was made. secret is sealed, as keys are.
CREATE TABLE schedules(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL,
	spec TEXT NOT NULL, zone TEXT NOT NULL, next_at BIGINT NOT NULL,
	suite_id TEXT NOT NULL, on_suite BOOLEAN NOT NULL, suite_seen BIGINT NOT NULL,
	catalogue_id TEXT NOT NULL, on_catalogue BOOLEAN NOT NULL, catalogue_seen BIGINT NOT NULL,
	request BYTEA NOT NULL, gates BYTEA NOT NULL, baseline TEXT NOT NULL, last_good BOOLEAN NOT NULL,
	webhook BYTEA NOT NULL, secret BYTEA NOT NULL,
	enabled BOOLEAN NOT NULL, stopped BYTEA NOT NULL, -- why the server disabled it
	created BIGINT NOT NULL, updated BIGINT NOT NULL);
CREATE INDEX schedules_next ON schedules(enabled, next_at);
CREATE INDEX schedules_user ON schedules(user_id, created, id);

-- What schedules did. due_key says for what: a time, a version or a request, each of which counts once.
CREATE TABLE schedule_runs(
	id TEXT NOT NULL PRIMARY KEY, schedule_id TEXT NOT NULL, due_key TEXT NOT NULL, cause TEXT NOT NULL, due BIGINT NOT NULL,
	state TEXT NOT NULL, job_id TEXT NOT NULL, run_id TEXT NOT NULL, baseline TEXT NOT NULL, verdict TEXT NOT NULL,
	outcome BYTEA NOT NULL, error BYTEA NOT NULL, created BIGINT NOT NULL, finished BIGINT NOT NULL,
	hook_state TEXT NOT NULL, hook_at BIGINT NOT NULL, hook_attempts BIGINT NOT NULL, hook_status BIGINT NOT NULL, hook_error BYTEA NOT NULL, hook_body BYTEA NOT NULL,
	UNIQUE(schedule_id, due_key));
CREATE INDEX schedule_runs_hook ON schedule_runs(hook_state, hook_at);
CREATE INDEX schedule_runs_of ON schedule_runs(schedule_id, created, id);
CREATE INDEX schedule_runs_state ON schedule_runs(state);

-- What is told of a run that is over, so that it is summed up once: '' is the report, any other name
-- a comparison. It holds while the state is that of the run.
CREATE TABLE run_documents(
	run_id TEXT NOT NULL, about TEXT NOT NULL, state TEXT NOT NULL, document BYTEA NOT NULL, PRIMARY KEY(run_id, about));

-- Traces that users send: a collection is read as one file, which is its parts in order. items are lines, or
-- spans and log records; bytes are those of the text. Parts are compressed; hash is the SHA-256 of the text,
-- so that what is sent again is not kept twice. lines: more may stand behind it.
CREATE TABLE trace_entries(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, form TEXT NOT NULL, lines BOOLEAN NOT NULL, parts BIGINT NOT NULL,
	items BIGINT NOT NULL, bytes BIGINT NOT NULL, shared BOOLEAN NOT NULL, created BIGINT NOT NULL, updated BIGINT NOT NULL);
CREATE UNIQUE INDEX trace_entries_name ON trace_entries(user_id, name);
CREATE INDEX trace_entries_user ON trace_entries(user_id, created, id);

CREATE TABLE trace_parts(
	traces_id TEXT NOT NULL, part BIGINT NOT NULL, hash BYTEA NOT NULL, created BIGINT NOT NULL, content BYTEA NOT NULL,
	PRIMARY KEY(traces_id, part));
CREATE UNIQUE INDEX trace_parts_hash ON trace_parts(traces_id, hash);

-- People's labels of a run or a collection ('run:ID', 'traces:ID'): lines of a labels file, as they came.
CREATE TABLE label_lines(
	about TEXT NOT NULL, seq BIGINT NOT NULL, user_id TEXT NOT NULL, created BIGINT NOT NULL, line BYTEA NOT NULL, PRIMARY KEY(about, seq));
