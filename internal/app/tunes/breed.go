// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/tune"
	"github.com/callvet/callvet/panel"
)

// evolve prepares the search for a prompt of a model. The base is the present prompt of the model.
func (s *Session) evolve(m *searching) (err error) {
	base := strings.TrimSpace(m.spec.SystemPrompt)
	if own := strings.TrimSpace(s.plan.Suite.SystemPrompt); own != "" && (base == "" || !m.spec.Replaces()) {
		base = strings.TrimSpace(base + "\n\n" + own)
	}
	q := s.Request
	m.evolution, err = tune.NewEvolution(tune.EvolveConfig{
		Mode: tune.PromptMode(q.Mode), Base: base, Population: q.Population, Generations: q.Generations,
		Selection: q.Selection,
		Tools:     s.plan.Suite.Tools, Seed: uint64(q.Run.Seed),
	})
	return err
}

// writer checks that the model that writes prompts can be used.
func (s *Session) writer(ctx context.Context) error {
	specs := []app.TargetSpec{*s.Request.Meta}
	if err := errors.Join(s.app.Permitted(specs), s.app.CheckSecrets(specs)); err != nil {
		return err
	}
	op, err := s.app.NewOpener(s.Request.Run.Timeout(), s.Request.Run.Prices, s.ID, nil)
	if err != nil {
		return err
	}
	op.Lacks = s.lacks
	defer op.Close()
	ts, err := op.OpenAll(ctx, specs)
	if err == nil && (len(ts) != 1 || ts[0].Selects || ts[0].Floor) {
		err = app.Wrong("meta_model", s.Request.Meta.Target, "it answers no question: a model writes prompts")
	}
	return err
}

// prompted returns the target of a prompt.
func (s *Session) prompted(m *searching, n int) app.TargetSpec {
	spec := m.spec
	if n == 0 {
		return spec
	}
	yes := true
	spec.SystemPrompt, spec.ReplaceSystem = m.evolution.Candidates()[n].Prompt, &yes
	spec.Name, spec.Profile = fmt.Sprintf("%s prompt %d", m.Model, n), ""
	return spec
}

// breed searches for a prompt, generation by generation. Prompts that stay are evaluated again in
// each one.
func (s *Session) breed(ctx context.Context, m *searching) error {
	var scores []float64
	var failed []tune.Evidence
	if tune.PromptMode(s.Request.Mode) == tune.Reflect { // failures of the base come before the first question
		whole, err := s.generation(ctx, m, []int{0}, &failed)
		if err != nil || !whole {
			return err
		}
		scores = s.scores(m, []int{0})
	}
	for !s.enough(m, 0) {
		questions, ok := m.evolution.Ask(scores, failed)
		if !ok {
			break
		}
		s.emit(&app.TuneEvent{What: EventGeneration, Model: m.Model, Generation: m.evolution.Generation()})
		fresh, whole, err := s.write(ctx, m, questions)
		if err != nil {
			return err
		}
		if !whole {
			break
		}
		if fresh == 0 { // there is no new prompt
			continue
		}
		failed = nil
		population := m.evolution.Population()
		if whole, err = s.generation(ctx, m, population, &failed); err != nil {
			return err
		}
		scores = s.scores(m, population)
		s.emit(&app.TuneEvent{
			What: EventGenerationComplete, Model: m.Model, Generation: m.evolution.Generation(),
			Best: m.Best,
		})
		if !whole {
			break
		}
	}
	s.final(m)
	return nil
}

// write requests the prompts of a generation and counts the new ones. whole is false if the limits
// ended the search.
func (s *Session) write(ctx context.Context, m *searching,
	questions []tune.Question,
) (fresh int, whole bool, err error) {
	for len(questions) > 0 {
		answers, whole, err := s.ask(ctx, m, questions)
		if err != nil {
			return fresh, false, err
		}
		if !whole && m.EndedAt == 0 {
			m.Ended, m.EndedAt = "its limits", s.next
		}
		taken := m.evolution.Take(answers)
		for _, n := range taken.Added {
			fresh++
			s.emit(&app.TuneEvent{
				What: EventPrompt, Model: m.Model, Candidate: n, Name: s.prompted(m, n).Name,
				Generation: m.evolution.Generation(),
			})
		}
		for _, f := range taken.Failures {
			m.Failures = append(m.Failures, f)
			s.emit(&app.TuneEvent{What: EventGenerationError, Model: m.Model, Generation: f.Generation, Text: f.Detail})
		}
		s.show()
		if err := s.save(ctx); err != nil || !whole {
			return fresh, false, err
		}
		questions = taken.Again
	}
	return fresh, true, nil
}

// ask asks the model that writes prompts. The answers are in the order of the questions.
func (s *Session) ask(ctx context.Context, m *searching, questions []tune.Question) ([]tune.Answer, bool, error) {
	made := &callvet.Suite{
		Name: s.Suite + ": prompts", SystemPrompt: tune.PromptInstructions(),
		Description: "prompts for a search: " + s.ID,
	}
	for _, q := range questions {
		made.Cases = append(made.Cases, callvet.Case{
			ID: q.ID, Input: q.Turns, ToolNames: []string{}, Expect: callvet.Expect{ResponseNonEmpty: true},
		})
	}
	part := &runs.Part{ID: s.partID(), Of: s.ID, Form: tune.PromptForm()}
	req := app.RunRequest{
		SuiteRequest: app.SuiteRequest{Suite: made.Name}, Made: made, Targets: []app.TargetSpec{*s.Request.Meta},
		Settings: s.settings(), Prices: s.Request.Run.Prices, NoCache: s.Request.Run.NoCache,
	}
	r, whole, err := s.finish(ctx, part.ID, func() (*runs.Session, error) {
		return part.Plan(ctx, s.app, req, s.partEvents)
	})
	if err != nil {
		return nil, false, fmt.Errorf("ask for prompts: %w", err)
	}
	of := map[string]tune.Answer{}
	lost, why := 0, ""
	for row, err := range r.Rows(context.WithoutCancel(ctx), store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, false, err
		}
		t := &row.Cell.Trace
		a := tune.Answer{Text: t.Answer, Why: row.Cell.Result.Reason}
		if t.Fault != nil {
			a = tune.Answer{Why: t.Fault.Error()}
			lost, why = lost+1, a.Why
		}
		of[row.Case.ID] = a
	}
	if lost == len(questions) {
		return nil, false, fmt.Errorf("ask for prompts: %w: %s does not answer: %s", callvet.ErrUnavailable,
			s.Request.Meta.Target, why)
	}
	out := make([]tune.Answer, len(questions))
	for i, q := range questions {
		a, known := of[q.ID]
		if !known {
			a.Why = "it was not asked"
		}
		out[i] = a
	}
	return out, whole, nil
}

// generation lets prompts race with fresh attempts. Their failures are added to failed.
func (s *Session) generation(ctx context.Context, m *searching, population []int, failed *[]tune.Evidence,
) (whole bool, err error) {
	race := tune.NewRace(s.race())
	for n := range m.evolution.Candidates() {
		if race.Add(1); !slices.Contains(population, n) {
			race.Break(n, "it is not of this generation")
		}
	}
	m.contest = race
	for round, ok := m.contest.Next(); ok; round, ok = m.contest.Next() {
		if s.enough(m, len(round.Candidates)*s.attempts(round.Tasks)) {
			return false, nil
		}
		specs := make([]app.TargetSpec, len(round.Candidates))
		for i, c := range round.Candidates {
			specs[i] = s.prompted(m, c)
		}
		id := s.partID()
		whole, err := s.round(ctx, m, round, specs, true)
		if err != nil || !whole {
			return false, err
		}
		if tune.PromptMode(s.Request.Mode) == tune.Reflect {
			if err := s.failures(ctx, id, round.Candidates, failed); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// failures adds the failed attempts of a part, redacted, as evidence.
func (s *Session) failures(ctx context.Context, id string, candidates []int, failed *[]tune.Evidence) error {
	ctx = context.WithoutCancel(ctx)
	r, red, err := results.OpenRedacted(ctx, s.app, id, nil)
	if err != nil {
		return err
	}
	for row, err := range r.Shown(ctx,
		store.Filter{Order: store.ByCase, Verdicts: []callvet.Verdict{callvet.VerdictFail}}, red) {
		if err != nil {
			return err
		}
		if e, ok := tune.EvidenceOf(candidates[row.Cell.Target], row.Case, row.Cell); ok {
			*failed = append(*failed, e)
		}
	}
	return nil
}

// scores returns the scores of all prompts so far; NaN: the prompt cannot be a parent.
func (s *Session) scores(m *searching, population []int) []float64 {
	out := make([]float64, len(m.evolution.Candidates()))
	for i := range out {
		out[i] = math.NaN()
		c := m.CandidateOf(i)
		if c == nil || c.Score == nil || c.Broken != "" || c.Dropped != nil && slices.Contains(population, i) {
			continue
		}
		out[i] = c.Score.Point
	}
	return out
}

// final lets all prompts compete with the attempts of all generations.
func (s *Session) final(m *searching) {
	all := len(m.evolution.Candidates())
	race := tune.NewRace(s.race())
	race.Add(all)
	valued := map[string]bool{} // cases that can have the metric
	for _, t := range m.sums {
		for id, sum := range t.means {
			valued[id] = valued[id] || sum.Values+sum.Lost > 0
		}
	}
	for n, t := range m.sums {
		for i, p := range s.places {
			switch sum, known := t.means[p.id]; {
			case known && valued[p.id]:
				race.Take(n, i, s.meanOf(&sum))
			case known:
				race.Take(n, i, panel.TaskMean{})
			}
		}
		if c := m.CandidateOf(n); c != nil && c.Broken != "" {
			race.Break(n, c.Broken)
		}
	}
	for n := range all {
		if m.sums[n] == nil {
			race.Break(n, "it was not asked")
		}
	}
	m.contest = race
}
