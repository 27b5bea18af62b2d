// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// RouteRule sends questions that match one of its patterns to a route.
type RouteRule struct {
	Route string `json:"route"`
	// SubRoute is the route within the route; empty: a later rule of the route
	// decides, or the default.
	SubRoute string `json:"sub_route,omitempty"`
	// Patterns are tried in their order; see Compile.
	Patterns []string `json:"patterns"`
	// MaxRunes limits the rule to questions up to this length; 0 for no limit.
	MaxRunes int `json:"max_runes,omitempty"`
}

// RouteSettings are rules with the defaults when none applies.
type RouteSettings struct {
	// Rules are tried in their order: the first that applies decides.
	Rules []RouteRule `json:"rules"`
	// Default is the route of questions without a rule; empty: none.
	Default string `json:"default,omitempty"`
	// SubRoutes are the default sub-routes by route.
	SubRoutes map[string]string `json:"sub_routes,omitempty"`
}

// RouteDecision is a route with its reason.
type RouteDecision struct {
	// Route is empty when the question belongs to none.
	Route, SubRoute string
	// Rule is the position of the rule that decided, -1 when none did. Pattern is its matching
	// pattern, and Matched the matched words of the question.
	Rule             int
	Pattern, Matched string
	// Confidence is the probability of the route in [0,1], of the learned routes only.
	Confidence float64
}

// RouteRules are ready to decide. Safe for concurrent use.
type RouteRules struct {
	settings RouteSettings
	patterns [][]*RoutePattern // of each rule
}

const (
	maxRules = 10_000
	// maxQuestion is how much of a question is used, in bytes.
	maxQuestion = 16 << 10
)

// NewRules compiles settings. Errors wrap callvet.ErrInvalid and name the rule: no
// route, no patterns, one that does not compile; neither rules nor a default.
func NewRules(s RouteSettings) (*RouteRules, error) {
	if len(s.Rules) > maxRules {
		return nil, fmt.Errorf("compile rules: %w: more than %d", callvet.ErrInvalid, maxRules)
	}
	if len(s.Rules) == 0 && s.Default == "" {
		return nil, fmt.Errorf("compile rules: %w: there is neither a rule nor a default", callvet.ErrInvalid)
	}
	r := &RouteRules{settings: s, patterns: make([][]*RoutePattern, len(s.Rules))}
	for i, rule := range s.Rules {
		if rule.Route == "" || len(rule.Patterns) == 0 || rule.MaxRunes < 0 {
			return nil, fmt.Errorf("compile rule %d: %w: it needs a route and patterns", i+1, callvet.ErrInvalid)
		}
		for _, source := range rule.Patterns {
			p, err := CompileRoutePattern(source)
			if err != nil {
				return nil, fmt.Errorf("compile rule %d: %w", i+1, err)
			}
			r.patterns[i] = append(r.patterns[i], p)
		}
	}
	return r, nil
}

//go:embed rules.json
var defaults string

// DefaultRules returns callvet's rules for Swedish and English.
func DefaultRules() (RouteSettings, error) { return ReadRouteSettings("rules.json", []byte(defaults)) }

// ReadRouteSettings reads rules from the JSON of the file name. Errors wrap
// callvet.ErrInvalid; unknown keys are errors.
func ReadRouteSettings(name string, data []byte) (RouteSettings, error) {
	var s RouteSettings
	if err := doc.DecodeJSON(name, data, &s); err != nil {
		return RouteSettings{}, fmt.Errorf("read rules: %w: %w", callvet.ErrInvalid, err)
	}
	return s, nil
}

// Route decides where a question belongs. An empty question is small talk when there
// is a rule for it, as any other.
func (r *RouteRules) Route(question string) RouteDecision {
	question = cut(question)
	d := RouteDecision{Rule: -1}
	text := newSubject(question)
	runes, m := len(text.runes)-1, &machine{}
	for i, rule := range r.settings.Rules {
		if rule.MaxRunes > 0 && runes > rule.MaxRunes || d.Rule >= 0 && (rule.Route != d.Route || rule.SubRoute == "") {
			continue
		}
		p, start, end := r.find(i, text, m)
		if p == nil {
			continue
		}
		if d.Rule < 0 {
			d.Route, d.Rule, d.Pattern, d.Matched = rule.Route, i, p.String(), question[start:end]
		}
		if d.SubRoute = rule.SubRoute; d.SubRoute != "" {
			return d
		}
	}
	if d.Rule < 0 {
		d.Route = r.settings.Default
	}
	d.SubRoute = r.settings.SubRoutes[d.Route]
	return d
}

// Labels are the possible routes with sub-routes of questions; a route that is possible without a
// sub-route is also listed alone.
func (r *RouteRules) Labels() []RouteExample {
	s := &r.settings
	out := make([]RouteExample, 0, len(s.Rules)+1)
	for _, rule := range s.Rules {
		out = append(out, RouteExample{Route: rule.Route, SubRoute: cmp.Or(rule.SubRoute, s.SubRoutes[rule.Route])})
	}
	if s.Default != "" {
		out = append(out, RouteExample{Route: s.Default, SubRoute: s.SubRoutes[s.Default]})
	}
	return labelsOf(out)
}

// Applying returns every rule that matches a question, in order: Route follows the first, which
// hides the others. The sub-routes are the rules' own ones.
func (r *RouteRules) Applying(question string) []RouteDecision {
	question = cut(question)
	text := newSubject(question)
	m := &machine{}
	var out []RouteDecision
	for i, rule := range r.settings.Rules {
		if rule.MaxRunes > 0 && len(text.runes)-1 > rule.MaxRunes {
			continue
		}
		if p, start, end := r.find(i, text, m); p != nil {
			out = append(out, RouteDecision{
				Route: rule.Route, SubRoute: rule.SubRoute, Rule: i, Pattern: p.String(),
				Matched: question[start:end],
			})
		}
	}
	return out
}

// cut is the part of a question that is used.
func cut(question string) string {
	if len(question) > maxQuestion {
		question = strings.ToValidUTF8(question[:maxQuestion], "")
	}
	return norm.NFC.String(strings.TrimSpace(question))
}

func (r *RouteRules) find(rule int, text *subject, m *machine) (p *RoutePattern, start, end int) {
	for _, p := range r.patterns[rule] {
		if start, end, ok := p.find(text, m); ok {
			return p, start, end
		}
	}
	return nil, 0, 0
}
