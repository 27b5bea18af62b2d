// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// asks is a case with a prompt and the value of one expected argument; "": none.
func asks(id, prompt, value string) *callvet.Case {
	c := &callvet.Case{ID: id, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: prompt}}}
	if value != "" {
		args, _ := json.Marshal(map[string]any{"q": map[string]any{"in": []string{value}}})
		c.Expect.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"find"}, Args: args}}}}
	}
	return c
}

func of(family string, c *callvet.Case) *callvet.Case {
	c.Family = family
	return c
}

func talks(id string, texts ...string) *callvet.Case {
	c := &callvet.Case{ID: id}
	for i, s := range texts {
		role := callvet.RoleUser
		if i%2 == 1 {
			role = callvet.RoleAssistant
		}
		c.Input = append(c.Input, callvet.Turn{Role: role, Content: s})
	}
	return c
}

func TestPattern(t *testing.T) {
	t.Parallel()
	tests := []struct{ prompt, value, want string }{
		{"Weather in Oslo", "Oslo", "weather in ▯"},
		{"Weather in  New York?\n", "new york", "weather in ▯?"},
		{"Pay 12.50 on 2026-01-31", "", "pay ▯ on ▯"},
		{`Send "good luck" to 'Bo'. It's Ann's`, "", "send ▯ to ▯. it's ann's"},
		{"Call “Ann” and «Bo»", "", "call ▯ and ▯"},
		{"Oslo weather", "Oslo weather", "oslo weather"}, // the argument is the whole prompt
		{"Find a cat in the category", "cat", "find a ▯ in the category"},
		{"Find x", "x", "find x"},
		{"Ärzte in Ål", "ål", "ärzte in ▯"},
	}
	for _, tt := range tests {
		if got := newPatterns().of(asks("c", tt.prompt, tt.value)); got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.prompt, tt.value, got, tt.want)
		}
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	origin := func(c *callvet.Case) []string {
		if s := c.Fields["trace"]; s != "" {
			return []string{s}
		}
		return nil
	}
	from := func(trace string, c *callvet.Case) *callvet.Case {
		c.Fields = map[string]string{"trace": trace}
		return c
	}
	tests := map[string]struct {
		cases []*callvet.Case
		want  string
	}{
		"values differ": {
			[]*callvet.Case{asks("b", "Weather in Oslo", "Oslo"), asks("a", "weather in Rome", "Rome")},
			"a a",
		},
		"prompts differ":  {[]*callvet.Case{asks("a", "Weather in Oslo", ""), asks("b", "Weather in Rome", "")}, "a b"},
		"numbers differ":  {[]*callvet.Case{asks("a", "Add 1 and 2", ""), asks("b", "Add 30 and 4.5", "")}, "a a"},
		"named apart":     {[]*callvet.Case{of("x", asks("a", "Add 1", "")), of("y", asks("b", "Add 2", ""))}, "x y"},
		"named together":  {[]*callvet.Case{of("x", asks("a", "Add", "")), of("x", asks("b", "Drop", ""))}, "x x"},
		"joins the named": {[]*callvet.Case{of("x", asks("a", "Add 1", "")), asks("0", "Add 2", "")}, "x x"},
		"chain": {
			[]*callvet.Case{
				asks("c", "Add 1", ""), from("t", asks("b", "Add 2", "")),
				from("t", asks("a", "Drop", "")),
			},
			"a a a",
		},
		"traces differ": {[]*callvet.Case{from("t", asks("a", "Add", "")), from("u", asks("b", "Drop", ""))}, "a b"},
		"continued": {
			[]*callvet.Case{talks("a", "hi"), talks("b", "hi", "hello", "book it"), talks("c", "other")}, "a a c",
		},
		"siblings": {
			[]*callvet.Case{talks("a", "hi", "yes?", "book"), talks("b", "hi", "yes?", "cancel")},
			"a a",
		},
		"only a greeting": {
			[]*callvet.Case{talks("a", "hi", "yes?", "book"), talks("b", "hi", "what?", "cancel")},
			"a b",
		},
		"no case":          {nil, ""},
		"without an input": {[]*callvet.Case{{ID: "a"}, {ID: "b"}}, "a a"},
	}
	for name, tt := range tests {
		var got []string
		for _, m := range Families(slices.Values(tt.cases), origin) {
			got = append(got, m.Family)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

// suiteOf is a suite of families of 1 to 4 cases, over tiers and tools.
func suiteOf(rng *rand.Rand, from, families int) []*callvet.Case {
	var out []*callvet.Case
	words := func(i int) string { // no digits: those are replaced
		return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i))
	}
	for f := from; f < from+families; f++ {
		tier := []callvet.Tier{"", callvet.TierGolden, callvet.TierRegression}[rng.IntN(3)]
		tool := []string{"find", "send", "drop"}[rng.IntN(3)]
		for k := range 1 + rng.IntN(4) {
			c := asks(fmt.Sprintf("c%d-%d", f, k), fmt.Sprintf("Do %s with %d", words(f), k), "")
			c.Tier = tier
			c.Expect.ToolsCalled = []string{tool}
			out = append(out, c)
		}
	}
	return out
}

func TestSplitProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cases := suiteOf(rng, 0, 2+rng.IntN(60))
		share := []float64{0.3, 0.5, 0.8}[rng.IntN(3)]
		members := Families(slices.Values(cases), nil)
		h := Split(members, share, nil, "suite")

		// No family is on both sides, and each stratum has its share.
		side, counts, strata := map[string]Side{}, map[string]float64{}, map[string]float64{}
		for i, a := range h.Cases {
			if was, known := side[a.Family]; known && was != a.Side {
				t.Fatalf("seed %d: family %s is on both sides", seed, a.Family)
			} else if !known {
				c := cases[i]
				for _, key := range []string{"all", string(c.Tier), string(c.Tier) + "/" + c.Expect.ToolsCalled[0]} {
					strata[key]++
					if a.Side == Holdout {
						counts[key]++
					}
				}
			}
			side[a.Family] = a.Side
		}
		for key, n := range strata {
			if off := counts[key] - share*n; off <= -1 || off >= 1 {
				t.Errorf("seed %d: %s: %g of %g families held out, want a share of %g", seed, key,
					counts[key], n, share)
			}
		}
		if len(side) != h.TrainFamilies+h.HoldoutFamilies || float64(h.HoldoutFamilies) != counts["all"] {
			t.Errorf("seed %d: %d and %d families of %d", seed, h.TrainFamilies, h.HoldoutFamilies, len(side))
		}

		// The order of cases changes nothing.
		shuffled := slices.Clone(cases)
		rng.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		again := Split(Families(slices.Values(shuffled), nil), share, nil, "suite")
		for _, a := range h.Cases {
			if again.Of(a.Case) != a.Side {
				t.Fatalf("seed %d: case %s changes sides with the order", seed, a.Case)
			}
		}

		// A later split of a changed suite keeps the sides, under new ids too.
		changed := slices.Concat(shuffled[len(shuffled)/4:], suiteOf(rng, 100, 5))
		for i, c := range changed {
			if i%3 == 0 {
				renamed := *c
				renamed.ID = "new-" + c.ID
				changed[i] = &renamed
			}
		}
		now := Families(slices.Values(changed), nil)
		later := Split(now, share, h.Cases, "suite")
		was := newEarlier(h.Cases)
		sides := map[string]Side{}
		for i, a := range later.Cases {
			if old := was.side(now[i]); old == Train && a.Side != Train {
				t.Fatalf("seed %d: training case %s is held out", seed, a.Case)
			} else if old == Holdout && a.Side == Train && !slices.Contains(later.Moved, a.Case) {
				t.Fatalf("seed %d: held-out case %s moved, and it is not reported", seed, a.Case)
			}
			if s, known := sides[a.Family]; known && s != a.Side {
				t.Fatalf("seed %d: family %s is on both sides later", seed, a.Family)
			}
			sides[a.Family] = a.Side
		}
	}
}

// A bridge joins a training family and a held-out one: the search has seen the whole.
func TestSplitBridge(t *testing.T) {
	t.Parallel()
	before := []Assigned{{Case: "a", Family: "a", Side: Train}, {Case: "b", Family: "b", Side: Holdout}}
	h := Split([]Member{{&callvet.Case{ID: "a"}, "f", "x"}, {&callvet.Case{ID: "b"}, "f", ""}}, DefaultShare, before, "s")
	if h.Of("b") != Train || !slices.Equal(h.Moved, []string{"b"}) {
		t.Errorf("b is %s, moved %v", h.Of("b"), h.Moved)
	}
	if ids := h.IDs(Train); !slices.Equal(ids, []string{"a", "b"}) || h.Of("c") != "" {
		t.Errorf("training cases %v", ids)
	}
	if why := h.Few(); !strings.HasPrefix(why, "1 family") {
		t.Errorf("few: %q", why)
	}
}

// Cases that were made from one thing are one family: from a trace, or from one entry of a file.
func TestOrigins(t *testing.T) {
	t.Parallel()
	ask := func(id, text, entry string, fields map[string]string) *callvet.Case {
		return &callvet.Case{
			ID: id, Fields: fields, Foreign: json.RawMessage(entry),
			Input: []callvet.Turn{{Role: callvet.RoleUser, Content: text}},
		}
	}
	cases := []*callvet.Case{
		ask("a", "book a train", "", map[string]string{"trace_id": "t1"}),
		ask("b", "where is my parcel", "", map[string]string{"trace_id": "t1"}),
		ask("c", "cancel the order", "", map[string]string{"trace_id": "t2"}),
		ask("d", "You are kind. hello there", `{"q": 1}`, nil), ask("e", "You are strict. good morning", `{"q": 1}`, nil),
	}
	var got []string
	for _, m := range Families(slices.Values(cases), Origins) {
		got = append(got, m.Family)
	}
	if want := []string{"a", "a", "c", "d", "d"}; !slices.Equal(got, want) {
		t.Errorf("families %v, want %v", got, want)
	}
}

// Cases of families that the suite names may ask alike: each keeps its side.
func TestSplitNamedFamilies(t *testing.T) {
	t.Parallel()
	var members []Member
	for i := range 40 {
		name := fmt.Sprintf("f%d", i)
		members = append(members, Member{&callvet.Case{ID: name, Family: name}, name, "find it: ▯"})
	}
	first := Split(members, DefaultShare, nil, "s")
	again := Split(members, DefaultShare, first.Cases, "s")
	if first.HoldoutFamilies != 20 || !slices.Equal(first.Cases, again.Cases) || len(again.Moved) > 0 {
		t.Errorf("%d held out, then %d, moved %v", first.HoldoutFamilies, again.HoldoutFamilies, again.Moved)
	}
}

// New cases that come one by one are divided, too, and not all put on one side.
func TestSplitGrows(t *testing.T) {
	t.Parallel()
	var h *Halves
	var before []Assigned
	cases := suiteOf(rand.New(rand.NewPCG(3, 3)), 0, 40)
	for n := 1; n <= len(cases); n++ {
		h = Split(Families(slices.Values(cases[:n]), nil), DefaultShare, before, "suite")
		before = append(before, h.Cases...)
	}
	if h.HoldoutFamilies < 14 || h.HoldoutFamilies > 26 {
		t.Errorf("%d of 40 families held out", h.HoldoutFamilies)
	}
}

// Families that the suite names keep their sides, also where they ask alike.
func TestSplitNamedAlike(t *testing.T) {
	t.Parallel()
	var cases []*callvet.Case
	for i := range 60 {
		cases = append(cases, of(fmt.Sprint("f", i), asks(fmt.Sprint("c", i), fmt.Sprintf("Add %d", i), "")))
	}
	first := Split(Families(slices.Values(cases), nil), DefaultShare, nil, "suite")
	for i, c := range cases {
		renamed := *c
		renamed.ID = "new-" + c.ID
		cases[i] = &renamed
	}
	again := Split(Families(slices.Values(cases), nil), DefaultShare, first.Cases, "suite")
	for i := range first.Cases {
		if first.Cases[i].Side != again.Cases[i].Side {
			t.Fatalf("%s is %s, and was %s", again.Cases[i].Case, again.Cases[i].Side, first.Cases[i].Side)
		}
	}
	if first.HoldoutFamilies < 29 || first.HoldoutFamilies > 31 || len(again.Moved) > 0 {
		t.Errorf("%d held out, %v moved", first.HoldoutFamilies, again.Moved)
	}
}
