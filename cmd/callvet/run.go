// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/store"
)

// runFlags are the flags of `callvet run`.
type runFlags struct {
	whole       bool // show all tables, also where all attempts passed
	targets     []string
	targetFile  string
	repeats     int
	concurrency int
	interleave  bool
	rate        float64
	timeout     time.Duration
	retries     int
	maxCost     float64
	maxCalls    int
	noCache     bool
	filter      []string
	sample      int
	seed        int64
	failedFrom  string
	resume      string
	keepErrors  bool
	forceRubric bool
	noWait      bool
	words       store.Words
	outputs     []string
	failUnder   float64
	requirePass bool
	gates       string
	until       bool
	baseline    string
	ledger      string
	slices      []string
	keepKinds   []string
	allowExec   bool
	quiet       bool
	noLint      bool
	guard       string
	world       app.WorldRequest
	toolChoice  string
	realLatency bool
	faults      string
	maxFailures int
	judges      app.RunJudges
	judgeUnder  float64
	// origin is the command line, for commands that start a run like it.
	origin app.Origin
	suite  suiteFlags
	target targetFlags
}

func (a *cli) runCommand() *cobra.Command {
	var f runFlags
	var server, experiment string
	dry := false
	cmd := &cobra.Command{
		Use:   "run SUITE -m TARGET [-m TARGET …]",
		Short: "Evaluate a suite against models, agents or recorded outputs",
		Long: `Run every case of a suite against every target, score each attempt and say what broke.

SUITE is a file or a folder in callvet's own format or any that it knows (docs/reference/formats.md).
A TARGET is one of

  openai/MODEL, openai-responses/MODEL, anthropic/MODEL, gemini/MODEL, ollama/MODEL, …   (callvet targets lists them)
  offline/lexical          a caller without a language model: the baseline any model must beat
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
  callvet run --resume last
  callvet run suite.yaml -m openai/gpt-5-mini --remote https://eval.example.com`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			switch {
			case server != "":
				return a.remoteRun(cmd.Context(), server, experiment, path, &f, cmd.LocalNonPersistentFlags())
			case experiment != "":
				return usagef("--experiment is for runs on a server: --remote URL")
			}
			f.origin = app.Origin{Command: "run", Flags: given(cmd.Flags())}
			if dry {
				return a.dryRun(cmd.Context(), path, &f, cmd.Flags().Changed)
			}
			return a.evaluate(cmd.Context(), &f,
				func() (*runs.Session, error) { return a.session(cmd.Context(), path, &f, cmd.Flags().Changed) })
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&server, "remote", "",
		"address of a callvet server that carries the run out (callvet login URL)")
	cmd.Flags().StringVar(&experiment, "experiment", "", "with --remote: id of the experiment that the run belongs to")
	cmd.Flags().BoolVar(&dry, "dry-run", false,
		"lint the suite, open the targets, print what would be asked, and ask nothing")
	return cmd
}

// register are the flags of commands that run cases.
func (f *runFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.targets, "model", "m", nil, "target to evaluate; may be repeated")
	fs.StringVar(&f.targetFile, "targets", "", "YAML file with targets and their settings (callvet schema targets)")
	fs.BoolVar(&f.allowExec, "allow-exec", false, "let the targets file (exec:) and the suite (scorers) run commands")
	fs.VarP(wholeFlag(&f.repeats, 1, 1), "repeat", "r",
		"attempts per case and target, for cases without repeat")
	f.pace(fs)
	fs.BoolVar(&f.interleave, "interleave", false,
		"ask the models of one provider in turn for each case")
	fs.BoolVar(&f.noCache, "no-cache", false, "do not reuse answers of earlier runs")
	fs.StringArrayVar(&f.filter, "filter", nil,
		"cases to run: pattern for an id or a tag, tag:T, tier:T or FIELD=VALUE; commas separate alternatives, "+
			"! negates; may be repeated (all must hold)")
	fs.Var(wholeFlag(&f.sample, 0, 1), "sample", "run this many cases, drawn by --seed")
	fs.Int64Var(&f.seed, "seed", 0, "seed of the sample, and sent to models that take one")
	fs.StringVar(&f.failedFrom, "failed-from", "", "only the cases that did not pass in that run")
	fs.StringVar(&f.resume, "resume", "", "continue an interrupted run (id, name or last)")
	fs.BoolVar(&f.forceRubric, "force-rubric", false,
		"run rubric cases even if other attempts of the target failed")
	fs.BoolVar(&f.noWait, "no-wait", false,
		"with --resume: fail instead of following another process")
	fs.BoolVar(&f.keepErrors, "keep-errors", false, "with --resume: do not repeat attempts that ended in an error")
	f.wordFlags(fs)
	fs.StringArrayVarP(&f.outputs, "output", "o", nil,
		"also write a report: .html .pdf .md .xml .csv .json .jsonl; may be repeated")
	fs.Var(shareFlag(&f.failUnder, 0), "fail-under",
		"exit with 3 when the interval of the pass rate is below this bound, with 4 when it contains it")
	fs.StringVar(&f.gates, "gates", "",
		"gate file: --until-decided asks for it; --require-pass and --fail-under leave its quarantine out (default: the suite's own)")
	fs.BoolVar(&f.until, "until-decided", false,
		"ask cases in random order (--seed), and stop when every gate is decided; the exit code is that of the gates")
	fs.StringVar(&f.baseline, "baseline", "",
		"with --until-decided: run that gates about a baseline compare with")
	fs.StringVar(&f.ledger, "ledger", "",
		"with --until-decided: file that keeps the looks at gates, in place of the database")
	fs.BoolVar(&f.requirePass, "require-pass", false, "exit with 3 unless every attempt passed")
	fs.StringSliceVar(&f.slices, "slice", nil, "slices of the report: tag, tier or field names; * for all fields")
	fs.StringSliceVar(&f.keepKinds, "keep", nil,
		"kinds of personal data that are not redacted: email, phone, …")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, no tables")
	fs.BoolVar(&f.noLint, "no-lint", false, "run although lint finds errors")
	fs.StringVar(&f.toolChoice, "tool-choice", "",
		"auto, required, none or a tool's name, for cases that do not say (default: the suite's)")
	fs.BoolVar(&f.realLatency, "real-latency", false, "wait as long as mocks say their tools take")
	fs.StringVar(&f.faults, "faults", "",
		"file with faults of tools, in place of the suite's (docs/guides/suites.md)")
	fs.Var(wholeFlag(&f.maxFailures, 20, -1), "show-failures", "failing cases to explain on the terminal")
	fs.StringArrayVar(&f.judges.Names, "judge", nil,
		"judge to ask when the attempts are over (callvet judge list); may be repeated")
	fs.StringArrayVar(&f.judges.Models, "judge-model", nil, "model that judges; may be repeated")
	fs.StringVar(&f.judges.BaseURL, "judge-base-url", "",
		"endpoint of the models that judge, instead of the provider's own")
	fs.BoolVar(&f.judges.Live, "judge-live", false,
		"judge each attempt as soon as it is stored")
	fs.Var(shareFlag(&f.judgeUnder, 0), "judge-under",
		"judge only attempts with an automatic score below this, or without one")
	fs.StringVar(&f.guard, "guard", "",
		"policy file: which calls are executed and which results shown (docs/guides/safety.md)")
	fs.StringVar(&f.world.World, "world", "",
		"who answers calls: mock (default), live (the tools of --live) or recorded (docs/guides/worlds.md)")
	fs.StringVar(&f.world.Live, "live", "",
		"file with the tools that are really called, with --world live (docs/guides/worlds.md)")
	fs.StringVar(&f.world.Recordings, "recordings", "",
		"folder with recorded answers of tools; implies --world recorded")
	fs.StringVar(&f.world.OnMiss, "on-miss", "",
		"a call without a recording: fail ends the attempt with an error (default), tell gives the target an error")
	fs.StringVar(&f.world.Record, "record", "", "folder that gets what is answered, one file for each call")
	f.suite.register(fs)
	f.target.register(fs)
}

// pace adds the flags of pace and limits.
func (f *runFlags) pace(fs *pflag.FlagSet) {
	fs.VarP(wholeFlag(&f.concurrency, 8, 1), "concurrency", "c",
		"requests in flight per provider; adapts to rate limits")
	fs.Var(amountFlag(&f.rate, 0), "rate", "requests per second and provider (0: no limit)")
	fs.Var(durationFlag(&f.timeout, 120*time.Second), "timeout", "time for one request")
	fs.Var(wholeFlag(&f.retries, 3, 0), "retries",
		"further tries after a failure that may pass (5xx, network, 429: up to 9 of these unless this is given)")
	fs.Var(orNoneFlag(&f.maxCost, positiveFlag(&f.maxCost, 0)), "max-cost",
		"stop before spending more than this many USD; none takes a stored limit off")
	fs.Var(orNoneFlag(&f.maxCalls, wholeFlag(&f.maxCalls, 0, 1)), "max-calls",
		"stop before sending more requests than this; none takes a stored limit off")
}

// request is the run that the flags define. changed reports whether a flag was set.
func (a *cli) request(path string, f *runFlags, changed func(string) bool) (app.RunRequest, error) {
	shared, err := a.shared(f, changed)
	if err != nil {
		return app.RunRequest{}, err
	}
	prompts, err := a.systemFor(f.target.systemFor)
	if err != nil {
		return app.RunRequest{}, err
	}
	req := app.RunRequest{
		SuiteRequest: f.suite.request(path), Words: f.words, TargetFile: f.targetFile, Shared: shared,
		AllowExec: f.allowExec, SystemFor: prompts,
		Repeats: f.repeats, Filter: f.filter, Sample: f.sample, Seed: f.seed, FailedFrom: f.failedFrom,
		Slices: f.slices, Keep: f.keepKinds, Prices: f.target.prices,
		Guard: f.guard, NoLint: f.noLint, NoCache: f.noCache, RealLatency: f.realLatency, Faults: f.faults,
		WorldRequest: f.world, Settings: f.settings(changed), Origin: f.origin,
	}
	if f.until {
		req.UntilDecided = &app.UntilRequest{Baseline: f.baseline, Ledger: f.ledger}
	} else if changed("baseline") || changed("ledger") {
		return req, usagef("--baseline and --ledger belong to --until-decided")
	}
	if changed("judge") || changed("judge-model") || changed("judge-under") || f.judges.Live {
		j := f.judges
		if req.Judges = &j; changed("judge-under") {
			j.Under = &f.judgeUnder
		}
	}
	for _, t := range f.targets {
		spec := shared
		spec.Target = t
		req.Targets = append(req.Targets, spec)
	}
	return req, nil
}

// settings are the settings in the flags.
func (f *runFlags) settings(changed func(string) bool) app.Settings {
	s := app.Settings{
		MaxCostUSD: f.maxCost, MaxCalls: f.maxCalls, Concurrency: f.concurrency, Interleave: f.interleave, Rate: f.rate,
		TimeoutMS:  f.timeoutMS(),
		KeepErrors: f.keepErrors, ForceRubric: f.forceRubric, RequirePass: f.requirePass, FailUnder: f.failUnder,
		Gates: f.gates,
	}
	if changed("retries") {
		s.Retries = &f.retries
	}
	return s
}

// timeoutMS is 1 or more: 0 is the default.
func (f *runFlags) timeoutMS() int64 { return max(1, f.timeout.Milliseconds()) }

// changes are the settings of the flags that were set.
func (f *runFlags) changes(changed func(string) bool) app.Changes {
	ms := f.timeoutMS()
	return app.Changes{
		MaxCostUSD: ifGiven(changed("max-cost"), &f.maxCost), MaxCalls: ifGiven(changed("max-calls"), &f.maxCalls),
		Concurrency: ifGiven(changed("concurrency"), &f.concurrency),
		Interleave:  ifGiven(changed("interleave"), &f.interleave), Rate: ifGiven(changed("rate"), &f.rate),
		TimeoutMS: ifGiven(changed("timeout"), &ms), Retries: ifGiven(changed("retries"), &f.retries),
		KeepErrors:  ifGiven(changed("keep-errors"), &f.keepErrors),
		ForceRubric: ifGiven(changed("force-rubric"), &f.forceRubric),
		RequirePass: ifGiven(changed("require-pass"), &f.requirePass),
		FailUnder:   ifGiven(changed("fail-under"), &f.failUnder),
		Gates:       ifGiven(changed("gates"), &f.gates),
	}
}

func ifGiven[T any](given bool, v *T) *T {
	if given {
		return v
	}
	return nil
}

// writable refuses a report of an unknown kind before any money is spent.
func (a *cli) writable(f *runFlags) error {
	for _, o := range f.outputs {
		if err := a.program().Reports(o); err != nil {
			return err
		}
	}
	return nil
}

// evaluate carries out the run that start starts or resumes, and prints the result.
func (a *cli) evaluate(ctx context.Context, f *runFlags, start func() (*runs.Session, error)) error {
	return a.evaluateAs(ctx, f, start,
		func(out *runs.Outcome, ended error) error { return a.conclude(out, f, a.show, ended) })
}

// evaluateAs carries out the run that start starts or resumes, and passes the outcome to end, with
// the reason of an early end.
func (a *cli) evaluateAs(ctx context.Context, f *runFlags, start func() (*runs.Session, error),
	end func(*runs.Outcome, error) error,
) (err error) {
	if err := a.writable(f); err != nil {
		return err
	}
	defer a.growHeap(runHeap())()
	s, err := start()
	if err != nil {
		return a.notFollowed(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	out, err := s.Do(ctx)
	if out == nil {
		return a.notFollowed(err)
	}
	return end(out, err)
}

// startOnly are the flags that define a run and cannot change when it is resumed.
func startOnly() []string {
	return []string{
		"repeat", "sample", "seed", "filter", "failed-from", "temperature", "top-p", "max-tokens", "tool-choice",
		"parallel-calls", "reasoning-effort",
		"set", "system", "system-for", "replace-system", "name", "notes", "run-tag", "faults",
		"until-decided", "baseline", "ledger", "target-version",
	}
}

// resumed is the run that the flags resume.
func (f *runFlags) resumed(path string, changed func(string) bool) runs.ResumeRequest {
	return runs.ResumeRequest{
		Run: f.resume, Changes: f.changes(changed), Suite: f.suite.request(path), Targets: f.targets, Slices: f.slices,
		NoWait: f.noWait,
	}
}

// session opens the requested run: a new one, or one to resume.
func (a *cli) session(ctx context.Context, path string, f *runFlags, changed func(string) bool) (*runs.Session, error) {
	tell := a.eventPrinter(f.quiet, f.suite.lint(a.hints(), path)).print
	if f.resume != "" {
		for _, name := range startOnly() {
			if changed(name) {
				return nil,
					usagef(
						"--%s: a resumed run asks what it was started with; for another setting start a run of its own",
						name)
			}
		}
		return runs.Resume(ctx, a.program(), f.resumed(path, changed), tell)
	}
	if path == "" {
		return nil, usagef("which suite? callvet run SUITE -m TARGET")
	}
	req, err := a.request(path, f, changed)
	if err != nil {
		return nil, err
	}
	return runs.Start(ctx, a.program(), req, tell)
}

// notFollowed adds how to follow a run that another process carries out.
func (a *cli) notFollowed(err error) error {
	var held *store.HeldError
	if !errors.As(err, &held) {
		return err
	}
	return &callvet.Hinted{
		Err:  err,
		Hint: a.hints().Text(app.Action{Verb: app.VerbResume, Run: held.Run}, nil) + " without --no-wait follows it",
	}
}
