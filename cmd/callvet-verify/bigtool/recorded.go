// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bigtool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/callvet/callvet"
)

// predictions are the routes that the system's own patterns gave, as the data records
// them: what is expected of callvet is read from it.
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

func readPredictions(data string) (*predictions, error) {
	path := filepath.Join(data, "sets", "oneseek_sv_suites", "open", "full_pipeline_eval_v1.route_predictions.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read predictions: %w", err)
	}
	var p predictions
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("read predictions %s: %w", path, err)
	}
	if len(p.Rows) == 0 || len(p.Rows) != p.N {
		return nil, fmt.Errorf("read predictions %s: %w: %d rows, %d told", path, errNothing, len(p.Rows), p.N)
	}
	return &p, nil
}

// right are the cases that the accuracies mean.
func (p *predictions) right() (route, sub int) {
	return int(p.Route*float64(p.N) + 0.5), int(p.Sub*float64(p.NSub) + 0.5)
}

// compare routes every question as the system does and holds each route and sub-route
// against the recorded one, and the confusion matrix.
func (p *predictions) compare(out io.Writer, s *callvet.Suite, decide func(string) (string, string)) bool {
	byID := map[string]string{}
	for i := range s.Cases {
		c := &s.Cases[i]
		byID[c.ID] = c.Input[len(c.Input)-1].Content
	}
	same, sameSub, confusion := 0, 0, map[string]int{}
	for _, r := range p.Rows {
		question, known := byID[r.ID]
		if !known {
			fmt.Fprintf(out, "  case %s of the recorded predictions is not in the suite\n", r.ID)
			continue
		}
		route, sub := decide(question)
		if route == r.Predicted {
			same++
		}
		if sub == deref(r.PredictedSubRoute) {
			sameSub++
		} else {
			fmt.Fprintf(out, "  %s: sub-route %q, recorded %q\n", r.ID, sub, deref(r.PredictedSubRoute))
		}
		confusion[r.Expected+"->"+route]++
	}
	pairs := 0
	for pair, n := range p.Confusion {
		if confusion[pair] == n {
			pairs++
		} else {
			fmt.Fprintf(out, "  confusion %s: %d, recorded %d\n", pair, confusion[pair], n)
		}
	}
	fmt.Fprintf(out, "  each prediction as recorded: route %d of %d, sub-route %d of %d, confusion %d of %d pairs\n", same, p.N, sameSub, p.N, pairs, len(p.Confusion))
	return same == p.N && sameSub == p.N && pairs == len(p.Confusion) && len(confusion) == pairs && pairs > 0
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
