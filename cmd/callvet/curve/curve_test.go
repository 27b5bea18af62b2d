// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package curve

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// What Mark writes Read reads, and a case that lacks any of it is none of a curve.
func TestAsked(t *testing.T) {
	t.Parallel()
	plan := []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"b"}}}}}
	for _, want := range []Asked{
		{Of: "1", Given: Retrieved, Size: 10, Draw: 2, Searched: 11, Bytes: 300, Tools: 2, Present: true},
		{Of: "a/b", Given: All, Size: -1, Draw: 1, Searched: 80, Bytes: 9000, Tools: 1},
	} {
		c := callvet.Case{ID: want.ID(), Fields: map[string]string{"kept": "x"}, Expect: callvet.Expect{Plans: plan}, ToolNames: []string{"x"}}
		if want.Present {
			c.ToolNames, c.Tools = nil, []callvet.Tool{{Name: "x"}, {Name: "B"}}
		}
		want.Mark(c.Fields)
		if got, err := Read(&c); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v\n%s", err, cmp.Diff(want, got))
		}
		for field, v := range c.Fields {
			delete(c.Fields, field)
			if _, err := Read(&c); errors.Is(err, callvet.ErrInvalid) == (field == "kept") {
				t.Errorf("without %s: %v", field, err)
			}
			c.Fields[field] = v
		}
	}
	if a, b := (&Asked{Of: "1", Size: -1, Draw: 1, Given: All}).ID(), "1/all/1/all"; a != b {
		t.Errorf("%s, want %s", a, b)
	}
}

// The slope is that within cases: how long the questions are does not count, and prompts
// that do not grow tell nothing.
func TestPerByte(t *testing.T) {
	t.Parallel()
	s := slope{}
	for _, p := range [][3]float64{{0, 100, 50}, {0, 300, 110}, {1, 100, 5050}, {1, 500, 5170}} {
		s.add(string(rune('a'+int(p[0]))), p[1], p[2])
	}
	if v, ok := s.perByte(); !ok || math.Abs(v-0.3) > 1e-9 {
		t.Errorf("%v %v", v, ok)
	}
	for name, s := range map[string]slope{"none": {}, "one size": {"a": {{100, 30}, {100, 40}}}, "shrinking": {"a": {{100, 40}, {200, 30}}}} {
		if v, ok := s.perByte(); ok || v != assumedPerByte {
			t.Errorf("%s: %v %v", name, v, ok)
		}
	}
}

// Three cases that all change are few, not certain; attempts that one side lacks do
// not count.
func TestChangeOfFew(t *testing.T) {
	t.Parallel()
	before, after := attempts{}, attempts{}
	for _, of := range []string{"a", "b", "c"} {
		before.add(of, 1, 0, true)
		after.add(of, 1, 0, false)
		after.add(of, 1, 1, true)
	}
	before.add("d", 1, 0, true)
	iv, p := after.change(before)
	if iv.Point != -1 || iv.Upper < -0.9 || math.Abs(p-0.125) > 1e-12 {
		t.Errorf("%+v, p %v", iv, p)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	c := Curve{Run: "r\x1b[31m", Status: "interrupted", Skipped: []int{-1}, Models: []ModelCurve{{Model: "m", TokensPerByte: 0.25, Points: []CurvePoint{{Given: All, Distractors: -1, Hits: 1, Wrong: 1}}}}}
	if err := c.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not all attempts were made (interrupted)", "1 of 2", "are estimated", "With distractors all "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("what a stranger wrote went through")
	}
}
