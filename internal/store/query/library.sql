-- name: AddSuiteEntry :exec
INSERT INTO suite_entries(id, user_id, name, folded, version, hash, last_case, shared, created, updated, deleted)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0);

-- name: AddSuiteVersion :exec
INSERT INTO suite_versions(suite_id, version, hash, user_id, created, note, form, tools, cases, content)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: SuiteEntry :one
-- A suite without its newest version has no form: it is damaged.
SELECT e.*, CAST(coalesce(v.form, '') AS TEXT) AS form, CAST(coalesce(v.tools, 0) AS BIGINT) AS tools,
	CAST(coalesce(v.cases, 0) AS BIGINT) AS cases FROM checked_suite_entries e LEFT JOIN suite_versions v ON v.suite_id = e.id AND v.version = e.version
WHERE e.id = $1 AND e.deleted = 0;

-- name: SuiteEntries :many
SELECT e.*, CAST(coalesce(v.form, '') AS TEXT) AS form, CAST(coalesce(v.tools, 0) AS BIGINT) AS tools,
	CAST(coalesce(v.cases, 0) AS BIGINT) AS cases FROM checked_suite_entries e LEFT JOIN suite_versions v ON v.suite_id = e.id AND v.version = e.version
WHERE e.deleted = 0 AND (e.user_id = @user_id OR e.shared OR CAST(@everybody AS BOOLEAN)) AND e.folded LIKE CAST(@search AS TEXT) ESCAPE '!'
	AND (e.created < CAST(@before AS BIGINT) OR e.created = CAST(@before AS BIGINT) AND e.id < CAST(@before_id AS TEXT))
ORDER BY e.created DESC, e.id DESC LIMIT @n;

-- name: MoveSuite :execrows
UPDATE suite_entries SET name = @name, folded = @folded, version = version + 1, hash = @hash, last_case = @last_case, updated = @updated
WHERE id = @id AND version = CAST(@was AS BIGINT) AND deleted = 0;

-- name: ShareSuite :exec
UPDATE suite_entries SET shared = $1, updated = $2 WHERE id = $3 AND deleted = 0;

-- name: DeleteSuite :execrows
UPDATE suite_entries SET deleted = @deleted, updated = @deleted WHERE id = @id AND deleted = 0 AND version BETWEEN @least AND @most;

-- name: RestoreSuite :execrows
UPDATE suite_entries SET deleted = 0, updated = $1 WHERE id = $2 AND deleted > $3;

-- name: DeletedSuiteOwner :one
SELECT user_id, shared FROM suite_entries WHERE id = $1 AND deleted <> 0;

-- name: SuiteVersion :one
SELECT * FROM checked_suite_versions WHERE suite_id = $1 AND version = $2;

-- name: SuiteVersions :many
SELECT version, hash, user_id, created, note, form, tools, cases FROM suite_versions
WHERE suite_id = @suite_id AND version < CAST(@before AS BIGINT) ORDER BY version DESC LIMIT @n;

-- name: SuiteVersionByHash :one
SELECT version FROM suite_versions WHERE suite_id = $1 AND hash = $2 ORDER BY version DESC LIMIT 1;

-- name: CatalogueOwner :one
SELECT user_id, shared FROM catalogue_entries WHERE id = $1;

-- name: AddCatalogue :exec
INSERT INTO catalogue_entries(id, user_id, name, version, hash, tools, shared, created, updated, content)
VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9);

-- name: Catalogue :one
SELECT * FROM checked_catalogue_entries WHERE id = $1;

-- name: Catalogues :many
SELECT id, user_id, name, version, hash, tools, shared, created, updated FROM catalogue_entries
WHERE (user_id = @user_id OR shared OR CAST(@everybody AS BOOLEAN))
	AND (created < CAST(@before AS BIGINT) OR created = CAST(@before AS BIGINT) AND id < CAST(@before_id AS TEXT))
ORDER BY created DESC, id DESC LIMIT @n;

-- name: ReplaceCatalogue :execrows
UPDATE catalogue_entries SET name = @name, version = version + 1, hash = @hash, tools = @tools, shared = @shared, updated = @updated, content = @content
WHERE id = @id AND version = CAST(@was AS BIGINT);

-- name: DropCatalogue :execrows
DELETE FROM catalogue_entries WHERE id = $1;

-- name: CountSuites :one
SELECT count(*) FROM suite_entries WHERE user_id = $1 AND deleted = 0;

-- name: BytesHeld :one
-- Bytes of the suites of a user with all their versions, deleted ones too, of his catalogues, prompts and profiles.
SELECT CAST((SELECT coalesce(sum(length(v.content)), 0) FROM suite_entries e JOIN suite_versions v ON v.suite_id = e.id WHERE e.user_id = $1)
	+ (SELECT coalesce(sum(length(c.content)), 0) FROM catalogue_entries c WHERE c.user_id = $1)
	+ (SELECT coalesce(sum(length(p.content)), 0) FROM prompts p WHERE p.user_id = $1 AND p.deleted = 0)
	+ (SELECT coalesce(sum(length(f.content)), 0) FROM profiles f WHERE f.user_id = $1) AS BIGINT) AS held;
