// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/store"
)

// judgedSamples are the single verdicts of one version of a judge on the attempts of runs.
type judgedSamples struct {
	version labels.Judge // without its number of samples
	own     bool
	model   string // as it was asked for
	of      map[sampledAttempt]*attemptSamples
	costs   meanCost
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

// oneVersion is a judge without its number of samples: a single verdict is the same with any number.
func oneVersion(j labels.Judge) labels.Judge {
	j.Params = maps.Clone(j.Params)
	delete(j.Params, "samples")
	return j
}

// samplesOfJudge reads the verdicts of the newest version of a judge of that name, or of that ID.
func samplesOfJudge(ctx context.Context, runs []*Run, name string) (*judgedSamples, error) {
	var out *judgedSamples
	for _, r := range runs {
		list, _, err := ReadJudgings(ctx, r.DB, r.Stored.ID, func(j *Judging) bool {
			id := j.Identity
			return HasVerdicts(j) && (id.Is(name) || oneVersion(id).ID() == name) && j.Under == nil &&
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
			out.notes = append(out.notes, fmt.Sprintf("verdicts of %s on run %s are not counted: another model or prompt",
				strings.Join(slices.Compact(other), ", "), r.Stored.ID))
		}
	}
	return out, nil
}

// read adds the answers of a judging. An attempt with several questions, such as one of each call,
// passes in a sample where all of them pass.
func (s *judgedSamples) read(ctx context.Context, r *Run, j *JudgingRun) error {
	m, err := ReadManifest(&j.Run)
	if err != nil {
		return err
	}
	if len(m.Specs) == 1 && s.model == "" {
		s.model = m.Specs[0].Target
	}
	if len(m.Targets) == 1 && m.Targets[0].Free {
		s.costs.free = true
	}
	_, cases, err := r.DB.OpenSuite(ctx, j.Run.SuiteHash)
	if err != nil {
		return err
	}
	type answer struct {
		sampledAttempt
		sample int
	}
	passes, cached := map[answer]*bool{}, map[answer]bool{}
	var order []answer
	at, key := -1, judge.Key{}
	for c, err := range r.DB.Cells(ctx, j.Run.ID, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return err
		}
		if c.Case != at {
			of, err := cases.Case(c.Case)
			if err != nil {
				return err
			}
			var q QuestionData
			if err := json.Unmarshal(of.Foreign, &q); err != nil {
				return fmt.Errorf("read judging %s: question %s: %w", j.Run.ID, of.ID, callvet.ErrInvalid)
			}
			at, key = c.Case, q.Key
		}
		if !c.Trace.Cached {
			s.costs.add(c.Trace.Usage.CostUSD)
		}
		k := answer{sampledAttempt{r.Stored.ID, key.Target, key.Task, key.Attempt}, c.Repeat}
		var pass *bool
		if v := c.Result.Verdict; v == callvet.VerdictPass || v == callvet.VerdictFail {
			pass = kept(&c.Result).Pass
		}
		before, known := passes[k]
		if !known {
			order = append(order, k)
		} else if pass == nil || before == nil {
			pass = nil
		} else {
			both := *pass && *before
			pass = &both
		}
		passes[k], cached[k] = pass, cached[k] || c.Trace.Cached
	}
	for _, k := range order {
		of := s.of[k.sampledAttempt]
		if of == nil {
			of = &attemptSamples{}
			s.of[k.sampledAttempt] = of
		}
		switch pass := passes[k]; {
		case cached[k] && k.sample < len(of.values)+of.silent: // the answer of an earlier judging
		case pass == nil:
			of.silent++
		default:
			of.values = append(of.values, *VerdictValue(*pass, true))
		}
	}
	return nil
}

// ask is the action that asks the judge so many times about each attempt, not counting earlier answers.
func (s *judgedSamples) ask(r *Run, samples int) *app.Action {
	with := []app.Setting{app.One("judge", s.version.Name)}
	if s.own {
		with = append(with, app.One("prompt", "FILE"), app.One("schema", "FILE"))
	}
	with = append(with, app.One("model", s.model), app.One("samples", fmt.Sprint(samples)), app.Setting{Name: "no-cache"})
	return &app.Action{Verb: app.VerbJudge, Run: r.Stored.ID, With: with}
}
