// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package cases

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestTurnGold: the calls of a turn are paired with those that are right in it.
func TestTurnGold(t *testing.T) {
	t.Parallel()
	call := func(tool, args string) callvet.Call { return callvet.Call{Tool: tool, Args: json.RawMessage(args)} }
	right := func(tool, args, check string) callvet.ExpectedCall {
		return callvet.ExpectedCall{Tools: []string{tool}, Args: json.RawMessage(args), ResultCheck: check}
	}
	for name, c := range map[string]struct {
		calls []callvet.Call
		right []callvet.ExpectedCall
		want  []string // tool, arguments, check; "" where none was needed
	}{
		"the same": {
			[]callvet.Call{call("a", `{"x":1}`)},
			[]callvet.ExpectedCall{right("a", `{"x":1}`, "ok")},
			[]string{`a {"x":1} ok`},
		},
		"wrong arguments": {
			[]callvet.Call{call("a", `{"x":2}`)},
			[]callvet.ExpectedCall{right("a", `{"x":1}`, "")},
			[]string{`a {"x":1} `},
		},
		"of two, by arguments": {
			[]callvet.Call{call("a", `{"x":2}`), call("a", `{"x":1}`)},
			[]callvet.ExpectedCall{right("a", `{"x":1}`, "one"), right("a", `{"x":2}`, "two")},
			[]string{`a {"x":2} two`, `a {"x":1} one`},
		},
		"one too many": {
			[]callvet.Call{call("b", `{}`), call("a", `{"x":1}`)},
			[]callvet.ExpectedCall{right("a", `{"x":1}`, "")},
			[]string{"", `a {"x":1} `},
		},
		"another tool": {
			[]callvet.Call{call("b", `{}`)},
			[]callvet.ExpectedCall{right("a", `{"x":1}`, "ok")},
			[]string{`a {"x":1} ok`},
		},
		"none needed": {[]callvet.Call{call("b", `{}`)}, []callvet.ExpectedCall{}, []string{""}},
		"one missing": {
			[]callvet.Call{call("a", `{}`)},
			[]callvet.ExpectedCall{right("c", `{"y":1}`, ""), right("a", `{}`, "")},
			[]string{`a {} `},
		},
	} {
		gold, err := turnGold(t.Context(), c.calls, c.right)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range gold {
			if !*g.Needed {
				got = append(got, "")
				continue
			}
			got = append(got, g.Tool+" "+string(g.Args)+" "+g.ResultCheck)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
