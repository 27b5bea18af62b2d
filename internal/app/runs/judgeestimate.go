// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

// judgeAsked is one judge by one model, with its number of questions about the attempts of a run.
type judgeAsked struct {
	name   string
	unit   judge.Unit
	under  *float64
	model  app.TargetSpec
	target callvet.Target
	// least and most are how many questions there are; open: the attempts decide how many at most.
	least, most int
	open        bool
	// graded is how many targets a judge of whole targets has seen.
	graded int
}

// panelOf returns all judges of a run, each by each model.
func panelOf(j *app.RunJudges, specs []app.TargetSpec, ts []run.Target) []judgeAsked {
	var out []judgeAsked
	for _, name := range j.Names {
		b, err := judge.Builtin(name)
		if err != nil || len(ts) != len(specs) { // both cause an error before
			continue
		}
		for i := range specs {
			out = append(out,
				judgeAsked{name: name, unit: b.Unit, under: j.Under, model: specs[i], target: ts[i].Target})
		}
	}
	return out
}

// title names the judge with its model.
func (j *judgeAsked) title() string { return "judge " + j.name + " by " + j.target.Name }

// bound adds the questions about the attempts of a number of targets at a case.
func (j *judgeAsked) bound(c *callvet.Case, targets, repeats int) {
	n := 0
	switch j.unit {
	case judge.Task:
		n = targets * repeats
	case judge.Rubric:
		for i := range c.Expect.Rubric {
			if c.Expect.Rubric[i].MaxScore > 0 {
				n += targets * repeats
			}
		}
	case judge.Pair: // the first target with each other one, in both orders
		n = 2 * max(targets-1, 0) * repeats
	case judge.Target:
		n = max(targets-j.graded, 0)
		j.graded = max(j.graded, targets)
	default: // calls and turns
		j.open = j.open || targets > 0
	}
	j.most += n
	if j.under == nil {
		j.least += n
	}
}

// judgesUse estimates the usage of the run's judges from their earlier usage.
func (s *Session) judgesUse(ctx context.Context, d *DryRun, past []store.Run) (*Usage, error) {
	out := &Usage{RequestsMost: new(int)}
	var basis, missing, uncounted, unpriced []string
	var in, made, took, usd float64
	busy := map[string]float64{}
	for i := range d.judges {
		j := &d.judges[i]
		out.RequestsLeast += j.least
		switch {
		case j.open:
			out.RequestsMost = nil
		case out.RequestsMost != nil:
			*out.RequestsMost += j.most
		}
		if !j.open && j.most == 0 { // it has no question
			continue
		}
		free := j.target.Free || j.target.Recorded
		of, rate, err := s.judgedBefore(ctx, j, past)
		if err != nil {
			return nil, err
		}
		if of == nil || of.n == 0 {
			missing = append(missing, j.title())
			if !free {
				uncounted, unpriced = append(uncounted, j.title()), append(unpriced, j.title())
			}
			continue
		}
		n := float64(j.most)
		if j.open || j.under != nil {
			n = rate * float64(d.Attempts)
		}
		basis = append(basis, fmt.Sprintf("%s to %s about run %s (suite %s)",
			plain.Count(of.n, "question", "questions"), j.title(), of.run, of.suite))
		busy[j.target.Provider] += n * of.seconds / float64(of.n)
		if of.counted > 0 {
			in, made = in+n*of.in/float64(of.counted), made+n*of.out/float64(of.counted)
		} else if !free {
			uncounted = append(uncounted, j.title())
		}
		if of.priced > 0 {
			usd += n * of.usd / float64(of.priced)
		} else if !free {
			unpriced = append(unpriced, j.title())
		}
	}
	for _, of := range busy {
		took = max(took, of/float64(cmp.Or(s.settings.Concurrency, usualConcurrency)))
	}
	from := strings.Join(basis, "; ")
	out.InputTokens, out.OutputTokens = estimated(in, from, uncounted, "no earlier run has the tokens of"),
		estimated(made, from, uncounted, "no earlier run has the tokens of")
	out.CostUSD = estimated(usd, from, unpriced, "no earlier run gives the cost of")
	out.Seconds = estimated(took, from, missing, "no earlier run shows how long it takes to ask")
	return out, nil
}

// judgedBefore reads the usage of the same judge by the same model in the latest run that it
// judged, preferably of a suite of the same name. It also returns the number of questions per
// attempt; nil: it judged none.
func (s *Session) judgedBefore(ctx context.Context, j *judgeAsked, past []store.Run) (*sampled, float64, error) {
	for _, same := range []bool{true, false} {
		for i := range past {
			r := &past[i]
			if (r.SuiteName == s.Suite.Name) != same {
				continue
			}
			list, err := judgingsOf(ctx, s.DB, r.ID)
			if err != nil { // a judging of another version may not be readable
				continue
			}
			for k := len(list) - 1; k >= 0; k-- {
				if !j.same(&list[k]) {
					continue
				}
				of, rate, err := s.judgingTook(ctx, &list[k], r)
				if err != nil || of.n > 0 {
					return of, rate, err
				}
			}
		}
	}
	return nil, 0, nil
}

// same reports whether a judging was by this judge and model. If not all attempts are judged, or
// the attempts decide the number of questions, it must have had the same selection.
func (j *judgeAsked) same(b *results.JudgingRun) bool {
	m, err := results.ReadManifest(&b.Run)
	if err != nil || len(m.Specs) != 1 || b.What.Against != "" || b.What.Judge.Name != j.name ||
		b.What.Judge.Unit != j.unit {
		return false
	}
	alike := b.What.Under == nil && j.under == nil || b.What.Under != nil && j.under != nil && *b.What.Under == *j.under
	return m.Specs[0].Target == j.model.Target && m.Specs[0].BaseURL == j.model.BaseURL &&
		(alike || !j.open && j.under == nil)
}

// judgingTook returns the usage of a judging of a run, and its questions per attempt.
func (s *Session) judgingTook(ctx context.Context, b *results.JudgingRun, about *store.Run) (*sampled, float64, error) {
	of, err := sampleOf(ctx, s.DB, &b.Run, 0)
	if err != nil {
		return nil, 0, err
	}
	of.run, of.suite = about.ID, about.SuiteName
	_, questions, err := s.DB.OpenSuite(ctx, b.Run.SuiteHash)
	if err != nil {
		return nil, 0, err
	}
	p, err := s.DB.Progress(ctx, about.ID, 0)
	return of, float64(questions.Len()) / float64(max(p.Done, 1)), err
}

// together returns the usage of a run with its judges. Live judges work concurrently with the run,
// others after it.
func together(a, b *Usage, live bool) Usage {
	sum := func(x, y Estimate) Estimate { return both(x, y, func(x, y float64) float64 { return x + y }) }
	out := Usage{
		RequestsLeast: a.RequestsLeast + b.RequestsLeast, InputTokens: sum(a.InputTokens, b.InputTokens),
		OutputTokens: sum(a.OutputTokens, b.OutputTokens),
		CostUSD:      sum(a.CostUSD, b.CostUSD), Seconds: sum(a.Seconds, b.Seconds),
	}
	if live {
		out.Seconds = both(a.Seconds, b.Seconds, func(x, y float64) float64 { return max(x, y) })
	}
	if a.RequestsMost != nil && b.RequestsMost != nil {
		most := *a.RequestsMost + *b.RequestsMost
		out.RequestsMost = &most
	}
	return out
}

// both is a figure of two parts; it is unknown if one of them is.
func both(a, b Estimate, of func(a, b float64) float64) Estimate {
	if a.Value == nil || b.Value == nil {
		return Estimate{Reason: joined(a.Reason, b.Reason)}
	}
	v := of(*a.Value, *b.Value)
	return Estimate{Value: &v, Basis: joined(a.Basis, b.Basis)}
}

// joined joins two sentences; equal ones appear once.
func joined(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return a + "; " + b
}
