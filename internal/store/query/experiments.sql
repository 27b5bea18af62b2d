-- name: AddExperiment :exec
INSERT INTO experiments(id, user_id, name, description, suite_id, baseline, baseline_target, state, shared, created, updated, deleted)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, 0);

-- name: Experiment :one
SELECT * FROM experiments WHERE id = $1 AND deleted = 0;

-- name: Experiments :many
-- The experiments that a user may read, the newest first: his own and those that are shared; of admins, all.
SELECT * FROM experiments
WHERE deleted = 0 AND (user_id = sqlc.arg(user_id) OR shared OR CAST(sqlc.arg(everything) AS BOOLEAN))
	AND (created < sqlc.arg(before) OR created = sqlc.arg(before) AND id < sqlc.arg(before_id))
ORDER BY created DESC, id DESC LIMIT CAST(sqlc.arg(at_most) AS BIGINT);

-- name: ChangeExperiment :execrows
UPDATE experiments SET name = $2, description = $3, state = $4, shared = $5, updated = $6 WHERE id = $1 AND deleted = 0;

-- name: PinBaseline :execrows
UPDATE experiments SET baseline = $2, baseline_target = $3, updated = $4 WHERE id = $1 AND deleted = 0;

-- name: DeleteExperiment :execrows
UPDATE experiments SET deleted = $2 WHERE id = $1 AND deleted = 0;

-- name: CountExperiments :one
SELECT count(*) FROM experiments WHERE user_id = $1 AND deleted = 0;
