// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
)

// keepInputs refuses to write to a file that the same command reads: an argument, a flag that
// names a file, or the database. It compares only names and reads nothing. Files that a suite
// names, and files in a folder, are not known here.
func (a *cli) keepInputs(cmd *cobra.Command, args []string) error {
	type named struct{ what, file string }
	var outputs, inputs []named
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch n := (named{"--" + f.Name, v}); {
			case f.Name == "output" || f.Name == "partial":
				outputs = append(outputs, n)
			// its output adds to labels
			case readsFile(f.Name) && !(f.Name == "labels" && cmd.CommandPath() == "callvet judge show"):
				inputs = append(inputs, n)
			}
		}
	})
	if cmd.CommandPath() != "callvet tools apply" { // edits the catalogue in its place
		for _, v := range args {
			inputs = append(inputs, named{"its argument", v})
		}
	}
	if db, err := a.storePath(); err == nil {
		inputs = append(inputs, named{"the database", db})
	}
	files := paths{a}
	for _, o := range outputs {
		if o.file == "" || files.Kind(o.file) != app.KindFile {
			continue // there is no file that could be lost
		}
		for _, in := range inputs {
			for _, name := range fileNames(in.file) {
				if files.Same(o.file, name) {
					return usagef("%s %s is read by the same command (%s): write to another file", o.what,
						o.file, in.what)
				}
			}
		}
	}
	return nil
}

// readsFile reports whether the value of a flag names a file, or may.
func readsFile(flag string) bool {
	switch flag {
	case "abstain-on", "against", "baseline", "calibration", "edits", "faults", "gates", "guard", "labels", "ledger", "live",
		"mocks", "model", "prices", "prompt", "recordings",
		"routes", "run", "safety", "schema", "scoring", "seeds", "snapshots", "suite", "system", "system-for",
		"targets", "test", "tools", "weights":
		return true
	}
	return false
}

// fileNames are the files that a value may name: the value itself, or the part after recorded:, @
// and the like.
func fileNames(value string) []string {
	out := []string{value}
	for _, mark := range []string{":", "@"} {
		if _, name, ok := strings.Cut(value, mark); ok {
			out = append(out, name)
		}
	}
	return out
}
