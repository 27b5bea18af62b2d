// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// GatePolicy sets the verdict of an inconclusive gate.
type GatePolicy = gate.Policy

// GateRequest asks whether a run or a trace file passes gates.
type GateRequest struct {
	app.Side
	// Gates is a file; "": those of the run's suite.
	Gates string `json:"gates,omitempty"`
	// Baseline, if given, is the baseline run or trace file: gates with a baseline decide by it.
	Baseline app.Side `json:"baseline,omitzero"`
	// Policy is strict or lenient; "": the policy of the file, else strict.
	Policy gate.Policy `json:"policy,omitempty"`
	// Judge is the judge with the verdicts in trace files that are compared with the baseline's;
	// "": the source's own checks.
	Judge string `json:"judge,omitempty"`
	// Ledger is a file that stores the looks at gates of runs; "": the store does.
	Ledger string `json:"ledger,omitempty"`
	// TraceSettings are for trace files, except labels and calibrations.
	app.TraceSettings
}

func (r *GateRequest) check(files app.Files) error {
	if err := r.Side.CheckOne("run"); err != nil {
		return err
	}
	if r.Baseline != (app.Side{}) {
		if err := r.Baseline.CheckOne("baseline"); err != nil {
			return err
		}
	}
	switch {
	case r.Policy != "" && r.Policy != gate.Strict && r.Policy != gate.Lenient:
		return app.Wrong("policy", string(r.Policy), "it is strict or lenient")
	case r.Run != "":
		return app.RefuseForRuns(r.Run, append(r.OfTraces(), app.One("judge", r.Judge))...)
	case r.Ledger != "":
		return app.Refused("ledger", "{ledger} keeps the looks at gates of runs: those at trace files are not tracked")
	case r.Traces == "-" && r.Gates == "-":
		return app.Wrong("gates", "-", "standard input holds the traces or the gates, not both")
	case r.Baseline != (app.Side{}) && files.Kind(r.Traces) == app.KindStream:
		return app.Refused("baseline",
			"%s can be read once only, and {baseline} needs a second reading: write it to a file", r.Traces)
	}
	return nil
}

// GateResult is the result of gates.
type GateResult struct {
	Report *gates.Report `json:"report"`
	// Look belongs to Open of each verdict of the report: the actions that show the cause. An
	// action without a verb is only the place.
	Look [][]app.Action `json:"look"`
	// Resume is the action that resumes an incomplete run.
	Resume *app.Action `json:"resume,omitempty"`
}

// held has the panels that gates check, and the places to look at when a gate does not pass.
type held struct {
	input     gates.Input
	subject   string
	baseline  string
	look      func(*gates.Report) ([][]app.Action, error)
	sentences []string       // further sentences for reports
	looks     *results.Looks // for a run; looks at trace files are not tracked
}

// Gate checks a run or a trace file against gates. The error is a *results.BadGatesError for
// invalid gates, and a callvet.FieldError if there are none.
func Gate(ctx context.Context, a *app.App, req GateRequest, events app.Events) (*GateResult, error) {
	if err := req.check(a.Config.Files); err != nil {
		return nil, err
	}
	if req.Traces != "" {
		return gateTraces(ctx, a, &req, events)
	}
	r, err := results.Open(ctx, a, req.Run)
	if err != nil {
		return nil, err
	}
	file, err := gatesOf(a, &req, r)
	if err != nil {
		return nil, err
	}
	quarantined, _, err := r.Quarantine(ctx, file.Quarantine, a.Config.Now())
	if err != nil {
		return nil, err
	}
	h, err := holdRun(ctx, a, r, &req, file.Gates, events)
	if err != nil {
		return nil, err
	}
	h.sentences = append(quarantined, h.looks.Warnings...)
	out, err := decide(a, h, file, &req)
	if err == nil {
		var warning string
		if warning, err = h.looks.Keep(ctx, out.Report.Verdicts); warning != "" {
			out.Report.Warnings = append(out.Report.Warnings, warning)
		}
	}
	if err == nil && r.Stored.Status != store.StatusDone {
		again := r.Resume()
		out.Resume = &again
	}
	return out, err
}

// gatesOf returns the gates of a request; for a run until its gates are decided, its own. Such a
// run was ended by its gates, so that other gates may be looked at any number of times, too.
func gatesOf(a *app.App, req *GateRequest, r *results.Run) (*suite.GateFile, error) {
	u := r.Manifest.Until
	if u == nil {
		return results.GateFile(a, req.Gates, r)
	}
	if req.Baseline == (app.Side{}) && u.Baseline != "" {
		req.Baseline.Run = u.Baseline
	}
	if req.Gates == "" {
		return u.Read()
	}
	file, err := results.GateFile(a, req.Gates, r)
	if err == nil {
		file.LookAnyTime()
	}
	return file, err
}

// decide evaluates the gates and adds the places to look at.
func decide(a *app.App, h *held, file *suite.GateFile, req *GateRequest) (*GateResult, error) {
	h.input.Policy, h.input.Correction = gate.Strict, file.Correction
	switch {
	case req.Policy != "":
		h.input.Policy = req.Policy
	case file.Policy != "":
		h.input.Policy = file.Policy
	}
	rep, problems := gates.Evaluate(h.input, file.Gates)
	if len(problems) > 0 {
		return nil, &results.BadGatesError{Problems: problems}
	}
	rep.Subject, rep.Baseline = h.subject, h.baseline
	rep.Warnings = append(h.sentences, rep.Warnings...)
	out := &GateResult{Report: rep, Look: make([][]app.Action, len(rep.Verdicts))}
	if slices.ContainsFunc(rep.Verdicts, func(v gates.Verdict) bool { return v.Verdict != gate.Pass }) {
		var err error
		if out.Look, err = h.look(rep); err != nil {
			return nil, err
		}
	}
	red, err := a.Secrets().Redactor(nil)
	if err != nil {
		return nil, err
	}
	WithoutSecretsInGates(rep, red)
	return out, nil
}

// SuiteGates reports whether the suite of a run has gates, which Gate uses by default.
func SuiteGates(ctx context.Context, a *app.App, ref string) (bool, error) {
	r, err := results.OpenToShow(ctx, a, ref)
	return err == nil && r.OwnGates() != nil, err
}

// CheckGates reads and checks a file of gates, and counts them. The error is a
// *results.BadGatesError for invalid gates.
func CheckGates(a *app.App, name string) (int, error) {
	f, err := results.GateFile(a, name, nil)
	if err != nil {
		return 0, err
	}
	return len(f.Gates), nil
}

// WriteVerdict writes the result of gates to a file in the form of the end of its name (.md .xml
// .json .txt). The error wraps callvet.ErrInvalid for other ends.
func WriteVerdict(ctx context.Context, a *app.App, res *GateResult, name string) error {
	face, err := report.GatesByPath(name)
	if err != nil {
		return err
	}
	return a.WriteText(ctx, name, func(w io.Writer) error { return face(w, res.Report) })
}

// GateTemplates are the files of gates that InitGates writes; the first is the default.
func GateTemplates() []string { return suite.GatesTemplates() }

// GateTemplate returns the text of a file of gates to start from; template is one of GateTemplates.
func GateTemplate(template string) []byte {
	text, _ := suite.GatesTemplate(template)
	return text
}

// InitGates writes a commented file of gates to start from; template is one of
// GateTemplates. The error wraps callvet.ErrConflict if the file exists.
func InitGates(ctx context.Context, a *app.App, name, template string) error {
	text, ok := suite.GatesTemplate(template)
	if !ok {
		return app.Wrong("template", template, "it is %s", strings.Join(suite.GatesTemplates(), " or "))
	}
	switch _, there, err := a.Config.Files.Existing(name); {
	case there || a.Config.Files.Kind(name) != app.KindNone:
		return fmt.Errorf("write %s: %w: the file exists", name, callvet.ErrConflict)
	case err != nil:
		return fmt.Errorf("write %s: %w", name, err)
	}
	return a.Config.Files.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// perCase reports whether a gate is decided case by case.
func perCase(gs []gates.Gate) bool {
	return slices.ContainsFunc(gs, func(g gates.Gate) bool { return g.Key == gates.KeyCase })
}

// compared returns the metrics of gates that can be compared with a baseline. Those of gates about
// the baseline come first: a comparison refuses metrics without a paired test.
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
		if slices.Contains(panel.Comparable(), gs[i].Metric) { // a bound; its change is shown next to it
			add(gs[i].Metric)
		}
	}
	// where a side makes no call, or more calls go with more unneeded ones
	if slices.Contains(out, panel.MetricOverCall) {
		add(panel.MetricOverCallByTask)
	}
	return out
}

// holdRun sums up a stored run for its gates.
func holdRun(ctx context.Context, a *app.App, r *results.Run, req *GateRequest, gs []gates.Gate,
	events app.Events,
) (*held, error) {
	keys := results.SliceKeys(gs)
	h := &held{subject: "run " + r.Stored.ID, input: gates.Input{Task: "case"}, looks: &results.Looks{}}
	var err error
	if h.input.Keys, err = r.Keys(); err != nil {
		return nil, err
	}
	if h.input.Panels, err = heldPanels(ctx, a, r, req, keys, 0, events); err != nil {
		return nil, err
	}
	against, again := req.Baseline != (app.Side{}), mayLookAgain(r, gs)
	if against || again {
		cfg := measure.SideConfig{By: keys, Metrics: sideMetrics(gs, against, again)}
		s, err := sidesOf(ctx, a, r, req.Baseline, cfg, events)
		if err != nil {
			return nil, err
		}
		if h.baseline = s.name; against {
			h.input.Comparison = comparedFor(gs, s.base, s.cand, panel.DiffConfig{})
		}
		if again {
			if err := h.lookAgain(ctx, a, r, req, gs, &s, events); err != nil {
				return nil, err
			}
		}
	}
	if metrics := MeasuredMetrics(gs); len(metrics) > 0 {
		if h.input.Alike, err = CorrelationAlike(ctx, a, r, metrics); err != nil {
			return nil, err
		}
	}
	if perCase(gs) {
		if h.input.Cases, err = r.Ledger(ctx,
			measure.SideConfig{By: []string{}, Metrics: []string{panel.MetricPass}}); err != nil {
			return nil, err
		}
		for i := range r.Manifest.Targets {
			if t := &r.Manifest.Targets[i]; results.GivesFacts(t) {
				h.input.Facts = append(h.input.Facts, t.Name)
			}
		}
	}
	h.look = func(rep *gates.Report) ([][]app.Action, error) { return examplesOfVerdicts(ctx, r, rep) }
	return h, nil
}

// mayLookAgain reports whether a gate may be looked at more than once, or whether a look at a
// target may be a later one. If all targets always return the same answer, no look is a later one.
func mayLookAgain(r *results.Run, gs []gates.Gate) bool {
	return lookedAnyTime(gs) ||
		slices.ContainsFunc(r.Manifest.Targets, func(t callvet.Target) bool { return !results.GivesFacts(&t) })
}

// lookedAnyTime reports whether a gate may be looked at any number of times.
func lookedAnyTime(gs []gates.Gate) bool {
	return slices.ContainsFunc(gs, func(g gates.Gate) bool { return g.Looks == gates.LooksAny })
}

// sideMetrics returns the metrics that gates need task by task: for a baseline, and for several
// looks.
func sideMetrics(gs []gates.Gate, against, again bool) (out []string) {
	if against {
		out = compared(gs)
	}
	if again {
		for _, m := range results.Sequenced(gs) {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// lookAgain prepares the gates of a run for several looks.
func (h *held) lookAgain(ctx context.Context, a *app.App, r *results.Run, req *GateRequest, gs []gates.Gate, s *sides,
	events app.Events,
) (err error) {
	e := &gates.Evidence{
		Tasks: s.cand, Base: s.base, Planned: r.Cases(), Early: r.Early(), Stricter: map[int]gates.Stricter{},
	}
	h.input.Evidence = e
	if e.Order, err = r.Ids(); err != nil {
		return err
	}
	if e.Asked, err = r.Asked(ctx); err != nil {
		return err
	}
	file := req.Ledger
	if u := r.Manifest.Until; file == "" && u != nil {
		file = u.Ledger
	}
	if h.looks, err = results.LookBack(ctx, a, r, file, s.cand, gs, e.OrderOf); err != nil {
		return err
	}
	e.Looks, e.Earlier = h.looks.At, h.looks.Earlier
	for _, look := range e.Looks {
		if _, made := e.Stricter[look.Number]; made || look.Number < 2 ||
			!slices.ContainsFunc(gs, func(g gates.Gate) bool { return !early(&g, e) }) {
			continue
		}
		confidence := 1 - 2*gate.LookAlpha(look.Number)
		strict := gates.Stricter{}
		if strict.Panels, err = heldPanels(ctx, a, r, req, results.SliceKeys(gs), confidence, events); err != nil {
			return err
		}
		if s.base != nil {
			strict.Comparison = comparedFor(gs, s.base, s.cand, panel.DiffConfig{Confidence: confidence})
		}
		e.Stricter[look.Number] = strict
	}
	return nil
}

// early reports whether a gate is decided task by task, at later looks too.
func early(g *gates.Gate, e *gates.Evidence) bool {
	_, why := g.Sequence(gate.Alpha)
	for _, t := range e.Tasks.Targets() {
		if why == "" {
			_, why = e.Tasks.Sums(t, g.Metric, panel.SliceID{}, e.Order)
		}
	}
	return why == "" && results.OfCases(g.Key)
}

// heldPanels returns the panels of a run for its gates at a confidence (0: the default), with the
// labels of people about its judges.
func heldPanels(ctx context.Context, a *app.App, r *results.Run, req *GateRequest, keys []string,
	confidence float64, events app.Events,
) (*panel.Panels, error) {
	calibrations, err := results.Calibrated(a, req.Calibrations, []results.Tasks{r.Tasks(ctx)}, events)
	if err != nil {
		return nil, err
	}
	p, err := r.GatePanels(ctx, keys, confidence, calibrations)
	if err == nil && req.Labels != "" {
		err = results.AddLabelled(a, p, r.Tasks(ctx), req.Labels, calibrations, events)
	}
	return p, err
}

// maxPlaces is how many cases to open a verdict lists.
const maxPlaces = 3

// examplesOfVerdicts adds to each verdict that did not pass some cases that show why.
func examplesOfVerdicts(ctx context.Context, r *results.Run, rep *gates.Report) ([][]app.Action, error) {
	look := make([][]app.Action, len(rep.Verdicts))
	show := func(i int, id string) {
		look[i] = append(look[i], app.Action{Verb: app.VerbShow, Run: r.Stored.ID, Case: id})
	}
	for i := range rep.Verdicts {
		for _, p := range rep.Verdicts[i].Open {
			show(i, p.Task)
		}
	}
	for row, err := range r.Rows(ctx, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, err
		}
		full := true
		for i := range rep.Verdicts {
			v := &rep.Verdicts[i]
			if v.Verdict == gate.Pass || len(v.Open) >= maxPlaces {
				continue
			}
			full = false
			if r.Without[row.Case.ID] {
				continue
			}
			last := len(v.Open) > 0 && v.Open[len(v.Open)-1].Task == row.Case.ID
			if !last && v.Target == r.Manifest.Targets[row.Cell.Target].Name && results.InSlice(row.Case, v.Key, v.Value) &&
				falls(row.Cell, &v.Gate) {
				v.Open = append(v.Open, gates.Place{Task: row.Case.ID})
				show(i, row.Case.ID)
			}
		}
		if full {
			break
		}
	}
	return look, nil
}

// falls reports whether an attempt makes a gate's metric worse.
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
	return panel.BuiltIn(g.Metric) && m.Unit == panel.UnitRate && !m.LowerIsBetter &&
		cell.Result.Verdict == callvet.VerdictFail
}

// gateTraces checks a trace file against gates.
func gateTraces(ctx context.Context, a *app.App, req *GateRequest, events app.Events) (*GateResult, error) {
	name := req.Traces
	file, err := results.GateFile(a, req.Gates, nil)
	if err != nil {
		return nil, err
	}
	without, quarantined, err := results.QuarantineTraces(a, name, file.Quarantine)
	if err != nil {
		return nil, err
	}
	keys := results.SliceKeys(file.Gates)
	score := &ScoreRequest{Traces: []string{name}, TraceSettings: req.TraceSettings, Slices: keys}
	r := reading{ScoreRequest: score, complete: true, without: without}
	if r.calibrations, err = results.Calibrated(a, req.Calibrations, results.TaskSources(a, score.Traces),
		events); err != nil {
		return nil, err
	}
	against, again := req.Baseline != (app.Side{}), lookedAnyTime(file.Gates)
	cfg := measure.SideConfig{
		Judge: req.Judge, By: keys, Metrics: sideMetrics(file.Gates, against, again), Without: without,
	}
	if against || again {
		if r.side, err = measure.NewSide(filepath.Base(name), cfg); err != nil {
			return nil, err
		}
	}
	s, err := sumFiles(ctx, a, r, events)
	if err != nil {
		return nil, err
	}
	events.Lines(s.Problems(), &s.Log)
	if s.Log.Steps+s.Log.Tasks == 0 {
		return nil, a.NoTracesError(score.Traces)
	}
	h := &held{
		subject: name, input: gates.Input{Panels: s.Panels, Task: "task"}, look: lookInto(name, req.Given()),
		sentences: quarantined,
	}
	if req.Labels != "" {
		from := results.TasksOfFile(a, name)
		from.Without = without
		if err := results.AddLabelled(a, s.Panels, from, req.Labels, r.calibrations, events); err != nil {
			return nil, err
		}
	}
	if perCase(file.Gates) {
		if a.IsStream(name) {
			return nil, app.Refused("traces",
				"%s can be read once only, and a gate per case needs a second reading: write it to a file", name)
		}
		if h.input.Cases, err = traceLedger(ctx, a, name,
			measure.SideConfig{Judge: req.Judge, By: []string{}, Without: without}, score, nil); err != nil {
			return nil, err
		}
	}
	if h.input.Keys, err = a.TraceKeys(name, s.Panels, keys); err != nil {
		return nil, err
	}
	if r.side != nil {
		side := r.side
		r.side = nil // its memory is free after its ledger is made
		cand, err := sideLedger(name, side, s.Lost(), events)
		if err != nil {
			return nil, err
		}
		if err := h.sideOfTraces(ctx, a, req, file.Gates, cand, cfg, score, events); err != nil {
			return nil, err
		}
	}
	return decide(a, h, file, req)
}

// sideOfTraces reads the data that the gates of a trace file need task by task.
func (h *held) sideOfTraces(ctx context.Context, a *app.App, req *GateRequest, gs []gates.Gate, cand *panel.Ledger,
	cfg measure.SideConfig, how *ScoreRequest, events app.Events,
) (err error) {
	var base *panel.Ledger
	if req.Baseline != (app.Side{}) {
		if base, err = ledger(ctx, a, req.Baseline, cfg, how, events); err != nil {
			return err
		}
		h.baseline, h.input.Comparison = req.Baseline.Name(),
			comparedFor(gs, base, cand, panel.DiffConfig{Unpaired: panel.Disjoint(base, cand)})
	}
	if lookedAnyTime(gs) {
		order := results.Shuffled(cand.Tasks())
		h.input.Evidence = &gates.Evidence{Tasks: cand, Base: base, Order: order, Planned: len(order)}
	}
	return nil
}

// lookInto adds the places in a trace file to look at for gates that did not pass.
func lookInto(name string, read []app.Setting) func(*gates.Report) ([][]app.Action, error) {
	return func(rep *gates.Report) ([][]app.Action, error) {
		look := make([][]app.Action, len(rep.Verdicts))
		for i := range rep.Verdicts {
			v := &rep.Verdicts[i]
			look[i] = make([]app.Action, len(v.Open))
			for j := range v.Open {
				if p := &v.Open[j]; p.File == "" && p.Line > 0 {
					p.File = name
				}
			}
			if v.Key != "" && v.Verdict != gate.Pass && v.N > 0 && name != "-" {
				v.Open = append(v.Open, gates.Place{})
				look[i] = append(look[i],
					app.Action{
						Verb: app.VerbScore, Case: name,
						With: append(slices.Clip(read), app.One("slices", v.Key)),
					})
			}
		}
		return look, nil
	}
}
