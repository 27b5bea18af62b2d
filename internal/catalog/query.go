// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/score"
)

// QueryAnswer is the answer to one question.
type QueryAnswer struct {
	Format   string           `json:"format"`
	Version  int              `json:"version"`
	Query    string           `json:"query"`
	Decision callvet.Decision `json:"decision"`
	// Route explains the route; nil if routes are not decided, or decided elsewhere.
	Route *RouteReason `json:"route_reason,omitempty"`
	// Matched are the words that the question shares with each returned tool.
	Matched []Matched `json:"matched,omitempty"`
	// Verdict and Scores compare the decision with the expectations, if any; Why has each expected
	// tool that is not first.
	Verdict callvet.Verdict          `json:"verdict,omitempty"`
	Reason  string                   `json:"reason,omitempty"`
	Scores  []callvet.Score          `json:"scores,omitempty"`
	Why     []panel.RoutingDiagnosis `json:"why,omitempty"`
	// Models are the models used for vectors and rankings.
	Models []callvet.ModelUse `json:"models,omitempty"`
}

// RouteReason is a rule by its number, from 1, the pattern of it that was found and in
// which words; or, for learned routes, the route's probability.
type RouteReason struct {
	Rule       int     `json:"rule,omitempty"`
	Pattern    string  `json:"pattern,omitempty"`
	Matched    string  `json:"matched,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	Text       string  `json:"text"`
}

// Matched is a tool with the words that it shares with the question.
type Matched struct {
	Tool     string        `json:"tool"`
	Words    []MatchedWord `json:"words"`
	Keywords []string      `json:"keywords,omitempty"`
	Examples []string      `json:"examples,omitempty"`
}

// MatchedWord is a word of the question and the fields of the tool that have it.
type MatchedWord struct {
	Word   string   `json:"word"`
	Fields []string `json:"fields"`
}

// QueryRequest is one question, with the expectations of the answer.
type QueryRequest struct {
	Text string `json:"text"`
	Search
	// Headers are those of a service; ${NAME} in their values is looked up.
	Headers   map[string]string `json:"headers,omitempty"`
	TimeoutMS int64             `json:"timeout_ms,omitempty"` // of a service; 0: 30 seconds
	// Expect, with Tools empty and not nil for none that fit; nil: the answer is not judged.
	Expect *callvet.Selection `json:"expect,omitempty"`
}

// Query sends one question to a catalog or a service. Errors are errors of files, settings,
// models and services.
func Query(ctx context.Context, e *Env, q QueryRequest) (*QueryAnswer, error) {
	if q.Tools == "" && q.Via == "" {
		return nil, NoCatalogue()
	}
	if _, err := e.Ready(ctx, &q.Search, ""); err != nil {
		return nil, err
	}
	a := &QueryAnswer{Format: "callvet.query", Version: 1, Query: q.Text}
	ask := search
	if q.Via != "" {
		ask = service
	}
	if err := ask(ctx, e, &q, a); err != nil {
		return nil, err
	}
	if q.Expect != nil {
		a.judge(q.Expect, q.Depth())
	}
	return a, nil
}

// search searches a catalog.
func search(ctx context.Context, e *Env, q *QueryRequest, a *QueryAnswer) error {
	r, _, err := e.Open(ctx, q.Tools, q.Settings)
	if err != nil {
		return err
	}
	d, err := r.Decide(ctx, q.Text)
	if err != nil {
		return err
	}
	a.Decision = *d
	p := r.Pipeline()
	if p.Routes != nil {
		a.Route = reasonOf(p.Routes.Route(q.Text))
	}
	for _, t := range d.Tools {
		m, err := p.Tools.Match(q.Text, t.Tool)
		if err != nil {
			return err
		}
		a.Matched = append(a.Matched, matchedOf(t.Tool, m))
	}
	if q.Expect != nil {
		for _, tool := range slices.Concat(q.Expect.Tools, q.Expect.Acceptable) {
			x, err := r.Explain(ctx, q.Text, tool)
			if err != nil {
				return &callvet.Hinted{Err: err, Hint: "an expected tool is named as the catalogue names it"}
			}
			if x.Lost() && slices.Contains(q.Expect.Tools, tool) {
				a.Why = append(a.Why, diagnosis(x))
			}
		}
	}
	if e.Models != nil {
		a.Models = e.Models.Used()
	}
	return nil
}

// service sends the question to a service.
func service(ctx context.Context, e *Env, q *QueryRequest, a *QueryAnswer) error {
	timeout := time.Duration(q.TimeoutMS) * time.Millisecond
	m, _, err := OpenRemote(RemoteConfig{
		URL: q.Via, Headers: q.Headers, Lookup: e.Lookup, K: q.Depth(),
		Timeout: cmp.Or(timeout, 30*time.Second), Now: e.Now, Client: e.HTTP,
	})
	if err != nil {
		return err
	}
	res, err := m.Generate(ctx, &callvet.Request{Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: q.Text}}})
	if err != nil {
		return err
	}
	a.Decision = *res.Decision
	return nil
}

func (a *QueryAnswer) judge(want *callvet.Selection, k int) {
	set := score.SelectionDefaults()
	set.K = Depths(k)
	res := score.JudgeSelection(want, &a.Decision, set)
	a.Verdict, a.Reason, a.Scores = res.Verdict, res.Reason, res.Scores
}

func reasonOf(d retrieve.RouteDecision) *RouteReason {
	return &RouteReason{
		Rule: d.Rule + 1, Pattern: d.Pattern, Matched: d.Matched, Confidence: d.Confidence,
		Text: whyRoute(d),
	}
}

func matchedOf(tool string, m retrieve.Match) Matched {
	out := Matched{Tool: tool, Words: []MatchedWord{}, Keywords: m.Keywords, Examples: m.Examples}
	for _, w := range m.Words {
		out.Words = append(out.Words, MatchedWord{w.Text, w.Fields})
	}
	return out
}
