// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"expect", "expected_tool", "id", "tags", "multi_turn"}
	for s, want := range map[string]string{
		"expcet": "expect", "expectedTool": "expected_tool", "Multi-Turn": "multi_turn", "tag": "tags", "idd": "id",
		"weather": "", "": "", "x": "", strings.Repeat("expect", 100): "", "\xff\xfe": "",
	} {
		if got := callvet.Nearest(s, known); got != want {
			t.Errorf("%.20q: %q, want %q", s, got, want)
		}
	}
	if got := callvet.Nearest("a", nil); got != "" {
		t.Errorf("nothing is known, yet %q", got)
	}
}

func TestUnprefixed(t *testing.T) {
	t.Parallel()
	known := []string{"", "get_weather", "weather"}
	for name, want := range map[string]string{
		"mcp__acme__get_weather": "get_weather", "functions.get_weather": "get_weather",
		"acme/Get_Weather": "get_weather", "acme:weather": "weather",
		"get_weather": "", "my_weather": "", "__get_weather": "", ".get_weather": "", "mcp__acme__get_time": "",
		"acme__": "", "": "",
	} {
		if got := callvet.Unprefixed(name, known); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
