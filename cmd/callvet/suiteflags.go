// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

// suiteFlags are the flags for reading a suite.
type suiteFlags struct {
	dialect   string
	seeds     string
	snapshots string
	embedder  string
	tools     string
	mocks     string
	programs  bool
}

func (f *suiteFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.dialect, "from", "", "format of the suite (default: detected by content)")
	fs.StringVar(&f.seeds, "seeds", "", "JSON file with the values of {{seed:path}} tokens")
	fs.StringVar(&f.tools, "tools", "", "folder or file with tools, for suites that have none")
	fs.StringVar(&f.mocks, "mocks", "",
		"file with answers of tools, for cases without mocks: {TOOL: RESULT} or a list of mocks")
	fs.BoolVar(&f.programs, "programs", false,
		"import JavaScript and Python assertions as scorers, which need --allow-exec")
	fs.StringVar(&f.embedder, "embedder", "",
		"model that compares texts in mode semantic, such as openai/text-embedding-3-small")
	fs.StringVar(&f.snapshots, "snapshots", "", "JSON file with the values of {{snapshot:path}} tokens")
}

// request returns the request for the suite at path with the flags.
func (f *suiteFlags) request(path string) app.SuiteRequest {
	return app.SuiteRequest{
		Suite: path, Format: f.dialect, Tools: f.tools, Mocks: f.mocks, Seeds: f.seeds, Snapshots: f.snapshots,
		Embedder: f.embedder, Programs: f.programs,
	}
}

// shownFindings is the default number of printed findings.
const shownFindings = 25

// printProblems prints problems to standard error and counts them; warnings only if requested.
func (a *cli) printProblems(problems []callvet.Problem, warnings bool) (errs, warns int) {
	printed, left := 0, 0
	for _, p := range problems {
		level := "error"
		if p.Warning {
			warns++
			if !warnings {
				continue
			}
			level = "warning"
		} else {
			errs++
		}
		if printed >= shownFindings && !a.verbose {
			left++
			continue
		}
		printed++
		fmt.Fprintf(a.err, "%s: %s: %s\n", level, p.Code, a.relative(p))
	}
	if left > 0 {
		fmt.Fprintf(a.err, "… and %d more: -v prints all\n", left)
	}
	return errs, warns
}

// relative shortens a problem's file to the working directory.
func (a *cli) relative(p callvet.Problem) string {
	p.File = strings.TrimPrefix(p.File, a.dir+string(os.PathSeparator))
	return plain.Line(p.Error()) // it may contain texts of files
}
