// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bigtool

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet/retrieve"
)

// router routes as the system's own evaluation does: by its patterns in their order, and with the
// expected route where production would ask a model.
type router struct {
	greeting, url, action, statistics          []*retrieve.RoutePattern
	docs, external, web, media, travel, tables []*retrieve.RoutePattern
}

func readRouter(path string) (*router, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read patterns: %w", err)
	}
	var f struct {
		Dispatcher, Knowledge, Action map[string][]string
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fmt.Errorf("read patterns %s: %w", path, err)
	}
	for key, to := range map[string]*map[string][]string{
		"dispatcher": &f.Dispatcher, "knowledge_router": &f.Knowledge,
		"action_router": &f.Action,
	} {
		if err := json.Unmarshal(raw[key], to); err != nil {
			return nil, fmt.Errorf("read patterns %s: %s: %w", path, key, err)
		}
	}
	r := &router{}
	for _, p := range []struct {
		to   *[]*retrieve.RoutePattern
		from []string
	}{
		{&r.greeting, f.Dispatcher["_GREETING_REGEX"]},
		{&r.url, f.Dispatcher["_URL_REGEX"]},
		{&r.action, f.Dispatcher["_ACTION_PATTERNS"]},
		{&r.statistics, f.Dispatcher["_STATISTICS_PATTERNS"]},
		{&r.docs, f.Knowledge["_DOCS_PATTERNS"]},
		{&r.external, f.Knowledge["_EXTERNAL_PATTERNS"]},
		{&r.web, f.Action["_WEB_PATTERNS"]},
		{&r.media, f.Action["_MEDIA_PATTERNS"]},
		{&r.travel, f.Action["_TRAVEL_PATTERNS"]},
		{&r.tables, f.Action["_DATA_PATTERNS"]},
	} {
		if len(p.from) == 0 {
			return nil, fmt.Errorf("read patterns %s: a list of patterns is missing", path)
		}
		for _, source := range p.from {
			c, err := retrieve.CompileRoutePattern(source)
			if err != nil {
				return nil, err
			}
			*p.to = append(*p.to, c)
		}
	}
	return r, nil
}

func any(patterns []*retrieve.RoutePattern, text string) bool {
	for _, p := range patterns {
		if _, _, ok := p.Find(text); ok {
			return true
		}
	}
	return false
}

// Route returns route and sub-route.
func (r *router) Route(question string) (string, string) {
	q := strings.TrimSpace(question)
	switch {
	case q == "":
		return "smalltalk", ""
	case strings.HasPrefix(strings.ToLower(q), "/compare"):
		return "compare", ""
	case utf8.RuneCountInString(q) <= 20 && any(r.greeting, q):
		return "smalltalk", ""
	case any(r.url, q) || any(r.action, q):
		return "action", first(q, "web", named{"web", r.web}, named{"media", r.media}, named{"travel", r.travel},
			named{"data", r.tables})
	case any(r.statistics, q):
		return "statistics", ""
	}
	return "knowledge", first(q, "internal", named{"docs", r.docs}, named{"external", r.external})
}

type named struct {
	name     string
	patterns []*retrieve.RoutePattern
}

func first(q, otherwise string, list ...named) string {
	for _, n := range list {
		if any(n.patterns, q) {
			return n.name
		}
	}
	return otherwise
}
