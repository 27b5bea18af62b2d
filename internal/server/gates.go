// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel/gates"
)

// GateVerdict is the verdict of gates on a run.
type GateVerdict struct {
	Report *gates.Report `json:"report"`
	// Incomplete: the run is not over, and the verdict may change.
	Incomplete bool `json:"incomplete,omitempty"`
}

func (s *Server) addGates() {
	add(s, huma.Operation{
		OperationID: "gate-run", Method: http.MethodPost, Path: "/api/runs/{id}/gate",
		Summary: "Hold a run against gates, and against a baseline", Tags: []string{"runs"},
	}, Access{Objects: map[string]Kind{"id": KindRun}, Reads: true, Scope: account.ScopeRead}, s.gateRun)
	s.addGatebook()
}

const gateFile = "gates"

func (s *Server) gateRun(ctx context.Context, by *account.Principal, in *struct {
	RunIn
	Body struct {
		GateID   string `json:"gate_id,omitempty" maxLength:"64" doc:"gates that are kept, in place of gates; what they say of the run is kept with them"`
		Gates    string `json:"gates,omitempty" maxLength:"1000000" doc:"a gate file, YAML or JSON (callvet schema gates); empty: the gates of the run's suite"`
		Baseline string `json:"baseline_eval_id,omitempty" maxLength:"100"`
		Policy   string `json:"policy,omitempty" enum:"strict,lenient" doc:"strict: an inconclusive gate stops the build; that of the gates, else strict, if it is not set"`
	}
},
) (*struct{ Body GateVerdict }, error) {
	if in.Body.Baseline != "" {
		if err := s.May(ctx, by, KindRun, in.Body.Baseline, false); err != nil {
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
		if err := s.May(ctx, by, KindGate, id, false); err != nil {
			return nil, err
		}
		g, err := s.keptGate(ctx, id)
		if err != nil {
			return nil, err
		}
		kept, text = g, string(g.Content)
	}
	res, err := s.hold(ctx, in.ID, text, in.Body.Baseline, in.Body.Policy)
	if err == nil && kept != nil {
		err = s.keepVerdict(ctx, by, kept, in.ID, in.Body.Baseline, res)
	}
	if err != nil {
		return nil, err
	}
	return &struct{ Body GateVerdict }{*res}, nil
}

// hold decides the gates of a run; text "" means the gates of its suite, and policy "" their
// policy.
func (s *Server) hold(ctx context.Context, run, text, baseline, policy string) (*GateVerdict, error) {
	req := traces.GateRequest{Side: app.Side{Run: run}, Policy: traces.GatePolicy(policy)}
	if baseline != "" {
		req.Baseline = app.Side{Run: baseline}
	}
	if text != "" {
		req.Gates = gateFile
	}
	res, err := traces.Gate(ctx, s.cfg.App.With(app.Uploads{gateFile: []byte(text)}), req, nil)
	if bad := badGates(err); bad != nil {
		return nil, bad
	}
	if err != nil {
		return nil, err
	}
	return &GateVerdict{Report: res.Report, Incomplete: res.Resume != nil}, nil
}
