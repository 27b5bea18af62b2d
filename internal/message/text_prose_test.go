// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import "testing"

// TestActions: an action of ReAct, or what is in <tools>, is a call where it names an offered tool.
// Where the tools are not known, an action is unknown if it is the whole answer.
func TestActions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ offered, blind string }{
		"Action: get_time()":                                         {"call", "unknown"},
		"Action: get_weather(\"Paris)":                               {"unreadable", "unknown"},
		"<tools>{\"name\": \"get_time\", \"arguments\": {}}</tools>": {"call", "call"},
		"Thought: a\nAction: f(x)":                                   {"answer", "unknown"},
		"Thought: a\nAction: f(x)\nPAUSE":                            {"answer", "unknown"},
		"Thought: a\nAction: f(x)\nObservation: 3":                   {"answer", "unknown"},
		"Thought: a\nAction: f\nAction Input: {\"a\": 1}":            {"answer", "unknown"},
		"The step is this.\nAction: f(x)":                            {"answer", "answer"},
		"Thought: a\nAction: f(x)\nis a formula.":                    {"answer", "answer"},
		"Action: restart the server (now)":                           {"answer", "answer"},
		"Action: search(for) the keys":                               {"answer", "answer"},
		"<tools>[{\"name\": \"f\", \"description\": \"x\"}]</tools>": {"answer", "answer"},
		"<tools>[{\"name\": \"get_time\", \"description\": \"x\", \"parameters\": {\"type\": \"object\", \"properties\": {}}}]</tools> are the tools.": {"answer", "answer"},
		"I have <tools>{\"name\": \"get_time\", \"arguments\": {}}</tools>.":                                                                           {"call", "answer"},
		"I have <tools>{\"name\": \"set_time\", \"arguments\": {}}</tools>.":                                                                           {"answer", "answer"},
		"Write <tools> first.": {"answer", "answer"},
	} {
		seen := func(g Reading) string {
			switch {
			case g.Unreadable:
				return "unreadable"
			case g.Unknown:
				return "unknown"
			case len(g.Calls) > 0:
				return "call"
			}
			return "answer"
		}
		if got := seen(CallsFromText(text, spelledCase())); got != want.offered {
			t.Errorf("%q: %s, want %s", text, got, want.offered)
		}
		if got := seen(CallsFromText(text, nil)); got != want.blind {
			t.Errorf("%q where the tools are not known: %s, want %s", text, got, want.blind)
		}
	}
}
