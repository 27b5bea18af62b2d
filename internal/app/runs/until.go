// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// deciding follows the gates of a run that ends when they are decided. It looks at the tasks in
// their planned order, not in the order of their ends: at the tasks before the first unfinished
// one.
type deciding struct {
	run     *results.Run
	cfg     measure.SideConfig
	order   []int    // positions of the cases, in the order of running
	ids     []string // of the cases, by their place in order
	place   map[int]int
	base    *panel.Ledger
	targets []decidingTarget
	// slow: reading calls costs more than reading verdicts, so that the gates look less often at many tasks.
	slow     bool
	failed   error
	reported bool // failed has an event
}

// decidingTarget is a target with its gates.
type decidingTarget struct {
	name    string
	base    string
	watched []watched
	// whole is why all of its cases run; "" if its gates may end it.
	whole string
	noted bool     // whole has an event
	notes []string // why some gates are decided later than they might be
	over  []int    // attempts that are over, by the place in order
	next  int      // complete cases at the beginning of order
	fed   int      // of these, the ones that the gates have looked at
	// reported is the number of complete cases with an event.
	reported int
	enough   atomic.Bool
}

// watched is a gate of a target, and of a slice.
type watched struct {
	*gates.Sequence
	gate          *gates.Gate
	slice         panel.SliceID
	left          []int           // by place in order: tasks of the slice from there on
	alpha         float64         // the error rate of each side
	base, earlier []panel.TaskSum // tasks of the baseline, and of earlier looks
}

// begin starts the sequence.
func (w *watched) begin() {
	w.Sequence, _ = w.gate.Sequence(w.alpha)
	w.Begin(w.base, w.earlier)
}

// untilOf reads the gates that end a run, and keeps their text.
func untilOf(ctx context.Context, a *app.App, req *app.RunRequest, r *results.Run, events app.Events,
) (*results.Until, error) {
	ask := req.UntilDecided
	if ask == nil {
		return nil, nil
	}
	u := &results.Until{Source: "gates of suite " + r.Suite.Name, Gates: r.OwnGates(), Ledger: ask.Ledger}
	switch {
	case ask.Text != nil:
		u.Source, u.Gates = "gates", ask.Text
	case req.Gates != "":
		b, err := a.Read(req.Gates, suite.MaxGatesBytes)
		if err != nil {
			return nil, fmt.Errorf("read gates: %w", err)
		}
		u.Source, u.Gates = req.Gates, b
	case u.Gates == nil:
		return nil, app.Wrong("until_decided", "", "which gates? {gates} FILE, or gates in the suite")
	}
	file, err := u.Read()
	if err == nil {
		err = r.Check(file)
	}
	if bad := (*results.BadGatesError)(nil); errors.As(err, &bad) {
		events.Problems(bad.Problems)
	}
	if err == nil && u.Ledger != "" {
		err = results.CheckLedger(a, u.Ledger)
	}
	if err != nil {
		return nil, err
	}
	if ask.Baseline != "" {
		b, err := results.Open(ctx, a, ask.Baseline)
		if err != nil {
			return nil, err
		}
		u.Baseline = b.Stored.ID
	} else if slices.ContainsFunc(file.Gates,
		func(g gates.Gate) bool { return g.Kind == gates.Regression || g.Kind == gates.Ratchet }) {
		return nil, app.Wrong("baseline", "", "a gate compares with a baseline: {baseline} RUN")
	}
	return u, nil
}

// decideAsAsked lets the run of a session end when its gates are decided.
func (s *Session) decideAsAsked(ctx context.Context, cfg *run.Config) error {
	if s.Manifest.Until == nil {
		return nil
	}
	d, err := newDeciding(ctx, s.app, s.Run)
	if err != nil {
		return err
	}
	if err := d.resume(ctx); err != nil {
		return err
	}
	cfg.Cases, cfg.Last, cfg.Hold, cfg.Enough = d.order, nil, nil, func(t int) bool { return d.targets[t].enough.Load() }
	d.note(s.events)
	observe := cfg.Observe
	cfg.Observe = func(ev run.Event) {
		for _, c := range ev.Cells {
			d.count(c.Case, c.Target)
		}
		d.look(ctx)
		d.note(s.events)
		for i := range d.targets {
			if t := &d.targets[i]; t.fed > t.reported {
				t.reported = t.fed
				s.events.Emit(app.Event{Evidence: t.evidence()})
			}
		}
		observe(ev)
	}
	return nil
}

// note reports once why targets run longer than their gates may need.
func (d *deciding) note(events app.Events) {
	for i := range d.targets {
		t := &d.targets[i]
		if t.whole != "" && !t.noted {
			t.noted = true
			t.notes = append(t.notes, "all cases are asked: "+t.whole)
		}
		for _, text := range t.notes {
			events.Note("until-decided", "%s: %s", t.name, text)
		}
		t.notes = nil
	}
	if d.failed != nil && !d.reported {
		d.reported = true
		events.Warn("until-decided", "all cases are asked, because the gates cannot look at them: "+d.failed.Error())
	}
}

func newDeciding(ctx context.Context, a *app.App, of *results.Run) (*deciding, error) {
	r, err := results.OpenIn(ctx, of.DB, of.Stored.ID) // with its own selection of attempts
	if err != nil {
		return nil, err
	}
	man := r.Manifest
	file, err := man.Until.Read()
	if err != nil {
		return nil, err
	}
	r.Without = map[string]bool{}
	for i := range file.Quarantine {
		if q := &file.Quarantine[i]; !q.Over(a.Config.Now()) {
			r.Without[q.Case] = true
		}
	}
	d := &deciding{
		run: r, order: man.Order(r.CaseLines.Len()), place: map[int]int{},
		cfg: measure.SideConfig{By: results.SliceKeys(file.Gates), Metrics: results.Sequenced(file.Gates)},
	}
	side, err := measure.NewSide(r.Stored.ID, d.cfg)
	if err != nil {
		return nil, err
	}
	d.slow = side.NeedsSteps()
	if man.Until.Baseline != "" {
		b, err := results.Open(ctx, a, man.Until.Baseline)
		if err != nil {
			return nil, fmt.Errorf("open the baseline of the gates: %w", err)
		}
		b.Without = r.Without
		if d.base, err = b.Ledger(ctx, d.cfg); err != nil {
			return nil, err
		}
	}
	cases, err := r.Ordered()
	if err != nil {
		return nil, err
	}
	for i, c := range cases {
		d.place[d.order[i]], d.ids = i, append(d.ids, c.ID)
	}
	looks, err := results.LookBack(ctx, a, r, man.Until.Ledger, nil, file.Gates,
		func(string) []string { return d.ids })
	if err != nil {
		return nil, err
	}
	evidence, bases := &gates.Evidence{Looks: looks.At, Earlier: looks.Earlier}, d.bases()
	d.targets = make([]decidingTarget, len(man.Targets))
	models := slices.ContainsFunc(man.Targets, func(t callvet.Target) bool { return !t.Floor })
	for i := range d.targets {
		t, of := &d.targets[i], &man.Targets[i]
		t.name, t.base, t.over = of.Name, bases[of.Name], make([]int, len(d.order))
		for g := range file.Gates {
			if file.Gates[g].Target == of.Name || file.Gates[g].Target == "" && !(models && of.Floor) {
				d.watch(t, &file.Gates[g], cases, evidence)
			}
		}
		if len(t.watched) == 0 && t.whole == "" {
			t.whole = "no hard gate is about it"
		}
	}
	return d, nil
}

// bases returns the targets of the baseline by the targets that are compared with them.
func (d *deciding) bases() map[string]string {
	out := map[string]string{}
	if d.base == nil {
		return out
	}
	var names []string
	for i := range d.run.Manifest.Targets {
		names = append(names, d.run.Manifest.Targets[i].Name)
	}
	for _, p := range panel.Namesakes(d.base, panel.NewLedger(d.run.Stored.ID, names, nil)) {
		out[p.Candidate] = p.Baseline
	}
	return out
}

// watch adds a gate to a target: one sequence, or one for each value of its key.
func (d *deciding) watch(t *decidingTarget, g *gates.Gate, cases []*callvet.Case, e *gates.Evidence) {
	if g.Severity == gates.Soft {
		return
	}
	if _, why := g.Sequence(gate.Alpha); why != "" {
		t.whole = fmt.Sprintf("%s has no early decision: %s", g.Label(), why)
		return
	}
	if strings.HasPrefix(g.Metric, "judge") || decidesRubrics(d.run.Manifest.Judges) { // judge_NAME, judged_pass:NAME
		t.whole = g.Label() + " has no early decision: judges decide when the attempts are over"
		return
	}
	if g.Kind == gates.Zero && g.MaxRate == 0 {
		t.notes = append(t.notes,
			fmt.Sprintf("%s passes when all cases were asked; with max_rate it may pass earlier", g.Label()))
	}
	values := []string{""}
	switch {
	case g.Key == "":
	case !results.OfCases(g.Key):
		t.whole = fmt.Sprintf("%s of %s=%s has no early decision: the slice is known when its cases were asked", g.Label(),
			g.Key, g.Value)
		return
	default:
		values = results.ValuesOf(slices.Values(cases), g)
	}
	for _, v := range values {
		w := watched{gate: g, slice: panel.SliceID{Key: g.Key, Value: v}, left: make([]int, len(cases)+1)}
		_, w.alpha = e.Now(g, gates.LookAt{Target: t.name, Metric: g.Metric, Key: g.Key, Value: v})
		if g.Kind != gates.Zero { // a gate on incidents counts those of each run
			w.earlier = e.Earlier[gates.LookAt{Target: t.name, Metric: g.Metric, Key: g.Key, Value: v}]
		}
		if g.Kind == gates.Regression {
			base, why := d.base.Sums(t.base, g.Metric, panel.SliceID{}, d.ids)
			if why != "" {
				t.whole = fmt.Sprintf("%s has no early decision: %s", g.Label(), why)
				return
			}
			w.base = base
		}
		w.begin()
		w.count(cases)
		t.watched = append(t.watched, w)
	}
}

// count counts the tasks of the slice that are left at each place. Cases that are not in the
// baseline do not count in a comparison.
func (w *watched) count(cases []*callvet.Case) {
	in := map[string]bool{}
	for i := range w.base {
		in[w.base[i].Task] = true
	}
	for i := len(cases) - 1; i >= 0; i-- {
		w.left[i] = w.left[i+1]
		if (w.gate.Kind != gates.Regression || in[cases[i].ID]) && cases[i].Skip == "" &&
			results.InSlice(cases[i], w.slice.Key, w.slice.Value) {
			w.left[i]++
		}
	}
}

// resume looks at the stored attempts. Attempts with an error count if all gates are decided with
// them; else they run again.
func (d *deciding) resume(ctx context.Context) error {
	type stored struct {
		at, target int
		over       bool
	}
	var all []stored
	for c, err := range d.run.DB.DoneCells(ctx, d.run.Stored.ID) {
		if err != nil {
			return err
		}
		v := c.Result.Verdict
		all = append(all, stored{c.Case, c.Target, v == callvet.VerdictPass || v == callvet.VerdictFail || results.Skipped(c)})
	}
	again := false
	for _, s := range all {
		d.count(s.at, s.target)
		again = again || !s.over
	}
	d.look(ctx)
	if !again || d.failed != nil {
		return d.failed
	}
	for i := range d.targets {
		t := &d.targets[i]
		if t.enough.Load() {
			continue
		}
		clear(t.over)
		t.next, t.fed = 0, 0
		for j := range t.watched {
			t.watched[j].begin()
		}
		for _, s := range all {
			if s.target == i && s.over {
				d.count(s.at, s.target)
			}
		}
	}
	d.look(ctx)
	return d.failed
}

// count counts an attempt that is over.
func (d *deciding) count(at, target int) {
	i, chosen := d.place[at]
	if !chosen || target >= len(d.targets) {
		return
	}
	t := &d.targets[target]
	t.over[i]++
	for t.next < len(d.order) && t.over[t.next] >= d.run.Manifest.RepeatsOf(d.order[t.next]) {
		t.next++
	}
}

// look lets the gates look at the newly completed tasks. After an error no target ends early any
// more.
func (d *deciding) look(ctx context.Context) {
	for i := range d.targets {
		t := &d.targets[i]
		if d.failed != nil || t.whole != "" || t.enough.Load() || t.next == t.fed ||
			d.slow && t.next < min(t.fed+t.fed/50+1, len(d.order)) {
			continue
		}
		if d.failed = d.feed(ctx, i); d.failed == nil && t.decided() {
			t.enough.Store(true)
		}
	}
}

// feed passes complete tasks to the gates of a target that they have not looked at.
func (d *deciding) feed(ctx context.Context, target int) error {
	t, r := &d.targets[target], d.run
	r.Among = []store.Place{}
	for _, at := range d.order[t.fed:t.next] {
		for repeat := range r.Manifest.RepeatsOf(at) {
			r.Among = append(r.Among, store.Place{Case: at, Target: target, Repeat: repeat})
		}
	}
	slices.SortFunc(r.Among, func(a, b store.Place) int {
		return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Repeat, b.Repeat))
	})
	led, err := r.Ledger(ctx, d.cfg)
	if err != nil {
		return err
	}
	ids := d.ids[t.fed:t.next]
	for i := range t.watched {
		w := &t.watched[i]
		tasks, why := led.Sums(t.name, w.gate.Metric, w.slice, ids)
		if why != "" {
			t.whole = fmt.Sprintf("%s has no early decision: %s", w.gate.Label(), why)
			return nil
		}
		w.Feed(tasks)
	}
	t.fed = t.next
	return nil
}

// evidence returns the evidence for the gates of the target.
func (t *decidingTarget) evidence() *app.EvidenceEvent {
	e := &app.EvidenceEvent{Target: t.name, Cases: t.fed, Of: len(t.over), Gates: []app.GateEvidence{}}
	for i := range t.watched {
		w := &t.watched[i]
		g := app.GateEvidence{Gate: w.gate.Label(), Tasks: w.N(), Needed: w.Needed(), Verdict: w.Decision().Verdict}
		if w.slice.Key != "" {
			g.Slice = w.slice.Key + "=" + w.slice.Value
		}
		g.Pass, g.Fail = w.Logs()
		e.Gates = append(e.Gates, g)
	}
	return e
}

// decided reports whether no gate of the target needs a further task: each is decided, or cannot be
// decided by the rest.
func (t *decidingTarget) decided() bool {
	for i := range t.watched {
		if w := &t.watched[i]; !w.Decided() && !w.Hopeless(w.left[t.fed]) {
			return false
		}
	}
	return t.whole == "" && len(t.watched) > 0
}
