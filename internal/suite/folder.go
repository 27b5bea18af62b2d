// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/dialect"
	"github.com/callvet/callvet/internal/suite/native"
)

// loadFolder merges the suites of a folder's files.
func loadFolder(dir string, opt Options) (_ *callvet.Suite, files []File, _ []callvet.Problem, _ error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read suite folder: %w", err)
	}
	var all *callvet.Suite
	var problems []callvet.Problem
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") ||
			!slices.Contains([]string{".yaml", ".yml", ".json", ".jsonc", ".jsonl", ".gz"},
				strings.ToLower(filepath.Ext(path))) {
			continue
		}
		data, err := opt.include(dir, e.Name())
		if err != nil {
			return nil, nil, nil, fmt.Errorf("read suite folder %s: %w", dir, err)
		}
		if dialect.IsBFCL(data, path) { // its files are merged by rules of their own
			s, problems, err := dialect.ImportBFCLFolder(dir, dialect.Options{Include: opt.include})
			return s, nil, problems, err
		}
		s, found, err := parse(data, path, opt)
		if err != nil {
			problems = append(problems, ignored(path, found, err))
			continue
		}
		problems = append(problems, found...)
		changed, lock, err := watchAll(s.Cases, path, data, opt)
		if err != nil {
			return nil, nil, problems, err
		}
		files = append(files, fileOf(path, data, lock))
		problems = append(problems, changed...)
		if all == nil {
			all = s
			continue
		}
		problems = append(problems, merge(all, s, path)...)
	}
	if all == nil || (len(all.Cases) == 0 && len(all.Tools) == 0) {
		return nil, nil, problems, &callvet.Hinted{
			Err:  fmt.Errorf("read suite folder %s: %w: no file in it is a suite", dir, callvet.ErrNotFound),
			Hint: "suite files end in .yaml, .json or .jsonl",
		}
	}
	if all.Name == "" {
		all.Name = filepath.Base(dir)
	}
	return all, files, problems, nil
}

// ignored reports why a file of the folder was left out: broken text is an error; a file of a
// different kind is not.
func ignored(path string, found []callvet.Problem, err error) callvet.Problem {
	if len(found) > 0 {
		return found[0]
	}
	return callvet.Problem{
		Position: callvet.Position{File: path}, Code: "file-ignored", Warning: true,
		Message: "the file is left out: " + err.Error(),
	}
}

// merge adds b, read from path, to a. Equal tools become one; the numbers of cases without an id
// continue.
func merge(a, b *callvet.Suite, path string) []callvet.Problem {
	var problems []callvet.Problem
	conflict := func(key, first, second string) {
		problems = append(problems, callvet.Problem{
			Position: callvet.Position{File: path}, Code: "conflicting-files", Key: key, Warning: true,
			Message: fmt.Sprintf("the folder's files disagree about %s; %q is kept, not %q", key, doc.Clip(first, 40),
				doc.Clip(second, 40)),
		})
	}
	text := func(key string, to *string, from string) {
		if *to == "" {
			*to = from
		} else if from != "" && *to != from {
			conflict(key, *to, from)
		}
	}
	if a.Name != b.Name && a.Name != "" && b.Name != "" {
		a.Name += " + " + b.Name
	} else {
		text("name", &a.Name, b.Name)
	}
	if a.Description == "" {
		a.Description = b.Description
	}
	text("version", &a.Version, b.Version)
	text("system_prompt", &a.SystemPrompt, b.SystemPrompt)
	text("tool_choice", &a.Defaults.ToolChoice, b.Defaults.ToolChoice)
	if reflect.ValueOf(a.Defaults).IsZero() {
		a.Defaults = b.Defaults
	} else if !reflect.ValueOf(b.Defaults).IsZero() && !reflect.DeepEqual(a.Defaults, b.Defaults) {
		conflict("defaults", "the first file's", "this file's")
	}
	for i := range b.Tools {
		if j := slices.IndexFunc(a.Tools, func(t callvet.Tool) bool {
			return t.Name == b.Tools[i].Name && bytes.Equal(t.Parameters, b.Tools[i].Parameters)
		}); j < 0 {
			a.Tools = append(a.Tools, b.Tools[i])
		}
	}
	a.Mocks = append(a.Mocks, b.Mocks...)
	a.Faults = append(a.Faults, b.Faults...)
	for i := range b.Cases {
		c := b.Cases[i]
		if c.ID == native.AutoID(i) {
			c.ID = native.AutoID(len(a.Cases))
		}
		a.Cases = append(a.Cases, c)
	}
	if len(a.Cases) == len(b.Cases) || a.Dialect == "" {
		a.Dialect, a.Foreign = b.Dialect, b.Foreign
	} else if len(b.Cases) > 0 && a.Dialect != b.Dialect {
		a.Dialect, a.Foreign = OwnForm, nil
	}
	return problems
}
