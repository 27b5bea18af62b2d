// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package proof

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
)

// Explanation is the reason why one comparison disagrees. Check, Part and Name identify the comparison,
// as a check prints it.
type Explanation struct {
	Check, Part, Name, Reason string

	used bool
}

//go:embed explained.tsv
var explained string

// Explained are the known disagreements, by name.
func Explained() ([]Explanation, error) { return parseExplained(explained) }

// parseExplained reads lines of four columns with tabs between them; lines that begin
// with # are comments.
func parseExplained(text string) ([]Explanation, error) {
	var out []Explanation
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 4 || cells[3] == "" {
			return nil,
				fmt.Errorf("read explained.tsv:%d: %w: want check, part, name and reason with tabs between them", n,
					callvet.ErrInvalid)
		}
		out = append(out, Explanation{Check: cells[0], Part: cells[1], Name: cells[2], Reason: cells[3]})
	}
	return out, nil
}
