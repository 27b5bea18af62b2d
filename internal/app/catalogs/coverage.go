// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
)

// Coverage reports what the cases of suites test, and what they do not.
type Coverage = suite.CoverageReport

// defaultOverlap is the default of CoverageRequest.Overlap.
const defaultOverlap = catalog.AlikeFrom

// CoverageRequest asks what the cases of suites test.
type CoverageRequest struct {
	// Suites are files or folders, one at least; they are taken together.
	Suites []string `json:"suites"`
	// Format, Tools, Mocks, Seeds, Snapshots, Embedder and Programs are those of a SuiteRequest.
	Format    string `json:"format,omitempty"`
	Tools     string `json:"tools,omitempty"`
	Mocks     string `json:"mocks,omitempty"`
	Seeds     string `json:"seeds,omitempty"`
	Snapshots string `json:"snapshots,omitempty"`
	Embedder  string `json:"embedder,omitempty"`
	Programs  bool   `json:"programs,omitempty"`
	// Run is a run; tools that it confused overlap too. "": none.
	Run string `json:"run,omitempty"`
	// Overlap is the least similarity of the texts of two tools that overlap, in (0,1]; 0: 0.2.
	Overlap float64 `json:"overlap,omitempty"`
	// Output is a file for the overlap map; "": none. An existing file is kept, and is an error.
	Output string `json:"output,omitempty"`
}

// MeasureCoverage reports what the cases of suites test. The error wraps callvet.ErrInvalid for
// suites with errors, which it reports first, and callvet.ErrConflict if Output would overwrite a
// file.
func MeasureCoverage(ctx context.Context, a *app.App, req CoverageRequest, events app.Events) (*Coverage, error) {
	if len(req.Suites) == 0 {
		return nil, app.Wrong("suites", "", "name a suite")
	}
	if !(req.Overlap >= 0 && req.Overlap <= 1) {
		return nil, app.Wrong("overlap", fmt.Sprint(req.Overlap), "it is above 0, and 1 at most")
	}
	if req.Output != "" {
		if _, there, err := a.Config.Files.Existing(req.Output); there || err != nil {
			return nil, &callvet.Hinted{Err: fmt.Errorf("write %s: %w: the file exists", req.Output,
				callvet.ErrConflict), Hint: "name another file, or remove this one"}
		}
	}
	k := suite.NewCoverageCounter()
	var tools []callvet.Tool
	offer := func(more []callvet.Tool) {
		for i := range more {
			if !slices.ContainsFunc(tools,
				func(t callvet.Tool) bool { return strings.EqualFold(t.Name, more[i].Name) }) {
				tools = append(tools, more[i])
			}
		}
		k.Offer(more)
	}
	for _, name := range req.Suites {
		if err := countCases(ctx, a, req.suite(name), k, offer, events); err != nil {
			return nil, err
		}
	}
	var observed []panel.Confused
	if req.Run != "" {
		var err error
		if observed, err = confusionOf(ctx, a, req.Run); err != nil {
			return nil, err
		}
	}
	least := cmp.Or(req.Overlap, defaultOverlap)
	near, left, err := catalog.Overlaps(ctx, tools, observed, least)
	if err != nil {
		return nil, err
	}
	pairs := make([]suite.CoveragePair, len(near))
	for i, p := range near {
		pairs[i] = suite.CoveragePair(p)
	}
	out := k.Report(pairs, least)
	out.NotCompared = left
	if req.Output == "" {
		return out, nil
	}
	b, err := out.MapFile()
	if err != nil {
		return nil, err
	}
	out.Output = req.Output
	return out, a.WriteBytes(ctx, req.Output, b)
}

func (q *CoverageRequest) suite(name string) app.SuiteRequest {
	return app.SuiteRequest{
		Suite: name, Format: q.Format, Tools: q.Tools, Mocks: q.Mocks, Seeds: q.Seeds,
		Snapshots: q.Snapshots, Embedder: q.Embedder, Programs: q.Programs,
	}
}

// countCases adds the cases of one suite.
func countCases(ctx context.Context, a *app.App, req app.SuiteRequest, k *suite.CoverageCounter,
	offer func([]callvet.Tool),
	events app.Events,
) error {
	read, err := a.OpenSuite(ctx, req, events)
	if err != nil {
		return err
	}
	offer(read.Suite.Tools)
	for c := range read.Cases(ctx) {
		if err := ctx.Err(); err != nil {
			return err
		}
		offer(c.Tools)
		k.Add(c)
	}
	problems := read.Problems()
	events.Problems(problems)
	if n := app.ErrorsIn(problems); n > 0 {
		return fmt.Errorf("read suite %s: %w: %s", req.Suite, callvet.ErrInvalid, plain.Count(n, "error", "errors"))
	}
	return nil
}
