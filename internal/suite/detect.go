// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
)

// parseAs reads data in the dialect asked for, or in the one it is in. A suite
// that says callvet: 1 is always the native one.
func parseAs(data []byte, name string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	native := opt.Dialect == "callvet"
	d, bad := readDocument(name, data)
	if bad == nil {
		native = native || d.root.get("callvet") != nil
	}
	if !native {
		if s, problems, err := parseForeign(data, name, opt); s != nil || err != nil {
			return s, problems, err
		}
	}
	if bad != nil {
		p := d.syntax(bad)
		return nil, []callvet.Problem{p}, &callvet.Hinted{Err: fmt.Errorf("read suite: %w: %w", callvet.ErrInvalid, p), Hint: bad.fix}
	}
	return parseNative(d, opt)
}

func parseNative(d *document, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	r := &reader{doc: d}
	r.duplicates()
	switch {
	case d.root.kind == kindList && listsTools(&d.root):
		s := &callvet.Suite{Dialect: "callvet", Tools: r.tools(&d.root)}
		return s, r.done(), nil
	case d.root.kind != kindMap || (d.root.get("cases") == nil && d.root.get("test_cases") == nil && d.root.get("tools") == nil && d.root.get("callvet") == nil):
		return nil, nil, unknownFormat(d)
	}
	s := r.suite(&d.root, func(path string) ([]callvet.Tool, error) { return include(d.file, path, opt) })
	return s, r.done(), nil
}

// done returns the problems, with a last one that counts those left out.
func (r *reader) done() []callvet.Problem {
	r.duplicates()
	if r.dropped > 0 {
		r.problems = append(r.problems, callvet.Problem{
			Position: callvet.Position{File: r.doc.file}, Code: "more-problems", Warning: r.errors == 0,
			Message: fmt.Sprintf("%d more problems are not listed", r.dropped), Fix: "mend the first ones and look again",
		})
	}
	return r.problems
}

func listsTools(n *node) bool {
	if len(n.items) == 0 {
		return false
	}
	first := &n.items[0]
	if f := first.get("function"); f != nil {
		return f.get("name") != nil
	}
	return first.get("name") != nil && (first.get("parameters") != nil || first.get("inputSchema") != nil)
}

func unknownFormat(d *document) error {
	found := "a list"
	if d.root.kind == kindMap {
		var keys []string
		for _, e := range d.root.names {
			keys = append(keys, e.name)
		}
		found = "the keys " + clip(strings.Join(keys, ", "), 120)
	} else if d.root.kind != kindList {
		found = d.root.kind.String()
	}
	return &callvet.Hinted{
		Err:  fmt.Errorf("read suite %s: %w: not a suite in any format callvet knows: found %s", d.file, callvet.ErrInvalid, found),
		Hint: "a callvet suite has tools: and cases:; `callvet init` writes one",
	}
}

// include reads the tools that a suite's tools_from names.
func include(file, path string, opt Options) ([]callvet.Tool, error) {
	if opt.NoIncludes {
		return nil, fmt.Errorf("%w: this suite may not read other files", callvet.ErrDenied)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	data, err := opt.readFile(path)
	if err != nil {
		return nil, err
	}
	d, bad := readDocument(path, data)
	if bad != nil {
		return nil, d.syntax(bad)
	}
	list := &d.root
	if list.kind == kindMap && list.get("tools") != nil {
		list = list.get("tools")
	}
	r := &reader{doc: d}
	r.duplicates()
	tools := r.tools(list)
	var errs []error
	for _, p := range r.done() {
		errs = append(errs, p)
	}
	return tools, errors.Join(errs...)
}

func blank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }
