// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet_test

import (
	"testing"

	"github.com/callvet/callvet"
)

func TestQuestion(t *testing.T) {
	t.Parallel()
	user := func(text string) callvet.Turn { return callvet.Turn{Role: callvet.RoleUser, Content: text} }
	answer := callvet.Turn{Role: callvet.RoleAssistant, Content: "Where?"}
	for _, tt := range []struct {
		name  string
		input []callvet.Turn
		want  string
	}{
		{"one turn", []callvet.Turn{user("Rain in Oslo?")}, "Rain in Oslo?"},
		{"white space", []callvet.Turn{user(" \n Rain in\nOslo? \t")}, "Rain in\nOslo?"},
		{"the last of several", []callvet.Turn{user("Rain?"), answer, user("In Oslo.")}, "In Oslo."},
		{"a result after it", []callvet.Turn{user("Rain?"), answer, {Role: callvet.RoleTool, Content: "{}"}}, "Rain?"},
		{"a turn without text after it", []callvet.Turn{user("Rain?"), answer, user(" ")}, "Rain?"},
		{"only others", []callvet.Turn{{Role: callvet.RoleSystem, Content: "Be kind."}, answer}, ""},
		{"only blank", []callvet.Turn{user(""), user("\n")}, ""},
		{"nothing", nil, ""},
	} {
		c := callvet.Case{Input: tt.input, Description: "described"}
		if got := c.Question(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
