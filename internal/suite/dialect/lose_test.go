// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect_test

import (
	"slices"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// TestExportNamesWhatIsLost: what no other form has a place for is named by each of them.
func TestExportNamesWhatIsLost(t *testing.T) {
	s := &callvet.Suite{Name: "s", Tools: []callvet.Tool{{Name: "a"}}, Cases: []callvet.Case{{
		ID: "one", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "Hi"}}, Repeat: 3,
		Expect: callvet.Expect{
			Plans:   []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"a"}}}}},
			Scorers: []callvet.Scorer{{Name: "short", Expr: "true"}},
		},
	}}}
	for _, form := range []string{
		dialect.Promptfoo, dialect.Forge, dialect.Toolsuite, dialect.OpenAI,
		dialect.Categories, dialect.Tasks,
	} {
		_, lost, err := dialect.Export(form, s)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		for _, key := range []string{"repeat", "scorers"} {
			if !slices.ContainsFunc(lost, func(p callvet.Problem) bool { return p.Key == key && p.Case == "one" }) {
				t.Errorf("%s: %s is lost without a word: %v", form, key, lost)
			}
		}
	}
}
