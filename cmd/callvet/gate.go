// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/compare"
	"github.com/callvet/callvet/internal/gatefile"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/report/verdict"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// gateFlags are the flags of the gate command.
type gateFlags struct {
	gates, baseline, policy string
	outputs                 []string
	annotations             bool
	// Of trace files.
	tools, calibrations []string
	judge, labels       string
	safety, suite       string
	scoring             string
}

func (a *app) gateCommand() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use: "gate RUN|TRACES", Short: "Check a run or a trace file against gates: passed, failed or inconclusive",
		Long: `Check the metrics of a run, or of a trace file, against the gates of a file, or of the run's own suite.
An argument that is an existing file is a trace file, - is one on standard input; --baseline is another one then.
A gate passes when the pessimistic end of the interval meets its bound and fails when the other end misses it;
anything between is inconclusive, and the report says how many more cases would settle it.

Exit code 0: passed (or inconclusive under the lenient policy), 3: failed, 4: inconclusive, 2: a bad gate file.`,
		Example: "  callvet gates init\n  callvet gate last --gates gates.yaml\n  callvet gate last --gates gates.yaml --baseline main -o gates.md -o gates.xml\n  callvet gate traces.jsonl --tools tools.json --gates gates.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.holdGates(cmd.Context(), args[0], &f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.gates, "gates", "", "file with the gates (default: those of the run's suite)")
	fs.StringVar(&f.baseline, "baseline", "", "run or trace file to compare with: gates with a baseline decide by it; for the others the change is shown")
	fs.StringVar(&f.policy, "policy", "", "strict: an inconclusive gate stops the build; lenient: it warns (default: what the file says, else strict)")
	fs.StringArrayVarP(&f.outputs, "output", "o", nil, "file to write; its extension is the form: .md .xml .json .txt; may be repeated")
	fs.BoolVar(&f.annotations, "annotations", false, "print annotations for GitHub Actions too (on when $GITHUB_ACTIONS is true)")
	fs.StringSliceVar(&f.tools, "tools", nil, "of a trace file: folder or file with the tools' schemas")
	fs.StringVar(&f.safety, "safety", "", "of a trace file: JSON file with rules of safety (default: the constraints of the tools)")
	fs.StringVar(&f.suite, "suite", "", "of a trace file: suite whose cases its tasks are, as callvet score has it")
	fs.StringVar(&f.scoring, "scoring", "", "of a trace file: settings for the comparison of arguments, as callvet score has them")
	fs.StringVar(&f.judge, "judge", "", "of trace files: judge whose verdicts are compared with the baseline's, instead of the source's own checks")
	fs.StringVar(&f.labels, "labels", "", "of a trace file: people's labels; gives true_success from those on its own tasks, or else through the judge's errors elsewhere")
	fs.StringArrayVar(&f.calibrations, "calibration", nil, "of a trace file: what is known of a judge, from callvet calibrate -o; gives true_success; may be repeated")
	return cmd
}

func (a *app) gatesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "gates", Short: "Write gate files"}
	template := gatefile.Templates()[0]
	init := &cobra.Command{
		Use: "init [FILE]", Short: "Write a commented gate file with sample thresholds", Args: cobra.MaximumNArgs(1),
		Long: `Write a commented gate file to start from.

basic: gates on what a suite with tools and expected calls measures. Gates that need a judge, executed calls or rules of
safety are in the file as comments.
regression: the whole table of "Evaluating Tool Calling", section 9. A gate whose data are missing is inconclusive.`,
		Example: "  callvet gates init\n  callvet gates init release.yaml --template regression",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "gates.yaml"
			if len(args) == 1 {
				name = args[0]
			}
			return a.initGates(cmd.Context(), name, template)
		},
	}
	init.Flags().StringVar(&template, "template", template, "what to start from: "+strings.Join(gatefile.Templates(), " or "))
	cmd.AddCommand(init)
	return cmd
}

func (a *app) initGates(ctx context.Context, name, template string) error {
	text, ok := gatefile.Template(template)
	if !ok {
		return usagef("--template %s: %s", template, strings.Join(gatefile.Templates(), " or "))
	}
	path := a.path(name)
	if _, err := os.Lstat(path); err == nil {
		return &callvet.Hinted{Err: fmt.Errorf("write %s: %w: the file exists", name, callvet.ErrConflict), Hint: "another name"}
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := a.write(ctx, name, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "wrote %s\n\nnow:\n  callvet gate last --gates %s\n", name, shellQuote(name))
	return nil
}

// held is what is held against gates, and where to look when one does not pass.
type held struct {
	input    gates.Input
	subject  string
	baseline string
	// open finds the tasks to look at for the verdicts that did not pass.
	open func(context.Context, *gates.Report) error
}

func (a *app) holdGates(ctx context.Context, ref string, f *gateFlags) error {
	if ref == "-" && f.gates == "-" {
		return usagef("standard input holds the traces or the gates, not both")
	}
	if f.policy != "" && f.policy != string(gate.Strict) && f.policy != string(gate.Lenient) {
		return usagef("--policy %s: strict or lenient", f.policy)
	}
	var faces []verdict.Face
	for _, path := range f.outputs {
		face, err := verdict.ByPath(path)
		if err != nil {
			return err
		}
		faces = append(faces, face)
	}
	hold := a.gateRun
	if ref == "-" || a.isTraceFile(ref) {
		hold = a.gateTraces
	} else if len(f.tools)+len(f.calibrations) > 0 || f.judge+f.safety+f.suite+f.scoring+f.labels != "" {
		return usagef("--tools, --safety, --suite, --scoring, --judge, --labels and --calibration are about trace files, and %s is none", ref)
	}
	rep, err := hold(ctx, ref, f)
	if err != nil {
		return err
	}
	for i, path := range f.outputs {
		if err := a.write(ctx, path, func(w io.Writer) error { return faces[i](w, rep) }); err != nil {
			return err
		}
	}
	switch {
	case rep.Verdict == gate.Fail:
		a.exitStatus = exitGateFailed
	case rep.Blocks:
		a.exitStatus = exitInconclusive
	}
	return a.showVerdict(rep, f)
}

func (a *app) showVerdict(rep *gates.Report, f *gateFlags) error {
	if a.jsonOut {
		if err := verdict.JSON(a.out, rep); err != nil {
			return err
		}
	} else if err := verdict.Terminal(a.out, rep, verdict.Options{Width: a.width, Color: a.color(a.outTTY)}); err != nil {
		return err
	}
	if f.annotations || a.getenv("GITHUB_ACTIONS") == "true" {
		to := a.out
		if a.jsonOut { // one value on standard output; a workflow reads both
			to = a.err
		}
		return verdict.Annotations(to, rep)
	}
	return nil
}

// gateRun holds a stored run against gates.
func (a *app) gateRun(ctx context.Context, ref string, f *gateFlags) (rep *gates.Report, err error) {
	db, l, err := a.openStored(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	file, err := a.gateFile(f.gates, l)
	if err != nil {
		return nil, err
	}
	h, err := a.holdRun(ctx, db, l, f.baseline, file.Gates)
	if err != nil {
		return nil, err
	}
	if rep, err = a.decide(ctx, h, file, f); err == nil && l.run.Status != store.StatusDone {
		rep.Warnings = append(rep.Warnings, "the run is not complete: "+l.resumed())
	}
	return rep, err
}

// decide evaluates the gates and says where to look.
func (a *app) decide(ctx context.Context, h *held, file *gatefile.File, f *gateFlags) (*gates.Report, error) {
	h.input.Policy, h.input.Correction = gate.Strict, file.Correction
	switch {
	case f.policy != "":
		h.input.Policy = gate.Policy(f.policy)
	case file.Policy != "":
		h.input.Policy = file.Policy
	}
	rep, problems := gates.Evaluate(h.input, file.Gates)
	if len(problems) > 0 {
		return nil, a.badGates(problems)
	}
	rep.Subject, rep.Baseline = h.subject, h.baseline
	if h.open != nil && slices.ContainsFunc(rep.Verdicts, func(v gates.Verdict) bool { return v.Verdict != gate.Pass }) {
		if err := h.open(ctx, rep); err != nil {
			return nil, err
		}
	}
	red, err := a.keeper().Redactor(nil)
	if err != nil {
		return nil, err
	}
	withoutSecretsInGates(rep, red)
	return rep, nil
}

func (a *app) badGates(problems []callvet.Problem) error {
	if a.jsonOut {
		err := json.NewEncoder(a.out).Encode(map[string]any{"format": "callvet.gates", "version": 1, "problems": problems})
		return errors.Join(fmt.Errorf("read gates: %w", callvet.ErrInvalid), err)
	}
	errs, _ := a.tell(problems, true)
	return fmt.Errorf("read gates: %w: %s", callvet.ErrInvalid, plain.Count(errs, "problem", "problems"))
}

// gateFile reads the gates of a file, - for standard input, or those that the
// suite of a run carries.
func (a *app) gateFile(path string, l *loaded) (*gatefile.File, error) {
	name, b := path, []byte(nil)
	var err error
	switch {
	case path == "-":
		name = "standard input"
		b, err = input.Whole(a.in, gatefile.MaxBytes)
	case path != "":
		b, err = input.File(a.path(path), gatefile.MaxBytes)
	default:
		if l != nil {
			var own struct {
				Gates json.RawMessage `json:"gates"`
			}
			if json.Unmarshal(l.suite.Foreign, &own) == nil {
				name, b = "gates of suite "+l.suite.Name, own.Gates
			}
		}
		if len(b) == 0 || string(b) == "null" {
			return nil, &callvet.Hinted{Err: usagef("which gates? --gates FILE"), Hint: "callvet gates init writes one to start from"}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read gates: %w", err)
	}
	file, problems := gatefile.Read(name, b)
	if path == "" { // the lines of what the store keeps are nobody's lines
		for i := range problems {
			problems[i].Position = callvet.Position{File: name}
		}
		for i := range file.Gates {
			file.Gates[i].Position = callvet.Position{File: name}
		}
	}
	if len(problems) > 0 {
		return nil, a.badGates(problems)
	}
	return file, nil
}

// sliceKeys are the keys that gates slice by.
func sliceKeys(gs []gates.Gate) []string {
	keys := []string{}
	for i := range gs {
		if k := gs[i].Key; k != "" && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// compared are the metrics of gates that can be held against a baseline. Those of gates
// that are about it come first: a comparison refuses what has no paired test.
func compared(gs []gates.Gate) []string {
	var out []string
	add := func(metric string) {
		if !slices.Contains(out, metric) {
			out = append(out, metric)
		}
	}
	for i := range gs {
		if gs[i].Kind == gates.Regression {
			add(gs[i].Metric)
		}
	}
	for i := range gs {
		if slices.Contains(panel.Comparable(), gs[i].Metric) { // a bound, whose change is told beside it
			add(gs[i].Metric)
		}
	}
	return out
}

// holdRun sums a stored run up for its gates.
func (a *app) holdRun(ctx context.Context, db *store.DB, l *loaded, baseline string, gs []gates.Gate) (*held, error) {
	keys := sliceKeys(gs)
	h := &held{subject: "run " + l.run.ID, input: gates.Input{Task: "case", Keys: []string{"tag", "tier"}}}
	var bad error
	fields := map[string]bool{}
	for c := range l.chosen(&bad) {
		for k := range c.Fields {
			fields[k] = true
		}
	}
	for k := range fields {
		h.input.Keys = append(h.input.Keys, k)
	}
	acc := panel.New(panel.Config{
		Targets: l.man.Targets, Tools: l.suite.Tools, Repeats: l.man.Repeats, SliceBy: keys, Complete: true, MaxValues: 1 << 16,
	}, l.chosen(&bad))
	if bad != nil {
		return nil, bad
	}
	for r, err := range l.rows(ctx, db, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, err
		}
		l.add(acc, r.Case, r.Cell)
	}
	h.input.Panels = acc.Panels()
	if baseline != "" {
		base, err := a.openRun(ctx, db, baseline)
		if err != nil {
			return nil, err
		}
		if h.input.Comparison, err = compareRuns(ctx, db, base, l, compare.Config{By: keys, Metrics: compared(gs)}); err != nil {
			return nil, err
		}
		h.baseline = "run " + base.run.ID
	}
	h.open = func(ctx context.Context, rep *gates.Report) error { return l.openPlaces(ctx, db, rep) }
	return h, nil
}

// maxPlaces is how many cases a verdict tells to open.
const maxPlaces = 3

// openPlaces gives each verdict that did not pass some cases that show why.
func (l *loaded) openPlaces(ctx context.Context, db *store.DB, rep *gates.Report) error {
	for i := range rep.Verdicts {
		for j := range rep.Verdicts[i].Open {
			p := &rep.Verdicts[i].Open[j]
			p.Command = l.hints.text(action{Verb: verbShow, Run: l.run.ID, Case: p.Task}, l.man)
		}
	}
	for r, err := range l.rows(ctx, db, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return err
		}
		full := true
		for i := range rep.Verdicts {
			v := &rep.Verdicts[i]
			if v.Verdict == gate.Pass || len(v.Open) >= maxPlaces {
				continue
			}
			full = false
			last := len(v.Open) > 0 && v.Open[len(v.Open)-1].Task == r.Case.ID
			if !last && v.Target == l.man.Targets[r.Cell.Target].Name && inSlice(r.Case, v.Key, v.Value) && falls(r.Cell, &v.Gate) {
				v.Open = append(v.Open, gates.Place{Task: r.Case.ID, Command: l.hints.text(action{Verb: verbShow, Run: l.run.ID, Case: r.Case.ID}, l.man)})
			}
		}
		if full {
			return nil
		}
	}
	return nil
}

func inSlice(c *callvet.Case, key, value string) bool {
	switch key {
	case "":
		return true
	case "tier":
		return string(c.Tier) == value
	case "tag":
		return slices.Contains(c.Tags, value)
	}
	return c.Fields[key] == value
}

// falls reports whether an attempt is one of those that a gate's metric suffers from.
func falls(cell *callvet.Cell, g *gates.Gate) bool {
	if g.Metric == panel.MetricError {
		return cell.Result.Verdict == callvet.VerdictError
	}
	if s := cell.Result.Score(g.Metric); s.Scored {
		if panel.Describe(g.Metric).LowerIsBetter {
			return s.Value > 0
		}
		return s.Value < 1
	}
	m := panel.Describe(g.Metric)
	return panel.BuiltIn(g.Metric) && m.Unit == panel.UnitRate && !m.LowerIsBetter && cell.Result.Verdict == callvet.VerdictFail
}
