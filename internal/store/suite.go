// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callvet/callvet"
)

const casesPerChunk = 256

// head and storedCase add what encoding/json would lose: it drops white space
// inside raw JSON, and the bytes of a tool's schema are part of the prompt.
type head struct {
	*callvet.Suite
	Cases []callvet.Case `json:"cases,omitempty"` // hides the suite's
	Exact map[int]string `json:"exact_parameters,omitempty"`
}

type storedCase struct {
	*callvet.Case
	Position *callvet.Position `json:"position,omitempty"` // hides the case's: where a file stood is not content
	Exact    map[int]string    `json:"exact_parameters,omitempty"`
}

func exactParameters(tools []callvet.Tool) map[int]string {
	var m map[int]string
	for i := range tools {
		p := tools[i].Parameters
		var b bytes.Buffer
		if json.Compact(&b, p) != nil || bytes.Equal(b.Bytes(), p) {
			continue
		}
		if m == nil {
			m = map[int]string{}
		}
		m[i] = string(p)
	}
	return m
}

func restoreParameters(tools []callvet.Tool, exact map[int]string) {
	for i, p := range exact {
		if i >= 0 && i < len(tools) {
			tools[i].Parameters = json.RawMessage(p)
		}
	}
}

// writeSuite encodes a suite piece by piece: the head first, then chunks of
// cases, each a JSON array. It returns the hash over all pieces.
func writeSuite(s *callvet.Suite, headPiece func([]byte) error, chunk func(ix int, b []byte) error) (string, error) {
	sum := sha256.New()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // escapes would change the bytes of schemas
	if err := enc.Encode(head{Suite: s, Exact: exactParameters(s.Tools)}); err != nil {
		return "", err
	}
	sum.Write(buf.Bytes())
	if err := headPiece(buf.Bytes()); err != nil {
		return "", err
	}
	for from := 0; from < len(s.Cases); from += casesPerChunk {
		buf.Reset()
		for i := from; i < min(from+casesPerChunk, len(s.Cases)); i++ {
			if i == from {
				buf.WriteByte('[')
			} else {
				buf.WriteByte(',')
			}
			if err := enc.Encode(storedCase{Case: &s.Cases[i], Exact: exactParameters(s.Cases[i].Tools)}); err != nil {
				return "", fmt.Errorf("case %s: %w", s.Cases[i].ID, err)
			}
		}
		buf.WriteByte(']')
		sum.Write(buf.Bytes())
		if err := chunk(from/casesPerChunk, buf.Bytes()); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// SuiteHash is the identity of a suite's content in hex: equal hashes mean equal
// tools, cases, prompts and settings, wherever they were read from.
func SuiteHash(s *callvet.Suite) (string, error) {
	h, err := writeSuite(s, func([]byte) error { return nil }, func(int, []byte) error { return nil })
	if err != nil {
		return "", fmt.Errorf("hash suite: %w", err)
	}
	return h, nil
}

// PutSuite stores a suite unless it is there, and returns its hash. The suite is
// encoded once and never held as one value.
func (db *DB) PutSuite(ctx context.Context, s *callvet.Suite) (hash string, err error) {
	known := errors.New("known")
	err = db.tx(ctx, "store suite", func(tx *sql.Tx) error {
		res, err := tx.Exec("INSERT INTO suites(hash,name,version,cases,created,head) VALUES(?,?,?,?,?,x'')",
			"writing", s.Name, s.Version, len(s.Cases), db.opts.Now().UnixMilli())
		if err != nil {
			return err
		}
		num, err := res.LastInsertId()
		if err != nil {
			return err
		}
		hash, err = writeSuite(s, func(b []byte) error {
			_, err := tx.Exec("UPDATE suites SET head=? WHERE num=?", b, num)
			return err
		}, func(ix int, b []byte) error {
			_, err := tx.Exec("INSERT INTO suite_chunks(suite,ix,cases) VALUES(?,?,?)", num, ix, b)
			return err
		})
		if err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM suites WHERE hash=?", hash).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return known // rolls back what was written
		}
		_, err = tx.Exec("UPDATE suites SET hash=? WHERE num=?", hash, num)
		return err
	})
	if err != nil && !errors.Is(err, known) {
		return "", err
	}
	return hash, nil
}

// Suite returns the suite of that hash, byte for byte what was stored.
func (db *DB) Suite(ctx context.Context, hash string) (*callvet.Suite, error) {
	var num, n int
	var b []byte
	err := db.read.QueryRowContext(ctx, "SELECT num, cases, head FROM suites WHERE hash=?", hash).Scan(&num, &n, &b)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("suite %s: %w", hash, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, db.explain("read suite", err)
	}
	s := &callvet.Suite{}
	h := head{Suite: s}
	if err := json.Unmarshal(b, &h); err != nil {
		return nil, fmt.Errorf("read suite %s: %w", hash, err)
	}
	restoreParameters(s.Tools, h.Exact)
	s.Cases = make([]callvet.Case, 0, n)
	rows, err := db.read.QueryContext(ctx, "SELECT cases FROM suite_chunks WHERE suite=? ORDER BY ix", num)
	if err != nil {
		return nil, db.explain("read suite", err)
	}
	defer rows.Close()
	for rows.Next() {
		var raw sql.RawBytes
		if err := rows.Scan(&raw); err != nil {
			return nil, db.explain("read suite", err)
		}
		if s.Cases, err = appendCases(s.Cases, raw); err != nil {
			return nil, fmt.Errorf("read suite %s: %w", hash, err)
		}
	}
	return s, db.explain("read suite", rows.Err())
}

func appendCases(cases []callvet.Case, chunk []byte) ([]callvet.Case, error) {
	var stored []storedCase
	if err := json.Unmarshal(chunk, &stored); err != nil {
		return nil, err
	}
	for _, sc := range stored {
		if sc.Case == nil {
			sc.Case = &callvet.Case{}
		}
		restoreParameters(sc.Tools, sc.Exact)
		cases = append(cases, *sc.Case)
	}
	return cases, nil
}
