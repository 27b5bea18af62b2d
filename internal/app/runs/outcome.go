// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// Verdict is the verdict on a run or on gates.
type Verdict = gate.Verdict

// The verdicts.
const (
	Pass         = gate.Pass
	Fail         = gate.Fail
	Inconclusive = gate.Inconclusive
)

// Outcome is the result of a session of a run.
type Outcome struct {
	*results.RunView
	Summary run.Summary
	// Verdict is the verdict by RequirePass and FailUnder; "" if the run ended early. Why explains
	// why it is not a pass.
	Verdict Verdict
	Why     []string
	// Notes are notices about the numbers.
	Notes []callvet.Notice
	// Gates is the result of the gates of a run that ends when they are decided; nil for other
	// runs.
	Gates *traces.GateResult
	// Yielded: the session ended because of Session.Yield, and there is only a Summary.
	Yielded bool
}

// Saved is a sentence about the attempts that a run until its gates were decided needed; "" for
// other runs.
func (o *Outcome) Saved() string {
	t := &o.Summary.Totals
	if o.Gates == nil || t.Total == 0 {
		return ""
	}
	word := map[gate.Verdict]string{Pass: "passed", Fail: "failed"}[o.Gates.Report.Verdict]
	return fmt.Sprintf("%s after %s of %s (saved %s)", cmp.Or(word, "inconclusive"), plain.Thousands(t.Done),
		plain.Count(t.Total, "attempt", "attempts"), plain.Percent(float64(t.LeftOut)/float64(t.Total)))
}

// Interrupted reports whether the run was interrupted, by this or another process.
func (o *Outcome) Interrupted() bool { return o.Summary.Status == run.StatusInterrupted }

// Failed reports whether the run failed in the process that carried it out.
func (o *Outcome) Failed() bool { return o.Summary.Status == run.StatusFailed }

// ended returns the event of how the session ended.
func (s *Session) ended(sum run.Summary) *app.EndedEvent {
	next := s.Resume()
	if sum.Status == run.StatusDone {
		next = app.Action{Verb: app.VerbShow, Run: s.Stored.ID}
	}
	return &app.EndedEvent{Run: s.Stored.ID, Summary: sum, Next: next}
}

// outcome sums up the session of this process; runErr is why it ended early.
func (s *Session) outcome(ctx context.Context, sum run.Summary, runErr error) (_ *Outcome, err error) {
	if s.Stored, err = s.DB.Run(ctx, s.Stored.ID); err != nil {
		return nil, err
	}
	red, err := results.RedactorOf(s.app, s.Manifest, nil)
	if err != nil {
		return nil, err
	}
	s.op.ReportLearned(red)
	v, err := s.View(ctx, s.slices, red, s.op, "")
	if err != nil {
		return nil, err
	}
	v.View.Models = s.op.Used()
	if decidesRubrics(s.Manifest.Judges) {
		sum = judgedSummary(sum, v.View.Panels)
	}
	return s.conclude(ctx, v, sum, runErr)
}

// conclude judges a run that has ended; runErr is why it ended early.
func (s *Session) conclude(ctx context.Context, v *results.RunView, sum run.Summary, runErr error) (*Outcome, error) {
	out := &Outcome{RunView: v, Summary: sum}
	set := v.Manifest.Settings
	if set == nil {
		set = &app.Settings{}
	}
	if n := sum.Spent.Assumed; n > 0 && set.MaxCostUSD > 0 {
		out.Notes = append(out.Notes,
			callvet.Notice{
				Code: "assumed-usage",
				Text: fmt.Sprintf(
					"%s have no plausible usage: for the cost limit they were taken to cost %s at most, a token for each byte sent and received",
					plain.Count(n, "request", "requests"), plain.Dollars(sum.Spent.AssumedUSD)),
			})
	}
	switch {
	case out.Interrupted():
		return out, nil
	case runErr != nil:
		return out, runErr
	case sum.Pass+sum.Fail == 0:
		return out, nothingJudged(sum, v.View.Panels)
	}
	return out, s.decide(ctx, out, set, sum)
}

// nothingJudged is the error of a run without a verdict: it counts the attempts that ended in an
// error, ran and could not be judged, and did not run.
func nothingJudged(sum run.Summary, p *panel.Panels) error {
	unjudged := 0
	for i := range p.Targets {
		unjudged += p.Targets[i].Overall.NotEvaluated.Unjudged
	}
	text := plain.Count(sum.Error, "attempt", "attempts") + " ended in an error"
	if unjudged > 0 {
		text += ", " + plain.Thousands(unjudged) + " ran and could not be judged"
	}
	return fmt.Errorf("nothing was judged: %s, %s did not run", text, plain.Thousands(max(sum.NotRun-unjudged, 0)))
}

// decide sets the verdict, without the cases in the quarantine of the gates.
func (s *Session) decide(ctx context.Context, out *Outcome, set *app.Settings, sum run.Summary) (err error) {
	if s.Manifest.Until != nil {
		out.Gates, err = traces.Gate(ctx, s.app, traces.GateRequest{Side: app.Side{Run: s.Stored.ID}}, s.events)
		if bad := (*results.BadGatesError)(nil); errors.As(err, &bad) {
			s.events.Problems(bad.Problems)
		}
		if err != nil {
			return err
		}
		out.Verdict = out.Gates.Report.Verdict
		if out.Verdict == gate.Inconclusive && !out.Gates.Report.Blocks {
			out.Verdict = gate.Pass // the lenient policy lets the build go on
		}
		return nil
	}
	p := out.View.Panels
	if set.RequirePass || set.FailUnder > 0 {
		notes, left, err := s.RequiredQuarantine(ctx, s.app, set.Gates)
		if err == nil && left.Attempts > 0 {
			sum.Total, sum.Pass = sum.Total-left.Attempts, sum.Pass-left.Passes
			p, err = s.Panels(ctx, s.slices)
		}
		if err != nil {
			return err
		}
		s.Without = nil // the verdict leaves them out, the shown results include them
		for _, text := range notes {
			out.Notes = append(out.Notes, callvet.Notice{Code: "quarantine", Text: text})
		}
	}
	out.Verdict, out.Why = verdictOf(p, set, sum)
	return nil
}

// verdictOf judges the run by RequirePass and FailUnder, for each target.
func verdictOf(p *panel.Panels, set *app.Settings, sum run.Summary) (v gate.Verdict, why []string) {
	if set.RequirePass {
		if sum.Pass != sum.Total {
			return gate.Fail, []string{fmt.Sprintf("required: every attempt passes; %d of %d did", sum.Pass, sum.Total)}
		}
		if n := passedInPart(p); n > 0 {
			return gate.Fail,
				[]string{fmt.Sprintf(
					"required: every attempt passes; %d of %d did, %d of them with assertions that were not evaluated",
					sum.Pass, sum.Total, n)}
		}
	}
	v = gate.Pass
	if set.FailUnder <= 0 {
		return v, nil
	}
	floors := !slices.ContainsFunc(p.Targets, func(t panel.TargetPanel) bool { return !t.Floor })
	for i := range p.Targets {
		t := &p.Targets[i]
		if t.Floor != floors {
			continue
		}
		one, sentence := under(t, set.FailUnder)
		if one != gate.Pass {
			why = append(why, sentence)
		}
		if v == gate.Pass || one == gate.Fail {
			v = one
		}
	}
	return v, why
}

// under judges the pass rate of a target by a bound, and returns why it does not pass. Lost attempts
// never make it pass. Source: Statistics specification, section 16.2.
func under(t *panel.TargetPanel, bound float64) (v gate.Verdict, why string) {
	n, of := t.Overall.Lost(panel.MetricPass, 0)
	lost := fmt.Sprintf("%s of %s lost", plain.Thousands(n), plain.Count(of, "attempt", "attempts"))
	const cure = ": callvet run --resume makes them"
	m := t.Overall.Metric(panel.MetricPass)
	switch {
	case (m == nil || !m.Interval.Defined()) && n > 0:
		return gate.Inconclusive, fmt.Sprintf("inconclusive: %s has no pass rate; %s%s", t.Name, lost, cure)
	case m == nil || !m.Interval.Defined():
		return gate.Inconclusive, fmt.Sprintf("inconclusive: %s has no pass rate", t.Name)
	}
	iv := m.Interval
	worst, best := iv, iv
	if m.Lost != nil {
		worst, best = m.Lost.Low, m.Lost.High
	}
	rate := t.Name + " passes " + passed(iv)
	switch {
	case best.Upper < bound:
		return gate.Fail, fmt.Sprintf("failed: %s, under %s", rate, plain.ExactPercent(bound))
	case gates.TooManyLost(n, of):
		return gate.Inconclusive, fmt.Sprintf("inconclusive: %s; %s, more than 5 %%%s", rate, lost, cure)
	case worst.Lower >= bound && iv.Lower >= bound:
		return gate.Pass, ""
	case iv.Upper < bound || iv.Lower >= bound:
		return gate.Inconclusive, fmt.Sprintf("inconclusive: %s; %s, and they decide whether that is %s or more%s",
			rate, lost, plain.ExactPercent(bound), cure)
	}
	return gate.Inconclusive, fmt.Sprintf("inconclusive: %s; %s cannot decide whether that is %s or more",
		rate, plain.Count(t.Overall.Cases, "case", "cases"), plain.ExactPercent(bound))
}

// passed describes a pass rate with its interval.
func passed(iv stats.Interval) string {
	return fmt.Sprintf("%s (%s to %s)", plain.Percent(iv.Point), plain.Decimals(iv.Lower), plain.Decimals(iv.Upper))
}

// passedInPart counts attempts that passed with assertions that were not evaluated.
func passedInPart(p *panel.Panels) (n int) {
	for i := range p.Targets {
		n += p.Targets[i].Overall.NotEvaluated.Passed
	}
	return n
}
