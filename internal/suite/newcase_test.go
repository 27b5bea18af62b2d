// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite_test

import (
	"errors"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
)

func TestNextID(t *testing.T) {
	t.Parallel()
	ids := func(list ...string) (out []callvet.Case) {
		for _, id := range list {
			out = append(out, callvet.Case{ID: id})
		}
		return out
	}
	for _, c := range []struct {
		tool  string
		cases []callvet.Case
		lock  suite.Lock
		want  string
	}{
		{"get_weather", nil, suite.Lock{}, "rg-get-weather-001"},
		{"get_weather", ids("rg-get-weather-002", "rg-get-time-009"), suite.Lock{}, "rg-get-weather-003"},
		// archived, and gone
		{
			"get_weather", ids("rg-get-weather-002"),
			suite.Lock{Cases: []suite.LockedCase{{ID: "rg-get-weather-004"}}},
			"rg-get-weather-005",
		},
		{
			"get_weather", ids("rg-get-weather-999", "rg-get-weather-x", "rg-get-weather-99999999999999999999"),
			suite.Lock{},
			"rg-get-weather-1000",
		},
		{"Shop.getOrder v2", nil, suite.Lock{}, "rg-shop-getorder-v2-001"},
		{"天気", nil, suite.Lock{}, "rg-tool-001"},
	} {
		if got := suite.NextID(callvet.TierRegression, c.tool, c.cases, &c.lock); got != c.want {
			t.Errorf("%s: %s, want %s", c.tool, got, c.want)
		}
	}
}

func TestReadCases(t *testing.T) {
	t.Parallel()
	if cases, err := suite.ReadCases("f.json", []byte(" \n"), nil); err != nil || len(cases) != 0 {
		t.Errorf("a blank file: %v, %v", cases, err)
	}
	one := `[{"id": "rg-a-001", "description": "d", "difficulty": "regression", "createdAt": "2026-03-01", "bugRef": "#1", "input": {"message": "m"}, "expect": {"toolsCalled": ["a"]}}]`
	cases, err := suite.ReadCases("f.json", []byte(one), nil)
	if err != nil || len(cases) != 1 || cases[0].Question() != "m" || cases[0].Tier != callvet.TierRegression {
		t.Errorf("%v, %v", cases, err)
	}
	for _, bad := range []string{
		"[",
		`[{"id": "rg-a-001", "input": {"message": ""}, "expect": {"toolsCalled": ["a"]}}]`,
	} {
		if _, err := suite.ReadCases("f.json", []byte(bad), nil); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
