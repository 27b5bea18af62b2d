// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
)

// labeled is a router that can list its possible routes.
type labeled interface {
	Labels() []retrieve.RouteExample
}

// ExpectedRoutes compares the routes, sub-routes and agents that cases expect with the possible
// ones: one warning for each impossible name, with the number of cases that cannot be right. A
// catalog without agents and a search without routes decide no such layer. file names the suite.
func ExpectedRoutes(file string, cases []callvet.Case, c *retrieve.Catalogue, by retrieve.Router) []callvet.Problem {
	x := expectation{file: file, at: map[string]int{}}
	l, routed := by.(labeled)
	var routes, subRoutes []string
	if routed {
		for _, e := range l.Labels() {
			if routes = append(routes, e.Route); e.SubRoute != "" {
				subRoutes = append(subRoutes, e.Route+"/"+e.SubRoute)
			}
		}
	}
	var agents []string
	for _, a := range c.Agents {
		agents = append(agents, a.Name)
	}
	for i := range cases {
		want := cases[i].Expect.Selection
		if want == nil {
			continue
		}
		switch sub := want.Route + "/" + want.SubRoute; {
		case !routed || want.Route == "":
		case !slices.Contains(routes, want.Route):
			x.add("unknown-route", "route", want.Route, "nothing leads to", routes)
		case want.SubRoute != "" && !slices.Contains(subRoutes, sub):
			x.add("unknown-sub-route", "sub-route", sub, "nothing leads to", subRoutes)
		}
		for _, a := range want.Agents {
			if len(agents) > 0 && !slices.Contains(agents, a) {
				x.add("unknown-agent", "agent", a, "the catalogue does not have", agents)
			}
		}
	}
	return x.out
}

type expectation struct {
	file string
	at   map[string]int // in out, by code and name
	n    []int
	out  []callvet.Problem
}

func (x *expectation) add(code, what, name, why string, known []string) {
	i, ok := x.at[code+name]
	if !ok {
		known = slices.Compact(slices.Sorted(slices.Values(known)))
		fix := "there are " + strings.Join(known[:min(len(known), 12)], ", ")
		if near := callvet.Nearest(name, known); near != "" {
			fix = fmt.Sprintf("did you mean %q?", near)
		}
		i = len(x.out)
		x.at[code+name], x.n = i, append(x.n, 0)
		x.out = append(x.out,
			callvet.Problem{Position: callvet.Position{File: x.file}, Code: code, Warning: true, Key: name, Fix: fix})
	}
	x.n[i]++
	x.out[i].Message = fmt.Sprintf("%s the %s %q, which %s", plain.Count(x.n[i], "case expects", "cases expect"),
		what, name, why)
}
