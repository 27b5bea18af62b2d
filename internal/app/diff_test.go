// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/panel"
)

// verdicts are trace lines of 20 tasks by targets x and y: 9 both pass, 7 only x, 1 only y, 3 neither.
func verdicts(targets ...string) string {
	var b strings.Builder
	for i := range 20 {
		for _, name := range targets {
			pass := map[string]bool{"x": i < 16, "y": i < 9 || i == 16}[name]
			fmt.Fprintf(&b, `{"type":"task","task_id":"t%02d","target":%q,"pass":%v}`+"\n", i, name, pass)
		}
	}
	return b.String()
}

// TestDiffTargetsOfOneFile compares two targets of one trace file with what was computed by hand:
// McNemar's mid-p of 7 against 1 is (1+8+8-8+1)/256 = 10/256; Newcombe's interval (method 10) is
// [-0.520308, -0.024127] and Tango's [-0.537296, -0.027161], of which the outer ends count.
func TestDiffTargetsOfOneFile(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	for id, text := range map[string]string{
		"both": verdicts("x", "y"), "before": verdicts("x"),
		"after": verdicts("y"),
	} {
		files.known[id] = id
		if err := os.WriteFile(filepath.Join(files.dir, id), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	diff := func(req string) *panel.Comparison {
		t.Helper()
		c, err := traces.Diff(t.Context(), a, as[traces.DiffRequest](t, req), nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	got := diff(`{"base": {"traces": "both"}, "base_target": "x"}`)
	if len(got.Targets) != 1 || len(got.UnpairedBaseline)+len(got.UnpairedCandidate)+len(got.Warnings) != 0 {
		t.Fatalf("compared: %+v", got)
	}
	p := &got.Targets[0]
	o := &p.Overall
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	if p.Baseline != "x" || p.Candidate != "y" || o.Cases != 20 || o.NewlyFailing != 7 || o.NewlyPassing != 1 ||
		o.P != 10.0/256 ||
		!near(o.Change.Point, -0.3) || !near(o.Change.Lower, -0.537296) || !near(o.Change.Upper, -0.024127) ||
		o.Verdict != panel.ChangeWorse || o.Baseline.Point != 0.8 || o.Candidate.Point != 0.5 {
		t.Errorf("x and y: %+v", o)
	}
	if n := len(p.Changes); n != 8 || p.Changes[0].Kind != panel.NewlyFailing ||
		p.Changes[7].Kind != panel.NewlyPassing || p.Changes[7].Case != "t16" {
		t.Errorf("changes: %+v", p.Changes)
	}
	all := diff(`{"base": {"traces": "both"}, "base_target": "x", "unchanged": 5}`).Targets[0]
	kinds := map[string]int{}
	for _, c := range all.Unchanged {
		kinds[c.Kind]++
	}
	if all.UnchangedCases != 12 || len(all.Unchanged) != 5 || all.Unchanged[0].Case != "t17" ||
		kinds[panel.BothFail] != 3 || kinds[panel.BothPass] != 2 || len(all.Changes) != 8 {
		t.Errorf("unchanged: %+v", all)
	}
	for name, req := range map[string]string{
		"two files":                  `{"base": {"traces": "before"}, "candidate": {"traces": "after"}}`,
		"the targets are named":      `{"base": {"traces": "both"}, "candidate": {"traces": "both"}, "base_target": "x", "candidate_target": "y"}`,
		"one side has both":          `{"base": {"traces": "both"}, "candidate": {"traces": "after"}, "base_target": "x"}`,
		"the other one has":          `{"base": {"traces": "before"}, "candidate": {"traces": "both"}, "candidate_target": "y"}`,
		"targets without a namesake": `{"base": {"traces": "before"}, "candidate": {"traces": "after"}, "target": "x"}`,
	} {
		if other := diff(req); !reflect.DeepEqual(got.Targets, other.Targets) {
			t.Errorf("%s: %+v, want %+v", name, other.Targets, got.Targets)
		}
	}
	for name, q := range map[string]struct{ field, req, says string }{
		"unknown": {"base_target", `{"base": {"traces": "both"}, "base_target": "z"}`, "x, y"},
		"unknown there": {
			"candidate_target",
			`{"base": {"traces": "both"}, "candidate": {"traces": "after"}, "base_target": "x", "candidate_target": "x"}`, "it has y",
		},
		"the same one": {
			"candidate_target",
			`{"base": {"traces": "both"}, "base_target": "x", "candidate_target": "x"}`, "the same target",
		},
		"no other one": {"base_target", `{"base": {"traces": "after"}, "base_target": "y"}`, "no other target"},
		"with what": {
			"base_target",
			`{"base": {"traces": "both"}, "candidate": {"traces": "both"}, "candidate_target": "y"}`, "x, y",
		},
		"nothing": {"candidate", `{"base": {"traces": "both"}}`, "name a run"},
		"two baselines": {
			"target", `{"base": {"traces": "both"}, "base_target": "x", "target": "x"}`,
			"{base_target}",
		},
		"no such others'": {
			"target",
			`{"base": {"traces": "both"}, "candidate": {"traces": "after"}, "target": "z"}`, "x, y",
		},
	} {
		var field *callvet.FieldError
		if _, err := traces.Diff(t.Context(), a, as[traces.DiffRequest](t, q.req), nil); !errors.As(err, &field) ||
			field.Field != q.field || !strings.Contains(field.Text, q.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDiffNotesRepeats: records that are there twice count once, and so do those that a later one corrects. Each
// is noted where there are some.
func TestDiffNotesRepeats(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	whole := verdicts("x")
	first, _, _ := strings.Cut(whole, "\n")
	for id, text := range map[string]string{
		"before": whole, "after": whole, "copied": whole + first + "\n",
		"corrected": whole + `{"type":"task","task_id":"t00","target":"x","pass":false,"corrects":true}` + "\n",
	} {
		files.known[id] = id
		if err := os.WriteFile(filepath.Join(files.dir, id), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for candidate, want := range map[string]string{
		"after": "", "copied": "1 task record is a copy",
		"corrected": "1 task record is corrected by a later one",
	} {
		var notes []string
		_, err := traces.Diff(t.Context(), a,
			as[traces.DiffRequest](t, `{"base": {"traces": "before"}, "candidate": {"traces": "`+candidate+`"}}`),
			func(e app.Event) {
				if e.Note != nil && e.Note.Code == "attempt-twice" {
					notes = append(notes, e.Note.Text)
				}
			})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(notes); (want == "") != (n == 0) || n > 1 || n == 1 && !strings.Contains(notes[0], want) {
			t.Errorf("%s: %q, want %q", candidate, notes, want)
		}
	}
}

// TestDiffTargetsOfOneRun: two targets of one run differ by what two runs of one of them each do, to
// the last bit.
func TestDiffTargetsOfOneRun(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	startedRun(t, a, files, 1)
	run := func(targets string) string {
		t.Helper()
		s, err := runs.Start(t.Context(), a,
			as[app.RunRequest](t, `{"suite": "weather", "repeats": 2, "targets": [`+targets+`]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Do(t.Context())
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Stored.ID
	}
	const one, other = `{"target": "offline/lexical", "name": "one"}`,
		`{"target": "offline/lexical", "name": "other", "tool_choice": "none"}`
	both, first, second := run(one+","+other), run(one), run(other)
	metrics := []string{"overall", "tool_selection", "arg_f1"}
	apart, err := traces.Diff(t.Context(), a,
		traces.DiffRequest{Base: app.Side{Run: first}, Candidate: app.Side{Run: second}, Metrics: metrics}, nil)
	if err != nil || len(apart.Targets) != 1 || len(apart.Targets[0].Measured) != 3 ||
		apart.Targets[0].Overall.Change.Point >= 0 {
		t.Fatalf("apart: %+v (%v)", apart, err)
	}
	together, err := traces.Diff(t.Context(), a,
		traces.DiffRequest{Base: app.Side{Run: both}, BaseTarget: "one", Metrics: metrics}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(apart.Targets, together.Targets) || together.Baseline != both || together.Candidate != both {
		t.Errorf("in one run: %+v, want %+v", together, apart)
	}
}
