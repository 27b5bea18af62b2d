-- name: GateOwner :one
SELECT user_id, shared FROM gate_entries WHERE id = $1;

-- name: AddGate :exec
INSERT INTO gate_entries(id, user_id, name, shared, created, updated, content) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: Gate :one
SELECT * FROM checked_gate_entries WHERE id = $1;

-- name: Gates :many
-- Those that a user has or that are shared, the newest first; of admins, all.
SELECT id, user_id, name, shared, created, updated FROM gate_entries
WHERE (user_id = @user_id OR shared OR CAST(@everybody AS BOOLEAN))
	AND (created < CAST(@before AS BIGINT) OR created = CAST(@before AS BIGINT) AND id < CAST(@before_id AS TEXT))
ORDER BY created DESC, id DESC LIMIT CAST(@n AS BIGINT);

-- name: ReplaceGate :execrows
UPDATE gate_entries SET name = @name, shared = @shared, updated = @updated, content = @content WHERE id = @id AND updated = CAST(@was AS BIGINT);

-- name: DropGate :exec
DELETE FROM gate_entries WHERE id = $1;

-- name: AddGateVerdict :exec
INSERT INTO gate_verdicts(id, gate_id, user_id, run_id, baseline, created, verdict, hash, failed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: GateVerdicts :many
-- The verdicts of gates on runs, the newest first.
SELECT * FROM checked_gate_verdicts
WHERE gate_id = @gate_id AND (created < CAST(@before AS BIGINT) OR created = CAST(@before AS BIGINT) AND id < CAST(@before_id AS TEXT))
ORDER BY created DESC, id DESC LIMIT CAST(@n AS BIGINT);

-- name: DropGateVerdicts :exec
DELETE FROM gate_verdicts WHERE gate_id = $1;

-- name: DropVerdictsOfRun :exec
DELETE FROM gate_verdicts WHERE run_id = $1;
