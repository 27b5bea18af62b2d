-- name: RunEntry :one
-- What the server knows of a run; a run of the command line belongs to no user.
SELECT r.id AS run_id, COALESCE(e.user_id, '') AS user_id, COALESCE(e.suite_id, '') AS suite_id, COALESCE(e.suite_version, 0) AS suite_version,
	COALESCE(e.experiment_id, '') AS experiment_id, COALESCE(e.job_id, '') AS job_id, COALESCE(e.shared, FALSE) AS shared, COALESCE(e.created, r.created) AS created
FROM runs r LEFT JOIN run_entries e ON e.run_id = r.id WHERE r.id = $1 AND r.judges IS NULL;

-- name: AdoptRun :exec
-- Gives a run of the command line an entry, so that it can be shared.
INSERT INTO run_entries(run_id, user_id, suite_id, suite_version, experiment_id, job_id, shared, created)
VALUES ($1, '', '', 0, '', '', FALSE, $2) ON CONFLICT(run_id) DO NOTHING;

-- name: AddRunEntry :exec
INSERT INTO run_entries(run_id, user_id, suite_id, suite_version, experiment_id, job_id, shared, created)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: DropRunEntry :exec
DELETE FROM run_entries WHERE run_id = $1;

-- name: SuiteOwner :one
SELECT user_id, shared FROM suite_entries WHERE id = $1 AND deleted = 0;

-- name: RunOwner :one
SELECT COALESCE(e.user_id, '') AS user_id, COALESCE(e.shared, FALSE) AS shared
FROM runs r LEFT JOIN run_entries e ON e.run_id = r.id WHERE r.id = $1 AND r.judges IS NULL;

-- name: JobOwner :one
SELECT user_id FROM jobs WHERE id = $1;

-- name: ExperimentOwner :one
SELECT user_id, shared FROM experiments WHERE id = $1 AND deleted = 0;

-- name: ScheduleOwner :one
SELECT user_id FROM schedules WHERE id = $1;

-- name: TokenOwner :one
SELECT user_id FROM tokens WHERE id = $1 AND revoked = 0;
