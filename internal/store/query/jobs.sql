-- name: AddJob :exec
INSERT INTO jobs(id, user_id, kind, state, priority, place, request, result_ref, done, total, eta, detail, error, attempt, timeout, ran, idle, reached, note,
  created, queued, started, finished, cancel, idempotency)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25);

-- name: LastPlace :one
SELECT CAST(coalesce(max(place), 0) AS BIGINT) AS place FROM jobs;

-- name: Job :one
SELECT * FROM jobs WHERE id = $1;

-- name: JobByKey :one
SELECT * FROM jobs WHERE user_id = $1 AND idempotency = $2 AND idempotency <> '';

-- name: JobOfResult :one
SELECT * FROM jobs WHERE result_ref = $1 ORDER BY place DESC LIMIT 1;

-- name: MoveJob :execrows
UPDATE jobs SET state = sqlc.arg(next), attempt = sqlc.arg(attempt), queued = sqlc.arg(queued), started = sqlc.arg(started), finished = sqlc.arg(finished),
  done = sqlc.arg(done), total = sqlc.arg(total), eta = sqlc.arg(eta), ran = sqlc.arg(ran), idle = sqlc.arg(idle), reached = sqlc.arg(reached),
  result_ref = sqlc.arg(result_ref), request = sqlc.arg(request), detail = sqlc.arg(detail), error = sqlc.arg(error)
WHERE id = sqlc.arg(id) AND attempt = sqlc.arg(was) AND state IN (sqlc.arg(from1), sqlc.arg(from2), sqlc.arg(from3), sqlc.arg(from4));

-- name: DropJob :execrows
DELETE FROM jobs WHERE id = $1 AND state = 'pending';

-- name: AskCancel :exec
UPDATE jobs SET cancel = TRUE WHERE id = $1;

-- name: JobProgress :execrows
UPDATE jobs SET done = $1, total = $2, eta = $3, ran = $4 WHERE id = $5 AND attempt = $6 AND state = 'running';

-- name: NoteJob :execrows
UPDATE jobs SET note = $1 WHERE id = $2 AND attempt = $3 AND state = 'running';

-- name: JobsIn :many
SELECT * FROM jobs WHERE state = $1 ORDER BY place;

-- name: ListJobs :many
SELECT * FROM jobs
WHERE (user_id = sqlc.arg(user_id) OR sqlc.arg(user_id) = '') AND place < sqlc.arg(before)
  AND (kind = sqlc.arg(kind) OR sqlc.arg(kind) = '') AND (state = sqlc.arg(state) OR sqlc.arg(state) = '')
ORDER BY place DESC LIMIT sqlc.arg(most);

-- name: ActiveJobs :many
SELECT * FROM jobs WHERE user_id = $1 AND state IN ('pending', 'queued', 'running', 'interrupted') AND finished = 0 ORDER BY place;

-- name: NextJob :one
SELECT j.id, j.user_id FROM jobs j LEFT JOIN turns t ON t.user_id = j.user_id LEFT JOIN users u ON u.id = j.user_id
WHERE j.state = 'queued' AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.job_id = j.id)
  AND (SELECT count(*) FROM slots s WHERE s.user_id = j.user_id) < CASE WHEN coalesce(u.max_jobs, 0) > 0 THEN u.max_jobs ELSE CAST(sqlc.arg(usual) AS BIGINT) END
ORDER BY j.priority DESC, (SELECT count(*) FROM slots s WHERE s.user_id = j.user_id), coalesce(t.turn, 0), j.place
LIMIT 1;

-- name: MostJobs :one
SELECT CAST(coalesce(max(max_jobs), 0) AS BIGINT) AS most FROM users WHERE id = $1;

-- name: TakeSlot :execrows
INSERT INTO slots(user_id, slot, job_id)
SELECT CAST(sqlc.arg(user_id) AS TEXT), k.n, CAST(sqlc.arg(job_id) AS TEXT)
FROM (SELECT 1 AS n UNION SELECT t.slot + 1 FROM slots t WHERE t.user_id = CAST(sqlc.arg(user_id) AS TEXT)) k
WHERE k.n <= CAST(sqlc.arg(most) AS BIGINT) AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.user_id = CAST(sqlc.arg(user_id) AS TEXT) AND s.slot = k.n)
ORDER BY k.n LIMIT 1
ON CONFLICT DO NOTHING;

-- name: FreeSlot :exec
DELETE FROM slots WHERE job_id = $1;

-- name: FreeSlots :exec
DELETE FROM slots;

-- name: SlotsTaken :one
SELECT count(*) FROM slots;

-- name: TakeTurn :exec
INSERT INTO turns(user_id, turn) SELECT CAST(sqlc.arg(user_id) AS TEXT), coalesce(max(turn), 0) + 1 FROM turns WHERE TRUE
ON CONFLICT(user_id) DO UPDATE SET turn = excluded.turn;

-- name: NumberEvents :one
INSERT INTO feeds(user_id, first, last) VALUES (sqlc.arg(user_id), 1, sqlc.arg(more))
ON CONFLICT(user_id) DO UPDATE SET last = feeds.last + excluded.last
RETURNING last;

-- name: Feed :one
SELECT * FROM feeds WHERE user_id = $1;

-- name: Feeds :many
SELECT * FROM feeds;

-- name: AddEvent :exec
INSERT INTO events(user_id, seq, job_id, kind, at, payload) VALUES ($1, $2, $3, $4, $5, $6);

-- name: EventsAfter :many
SELECT * FROM events WHERE user_id = $1 AND seq > $2 ORDER BY seq LIMIT $3;

-- name: JobEvents :many
SELECT * FROM events WHERE job_id = $1 ORDER BY seq DESC LIMIT $2;

-- name: LastOldEvent :one
SELECT CAST(coalesce(max(seq), 0) AS BIGINT) AS seq FROM (SELECT seq, at FROM events WHERE user_id = $1 ORDER BY seq LIMIT $2) oldest WHERE at < $3;

-- name: DropEvents :exec
DELETE FROM events WHERE user_id = $1 AND seq <= $2;

-- name: FeedFrom :exec
UPDATE feeds SET first = $1 WHERE user_id = $2;

-- name: JobsByState :many
SELECT state, count(*) AS n, CAST(coalesce(sum(done), 0) AS BIGINT) AS done, CAST(coalesce(sum(total), 0) AS BIGINT) AS total FROM jobs GROUP BY state;

-- name: EventsTold :one
SELECT CAST(coalesce(sum(last), 0) AS BIGINT) AS told FROM feeds;

-- name: CountActiveJobs :one
-- Jobs that are not over.
SELECT count(*) FROM jobs WHERE user_id = $1 AND finished = 0;
