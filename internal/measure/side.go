// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
)

// SideConfig selects what is compared.
type SideConfig struct {
	// Judge decides what counts as pass; "" takes the verdicts of the source's own checks.
	Judge string
	// By are the slice keys; nil means panel.DefaultSlices, without steps.
	By []string
	// Metrics are compared in addition to pass_rate, with the names that panel.PairingOf knows.
	Metrics []string
	// Results of calls with the same arguments are compared, too.
	Results bool
	// Without are ids of tasks that are left out.
	Without map[string]bool
}

// Side collects one trace file: a ledger has to know its targets first. It is not
// safe for concurrent use, and grows with the number of attempts.
type Side struct {
	cfg      SideConfig
	families map[string][]string
	// name is the target of lines that do not name a target.
	name string
	// red redacts the gold of a file, so that it is equal to the gold of a redacted file.
	red      *redact.Redactor
	targets  []string
	tries    []try
	seen     map[sideAttempt]int // the place of an attempt in tries
	known    map[string]int      // the try with the gold of a task
	judges   map[string]bool
	tasks    map[task]*work // of steps; empty if steps are not needed
	order    []task
	sets     map[string][][2]string // of slices, each kept once
	runs     bool                   // a metric needs them
	labelled bool                   // at least one call is labelled as needed or not
	scored   bool                   // a record contains scores of its attempt
	twice    int
	merged   int // copies of records
	against  []Contradiction
	many     map[string]bool // slice keys with too many values
}

type sideAttempt struct {
	task
	n int
}

type task struct {
	target int
	id     string
}

// try is what a ledger uses of a task record: the record itself is some kilobytes.
type try struct {
	id, context string
	tags        []string
	fields      map[string]string
	target, n   int
	line        int64 // of its first record; 0: not known
	outcome     callvet.Outcome
	verdict     callvet.Verdict
	inPart      int // assertions that were not evaluated
	decision    *callvet.Decision
	layers      []callvet.Assertion
	skipped     bool // on purpose
	cached      bool
	expects     []string
	record      *record // nil: no metric is asked for
}

func (e try) judged() bool {
	return e.verdict == callvet.VerdictPass || e.verdict == callvet.VerdictFail
}

// NewSide starts a side; name is that of its file.
func NewSide(name string, cfg SideConfig) (*Side, error) {
	red, err := redact.New(redact.Config{})
	if err != nil {
		return nil, err
	}
	return &Side{
		cfg: cfg, name: name, red: red, seen: map[sideAttempt]int{}, known: map[string]int{}, judges: map[string]bool{},
		tasks: map[task]*work{},
		sets:  map[string][][2]string{}, runs: slices.ContainsFunc(cfg.Metrics, ofRuns),
	}, nil
}

// NeedsSteps reports whether the records alone do not suffice for the metrics and slices.
func (s *Side) NeedsSteps() bool {
	return s.cfg.Results || len(s.cfg.By) > 0 ||
		slices.ContainsFunc(s.cfg.Metrics, func(m string) bool { return !ofRecords(m) })
}

// Targets names, before the first record, the targets that exist even without an attempt.
func (s *Side) Targets(names ...string) {
	for _, name := range names {
		s.target(name)
	}
}

// Twice returns how many records were corrected by a later record of their attempt, and how many
// are copies of an earlier record.
func (s *Side) Twice() (corrected, copies int) { return s.twice, s.merged }

// Contradiction is the line of a record that contradicts an earlier record of its attempt, and the
// line of the earlier one; 0: not known. Neither record counts.
type Contradiction struct{ Line, Of int64 }

// Contradictions returns the contradictions between records, one for each attempt.
func (s *Side) Contradictions() []Contradiction { return s.against }

// same reports whether two records of an attempt have the same content.
func (s *Side) same(a, b *try) bool {
	x, y := *a, *b
	x.context, y.context, x.line, y.line, x.expects, y.expects = "", "", 0, 0, nil, nil
	return reflect.DeepEqual(x, y)
}

func (s *Side) target(name string) int {
	if name == "" {
		name = s.name
	}
	i := slices.Index(s.targets, name)
	if i < 0 {
		i = len(s.targets)
		s.targets = append(s.targets, name)
	}
	return i
}

// Record adds the task record of an attempt, or replaces its earlier record.
func (s *Side) Record(t *trace.Task) {
	if s.cfg.Without[t.TaskID] {
		return
	}
	for i := range t.Judged {
		s.judges[t.Judged[i].Judge] = true
	}
	c, cell := t.Entry(s.cfg.Judge)
	e := try{
		id: c.ID, tags: c.Tags, fields: c.Fields, target: s.target(cell.Trace.Target), n: cell.Repeat,
		outcome: cell.Trace.Outcome, verdict: cell.Result.Verdict,
		expects: t.ExpectedTools(), cached: t.Cached, line: t.Line, inPart: cell.Result.NotEvaluated,
		decision: cell.Trace.Decision, layers: cell.Result.Assertions,
	}
	if e.skipped = t.Skipped; t.Scored != nil && e.verdict == callvet.VerdictNotRun && s.cfg.Judge == "" {
		e.outcome = callvet.OutcomeNotRun // a scorer could not judge it
	}
	s.scored = s.scored || t.Scored != nil
	if len(s.cfg.Metrics) > 0 {
		e.record = recordOf(t)
	}
	id := sideAttempt{task{e.target, c.ID}, cell.Repeat}
	at, again := s.seen[id]
	if again {
		switch old := &s.tries[at]; {
		case s.same(old, &e):
			s.merged++
			return
		case t.Corrects:
			s.twice++
		default: // it is not known which record is right
			if old.verdict != callvet.VerdictNotRun {
				s.against = append(s.against, Contradiction{t.Line, old.line})
			}
			old.verdict, old.outcome, old.record = callvet.VerdictNotRun, callvet.OutcomeNotRun, nil
			return
		}
	} else {
		at = len(s.tries)
		s.seen[id], s.tries = at, append(s.tries, try{})
	}
	owner, known := s.known[c.ID]
	switch { // the first attempt with a gold decides what the task asks
	case c.Context != "" && (!known || owner == at):
		s.known[c.ID] = at
		e.context = s.asked(t)
	case known && owner == at:
		e.context = s.tries[at].context
	}
	s.tries[at] = e
}

// asked returns the question in the gold of a task, redacted.
func (s *Side) asked(t *trace.Task) string {
	if t.Asks != "" {
		return t.Asks
	}
	s.red.Begin()
	gold := trace.Task{Gold: t.Gold.Redacted(s.red)}
	c, _ := gold.Entry("")
	return c.Context
}

// Families sets the families of tools by name, before the first step.
func (s *Side) Families(of map[string][]string) { s.families = of }

// Watch returns a function that lets judge judge and change each whole attempt and then records it;
// a judge of nil judges nothing.
func (s *Side) Watch(judge func(*trace.Attempt) bool) func(*trace.Attempt) bool {
	return func(at *trace.Attempt) bool {
		changed := judge != nil && judge(at)
		t := at.Task()
		s.Record(&t)
		return changed
	}
}

// Ledger returns the collected data as a ledger with this name.
func (s *Side) Ledger(name string) *panel.Ledger {
	s.countValues()
	led := panel.NewLedger(name, s.targets, s.cfg.By)
	led.Measure(s.cfg.Metrics...)
	of := map[string][][2]string{}
	for id, names := range s.expected() {
		of[id.id] = append(of[id.id], s.raw(steps.SliceLine{Expected: names})...)
	}
	for i := range s.tries {
		e := &s.tries[i]
		of[e.id] = append(of[e.id], s.raw(steps.SliceLine{Tags: e.tags, Fields: e.fields})...)
	}
	led.SliceBy(func(c *callvet.Case) []panel.SliceID { return s.slices(of[c.ID]) })
	for i := range s.tries {
		e := &s.tries[i]
		c := callvet.Case{ID: e.id, Context: e.context, Tags: e.tags, Fields: e.fields}
		if e.skipped {
			c.Skip = "left out on purpose"
		}
		led.Add(&c,
			&callvet.Cell{
				Target: e.target, Repeat: e.n,
				Trace:  callvet.Trace{Outcome: e.outcome, Decision: e.decision, Cached: e.cached},
				Result: callvet.Result{Verdict: e.verdict, NotEvaluated: e.inPart, Assertions: e.layers},
			})
		if s.torn(e) {
			led.Tear(e.target, e.id)
		}
	}
	s.measure(led)
	led.SliceBy(nil) // or the ledger would keep all values
	return led
}

// expected are the tools that tasks expect: those of their records, and of the labels of their calls.
func (s *Side) expected() map[task][]string {
	out := map[task][]string{}
	for i := range s.tries {
		if e := &s.tries[i]; len(e.expects) > 0 {
			id := task{e.target, e.id}
			out[id] = append(out[id], e.expects...)
		}
	}
	for id, w := range s.tasks {
		if len(w.expects) > 0 {
			out[id] = append(out[id], w.expects...)
		}
	}
	return out
}

// Many returns the slice keys with too many values for slices, sorted. They are known after Ledger.
func (s *Side) Many() []string { return slices.Sorted(maps.Keys(s.many)) }

// countValues finds the keys with too many values, as the panels of trace files do.
func (s *Side) countValues() {
	s.many = map[string]bool{}
	values := map[string]map[string]struct{}{}
	see := func(raw [][2]string) {
		for _, x := range steps.CrossedSlices(s.by(), raw) {
			if s.many[x[0]] {
				continue
			}
			if values[x[0]] == nil {
				values[x[0]] = map[string]struct{}{}
			}
			values[x[0]][x[1]] = struct{}{}
			if len(values[x[0]]) > steps.MaxSliceValues {
				s.many[x[0]] = true
				delete(values, x[0])
			}
		}
	}
	for i := range s.tries {
		see(s.raw(steps.SliceLine{Tags: s.tries[i].tags, Fields: s.tries[i].fields}))
	}
	for _, raw := range s.sets {
		see(raw)
	}
	for _, names := range s.expected() {
		see(s.raw(steps.SliceLine{Expected: names}))
	}
}

func (s *Side) by() []string {
	if s.cfg.By == nil {
		return panel.DefaultSlices()
	}
	return s.cfg.By
}

// raw returns the slices of a line, as in the panels of trace files, and the parts of crossed
// slices.
func (s *Side) raw(l steps.SliceLine) [][2]string { return steps.SlicesOf(s.by(), l) }

// slices returns the slices of lines with these raw slices; never nil.
func (s *Side) slices(raw [][2]string) []panel.SliceID {
	raw = slices.Clone(raw)
	slices.SortFunc(raw, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	out := []panel.SliceID{}
	for _, x := range steps.CrossedSlices(s.by(), slices.Compact(raw)) {
		if steps.SliceRequested(s.by(), x[0]) && !s.many[x[0]] {
			out = append(out, panel.SliceID{Key: x[0], Value: x[1]})
		}
	}
	return out
}

// SliceKeys appends to a list the keys of the slices of an attempt and its calls, each once.
func SliceKeys(have, by []string, at *trace.Attempt) []string {
	t := at.Task()
	lines := []steps.SliceLine{{Tags: at.Tags, Fields: at.Fields, Expected: t.ExpectedTools()}}
	for i, c := range at.Trace.Calls() {
		note := at.Steps[i]
		lines = append(lines,
			steps.SliceLine{Tool: c.Tool, Tags: note.Tags, Fields: note.Fields, Expected: expectedBy(note.Gold)})
	}
	for _, l := range lines {
		for _, x := range steps.SlicesOf(by, l) {
			if !slices.Contains(have, x[0]) {
				have = append(have, x[0])
			}
		}
	}
	return have
}

// Nothing returns why a file cannot be compared; nil if it can.
// The error wraps callvet.ErrInvalid.
func (s *Side) Nothing(path string) error {
	if slices.ContainsFunc(s.tries, try.judged) || len(s.tasks) > 0 && len(s.cfg.Metrics) > 0 {
		return nil
	}
	if slices.ContainsFunc(s.cfg.Metrics, ofRecords) && len(s.tries) > 0 {
		return nil
	}
	what := "pass or failure"
	if s.cfg.Judge != "" {
		what = fmt.Sprintf("verdict of the judge %q", s.cfg.Judge)
	}
	err := fmt.Errorf("compare %s: none of its %d task records has a %s: %w", path, len(s.tries), what,
		callvet.ErrInvalid)
	names := make([]string, 0, len(s.judges))
	for n := range s.judges {
		names = append(names, n)
	}
	if len(names) == 0 {
		return err
	}
	slices.Sort(names)
	return &callvet.Hinted{Err: err, Hint: fmt.Sprintf("--judge NAME; the file has verdicts of %q", names)}
}
