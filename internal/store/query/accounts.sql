-- name: CountUsers :one
SELECT count(*) FROM users WHERE removed = 0;

-- name: CountAdmins :one
SELECT count(*) FROM users WHERE removed = 0 AND role = 'admin' AND password <> '';

-- name: AddUser :exec
INSERT INTO users(id, name, role, password, max_jobs, created, removed, events)
VALUES ($1, $2, $3, $4, $5, $6, 0, 0);

-- name: User :one
SELECT * FROM users WHERE id = $1;

-- name: UserByName :one
SELECT * FROM users WHERE name = $1;

-- name: Users :many
SELECT * FROM users WHERE removed = 0 AND name > @after ORDER BY name LIMIT @most;

-- name: SetUserRole :execrows
UPDATE users SET role = $2 WHERE id = $1 AND removed = 0;

-- name: SetUserMaxJobs :execrows
UPDATE users SET max_jobs = $2 WHERE id = $1 AND removed = 0;

-- name: SetUserPassword :execrows
UPDATE users SET password = $2 WHERE id = $1 AND removed = 0;

-- name: RemoveUser :execrows
UPDATE users SET removed = $2, password = '', name = $3 WHERE id = $1 AND removed = 0;

-- name: AddSession :exec
INSERT INTO sessions(hash, user_id, created, expires, seen) VALUES ($1, $2, $3, $4, $5);

-- name: Session :one
SELECT s.user_id, s.created, s.expires, s.seen, u.name, u.role
FROM sessions s JOIN users u ON u.id = s.user_id
WHERE s.hash = $1 AND u.removed = 0;

-- name: SeeSession :exec
UPDATE sessions SET seen = $2 WHERE hash = $1 AND seen < $2;

-- name: DropSession :exec
DELETE FROM sessions WHERE hash = $1;

-- name: DropSessionsOf :exec
DELETE FROM sessions WHERE user_id = $1;

-- name: SessionsOf :many
SELECT hash, created, expires, seen FROM sessions WHERE user_id = $1 ORDER BY created DESC, hash;

-- name: DropOldSessions :exec
DELETE FROM sessions WHERE expires < $1 OR seen < $2;

-- name: AddToken :exec
INSERT INTO tokens(id, hash, user_id, name, scopes, created, expires, used, revoked)
VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0);

-- name: TokenByHash :one
SELECT t.id, t.user_id, t.scopes, t.expires, t.used, t.revoked, u.name, u.role
FROM tokens t JOIN users u ON u.id = t.user_id
WHERE t.hash = $1 AND u.removed = 0;

-- name: TokensOf :many
SELECT id, name, scopes, created, expires, used FROM tokens
WHERE user_id = $1 AND revoked = 0 ORDER BY created DESC, id;

-- name: CountTokensOf :one
SELECT count(*) FROM tokens WHERE user_id = $1 AND revoked = 0;

-- name: UseToken :exec
UPDATE tokens SET used = $2 WHERE id = $1 AND used < $2;

-- name: RevokeToken :execrows
UPDATE tokens SET revoked = $2 WHERE id = $1 AND revoked = 0;

-- name: RevokeTokensOf :exec
UPDATE tokens SET revoked = $2 WHERE user_id = $1 AND revoked = 0;

-- name: AddLink :exec
INSERT INTO links(hash, purpose, user_id, role, created, expires, used) VALUES ($1, $2, $3, $4, $5, $6, 0);

-- name: Link :one
SELECT * FROM links WHERE hash = $1;

-- name: UseLink :execrows
UPDATE links SET used = $2 WHERE hash = $1 AND used = 0 AND expires > $2;

-- name: DropLinks :exec
DELETE FROM links WHERE purpose = $1 AND user_id = $2 AND used = 0;

-- name: DropLinksOf :exec
DELETE FROM links WHERE user_id = $1 AND used = 0;

-- name: DropOldLinks :exec
DELETE FROM links WHERE expires < $1;

-- name: AddAudit :exec
INSERT INTO audit(id, at, user_id, action, object, address, detail) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: AuditBefore :many
SELECT a.id, a.at, a.user_id, a.action, a.object, a.address, a.detail
FROM audit a
WHERE (a.at < @at OR a.at = @at AND a.id < @id) AND (CAST(@action AS TEXT) = '' OR a.action = @action) AND (CAST(@user_id AS TEXT) = '' OR a.user_id = @user_id)
ORDER BY a.at DESC, a.id DESC LIMIT @most;

-- name: PutProviderKey :exec
INSERT INTO provider_keys(user_id, variable, sealed, hint, created) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT(user_id, variable) DO UPDATE SET sealed = excluded.sealed, hint = excluded.hint, created = excluded.created;

-- name: ProviderKeysOf :many
SELECT variable, sealed, hint, created FROM provider_keys WHERE user_id = $1 ORDER BY variable;

-- name: SetSealedProviderKey :exec
UPDATE provider_keys SET sealed = $3 WHERE user_id = $1 AND variable = $2;

-- name: AllProviderKeys :many
SELECT user_id, variable, sealed FROM provider_keys ORDER BY user_id, variable;

-- name: DropProviderKey :execrows
DELETE FROM provider_keys WHERE user_id = $1 AND variable = $2;

-- name: DropProviderKeysOf :exec
DELETE FROM provider_keys WHERE user_id = $1;

-- name: Setting :one
SELECT value FROM settings WHERE name = $1;

-- name: PutSetting :exec
INSERT INTO settings(name, value) VALUES ($1, $2)
ON CONFLICT(name) DO UPDATE SET value = excluded.value;
