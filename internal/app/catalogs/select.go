// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
)

// Requests about catalogues of tools and their results, which package catalog declares.
type (
	// Search has the settings of a search.
	Search = catalog.Search
	// QueryRequest asks one question.
	QueryRequest = catalog.QueryRequest
	// TuneRequest requests better weights.
	TuneRequest = catalog.TuneRequest
	// Tuning is what a search for weights found.
	Tuning = catalog.Tuning
	// LearnRequest requests routes that are learned from questions.
	LearnRequest = catalog.LearnRequest
	// LintToolsRequest requests the problems of a catalogue.
	LintToolsRequest = catalog.LintRequest
	// ConfusableRequest asks which tools are easily confused.
	ConfusableRequest = catalog.ConfusableRequest
	// Sweep is how often the first tool is right as a catalogue grows, and under other settings.
	Sweep = catalog.Sweep
	// Curve is how models choose as a catalogue grows.
	Curve = catalog.Curve
	// Configuration is one way to search, by name.
	Configuration = catalog.Configuration
)

// Values and limits of requests about catalogues.
const (
	// MaxDepth is the largest number of tools in a result.
	MaxDepth = catalog.MaxDepth
	// UsualConfidence is a confidence below which it is sensible to return no tool.
	UsualConfidence = retrieve.DefaultMinConfidence
)

// Goals are the metrics that TuneRequest may maximize; the first is the default.
func Goals() []string { return catalog.TuningGoals() }

// ReadConfiguration reads NAME=SETTING:VALUE,…; the error wraps callvet.ErrInvalid.
func ReadConfiguration(text string) (Configuration, error) { return catalog.ReadConfiguration(text) }

// SelectRequest requests a run with a retriever, or a service, as the target.
type SelectRequest struct {
	Search
	// Run is the rest of the request: its suite, its settings. The target follows from the search;
	// requests to a service use the settings of Shared.
	Run app.RunRequest `json:"run"`
}

// StartSelect starts a run like runs.Start, with a search as the target. The suite's tools are those
// of the catalogue.
func StartSelect(ctx context.Context, a *app.App, req SelectRequest, events app.Events) (*runs.Session, error) {
	return app.Catalogued(a, events, func(e *catalog.Env) (*runs.Session, error) {
		if err := setSearchTarget(ctx, a, e, &req, events); err != nil {
			return nil, err
		}
		return runs.Start(ctx, a, req.Run, events)
	})
}

// setSearchTarget makes the search the target of the run, and reports settings that do not fit.
func setSearchTarget(ctx context.Context, a *app.App, e *catalog.Env, req *SelectRequest, events app.Events) error {
	if req.Tools == "" && req.Via == "" {
		return app.Refused("tools", "what is searched? {tools} CATALOGUE, or {via} URL")
	}
	run, file := &req.Run, req.Run.Suite
	composite, err := e.Ready(ctx, &req.Search, file)
	if err != nil {
		return err
	}
	if req.Tools != "" {
		c, problems, err := catalog.LoadFile(req.Tools, e.Files)
		if err != nil {
			return err
		}
		events.Catalogue(problems)
		run.Catalogue, run.CatalogueFile = catalog.Tools(c), req.Tools
	}
	target := run.Shared
	if k := req.Depth(); req.Via != "" {
		target.Target, target.Agent = "retrieve:"+req.Via, maps.Clone(target.Agent)
		if target.Agent == nil {
			target.Agent = map[string]string{}
		}
		target.Agent["k"] = strconv.Itoa(k)
	} else {
		target.Target = req.Target(req.Tools)
	}
	run.Targets = []app.TargetSpec{target}
	run.Selection = &app.SelectionRequest{Scoring: composite, K: catalog.Depths(req.Depth())}
	c, err := catalog.Caution(ctx, e, &req.Search, file)
	noteCautions(events, &req.Search, &c)
	return err
}

// noteCautions reports conditions that bias the figures of a search.
func noteCautions(e app.Events, f *Search, c *catalog.Cautions) {
	for _, p := range c.Expected {
		e.Warn(p.Code, p.Error())
	}
	if c.Learned > 0 {
		e.Warn("learned-here", fmt.Sprintf("%s learned the questions of %s of this suite: their routes flatter it",
			f.Routes, plain.Count(c.Learned, "case", "cases")))
	}
	vectors := func(spec string) string {
		if spec == "" {
			return "vectors that need no model"
		}
		return "vectors of " + spec
	}
	if u := c.Other; u != nil {
		e.Warn("other-vectors",
			fmt.Sprintf("%s was tuned with %s, and is used with %s", f.WeightsFile, vectors(u.Embed), vectors(f.Embed)))
	}
	u := c.Same
	if u == nil {
		return
	}
	change := fmt.Sprintf("%s %s under the preset, %s as tuned, change %s", u.Goal, plain.Percent(u.Before),
		plain.Percent(u.After), plain.Change(u.Change))
	if u.Folds > 0 {
		e.Warn("tuned-here",
			fmt.Sprintf(
				"%s was tuned on this suite, on all of its %d cases: the figures below flatter it; held out in %d folds: %s", f.WeightsFile, u.Train.Cases, u.Folds, change))
		return
	}
	e.Warn("tuned-here",
		fmt.Sprintf(
			"%s was tuned on this suite: the figures below flatter it by its train part of %s; on the %d held out: %s",
			f.WeightsFile, plain.Count(u.Train.Cases, "case", "cases"), u.Held.Cases, change))
}

// Query asks one question.
func Query(ctx context.Context, a *app.App, req QueryRequest, events app.Events) (*catalog.QueryAnswer, error) {
	return app.Catalogued(a, events,
		func(e *catalog.Env) (*catalog.QueryAnswer, error) { return catalog.Query(ctx, e, req) })
}

// SweepRequest compares sizes of a catalogue, and settings.
type SweepRequest struct {
	catalog.SweepRequest
	// Run has the settings of the requests to Models.
	Run app.RunRequest `json:"run,omitzero"`
}

// RunSweep compares sizes and settings by the retriever alone.
func RunSweep(ctx context.Context, a *app.App, req SweepRequest, events app.Events) (*catalog.Sweep, error) {
	return app.Catalogued(a, events, func(e *catalog.Env) (*catalog.Sweep, error) {
		e.Progress = events.Searches
		return catalog.RunSweep(ctx, e, req.SweepRequest)
	})
}

// DrawCurve lets models choose among the retrieved tools, and among all. If that ends early, it may
// return a curve together with the error.
func DrawCurve(ctx context.Context, a *app.App, req SweepRequest, conclude runs.Conclude,
	events app.Events,
) (*Curve, error) {
	return app.Catalogued(a, events, func(e *catalog.Env) (*Curve, error) {
		e.Progress, e.Ask = events.Searches, runs.NewAsker(a, req.Models, &req.Run, conclude, events).Ask
		return catalog.CurveFor(ctx, e, req.SweepRequest)
	})
}

// ResumeCurve resumes the run of a curve, and returns the curve.
func ResumeCurve(ctx context.Context, a *app.App, req runs.ResumeRequest, conclude runs.Conclude,
	events app.Events,
) (c *Curve, err error) {
	s, err := runs.Resume(ctx, a, req, events)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	q := runs.Asker{Conclude: conclude}
	err = q.Read(ctx, s, func(v *catalog.Answers) (err error) {
		c, err = catalog.CurveOf(v)
		return err
	})
	return c, err
}

// Tune looks for weights on one part of a suite, and compares them on the other.
func Tune(ctx context.Context, a *app.App, req TuneRequest, events app.Events) (*catalog.Tuning, error) {
	return app.Catalogued(a, events, func(e *catalog.Env) (*catalog.Tuning, error) { return catalog.Tune(ctx, e, req) })
}

// Learn learns routes from questions.
func Learn(ctx context.Context, a *app.App, req LearnRequest, events app.Events) (*catalog.Lesson, error) {
	return app.Catalogued(a, events,
		func(e *catalog.Env) (*catalog.Lesson, error) { return catalog.Learn(ctx, e, req) })
}

// LintTools finds what prevents tools from being found or distinguished.
func LintTools(ctx context.Context, a *app.App, req LintToolsRequest, events app.Events) (*catalog.Findings, error) {
	return app.Catalogued(a, events,
		func(e *catalog.Env) (*catalog.Findings, error) { return catalog.Lint(ctx, e, req) })
}

// Confusable finds pairs of tools that are easily confused.
func Confusable(ctx context.Context, a *app.App, req ConfusableRequest,
	events app.Events,
) (*catalog.Confusable, error) {
	return app.Catalogued(a, events, func(e *catalog.Env) (*catalog.Confusable, error) {
		return catalog.FindConfusable(ctx, e, req, func(ctx context.Context, run string) ([]panel.Confused, error) {
			return confusionOf(ctx, a, run)
		})
	})
}

// VectorsRequest asks which vectors are stored.
type VectorsRequest struct {
	// Models are the listed models, by their names in a listing; none: all.
	Models []string `json:"models,omitempty"`
	// Drop deletes their vectors.
	Drop bool `json:"drop,omitempty"`
}

// Vectors lists the stored vectors of models, and removes them if requested.
func Vectors(ctx context.Context, a *app.App, req VectorsRequest) (*provider.EmbedCacheListing, error) {
	path, err := a.Config.Vectors()
	if err != nil {
		return nil, err
	}
	return provider.ListEmbedCache(ctx, path, req.Models, req.Drop)
}
