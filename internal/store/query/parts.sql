-- name: AddPart :exec
INSERT INTO parts(id, job_id, state, task, result, error, beat, yield, cancel) VALUES ($1, $2, 'queued', $3, $4, $5, 0, FALSE, FALSE);

-- name: Part :one
SELECT * FROM parts WHERE id = $1;

-- name: TakePart :execrows
UPDATE parts SET state = 'running', beat = 1 WHERE id = $1 AND state = 'queued';

-- name: BeatPart :execrows
UPDATE parts SET beat = beat + 1 WHERE id = $1 AND state = 'running';

-- name: AskPart :exec
UPDATE parts SET yield = sqlc.arg(yield), cancel = sqlc.arg(cancel) WHERE id = sqlc.arg(id);

-- name: EndPart :execrows
UPDATE parts SET state = 'done', result = $1, error = $2 WHERE id = $3 AND state = 'running';

-- name: DropPart :exec
DELETE FROM parts WHERE id = $1;

-- name: DropParts :exec
DELETE FROM parts;

-- name: PartsByState :many
SELECT state, count(*) AS n FROM parts GROUP BY state;
