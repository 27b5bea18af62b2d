// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/tune"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats/gate"
)

// Session is a search that is about to be carried out, new or resumed.
type Session struct {
	*Tune
	app    *app.App
	db     *store.DB
	plan   *results.Run
	events app.Events
	places []place // of the training cases, in the order of asking
	held   []place // held-out cases, in the order of the suite
	rules  []place // training cases that are regressions: constraints
	models []*searching
	// begun is when this session began, as seconds since some time, before the seconds of earlier ones.
	begun func() float64
	lacks func(*app.TargetSpec, string)
	// splitKey identifies the suite of a new search for its division and its uses.
	splitKey string
	next     int              // the number of the next part
	warned   []callvet.Notice // warnings of parts, each once
	// again is the part that failed: its attempts without an outcome run again. "": none.
	again string
}

// place is a case of the suite.
type place struct {
	at     int // its position
	id     string
	family string
	tier   callvet.Tier
}

// searching is the search for a model.
type searching struct {
	*ModelSearch
	spec  app.TargetSpec
	specs []app.TargetSpec // of the candidates of a search for parameters, by number
	// contest decides which candidates run next; nil until it begins.
	contest   contest
	evolution *tune.Evolution     // of a search for a prompt
	values    [][]json.RawMessage // by number of the candidate
	sums      map[int]*tally      // by number of the candidate
}

// contest is a tune.Search or a tune.Race.
type contest interface {
	Next() (tune.Round, bool)
	Take(candidate, task int, m panel.TaskMean)
	Look()
	Break(candidate int, why string)
	Standing(candidate int) tune.Standing
	Leader() int
	Alike() []int
}

// Check returns an error for a request that is wrong with any suite.
func (q *Request) Check() error {
	run := &q.Run
	switch {
	case q.Kind != Params && q.Kind != Prompt:
		return app.Wrong("kind", string(q.Kind), "it is %s or %s", Params, Prompt)
	case q.Mode != "" && !slices.Contains(Modes(q.Kind), q.Mode):
		return unknown("mode", q.Mode, "modes: ", Modes(q.Kind))
	case !(q.Holdout >= 0 && q.Holdout < 1):
		return app.Wrong("holdout", fmt.Sprint(q.Holdout), "write a share above 0 and below 1")
	case !(q.Margin >= 0 && q.Margin < 1):
		return app.Wrong("margin", fmt.Sprint(q.Margin), "write a share of at least 0 and below 1")
	case q.MaxSeconds < 0:
		return app.Wrong("max_time", "", "write a time above 0")
	case run.UntilDecided != nil || run.Judges != nil || run.RequirePass || run.FailUnder > 0 || run.Gates != "":
		return app.Refused("gates", "a search has no gates and no judges: it confirms its winner on held-out cases")
	}
	if strings.HasPrefix(q.Metric, "judged_") {
		return app.Wrong("metric", q.Metric, "a search has no judges")
	}
	if _, why := panel.TaskMeans(q.metric()); why != "" {
		return app.Wrong("metric", q.Metric, "%s: it has no mean of each case in [0,1]", why)
	}
	if q.Kind == Prompt {
		return q.checkPrompt()
	}
	return q.checkParams()
}

// unknown returns the error of an unknown name.
func unknown(field, name, list string, known []string) error {
	fix := list + strings.Join(known, ", ")
	if near := callvet.Nearest(name, known); near != "" {
		fix = "did you mean " + near + "? " + fix
	}
	return &callvet.FieldError{
		Field: field, Text: fmt.Sprintf("{%s} %s: it is not known", field, plain.Limited(plain.Line(name), 100)),
		Fix: fix,
	}
}

func (q *Request) checkParams() error {
	n := 0
	for _, given := range []bool{q.Space != "", q.Preset != "", len(q.SpaceText)+len(q.ModelSpaces) > 0} {
		if given {
			n++
		}
	}
	switch {
	case n == 0:
		return &callvet.FieldError{
			Field: "space", Text: "which values are tried?",
			Fix: "{space} FILE, or {preset} NAME: " + strings.Join(Presets(), ", "),
		}
	case n > 1:
		return app.Refused("space", "{space}, {preset} and {search_space} are the same thing: give one of them")
	case q.Meta != nil:
		return app.Refused("meta_model", "{meta_model} writes prompts: it has no use in a search for parameters")
	}
	return nil
}

func (q *Request) checkPrompt() error {
	switch {
	case q.Meta == nil || q.Meta.Target == "":
		return &callvet.FieldError{
			Field: "meta_model", Text: "which model writes the prompts?",
			Fix: "{meta_model} anthropic/claude-sonnet-4-5",
		}
	case q.Space != "" || q.Preset != "" || len(q.SpaceText)+len(q.ModelSpaces) > 0 || q.Trials != 0:
		return app.Refused("space",
			"{space} and {n_trials} are for parameters: they have no use in a search for a prompt")
	}
	return nil
}

func (q *Request) metric() string { return cmp.Or(q.Metric, panel.MetricPass) }

// Start checks a request, reads the suite, divides its cases, and stores the search. It sends no
// requests yet: Do does.
func Start(ctx context.Context, a *app.App, req Request, events app.Events) (*Session, error) {
	s, err := open(ctx, a, &req, nil, events)
	if err != nil {
		return nil, err
	}
	if err := s.add(ctx); err != nil {
		return nil, errors.Join(err, s.drop(ctx))
	}
	return s, nil
}

// open plans a search that is not stored yet. lacks, if it is not nil, is called with the missing
// variables of models that get no requests.
func open(ctx context.Context, a *app.App, req *Request, lacks func(*app.TargetSpec, string), events app.Events,
) (*Session, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	id, err := db.NewTune()
	if err != nil {
		return nil, err
	}
	run := req.Run
	run.MaxCalls, run.MaxCostUSD, run.Words = 0, 0, store.Words{} // limits are those of the search
	part := runs.Part{ID: id + ".0", Of: id, Lacks: lacks}
	planned, err := part.Plan(ctx, a, run, events)
	if err != nil {
		return nil, err
	}
	s := &Session{app: a, db: db, events: events, plan: planned.Run, lacks: lacks, Tune: &Tune{
		Format: "callvet.tune", Version: 1, ID: id, Kind: req.Kind, State: Running, Created: a.Config.Now().UTC(),
		Suite: planned.Suite.Name, SuiteHash: planned.Stored.SuiteHash, Request: req, Metric: req.metric(),
		Runs: []string{part.ID},
	}}
	s.Request.Run.Made = nil
	// Cases are read even after ctx ends, so that received answers are stored.
	if s.plan, err = results.Open(context.WithoutCancel(ctx), a, part.ID); err == nil {
		err = s.divide(ctx)
	}
	if err == nil {
		err = s.prepare(ctx)
	}
	if err = errors.Join(err, planned.Close()); err != nil {
		return nil, errors.Join(err, s.drop(ctx))
	}
	return s, nil
}

// drop removes the plan of a search that is not stored.
func (s *Session) drop(ctx context.Context) error {
	return s.db.DeleteRun(context.WithoutCancel(ctx), s.Runs[0], nil, nil)
}

// divide finds the training and the held-out cases.
func (s *Session) divide(ctx context.Context) error {
	var failed error
	at, positions := 0, map[string]int{}
	cases := func(yield func(*callvet.Case) bool) {
		for c := range s.plan.Chosen(&failed) {
			position := at
			if s.plan.Manifest.Cases != nil {
				position = s.plan.Manifest.Cases[at]
			}
			at++
			switch {
			case c.Skip != "":
				s.Cases.Skipped++
			case c.Tier == callvet.TierRubric:
				s.Cases.Rubrics++
			default:
				positions[c.ID] = position
				if !yield(c) {
					return
				}
			}
		}
	}
	members := tune.Families(cases, tune.Origins)
	if failed != nil {
		return failed
	}
	before, err := s.earlier(ctx, members)
	if err != nil {
		return err
	}
	share := cmp.Or(s.Request.Holdout, tune.DefaultShare)
	s.Halves = tune.Split(members, share, before, s.Suite)
	if n := tune.LeftOut(members, before); n > 0 {
		s.Notes = append(s.Notes, plain.Count(n, "held-out case", "held-out cases")+
			" of earlier searches take no part now: if their outcomes were the reason, a confirmation shows nothing")
	}
	tiers := map[string]callvet.Tier{}
	for _, m := range members {
		tiers[m.Case.ID] = m.Case.Tier
	}
	s.Cases.TrainFamilies, s.Cases.HoldoutFamilies = s.Halves.TrainFamilies, s.Halves.HoldoutFamilies
	s.Cases.Few = s.Halves.Few()
	s.arrange(func(id string) int { return positions[id] }, func(id string) callvet.Tier { return tiers[id] })
	for _, list := range [][]place{s.places, s.held} {
		for _, p := range list {
			if p.tier == callvet.TierRegression {
				s.Cases.Regressions++
			}
		}
	}
	if s.Cases.Train, s.Cases.Holdout = len(s.places), len(s.held); s.Cases.Train == 0 {
		return &callvet.Hinted{
			Err: fmt.Errorf("search with suite %s: %w: it has no case to search with", s.Suite, callvet.ErrInvalid),
			Hint: "a search needs cases that are neither skipped nor for judges; " + fmt.Sprint(tune.MinFamilies) +
				" families on each side confirm a winner",
		}
	}
	return nil
}

// arrange makes the lists of cases from the halves.
func (s *Session) arrange(at func(id string) int, tier func(id string) callvet.Tier) {
	ids := make([]string, 0, len(s.Halves.Cases))
	of := map[string]place{}
	for _, c := range s.Halves.Cases {
		p := place{at: at(c.Case), id: c.Case, family: c.Family, tier: tier(c.Case)}
		if c.Side == tune.Holdout {
			s.held = append(s.held, p)
			continue
		}
		ids, of[c.Case] = append(ids, c.Case), p
	}
	for _, id := range results.Shuffled(ids) {
		s.places = append(s.places, of[id])
		if of[id].tier == callvet.TierRegression {
			s.rules = append(s.rules, of[id])
		}
	}
}

// prepare lists the candidates of each model.
func (s *Session) prepare(ctx context.Context) error {
	man := s.plan.Manifest
	if len(man.Specs) != len(man.Targets) {
		return app.Wrong("targets", "", "a search is about models, and not about recordings")
	}
	var space *tune.Space
	var err error
	if s.Kind == Params {
		space, err = s.space(ctx)
	} else {
		err = s.writer(ctx)
	}
	if err != nil {
		return err
	}
	for i := range man.Specs {
		t := &man.Targets[i]
		if t.Recorded || t.Floor || t.Selects || t.Agent {
			return app.Wrong("targets", t.Name, "a search changes what a model is sent, and this is no model")
		}
		m := &searching{
			ModelSearch: &ModelSearch{Model: t.Name, Alike: []int{}, Candidates: []Candidate{}},
			spec:        man.Specs[i], sums: map[int]*tally{},
		}
		if s.Kind == Params {
			err = s.combinations(ctx, m, t, space)
		} else {
			err = s.evolve(m)
		}
		if err != nil {
			return err
		}
		s.models = append(s.models, m)
	}
	s.show()
	return nil
}

// show writes the searches of the models into the document.
func (s *Session) show() {
	s.Models = s.Models[:0]
	for _, m := range s.models {
		s.Models = append(s.Models, *m.ModelSearch)
	}
}

// space reads the values of the parameters.
func (s *Session) space(ctx context.Context) (*tune.Space, error) {
	q := s.Request
	if space, ok := tune.PresetSpace(q.Preset); ok {
		return space, nil
	}
	space, err := s.readSpace(ctx)
	if err != nil {
		return nil, err
	}
	// The whole space is stored with the search, also the parts for other models.
	return space, s.app.CheckSecrets([]app.TargetSpec{{Params: callvet.Params{Extra: map[string]json.RawMessage{
		"space": q.SpaceContent, "search_space": q.SpaceText, "per_model_search_spaces": q.ModelSpaces,
	}}}})
}

func (s *Session) readSpace(ctx context.Context) (*tune.Space, error) {
	q := s.Request
	switch {
	case q.Preset != "" && q.SpaceContent == nil:
		own, err := preset(ctx, s.app, s.db, q.Preset)
		if err != nil {
			return nil, err
		}
		q.SpaceContent = own
		return tune.ReadSpace("preset "+q.Preset, own)
	case q.Preset != "":
		return tune.ReadSpace("preset "+q.Preset, q.SpaceContent)
	case q.Space == "":
		return tune.ReadRequest(q.SpaceText, q.ModelSpaces)
	case q.SpaceContent != nil: // the file may have changed since
		return tune.ReadSpace(q.Space, q.SpaceContent)
	}
	b, err := s.app.Read(q.Space, tune.MaxSpaceBytes)
	if err != nil {
		return nil, fmt.Errorf("read space: %w", err)
	}
	space, err := tune.ReadSpace(q.Space, b)
	if err != nil {
		return nil, err
	}
	file, bad := doc.Read(q.Space, b)
	if bad != nil {
		return nil, fmt.Errorf("read space: %w", file.Problem(bad))
	}
	q.SpaceContent = file.Root.AppendJSON(nil) // comments are not kept
	return space, nil
}

// combinations resolves the combinations of a model's space and leaves out those that send the same
// request.
func (s *Session) combinations(ctx context.Context, m *searching, base *callvet.Target, space *tune.Space) error {
	own := tune.Combination{Params: m.spec.Params, ToolChoice: m.spec.ToolChoice}
	list, err := space.Combinations(m.spec.Target, own)
	if err != nil {
		return err
	}
	m.Names = space.Names(m.spec.Target)
	if len(list) == 0 {
		return app.Wrong("space", "", "it has no values for %s", m.Model)
	}
	op, err := s.app.NewOpener(s.Request.Run.Timeout(), s.Request.Run.Prices, s.ID, nil)
	if err != nil {
		return err
	}
	op.Lacks = s.lacks
	defer op.Close()
	choices, err := runs.ToolChoices(s.plan)
	if err != nil {
		return err
	}
	all := make([]tune.Resolved, len(list))
	specs := make([]app.TargetSpec, len(list))
	for i := range list {
		spec := m.spec
		spec.Params, spec.ToolChoice = list[i].Params, list[i].ToolChoice
		spec.Name, spec.Profile = m.Model+" "+CombinationName(m.Names, list[i].Values), ""
		specs[i] = spec
		all[i].Combination = list[i]
		if spec.ToolChoice != "" && !slices.Contains(choices, spec.ToolChoice) {
			all[i].Refused = "the suite has no tool " + plain.Limited(plain.Line(spec.ToolChoice), 100)
			continue
		}
		if err := s.app.CheckSecrets(specs[i : i+1]); err != nil {
			return err
		}
		ts, err := op.OpenAll(ctx, []app.TargetSpec{spec})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			all[i].Refused = err.Error()
		default:
			all[i].Target = ts[0].Target
		}
	}
	m.Matrix = tune.Dedupe(*base, all)
	m.specs = []app.TargetSpec{m.spec}
	if len(m.Matrix.Candidates) == 0 {
		return &callvet.FieldError{
			Field: "space",
			Text: fmt.Sprintf("no combination of the {space} differs from what %s gets now: %s", m.Model,
				reasons(m.Matrix)),
			Fix: "list other values, or other parameters",
		}
	}
	for _, row := range m.Matrix.Candidates {
		m.specs = append(m.specs, specs[row])
	}
	return s.newSearch(m, space.ValuesOf(m.spec.Target, own))
}

// reasons returns why combinations of a matrix are not tried, each once.
func reasons(m *tune.Matrix) string {
	var out []string
	for i := range m.Rows {
		row := &m.Rows[i]
		why := []string{row.Why}
		for _, adj := range row.Adjustments {
			why = append(why, adj.Param+": "+adj.Reason)
		}
		for _, w := range why {
			if w = plain.Line(w); w != "" && !slices.Contains(out, w) && len(out) < 3 {
				out = append(out, w)
			}
		}
	}
	return strings.Join(out, "; ")
}

// newSearch starts the search over the combinations of a model. base are the values of the base.
func (s *Session) newSearch(m *searching, base []json.RawMessage) error {
	points := m.Matrix.Points(base)
	search, err := tune.NewSearch(tune.SearchConfig{
		Mode: tune.Mode(s.Request.Mode), Points: points, Trials: s.Request.Trials, Seed: uint64(s.Request.Run.Seed),
		Race: s.race(),
	})
	if err != nil {
		return err
	}
	m.contest = search
	m.values = points
	return nil
}

// race returns the configuration of the race between candidates.
func (s *Session) race() tune.RaceConfig {
	return tune.RaceConfig{Tasks: len(s.places), NoRace: s.Request.NoRace, Alpha: gate.Alpha}
}

// CombinationName names a combination by the values that are sent.
func CombinationName(names []string, values []json.RawMessage) string {
	var parts []string
	for i, name := range names {
		if string(values[i]) != "null" {
			parts = append(parts, name+"="+plain.Limited(plain.Line(strings.Trim(string(values[i]), `"`)), 60))
		}
	}
	if len(parts) == 0 {
		return "without " + strings.Join(names, ", ")
	}
	return strings.Join(parts, " ")
}
