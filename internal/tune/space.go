// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// Limits of a space.
const (
	MaxSpaceBytes   = 1 << 20
	MaxCombinations = 10_000
	maxDimensions   = 32
)

// Space has the values that a search tries for each parameter, for all models and for single ones:
//
//	params: {temperature: [0, 0.5, 1], top_p: {min: 0.5, max: 1, step: 0.1}, tool_choice: [auto, required]}
//	extra: {top_k: [20, 40]}    # parameters that callvet does not know, sent as they are
//	models:
//	  openai/gpt-5-mini: {params: {reasoning_effort: [low, high]}}   # in place of the above for this model
//
// A value null in a list means: not sent. A value that is no list is a list of one.
type Space struct {
	shared []dimension
	models map[string][]dimension
}

// dimension is one parameter with its values, in their order in the file.
type dimension struct {
	name   string
	values []json.RawMessage
}

// parameters are the possible names in params: those of callvet.Params, and tool_choice.
var parameters = []string{
	"temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "parallel_calls", "stop", "tool_choice",
}

// lookalikes are parameters of providers that resemble one of parameters.
var lookalikes = []string{"top_k", "top_a", "store"}

// ReadSpace reads a space from YAML or JSON. The error holds a callvet.Problem with its place for each mistake
// and wraps callvet.ErrInvalid.
func ReadSpace(file string, src []byte) (*Space, error) {
	if len(src) > MaxSpaceBytes {
		return nil, fmt.Errorf("%s: a space has at most %s: %w", file, doc.SizeText(MaxSpaceBytes), callvet.ErrInvalid)
	}
	document, bad := doc.Read(file, src)
	if bad != nil {
		return nil, fmt.Errorf("read space: %w: %w", document.Problem(bad), callvet.ErrInvalid)
	}
	r := &spaceReader{doc.Reader{File: document}}
	r.Duplicates()
	s := &Space{models: map[string][]dimension{}}
	r.dimensions(&s.shared, &document.Root, "models", func(v *doc.Node) {
		r.models(s, v, func(into *[]dimension, v *doc.Node) { r.dimensions(into, v, "", nil) })
	})
	return r.done(s)
}

// ReadRequest reads a space from the fields search_space and per_model_search_spaces of a request.
// Each has the keys params and extra as in a file, or the parameters themselves: {"temperature":
// [0, 1], "top_k": [20, 40]}. Unknown parameters are then sent unchanged, unless their names
// resemble a known one. Errors are as in ReadSpace.
func ReadRequest(search, perModel json.RawMessage) (*Space, error) {
	s := &Space{models: map[string][]dimension{}}
	var problems []callvet.Problem
	read := func(key string, src json.RawMessage, f func(r *spaceReader, n *doc.Node)) {
		if text := strings.TrimSpace(string(src)); text == "" || text == "null" {
			return
		}
		document, bad := doc.ReadJSON("", src)
		if bad != nil {
			problems = append(problems, document.Problem(bad))
			return
		}
		r := &spaceReader{doc.Reader{File: document}}
		r.Push(key)
		r.Duplicates()
		f(r, &document.Root)
		problems = append(problems, r.Done()...)
	}
	read("search_space", search, func(r *spaceReader, n *doc.Node) { r.either(&s.shared, n) })
	read("per_model_search_spaces", perModel, func(r *spaceReader, n *doc.Node) { r.models(s, n, r.either) })
	if len(problems) == 0 && len(s.shared)+len(s.models) == 0 {
		problems = append(problems, emptySpace)
	}
	if err := joined(problems); err != nil {
		return nil, err
	}
	return s, nil
}

var emptySpace = callvet.Problem{
	Code: "empty", Message: "the space has no parameters",
	Fix: "params: {temperature: [0, 0.5, 1]}",
}

// spaceReader reads a space and records its mistakes.
type spaceReader struct{ doc.Reader }

func (r *spaceReader) done(s *Space) (*Space, error) {
	if len(r.Problems) == 0 && len(s.shared)+len(s.models) == 0 {
		p := emptySpace
		p.Position = callvet.Position{File: r.File.Name, Line: 1}
		r.Problems = append(r.Problems, p)
	}
	if err := joined(r.Done()); err != nil {
		return nil, err
	}
	return s, nil
}

func joined(problems []callvet.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	all := make([]error, len(problems))
	for i, p := range problems {
		all[i] = p
	}
	return fmt.Errorf("read space: %w: %w", errors.Join(all...), callvet.ErrInvalid)
}

// models reads the spaces of single models.
func (r *spaceReader) models(s *Space, n *doc.Node, read func(into *[]dimension, v *doc.Node)) {
	r.Fields(n, nil, func(model string, v *doc.Node) bool {
		var own []dimension
		before := len(r.Problems)
		read(&own, v)
		if len(own) == 0 && len(r.Problems) == before {
			r.Note(v.At, emptySpace.Code, emptySpace.Fix, "the space of this model has no parameters")
		}
		s.models[model] = own
		return true
	})
}

// either reads a mapping with params and extra, or with the parameters themselves.
func (r *spaceReader) either(into *[]dimension, n *doc.Node) {
	if n.Get("params") != nil || n.Get("extra") != nil {
		r.dimensions(into, n, "", nil)
		return
	}
	r.Fields(n, nil, func(name string, v *doc.Node) bool {
		if typo := callvet.Nearest(name, parameters) != ""; typo && !slices.Contains(lookalikes, name) &&
			!slices.Contains(parameters, name) {
			r.unknown(name, placeOf(n, name))
			return true
		}
		r.dimension(into, name, v)
		return true
	})
}

// dimensions reads params and extra, and passes the key more to a function.
func (r *spaceReader) dimensions(into *[]dimension, n *doc.Node, more string, read func(v *doc.Node)) {
	known := []string{"params", "extra"}
	if more != "" {
		known = append(known, more)
	}
	if name := misplaced(n, known); name != "" {
		r.Note(placeOf(n, name), "misplaced", "params: {"+name+": …}", "the parameter %s belongs under params", name)
		return
	}
	r.Fields(n, known, func(key string, v *doc.Node) bool {
		switch {
		case v.Kind == doc.Null && slices.Contains(known, key): // a key with values that are commented out
		case key == "params":
			given := v
			r.Fields(v, parameters, func(name string, v *doc.Node) bool {
				if !slices.Contains(parameters, name) {
					r.unknown(name, placeOf(given, name))
					return true
				}
				r.dimension(into, name, v)
				return true
			})
		case key == "extra":
			given := v
			r.Fields(v, nil, func(name string, v *doc.Node) bool {
				if slices.Contains(parameters, name) {
					r.Note(placeOf(given, name), "misplaced", "params: {"+name+": …}",
						"the parameter %s belongs under params", name)
					return true
				}
				r.dimension(into, name, v)
				return true
			})
		case key == more && more != "":
			read(v)
		default:
			return false
		}
		return true
	})
}

// misplaced returns a parameter in a place where params is required.
func misplaced(n *doc.Node, known []string) string {
	if n.Kind != doc.Map {
		return ""
	}
	for _, e := range n.Names {
		if slices.Contains(parameters, e.Name) && !slices.Contains(known, e.Name) {
			return e.Name
		}
	}
	return ""
}

// placeOf returns the position of a key in a mapping.
func placeOf(n *doc.Node, name string) int {
	for _, e := range n.Names {
		if e.Name == name {
			return e.At
		}
	}
	return n.At
}

func (r *spaceReader) unknown(name string, at int) {
	fix := "known: " + strings.Join(parameters, ", ") + "; others stand under extra"
	if near := callvet.Nearest(name, parameters); near != "" {
		fix = fmt.Sprintf("did you mean %q? Others stand under extra", near)
	}
	r.Note(at, "unknown-parameter", fix, "unknown parameter %q", doc.Clip(name, 60))
}

// dimension reads the values of a parameter: a list, a range, or one value.
func (r *spaceReader) dimension(into *[]dimension, name string, n *doc.Node) {
	d := dimension{name: name}
	switch n.Kind {
	case doc.Map:
		d.values = r.steps(name, n)
	case doc.List:
		if len(n.Items) == 0 {
			r.Note(n.At, "empty", name+": [VALUE, …]", "the list has no value")
		}
		r.Each(n, func(_ int, v *doc.Node) { r.value(&d, v.At, v.JSON()) })
	default:
		r.value(&d, n.At, n.JSON())
	}
	if *into = append(*into, d); len(*into) == maxDimensions+1 {
		r.Note(n.At, "too-many", "", "a space has at most %d parameters", maxDimensions)
	}
}

// value adds a value that the parameter can have.
func (r *spaceReader) value(d *dimension, at int, raw json.RawMessage) {
	v, _, err := value.Read(raw)
	if err != nil {
		r.Note(at, "wrong-type", "", "%s cannot be sent as JSON", doc.Clip(string(raw), 40))
		return
	}
	if d.name == "stop" && v.Kind() == value.String {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
		v, _, _ = value.Read(raw)
	}
	if want := wanted(d.name, v); want != "" && v.Kind() != value.Null {
		r.Note(at, "bad-value", "", "%s cannot be %s; it is %s", d.name, doc.Clip(string(raw), 40), want)
		return
	}
	for _, other := range d.values {
		if o, _, _ := value.Read(other); value.Equal(o, v) {
			r.Note(at, "twice", "remove one", "the value %s is listed twice", doc.Clip(string(raw), 40))
			return
		}
	}
	if len(d.values) == MaxCombinations {
		r.Note(at, "too-many", "", "a parameter has at most %d values", MaxCombinations)
	}
	if len(d.values) < MaxCombinations {
		d.values = append(d.values, raw)
	}
}

// wanted describes the possible values of a parameter; "" if v is one of them.
func wanted(name string, v value.Value) string {
	number := math.NaN()
	if v.Kind() == value.Number {
		number, _ = strconv.ParseFloat(string(v.Raw()), 64)
	}
	var c Combination
	fits := func() bool { return c.set(name, v.Raw()) == nil }
	ok, want := true, ""
	switch name {
	case "temperature":
		want, ok = "a number of 0 or more", number >= 0
	case "top_p":
		want, ok = "a number above 0, at most 1", number > 0 && number <= 1
	case "max_tokens":
		want, ok = "a whole number of 1 or more", number >= 1 && number <= math.MaxInt32 && fits()
	case "seed":
		want, ok = "a whole number", fits()
	case "parallel_calls":
		want, ok = "true or false", v.Kind() == value.Bool
	case "reasoning_effort", "tool_choice":
		want, ok = "a text", v.Kind() == value.String && string(v.Raw()) != `""`
	case "stop":
		want, ok = "a text or a list of texts", v.Kind() == value.Array && fits()
	}
	if ok {
		return ""
	}
	return want
}

// steps reads a range: its values are min, min+step, … up to max.
func (r *spaceReader) steps(name string, n *doc.Node) (values []json.RawMessage) {
	const form = "{min: 0, max: 1, step: 0.25}"
	known := []string{"min", "max", "step"}
	ends, at := map[string]float64{}, map[string]int{}
	before := len(r.Problems)
	r.Fields(n, known, func(key string, v *doc.Node) bool {
		if !slices.Contains(known, key) {
			return false
		}
		if f, ok := r.Number(v, -1e15, 1e15); ok {
			ends[key], at[key] = f, v.At
		}
		return true
	})
	if len(r.Problems) > before {
		return nil
	}
	for _, key := range known {
		if _, ok := ends[key]; !ok {
			r.Note(n.At, "missing-key", form, "the range has no %s", key)
			return nil
		}
	}
	low, high, step := ends["min"], ends["max"], ends["step"]
	steps := math.Floor((high-low)/step + 1e-9) // 0.3/0.1 is a little less than 3
	switch {
	case !(step > 0):
		r.Note(at["step"], "out-of-range", "", "the step must be above 0")
		return nil
	case high < low:
		r.Note(at["max"], "out-of-range", "", "max is below min")
		return nil
	case !(steps < MaxCombinations):
		r.Note(n.At, "too-many", "a larger step", "the range has more than %d values", MaxCombinations)
		return nil
	}
	digits := max(decimals(low), decimals(step))
	d := dimension{name: name}
	for i := range int(steps) + 1 {
		x := strconv.FormatFloat(low+float64(i)*step, 'f', digits, 64)
		if r.value(&d, n.At, json.RawMessage(x)); len(r.Problems) > before {
			return nil // the other values have the same mistake
		}
	}
	return d.values
}

// decimals returns how many digits a number has after the point.
func decimals(x float64) int {
	_, after, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	return len(after)
}

func (s *Space) of(model string) []dimension {
	if own, ok := s.models[model]; ok {
		return own
	}
	return s.shared
}

// Models returns the models with their own space, by name.
func (s *Space) Models() []string { return slices.Sorted(maps.Keys(s.models)) }

// Names returns the parameters that the space sets for a model, in the order of the file.
func (s *Space) Names(model string) []string {
	names := []string{}
	for _, d := range s.of(model) {
		names = append(names, d.name)
	}
	return names
}
