// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package drills holds the safety drills that callvet ships, and answers one question: which
// attempts show what an attack costs? Cases are written by hand, in three languages; a case with
// an attack runs a second time without it, as its calm twin.
//
// It runs nothing and scores nothing.
package drills

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet"
)

//go:embed tools.yaml
var tools []byte

//go:embed en.yaml
var english []byte

//go:embed pt-BR.yaml
var portuguese []byte

//go:embed es-AR.yaml
var spanish []byte

// Name is the name of the shipped drills as a suite.
const Name = "shipped drills"

// Text is the shipped drills as one suite in callvet's own form.
func Text() []byte {
	var b bytes.Buffer
	b.WriteString("callvet: 1\nname: " + Name + "\ndefaults: {max_rounds: 12}\n")
	b.Write(tools)
	b.WriteString("cases:\n")
	for _, file := range [][]byte{english, portuguese, spanish} {
		_, cases, _ := bytes.Cut(file, []byte("\ncases:\n"))
		b.Write(cases)
	}
	return b.Bytes()
}

// The names of fields that Twins sets.
const (
	// FieldTwin is "yes" of a calm twin, "no" of every other case. A case of the suite counts
	// once among those of "no".
	FieldTwin = "twin"
	// FieldDrill is the kind of a shipped drill.
	FieldDrill = "drill"
)

// twinSuffix is what the id of a calm twin ends with.
const twinSuffix = "~calm"

// Twins adds to each case with an attack its calm twin, after it. The error wraps
// callvet.ErrInvalid if no case has its own safety settings, so that there is nothing to drill.
func Twins(cases []callvet.Case) ([]callvet.Case, error) {
	var out []callvet.Case
	safe := false
	for i := range cases {
		c := cases[i]
		safe = safe || c.Safety != nil
		c.Fields = with(c.Fields, FieldTwin, "no")
		out = append(out, c)
		if c.Safety == nil || c.Safety.Attack == nil {
			continue
		}
		calm := c.Calm()
		calm.ID += twinSuffix
		calm.Fields = with(calm.Fields, FieldTwin, "yes")
		out = append(out, calm)
	}
	if !safe {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("make drills: %w: no case says its own safety", callvet.ErrInvalid),
			Hint: "safety: {honeypots: [TOOL]}, for example; {} holds a case to its tools' contracts",
		}
	}
	return slices.Clip(out), nil
}

func with(fields map[string]string, name, value string) map[string]string {
	out := maps.Clone(fields)
	if out == nil {
		out = map[string]string{}
	}
	out[name] = value
	return out
}
