// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/callvet/callvet"
	rules "github.com/callvet/callvet/score/bfcl"
	"github.com/callvet/callvet/value"
	gocmp "github.com/google/go-cmp/cmp"
)

const v4Row = `{"id":"live_simple_3-0-0","question":[[{"role":"system","content":"S"},{"role":"user","content":"Q"}]],"function":[{"name":"a.b","description":"d","parameters":{"type":"dict","required":["x","x"],"properties":{"x":{"type":"float","description":"X","optional":true},"y":{"type":"tuple","items":{"type":"any"}},"z":{"type":"dict","properties":{"k":{"type":"string","enum":["u"]}}}}}}],"ground_truth":[{"a.b":{"x":[1.5],"y":[[1,2],""]}}]}`

func TestImportRow(t *testing.T) {
	t.Parallel()
	if !detectBFCL([]byte(v4Row), "x.jsonl") || detectBFCL([]byte(`{"id":"a","ground_truth":[]}`), "") ||
		detectBFCL(nil, "") {
		t.Error("detection")
	}
	s, problems, err := importBFCL([]byte(v4Row+"\n"), "BFCL_v4_live_simple.json", nil)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	want := callvet.Case{
		ID: "live_simple_3-0-0", Fields: map[string]string{"category": "live_simple"},
		Position: callvet.Position{File: "BFCL_v4_live_simple.json", Line: 1},
		Input:    []callvet.Turn{{Role: callvet.RoleSystem, Content: "S"}, {Role: callvet.RoleUser, Content: "Q"}},
		Expect: callvet.Expect{Plans: []callvet.Plan{{
			Name: "ground truth", Order: callvet.OrderAny,
			Calls: []callvet.ExpectedCall{{
				Tools: []string{"a.b"}, Args: json.RawMessage(`{}`), Matchers: map[string]callvet.Matcher{
					"x": {Mode: "any_of", Value: json.RawMessage(`[1.5]`)},
					"y": {Mode: "any_of", Value: json.RawMessage(`[[1,2],""]`), Optional: true},
				},
			}},
		}}},
	}
	got := s.Cases[0]
	tools := got.Tools
	got.Tools = nil
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	const schema = `{"type":"object","required":["x"],"properties":{"x":{"type":"number","description":"X"},"y":{"type":"array","items":{}},"z":{"type":"object","properties":{"k":{"type":"string","enum":["u"]}}}}}`
	if string(tools[0].Parameters) != schema {
		t.Errorf("schema %s", tools[0].Parameters)
	}
	if s.Defaults.Scoring.Profile != rules.Profile || len(tools[0].Declared) == 0 {
		t.Error("profile or declared types")
	}
}

func TestImportKinds(t *testing.T) {
	t.Parallel()
	row := func(id, gt string) string {
		return `{"id":"` + id +
			`","question":"Q","functions":[{"name":"f.g","description":"","parameters":{"type":"dict","properties":{"a":{"type":"ArrayList","description":"A.","items":{"type":"String"}}},"required":["a"]}}]` + gt + `}`
	}
	for _, c := range []struct {
		name, file, row string
		check           func(c *callvet.Case, s *callvet.Suite) bool
	}{
		{
			"first edition, numbered", "parallel_function.jsonl",
			row("parallel_function_1", `,"ground_truth":{"f.g_1":{"a":[[]]},"f.g_2":{"a":[[]]}}`),
			func(c *callvet.Case, s *callvet.Suite) bool {
				calls := c.Expect.Plans[0].Calls
				return len(calls) == 2 && calls[1].Tools[0] == "f.g" && s.Defaults.Scoring.Profile == rules.ProfileV1
			},
		},
		{
			"first edition, relevance", "relevance.jsonl", row("relevance_1", ""),
			func(c *callvet.Case, _ *callvet.Suite) bool {
				return len(c.Expect.Plans) == 1 && len(c.Expect.Plans[0].Calls) == 0
			},
		},
		{
			"relevance", "BFCL_v4_live_relevance.json", row("live_relevance_1-1-0", ""),
			func(c *callvet.Case, _ *callvet.Suite) bool {
				return c.Expect.Plans == nil && *c.Expect.MinToolCalls == 1
			},
		},
		{
			"java", "BFCL_v4_simple_java.json", row("simple_java_1", `,"ground_truth":[{"f.g":{"a":[["x"]]}}]`),
			func(c *callvet.Case, _ *callvet.Suite) bool {
				const want = `{"type":"object","properties":{"a":{"type":"string","description":"A. (a Java value of type ArrayList, written as source text; elements of type String)"}},"required":["a"]}`
				return c.Scoring.Language == "java" && c.Fields["language"] == "java" &&
					string(c.Tools[0].Parameters) == want
			},
		},
		{
			"no answer", "BFCL_v4_multiple.json", row("multiple_1", ""),
			func(c *callvet.Case, _ *callvet.Suite) bool { return c.Skip != "" },
		},
	} {
		s, _, err := importBFCL([]byte(c.row), c.file, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !c.check(&s.Cases[0], s) {
			t.Errorf("%s: %+v", c.name, s.Cases[0])
		}
	}
	_, _, err := importBFCL(
		[]byte(`{"id":"multi_turn_base_0","question":[[{"role":"user","content":"a"}],[]],"initial_config":{}}`),
		"x.json", nil)
	var h *callvet.Hinted
	if !errors.As(err, &h) || h.Hint == "" {
		t.Errorf("multi-turn: %v", err)
	}
}

// TestOfficialShape reads questions with their possible_answer folder next to them.
func TestOfficialShape(t *testing.T) {
	t.Parallel()
	dir := testData(t, "../formats/bfcl")
	s, problems, err := ImportBFCLTree(dir, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for i := range s.Cases {
		if s.Cases[i].Skip != "" {
			skipped++
		}
	}
	if len(s.Cases) != 27 || skipped != 0 {
		t.Errorf("%d cases, %d without an answer; problems %v", len(s.Cases), skipped, problems)
	}
	compileAll(t, s)
}

// TestGoldPasses gives every case its own example: what BFCL calls right must
// pass, but for answers that contradict their own tool.
func TestGoldPasses(t *testing.T) {
	t.Parallel()
	for set, most := range map[string]int{"bfcl_v1_2024-08": 0, "bfcl_v4_2025-11": 4} {
		s, _, err := ImportBFCLTree(filepath.Join(testData(t, "sets/"+set), "cases"), os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		bad := 0
		for id, c := range compileAll(t, s) {
			if scoredLiterals(s, id) {
				continue
			}
			var calls []rules.Call
			for _, e := range c.Expectations() {
				v, err := value.Parse(e.Example())
				if err != nil {
					t.Fatalf("%s: example %s: %v", id, e.Example(), err)
				}
				calls = append(calls, rules.Call{Name: e.Name(), Args: v})
			}
			if v := c.Check(calls, nil); !v.OK && len(calls) > 0 {
				bad++
				t.Logf("%s %s: %s %s: %s", set, id, v.Error, v.Sub, calls[max(v.Actual, 0)].Args.Raw())
			}
		}
		if bad > most {
			t.Errorf("%s: the gold of %d cases does not pass", set, bad)
		}
	}
}

// scoredLiterals reports whether the arguments of a case are source text: an example for it would
// have to be written in Java or JavaScript.
func scoredLiterals(s *callvet.Suite, id string) bool {
	for i := range s.Cases {
		if s.Cases[i].ID == id {
			return s.Cases[i].Scoring != nil
		}
	}
	return false
}

func FuzzImportBFCL(f *testing.F) {
	f.Add([]byte(v4Row))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _, err := importBFCL(data, "x.jsonl", nil)
		if err != nil {
			return
		}
		for i := range s.Cases {
			if c := &s.Cases[i]; c.Skip == "" {
				if x, err := rules.CompileCase(c, c.Tools, rules.Rules{}); err == nil {
					x.Check(nil, nil)
				}
			}
		}
	})
}

// BenchmarkCheck parses and judges recorded single-call rows.
func BenchmarkCheck(b *testing.B) {
	dir := testData(b, "sets/bfcl_v1_2024-08")
	s, _, err := ImportBFCLTree(filepath.Join(dir, "cases"), os.ReadFile)
	if err != nil {
		b.Fatal(err)
	}
	cases := compileAll(b, s)
	type job struct {
		c          *rules.Case
		name, text string
	}
	var jobs []job
	files, _ := filepath.Glob(filepath.Join(dir, cmp.Or(os.Getenv("CALLVET_PART"), "open"), "outputs", "*.gz"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := eachRow(data, f, func(r value.Value, _ int) []callvet.Problem {
			d, _ := r.Get("decoded")
			calls, _ := decodedCalls(d)
			if cat := text(r, "category"); len(calls) == 1 && (cat == "simple" || cat == "multiple_function") {
				jobs = append(jobs, job{cases[text(r, "id")], calls[0].Name, string(calls[0].Args.Raw())})
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	texts := make([][]byte, len(jobs))
	for i := range jobs {
		texts[i] = []byte(jobs[i].text)
	}
	var doc value.Doc
	calls, pairs := make([]rules.Call, 1), make([]int, 1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k := i % len(jobs)
		if err := doc.Parse(texts[k]); err != nil {
			b.Fatal(err)
		}
		calls[0] = rules.Call{Name: jobs[k].name, Args: doc.Root()}
		jobs[k].c.Check(calls, pairs)
	}
}
