// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
)

// Ledger keeps the data of one run for a comparison. For each case that is its identity, its slices
// and a hash of its question; for each target it is the number of passed attempts. It takes about
// 100 bytes a case.
type Ledger struct {
	Run     string
	Name    string // name of the run; "" where it has none
	targets []string
	repeats int
	sliceBy []string
	cases   []ledgerCase
	index   map[string]int
	cells   [][]attempts // by target, then case
	// The metrics of Measure; empty without it.
	metrics  []Pairing
	measured [][]measuredCase // by target, then case
	slicer   func(*callvet.Case) []SliceID
	files    []string         // by target; hashes of the files it reads, where known
	prompts  []string         // by target; the prompt before a conversation; nil: not known
	settings []Settings       // by target; nil: not known
	tools    string           // hash of the tools of the suite; "": not known
	layers   map[int][]string // by target; the layers of decisions that were judged, sorted
	inPart   []int            // by target; passes with assertions that were not evaluated
	rules    int              // callvet.RulesVersion of the verdicts; 0: not known
	lost     *Lost
	warnings []string                    // of comparisons
	fixed    []bool                      // by target
	answers  map[[2]int]map[Asked]uint64 // by target and case; nil: not known
}

// Targets are the names of the targets, in the order of the run.
func (l *Ledger) Targets() []string { return slices.Clone(l.targets) }

// Warn adds warnings about the ledger to its comparisons.
func (l *Ledger) Warn(texts []string) { l.warnings = append(l.warnings, texts...) }

// Tasks are the ids of the cases, in the order of their first attempts.
func (l *Ledger) Tasks() []string {
	ids := make([]string, len(l.cases))
	for i := range l.cases {
		ids[i] = l.cases[i].id
	}
	return ids
}

// Lose sets the records of the source that could not be read: a comparison names them, because
// their tasks are not in it. Nil means none.
func (l *Ledger) Lose(lost *Lost) { l.lost = lost }

// Files sets hashes of the files that targets read, by their position, "" without files: a
// comparison reports where they differ.
func (l *Ledger) Files(hashes []string) { l.files = slices.Clone(hashes) }

// Prompts sets the prompts of targets, by their position: a comparison reports where they differ.
// Without it prompts are not known.
func (l *Ledger) Prompts(prompts []string) { l.prompts = slices.Clone(prompts) }

// Settings are the parameters that a target is asked with, each as JSON by its name.
type Settings map[string]string

// Settings sets the parameters of the targets, by their position: a comparison names the ones that
// differ. Without it they are not known.
func (l *Ledger) Settings(of []Settings) { l.settings = slices.Clone(of) }

// Tools sets a hash of the tools of the suite: a comparison warns where it differs. Without it, or
// with "", the tools are not known.
func (l *Ledger) Tools(hash string) { l.tools = hash }

// Rules sets the callvet.RulesVersion of the verdicts: a comparison warns where it differs. Without
// it the version is not known.
func (l *Ledger) Rules(version int) { l.rules = version }

// Fixed marks the targets, by their position, that return the same answer each time: recordings and
// scripts.
func (l *Ledger) Fixed(targets []bool) { l.fixed = slices.Clone(targets) }

// otherRules is a warning about two runs with verdicts by different rules; "" where the rules are
// equal.
func otherRules(base, cand *Ledger) string {
	if base.rules == 0 || cand.rules == 0 || base.rules == cand.rules {
		return ""
	}
	return fmt.Sprintf("the verdicts of the baseline are by version %d of the rules, those of this run by version %d: "+
		"a difference may be that of the rules", base.rules, cand.rules)
}

// otherTools is a warning about two runs with different tools in their suites; "" where the tools
// are equal.
func otherTools(base, cand *Ledger) string {
	if base.tools == "" || cand.tools == "" || base.tools == cand.tools {
		return ""
	}
	return "the tools of the suite are not the same in both runs: a difference may be that of the tools"
}

// otherSettings names the parameters of two targets that differ, as far as they are known.
func otherSettings(a *Ledger, target int, b *Ledger, other int) (names []string) {
	if target >= len(a.settings) || other >= len(b.settings) {
		return nil
	}
	was, is := a.settings[target], b.settings[other]
	for name, v := range was {
		if w, ok := is[name]; !ok || w != v {
			names = append(names, name)
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// samePrompt reports whether two targets have the same prompt, as far as the prompts are known.
func samePrompt(a *Ledger, target int, b *Ledger, other int) bool {
	return target >= len(a.prompts) || other >= len(b.prompts) || a.prompts[target] == b.prompts[other]
}

func (l *Ledger) file(target int) string {
	if target < len(l.files) {
		return l.files[target]
	}
	return ""
}

// decides keeps the layers that were judged of a decision.
func (l *Ledger) decides(cell *callvet.Cell) {
	for i := range cell.Result.Assertions {
		a := &cell.Result.Assertions[i]
		at, known := slices.BinarySearch(l.layers[cell.Target], a.Name)
		if known || a.Layer != callvet.LayerRouting {
			continue
		}
		if l.layers == nil {
			l.layers = map[int][]string{}
		}
		l.layers[cell.Target] = slices.Insert(l.layers[cell.Target], at, a.Name)
	}
}

type ledgerCase struct {
	id     string
	hash   string // "": the question of the case is not known
	slices []sliceID
}

// attempts of one case by one target.
type attempts struct {
	passes, judged, errors, notRun int32
	lost                           int32 // planned, without an outcome, and no errors
	torn                           int32 // of those with an outcome: some of their calls are not known
	cached, cachedPasses           int32 // of judged, and of passes: attempts with a reused answer
}

func (a *attempts) cache(cell *callvet.Cell) {
	if cell.Trace.Cached {
		a.cached++
		if cell.Result.Verdict == callvet.VerdictPass {
			a.cachedPasses++
		}
	}
}

func (a attempts) any() bool { return a.judged+a.errors+a.notRun > 0 }

// lostShare is the share of the attempts without an outcome for a metric, in [0,1]; 0 without
// attempts.
func (a attempts) lostShare(metric string) float64 {
	lost := a.lost
	if !CountsErrors(metric) {
		lost += a.errors
	}
	if OfCalls(metric) {
		lost += a.torn
	}
	return float64(lost) / float64(max(1, a.judged+a.errors+a.notRun))
}

func (a attempts) moment() moment {
	return moment{sum: float64(a.passes), n: int(a.judged), each: true, fact: a.fact()}
}

// fact reports whether all attempts used an earlier answer.
func (a attempts) fact() bool { return a.judged > 0 && a.cached == a.judged }

func (a attempts) share() float64 { return float64(a.passes) / float64(a.judged) }

// NewLedger starts the ledger of a run. sliceBy is as in Config.
func NewLedger(run string, targets []string, sliceBy []string) *Ledger {
	if sliceBy == nil {
		sliceBy = DefaultSlices()
	}
	return &Ledger{
		Run: run, targets: slices.Clone(targets), sliceBy: sliceBy,
		index: map[string]int{}, cells: make([][]attempts, len(targets)), inPart: make([]int, len(targets)),
	}
}

// Add adds one attempt. Attempts of targets that the run does not have are ignored. Each attempt
// must be added once.
func (l *Ledger) Add(c *callvet.Case, cell *callvet.Cell) {
	if cell.Target < 0 || cell.Target >= len(l.targets) {
		return
	}
	i, ok := l.index[c.ID]
	if !ok {
		i = l.place(ledgerCase{id: c.ID, hash: c.Identity(), slices: l.member(c)})
	} else if l.cases[i].hash == "" { // this attempt records more than the earlier ones
		l.cases[i].hash = c.Identity()
	}
	if cell.Trace.Decision != nil {
		l.decides(cell)
	}
	row := l.cells[cell.Target]
	for len(row) <= i {
		row = append(row, attempts{})
	}
	l.cells[cell.Target] = row
	l.repeats = max(l.repeats, cell.Repeat+1)
	a := &row[i]
	switch {
	case cell.Trace.Outcome == callvet.OutcomeNotRun || cell.Result.Verdict == callvet.VerdictNotRun:
		a.notRun++
		if cell.Trace.Outcome == callvet.OutcomeNotRun && c.Skip == "" {
			a.lost++
		}
	case cell.Result.Verdict == callvet.VerdictPass:
		a.passes++
		a.judged++
		a.cache(cell)
		if cell.Result.NotEvaluated > 0 {
			l.inPart[cell.Target]++
		}
	case cell.Result.Verdict == callvet.VerdictFail:
		a.judged++
		a.cache(cell)
	default:
		a.errors++
	}
}

// Tear counts an attempt at a case with an outcome and without some of its calls: it is lost where
// calls are counted. Unknown cases are ignored.
func (l *Ledger) Tear(target int, id string) {
	if i, ok := l.index[id]; ok && i < len(l.cells[target]) {
		l.cells[target][i].torn++
	}
}

// place adds a case that is not there yet.
func (l *Ledger) place(c ledgerCase) int {
	i := len(l.cases)
	l.index[c.id], l.cases = i, append(l.cases, c)
	return i
}

func (l *Ledger) at(target, i int) attempts {
	if row := l.cells[target]; i < len(row) {
		return row[i]
	}
	return attempts{}
}
