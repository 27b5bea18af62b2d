// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
)

// verb is what a suggested command does.
type verb string

// The verbs. verbAgain starts a run like an old one.
const (
	verbAgain  verb = "again"
	verbResume verb = "resume"
	verbSweep  verb = "sweep" // resume, and tell the curve
	verbShow   verb = "show"
	verbAll    verb = "show all"
	verbReport verb = "report"
	verbDiff   verb = "diff"
	verbList   verb = "list"
	verbDelete verb = "delete"
	// Case is the file then.
	verbLint  verb = "lint"
	verbScore verb = "score"
)

// action is a command that helps now, as data. Its words are made by hints, and
// nowhere else.
type action struct {
	Verb verb
	Run  string
	Case string
	// With are flags that the command is about, such as a larger limit. They replace
	// what the run was started with.
	With []givenFlag
}

// givenFlag is a flag of a command line with its values; a switch that is on has none.
type givenFlag struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

func flag1(name, value string) givenFlag { return givenFlag{name, []string{value}} }

// words writes the flag for a shell.
func (g givenFlag) words() string {
	name := "--" + g.Name
	if g.Name == "model" {
		name = "-m"
	}
	if len(g.Values) == 0 {
		return " " + name
	}
	var b strings.Builder
	for _, v := range g.Values {
		if v == "true" || v == "false" { // of a switch, or of a flag that takes any text
			b.WriteString(" " + name + "=" + v)
			continue
		}
		b.WriteString(" " + name + " " + shellQuote(v))
	}
	return b.String()
}

// once are flags of one session or one look: they do not change what a run does.
func once() []string {
	return []string{
		"db", "json", "no-color", "verbose", "cpuprofile", "memprofile", "quiet", "output", "show-failures",
		"name", "resume", "no-wait", "keep-errors",
	}
}

// given lists the flags of a command line that make a run what it is, in the order of
// their names. Flags whose value has a secret in it were refused before.
func given(fs *pflag.FlagSet) []givenFlag {
	var out []givenFlag
	fs.Visit(func(f *pflag.Flag) {
		if slices.Contains(once(), f.Name) {
			return
		}
		g := givenFlag{Name: f.Name, Values: []string{f.Value.String()}}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			if g.Values = list.GetSlice(); len(g.Values) == 0 {
				return
			}
		} else if f.Value.Type() == "bool" && g.Values[0] == "true" {
			g.Values = nil
		}
		out = append(out, g)
	})
	return out
}

// hints writes actions as command lines that do what they say where they are
// typed: with the store that was named, and for a new run with everything that the
// old one was started with.
type hints struct {
	db string // --db as it was given; empty: the usual store
}

func (a *app) hints() hints { return hints{a.dbPath} }

// text is the command line of an action. man is the manifest of the run; nil where the
// verb needs none.
func (h hints) text(act action, man *manifest) string {
	line := ""
	switch act.Verb {
	case verbAgain:
		line = again(man, act.With)
	case verbResume:
		line = "callvet run --resume " + act.Run + words(act.With)
	case verbSweep:
		line = "callvet select sweep --resume " + act.Run + words(act.With)
	case verbShow:
		line = "callvet show " + act.Run
		if act.Case != "" {
			line += " " + shellQuote(act.Case)
		}
	case verbAll:
		line = "callvet show " + act.Run + " --all"
	case verbReport:
		line = "callvet report " + act.Run + " -o report.html"
	case verbDiff:
		line = "callvet diff " + act.Run + " OTHER-RUN"
	case verbList:
		line = "callvet runs"
	case verbDelete:
		line = "callvet runs --delete " + act.Run
	case verbLint:
		return "callvet lint " + shellQuote(act.Case) + words(act.With)
	case verbScore:
		return "callvet score " + shellQuote(act.Case) + words(act.With)
	}
	if h.db != "" {
		line += " --db " + shellQuote(h.db)
	}
	return line
}

func words(flags []givenFlag) string {
	var b strings.Builder
	for _, g := range flags {
		b.WriteString(g.words())
	}
	return b.String()
}

// again is the command that made a run, with other values for some of its flags.
func again(man *manifest, with []givenFlag) string {
	flags, command := man.Flags, cmp.Or(man.Command, "run")
	if flags == nil {
		flags = man.fromSpecs()
	}
	flags = slices.DeleteFunc(slices.Clone(flags), func(g givenFlag) bool {
		return slices.ContainsFunc(with, func(w givenFlag) bool { return w.Name == g.Name })
	})
	// Those who are asked come first, as people write it.
	slices.SortStableFunc(flags, func(a, b givenFlag) int { return cmp.Compare(rank(a.Name), rank(b.Name)) })
	return "callvet " + command + " " + shellQuote(man.Path) + words(flags) + words(with)
}

func rank(name string) int {
	if i := slices.Index([]string{"targets", "model", "tools", "base-url"}, name); i >= 0 {
		return i
	}
	return 9
}

// fromSpecs are the flags of a run of an earlier version, which did not keep them: what
// all its targets share is told.
func (m *manifest) fromSpecs() []givenFlag {
	if m.TargetFile != "" {
		return []givenFlag{flag1("targets", m.TargetFile)}
	}
	if len(m.Specs) == 0 {
		return nil
	}
	out := []givenFlag{{"model", targetsOf(m.Specs)}}
	for _, f := range []struct {
		name string
		of   func(*targetSpec) string
	}{
		{"base-url", func(s *targetSpec) string { return s.BaseURL }},
		{"api-key-env", func(s *targetSpec) string { return s.APIKeyEnv }},
		{"system", func(s *targetSpec) string { return s.SystemPrompt }},
		{"tool-choice", func(s *targetSpec) string { return s.ToolChoice }},
	} {
		v := f.of(&m.Specs[0])
		if v != "" && !slices.ContainsFunc(m.Specs, func(s targetSpec) bool { return f.of(&s) != v }) {
			out = append(out, flag1(f.name, v))
		}
	}
	if m.Prices != "" {
		out = append(out, flag1("prices", m.Prices))
	}
	return out
}

// missing adds the command that lists runs to an error about one that is not there.
func (h hints) missing(err error) error {
	if !errors.Is(err, callvet.ErrNotFound) {
		return err
	}
	return &callvet.Hinted{Err: err, Hint: h.text(action{Verb: verbList}, nil) + " lists the runs"}
}

// lint is the command that lints a suite as it was read.
func (f *suiteFlags) lint(h hints, path string) string {
	var with []givenFlag
	for _, g := range []givenFlag{
		flag1("from", f.dialect), flag1("tools", cmp.Or(f.tools, f.catalogueFile)), flag1("seeds", f.seeds), flag1("snapshots", f.snapshots), flag1("embedder", f.embedder),
	} {
		if g.Values[0] != "" {
			with = append(with, g)
		}
	}
	return h.text(action{Verb: verbLint, Case: path, With: with}, nil)
}

// shellQuote quotes a word for a POSIX shell when it needs it.
func shellQuote(s string) string {
	special := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:@=+,~", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
