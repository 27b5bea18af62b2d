// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score"
)

// Session is a new or resumed run that is about to be carried out. Close it.
type Session struct {
	*results.Run
	app      *app.App
	events   app.Events
	targets  []run.Target
	op       *app.Opener
	settings app.Settings
	slices   []string
	noWait   bool
	done     iter.Seq2[*callvet.Cell, error] // nil for a new run
	resume   *ResumeRequest                  // nil for a new run
	held     *store.HeldError                // another process carries the run out
	// judging makes a new run the run of a judge.
	judging *results.Judging
	judges  string
	live    *liveJudges      // nil: attempts are judged after the run, or not at all
	policy  *world.Policy    // of a new run with a guard
	dry     *DryRun          // not nil: the run is described here, and not stored
	part    *Part            // of a new run that is a part of a larger piece of work
	tools   *world.ToolsFile // of a new run that calls tools
	world   *acting          // nil: openStored opens it
	yield   chan struct{}    // closed by Yield
	yielded sync.Once
	shard   *shard // the part of the run for a worker; nil: the whole run

	// The results of shards other than attempts: the masked data, and why targets were given up.
	// sharing guards both.
	sharing sync.Mutex
	hidden  results.Hidden
	stopped []string
}

// Yield lets Do end when the attempts in flight have ended: no further attempt starts, and Resume
// continues with the others. The outcome of Do is then Yielded, if any are left. It does not
// wait, and may be called twice.
func (s *Session) Yield() { s.yielded.Do(func() { close(s.yield) }) }

// ResumeRequest resumes a run that did not end, or that has attempts with errors.
type ResumeRequest struct {
	Run string `json:"run"`
	// Changes are settings that change from now on.
	app.Changes
	// Suite, when it names one, is compared with the suite of the run, which continues with its
	// own. Targets, when there are any, must be those of the run.
	Suite   app.SuiteRequest `json:"suite,omitzero"`
	Targets []string         `json:"targets,omitempty"`
	// Slices are those of the report; nil: the slices of the run's settings.
	Slices []string `json:"slices,omitempty"`
	// NoWait does not follow another process that carries out the run.
	NoWait bool `json:"no_wait,omitempty"`
	// Split lets workers carry out a large run; nil: this session carries it out.
	Split *Split `json:"-"`
}

// Resume opens a stored run to resume it, with its suite, its targets, and every durable attempt.
// For a run that another process carries out it returns a Session that follows it, or with NoWait a
// *store.HeldError.
func Resume(ctx context.Context, a *app.App, req ResumeRequest, events app.Events) (*Session, error) {
	s := &Session{
		yield: make(chan struct{}), app: a, events: events, slices: req.Slices, noWait: req.NoWait,
		resume: &req,
	}
	err := s.openStored(ctx)
	if errors.As(err, &s.held) && !s.noWait {
		return s, nil
	}
	if err == nil && s.Manifest.Judging != nil && s.Manifest.Judging.Live {
		err = app.Wrong("run", req.Run, "it is the live judge of another run: resume run %s",
			s.Stored.Judges)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close releases the targets.
func (s *Session) Close() error {
	if s.op != nil {
		s.op.Close()
		s.op = nil
	}
	return nil
}

// openStored opens the stored run of the session. The error is a *store.HeldError while another
// process carries it out.
func (s *Session) openStored(ctx context.Context) (err error) {
	a, req := s.app, s.resume
	// cells in flight need their cases after ctx
	if s.Run, err = results.Open(context.WithoutCancel(ctx), a, req.Run); err != nil {
		return err
	}
	req.Run = s.Stored.ID // another run may be the last one when this run is over
	c, err := a.Config.Claim()
	if err != nil {
		return err
	}
	if o := s.Stored.Owner; o != nil && (c.Gone == nil || !c.Gone(*o)) { // before a target is opened
		return &store.HeldError{Run: s.Stored.ID, Owner: *o}
	}
	if err := errors.Join(s.unchanged(ctx, req), s.open(ctx)); err != nil {
		return err
	}
	s.done = s.DB.DoneCells(context.WithoutCancel(ctx), s.Stored.ID)
	return s.reportTargets()
}

// givingWay yields the stored attempts, and then deletes damaged ones so that they run again.
func givingWay(ctx context.Context, lease *store.Lease,
	done iter.Seq2[*callvet.Cell, error],
) iter.Seq2[*callvet.Cell, error] {
	if done == nil {
		return nil
	}
	return func(yield func(*callvet.Cell, error) bool) {
		var damaged []store.Place
		for c, err := range done {
			if err == nil && c.Trace.Fault != nil && c.Trace.Fault.Kind == callvet.FaultLost {
				damaged = append(damaged, store.Place{Case: c.Case, Target: c.Target, Repeat: c.Repeat})
			}
			if !yield(c, err) {
				return
			}
		}
		if err := lease.GiveWay(ctx, damaged); err != nil {
			yield(nil, err)
		}
	}
}

// open prepares the stored run to be resumed.
func (s *Session) open(ctx context.Context) (err error) {
	a := s.app
	if err := s.openWorld(ctx); err != nil {
		return err
	}
	s.settings = app.Settings{}
	if s.Manifest.Settings != nil { // runs of earlier versions have none
		s.settings = *s.Manifest.Settings
	}
	s.settings = s.settings.With(&s.resume.Changes)
	if err := errors.Join(s.settings.Check(), results.ReadableGates(a, &s.settings, s.events)); err != nil {
		return err
	}
	if s.op, err = a.NewOpener(s.settings.Timeout(), s.Manifest.Prices, s.Stored.ID, s.events); err != nil {
		return err
	}
	if err := errors.Join(a.Permitted(s.Manifest.Specs), s.mayCall()); err != nil {
		return err
	}
	if commands := s.Manifest.Commands(); len(commands) > 0 && !a.Config.Permit.Commands {
		return app.Refused("run", "resume run %s: its scorers may not run commands here: %s", s.Stored.ID,
			strings.Join(commands, "; "))
	}
	app.ReportCommands("the suite of run "+s.Stored.ID, s.Manifest.Commands(), s.events)
	if was := s.Manifest.RulesVersion(); was != callvet.RulesVersion {
		s.events.Note("other-rules",
			"run %s was started by version %d of the rules: its verdicts stay, and the attempts that follow are judged by version %d",
			s.Stored.ID, was, callvet.RulesVersion)
	}
	app.ReportCommands("run "+s.Stored.ID, app.UnnamedCommands(s.resume.Targets, s.Manifest.Specs), s.events)
	if err := s.openTargets(ctx); err != nil {
		return err
	}
	if len(s.targets) != len(s.Manifest.Targets) {
		return fmt.Errorf("resume run %s: %w: its targets opened as %d and now as %d", s.Stored.ID, callvet.ErrConflict,
			len(s.Manifest.Targets), len(s.targets))
	}
	return nil
}

// openTargets opens the targets of a resumed run.
func (s *Session) openTargets(ctx context.Context) (err error) {
	what := s.Manifest.Replay
	if what == nil {
		s.targets, err = s.op.OpenAll(ctx, s.Manifest.Specs)
		return err
	}
	of, err := results.Open(context.WithoutCancel(ctx), s.app, what.Run)
	if err != nil {
		return fmt.Errorf("resume run %s, which replays another: %w", s.Stored.ID, err)
	}
	if err := s.openReplay(ctx, of); err != nil {
		return err
	}
	if s.world.what.Hash != s.Manifest.World.Hash {
		return &callvet.Hinted{Err: fmt.Errorf("resume run %s: %w: what it replays has changed since it started",
			s.Stored.ID, callvet.ErrConflict), Hint: "start a new replay"}
	}
	return nil
}

// unchanged returns an error for different targets or catalogues, and reports a changed suite.
func (s *Session) unchanged(ctx context.Context, req *ResumeRequest) error {
	asked := app.TargetNames(s.Manifest.Specs)
	if len(req.Targets) > 0 && !slices.Equal(req.Targets, asked) {
		return app.Wrong("targets", strings.Join(req.Targets, ", "),
			"the run asks other targets (%s); a resumed run cannot change them", strings.Join(asked, ", "))
	}
	if req.Suite.Suite != "" {
		req.Suite.Programs = req.Suite.Programs || len(s.Manifest.Commands()) > 0 // as it was read then
		read, err := s.app.OpenSuite(ctx, req.Suite, nil)
		if err != nil {
			return err
		}
		if h, err := store.SuiteHashFrom(read.Suite, withoutErrors(read.Cases(ctx))); err != nil ||
			h != s.Stored.SuiteHash {
			s.events.Note("suite-changed", "%s has changed since; going on with the suite that run %s started with",
				req.Suite.Suite, s.Stored.ID)
		}
	}
	if s.Manifest.Catalogues == nil {
		return nil
	}
	if why := catalog.Changed(asked, s.Manifest.Catalogues, s.Manifest.ToolsHash, s.app.CatalogueFiles()); why != "" {
		return &callvet.Hinted{
			Err:  fmt.Errorf("resume run %s: %w: %s", s.Stored.ID, callvet.ErrConflict, why),
			Hint: "start a new run",
		}
	}
	return nil
}

// withoutErrors converts a sequence of cases to one with errors, which are nil.
func withoutErrors(cases iter.Seq[*callvet.Case]) iter.Seq2[*callvet.Case, error] {
	return func(yield func(*callvet.Case, error) bool) {
		for c := range cases {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// Do carries out the run until ctx ends, or follows the process that does, and returns the outcome.
// Together with the outcome it returns an error that wraps callvet.ErrBudget if the budget ended
// the run, and a different error if the run failed in another process or no attempt was judged.
// Without an outcome the run failed here.
func (s *Session) Do(ctx context.Context) (*Outcome, error) {
	for {
		if s.held == nil {
			out, err := s.carryOut(ctx)
			if !errors.As(err, &s.held) || s.noWait {
				return out, err
			}
		}
		over, err := s.follow(ctx)
		if err != nil {
			return nil, err
		}
		if over {
			return s.outcomeOfOther(ctx)
		}
		s.held = nil
		if err := errors.Join(s.Close(), s.openStored(ctx)); err != nil && !errors.As(err, &s.held) {
			return nil, err
		}
	}
}

// carryOut is one session of the run in this process.
func (s *Session) carryOut(ctx context.Context) (*Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer app.Cached[running](s.app).add(s.Stored.ID, cancel)()
	sum, runErr, err := s.attempts(ctx, cancel)
	if err != nil {
		return nil, err
	}
	if sum.Status == run.StatusInterrupted && ctx.Err() == nil {
		return &Outcome{Summary: sum, Yielded: true}, nil
	}
	s.judgeAfter(ctx, &sum, runErr)
	// Results are reported also after an early end, when the context has ended.
	return s.outcome(context.WithoutCancel(ctx), sum, runErr)
}

// attempts makes the attempts of one session; cancel ends ctx. early is the reason of an early end
// after which results are still shown, err is any other error.
func (s *Session) attempts(ctx context.Context, cancel func()) (sum run.Summary, early, err error) {
	s.events.Emit(app.Event{Session: &app.SessionEvent{Run: s.Stored.ID, Resume: s.Resume()}})
	lease, err := s.acquire(ctx, cancel)
	if err != nil {
		return sum, nil, err
	}
	s.live = s.judgeLive(ctx)
	defer s.live.end()
	sum, err = s.record(ctx, lease)
	if err != nil && !errors.Is(err, callvet.ErrBudget) {
		return sum, nil, err
	}
	s.events.Emit(app.Event{Ended: s.ended(sum)})
	return sum, err, nil
}

// acquire takes the lease of the run, and stores the settings of this session. canceled is called
// when another process cancels the run.
func (s *Session) acquire(ctx context.Context, canceled func()) (*store.Lease, error) {
	c, err := s.app.Config.Claim()
	if err != nil {
		return nil, err
	}
	c.Canceled = canceled
	lease, err := s.DB.Acquire(ctx, s.Stored.ID, c)
	if err != nil {
		return nil, err
	}
	if s.Stored, err = s.DB.Run(ctx, s.Stored.ID); err != nil { // with its spending so far
		return nil, err
	}
	changed, err := s.Manifest.Rewritten(s.settings)
	if err == nil && changed != nil {
		err = lease.Rewrite(ctx, changed)
	}
	return lease, err
}

// record runs the cells and records how the run ended.
func (s *Session) record(ctx context.Context, lease *store.Lease) (run.Summary, error) {
	sum, err := s.cells(ctx, lease)
	totals, jerr := json.Marshal(sum)
	if jerr != nil {
		return sum, errors.Join(err, jerr)
	}
	ctx = context.WithoutCancel(ctx)
	if sum.Unbooked != (callvet.Spent{}) {
		err = errors.Join(err, lease.Book(ctx, sum.Unbooked))
	}
	if errors.Is(err, callvet.ErrConflict) { // the run is another process's now
		if held := (*store.HeldError)(nil); errors.As(err, &held) {
			err = held
		}
		return sum, &lostError{err}
	}
	return sum, errors.Join(err, lease.Finish(ctx, store.Status(sum.Status), totals))
}

// lostError means that another process took over the run while this process carried it out. It
// hides the *store.HeldError, because this process does not follow the other.
type lostError struct{ error }

func (e *lostError) Error() string {
	return "this process was held up for too long and lost the run: " + e.error.Error()
}

// Unwrap returns callvet.ErrConflict.
func (e *lostError) Unwrap() error { return callvet.ErrConflict }

// grace is how long requests in flight may take after an interrupt: long enough for local targets,
// and too short to look like a hang. The other requests are repeated when the run is resumed.
const grace = 150 * time.Millisecond

// cells lets workers run the cells that they may run, and runs the others.
func (s *Session) cells(ctx context.Context, lease *store.Lease) (run.Summary, error) {
	hide, err := results.HidingOf(s.app, s.Run)
	if err != nil {
		return run.Summary{Status: run.StatusFailed}, err
	}
	cfg, end, err := s.config(ctx, lease, hide)
	if err != nil {
		return run.Summary{Status: run.StatusFailed}, err
	}
	defer end()
	if err := errors.Join(s.guard(&cfg), s.worlds(&cfg)); err != nil {
		return run.Summary{Status: run.StatusFailed}, err
	}
	if err := s.decideAsAsked(context.WithoutCancel(ctx), &cfg); err != nil {
		return run.Summary{Status: run.StatusFailed}, err
	}
	begun := s.app.Config.Now()
	switch {
	case s.shard != nil:
		s.shard.narrow(s.DB, &cfg)
	case s.splits():
		if err := s.split(ctx, lease, hide, &cfg); err != nil {
			return run.Summary{Status: run.StatusFailed}, err
		}
	}
	sum, err := run.Run(ctx, cfg)
	sum.Elapsed = s.app.Config.Now().Sub(begun)
	for i, why := range sum.Stopped { // the unredacted text of a fault
		sum.Stopped[i] = hide.Text(why)
	}
	sum.Stopped = s.alsoStopped(sum.Stopped)
	s.world.reportCalls(s.events)
	addHidden(&s.hidden, hide.Hidden())
	if n := s.hidden.Notice(); n != nil && s.shard == nil && !s.Manifest.Made {
		s.events.Emit(app.Event{Note: n})
	}
	return sum, err
}

// config is the configuration of the run loop; end releases the scorers.
func (s *Session) config(ctx context.Context, lease *store.Lease,
	hide *results.Hiding,
) (cfg run.Config, end func(), err error) {
	scoring, err := s.app.Scoring(ctx, s.Manifest.Embedder)
	if err != nil {
		return cfg, nil, err
	}
	programs, err := s.programs()
	if err != nil {
		return cfg, nil, err
	}
	end = func() { _ = programs.Close() } // ends processes, which cannot fail
	scoring.Custom = programs.Custom
	scorer, _ := score.New(s.Suite, scoring) // the suite was linted
	set, man := &s.settings, s.Manifest
	cfg = run.Config{
		Suite: s.Suite, Source: s.CaseLines, Targets: s.targets, Owner: s.app.Config.Owner,
		Compile: func(c *callvet.Case) run.Compiled {
			k, _ := scorer.Compile(c)
			return k
		},
		Faults: func(c *callvet.Case) []callvet.ToolFault { return callvet.FaultsOf(s.Suite, c) },
		Faulty: func(w callvet.World, faults []callvet.ToolFault, c *callvet.Case, repeat int) callvet.World {
			return world.Faulty(w, faults, world.Attempt{Seed: man.Seed, Case: c.ID, Repeat: repeat}, man.RealLatency)
		},
		Cases: man.Cases, Rules: man.ChangedRules(), Last: man.Rubrics, Hold: set.HoldRubrics, Repeats: man.Repeats,
		Own: man.OwnRepeats, Interleave: set.Interleave, Limits: set.Limits(man.Specs, s.targets),
		Timeout: set.Timeout(), Retry: set.Retry(),
		Budget: run.Budget{
			MaxCostUSD: set.MaxCostUSD,
			MaxCalls:   set.MaxCalls,
		}, RunID: s.Stored.ID, Full: s.app.Config.Full, Journal: lease, Lease: lease, Spent: s.Stored.Spent,
		Done: givingWay(ctx, lease, s.done), KeepErrors: set.KeepErrors,
		Yield: s.yield, Grace: grace, Abort: s.app.Config.Abort, Now: s.app.Config.Now, Seed: uint64(man.Seed),
		Redact: hide.Cell,
		Observe: func(ev run.Event) {
			s.live.observe(ev)
			s.events.Emit(app.Event{Progress: &app.ProgressEvent{
				Done: ev.Done, Total: ev.Total, Failed: ev.Fail,
				Errors: ev.Error, CostUSD: ev.CostUSD, CostUnknown: !ev.CostKnown, ETA: ev.ETA,
			}})
		},
	}
	setJudges(man, &cfg)
	if !man.NoCache {
		cfg.Cache = s.DB
	}
	return cfg, end, nil
}

// running holds the functions that end the runs of an App, by run.
type running struct{ cancels sync.Map }

// add lets Cancel end a run by cancel. The caller calls end when the run has ended.
func (r *running) add(id string, cancel func()) (end func()) {
	r.cancels.Store(id, cancel)
	return func() {
		cancel()
		r.cancels.Delete(id)
	}
}

// cancel ends a run, if it is running here.
func (r *running) cancel(id string) bool {
	end, ok := r.cancels.Load(id)
	if ok {
		end.(func())() //nolint:forcetypeassert // add stores nothing else
	}
	return ok
}

// CanceledRun is a run with a request to end.
type CanceledRun struct {
	Run string `json:"run"`
	// By is the process that carries it out; nil: this one. Another process notices the request
	// when it stores its next attempts, or at the latest after a third of its lease.
	By *store.Owner `json:"by,omitempty"`
}

// Cancel requests the end of a run, in this or another process. Received answers are kept, and
// Resume can resume it. It does not wait. The error wraps callvet.ErrConflict for a run without an
// owner.
func Cancel(ctx context.Context, a *app.App, ref string) (CanceledRun, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return CanceledRun{}, err
	}
	r, err := results.Stored(ctx, db, ref)
	if err != nil {
		return CanceledRun{}, err
	}
	if app.Cached[running](a).cancel(r.ID) {
		return CanceledRun{Run: r.ID}, nil
	}
	c, err := a.Config.Claim()
	if err != nil {
		return CanceledRun{}, err
	}
	by, err := db.Cancel(ctx, r.ID, c.Gone)
	if err != nil {
		return CanceledRun{}, fmt.Errorf("cancel run: %w", err)
	}
	return CanceledRun{Run: r.ID, By: &by}, nil
}

// programs makes the pool that runs the scorers of the session's run. The caller closes it.
func (s *Session) programs() (*judge.ScorerPool, error) {
	if m := s.Manifest; m.Made || m.Kept || m.Drill && m.Path == drillsName { // not read from a file
		return s.app.PoolIn("", s.Manifest.KeptKinds())
	}
	return s.app.NewPool(s.Manifest.Path, s.Manifest.KeptKinds())
}
