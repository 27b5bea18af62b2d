// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/callvet/callvet"
)

func TestMultiTurnReferenceVectors(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	b, err := os.ReadFile(filepath.Join(dir, "../vectors/multi_turn_score.json"))
	if err != nil {
		t.Skip("reference vectors are not here: ", err)
	}
	var file struct {
		Open, Heldout []struct {
			ID    string
			Input struct {
				Tool      float64  `json:"tool_score"`
				Param     *float64 `json:"param_score"`
				Optimal   int      `json:"optimal_hops"`
				Hops      int      `json:"actual_hops"`
				Redundant int
				Detours   int
			}
			Expected struct{ Completion, Efficiency, Overall float64 }
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Open) == 0 {
		t.Fatal("no vectors read")
	}
	for _, c := range append(file.Open, file.Heldout...) {
		in := c.Input
		completion := in.Tool
		if in.Param != nil {
			completion = DefaultToolWeight*in.Tool + DefaultArgsWeight**in.Param
		}
		got := combine(completion, in.Optimal, in.Hops, in.Redundant, in.Detours)
		for _, d := range []float64{
			got.completion - c.Expected.Completion, got.efficiency - c.Expected.Efficiency,
			got.overall - c.Expected.Overall,
		} {
			if math.Abs(d) > 1e-12 {
				t.Errorf("%s: %+v, want %+v", c.ID, got, c.Expected)
				break
			}
		}
	}
}

// TestConcurrentUse: goroutines that compile cases of their own judge attempts at a case
// that they share.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{}
	for i := range 26 {
		name := string(rune('a' + i))
		s.Cases = append(s.Cases, callvet.Case{ID: name, Expect: callvet.Expect{ToolsCalled: []string{name}}})
	}
	sc, _ := New(s, Config{})
	shared, _ := sc.Compile(&s.Cases[0])
	called := func(name string) *callvet.Trace {
		return &callvet.Trace{
			Outcome: callvet.OutcomeCalled,
			Turns:   []callvet.Turn{{Calls: []callvet.Call{{Tool: name, Args: json.RawMessage("{}")}}}},
		}
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 3000 {
				c := &s.Cases[(n*7+g)%len(s.Cases)]
				own, ps := sc.Compile(c)
				for k, name := range map[*Compiled]string{own: c.ID, shared: "a"} {
					if r := k.Score(called(name)); r.Verdict != callvet.VerdictPass || len(ps) > 0 {
						t.Errorf("case %s: %s %v", name, r.Reason, ps)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
