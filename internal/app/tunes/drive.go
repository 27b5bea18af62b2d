// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/tune"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// The events of a search, by their names on a server.
const (
	EventStart              = "tune_start"
	EventResult             = "combo_result"
	EventComplete           = "tune_complete"
	EventGeneration         = "generation_start"
	EventPrompt             = "prompt_generated"
	EventPromptStart        = "prompt_eval_start"
	EventPromptResult       = "prompt_eval_result"
	EventGenerationComplete = "generation_complete"
	EventGenerationError    = "generation_error"
	// EventRound ends a round of the search, EventConfirm begins the confirmation.
	EventRound   = "round_complete"
	EventConfirm = "confirm_start"
)

// Do carries out the search until ctx or its limits end it. The search is stored after each part.
// Together with the search it returns the error that ended it early, if any.
func (s *Session) Do(ctx context.Context) (*Tune, error) {
	began, before := s.app.Config.Now(), s.Spent.Seconds
	s.begun = func() float64 { return before + s.app.Config.Now().Sub(began).Seconds() }
	if n := len(s.Runs); s.State == Failed && n > 1 {
		s.again = s.Runs[n-1]
	}
	s.Spent, s.State, s.Problem = Spent{Seconds: before}, Running, ""
	s.next = 1
	s.emit(&app.TuneEvent{What: EventStart})
	err := s.all(ctx)
	switch {
	case err == nil:
		s.State = Done
	case ctx.Err() != nil || errors.As(err, new(*endedError)):
		s.State = Interrupted
		err = cmp.Or(context.Cause(ctx), context.Canceled)
	default:
		s.State, s.Problem = Failed, s.hidden(err)
	}
	if kept := s.save(context.WithoutCancel(ctx)); kept != nil {
		return s.Tune, errors.Join(err, kept)
	}
	s.emit(&app.TuneEvent{What: EventComplete, Text: string(s.State)})
	return s.Tune, err
}

// hidden returns the text of an error without secrets.
func (s *Session) hidden(err error) string {
	red, bad := results.RedactorOf(s.app, s.plan.Manifest, nil)
	if bad != nil {
		return "the error cannot be shown: " + bad.Error()
	}
	return plain.Limited(red.Text(err.Error()), 2000)
}

func (s *Session) emit(ev *app.TuneEvent) {
	ev.Tune = s.ID
	ev.Requests, ev.CostUSD = s.Spent.Requests, s.Spent.USD
	s.events.Emit(app.Event{Tune: ev})
}

// all searches for each model, and confirms the results.
func (s *Session) all(ctx context.Context) error {
	for i, m := range s.models {
		search := s.tryAll
		if s.Kind == Prompt {
			search = s.breed
		}
		if err := search(ctx, m); err != nil {
			return err
		}
		s.rank(m)
		if err := s.confirm(ctx, i, m); err != nil {
			return err
		}
		s.show()
		if err := s.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tryAll tries the combinations of a model, round by round.
func (s *Session) tryAll(ctx context.Context, m *searching) error {
	for round, ok := m.contest.Next(); ok; round, ok = m.contest.Next() {
		if s.enough(m, len(round.Candidates)*s.attempts(round.Tasks)) {
			return nil
		}
		whole, err := s.round(ctx, m, round, m.specsOf(round.Candidates), s.Request.Run.NoCache)
		if err != nil || !whole {
			return err
		}
	}
	return nil
}

// attempts returns how many attempts a candidate makes at training cases.
func (s *Session) attempts(tasks []int) (n int) {
	for _, t := range tasks {
		n += s.plan.Manifest.RepeatsOf(s.places[t].at)
	}
	return n
}

// enough reports whether the limits require the search for a model to end before that number of
// further attempts. The answer is stored, so that a resumed search ends at the same place.
func (s *Session) enough(m *searching, attempts int) bool {
	if m.EndedAt > 0 {
		return s.next >= m.EndedAt
	}
	if s.next < len(s.Runs) { // the part was started in an earlier session
		return false
	}
	per := 1.0 // requests of an attempt
	made := 0
	for _, of := range s.models {
		for _, t := range of.sums {
			made += t.attempts
		}
	}
	cost := 0.0
	if made > 0 {
		per, cost = max(1, float64(s.Spent.Requests)/float64(made)), (s.Spent.USD+s.Spent.AssumedUSD)/float64(made)
	}
	// The budget for the confirmation of each remaining model is kept.
	left := len(s.models) - slices.Index(s.models, m)
	need := float64(attempts + 2*left*s.confirmAttempts())
	q := &s.Request.Run.Settings
	var why string
	switch {
	case q.MaxCalls > 0 && float64(s.Spent.Requests)+need*per > float64(q.MaxCalls):
		why = fmt.Sprintf("the limit of %s", plain.Count(q.MaxCalls, "request", "requests"))
	case q.MaxCostUSD > 0 && s.Spent.USD+s.Spent.AssumedUSD+need*cost > q.MaxCostUSD:
		why = "the limit of " + plain.Dollars(q.MaxCostUSD)
	case s.Request.MaxSeconds > 0 && s.begun() > s.Request.MaxSeconds:
		why = fmt.Sprintf("the limit of %g seconds", s.Request.MaxSeconds)
	default:
		return false
	}
	m.Ended, m.EndedAt = why, s.next
	return true
}

// confirmAttempts returns how many attempts a side of a confirmation has.
func (s *Session) confirmAttempts() (n int) {
	for _, list := range [][]place{s.held, s.rules} {
		for _, p := range list {
			n += s.plan.Manifest.RepeatsOf(p.at)
		}
	}
	return n
}

func (m *searching) specsOf(candidates []int) []app.TargetSpec {
	out := make([]app.TargetSpec, len(candidates))
	for i, c := range candidates {
		out[i] = m.specs[c]
	}
	return out
}

// round carries out a round: each candidate at each of the tasks. fresh uses no stored answers.
// whole is false if the limits ended it: then the search is over.
func (s *Session) round(ctx context.Context, m *searching, round tune.Round, specs []app.TargetSpec, fresh bool,
) (whole bool, err error) {
	ids, at := make([]string, len(round.Tasks)), make([]int, len(round.Tasks))
	for i, t := range round.Tasks {
		ids[i], at[i] = s.places[t].id, s.places[t].at
	}
	for i := range round.Candidates {
		s.emit(&app.TuneEvent{
			What: s.named(EventPromptStart, ""), Model: m.Model, Candidate: round.Candidates[i],
			Name: specs[i].Name,
		})
	}
	slices.Sort(at)
	r, whole, err := s.carryOut(ctx,
		&runs.Part{Specs: specs, Cases: at, Repeats: s.plan.Manifest.Repeats, NoCache: fresh})
	if err != nil {
		return false, err
	}
	if err := s.take(ctx, r, m, round, ids, whole); err != nil {
		return false, err
	}
	if !whole && m.EndedAt == 0 {
		m.Ended, m.EndedAt = "its limits", s.next
	}
	s.record(m, round.Candidates)
	return whole, s.save(ctx)
}

// take passes the result of a round to the contest.
func (s *Session) take(ctx context.Context, r *results.Run, m *searching, round tune.Round, ids []string, whole bool,
) error {
	made, err := m.gather(ctx, r, round.Candidates)
	if err != nil {
		return err
	}
	sums, err := s.means(ctx, r, ids)
	if err != nil {
		return err
	}
	silent := 0
	valued := m.valued(sums, ids)
	for i, c := range round.Candidates {
		for k, t := range round.Tasks {
			if !whole && !made[[2]int{i, s.places[t].at}] {
				continue
			}
			sum := sums[i][k]
			pooled := m.sums[c].means[ids[k]]
			pooled = panel.TaskSum{
				Task: ids[k], Sum: pooled.Sum + sum.Sum, Values: pooled.Values + sum.Values,
				Lost: pooled.Lost + sum.Lost,
			}
			m.sums[c].means[ids[k]] = pooled
			mean := s.meanOf(&sum)
			if !valued[k] {
				mean = panel.TaskMean{} // the case cannot have the metric: no value is lost
			}
			m.contest.Take(c, t, mean)
		}
		t := m.sums[c]
		if t.attempts > 0 && t.lost == t.attempts {
			silent++
			if c != 0 {
				m.contest.Break(c, "none of its attempts has an outcome: "+t.fault)
			}
		}
		if broken := m.breaks(c, s.places, false); c != 0 && len(broken) > 0 {
			m.contest.Break(c, broken[0])
		}
	}
	if t := m.sums[0]; silent == len(round.Candidates) && t.lost == t.attempts {
		return fmt.Errorf("search with %s: %w: no attempt has an outcome: %s", m.Model, callvet.ErrUnavailable, t.fault)
	}
	m.contest.Look()
	return s.noValue(m)
}

// valued reports for each of the cases whether an attempt of a candidate, or an earlier one of the
// base, has a value of the metric or is lost. The other cases cannot have the metric.
func (m *searching) valued(sums [][]panel.TaskSum, ids []string) []bool {
	out := make([]bool, len(ids))
	for k, id := range ids {
		base := m.sums[0].means[id]
		out[k] = base.Values+base.Lost > 0
		for i := range sums {
			out[k] = out[k] || sums[i][k].Values+sums[i][k].Lost > 0
		}
	}
	return out
}

// noValue returns the error of a metric without a value in any attempt. For a metric that every
// suite may have, it does so only after the base ran all cases.
func (s *Session) noValue(m *searching) error {
	answered := 0
	for _, t := range m.sums {
		answered += t.answered
		for _, sum := range t.means {
			if sum.Values > 0 {
				return nil
			}
		}
	}
	known := panel.Comparable()
	if answered == 0 || slices.Contains(known, s.Metric) && len(m.sums[0].means) < len(s.places) {
		return nil
	}
	fix := "choose another metric, such as " + panel.MetricPass
	if near := callvet.Nearest(s.Metric, known); near != "" && near != s.Metric {
		fix = "did you mean " + near + "?"
	}
	return &callvet.FieldError{
		Field: "metric", Text: "{metric} " + plain.Limited(plain.Line(s.Metric), 100) + ": no attempt has a value of it",
		Fix: fix,
	}
}

// named returns the name of an event: the one for prompts, or the one for parameters.
func (s *Session) named(prompt, params string) string {
	if s.Kind == Prompt {
		return prompt
	}
	return params
}

// record writes the standing of candidates into the document.
func (s *Session) record(m *searching, candidates []int) {
	for _, c := range candidates {
		of := m.CandidateOf(c)
		if of == nil {
			m.Candidates = append(m.Candidates, s.newCandidate(m, c))
			of = &m.Candidates[len(m.Candidates)-1]
		}
		st := m.contest.Standing(c)
		t := m.sums[c]
		of.Dropped, of.Broken, of.Attempts, of.Lost = st.Dropped, st.Broken, t.attempts, t.lost
		of.Tasks, of.Score = s.score(t, m.sums[0])
		if t.priced > 0 && t.priced == t.answered {
			usd := t.usd / float64(t.priced)
			of.CostUSD = &usd
		}
		if t.answered > 0 {
			ms := t.ms / float64(t.answered)
			of.LatencyMS = &ms
		}
		ev := &app.TuneEvent{
			What: s.named(EventPromptResult, EventResult), Model: m.Model, Candidate: c, Name: of.Name, Tasks: of.Tasks,
			Of: len(s.places), Score: of.Score, Dropped: of.Dropped != nil || of.Broken != "",
			Generation: of.Generation,
		}
		ev.Best = m.contest.Leader()
		s.emit(ev)
	}
	slices.SortStableFunc(m.Candidates, func(a, b Candidate) int { return cmp.Compare(a.N, b.N) })
	m.Best = m.contest.Leader()
	in := 0
	for i := range m.Candidates {
		if c := &m.Candidates[i]; c.Dropped == nil && c.Broken == "" {
			in++
		}
	}
	if best := m.CandidateOf(m.Best); best != nil {
		s.emit(&app.TuneEvent{
			What: EventRound, Model: m.Model, Candidate: m.Best, Name: best.Name, Tasks: best.Tasks, Of: len(s.places),
			Score:      best.Score,
			Generation: best.Generation, Best: m.Best, In: in, Asked: len(m.Candidates),
		})
	}
	s.show()
}

// newCandidate describes a candidate.
func (s *Session) newCandidate(m *searching, n int) Candidate {
	c := Candidate{N: n}
	if s.Kind == Params {
		c.Spec, c.Values = m.specs[n], m.values[n]
	} else {
		of := m.evolution.Candidates()[n]
		c.Spec, c.Prompt, c.Mutation, c.Generation, c.Note = s.prompted(m, n), of.Prompt, of.Mutation,
			of.Generation, of.Note
		if of.Parent >= 0 {
			c.Parent = &of.Parent
		}
	}
	c.Name = cmp.Or(c.Spec.Name, m.Model)
	return c
}

// score returns the mean of a candidate over the training cases that it ran, with a 95 % interval;
// lost attempts count as 0. Cases of a family are not independent evidence.
func (s *Session) score(t, base *tally) (tasks int, iv *stats.Interval) {
	var values []float64
	var clusters []int
	of := map[string]int{}
	for _, p := range s.places {
		sum, known := t.means[p.id]
		if !known {
			continue
		}
		first := base.means[p.id]
		if sum.Values+sum.Lost+first.Values+first.Lost == 0 { // the case cannot have the metric
			continue
		}
		if _, seen := of[p.family]; !seen {
			of[p.family] = len(of)
		}
		values, clusters = append(values, s.meanOf(&sum).Low), append(clusters, of[p.family])
	}
	if len(values) == 0 {
		return 0, nil
	}
	out := stats.NeffInterval(values, clusters, 0.95, 0)
	return len(values), &out
}

// rank finds the best candidate on the training cases.
func (s *Session) rank(m *searching) {
	m.Best, m.Alike = m.contest.Leader(), m.contest.Alike()
	for i := range m.Candidates { // some were dropped after their last round
		c := &m.Candidates[i]
		if st := m.contest.Standing(c.N); st.Dropped != nil {
			c.Dropped = st.Dropped
		}
	}
	if best := m.CandidateOf(m.Best); best != nil {
		best.Dropped = nil // dropped from one generation, not from all together
	}
	m.Alike = slices.DeleteFunc(m.Alike, func(n int) bool {
		c := m.CandidateOf(n)
		return c == nil || c.Dropped != nil
	})
	m.Front = s.front(m)
	s.show()
}

// front returns the candidates that no other candidate beats in score, length of the prompt and
// cost at once.
func (s *Session) front(m *searching) []int {
	var list []tune.Objectives
	var numbers []int
	for i := range m.Candidates {
		c := &m.Candidates[i]
		if c.Score == nil || c.Broken != "" || len(m.sums[c.N].means) < len(s.places) {
			continue
		}
		list = append(list, tune.Objectives{Score: c.Score.Point, Length: len([]rune(c.Prompt)), USD: c.CostUSD})
		numbers = append(numbers, c.N)
	}
	var out []int
	for _, i := range tune.Front(list) {
		out = append(out, numbers[i])
	}
	return out
}

// confirm compares the best candidate with the base on the held-out cases, once, with fresh attempts.
func (s *Session) confirm(ctx context.Context, i int, m *searching) error {
	if len(m.Candidates) == 0 && m.Ended != "" {
		m.Outcome, m.Sentence = Unconfirmed, "the limits leave no room for a round: nothing was asked; raise them and resume"
		return nil
	}
	if len(m.Candidates) == 0 {
		m.Outcome, m.Sentence = BaseBest, "no new prompt was written: there is nothing to compare"
		return nil
	}
	if m.Best == 0 {
		m.Outcome, m.Sentence = BaseBest, fmt.Sprintf(
			"no candidate is better than what you have, on %s: nothing to confirm, and the held-out cases stay unused",
			plain.Count(len(m.sums[0].means), "training case", "training cases"))
		return nil
	}
	if s.Cases.Few != "" {
		m.Outcome, m.Sentence = tune.Refused, "promotion refused: "+s.Cases.Few
		return nil
	}
	if s.next >= len(s.Runs) && s.noRoom() {
		m.Outcome, m.Sentence = Unconfirmed,
			"the limits leave no room for the confirmation on the held-out cases: raise them and resume"
		return nil
	}
	if err := s.use(ctx); err != nil {
		return err
	}
	best := m.CandidateOf(m.Best)
	s.emit(&app.TuneEvent{What: EventConfirm, Model: m.Model, Candidate: m.Best, Name: best.Name})
	base := m.CandidateOf(0)
	cases := slices.Concat(s.held, s.rules)
	part := &runs.Part{
		Specs: []app.TargetSpec{base.Spec, best.Spec}, Repeats: s.plan.Manifest.Repeats, NoCache: true,
	}
	for _, p := range cases {
		part.Cases = append(part.Cases, p.at)
	}
	slices.Sort(part.Cases)
	r, _, err := s.carryOut(ctx, part)
	if err != nil {
		return err
	}
	m.ConfirmRun = r.Stored.ID
	return s.decide(ctx, i, m, r, cases)
}

// noRoom reports whether the limits of the search are too small for a confirmation.
func (s *Session) noRoom() bool {
	q := &s.Request.Run.Settings
	return q.MaxCalls > 0 && s.Spent.Requests+2*s.confirmAttempts() > q.MaxCalls ||
		q.MaxCostUSD > 0 && s.Spent.USD+s.Spent.AssumedUSD >= q.MaxCostUSD
}

// decide evaluates the confirmation of the i-th model.
func (s *Session) decide(ctx context.Context, i int, m *searching, r *results.Run, cases []place) error {
	fresh := &searching{ModelSearch: m.ModelSearch, sums: map[int]*tally{}}
	made, err := fresh.gather(ctx, r, []int{0, m.Best})
	if err != nil {
		return err
	}
	ids := make([]string, len(s.held))
	for k, p := range s.held {
		ids[k] = p.id
	}
	sums, err := s.means(ctx, r, ids)
	if err != nil {
		return err
	}
	cfg := tune.ConfirmConfig{
		TrainFamilies: s.Cases.TrainFamilies, Use: s.Use + i, Margin: s.Request.Margin,
		Broken: fresh.breaks(m.Best, cases, true),
	}
	for k, p := range s.held {
		values := sums[0][k].Values + sums[0][k].Lost + sums[1][k].Values + sums[1][k].Lost
		if values == 0 && made[[2]int{0, p.at}] && made[[2]int{1, p.at}] {
			continue // the case cannot have the metric
		}
		cfg.Cases = append(cfg.Cases, tune.HeldOut{
			Case: p.id, Family: p.family, Base: s.meanOf(&sums[0][k]), Candidate: s.meanOf(&sums[1][k]),
		})
	}
	m.Confirmation = tune.Confirm(cfg)
	m.Outcome, m.Sentence = m.Confirmation.Outcome, m.Confirmation.Text
	s.show()
	return nil
}
