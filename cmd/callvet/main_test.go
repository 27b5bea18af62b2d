// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the scripts' golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"callvet": func() { os.Exit(mainExit()) },
	})
}

// TestScript runs the real main as a user would, one script per command and point.
func TestScript(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("CALLVET_DB", filepath.Join(e.WorkDir, "runs.db"))
			e.Setenv("EXAMPLES", examples)
			e.Setenv("HOME", e.WorkDir)
			for _, name := range []string{"MUTANT", "MUTANT_TRAIL"} { // of callvet-mutate
				e.Setenv(name, os.Getenv(name))
			}
			return nil
		},
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
