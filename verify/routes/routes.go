// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package routes measures how often the rules and the learned routes of retrieve are right, and how often
// they rightly return no route.
package routes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/clinc"
	"github.com/callvet/callvet/verify/proof"
)

const confidence = 0.95

// The limits: the least share of routes that must be right.
const (
	barRules   = 0.90 // the rules on the shipped suite
	barLearned = 0.88 // learned routes on questions in scope that were not learned
	barRefused = 0.75 // questions out of scope that get no route
)

// bars names the comparisons with the limits.
const bars = "bars"

// Verify prints the accuracies with their intervals and compares them with their limits, if any; example
// is the folder of the shipped suite and its catalogue.
func Verify(c *proof.Check, example string, d proof.Data) error {
	settings, err := retrieve.DefaultRules()
	if err != nil {
		return err
	}
	rules, err := retrieve.NewRules(settings)
	if err != nil {
		return err
	}
	shipped, err := readSuite(filepath.Join(example, "suite.json"))
	if err != nil {
		return err
	}
	examples, err := readCatalogue(filepath.Join(example, "catalogue.json"))
	if err != nil {
		return err
	}
	least(c, "rules, shipped suite (same author)", barRules, rules.Route, shipped)
	measure(c, "rules, example questions of the catalogue", rules.Route, examples)
	taught, err := retrieve.LearnRoutes(examples, retrieve.LearnOptions{})
	if err != nil {
		return err
	}
	measure(c, "learned from those example questions, shipped suite", taught.Route, shipped)
	foreign, err := readSuite(filepath.Join(d.Root, "origins", "seed2", "full_pipeline_eval_v1.json"))
	if err != nil {
		return err
	}
	measure(c, "rules, the own suite of the Tool Selection Evaluation System", rules.Route, foreign)
	return learned(c, d)
}

// least measures a share that has a limit.
func least(c *proof.Check, name string, bar float64, decide func(string) retrieve.RouteDecision,
	questions []retrieve.RouteExample,
) {
	c.Due(bars, 1, "the bars of the check")
	share := measure(c, name, decide, questions)
	c.Compare(bars, name, share >= bar, "%.4f of %d, at least %.2f", share, len(questions), bar)
}

// measure prints how often route and sub-route are right and returns the first share. For questions
// without an expected route a refusal is right.
func measure(c *proof.Check, name string, decide func(string) retrieve.RouteDecision,
	questions []retrieve.RouteExample,
) float64 {
	n, right, given, subs, rightSubs := 0, 0, 0, 0, 0
	for _, q := range questions {
		d := decide(q.Text)
		n++
		if d.Route == q.Route {
			right++
		}
		if d.Route != "" {
			given++
		}
		if q.SubRoute != "" {
			subs++
			if d.Route == q.Route && d.SubRoute == q.SubRoute {
				rightSubs++
			}
		}
	}
	c.Printf("%s\n  right route        %s\n  right sub-route    %s\n  no route given     %s\n", name, rate(right, n),
		rate(rightSubs, subs), rate(n-given, n))
	if given < n && subs > 0 {
		c.Printf("  right of the given %s\n", rate(right, given))
	}
	return float64(right) / float64(max(n, 1))
}

func rate(x, n int) string {
	if n == 0 {
		return "    not asked"
	}
	iv := stats.Wilson(x, n, confidence, stats.TwoSided)
	return fmt.Sprintf("%5d/%-5d %6.2f%% [%.2f, %.2f]", x, n, 100*float64(x)/float64(n), 100*iv.Lower, 100*iv.Upper)
}

// readSuite reads the questions of a selection suite that expect a route.
func readSuite(path string) ([]retrieve.RouteExample, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read suite: %w", err)
	}
	var s struct {
		Categories []struct {
			Cases []struct {
				Query    string
				Route    string `json:"expected_route"`
				SubRoute string `json:"expected_sub_route"`
			} `json:"test_cases"`
		}
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("read suite %s: %w", path, err)
	}
	var out []retrieve.RouteExample
	for _, c := range s.Categories {
		for _, k := range c.Cases {
			if k.Route != "" {
				out = append(out, retrieve.RouteExample{Text: k.Query, Route: k.Route, SubRoute: k.SubRoute})
			}
		}
	}
	return out, nil
}

func readCatalogue(path string) ([]retrieve.RouteExample, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	c, _, err := retrieve.LoadCatalogue(path, data)
	if err != nil {
		return nil, err
	}
	return c.RouteExamples(), nil
}

// learned learns the domains of CLINC150 as routes, with its intents as sub-routes, from the questions for
// learning, and measures on the others.
func learned(c *proof.Check, d proof.Data) error {
	rows, err := clinc.Read(c, d)
	if err != nil {
		return err
	}
	in, outside := clinc.Split(rows.Measure)
	l, err := retrieve.LearnRoutes(examplesOf(rows.Learn), retrieve.LearnOptions{})
	if err != nil {
		return err
	}
	c.Printf("learned from %d questions, threshold %.3f\n", len(rows.Learn), l.Threshold())
	least(c, "learned, CLINC150 held out, in scope", barLearned, l.Route, examplesOf(in))
	least(c, "learned, CLINC150 held out, out of scope (right: no route)", barRefused, l.Route, examplesOf(outside))
	only, _ := clinc.Split(rows.Learn)
	always, err := retrieve.LearnRoutes(examplesOf(only), retrieve.LearnOptions{})
	if err != nil {
		return err
	}
	measure(c, "learned without questions out of scope, which refuses nothing, in scope", always.Route, examplesOf(in))
	return nil
}

func examplesOf(rows []clinc.Row) []retrieve.RouteExample {
	out := make([]retrieve.RouteExample, len(rows))
	for i, r := range rows {
		out[i] = retrieve.RouteExample{Text: r.Query, Route: r.Route, SubRoute: r.SubRoute}
	}
	return out
}
