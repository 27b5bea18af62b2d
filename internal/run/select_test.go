// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{Cases: []callvet.Case{
		{ID: "air/oslo-1", Tags: []string{"smoke", "es-AR"}, Fields: map[string]string{"category": "flights"}},
		{ID: "air/oslo-2", Tier: callvet.TierGolden},
		{ID: "smoke", Fields: map[string]string{"category": "hotels"}},
		{ID: "a=b"},
	}}
	for _, tt := range []struct {
		filters string
		want    []int
	}{
		{"", []int{0, 1, 2, 3}},
		{"air/*", []int{0, 1}},
		{"smoke", []int{0, 2}},
		{"tag:smoke", []int{0}},
		{"id:SMOKE", []int{2}},
		{"!smoke", []int{1, 3}},
		{"tier:golden,category=hotels", []int{1, 2}},
		{"air/*;!tag:es-*", []int{1}},
		{"category=f?ights", []int{0}},
		{"a=b", []int{3}},
		{"*-2", []int{1}},
	} {
		sel := run.Selection{}
		if tt.filters != "" {
			sel.Filters = strings.Split(tt.filters, ";")
		}
		got, err := run.SelectFrom(run.Cases(s), sel)
		if d := cmp.Diff(tt.want, got); d != "" || err != nil {
			t.Errorf("%q: %v %s", tt.filters, err, d)
		}
	}
	for _, bad := range []run.Selection{
		{Filters: []string{"none-such"}},
		{Filters: []string{"!"}},
		{Only: map[string]bool{}},
	} {
		if got, err := run.SelectFrom(run.Cases(s), bad); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%+v chose %v, %v", bad, got, err)
		}
	}
	if got, err := run.SelectFrom(run.Cases(s), run.Selection{Only: map[string]bool{"smoke": true}}); err != nil ||
		!slices.Equal(got, []int{2}) {
		t.Errorf("only: %v, %v", got, err)
	}
}

func TestSampleIsRepeatable(t *testing.T) {
	t.Parallel()
	s := suite(1000)
	a, errA := run.SelectFrom(run.Cases(s), run.Selection{Sample: 50, Seed: 7})
	b, errB := run.SelectFrom(run.Cases(s), run.Selection{Sample: 50, Seed: 7})
	c, errC := run.SelectFrom(run.Cases(s), run.Selection{Sample: 50, Seed: 8})
	if err := errors.Join(errA, errB, errC); err != nil {
		t.Fatal(err)
	}
	if len(a) != 50 || !slices.IsSorted(a) || !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("samples %v, %v, %v", a, b, c)
	}
}
