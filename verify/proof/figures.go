// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// Figures are the numbers of a JSON document by their path. Texts, booleans and null
// are no figures.
type Figures struct {
	// Source names the document in messages.
	Source string
	list   []Figure
	byPath map[string]int
	digits map[string]int
	keys   map[string][]string
}

// Figure is one published number.
type Figure struct {
	Path   []string
	Number json.Number
}

// Name is the path of a figure as one text.
func (f *Figure) Name() string { return strings.Join(f.Path, " ") }

// ParseFigures reads the numbers of a document, in its order.
func ParseFigures(source string, doc []byte) (*Figures, error) {
	f := &Figures{Source: source, byPath: map[string]int{}, digits: map[string]int{}, keys: map[string][]string{}}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := f.read(dec, nil); err != nil {
		return nil, fmt.Errorf("read figures of %s: %w", source, err)
	}
	if len(f.list) == 0 {
		return nil, fmt.Errorf("read figures of %s: %w: there is none", source, callvet.ErrInvalid)
	}
	return f, nil
}

func join(path []string) string { return strings.Join(path, "\x00") }

func (f *Figures) read(dec *json.Decoder, path []string) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Number:
		f.add(slices.Clone(path), t)
	case json.Delim:
		for i := 0; dec.More(); i++ {
			key := strconv.Itoa(i)
			if t == '{' {
				name, err := dec.Token()
				if err != nil {
					return err
				}
				key, _ = name.(string)
			}
			f.keys[join(path)] = append(f.keys[join(path)], key)
			if err := f.read(dec, append(slices.Clone(path), key)); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	}
	return err
}

func (f *Figures) add(path []string, n json.Number) {
	f.byPath[join(path)] = len(f.list)
	f.list = append(f.list, Figure{Path: path, Number: n})
	kind := kindOf(path)
	f.digits[kind] = max(f.digits[kind], decimals(n))
}

// kindOf groups figures with the same rounding: by name without its numbers, so that pass^1 and pass^2
// are of one kind.
func kindOf(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, path[len(path)-1])
}

func decimals(n json.Number) int {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	return max(0, len(fraction)-e)
}

// Keys are the names of the members under a path, in the order of the document.
func (f *Figures) Keys(path ...string) []string { return f.keys[join(path)] }

// Has reports whether there is a figure at a path.
func (f *Figures) Has(path ...string) bool {
	_, ok := f.byPath[join(path)]
	return ok
}

// Count returns the whole number at a path. No number is an error.
func (f *Figures) Count(path ...string) (int, error) {
	i, ok := f.byPath[join(path)]
	if !ok {
		return 0, fmt.Errorf("read figures of %s: %w: there is no %s", f.Source, callvet.ErrNotFound,
			strings.Join(path, " "))
	}
	n, err := strconv.Atoi(f.list[i].Number.String())
	if err != nil {
		return 0, fmt.Errorf("read figures of %s: %w: %s is no count: %s", f.Source, callvet.ErrInvalid,
			strings.Join(path, " "), f.list[i].Number)
	}
	return n, nil
}

// Agrees reports whether a number is the published one at the published precision: half of the last
// digit of any figure of its kind. JSON has no trailing zeros, so that one figure alone does not
// show the precision.
func (f *Figures) Agrees(own float64, path ...string) (published json.Number, agrees, known bool) {
	i, ok := f.byPath[join(path)]
	if !ok {
		return "", false, false
	}
	published = f.list[i].Number
	want, err := published.Float64()
	if err != nil {
		return published, false, true
	}
	half := 0.5 * math.Pow(10, -float64(f.digits[kindOf(path)]))
	// A number of ours halfway between may be rounded up or down.
	return published, math.Abs(own-want) <= max(half*(1+1e-9), 1e-12*math.Abs(want)), true
}
