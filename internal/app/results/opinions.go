// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace"
)

// opinions are the judges' verdicts on the attempts of a run: those of each judge's newest finished
// judging, and the majority verdicts of judges with the same unit. They are read once.
type opinions struct {
	mu   sync.Mutex
	read *OpinionIndex
}

// OpinionIndex has opinions by attempt.
type OpinionIndex struct {
	of         map[opinionKey][]judgedVerdict
	Majorities []Majority
	lost       []LostJudging
	parts      []labels.Label // of calls and turns, as lines of a labels file
	Reports    []report.JudgeReport
}

type opinionKey struct {
	target, task string
	attempt      int
}

// judgedVerdict is one judge's verdict on an attempt.
type judgedVerdict struct {
	judge *Judging
	ThingVerdict
}

// ReadOpinions reads the judges' verdicts on the run.
func (r *Run) ReadOpinions(ctx context.Context) (*OpinionIndex, error) {
	r.opinions.mu.Lock()
	defer r.opinions.mu.Unlock()
	if r.opinions.read != nil {
		return r.opinions.read, nil
	}
	out := &OpinionIndex{}
	if r.Stored.Judges == "" {
		list, lost, err := ReadJudgings(ctx, r.DB, r.Stored.ID, HasVerdicts)
		if err != nil {
			return nil, err
		}
		out.lost = lost
		if err := out.read(ctx, r.DB, list); err != nil {
			return nil, err
		}
	}
	r.opinions.read = out
	return out, nil
}

// read adds the verdicts of the newest judging of each name, and the majorities of all.
func (s *OpinionIndex) read(ctx context.Context, db *store.DB, list []JudgingRun) error {
	all := Judged{}
	var of []*Judging
	for _, j := range latest(list) {
		vs, _, err := verdictsOf(ctx, db, j, nil)
		if err != nil && !Momentary(ctx, err) {
			s.lost = append(s.lost, LostJudging{j.Run.ID, fmt.Sprintf("read judging %s: %v", j.Run.ID, err)})
			continue
		}
		if err != nil {
			return err
		}
		id := j.What.Identity
		if j.What.Judge.Unit == judge.Target {
			s.Report(id.ID(), vs)
			continue
		}
		of = append(of, j.What)
		all.Judgings = append(all.Judgings,
			JudgingView{
				Judge: id, JudgeID: id.ID(), Unit: j.What.Judge.Unit, Verdicts: vs,
				compares: !j.What.Judge.Own,
			})
	}
	all.MajorityVerdicts()
	s.Majorities = all.Majorities
	for i, j := range of {
		newer := slices.ContainsFunc(of[i+1:], func(o *Judging) bool { return o.Identity.Name == j.Identity.Name })
		// If several judges judge a rubric, their majority decides.
		together := j.Judge.Unit == judge.Rubric &&
			slices.ContainsFunc(s.Majorities, func(m Majority) bool { return m.Unit == judge.Rubric })
		if !newer && !together {
			s.add(j, all.Judgings[i].Verdicts)
			s.addParts(&all.Judgings[i])
		}
	}
	for i := range s.Majorities {
		m := &s.Majorities[i]
		s.addParts(&m.JudgingView)
		s.add(&Judging{Judge: judge.Judge{Name: m.Judge.Name, Unit: m.Unit}, Identity: m.Judge}, m.Verdicts)
	}
	return nil
}

// latest returns the newest finished judgings, one for each judge and model.
func latest(list []JudgingRun) []*JudgingRun {
	var out []*JudgingRun
	for i := len(list) - 1; i >= 0; i-- {
		j := &list[i]
		same := func(o *JudgingRun) bool {
			return o.What.Identity.Name == j.What.Identity.Name && o.What.Identity.Model == j.What.Identity.Model
		}
		switch {
		case j.What.Judge.Unit == judge.Pair: // of several attempts
		case j.Run.State() == store.StatusDone && !slices.ContainsFunc(out, same):
			out = append(out, j)
		}
	}
	slices.Reverse(out)
	return out
}

func (s *OpinionIndex) add(j *Judging, vs []ThingVerdict) {
	if s.of == nil {
		s.of = map[opinionKey][]judgedVerdict{}
	}
	for i := range vs {
		k := opinionKey{vs[i].Target, vs[i].Task, vs[i].Attempt}
		s.of[k] = append(s.of[k], judgedVerdict{j, vs[i]})
	}
}

// addParts adds verdicts on calls or turns. A verdict on a turn also applies to each of its calls.
func (s *OpinionIndex) addParts(v *JudgingView) {
	if v.Unit == judge.Call || v.Unit == judge.Turn {
		s.parts = append(s.parts, v.Lines()...)
	}
}

// on returns the verdicts on an attempt.
func (s *OpinionIndex) on(target, task string, attempt int) []judgedVerdict {
	return s.of[opinionKey{target, task, attempt}]
}

// Decides reports whether a judge decided rubrics, so that verdicts may differ from the stored
// ones.
func (s *OpinionIndex) Decides() bool {
	for _, of := range s.of {
		if slices.ContainsFunc(of, func(h judgedVerdict) bool { return h.judge.Judge.Unit == judge.Rubric }) {
			return true
		}
	}
	return false
}

// addTo adds the verdicts on a cell to its result: a score for each judge, and its rubric.
func (s *OpinionIndex) addTo(targets []callvet.Target, c *callvet.Case, cell *callvet.Cell) {
	if len(s.of) == 0 || cell.Target < 0 || cell.Target >= len(targets) {
		return
	}
	all := s.on(targets[cell.Target].Name, c.ID, cell.Repeat)
	if len(all) == 0 {
		return
	}
	r := &cell.Result
	r.Scores = slices.Clip(r.Scores)
	for i := 0; i < len(all); {
		k := i + 1
		for k < len(all) && all[k].judge == all[i].judge {
			k++
		}
		if all[i].judge.Judge.Unit == judge.Rubric {
			fillRubric(r, c, all[i:k])
		} else {
			r.Scores = append(r.Scores, scoreOf(all[i:k]))
		}
		i = k
	}
}

// Report adds a judge's reports on targets as a whole.
func (s *OpinionIndex) Report(by string, vs []ThingVerdict) {
	for i := range vs {
		if vs[i].Report != nil {
			s.Reports = append(s.Reports,
				report.JudgeReport{Judge: by, Target: vs[i].Target, JudgeReport: vs[i].Report})
		}
	}
}

// scoreOf returns the score of an attempt by one judge: the mean over the calls or turns with
// readable verdicts.
func scoreOf(of []judgedVerdict) callvet.Score {
	s := callvet.Score{Name: "judge_" + strings.ReplaceAll(of[0].judge.Identity.Name, ":", "_"), Reason: of[0].Unscored}
	sum, n := 0.0, 0
	for i := range of {
		if of[i].Scored() && of[i].Score != nil {
			sum, n = sum+*of[i].Score, n+1
		}
	}
	if n > 0 {
		s.Value, s.Scored, s.Reason = sum/float64(n), true, ""
		if len(of) == 1 {
			s.Reason = of[0].Reason
		} else if n < len(of) {
			s.Reason = fmt.Sprintf("of %d of %d that the judge could be read of", n, len(of))
		}
	}
	return s
}

// fillRubric decides the dimensions of a case's rubric that a judge scored. An attempt fails if a
// dimension fails; a case without other assertions passes if all dimensions pass.
func fillRubric(r *callvet.Result, c *callvet.Case, of []judgedVerdict) {
	r.Assertions = slices.Clone(r.Assertions)
	dimension := 0
	var failed []string
	decided := false
	for i := range r.Assertions {
		as := &r.Assertions[i]
		if as.Name != "rubric" || as.State != callvet.AssertNotEvaluated {
			continue
		}
		dimension++
		at := slices.IndexFunc(of, func(h judgedVerdict) bool { return h.Dimension == dimension })
		if at < 0 || dimension > len(c.Expect.Rubric) {
			continue
		}
		h := &of[at]
		d := &c.Expect.Rubric[dimension-1]
		name := "judge_rubric"
		if d.Dimension != "" {
			name += "_" + identifier(d.Dimension)
		}
		s := callvet.Score{Name: name, Reason: h.Unscored}
		if h.Scored() && h.Score != nil && h.Pass != nil {
			s = callvet.Score{Name: name, Value: *h.Score, Scored: true}
			as.State, as.Reason, decided = callvet.Asserted(*h.Pass), "", true
			as.Actual = strings.TrimSpace(fmt.Sprintf("%.3g of %g: %s", *h.Score*d.MaxScore, d.MaxScore, h.Reason))
			r.NotEvaluated--
			if !*h.Pass {
				failed = append(failed, d.Dimension)
			}
		} else {
			as.Reason = "the judge gave no verdict: " + h.Unscored
		}
		r.Scores = append(r.Scores, s)
	}
	switch {
	case len(failed) > 0 && (r.Verdict == callvet.VerdictPass || r.Verdict == callvet.VerdictNotRun):
		r.Verdict, r.Class = callvet.VerdictFail, callvet.ClassAnswer
		r.Reason = "the judge of its rubric fails it: " + strings.Join(failed, ", ")
	case decided && r.Verdict == callvet.VerdictNotRun:
		r.Verdict, r.Class, r.Reason = callvet.VerdictPass, "", ""
	}
}

// identifier converts the title of a dimension to a name.
func identifier(s string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '_'
	}, s), "_")
}

// judged adds the verdicts of judges of tasks to an attempt of a run.
func (s *OpinionIndex) judged(at *trace.Attempt) {
	t := &at.Trace
	for _, h := range s.on(t.Target, t.CaseID, t.Repeat) {
		if h.judge.Judge.Unit != judge.Task {
			continue
		}
		id := &h.judge.Identity
		reason := h.Reason
		if !h.Scored() {
			reason = "no verdict: " + h.Unscored
		}
		at.Judged = append(slices.Clip(at.Judged), trace.Judged{
			Judge: id.Name, Model: id.Model, PromptHash: id.PromptHash, Params: id.Params, Threshold: id.Threshold,
			Score: h.Score, Pass: h.Pass, Reason: reason,
		})
	}
}
