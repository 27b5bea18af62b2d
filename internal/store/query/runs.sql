-- name: RunDocument :one
SELECT document FROM run_documents WHERE run_id = $1 AND about = $2 AND state = $3;

-- name: PutRunDocument :exec
INSERT INTO run_documents(run_id, about, state, document) VALUES ($1, $2, $3, $4)
ON CONFLICT(run_id, about) DO UPDATE SET state = excluded.state, document = excluded.document;

-- name: DropRunDocuments :exec
DELETE FROM run_documents WHERE run_id = $1;

-- name: RunEntriesOf :many
-- The runs that a user may read, the newest first: his own and those that are shared; of admins, all.
SELECT * FROM run_entries
WHERE (user_id = sqlc.arg(user_id) OR shared OR CAST(sqlc.arg(everything) AS BOOLEAN))
	AND (CAST(sqlc.arg(suite_id) AS TEXT) = '' OR suite_id = sqlc.arg(suite_id))
	AND (CAST(sqlc.arg(experiment_id) AS TEXT) = '' OR experiment_id = sqlc.arg(experiment_id))
	AND (created < sqlc.arg(before) OR created = sqlc.arg(before) AND run_id < sqlc.arg(before_id))
ORDER BY created DESC, run_id DESC LIMIT CAST(sqlc.arg(at_most) AS BIGINT);

-- name: ShareRun :exec
UPDATE run_entries SET shared = $2 WHERE run_id = $1;

-- name: RunsOfExperiment :many
SELECT * FROM run_entries WHERE experiment_id = $1 ORDER BY created, run_id;

-- name: LinkRun :exec
UPDATE run_entries SET experiment_id = $2 WHERE run_id = $1;
