// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
)

// PageIn asks for a page of a list.
type PageIn struct {
	Cursor string `query:"cursor" maxLength:"200" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T    `json:"items" nullable:"false"`
	Next  string `json:"next_cursor,omitempty" doc:"absent on the last page"`
}

// PageMark is the position after an entry in a list, the newest first.
type PageMark struct {
	At int64  `json:"a"`
	ID string `json:"i"`
}

// Mark reads the cursor; without one it is the start of the list.
func (p *PageIn) Mark() (PageMark, error) {
	m := PageMark{At: 1 << 62}
	if p.Cursor == "" {
		return m, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return m, &callvet.FieldError{Field: "cursor", Text: "{cursor} is not that of a page"}
	}
	return m, nil
}

func (m PageMark) String() string {
	b, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// Listed makes a page of rows; one more than the limit was read. at is the position after a row.
// show converts a row; nil leaves it out.
func Listed[R, T any](list []R, limit int, at func(*R) PageMark, show func(*R) (*T, error)) (*Page[T], error) {
	out := &Page[T]{Items: []T{}}
	if len(list) > limit {
		list, out.Next = list[:limit], at(&list[limit-1]).String()
	}
	for i := range list {
		one, err := show(&list[i])
		if err != nil {
			return nil, err
		}
		if one != nil {
			out.Items = append(out.Items, *one)
		}
	}
	return out, nil
}

// RunIn names a run in a path.
type RunIn struct {
	ID string `path:"id" maxLength:"100"`
}

// Broken reports whether an error concerns one unreadable entry, so that the list is shown without
// it.
func Broken(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !IsMissing(err) && !errors.Is(err, callvet.ErrUnavailable)
}

// Stored returns a document about a run. For a run that is over it is made once and stored, so that
// its numbers stay the same to the last bit.
func Stored[T any](ctx context.Context, s *Server, id, about string, build func() (*T, error)) (*T, error) {
	out := new(T)
	state, err := results.State(ctx, s.Config.App, id)
	if err != nil {
		return out, err
	}
	if state != "" {
		b, err := s.Config.Store.Rows().RunDocument(ctx, rows.RunDocumentParams{RunID: id, About: about, State: state})
		if mine := s.kept.get(keptKey{id, about, state}); mine != nil {
			b, err = mine, nil
		}
		switch {
		case err == nil && json.Unmarshal(b, out) == nil:
			return out, nil
		case err == nil:
			out = new(T) // the stored document is unreadable: it is made again
		case !errors.Is(err, sql.ErrNoRows):
			return out, err
		}
	}
	made, err := build()
	if err != nil {
		return out, err
	}
	b, err := json.Marshal(made)
	if err == nil { // return the stored numbers: JSON has twelve digits
		err = json.Unmarshal(b, out)
	}
	if err != nil || state == "" {
		return out, err
	}
	err = s.Config.Store.Change(ctx, "store the summary of a run", func(q *rows.Queries) error {
		return q.PutRunDocument(ctx, rows.PutRunDocumentParams{RunID: id, About: about, State: state, Document: b})
	})
	if errors.Is(err, callvet.ErrDenied) { // a read-only store
		s.kept.put(keptKey{id, about, state}, b)
		err = nil
	}
	return out, err
}

// kept is a cache of documents of a read-only store; the zero value is empty.
type kept struct {
	mu   sync.Mutex
	docs map[keptKey][]byte
}

type keptKey struct{ run, about, state string }

// maxKept bounds kept; above it the cache is emptied.
const maxKept = 1000

func (k *kept) get(key keptKey) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.docs[key]
}

func (k *kept) put(key keptKey, doc []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.docs == nil || len(k.docs) >= maxKept {
		k.docs = map[keptKey][]byte{}
	}
	k.docs[key] = doc
}

// MediaTypes are the media types of reports by file extension.
func MediaTypes() map[string]string {
	return map[string]string{
		"html": "text/html; charset=utf-8", "md": "text/markdown; charset=utf-8", "xml": "application/xml",
		"json":  "application/json",
		"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8", "txt": "text/plain; charset=utf-8",
		"pdf": "application/pdf",
	}
}

// Comparison is the difference between two sides.
type Comparison struct {
	panel.Comparison
	Estimates string `json:"estimates" doc:"what the numbers are about, in a sentence"`
}

// ComparisonOf makes the response of a comparison.
func ComparisonOf(c *panel.Comparison) *Comparison { return &Comparison{*c, c.Population.Sentence()} }

// Compared selects what is compared and shown.
type Compared struct {
	BaseTarget      string `query:"base_target" maxLength:"500" doc:"the target of the base that those of the candidate are compared with, all of them"`
	CandidateTarget string `query:"candidate_target" maxLength:"500" doc:"the only target of the candidate that is compared"`
	Unchanged       bool   `query:"unchanged" doc:"also lists the cases that did not change, the first 1,000 of each pair of targets, and how many there are"`
}

// maxUnchanged bounds the unchanged cases of a pair of targets in a response.
const maxUnchanged = 1000

// Of sets the fields of a request that select what is compared.
func (c *Compared) Of(req *traces.DiffRequest) {
	req.BaseTarget, req.CandidateTarget = c.BaseTarget, c.CandidateTarget
	if c.Unchanged {
		req.Unchanged = maxUnchanged
	}
}

// ComparisonsOf is the store key of a user's comparisons.
func ComparisonsOf(user string) rows.RunDocumentParams {
	return rows.RunDocumentParams{RunID: "decisions of " + user, About: "decisions", State: "kept"}
}

// GateVerdict is the verdict of gates on a run.
type GateVerdict struct {
	Report *gates.Report `json:"report"`
	// Incomplete: the run is not over, and the verdict may change.
	Incomplete bool `json:"incomplete,omitempty"`
}
