// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"testing"

	"github.com/callvet/callvet"
)

// TestMisnamed: a name that differs only in letter case or white space is that of the tool, and
// the comparison notes it; with case_sensitive_names it is another one.
func TestMisnamed(t *testing.T) {
	t.Parallel()
	const note = `called "Get_Weather ": the tool is get_weather`
	for _, tt := range []struct {
		name, called string
		tools        []callvet.Tool
		exact        bool
		verdict      callvet.Verdict
		note         string
	}{
		{"offered", "Get_Weather ", []callvet.Tool{{Name: "get_weather"}}, false, callvet.VerdictPass, note},
		{"nothing is known of the tools", "Get_Weather ", nil, false, callvet.VerdictPass, note},
		{"exact names", "Get_Weather ", []callvet.Tool{{Name: "get_weather"}}, true, callvet.VerdictFail, ""},
		{"the very name", "get_weather", []callvet.Tool{{Name: "get_weather"}}, false, callvet.VerdictPass, ""},
		{"another name", "get-weather", []callvet.Tool{{Name: "get_weather"}}, false, callvet.VerdictFail, ""},
	} {
		s := &callvet.Suite{
			Tools: tt.tools,
			Cases: []callvet.Case{{ID: "c", Expect: plans(wants("get_weather", `{}`))}},
		}
		s.Defaults.Scoring.CaseSensitiveNames = tt.exact
		k := mustCompile(t, s)[0]
		tr := made(tt.called, `{}`)
		r := k.Score(tr)
		notes := ""
		for _, m := range r.Calls {
			notes += m.Note
		}
		if r.Verdict != tt.verdict || notes != tt.note {
			t.Errorf("%s: %s %s, note %q, want %s, %q", tt.name, r.Verdict, r.Reason, notes, tt.verdict, tt.note)
		}
		if b, err := json.Marshal(r); err != nil || tt.note == "" && len(r.Calls) > 0 &&
			r.Verdict == callvet.VerdictPass {
			t.Errorf("%s: %s %v", tt.name, b, err)
		}
	}
}
