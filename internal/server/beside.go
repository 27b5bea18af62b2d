// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
)

type (
	// BesideAsk asks where production selected other tools than an evaluation selects.
	BesideAsk struct {
		TracesID    string `json:"traces_id,omitempty" required:"false" maxLength:"64" doc:"a collection of traces of production"`
		Production  string `json:"production,omitempty" required:"false" maxLength:"33554432" doc:"decisions as a text: {query, tools} in a list or one a line, or traces; it is not kept"`
		EvalID      string `json:"eval_id,omitempty" required:"false" maxLength:"100" doc:"a run that asked the same questions"`
		RunTarget   string `json:"run_target,omitempty" required:"false" maxLength:"500" doc:"of the run, where it has several"`
		CatalogueID string `json:"catalogue_id,omitempty" required:"false" maxLength:"64" doc:"without a run, this catalogue is asked; may be left out where there is exactly one"`
		Limit       int    `json:"limit,omitempty" required:"false" minimum:"0" maximum:"100" doc:"how many tools the catalogue gives"`
		Preset      string `json:"preset,omitempty" required:"false" enum:"default,bigtool" doc:"how tools are scored"`
		MaxPairs    int    `json:"max_pairs,omitempty" required:"false" minimum:"0" maximum:"5000" doc:"how many pairs are given, the largest differences first; 0: 200"`
	}
	// BesideAnswer is production beside an evaluation.
	BesideAnswer struct {
		app.Beside
		LeftOut int              `json:"pairs_left_out"`
		Notes   []callvet.Notice `json:"notes" nullable:"false"`
	}
)

// usualPairs is how many pairs are given where the request does not say.
const usualPairs = 200

func (s *Server) decisions(ctx context.Context, by *account.Principal, in *struct{ Body BesideAsk }) (*struct{ Body BesideAnswer }, error) {
	b := &in.Body
	if (b.TracesID == "") == (b.Production == "") {
		return nil, &callvet.FieldError{Field: "traces_id", Text: "{traces_id}: name a collection, or send {production}: one of the two"}
	}
	req, files := app.DecisionsRequest{Production: tracesField, RunTarget: b.RunTarget}, app.Uploads{}
	if b.TracesID != "" {
		if err := s.May(ctx, by, KindTraces, b.TracesID, false); err != nil {
			return nil, err
		}
		release, err := s.alone(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
		if req.Production, err = s.bring(ctx, b.TracesID, files); err != nil {
			return nil, err
		}
	} else {
		files[tracesField] = []byte(b.Production)
	}
	if b.EvalID != "" {
		if b.CatalogueID != "" {
			return nil, &callvet.FieldError{Field: "catalogue_id", Text: "{catalogue_id}: it is asked where no run is named with {eval_id}"}
		}
		if err := s.May(ctx, by, KindRun, b.EvalID, false); err != nil {
			return nil, err
		}
		req.Run = b.EvalID
	} else {
		c, err := s.catalogueOf(ctx, by, b.CatalogueID)
		if err != nil {
			return nil, err
		}
		files[c.ID] = c.Text
		req.Tools, req.K, req.Preset = c.ID, b.Limit, b.Preset
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, selectTime)
	defer cancel()
	var h heard
	out, err := a.With(files).Decisions(ctx, req, h.hear)
	if err != nil {
		return nil, h.lab(atMost(err, ctx))
	}
	answer := BesideAnswer{Beside: *out, Notes: h.all()}
	most := usualPairs
	if b.MaxPairs > 0 {
		most = b.MaxPairs
	}
	if n := len(answer.Pairs); n > most {
		answer.Pairs, answer.LeftOut = answer.Pairs[:most], n-most
	}
	return &struct{ Body BesideAnswer }{answer}, nil
}
