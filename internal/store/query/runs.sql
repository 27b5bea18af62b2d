-- name: AttemptBytesHeld :one
-- Bytes of the attempts of a user's runs and searches, of the questions of judges about them, and of the results of searches.
SELECT CAST((SELECT coalesce(sum(r.bytes), 0) FROM runs r LEFT JOIN run_entries e ON e.run_id = coalesce(r.judges, r.id)
		LEFT JOIN tunes t ON t.id = r.judges WHERE e.user_id = $1 OR t.user_id = $1)
	+ (SELECT coalesce(sum(length(f.content)), 0) FROM tunes f WHERE f.user_id = $1 AND f.deleted = 0) AS BIGINT) AS held;

-- name: RunDocument :one
-- A damaged one is made again, as one that is missing.
SELECT document FROM checked_run_documents WHERE run_id = $1 AND about = $2 AND state = $3 AND whole;

-- name: PutRunDocument :exec
INSERT INTO run_documents(run_id, about, state, document) VALUES ($1, $2, $3, $4)
ON CONFLICT(run_id, about) DO UPDATE SET state = excluded.state, document = excluded.document;

-- name: DropRunDocuments :exec
DELETE FROM run_documents WHERE run_id = $1;

-- name: RunEntriesOf :many
-- The runs that a user may read, the newest first: his own and those that are shared; of admins, all, and
-- those of the command line, which have no entry.
SELECT r.num, r.id AS run_id, COALESCE(e.user_id, '') AS user_id, COALESCE(e.suite_id, '') AS suite_id, COALESCE(e.suite_version, 0) AS suite_version,
	COALESCE(e.experiment_id, '') AS experiment_id, COALESCE(e.job_id, '') AS job_id, COALESCE(e.shared, FALSE) AS shared, COALESCE(e.created, r.created) AS created
FROM runs r LEFT JOIN run_entries e ON e.run_id = r.id
WHERE (e.user_id = sqlc.arg(user_id) OR e.shared OR CAST(sqlc.arg(everything) AS BOOLEAN))
	AND (CAST(sqlc.arg(suite_id) AS TEXT) = '' OR e.suite_id = sqlc.arg(suite_id))
	AND (CAST(sqlc.arg(suite_name) AS TEXT) = '' OR r.suite_name = sqlc.arg(suite_name))
	AND (CAST(sqlc.arg(experiment_id) AS TEXT) = '' OR e.experiment_id = sqlc.arg(experiment_id))
	AND r.judges IS NULL AND r.num < sqlc.arg(before)
ORDER BY r.num DESC LIMIT CAST(sqlc.arg(at_most) AS BIGINT);

-- name: ShareRun :exec
UPDATE run_entries SET shared = $2 WHERE run_id = $1;

-- name: RunsOfExperiment :many
SELECT * FROM run_entries WHERE experiment_id = $1 ORDER BY created, run_id;

-- name: LinkRun :exec
UPDATE run_entries SET experiment_id = $2 WHERE run_id = $1;

-- name: GiveRunToJob :exec
UPDATE run_entries SET job_id = $2 WHERE run_id = $1;
