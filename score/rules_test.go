// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestVersions: versions are ordered by their numbers, and by text where one part is none.
func TestVersions(t *testing.T) {
	t.Parallel()
	ascending := []string{
		"", "v2", "v9", "v9.1", "v9.2", "v9.10", "v10", "v10.0", "v10.a", "v10.a.2", "v10.a.10",
		"v10.b", "vx",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			if got := compareVersions(a, b); got != want {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
			if got := compareVersions(strings.TrimPrefix(a, "v"), b); got != want {
				t.Errorf("%q without v and %q: %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestSpelling: the exact spelling of a name goes before another; of two in one version the
// first counts.
func TestSpelling(t *testing.T) {
	t.Parallel()
	needs := func(name, key string) callvet.Tool {
		return callvet.Tool{
			Name: name, Version: "v1",
			Parameters: json.RawMessage(`{"type":"object","required":["` + key + `"]}`),
		}
	}
	s, ps := NewStepScorer(StepConfig{Tools: []callvet.Tool{needs("Pay", "a"), needs("pay", "b"), needs("pay", "c")}})
	if len(ps) != 1 || ps[0].Code != "duplicate-tool" || !ps[0].Warning || ps[0].Key != "pay" {
		t.Errorf("problems: %v", ps)
	}
	for tool, key := range map[string]string{"Pay": "a", "pay": "b", "PAY": "a", "Pay@v1": "a", "pay@v1": "b"} {
		for _, k := range []string{"a", "b", "c"} {
			var got callvet.StepScore
			s.Score(read(t, `{"tool":"`+tool+`","args":{"`+k+`":1}}`), &got)
			if valid, known := got.Get(callvet.StepSchemaValid); !known || valid != (k == key) {
				t.Errorf("%s with %s: valid %v, known %v", tool, k, valid, known)
			}
		}
	}
}

// TestRemembered: a scorer remembers a bounded number of texts and of problems, and scores what
// it does not remember alike.
func TestRemembered(t *testing.T) {
	t.Parallel()
	s := scorer(t, StepConfig{Tools: tools()})
	for i := range maxCached + 2 {
		var got callvet.StepScore
		s.Score(
			read(t,
				fmt.Sprintf(
					`{"tool":"free%d","args":{},"status":"ok","result":{},"gold":{"args":{},"params":{"n":%d},"result_check":"n%d ="}}`, i, i, i)), &got)
		if d := cmp.Diff("-valid -tool +executed -limited -timeout -rejected -repaired", marksOf(got)); d != "" {
			t.Fatalf("line %d: %s", i, d)
		}
	}
	for what, n := range map[string]int{
		"tools": len(s.tools), "conditions": len(s.checks.byText), "matchers": len(s.params.byText),
		"problems of conditions": len(s.checks.problems), "problems of matchers": len(s.params.problems),
	} {
		if n != maxCached {
			t.Errorf("%d %s are remembered, want %d", n, what, maxCached)
		}
	}
}

// TestProblemKey: a problem names the matcher that cannot be used, where one is to blame.
func TestProblemKey(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]StepConfig{
		"gold.params": {},
		"gold.params.n": {Matchers: func([]byte) (map[string]callvet.Matcher, []callvet.Problem) {
			return nil, []callvet.Problem{{Key: "n", Message: "no matcher"}}
		}},
	} {
		s := scorer(t, cfg)
		var got callvet.StepScore
		s.Score(read(t, `{"tool":"free","args":{"n":1},"gold":{"params":{"n":1}}}`), &got)
		if ps := s.Problems(); len(ps) != 1 || ps[0].Key != want {
			t.Errorf("%v, want one of %s", ps, want)
		}
	}
}

// TestExplainedCall: the explanation has the call and its label exactly as in the line.
func TestExplainedCall(t *testing.T) {
	t.Parallel()
	s := scorer(t, StepConfig{Tools: tools()})
	long := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	for _, c := range []struct {
		line           string
		got, wantArgs  string
		want           []string
		reasons, plain string
	}{
		{`{"tool":"free"}`, "", "", nil, "", ""},
		{
			`{"tool":"free","args":{"a":1},"gold":{"tool":"free","args":{"a":1}}}`, `{"a":1}`, `{"a":1}`,
			[]string{"free"},
			"", "",
		},
		{
			`{"tool":"free","args":{"a":1},"gold":{"tool":"pay"}}`, `{"a":1}`, "",
			[]string{"pay"},
			"the right tool is pay", "",
		},
		{`{"tool":"free","gold":{"needed":false}}`, "", "", nil, "the call was not needed", "the call was not needed"},
		{`{"tool":"free","status":"exec_error"}`, "", "", nil, "the call ended with status exec_error, error none", ""},
		{
			`{"tool":"free","status":"exec_error","error":"boom"}`, "", "", nil,
			`the call ended with status exec_error, error "boom"`, "",
		},
		{
			`{"tool":"free","status":"exec_error","error":` + long(200) + `}`, "", "", nil,
			"the call ended with status exec_error, error " + long(200), "",
		},
		{
			`{"tool":"free","status":"exec_error","error":` + long(201) + `}`, "", "", nil,
			"the call ended with status exec_error, error " + long(201)[:200] + "…", "",
		},
	} {
		x := s.Explain(read(t, c.line))
		if string(x.Call.GotArgs) != c.got || string(x.Call.WantArgs) != c.wantArgs {
			t.Errorf("%s: arguments %s and %s, want %s and %s", c.line, x.Call.GotArgs, x.Call.WantArgs,
				c.got, c.wantArgs)
		}
		if d := cmp.Diff(c.want, x.Call.Want); d != "" {
			t.Errorf("%s: %s", c.line, d)
		}
		if d := cmp.Diff([]string{c.reasons, c.plain},
			[]string{strings.Join(x.Reasons, "; "), strings.Join(x.Plain, "; ")}); d != "" {
			t.Errorf("%s: %s", c.line, d)
		}
	}
}

// TestUnrecorded: null in a label or a result is no information.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	s := scorer(t, StepConfig{Tools: tools()})
	for line, want := range map[string]string{
		`{"tool":"free","result":null,"gold":{"result":{"a":2},"result_check":"a == 1"}}`: "+tool",
		`{"tool":"free","status":"ok","result":{"a":1},"gold":{"result":null}}`:           "+tool +executed -limited -timeout -rejected",
		`{"tool":"free","status":"ok","result":null,"gold":{"result":{"a":1}}}`:           "+tool +executed -limited -timeout -rejected -equal",
	} {
		var got callvet.StepScore
		s.Score(read(t, line), &got)
		if d := cmp.Diff(want, marksOf(got)); d != "" {
			t.Errorf("%s: %s", line, d)
		}
	}
	var got callvet.StepScore
	s.Score(read(t, `{"tool":"free","args":[1],"gold":{"args":{"a":1,"b":2}}}`), &got)
	if got.Matched != 0 || got.Expected != 2 || got.Emitted != 1 || got.Union != 3 {
		t.Errorf("a list is one argument that nobody expected: %+v", got)
	}
}

// TestSpellsBroken: a text that ends within an escape spells nothing.
func TestSpellsBroken(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		text := strings.Repeat("a", n)
		if spells([]byte(text+`\`), []byte(text+"aaaaaaaa")) || spells([]byte(text+`\`), []byte(text+`\`)) {
			t.Errorf("%d bytes and a backslash", n)
		}
	}
}

// TestLeftOut: dots in place of a payload mean that it was left out, with some space around them.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	s := scorer(t, StepConfig{Tools: tools()})
	for spaces, want := range map[int]string{
		0: "+valid +tool -repaired", 1: "+valid +tool -repaired",
		1000: "+valid +tool -repaired",
	} {
		var got callvet.StepScore
		s.Score(read(t, `{"tool":"get_refund_policy@v2","args":{},"args_raw":"`+strings.Repeat(" ", spaces)+`{...}"}`),
			&got)
		if d := cmp.Diff(want, marksOf(got)); d != "" {
			t.Errorf("%d spaces: %s", spaces, d)
		}
	}
}
