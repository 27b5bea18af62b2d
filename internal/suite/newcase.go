// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// ReadCases reads an eval file of Eval Case Interfaces over tools; a blank one has no cases. The
// error wraps callvet.ErrInvalid for a file with errors.
func ReadCases(file string, data []byte, tools []callvet.Tool) ([]callvet.Case, error) {
	if blank(data) {
		return nil, nil
	}
	s, problems, err := parse(data, file, Options{Tools: tools, NoIncludes: true, Dialect: dialect.Forge})
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(problems, func(p callvet.Problem) bool { return !p.Warning }); i >= 0 {
		return nil, fmt.Errorf("read cases: %w: %w", callvet.ErrInvalid, problems[i])
	}
	return s.Cases, nil
}

// NextID is the id of the next case of a tool in a golden, labeled or regression tier. It is
// rg-get-weather-004 where 003 is the last id in the file or its lock. The ids of archived cases
// are not used again.
func NextID(tier callvet.Tier, tool string, cases []callvet.Case, l *Lock) string {
	prefix := tierPrefixes(tier)[0] + "-" + slug(tool) + "-"
	last := 0
	see := func(id string) {
		if rest, ok := strings.CutPrefix(id, prefix); ok {
			if n, err := strconv.Atoi(rest); err == nil && n < 1<<30 {
				last = max(last, n)
			}
		}
	}
	for i := range cases {
		see(cases[i].ID)
	}
	for i := range l.Cases {
		see(l.Cases[i].ID)
	}
	return fmt.Sprintf("%s%03d", prefix, last+1)
}

// FreeID is the id of a case that is added to cases. A golden, labeled or regression case gets
// the next id of its tool that neither cases nor the lock contain. Any other case keeps its own
// id, with a number where that id is taken.
func FreeID(tier callvet.Tier, id, tool string, cases []callvet.Case, l *Lock) string {
	if tierPrefixes(tier) != nil {
		return NextID(tier, tool, cases, l)
	}
	free := id
	for n := 2; slices.ContainsFunc(cases, func(c callvet.Case) bool { return c.ID == free }); n++ {
		free = fmt.Sprintf("%s-%d", id, n)
	}
	return free
}

// AddCase appends a golden, labeled or regression case to an eval file, which may be new (no
// data), and its entry into the lock. The other bytes of the file stay as they are. The error
// wraps callvet.ErrInvalid for a file of another form, and callvet.ErrConflict for an id that is
// taken.
func AddCase(file string, data []byte, l *Lock, c *callvet.Case, now time.Time, state json.RawMessage) ([]byte, error) {
	fail := func(kind error, why string) error {
		return fmt.Errorf("add case %q to %s: %w: %s", c.ID, file, kind, why)
	}
	if tierPrefixes(c.Tier) == nil {
		return nil, fail(callvet.ErrInvalid, "it is no golden, labeled or regression case")
	}
	if blank(data) {
		data = []byte("[]\n")
	}
	s, problems, err := parse(data, file, Options{KeepTokens: true, NoIncludes: true, Dialect: dialect.Forge})
	switch {
	case err != nil:
		return nil, err
	case doc.IsYAML(file, data):
		return nil, fail(callvet.ErrInvalid, "cases are added to JSON files")
	case HasErrors(problems):
		return nil, fail(callvet.ErrInvalid, "the file has errors; callvet lint prints them")
	case l.Find(c.ID) != nil || slices.ContainsFunc(s.Cases, func(x callvet.Case) bool { return x.ID == c.ID }):
		return nil, fail(callvet.ErrConflict, "the id is taken")
	}
	text, _, err := dialect.Export(dialect.Forge, &callvet.Suite{Cases: []callvet.Case{*c}})
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(text), []byte("[")), []byte("]")))
	at, before := bytes.LastIndexByte(data, ']'), "\n  "
	if n := len(s.Cases); n > 0 {
		last := textsOf(file, data, []callvet.Position{s.Cases[n-1].Position})[0]
		at, before = last.to, ",\n  "
	} else if at < 0 || data[0] != '[' {
		return nil, fail(callvet.ErrInvalid, "the file has no list of cases")
	}
	out := slices.Concat(data[:at], []byte(before), text, data[at:])
	if len(s.Cases) == 0 {
		out = slices.Concat(data[:at], []byte(before), text, []byte("\n"), data[at:])
	}
	if s, _, err = parse(out, file, Options{KeepTokens: true, NoIncludes: true, Dialect: dialect.Forge}); err != nil {
		return nil, err
	}
	_, err = l.Seal(file, out, s.Cases[len(s.Cases)-1:], now, state)
	return out, err
}

// slug is a tool's name in the form used in ids: small letters and digits, separated by -.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if len(words) == 0 {
		return "tool"
	}
	return strings.Join(words, "-")
}
