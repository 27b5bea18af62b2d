// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/internal/report"
)

// runFlags are the flags of `callvet run`.
type runFlags struct {
	targets     []string
	targetFile  string
	repeats     int
	concurrency int
	interleave  bool
	rate        float64
	timeout     time.Duration
	retries     int
	// retriesGiven tells that retries were asked for, of 429 too.
	retriesGiven bool
	maxCost      float64
	maxCalls     int
	noCache      bool
	filter       []string
	sample       int
	seed         int64
	failedFrom   string
	resume       string
	keepErrors   bool
	noWait       bool
	name         string
	outputs      []string
	failUnder    float64
	requirePass  bool
	slices       []string
	keepKinds    []string
	allowExec    bool
	quiet        bool
	noLint       bool
	toolChoice   string
	realLatency  bool
	maxFailures  int
	// command and flags are what a run is started with, for commands that start one like it.
	command string
	flags   []givenFlag
	// adjust changes what was read of the suite before it is linted and kept.
	adjust func(*callvet.Suite)
	// made is a suite that a command made itself; told, when set, tells the run.
	made   *callvet.Suite
	told   func(*report.View) error
	suite  suiteFlags
	target targetFlags
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run SUITE -m TARGET [-m TARGET …]",
		Short: "Evaluate a suite against models, agents or recorded outputs",
		Long: `Run every case of a suite against every target, score each attempt and say what broke.

SUITE is a file or a folder in callvet's own format or any that it knows (docs/FORMATS.md).
A TARGET is one of

  openai/MODEL, openai-responses/MODEL, anthropic/MODEL, gemini/MODEL, ollama/MODEL, …   (callvet targets lists them)
  offline/lexical          a caller without a language model: the floor any model must beat
  script:FILE              answers from a script, for tests and demonstrations
  recorded:FILE            outputs that already exist (a folder gives one target per file)
  retrieve:CATALOGUE       a retriever over a catalogue of tools (callvet select --help)
  http://HOST/PATH         an agent behind HTTP, answering in JSON or SSE
  exec:COMMAND             an agent that is a command: request on its standard input, answer on its output

The exit code is 0 when the run completed, whatever the model did; --require-pass and --fail-under
turn failures into exit code 3 (4 when there is not enough data to say).`,
		Example: `  callvet run suite.yaml -m openai/gpt-5-mini -m anthropic/claude-sonnet-4-5 --repeat 3
  callvet run suite.yaml -m recorded:outputs.jsonl -o report.html
  callvet run suite.yaml -m openai/my-model --base-url http://localhost:8000/v1
  callvet run --resume last`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			f.command, f.flags = "run", given(cmd.Flags())
			return a.evaluate(cmd.Context(), path, f, cmd.Flags().Changed)
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.targets, "model", "m", nil, "target to evaluate; may be repeated")
	fs.StringVar(&f.targetFile, "targets", "", "YAML file with targets and their settings (callvet schema targets)")
	fs.BoolVar(&f.allowExec, "allow-exec", false, "let the targets file run commands (exec:)")
	fs.VarP(ranged.Int(&f.repeats, 1, 1), "repeat", "r", "attempts per case and target")
	fs.VarP(ranged.Int(&f.concurrency, 8, 1), "concurrency", "c", "requests in flight per provider; adapts to rate limits")
	fs.BoolVar(&f.interleave, "interleave", false, "ask the models of one provider in turn for each case, instead of one model after the other")
	fs.Var(ranged.Amount(&f.rate, 0), "rate", "requests per second and provider (0: no limit)")
	fs.Var(ranged.Duration(&f.timeout, 120*time.Second), "timeout", "time for one request")
	fs.Var(ranged.Int(&f.retries, 3, 0), "retries", "further tries after a failure that may pass (5xx, network, 429: up to 9 of these unless this is given)")
	fs.Var(ranged.OrNone(&f.maxCost, ranged.Positive(&f.maxCost, 0)), "max-cost", "stop before spending more than this many USD; none takes a stored limit off")
	fs.Var(ranged.OrNone(&f.maxCalls, ranged.Int(&f.maxCalls, 0, 1)), "max-calls", "stop before sending more requests than this; none takes a stored limit off")
	fs.BoolVar(&f.noCache, "no-cache", false, "do not reuse answers of earlier runs to the very same question")
	fs.StringArrayVar(&f.filter, "filter", nil, "cases to run: pattern for an id or a tag, tag:T, tier:T or FIELD=VALUE; commas divide alternatives, ! negates; may be repeated (all must hold)")
	fs.Var(ranged.Int(&f.sample, 0, 1), "sample", "run this many cases, drawn by --seed")
	fs.Int64Var(&f.seed, "seed", 0, "seed of the sample, and sent to models that take one")
	fs.StringVar(&f.failedFrom, "failed-from", "", "only the cases that did not pass in that run")
	fs.StringVar(&f.resume, "resume", "", "go on with an interrupted run (id, name or last)")
	fs.BoolVar(&f.noWait, "no-wait", false, "with --resume: fail when another process carries the run out, instead of following it")
	fs.BoolVar(&f.keepErrors, "keep-errors", false, "with --resume: do not try cells again that ended in an error")
	fs.StringVar(&f.name, "name", "", "name of the run")
	fs.StringArrayVarP(&f.outputs, "output", "o", nil, "also write a report: .html .md .xml .csv .json .jsonl; may be repeated")
	fs.Var(ranged.Share(&f.failUnder, 0), "fail-under", "exit with 3 when the whole interval of the pass rate is below this bound, with 4 when the bound is inside it")
	fs.BoolVar(&f.requirePass, "require-pass", false, "exit with 3 unless every attempt passed")
	fs.StringSliceVar(&f.slices, "slice", nil, "slices of the report: tag, tier or field names; * for all fields")
	fs.StringSliceVar(&f.keepKinds, "keep", nil, "kinds of personal data that are not redacted in what is kept and shown: email, phone, …")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, no tables")
	fs.BoolVar(&f.noLint, "no-lint", false, "run although lint finds errors")
	fs.StringVar(&f.toolChoice, "tool-choice", "", "auto, required, none or a tool's name, for cases that do not say (default: the suite's)")
	fs.BoolVar(&f.realLatency, "real-latency", false, "wait as long as mocks say their tools take")
	fs.Var(ranged.Int(&f.maxFailures, 20, -1), "show-failures", "failing cases to explain on the terminal")
	f.suite.register(fs)
	f.target.register(fs)
	return cmd
}
