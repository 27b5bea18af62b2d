// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/console"
)

// once are flags of one session or one view: they do not change a run.
func once() []string {
	return []string{
		"db", "json", "no-color", "verbose", "cpuprofile", "memprofile", "quiet", "output", "show-failures",
		"name", "notes", "run-tag", "resume", "no-wait", "keep-errors", "dry-run",
	}
}

// given lists the flags of a command line that define a run, in the order of their names. Flags
// with a secret in the value have been refused.
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

func (a *cli) hints() console.Hints { return console.Hints{DB: a.dbPath} }

// lint is the command that lints the suite with the same settings.
func (f *suiteFlags) lint(h console.Hints, path string) string {
	var with []app.Setting
	for _, g := range []app.Setting{
		app.One("from", f.dialect), app.One("tools", f.tools), app.One("seeds", f.seeds),
		app.One("snapshots", f.snapshots), app.One("embedder", f.embedder),
	} {
		if g.Values[0] != "" {
			with = append(with, g)
		}
	}
	return h.Text(app.Action{Verb: app.VerbLint, Case: path, With: with}, nil)
}
