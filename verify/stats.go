// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/stats/conform"
	"github.com/callvet/callvet/value"
	"github.com/callvet/callvet/verify/proof"
)

// statistics runs every file of reference values through the method of its name. The page next to
// the files has the number of cases of each part.
func statistics(_ context.Context, c *proof.Check, p place) error {
	part := orElse(p.part, proof.DefaultPart)
	page, err := proof.ReadReadme(p.vectors)
	if err != nil {
		return fmt.Errorf("%w; set CALLVET_VECTORS to the folder of the reference values", err)
	}
	due, err := page.Table(part)
	if err != nil {
		return err
	}
	for file, n := range due {
		c.Due(file, n, page.Source())
	}
	files, err := filepath.Glob(filepath.Join(p.vectors, "*.json"))
	if err != nil {
		return fmt.Errorf("list reference values: %w", err)
	}
	methods := conform.Methods()
	methods["argument_fidelity"] = conform.Method{Run: argumentFidelity}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		m, ok := methods[name]
		if !ok {
			c.Problem(fmt.Errorf("check %s: %w: callvet has no such method", filepath.Base(path), callvet.ErrNotFound))
			continue
		}
		c.Problem(vectorFile(c, path, part, name, m))
	}
	return nil
}

func vectorFile(c *proof.Check, path, part, name string, m conform.Method) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read reference values: %w", err)
	}
	r, err := conform.Check(name, part, data, m)
	if err != nil {
		return err
	}
	wrong := map[string]string{}
	for _, p := range r.Problems {
		wrong[p.Case] += p.Detail + "; "
	}
	for _, id := range r.Cases {
		c.Compare(filepath.Base(path), id, wrong[id] == "", "%s", strings.TrimSuffix(wrong[id], "; "))
	}
	if r.Compared < len(r.Cases) {
		c.Problem(fmt.Errorf("check %s: %w: %d values in %d cases", filepath.Base(path), callvet.ErrInvalid, r.Compared,
			len(r.Cases)))
	}
	c.Printf("%-34s %3d cases %5d values  max error %-8.2g tolerance %.2g\n", name, len(r.Cases), r.Compared,
		r.MaxError, r.Tolerance)
	return nil
}

// argumentFidelity compares the arguments of one call by the matcher that scores calls.
func argumentFidelity(input json.RawMessage) conform.Fields {
	var in struct {
		Gold, Emitted json.RawMessage
		Options       struct {
			String, Array string
			AbsTol        *float64 `json:"abs_tol"`
			RelTol        *float64 `json:"rel_tol"`
			Defaults      map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return conform.Fields{"error": "invalid_input"}
	}
	if len(in.Gold) == 0 || string(in.Gold) == "null" {
		return conform.Fields{"status": "no_gold"}
	}
	set := match.Settings{Leaf: match.ModeExact, Unordered: in.Options.Array == "set"}
	if in.Options.String == "exact" {
		set.Leaf = match.ModeStrict
	}
	if in.Options.AbsTol != nil || in.Options.RelTol != nil {
		set.Leaf = match.ModeNumeric
		if in.Options.AbsTol != nil {
			set.Epsilon = *in.Options.AbsTol
		}
		if in.Options.RelTol != nil {
			set.Relative = *in.Options.RelTol
		}
	}
	schema, err := defaultsSchema(in.Options.Defaults)
	if err != nil {
		return conform.Fields{"error": err.Error()}
	}
	args, problems := match.Compile(in.Gold, nil, schema, set, "")
	emitted, err := value.Parse(in.Emitted)
	if err != nil || len(problems) > 0 {
		return conform.Fields{"error": "invalid_input"}
	}
	t := args.Tally(emitted)
	out := conform.Fields{
		"status": "ok", "hits": t.Hits, "em": 0, "precision": t.Precision(), "recall": t.Recall(), "f1": t.F1(),
		"param_accuracy": t.Recall(),
	}
	if t.Exact() {
		out["em"] = 1
	}
	return out
}

// defaultsSchema is a tool's schema with defaults.
func defaultsSchema(defaults map[string]json.RawMessage) (value.Value, error) {
	if len(defaults) == 0 {
		return value.Value{}, nil
	}
	properties := map[string]map[string]json.RawMessage{}
	for name, d := range defaults {
		properties[name] = map[string]json.RawMessage{"default": d}
	}
	b, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		return value.Value{}, err
	}
	return value.Parse(b)
}
