// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"errors"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
)

// Entry is one tool with its compiled contract.
type Entry struct {
	Tool   *callvet.Tool
	Schema *Schema // nil when Err is set
	Err    error   // why the tool's schema does not compile
}

// Set holds the contracts of a toolset. It is immutable and safe for
// concurrent use.
type Set struct {
	entries []Entry
	exact   map[string]*Entry
	folded  map[string]*Entry
}

// NewSet compiles the tools' schemas. The Set is complete even when some do not
// compile (their Entry carries the error); the error joins all of them.
func NewSet(tools []callvet.Tool) (*Set, error) {
	s := &Set{
		entries: make([]Entry, len(tools)), exact: make(map[string]*Entry, len(tools)),
		folded: make(map[string]*Entry, len(tools)),
	}
	var errs []error
	for i := range tools {
		e := &s.entries[i]
		e.Tool = &tools[i]
		if e.Schema, e.Err = Compile(tools[i].Parameters); e.Err != nil {
			errs = append(errs, fmt.Errorf("tool %q: %w", tools[i].Name, e.Err))
		}
		if s.exact[tools[i].Name] == nil {
			s.exact[tools[i].Name] = e
		}
		if f := strings.ToLower(tools[i].Name); s.folded[f] == nil {
			s.folded[f] = e
		}
	}
	return s, errors.Join(errs...)
}

// At is the i-th tool in the toolset's order.
func (s *Set) At(i int) *Entry { return &s.entries[i] }

// FindFold is the tool of that name regardless of letter case (an exact match
// first), or nil.
func (s *Set) FindFold(name string) *Entry {
	if e := s.exact[name]; e != nil {
		return e
	}
	return s.folded[strings.ToLower(name)]
}
