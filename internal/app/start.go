// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/parallel"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
)

// RunRequest asks for a run of a suite.
type RunRequest struct {
	SuiteRequest
	// Words are for people. The name finds a run of the command line later; "": only its id does.
	store.Words
	// Owned is a run of a user of a server, as store.NewRun has it.
	Owned bool `json:"-"`
	// Targets are asked. TargetFile is a file with more of them: what its entries do not
	// say is as in Shared, and commands in it run with AllowExec only.
	Targets    []TargetSpec `json:"targets,omitempty"`
	TargetFile string       `json:"target_file,omitempty"`
	Shared     TargetSpec   `json:"shared,omitzero"`
	AllowExec  bool         `json:"allow_exec,omitempty"`
	// SystemFor are system prompts of single targets, by target or name.
	SystemFor map[string]string `json:"system_for,omitempty"`
	// Repeats is how often each target is asked for each case without a number of its own; 0 means once.
	Repeats int `json:"repeats,omitempty"`
	// Filter, Sample and FailedFrom choose cases: see run.Selection. Seed is that of the
	// sample, and of models that take one.
	Filter     []string `json:"filter,omitempty"`
	Sample     int      `json:"sample,omitempty"`
	Seed       int64    `json:"seed,omitempty"`
	FailedFrom string   `json:"failed_from,omitempty"`
	// Slices are those of the report: tag, tier or names of fields, * for all fields.
	Slices []string `json:"slices,omitempty"`
	// Keep are kinds of personal data that are kept and shown as they are.
	Keep []string `json:"keep,omitempty"`
	// Prices is a file that goes before the shipped prices.
	Prices string `json:"prices,omitempty"`
	// Guard is a file with a policy: which calls are executed and which results shown. Runs
	// are held to its rules; "": every call is executed.
	Guard string `json:"guard,omitempty"`
	// NoLint runs a suite with errors, NoCache asks again what was answered before, and
	// RealLatency waits as long as mocks say.
	NoLint      bool `json:"no_lint,omitempty"`
	NoCache     bool `json:"no_cache,omitempty"`
	RealLatency bool `json:"real_latency,omitempty"`
	Settings
	Origin Origin `json:"origin,omitzero"`
	// Selection is laid over what the suite says of scoring decisions.
	Selection *SelectionRequest `json:"selection,omitempty"`
	// Judges are asked when the attempts are over; nil: none is.
	Judges *RunJudges `json:"judges,omitempty"`
	// Faults is a file with faults that calls of tools meet, in place of the suite's own.
	Faults string `json:"faults,omitempty"`
	WorldRequest
	// Made is a suite that another request made; it is read from no file then.
	Made *callvet.Suite `json:"-"`
	// Drill: Made are drills, a usual suite with twins.
	Drill bool `json:"-"`
}

// SelectionRequest says how decisions over a catalogue are scored.
type SelectionRequest struct {
	// Scoring stands in place of the suite's; nil: the suite's.
	Scoring *callvet.SelectionScoring `json:"scoring,omitempty"`
	// K are the depths where neither says any.
	K []int `json:"k,omitempty"`
}

// lay puts the request over the suite.
func (q *SelectionRequest) lay(s *callvet.Suite) {
	if q == nil {
		return
	}
	with := callvet.SelectionScoring{}
	switch {
	case q.Scoring != nil:
		with = *q.Scoring
	case s.Defaults.Scoring.Selection != nil:
		with = *s.Defaults.Scoring.Selection
	}
	if with.K == nil {
		with.K = q.K
	}
	s.Defaults.Scoring.Selection = &with
}

// check refuses what no suite and no target can make right.
func (q *RunRequest) check() error {
	switch {
	case q.Suite == "" && q.Text == nil:
		return wrong("suite", "", "which suite?")
	case q.Repeats < 0:
		return wrong("repeats", strconv.Itoa(q.Repeats), "write 1 or more")
	case q.Sample < 0:
		return wrong("sample", strconv.Itoa(q.Sample), "write 1 or more")
	}
	_, err := Kinds(q.Keep)
	return errors.Join(err, checkWords(&q.Words), q.Settings.check(), q.WorldRequest.check())
}

// settings are the person's settings other than targets: they are stored too, for suggested
// commands.
func (q *RunRequest) settings() []redact.Setting {
	const hint = "leave it out"
	out := []redact.Setting{{Name: "the suite's path", Prose: q.Suite, Hint: hint}}
	out = append(out, wordSettings(&q.Words)...)
	for _, g := range q.Origin.Flags {
		for _, v := range g.Values {
			out = append(out, redact.Setting{Name: "--" + g.Name, Prose: v, Hint: hint})
		}
	}
	return out
}

// manifest is the stored request without its suite.
func (q *RunRequest) manifest(version string, specs []TargetSpec, s *callvet.Suite) *Manifest {
	return &Manifest{
		Version: manifestVersion, Callvet: version, Rules: callvet.RulesVersion, Path: q.Suite, Origin: q.Origin,
		Made: q.Made != nil && !q.Drill, Kept: q.Text != nil, Drill: q.Drill, Specs: specs,
		ToolsHash: callvet.NewToolset(s.Tools).Hash, Repeats: max(q.Repeats, 1),
		Filter: q.Filter, Sample: q.Sample, Seed: q.Seed, FailedFrom: q.FailedFrom, Slices: q.Slices,
		TargetFile: q.TargetFile, Prices: q.Prices, RealLatency: q.RealLatency, NoCache: q.NoCache,
		Embedder: q.Embedder, Keep: q.Keep, Settings: &q.Settings, Judges: q.Judges,
	}
}

// StartRun checks a request, opens its targets and keeps the run with its suite. No target
// is asked yet: that is what the Session does, here or, by ResumeRun, elsewhere.
func (a *App) StartRun(ctx context.Context, req RunRequest, events Events) (*Session, error) {
	return a.startRun(ctx, &req, nil, events)
}

func (a *App) startRun(ctx context.Context, req *RunRequest, dry *DryRun, events Events) (*Session, error) {
	if err := errors.Join(req.check(), a.readableGates(&req.Settings, events)); err != nil {
		return nil, err
	}
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	specs, err := a.targets(req, events)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(a.secrets.Spelled(req.settings()), a.checkJudges(ctx, req, dry, events)); err != nil {
		return nil, err
	}
	askOnce(req, specs, events)
	read, err := a.suiteOf(ctx, req, events)
	if err != nil {
		return nil, err
	}
	op, err := a.newOpener(req.timeout(), req.Prices, req.Suite, events)
	if err != nil {
		return nil, err
	}
	op.lacks = dry.lacking(false)
	tools, policy, err := a.worldOf(req, events)
	if err != nil {
		return nil, err
	}
	over := req.WorldRequest
	if dry != nil {
		over.Record = "" // nothing is answered
	}
	answers, err := a.openWorld(ctx, over)
	if err != nil {
		return nil, err
	}
	s := &Session{
		yield: make(chan struct{}), app: a, events: events, op: op, policy: policy, tools: tools, world: answers,
		settings: req.Settings, slices: req.Slices, noWait: true, dry: dry,
	}
	if err := s.start(ctx, db, req, read, specs); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// askOnce reports that catalogues are not asked the same question again.
func askOnce(req *RunRequest, specs []TargetSpec, events Events) {
	if alwaysSame(specs) && req.Repeats > 1 {
		events.note("asked-once", "a catalogue gives the same every time: each case is asked once, and not %d times",
			req.Repeats)
		req.Repeats = 1
	}
}

// alwaysSame reports whether all targets search a catalogue, which gives the same every time.
func alwaysSame(specs []TargetSpec) bool {
	found, asks, others := catalog.Searches(TargetNames(specs))
	return found && !asks && !others
}

// suiteOf starts to read the suite of a request.
func (a *App) suiteOf(ctx context.Context, req *RunRequest, events Events) (*suite.Stream, error) {
	faults, err := a.readFaults(req.Faults, events)
	if err != nil {
		return nil, err
	}
	if req.Made != nil {
		if len(faults) > 0 {
			req.Made.Faults = faults
		}
		return &suite.Stream{Suite: req.Made}, nil
	}
	req.Programs = req.Programs || req.AllowExec && a.cfg.Permit.Commands
	read, err := a.OpenSuite(ctx, req.SuiteRequest, events)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		read.Suite.Faults = faults
	}
	req.Selection.lay(read.Suite)
	return read, nil
}

// start opens the targets, keeps the suite and creates the run. When it fails nothing is kept.
func (s *Session) start(ctx context.Context, db *store.DB, req *RunRequest, read *suite.Stream,
	specs []TargetSpec,
) (err error) {
	if s.targets == nil {
		if s.targets, err = s.op.openAll(ctx, specs); err != nil {
			return err
		}
	}
	s.app.tellWithheld(specs, s.events)
	var files []suite.File
	if read != nil { // the suite of a judging is made, not read
		files = read.Files()
	}
	own, err := s.app.newScorersOf(req)
	if err != nil {
		return err
	}
	kept := evalFiles{made: newMakers(files)}
	chosen := ownRepeats{once: alwaysSame(specs), repeats: map[int]int{}}
	each := func(c *callvet.Case) {
		kept.of(c)
		chosen.add(c)
	}
	hash, rubrics, err := s.app.keepSuite(ctx, db, req, read, own, each, s.events)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.DropSuite(context.WithoutCancel(ctx), hash))
		}
	}()
	ran := req.Made
	if read != nil {
		ran = read.Suite
	}
	man := req.manifest(s.app.cfg.Version, specs, ran)
	man.Judging, man.Guard, man.Live, man.World = s.judging, s.policy, s.tools, s.world.ran()
	man.Rubrics, man.Scorers = rubrics, own.list()
	tellCommands("the suite "+req.Suite, own.all(), s.events)
	if read != nil {
		man.EvalFiles = kept.hashed(files)
		if man.Stale, err = kept.stale(ctx, read.Suite, models(specs), s.events); err != nil {
			return err
		}
	}
	if man.Catalogues, err = catalog.Fingerprints(TargetNames(specs), catalogueFiles{s.app}); err != nil {
		return err
	}
	// cells in flight need their cases after ctx
	if s.Run, err = openSuite(context.WithoutCancel(ctx), db, hash); err != nil {
		return err
	}
	s.Manifest = man
	if man.Cases, err = selectCases(ctx, db, s.cases, req); err != nil {
		return err
	}
	chosen.of(man)
	if err := errors.Join(s.Sliceable(req.Slices), s.choosable(s.targets), s.agree(s.tools, req.Live)); err != nil {
		return err
	}
	if err := errors.Join(s.tellTargets(), s.tellDrift()); err != nil {
		return err
	}
	for i := range s.targets {
		man.Targets = append(man.Targets, s.targets[i].Target)
		tellAdjusted(&s.targets[i].Target, s.events)
	}
	if s.dry != nil {
		return errors.Join(s.Run.fill(s.dry), db.DropSuite(context.WithoutCancel(ctx), hash))
	}
	b, err := json.Marshal(man)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	s.Stored, err = db.CreateRun(ctx,
		store.NewRun{Words: req.Words, Owned: req.Owned, SuiteHash: hash, Manifest: b, Judges: s.judges})
	return err
}

// ownRepeats are the numbers of attempts that cases have of their own, and the cases to skip, by position.
type ownRepeats struct {
	once    bool // no case has a second attempt
	n       int
	skipped []int
	repeats map[int]int
}

func (s *ownRepeats) add(c *callvet.Case) {
	if c.Skip != "" {
		s.skipped = append(s.skipped, s.n)
	} else if c.Repeat > 0 && !s.once {
		s.repeats[s.n] = c.Repeat
	}
	s.n++
}

// of puts into a manifest what its chosen cases say.
func (s *ownRepeats) of(man *Manifest) {
	man.Skipped, man.OwnRepeats = chosenOf(s.skipped, man.Cases), s.repeats
	if man.Cases != nil {
		maps.DeleteFunc(man.OwnRepeats, func(at, _ int) bool { return !slices.Contains(man.Cases, at) })
	}
}

// chosenOf counts the positions that are among the chosen ones; nil chosen are all.
func chosenOf(positions, chosen []int) *int {
	n := 0
	for _, at := range positions {
		if chosen == nil || slices.Contains(chosen, at) {
			n++
		}
	}
	return &n
}

// keepSuite stores the suite while it is read, case by case, unless lint finds an
// error in it: then nothing is stored. rubrics are the positions of the cases for judges.
// each is given every case.
func (a *App) keepSuite(ctx context.Context, db *store.DB, req *RunRequest, read *suite.Stream, own *scorersOf,
	each func(*callvet.Case), events Events,
) (hash string, rubrics []int, err error) {
	n := 0
	count := func(c *callvet.Case) {
		own.add(c)
		each(c)
		if forJudges(c) {
			rubrics = append(rubrics, n)
		}
		n++
	}
	if req.Made != nil {
		if req.Drill { // what others made holds what the store has already
			if err := lintVerdict(a.secretsOf(req.Made), req, events); err != nil {
				return "", nil, err
			}
		}
		for i := range req.Made.Cases {
			count(&req.Made.Cases[i])
		}
		if err := own.refusal(req, a.cfg.Permit); err != nil {
			return "", nil, err
		}
		hash, err = db.PutSuite(ctx, req.Made)
		return hash, rubrics, err
	}
	verdict := func(problems []callvet.Problem) error { return lintVerdict(problems, req, events) }
	// A secret is refused before anything is written: what is rolled back may be on the disk.
	if err := verdict(a.secrets.Suite(read.Suite)); err != nil {
		return "", nil, err
	}
	cases := read.Cases(ctx)
	if req.Embedder != "" || a.cfg.Owner != "" {
		// Lint asks the embedder, and the database must not be locked while it waits for a network,
		// or for another user's schemas.
		cases = slices.Values(slices.Collect(cases))
	}
	var refused error
	hash, err = db.PutSuiteFrom(ctx, read.Suite, func(yield func(*callvet.Case, error) bool) {
		for c := range parallel.Ahead(cases, 128) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if refused = verdict(a.secrets.Case(c)); refused != nil {
				yield(nil, refused)
				return
			}
			if count(c); own.denied { // the others are read for their commands only
				continue
			}
			if !yield(c, nil) {
				return
			}
		}
		if refused = own.refusal(req, a.cfg.Permit); refused != nil {
			yield(nil, refused)
			return
		}
		if refused = verdict(read.Problems()); refused != nil {
			yield(nil, refused)
		}
	})
	if refused != nil {
		return "", nil, refused
	}
	return hash, rubrics, err
}

// secretsOf are the secrets that a suite in memory holds, as problems.
func (a *App) secretsOf(s *callvet.Suite) []callvet.Problem {
	out := a.secrets.Suite(s)
	for i := range s.Cases {
		out = append(out, a.secrets.Case(&s.Cases[i])...)
	}
	return out
}

// CodeNotEvaluated is that of lint's problems with assertions that nothing here evaluates.
const CodeNotEvaluated = "not-evaluated"

// lintVerdict reports lint's findings and whether to run nevertheless.
func lintVerdict(problems []callvet.Problem, req *RunRequest, events Events) error {
	if req.Recordings != "" { // they answer what the suite's mocks do not
		problems = slices.DeleteFunc(slices.Clone(problems),
			func(p callvet.Problem) bool { return p.Code == "unreachable" && p.Warning })
	}
	if req.Judges.decidesRubrics() {
		problems = slices.DeleteFunc(slices.Clone(problems),
			func(p callvet.Problem) bool { return p.Code == suite.CodeNeedsJudge })
		for i := range problems {
			problems[i].Warning = problems[i].Warning || problems[i].Code == CodeNotEvaluated
		}
	}
	events.problems(problems)
	if n := errorsIn(problems); n > 0 && !req.NoLint {
		return &callvet.FieldError{
			Field: "suite", Text: fmt.Sprintf("lint %s: %s", req.Suite, plain.Count(n, "error", "errors")),
			Fix: "mend them, or {no_lint} to run all the same",
		}
	}
	return nil
}

// tellTargets reports targets that do not fit the cases or the limits, before they are asked.
func (s *Session) tellTargets() error {
	var err error
	s.op.coverage(s.all(&err))
	s.op.tellUnpriced(s.targets, s.settings.MaxCostUSD)
	return err
}

// tellAdjusted reports requested parameters that are changed or omitted, omitted defaults, and
// parameters that the provider requires. A renamed parameter does not count.
func tellAdjusted(t *callvet.Target, events Events) {
	for _, adj := range t.Adjustments {
		code, said := "adjusted", ""
		switch {
		case adj.Default && adj.Action == "drop":
			code, said = "default", fmt.Sprintf("%s %s, the default, is not sent, so that answers vary: %s", adj.Param,
				adj.From, adj.Reason)
		case adj.Default:
		case adj.Action == "drop":
			said = fmt.Sprintf("%s %s is not sent: %s", adj.Param, adj.From, adj.Reason)
		case adj.Action == "clamp":
			said = fmt.Sprintf("%s %s is sent as %s: %s", adj.Param, adj.From, adj.To, adj.Reason)
		case adj.Action == "warn" && adj.From != "":
			said = fmt.Sprintf("%s %s: %s", adj.Param, adj.From, adj.Reason)
		case adj.Action == "warn":
			code, said = "default", fmt.Sprintf("%s %s is sent, as none is set: %s", adj.Param, adj.To, adj.Reason)
		}
		if said != "" {
			events.note(code, "%s: %s", t.Name, said)
		}
	}
}

// choosable refuses a tool choice of a target that is neither a rule nor a tool.
func (r *Run) choosable(ts []run.Target) error {
	rules := []string{"auto", "required", "none"}
	for i := range ts {
		choice := ts[i].ToolChoice
		if choice == "" || slices.Contains(rules, choice) {
			continue
		}
		known := slices.Clone(rules)
		add := func(tools []callvet.Tool) {
			for i := range tools {
				known = append(known, tools[i].Name)
			}
		}
		add(r.Suite.Tools)
		var err error
		for c := range r.Chosen(&err) {
			add(c.Tools)
		}
		if err != nil {
			return err
		}
		if slices.Contains(known, choice) {
			continue
		}
		hint := "write auto, required, none or the name of a tool of the suite"
		if near := callvet.Nearest(choice, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return &callvet.Hinted{Err: fmt.Errorf("tool choice %q of target %s: %w: the suite has no such tool", choice,
			ts[i].Name, callvet.ErrInvalid), Hint: hint}
	}
	return nil
}

// selectCases gives the positions of the chosen cases, nil for all.
func selectCases(ctx context.Context, db *store.DB, cases run.Source, req *RunRequest) ([]int, error) {
	if len(req.Filter) == 0 && req.Sample == 0 && req.FailedFrom == "" {
		return nil, nil
	}
	sel := run.Selection{Filters: req.Filter, Sample: req.Sample, Seed: uint64(req.Seed)}
	if req.FailedFrom != "" {
		r, err := stored(ctx, db, req.FailedFrom)
		if err != nil {
			return nil, err
		}
		sel.Only = map[string]bool{}
		for c, err := range db.Cells(ctx, r.ID,
			store.Filter{Verdicts: []callvet.Verdict{
				callvet.VerdictFail, callvet.VerdictError,
				callvet.VerdictNotRun,
			}}) {
			if err != nil {
				return nil, err
			}
			sel.Only[c.Trace.CaseID] = true
		}
		if len(sel.Only) == 0 {
			return nil, fmt.Errorf("select cases: %w: nothing failed in run %s", callvet.ErrInvalid, r.ID)
		}
	}
	return run.SelectFrom(cases, sel)
}
