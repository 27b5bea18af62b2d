// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/dialect"
	"github.com/callvet/callvet/internal/suite/native"
)

// Stream is a suite that is read and linted one case at a time. So a suite of a hundred thousand
// cases needs only the memory of its file.
type Stream struct {
	// Suite is the suite without its cases.
	Suite *callvet.Suite
	read  *reading
	lint  *linter
}

// Open starts to read and lint a suite. Lint finds what is readable but wrong: names that do not
// exist, expectations that contradict a tool's schema or each other, cases that assert nothing or
// pass by doing nothing, gold that does not pass its own case. Problems that are not warnings would
// make a run's numbers misleading; there are at most 500.
//
// JSON in callvet's own format and in that of Tool Calling Evaluation is read case by case; any
// other file is read whole first. The error is the error of Load; the problems then contain the
// reasons.
func Open(path string, opt Options, lint LintOptions) (*Stream, []callvet.Problem, error) {
	r, problems, err := suiteRead(path, opt)
	if err != nil {
		return nil, problems, err
	}
	l := newLinter(r.suite, lint)
	l.file = path // until a case has its own
	return &Stream{Suite: r.suite, read: r, lint: l}, nil, nil
}

// File is a file that a suite was read from.
type File struct {
	Name string
	// Hash is the SHA-256 of its bytes, in hexadecimal digits.
	Hash string
	// Metadata is the envelope of an eval file, and Lock the record of its cases when they were
	// made; nil without one.
	Metadata []byte
	Lock     *Lock
}

// Files are the files that the suite was read from, in the order of their cases. Files that the
// suite names (tools_from, answers) are not included.
func (s *Stream) Files() []File {
	if s.read == nil {
		return nil
	}
	return s.read.files
}

// Cases yields every case once, after it was linted; a second call yields none. The receiver may
// keep a case. ctx ends lint's calls of worlds.
func (s *Stream) Cases(ctx context.Context) iter.Seq[*callvet.Case] {
	return func(yield func(*callvet.Case) bool) {
		for c := range s.read.cases {
			s.lint.oneCase(ctx, c)
			if !yield(c) {
				return
			}
		}
	}
}

// Problems are the findings of reading and linting, in the order of the file, once Cases has
// ended. A problem that both found is reported once.
func (s *Stream) Problems() []callvet.Problem {
	problems := s.read.problems()
	unread := map[string][]string{} // a value that the loader could not read is not judged again
	for _, p := range problems {
		if !p.Warning {
			unread[p.Case] = append(unread[p.Case], p.Key)
		}
	}
	for _, p := range s.lint.finish() {
		if !slices.ContainsFunc(unread[p.Case], func(key string) bool { return key != "" && within(key, p.Key) }) {
			problems = append(problems, p)
		}
	}
	inOrderOfFile(problems)
	return problems
}

// Check loads and lints; a problem that both found is reported once.
func Check(ctx context.Context, path string, opt Options, lint LintOptions) (*callvet.Suite, []callvet.Problem, error) {
	s, problems, err := Open(path, opt, lint)
	if err != nil {
		return nil, problems, err
	}
	for c := range s.Cases(ctx) {
		s.Suite.Cases = append(s.Suite.Cases, *c)
	}
	return s.Suite, s.Problems(), nil
}

// within reports whether one key's value lies in the other's.
func within(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// reading is a suite with cases that are read when the iterator reaches them.
type reading struct {
	suite    *callvet.Suite           // without cases
	cases    iter.Seq[*callvet.Case]  // once
	problems func() []callvet.Problem // complete when all cases were read
	files    []File
}

// all reads the cases that were not read yet into the suite.
func (r *reading) all() *callvet.Suite {
	for c := range r.cases {
		r.suite.Cases = append(r.suite.Cases, *c)
	}
	return r.suite
}

// inMemory is the reading of a suite that was read whole.
func inMemory(s *callvet.Suite, problems []callvet.Problem, err error) (*reading, []callvet.Problem, error) {
	if err != nil {
		return nil, problems, err
	}
	head, cases := *s, s.Cases
	head.Cases = nil
	return &reading{
		suite: &head, problems: func() []callvet.Problem { return problems },
		cases: func(yield func(*callvet.Case) bool) {
			for i := range cases {
				if !yield(&cases[i]) {
					return
				}
			}
		},
	}, nil, nil
}

// stream reads JSON of the two formats that large suites come in. It returns nil
// for everything else, broken files included, which are then read whole.
func stream(data []byte, name string, opt Options) (*reading, error) {
	if doc.IsYAML(name, data) || opt.Dialect == "" && dialect.IsBFCL(data, name) || checkText(data, name) != nil {
		return nil, nil
	}
	r := &reading{}
	switch {
	case opt.Dialect == OwnForm, opt.Dialect == "" && hasMarker(data):
		d, bad := doc.Read(name, data)
		if bad != nil {
			return nil, nil
		}
		r.suite, r.cases, r.problems = native.Stream(d,
			func(path string) ([]callvet.Tool, error) { return include(d.Name, path, opt) })
	case opt.Dialect == dialect.Toolsuite, opt.Dialect == "":
		r.suite, r.cases, r.problems = dialect.Stream(data, name,
			dialect.Options{Seeds: opt.Seeds, Snapshots: opt.Snapshots, Include: opt.include})
		opt.KeepTokens = true // the format has none
	}
	if r.suite == nil {
		return nil, nil
	}
	if !opt.KeepTokens && bytes.Contains(data, []byte("{{")) {
		t, err := readTokens(opt.Seeds, opt.Snapshots)
		if err != nil {
			return nil, err
		}
		r.cases = t.resolved(r.cases)
	}
	return r, nil
}

// suiteRead opens the file, the folder or standard input.
func suiteRead(path string, opt Options) (*reading, []callvet.Problem, error) {
	r, problems, err := readPath(path, opt)
	if err == nil {
		r.suite.Tools = append(r.suite.Tools, opt.Tools...)
		r.suite.Mocks = append(r.suite.Mocks, opt.Mocks...)
	}
	return r, problems, err
}
