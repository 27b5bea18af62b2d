// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
)

func asks(want, tool string) *callvet.Case {
	return &callvet.Case{
		ID: "c", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: want}},
		Expect: callvet.Expect{ToolsCalled: []string{tool}},
	}
}

func codes(problems []callvet.Problem) []string {
	out := []string{}
	for _, p := range problems {
		if !p.Warning {
			out = append(out, "error")
		}
		out = append(out, p.Code)
	}
	return out
}

func TestNameInPrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prompt, tool string
		warned       bool
	}{
		{"Use get_weather for Oslo", "get_weather", true},
		{"Use GET_WEATHER(Oslo)", "get_weather", true},
		{"forget_weather, get_weather2, then get_weather", "get_weather", true},
		{"forget_weather and get_weather2", "get_weather", false},
		{"éget_weather", "get_weather", false},
		{"Call getWeather.", "getWeather", true},
		{"Get weather for Oslo", "get_weather", false},
		{"What is the weather?", "weather", false}, // a word that people say
		{"What is the weather?", "Weather", false},
		{"Use get_weather", "get_time", false},
		{"Use get_x", "get_*", false},
		{"", "get_weather", false},
	} {
		var h suite.Hygiene
		h.Look(asks(c.prompt, c.tool))
		if reported := len(h.Problems()) == 1; reported != c.warned {
			t.Errorf("%q with %s: told %v", c.prompt, c.tool, reported)
		}
	}
	var h suite.Hygiene
	skipped := asks("Use get_weather", "get_weather")
	skipped.Skip = "archived"
	h.Look(skipped)
	for range 23 {
		h.Look(asks("Use get_weather", "get_weather"))
	}
	if all := h.Problems(); len(all) != 21 || all[20].Message != "the same holds for 3 more cases" {
		t.Errorf("23 cases: %v", all)
	}
}

func TestOldLabels(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		asOf, createdAt, version string
		months                   int
		want                     []string
	}{
		{"2026-01-01", "", "1.2.0", 0, []string{}},
		{"2025-12-14", "", "", 6, []string{"old-label"}},
		{"2025-12-16", "", "", 6, []string{}},
		{"", "2025-12-14T00:00:00Z", "", 6, []string{"old-label"}},
		{"2026-06-01", "2020-01-01", "", 6, []string{}}, // a label that was looked at again
		{"last spring", "", "", 6, []string{}},
		{"2026-01-01", "", "2026-02-01", 0, []string{"old-label"}},
		{"2026-02-01", "", "v2026-02-01", 0, []string{}},
		{"2026-01-01", "", "v2026-02-01", 1, []string{"old-label"}}, // reported once
	} {
		k := asks("Weather?", "weather")
		k.AsOf = c.asOf
		k.Fields = map[string]string{"createdAt": c.createdAt}
		h := suite.Hygiene{
			Now: now, MaxAge: c.months,
			Tools: []callvet.Tool{{Name: "other", Version: "2026-05-01"}, {Name: "Weather", Version: c.version}},
		}
		h.Look(k)
		if diff := cmp.Diff(c.want, codes(h.Problems())); diff != "" {
			t.Error(fmt.Sprint(i), diff)
		}
	}
}
