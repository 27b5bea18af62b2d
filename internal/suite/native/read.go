// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"iter"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// Include reads the tools in the file that tools_from names, from the folder of
// the suite's own file.
type Include func(path string) ([]callvet.Tool, error)

// Read decodes a suite, or a bare list of tools, with the problems in the order
// of the file. It returns nil when the file is neither.
func Read(d *doc.File, include Include) (*callvet.Suite, []callvet.Problem) {
	s, cases, problems := Stream(d, include)
	if s == nil {
		return nil, nil
	}
	for c := range cases {
		s.Cases = append(s.Cases, *c)
	}
	return s, problems()
}

// Stream is Read for cases that are read one by one, once; the problems are
// complete when all have been.
func Stream(d *doc.File,
	include Include,
) (s *callvet.Suite, cases iter.Seq[*callvet.Case], problems func() []callvet.Problem) {
	r := newReader(d, "suite")
	r.Duplicates()
	var list *doc.Node
	var under common
	switch {
	case d.Root.Kind == doc.List && listsTools(&d.Root):
		s = &callvet.Suite{Dialect: "callvet"}
		r.tools(&s.Tools, &d.Root)
		return s, r.cases(nil, under), r.Done
	case d.Root.Kind != doc.Map ||
		(d.Root.Get("cases") == nil && d.Root.Get("test_cases") == nil && d.Root.Get("tools") == nil &&
			d.Root.Get("callvet") == nil):
		return nil, nil, nil
	}
	s, list, under = r.suite(&d.Root, include)
	return s, r.cases(list, under), r.Done
}

func listsTools(n *doc.Node) bool {
	if len(n.Items) == 0 {
		return false
	}
	first := &n.Items[0]
	if f := first.Get("function"); f != nil {
		return f.Get("name") != nil
	}
	return first.Get("name") != nil && (first.Get("parameters") != nil || first.Get("inputSchema") != nil)
}
