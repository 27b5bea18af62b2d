// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/dialect"
	"github.com/callvet/callvet/internal/suite/native"
)

// parseAs reads data in the requested dialect, or else in the dialect that it detects. A suite
// with callvet: 1 is always the native one.
func parseAs(data []byte, name string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	if opt.Dialect != OwnForm && opt.Dialect != "" {
		return parseForeign(data, name, opt)
	}
	var d *doc.File
	var bad *doc.SyntaxError
	yaml := doc.IsYAML(name, data)
	if yaml { // read here first, where there is a guard before the parser
		if d, bad = doc.Read(name, data); bad != nil {
			return broken(d, bad)
		}
	}
	if opt.Dialect == "" {
		if opt.Dialect = Form(data, name); opt.Dialect != OwnForm {
			return parseForeign(data, name, opt)
		}
	}
	if !yaml {
		if d, bad = doc.Read(name, data); bad != nil {
			if bad.Trailing { // JSON Lines of something else
				if err := dialect.Refusal(data, name); err != nil {
					return nil, nil, err
				}
			}
			return broken(d, bad)
		}
	}
	return parseNative(d, data, opt)
}

func broken(d *doc.File, bad *doc.SyntaxError) (*callvet.Suite, []callvet.Problem, error) {
	p := d.Problem(bad)
	err := fmt.Errorf("read suite: %w: %w", callvet.ErrInvalid, p)
	return nil, []callvet.Problem{p}, &callvet.Hinted{
		Err:  err,
		Hint: cmp.Or(bad.Fix, "a suite is YAML or JSON; `callvet init` writes one to start from"),
	}
}

func parseNative(d *doc.File, data []byte, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	s, problems := native.Read(d, func(path string) ([]callvet.Tool, error) { return include(d.Name, path, opt) })
	if s != nil {
		if !opt.KeepTokens && bytes.Contains(data, []byte("{{")) {
			t, err := readTokens(opt.Seeds, opt.Snapshots)
			if err != nil {
				return nil, problems, err
			}
			for i := range s.Cases {
				t.resolve(&s.Cases[i])
			}
		}
		return s, problems, nil
	}
	if err := dialect.Refusal(data, d.Name); err != nil {
		return nil, nil, err
	}
	return nil, nil, &callvet.Hinted{
		Err:  fmt.Errorf("read suite %s: %w: not a suite in any format callvet knows", d.Name, callvet.ErrInvalid),
		Hint: "a callvet suite has tools: and cases:; `callvet init` writes one",
	}
}

// Form returns the format of a text that Load reads, a name of Dialects. A suite that was converted
// keeps the name of its first format as its dialect, so the dialect is not that format.
func Form(data []byte, name string) string {
	switch {
	case dialect.IsBFCL(data, name):
		return dialect.BFCL
	case hasMarker(data):
		return OwnForm
	}
	return cmp.Or(dialect.Detect(data, name), OwnForm)
}

// hasMarker reports whether the text has the marker near its start. This cheap half of the
// detection keeps native suites away from the dialects.
func hasMarker(data []byte) bool {
	head := data[:min(len(data), 4096)]
	for line := range bytes.Lines(head) {
		line = bytes.TrimLeft(line, " \t{\xef\xbb\xbf")
		if bytes.HasPrefix(line, []byte("callvet:")) || bytes.HasPrefix(line, []byte(`"callvet":`)) {
			return true
		}
	}
	return false
}

// include reads the tools that a suite's tools_from names, from the suite's folder.
func include(file, path string, opt Options) ([]callvet.Tool, error) {
	dir, full := filepath.Dir(file), path
	if !filepath.IsAbs(path) {
		full = filepath.Join(dir, path)
	}
	data, err := opt.include(dir, path)
	if err != nil {
		return nil, err
	}
	if data, err = doc.ReadAll(path, data, opt.limit()); err != nil {
		return nil, err
	}
	d, bad := doc.ReadLists(path, data)
	if bad != nil {
		return nil, unquoted(full, []callvet.Problem{d.Problem(bad)})
	}
	tools, problems := native.ReadTools(d)
	return tools, unquoted(full, problems)
}

// unquoted returns the places of mistakes in a file that a suite names, without its content: the
// author of the suite may not be allowed to read the file.
func unquoted(path string, problems []callvet.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	const listed = 5
	var at []string
	for i, p := range problems {
		if i == listed {
			at = append(at, fmt.Sprintf("and %d more", len(problems)-i))
			break
		}
		at = append(at, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Code))
	}
	return &callvet.Hinted{
		Err: fmt.Errorf("it holds no list of tools that can be read, at line:column %s: %w", strings.Join(at, ", "),
			callvet.ErrInvalid),
		Hint: "callvet tools lint " + path + " says what is wrong with it",
	}
}

func blank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }
