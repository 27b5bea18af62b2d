// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/compare"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/internal/file"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/report/sheet"
	"github.com/callvet/callvet/internal/toolfile"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/findings"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score/step"
	"github.com/callvet/callvet/value/typed"
)

// scoreFlags are the flags of `callvet score`.
type scoreFlags struct {
	tools      []string
	safety     string
	suite      string
	scoring    string // a file, or the settings themselves
	slices     []string
	out        []string
	partial    string
	jobs       int
	strict     bool
	confidence float64
	labels     string // people's labels, for true_success
	complete   bool   // keep slices of every size: gates ask for them by name
	// calibrations are what is known of judges; they come from their own flag.
	calibrations []steps.Calibrated
	side         *compare.Side // nil: nothing is compared
}

func (a *app) scoreCommand() *cobra.Command {
	var f scoreFlags
	var calibrations []string
	cmd := &cobra.Command{
		Use: "score FILE...", Short: "Say what trace files add up to: panels by call and by task, slices, findings",
		Long: `Score every line of trace files and sum them up by call and by task, with intervals clustered by task.
FILE is a trace file in callvet's form or another that ` + "`callvet trace import`" + ` reads, - for standard input; gzip works.
Several files are read one after the other as one stream. Files written with --partial are merged instead, in the order given:
parts of one file, scored on several machines, give the same panels as the whole file.`,
		Example: "  callvet score traces.jsonl --tools tools/ -o report.html\n  callvet score part1.jsonl --partial 1.part\n  callvet score 1.part 2.part --json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if f.calibrations, err = a.calibrated(calibrations, args); err != nil {
				return err
			}
			return a.score(c.Context(), args, f)
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.tools, "tools", nil, "folder or file with the tools' schemas (default: none; then it is not known whether arguments keep a schema)")
	fs.StringVar(&f.safety, "safety", "", "JSON file with rules of safety (default: the constraints of the tools)")
	fs.StringVar(&f.suite, "suite", "", "suite whose cases are the tasks of the traces: its verdict is their pass where they have none, its tools stand in for --tools")
	fs.StringVar(&f.scoring, "scoring", "", "YAML or JSON file with settings for the comparison of arguments, as under scoring in a suite, or the settings themselves in braces (default: mode exact)")
	fs.StringSliceVar(&f.slices, "slice", nil, "slice by these keys, crosses as language*intent, * for all fields (default: tool, version, family, language, intent, tags, all fields)")
	fs.Var(ranged.Int(&f.jobs, 0, 1), "jobs", "blocks worked on at once (default: the number of processors)")
	fs.BoolVar(&f.strict, "strict", false, "end at the first line that is no record")
	fs.Var(ranged.Between(&f.confidence, 0.95), "confidence", "two-sided confidence of the intervals")
	fs.StringArrayVarP(&f.out, "output", "o", nil, "report to write: .html, .md, .csv, .json, .txt, or .parquet for the scored calls (repeatable)")
	fs.StringArrayVar(&calibrations, "calibration", nil, "what is known of a judge, from callvet calibrate -o; gives true_success; may be repeated")
	fs.StringVar(&f.labels, "labels", "", "people's labels: gives true_success from those on these very tasks, or else through the judge's errors elsewhere")
	fs.StringVar(&f.partial, "partial", "", "write a partial result to this file instead of the panels")
	return cmd
}

// scored is what scoring trace files gave.
type scored struct {
	panels *panel.Panels
	sheet  *steps.Sheet
	log    trace.Log
	files  []string
	marks  map[string][]measure.Mark
	scorer *step.Scorer // nil of merged parts
}

func (a *app) score(ctx context.Context, paths []string, f scoreFlags) error {
	defer a.growHeap()()
	if err := a.checkScore(paths, f); err != nil {
		return err
	}
	reports, tables, err := scoreOutputs(f)
	if err != nil {
		return err
	}
	f.out = reports
	s, err := a.scoreWith(ctx, paths, f, tables)
	if err != nil {
		return err
	}
	a.tellLines(s.problems(), &s.log)
	if s.log.Steps+s.log.Tasks == 0 {
		return a.nothingScored(paths)
	}
	a.tellMissingSlices(s, f)
	if f.partial != "" {
		note, err := json.Marshal(s.log)
		if err != nil {
			return fmt.Errorf("write partial result: %w", err)
		}
		return file.Write(ctx, a.path(f.partial), func(w io.Writer) error {
			if _, err := w.Write(seal(s.sheet.AppendPartial(nil, note))); err != nil {
				return fmt.Errorf("write partial result: %w", err)
			}
			return nil
		})
	}
	if f.labels != "" {
		if len(paths) > 1 {
			return usagef("--labels belong to one trace file, and there are %d", len(paths))
		}
		if err := a.labelled(s.panels, paths[0], f.labels, f.calibrations); err != nil {
			return err
		}
	}
	return a.printScored(ctx, s, f)
}

// printScored writes the reports that were asked for and tells the panels.
func (a *app) printScored(ctx context.Context, s *scored, f scoreFlags) error {
	v := &sheet.View{
		Files: s.files, Panels: s.panels, Lines: s.log.Lines, Steps: s.log.Steps, Tasks: s.log.Tasks, Bad: s.log.Bad,
		Problems: s.problems(), Version: buildVersion(),
	}
	red, err := a.keeper().Redactor(nil)
	if err != nil {
		return err
	}
	withoutSecrets(s.panels, red)
	var unread error
	texts := sync.OnceValue(func() (texts map[panel.Example]string) { // few faces have them
		texts, unread = newExhibitor(s.scorer, red).excerpts(a.openTraces, a.examples(s), s.marks)
		return texts
	})
	v.Excerpt = func(e panel.Example) string { return texts()[s.named(e)] }
	for _, path := range f.out {
		face, err := sheet.ByPath(path)
		if err != nil {
			return err
		}
		if err := a.write(ctx, path, func(w io.Writer) error {
			err := face(w, v)
			return cmp.Or(unread, err)
		}); err != nil {
			return err
		}
	}
	if a.jsonOut {
		return sheet.Encode(a.out, s.panels, func(p *panel.Panels) any { return p })
	}
	v.Width = a.width
	return sheet.Terminal(a.out, v)
}

// examples are those of the panels that can be read again: standard input and
// pipes cannot, nor can what has no line.
func (a *app) examples(s *scored) []panel.Example {
	var out []panel.Example
	all := slices.Clone(s.panels.Examples)
	for i := range s.panels.Findings {
		all = append(all, s.panels.Findings[i].Examples...)
	}
	for _, e := range all {
		if e = s.named(e); a.regular(e.File) && e.Line > 0 {
			out = append(out, e)
		}
	}
	return out
}

// named is an example with its file, which panels of a single file leave out.
func (s *scored) named(e panel.Example) panel.Example {
	if e.File == "" && len(s.files) == 1 {
		e.File = s.files[0]
	}
	return e
}

func (a *app) scoreTraces(ctx context.Context, paths []string, f scoreFlags) (*scored, error) {
	return a.scoreEach(ctx, paths, f, nil)
}

// scoreEach also gives each scored step on, in the order of the files.
func (a *app) scoreEach(ctx context.Context, paths []string, f scoreFlags, each func([]measure.Scored) error) (*scored, error) {
	cfg := steps.Config{
		SliceBy: f.slices, Partial: f.partial != "", Files: len(paths) > 1, Confidence: f.confidence, Calibrations: f.calibrations,
	}
	if f.complete {
		cfg.MinTagTasks, cfg.MaxValues = 1, 1<<16
	}
	partial, err := a.isPartial(paths[0])
	if err != nil {
		return nil, err
	}
	if partial {
		if f.safety != "" || f.suite != "" || f.scoring != "" {
			return nil, usagef("%s holds sums: give --safety, --suite and --scoring when it is made", paths[0])
		}
		cfg.Files = false
		return a.mergePartials(paths, cfg)
	}
	w, tools, err := a.watch(ctx, &f)
	if err != nil {
		return nil, err
	}
	cfg.Catalogue, cfg.Families, cfg.Tools = len(tools) > 0, callvet.FamiliesOf(tools), tools
	rules, told, err := a.stepScoring(f.scoring)
	if err != nil {
		return nil, err
	}
	cfg.Scoring = told
	scorer, problems := step.New(step.Config{Tools: tools, Safe: w.Safe(), Scoring: rules, Matchers: stepMatchers})
	var sources []measure.Source
	for _, path := range paths {
		sources = append(sources, measure.Source{Name: path, Open: func() (io.ReadCloser, error) { return a.openTraces(path) }})
	}
	jobs := f.jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	attempts := w.Judge()
	if f.side != nil {
		f.side.Families(cfg.Families)
		if f.side.NeedsSteps() {
			each = f.side.Steps
		}
		if attempts != nil {
			attempts = f.side.Watch(attempts)
		} else if _, err := a.eachTask(paths[0], f.side.Record); err != nil {
			return nil, err
		}
	}
	res, err := measure.Run(ctx, sources, measure.Config{Steps: cfg, Scorer: scorer, Attempts: attempts, Lines: trace.Options{Strict: f.strict}, Jobs: jobs, Each: each})
	if err != nil {
		return nil, err
	}
	a.tellUnused(slices.Concat(problems, res.Problems), res)
	s := &scored{panels: res.Sheet.Panels(), sheet: res.Sheet, log: res.Log, files: paths, marks: res.Marks, scorer: scorer}
	findings.Incidents(s.panels)
	for _, text := range w.Warnings() {
		if f.partial != "" { // the panels are not shown
			fmt.Fprintln(a.err, plain.Line(text))
		}
		s.panels.Warnings = append(s.panels.Warnings, text)
	}
	return s, nil
}

// openTraces opens a file; - is standard input.
func (a *app) openTraces(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(a.in), nil
	}
	f, err := os.Open(a.path(path))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// isPartial tells a partial result by its first line. Standard input and pipes,
// which can be read only once, hold lines.
func (a *app) isPartial(path string) (bool, error) {
	if a.once(path) {
		return false, nil
	}
	f, err := a.openTraces(path)
	if err != nil {
		return false, fmt.Errorf("score: %w", err)
	}
	defer f.Close()
	head := make([]byte, len(steps.Magic))
	if _, err := io.ReadFull(f, head); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("score %s: %w", path, err)
	}
	return bytes.Equal(head, []byte(steps.Magic)), nil
}

// maxPartial bounds a partial result in bytes.
const maxPartial = 1 << 30

// tellUnused says what of the files and the tools could not be used.
func (a *app) tellUnused(problems []callvet.Problem, res *measure.Result) {
	for _, p := range problems {
		fmt.Fprintf(a.err, "warning: %s\n", p.Message)
	}
	if res.UnknownVersions > 0 {
		fmt.Fprintf(a.err, "warning: %d calls name a version that --tools does not have: they were validated against no schema\n", res.UnknownVersions)
	}
	for _, what := range slices.Sorted(maps.Keys(res.Lost)) {
		fmt.Fprintf(a.err, "not carried: %s (%d)\n", what, res.Lost[what])
	}
}

// mergePartials merges partial results in the order given.
func (a *app) mergePartials(paths []string, cfg steps.Config) (*scored, error) {
	out := &scored{log: trace.Log{Max: 100}}
	for i, path := range paths {
		b, err := input.File(a.path(path), maxPartial)
		if err != nil {
			return nil, fmt.Errorf("read partial result: %w", err)
		}
		if b, err = unseal(b); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if i == 0 {
			if cfg, err = steps.ReadConfig(b, cfg); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			out.sheet = steps.New(cfg)
		}
		before := out.sheet.Lines()
		note, err := out.sheet.Merge(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		var log trace.Log
		if err := json.Unmarshal(note, &log); err != nil {
			return nil, fmt.Errorf("%s: read partial result: %w: %w", path, callvet.ErrInvalid, typed.Explain(err))
		}
		log.Shift(before)
		out.log.Merge(&log)
	}
	for _, src := range out.sheet.Sources() {
		out.files = append(out.files, src.Name)
	}
	out.panels = out.sheet.Panels()
	findings.Incidents(out.panels)
	return out, nil
}

// readTools reads the tools of all paths, files or folders; no path is no error.
func (a *app) readTools(paths []string) ([]callvet.Tool, error) {
	var out []callvet.Tool
	for _, path := range paths {
		tools, problems, err := toolfile.Load(a.path(path), toolfile.Options{Outside: a.outside})
		if err != nil {
			return nil, err
		}
		bad := 0
		for _, p := range problems {
			fix := ""
			if p.Fix != "" {
				fix = " (" + p.Fix + ")"
			}
			fmt.Fprintf(a.err, "%s:%d: %s%s\n", p.Position.File, p.Position.Line, p.Message, fix)
			if !p.Warning {
				bad++
			}
		}
		if bad > 0 { // a misspelt constraint would be none, in silence
			return nil, fmt.Errorf("read tools %s: %d problems: %w", path, bad, callvet.ErrInvalid)
		}
		out = append(out, tools...)
	}
	if len(paths) > 0 && len(out) == 0 {
		return nil, fmt.Errorf("read tools %s: no tool is in it: %w", strings.Join(paths, ", "), callvet.ErrInvalid)
	}
	return out, nil
}

// problems are the bad lines and unknown names. Lines count through several files.
func (s *scored) problems() []callvet.Problem {
	ps := s.log.Problems("")
	for i := range ps {
		if ps[i].Position.Line > 0 {
			file, line := s.sheet.Locate(int64(ps[i].Position.Line))
			ps[i].Position.File, ps[i].Position.Line = file, int(line)
		} else if len(s.files) == 1 {
			ps[i].Position.File = s.files[0]
		}
	}
	return ps
}
