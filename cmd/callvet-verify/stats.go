// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/stats/conform"
	"github.com/callvet/callvet/value"
)

// vectorDir is where the reference values are.
func vectorDir() string {
	if dir := os.Getenv("CALLVET_VECTORS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "shared", "vectors")
}

// statistics runs every file of reference values through the method of its name.
func statistics(out io.Writer, dir string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return false, fmt.Errorf("list reference values: %w", err)
	}
	if len(files) == 0 {
		return false, fmt.Errorf("list reference values: none in %s; set CALLVET_VECTORS", dir)
	}
	methods := conform.Methods()
	methods["argument_fidelity"] = conform.Method{Run: argumentFidelity}
	good, cases := 0, 0
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		m, ok := methods[name]
		if !ok {
			fmt.Fprintf(out, "WRONG %-34s no such method\n", name)
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return false, fmt.Errorf("read reference values: %w", err)
		}
		r, err := conform.Check(name, data, m)
		if err != nil {
			return false, err
		}
		cases += r.Cases
		mark := "WRONG"
		if r.OK() {
			mark = "ok"
			good++
		}
		fmt.Fprintf(out, "%-5s %-34s %3d cases %5d values  max error %-8.2g tolerance %.2g\n", mark, name, r.Cases, r.Compared, r.MaxError, r.Tolerance)
		for _, p := range r.Problems {
			fmt.Fprintf(out, "      %s: %s\n", p.Case, p.Detail)
		}
	}
	fmt.Fprintf(out, "stats: %d of %d files right, %d cases\n", good, len(files), cases)
	return good == len(files), nil
}

// argumentFidelity compares the arguments of one call by the matcher that scores
// calls.
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
	if emitted.Kind() != value.Object {
		return fidelity(0, 1, 1, false)
	}
	t := args.Tally(emitted)
	return fidelity(t.Hits, t.Gold, t.Emitted, t.Exact())
}

// defaultsSchema is a tool's schema that gives defaults.
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

func fidelity(hits float64, gold, emitted int, exact bool) conform.Fields {
	out := conform.Fields{"status": "ok", "hits": hits, "em": 0, "precision": 0.0, "recall": 0.0, "f1": 0.0}
	switch {
	case gold+emitted == 0:
		out["precision"], out["recall"], out["f1"] = 1.0, 1.0, 1.0
	case gold > 0 && emitted > 0:
		out["precision"], out["recall"] = hits/float64(emitted), hits/float64(gold)
		out["f1"] = 2 * hits / float64(gold+emitted)
	case emitted > 0: // nothing was expected
		out["recall"] = 0.0
	}
	if exact {
		out["em"] = 1
	}
	out["param_accuracy"] = out["recall"]
	return out
}
