// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"math"
	"strconv"

	"github.com/callvet/callvet/retrieve"
)

// Knob is one number of the options, with the ways to vary it.
type Knob struct {
	// Name is its name in files of weights; the knobs of Lengths are in no file.
	Name string
	// At is the place of the number in the options.
	At func(*retrieve.Options) *float64
	// moves are factors, where factor is set, or else steps.
	moves    []float64
	factor   bool
	low, top float64
}

// to is the number after a move, with four digits, so that the written number is the measured
// one.
func (k *Knob) to(v, move float64) float64 {
	if k.factor {
		v *= move
	} else {
		v += move
	}
	v = min(k.top, max(k.low, v))
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64); err == nil && math.Abs(v) > 1e-9 {
		return short
	}
	return 0
}

// Weights are the numbers of a formula that a file of weights may have.
func Weights(f retrieve.Formula) []Knob {
	factors, steps := []float64{0.5, 0.7, 1.4, 2}, []float64{-0.3, -0.1, 0.1, 0.3}
	if f == retrieve.Additive {
		points := func(name string, at func(*retrieve.Options) *float64) Knob {
			return Knob{name, at, factors, true, 0.1, 40}
		}
		return []Knob{
			points("name", func(o *retrieve.Options) *float64 { return &o.Additive.Name }),
			points("keyword", func(o *retrieve.Options) *float64 { return &o.Additive.Keyword }),
			points("token", func(o *retrieve.Options) *float64 { return &o.Additive.Token }),
			points("example", func(o *retrieve.Options) *float64 { return &o.Additive.Example }),
			points("namespace", func(o *retrieve.Options) *float64 { return &o.Additive.Namespace }),
			points("vector", func(o *retrieve.Options) *float64 { return &o.VectorWeight }),
		}
	}
	out := []Knob{
		{"k1", func(o *retrieve.Options) *float64 { return &o.K1 }, factors, true, 0.3, 5},
		{
			"vector", func(o *retrieve.Options) *float64 { return &o.VectorWeight },
			[]float64{-0.1, -0.05, 0.05, 0.1},
			false, 0, 1,
		},
		{"inflection", func(o *retrieve.Options) *float64 { return &o.Forms.Inflection }, steps, false, 0.1, 1},
		{"compound", func(o *retrieve.Options) *float64 { return &o.Forms.Compound }, steps, false, 0.1, 1},
		{"misspelling", func(o *retrieve.Options) *float64 { return &o.Forms.Misspelling }, steps, false, 0.1, 1},
	}
	for _, f := range fields() {
		out = append(out,
			Knob{f.name, func(o *retrieve.Options) *float64 { return &f.at(o).Weight }, factors, true, 0.05, 8})
	}
	return out
}

// Lengths are the penalties of longer fields, a number for each field.
func Lengths() []Knob {
	var out []Knob
	for _, f := range fields() {
		out = append(out, Knob{
			f.name + " b", func(o *retrieve.Options) *float64 { return &f.at(o).B },
			[]float64{-0.3, -0.1, 0.1, 0.3},
			false, 0, 1,
		})
	}
	return out
}

type field struct {
	name string
	at   func(*retrieve.Options) *retrieve.Weight
}

func fields() []field {
	return []field{
		{"name", func(o *retrieve.Options) *retrieve.Weight { return &o.Name }},
		{"description", func(o *retrieve.Options) *retrieve.Weight { return &o.Description }},
		{"keywords", func(o *retrieve.Options) *retrieve.Weight { return &o.Keywords }},
		{"parameters", func(o *retrieve.Options) *retrieve.Weight { return &o.Parameters }},
		{"details", func(o *retrieve.Options) *retrieve.Weight { return &o.Details }},
		{"examples", func(o *retrieve.Options) *retrieve.Weight { return &o.Examples }},
		{"group", func(o *retrieve.Options) *retrieve.Weight { return &o.Group }},
	}
}
