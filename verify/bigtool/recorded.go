// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bigtool

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/verify/proof"
)

// predictions are the recorded routes of the system's own patterns: callvet must return the same.
type predictions struct {
	Route     float64        `json:"route_accuracy"`
	Sub       float64        `json:"sub_route_accuracy"`
	N         int            `json:"n"`
	NSub      int            `json:"n_sub"`
	Confusion map[string]int `json:"confusion"`
	Rows      []struct {
		ID                string  `json:"id"`
		Expected          string  `json:"expected_route"`
		Predicted         string  `json:"predicted_route"`
		ExpectedSubRoute  *string `json:"expected_sub_route"`
		PredictedSubRoute *string `json:"predicted_sub_route"`
	} `json:"rows"`
}

var errNothing = errors.New("there is nothing to compare")

// readPredictions reads the recorded routes of the part. They belong to one suite, so that only one
// part has them.
func readPredictions(d proof.Data) (*predictions, error) {
	files, err := d.Anywhere(set, "*.route_predictions.json")
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("read predictions: %w: %d files, one is due", callvet.ErrInvalid, len(files))
	}
	path := files[0]
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read predictions: %w", err)
	}
	var p predictions
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("read predictions %s: %w", path, err)
	}
	if len(p.Rows) == 0 || len(p.Rows) != p.N {
		return nil, fmt.Errorf("read predictions %s: %w: %d rows, want %d", path, errNothing, len(p.Rows), p.N)
	}
	return &p, nil
}

// set is the set with the system's patterns and predictions.
const set = "oneseek_sv_suites"

// counts converts the accuracies to counts, by the names of the table.
func (p *predictions) counts() map[string]int {
	return map[string]int{
		"cases": p.N, "cases with a sub-route": p.NSub,
		"route right": int(p.Route*float64(p.N) + 0.5), "sub-route right": int(p.Sub*float64(p.NSub) + 0.5),
	}
}

// compare routes every question as the system does and compares each route and sub-route
// with the recorded one, and the confusion matrix.
func (p *predictions) compare(c *proof.Check, suite string, s *callvet.Suite, decide func(string) (string, string)) {
	byID := map[string]string{}
	for i := range s.Cases {
		k := &s.Cases[i]
		byID[k.ID] = k.Input[len(k.Input)-1].Content
	}
	rows, matrix := suite+" predictions", suite+" confusion"
	c.Due(rows, p.N, "the recorded predictions")
	c.Due(matrix, len(p.Confusion), "the recorded predictions")
	confusion := map[string]int{}
	for _, r := range p.Rows {
		question, known := byID[r.ID]
		if !known {
			c.Problem(fmt.Errorf("%s: %w: case %s of the recorded predictions is not in the suite", suite,
				callvet.ErrNotFound, r.ID))
			continue
		}
		route, sub := decide(question)
		c.Compare(rows, r.ID, route == r.Predicted && sub == deref(r.PredictedSubRoute), "route %q %q, recorded %q %q",
			route, sub, r.Predicted, deref(r.PredictedSubRoute))
		confusion[r.Expected+"->"+route]++
	}
	for pair := range confusion {
		if _, known := p.Confusion[pair]; !known {
			c.Compare(matrix, pair, false, "%d, none recorded", confusion[pair])
		}
	}
	for _, pair := range slices.Sorted(maps.Keys(p.Confusion)) {
		c.Compare(matrix, pair, confusion[pair] == p.Confusion[pair], "%d, recorded %d", confusion[pair],
			p.Confusion[pair])
	}
}

//go:embed recorded.json
var recordedFile []byte

// recorded are the measured counts of the system itself, by suite and name.
func recorded() (map[string]map[string]int, error) {
	var f struct{ Suites map[string]map[string]int }
	if err := json.Unmarshal(recordedFile, &f); err != nil {
		return nil, fmt.Errorf("read recorded.json: %w", err)
	}
	return f.Suites, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
