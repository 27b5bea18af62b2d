-- Parts of jobs that workers carry out, such as shards of a run. What a part has done stands where it was
-- stored; a row lasts while its job waits for the part. beat rises while a worker has it.
CREATE TABLE parts(
	id TEXT NOT NULL PRIMARY KEY, job_id TEXT NOT NULL, state TEXT NOT NULL,
	task BYTEA NOT NULL, result BYTEA NOT NULL, error BYTEA NOT NULL,
	beat BIGINT NOT NULL, yield BOOLEAN NOT NULL, cancel BOOLEAN NOT NULL);
CREATE INDEX parts_job ON parts(job_id);
