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
	"iter"
	"sync"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

const casesPerChunk = 256

// head and storedCase keep the white space inside raw JSON, which encoding/json would drop: the
// bytes of a tool's schema are part of the prompt.
type head struct {
	*callvet.Suite
	Cases []callvet.Case `json:"cases,omitempty"` // hides the suite's
	Exact map[int]string `json:"exact_parameters,omitempty"`
}

type storedCase struct {
	*callvet.Case
	Position *callvet.Position `json:"position,omitempty"` // hides the case's, which is not a part of its content
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

// each yields the cases of a suite that is in memory.
func each(s *callvet.Suite) iter.Seq2[*callvet.Case, error] {
	return func(yield func(*callvet.Case, error) bool) {
		for i := range s.Cases {
			if !yield(&s.Cases[i], nil) {
				return
			}
		}
	}
}

// CheckCase is called with a case and its stored text before the case is written. Its error ends
// the storing.
type CheckCase func(c *callvet.Case, text []byte) error

// writeSuite encodes a suite piece by piece: the head first, then chunks of
// cases, each a JSON array. It returns the hash over all pieces and the number of cases.
func writeSuite(s *callvet.Suite, cases iter.Seq2[*callvet.Case, error], check CheckCase,
	headPiece func([]byte) error, chunk func(ix int, b []byte) error,
) (hash string, n int, err error) {
	sum := sha256.New()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // escapes would change the bytes of schemas
	if err := enc.Encode(head{Suite: s, Exact: exactParameters(s.Tools)}); err != nil {
		return "", 0, err
	}
	sum.Write(buf.Bytes())
	if err := headPiece(buf.Bytes()); err != nil {
		return "", 0, err
	}
	buf.Reset()
	flush := func() error {
		buf.WriteByte(']')
		sum.Write(buf.Bytes())
		defer buf.Reset()
		return chunk((n-1)/casesPerChunk, buf.Bytes())
	}
	for c, err := range cases {
		if err != nil {
			return "", 0, err
		}
		if buf.Len() == 0 {
			buf.WriteByte('[')
		} else {
			buf.WriteByte(',')
		}
		at := buf.Len()
		if err := enc.Encode(storedCase{Case: c, Exact: exactParameters(c.Tools)}); err != nil {
			return "", 0, fmt.Errorf("case %s: %w", c.ID, err)
		}
		if check != nil {
			if err := check(c, buf.Bytes()[at:]); err != nil {
				return "", 0, err
			}
		}
		if n++; n%casesPerChunk == 0 {
			if err := flush(); err != nil {
				return "", 0, err
			}
		}
	}
	if buf.Len() > 0 {
		if err := flush(); err != nil {
			return "", 0, err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), n, nil
}

// SuiteHashFrom is the identity of a suite's content in hex: equal hashes mean equal
// tools, cases, prompts and settings, wherever they were read from. The cases come one by
// one; s.Cases is not read.
func SuiteHashFrom(s *callvet.Suite, cases iter.Seq2[*callvet.Case, error]) (string, error) {
	h, _, err := writeSuite(s, cases, nil, func([]byte) error { return nil }, func(int, []byte) error { return nil })
	if err != nil {
		return "", fmt.Errorf("hash suite: %w", err)
	}
	return h, nil
}

// PutSuite stores a suite unless it is stored already, and returns its hash.
func (db *DB) PutSuite(ctx context.Context, s *callvet.Suite) (hash string, err error) {
	return db.PutSuiteFrom(ctx, s, each(s), nil)
}

// PutSuiteFrom stores a suite with cases that come one by one; s.Cases is not read. Neither the
// cases nor their encoding are held as a whole. check may be nil.
func (db *DB) PutSuiteFrom(ctx context.Context, s *callvet.Suite,
	cases iter.Seq2[*callvet.Case, error], check CheckCase,
) (hash string, err error) {
	known := errors.New("known")
	err = db.tx(ctx, "store suite", func(tx *sql.Tx) error {
		res, err := tx.Exec("INSERT INTO suites(hash,name,version,cases,created,head) VALUES('',?,?,0,?,x'')",
			s.Name, s.Version, db.opts.Now().UnixMilli())
		if err != nil {
			return err
		}
		num, err := res.LastInsertId()
		if err != nil {
			return err
		}
		var n int
		hash, n, err = writeSuite(s, cases, check, func(b []byte) error {
			_, err := tx.Exec("UPDATE suites SET head=? WHERE num=?", sealed(b), num)
			return err
		}, func(ix int, b []byte) error {
			_, err := tx.Exec("INSERT INTO suite_chunks(suite,ix,cases) VALUES(?,?,?)", num, ix, sealed(b))
			return err
		})
		if err != nil {
			return err
		}
		var same int
		if err := tx.QueryRow("SELECT count(*) FROM suites WHERE hash=?", hash).Scan(&same); err != nil {
			return err
		}
		if same > 0 {
			return known // rolls back what was written
		}
		_, err = tx.Exec("UPDATE suites SET hash=?, cases=? WHERE num=?", hash, n, num)
		return err
	})
	if err != nil && !errors.Is(err, known) {
		return "", err
	}
	return hash, nil
}

// DropSuite removes a suite without runs, for a run that was not created.
func (db *DB) DropSuite(ctx context.Context, hash string) error {
	const unused = "hash=? AND hash NOT IN (SELECT suite_hash FROM runs)"
	return db.tx(ctx, "remove suite", func(tx *sql.Tx) error {
		if _, err := tx.Exec("DELETE FROM suite_chunks WHERE suite IN (SELECT num FROM suites WHERE "+unused+")",
			hash); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM suites WHERE "+unused, hash)
		return err
	})
}

// Suite returns the suite with that hash, with the stored bytes unchanged.
func (db *DB) Suite(ctx context.Context, hash string) (*callvet.Suite, error) {
	s, cs, err := db.OpenSuite(ctx, hash)
	if err != nil {
		return nil, err
	}
	s.Cases = make([]callvet.Case, 0, cs.n)
	for i := range cs.n {
		c, err := cs.Case(i)
		if err != nil {
			return nil, err
		}
		s.Cases = append(s.Cases, *c)
	}
	return s, nil
}

// OpenSuite returns a suite without its cases, and the cases to be read one by one.
func (db *DB) OpenSuite(ctx context.Context, hash string) (*callvet.Suite, *CaseReader, error) {
	cs := &CaseReader{db: db, ctx: ctx, hash: hash, recent: map[int]*caseChunk{}}
	var b []byte
	var whole bool
	err := db.read.QueryRowContext(ctx, "SELECT num, cases, head, whole FROM checked_suites WHERE hash=?",
		hash).Scan(&cs.num, &cs.n, &b, &whole)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, fmt.Errorf("suite %s: %w", hash, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, nil, db.explain("read suite", err)
	}
	s := &callvet.Suite{}
	h := head{Suite: s}
	if b, err = unseal(b); err == nil {
		err = Intact(whole, "row")
	}
	if err != nil {
		return nil, cs, fmt.Errorf("read suite %s: %w", hash, err)
	}
	if err := json.Unmarshal(b, &h); err != nil {
		return nil, cs, fmt.Errorf("read suite %s: %w", hash, doc.Explain(err))
	}
	restoreParameters(s.Tools, h.Exact)
	return s, cs, nil
}

// CaseReader reads the cases of a stored suite in chunks and keeps a few of them.
// It is safe for concurrent use; reading with rising positions is cheap.
type CaseReader struct {
	db     *DB
	ctx    context.Context // of OpenSuite: it ends the reads too
	hash   string
	num, n int

	mu     sync.Mutex
	recent map[int]*caseChunk
	order  []int
	plain  map[int]bool // chunks without tools in their cases
}

// keptChunks bounds the memory of a CaseReader; several readers (the providers of
// a run) may be some way apart.
const keptChunks = 4

// Len is the number of cases.
func (r *CaseReader) Len() int { return r.n }

// Case returns the case at position i; it stays valid.
func (r *CaseReader) Case(i int) (*callvet.Case, error) {
	if i < 0 || i >= r.n {
		return nil, fmt.Errorf("case %d of %d: %w", i, r.n, callvet.ErrNotFound)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	ix := i / casesPerChunk
	chunk, ok := r.recent[ix]
	if !ok {
		var err error
		if chunk, err = r.open(ix); err != nil {
			return nil, err
		}
		if r.order = append(r.order, ix); len(r.order) > keptChunks {
			delete(r.recent, r.order[0])
			r.order = r.order[1:]
		}
		r.recent[ix] = chunk
	}
	c, err := chunk.at(i % casesPerChunk)
	if err != nil {
		return nil, fmt.Errorf("read suite %s: %w", r.hash, err)
	}
	return c, nil
}

// caseChunk has the cases of a chunk, which are decoded when they are read: a caller that reads
// single cases needs one of 256.
type caseChunk struct {
	text  [][]byte
	cases []*callvet.Case
}

// decodedAhead is how many cases are decoded at once. Most callers read them in order: one by one
// they take twice the time (measured), because other code runs in between and displaces the decoder
// from the processor's caches.
const decodedAhead = 16

func (c *caseChunk) at(i int) (*callvet.Case, error) {
	if c.cases[i] != nil {
		return c.cases[i], nil
	}
	for j := i; j < min(i+decodedAhead, len(c.cases)) && c.cases[j] == nil; j++ {
		one, err := readCase(c.text[j])
		if err != nil && j == i {
			return nil, err
		}
		if err != nil {
			break
		}
		c.cases[j], c.text[j] = one, nil
	}
	return c.cases[i], nil
}

// open splits a chunk. writeSuite ends each case with a line break, and JSON has no other one:
// those in texts are escaped, and raw values are written without space.
func (r *CaseReader) open(ix int) (*caseChunk, error) {
	b, err := r.chunk(ix)
	if err != nil {
		return nil, err
	}
	r.note(ix, b)
	want := min(casesPerChunk, r.n-ix*casesPerChunk)
	lines := bytes.SplitAfter(b, []byte{'\n'})
	if last := len(lines) - 1; last != want || string(lines[last]) != "]" {
		return nil, fmt.Errorf("read suite %s: %d cases in a chunk of %d: %w", r.hash, last, want, callvet.ErrInvalid)
	}
	for i := range lines[:want] {
		lines[i] = lines[i][1:] // "[" or ","
	}
	return &caseChunk{text: lines[:want], cases: make([]*callvet.Case, want)}, nil
}

// Equipped reports whether the case at a position may have tools of its own: it, or one near it, has
// some. Cases are not decoded for it.
func (r *CaseReader) Equipped(i int) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ix := i / casesPerChunk
	plain, known := r.plain[ix]
	if known {
		return !plain, nil
	}
	b, err := r.chunk(ix)
	if err != nil {
		return false, err
	}
	return !r.note(ix, b), nil
}

// note remembers whether no case of a chunk has tools.
func (r *CaseReader) note(ix int, chunk []byte) (plain bool) {
	if r.plain == nil {
		r.plain = map[int]bool{}
	}
	plain = !bytes.Contains(chunk, []byte(`"tools":[{`)) // as written; other lists with that name have names
	r.plain[ix] = plain
	return plain
}

func (r *CaseReader) chunk(ix int) ([]byte, error) {
	var b []byte
	var whole bool
	if err := r.db.read.QueryRowContext(r.ctx, "SELECT cases, whole FROM checked_suite_chunks WHERE suite=? AND ix=?",
		r.num, ix).Scan(&b, &whole); err != nil {
		return nil, r.db.explain("read suite", err)
	}
	b, err := unseal(b)
	if err == nil {
		err = Intact(whole, "row")
	}
	if err != nil {
		return nil, fmt.Errorf("read suite %s: cases from %d: %w", r.hash, ix*casesPerChunk, err)
	}
	return b, nil
}

// readCase decodes a case. Every case of a run is decoded several times, and the second version of
// the JSON package takes half the time of the first. Raw values keep their stored bytes.
func readCase(text []byte) (*callvet.Case, error) {
	var stored storedCase
	if err := jsonx.Unmarshal(text, &stored, jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, doc.Explain(err)
	}
	if stored.Case == nil {
		stored.Case = &callvet.Case{}
	}
	restoreParameters(stored.Tools, stored.Exact)
	return stored.Case, nil
}
