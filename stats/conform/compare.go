// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
)

type tolerance struct {
	abs, rel float64
	single   map[string]float64
}

// compare compares one expected output with the result of the method.
func (r *Report) compare(id, path string, want, got any, tol tolerance) {
	switch w := want.(type) {
	case []any:
		list, ok := plain(got).([]any)
		if !ok || len(list) != len(w) {
			r.problem(id, "%s = %v, want %d values", path, plain(got), len(w))
			return
		}
		for i := range w {
			r.compare(id, path+"["+strconv.Itoa(i)+"]", w[i], list[i], tol)
		}
	case map[string]any:
		inner, ok := got.(Fields)
		if !ok {
			r.problem(id, "%s = %v, want named values", path, plain(got))
			return
		}
		for key, v := range w {
			r.compare(id, path+"."+key, v, inner[key], tol)
		}
	case float64:
		r.number(id, path, w, plain(got), tol)
	default:
		r.Compared++
		if p := plain(got); !reflect.DeepEqual(p, want) {
			r.problem(id, "%s = %v, want %v", path, p, want)
		}
	}
}

func (r *Report) number(id, path string, want float64, got any, tol tolerance) {
	r.Compared++
	g, ok := got.(float64)
	if !ok {
		r.problem(id, "%s = %v, want %.12g", path, got, want)
		return
	}
	diff := math.Abs(g - want)
	allowed, own := tol.single[path]
	if !own {
		allowed = tol.abs + tol.rel*math.Abs(want)
		e := diff
		if tol.rel > tol.abs && want != 0 {
			e /= math.Abs(want)
		}
		r.MaxError = max(r.MaxError, e)
	}
	if !(diff <= allowed) {
		r.problem(id, "%s = %.12g, want %.12g (off by %.2g, allowed %.2g)", path, g, want, diff, allowed)
	}
}

// plain converts numbers to float64, slices to []any, and undefined values to nil.
func plain(v any) any {
	if v == nil {
		return nil
	}
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanInt():
		return float64(rv.Int())
	case rv.CanFloat():
		return number(rv.Float())
	}
	switch rv.Kind() {
	case reflect.Slice:
		list := make([]any, rv.Len())
		for i := range list {
			list[i] = plain(rv.Index(i).Interface())
		}
		return list
	case reflect.String:
		return rv.String()
	default:
		return v
	}
}

func number(x float64) any {
	switch {
	case math.IsNaN(x):
		return nil
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return x
}

// rejected is the answer to impossible arguments.
func rejected(kind string) Fields { return Fields{"error": kind} }

// with decodes the arguments of a case for f. Arguments of a wrong type, such as a text for a
// number, are rejected.
func with[T any](f func(T) Fields) func(json.RawMessage) Fields {
	return func(input json.RawMessage) Fields {
		var in T
		if err := json.Unmarshal(input, &in); err != nil {
			return rejected("invalid_input")
		}
		return f(in)
	}
}

// orNil is nil for an undefined value.
func orNil(ok bool, v any) any {
	if !ok {
		return nil
	}
	return v
}

// limit is an end of an interval, nil where it does not exist.
func limit(x float64) any {
	if math.IsInf(x, 0) {
		return nil
	}
	return x
}
