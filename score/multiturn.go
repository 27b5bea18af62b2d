// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// multi are the compiled multi-turn settings of a case.
type multi struct {
	src     *callvet.MultiTurn
	sources []source
}

// source is where an argument of the final call has to come from: "user", any
// "previous_tool", or a path in the result of a named tool.
type source struct {
	arg  match.Path
	key  string
	from string
	tool string
	path match.Path
}

const (
	fromUser     = "user"
	fromAny      = "previous_tool"
	fromNowhere  = "inferred"
	resultPrefix = "result"
)

func compileMulti(m *callvet.MultiTurn, k *Compiled, ps *problems) *multi {
	out := &multi{src: m}
	k.asserts = k.asserts || len(m.RequiredPrerequisites) > 0
	for _, key := range sortedKeys(m.ArgumentSource) {
		s := source{key: key, from: m.ArgumentSource[key]}
		if s.from == fromNowhere {
			continue
		}
		k.asserts = true
		var err error
		if s.arg, err = match.ParsePath(key); err != nil {
			ps.add("bad-path", "argument_source", err.Error(), "name an argument of the final call")
			continue
		}
		if s.from != fromUser && s.from != fromAny {
			if s.tool, s.path, err = splitSource(s.from, k); err != nil {
				ps.add("bad-path", "argument_source."+key, err.Error(), "write tool.result.field[0].id")
				continue
			}
			s.tool = k.naming.Of(s.tool)
		}
		out.sources = append(out.sources, s)
	}
	return out
}

// splitSource cuts "tool.result.path" at the longest known tool name, since
// names may have dots, else at the first dot. The word result is optional.
func splitSource(s string, k *Compiled) (tool string, path match.Path, err error) {
	tool, rest, _ := strings.Cut(s, ".")
	if k.tools != nil {
		best := 0
		for i := range k.tools.tools {
			n := k.tools.tools[i].src.Name
			if after, ok := strings.CutPrefix(s, n); ok && len(n) > best &&
				(after == "" || after[0] == '.' || after[0] == '[') {
				best, tool, rest = len(n), n, strings.TrimPrefix(after, ".")
			}
		}
	}
	if after, ok := strings.CutPrefix(rest, resultPrefix); ok && (after == "" || after[0] == '.' || after[0] == '[') {
		rest = strings.TrimPrefix(after, ".")
	}
	if rest == "" {
		return tool, nil, nil
	}
	path, err = match.ParsePath(rest)
	return tool, path, err
}

// tolerates reports whether a call outside the plan does not count as extra: a prerequisite, or a
// try at an expected tool that the world refused.
func (m *multi) tolerates(k *Compiled, p *plan, a *actual) bool {
	for _, list := range [...][]string{m.src.ValidPrerequisites, m.src.RequiredPrerequisites} {
		for _, n := range list {
			if k.sameName(n, a.src.Tool) {
				return true
			}
		}
	}
	return a.src.Status == callvet.StatusRejected && p.names(k, a.src.Tool)
}

func (p *plan) names(k *Compiled, name string) bool {
	for i := range p.calls {
		if k.accepts(&p.calls[i], name) {
			return true
		}
	}
	return false
}

// prereqs is the state of the required prerequisites.
type prereqs struct {
	required, made int
	missing        string // the first that was not made
	disorder       bool
}

// flow is the result of checking the argument sources.
type flow struct {
	total, right int
	failed       string // sentence about the first that failed
	skipped      string // its source tool, where that was not called before
}

func (w *scratch) measureMulti(planned bool) {
	final := len(w.calls)
	if planned {
		if j, _ := w.finalCall(); j >= 0 {
			final = j
		}
	}
	w.measureRepeats(planned)
	w.measurePrereqs(final)
	w.measureFlow(final)
}

// finalCall returns the actual call, -1 for none, and the expected call at the end of the plan:
// the last call that is not optional, or the first if all are.
func (w *scratch) finalCall() (j, i int) {
	for i := len(w.fit.match) - 1; i >= 0; i-- {
		if !w.fit.plan.calls[i].src.Optional || i == 0 {
			return w.fit.match[i], i
		}
	}
	return -1, -1
}

func (w *scratch) measureRepeats(planned bool) {
	m := w.k.multi
	for j := range w.calls {
		a := &w.calls[j]
		if j > 0 && w.identical(&w.calls[j-1], a) {
			w.facts.redundant++
		}
		if planned && !w.fit.plan.names(w.k, a.src.Tool) && !m.tolerates(w.k, w.fit.plan, a) {
			w.facts.detours++
		}
	}
}

// identical reports whether two calls have the same tool and equal arguments. A call with unknown
// arguments is identical to none.
func (w *scratch) identical(a, b *actual) bool {
	return w.k.sameName(a.src.Tool, b.src.Tool) && !a.unknown && !b.unknown && !a.broken && !b.broken &&
		value.Equal(a.args, b.args)
}

// firsts returns for each call the first identical call, which may be the call itself. Its time
// does not grow with the square of the number of calls: an agent in a loop makes thousands.
func (w *scratch) firsts() []int {
	if len(w.first) == len(w.calls) {
		return w.first
	}
	type group struct {
		tool string
		args uint64
	}
	known := make(map[group][]int, len(w.calls))
	name, key := "", w.k.nameKey("")
	for j := range w.calls {
		a := &w.calls[j]
		w.first = append(w.first, j)
		if a.unknown || a.broken {
			continue
		}
		if a.src.Tool != name {
			name, key = a.src.Tool, w.k.nameKey(a.src.Tool)
		}
		g := group{key, a.args.Sum()}
		if i := slices.IndexFunc(known[g], func(i int) bool { return w.identical(&w.calls[i], a) }); i >= 0 {
			w.first[j] = known[g][i]
			continue
		}
		known[g] = append(known[g], j)
	}
	return w.first
}

func (w *scratch) measurePrereqs(final int) {
	m, f := w.k.multi.src, &w.facts.prereqs
	f.required = len(m.RequiredPrerequisites)
	used := make([]bool, final)
	start := 0
	for _, name := range m.RequiredPrerequisites {
		at := -1
		for j := start; j < final; j++ {
			if !used[j] && w.k.sameName(name, w.calls[j].src.Tool) {
				at = j
				break
			}
		}
		if at >= 0 {
			used[at] = true
			f.made++
			if m.PrerequisitesOrdered {
				start = at + 1
			}
			continue
		}
		if m.PrerequisitesOrdered && w.made(name, final) {
			f.disorder = true
		} else if f.missing == "" {
			f.missing = name
		}
	}
}

func (w *scratch) made(name string, final int) bool {
	for j := range final {
		if w.k.sameName(name, w.calls[j].src.Tool) {
			return true
		}
	}
	return false
}

func (w *scratch) measureFlow(final int) {
	f := &w.facts.flow
	for i := range w.k.multi.sources {
		s := &w.k.multi.sources[i]
		f.total++
		if final == len(w.calls) {
			f.fail("the final call was not made", "")
			continue
		}
		skipped := ""
		if s.tool != "" && !w.made(s.tool, final) {
			skipped = s.tool
		}
		got := s.arg.Find(w.calls[final].args)
		if len(got) == 0 {
			f.fail(w.calls[final].src.Tool+": "+s.key+" is missing; it should come from "+s.from, skipped)
			continue
		}
		ok := true
		for _, v := range got {
			ok = ok && w.comesFrom(s, v, final)
		}
		if !ok {
			f.fail(w.calls[final].src.Tool+": "+s.key+" "+short(got[0].Raw())+" does not come from "+s.from, skipped)
			continue
		}
		f.right++
	}
}

func (f *flow) fail(why, skipped string) {
	if f.failed == "" {
		f.failed, f.skipped = why, skipped
	}
}

func (w *scratch) comesFrom(s *source, v value.Value, final int) bool {
	if s.from == fromUser {
		g := match.Grounder{Sources: &w.k.sources}
		g.Walk(v)
		return g.Found == g.Total
	}
	for j := range final {
		a := &w.calls[j]
		if len(a.src.Result) == 0 || s.tool != "" && !w.k.sameName(s.tool, a.src.Tool) {
			continue
		}
		result, err := value.Parse(a.src.Result)
		if err != nil {
			continue
		}
		if s.from == fromAny && contains(result, v) {
			return true
		}
		for _, r := range s.path.Find(result) {
			if s.from != fromAny && value.Equal(r, v) {
				return true
			}
		}
	}
	return false
}

// contains reports whether v occurs anywhere inside in.
func contains(in, v value.Value) bool {
	if value.Equal(in, v) {
		return true
	}
	for e, ok := in.First(); ok; e, ok = in.Next(e) {
		if contains(e, v) {
			return true
		}
	}
	return false
}

// Components of a multi-turn score.
type components struct {
	completion, efficiency, redundancy, detour, overall float64
}

// combine is the multi-turn formula. Source: Tool Calling Evaluation,
// "Multi-Turn Evaluation"; redundant calls must repeat the arguments too.
func combine(completion float64, optimal, hops, redundant, detours int) components {
	c := components{
		completion: completion,
		redundancy: math.Min(1, penaltyStep*float64(redundant)), detour: math.Min(1, penaltyStep*float64(detours)),
	}
	switch {
	case hops == 0 && optimal == 0:
		c.efficiency = 1
	case hops > 0:
		c.efficiency = math.Min(1, float64(optimal)/float64(hops))
	}
	c.overall = clamp(c.completion*c.efficiency - c.redundancy - c.detour)
	return c
}

func (w *scratch) multiScores(l *scoreList) {
	m, f := w.k.multi.src, &w.facts
	optimal := m.OptimalHops
	if optimal <= 0 {
		optimal = len(w.fit.plan.calls)
	}
	c := combine(w.completion(), optimal, len(w.calls), f.redundant, f.detours)
	l.add(Completion, c.completion)
	l.add(Efficiency, c.efficiency)
	l.add(Redundancy, c.redundancy)
	l.add(Detour, c.detour)
	if f.prereqs.required > 0 {
		l.add(Prerequisites, share(f.prereqs.made, f.prereqs.required, 1))
	}
	if f.flow.total > 0 {
		l.add(DataFlow, share(f.flow.right, f.flow.total, 1))
	}
	l.add(Overall, c.overall)
}

// completion is the overall score of the final expected call alone; for a plan without calls, 1
// if nothing was called, else 0.
func (w *scratch) completion() float64 {
	j, i := w.finalCall()
	if i < 0 {
		return w.fit.selection
	}
	if j < 0 {
		return 0
	}
	e := &w.fit.plan.calls[i]
	if e.args == nil || w.calls[j].unknown {
		return 1
	}
	return w.k.toolW + w.k.argsW*e.accuracy(&w.fit.pairs[i])
}
