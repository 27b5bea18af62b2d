// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import "testing"

func TestUnreadable(t *testing.T) {
	t.Parallel()
	const not, text = "the arguments are not JSON",
		"the arguments are JSON with a text that is not Unicode, or nested too deep"
	for raw, want := range map[string]string{
		`{"a":1,"a":2}`:                         `the arguments have the key "a" twice`,
		`{"a":{"b":[{"c":1},{"c":"c","c":2}]}}`: `the arguments have the key "c" twice`,
		`{"a":"b","\u0061":1}`:                  `the arguments have the key "a" twice`,
		`{"a":{"a":1},"b":["a","a"],"c":"a"}`:   text,
		`{"a":"\ud800"}`:                        text,
		`{"a":1`:                                not,
		`{"a":1} x`:                             not,
		``:                                      not,
	} {
		if got := Unreadable(raw); got != want {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

func TestToolName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"pay": "pay", "pay me": "pay me", " pay": `" pay"`,
		"pay\n": `"pay\n"`, "": `""`,
	} {
		if got := ToolName(name); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
}
