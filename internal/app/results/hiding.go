// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
)

// KeptKinds are the kinds of personal data that a run does not redact. Texts that a request made
// itself, such as descriptions of tools, are read again by it, so that only secrets are removed
// from them.
func (m *Manifest) KeptKinds() []redact.Kind {
	if m.Made {
		return redact.PersonalKinds()
	}
	var out []redact.Kind
	for _, k := range m.Keep {
		out = append(out, redact.Kind(k))
	}
	return out
}

// RedactorOf makes the redactor for showing a run: it masks secrets, and personal data except the kinds
// that the run or keep allows.
func RedactorOf(a *app.App, m *Manifest, keep []string) (*redact.Redactor, error) {
	more, err := app.Kinds(keep)
	if err != nil {
		return nil, err
	}
	return a.Secrets().Redactor(append(m.KeptKinds(), more...))
}

// OpenRedacted opens a run for viewing, with the redactor of its attempts.
func OpenRedacted(ctx context.Context, a *app.App, ref string, keep []string) (*Run, *redact.Redactor, error) {
	r, err := OpenToShow(ctx, a, ref)
	if err != nil {
		return nil, nil, err
	}
	red, err := RedactorOf(a, r.Manifest, keep)
	return r, red, err
}

// Hiding redacts the attempts of a run, and counts the masked values.
type Hiding struct {
	rest  []byte // the suite without its cases
	base  *redact.Redactor
	spare sync.Pool
	mu    sync.Mutex
	count map[redact.Kind]int64
	// texts is the number of attempts with changed conversations.
	texts atomic.Int64
}

// HidingOf makes the redactor of a run's attempts.
func HidingOf(a *app.App, r *Run) (*Hiding, error) {
	base, err := a.Secrets().Redactor(r.Manifest.KeptKinds())
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(r.Suite)
	if err != nil {
		return nil, fmt.Errorf("read suite: %w", err)
	}
	return &Hiding{rest: rest, base: base, count: map[redact.Kind]int64{}}, nil
}

// Cell redacts a scored attempt in place. It is called from many goroutines.
func (h *Hiding) Cell(of *callvet.Case, cell *callvet.Cell) (changed bool) {
	r, ok := h.spare.Get().(*redact.Redactor)
	if !ok {
		r = h.base.Fork()
	}
	changed = r.Cell(of, h.rest, cell)
	if changed {
		h.texts.Add(1)
	}
	if r.Total() > 0 {
		h.mu.Lock()
		for k, n := range r.Counts {
			h.count[k] += n
		}
		h.mu.Unlock()
		clear(r.Counts)
	}
	h.spare.Put(r)
	return changed
}

// Text returns a fault's text, redacted.
func (h *Hiding) Text(s string) string { return h.base.Fork().Text(s) }

// Hidden counts the masked values so far.
func (h *Hiding) Hidden() Hidden {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Hidden{maps.Clone(h.count), h.texts.Load()}
}

// Notice reports what was masked; nil for nothing.
func (h *Hidden) Notice() *callvet.Notice {
	if h.Changed == 0 {
		return nil
	}
	var what []string
	for _, k := range redact.Kinds() {
		if h.Count[k] > 0 {
			what = append(what, fmt.Sprintf("%d × %s", h.Count[k], k))
		}
	}
	return &callvet.Notice{
		Code: "redacted",
		Text: fmt.Sprintf("redacted in what is kept: %s; %s not reused by later runs", strings.Join(what, ", "),
			plain.Count(int(h.Changed), "attempt is", "attempts are")),
	}
}

// Hidden counts the masked values of attempts, and the attempts with changed texts.
type Hidden struct {
	Count   map[redact.Kind]int64 `json:"count,omitempty"`
	Changed int64                 `json:"said,omitempty"`
}
