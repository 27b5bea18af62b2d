// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/app"
)

// TestFieldsAreFlags: what a request for a run says is said by a flag of run, so that a mistake
// in a field is told as one in a flag that is there.
func TestFieldsAreFlags(t *testing.T) {
	t.Parallel()
	cmd, _, err := new(cli).rootCommand().Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	other := []string{"suite", "shared", "origin", "selection"} // an argument, and what flags say together
	var fields func(of reflect.Type) []string
	fields = func(of reflect.Type) (out []string) {
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous:
				out = append(out, fields(f.Type)...)
			case name == "":
				t.Errorf("%s.%s has no name in JSON", of, f.Name)
			case name != "-":
				out = append(out, name)
			}
		}
		return out
	}
	for _, of := range []reflect.Type{reflect.TypeFor[app.RunRequest](), reflect.TypeFor[app.ResumeRequest]()} {
		for _, name := range append(fields(of), "headers", "agent") { // the latter of targets
			flag := flagOf(name)
			if name == "run" && of.Name() == "ResumeRequest" {
				flag = "--resume"
			}
			long := strings.TrimPrefix(flag, "--")
			if !slices.Contains(other, name) && cmd.Flags().Lookup(long) == nil && cmd.Flags().ShorthandLookup(strings.TrimPrefix(flag, "-")[:1]) == nil {
				t.Errorf("%s: field %s would be told as %s, which run does not have", of, name, flag)
			}
		}
	}
}
