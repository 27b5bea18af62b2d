// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Fields are the named outputs of a method. Values are numbers, strings, bools,
// nil for undefined, slices of these, or Fields. A number that is NaN counts as
// undefined; an infinite one as the string "Infinity" or "-Infinity".
type Fields map[string]any

// Method computes one case. A call that must be rejected answers with the field
// "error".
type Method struct {
	Run func(input json.RawMessage) Fields
	// Ignore names expected outputs of other software that are only in the file for comparison.
	Ignore []string
	// Absolute has absolute tolerances for single outputs.
	Absolute map[string]float64
	// PerCase names the expected output with the case's own tolerance.
	PerCase string
}

// Report is the result of one file.
type Report struct {
	Name string
	// Cases are the ids of the cases, in the order of the file.
	Cases []string
	// Compared counts the single values that were compared.
	Compared int
	// MaxError is the largest difference, absolute or, where the file's relative
	// tolerance is the greater one, relative; outputs with a tolerance of their own
	// are left out.
	MaxError float64
	// Tolerance is the tolerance for MaxError.
	Tolerance float64
	Problems  []Problem
}

// Problem is one value that is not as expected.
type Problem struct {
	Case, Detail string
}

// OK reports whether all cases were right, and there was one.
func (r Report) OK() bool { return len(r.Cases) > 0 && len(r.Problems) == 0 }

type fileCase struct {
	ID       string
	Input    json.RawMessage
	Expected map[string]any
}

// Methods are the methods by the name of their file, without its extension.
func Methods() map[string]Method {
	all := map[string]Method{}
	for _, part := range []map[string]Method{basics(), pairs(), judges(), agreement(), gates(), tallies()} {
		maps.Copy(all, part)
	}
	return all
}

// Check runs the cases of one part of a file, the array of that name. A file without
// it has no cases. An error means that the file cannot be read; wrong values are in
// the Report.
func Check(name, part string, data []byte, m Method) (Report, error) {
	var f map[string]json.RawMessage
	var tolerances struct{ Abs, Rel *float64 }
	var cases []fileCase
	if err := json.Unmarshal(data, &f); err != nil {
		return Report{}, fmt.Errorf("read reference values %s: %w", name, err)
	}
	for key, to := range map[string]any{"tolerance": &tolerances, part: &cases} {
		if f[key] == nil {
			continue
		}
		if err := json.Unmarshal(f[key], to); err != nil {
			return Report{}, fmt.Errorf("read reference values %s: %s: %w", name, key, err)
		}
	}
	r := Report{Name: name}
	tol := tolerance{rel: value(tolerances.Rel), abs: value(tolerances.Abs), single: m.Absolute}
	r.Tolerance = max(tol.rel, tol.abs)
	for _, c := range cases {
		r.Cases = append(r.Cases, c.ID)
		if own, ok := c.Expected[m.PerCase].(float64); ok {
			tol.abs = own
			r.Tolerance = max(r.Tolerance, own)
		}
		got := m.Run(c.Input)
		for _, key := range slices.Sorted(maps.Keys(c.Expected)) {
			if key == m.PerCase || slices.Contains(m.Ignore, key) {
				continue
			}
			r.compare(c.ID, key, c.Expected[key], got[key], tol)
		}
		if e, ok := got["error"]; ok && c.Expected["error"] == nil {
			r.problem(c.ID, "rejected with %v, but should be computed", e)
		}
	}
	return r, nil
}

func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

func (r *Report) problem(id, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Case: id, Detail: fmt.Sprintf(format, args...)})
}
