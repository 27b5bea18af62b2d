// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labelled

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// script returns the right answers of all tasks as a script for callvet run: the calls of the first
// plan with their arguments, and the reference answer. It is formatted for people.
func (s *set) script() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(
		"# The right answer to each task: the calls of its first plan, and its reference answer. Generated from the tasks by\n" +
			"# make verify-labelled-set SCRIPT=examples/labelled-set/scripts/gold.yaml\n" +
			"model: gold\notherwise: error\nrules:\n")
	for i := range s.suite.Cases {
		c := &s.suite.Cases[i]
		a := right(c)[0]
		fmt.Fprintf(&b, "  - case: %s\n    steps:\n", c.ID)
		for _, step := range a.steps {
			b.WriteString("      - calls:\n")
			for _, call := range step {
				fmt.Fprintf(&b, "          - {tool: %s, args: %s}\n", call.Tool, call.Args)
			}
		}
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(a.answer); err != nil {
			return nil, fmt.Errorf("write script: %w", err)
		}
		fmt.Fprintf(&b, "      - text: %s", text.Bytes())
	}
	return b.Bytes(), nil
}
