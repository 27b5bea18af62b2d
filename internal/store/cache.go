// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/callvet/callvet"
)

// cacheLimit bounds the keys of one scope in memory (32 bytes each); the newest are kept.
const cacheLimit = 2_000_000

const entryBytes = askBytes + 12

type cellRef struct {
	run                    int64
	caseIx, target, repeat uint32
}

// Cached opens the answers of one scope (the first 8 bytes of a cache key). The returned function
// finds the stored trace of a whole key, without its exchanges. It is safe for concurrent use and
// sees the answers stored before the call to Cached.
func (db *DB) Cached(ctx context.Context,
	scope []byte,
) (func(ctx context.Context, key []byte) (*callvet.Trace, bool, error), error) {
	return db.CacheAt(math.MaxInt64).Cached(ctx, scope)
}

// Cache has the answers that were stored up to a moment.
type Cache struct {
	db *DB
	at int64
}

// CacheNow returns a moment for CacheAt: it includes everything that is stored now, and nothing
// later.
func (db *DB) CacheNow(ctx context.Context) (at int64, err error) {
	err = db.read.QueryRowContext(ctx, "SELECT coalesce(max(id),0) FROM cache_keys").Scan(&at)
	return at, db.explain("read cache", err)
}

// CacheAt returns the answers that were stored by a moment.
func (db *DB) CacheAt(at int64) Cache { return Cache{db, at} }

// Cached is DB.Cached with the answers up to the moment.
func (c Cache) Cached(ctx context.Context,
	scope []byte,
) (func(ctx context.Context, key []byte) (*callvet.Trace, bool, error), error) {
	db := c.db
	if len(scope) != scopeBytes {
		return nil, fmt.Errorf("open cache: a scope of %d bytes, want %d: %w", len(scope), scopeBytes,
			callvet.ErrInvalid)
	}
	rows, err := db.read.QueryContext(ctx, "SELECT run, keys FROM cache_keys WHERE scope=? AND id<=? ORDER BY id DESC",
		scope, c.at)
	if err != nil {
		return nil, db.explain("open cache", err)
	}
	defer rows.Close()
	found := map[[askBytes]byte]cellRef{}
	for len(found) < cacheLimit && rows.Next() {
		var run int64
		var stored sql.RawBytes
		if err := rows.Scan(&run, &stored); err != nil {
			return nil, db.explain("open cache", err)
		}
		keys, err := unsealKeys(stored)
		if err != nil {
			continue // a damaged answer is requested again
		}
		for ; len(keys) >= entryBytes; keys = keys[entryBytes:] {
			k := [askBytes]byte(keys)
			if _, ok := found[k]; ok {
				continue // rows come newest first
			}
			le := binary.LittleEndian
			found[k] = cellRef{run, le.Uint32(keys[16:]), le.Uint32(keys[20:]), le.Uint32(keys[24:])}
		}
	}
	if err := rows.Err(); err != nil {
		return nil, db.explain("open cache", err)
	}
	return func(ctx context.Context, key []byte) (*callvet.Trace, bool, error) {
		if len(key) != KeyBytes {
			return nil, false, fmt.Errorf("look up cache: a key of %d bytes, want %d: %w", len(key), KeyBytes,
				callvet.ErrInvalid)
		}
		ref, ok := found[[askBytes]byte(key[scopeBytes:])]
		if !ok {
			return nil, false, nil
		}
		return db.trace(ctx, ref)
	}, nil
}

// unsealKeys is unseal for the keys of a batch. Entries of an earlier version have no checksum, and
// may contain any bytes.
func unsealKeys(b []byte) ([]byte, error) {
	if len(b)%entryBytes == 0 {
		return b, nil
	}
	return unseal(b)
}

// CachedTrace finds the stored trace of one cache key.
func (db *DB) CachedTrace(ctx context.Context, key []byte) (*callvet.Trace, bool, error) {
	if len(key) != KeyBytes {
		return nil, false, fmt.Errorf("look up cache: a key of %d bytes, want %d: %w", len(key), KeyBytes,
			callvet.ErrInvalid)
	}
	find, err := db.Cached(ctx, key[:scopeBytes])
	if err != nil {
		return nil, false, err
	}
	return find(ctx, key)
}

func (db *DB) trace(ctx context.Context, ref cellRef) (*callvet.Trace, bool, error) {
	var from columns
	var b []byte
	err := db.read.QueryRowContext(ctx,
		"SELECT "+columnNames+",trace FROM cells WHERE run=? AND case_ix=? AND target_ix=? AND repeat=?",
		ref.run, ref.caseIx, ref.target, ref.repeat).Scan(append(from.fields(), &b)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil // the run was deleted meanwhile
	}
	if err != nil {
		return nil, false, db.explain("look up cache", err)
	}
	t := &callvet.Trace{}
	if _, bad := decodeTrace(b, t, nil); bad != nil || from.check() != nil || checkTrace(t) != nil {
		return nil, false, nil // an unreadable answer is requested again
	}
	return t, true, nil
}
