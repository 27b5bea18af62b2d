// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callvet/callvet"
)

const (
	// probeFor is how long an answer to a probe may take.
	probeFor = 10 * time.Second
	// probeTokens is the smallest limit of answer tokens that every provider accepts.
	probeTokens = 16
)

// Probe is the result of one request to a target.
type Probe struct {
	OK        bool              `json:"ok" doc:"the target answered"`
	Target    string            `json:"target"`
	Model     string            `json:"model,omitempty" doc:"the model that answered, as the provider names it"`
	LatencyMS float64           `json:"latency_ms"`
	Fault     callvet.FaultKind `json:"fault,omitempty" doc:"auth: the key is refused; request: most often no such model; rate_limit, network, timeout, server, malformed"`
	HTTP      int               `json:"http_status,omitempty" doc:"of an answer that is a fault"`
	Message   string            `json:"message,omitempty" doc:"the provider's message"`
	RetryMS   int64             `json:"retry_after_ms,omitempty"`
	Notes     []callvet.Notice  `json:"notes,omitempty"`
	Usage     callvet.Usage     `json:"usage"`
}

// Probe sends one short question to a target with the keys and the reach of this App; it costs a
// request of a few tokens. A target that cannot be opened is an error; one that does not answer is
// not.
func (a *App) Probe(ctx context.Context, spec TargetSpec) (Probe, error) {
	out := Probe{Target: spec.Target}
	events := Events(func(e Event) {
		if e.Note != nil {
			out.Notes = append(out.Notes, *e.Note)
		}
		if e.Warning != nil {
			out.Notes = append(out.Notes, *e.Warning)
		}
	})
	op, err := a.NewOpener(probeFor, "", "probe", events)
	if err != nil {
		return out, err
	}
	defer op.Close()
	most := probeTokens
	spec.Params.MaxTokens = &most
	ts, err := op.open(ctx, &spec)
	if err != nil {
		return out, err
	}
	if len(ts) != 1 {
		return out, fmt.Errorf("ask target %q: %w: it is not one target", spec.Target, callvet.ErrInvalid)
	}
	ctx, cancel := context.WithTimeout(ctx, probeFor)
	defer cancel()
	began := a.Config.Now()
	answer, err := ts[0].Model.Generate(ctx, &callvet.Request{
		CaseID: "probe", Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "Say hello."}},
		Tools: &callvet.Toolset{}, Params: ts[0].Params,
	})
	out.LatencyMS = float64(a.Config.Now().Sub(began)) / float64(time.Millisecond)
	var fault *callvet.Fault
	switch {
	case err == nil:
		out.OK, out.Model, out.Usage = true, answer.Model, answer.Usage
	case errors.As(err, &fault):
		out.Fault, out.HTTP, out.Message, out.RetryMS = fault.Kind, fault.HTTP, a.Secrets().Hide(fault.Message),
			fault.RetryAfter.Milliseconds()
	default:
		return out, fmt.Errorf("ask target %q: %w", spec.Target, err)
	}
	return out, nil
}
