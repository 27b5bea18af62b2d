-- What a user keeps for a model under a name; read both by the store, which runs it as a migration, and by sqlc. source is
-- the search that found it, or user. content is parameters and a system prompt in JSON.
CREATE TABLE profiles(
	id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL, model TEXT NOT NULL, name TEXT NOT NULL, source TEXT NOT NULL,
	created BIGINT NOT NULL, content BYTEA NOT NULL);
CREATE UNIQUE INDEX profiles_of ON profiles(user_id, model, name);
