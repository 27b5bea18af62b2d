// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package peer

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect/tree"
)

// Import reads a document of the named dialect, one of this package's.
func Import(name string, src *tree.Source, opt tree.Options) (*callvet.Suite, []callvet.Problem, error) {
	r := newReader(src, opt)
	read := map[string]func() (*callvet.Suite, error){tree.OpenAI: r.openAI, tree.Promptfoo: r.promptfoo}[name]
	if read == nil {
		return nil, nil, fmt.Errorf("import suite: %w: %q is no dialect of this package", callvet.ErrInvalid, name)
	}
	s, err := read()
	if err != nil {
		return nil, nil, err
	}
	s.Dialect = name
	return s, r.Finish(), nil
}

// Export writes a suite in the named dialect, one of this package's.
func Export(name string, s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	switch name {
	case tree.OpenAI:
		return exportOpenAI(s)
	case tree.Promptfoo:
		return exportPromptfoo(s)
	}
	return nil, nil, fmt.Errorf("export suite: %w: %q is no dialect of this package", callvet.ErrInvalid, name)
}
