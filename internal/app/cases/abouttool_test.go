// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package cases

import (
	"testing"

	"github.com/callvet/callvet"
)

// TestAboutTool: a case is about the first tool that it names, and a pattern names none.
func TestAboutTool(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		expect callvet.Expect
		want   string
	}{
		"nothing": {callvet.Expect{}, ""},
		"two": {callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{
			{Tools: []string{"pay"}},
			{Tools: []string{"ask"}},
		}}}}, "pay"},
		"a pattern": {callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"pay_*"}}}}}}, ""},
	} {
		if got := AboutTool(&callvet.Case{Expect: tc.expect}); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
