// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package losses

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/callvet/callvet/verify/proof"
	"github.com/callvet/callvet/verify/serving"
)

// ofTraces names the comparisons of trace files.
const ofTraces = "unreadable lines of a trace file"

// traces compares the reports about a trace file with unreadable lines.
func traces(ctx context.Context, c *proof.Check, l *lab) error {
	lost := 0
	for n := range planned {
		if loses(n) {
			lost++
		}
	}
	is := func(face string, ok bool, format string, args ...any) {
		c.Compare(ofTraces, ofTraces+": "+face, ok, format, args...)
	}
	got, err := l.ask(ctx, "score", "traces.jsonl", "--json")
	if err != nil {
		return err
	}
	var scored panels
	if err := json.Unmarshal([]byte(got.out), &scored); err != nil {
		return fmt.Errorf("read scores: %w: %s", err, got.errs)
	}
	_, lower, err := scored.of()
	if err != nil {
		return err
	}
	is("score", scored.Lost.Count == lost, "%d, want %d", scored.Lost.Count, lost)
	return l.serve(ctx, func(s *serving.Server) error {
		var kept struct {
			ID string `json:"id"`
		}
		if err := s.Ask(ctx, http.MethodPost, "/api/traces", []byte(records()), &kept); err != nil {
			return err
		}
		var shown struct {
			Lost int `json:"lost_count"`
		}
		if err := s.Ask(ctx, http.MethodGet, "/api/traces/"+kept.ID, nil, &shown); err != nil {
			return err
		}
		is("page", shown.Lost == lost, "%d, want %d", shown.Lost, lost)
		of := gated{l, "traces.jsonl", s, "/api/traces/" + kept.ID + "/gate", lower, lost}
		return of.verify(ctx, is)
	})
}
