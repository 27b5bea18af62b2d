-- name: AddTune :exec
INSERT INTO tunes(id, user_id, suite, kind, state, suite_id, experiment_id, created, updated, deleted, holdout_use, content)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, 0, 0, $9);

-- name: Tune :one
SELECT * FROM checked_tunes WHERE id = $1 AND deleted = 0;

-- name: TuneOwner :one
SELECT user_id FROM tunes WHERE id = $1 AND deleted = 0;

-- name: Tunes :many
-- The searches of a user, the newest first; an empty kind is both kinds.
SELECT * FROM checked_tunes
WHERE deleted = 0 AND (user_id = sqlc.arg(user_id) OR CAST(sqlc.arg(everything) AS BOOLEAN))
	AND (CAST(sqlc.arg(kind) AS TEXT) = '' OR kind = sqlc.arg(kind))
	AND (created < sqlc.arg(before) OR created = sqlc.arg(before) AND id < sqlc.arg(before_id))
ORDER BY created DESC, id DESC LIMIT CAST(sqlc.arg(at_most) AS BIGINT);

-- name: TunesOfExperiment :many
SELECT * FROM checked_tunes WHERE experiment_id = $1 AND deleted = 0 ORDER BY created, id;

-- name: SplitTunes :many
-- All searches on a suite, deleted ones too, the oldest first: how they divided its cases.
SELECT * FROM checked_tunes WHERE user_id = $1 AND suite = $2 ORDER BY created, id;

-- name: UserTunes :many
-- All searches of a user, deleted ones too, the newest first.
SELECT * FROM checked_tunes WHERE user_id = $1 ORDER BY created DESC, id DESC LIMIT CAST(sqlc.arg(at_most) AS BIGINT);

-- name: ChangeTune :execrows
UPDATE tunes SET state = $2, updated = $3, content = $4 WHERE id = $1 AND deleted = 0;

-- name: UseHoldout :execrows
-- Numbers the uses of the held-out cases by a search that has none: the last of them.
UPDATE tunes SET holdout_use = CAST(sqlc.arg(uses) AS BIGINT) + (SELECT max(t.holdout_use) FROM tunes t WHERE t.user_id = tunes.user_id AND t.suite = tunes.suite)
WHERE tunes.id = sqlc.arg(id) AND tunes.holdout_use = 0;

-- name: DeleteTune :execrows
UPDATE tunes SET deleted = $2 WHERE id = $1 AND deleted = 0;

-- name: AddTunePreset :exec
INSERT INTO tune_presets(id, user_id, name, created, content) VALUES ($1, $2, $3, $4, $5);

-- name: TunePreset :one
SELECT * FROM checked_tune_presets WHERE user_id = $1 AND name = $2;

-- name: TunePresets :many
SELECT * FROM checked_tune_presets WHERE user_id = $1 ORDER BY name;

-- name: DeleteTunePreset :execrows
DELETE FROM tune_presets WHERE user_id = $1 AND name = $2;
