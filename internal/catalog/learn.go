// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
)

// Lesson are the learned routes and how often they were right.
type Lesson struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Examples were learned; None of them belong to no route, and Repeated repeat an earlier
	// example with the same answer.
	Examples int      `json:"examples"`
	None     int      `json:"none"`
	Repeated int      `json:"repeated"`
	Routes   []string `json:"routes"`
	// Threshold is the probability under which a question belongs to no route.
	Threshold float64 `json:"threshold"`
	// Held is measured on every fifth example of each route, with routes that were learned
	// without them; Test on the questions of --test, with the final routes.
	Held TuningMeasured  `json:"held_out"`
	Test *TuningMeasured `json:"test,omitempty"`
	// File is the file of the routes; empty when they are not stored.
	File string `json:"file,omitempty"`
}

// TuningMeasured counts questions. Seen of those of a test were among the examples and are
// left out of all other counts.
type TuningMeasured struct {
	Questions int `json:"questions"`
	Seen      int `json:"seen,omitempty"`
	// Route counts the right routes of InScope, SubRoute those of WithSub. Refused counts the
	// questions of Outside that rightly get no route, Lost those of InScope that wrongly get none.
	InScope  int `json:"in_scope"`
	Route    int `json:"right_route"`
	Lost     int `json:"lost"`
	WithSub  int `json:"with_sub_route"`
	SubRoute int `json:"right_sub_route"`
	Outside  int `json:"outside"`
	Refused  int `json:"refused"`
}

// every fifth example of a route is held out.
const every = 5

// learnFrom learns routes from examples and measures them. Errors are those of retrieve.LearnRoutes,
// and examples that contradict one another.
func learnFrom(examples, test []retrieve.RouteExample,
	o retrieve.LearnOptions,
) (*retrieve.LearnedRoutes, *Lesson, error) {
	kept, repeated, err := distinctExamples(examples)
	if err != nil {
		return nil, nil, err
	}
	l := &Lesson{Format: "callvet.lesson", Version: 1, Examples: len(kept), Repeated: repeated}
	var fit, held []retrieve.RouteExample
	seen := map[retrieve.RouteExample]int{}
	for _, e := range kept {
		label := retrieve.RouteExample{Route: e.Route, SubRoute: e.SubRoute}
		if seen[label]++; seen[label]%every == 0 {
			held = append(held, e)
		} else {
			fit = append(fit, e)
		}
		if e.Route == "" {
			l.None++
		} else if !slices.Contains(l.Routes, e.Route) {
			l.Routes = append(l.Routes, e.Route)
		}
	}
	slices.Sort(l.Routes)
	part, err := retrieve.LearnRoutes(fit, o)
	if err != nil {
		return nil, nil, err
	}
	l.Held = measure(part, held)
	all, err := retrieve.LearnRoutes(kept, o)
	if err != nil {
		return nil, nil, err
	}
	l.Threshold = all.Threshold()
	if test != nil {
		m := measure(all, test)
		l.Test = &m
	}
	return all, l, nil
}

// distinctExamples leaves out examples that are there before with the same answer.
func distinctExamples(examples []retrieve.RouteExample) (kept []retrieve.RouteExample, repeated int, err error) {
	at := map[uint64]retrieve.RouteExample{}
	for _, e := range examples {
		first, twice := at[retrieve.QuestionMark(e.Text)]
		switch {
		case !twice:
			at[retrieve.QuestionMark(e.Text)] = e
			kept = append(kept, e)
		case first.Route != e.Route || first.SubRoute != e.SubRoute:
			return nil, 0, fmt.Errorf("learn routes: %w: %q belongs to %s and to %s", callvet.ErrInvalid, e.Text,
				nameOf(first), nameOf(e))
		default:
			repeated++
		}
	}
	return kept, repeated, nil
}

func nameOf(e retrieve.RouteExample) string {
	if e.Route == "" {
		return "no route"
	}
	return strings.TrimSuffix(e.Route+"/"+e.SubRoute, "/")
}

func measure(l *retrieve.LearnedRoutes, questions []retrieve.RouteExample) (m TuningMeasured) {
	for _, q := range questions {
		if l.Saw(q.Text) {
			m.Seen++
			continue
		}
		m.Questions++
		d := l.Route(q.Text)
		if q.Route == "" {
			m.Outside += 1
			m.Refused += is(d.Route == "")
			continue
		}
		m.InScope++
		m.Route += is(d.Route == q.Route)
		m.Lost += is(d.Route == "")
		if q.SubRoute != "" {
			m.WithSub++
			m.SubRoute += is(d.Route == q.Route && d.SubRoute == q.SubRoute)
		}
	}
	return m
}

func is(b bool) int {
	if b {
		return 1
	}
	return 0
}

// LearnRequest are the files and settings to learn routes from.
type LearnRequest struct {
	Examples string `json:"examples"`
	// Test are other questions to measure on.
	Test string `json:"test,omitempty"`
	// Refuse is the largest share of right routes that may be lost in order to refuse questions
	// without a route; 0: 0.05.
	Refuse float64 `json:"refuse,omitempty"`
	// Seed is the seed of the order of the examples.
	Seed   uint64 `json:"seed"`
	Output string `json:"output,omitempty"`
}

// Learn learns routes from examples and writes them to a file.
func Learn(ctx context.Context, e *Env, q LearnRequest) (*Lesson, error) {
	if q.Refuse = cmp.Or(q.Refuse, 0.05); !(q.Refuse > 0 && q.Refuse < 1) {
		return nil, Invalid("refuse", "", "learn routes: invalid: {refuse} is a share over 0 and under 1")
	}
	examples, err := examplesIn(e, q.Examples)
	if err != nil {
		return nil, err
	}
	var test []retrieve.RouteExample
	if q.Test != "" {
		if test, err = examplesIn(e, q.Test); err != nil {
			return nil, err
		}
	}
	if q.Output != "" {
		old, there, err := e.Old(q.Output)
		if err != nil {
			return nil, err
		}
		if there && !retrieve.IsLearned(old) {
			return nil, Conflict("write routes %s: conflict: there is a file that was not learned", q.Output)
		}
	}
	model, lesson, err := learnFrom(examples, test, retrieve.LearnOptions{Refuse: q.Refuse, Seed: q.Seed})
	if err != nil || q.Output == "" {
		return lesson, err
	}
	b, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	lesson.File = q.Output
	return lesson, e.Write(ctx, q.Output, plain.Visible(append(b, '\n')))
}

func examplesIn(e *Env, name string) ([]retrieve.RouteExample, error) {
	b, err := e.Read(name)
	if err != nil {
		return nil, fmt.Errorf("read examples: %w", err)
	}
	return ReadRouteExamples(name, b)
}
