// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet_test

import (
	"testing"

	"github.com/callvet/callvet"
)

func TestNameFits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want, name   string
		folds, exact bool
	}{
		{"search", "search", true, true},
		{"search", "Search", true, false},
		{"search", "searches", false, false},
		{"search*", "search", true, true},
		{"search*", "search_web", true, true},
		{"search*", "Search_web", true, false},
		{"search*", "research", false, false},
		{"*search", "research", true, true},
		{"*", "", true, true},
		{"*", "anything", true, true},
		{"get_*_id", "get_user_id", true, true},
		{"get_*_id", "get_id", false, false},
		{"get_*_id", "get__id", true, true},
		{"a*b*c", "a1b2c", true, true},
		{"a*b*c", "acb", false, false},
		{"a*b*b", "ab", false, false},
		{"a*b*b", "abb", true, true},
		{"a*a", "a", false, false},
		{"*x*", "axe", true, true},
		{"*x*", "abc", false, false},
		{"a.c", "abc", false, false},
		{"get_weather", " Get_Weather ", true, false},
		{"get weather", "getWeather", true, false},
		{"get_*", "Get_ Weather", true, false},
		{"get_weather", "get weather", false, false},
		{"", " ", false, false},
	} {
		if got := callvet.NameFits(tt.want, tt.name, false); got != tt.folds {
			t.Errorf("NameFits(%q, %q) is %v in any letter case", tt.want, tt.name, got)
		}
		if got := callvet.NameFits(tt.want, tt.name, true); got != tt.exact {
			t.Errorf("NameFits(%q, %q) is %v by letter case", tt.want, tt.name, got)
		}
	}
}
