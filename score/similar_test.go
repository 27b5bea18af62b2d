// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// TestMissingSimilarity: an attempt is not judged if its verdict needs a comparison that was not
// made, also while others are judged; the verdicts of the others stay.
func TestMissingSimilarity(t *testing.T) {
	t.Parallel()
	cfg := score.Config{Similarity: func(_, got string) (float64, string, error) {
		if strings.Contains(got, "down") {
			return 0, "m", errors.New("no answer")
		}
		return map[bool]float64{true: 0.9, false: 0.1}[strings.Contains(got, "near")], "m", nil
	}}
	s, _ := score.New(&callvet.Suite{}, cfg)
	said := callvet.ExpectedCall{Tools: []string{"say"}, Args: json.RawMessage(`{"text":"hello"}`)}
	compile := func(e callvet.Expect) *score.Compiled {
		k, problems := s.Compile(&callvet.Case{ID: "c", Scoring: &callvet.Scoring{Mode: "semantic"}, Expect: e})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return k
	}
	expected := compile(callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{said}}}})
	either := compile(callvet.Expect{Plans: []callvet.Plan{
		{Calls: []callvet.ExpectedCall{said}},
		{Calls: []callvet.ExpectedCall{{Tools: []string{"say"}}}},
	}})
	attempt := func(text string, also ...string) *callvet.Trace {
		tr := &callvet.Trace{CaseID: "c", Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{
			{Tool: "say", Args: json.RawMessage(fmt.Sprintf(`{"text":%q}`, text)), Status: callvet.StatusOK},
		}}}}
		for _, tool := range also {
			tr.Turns[0].Calls = append(tr.Turns[0].Calls,
				callvet.Call{Tool: tool, Args: json.RawMessage(`{}`), Status: callvet.StatusOK})
		}
		tr.Classify("")
		return tr
	}
	cases := []struct {
		name string
		by   *score.Compiled
		of   *callvet.Trace
		want callvet.Verdict
	}{
		{"the very text", expected, attempt("hello"), callvet.VerdictPass},
		{"near", expected, attempt("near"), callvet.VerdictPass},
		{"far", expected, attempt("far"), callvet.VerdictFail},
		{"not compared", expected, attempt("down"), callvet.VerdictNotRun},
		{"not compared, and wrong in any case", expected, attempt("down", "other"), callvet.VerdictFail},
		{"not compared, and right in any case", either, attempt("down"), callvet.VerdictPass},
	}
	var all sync.WaitGroup
	for range 50 {
		for _, c := range cases {
			all.Go(func() {
				if r := c.by.Score(c.of); r.Verdict != c.want ||
					(c.want == callvet.VerdictNotRun) != strings.Contains(r.Reason, "no answer") {
					t.Errorf("%s: %s (%s), want %s", c.name, r.Verdict, r.Reason, c.want)
				}
			})
		}
	}
	all.Wait()
}
