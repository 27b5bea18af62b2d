// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// Source is one recorded target.
type Source struct {
	// Target describes it for the run manifest: Recorded is set.
	Target callvet.Target
	Model  callvet.Model
	// Form is the form of the first row.
	Form message.Form
	Rows int
	// Malformed counts the rows that could not be read; Problems are the first of
	// them (at most 20), with file and line.
	Malformed int
	Problems  []callvet.Problem
	// Relaxed counts rows that were not strict JSON (duplicate keys, and what value.Repairs
	// lists) and were read like common parsers do.
	Relaxed int

	index *recordedIndex
}

// Coverage compares the rows with the cases of a suite.
type Coverage struct {
	// Missing are the cases without a row, Unknown the row ids that no case has.
	Missing, Unknown []string
}

// Unused counts the rows of the cases that no attempt reads, and the most rows that a case has.
// attempts is the number of attempts at a case.
func (s *Source) Unused(cases iter.Seq[*callvet.Case], attempts func(*callvet.Case) int) (unused, most int) {
	for k := range cases {
		rows, used := 0, 0
		first := s.index.find(k.ID, k.Input)
		for at := first; at >= 0; at = s.index.rows[at].next {
			rows++
		}
		for i := range min(attempts(k), rows) {
			if s.index.repeat(first, i) >= 0 {
				used++
			}
		}
		unused, most = unused+rows-used, max(most, rows)
	}
	return unused, most
}

// Coverage lists cases without rows and rows without cases, in their orders.
func (s *Source) Coverage(cases iter.Seq[*callvet.Case]) Coverage {
	var c Coverage
	met := make(map[int32]bool, len(s.index.order))
	for k := range cases {
		at := s.index.find(k.ID, k.Input)
		if met[at] = true; at < 0 {
			c.Missing = append(c.Missing, k.ID)
		}
	}
	for _, id := range s.index.order {
		if !met[s.index.ids[id]] {
			c.Unknown = append(c.Unknown, id)
		}
	}
	return c
}

// Close closes the files, which the sources of one Open may share; their Models must not be used
// afterwards. It may be called more than once.
func (s *Source) Close() error { return s.index.store.close() }

// row is one recorded attempt: its position, and the next one of the same id.
type row struct {
	off    int64
	n      int32
	blob   int32
	next   int32 // -1: the last
	repeat int32 // -1: not recorded
}

// recordedIndex finds the rows of one target.
type recordedIndex struct {
	store *store
	rows  []row
	ids   map[string]int32 // first row of an id
	last  map[string]int32 // last row of an id, while loading
	texts map[string]int32 // first row of a text key
	order []string         // ids in the order of the file
}

func recordedNewIndex(s *store) *recordedIndex {
	return &recordedIndex{store: s, ids: map[string]int32{}, last: map[string]int32{}, texts: map[string]int32{}}
}

// add indexes a row by its id and its texts.
func (x *recordedIndex) add(r row, k keys) {
	at := int32(len(x.rows))
	id := k.id
	if id == "" && len(k.texts) > 0 {
		id = k.texts[0]
	}
	r.next = -1
	x.rows = append(x.rows, r)
	if prev, ok := x.last[id]; ok {
		x.rows[prev].next = at
	} else {
		x.ids[id] = at
		x.order = append(x.order, id)
		for _, t := range k.texts {
			if _, taken := x.texts[t]; !taken {
				x.texts[t] = at
			}
		}
	}
	x.last[id] = at
}

// find is the first row for a case; -1 when there is none.
func (x *recordedIndex) find(id string, input []callvet.Turn) int32 {
	if at, ok := x.ids[id]; ok {
		return at
	}
	if len(x.texts) == 0 {
		return -1
	}
	if at, ok := x.texts[id]; ok {
		return at
	}
	if at, ok := x.texts[callvet.Question(input)]; ok {
		return at
	}
	return -1
}

// repeat finds, from the first row of a case, the row of a repeat: the row with this number, else
// the n-th row without a number.
func (x *recordedIndex) repeat(at int32, repeat int) int32 {
	n := 0
	for ; at >= 0; at = x.rows[at].next {
		r := &x.rows[at]
		if r.repeat >= 0 {
			if int(r.repeat) == repeat {
				return at
			}
			continue
		}
		if n == repeat {
			return at
		}
		n++
	}
	return -1
}

// model answers from an index. It is safe for concurrent use.
type model struct {
	index *recordedIndex
	docs  sync.Pool
}

// Generate returns the recorded attempt, Complete. A case or repeat without a row is a Fault of
// kind FaultMissing; a row with an error returns that error, never retryable.
func (m *model) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, &callvet.Fault{Kind: callvet.FaultCanceled, Message: err.Error()}
	}
	first := m.index.find(req.CaseID, req.Turns)
	at := m.index.repeat(first, req.Repeat)
	if at < 0 {
		msg := fmt.Sprintf("no recorded output for case %q", req.CaseID)
		if first >= 0 {
			msg = fmt.Sprintf("no recorded output for repeat %d of case %q", req.Repeat, req.CaseID)
		}
		return nil, &callvet.Fault{Kind: callvet.FaultMissing, Message: msg}
	}
	raw, err := m.index.store.read(m.index.rows[at])
	if err != nil {
		return nil, &callvet.Fault{Kind: callvet.FaultMalformed, Message: "read a recorded row: " + err.Error()}
	}
	doc, _ := m.docs.Get().(*value.Doc)
	if doc == nil {
		doc = new(value.Doc)
	}
	defer m.docs.Put(doc)
	made, err := doc.Read(raw)
	if err != nil {
		return nil, &callvet.Fault{Kind: callvet.FaultMalformed, Message: "read a recorded row: " + err.Error()}
	}
	resp, err := message.Decode(doc.Root(), message.Options{Tools: req.Tools, Input: req.Turns})
	if err == nil {
		resp.Note(made.Note())
		if of := m.index.store.made[m.index.rows[at].blob].Note(); of != "" {
			resp.Note("its document was " + of)
		}
	}
	return resp, err
}

// keys are the names of a row for look-ups.
type keys struct {
	id     string
	texts  []string
	group  string
	repeat int32
}

func keysOf(v value.Value, form message.Form) keys {
	k := keys{repeat: -1}
	for _, name := range []string{"case_id", "caseId", "custom_id", "task_id", "id"} {
		if m, ok := v.Get(name); ok && k.id == "" {
			k.id = scalar(m)
		}
	}
	if m, ok := v.Get("repeat"); ok {
		if f, ok := m.Float(); ok && f >= 0 && f < 1<<30 {
			k.repeat = int32(f)
		}
	}
	if m, ok := v.Get("target"); ok {
		k.group = m.Str()
	}
	if form == message.FormPromptfoo {
		k.promptfoo(v)
		return k
	}
	if k.id == "" {
		k.byMessage(v)
	}
	return k
}

func scalar(v value.Value) string {
	switch v.Kind() {
	case value.String:
		return v.Str()
	case value.Number:
		return string(v.Raw())
	}
	return ""
}

// promptfoo rows have random ids: a person wrote the description of the test, its variables and
// the prompt.
func (k *keys) promptfoo(v value.Value) {
	k.id = ""
	for _, path := range []string{
		"metadata.case_id", "testCase.metadata.case_id", "testCase.description",
		"description",
	} {
		if m, ok := message.At(v, path); ok && k.id == "" {
			k.id = m.Str()
		}
	}
	if m, ok := message.At(v, "prompt.raw"); ok {
		k.text(m.Str())
	}
	vars, _ := v.Get("vars")
	for e, ok := vars.First(); ok; e, ok = vars.Next(e) {
		k.text(e.Str())
	}
	for _, path := range []string{"provider.label", "provider.id"} {
		if m, ok := message.At(v, path); ok && k.group == "" {
			k.group = m.Str()
		}
	}
}

// byMessage finds rows without an id by their question.
func (k *keys) byMessage(v value.Value) {
	for _, name := range []string{"prompt", "question", "query", "input"} {
		if m, ok := v.Get(name); ok {
			k.text(m.Str())
		}
	}
	list, _ := v.Get("messages")
	for m, ok := list.First(); ok; m, ok = list.Next(m) {
		if r, _ := m.Get("role"); r.Str() == "user" {
			c, _ := m.Get("content")
			k.text(c.Str())
		}
	}
}

func (k *keys) text(s string) {
	if s = strings.TrimSpace(s); s != "" && !slices.Contains(k.texts, s) {
		k.texts = append(k.texts, s)
	}
}
