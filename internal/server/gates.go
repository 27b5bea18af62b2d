// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"net/http"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
	"github.com/callvet/callvet/internal/store/rows"
)

func addGates(s *api.Server) {
	op := api.Operations("runs", "/api/runs/{id}")
	api.Answer(s, op("gate-run", http.MethodPost, "/gate", "Compare a run with gates, and with a baseline"),
		api.Access{Objects: map[string]api.Kind{"id": api.KindRun}, Reads: true, Scope: account.ScopeRead},
		api.With(s, gateRun))
	addGatebook(s)
}

const gateFile = "gates"

func gateRun(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	api.RunIn
	Body struct {
		GateID   string `json:"gate_id,omitempty" maxLength:"64" doc:"stored gates, instead of gates; their verdict on the run is stored with them"`
		Gates    string `json:"gates,omitempty" maxLength:"1000000" doc:"a gate file, YAML or JSON (callvet schema gates); empty: the gates of the run's suite"`
		Baseline string `json:"baseline_eval_id,omitempty" maxLength:"100"`
		Policy   string `json:"policy,omitempty" enum:"strict,lenient" doc:"strict: an inconclusive gate stops the build; that of the gates, else strict, if it is not set"`
	}
},
) (*api.GateVerdict, error) {
	if in.Body.Baseline != "" {
		if err := s.May(ctx, by, api.KindRun, in.Body.Baseline, false); err != nil {
			return nil, err
		}
	}
	text := in.Body.Gates
	var kept *rows.CheckedGateEntry
	if id := in.Body.GateID; id != "" {
		if text != "" {
			return nil, &callvet.FieldError{
				Field: "gate_id",
				Text:  "{gate_id}: send {gates}, or name some that are kept: one of the two",
			}
		}
		if err := s.May(ctx, by, api.KindGate, id, false); err != nil {
			return nil, err
		}
		g, err := keptGate(ctx, s, id)
		if err != nil {
			return nil, err
		}
		kept, text = g, string(g.Content)
	}
	res, err := hold(ctx, s, in.ID, text, in.Body.Baseline, in.Body.Policy)
	if err == nil && kept != nil {
		err = keepVerdict(ctx, s, by, kept, in.ID, in.Body.Baseline, res)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// hold decides the gates of a run; text "" means the gates of its suite, and policy "" their
// policy.
func hold(ctx context.Context, s *api.Server, run, text, baseline, policy string) (*api.GateVerdict, error) {
	req := traces.GateRequest{Side: app.Side{Run: run}, Policy: traces.GatePolicy(policy)}
	if baseline != "" {
		req.Baseline = app.Side{Run: baseline}
	}
	if text != "" {
		req.Gates = gateFile
	}
	res, err := traces.Gate(ctx, s.Config.App.With(app.Uploads{gateFile: []byte(text)}), req, nil)
	if bad := assets.BadGates(err); bad != nil {
		return nil, bad
	}
	if err != nil {
		return nil, err
	}
	return &api.GateVerdict{Report: res.Report, Incomplete: res.Resume != nil}, nil
}
