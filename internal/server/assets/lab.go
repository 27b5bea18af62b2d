// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
)

// The commands for a catalogue and a suite of questions as routes: select sweep, tools whatif,
// tools suggest, tools apply and select tune.
type (
	// Sweeping asks how often the first tool is right as the catalogue grows, and under other settings.
	Sweeping struct {
		Questions
		Base           SearchModels `json:"base,omitempty" required:"false" doc:"the models of the base, which the others are compared with"`
		Distractors    []int        `json:"distractors,omitempty" required:"false" maxItems:"20" nullable:"false" doc:"how many other tools are added to those of a question; none: the whole catalogue"`
		Draws          int          `json:"draws,omitempty" required:"false" minimum:"0" maximum:"100" doc:"draws of other tools per question; 0: 1"`
		Seed           uint64       `json:"seed,omitempty" required:"false" doc:"of the draws"`
		Configurations []string     `json:"configurations,omitempty" required:"false" maxItems:"10" nullable:"false" doc:"more than the base: NAME=SETTING:VALUE,…, such as more=vector:0.4"`
		Embed          []string     `json:"embed,omitempty" required:"false" maxItems:"5" nullable:"false" doc:"embedding models, such as openai:text-embedding-3-small or tei:URL: each is a configuration beside the base"`
		Rerank         []string     `json:"rerank,omitempty" required:"false" maxItems:"5" nullable:"false" doc:"reranking models, such as cohere:MODEL or tei:URL: each is a configuration, alone and after each embedding model"`
	}
	// Swept is the result.
	Swept struct {
		CatalogueID      string `json:"catalogue_id"`
		CatalogueVersion int64  `json:"catalogue_version"`
		catalogs.Sweep
		Notes []callvet.Notice `json:"notes" nullable:"false"`
	}
	// TuneAsk asks for weights that find the right tools more often than those of the preset.
	TuneAsk struct {
		Questions
		Embed   string  `json:"embed,omitempty" required:"false" maxLength:"500" doc:"the embedding model; empty: the one of the server, or vectors without a model; none: these"`
		Goal    string  `json:"goal,omitempty" required:"false" enum:"mrr,hit1,ndcg,pass" doc:"the metric to maximize; empty: mrr"`
		Holdout float64 `json:"holdout,omitempty" required:"false" minimum:"0" maximum:"1" doc:"share of the sets of right tools that is held out; 0: a half"`
		Folds   int     `json:"folds,omitempty" required:"false" minimum:"0" maximum:"100" doc:"instead of holdout: holds out every question once, in this number of folds"`
		Seed    *int64  `json:"seed,omitempty" required:"false" doc:"of the division; left out: 1"`
		// ExperimentID adds the result to the timeline of an experiment about the suite.
		ExperimentID string `json:"experiment_id,omitempty" required:"false" maxLength:"100" doc:"of the suite suite_id: its timeline gets the result"`
		Rounds       int    `json:"rounds,omitempty" required:"false" minimum:"0" maximum:"20" doc:"how often all weights are gone through at most; 0: 4"`
	}
	// Tuned is the result.
	Tuned struct {
		CatalogueID      string `json:"catalogue_id"`
		CatalogueVersion int64  `json:"catalogue_version"`
		catalogs.Tuning
		TuneID string           `json:"tune_id,omitempty" doc:"of the result in the timeline of the experiment"`
		Text   string           `json:"weights_text" doc:"the weights as searches and callvet select --weights take them; empty where nothing was better"`
		Notes  []callvet.Notice `json:"notes" nullable:"false"`
	}
	// Editing is a file of edits, and the selected ones.
	Editing struct {
		Edits  string   `json:"edits" minLength:"1" maxLength:"4000000" doc:"a file of edits, YAML or JSON (callvet schema edits)"`
		Status []string `json:"status,omitempty" required:"false" maxItems:"3" nullable:"false" enum:"accepted,proposed,rejected" doc:"which edits are meant"`
	}
	// ModelAsk configures how models are asked.
	ModelAsk struct {
		BaseURL   string  `json:"base_url,omitempty" required:"false" maxLength:"2000" doc:"an endpoint of their own"`
		APIKeyEnv string  `json:"api_key_env,omitempty" required:"false" maxLength:"200" doc:"the name of the key that is sent there"`
		MaxCost   float64 `json:"max_cost_usd,omitempty" required:"false" minimum:"0"`
	}
	// Supposing asks for the effect of edits of a catalogue.
	Supposing struct {
		Questions
		Searching
		Editing
		AllCases bool     `json:"all_cases,omitempty" required:"false" doc:"also the questions that suggestions were made of"`
		Models   []string `json:"models,omitempty" required:"false" maxItems:"5" nullable:"false" doc:"provider/model: they choose among the best tools of each side, as the retriever does"`
		ModelAsk
		Offer int `json:"offer,omitempty" required:"false" minimum:"0" maximum:"128" doc:"how many tools a model chooses among; 0: 20"`
	}
	// Supposed is the effect of the edits, by question and by tool.
	Supposed struct {
		CatalogueID      string `json:"catalogue_id"`
		CatalogueVersion int64  `json:"catalogue_version"`
		catalogs.WhatIfResult
		Notes []callvet.Notice `json:"notes" nullable:"false"`
	}
	// Suggesting asks for better descriptions of the tools that fail most.
	Suggesting struct {
		Questions
		Searching
		Model   string   `json:"model,omitempty" required:"false" maxLength:"500" doc:"provider/model that writes them; empty: no request is sent, and the prompts are returned"`
		Tools   []string `json:"tools,omitempty" required:"false" maxItems:"200" nullable:"false" doc:"tools to describe anew; none: those that fail most"`
		Top     int      `json:"top,omitempty" required:"false" minimum:"0" maximum:"100" doc:"how many, where none is named; 0: 5"`
		Holdout float64  `json:"holdout,omitempty" required:"false" minimum:"0" maximum:"1" doc:"share of the questions that is kept from the model; 0: a half"`
		Seed    *int64   `json:"seed,omitempty" required:"false" doc:"of the division; left out: 1"`
		ModelAsk
	}
	// Suggested are the texts that a model wrote, measured on questions that it has not seen; or
	// the prompts that it would get.
	Suggested struct {
		CatalogueID      string `json:"catalogue_id"`
		CatalogueVersion int64  `json:"catalogue_version"`
		// Findings need no model.
		Findings    []Remark              `json:"findings" nullable:"false" doc:"what keeps tools from being found or distinguished, by rules"`
		Prompts     *catalogs.Prompts     `json:"prompts,omitempty" doc:"the prompts for a model, if none was given"`
		Suggestions *catalogs.Suggestions `json:"suggestions,omitempty"`
		Edits       string                `json:"edits,omitempty" doc:"the suggestions as a file of edits, for whatif and apply"`
		Notes       []callvet.Notice      `json:"notes" nullable:"false"`
	}
	// Applying applies edits to a catalogue.
	Applying struct {
		CatalogueID string `json:"catalogue_id,omitempty" required:"false" maxLength:"64" doc:"optional if there is exactly one"`
		Editing
	}
	// Applied is the new version of a catalogue.
	Applied struct {
		CatalogueWritten
		Edited    []string `json:"edited_tools" nullable:"false"`
		Renamed   []string `json:"renamed_tools" nullable:"false" doc:"by their old names"`
		LeftOut   int      `json:"edits_left_out" doc:"edits of another status"`
		Converted bool     `json:"converted" doc:"it was not plain JSON before, and is now"`
		Text      string   `json:"text" doc:"the catalogue as it is now"`
	}
)

func addLab(s *api.Server) {
	op := func(id, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: http.MethodPost, Path: evalPath + path, Summary: summary,
			Tags: []string{"tool selection"}, MaxBodyBytes: maxUpload,
		}
	}
	admin := api.Access{Role: account.Admin, Scope: account.ScopeAdmin}
	asks := admin
	asks.Reads = true
	api.Answer(s,
		op("select-sweep", "/sweep",
			"Measures how often the first tool is right as the catalogue grows, and under other settings."), asks,
		api.With(s, selectSweep))
	api.Answer(s,
		op("select-tune", "/tune",
			"Looks for better weights on one part of the questions, and compares them with the preset on the other."),
		asks, api.With(s, selectTune))
	api.Answer(s, op("select-whatif", "/whatif", "Returns what other texts of tools would change, question by question."),
		admin, api.With(s, whatIf))
	api.Answer(s,
		op("select-suggest", "/suggest",
			"Finds texts of tools that could be better; with a model, has it write them, measured on questions that "+
				"it has not seen."), admin, api.With(s, suggest))
	api.Answer(s,
		op("compare-decisions", "/decisions",
			"Compares what production selected for each question with what a run, or a catalogue, selects."), asks,
		api.With(s, decisions))
	kept := op("get-decisions", "/decisions/{id}", "Gives a comparison with production again.")
	kept.Method, kept.MaxBodyBytes = http.MethodGet, 0
	api.Answer(s, kept, admin, api.With(s, decisionsAgain))
	api.Add(s, op("select-apply", "/apply", "Puts edits into a catalogue: a new version of it."), admin,
		api.With(s, applyEdits))
}

// editsFile is the file name under which an App reads the edits of a request.
const editsFile = "edits.yaml"

// atMost replaces the error of a request that took too long.
func atMost(err error, ctx context.Context) error { //nolint:revive // err is the subject
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf(
			"%w: it takes longer than the %s that can be waited for: fewer questions, sizes or tools, or the "+
				"command line", callvet.ErrInvalid, selectTime)
	}
	return err
}

// lab converts an error about a catalogue: it uses the field names of these requests and adds the
// problems of the questions.
func lab(h *api.Notices, err error) error {
	var field *callvet.FieldError
	if errors.As(err, &field) {
		one := *field
		if name := map[string]string{
			"tools": "catalogue_id", "k": "limit", "only": "tools",
			"models": "model",
		}[field.Field]; name != "" {
			one.Field = name
		}
		return &one
	}
	if len(h.Problems) == 0 {
		return unplaced(err)
	}
	out := &library.RefusedError{}
	for _, p := range h.Problems {
		place := "suite"
		if p.File == editsFile {
			place = "edits"
		}
		p.Message, p.File = fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.Message), ""
		out.Problems = append(out.Problems, library.Placed{Problem: p, Place: place})
	}
	return out
}

func selectSweep(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body Sweeping },
) (*Swept, error) {
	b := &in.Body
	of, err := searching(ctx, s, by, &b.Questions, &Searching{SearchModels: b.Base}, app.Uploads{})
	if err != nil {
		return nil, err
	}
	var q catalogs.SweepRequest
	q.Suite, q.Tools, q.Settings = questionsFile, of.Tools, of.Settings
	q.Distractors, q.Draws, q.Seed = b.Distractors, b.Draws, b.Seed
	for _, text := range b.Configurations {
		one, err := catalogs.ReadConfiguration(text)
		if err != nil {
			return nil, &callvet.FieldError{Field: "configurations", Text: "{configurations}: " + err.Error()}
		}
		q.Configurations = append(q.Configurations, one)
	}
	if q.Configurations, err = b.byModels(q.Configurations); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, selectTime)
	defer cancel()
	var h api.Notices
	out, err := catalogs.RunSweep(ctx, of.app, q, h.Collect)
	if err != nil {
		return nil, lab(&h, notAsked(atMost(err, ctx), q.Embed != "" || len(b.Embed) > 0,
			q.Rerank != "" || len(b.Rerank) > 0))
	}
	return &Swept{of.catalogue.ID, of.catalogue.Version, *out, h.All()}, nil
}

func selectTune(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body TuneAsk },
) (*Tuned, error) {
	b := &in.Body
	if b.ExperimentID != "" {
		if err := Linkable(ctx, s, by, b.ExperimentID, b.SuiteID); err != nil {
			return nil, err
		}
	}
	// each of thousands of searches would be reranked
	how := Searching{SearchModels: SearchModels{Embed: b.Embed, Rerank: noModel}}
	of, err := searching(ctx, s, by, &b.Questions, &how, app.Uploads{})
	if err != nil {
		return nil, err
	}
	q := catalogs.TuneRequest{
		Suite: questionsFile, Tools: of.Tools, Settings: of.Settings, Goal: b.Goal, Holdout: b.Holdout, Folds: b.Folds,
		Seed: 1, Rounds: b.Rounds,
	}
	if b.Seed != nil {
		q.Seed = uint64(*b.Seed)
	}
	ctx, cancel := context.WithTimeout(ctx, selectTime)
	defer cancel()
	var h api.Notices
	out, err := catalogs.Tune(ctx, of.app, q, h.Collect)
	if err != nil {
		return nil, lab(&h, notAsked(atMost(err, ctx), q.Embed != "", false))
	}
	text, err := out.Text()
	if err != nil {
		return nil, err
	}
	done := Tuned{
		CatalogueID: of.catalogue.ID, CatalogueVersion: of.catalogue.Version, Tuning: *out, Text: string(text), Notes: h.All(),
	}
	if b.ExperimentID == "" {
		return &done, nil
	}
	suite, err := s.Library.Entry(ctx, b.SuiteID)
	if err != nil {
		return nil, err
	}
	done.TuneID, err = tunes.KeepWeights(ctx, of.app, suite.Name, b.SuiteID, b.ExperimentID, &tunes.Weights{
		Catalogue: done.CatalogueID, Version: done.CatalogueVersion, Found: out.Tuned, Text: done.Text,
	})
	return &done, err
}

// maxConfigurations bounds the configurations that are compared with the base.
const maxConfigurations = 10

// byModels adds a configuration for each embedding model, for each reranking model, and for each two of them.
func (b *Sweeping) byModels(to []catalogs.Configuration) ([]catalogs.Configuration, error) {
	for _, e := range append([]string{""}, b.Embed...) {
		for _, r := range append([]string{""}, b.Rerank...) {
			if e+r == "" {
				continue
			}
			var names []string
			if e != "" {
				names = append(names, "embed "+e)
			}
			if r != "" {
				names = append(names, "rerank "+r)
			}
			one := catalogs.Configuration{Name: strings.Join(names, " + ")}
			one.Settings.Embed, one.Settings.Rerank = e, r
			to = append(to, one)
		}
	}
	if len(to) > maxConfigurations {
		return nil, &callvet.FieldError{
			Field: "configurations",
			Text: fmt.Sprintf("{configurations}: with those of the models there are %d, and at most %d are compared",
				len(to), maxConfigurations),
		}
	}
	return to, nil
}

// notAsked is the error of a search model that cannot be asked, with its field.
func notAsked(err error, embeds, reranks bool) error {
	isKind := func(kind error) bool { return errors.Is(err, kind) }
	if !embeds && !reranks ||
		!slices.ContainsFunc([]error{
			callvet.ErrDenied, callvet.ErrUnavailable, callvet.ErrNotFound,
			callvet.ErrLimited,
		}, isKind) {
		return err
	}
	field := "embed"
	if !embeds || reranks && strings.Contains(err.Error(), "rerank") {
		field = "rerank"
	}
	return &callvet.FieldError{
		Field: field, Text: strings.NewReplacer("{", "", "}", "").Replace(err.Error()),
		Fix: api.HintOf(err),
	}
}

// modelSettings returns how to ask models about a catalogue, in runs of by.
func modelSettings(ctx context.Context, s *api.Server, by *account.Principal,
	q *ModelAsk,
) (app.RunRequest, runs.Conclude) {
	how := app.RunRequest{
		Shared:   app.TargetSpec{BaseURL: q.BaseURL, APIKeyEnv: q.APIKeyEnv},
		Settings: app.Settings{MaxCostUSD: q.MaxCost},
	}
	return how, func(out *runs.Outcome, ended error) error {
		// the result is stored even if the request ended
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), api.Drain)
		defer cancel()
		return errors.Join(ended, s.Config.Store.Change(ctx, "keep run", func(q *rows.Queries) error {
			return q.AddRunEntry(ctx,
				rows.AddRunEntryParams{RunID: out.Stored.ID, UserID: by.User, Created: s.Config.Now().UnixMilli()})
		}))
	}
}

func whatIf(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body Supposing },
) (*Supposed, error) {
	b := &in.Body
	of, err := searching(ctx, s, by, &b.Questions, &b.Searching, app.Uploads{editsFile: []byte(b.Edits)})
	if err != nil {
		return nil, err
	}
	var q catalogs.WhatIfRequest
	q.Search = of.Search
	q.Edits, q.Suite, q.Status, q.AllCases, q.Models, q.Offer = editsFile, questionsFile, b.Status, b.AllCases,
		b.Models, b.Offer
	how, conclude := modelSettings(ctx, s, by, &b.ModelAsk)
	q.Run = how
	ctx, cancel := context.WithTimeout(ctx, selectTime)
	defer cancel()
	var h api.Notices
	out, err := catalogs.WhatIf(ctx, of.app, q, conclude, h.Collect)
	if err != nil && out == nil {
		return nil, lab(&h, notAsked(atMost(err, ctx), q.Embed != "", q.Rerank != ""))
	}
	notes := h.All()
	if err != nil { // the findings without a model remain
		notes = append(notes,
			callvet.Notice{Code: "models", Text: s.Config.App.Secrets().Hide(atMost(err, ctx).Error())})
	}
	return &Supposed{of.catalogue.ID, of.catalogue.Version, *out, notes}, nil
}

func suggest(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body Suggesting },
) (*Suggested, error) {
	b := &in.Body
	of, err := searching(ctx, s, by, &b.Questions, &b.Searching, app.Uploads{})
	if err != nil {
		return nil, err
	}
	var q catalogs.SuggestRequest
	q.Search, q.Suite = of.Search, questionsFile
	q.Only, q.Top, q.Holdout, q.Seed = b.Tools, b.Top, b.Holdout, 1
	if b.Seed != nil {
		q.Seed = *b.Seed
	}
	ctx, cancel := context.WithTimeout(ctx, selectTime)
	defer cancel()
	var h api.Notices
	found, err := catalogs.LintTools(ctx, of.app, catalogs.LintToolsRequest{Tools: of.catalogue.ID}, nil)
	if err != nil {
		return nil, lab(&h, atMost(err, ctx))
	}
	out := Suggested{CatalogueID: of.catalogue.ID, CatalogueVersion: of.catalogue.Version, Findings: []Remark{}}
	for _, p := range found.Problems {
		out.Findings = append(out.Findings, RemarkOf(&p))
	}
	if b.Model == "" {
		out.Prompts, err = catalogs.ListPrompts(ctx, of.app, q, h.Collect)
	} else {
		var text []byte
		how, conclude := modelSettings(ctx, s, by, &b.ModelAsk)
		q.Run, q.Models = how, []string{b.Model}
		out.Suggestions, text, err = catalogs.Propose(ctx, of.app, q, conclude, h.Collect)
		out.Edits = string(text)
	}
	if err != nil {
		return nil, lab(&h, atMost(err, ctx))
	}
	out.Notes = h.All()
	return &out, nil
}

// RemarkOf converts a problem of a catalogue for a response.
func RemarkOf(p *callvet.Problem) Remark {
	return Remark{
		Location: p.Key, Line: p.Line, Column: p.Column, Code: p.Code, Message: p.Message, Fix: p.Fix,
		Warning: p.Warning,
	}
}

func applyEdits(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	IfMatching
	Body Applying
},
) (*Versioned[Applied], error) {
	c, err := s.CatalogueOf(ctx, by, in.Body.CatalogueID)
	if err != nil {
		return nil, err
	}
	if err := s.May(ctx, by, api.KindCatalogue, c.ID, true); err != nil {
		return nil, err
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	var h api.Notices
	a = a.With(app.Uploads{c.ID: c.Text, editsFile: []byte(in.Body.Edits)})
	made, err := catalogs.Revise(a,
		catalogs.ApplyRequest{Tools: c.ID, Edits: editsFile, Status: in.Body.Status}, h.Collect)
	if err != nil {
		return nil, lab(&h, err)
	}
	notes, err := catalogueText(ctx, s, by, made.Text, c)
	if err != nil {
		return nil, err
	}
	if err := s.Library.ReplaceCatalogue(ctx, c, in.Match()); err != nil {
		return nil, err
	}
	return &Versioned[Applied]{Etag(c.Version), Applied{
		CatalogueWritten: CatalogueWritten{*catalogueEntry(c), notes},
		Edited:           slices.Clip(append([]string{}, made.Tools...)), Renamed: append([]string{}, made.Renamed...),
		LeftOut: made.Left, Converted: made.Converted, Text: string(made.Text),
	}}, nil
}
