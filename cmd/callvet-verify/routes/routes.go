// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package routes measures how often the rules and the learned routes of
// retrieve/route are right, and how often they rightly give none.
package routes

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/callvet/callvet/retrieve/catalogue"
	"github.com/callvet/callvet/retrieve/route"
	"github.com/callvet/callvet/stats"
)

const confidence = 0.95

// The bars: the share of routes that must be right, at least.
const (
	barRules   = 0.90 // the rules on the shipped suite
	barLearned = 0.88 // learned routes on questions in scope that were not learned
	barRefused = 0.75 // questions out of scope that get no route
)

// Verify prints the accuracies with their intervals; suite and catalogue are the
// shipped example files, data is the folder of test data. It is false when one is
// under its bar.
func Verify(out io.Writer, suite, catalogue, data string) (bool, error) {
	settings, err := route.Default()
	if err != nil {
		return false, err
	}
	rules, err := route.NewRules(settings)
	if err != nil {
		return false, err
	}
	shipped, err := readSuite(suite)
	if err != nil {
		return false, err
	}
	examples, err := readCatalogue(catalogue)
	if err != nil {
		return false, err
	}
	ok := measure(out, "rules, shipped suite (same author)", rules.Route, shipped) >= barRules
	measure(out, "rules, example questions of the catalogue", rules.Route, examples)
	taught, err := route.Learn(examples, route.LearnOptions{})
	if err != nil {
		return false, err
	}
	measure(out, "learned from those example questions, shipped suite", taught.Route, shipped)
	foreign, err := readSuite(filepath.Join(data, "origins", "seed2", "full_pipeline_eval_v1.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintln(out, "the suite of the Tool Selection Evaluation System is not there: skipped")
	case err != nil:
		return false, err
	default:
		measure(out, "rules, the system's own suite (its patterns: 20/80, 12/71)", rules.Route, foreign)
	}
	learned, err := clinc(out, filepath.Join(data, "sets", "clinc150", "open"))
	return ok && learned, err
}

// measure prints how often route and sub-route are right and gives the first share.
// Questions without an expected route belong to none, where refusal is asked for.
func measure(out io.Writer, name string, decide func(string) route.Decision, questions []route.Example) float64 {
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
	fmt.Fprintf(out, "%s\n  right route        %s\n  right sub-route    %s\n  no route given     %s\n", name, rate(right, n), rate(rightSubs, subs), rate(n-given, n))
	if given < n && subs > 0 {
		fmt.Fprintf(out, "  right of the given %s\n", rate(right, given))
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
func readSuite(path string) ([]route.Example, error) {
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
	var out []route.Example
	for _, c := range s.Categories {
		for _, k := range c.Cases {
			if k.Route != "" {
				out = append(out, route.Example{Text: k.Query, Route: k.Route, SubRoute: k.SubRoute})
			}
		}
	}
	return out, nil
}

func readCatalogue(path string) ([]route.Example, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	c, _, err := catalogue.Load(path, data)
	if err != nil {
		return nil, err
	}
	return c.RouteExamples(), nil
}

// clinc learns the ten domains of CLINC150 as routes, with its intents as sub-routes,
// from the training part only, and measures on the validation part.
func clinc(out io.Writer, dir string) (bool, error) {
	var train, val, outside []route.Example
	for _, part := range []struct {
		name string
		list *[]route.Example
	}{{"train", &train}, {"oos_train", &train}, {"val", &val}, {"oos_val", &outside}} {
		rows, err := readRows(filepath.Join(dir, part.name+".jsonl.gz"))
		if err != nil {
			return false, err
		}
		*part.list = append(*part.list, rows...)
	}
	l, err := route.Learn(train, route.LearnOptions{})
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "learned from %d questions, threshold %.3f\n", len(train), l.Threshold())
	in := measure(out, "learned, CLINC150 validation, in scope", l.Route, val)
	none := measure(out, "learned, CLINC150 validation, out of scope (right: no route)", l.Route, outside)
	always, err := route.Learn(slices.DeleteFunc(train, func(e route.Example) bool { return e.Route == "" }), route.LearnOptions{})
	if err != nil {
		return false, err
	}
	measure(out, "learned without questions out of scope, which refuses nothing, in scope", always.Route, val)
	return in >= barLearned && none >= barRefused, nil
}

// maxLine is the longest line of a set.
const maxLine = 64 << 20

func readRows(path string) ([]route.Example, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read set: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("read set %s: %w", path, err)
	}
	var out []route.Example
	s := bufio.NewScanner(z)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		var row struct {
			Query, Route string
			SubRoute     string `json:"sub_route"`
		}
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("read set %s: %w", path, err)
		}
		if row.Route == "oos" {
			row.Route, row.SubRoute = "", ""
		}
		out = append(out, route.Example{Text: row.Query, Route: row.Route, SubRoute: row.SubRoute})
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("read set %s: %w", path, err)
	}
	return out, nil
}
