// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet/stats"
)

// Comparison is the paired difference of two runs: a candidate against a
// baseline, over the cases that both judged.
type Comparison struct {
	Baseline  string `json:"baseline"`
	Candidate string `json:"candidate"`
	// Names of the runs, where they have one.
	BaselineName  string             `json:"baseline_name,omitempty"`
	CandidateName string             `json:"candidate_name,omitempty"`
	Confidence    float64            `json:"confidence"`
	Targets       []TargetComparison `json:"targets"`
	// Cases that only one of the runs has, and cases that are not comparable because their text
	// changed; by ID, in the order of the runs.
	OnlyBaseline  []string `json:"only_baseline,omitempty"`
	OnlyCandidate []string `json:"only_candidate,omitempty"`
	Changed       []string `json:"changed,omitempty"`
	// Targets without a counterpart.
	UnpairedBaseline  []string `json:"unpaired_baseline,omitempty"`
	UnpairedCandidate []string `json:"unpaired_candidate,omitempty"`
	// Failed reports that the comparison shows the result that it was asked to fail on.
	Failed bool `json:"failed,omitempty"`
	// Undecided is why Failed is not known; "" where it is known, or nothing was asked.
	Undecided string `json:"undecided,omitempty"`
	// Unpaired reports that all cases of both sides were compared, without pairs.
	Unpaired bool `json:"unpaired,omitempty"`
	// Population is the population of the differences. Suite contains the differences about this
	// suite, where gates require both.
	Population Population  `json:"population"`
	Suite      *Comparison `json:"-"`
	// Assumed is the assumption of the differences about several attempts at a task; "" with one
	// attempt, and about this suite, where only attempts vary.
	Assumed  string   `json:"assumed,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Lost records of the sides could not be read; nil where there are none.
	LostBaseline  *Lost `json:"lost_baseline,omitempty"`
	LostCandidate *Lost `json:"lost_candidate,omitempty"`
}

// Lost are the lost records of both sides together; nil where there are none.
func (d *Comparison) Lost() *Lost {
	switch a, b := d.LostBaseline, d.LostCandidate; {
	case a == nil:
		return b
	case b == nil:
		return a
	default:
		return &Lost{Count: a.Count + b.Count, First: slices.Concat(a.First, b.First)}
	}
}

// TargetComparison compares one target with its counterpart.
type TargetComparison struct {
	Baseline  string         `json:"baseline"`
	Candidate string         `json:"candidate"`
	Overall   Difference     `json:"overall"`
	Slices    []Difference   `json:"slices,omitempty"`
	Changes   []CaseChange   `json:"changes,omitempty"`
	Unjudged  []UnjudgedCase `json:"unjudged,omitempty"`
	// Unchanged are cases that passed equally often on both sides, the failing ones first, at most
	// the requested number. UnchangedCases is how many there are, where any were requested.
	Unchanged      []CaseChange `json:"unchanged,omitempty"`
	UnchangedCases int          `json:"unchanged_cases,omitempty"`
	// Ratchet contains the cases that passed in the baseline and do not pass now.
	Ratchet *Ratchet `json:"ratchet,omitempty"`
	// Measured are the other requested metrics of both sides.
	Measured []Measured `json:"metrics,omitempty"`
	tests    []caseTest // of the cases that both sides judged, for claimChanges
}

// Difference of the pass rates, or of another metric, over the cases with values in both runs.
type Difference struct {
	Key       string         `json:"key,omitempty"`
	Value     string         `json:"value,omitempty"`
	Cases     int            `json:"cases"`
	Baseline  stats.Interval `json:"baseline"`
	Candidate stats.Interval `json:"candidate"`
	// Change is candidate - baseline, in [-1,1]; for amounts it is that difference as a share of
	// the baseline.
	Change stats.Interval `json:"change"`
	// P is the two-sided p value of no change, Test its method. PHolm is P adjusted (Holm) over all
	// slices of the same metric, or all compared targets; it decides the verdict. It is nil for a
	// single target.
	P            float64  `json:"p"`
	PHolm        *float64 `json:"p_holm,omitempty"`
	Test         string   `json:"test"`
	NewlyFailing int      `json:"newly_failing"`
	NewlyPassing int      `json:"newly_passing"`
	// Fell and Rose count the cases with a lower or higher value than before.
	Fell int `json:"fell"`
	Rose int `json:"rose"`
	// Planned are the cases that were planned in both runs, Lost those with an attempt without an
	// outcome. LostWeight is Lost with each case weighted by its share of such attempts.
	Planned    int     `json:"planned"`
	Lost       int     `json:"lost,omitempty"`
	LostWeight float64 `json:"lost_weight,omitempty"`
	// Unpaired are the numbers of cases of the baseline and the candidate, where they are
	// different cases.
	Unpaired      *[2]int `json:"unpaired,omitempty"`
	Verdict       Change  `json:"verdict"`
	differences   []float64
	baseSums      stats.Clusters
	candidateSums stats.Clusters
	pairs         stats.Pairs
	single        bool // one judged attempt per case on both sides
	relative      bool
	counted       bool
	byCall        []pairOfCase // of a rate of calls
	suite         bool         // it is about this suite
	sides         []attemptsOfCase
	fixed         [2]bool // sides that return the same answer each time
	amounts
	counts
}

// pairOfCase are the measurements of both sides at a case.
type pairOfCase struct{ before, after moment }

// amounts are the sums of a relative difference, which is the ratio of the case means, and the
// amounts of both sides.
type amounts struct {
	ratio         stats.Ratio
	before, after stats.Ratio
	// most is the largest case mean on either side.
	most float64
}

func (m *amounts) pair(a, b moment) {
	before, after := a.mean(), b.mean()
	m.most = max(m.most, before, after)
	m.ratio.Add(after, before)
	m.before.Add(a.sum, float64(a.n))
	m.after.Add(b.sum, float64(b.n))
}

// counts are the mean counts of both sides.
type counts struct{ countBefore, countNow stats.Counts }

// notNegative keeps the lower end of an amount at 0 or above.
func notNegative(iv stats.Interval) stats.Interval {
	if !math.IsInf(iv.Lower, -1) {
		iv.Lower = max(0, iv.Lower)
	}
	return iv
}

// Change is what a difference amounts to.
type Change string

// The changes. A difference is better or worse only when its interval does not hold 0.
const (
	ChangeBetter  Change = "better"
	ChangeWorse   Change = "worse"
	ChangeUnclear Change = "no clear difference"
	ChangeNone    Change = "not comparable"
)

// CaseChange is one case that passes more or less often than before, or as often.
type CaseChange struct {
	Case string `json:"case"`
	// Kind is newly_failing, newly_passing, less_often or more_often; of a case that did not
	// change both_fail or both_pass, which is at least half of its attempts.
	Kind            string `json:"kind"`
	BaselinePasses  int    `json:"baseline_passes"`
	BaselineN       int    `json:"baseline_n"`
	CandidatePasses int    `json:"candidate_passes"`
	CandidateN      int    `json:"candidate_n"`
	// Stability is "stable" where the attempts of the case show the change among all cases of the
	// comparison (Fisher, Holm), "flaky" where a side both passed and failed, else empty.
	Stability string `json:"stability,omitempty"`
}

// The kinds of a case's change.
const (
	NewlyFailing = "newly_failing"
	NewlyPassing = "newly_passing"
	LessOften    = "less_often"
	MoreOften    = "more_often"
	BothFail     = "both_fail"
	BothPass     = "both_pass"
)

// UnjudgedCase is in both runs but without a verdict in one of them.
type UnjudgedCase struct {
	Case string `json:"case"`
	Run  string `json:"run"` // where the verdict is missing: baseline, candidate or both
}

// Pair names a target of the baseline, and the one of the candidate that is compared with it.
type Pair struct{ Baseline, Candidate string }

// DiffConfig selects what a comparison is about. The zero value is what Diff does.
type DiffConfig struct {
	// Confidence is two-sided; 0 means 0.95.
	Confidence float64
	// Pairs are the targets that are compared, in this order; nil: the pairs of Namesakes. A pair
	// with a target that a run does not have is left out.
	Pairs []Pair
	// Unchanged is the largest number of unchanged cases to list for each pair.
	Unchanged int
	// Unpaired compares all cases of both sides without pairs.
	Unpaired bool
	// Population is the population of the differences; "" is TasksLikeThese.
	Population Population
}

// Diff compares two runs case by case. Repeats of a case are averaged first and never count as
// independent. Targets are paired by name; where no names are shared and each run has one target,
// these two are compared. confidence is two-sided, 0 means 0.95.
//
// The interval is Newcombe's with McNemar's mid-p where each case was judged once, and reaches at
// least to the ends of Tango's. Else it is the t interval of the mean difference by case, longer on
// the side of a tail. Below 15 cases it uses the exact sign-flip test. Source: Statistics
// specification, section 9.
func Diff(baseline, candidate *Ledger, confidence float64) *Comparison {
	return DiffWith(baseline, candidate, DiffConfig{Confidence: confidence})
}

// DiffWith is Diff of the named targets. Both sides may be one ledger: then targets of one run are
// compared.
func DiffWith(baseline, candidate *Ledger, cfg DiffConfig) *Comparison {
	if !(cfg.Confidence > 0 && cfg.Confidence < 1) {
		cfg.Confidence = 0.95
	}
	if cfg.Pairs == nil {
		cfg.Pairs = Namesakes(baseline, candidate)
	}
	d := &Comparison{
		Baseline: baseline.Run, Candidate: candidate.Run, BaselineName: baseline.Name,
		CandidateName: candidate.Name, Confidence: cfg.Confidence, Population: cfg.Population.Or(),
	}
	if max(baseline.repeats, candidate.repeats) > 1 && d.Population == TasksLikeThese {
		d.Assumed = AttemptsAreOne
	}
	common := d.match(baseline, candidate)
	d.Unpaired = cfg.Unpaired
	pairs := d.pairTargets(baseline, candidate, cfg.Pairs)
	var others remarks
	for _, p := range pairs {
		if d.Unpaired {
			d.Targets = append(d.Targets, compareUnpaired(baseline, candidate, p, &cfg))
		} else {
			d.Targets = append(d.Targets, compareTargets(baseline, candidate, p, common, &cfg))
		}
		remarkDifferences(&others, baseline, candidate, p)
	}
	d.Warnings = append(d.Warnings, others.sentences()...)
	for i := range d.Targets {
		t := &d.Targets[i]
		if w := t.Overall.suiteWarning(t.Candidate); w != "" && cfg.Population == ThisSuite {
			d.Warnings = append(d.Warnings, w)
		}
		if t.Overall.weighsCases() {
			d.Warnings = append(d.Warnings, t.Candidate+
				": cases have different numbers of attempts: the rates count each attempt, and the change counts each case once")
		}
	}
	d.claim()
	if w := unsteady(baseline, candidate, pairs, common); w != "" && !d.Unpaired {
		d.Warnings = append(d.Warnings, w)
	}
	d.lost(baseline, candidate)
	if d.Unpaired {
		d.OnlyBaseline, d.OnlyCandidate, d.Changed = nil, nil, nil
		d.Warnings = append(d.Warnings, "the cases of both sides are not paired: a difference may be that of the cases")
	}
	if n := len(d.Changed); n > 0 {
		d.Warnings = append(d.Warnings,
			plural(n, "case has", "cases have")+" changed between the runs and cannot be compared")
	}
	for _, w := range [...]string{otherTools(baseline, candidate), otherRules(baseline, candidate)} {
		if w != "" {
			d.Warnings = append(d.Warnings, w)
		}
	}
	if len(d.Targets) == 0 {
		d.Warnings = append(d.Warnings, "the runs have no target in common")
	}
	return d
}

// lost notes the records that could not be read on each side, and other warnings about it.
func (d *Comparison) lost(baseline, candidate *Ledger) {
	sides := []*Ledger{baseline, candidate}
	if baseline == candidate {
		sides = sides[:1]
	}
	for _, l := range sides {
		if s := l.lost.Sentence(); s != "" {
			d.Warnings = append(d.Warnings, l.Run+": "+s)
		}
		for _, s := range l.warnings {
			d.Warnings = append(d.Warnings, l.Run+": "+s)
		}
	}
	if d.LostCandidate = candidate.lost; baseline != candidate {
		d.LostBaseline = baseline.lost
	}
}

// A remark is a sentence about pairs of targets; it begins with their names.
type remark struct {
	pairs    []string
	one, all string // the text for one target, or for several; "": the pair is the whole sentence
}

// remarks are sentences about targets, each once for all targets that it applies to.
type remarks []remark

// add adds a remark on a pair; all is its text for several pairs.
func (r *remarks) add(pair, one, all string) {
	i := slices.IndexFunc(*r, func(m remark) bool { return one != "" && m.one == one })
	if i < 0 {
		*r, i = append(*r, remark{one: one, all: all}), len(*r)
	}
	(*r)[i].pairs = append((*r)[i].pairs, pair)
}

// sentences are the remarks in the order of their first use.
func (r remarks) sentences() (out []string) {
	for _, m := range r {
		what := m.one
		if len(m.pairs) > 1 {
			what = m.all
		}
		out = append(out, strings.Join(m.pairs, ", ")+what)
	}
	return out
}

// remarkDifferences adds a remark for each condition, other than the target or the time, that
// differs between the sides of a pair.
func remarkDifferences(r *remarks, base, cand *Ledger, p [2]int) {
	was, is := base.targets[p[0]], cand.targets[p[1]]
	both, were, where := is, " was", " in both runs"
	if was != is {
		both, were, where = was+" and "+is, " were", ""
	}
	if a, b := base.file(p[0]), cand.file(p[1]); a != "" && b != "" && a != b {
		what := " did not read the same files" + where + ": another catalogue, or one that changed"
		r.add(both, what, what)
	}
	if !samePrompt(base, p[0], cand, p[1]) {
		what := " not asked with the same prompt" + where + ": a difference may be the prompt's"
		r.add(both, were+what, " were"+what)
	}
	if names := otherSettings(base, p[0], cand, p[1]); len(names) > 0 {
		what := " not asked with the same parameters" + where + " (" + strings.Join(names, ", ") +
			"): a difference may be theirs"
		r.add(both, were+what, " were"+what)
	}
	if a, b := base.inPart[p[0]], cand.inPart[p[1]]; a+b > 0 {
		r.add(
			fmt.Sprintf(
				"%s: attempts that passed with assertions that were not evaluated, so that they passed the others only: %d of the baseline, %d now", is, a, b), "", "")
	}
	if a, b := base.layers[p[0]], cand.layers[p[1]]; len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
		r.add(fmt.Sprintf("%s is judged by %s, %s by %s: passes and composites are not of the same layers", was,
			layerList(a), is, layerList(b)), "", "")
	}
}

func layerList(names []string) string {
	return strings.ReplaceAll(strings.Join(names, ", "), "_", "-")
}

// match lists the positions of the cases that are the same in both runs. Where a run does not
// record the question of a case, the ID of the case decides.
func (d *Comparison) match(base, cand *Ledger) [][2]int {
	var common [][2]int
	for i := range base.cases {
		c := &base.cases[i]
		j, ok := cand.index[c.id]
		switch {
		case !ok:
			d.OnlyBaseline = append(d.OnlyBaseline, c.id)
		case cand.cases[j].hash != c.hash && cand.cases[j].hash != "" && c.hash != "":
			d.Changed = append(d.Changed, c.id)
		default:
			common = append(common, [2]int{i, j})
		}
	}
	for i := range cand.cases {
		if _, ok := base.index[cand.cases[i].id]; !ok {
			d.OnlyCandidate = append(d.OnlyCandidate, cand.cases[i].id)
		}
	}
	return common
}

// Namesakes pairs the targets of both sides by name. Where they share no name and each side has one
// target, these are the pair.
func Namesakes(base, cand *Ledger) []Pair {
	pairs := []Pair{}
	for i, name := range base.targets {
		if slices.Index(base.targets, name) == i && slices.Contains(cand.targets, name) {
			pairs = append(pairs, Pair{name, name})
		}
	}
	if len(pairs) == 0 && len(base.targets) == 1 && len(cand.targets) == 1 {
		pairs = append(pairs, Pair{base.targets[0], cand.targets[0]})
	}
	return pairs
}

// pairTargets returns the positions of pairs, and lists the targets without a pair.
func (d *Comparison) pairTargets(base, cand *Ledger, pairs []Pair) [][2]int {
	var out [][2]int
	inBase, inCand := make([]bool, len(base.targets)), make([]bool, len(cand.targets))
	for _, p := range pairs {
		i, j := slices.Index(base.targets, p.Baseline), slices.Index(cand.targets, p.Candidate)
		if i < 0 || j < 0 {
			continue
		}
		inBase[i], inCand[j] = true, true
		out = append(out, [2]int{i, j})
	}
	d.UnpairedBaseline, d.UnpairedCandidate = without(base.targets, inBase), without(cand.targets, inCand)
	return out
}

// without lists the names that are not taken.
func without(names []string, taken []bool) (left []string) {
	for i, name := range names {
		if !taken[i] {
			left = append(left, name)
		}
	}
	return left
}

func compareTargets(base, cand *Ledger, t [2]int, common [][2]int, cfg *DiffConfig) TargetComparison {
	conf := cfg.Confidence
	out := TargetComparison{
		Baseline: base.targets[t[0]], Candidate: cand.targets[t[1]],
		Overall: Difference{single: true},
	}
	out.Overall.about(base, cand, t, cfg)
	bySlice := map[sliceID]*Difference{}
	both, defaults := map[[2]sliceID]int{}, slices.Equal(cand.sliceBy, DefaultSlices())
	for _, p := range common {
		a, b := base.at(t[0], p[0]), cand.at(t[1], p[1])
		lost := lostOf(a, b, MetricPass)
		out.Overall.lose(lost)
		ids := cand.slicesOf(t[1], p[1])
		for _, id := range ids {
			if bySlice[id] == nil {
				bySlice[id] = &Difference{Key: id.key, Value: id.value, single: true}
				bySlice[id].about(base, cand, t, cfg)
			}
			bySlice[id].lose(lost)
		}
		if a.judged == 0 || b.judged == 0 {
			if a.any() || b.any() {
				out.Unjudged = append(out.Unjudged, UnjudgedCase{Case: base.cases[p[0]].id, Run: missingSide(a, b)})
			}
			continue
		}
		out.Overall.add(a, b)
		for _, id := range ids {
			bySlice[id].add(a, b)
		}
		if defaults {
			countTwins(both, ids)
		}
		out.tests = append(out.tests, testOf(cand.cases[p[1]].id, a, b))
		if c := changeOf(cand.cases[p[1]].id, a, b); c.Kind != BothFail && c.Kind != BothPass {
			out.Changes = append(out.Changes, c)
		} else if cfg.Unchanged > 0 {
			out.Unchanged = append(out.Unchanged, c)
		}
	}
	if defaults {
		dropTwins(bySlice, both)
	}
	out.Overall.finish(conf)
	out.Slices = finishSlices(bySlice, cand.sliceBy, out.Overall.Cases, conf)
	r := ratchet(base, cand, t, common)
	out.Ratchet = &r
	out.Measured = compareMeasured(base, cand, t, common, cfg)
	byKind := func(a, b CaseChange) int { return cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)) }
	slices.SortStableFunc(out.Changes, byKind)
	slices.SortStableFunc(out.Unchanged, byKind)
	if out.UnchangedCases = len(out.Unchanged); out.UnchangedCases > cfg.Unchanged {
		out.Unchanged = slices.Clone(out.Unchanged[:cfg.Unchanged])
	}
	return out
}

// countTwins counts the case for every pair of a tag and a field with the same value.
func countTwins(both map[[2]sliceID]int, ids []sliceID) {
	for _, tag := range ids {
		for _, field := range ids {
			if tag.key == "tag" && field.key != "tag" && field.value == tag.value {
				both[[2]sliceID{tag, field}]++
			}
		}
	}
}

// dropTwins leaves out the tags that have exactly the cases of a field with the same value.
func dropTwins(bySlice map[sliceID]*Difference, both map[[2]sliceID]int) {
	for pair, n := range both {
		tag, field := bySlice[pair[0]], bySlice[pair[1]]
		if tag != nil && field != nil && tag.Cases == n && field.Cases == n {
			delete(bySlice, pair[0])
		}
	}
}

func missingSide(a, b attempts) string {
	switch {
	case a.judged == 0 && b.judged == 0:
		return "both"
	case a.judged == 0:
		return "baseline"
	}
	return "candidate"
}

func kindRank(kind string) int {
	return slices.Index([]string{NewlyFailing, LessOften, NewlyPassing, MoreOften, BothFail, BothPass}, kind)
}

func changeOf(id string, a, b attempts) CaseChange {
	before, after := a.share(), b.share()
	c := CaseChange{
		Case: id, BaselinePasses: int(a.passes), BaselineN: int(a.judged),
		CandidatePasses: int(b.passes), CandidateN: int(b.judged),
	}
	switch {
	case before >= 0.5 && after < 0.5:
		c.Kind = NewlyFailing
	case before < 0.5 && after >= 0.5:
		c.Kind = NewlyPassing
	case after < before:
		c.Kind = LessOften
	case after > before:
		c.Kind = MoreOften
	case after < 0.5:
		c.Kind = BothFail
	default:
		c.Kind = BothPass
	}
	mixed := func(x attempts) bool { return x.passes > 0 && x.passes < x.judged }
	if mixed(a) || mixed(b) {
		c.Stability = "flaky"
	}
	return c
}

// lostOf is the share of lost attempts at a case, of both sides together; -1 where the case was
// left out on purpose.
func lostOf(a, b attempts, metric string) float64 {
	planned := func(x attempts) bool { return x.judged+x.errors+x.lost > 0 }
	if !planned(a) && !planned(b) {
		return -1
	}
	return min(1, a.lostShare(metric)+b.lostShare(metric))
}

// lose counts a planned case with the given share of lost attempts. On a nil Difference it does
// nothing.
func (d *Difference) lose(share float64) {
	if d == nil || share < 0 {
		return
	}
	d.Planned++
	if share > 0 {
		d.Lost++
		d.LostWeight += share
	}
}

// add adds one case judged on both sides.
func (d *Difference) add(a, b attempts) {
	before, after := a.share(), b.share()
	d.pair(a.moment(), b.moment())
	switch {
	case before >= 0.5 && after < 0.5:
		d.NewlyFailing++
	case before < 0.5 && after >= 0.5:
		d.NewlyPassing++
	}
}

// pair adds one case. Both sides have values, except for a rate of calls.
func (d *Difference) pair(a, b moment) {
	d.Cases++
	before, after := a.mean(), b.mean()
	d.differences = append(d.differences, after-before)
	if d.suite {
		d.sides = append(d.sides, attemptsOfCase{a, b})
	}
	switch {
	case after < before:
		d.Fell++
	case after > before:
		d.Rose++
	}
	switch {
	case d.relative:
		d.amounts.pair(a, b)
		return
	case d.counted:
		d.most = max(d.most, before, after)
		d.countBefore.Add(a.sum, float64(a.n), a.sum == 0)
		d.countNow.Add(b.sum, float64(b.n), b.sum == 0)
		return
	}
	d.baseSums.AddAttempts(a.sum, a.n, !a.fractional, a.attempts())
	d.candidateSums.AddAttempts(b.sum, b.n, !b.fractional, b.attempts())
	d.single = d.single && a.n == 1 && b.n == 1 && !a.fractional && !b.fractional
	switch was, is := before == 1, after == 1; {
	case was && is:
		d.pairs.Both++
	case is:
		d.pairs.CandidateOnly++
	case was:
		d.pairs.BaselineOnly++
	default:
		d.pairs.Neither++
	}
}

func (d *Difference) finish(conf float64) {
	switch {
	case d.relative:
		d.finishRelative(conf)
	case d.counted:
		d.finishCounts(conf)
	case len(d.byCall) > 0 && !d.single:
		d.finishByCall(conf)
	case d.single:
		d.Change, d.Test = stats.Newcombe(d.pairs, conf), "mcnemar_midp"
		d.widen(conf)
		d.P = stats.McNemar(d.pairs.BaselineOnly, d.pairs.CandidateOnly)
	default:
		d.Change, d.P = stats.PairedSkewed(d.differences, conf)
		d.Change.Lower, d.Change.Upper = max(-1, d.Change.Lower), min(1, d.Change.Upper)
		d.guard(conf)
		d.test()
	}
	if !d.relative && !d.counted {
		d.Baseline = d.baseSums.Interval(conf, stats.DefaultRho0)
		d.Candidate = d.candidateSums.Interval(conf, stats.DefaultRho0)
	}
	if d.suite {
		d.finishSuite(conf)
	}
	d.differences, d.byCall, d.sides = nil, nil, nil
	d.Verdict = d.judge()
}

// test names the test of the mean difference, which is exact below 15 cases.
func (d *Difference) test() {
	d.Test = "paired_t"
	if len(d.differences) < 15 {
		if p, ok := stats.SignFlip(d.differences); ok {
			d.P, d.Test = p, "sign_flip"
		}
	}
}

// finishRelative computes how much more or less the candidate takes: the ratio of the case means,
// minus 1. The p value is that of the mean difference.
func (d *Difference) finishRelative(conf float64) {
	_, d.P = stats.PairedMean(d.differences, conf)
	d.test()
	d.Baseline, d.Candidate = notNegative(d.before.Interval(conf)), notNegative(d.after.Interval(conf))
	d.Change = d.ratio.Interval(conf)
	d.Change.Method = "paired_ratio_skewed_t"
	c := &d.Change
	if c.Defined() && d.Fell+d.Rose == 0 && d.Cases > 1 { // nothing changed
		c.Lower, c.Upper, c.Status = c.Point, c.Point, stats.StatusCapped
	}
	c.Point, c.Lower, c.Upper = c.Point-1, max(-1, c.Lower-1), c.Upper-1
	if c.Usable() && d.Fell+d.Rose < fewUnlike {
		_, base := d.ratio.Totals()
		d.bound(conf, d.largest()*float64(d.Cases)/base)
		c.Status = stats.StatusCapped
	}
}

// largest is the largest change of a case; for amounts the largest amount where no case changed.
func (d *Difference) largest() float64 {
	most := 0.0
	for _, x := range d.differences {
		most = max(most, math.Abs(x))
	}
	if most == 0 {
		most = d.most
	}
	return most
}

// weighsCases reports whether the change of a rate differs from the difference of the two rates,
// because cases have different numbers of attempts.
func (d *Difference) weighsCases() bool {
	plain := d.Unpaired == nil && d.Change.Defined() && d.Baseline.Defined() && d.Candidate.Defined()
	return plain && math.Abs(d.Change.Point-(d.Candidate.Point-d.Baseline.Point)) > 1e-9
}

// judge never calls a difference clear if fewer than two cases show it: a mean without variance
// over a few cases proves nothing.
func (d *Difference) judge() Change {
	switch {
	case d.Cases == 0:
		return ChangeNone
	case !d.Change.Usable() || d.P >= 1-d.Change.Confidence:
		return ChangeUnclear
	case d.Change.Lower > 0:
		return ChangeBetter
	case d.Change.Upper < 0:
		return ChangeWorse
	}
	return ChangeUnclear
}

// minTagCases is the least number of compared cases of a tag that is shown, as in the tables of a
// run.
const minTagCases = 5

// finishSlices orders the slices and adjusts their p values together. Values that
// every compared case has repeat the overall difference and are left out.
func finishSlices(m map[sliceID]*Difference, by []string, total int, conf float64) []Difference {
	var out []Difference
	for _, d := range m {
		if d.Cases == 0 || d.Cases == total || (d.Key == "tag" && d.Cases < minTagCases) {
			continue
		}
		d.finish(conf)
		out = append(out, *d)
	}
	rank := func(key string) int {
		if r := slices.Index(by, key); r >= 0 {
			return r
		}
		return len(by)
	}
	slices.SortFunc(out, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(rank(a.Key), rank(b.Key)), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	adjustSlices(out)
	return out
}
