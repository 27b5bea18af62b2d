// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet/panel"
)

// maxSlices bounds the tables of a target.
const maxSlices = 1000

// Panels returns the tables of the reading. The Sheet must be closed; it is unchanged.
func (s *Sheet) Panels() *panel.Panels {
	all := s.settled()
	p := &panel.Panels{Confidence: s.cfg.Confidence}
	p.Repeat(1)
	byTarget := s.byTarget(all)
	for _, t := range s.targets() {
		if ids := byTarget[t]; len(ids) > 0 || slices.Contains(s.cfg.Targets, s.names.Targets.All[t]) {
			p.Targets = append(p.Targets, s.target(len(p.Targets), t, ids, all))
			p.Repeat(all.repeats(ids))
		}
	}
	symptoms, ranking := all.counted()
	p.Findings = SymptomFindings(&symptoms, &all.signs,
		&SymptomNames{Tool: s.tool, Target: s.targetName, Contract: s.contract, Locate: s.locate})
	p.Examples = s.examples(&ranking)
	p.Warnings = s.warnings(all)
	p.Duplicates = int(all.duplicates.merged)
	return p
}

// targets are the numbers of all targets in the order of the report.
func (s *Sheet) targets() []uint32 {
	order := s.names.Targets.Sorted()
	place := func(n uint32) int {
		if i := slices.Index(s.cfg.Targets, s.names.Targets.All[n]); i >= 0 {
			return i
		}
		return len(s.cfg.Targets)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(place(a), place(b)) })
	return order
}

// repeats is the largest number of judged attempts at a task.
func (s *Sums) repeats(ids []uint32) int {
	n := 1
	for _, id := range ids {
		if t := s.slices[id].fromRecords; t != nil {
			n = max(n, len(t.at))
		}
	}
	return n
}

// byTarget returns the slices with tasks of each target.
func (s *Sheet) byTarget(all *Sums) map[uint32][]uint32 {
	out := map[uint32][]uint32{}
	for id, x := range all.slices {
		if x != nil && x.tasks > 0 {
			t := s.names.Slices[id].Target
			out[t] = append(out[t], uint32(id))
		}
	}
	return out
}

func (s *Sheet) target(pos int, number uint32, ids []uint32, all *Sums) panel.TargetPanel {
	tp := panel.TargetPanel{Target: pos, Name: s.names.Targets.All[number]}
	var overall *sliceSums
	for _, id := range ids {
		if s.names.Slices[id].Key == "" {
			overall = all.slices[id]
		}
	}
	if overall == nil { // a damaged partial result
		overall = &sliceSums{}
	}
	chosen := s.choose(ids, all)
	tables := make([]panel.Slice, 1+len(chosen))
	s.each(len(tables), func(i int) {
		if i == 0 {
			tables[0] = s.slice(TargetSlice{}, overall, true, s.lost+all.duplicates.conflicts)
			return
		}
		tables[i] = s.slice(s.names.Slices[chosen[i-1]], all.slices[chosen[i-1]], false, 0)
	})
	tp.Overall, tp.Slices = tables[0], slices.Clip(tables[1:])
	panel.CompareSlices(&tp)
	tp.Confusion = append(all.confused.Table(number, s.tool), all.chosen.Table(number, s.word)...)
	tp.Routes = all.routes.Table(number, s.word)
	tp.NotEvaluated = s.notEvaluated(number, all)
	tp.Floor = all.signs.Floor(number)
	return tp
}

// counted are the symptoms and the tasks of the targets that count. Baselines do not count where
// there is another target.
func (s *Sums) counted() (symptoms SymptomCounts, ranking Ranking) {
	only, symptoms := s.signs.OnlyFloors(), NewSymptomCounts()
	counts := func(target int) bool { return only || !s.signs.Floor(uint32(target)) }
	for target, x := range s.symptoms {
		if x != nil && counts(target) {
			symptoms.Merge(x)
		}
	}
	for target, x := range s.rankings {
		if x != nil && counts(target) {
			ranking.Merge(x)
		}
	}
	return symptoms, ranking
}

// notEvaluated are the assertions at a target that were not evaluated, the most frequent first.
func (s *Sheet) notEvaluated(target uint32, all *Sums) []panel.UnevaluatedKind {
	var out []panel.UnevaluatedKind
	for k, n := range all.open {
		if k[0] == target {
			name, reason, _ := strings.Cut(s.names.Words.All[k[1]], "\x00")
			out = append(out, panel.UnevaluatedKind{Name: name, Reason: reason, N: int(n)})
		}
	}
	slices.SortFunc(out, func(a, b panel.UnevaluatedKind) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

func (s *Sheet) targetName(n uint32) string { return s.names.Targets.All[n] }

// word is the text of a number; panel.None for the empty text.
func (s *Sheet) word(n uint32) string { return cmp.Or(s.names.Words.All[n], panel.None) }

func (s *Sheet) slice(n TargetSlice, x *sliceSums, overall bool, lost int64) panel.Slice {
	out := panel.Slice{Key: n.Key, Value: n.Value, Cases: int(x.tasks), Cells: int(x.attempts), Torn: int(x.torn)}
	t := tabler{cfg: &s.cfg, names: s.names, s: x, overall: overall}
	if o := x.fromRecords; o != nil {
		out.Verdicts = panel.Verdicts{
			Pass: int(o.passed), Fail: int(o.failed), Error: int(o.errors),
			NotRun: int(o.notRun), Skipped: int(o.skipped),
		}
		out.Usage = panel.Usage{
			InputTokens: int(o.input), OutputTokens: int(o.output), ReasoningTokens: int(o.reasoning),
			CostUSD:   float64(o.cost) / 1e9,
			CostKnown: int(o.costKnown), CostUnknown: int(o.costUnknown), UsageUnknown: int(o.noUsage),
		}
		if o.scored != nil {
			o.scored.fill(&out)
		}
		out.Warnings = append(out.Warnings, panel.SliceWarnings(&out, o.scored != nil && o.scored.attempts > 0)...)
	}
	out.Metrics = t.metrics()
	t.ranges(&out, lost)
	return out
}

// choose returns the slices that get a table: of each key the values with most tasks, then by name.
// The order of reading does not matter.
func (s *Sheet) choose(ids []uint32, all *Sums) []uint32 {
	n := s.names
	byCount := slices.Clone(ids)
	slices.SortFunc(byCount, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(all.slices[b].tasks, all.slices[a].tasks), CompareSlices(n.Slices[a], n.Slices[b]))
	})
	perKey, whole := map[string]int{}, int64(0)
	for _, id := range ids {
		whole = max(whole, all.slices[id].tasks)
	}
	var out []uint32
	for _, id := range byCount {
		name := n.Slices[id]
		switch {
		case name.Key == "", n.Dead[TargetKey{Target: name.Target, Key: name.Key}],
			!SliceRequested(s.cfg.SliceBy, name.Key):
		case name.Key == "tag" && (all.slices[id].tasks < int64(s.cfg.MinTagTasks) || s.repeatsField(id, ids, all)):
		case s.usual() && all.slices[id].tasks == whole: // the table of all tasks once more
		case perKey[name.Key] >= s.cfg.MaxValues, len(out) >= maxSlices:
		default:
			perKey[name.Key]++
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.rank(n.Slices[a].Key), s.rank(n.Slices[b].Key)),
			CompareSlices(n.Slices[a], n.Slices[b]))
	})
	return out
}

// usual reports whether the slices are the default ones.
func (s *Sheet) usual() bool { return slices.Equal(s.cfg.SliceBy, panel.DefaultSlices()) }

// repeatsField reports whether a tag has the same cases as a field. Where tags were not requested,
// one table for tag=refund and intent=refund is enough.
func (s *Sheet) repeatsField(tag uint32, ids []uint32, all *Sums) bool {
	if !s.usual() {
		return false
	}
	return slices.ContainsFunc(ids, func(id uint32) bool {
		o := s.names.Slices[id]
		return o.Value == s.names.Slices[tag].Value && o.Key != "tag" && SliceRequested(s.cfg.SliceBy, o.Key) &&
			!s.names.Dead[TargetKey{Target: o.Target, Key: o.Key}] &&
			all.slices[id].sameCounts(all.slices[tag])
	})
}

// sameCounts compares the counts of two slices of one target: tasks, attempts, steps, and the good
// values of each measurement.
func (s *sliceSums) sameCounts(o *sliceSums) bool {
	if s.tasks != o.tasks || s.attempts != o.attempts || s.steps != o.steps {
		return false
	}
	for i := range s.rates {
		a, b := &s.rates[i], &o.rates[i]
		if a.N() != b.N() || a.Yes() != b.Yes() {
			return false
		}
	}
	return true
}

func (s *Sheet) rank(key string) int {
	if i := slices.Index(s.cfg.SliceBy, key); i >= 0 {
		return i
	}
	return len(s.cfg.SliceBy)
}

func (s *Sheet) tool(n uint32) string {
	switch {
	case n == UnknownTool:
		return panel.Unknown
	case n == UnreadableCall:
		return panel.Unreadable
	case s.names.Tools.All[n] == "":
		return panel.None
	}
	return s.names.Tools.All[n]
}

// examples are the tasks with the highest and the lowest scores; a task that is both is among the
// highest only. They are named strongest and weakest where they differ clearly from all other
// tasks. Source: Statistics specification, section 16.5.
func (s *Sheet) examples(r *Ranking) []panel.Example {
	var out []panel.Example
	seen := map[[2]string]bool{}
	for i, list := range [][]Ranked{r.Strongest, r.Weakest} {
		kind, named := [...]string{panel.Highest, panel.Lowest}[i], [...]string{panel.Strongest, panel.Weakest}[i]
		for _, x := range list {
			if seen[[2]string{x.Target, x.Task}] {
				continue
			}
			seen[[2]string{x.Target, x.Task}] = true
			e := panel.Example{
				Kind: kind, Target: x.Target, Task: x.Task, Line: x.Line,
				Score: float64(x.Good) / float64(x.Of), Why: why(&x),
			}
			if below, above := r.StandOut(&x, s.cfg.Confidence); i == 0 && above || i == 1 && below {
				e.Kind = named
			} else {
				e.Why += "; its attempts do not show that it is one of the " + named
			}
			s.locate(&e)
			out = append(out, e)
		}
	}
	return out
}

// why is a sentence about the measurements of a task.
func why(x *Ranked) string {
	text := fmt.Sprintf("%d of %d measurements are good, in %s", x.Good, x.Of,
		panel.Plural(int(x.Calls), "call", "calls"))
	if x.Judged > 0 {
		text = fmt.Sprintf("%d of %s passed, ", x.Judged-x.Failed, panel.Plural(int(x.Judged), "attempt", "attempts")) +
			text
	}
	return text
}

// locate sets the file and the line in it, where several files were read. Lines are numbered across
// partial results of one reading.
func (s *Sheet) locate(e *panel.Example) {
	if slices.ContainsFunc(s.sources, func(src Source) bool { return src.Foreign }) {
		e.Line = 0
		return
	}
	if s.cfg.Files {
		e.File, e.Line = s.Locate(e.Line)
	}
}

// Sources are the files that were read, in order.
func (s *Sheet) Sources() []Source { return slices.Clone(s.sources) }

// Locate returns the file of a line of the reading, and the line's number in it.
func (s *Sheet) Locate(line int64) (file string, at int64) {
	for _, src := range s.sources {
		if line <= src.Lines {
			return src.Name, line
		}
		line -= src.Lines
	}
	return "", line
}

func (s *Sheet) warnings(all *Sums) []string {
	var w []string
	var split, long int64
	for i := range s.parts {
		split, long = split+s.parts[i].tasks.split, long+s.parts[i].tasks.long
	}
	if split > 0 {
		w = append(w,
			fmt.Sprintf(
				"%d tasks came back after more than %d others and count as several: sort the file by task, or intervals are too short", split, s.cfg.Window))
	}
	if long > 0 {
		w = append(w, fmt.Sprintf("tasks of more than %d calls or records count as several (%d times)", maxSteps, long))
	}
	if n := all.duplicates.merged; n > 0 {
		w = append(w, panel.Plural(int(n), "task record is a copy of an earlier one and counts",
			"task records are copies of earlier ones and count")+
			" once with it")
	}
	if n := all.duplicates.copies; n > 0 {
		w = append(w, panel.Plural(int(n), "step is a copy of an earlier one of its call and counts",
			"steps are copies of earlier ones of their calls and count")+
			" once with it")
	}
	if n := all.duplicates.corrected; n > 0 {
		w = append(w, panel.Plural(int(n), "step corrects", "steps correct")+
			" an earlier one of its call, which does not count")
	}
	if n := all.duplicates.replaced; n > 0 {
		w = append(w, panel.Plural(int(n), "task record corrects", "task records correct")+
			" an earlier one, which does not count")
	}
	dead := map[string]bool{}
	for k := range s.names.Dead {
		dead[k.Key] = true
	}
	for _, k := range slices.Sorted(maps.Keys(dead)) {
		w = append(w, fmt.Sprintf("%q has more than %d values: it is no slice", k, MaxSliceValues))
	}
	if !s.cfg.Catalogue &&
		slices.ContainsFunc(all.symptoms, func(x *SymptomCounts) bool { return x != nil && x.Steps > 0 }) {
		w = append(w, "no tools were given: whether arguments keep a schema, and whether tools exist, is not known")
	}
	if slices.Contains(s.names.Tools.All, BeyondLimit) {
		w = append(w,
			fmt.Sprintf("more than %d tools were called: the rest is counted as %s", MaxTools, BeyondLimit))
	}
	if names := slices.Sorted(slices.Values(s.names.Targets.All)); len(names) > 1 && names[0] == "" {
		w = append(w, "some lines name no target: they are counted separately from "+
			strings.Join(names[1:min(len(names), 4)], ", "))
	}
	return w
}
