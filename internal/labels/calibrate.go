// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/agree"
	"github.com/callvet/callvet/stats/judge"
	"github.com/callvet/callvet/stats/tally"
)

// Table counts things by what people and the judge said of them.
type Table struct {
	TruePass  int `json:"tp" form:"min=0"` // both pass
	FalseFail int `json:"fn" form:"min=0"` // people pass, the judge fails
	TrueFail  int `json:"tn" form:"min=0"`
	FalsePass int `json:"fp" form:"min=0"`
}

// N is the number of things.
func (t Table) N() int { return t.TruePass + t.FalseFail + t.TrueFail + t.FalsePass }

// Calibration is the table as the estimators take it.
func (t Table) Calibration() judge.Calibration {
	return judge.Calibration{
		TruePositive: t.TruePass, LabelledPass: t.TruePass + t.FalseFail, TrueNegative: t.TrueFail, LabelledFail: t.TrueFail + t.FalsePass,
	}
}

func (t *Table) add(p pair) {
	switch {
	case p.truth && p.judged:
		t.TruePass++
	case p.truth:
		t.FalseFail++
	case p.judged:
		t.FalsePass++
	default:
		t.TrueFail++
	}
}

// without is the table of what is in t and not in part, which is one of t.
func (t Table) without(part Table) Table {
	return Table{t.TruePass - part.TruePass, t.FalseFail - part.FalseFail, t.TrueFail - part.TrueFail, t.FalsePass - part.FalsePass}
}

func tableOf(ps []pair) (t Table) {
	for _, p := range ps {
		t.add(p)
	}
	return t
}

// Report is what labels say of a judge, and with a run of its true success.
type Report struct {
	Judge      Judge   `json:"judge"`
	ID         string  `json:"judge_id"`
	Unit       Unit    `json:"unit"`
	Confidence float64 `json:"confidence"`
	Counts     Counts  `json:"counts"`
	// Table holds the calibration labels that were not drawn by verdict. Its
	// Accuracy is the agreement with people, in [0,1].
	Table       Table          `json:"table"`
	Sensitivity stats.Interval `json:"sensitivity"`
	Specificity stats.Interval `json:"specificity"`
	Youden      stats.Interval `json:"youden"`
	Accuracy    stats.Interval `json:"accuracy"`
	// PPV and NPV are of all calibration labels: shares among judge-passes that
	// truly passed and among judge-fails that truly failed.
	PPV stats.Interval `json:"ppv"`
	NPV stats.Interval `json:"npv"`
	// Kappa and AC1 are in [-1,1]; MCC is nil where one side never varies.
	Kappa stats.Interval `json:"kappa"`
	AC1   stats.Interval `json:"ac1"`
	MCC   *float64       `json:"mcc"`
	// Usable tells whether a gate may rest on the calibration; Why says it.
	Usable bool   `json:"usable"`
	Why    string `json:"why"`
	// Verified is there when labels were drawn by verdict.
	Verified *Verified   `json:"verified,omitempty"`
	Scores   *Scores     `json:"scores,omitempty"`
	Ratings  *Ratings    `json:"ratings,omitempty"`
	Calls    *CallByTask `json:"calls,omitempty"`
	Humans   *Humans     `json:"humans,omitempty"`
	Check    *Check      `json:"check,omitempty"`
	Success  []Success   `json:"success,omitempty"`
	// Slices is there when BySlice was asked.
	Slices   *SliceReport `json:"slices,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`

	strata []StratumTable
}

// Verified is sensitivity and specificity of labels drawn by verdict, corrected
// with the sizes of the frame. Nil where they are not defined; Status says why.
type Verified struct {
	Labels      int          `json:"labels"`
	Sensitivity *float64     `json:"sensitivity"`
	Specificity *float64     `json:"specificity"`
	Status      stats.Status `json:"status"`
	strata      judge.Strata
}

// Check is what held-out labels say: the drift test against the calibration.
type Check struct {
	Table       Table          `json:"table"`
	Sensitivity stats.Interval `json:"sensitivity"`
	Specificity stats.Interval `json:"specificity"`
	// PSensitivity and PSpecificity are exact p values of no change, PHolm the
	// smaller one adjusted for both, all in [0,1].
	PSensitivity float64 `json:"p_sensitivity"`
	PSpecificity float64 `json:"p_specificity"`
	PHolm        float64 `json:"p_holm"`
	Drifted      bool    `json:"drifted"`
}

// driftLevel is the adjusted p value below which a judge has drifted.
const driftLevel = 0.05

// Calibrate holds a judge against the labels. Only calibration labels estimate;
// those of the other roles check. The error wraps callvet.ErrNotFound when there
// is no verdict of the judge, callvet.ErrInvalid when its name is not one judge's.
// Source: Evaluating Tool Calling, §6; Statistics specification, sections 4 and 5.
func Calibrate(in Input) (*Report, error) {
	if in.Unit == "" {
		in.Unit = Task
	}
	if in.Confidence == 0 {
		in.Confidence = 0.95
	}
	j, err := newJoin(in)
	if err != nil {
		return nil, err
	}
	r := &Report{Judge: j.judge, ID: j.judge.ID(), Unit: in.Unit, Confidence: in.Confidence, Counts: j.Counts}
	drawn := slices.DeleteFunc(slices.Clone(j.fit), byVerdict)
	r.Table = tableOf(drawn)
	r.strata = strataOf(j.fit)
	r.rates(drawn, j.fit)
	r.agreement(drawn)
	r.verify(j.fit)
	r.scores(drawn)
	r.ratings(drawn, in)
	r.humans(in)
	if err := r.check(slices.DeleteFunc(slices.Clone(j.out), byVerdict)); err != nil {
		return nil, err
	}
	r.judgeUse()
	r.warn()
	r.success(in, j)
	return r, nil
}

func byVerdict(p pair) bool { return p.stratum == JudgePass || p.stratum == JudgeFail }

// rates are exact for tasks; calls of one task are alike and count by task.
func (r *Report) rates(drawn, all []pair) {
	rate := func(ps []pair, of, yes func(pair) bool) stats.Interval {
		return rateOf(ps, r.Unit, r.Confidence, of, yes)
	}
	truth, judged := func(p pair) bool { return p.truth }, func(p pair) bool { return p.judged }
	same := func(p pair) bool { return p.truth == p.judged }
	r.Sensitivity = rate(drawn, truth, same)
	r.Specificity = rate(drawn, not(truth), same)
	r.Accuracy = rate(drawn, func(pair) bool { return true }, same)
	r.PPV, r.NPV = rate(all, judged, same), rate(all, not(judged), same)
	r.Youden = r.Table.Calibration().Youden(r.Confidence)
	if r.Unit == Call {
		y := stats.Combine([]float64{1, 1}, []stats.Interval{r.Sensitivity, r.Specificity})
		y.Point, y.Lower, y.Upper, y.Confidence = y.Point-1, max(-1, y.Lower-1), min(1, y.Upper-1), r.Confidence
		r.Youden = y
	}
}

func not(f func(pair) bool) func(pair) bool { return func(p pair) bool { return !f(p) } }

func rateOf(ps []pair, unit Unit, conf float64, of, yes func(pair) bool) stats.Interval {
	type sums struct{ yes, n int }
	by, total := map[Key]*sums{}, sums{}
	var order []Key
	for _, p := range ps {
		if !of(p) {
			continue
		}
		k := Key{Target: p.Target, TaskID: p.TaskID}
		if by[k] == nil {
			by[k] = &sums{}
			order = append(order, k)
		}
		by[k].n++
		total.n++
		if yes(p) {
			by[k].yes++
			total.yes++
		}
	}
	if unit == Task {
		return stats.ClopperPearson(total.yes, total.n, conf, stats.TwoSided)
	}
	var c stats.Clusters
	for _, k := range order {
		c.Add(float64(by[k].yes), by[k].n, true)
	}
	return c.Interval(conf, stats.DefaultRho0)
}

func (r *Report) agreement(ps []pair) {
	t := agree.Table{{r.Table.TrueFail, r.Table.FalsePass}, {r.Table.FalseFail, r.Table.TruePass}}
	r.Kappa = asInterval(agree.Kappa(t, agree.Unweighted, r.Confidence), "cohen_kappa", r.Confidence)
	r.AC1 = asInterval(agree.AC1(t, r.Confidence), "gwet_ac1", r.Confidence)
	var people, judges []string
	for _, p := range ps {
		people, judges = append(people, word(p.truth)), append(judges, word(p.judged))
	}
	if c, ok := tally.Confuse(people, judges); ok && r.Kappa.Status == stats.StatusOK {
		r.MCC = &c.MCC
	}
}

func word(pass bool) string {
	if pass {
		return "pass"
	}
	return "fail"
}

func asInterval(a agree.Agreement, method string, conf float64) stats.Interval {
	iv := stats.Interval{
		Point: a.Point, Lower: a.Lower, Upper: a.Upper, SE: a.SE, N: a.N, Clusters: a.N, Confidence: conf, Method: method, Status: a.Status,
	}
	if math.IsNaN(iv.SE) {
		iv.SE = 0
	}
	if math.IsNaN(iv.Lower) || math.IsNaN(iv.Upper) {
		iv.Lower, iv.Upper = -1, 1
	}
	return iv
}

// verify corrects labels drawn by verdict, where all of them come from one frame.
func (r *Report) verify(ps []pair) {
	var s judge.Strata
	var frame *Frame
	v, one := &Verified{}, true
	for _, p := range ps {
		if p.frame == nil {
			continue
		}
		if frame == nil {
			frame = p.frame
		}
		one = one && *frame == *p.frame
		addStratum(&s, p)
	}
	for _, p := range ps {
		if byVerdict(p) {
			v.Labels++
		}
	}
	if v.Labels == 0 {
		return
	}
	r.Verified = v
	switch {
	case frame == nil:
		v.Status = "frame_not_recorded"
	case !one:
		v.Status = "several_frames"
	default:
		s.JudgePass, s.N = frame.JudgePass, frame.JudgePass+frame.JudgeFail
		v.strata = s
		g := judge.BeggGreenes(s)
		v.Status = g.Status
		v.Sensitivity, v.Specificity = defined(g.Sensitivity), defined(g.Specificity)
	}
}

func addStratum(s *judge.Strata, p pair) {
	switch {
	case p.judged && p.truth:
		s.LabelledPass, s.TruePassInPass = s.LabelledPass+1, s.TruePassInPass+1
	case p.judged:
		s.LabelledPass++
	case p.truth:
		s.LabelledFail, s.TruePassInFail = s.LabelledFail+1, s.TruePassInFail+1
	default:
		s.LabelledFail++
	}
}

func defined(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

func (r *Report) check(ps []pair) error {
	if len(ps) == 0 {
		return nil
	}
	c := &Check{Table: tableOf(ps)}
	fresh := c.Table.Calibration()
	c.Sensitivity, c.Specificity = fresh.Sensitivity(r.Confidence), fresh.Specificity(r.Confidence)
	d, err := judge.FindDrift(r.Table.Calibration(), fresh)
	if err != nil {
		return fmt.Errorf("compare with held-out labels: %w", err)
	}
	c.PSensitivity, c.PSpecificity, c.PHolm, c.Drifted = d.PSensitivity, d.PSpecificity, d.PHolm, d.PHolm < driftLevel
	r.Check = c
	return nil
}

// judgeUse says whether a gate may rest on the judge, and why.
func (r *Report) judgeUse() {
	c := r.Table.Calibration()
	r.Usable = c.Usable(r.Confidence)
	if r.Unit == Call { // the exact intervals of the table take calls as independent
		r.Usable = r.Usable && r.Youden.Usable() && r.Youden.Lower > 0.3
	}
	switch {
	case r.Table.N() == 0 && r.Verified != nil:
		r.Why = "all labels were drawn by the judge's verdict: they serve true success of their own run, not a calibration for another; label tasks drawn at random for that"
	case r.Table.N() == 0:
		r.Why = "no calibration label stands beside a verdict of this judge"
	case c.LabelledPass < judge.MinLabels || c.LabelledFail < judge.MinLabels:
		r.Why = fmt.Sprintf("%d labelled passes and %d labelled fails: at least %d of each are needed", c.LabelledPass, c.LabelledFail, judge.MinLabels)
	case r.Youden.Point <= 0:
		r.Why = fmt.Sprintf("the judge is no better than chance: J = %.3f", r.Youden.Point)
	case !r.Usable:
		r.Why = fmt.Sprintf("J is only known to be above %.3f: a gate needs more than 0.3", r.Youden.Lower)
	default:
		r.Why = fmt.Sprintf("J is above %.3f and each class has at least %d labels", r.Youden.Lower, judge.MinLabels)
	}
	if r.Check != nil && r.Check.Drifted {
		r.Usable = false
		r.Why = fmt.Sprintf("held-out labels contradict the calibration (p = %.2g): the judge or the tasks have changed", r.Check.PHolm)
	}
}

func (r *Report) warn() {
	say := func(n int, format string, args ...any) {
		if n > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
		}
	}
	c := r.Counts
	say(c.OtherJudge, "%d labelled %ss have only verdicts of another judge of that name (%s differs): no calibration made with them applies",
		c.OtherJudge, r.Unit, strings.Join(c.Differs, ", "))
	say(c.RatedOnly, "%d labelled %ss are left out: they have a rating and no pass or fail", c.RatedOnly, r.Unit)
	say(c.Disputed, "%d labelled %ss are left out: people disagree and nobody decided", c.Disputed, r.Unit)
	say(c.Unjudged, "%d labelled %ss are left out: there is no verdict of the judge that can be read", c.Unjudged, r.Unit)
	say(c.Changed, "%d labels contradict an earlier one of the same person: the later counts", c.Changed)
	say(c.Leaked, "%d %ss are labelled both for calibration and for a check: they cannot check", c.Leaked, r.Unit)
	say(c.Unrecorded, "for %d labels nobody recorded how the %ss were drawn: they are taken as drawn at random", c.Unrecorded, r.Unit)
	if c.ByVerdict > 0 && r.Table.N() > 0 {
		say(1, "%d labels drawn by the judge's verdict are left out of sensitivity and specificity", c.ByVerdict)
	}
}
