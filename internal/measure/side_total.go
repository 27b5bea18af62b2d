// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
)

// measure adds the collected data to a ledger, task by task.
func (s *Side) measure(led *panel.Ledger) {
	place := map[string]int{}
	for k, p := range led.Metrics() {
		place[p.Metric] = k
	}
	records, order := s.records()
	only, expected, labelled := s.onlyJudge(), s.expected(), s.labelled || s.golden()
	for _, id := range order {
		expects := s.raw(steps.SliceLine{Expected: expected[id]})
		all := s.slices(expects) // of all lines of the task
		for _, e := range records[id] {
			e.in = append(e.in, expects...)
			all = append(all, s.slices(e.in)...)
		}
		w := s.tasks[id]
		if w == nil {
			w = &work{}
		}
		for i := range w.parts {
			p := &w.parts[i]
			in := append(slices.Clip(p.in), expects...)
			if e, ok := records[id][p.attempt]; ok {
				in = append(slices.Clip(in), e.in...)
			}
			of := s.slices(in)
			all = append(all, of...)
			led.Observe(id.target, id.id, of, s.values(p, place))
		}
		var out []panel.Observation
		for name, at := range place {
			if (name == "unneeded_calls_per_attempt" || name == panel.MetricOverCallByTask) && !labelled {
				continue // without any label it is not known which calls were needed
			}
			if v := total(name, only, records[id], w.runs); v.N > 0 {
				v.Metric = at
				out = append(out, v)
			}
		}
		slices.SortFunc(all,
			func(a, b panel.SliceID) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
		led.Observe(id.target, id.id, slices.Compact(all), out)
		led.Answered(id.target, id.id, w.answers)
	}
}

// records returns the records of the tasks, by attempt, and all tasks in the order of the file,
// tasks with steps first.
func (s *Side) records() (map[task]map[int]*record, []task) {
	out, order := map[task]map[int]*record{}, slices.Clone(s.order)
	for i := range s.tries {
		e := &s.tries[i]
		id := task{e.target, e.id}
		if out[id] == nil {
			out[id] = map[int]*record{}
			if s.tasks[id] == nil {
				order = append(order, id)
			}
		}
		r := e.record
		if r == nil {
			r = &record{}
		}
		r.in = s.raw(steps.SliceLine{Tags: e.tags, Fields: e.fields})
		out[id][e.n] = r
	}
	return out, order
}

// golden reports whether a record has the calls that its task needs. An attempt without a call is
// then known to make no unneeded call.
func (s *Side) golden() bool {
	return slices.ContainsFunc(s.tries, func(e try) bool { return e.record != nil && e.record.gold != nil })
}

// values returns the values of a part, by the metrics of the ledger.
func (s *Side) values(p *part, place map[string]int) []panel.Observation {
	var out []panel.Observation
	for k, name := range s.cfg.Metrics {
		if at, ok := place[name]; ok && p.values[k].N > 0 && !(s.scored && scoreOfAttempt(name)) {
			v := p.values[k]
			v.Metric = at
			out = append(out, v)
		}
	}
	return out
}

// onlyJudge returns the judge of a file with verdicts of one judge; else "".
func (s *Side) onlyJudge() (only string) {
	for i := range s.tries {
		if s.tries[i].record == nil {
			continue
		}
		for name := range s.tries[i].record.judged {
			if only != "" && name != only {
				return ""
			}
			only = name
		}
	}
	return only
}

// total returns the value of the attempts at a task, by number, for a metric of attempts or of
// tasks.
func total(name, only string, records map[int]*record, runs []sideRun) panel.Observation {
	v := panel.Observation{Each: true}
	add := func(x float64) { v.Sum, v.N, v.Fractional = v.Sum+x, v.N+1, v.Fractional || x != 0 && x != 1 }
	switch name {
	case "safety_incidents", "blocked_incidents":
		return breaches(name, records, runs)
	case "calls_per_attempt", "unneeded_calls_per_attempt", panel.MetricToolTimeMean:
		return perAttempt(name, records, runs)
	case panel.MetricOverCallByTask:
		if of := perAttempt("unneeded_calls_per_attempt", records, runs); of.N > 0 {
			add(oneIf(of.Sum > 0))
		}
		return v
	case panel.MetricMiss:
		v.Each = false
		for n, r := range records {
			if r.gold != nil && r.known(runs, n) {
				missed := missing(r.gold, runs, n)
				v.Sum, v.N = v.Sum+float64(missed), v.N+len(r.gold)
			}
		}
		return v
	}
	judge := only
	if _, named, ok := strings.Cut(name, ":"); ok {
		judge = named
	}
	for _, n := range slices.Sorted(maps.Keys(records)) {
		if x, ok := records[n].value(name, judge); ok {
			add(x)
		}
	}
	return v
}

// value returns what a record alone contains for a metric of attempts.
func (r *record) value(name, judge string) (x float64, ok bool) {
	given := func(p *float64) (float64, bool) {
		if p == nil {
			return 0, false
		}
		return *p, true
	}
	switch {
	case !r.ran:
		return 0, false
	case name == panel.MetricError:
		return oneIf(r.fault), true
	case name == panel.MetricCost:
		return given(r.cost)
	case name == panel.MetricTokens:
		return given(r.tokens)
	case name == panel.MetricLatencyMean:
		if r.cached || r.fault && !r.timedOut {
			return 0, false
		}
		return given(r.wall)
	case strings.HasPrefix(name, "judged_pass"):
		pass, ok := r.judged[judge]
		return oneIf(pass), ok
	case r.fault: // it has scores if the provider blocked a drill
		x, ok := r.scores[name]
		return x, ok
	case !r.judgedPass:
		return 0, false
	}
	return r.score(name)
}

// score returns the scorer's value for a metric of judged attempts.
func (r *record) score(name string) (x float64, ok bool) {
	switch name {
	case panel.MetricUnparseable:
		return oneIf(r.outcome == callvet.OutcomeUnparseable), r.format != ""
	case panel.MetricRepaired:
		return oneIf(r.format == callvet.FormatNormalized), r.format != ""
	case panel.MetricNative:
		return oneIf(r.format == callvet.FormatPass), r.format != ""
	case panel.MetricAbstention:
		name = "abstention"
	}
	x, ok = r.scores[name]
	return x, ok
}

// missing is how many of the needed calls were not made.
func missing(gold []string, runs []sideRun, attempt int) int {
	want := slices.Clone(gold)
	for _, name := range runOf(runs, attempt).tools {
		if i := slices.Index(want, name); i >= 0 {
			want = slices.Delete(want, i, i+1)
		}
	}
	return len(want)
}

// runOf returns the sums of the calls of an attempt; the zero value if it has none.
func runOf(runs []sideRun, attempt int) sideRun {
	for _, r := range runs {
		if r.attempt == attempt {
			return r
		}
	}
	return sideRun{attempt: attempt}
}

// perAttempt adds up amounts that are counted over every attempt with a line.
func perAttempt(name string, records map[int]*record, runs []sideRun) panel.Observation {
	v := panel.Observation{Fractional: true, Each: true}
	var numbers []int
	for _, r := range runs {
		numbers = append(numbers, r.attempt)
	}
	numbers = slices.AppendSeq(numbers, maps.Keys(records))
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		known := records[n].known(runs, n)
		switch r := runOf(runs, n); {
		case name == "calls_per_attempt" && known:
			v.Sum, v.N = v.Sum+float64(r.calls), v.N+1
		case name == panel.MetricToolTimeMean && r.timed:
			v.Sum, v.N = v.Sum+r.toolTime, v.N+1
		case name == "unneeded_calls_per_attempt" && (r.labelled || r.calls == 0 && known):
			v.Sum, v.N = v.Sum+float64(r.unneeded), v.N+1
		}
	}
	return v
}

// torn reports whether an attempt was made and some of its calls are not known.
func (s *Side) torn(e *try) bool {
	r := e.record
	if r == nil || !r.ran || r.fault || r.steps == 0 {
		return false
	}
	var runs []sideRun
	if w := s.tasks[task{e.target, e.id}]; w != nil {
		if !s.runs {
			return false // the calls of its attempts are not counted
		}
		runs = w.runs
	}
	return !r.known(runs, e.n)
}

// known reports whether all calls of an attempt are known: by its record it was made, and no step
// line is missing. nil is no record.
func (r *record) known(runs []sideRun, n int) bool {
	return r == nil || r.ran && !r.fault && runOf(runs, n).calls >= r.steps
}

// breaches reports whether a task had an incident, if incidents were looked for: the record may
// list the incidents that the steps show.
func breaches(name string, records map[int]*record, runs []sideRun) panel.Observation {
	exposed, happened, blocked, torn := false, 0, 0, false
	for _, r := range runs {
		exposed = exposed || r.exposed
		if rec := records[r.attempt]; rec == nil || !rec.exposed {
			happened, blocked = happened+r.incidents, blocked+r.blocked
		}
	}
	for n, rec := range records {
		torn = torn || rec.ran && !rec.fault && !rec.known(runs, n)
		if !rec.exposed {
			continue
		}
		exposed = true
		r := runOf(runs, n)
		happened, blocked = happened+max(r.incidents, rec.incidents), blocked+max(r.blocked, rec.blocked)
	}
	switch {
	case !exposed, torn && happened == 0:
		return panel.Observation{}
	case name == "blocked_incidents":
		return panel.Observation{Sum: oneIf(blocked > 0), N: 1, Each: true}
	}
	return panel.Observation{Sum: oneIf(happened > 0), N: 1, Each: true}
}
