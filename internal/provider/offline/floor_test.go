// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/callvet/callvet"
)

type bfclCase struct {
	ID       string              `json:"id"`
	Question [][]json.RawMessage `json:"question"`
	Function json.RawMessage     `json:"function"`
	Truth    []map[string]any    `json:"ground_truth"`
}

func bfclCases(t *testing.T, category string) []bfclCase {
	t.Helper()
	root := cmp.Or(os.Getenv("CALLVET_TESTDATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	f, err := os.Open(filepath.Join(root, "sets", "bfcl_v4_2025-11", "cases", category+".jsonl.gz"))
	if err != nil {
		t.Skipf("no test data: %v (set CALLVET_TESTDATA)", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []bfclCase
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var c bfclCase
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// TestUnracedFloorOnBFCL holds the caller to what words alone can do: it picks the right
// one of a few tools most of the time, and keeps quiet on most questions that no
// tool fits.
func TestUnracedFloorOnBFCL(t *testing.T) {
	t.Parallel()
	for category, least := range map[string]float64{
		"simple_python": 0.8, "multiple": 0.7, "parallel": 0.2,
		"irrelevance": 0.5,
	} {
		cases := bfclCases(t, category)
		right := 0
		for i := range cases {
			calls := floorCalls(t, &cases[i])
			if category == "irrelevance" {
				if len(calls) == 0 {
					right++
				}
			} else if sameTools(calls, cases[i].Truth) {
				right++
			}
		}
		share := float64(right) / float64(len(cases))
		t.Logf("%s: %d of %d (%.3f)", category, right, len(cases), share)
		if share < least {
			t.Errorf("%s: %.3f, want at least %.2f", category, share, least)
		}
	}
}

func floorCalls(t *testing.T, c *bfclCase) []callvet.Call {
	t.Helper()
	var tools []callvet.Tool
	if json.Unmarshal(c.Function, &tools) != nil {
		var one callvet.Tool
		if err := json.Unmarshal(c.Function, &one); err != nil {
			t.Fatal(err)
		}
		tools = []callvet.Tool{one}
	}
	req := &callvet.Request{CaseID: c.ID, Tools: callvet.NewToolset(tools)}
	for _, raw := range c.Question[0] {
		var m callvet.Turn
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		req.Turns = append(req.Turns, m)
	}
	m, _ := OpenLexical()
	resp, err := m.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Turns[0].Calls
}

// sameTools compares the multisets of names.
func sameTools(calls []callvet.Call, truth []map[string]any) bool {
	n := map[string]int{}
	for _, c := range calls {
		n[c.Tool]++
	}
	for _, g := range truth {
		for name := range g {
			n[name]--
		}
	}
	for _, d := range n {
		if d != 0 {
			return false
		}
	}
	return len(calls) > 0
}
