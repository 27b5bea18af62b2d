// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
)

// OpenRoutes reads the router: rules, learned routes, callvet's own rules, or none. It also returns
// the possible routes.
func OpenRoutes(file string, files Files) (decide retrieve.Router, named []string, err error) {
	var set retrieve.RouteSettings
	switch file {
	case "none":
		return nil, nil, nil
	case "":
		set, err = retrieve.DefaultRules()
	default:
		b, rerr := files.Read(file, MaxFileBytes)
		if rerr != nil {
			return nil, nil, fmt.Errorf("read routes: %w", rerr)
		}
		if retrieve.IsLearned(b) {
			learned, err := retrieve.ReadLearnedRoutes(file, b)
			if err != nil {
				return nil, nil, err
			}
			return learned, learned.Routes(), nil
		}
		if set, err = retrieve.ReadRouteSettings(file, b); err != nil {
			return nil, nil, err
		}
	}
	if err != nil {
		return nil, nil, err
	}
	rules, err := retrieve.NewRules(set)
	if err != nil {
		return nil, nil, fmt.Errorf("read routes %s: %w", file, err)
	}
	for i := range set.Rules {
		if r := set.Rules[i].Route; !slices.Contains(named, r) {
			named = append(named, r)
		}
	}
	if set.Default != "" && !slices.Contains(named, set.Default) {
		named = append(named, set.Default)
	}
	return rules, named, nil
}

// ReadRouteExamples reads questions with their routes: a list, or one a line, of objects with query
// (or text), route and sub_route; a route of null or "" is none. Or it reads a catalog: its example
// questions have the routes of their tools. The error wraps callvet.ErrInvalid and names file and
// example.
func ReadRouteExamples(name string, data []byte) ([]retrieve.RouteExample, error) {
	plainText, err := PlainText(name, data)
	if err != nil {
		return nil, fmt.Errorf("read examples: %w", err)
	}
	text := plainText.JSON
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return ofCatalogue(name, text)
	}
	var out []retrieve.RouteExample
	for i, raw := range list {
		var e struct {
			Query, Text string
			Route       *json.RawMessage
			SubRoute    string `json:"sub_route"`
		}
		err := json.Unmarshal(raw, &e)
		one := retrieve.RouteExample{Text: strings.TrimSpace(cmp.Or(e.Query, e.Text)), SubRoute: e.SubRoute}
		if err == nil && e.Route != nil {
			err = json.Unmarshal(*e.Route, &one.Route)
		}
		var members map[string]json.RawMessage
		_ = json.Unmarshal(raw, &members) // the error was reported above
		if _, given := members["route"]; err != nil || one.Text == "" || !given || one.Route == "" &&
			one.SubRoute != "" {
			return nil, &callvet.Hinted{
				Err: fmt.Errorf("read examples %s: %w: example %d is none: %s", name, callvet.ErrInvalid, i+1,
					plain.Limited(plain.Line(string(raw)), 120)),
				Hint: `write {"query": "When do trains leave?", "route": "action", "sub_route": "travel"}, or "route": null for a question that belongs to none`,
			}
		}
		out = append(out, one)
	}
	return out, nil
}

func ofCatalogue(name string, text []byte) ([]retrieve.RouteExample, error) {
	c, err := ParseFile(name, text)
	if err != nil {
		return nil, err
	}
	out := c.RouteExamples()
	if len(out) == 0 {
		return nil, &callvet.Hinted{Err: fmt.Errorf("read examples %s: %w: no tool has example questions and a route",
			name, callvet.ErrInvalid), Hint: "example_queries and route of its tools, or a list of questions"}
	}
	return out, nil
}
