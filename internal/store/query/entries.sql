-- name: RunEntry :one
SELECT * FROM run_entries WHERE run_id = $1;

-- name: AddRunEntry :exec
INSERT INTO run_entries(run_id, user_id, suite_id, suite_version, experiment_id, job_id, shared, created)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: DropRunEntry :exec
DELETE FROM run_entries WHERE run_id = $1;

-- name: SuiteOwner :one
SELECT user_id, shared FROM suite_entries WHERE id = $1 AND deleted = 0;

-- name: RunOwner :one
SELECT user_id, shared FROM run_entries WHERE run_id = $1;

-- name: JobOwner :one
SELECT user_id FROM jobs WHERE id = $1;

-- name: ExperimentOwner :one
SELECT user_id, shared FROM experiments WHERE id = $1 AND deleted = 0;

-- name: ScheduleOwner :one
SELECT user_id FROM schedules WHERE id = $1;

-- name: TokenOwner :one
SELECT user_id FROM tokens WHERE id = $1 AND revoked = 0;
