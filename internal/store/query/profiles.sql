-- name: AddProfile :exec
INSERT INTO profiles(id, user_id, model, name, source, created, content) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: Profile :one
SELECT * FROM checked_profiles WHERE id = $1 AND user_id = $2;

-- name: Profiles :many
-- The profiles of a user; an empty model is all models.
SELECT * FROM checked_profiles
WHERE user_id = sqlc.arg(user_id) AND (CAST(sqlc.arg(model) AS TEXT) = '' OR model = sqlc.arg(model))
ORDER BY model, name;

-- name: DeleteProfile :execrows
DELETE FROM profiles WHERE id = $1 AND user_id = $2;
