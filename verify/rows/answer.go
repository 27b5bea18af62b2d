// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package rows

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// answer is the result of a step.
type answer struct {
	text string
	code int // exit code or status
	doc  any // the output as JSON; nil if it is not JSON
}

func answerOf(out []byte, more string, code int) answer {
	a := answer{text: string(out) + more, code: code}
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	if d.Decode(&a.doc) != nil {
		a.doc = nil
	}
	return a
}

// at returns the value at a path: names, indexes, and NAME=VALUE for the first element of a list with that
// member.
func at(doc any, place string) (any, bool) {
	if place == "." {
		return doc, true
	}
	for _, key := range strings.Split(place, ".") {
		switch v := doc.(type) {
		case map[string]any:
			inner, ok := v[key]
			if !ok {
				return nil, false
			}
			doc = inner
		case []any:
			i, err := strconv.Atoi(key)
			if name, value, found := strings.Cut(key, "="); found {
				i = slices.IndexFunc(v, func(e any) bool {
					inner, ok := at(e, name)
					return ok && written(inner) == value
				})
			} else if err != nil {
				return nil, false
			}
			if i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// metric finds a metric with an interval by its name, outer ones and earlier ones first.
func metric(doc any, name string) (any, bool) {
	for level := []any{doc}; len(level) > 0; {
		var next []any
		for _, v := range level {
			switch v := v.(type) {
			case map[string]any:
				if point, ok := at(v, "interval.point"); ok && v["name"] == name {
					return point, true
				}
				for _, key := range slices.Sorted(maps.Keys(v)) {
					next = append(next, v[key])
				}
			case []any:
				next = append(next, v...)
			}
		}
		level = next
	}
	return nil, false
}

// written writes a value as in a row: a text as it is, anything else as JSON.
func written(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

// near is how much a number may differ from an exact one: the rounding of binary fractions.
const near = 1e-9

// same compares a value with the expected value of a row. A number is written as a fraction (3/4), as a
// decimal, or rounded to its last digit (~0.894).
func same(seen any, want string) bool {
	n, ok := seen.(json.Number)
	if !ok {
		return written(seen) == want
	}
	got, err := n.Float64()
	if err != nil {
		return false
	}
	allowed := near
	if rounded, ok := strings.CutPrefix(want, "~"); ok {
		want = rounded
		_, digits, _ := strings.Cut(want, ".")
		allowed += math.Pow10(-len(digits)) / 2
	}
	exact, ok := new(big.Rat).SetString(want)
	if !ok {
		return false
	}
	expected, _ := exact.Float64()
	return math.Abs(got-expected) <= allowed
}
