// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Command callvet evaluates tool calls: it runs a suite of cases against models and agents and
// reports what broke, and why.
//
// This package converts flags to requests for internal/app, and passes the results to
// internal/report. Only this package reads flags and the environment, opens the store and handles
// paths, signals and exit codes. Each command has its own file. Data goes to standard output,
// progress and diagnostics to standard error.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/sys"
)

// Exit codes, the same for every command.
const (
	exitOK           = 0
	exitError        = 1
	exitUsage        = 2
	exitGateFailed   = 3
	exitInconclusive = 4
	exitBudget       = 5
	exitInterrupted  = sys.ExitInterrupted
)

// cli is the process as seen by the commands: everything they may touch.
type cli struct {
	in       io.Reader
	out, err io.Writer
	// childOut and childErr receive the output of a command of the user, unbuffered.
	childOut, childErr io.Writer
	getenv             func(string) string
	environ            []string
	now                func() time.Time
	dir                string
	outTTY             bool
	errTTY             bool
	width              int
	dbPath             string
	jsonOut            bool
	noColor            bool
	verbose            bool
	outside            bool
	cpuProfile         string
	memProfile         string
	process            *sys.Process
	made               *app.App  // nil: program makes it
	db                 *store.DB // nil: openStore opens it
	// answers are the answers of the person at the terminal, who is asked one question at a time.
	prompting  sync.Mutex
	answers    *bufio.Reader
	exitStatus int  // set by a command that ended with a verdict rather than an error
	drained    bool // set by a command that an interrupt ends in the normal way
}

func main() { os.Exit(mainExit()) }

// mainExit runs the process and returns its exit code; tests run it as a command.
func mainExit() int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	errTTY := isTerminal(os.Stderr)
	p := sys.WatchProcess(signals, os.Stdout, os.Stderr, errTTY, os.Exit)
	defer p.End()
	out, errs := &plain.Writer{W: p.Out}, &plain.Writer{W: p.Err}
	defer func() { _ = errors.Join(out.Flush(), errs.Flush()) }()
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	a := &cli{
		in: os.Stdin, out: out, err: errs, childOut: os.Stdout, childErr: os.Stderr, getenv: os.Getenv,
		environ: os.Environ(), now: time.Now, dir: dir,
		outTTY: isTerminal(os.Stdout), errTTY: errTTY, width: terminalWidth(os.Stdout), process: p,
	}
	code := exitError
	err = sys.CatchPanic(func() error {
		code = a.run(p.Soft, a.rootCommand(), os.Args[1:])
		return nil
	})
	a.tellBug(err)
	return code
}

// tellBug reports a bug in callvet, if err is a panic.
func (a *cli) tellBug(err error) bool {
	text := sys.BugReport(err, buildVersion(), a.verbose)
	if text != "" {
		fmt.Fprintln(a.err, plain.Clean(text))
	}
	return text != ""
}

// run executes one command line on root, which passes ctx to its commands.
func (a *cli) run(ctx context.Context, root *cobra.Command, args []string) int {
	refuseUnknown(root)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := sys.CatchPanic(func() error { return errors.Join(root.ExecuteContext(ctx), a.closeStore()) })
	if a.cpuProfile != "" {
		pprof.StopCPUProfile()
	}
	if a.tellBug(err) {
		return exitError
	}
	if ctx.Err() != nil { // even if the command ended normally: its output may be incomplete
		if err != nil && !canceled(err) && !errors.Is(err, errSilent) {
			a.tellError(err)
		}
		a.process.WriteInterrupt()
		if err == nil && a.drained {
			return exitOK
		}
		return exitInterrupted
	}
	if err == nil {
		return a.exitStatus
	}
	if !errors.Is(err, errSilent) {
		a.tellError(err)
	}
	return exitCode(err)
}

// canceled reports whether an error is only the interrupt.
func canceled(err error) bool {
	var f *callvet.Fault
	return errors.Is(err, context.Canceled) || errors.As(err, &f) && f.Kind == callvet.FaultCanceled
}

// tellError prints an error, and how to fix it.
func (a *cli) tellError(err error) {
	hide := a.program().Secrets().Hide
	text, advice := a.explained(err)
	fmt.Fprintf(a.err, "callvet: %s\n", plain.Clean(hide(text))) // it may contain texts of files and servers
	if advice != "" {
		fmt.Fprintf(a.err, "  try: %s\n", plain.Clean(hide(advice)))
	}
}

// errSilent marks an error that was already printed.
var errSilent = errors.New("already reported")

// usageError marks a mistake in the command line.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode maps an error's kind to the process's exit code; the one place that does.
func exitCode(err error) int {
	var u usageError
	var field *callvet.FieldError
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, callvet.ErrBudget):
		return exitBudget
	case errors.As(err, &u), errors.As(err, &field) && errors.Is(field, callvet.ErrDenied),
		errors.As(err, new(*store.TakenError)), errors.As(err, new(*store.ServedError)),
		errors.Is(err, callvet.ErrInvalid), cobraUsage(err),
		errors.Is(err, callvet.ErrNotFound), errors.Is(err, fs.ErrNotExist): // a named object or file does not exist
		return exitUsage
	}
	return exitError
}

// cobraUsage recognises the command-line library's own usage errors, which have no type.
func cobraUsage(err error) bool {
	for _, p := range []string{
		"unknown command", "unknown flag", "unknown shorthand", "flag needs an argument",
		"invalid argument", "accepts ", "requires at least", "required flag",
	} {
		if strings.HasPrefix(err.Error(), p) {
			return true
		}
	}
	return false
}

func (a *cli) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "callvet",
		Short: "Evaluate tool calls: right tool, right arguments, safely, task done",
		Long: `callvet runs a suite of cases against models and agents, and reports what broke and why.

  callvet init                                    write a commented suite, ready to run
  callvet run suite.yaml -m openai/gpt-5-mini     evaluate a model
  callvet run suite.yaml -m offline/lexical       evaluate the offline baseline; needs no key
  callvet show last                               the last run's failing cases, explained`,
		SilenceUsage: true, SilenceErrors: true, Version: buildVersion(),
	}
	root.SetVersionTemplate("callvet {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return explainedFlagError(err) })
	p := root.PersistentFlags()
	p.StringVar(&a.dbPath, "db", "", "database file (default: callvet.db in the user's data directory, or $CALLVET_DB)")
	p.BoolVar(&a.jsonOut, "json", false, "print JSON on standard output")
	p.BoolVar(&a.noColor, "no-color", false, "no color (also $NO_COLOR)")
	p.BoolVarP(&a.verbose, "verbose", "v", false, "say more")
	p.BoolVar(&a.outside, "allow-outside", false, "let paths in a suite (tools_from, file://) lead out of its folder")
	p.StringVar(&a.cpuProfile, "cpuprofile", "", "write a CPU profile of the command")
	p.StringVar(&a.memProfile, "memprofile", "", "write a heap profile taken while results are printed")
	for _, name := range []string{"cpuprofile", "memprofile"} {
		_ = p.MarkHidden(name) // for developers of callvet
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := a.keepInputs(cmd, args); err != nil {
			return err
		}
		return a.startProfile()
	}
	root.AddCommand(
		a.initCommand(), a.runCommand(), a.jobsCommand(), a.selectCommand(), a.toolsCommand(), a.mcpCommand(),
		a.proxyCommand(), a.promptCommand(), a.runsCommand(), a.showCommand(), a.diffCommand(), a.reportCommand(),
		a.gateCommand(), a.gatesCommand(), a.varianceCommand(), a.tuneGroup(),
		a.judgeCommand(), a.calibrateCommand(), a.labelCommand(), a.planCommand(),
		a.lintCommand(), a.caseCommand(), a.staleCommand(), a.drillCommand(), a.convertCommand(), a.traceCommand(),
		a.scoreCommand(), a.schemaCommand(), a.targetsCommand(), a.pricesCommand(), a.backupCommand(),
		a.restoreCommand(), a.doctorCommand(), a.versionCommand(),
		a.replayCommand(), a.fixturesCommand(), a.serveCommand(), a.rekeyCommand(), a.viewCommand(), a.loginCommand(),
		a.logoutCommand(),
	)
	return root
}
