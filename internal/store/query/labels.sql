-- name: LabelLines :many
SELECT line, whole FROM checked_label_lines WHERE about = $1 ORDER BY seq;

-- name: LabelsStored :one
-- Counts the lines in the table itself: an index with a damaged key finds fewer.
SELECT count(*) FROM label_lines WHERE about || '' = CAST(@about AS TEXT) AND length(user_id) >= 0;

-- name: LabelsOf :one
SELECT count(*) AS n, CAST(coalesce(max(seq), 0) AS BIGINT) AS last, CAST(coalesce(sum(length(line)), 0) AS BIGINT) AS bytes FROM label_lines WHERE about = $1;

-- name: AddLabelLine :exec
INSERT INTO label_lines(about, seq, user_id, created, line) VALUES ($1, $2, $3, $4, $5);

-- name: LabelLinesBy :many
SELECT seq, line FROM label_lines WHERE about = $1 AND user_id = $2 ORDER BY seq;

-- name: DropLabelLine :exec
DELETE FROM label_lines WHERE about = $1 AND seq = $2;

-- name: DropLabelLines :exec
DELETE FROM label_lines WHERE about = $1;
