// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
)

// flagWords write a flag for a shell.
func flagWords(g app.Setting) string {
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

// once are flags of one session or one view: they do not change a run.
func once() []string {
	return []string{
		"db", "json", "no-color", "verbose", "cpuprofile", "memprofile", "quiet", "output", "show-failures",
		"name", "notes", "run-tag", "resume", "no-wait", "keep-errors", "dry-run",
	}
}

// given lists the flags of a command line that define a run, in the order of their names. Flags
// with a secret in the value were refused before.
func given(fs *pflag.FlagSet) []app.Setting {
	var out []app.Setting
	fs.Visit(func(f *pflag.Flag) {
		if slices.Contains(once(), f.Name) {
			return
		}
		g := app.Setting{Name: f.Name, Values: []string{f.Value.String()}}
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

// hints writes actions as command lines that can be typed unchanged: with the named store, and for
// a new run with all flags of the old one.
type hints struct {
	db string // --db as it was given; empty: the usual store
}

func (a *cli) hints() hints { return hints{a.dbPath} }

// text is the command line of an action. man is the manifest of the run; nil where the
// verb needs none.
func (h hints) text(act app.Action, man *results.Manifest) string {
	line := ""
	switch act.Verb {
	case app.VerbAgain:
		line = again(man, inFlags(act.With))
	case app.VerbResume:
		line = "callvet run --resume " + act.Run + words(inFlags(act.With))
	case app.VerbSweep:
		line = "callvet select sweep --resume " + act.Run + words(inFlags(act.With))
	case app.VerbShow:
		line = "callvet show " + act.Run
		if act.Case != "" {
			line += " " + shellQuote(act.Case)
		}
	case app.VerbAll:
		line = "callvet show " + act.Run + " --all"
	case app.VerbReport:
		line = "callvet report " + act.Run + " -o report.html"
	case app.VerbDiff:
		line = "callvet diff " + act.Run + " OTHER-RUN"
	case app.VerbList:
		line = "callvet runs"
	case app.VerbDelete:
		line = "callvet runs --delete " + act.Run
	case app.VerbJudge:
		line = "callvet judge run " + act.Run + words(act.With)
	case app.VerbLint:
		return "callvet lint " + shellQuote(act.Case) + words(inFlags(act.With))
	case app.VerbScore:
		return "callvet score " + shellQuote(act.Case) + words(inFlags(act.With))
	}
	if h.db != "" {
		line += " --db " + shellQuote(h.db)
	}
	return line
}

func words(flags []app.Setting) string {
	var b strings.Builder
	for _, g := range flags {
		b.WriteString(flagWords(g))
	}
	return b.String()
}

// again is the command that made a run, with other values for some of its flags.
func again(man *results.Manifest, with []app.Setting) string {
	flags, command := man.Origin.Flags, cmp.Or(man.Origin.Command, "run")
	if flags == nil {
		flags = fromSpecs(man)
	}
	asks := func(name string) bool {
		return slices.ContainsFunc(with, func(w app.Setting) bool { return w.Name == name })
	}
	part := []string{"until-decided", "gates", "baseline", "ledger"} // gates are not about cases chosen for their outcome
	flags = slices.DeleteFunc(slices.Clone(flags), func(g app.Setting) bool {
		return asks(g.Name) || man.Until != nil && asks("failed-from") && slices.Contains(part, g.Name)
	})
	// Those who are asked come first, as people write it.
	slices.SortStableFunc(flags, func(a, b app.Setting) int { return cmp.Compare(rank(a.Name), rank(b.Name)) })
	return "callvet " + command + " " + shellQuote(man.Path) + words(flags) + words(with)
}

func rank(name string) int {
	if i := slices.Index([]string{"targets", "model", "tools", "base-url"}, name); i >= 0 {
		return i
	}
	return 9
}

// fromSpecs are the flags of a run of an earlier version, which did not store them: the settings
// that all its targets share.
func fromSpecs(m *results.Manifest) []app.Setting {
	if m.TargetFile != "" {
		return []app.Setting{app.One("targets", m.TargetFile)}
	}
	if len(m.Specs) == 0 {
		return nil
	}
	out := []app.Setting{{Name: "model", Values: app.TargetNames(m.Specs)}}
	for _, f := range []struct {
		name string
		of   func(*app.TargetSpec) string
	}{
		{"base-url", func(s *app.TargetSpec) string { return s.BaseURL }},
		{"api-key-env", func(s *app.TargetSpec) string { return s.APIKeyEnv }},
		{"system", func(s *app.TargetSpec) string { return s.SystemPrompt }},
		{"tool-choice", func(s *app.TargetSpec) string { return s.ToolChoice }},
	} {
		v := f.of(&m.Specs[0])
		if v != "" && !slices.ContainsFunc(m.Specs, func(s app.TargetSpec) bool { return f.of(&s) != v }) {
			out = append(out, app.One(f.name, v))
		}
	}
	if m.Prices != "" {
		out = append(out, app.One("prices", m.Prices))
	}
	return out
}

// lint is the command that lints a suite as it was read.
func (f *suiteFlags) lint(h hints, path string) string {
	var with []app.Setting
	for _, g := range []app.Setting{
		app.One("from", f.dialect), app.One("tools", f.tools), app.One("seeds", f.seeds),
		app.One("snapshots", f.snapshots), app.One("embedder", f.embedder),
	} {
		if g.Values[0] != "" {
			with = append(with, g)
		}
	}
	return h.text(app.Action{Verb: app.VerbLint, Case: path, With: with}, nil)
}

// shellQuote quotes a word for a POSIX shell when it needs it.
func shellQuote(s string) string {
	special := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_./:@=+,~", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
