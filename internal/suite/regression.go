// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// Regressions reads a file of regression cases over tools; a blank one has none. The error wraps
// callvet.ErrInvalid for a file with errors.
func Regressions(file string, data []byte, tools []callvet.Tool) ([]callvet.Case, error) {
	if blank(data) {
		return nil, nil
	}
	s, problems, err := parse(data, file, Options{Tools: tools, NoIncludes: true, Dialect: dialect.Forge})
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(problems, func(p callvet.Problem) bool { return !p.Warning }); i >= 0 {
		return nil, fmt.Errorf("read regression cases: %w: %w", callvet.ErrInvalid, problems[i])
	}
	return s.Cases, nil
}

// NextRegression is the id of the next regression case of a tool: rg-get-weather-004 where 003 is
// the last that the file or its lock knows. The ids of archived cases are not given again.
func NextRegression(tool string, cases []callvet.Case, l *Lock) string {
	prefix := "rg-" + slug(tool) + "-"
	last := 0
	see := func(id string) {
		if rest, ok := strings.CutPrefix(id, prefix); ok {
			if n, err := strconv.Atoi(rest); err == nil && n < 1<<30 {
				last = max(last, n)
			}
		}
	}
	for i := range cases {
		see(cases[i].ID)
	}
	for i := range l.Cases {
		see(l.Cases[i].ID)
	}
	return fmt.Sprintf("%s%03d", prefix, last+1)
}

// slug is a tool's name as ids have it: small letters and digits with a - between.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if len(words) == 0 {
		return "tool"
	}
	return strings.Join(words, "-")
}
