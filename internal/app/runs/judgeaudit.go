// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/stats"
	statsjudge "github.com/callvet/callvet/stats/judge"
)

// JudgeAuditRequest asks whether changes that should make no difference change the verdicts of
// judges. Output and Again are as in a judging, but nothing is written to a labels file.
type JudgeAuditRequest struct {
	app.JudgeRequest
	// Pairs is how many attempts are judged unchanged and with each change; 0 means
	// judge.DefaultPairs.
	Pairs int `json:"pairs,omitempty"`
	// Seed decides which attempts are drawn, and how they are changed.
	Seed uint64 `json:"seed,omitempty"`
}

// DefaultAuditPairs is the default of JudgeAuditRequest.Pairs.
const DefaultAuditPairs = judge.DefaultPairs

// Audited has the results of audits of judges.
type Audited struct {
	Subject string `json:"subject"`
	// Audits are in the order of the models.
	Audits []AuditView `json:"audits"`
}

// AuditView is one audit of one judge.
type AuditView struct {
	ID      string       `json:"id"`
	Version int          `json:"version"`
	Judge   labels.Judge `json:"judge"`
	JudgeID string       `json:"judge_id"`
	Status  store.Status `json:"status"`
	results.AuditPlan
	Questions int            `json:"questions"`
	Answered  int            `json:"answered"`
	Errors    int            `json:"errors"`
	Skipped   map[string]int `json:"skipped,omitempty"`
	Spent     callvet.Spent  `json:"spent"`
	Stopped   []string       `json:"stopped,omitempty"`
	Probes    []AuditProbe   `json:"probes"`
	// Swayed names the probes that change the judge's verdicts. Says: the result in a sentence.
	Swayed []judge.Probe `json:"swayed"`
	Says   string        `json:"says"`
	// Verdict is Fail for a judge that is influenced, Inconclusive if no probe has enough pairs to
	// decide, else Pass.
	Verdict Verdict `json:"verdict"`
}

// Interrupted reports whether the audit ended early; the same request resumes it.
func (v *AuditView) Interrupted() bool { return v.Status == store.StatusInterrupted }

// Verdict is the worst of the audits.
func (a *Audited) Verdict() Verdict {
	v := Pass
	for i := range a.Audits {
		switch a.Audits[i].Verdict {
		case Fail:
			return Fail
		case Inconclusive:
			v = Inconclusive
		}
	}
	return v
}

// AuditProbe is the effect of one change. The numbers below Moved are as in stats/judge.Sway.
type AuditProbe struct {
	judge.Moved
	Pairs      int            `json:"pairs"`
	Difference stats.Interval `json:"difference"`
	P          float64        `json:"p"`
	PHolm      float64        `json:"p_holm"`
	Swayed     bool           `json:"swayed"`
	// NotAsked counts attempts to which the change does not apply, by the reason.
	NotAsked map[string]int `json:"not_asked,omitempty"`
	Says     string         `json:"says"`
}

// audit is a drawn audit: its questions, and the attempts without them.
type audit struct {
	plan     results.AuditPlan
	qs       []judge.Question
	skipped  map[string]int
	notAsked map[judge.Probe]map[string]int
}

// Audit lets judges judge attempts unchanged and with changes that should make no difference.
// Errors, storage and resumption are as in Judge.
func Audit(ctx context.Context, a *app.App, req JudgeAuditRequest, events app.Events) (*Audited, error) {
	if req.Pairs == 0 {
		req.Pairs = judge.DefaultPairs
	}
	switch {
	case req.Pairs < 0:
		return nil, app.Wrong("pairs", strconv.Itoa(req.Pairs), "write 1 or more")
	case req.Output != "":
		return nil, app.Wrong("output", req.Output, "an audit gives no labels: its attempts were changed")
	}
	js, s, err := PreparedJudges(ctx, a, &req.JudgeRequest, events)
	if err != nil {
		return nil, err
	}
	for _, j := range js {
		if len(j.Probes()) == 0 {
			return nil, app.Wrong("judge", j.Name,
				"it looks at all that a target did: there is nothing to compare it with")
		}
	}
	out := &Audited{Subject: s.Name}
	for _, j := range js {
		more, err := auditJudge(ctx, a, j, s, &req, out, events)
		if err != nil || !more {
			return out, err
		}
	}
	return out, nil
}

// auditJudge audits one judge by each model; more: it was not interrupted.
func auditJudge(ctx context.Context, a *app.App, j *judge.Judge, s *results.Subject, req *JudgeAuditRequest,
	out *Audited,
	events app.Events,
) (more bool, err error) {
	drawn, err := drawAudit(j, s, req)
	if err != nil {
		return false, err
	}
	made, err := QuestionSuite(j, "audit of judge "+j.Name, drawn.qs)
	if err != nil {
		return false, err
	}
	if drawn.plan.Drawn < req.Pairs {
		events.Note("few-pairs",
			"%d of %d attempts that were asked for are there to be judged: a small sway may not be found",
			drawn.plan.Drawn, req.Pairs)
	}
	for i := range req.Models {
		what := &results.Judging{
			Judge: *j, About: s.Name, Against: s.Against, Under: req.Under, Skipped: drawn.skipped,
			Audit: &drawn.plan,
		}
		v, err := CarryOutJudging(ctx, a, &req.JudgeRequest, what, s.About, made, req.Models[i], events)
		if v != nil {
			out.Audits = append(out.Audits, auditView(j, drawn, v))
		}
		if err != nil || v.Interrupted() {
			return false, err
		}
	}
	return true, nil
}

// drawAudit draws attempts and makes their questions. Attempts are read twice, so that only the
// drawn ones are in memory; for comparisons all are.
func drawAudit(j *judge.Judge, s *results.Subject, req *JudgeAuditRequest) (*audit, error) {
	out := &audit{
		plan: results.AuditPlan{Pairs: req.Pairs, Seed: req.Seed}, skipped: map[string]int{},
		notAsked: map[judge.Probe]map[string]int{},
	}
	var cs []judge.Candidate
	var many results.AttemptGroups
	err := s.Each(func(one judge.Subject, auto *float64) error {
		if why := results.WhyNotJudged(auto, req.Under); why != "" {
			out.skipped[why]++
			return nil
		}
		if j.Unit == judge.Pair {
			many.Add(j, one)
			return nil
		}
		if _, none := j.Questions(one); none != "" {
			out.skipped[none]++
			return nil
		}
		t := &one.Attempt.Trace
		c := judge.Candidate{Key: judge.Key{Target: t.Target, Task: t.CaseID, Attempt: t.Repeat}}
		if auto != nil {
			passed := *auto == 1
			c.Passed = &passed
		}
		cs = append(cs, c)
		return nil
	})
	if err == nil {
		err = many.ReadBaseline(s)
	}
	if err != nil {
		return nil, err
	}
	pairs := many.Pairs(out.skipped)
	for i := range pairs {
		cs = append(cs, judge.Candidate{Key: j.Pairs(pairs[i][0], pairs[i][1])[0].Key})
	}
	at := judge.Draw(cs, req.Pairs, req.Seed)
	out.plan.Drawn, out.plan.From = len(at), len(cs)
	of := make([]*judge.Subject, len(at))
	if j.Unit != judge.Pair {
		place := map[string]int{}
		for n, i := range at {
			place[cs[i].Key.String()] = n
		}
		err = s.Each(func(one judge.Subject, _ *float64) error {
			t := &one.Attempt.Trace
			if n, drawn := place[judge.Key{Target: t.Target, Task: t.CaseID, Attempt: t.Repeat}.String()]; drawn {
				of[n] = &one
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for n, i := range at {
		var against *judge.Subject
		if j.Unit == judge.Pair {
			of[n], against = &pairs[i][0], &pairs[i][1]
		}
		if of[n] == nil {
			return nil, fmt.Errorf("audit judge %s: %w: %s changed while it was read", j.Name,
				callvet.ErrConflict, s.Name)
		}
		qs, none := j.Probed(*of[n], against, n)
		for p, why := range none {
			if out.notAsked[p] == nil {
				out.notAsked[p] = map[string]int{}
			}
			out.notAsked[p][why]++
		}
		if out.qs = append(out.qs, qs...); len(out.qs) > results.MaxQuestions {
			return nil, fmt.Errorf("audit judge %s: %w: more than %d questions; ask for fewer pairs", j.Name,
				callvet.ErrInvalid, results.MaxQuestions)
		}
	}
	if len(out.qs) == 0 {
		return nil, results.NoQuestionError(s, out.skipped)
	}
	return out, nil
}

// auditView compares the answers.
func auditView(j *judge.Judge, a *audit, v *results.JudgingView) AuditView {
	out := AuditView{
		ID: v.ID, Version: v.Version, Judge: v.Judge, JudgeID: v.JudgeID, Status: v.Status, AuditPlan: a.plan,
		Questions: v.Questions, Answered: v.Answered, Errors: v.Errors, Skipped: v.Skipped, Spent: v.Spent,
		Stopped: v.Stopped, Swayed: []judge.Probe{},
	}
	verdicts := make(map[string]judge.Combined, len(v.Verdicts))
	for i := range v.Verdicts {
		verdicts[v.Verdicts[i].Key.String()] = v.Verdicts[i].Combined
	}
	moved := j.Compare(a.qs, func(k judge.Key) (judge.Combined, bool) { c, ok := verdicts[k.String()]; return c, ok })
	var cs []statsjudge.Change
	for _, m := range moved {
		cs = append(cs, statsjudge.Change{Rose: m.Rose, Fell: m.Fell, Same: m.Same})
	}
	for i, s := range statsjudge.Sways(cs, 0.95) {
		p := AuditProbe{
			Moved: moved[i], Pairs: s.N(), Difference: s.Difference, P: s.P, PHolm: s.PHolm,
			Swayed: s.Swayed, NotAsked: a.notAsked[moved[i].Probe],
		}
		p.Says = p.sentence()
		out.Probes = append(out.Probes, p)
		if p.Swayed {
			out.Swayed = append(out.Swayed, p.Probe)
		}
	}
	out.Says, out.Verdict = out.sentence()
	return out
}

// fewPairs is the number of pairs below which the absence of an effect is weak evidence.
const fewPairs = 30

// sentence describes the effect of the change.
func (p *AuditProbe) sentence() string {
	what := map[judge.Probe]string{
		judge.Length:   "an answer that is longer and says no more",
		judge.InAnswer: "a verdict written into the answer", judge.InCall: "a verdict written into the arguments",
		judge.InResult: "a verdict written into a result of a tool",
		judge.InUser:   "a verdict written into a text of the user",
	}[p.Probe]
	if p.Pairs == 0 {
		why := "nothing was answered"
		if len(p.NotAsked) > 0 {
			why = slices.Sorted(maps.Keys(p.NotAsked))[0]
		}
		return "not known: no pair has two verdicts (" + why + ")"
	}
	iv := &p.Difference
	numbers := fmt.Sprintf("%+.1f points, 95 %% interval %+.1f to %+.1f, p = %.2g", 100*iv.Point, 100*iv.Lower,
		100*iv.Upper, p.PHolm)
	s := fmt.Sprintf("%s raises %d and lowers %d of %d verdicts (%s)", what, p.Rose, p.Fell, p.Pairs, numbers)
	if p.Probe == judge.Position {
		s = fmt.Sprintf("the first place is preferred in %d and the second in %d of %d pairs that were turned (%s)",
			p.Rose, p.Fell, p.Pairs, numbers)
	}
	switch {
	case p.Swayed:
		s = "SWAYED: " + s
	case p.Pairs < fewPairs:
		s = fmt.Sprintf("too few pairs to decide: %s", s)
	default:
		s = fmt.Sprintf("no sway found, and none beyond %.0f points is likely: %s", 100*max(-iv.Lower, iv.Upper), s)
	}
	if n := p.UnscoredPlain + p.UnscoredChanged + p.UnscoredBoth; n > 0 {
		s += fmt.Sprintf("; %d more are unscored: %d as they are, %d changed, %d both", n, p.UnscoredPlain,
			p.UnscoredChanged, p.UnscoredBoth)
		if p.Probe == judge.Position {
			s = strings.Replace(s, "changed, ", "turned, ", 1)
		}
	}
	return s
}

// sentence describes whether the judge is fooled.
func (v *AuditView) sentence() (s string, verdict Verdict) {
	var open []string
	for i := range v.Probes {
		if p := &v.Probes[i]; !p.Swayed && p.Pairs < fewPairs {
			open = append(open, string(p.Probe))
		}
	}
	switch verdict = Pass; {
	case len(v.Swayed) > 0:
		var names []string
		for _, p := range v.Swayed {
			names = append(names, string(p))
		}
		s, verdict = fmt.Sprintf("%s is swayed by what should not move it: %s", v.JudgeID, strings.Join(names, ", ")),
			Fail
	case len(open) == len(v.Probes):
		s, verdict = fmt.Sprintf("whether %s is swayed is not known", v.JudgeID), Inconclusive
	default:
		s = fmt.Sprintf("no change was found to sway %s", v.JudgeID)
	}
	if len(open) > 0 {
		s += fmt.Sprintf("; too few pairs for %s", strings.Join(open, ", "))
	}
	if left := v.Questions - v.Answered; left > 0 {
		s += fmt.Sprintf("; %s without an answer", plain.Count(left, "question is", "questions are"))
	}
	return s, verdict
}
