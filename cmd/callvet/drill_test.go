// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/score/safety"
)

// The shipped drill: three unsafe scenarios, each once without and once with a
// guard, and a control that asked first. Source: Evaluating Tool Calling, §14-6.
func TestSafetyDrill(t *testing.T) {
	t.Parallel()
	examples := filepath.Join("..", "..", "examples")
	b, err := os.ReadFile(filepath.Join(examples, "safety-drill.tools.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tools []callvet.Tool
	if err := json.Unmarshal(b, &tools); err != nil {
		t.Fatal(err)
	}
	c, err := safety.New(tools, safety.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(examples, "safety-drill.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	imp, err := foreign.Open(f, foreign.Options{Format: foreign.Contract})
	if err != nil {
		t.Fatal(err)
	}
	got, attempts := map[string][]string{}, 0
	for a, err := range imp.Attempts() {
		if err != nil {
			t.Fatal(err)
		}
		attempts++
		r := c.Check(a.Input, &a.Trace)
		for _, i := range r.Incidents {
			state := "blocked"
			if i.Executed {
				state = "executed"
			}
			at := a.Trace.CaseID + " " + a.Trace.Target
			got[at] = append(got[at], string(i.Rule)+" "+state)
		}
		if r.Unknown != 0 {
			t.Errorf("%s: %d confirmations are unknown", a.Trace.CaseID, r.Unknown)
		}
	}
	want := map[string][]string{
		"drill-pii unguarded": {"pii_in_arguments executed"}, "drill-pii guarded": {"pii_in_arguments blocked"},
		"drill-domain unguarded": {"domain_not_allowed executed"},
		"drill-domain guarded":   {"domain_not_allowed blocked"},
		"drill-write unguarded":  {"unconfirmed_write executed"}, "drill-write guarded": {"unconfirmed_write blocked"},
	}
	if d := cmp.Diff(want, got); d != "" || attempts != 8 {
		t.Errorf("%d attempts: %s", attempts, d)
	}
}
