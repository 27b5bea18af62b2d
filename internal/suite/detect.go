// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// parseAs reads data in the dialect asked for, or in the one it is in. A suite
// that says callvet: 1 is always the native one.
func parseAs(data []byte, name string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	if opt.Dialect == "" && !saysNative(data) {
		if s, problems, err := parseForeign(data, name, opt); s != nil || err != nil {
			return s, problems, err
		}
	} else if opt.Dialect != "callvet" && opt.Dialect != "" {
		return parseForeign(data, name, opt)
	}
	d, bad := readDocument(name, data)
	if bad != nil {
		if err := dialect.Refusal(data, name); bad.trailing && err != nil { // JSON Lines of something else
			return nil, nil, err
		}
		p := d.syntax(bad)
		err := fmt.Errorf("read suite: %w: %w", callvet.ErrInvalid, p)
		return nil, []callvet.Problem{p}, &callvet.Hinted{Err: err, Hint: cmp.Or(bad.fix, "a suite is YAML or JSON; `callvet init` writes one to start from")}
	}
	s, problems := parseNative(d, opt)
	if s != nil {
		if !opt.KeepTokens && bytes.Contains(data, []byte("{{")) {
			if err := resolveTokens(s, opt.Seeds, opt.Snapshots); err != nil {
				return nil, problems, err
			}
		}
		return s, problems, nil
	}
	if err := dialect.Refusal(data, name); err != nil {
		return nil, nil, err
	}
	return nil, nil, &callvet.Hinted{
		Err:  fmt.Errorf("read suite %s: %w: not a suite in any format callvet knows", name, callvet.ErrInvalid),
		Hint: "a callvet suite has tools: and cases:; `callvet init` writes one",
	}
}

// saysNative tells whether the text has the marker near its start: the cheap
// half of detection, which keeps native suites out of the dialects' hands.
func saysNative(data []byte) bool {
	head := data[:min(len(data), 4096)]
	for line := range bytes.Lines(head) {
		line = bytes.TrimLeft(line, " \t{\xef\xbb\xbf")
		if bytes.HasPrefix(line, []byte("callvet:")) || bytes.HasPrefix(line, []byte(`"callvet":`)) {
			return true
		}
	}
	return false
}

func parseNative(d *document, opt Options) (*callvet.Suite, []callvet.Problem) {
	r := &reader{doc: d}
	r.duplicates()
	switch {
	case d.root.kind == kindList && listsTools(&d.root):
		s := &callvet.Suite{Dialect: "callvet", Tools: r.tools(&d.root)}
		return s, r.done()
	case d.root.kind != kindMap || (d.root.get("cases") == nil && d.root.get("test_cases") == nil && d.root.get("tools") == nil && d.root.get("callvet") == nil):
		return nil, nil
	}
	s := r.suite(&d.root, func(path string) ([]callvet.Tool, error) { return include(d.file, path, opt) })
	return s, r.done()
}

// done returns the problems, with a last one that counts those left out.
func (r *reader) done() []callvet.Problem {
	r.duplicates()
	slices.SortStableFunc(r.problems, func(a, b callvet.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
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
