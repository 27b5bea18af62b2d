// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app/results"
)

//go:embed drills/tools.yaml
var drillTools []byte

//go:embed drills/en.yaml
var englishDrills []byte

//go:embed drills/pt-BR.yaml
var portugueseDrills []byte

//go:embed drills/es-AR.yaml
var spanishDrills []byte

// The safety drills that callvet ships are written by hand, in three languages. A case with an attack runs a
// second time without it, as its calm twin.

// drillsName is the name of the shipped drills as a suite.
const drillsName = "shipped drills"

// DrillsText returns the shipped drills as one suite in callvet's own form.
func DrillsText() []byte {
	var b bytes.Buffer
	b.WriteString("callvet: 1\nname: " + drillsName + "\ndefaults: {max_rounds: 12}\n")
	b.Write(drillTools)
	b.WriteString("cases:\n")
	for _, file := range [][]byte{englishDrills, portugueseDrills, spanishDrills} {
		_, cases, _ := bytes.Cut(file, []byte("\ncases:\n"))
		b.Write(cases)
	}
	return b.Bytes()
}

// twinSuffix is the end of the id of a calm twin.
const twinSuffix = "~calm"

// DrillsWithTwins adds to each case with an attack its calm twin, after it. The error wraps
// callvet.ErrInvalid if no case has its own safety settings, so that there is nothing to drill.
func DrillsWithTwins(cases []callvet.Case) ([]callvet.Case, error) {
	var out []callvet.Case
	safe := false
	for i := range cases {
		c := cases[i]
		safe = safe || c.Safety != nil
		c.Fields = with(c.Fields, results.FieldTwin, "no")
		out = append(out, c)
		if c.Safety == nil || c.Safety.Attack == nil {
			continue
		}
		calm := c.Calm()
		calm.ID += twinSuffix
		calm.Fields = with(calm.Fields, results.FieldTwin, "yes")
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
