-- name: AddLook :exec
INSERT INTO looks(id, user_id, suite, target, run_id, created, content) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: Looks :many
-- The looks at a target of a suite, the oldest first.
SELECT id, run_id, created, content, whole FROM checked_looks
WHERE user_id = $1 AND suite = $2 AND target = $3 ORDER BY created, id;
