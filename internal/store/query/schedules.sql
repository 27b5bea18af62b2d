-- name: AddSchedule :exec
INSERT INTO schedules(id, user_id, name, spec, zone, next_at, suite_id, on_suite, suite_seen, catalogue_id, on_catalogue, catalogue_seen,
	request, gates, baseline, last_good, webhook, secret, enabled, stopped, created, updated)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22);

-- name: PutSchedule :execrows
UPDATE schedules SET name = $2, spec = $3, zone = $4, next_at = $5, suite_id = $6, on_suite = $7, suite_seen = $8, catalogue_id = $9, on_catalogue = $10,
	catalogue_seen = $11, request = $12, gates = $13, baseline = $14, last_good = $15, webhook = $16, secret = $17, enabled = $18, stopped = $19, updated = $20
WHERE id = $1;

-- name: Schedule :one
SELECT * FROM checked_schedules WHERE id = $1;

-- name: CountSchedules :one
SELECT count(*) FROM schedules WHERE user_id = $1;

-- name: Schedules :many
-- The schedules of a user, of admins those of all, the newest first.
SELECT * FROM checked_schedules
WHERE (user_id = sqlc.arg(user_id) OR CAST(sqlc.arg(everything) AS BOOLEAN))
	AND (created < sqlc.arg(before) OR created = sqlc.arg(before) AND id < sqlc.arg(before_id))
ORDER BY created DESC, id DESC LIMIT CAST(sqlc.arg(at_most) AS BIGINT);

-- name: DropSchedule :exec
DELETE FROM schedules WHERE id = $1;

-- name: DropRunsOfSchedule :exec
DELETE FROM schedule_runs WHERE schedule_id = $1;

-- name: SealedOfSchedules :many
SELECT id, secret FROM schedules WHERE length(secret) > 0 ORDER BY id;

-- name: SetSealedOfSchedule :exec
UPDATE schedules SET secret = $2 WHERE id = $1;

-- name: DueSchedules :many
-- Schedules that are due, or that have another version of the suite or catalogue than the last run.
SELECT sqlc.embed(s), CAST(coalesce(e.version, 0) AS BIGINT) AS suite_version, CAST(coalesce(e.updated, 0) AS BIGINT) AS suite_updated,
	CAST(coalesce(c.version, 0) AS BIGINT) AS catalogue_version, CAST(coalesce(c.updated, 0) AS BIGINT) AS catalogue_updated
FROM checked_schedules s LEFT JOIN suite_entries e ON e.id = s.suite_id AND e.deleted = 0 LEFT JOIN catalogue_entries c ON c.id = s.catalogue_id
WHERE s.enabled AND (s.next_at > 0 AND s.next_at <= CAST(sqlc.arg(now) AS BIGINT)
	OR s.on_suite AND e.version <> s.suite_seen OR s.on_catalogue AND c.version <> s.catalogue_seen)
ORDER BY s.next_at, s.id;

-- name: FirstChangeAfter :one
-- When the first version of a suite after one that was seen was made; 0: there is none.
SELECT CAST(coalesce(min(created), 0) AS BIGINT) AS at FROM suite_versions WHERE suite_id = $1 AND version > $2;

-- name: SuiteVersionNow :one
SELECT version FROM suite_entries WHERE id = $1 AND deleted = 0;

-- name: CatalogueVersionNow :one
SELECT version FROM catalogue_entries WHERE id = $1;

-- name: MoveSchedule :exec
UPDATE schedules SET next_at = $2, suite_seen = $3, catalogue_seen = $4 WHERE id = $1;

-- name: StopSchedule :exec
UPDATE schedules SET enabled = FALSE, stopped = $2, next_at = 0 WHERE id = $1;

-- name: AddScheduleRun :execrows
INSERT INTO schedule_runs(id, schedule_id, due_key, cause, due, state, job_id, run_id, baseline, verdict, outcome, error, created, finished, hook_state, hook_at, hook_attempts, hook_status, hook_error, hook_body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '', $10, $11, $12, $13, $14, $15, 0, 0, $16, $17) ON CONFLICT DO NOTHING;

-- name: ScheduleRunByKey :one
SELECT * FROM checked_schedule_runs WHERE schedule_id = $1 AND due_key = $2;

-- name: GoingRun :one
SELECT * FROM checked_schedule_runs WHERE schedule_id = $1 AND state = 'running' LIMIT 1;

-- name: EndedRuns :many
-- Runs of schedules with jobs that have ended, and that were not looked at.
SELECT sqlc.embed(r), CAST(coalesce(j.state, '') AS TEXT) AS job_state, j.error AS job_error
FROM checked_schedule_runs r LEFT JOIN jobs j ON j.id = r.job_id
WHERE r.state = 'running' AND coalesce(j.finished, 1) <> 0 ORDER BY r.created, r.id;

-- name: EndScheduleRun :execrows
UPDATE schedule_runs SET state = $2, verdict = $3, outcome = $4, error = $5, finished = $6, hook_state = $7, hook_at = $8, hook_body = $9 WHERE id = $1 AND state = 'running';

-- name: LastGoodRun :one
-- The newest run of a schedule that passed its gates, or had none; of the suite that it has now.
SELECT r.run_id FROM schedule_runs r JOIN run_entries e ON e.run_id = r.run_id
WHERE r.schedule_id = sqlc.arg(schedule_id) AND r.state = 'done' AND (r.verdict = 'PASS' OR r.verdict = '' AND length(r.error) = 0) AND e.suite_id = sqlc.arg(suite_id)
ORDER BY r.created DESC, r.id DESC LIMIT 1;

-- name: DamagedScheduleRuns :one
SELECT count(*) FROM checked_schedule_runs WHERE schedule_id = $1 AND NOT whole;

-- name: ScheduleRuns :many
SELECT * FROM checked_schedule_runs
WHERE schedule_id = sqlc.arg(schedule_id) AND (created < sqlc.arg(before) OR created = sqlc.arg(before) AND id < sqlc.arg(before_id))
ORDER BY created DESC, id DESC LIMIT CAST(sqlc.arg(at_most) AS BIGINT);

-- name: TrimScheduleRuns :exec
-- Of the history of a schedule, all but the newest entries go.
DELETE FROM schedule_runs AS d WHERE d.schedule_id = sqlc.arg(schedule_id) AND d.state <> 'running' AND d.id NOT IN (
	SELECT k.id FROM schedule_runs k WHERE k.schedule_id = sqlc.arg(schedule_id) ORDER BY k.created DESC, k.id DESC LIMIT CAST(sqlc.arg(keep) AS BIGINT));

-- name: DueHooks :many
-- Messages that are to be sent now, of each user so many at most.
SELECT sqlc.embed(r), sqlc.embed(s) FROM checked_schedule_runs r JOIN checked_schedules s ON s.id = r.schedule_id
WHERE r.id IN (SELECT d.id FROM (
    SELECT x.id, row_number() OVER (PARTITION BY y.user_id ORDER BY x.hook_at, x.id) AS turn FROM schedule_runs x JOIN schedules y ON y.id = x.schedule_id
    WHERE x.hook_state = 'waiting' AND x.hook_at <= CAST(sqlc.arg(now) AS BIGINT)) d
  WHERE d.turn <= CAST(sqlc.arg(of_user) AS BIGINT))
ORDER BY r.hook_at, r.id LIMIT CAST(sqlc.arg(at_most) AS BIGINT);

-- name: PutHook :exec
UPDATE schedule_runs SET hook_state = $2, hook_at = $3, hook_attempts = $4, hook_status = $5, hook_error = $6 WHERE id = $1;
