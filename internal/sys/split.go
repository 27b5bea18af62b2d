// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"fmt"
	"strings"

	"github.com/callvet/callvet"
)

// SplitCommand splits a command line at white space; single and double quotes keep white space
// within a word, and a backslash outside single quotes makes the next character literal. The error
// is ErrInvalid when a quote is not closed.
func SplitCommand(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	var quote rune
	in, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				out = append(out, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("split command %q: a quote is not closed: %w", line, callvet.ErrInvalid)
	}
	if in {
		out = append(out, word.String())
	}
	return out, nil
}
