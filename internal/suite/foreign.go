// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// Dialects lists the formats that Load reads, callvet's own first.
func Dialects() []string { return append([]string{"callvet"}, dialect.Names()...) }

// ExportAs writes a suite in a format of Dialects: callvet's own as YAML, or a
// dialect with the problems that tell what it could not say.
func ExportAs(name string, s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	if name == "callvet" {
		b, err := Export(s, "yaml")
		return b, nil, err
	}
	return dialect.Export(name, s)
}

// parseForeign reads a dialect; it returns nothing when data is in none.
func parseForeign(data []byte, name string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	which := opt.Dialect
	if which == "" {
		which = dialect.Detect(data, name)
	}
	if which == "" {
		return nil, nil, nil
	}
	if !slices.Contains(dialect.Names(), which) {
		return nil, nil, &callvet.Hinted{
			Err:  fmt.Errorf("read suite %s: %w: no dialect is called %q", name, callvet.ErrInvalid, which),
			Hint: "one of " + strings.Join(Dialects(), ", "),
		}
	}
	return dialect.Import(which, data, name, dialect.Options{Seeds: opt.Seeds, Snapshots: opt.Snapshots})
}
