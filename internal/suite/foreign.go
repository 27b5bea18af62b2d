// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/suite/bfcl"
	"github.com/callvet/callvet/internal/suite/dialect"
)

const (
	ownName  = "callvet"
	bfclName = "bfcl"
)

// Dialects lists the formats that Load reads, callvet's own first.
func Dialects() []string { return append([]string{ownName, bfclName}, dialect.Names()...) }

// Exports lists the formats that ExportAs writes, callvet's own first. BFCL files are
// read only.
func Exports() []string { return append([]string{ownName}, dialect.Names()...) }

// ExportAs writes a suite in a format of Exports: callvet's own as YAML, or a dialect with
// the problems that tell what it could not say.
func ExportAs(name string, s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	switch {
	case name == ownName:
		b, err := Export(s, "yaml")
		return b, nil, err
	case name == bfclName:
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

// parseForeign reads a dialect; it returns nothing when data is in none.
func parseForeign(data []byte, name string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	which := opt.Dialect
	if which == "" {
		which = dialect.Detect(data, name)
	}
	if which == bfclName {
		return parseBFCL(data, name, opt)
	}
	if which == "" {
		return nil, nil, nil
	}
	if !slices.Contains(dialect.Names(), which) {
		return nil, nil, unknownFormat("read suite "+name, which, "is not known", Dialects())
	}
	return dialect.Import(which, data, name, dialect.Options{Seeds: opt.Seeds, Snapshots: opt.Snapshots, Beside: opt.beside})
}

// isBFCL looks closer only at what may be a file of questions: its rows name
// them, or it is packed.
func isBFCL(data []byte, name string) bool {
	head := data[:min(len(data), 1<<20)]
	packed, err := input.Packed(head)
	return err == nil && (packed || bytes.Contains(head, []byte(`"question"`))) && bfcl.Detect(data, name)
}

func parseBFCL(data []byte, name string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	if opt.NoIncludes || name == "-" {
		return bfcl.Import(data, name, nil)
	}
	return bfcl.Import(data, name, opt.inFolder(filepath.Dir(name)))
}

// inFolder opens the files of a folder that bfcl finds by their whole path.
func (o *Options) inFolder(dir string) bfcl.Open {
	return func(path string) ([]byte, error) {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}
		return o.beside(dir, rel)
	}
}
