// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
)

const hills = `
rules: [{calls: [{tool: book}]}]
surface:
  base: 0.5
  terms:
    - {param: temperature, peak: 0.3, width: 0.2, gain: 0.2, unset: 1.3}
    - {param: top_p, slope: -0.1}
    - {param: temperature, from: 1.2, gain: -0.4, unset: 1.3}
    - {param: top_k, from: 10, to: 20, gain: 0.05}
    - {param: tool_choice, is: required, gain: 0.02}
    - {param: stop, is: [END], gain: 0.01}
    - {prompt: call a TOOL, gain: 0.1}
    - {longer: 30, gain: -0.06}
  else: {calls: [{tool: search}]}
`

func surfaceOf(t *testing.T, src string) *Surface {
	t.Helper()
	s, err := parseScript("s.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s.Surface
}

func TestSurfaceChances(t *testing.T) {
	t.Parallel()
	s := surfaceOf(t, hills)
	number := func(x float64) *float64 { return &x }
	for _, tt := range []struct {
		name string
		req  callvet.Request
		want float64
	}{
		{"temperature not sent: the cliff", callvet.Request{}, 0.1 + 0.2*math.Exp(-12.5)},
		{"at the peak", callvet.Request{Params: callvet.Params{Temperature: number(0.3)}}, 0.7},
		{"a width away", callvet.Request{Params: callvet.Params{Temperature: number(0.5)}}, 0.5 + 0.2*math.Exp(-0.5)},
		{"a slope", callvet.Request{Params: callvet.Params{Temperature: number(0.3), TopP: number(0.5)}}, 0.65},
		{"at the edge", callvet.Request{Params: callvet.Params{Temperature: number(1.2)}}, 0.1 + 0.2*math.Exp(-10.125)},
		{"an extra one inside", callvet.Request{Params: callvet.Params{
			Temperature: number(0.3), Extra: map[string]json.RawMessage{"top_k": []byte("20")},
		}}, 0.75},
		{"an extra one outside", callvet.Request{Params: callvet.Params{
			Temperature: number(0.3), Extra: map[string]json.RawMessage{"top_k": []byte("21")},
		}}, 0.7},
		{"a list", callvet.Request{Params: callvet.Params{Temperature: number(0.3), Stop: []string{"END"}}}, 0.71},
		{"a choice", callvet.Request{ToolChoice: "required", Params: callvet.Params{Temperature: number(0.3)}}, 0.72},
		{"a prompt", callvet.Request{System: "Call a tool.", Params: callvet.Params{Temperature: number(0.3)}}, 0.8},
		{"a long prompt", callvet.Request{
			System: "Call a tool." + strings.Repeat("ä", 19), Params: callvet.Params{Temperature: number(0.3)},
		}, 0.74},
	} {
		if got := s.Chance(&tt.req); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestSurfaceDrawsAreSteadyAndHaveTheirChance(t *testing.T) {
	t.Parallel()
	m := open(t, hills, new(time.Duration))
	cold := 0.3
	right, alike := 0, 0
	const n = 4000
	for i := range n {
		params := callvet.Params{Temperature: &cold}
		req := &callvet.Request{CaseID: fmt.Sprint("case-", i/2), Repeat: i % 2, Params: params}
		first, again := describe(m.Generate(t.Context(), req)), describe(m.Generate(t.Context(), req))
		if first != again {
			t.Fatalf("%s, then %s", first, again)
		}
		switch {
		case strings.Contains(first, "book"):
			right++
		case !strings.Contains(first, "search"):
			t.Fatal(first)
		}
		warm := 0.3000001
		other := *req
		other.Params.Temperature = &warm
		if describe(m.Generate(t.Context(), &other)) == first {
			alike++
		}
	}
	if share := float64(right) / n; math.Abs(share-0.7) > 0.03 {
		t.Errorf("%.3f are right, 0.7 expected", share)
	}
	// Draws of other parameters are independent: 0.7² + 0.3² agree by chance.
	if share := float64(alike) / n; math.Abs(share-0.58) > 0.03 {
		t.Errorf("%.3f agree with a neighbour, 0.58 expected", share)
	}
}

func TestSurfaceSpreadsTheCases(t *testing.T) {
	t.Parallel()
	s := surfaceOf(t, "rules: [{text: x}]\nsurface: {base: 0.5, spread: 0.3}")
	low, high, sum := 1.0, 0.0, 0.0
	for i := range 2000 {
		c := s.Chance(&callvet.Request{CaseID: fmt.Sprint(i)})
		low, high, sum = min(low, c), max(high, c), sum+c
	}
	if low < 0.2 || low > 0.21 || high > 0.8 || high < 0.79 || math.Abs(sum/2000-0.5) > 0.02 {
		t.Errorf("from %v to %v, on average %v", low, high, sum/2000)
	}
	other := surfaceOf(t, "rules: [{text: x}]\nsurface: {base: 0.5, spread: 0.3, seed: 1}")
	if req := (&callvet.Request{CaseID: "a"}); s.Chance(req) == other.Chance(req) {
		t.Error("the seed does not count")
	}
}

func TestASurfaceWithoutElseAbstains(t *testing.T) {
	t.Parallel()
	m := open(t, "rules: [{calls: [{tool: book}]}]\nsurface: {base: 0}", new(time.Duration))
	if got := describe(m.Generate(t.Context(), &callvet.Request{CaseID: "a"})); got != "I have no call to make here." {
		t.Error(got)
	}
}

func TestSurfaceMistakes(t *testing.T) {
	t.Parallel()
	for surface, want := range map[string]string{
		"{}":                      "surface.base",
		"{base: 2}":               "surface.base",
		"{base: 0.5, spred: 0.1}": `did you mean "spread"?`,
		"{base: 0.5, terms: [{param: seed, gain: 0.1}]}":                    "a term has one of peak",
		"{base: 0.5, terms: [{param: seed, gain: 0.1, peak: 1, slope: 2}]}": "a term has one of peak",
		"{base: 0.5, terms: [{gain: 0.1, from: 2}]}":                        "a term is about a parameter",
		"{base: 0.5, terms: [{param: seed, prompt: x, gain: 0.1}]}":         "a term is about a parameter",
		"{base: 0.5, terms: [{param: seed, peak: 1, gain: 0.1}]}":           "a peak has a width above 0",
		"{base: 0.5, terms: [{param: seed, from: 1}]}":                      "the term adds nothing",
		"{base: 0.5, terms: [{param: seed, slope: 1, gain: 0.1}]}":          "slope or gain, and not both",
		"{base: 0.5, terms: [{param: seed, from: 1, width: 2, gain: 0.1}]}": "width belongs to a peak",
		"{base: 0.5, terms: [{prompt: x, unset: 1, gain: 0.1}]}":            "unset belongs to a parameter",
		"{base: 0.5, else: {delay_ms: 3}}":                                  "surface.else: the step does nothing",
	} {
		_, err := parseScript("s.yaml", []byte("rules: [{text: x}]\nsurface: "+surface))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s.yaml:2") {
			t.Errorf("%s: %v\nwant %s", surface, err, want)
		}
	}
}
