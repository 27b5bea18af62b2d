-- name: AddPrompt :exec
INSERT INTO prompts(id, user_id, name, version, parent, source, shared, created, deleted, content)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9);

-- name: Prompt :one
SELECT * FROM checked_prompts WHERE id = $1 AND deleted = 0;

-- name: PromptOwner :one
SELECT user_id, shared FROM prompts WHERE id = $1 AND deleted = 0;

-- name: PromptVersion :one
-- A version of a prompt by its name; version 0 is the newest.
SELECT * FROM checked_prompts WHERE user_id = $1 AND name = $2 AND deleted = 0
	AND (version = CAST(sqlc.arg(version) AS BIGINT) OR CAST(sqlc.arg(version) AS BIGINT) = 0)
ORDER BY version DESC LIMIT 1;

-- name: LastPromptVersion :one
-- The newest number of a version, deleted ones too; 0: none.
SELECT CAST(coalesce(max(version), 0) AS BIGINT) AS last FROM prompts WHERE user_id = $1 AND name = $2;

-- name: Prompts :many
-- The prompts that a user may read, the newest first.
SELECT * FROM checked_prompts
WHERE deleted = 0 AND (user_id = sqlc.arg(user_id) OR shared OR CAST(sqlc.arg(everything) AS BOOLEAN))
	AND (created < sqlc.arg(before) OR created = sqlc.arg(before) AND id < sqlc.arg(before_id))
ORDER BY created DESC, id DESC LIMIT CAST(sqlc.arg(at_most) AS BIGINT);

-- name: DeletePrompt :execrows
-- Deletes the text too: only the number of the version stays.
UPDATE prompts SET deleted = $2, content = '' WHERE id = $1 AND deleted = 0;

-- name: PromptVersions :many
-- The versions of a prompt by its name, the newest first.
SELECT * FROM checked_prompts WHERE user_id = $1 AND name = $2 AND deleted = 0 ORDER BY version DESC;
