// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
)

// The routes of "Tool Selection Evaluation System": one question, a suite of questions, and a cache
// that can be dropped. They search an uploaded catalogue.
type (
	// SelectOne asks one question of a catalogue.
	SelectOne struct {
		Query         string   `json:"query" minLength:"1" maxLength:"50000"`
		ExpectedTools []string `json:"expected_tools,omitempty" required:"false" maxItems:"200" nullable:"true" doc:"the right tools; [] if none fits. Absent: nothing is judged"`
		Acceptable    []string `json:"acceptable_tools,omitempty" required:"false" maxItems:"200" nullable:"true"`
		Limit         int      `json:"limit,omitempty" required:"false" minimum:"1" maximum:"100" default:"2" doc:"how many tools are returned"`
		CatalogueID   string   `json:"catalogue_id,omitempty" required:"false" maxLength:"64" doc:"optional if there is exactly one"`
		Preset        string   `json:"preset,omitempty" required:"false" enum:"default,bigtool" doc:"how tools are scored"`
		Searching
	}
	// SearchModels are the models of a search.
	SearchModels struct {
		Embed  string `json:"embed,omitempty" query:"embed" required:"false" maxLength:"500" doc:"the embedding model, such as openai:text-embedding-3-small or tei:URL; empty: the one of the server, or vectors without a model; none: these"`
		Rerank string `json:"rerank,omitempty" query:"rerank" required:"false" maxLength:"500" doc:"the reranking model, such as cohere:MODEL or tei:URL; empty: the one of the server; none: none"`
	}
	// Searching are the settings of a search: those of callvet select, without the preset.
	Searching struct {
		SearchModels
		Threshold      float64  `json:"threshold,omitempty" query:"threshold" required:"false" doc:"the score below which a tool is not returned; 0: none"`
		Abstain        float64  `json:"abstain,omitempty" query:"abstain" required:"false" minimum:"0" maximum:"1" doc:"the confidence below which no tool is returned; 0: none"`
		AbstainPercent float64  `json:"abstain_percent,omitempty" query:"abstain_percent" required:"false" minimum:"0" maximum:"100" doc:"in place of abstain: the share of the catalogue's examples that would get nothing"`
		AbstainRoutes  []string `json:"abstain_routes,omitempty" query:"abstain_routes" required:"false" maxItems:"20" nullable:"false" doc:"routes that need no tool"`
		Fusion         string   `json:"fusion,omitempty" query:"fusion" required:"false" enum:"mixed,reciprocal_rank" doc:"how words and vectors become one order"`
		Primary        string   `json:"primary,omitempty" query:"primary" required:"false" maxLength:"2000" doc:"namespaces under bigtool, with commas"`
		Fallback       string   `json:"fallback,omitempty" query:"fallback" required:"false" maxLength:"2000" doc:"namespaces under bigtool, with commas"`
		AgentGate      float64  `json:"agent_gate,omitempty" query:"agent_gate" required:"false" minimum:"0" maximum:"1" doc:"what a tool loses when none of its agents was chosen"`
		Agents         int      `json:"agents,omitempty" query:"agents" required:"false" minimum:"0" maximum:"100" doc:"how many agents may be chosen; 0: as the preset says"`
		Weights        string   `json:"weights,omitempty" query:"weights" required:"false" maxLength:"65536" doc:"weights as a text, as callvet select --weights reads them, such as those that tune gives"`
	}
	// SelectedOne is the result of one question.
	SelectedOne struct {
		Query         string      `json:"query"`
		CatalogueID   string      `json:"catalogue_id"`
		MatchType     string      `json:"match_type" enum:"exact_match,acceptable_match,partial_match,no_match," doc:"empty where nothing was expected; acceptable tools among others are no match, as the document counts"`
		OwnMatchType  string      `json:"own_match_type" enum:"exact_match,acceptable_match,partial_match,no_match," doc:"as callvet counts: acceptable tools among others are a partial match"`
		SelectedTools []string    `json:"selected_tools" nullable:"false"`
		Details       []Candidate `json:"scoring_details" nullable:"false" doc:"the best tools, selected or not"`
		LatencyMS     float64     `json:"latency_ms"`
		Route         string      `json:"route"`
		SubRoute      string      `json:"sub_route"`
		RouteReason   string      `json:"route_reason"`
		Agents        []string    `json:"agents"`
		Verdict       string      `json:"verdict,omitempty"`
		Reason        string      `json:"reason,omitempty"`
		// WhyLost explains for each expected tool that is not first why another one is.
		WhyLost []panel.RoutingDiagnosis `json:"why_lost" nullable:"false"`
	}
	// Candidate is a tool with its score and the parts of the score.
	Candidate struct {
		ToolID          string             `json:"tool_id"`
		Rank            int                `json:"rank"`
		Selected        bool               `json:"selected"`
		TotalScore      float64            `json:"total_score"`
		Parts           map[string]float64 `json:"parts" doc:"the terms of the score"`
		KeywordsMatched []string           `json:"keywords_matched" nullable:"false"`
		ExamplesMatched []string           `json:"examples_matched" nullable:"false"`
		WordsMatched    []string           `json:"words_matched" nullable:"false"`
	}
)

// candidates is how many further tools a response lists.
const candidates = 20

// Limits of a synchronous request with a suite of questions.
const (
	selectTime  = 2 * time.Minute
	selectCases = 2000
)

// noModel as a model's name means no model, even if the server has a default.
const noModel = "none"

// modelsOf returns the models of a search: the named ones, or the server's defaults.
func modelsOf(ctx context.Context, s *api.Server, named SearchModels) (SearchModels, error) {
	usual, err := s.Models(ctx)
	if err != nil {
		return named, err
	}
	for _, m := range []struct {
		named *string
		usual string
	}{{&named.Embed, usual.Embed}, {&named.Rerank, usual.Rerank}} {
		switch *m.named {
		case "":
			*m.named = m.usual
		case noModel:
			*m.named = ""
		}
	}
	return named, nil
}

// weightsField is the file name under which an App reads the weights of a request.
const weightsField = "weights"

// searchOf is a search of a catalogue with the settings of a request. It adds the files that the
// search reads.
func searchOf(ctx context.Context, s *api.Server, c *library.Catalogue, how *Searching,
	files app.Uploads,
) (catalogs.Search, error) {
	models, err := modelsOf(ctx, s, how.SearchModels)
	if err != nil {
		return catalogs.Search{}, err
	}
	files[c.ID] = c.Text
	out := how.named(files)
	out.Tools, out.Embed, out.Rerank = c.ID, models.Embed, models.Rerank
	return out, nil
}

// named are the settings of a request. It adds the files that they read.
func (q *Searching) named(files app.Uploads) catalogs.Search {
	var out catalogs.Search
	if q.Weights != "" {
		out.WeightsFile, files[weightsField] = weightsField, []byte(q.Weights)
	}
	out.Embed, out.Rerank, out.Fusion, out.Primary, out.Fallback = q.Embed, q.Rerank, q.Fusion, q.Primary, q.Fallback
	out.Threshold, out.Abstain, out.AbstainPercent, out.AbstainRoutes = q.Threshold, q.Abstain, q.AbstainPercent,
		q.AbstainRoutes
	out.AgentGate, out.Agents = q.AgentGate, q.Agents
	return out
}

const evalPath = "/api/v1/admin/tool-eval"

func addSelecting(s *api.Server) {
	op := api.Operations("tool selection", evalPath)
	admin := api.Access{Role: account.Admin, Scope: account.ScopeAdmin}
	asks := admin
	asks.Reads = true
	api.Answer(s, op("select-one", http.MethodPost, "/single",
		"Asks one question of a catalogue, and explains why each tool was given or not."), asks, api.With(s, selectOne))
	run := uploaded(op("select-run", http.MethodPost, "/run",
		"Asks the questions of a suite, and reports how well the tools were chosen."),
		"a suite of questions: of this system (categories with test_cases), or in any form that callvet reads")
	api.Answer(s, run, admin, api.With(s, selectRun))
	addSelectRuns(s)
	addLab(s)
	api.Answer(s, op("invalidate-cache", http.MethodPost, "/invalidate-cache",
		"Drops the cached index of tools, and cached vectors."),
		admin,
		api.With(s, invalidate))
}

func selectOne(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body SelectOne },
) (*SelectedOne, error) {
	b := &in.Body
	c, err := s.CatalogueOf(ctx, by, b.CatalogueID)
	if err != nil {
		return nil, err
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	files := app.Uploads{}
	q := catalogs.QueryRequest{Text: b.Query}
	if q.Search, err = searchOf(ctx, s, c, &b.Searching, files); err != nil {
		return nil, err
	}
	a = a.With(files)
	q.K, q.Preset = b.Limit, b.Preset
	if b.ExpectedTools != nil || b.Acceptable != nil {
		q.Expect = &callvet.Selection{Tools: b.ExpectedTools, Acceptable: b.Acceptable}
	}
	began := s.Config.Now()
	got, err := catalogs.Query(ctx, a, q, nil)
	if err != nil {
		return nil, fieldOf(err)
	}
	took := s.Config.Now().Sub(began)
	wide := q
	wide.K, wide.Expect = max(b.Limit, candidates), nil
	all, err := catalogs.Query(ctx, a, wide, nil)
	if err != nil {
		return nil, fieldOf(err)
	}
	out := SelectedOne{
		Query: b.Query, CatalogueID: c.ID, SelectedTools: []string{}, Details: []Candidate{},
		LatencyMS: float64(took.Microseconds()) / 1000,
		Route:     got.Decision.Route, SubRoute: got.Decision.SubRoute, Agents: got.Decision.Agents,
		Verdict: string(got.Verdict), Reason: got.Reason, WhyLost: got.Why,
	}
	if out.WhyLost == nil {
		out.WhyLost = []panel.RoutingDiagnosis{}
	}
	if got.Route != nil {
		out.RouteReason = got.Route.Text
	}
	chosen := map[string]bool{}
	for _, t := range got.Decision.Tools {
		out.SelectedTools = append(out.SelectedTools, t.Tool)
		chosen[t.Tool] = true
	}
	own, byExpected := panel.RoutingMatch(got.Scores)
	out.MatchType, out.OwnMatchType = matchTypes[byExpected], matchTypes[own]
	for i, t := range all.Decision.Tools {
		d := Candidate{
			ToolID: t.Tool, Rank: i + 1, Selected: chosen[t.Tool], TotalScore: t.Score,
			Parts: map[string]float64{}, KeywordsMatched: []string{}, ExamplesMatched: []string{},
			WordsMatched: []string{},
		}
		for _, p := range t.Parts {
			d.Parts[p.Name] = p.Value
		}
		if i < len(all.Matched) {
			m := &all.Matched[i]
			d.KeywordsMatched, d.ExamplesMatched = append(d.KeywordsMatched, m.Keywords...),
				append(d.ExamplesMatched, m.Examples...)
			for _, w := range m.Words {
				d.WordsMatched = append(d.WordsMatched, w.Word)
			}
		}
		out.Details = append(out.Details, d)
	}
	return &out, nil
}

// matchTypes are the names of matches in "Tool Selection Evaluation System".
var matchTypes = map[string]string{
	"exact": "exact_match", "acceptable": "acceptable_match", "partial": "partial_match",
	"none": "no_match",
}

// fieldOf renames the field of an error of a search to that of these requests.
func fieldOf(err error) error {
	if errors.Is(err, callvet.ErrNotFound) { // an expected tool that is not in the catalogue
		return &callvet.FieldError{
			Field: "expected_tools", Text: "{expected_tools}: " + err.Error(),
			Fix: "a tool is named as the catalogue names it",
		}
	}
	return err
}

type (
	// SelectReport has the rates of right tools for the questions of a suite. Each rate has its n
	// and an interval.
	SelectReport struct {
		RunID            string    `json:"run_id"`
		SuiteName        string    `json:"suite_name"`
		SuiteHash        string    `json:"suite_hash" doc:"runs with the same hash have the same questions"`
		CatalogueID      string    `json:"catalogue_id"`
		CatalogueVersion int64     `json:"catalogue_version"`
		TotalTests       int       `json:"total_tests"`
		Timestamp        time.Time `json:"timestamp"`
		SelectRates
		Matches    map[string]int    `json:"matches" doc:"attempts by the relation of the returned tools to the expected ones"`
		Metrics    map[string]Figure `json:"metrics" doc:"all metrics by their names"`
		Categories []SelectSlice     `json:"category_results" nullable:"false"`
		Difficulty []SelectSlice     `json:"by_difficulty" nullable:"false"`
		// Confusion is {expected: {predicted: count}}.
		Confusion       map[string]map[string]int     `json:"route_confusion_matrix"`
		Patterns        []panel.RoutingPattern        `json:"failure_patterns" nullable:"false"`
		Recommendations []panel.RoutingRecommendation `json:"recommendations" nullable:"false"`
		FailedCount     int                           `json:"failed_count"`
		Failed          []panel.RoutingFailure        `json:"failed_tests" nullable:"false" doc:"the first ones, with why each expected tool was not first"`
		Notes           []string                      `json:"notes" nullable:"false"`
	}
	// SelectRates are the rates of "Tool Selection Evaluation System"; null if no question is
	// judged by them.
	SelectRates struct {
		ToolExact      *Figure `json:"overall_tool_exact_rate"`
		ToolAcceptable *Figure `json:"overall_tool_acceptable_rate"`
		Route          *Figure `json:"overall_route_accuracy"`
		SubRoute       *Figure `json:"overall_sub_route_accuracy"`
		Agents         *Figure `json:"overall_agent_exact_rate"`
		Composite      *Figure `json:"overall_composite_score"`
		CompositeBest  *Figure `json:"composite_within_reach"`
		Latency        *Figure `json:"latency_ms_p50"`
	}
	// Figure is a value with its n and its 95 % interval.
	Figure struct {
		Value *float64 `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
		N     int      `json:"n"`
	}
	// SelectSlice is a category or a difficulty.
	SelectSlice struct {
		Name    string            `json:"name"`
		Cases   int               `json:"cases"`
		Metrics map[string]Figure `json:"metrics"`
	}
)

func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func figure(m *panel.Metric) Figure {
	return Figure{finite(m.Interval.Point), finite(m.Interval.Lower), finite(m.Interval.Upper), m.Seen()}
}

func figures(list []panel.Metric) map[string]Figure {
	out := map[string]Figure{}
	for i := range list {
		out[list[i].Name] = figure(&list[i])
	}
	return out
}

func selectRun(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	Upload
	CatalogueID string   `query:"catalogue_id" maxLength:"64" doc:"optional if there is exactly one"`
	Limit       int      `query:"limit" minimum:"0" maximum:"100" doc:"how many tools are returned; 0: the suite's setting"`
	Preset      string   `query:"preset" enum:"default,bigtool" doc:"how tools are scored"`
	NoLint      bool     `query:"no_lint" doc:"runs a suite with errors, such as tools that the catalogue does not have"`
	Name        string   `query:"name" doc:"for people"`
	Notes       string   `query:"notes" doc:"for people"`
	RunTags     []string `query:"run_tags" doc:"for people"`
	Filter      string   `query:"filter" maxLength:"2000" doc:"patterns for ids, tag:smoke, category=flights; commas divide alternatives"`
	Searching
},
) (*SelectReport, error) {
	text, name, err := in.file()
	if err != nil {
		return nil, err
	}
	c, err := s.CatalogueOf(ctx, by, in.CatalogueID)
	if err != nil {
		return nil, err
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	if name = path.Base(name); name == "." || name == c.ID || name == weightsField {
		name = "suite.json"
	}
	files := app.Uploads{name: text}
	var notes []string
	var refused []callvet.Problem
	tell := func(ev app.Event) {
		if ev.Warning != nil {
			notes = append(notes, ev.Warning.Text)
		}
		for _, p := range ev.Problems {
			if !p.Warning {
				refused = append(refused, p)
			}
		}
	}
	req := catalogs.SelectRequest{Run: app.RunRequest{SuiteRequest: app.SuiteRequest{Suite: name}, NoLint: in.NoLint}}
	if req.Search, err = searchOf(ctx, s, c, &in.Searching, files); err != nil {
		return nil, err
	}
	a = a.With(files)
	req.K, req.Preset = in.Limit, in.Preset
	req.Run.Words, req.Run.Owned = store.Words{Name: in.Name, Notes: in.Notes, Tags: in.RunTags}, true
	if in.Filter != "" {
		req.Run.Filter = []string{in.Filter}
	}
	ctx, cancel := context.WithTimeout(ctx, selectTime)
	defer cancel()
	session, err := catalogs.StartSelect(ctx, a, req, tell)
	if err != nil {
		if len(refused) > 0 {
			return nil, refusedSuite(refused)
		}
		return nil, atMost(unplaced(err), ctx)
	}
	out, err := carryOut(ctx, s, by, session, text,
		rows.AddSelectRunParams{
			CatalogueID: c.ID, CatalogueVersion: c.Version, Preset: in.Preset,
			Depth: int64(in.Limit),
		})
	if err != nil {
		return nil, atMost(err, ctx)
	}
	rep, err := api.Stored(ctx, s, out.Stored.ID, aboutSelection, func() (*SelectReport, error) {
		rep, err := selectReport(out.RunView, c.ID, c.Version)
		if err == nil {
			rep.Notes = append(rep.Notes, notes...)
		}
		return rep, err
	})
	if err != nil {
		return nil, atMost(err, ctx)
	}
	return rep, nil
}

// refusedSuite is the error of a suite with these mistakes.
func refusedSuite(list []callvet.Problem) error {
	out := &library.RefusedError{}
	for _, p := range list {
		p.File = ""
		out.Problems = append(out.Problems, library.Placed{Problem: p})
	}
	return out
}

// carryOut stores the run's owner and questions, and carries it out within the request.
func carryOut(ctx context.Context, s *api.Server, by *account.Principal, session *runs.Session, questions []byte,
	kept rows.AddSelectRunParams,
) (out *runs.Outcome, err error) {
	defer func() { err = errors.Join(err, session.Close()) }()
	if n := session.Cases(); n > selectCases {
		return nil, fmt.Errorf("run suite: %w: it has %d questions, and %d can be waited for", callvet.ErrInvalid, n,
			selectCases)
	}
	err = s.Config.Store.Change(ctx, "keep run", func(q *rows.Queries) error {
		kept.RunID, kept.Created = session.Stored.ID, s.Config.Now().UnixMilli()
		return errors.Join(q.AddRunEntry(ctx,
			rows.AddRunEntryParams{RunID: kept.RunID, UserID: by.User, Created: kept.Created}),
			q.AddSelectRun(ctx, kept), keepQuestions(ctx, q, kept.RunID, questions))
	})
	if err != nil {
		return nil, err
	}
	return session.Do(ctx)
}

// selectReport is the report of a run over a catalogue.
func selectReport(v *results.RunView, catalogue string, version int64) (*SelectReport, error) {
	if v.View == nil || v.View.Selection == nil || len(v.View.Selection.Targets) != 1 {
		return nil, fmt.Errorf("report: %w: the suite expects nothing of the tools that are selected", callvet.ErrInvalid)
	}
	t := &v.View.Selection.Targets[0]
	rep := &SelectReport{
		RunID: v.Stored.ID, SuiteName: v.View.Suite.Name, SuiteHash: v.View.Suite.Hash, CatalogueID: catalogue,
		CatalogueVersion: version, TotalTests: v.View.Suite.Cases, Timestamp: v.View.Created.UTC(),
		Matches: map[string]int{}, Metrics: figures(t.Metrics), Categories: []SelectSlice{},
		Difficulty: []SelectSlice{}, Confusion: map[string]map[string]int{},
		Patterns: t.Patterns, Recommendations: t.Recommendations, FailedCount: t.Failures, Failed: t.Failed,
		Notes: append([]string{}, t.Notes...),
	}
	if t.Unexplained != "" {
		rep.Notes = append(rep.Notes, "why tools lost is not shown: "+t.Unexplained)
	}
	rep.layers(t)
	for _, m := range t.Matches {
		rep.Matches[m.Name] = m.N
	}
	rep.slices(t)
	if rep.Patterns == nil {
		rep.Patterns = []panel.RoutingPattern{}
	}
	if rep.Recommendations == nil {
		rep.Recommendations = []panel.RoutingRecommendation{}
	}
	if rep.Failed == nil {
		rep.Failed = []panel.RoutingFailure{}
	}
	return rep, nil
}

// layers fills in the rates of the layers, and of all together.
func (rep *SelectReport) layers(t *panel.RoutingTarget) {
	for i := range t.Layers {
		l := &t.Layers[i]
		f := figure(&l.Metric)
		rep.Metrics[l.Metric.Name] = f
		switch l.Layer {
		case "route":
			rep.Route = &f
		case "sub_route":
			rep.SubRoute = &f
		case "agents":
			rep.Agents = &f
		case "tools":
			rep.Latency = &Figure{finite(l.P50.Point), finite(l.P50.Lower), finite(l.P50.Upper), l.P50.N}
		}
	}
	for name, into := range map[string]**Figure{
		"match_exact": &rep.ToolExact, "match_acceptable": &rep.ToolAcceptable,
		"composite": &rep.Composite,
	} {
		if f, ok := rep.Metrics[name]; ok {
			*into = &f
		}
	}
	if t.CompositeBest != nil {
		f := figure(t.CompositeBest)
		rep.CompositeBest = &f
	}
}

// slices fills in the rates of parts of the suite, and the confusion matrix of routes.
func (rep *SelectReport) slices(t *panel.RoutingTarget) {
	for i := range t.Slices {
		sl := &t.Slices[i]
		one := SelectSlice{sl.Value, sl.Cases, figures(sl.Metrics)}
		switch sl.Key {
		case "category":
			rep.Categories = append(rep.Categories, one)
		case "difficulty":
			rep.Difficulty = append(rep.Difficulty, one)
		}
	}
	for _, c := range t.Routes {
		if rep.Confusion[c.Expected] == nil {
			rep.Confusion[c.Expected] = map[string]int{}
		}
		rep.Confusion[c.Expected][c.Called] += c.N
	}
}

// Invalidated lists what was removed from the cache.
type Invalidated struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Indexes int    `json:"indexes"`
	Models  int    `json:"models" doc:"models with dropped vectors"`
}

func invalidate(ctx context.Context, s *api.Server, by *account.Principal,
	_ *struct{},
) (*Invalidated, error) {
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	indexes, models, err := catalogs.Forget(ctx, a)
	if err != nil {
		return nil, err
	}
	return &Invalidated{true, "Tool index cache cleared successfully", indexes, models}, nil
}
