-- name: TracesOwner :one
SELECT user_id, shared FROM trace_entries WHERE id = $1;

-- name: TraceEntry :one
SELECT * FROM checked_trace_entries WHERE id = $1;

-- name: TraceEntryNamed :one
SELECT * FROM checked_trace_entries WHERE user_id = $1 AND name = $2;

-- name: TraceEntries :many
SELECT * FROM checked_trace_entries
WHERE (user_id = @user_id OR shared OR CAST(@everybody AS BOOLEAN))
	AND (created < CAST(@before AS BIGINT) OR created = CAST(@before AS BIGINT) AND id < CAST(@before_id AS TEXT))
ORDER BY created DESC, id DESC LIMIT @n;

-- name: TracesHeld :one
SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes FROM trace_entries WHERE user_id = $1;

-- name: AddTraceEntry :exec
INSERT INTO trace_entries(id, user_id, name, form, lines, parts, items, bytes, shared, created, updated)
VALUES ($1, $2, $3, $4, $5, 0, 0, 0, $6, $7, $8);

-- name: GrowTraceEntry :exec
UPDATE trace_entries SET parts = parts + 1, items = items + @items, bytes = bytes + @bytes, updated = @updated WHERE id = @id;

-- name: ShareTraces :exec
UPDATE trace_entries SET shared = $1 WHERE id = $2;

-- name: DropTraceEntry :exec
DELETE FROM trace_entries WHERE id = $1;

-- name: AddTracePart :exec
INSERT INTO trace_parts(traces_id, part, hash, created, content) VALUES ($1, $2, $3, $4, $5);

-- name: TracePartsOfHash :one
SELECT count(*) FROM trace_parts WHERE traces_id = $1 AND hash = $2;

-- name: TraceParts :many
SELECT content, whole FROM checked_trace_parts WHERE traces_id = $1 AND part <= $2 ORDER BY part;

-- name: DropTraceParts :exec
DELETE FROM trace_parts WHERE traces_id = $1;
