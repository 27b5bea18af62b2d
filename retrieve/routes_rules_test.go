// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func shipped(t testing.TB) *retrieve.RouteRules {
	t.Helper()
	s, err := retrieve.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	r, err := retrieve.NewRules(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDefaultRules(t *testing.T) {
	t.Parallel()
	r := shipped(t)
	for question, want := range map[string]string{
		"":                                "smalltalk/",
		"?!":                              "smalltalk/",
		"Hejsan!":                         "smalltalk/",
		"God morgon på dig":               "smalltalk/",
		"Hej, hur är vädret i Åmål?":      "action/travel",
		"Tack!":                           "smalltalk/",
		"/compare vilken bil är bäst":     "compare/",
		"Fråga två olika modeller om råd": "compare/",
		"Jämför befolkningen i Luleå och Umeå": "statistics/",
		"Läs https://exempel.example/a":        "action/web",
		"Översätt till engelska":               "action/web",
		"Gör en podd om älgar":                 "action/media",
		"Påminn mig klockan tre":               "action/data",
		"Är det halt på vägarna?":              "action/travel",
		"Trafikstörningar i Örebro":            "action/travel",
		"tra\u0308ngda tågen i A\u030are":      "action/travel",
		"Vem är revisor i bolaget?":            "action/data",
		"Var i handboken står det?":            "knowledge/docs",
		"Mina anteckningar om semestern":       "knowledge/internal",
		"Senaste nytt om valet":                "knowledge/external",
		"Kärlek":                               "knowledge/external",
		"Sätt på lampan":                       "action/",
		"Hur många invånare har Å?":            "statistics/",
		"ARBETSLÖSHETEN I ÅRE":                 "statistics/",
		"will it rain in London?":              "action/travel",
	} {
		d := r.Route(question)
		if got := d.Route + "/" + d.SubRoute; got != want {
			t.Errorf("%q: %s, want %s (%q by %.60s)", question, got, want, d.Matched, d.Pattern)
		}
	}
}

func TestRulesInOrder(t *testing.T) {
	t.Parallel()
	r, err := retrieve.NewRules(retrieve.RouteSettings{
		Rules: []retrieve.RouteRule{
			{Route: "kort", Patterns: []string{`å`}, MaxRunes: 3},
			{Route: "a", Patterns: []string{`\bök\b`, `\bår\b`}},
			{Route: "b", SubRoute: "x", Patterns: []string{"."}},
			{Route: "a", SubRoute: "ett", Patterns: []string{`\bfem\b`}},
			{Route: "a", SubRoute: "två", Patterns: []string{`\bsex\b`}},
		},
		Default: "inget", SubRoutes: map[string]string{"a": "noll", "inget": "alls"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]retrieve.RouteDecision{
		"på ":         {Route: "kort", Rule: 0, Pattern: "å", Matched: "å"},
		"i år":        {Route: "a", SubRoute: "noll", Rule: 1, Pattern: `\bår\b`, Matched: "år"},
		"sex år, fem": {Route: "a", SubRoute: "ett", Rule: 1, Pattern: `\bår\b`, Matched: "år"},
		"sex år":      {Route: "a", SubRoute: "två", Rule: 1, Pattern: `\bår\b`, Matched: "år"},
		"håret fem":   {Route: "b", SubRoute: "x", Rule: 2, Pattern: ".", Matched: "h"},
		" \n ":        {Route: "inget", SubRoute: "alls", Rule: -1},
	} {
		if d := cmp.Diff(want, r.Route(question)); d != "" {
			t.Errorf("%q: %s", question, d)
		}
	}
}

func TestRulesRefuse(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		`{"rules":[{"route":"a"}]}`, `{"rules":[{"patterns":["a"]}]}`,
		`{"rules":[{"route":"a","patterns":["("]}]}`, `{"rules":[{"route":"a","patterns":["a"],"max_runes":-1}]}`,
	} {
		set, err := retrieve.ReadRouteSettings("rules.json", []byte(s))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := retrieve.NewRules(set); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{"", "[]", `{"rule":[]}`, `{} {}`} {
		if _, err := retrieve.ReadRouteSettings("rules.json", []byte(s)); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// TestShippedSuite keeps the rules right on the example suite.
func TestShippedSuite(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../examples/select/suite.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Categories []struct {
			Cases []struct {
				ID, Query string
				Route     string `json:"expected_route"`
				SubRoute  string `json:"expected_sub_route"`
			} `json:"test_cases"`
		}
	}
	if err := json.Unmarshal(data, &suite); err != nil {
		t.Fatal(err)
	}
	r, n, wrong := shipped(t), 0, 0
	for _, c := range suite.Categories {
		for _, k := range c.Cases {
			if k.Route == "" {
				continue
			}
			n++
			if d := r.Route(k.Query); d.Route != k.Route || k.SubRoute != "" && d.SubRoute != k.SubRoute {
				wrong++
				t.Logf("%s: %+v, want %s/%s", k.ID, d, k.Route, k.SubRoute)
			}
		}
	}
	if n < 70 || wrong > 3 {
		t.Errorf("%d of %d questions are routed wrongly", wrong, n)
	}
}

func TestLongQuestionsEnd(t *testing.T) {
	t.Parallel()
	if d := shipped(t).Route(strings.Repeat("å", 1<<20)); d.Route != "knowledge" {
		t.Errorf("%+v", d)
	}
}

func BenchmarkRules(b *testing.B) {
	r := shipped(b)
	for b.Loop() {
		r.Route("Kommer mormor med tåget från Sundsvall i tid, eller är det något som händer vid Gävle?")
	}
}

// Every rule that applies is returned, in order; the first is the one that decides.
func TestApplying(t *testing.T) {
	t.Parallel()
	r, err := retrieve.NewRules(retrieve.RouteSettings{Rules: []retrieve.RouteRule{
		{Route: "small", Patterns: []string{"hej"}, MaxRunes: 5},
		{Route: "action", Patterns: []string{"x", "tåg"}},
		{Route: "action", SubRoute: "rail", Patterns: []string{"tåg"}},
		{Route: "knowledge", Patterns: []string{"pris"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []retrieve.RouteDecision{
		{Route: "action", Rule: 1, Pattern: "tåg", Matched: "tåg"},
		{Route: "action", SubRoute: "rail", Rule: 2, Pattern: "tåg", Matched: "tåg"},
		{Route: "knowledge", Rule: 3, Pattern: "pris", Matched: "pris"},
	}
	if d := cmp.Diff(want, r.Applying(" hej, pris på tåg ")); d != "" {
		t.Error(d)
	}
	if got := r.Applying(""); got != nil {
		t.Error(got)
	}
}
