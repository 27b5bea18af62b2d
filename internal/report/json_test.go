// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel"
)

// plainly returns the output of package json.
func plainly(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fill sets all that v has: numbers to other ones each, and lists to n elements.
func fill(v reflect.Value, n int, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*next))
	case reflect.Float64:
		v.SetFloat(float64(*next) / 7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString([]string{"ok", `say "metrics":null & <go>`, "\u2028 ü\n", "two words"}[*next%4])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n, next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), n, next)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n, next)
		}
	default:
		panic(v.Kind())
	}
}

// TestEncode: whatever panels have, it is written as package json writes it.
func TestEncode(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func(*panel.Panels) any{
		"alone":  func(p *panel.Panels) any { return p },
		"within": func(p *panel.Panels) any { return map[string]any{"a": 1, "in": []any{p}, "z": `"metrics":null`} },
	} {
		for n := range 4 {
			p, next := &panel.Panels{}, n
			fill(reflect.ValueOf(p).Elem(), n, &next)
			if n == 3 {
				p.Targets[1].Overall.Metrics, p.Targets[2].Slices[0].Metrics = nil, []panel.Metric{}
				p.Targets[0].Slices = nil
			}
			before := plainly(t, in(p))
			var got bytes.Buffer
			if err := indented(&got, in(p)); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Split(before, "\n"), strings.Split(got.String(), "\n")); d != "" {
				t.Errorf("%s, lists of %d: %s", name, n, d)
			}
			if plainly(t, in(p)) != before {
				t.Error("the panels have changed")
			}
		}
	}
	var got bytes.Buffer
	if err := indented(&got, []*panel.Panels{nil}); err != nil ||
		got.String() != "[\n null\n]\n" {
		t.Errorf("%q %v", got.String(), err)
	}
	if err := indented(&got, func() {}); err == nil {
		t.Error("a function was written")
	}
	odd := &panel.Panels{Targets: []panel.TargetPanel{{Overall: panel.Slice{Metrics: []panel.Metric{{Versus: &panel.Versus{P: math.NaN()}}}}}}}
	if err := indented(&got, odd); err == nil {
		t.Error("what is no number was written")
	}
	r, w := io.Pipe()
	r.CloseWithError(io.ErrClosedPipe)
	if err := indented(w, &panel.Panels{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}
