// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

// QueueDesign is the source of the labels for a true success.
type QueueDesign string

// The designs.
const (
	// Internal: labels on tasks of this run.
	Internal QueueDesign = "internal"
	// Transport: sensitivity and specificity from labels elsewhere.
	Transport QueueDesign = "transport"
)

// Success is the judged and the true success of one target.
type Success struct {
	Target string `json:"target,omitempty"`
	// Judged counts attempts at Tasks tasks; Unread of them have no readable verdict, and do not
	// count.
	Tasks  int `json:"tasks"`
	Judged int `json:"judged"`
	Unread int `json:"unread"`
	// Raw is the judged share.
	Raw    stats.Interval `json:"raw"`
	Design QueueDesign    `json:"design"`
	// Labels is the number of labels behind the estimate.
	Labels int `json:"labels"`
	// True counts the labels and their tasks.
	True stats.Interval `json:"true"`
	// Refused is a sentence with the reason for a missing estimate; "" if there is one.
	Refused string `json:"refused,omitempty"`
	// Advice is what to do about it; "" for nothing.
	Advice string `json:"advice,omitempty"`
	// Lost are drawn outputs without a usable label; nil where no label has its draw.
	Lost *LostLabels `json:"lost_labels,omitempty"`
	// Scored is the estimate that uses the judge's scores, where labels were drawn
	// at random from this run and each judged thing has a score in [0,1].
	Scored *stats.Interval `json:"scored,omitempty"`

	verdicts []Judgement
}

// carried sets the number of labels of the estimate: labels ps on outputs of the run, and other
// labels up to the number of tasks of the run.
func (s Success) carried(ps []pair) Success {
	tasks := min(s.Labels, s.Tasks)
	if s.Design == Internal {
		seen := map[string]bool{}
		for i := range ps {
			seen[ps[i].TaskID] = true
		}
		tasks = len(seen)
	}
	s.True = judge.Carried(s.True, s.Labels, tasks)
	return s
}

// Range is JudgedRange of the verdicts behind Raw.
func (s *Success) Range(lost, attempts int) (low, high stats.Interval, n int) {
	return JudgedRange(s.verdicts, lost, attempts, s.Raw.Confidence)
}

// TrueSuccess estimates the share of true passes from a calibration with other labels. judged is
// clustered by task. If there is no estimate, it returns the reason.
func TrueSuccess(judged stats.Interval, c judge.Calibration, unit Unit,
	conf float64,
) (iv stats.Interval, refused string) {
	iv = judge.TrueSuccess(judged, c, conf)
	return iv, Reason(iv.Status, c, unit)
}

// Reason is a sentence with the reason for a missing true success; "" for a status that is not a
// refusal.
func Reason(s stats.Status, c judge.Calibration, unit Unit) string {
	j := float64(c.TruePositive)/float64(c.LabelledPass) + float64(c.TrueNegative)/float64(c.LabelledFail) - 1
	switch s {
	case judge.NotInformative:
		return fmt.Sprintf(
			"the judge is no better than chance (J = sensitivity + specificity - 1 = %.3f): its verdicts say nothing about true success", j)
	case judge.NoLabelledPass:
		return fmt.Sprintf("no labelled %s truly passed: the judge's sensitivity is not known", unit)
	case judge.NoLabelledFail:
		return fmt.Sprintf("no labelled %s truly failed: the judge's specificity is not known", unit)
	case judge.Mismatch:
		return fmt.Sprintf(
			"the judged rate is impossible for a judge with this sensitivity and specificity: the judge or the %ss "+
				"have changed since the calibration", unit)
	case judge.MissingStratum:
		return fmt.Sprintf("one of the judge's verdicts has no label among the %ss of this run", unit)
	case judge.TooFewUnits:
		few := fmt.Sprintf(
			"too few labels: a calibration needs %d true passes and %d true fails, labels of this run %d for each "+
				"verdict", judge.MinLabels, judge.MinLabels, judge.MinStratum)
		if c.PassWorth > 0 && c.PassWorth < float64(c.LabelledPass) || c.FailWorth > 0 &&
			c.FailWorth < float64(c.LabelledFail) {
			few += "; it has " + tooFew(c)
		}
		return few
	case stats.StatusNoData:
		return "nothing was judged"
	case stats.StatusInvalid:
		return "the counts are impossible"
	case stats.StatusSingleCluster:
		return "only one task was judged"
	}
	return ""
}

// success estimates each target of the run.
func (r *CalibrationReport) success(in CalibrationInput, j *join) {
	targets := map[string][]Judgement{}
	for _, v := range in.Run {
		if v.ID() == r.ID && (v.Unit == in.Unit || v.Unit == "" && in.Unit == Task) {
			targets[v.Target] = append(targets[v.Target], v)
		}
	}
	for name, vs := range targets {
		inside := insideRun(j.fit, name)
		r.Success = append(r.Success, r.wholeDraws(r.oneSuccess(name, vs, inside, j), j).carried(inside))
	}
	slices.SortFunc(r.Success, func(a, b Success) int { return cmp.Compare(a.Target, b.Target) })
}

func (r *CalibrationReport) oneSuccess(target string, vs []Judgement, inside []pair, j *join) Success {
	out := Success{Target: target, verdicts: vs}
	out.Raw, out.Tasks, out.Judged, out.Unread = JudgedRate(vs, r.Confidence)
	if j.again.drifted() {
		return r.drifted(out, inside, j.again)
	}
	own := j.inside(inside, vs, withJudge{r})
	elsewhere := r.elsewhere()
	moved, refused := TrueSuccess(out.Raw, elsewhere, r.Unit, r.Confidence)
	if len(inside) > 0 && (own.divided || own.iv.Usable() || !moved.Usable()) {
		out.Design, out.Labels, out.True = Internal, len(inside), own.iv
		if !own.iv.Usable() {
			out.Refused, out.Advice = own.refused, own.advice
		}
		if out.Refused == "" && r.Youden.Defined() && r.Youden.Point <= 0 {
			out.Advice = fmt.Sprintf(
				"the judge is no better than chance (J = %.3f): the number rests on the labels alone", r.Youden.Point)
		}
		if !own.divided {
			out.Scored = r.powered(inside, vs)
		}
		return out
	}
	out.Design, out.Labels, out.True, out.Refused = Transport, r.carriers(), moved, refused
	if refused != "" {
		if r.Table.N() == 0 && r.Verified != nil && r.Verified.Status != stats.StatusOK {
			out.Refused = "the labels were made elsewhere and drawn by the judge's verdict, and from how many is " +
				"not known of all alike: nothing can be moved from them"
		}
		out.Advice = r.moreLabels(out.Raw, judge.Strata{})
		if n := r.Counts.Elsewhere; n > 0 {
			out.Refused = fmt.Sprintf(
				"%d labelled %ss are of other outputs than those of this run, or have no fingerprint, and can only "+
					"be moved to it: %s", n, r.Unit, out.Refused)
			out.Advice += "; callvet label stamp adopts labels that were given on these very outputs"
		}
		return out
	}
	if n := equivalentLabels(moved, out.Labels, r.Confidence); n > 0 {
		out.Advice = fmt.Sprintf(
			"your judge adds nothing with %d %ss and %d labels made elsewhere: label %d %ss of this run at random "+
				"instead", r.things(&out), r.Unit, out.Labels, n, r.Unit)
	}
	return out
}

// wholeDraws refuses an estimate from draws with too many lost labels.
func (r *CalibrationReport) wholeDraws(out Success, j *join) Success {
	out.Lost = j.lost(out.Design == Internal)
	if why := out.Lost.fault(); why != "" && out.True.Status != judge.Drifted {
		out.Scored, out.Refused, out.Advice = nil, why, lostAdvice
		out.True = r.none(judge.LostLabels)
	}
	return out
}

// none is an interval that excludes nothing.
func (r *CalibrationReport) none(why stats.Status) stats.Interval {
	return stats.Interval{Upper: 1, Confidence: r.Confidence, Method: "poststratified_jeffreys", Status: why}
}

// drifted refuses an estimate if the judge's earlier and present verdicts differ too much: they
// count as verdicts of two judges.
func (r *CalibrationReport) drifted(out Success, inside []pair, t rejudged) Success {
	out.Design, out.Labels = Transport, r.carriers()
	if len(inside) > 0 {
		out.Design, out.Labels = Internal, len(inside)
	}
	out.True = r.none(judge.Drifted)
	out.Refused = fmt.Sprintf(
		"the judge said something else of %d of %d outputs that are the same: labels of its earlier verdicts do not "+
			"apply to these", t.Changed, t.N)
	out.Advice = r.moreLabels(out.Raw, judge.Strata{})
	return out
}

// elsewhere is the judge's calibration by other labels. Labels sampled by its verdict are used
// only if there are no others, and are corrected with their frame.
func (r *CalibrationReport) elsewhere() judge.Calibration {
	if r.Table.N() > 0 || r.Verified == nil || r.Verified.Status != stats.StatusOK {
		return r.calibration()
	}
	return judge.VerifiedCalibration(r.Verified.strata)
}

// carriers is the number of labels behind elsewhere.
func (r *CalibrationReport) carriers() int {
	if r.Table.N() == 0 && r.Verified != nil && r.Verified.Status == stats.StatusOK {
		return r.Verified.Labels
	}
	return r.Table.N()
}

// JudgedRate is the share of passes among verdicts, clustered by task, with the numbers of tasks,
// of readable and of unreadable verdicts.
func JudgedRate(vs []Judgement, conf float64) (iv stats.Interval, tasks, judged, unread int) {
	by := byTask{}
	for i := range vs {
		pass, known := vs[i].Passed()
		if !known {
			unread++
			continue
		}
		by.add(vs[i].Key, pass)
		judged++
	}
	c := by.clusters()
	return c.Interval(conf, stats.DefaultRho0), len(by), judged, unread
}

// JudgedRange is JudgedRate with every missing verdict as a fail, and as a pass. That includes
// unreadable verdicts and lost attempts; each lost attempt is a task with the average number of
// things. n is the number of added things. Source: Statistics specification, section 16.2.
func JudgedRange(vs []Judgement, lost, attempts int, conf float64) (low, high stats.Interval, n int) {
	mean := float64(len(vs)) / float64(max(1, attempts))
	each, times := int(math.Round(mean)), lost
	if mean < 1 {
		each, times = 1, int(math.Ceil(float64(lost)*mean))
	}
	for _, pass := range []bool{false, true} {
		by := byTask{}
		n = each * times
		for i := range vs {
			passed, known := vs[i].Passed()
			if !known {
				passed = pass
				n++
			}
			by.add(vs[i].Key, passed)
		}
		c := by.clusters()
		for range times {
			c.Add(float64(each)*asNumber(pass), each, true)
		}
		low, high = high, c.Interval(conf, stats.DefaultRho0)
	}
	return low, high, n
}

// insideRun returns one labelled attempt for each task of the run: attempts at a task are
// correlated, and several would count too much.
func insideRun(ps []pair, target string) []pair {
	var out []pair
	seen := map[string]bool{}
	for _, p := range ps {
		of := slices.DeleteFunc(slices.Clone(p.run), func(v Judgement) bool { return v.Target != target })
		if len(of) == 0 || !p.Unit.Part() && seen[p.TaskID] {
			continue
		}
		judged := readable(of)
		pass, known := judged.Passed()
		if !known {
			continue
		}
		p.judged, p.score = pass, judged.Score
		seen[p.TaskID] = true
		out = append(out, p)
	}
	return out
}

// strataFor counts labels by verdict among the effective number of tasks of the run.
func strataFor(ps []pair, raw stats.Interval) judge.Strata {
	var s judge.Strata
	for _, p := range ps {
		addStratum(&s, p)
	}
	if len(ps) > 0 && ps[0].Unit.Part() { // things of one task are correlated
		s = independent(s, ps, raw.Confidence)
	}
	if !raw.Defined() {
		return s
	}
	e := judge.Effective(raw)
	s.N = int(math.Round(e.N))
	s.JudgePass = int(math.Round(e.Pass))
	// Labelled things are judged: rounding must not change this.
	s.JudgePass = max(s.JudgePass, s.LabelledPass)
	s.N = max(s.N, s.JudgePass+s.LabelledFail)
	return s
}

// independent are strata with the effective numbers of labels.
func independent(s judge.Strata, ps []pair, conf float64) judge.Strata {
	shrink := func(n, yes *int, class func(pair) bool) {
		if worth := int(worth(ps, conf, class, truly)); *n > 0 && worth < *n {
			*yes = int(math.Round(float64(*yes*worth) / float64(*n)))
			*n = worth
		}
	}
	shrink(&s.LabelledPass, &s.TruePassInPass, judged)
	shrink(&s.LabelledFail, &s.TruePassInFail, not(judged))
	return s
}

// things is the number of things of the estimate.
func (r *CalibrationReport) things(s *Success) int {
	if r.Unit.Part() {
		return s.Judged
	}
	return s.Tasks
}

// equivalentLabels is the number of labels that would give an interval as narrow as iv without a
// judge; 0 when this is more than were made.
func equivalentLabels(iv stats.Interval, spent int, conf float64) int {
	if !iv.Usable() {
		return 0
	}
	width := func(n int) float64 {
		a := stats.ClopperPearson(int(math.Round(iv.Point*float64(n))), n, conf, stats.TwoSided)
		return a.Upper - a.Lower
	}
	if spent == 0 || width(spent) > iv.Upper-iv.Lower {
		return 0
	}
	for n := 1; n < spent; n++ {
		if width(n) <= iv.Upper-iv.Lower {
			return n
		}
	}
	return spent
}

// moreLabels is advice about the tasks of this run to label.
func (r *CalibrationReport) moreLabels(raw stats.Interval, have judge.Strata) string {
	if !raw.Defined() {
		return ""
	}
	fails := raw.N - int(math.Round(raw.Point*float64(raw.N)))
	pass := min(raw.N-fails, max(0, wantStratum-have.LabelledPass))
	fail := min(fails, max(0, wantStratum-have.LabelledFail))
	next := "callvet label next --strategy neyman"
	if r.Unit.Part() {
		next += " --unit " + string(r.Unit)
	}
	return fmt.Sprintf("label %d %ss of this run (%d that the judge passed, %d that it failed): %s", pass+fail, r.Unit,
		pass, fail, next)
}

// wantStratum is how many labels a verdict should have for a first estimate.
const wantStratum = 20

// powered uses scores, where all things of the run have one and the labels are random.
func (r *CalibrationReport) powered(inside []pair, vs []Judgement) *stats.Interval {
	if r.Unit.Part() {
		return nil // calls or turns of one task are not independent
	}
	var truth, scored, rest []float64
	seen := map[string]bool{} // one attempt a task counts, labelled or not
	for _, p := range inside {
		if p.stratum != Random || p.score == nil {
			return nil
		}
		seen[p.TaskID] = true
		truth, scored = append(truth, asNumber(p.truth)), append(scored, *p.score)
	}
	for _, v := range vs {
		if v.Score == nil {
			return nil
		}
		if !seen[v.TaskID] {
			seen[v.TaskID] = true
			rest = append(rest, *v.Score)
		}
	}
	if len(categories(append(slices.Clone(scored), rest...))) < 3 {
		return nil
	}
	p := judge.PPI(truth, scored, rest, judge.Tuned, r.Confidence)
	if p.Status != stats.StatusOK {
		return nil
	}
	iv := stats.Interval{
		Point: p.Point, Lower: p.Lower, Upper: p.Upper, N: len(truth) + len(rest), Clusters: len(truth),
		Confidence: r.Confidence, Method: "ppi++", Status: p.Status,
	}
	if p.Few {
		iv.Status = judge.TooFewUnits
	}
	return &iv
}

func asNumber(pass bool) float64 {
	if pass {
		return 1
	}
	return 0
}
