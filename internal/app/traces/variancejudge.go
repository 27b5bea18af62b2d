// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
)

// judgedSamples are the single verdicts of one version of a judge on the attempts of runs.
type judgedSamples struct {
	version labels.Judge // without its number of samples
	own     bool
	model   string // as it was requested
	of      map[sampledAttempt]*attemptSamples
	costs   meanCost
	reused  int // samples that repeat an earlier answer and do not count
	notes   []string
}

// sampledAttempt is an attempt of a run.
type sampledAttempt struct {
	run, target, task string
	repeat            int
}

// attemptSamples are the verdicts on an attempt; silent counts answers without one.
type attemptSamples struct {
	values []float64
	silent int
}

// oneVersion returns a judge without its number of samples: a single verdict does not depend on it.
func oneVersion(j labels.Judge) labels.Judge {
	j.Params = maps.Clone(j.Params)
	delete(j.Params, "samples")
	return j
}

// samplesOfJudge reads the verdicts of the newest version of a judge of that name, or of that ID.
func samplesOfJudge(ctx context.Context, runs []*results.Run, name string) (*judgedSamples, error) {
	var out *judgedSamples
	for _, r := range runs {
		list, _, err := results.ReadJudgings(ctx, r.DB, r.Stored.ID, func(j *results.Judging) bool {
			id := j.Identity
			return results.HasVerdicts(j) && (id.Is(name) || oneVersion(id).ID() == name) && j.Under == nil &&
				j.Judge.Unit != judge.Pair && j.Judge.Unit != judge.Target
		})
		if err != nil {
			return nil, err
		}
		if out == nil && len(list) > 0 {
			newest := list[len(list)-1].What
			out = &judgedSamples{
				version: oneVersion(newest.Identity), own: newest.Judge.Own,
				of: map[sampledAttempt]*attemptSamples{},
			}
		}
		var other []string
		n := 0
		for i := range list {
			if id := oneVersion(list[i].What.Identity); id.ID() != out.version.ID() {
				other = append(other, id.ID())
				continue
			}
			n++
			if err := out.read(ctx, r, &list[i]); err != nil {
				return nil, err
			}
		}
		if n == 0 {
			return nil, &callvet.Hinted{
				Err: app.Wrong("judge", name, "run %s has no judging of all its attempts by it", r.Stored.ID),
				Hint: "callvet judge run " + r.Stored.ID + " --judge " + strings.SplitN(name, "@", 2)[0] +
					" -m MODEL --samples 3",
			}
		}
		if slices.Sort(other); len(other) > 0 {
			out.notes = append(out.notes,
				fmt.Sprintf("verdicts of %s on run %s are not counted: another model or prompt",
					strings.Join(slices.Compact(other), ", "), r.Stored.ID))
		}
	}
	if out.reused > 0 {
		out.notes = append(out.notes, fmt.Sprintf("not counted: %s of the judge that repeat an earlier answer",
			plain.Count(out.reused, "verdict", "verdicts")))
	}
	return out, nil
}

// read adds the answers of a judging. An attempt with several questions, such as one per call,
// passes in a sample if all of them pass.
func (s *judgedSamples) read(ctx context.Context, r *results.Run, j *results.JudgingRun) error {
	m, err := results.ReadManifest(&j.Run)
	if err != nil {
		return err
	}
	if len(m.Specs) == 1 && s.model == "" {
		s.model = m.Specs[0].Target
	}
	fixed := false // it always returns the same answer
	for i := range m.Targets {
		s.costs.free, fixed = m.Targets[i].Free, results.GivesFacts(&m.Targets[i])
	}
	_, cases, err := r.DB.OpenSuite(ctx, j.Run.SuiteHash)
	if err != nil {
		return err
	}
	answers, order := map[sampleOf]*sampleAnswer{}, []sampleOf(nil)
	at, of := -1, sampledAttempt{}
	for c, err := range r.DB.Cells(ctx, j.Run.ID, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return err
		}
		if c.Case != at {
			key, err := questionKey(cases, c.Case)
			if err != nil {
				return fmt.Errorf("read judging %s: %w", j.Run.ID, err)
			}
			at, of = c.Case, sampledAttempt{r.Stored.ID, key.Target, key.Task, key.Attempt}
		}
		if !c.Trace.Cached {
			s.costs.add(c.Trace.Usage.CostUSD)
		}
		k := sampleOf{of, c.Repeat}
		if answers[k] == nil {
			answers[k], order = &sampleAnswer{pass: true}, append(order, k)
		}
		answers[k].add(c, fixed)
	}
	for _, k := range order {
		s.add(k, answers[k])
	}
	return nil
}

// questionKey returns the key of a question's subject.
func questionKey(cases *store.CaseReader, at int) (judge.Key, error) {
	of, err := cases.Case(at)
	if err != nil {
		return judge.Key{}, err
	}
	var q results.QuestionData
	if err := json.Unmarshal(of.Foreign, &q); err != nil {
		return judge.Key{}, fmt.Errorf("question %s: %w", of.ID, callvet.ErrInvalid)
	}
	return q.Key, nil
}

// sampleOf identifies a sample of the verdict on an attempt, and sampleAnswer is its verdict: a
// pass if the answer to each question about the attempt is a pass.
type sampleOf struct {
	sampledAttempt
	sample int
}

type sampleAnswer struct{ pass, silent, cached bool }

func (a *sampleAnswer) add(c *callvet.Cell, fixed bool) {
	v := results.KeptVerdict(&c.Result)
	answered := c.Result.Verdict == callvet.VerdictPass || c.Result.Verdict == callvet.VerdictFail
	a.silent = a.silent || !answered || v.Pass == nil
	a.pass = a.pass && v.Pass != nil && *v.Pass
	a.cached = a.cached || c.Trace.Cached || fixed
}

// add adds a sample. A sample that reuses an answer counts only if the attempt has no other.
func (s *judgedSamples) add(k sampleOf, a *sampleAnswer) {
	of := s.of[k.sampledAttempt]
	if of == nil {
		of = &attemptSamples{}
		s.of[k.sampledAttempt] = of
	}
	switch {
	case a.cached && len(of.values)+of.silent > 0:
		s.reused++
	case a.silent:
		of.silent++
	default:
		of.values = append(of.values, *results.VerdictValue(a.pass, true))
	}
}

// ask returns the action that asks the judge samples times about each attempt, without earlier
// answers.
func (s *judgedSamples) ask(r *results.Run, samples int) *app.Action {
	with := []app.Setting{app.One("judge", s.version.Name)}
	if s.own {
		with = append(with, app.One("prompt", "FILE"), app.One("schema", "FILE"))
	}
	with = append(with, app.One("model", s.model), app.One("samples", fmt.Sprint(samples)),
		app.Setting{Name: "no-cache"})
	return &app.Action{Verb: app.VerbJudge, Run: r.Stored.ID, With: with}
}
