// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// Prune removes old events as Run does.
func (j *Jobs) Prune(ctx context.Context) error { return j.prune(ctx) }

// AddEvents stores n events of a user.
func AddEvents(ctx context.Context, db *store.DB, user string, now time.Time, n int) error {
	return db.Change(ctx, "test",
		func(q *rows.Queries) error { return storeEvents(ctx, q, user, "", now, make([]News, n)...) })
}

// Move is move in a transaction of its own.
func Move(ctx context.Context, db *store.DB, id string, to State) error {
	return db.Change(ctx, "test", func(q *rows.Queries) error {
		r, err := q.Job(ctx, id)
		if err != nil {
			return err
		}
		return move(ctx, q, &r, to, time.Now())
	})
}

// SetLimit makes a user with a number of jobs of his own.
func SetLimit(t *testing.T, db *store.DB, user string, n int64) {
	t.Helper()
	if err := db.ChangeTx(t.Context(), "test", func(tx *sql.Tx, _ *rows.Queries) error {
		_, err := tx.ExecContext(t.Context(),
			"INSERT INTO users(id, name, role, password, max_jobs, created, removed, events) VALUES (?, ?, 'member', '', ?, 0, 0, 0)", user, user, n)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
