// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package origin

import (
	"fmt"
	"iter"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect/tree"
)

// Import reads a document of the named dialect, one of this package's.
func Import(name string, src *tree.Source, opt tree.Options) (*callvet.Suite, []callvet.Problem, error) {
	r := newReader(src, opt)
	read := map[string]func() (*callvet.Suite, error){tree.Toolsuite: r.toolsuite, tree.Forge: r.forge, tree.Categories: r.categories, tree.Tasks: r.tasks}[name]
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

// Stream is Import for a toolsuite whose cases are read one by one, once; the
// problems are complete when all have been.
func Stream(src *tree.Source, opt tree.Options) (s *callvet.Suite, cases iter.Seq[*callvet.Case], problems func() []callvet.Problem, err error) {
	r := newReader(src, opt)
	if s, cases, err = r.toolsuiteStream(); err != nil {
		return nil, nil, nil, err
	}
	s.Dialect = tree.Toolsuite
	return s, cases, r.Finish, nil
}

// Export writes a suite in the named dialect, one of this package's.
func Export(name string, s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	switch name {
	case tree.Toolsuite:
		return exportToolsuite(s)
	case tree.Forge:
		return exportForge(s)
	case tree.Categories:
		return exportCategories(s)
	case tree.Tasks:
		return exportTasks(s)
	}
	return nil, nil, fmt.Errorf("export suite: %w: %q is no dialect of this package", callvet.ErrInvalid, name)
}
