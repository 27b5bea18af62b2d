// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/sys"
)

// applySelection overrides the suite's settings by the request's.
func applySelection(q *app.SelectionRequest, s *callvet.Suite) {
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

// redactSettings are the person's settings other than targets: they are stored too, for suggested
// commands.
func redactSettings(q *app.RunRequest) []redact.Setting {
	const hint = "leave it out"
	out := []redact.Setting{{Name: "the suite's path", Prose: q.Suite, Hint: hint}}
	out = append(out, app.WordSettings(&q.Words)...)
	for _, g := range q.Origin.Flags {
		for _, v := range g.Values {
			out = append(out, redact.Setting{Name: "--" + g.Name, Prose: v, Hint: hint})
		}
	}
	return out
}

// newManifest is the stored request without its suite.
func newManifest(q *app.RunRequest, version string, specs []app.TargetSpec, s *callvet.Suite) *results.Manifest {
	return &results.Manifest{
		Version: results.ManifestVersion, Callvet: version, Rules: callvet.RulesVersion, Path: q.Suite,
		Origin: q.Origin,
		Made:   q.Made != nil && !q.Drill, Kept: q.Text != nil, Drill: q.Drill, Specs: specs,
		ToolsHash: callvet.NewToolset(s.Tools).Hash, Repeats: max(q.Repeats, 1),
		Filter: q.Filter, Sample: q.Sample, Seed: q.Seed, FailedFrom: q.FailedFrom, Slices: q.Slices,
		TargetFile: q.TargetFile, Prices: q.Prices, RealLatency: q.RealLatency, NoCache: q.NoCache,
		Embedder: q.Embedder, Keep: q.Keep, Settings: &q.Settings, Judges: q.Judges,
	}
}

// Start checks a request, opens its targets and stores the run with its suite. It sends no requests
// yet: the Session does, here or, after Resume, in another process.
func Start(ctx context.Context, a *app.App, req app.RunRequest, events app.Events) (*Session, error) {
	return startRun(ctx, a, &req, nil, nil, events)
}

// startRun starts a run. If dry is not nil, the run is described there and not stored. If part is
// not nil, the run is a part of a larger task.
func startRun(ctx context.Context, a *app.App, req *app.RunRequest, dry *DryRun, part *Part, events app.Events,
) (*Session, error) {
	if err := errors.Join(req.Check(), results.ReadableGates(a, &req.Settings, events)); err != nil {
		return nil, err
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	specs, err := a.TargetSpecs(req, events)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(a.Secrets().Spelled(redactSettings(req)),
		checkJudges(ctx, a, req, dry, events)); err != nil {
		return nil, err
	}
	askOnce(req, specs, events)
	read, err := suiteOf(ctx, a, req, events)
	if err != nil {
		return nil, err
	}
	op, err := a.NewOpener(req.Timeout(), req.Prices, req.Suite, events)
	if err != nil {
		return nil, err
	}
	if op.Lacks = dry.lacking(false); part != nil {
		op.Lacks = part.Lacks
	}
	tools, policy, err := worldOf(a, req, events)
	if err != nil {
		return nil, err
	}
	over := req.WorldRequest
	if dry != nil {
		over.Record = "" // no call is answered
	}
	answers, err := openWorld(ctx, a, over)
	if err != nil {
		return nil, err
	}
	s := &Session{
		yield: make(chan struct{}), app: a, events: events, op: op, policy: policy, tools: tools, world: answers,
		settings: req.Settings, slices: req.Slices, noWait: true, dry: dry, part: part,
	}
	if err := s.start(ctx, db, req, read, specs); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// askOnce reports that searches of catalogues are not repeated.
func askOnce(req *app.RunRequest, specs []app.TargetSpec, events app.Events) {
	if alwaysSame(specs) && req.Repeats > 1 {
		events.Note("asked-once", "a catalogue gives the same every time: each case is asked once, and not %d times",
			req.Repeats)
		req.Repeats = 1
	}
}

// alwaysSame reports whether all targets search a catalogue, with the same result every time.
func alwaysSame(specs []app.TargetSpec) bool {
	found, asks, others := catalog.Searches(app.TargetNames(specs))
	return found && !asks && !others
}

// suiteOf starts to read the suite of a request.
func suiteOf(ctx context.Context, a *app.App, req *app.RunRequest, events app.Events) (*suite.Stream, error) {
	faults, err := a.ReadFaults(req.Faults, events)
	if err != nil {
		return nil, err
	}
	if req.Made != nil {
		if len(faults) > 0 {
			req.Made.Faults = faults
		}
		return &suite.Stream{Suite: req.Made}, nil
	}
	req.Programs = req.Programs || req.AllowExec && a.Config.Permit.Commands
	read, err := a.OpenSuite(ctx, req.SuiteRequest, events)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		read.Suite.Faults = faults
	}
	applySelection(req.Selection, read.Suite)
	return read, nil
}

// start opens the targets, stores the suite and creates the run. If it fails, nothing is stored.
func (s *Session) start(ctx context.Context, db *store.DB, req *app.RunRequest, read *suite.Stream,
	specs []app.TargetSpec,
) (err error) {
	if s.targets == nil {
		if s.targets, err = s.op.OpenAll(ctx, specs); err != nil {
			return err
		}
	}
	s.app.ReportWithheld(specs, s.events)
	var files []suite.File
	if read != nil { // the suite of a judging is made, not read
		files = read.Files()
	}
	own, err := s.app.NewScorersOf(req)
	if err != nil {
		return err
	}
	kept := results.EvalFiles{Made: app.NewMakers(files)}
	chosen := ownRepeats{once: alwaysSame(specs), repeats: map[int]int{}}
	each := func(c *callvet.Case) {
		kept.Of(c)
		chosen.add(c)
	}
	hash, rubrics, err := keepSuite(ctx, s.app, db, req, read, own, each, s.events)
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
	man := newManifest(req, s.app.Config.Version, specs, ran)
	if req.UntilDecided != nil { // the manifest has the text of its gates
		s.settings.Gates = ""
		man.Settings = &s.settings
	}
	man.Judging, man.Guard, man.Live, man.World = s.judging, s.policy, s.tools, s.world.ran()
	man.Rubrics, man.Scorers = rubrics, own.List()
	app.ReportCommands("the suite "+req.Suite, own.All(), s.events)
	if read != nil {
		man.EvalFiles = kept.Hashed(files)
		if man.Stale, err = kept.Stale(ctx, read.Suite, app.Models(specs), s.events); err != nil {
			return err
		}
	}
	if man.Catalogues, err = catalog.Fingerprints(app.TargetNames(specs), s.app.CatalogueFiles()); err != nil {
		return err
	}
	// cells in flight need their cases after ctx
	if s.Run, err = results.OpenSuite(context.WithoutCancel(ctx), db, hash); err != nil {
		return err
	}
	s.Manifest = man
	if man.Cases, err = selectCases(ctx, db, s.CaseLines, req); err != nil {
		return err
	}
	chosen.of(man)
	if err := errors.Join(s.Sliceable(req.Slices), checkToolChoices(s.Run, s.targets),
		s.agree(s.tools, req.Live)); err != nil {
		return err
	}
	if err := errors.Join(s.reportTargets(), s.reportDrift()); err != nil {
		return err
	}
	for i := range s.targets {
		man.Targets = append(man.Targets, s.targets[i].Target)
		reportAdjusted(&s.targets[i].Target, s.events)
	}
	if man.Until, err = untilOf(ctx, s.app, req, s.Run, s.events); err != nil {
		return err
	}
	if s.dry != nil {
		return errors.Join(fillDryRun(s.Run, s.dry), db.DropSuite(context.WithoutCancel(ctx), hash))
	}
	return s.create(ctx, db, req, hash)
}

// create stores the run with its manifest.
func (s *Session) create(ctx context.Context, db *store.DB, req *app.RunRequest, hash string) error {
	as := store.NewRun{Words: req.Words, Owned: req.Owned, SuiteHash: hash, Judges: s.judges}
	if s.part != nil {
		as.ID, as.Judges, s.Manifest.Form = s.part.ID, s.part.Of, s.part.Form
	}
	var err error
	if as.Manifest, err = json.Marshal(s.Manifest); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	s.Stored, err = db.CreateRun(ctx, as)
	return err
}

// ownRepeats has the cases' own numbers of attempts, and the cases to skip, by position.
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

// of adds the settings of the chosen cases to a manifest.
func (s *ownRepeats) of(man *results.Manifest) {
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

// keepSuite stores the suite while it is read, case by case, unless lint finds an error in it: then
// nothing is stored. rubrics are the positions of the cases for judges. each is called for every
// case.
func keepSuite(ctx context.Context, a *app.App, db *store.DB, req *app.RunRequest, read *suite.Stream,
	own *app.ScorersOf,
	each func(*callvet.Case), events app.Events,
) (hash string, rubrics []int, err error) {
	n := 0
	count := func(c *callvet.Case) {
		own.Add(c)
		each(c)
		if forJudges(c) {
			rubrics = append(rubrics, n)
		}
		n++
	}
	if req.Made != nil {
		if req.Drill { // cases that a request made contain data that the store already has
			if err := LintVerdict(secretsOf(a, req.Made), req, events); err != nil {
				return "", nil, err
			}
		}
		for i := range req.Made.Cases {
			count(&req.Made.Cases[i])
		}
		if err := own.Refusal(req, a.Config.Permit); err != nil {
			return "", nil, err
		}
		hash, err = db.PutSuite(ctx, req.Made)
		return hash, rubrics, err
	}
	verdict := func(problems []callvet.Problem) error { return LintVerdict(problems, req, events) }
	// A secret is refused before anything is written, because data that is rolled back may still be
	// on the disk.
	if err := verdict(a.Secrets().Suite(read.Suite)); err != nil {
		return "", nil, err
	}
	cases := read.Cases(ctx)
	if req.Embedder != "" || a.Config.Owner != "" {
		// Lint sends requests to the embedder, and the database must not be locked while it waits
		// for a network, or for another user's schemas.
		cases = slices.Values(slices.Collect(cases))
	}
	var refused error
	secrets := a.Secrets().Search()
	hash, err = db.PutSuiteFrom(ctx, read.Suite, func(yield func(*callvet.Case, error) bool) {
		for c := range sys.Prefetch(cases, 128) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if count(c); own.Denied { // the others are read for their commands only
				continue
			}
			if !yield(c, nil) {
				return
			}
		}
		if refused = own.Refusal(req, a.Config.Permit); refused != nil {
			yield(nil, refused)
			return
		}
		if refused = verdict(read.Problems()); refused != nil {
			yield(nil, refused)
		}
	}, func(c *callvet.Case, text []byte) error {
		refused = verdict(secrets.Case(c, text))
		return refused
	})
	if refused != nil {
		return "", nil, refused
	}
	return hash, rubrics, err
}

// secretsOf returns the secrets in a suite in memory, as problems.
func secretsOf(a *app.App, s *callvet.Suite) []callvet.Problem {
	out := a.Secrets().Suite(s)
	for i := range s.Cases {
		out = append(out, a.Secrets().Case(&s.Cases[i])...)
	}
	return out
}

// LintVerdict reports lint's findings and whether to run nevertheless.
func LintVerdict(problems []callvet.Problem, req *app.RunRequest, events app.Events) error {
	if req.Recordings != "" { // recordings answer calls without a mock
		problems = slices.DeleteFunc(slices.Clone(problems),
			func(p callvet.Problem) bool { return p.Code == "unreachable" && p.Warning })
	}
	if decidesRubrics(req.Judges) {
		problems = slices.DeleteFunc(slices.Clone(problems),
			func(p callvet.Problem) bool { return p.Code == suite.CodeNeedsJudge })
		for i := range problems {
			problems[i].Warning = problems[i].Warning || problems[i].Code == app.CodeNotEvaluated
		}
	}
	events.Problems(problems)
	if n := app.ErrorsIn(problems); n > 0 && !req.NoLint {
		return &callvet.FieldError{
			Field: "suite", Text: fmt.Sprintf("lint %s: %s", req.Suite, plain.Count(n, "error", "errors")),
			Fix: "mend them, or {no_lint} to run all the same",
		}
	}
	return nil
}

// reportTargets reports targets that do not fit the cases or the limits, before they are asked.
func (s *Session) reportTargets() error {
	var err error
	s.op.Coverage(s.AllCases(&err), func(c *callvet.Case) int {
		if c.Repeat > 0 {
			return c.Repeat
		}
		return s.Manifest.Repeats
	})
	s.op.ReportUnpriced(s.targets, s.settings.MaxCostUSD)
	return err
}

// reportAdjusted reports requested parameters that are changed or omitted, omitted defaults, and
// parameters that the provider requires. A renamed parameter does not count.
func reportAdjusted(t *callvet.Target, events app.Events) {
	for _, adj := range t.Adjustments {
		code, text := "adjusted", ""
		switch {
		case adj.Default && adj.Action == "drop":
			code, text = "default", fmt.Sprintf("%s %s, the default, is not sent, so that answers vary: %s", adj.Param,
				adj.From, adj.Reason)
		case adj.Default:
		case adj.Action == "drop":
			text = fmt.Sprintf("%s %s is not sent: %s", adj.Param, adj.From, adj.Reason)
		case adj.Action == "clamp":
			text = fmt.Sprintf("%s %s is sent as %s: %s", adj.Param, adj.From, adj.To, adj.Reason)
		case adj.Action == "warn" && adj.From != "":
			text = fmt.Sprintf("%s %s: %s", adj.Param, adj.From, adj.Reason)
		case adj.Action == "warn":
			code, text = "default", fmt.Sprintf("%s %s is sent, as none is set: %s", adj.Param, adj.To, adj.Reason)
		}
		if text != "" {
			events.Note(code, "%s: %s", t.Name, text)
		}
	}
}

// toolRules are the tool choices that do not name a tool.
func toolRules() []string { return []string{"auto", "required", "none"} }

// ToolChoices returns the possible tool choices of a target: the rules, and the names of all tools
// of the cases of a run.
func ToolChoices(r *results.Run) ([]string, error) {
	known := toolRules()
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
	return known, err
}

// checkToolChoices returns an error for a tool choice of a target that is neither a rule nor a
// tool.
func checkToolChoices(r *results.Run, ts []run.Target) error {
	var known []string
	for i := range ts {
		choice := ts[i].ToolChoice
		if choice == "" || slices.Contains(toolRules(), choice) { // the cases are not read for these
			continue
		}
		if known == nil {
			var err error
			if known, err = ToolChoices(r); err != nil {
				return err
			}
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

// selectCases returns the positions of the chosen cases, nil for all.
func selectCases(ctx context.Context, db *store.DB, cases run.Source, req *app.RunRequest) ([]int, error) {
	if len(req.Filter) == 0 && req.Sample == 0 && req.FailedFrom == "" {
		return nil, nil
	}
	sel := run.Selection{Filters: req.Filter, Sample: req.Sample, Seed: uint64(req.Seed)}
	if req.FailedFrom != "" {
		r, err := results.Stored(ctx, db, req.FailedFrom)
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
