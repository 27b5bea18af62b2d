// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/replay"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/toolfile"
)

// maxSettings bounds a file of settings (prices, targets, rules of safety, a prompt): people
// do not write more. maxTokens bounds the values of tokens, which programs write.
const (
	maxSettings = 16 << 20
	maxTokens   = 64 << 20
)

// suiteFlags say how to read a suite.
type suiteFlags struct {
	dialect   string
	seeds     string
	snapshots string
	embedder  string
	tools     string
	// catalogue are tools that a command read for the suite out of catalogueFile.
	catalogue     []callvet.Tool
	catalogueFile string
}

func (f *suiteFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.dialect, "from", "", "format of the suite (default: detected by content)")
	fs.StringVar(&f.seeds, "seeds", "", "JSON file with the values of {{seed:path}} tokens")
	fs.StringVar(&f.tools, "tools", "", "folder or file with tools, for suites that have none")
	fs.StringVar(&f.embedder, "embedder", "", "model that compares texts in mode semantic, such as openai/text-embedding-3-small")
	fs.StringVar(&f.snapshots, "snapshots", "", "JSON file with the values of {{snapshot:path}} tokens")
}

// openSuite starts to read and lint a suite.
func (a *app) openSuite(ctx context.Context, path string, f suiteFlags) (*suite.Stream, []callvet.Problem, error) {
	opt, err := a.suiteOptions(f)
	if err != nil {
		return nil, nil, err
	}
	scoring, err := a.scoring(ctx, f.embedder)
	if err != nil {
		return nil, nil, err
	}
	return suite.Open(a.path(path), opt, suite.LintOptions{
		Source: func(name string) ([]byte, error) { return input.File(name, suite.DefaultLimit) }, Scoring: scoring, Catalogue: f.catalogueFile,
		World: func(s *callvet.Suite, c *callvet.Case) callvet.World { return replay.Mocks(s, c, replay.Options{}) },
	})
}

func (a *app) suiteOptions(f suiteFlags) (suite.Options, error) {
	opt := suite.Options{Stdin: a.in, Dialect: f.dialect, Outside: a.outside, Tools: f.catalogue}
	if f.tools != "" {
		tools, err := a.readTools([]string{f.tools})
		if err != nil {
			return opt, err
		}
		newest, left := toolfile.Newest(tools)
		if len(left) > 0 {
			fmt.Fprintf(a.err, "note: %s of %s left out: a suite has the newest one of a tool\n", plain.Count(len(left), "older version", "older versions"), f.tools)
		}
		opt.Tools = append(opt.Tools, newest...)
	}
	for _, t := range []struct {
		path string
		into *[]byte
	}{{f.seeds, &opt.Seeds}, {f.snapshots, &opt.Snapshots}} {
		if t.path == "" {
			continue
		}
		b, err := input.File(a.path(t.path), maxTokens)
		if err != nil {
			return opt, fmt.Errorf("read tokens: %w", err)
		}
		*t.into = b
	}
	return opt, nil
}

// told is how many findings are printed unless more is asked for.
const told = 25

// tell prints problems to standard error and counts them; warnings are printed
// only where asked.
func (a *app) tell(problems []callvet.Problem, warnings bool) (errs, warns int) {
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
		if printed >= told && !a.verbose {
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
func (a *app) relative(p callvet.Problem) string {
	p.File = strings.TrimPrefix(p.File, a.dir+string(os.PathSeparator))
	return plain.Line(p.Error()) // files have words in it
}
