// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
)

// Kinds are those of personal data that a request keeps.
func Kinds(keep []string) ([]redact.Kind, error) {
	var out []redact.Kind
	for _, k := range keep {
		kind := redact.Kind(k)
		if !slices.Contains(redact.Kinds(), kind) {
			return nil, wrong("keep", k, "it is no kind; there are %v", redact.Kinds())
		}
		if kind.Secret() {
			return nil, wrong("keep", k, "secrets are never kept; %v are personal data", redact.PersonalKinds())
		}
		out = append(out, kind)
	}
	return out, nil
}

// leaves are the kinds of personal data that a run leaves as they are. What a request made up
// itself, such as descriptions of tools, is read by it again and loses secrets only.
func (m *Manifest) leaves() []redact.Kind {
	if m.Made {
		return redact.PersonalKinds()
	}
	var out []redact.Kind
	for _, k := range m.Keep {
		out = append(out, redact.Kind(k))
	}
	return out
}

// viewer makes the redactor for showing a run: it masks secrets, and personal data except the kinds
// that the run or keep allows.
func (a *App) viewer(m *Manifest, keep []string) (*redact.Redactor, error) {
	more, err := Kinds(keep)
	if err != nil {
		return nil, err
	}
	return a.secrets.Redactor(append(m.leaves(), more...))
}

// viewed opens a run for viewing, with the redactor of its attempts.
func (a *App) viewed(ctx context.Context, ref string, keep []string) (*Run, *redact.Redactor, error) {
	r, err := a.RunToShow(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	red, err := a.viewer(r.Manifest, keep)
	return r, red, err
}

// hiding takes what must not be kept out of the attempts of a run, and counts it.
type hiding struct {
	rest  []byte // the suite without its cases
	base  *redact.Redactor
	spare sync.Pool
	mu    sync.Mutex
	count map[redact.Kind]int64
	// texts is how many attempts changed in what was said.
	texts atomic.Int64
}

// hiding makes the redactor of a run's attempts.
func (a *App) hiding(r *Run) (*hiding, error) {
	base, err := a.secrets.Redactor(r.Manifest.leaves())
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(r.Suite)
	if err != nil {
		return nil, fmt.Errorf("read suite: %w", err)
	}
	return &hiding{rest: rest, base: base, count: map[redact.Kind]int64{}}, nil
}

// cell redacts a scored attempt in place. It is called from many goroutines.
func (h *hiding) cell(of *callvet.Case, cell *callvet.Cell) (said bool) {
	r, ok := h.spare.Get().(*redact.Redactor)
	if !ok {
		r = h.base.Fork()
	}
	said = r.Cell(of, h.rest, cell)
	if said {
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
	return said
}

// text is what a fault says without what must not be kept.
func (h *hiding) text(s string) string { return h.base.Fork().Text(s) }

// hidden counts what was taken out so far.
func (h *hiding) hidden() hidden {
	h.mu.Lock()
	defer h.mu.Unlock()
	return hidden{maps.Clone(h.count), h.texts.Load()}
}

// notice reports what was masked; nil for nothing.
func (h *hidden) notice() *callvet.Notice {
	if h.Said == 0 {
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
			plain.Count(int(h.Said), "attempt is", "attempts are")),
	}
}
