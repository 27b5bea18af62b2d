-- name: AddSelectRun :exec
INSERT INTO select_runs(run_id, catalogue_id, catalogue_version, preset, depth, created) VALUES ($1, $2, $3, $4, $5, $6);

-- name: SelectRun :one
SELECT * FROM checked_select_runs WHERE run_id = $1;

-- name: SelectRuns :many
-- The runs over a catalogue, or over all, the newest first.
SELECT s.*, e.user_id FROM checked_select_runs s JOIN run_entries e ON e.run_id = s.run_id
WHERE (CAST(@catalogue_id AS TEXT) = '' OR s.catalogue_id = @catalogue_id)
	AND (s.created < CAST(@before AS BIGINT) OR s.created = CAST(@before AS BIGINT) AND s.run_id < CAST(@before_id AS TEXT))
ORDER BY s.created DESC, s.run_id DESC LIMIT CAST(@n AS BIGINT);

-- name: DropSelectRun :exec
DELETE FROM select_runs WHERE run_id = $1;
