// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// OwnForm is the name of callvet's own format.
const OwnForm = "callvet"

// Dialects lists the formats that Load reads, callvet's own first.
func Dialects() []string { return append([]string{OwnForm, dialect.BFCL}, dialect.Names()...) }

// Exports lists the formats that ExportAs writes, callvet's own first. BFCL files are
// read only.
func Exports() []string { return append([]string{OwnForm}, dialect.Names()...) }

// ExportAs writes a suite in a format of Exports: callvet's own as YAML, or a dialect. The problems
// are those parts of the suite that the dialect cannot express.
func ExportAs(name string, s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	switch {
	case name == OwnForm:
		b, err := Export(s, "yaml")
		return b, nil, err
	case name == dialect.BFCL:
		return nil, nil, unknownFormat("export suite", name, "is only read", Exports())
	case !slices.Contains(Exports(), name):
		return nil, nil, unknownFormat("export suite", name, "is not known", Exports())
	}
	return dialect.Export(name, s)
}

func unknownFormat(doing, name, why string, known []string) error {
	return &callvet.Hinted{
		Err:  fmt.Errorf("%s: %w: the format %q %s", doing, callvet.ErrInvalid, name, why),
		Hint: "one of " + strings.Join(known, ", "),
	}
}

// parseForeign reads the dialect that the options name.
func parseForeign(data []byte, name string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	which := opt.Dialect
	if which == dialect.BFCL {
		return parseBFCL(data, name, opt)
	}
	if !slices.Contains(dialect.Names(), which) {
		return nil, nil, unknownFormat("read suite "+name, which, "is not known", Dialects())
	}
	return dialect.Import(which, data, name,
		dialect.Options{Seeds: opt.Seeds, Snapshots: opt.Snapshots, Programs: opt.Programs, Include: opt.include})
}

func parseBFCL(data []byte, name string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	o := dialect.Options{Include: opt.include}
	if opt.NoIncludes || name == "-" {
		o.Include = nil
	}
	return dialect.ImportBFCL(data, name, o)
}
