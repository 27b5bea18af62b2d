// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

// AgreementTable counts things by the verdicts of people and the judge.
type AgreementTable struct {
	TruePass  int `json:"tp" form:"min=0"` // both pass
	FalseFail int `json:"fn" form:"min=0"` // people pass, the judge fails
	TrueFail  int `json:"tn" form:"min=0"`
	FalsePass int `json:"fp" form:"min=0"`
}

// N is the number of things.
func (t AgreementTable) N() int { return t.TruePass + t.FalseFail + t.TrueFail + t.FalsePass }

// Worth is the effective number of independent labels of each true class: it is smaller if several
// attempts or calls of one task are labelled. 0 means all of them.
type Worth struct {
	Pass float64 `json:"pass" form:"min=0"`
	Fail float64 `json:"fail" form:"min=0"`
}

// Calibration is the table in the form of the estimators.
func (t AgreementTable) Calibration(w Worth) judge.Calibration {
	return judge.Calibration{
		TruePositive: t.TruePass, LabelledPass: t.TruePass + t.FalseFail, TrueNegative: t.TrueFail,
		LabelledFail: t.TrueFail + t.FalsePass,
		PassWorth:    w.Pass, FailWorth: w.Fail,
	}
}

// worthOf is Worth of labelled things: the effective sample size of the rate at which the judge
// is right.
func worthOf(ps []pair, conf float64) Worth {
	return Worth{Pass: worth(ps, conf, truly, right), Fail: worth(ps, conf, not(truly), right)}
}

// worth is the effective sample size of the rate of yes among the things of a class.
func worth(ps []pair, conf float64, class, yes func(pair) bool) float64 {
	switch iv := rateOf(ps, conf, class, yes); {
	case iv.N == 0:
		return 0
	case iv.NEff > 0:
		return iv.NEff
	}
	return 1 // all of one task
}

func truly(p pair) bool  { return p.truth }
func right(p pair) bool  { return p.truth == p.judged }
func judged(p pair) bool { return p.judged }

func (t *AgreementTable) add(p pair) {
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

// without is the table of the things in t that are not in part, a part of t.
func (t AgreementTable) without(part AgreementTable) AgreementTable {
	return AgreementTable{
		t.TruePass - part.TruePass, t.FalseFail - part.FalseFail, t.TrueFail - part.TrueFail,
		t.FalsePass - part.FalsePass,
	}
}

func tableOf(ps []pair) (t AgreementTable) {
	for _, p := range ps {
		t.add(p)
	}
	return t
}

// CalibrationReport is the result of the labels about a judge, and with a run its true success.
type CalibrationReport struct {
	Judge      Judge             `json:"judge"`
	ID         string            `json:"judge_id"`
	Unit       Unit              `json:"unit"`
	Confidence float64           `json:"confidence"`
	Counts     CalibrationCounts `json:"counts"`
	// Table contains the calibration labels that were not drawn by verdict. Its Accuracy is the
	// agreement with people, in [0,1].
	Table AgreementTable `json:"table"`
	// Worth is the effective number of independent labels in Table.
	Worth       Worth          `json:"worth"`
	Sensitivity stats.Interval `json:"sensitivity"`
	Specificity stats.Interval `json:"specificity"`
	Youden      stats.Interval `json:"youden"`
	Accuracy    stats.Interval `json:"accuracy"`
	// PPV and NPV use all calibration labels: the share of judge-passes that truly passed, and of
	// judge-fails that truly failed.
	PPV stats.Interval `json:"ppv"`
	NPV stats.Interval `json:"npv"`
	// Kappa and AC1 are in [-1,1]; MCC is nil where one side never varies.
	Kappa stats.Interval `json:"kappa"`
	AC1   stats.Interval `json:"ac1"`
	MCC   *float64       `json:"mcc"`
	// Lost are drawn outputs without a usable label; nil where no label has its draw.
	Lost *LostLabels `json:"lost_labels,omitempty"`
	// Usable: a gate may use the calibration; Why is the reason.
	Usable bool   `json:"usable"`
	Why    string `json:"why"`
	// Verified is set when labels were drawn by verdict.
	Verified *Verified         `json:"verified,omitempty"`
	Scores   *JudgeScores      `json:"scores,omitempty"`
	Ratings  *Ratings          `json:"ratings,omitempty"`
	Calls    *CallByTask       `json:"calls,omitempty"`
	Humans   *Humans           `json:"humans,omitempty"`
	Check    *CalibrationCheck `json:"check,omitempty"`
	// Drift is set with an earlier calibration, Wanted with a width.
	Drift   *JudgeDrift `json:"drift,omitempty"`
	Wanted  *Wanted     `json:"wanted,omitempty"`
	Success []Success   `json:"success,omitempty"`
	// Slices is set after BySlice.
	Slices   *SliceReport `json:"slices,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`

	strata []StratumTable
}

// Verified is sensitivity and specificity of labels sampled by verdict, corrected with the sizes of
// the frame. Nil if undefined; Status is the reason.
type Verified struct {
	Labels      int          `json:"labels"`
	Sensitivity *float64     `json:"sensitivity"`
	Specificity *float64     `json:"specificity"`
	Status      stats.Status `json:"status"`
	strata      judge.Strata
}

// CalibrationCheck is the drift test of held-out labels against the calibration.
type CalibrationCheck struct {
	Table       AgreementTable `json:"table"`
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

// Calibrate compares a judge with the labels. Only calibration labels are used for estimates; those
// of other roles are used for checks. The error wraps callvet.ErrNotFound if there is no verdict of
// the judge, callvet.ErrInvalid if several judges have its name. Source: Evaluating Tool Calling,
// §6; Statistics specification, sections 4 and 5.
func Calibrate(in CalibrationInput) (*CalibrationReport, error) {
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
	r := &CalibrationReport{
		Judge: j.judge, ID: j.judge.ID(), Unit: in.Unit, Confidence: in.Confidence,
		Counts: j.CalibrationCounts, Lost: j.lost(false),
	}
	drawn := slices.DeleteFunc(slices.Clone(j.fit), byVerdict)
	r.Table, r.Worth = tableOf(drawn), worthOf(drawn, r.Confidence)
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
	if in.Before != nil {
		if err := r.drift(in.Before, drawn); err != nil {
			return nil, err
		}
	}
	r.judgeUse()
	r.warn()
	if in.Width > 0 {
		r.want(in.Width)
	}
	r.success(in, j)
	return r, nil
}

func byVerdict(p pair) bool { return p.stratum == JudgePass || p.stratum == JudgeFail }

// calibration is the table in the form of the estimators.
func (r *CalibrationReport) calibration() judge.Calibration { return r.Table.Calibration(r.Worth) }

// rates are exact where each task has one label; attempts and calls of one task are correlated
// and count by task.
func (r *CalibrationReport) rates(drawn, all []pair) {
	rate := func(ps []pair, of, yes func(pair) bool) stats.Interval { return rateOf(ps, r.Confidence, of, yes) }
	r.Sensitivity = rate(drawn, truly, right)
	r.Specificity = rate(drawn, not(truly), right)
	r.Accuracy = rate(drawn, func(pair) bool { return true }, right)
	r.PPV, r.NPV = rate(all, judged, right), rate(all, not(judged), right)
	r.Youden = r.calibration().Youden(r.Confidence)
}

func not(f func(pair) bool) func(pair) bool { return func(p pair) bool { return !f(p) } }

func rateOf(ps []pair, conf float64, of, yes func(pair) bool) stats.Interval {
	by, k, n := byTask{}, 0, 0
	for _, p := range ps {
		if !of(p) {
			continue
		}
		is := yes(p)
		by.add(p.Key, is)
		n++
		if is {
			k++
		}
	}
	if len(by) == n {
		return stats.ClopperPearson(k, n, conf, stats.TwoSided)
	}
	c := by.clusters()
	return c.Interval(conf, stats.DefaultRho0)
}

func (r *CalibrationReport) agreement(ps []pair) {
	t := stats.RatingTable{{r.Table.TrueFail, r.Table.FalsePass}, {r.Table.FalseFail, r.Table.TruePass}}
	r.Kappa = clustered(asInterval(stats.Kappa(t, stats.Unweighted, r.Confidence), "cohen_kappa", r.Confidence),
		r.Accuracy, -1)
	r.AC1 = clustered(asInterval(stats.AC1(t, r.Confidence), "gwet_ac1", r.Confidence), r.Accuracy, -1)
	var people, judges []string
	for _, p := range ps {
		people, judges = append(people, word(p.truth)), append(judges, word(p.judged))
	}
	if c, ok := stats.Confuse(people, judges); ok && r.Kappa.Status == stats.StatusOK {
		r.MCC = &c.MCC
	}
}

func word(pass bool) string {
	if pass {
		return "pass"
	}
	return "fail"
}

func asInterval(a stats.Agreement, method string, conf float64) stats.Interval {
	iv := stats.Interval{
		Point: a.Point, Lower: a.Lower, Upper: a.Upper, SE: a.SE, N: a.N, Clusters: a.N, Confidence: conf,
		Method: method, Status: a.Status,
	}
	if math.IsNaN(iv.SE) {
		iv.SE = 0
	}
	if math.IsNaN(iv.Lower) || math.IsNaN(iv.Upper) {
		iv.Lower, iv.Upper = -1, 1
	}
	return iv
}

// clustered widens the interval of a coefficient that assumes independent things. The factor is the
// widening of the agreement share's interval by several attempts or calls of one task. least is the
// coefficient's lowest value.
func clustered(iv, same stats.Interval, least float64) stats.Interval {
	iv.Clusters = same.Clusters
	switch {
	case iv.N == same.Clusters || !iv.Defined():
		return iv
	case same.NEff <= 0: // all of one task
		iv.Lower, iv.Upper, iv.Status = least, 1, stats.StatusSingleCluster
		return iv
	}
	f := math.Sqrt(max(1, float64(iv.N)/same.NEff))
	iv.SE *= f
	iv.Lower, iv.Upper = max(least, iv.Point-f*(iv.Point-iv.Lower)), min(1, iv.Point+f*(iv.Upper-iv.Point))
	return iv
}

// verify corrects labels drawn by verdict, where all of them are from one frame.
func (r *CalibrationReport) verify(ps []pair) {
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

func (r *CalibrationReport) check(ps []pair) error {
	if len(ps) == 0 {
		return nil
	}
	c := &CalibrationCheck{Table: tableOf(ps)}
	c.Sensitivity, c.Specificity = rateOf(ps, r.Confidence, truly, right), rateOf(ps, r.Confidence, not(truly), right)
	d, err := judge.FindDrift(r.calibration(), c.Table.Calibration(worthOf(ps, r.Confidence)))
	if err != nil {
		return fmt.Errorf("compare with held-out labels: %w", err)
	}
	c.PSensitivity, c.PSpecificity, c.PHolm, c.Drifted = d.PSensitivity, d.PSpecificity, d.PHolm, d.PHolm < driftLevel
	r.Check = c
	return nil
}

// judgeUse decides whether a gate may use the judge, and sets the reason.
func (r *CalibrationReport) judgeUse() {
	c := r.calibration()
	r.Usable = c.Usable(r.Confidence)
	switch {
	case r.Table.N() == 0 && r.Verified != nil:
		r.Why = "all labels were drawn by the judge's verdict: they serve true success of their own run, not a calibration for another; label " + string(r.Unit) + "s drawn at random for that"
	case r.Table.N() == 0:
		r.Why = "no calibration label is on an output that this judge has judged"
	case c.Few():
		r.Why = tooFew(c) + fmt.Sprintf(": at least %d of each are needed", judge.MinLabels)
	case r.Youden.Point <= 0:
		r.Why = fmt.Sprintf("the judge is no better than chance: J = %.3f", r.Youden.Point)
	case !r.Usable:
		r.Why = fmt.Sprintf("J is only known to be above %.3f: a gate needs more than 0.3", r.Youden.Lower)
	default:
		r.Why = fmt.Sprintf("J is above %.3f and each class is worth at least %d labels", r.Youden.Lower,
			judge.MinLabels)
	}
	if why := r.Lost.fault(); why != "" {
		r.Usable, r.Why = false, why+"; "+lostAdvice
	}
	if r.Drift != nil && r.Drift.Drifted {
		r.Usable, r.Why = false, r.Drift.Says
	}
	if r.Check != nil && r.Check.Drifted {
		r.Usable = false
		r.Why = fmt.Sprintf("held-out labels contradict the calibration (p = %.2g): the judge or the %ss have changed",
			r.Check.PHolm, r.Unit)
	}
}

// tooFew lists the labels of both classes, and their effective number if that is smaller.
func tooFew(c judge.Calibration) string {
	describe := func(n int, worth float64, class string) string {
		if worth <= 0 || worth >= float64(n) {
			return fmt.Sprintf("%d labelled %s", n, class)
		}
		return fmt.Sprintf("%d labelled %s worth %.1f (several are of one task)", n, class, worth)
	}
	return describe(c.LabelledPass, c.PassWorth, "passes") + " and " + describe(c.LabelledFail, c.FailWorth, "fails")
}

func (r *CalibrationReport) warn() {
	say := func(n int, format string, args ...any) {
		if n > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
		}
	}
	c := r.Counts
	say(c.OtherJudge,
		"%d labelled %ss have only verdicts of another judge of that name (%s differs): no calibration made with them applies",
		c.OtherJudge, r.Unit, strings.Join(c.Differs, ", "))
	say(c.RatedOnly, "%d labelled %ss are left out: they have a rating and no pass or fail", c.RatedOnly, r.Unit)
	say(c.Disputed, "%d labelled %ss are left out: people disagree, or a person gave both answers", c.Disputed, r.Unit)
	say(c.Unjudged, "%d labelled %ss are left out: there is no verdict of the judge that can be read",
		c.Unjudged, r.Unit)
	say(c.Changed, "%d labels contradict an earlier one of the same person: the later counts", c.Changed)
	say(c.Leaked, "%d %ss are labelled both for calibration and for a check: they cannot check", c.Leaked, r.Unit)
	say(c.Designed,
		"%d labelled %ss are left out: their tasks were labelled to design the judge, and it was made to be right there", c.Designed, r.Unit)
	say(c.DesignLeaked, "%d of these have a label for calibration or a check, too: no task can serve both",
		c.DesignLeaked)
	say(c.Absent, "%d labels are left out: they are of attempts that the run does not have", c.Absent)
	say(c.Unrecorded, "for %d labels it is not recorded how the %ss were drawn: they are taken as drawn at random",
		c.Unrecorded, r.Unit)
	if c.ByVerdict > 0 && r.Table.N() > 0 {
		say(1, "%d labels drawn by the judge's verdict are left out of sensitivity and specificity", c.ByVerdict)
	}
}
