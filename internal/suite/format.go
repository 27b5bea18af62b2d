// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/native"
)

// Schema is the JSON Schema (draft 2020-12) of a suite.
func Schema() []byte { return native.Schema() }

// Template returns a small commented suite to start from. It is free of lint.
func Template() []byte { return native.Template() }

// ReadMocks reads a file of mocks for suites that have none: a list of mocks, or a mapping of
// tools to results. Problems that are not warnings mean that parts of the file were rejected.
func ReadMocks(name string, data []byte) ([]callvet.Mock, []callvet.Problem) {
	d, bad := doc.Read(name, data)
	if bad != nil {
		return nil, []callvet.Problem{d.Problem(bad)}
	}
	return native.ReadMocks(d)
}

// ReadFaults reads a file of faults: a list of them, or a mapping with faults. Problems mean the
// same as in ReadMocks.
func ReadFaults(name string, data []byte) ([]callvet.ToolFault, []callvet.Problem) {
	d, bad := doc.Read(name, data)
	if bad != nil {
		return nil, []callvet.Problem{d.Problem(bad)}
	}
	return native.ReadFaults(d)
}

// Export writes a suite in callvet's own format, "yaml" or "json"; loading the result returns the
// same suite, except for positions.
func Export(s *callvet.Suite, format string) ([]byte, error) { return native.Export(s, format) }
