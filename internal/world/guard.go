// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/score/safety"
)

const (
	dialTimeout = 10 * time.Second
	idle        = 90 * time.Second
)

// ruleBackoff names waits after failures. It is no rule of safety: to wait is right.
const ruleBackoff safety.Rule = "backoff"

// GuardsConfig of New. Policy is required and has a Guard.
type GuardsConfig struct {
	Policy *Policy
	// Tools are the catalogue; attempts with tools of their own name them.
	Tools []callvet.Tool
	// Clock is the clock of live tools, shared by all attempts. Nil: latencies are only recorded,
	// and each attempt has its own simulated time.
	Clock GuardClock
	// Ask asks a person whether a call may be executed; nil: no person, and the answer is no.
	Ask func(ctx context.Context, call *callvet.Call, why string) (bool, error)
	// Seed makes the jitter of waits repeatable.
	Seed uint64
}

// Guards makes the guards of attempts. It is safe for concurrent use.
type Guards struct {
	cfg     GuardsConfig
	checker *safety.Checker
	shared  *pacer
	redact  *redact.Redactor // forked for each attempt
	results *redact.Redactor
}

// NewGuards compiles a policy. The error wraps callvet.ErrInvalid.
func NewGuards(cfg GuardsConfig) (*Guards, error) {
	if cfg.Policy == nil || cfg.Policy.Guard == nil {
		return nil, fmt.Errorf("make a guard: the policy has none: %w", callvet.ErrInvalid)
	}
	g := &Guards{cfg: cfg, shared: newPacer()}
	var err error
	if g.checker, err = safety.New(cfg.Tools, cfg.Policy.Rules); err != nil {
		return nil, err
	}
	of := redact.Config{Off: cfg.Policy.PII.Off, Keys: cfg.Policy.PII.Keys}
	if g.redact, err = redact.New(of); err != nil {
		return nil, err
	}
	if cfg.Policy.DenyInResults == safety.DenySecrets {
		for _, k := range safety.DataKinds() {
			if !k.Secret() {
				of.Off = append(of.Off, k)
			}
		}
	}
	if g.results, err = redact.New(of); err != nil {
		return nil, err
	}
	return g, nil
}

// Rules are the guard's rules, for scoring the calls that it allowed.
func (g *Guards) Rules() *safety.Rules { return &g.cfg.Policy.Rules }

// Attempt makes the guard of one attempt at a case. tools are the attempt's own; nil: the
// catalogue's.
func (g *Guards) Attempt(caseID string, tools []callvet.Tool) *Guard {
	a := &Guard{
		of: g, checker: g.checker, clock: g.cfg.Clock, pacer: g.shared, redact: g.redact.Fork(),
		results: g.results.Fork(),
	}
	if tools != nil {
		a.checker = g.checker.With(tools)
	}
	if a.clock == nil {
		a.clock, a.pacer = &simulated{}, newPacer()
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(caseID)) // a hash accepts everything
	a.random = rand.New(rand.NewPCG(g.cfg.Seed, h.Sum64()))
	return a
}

// Guard decides about the calls of one attempt, one after the other.
type Guard struct {
	of      *Guards
	checker *safety.Checker
	clock   GuardClock
	pacer   *pacer
	random  *rand.Rand
	redact  *redact.Redactor
	results *redact.Redactor
}

// Timeout bounds one call.
func (a *Guard) Timeout() time.Duration { return a.of.cfg.Policy.Guard.timeout() }

// Before decides about a call of the conversation talk. It returns the call to execute, with
// redacted arguments if the policy requires that, and with the waiting time added to QueueMS. For a
// denied call, deny is the answer in place of the tool's. If ctx ends while it waits, the call is
// denied.
func (a *Guard) Before(ctx context.Context, talk []callvet.Turn,
	call callvet.Call,
) (pass callvet.Call, deny *callvet.Reply, rulings []callvet.Ruling) {
	d := decision{call: call}
	s := a.of.cfg.Policy.Guard
	var ask *safety.Incident
	incidents := a.checker.Pending(talk, call)
	for i := range incidents {
		in := &incidents[i]
		switch action := s.action(in.Rule); {
		case action == Flag:
			d.rule(in.Rule, callvet.RulingFlag, in.Note)
		case action == Redact && d.call.Args != nil:
			d.call.Args = a.redact.JSON(d.call.Args)
			d.rule(in.Rule, callvet.RulingRedact, in.Note)
		case in.Rule == safety.RuleUnconfirmed && a.of.Rules().Confirm == safety.ConfirmAsk && a.of.cfg.Ask != nil:
			ask = in
		default:
			d.deny(in.Rule, in.Note)
		}
	}
	if ask != nil && d.denied == "" {
		yes, err := a.of.cfg.Ask(ctx, &d.call, ask.Note)
		switch {
		case err != nil:
			d.deny(ask.Rule, "a person was to be asked: "+err.Error())
		case !yes:
			d.deny(ask.Rule, "a person was asked, and said no")
		default:
			d.rule(ask.Rule, callvet.RulingConfirm, "a person was asked, and said yes")
		}
	}
	if d.denied == "" {
		a.pace(ctx, s, &d)
	}
	if d.denied != "" {
		deny = &callvet.Reply{Env: callvet.EnvGuard, Error: "denied by the guard: " + d.denied}
	}
	return d.call, deny, d.rulings
}

// decision is the decision about one call.
type decision struct {
	call    callvet.Call
	denied  string // the reason; "": allowed
	rulings []callvet.Ruling
}

func (d *decision) rule(r safety.Rule, a callvet.RulingAction, detail string) {
	d.rulings = append(d.rulings, callvet.Ruling{Rule: string(r), Action: a, Detail: detail})
}

func (d *decision) deny(r safety.Rule, why string) {
	d.rule(r, callvet.RulingDeny, why)
	if d.denied != "" {
		d.denied += "; "
	}
	d.denied += string(r) + ": " + why
}

// pace delays a call while its tool fails or was called too often.
func (a *Guard) pace(ctx context.Context, s *GuardSettings, d *decision) {
	tool := strings.ToLower(d.call.Tool)
	deny, trial := a.pacer.open(tool, a.clock.Now(), a.of.Rules())
	switch {
	case deny != "" && s.action(safety.RuleFailing) == Flag:
		d.rule(safety.RuleFailing, callvet.RulingFlag, deny)
	case deny != "":
		d.deny(safety.RuleFailing, deny)
		return
	case trial != "":
		d.rule(safety.RuleFailing, callvet.RulingWait, trial)
	default:
		wait := a.pacer.backoff(tool, a.clock.Now(), s, a.random.Float64())
		a.wait(ctx, d, ruleBackoff, min(wait, s.maxWait()))
	}
	if d.denied == "" {
		a.rate(ctx, s, tool, d)
	}
	if d.denied != "" && trial != "" {
		a.pacer.left(tool)
	}
}

func (a *Guard) rate(ctx context.Context, s *GuardSettings, tool string, d *decision) {
	l, limited := a.checker.RateLimit(d.call.Tool)
	if !limited {
		return
	}
	action, most := s.action(safety.RuleRate), time.Duration(0)
	if action == Wait {
		most = s.maxWait()
	}
	wait, ok := a.pacer.reserve(tool, a.clock.Now(), l, most)
	why := fmt.Sprintf("%s may be called %d times in %g s", d.call.Tool, l.Calls, l.PerSeconds)
	switch {
	case ok:
		a.wait(ctx, d, safety.RuleRate, wait)
	case action == Flag:
		d.rule(safety.RuleRate, callvet.RulingFlag, why)
	default:
		d.deny(safety.RuleRate, fmt.Sprintf("%s, and the next is free in %.3g s", why, wait.Seconds()))
	}
}

func (a *Guard) wait(ctx context.Context, d *decision, why safety.Rule, t time.Duration) {
	if t <= 0 {
		return
	}
	if err := a.clock.Sleep(ctx, t); err != nil {
		d.deny(why, err.Error())
		return
	}
	ms := float64(t) / float64(time.Millisecond)
	d.call.QueueMS += ms
	d.rule(why, callvet.RulingWait, fmt.Sprintf("%.0f ms", ms))
}

// After decides about the result of the call that Before returned, and returns the result for the
// target and the trace.
func (a *Guard) After(_ context.Context, call callvet.Call, r callvet.Reply) (callvet.Reply, []callvet.Ruling) {
	tool := strings.ToLower(call.Tool)
	if r.Env == callvet.EnvGuard { // the way to the tool was refused
		a.pacer.left(tool)
		return r, nil
	}
	if most := a.Timeout(); r.Latency > most && r.Status != callvet.StatusTimeout {
		r = callvet.Reply{
			Status: callvet.StatusTimeout, Error: fmt.Sprintf("no answer within %g s", most.Seconds()),
			Latency: most, Env: r.Env, Guard: r.Guard,
		}
	}
	a.clock.Spent(r.Latency)
	a.pacer.ended(tool, a.clock.Now(), r.Status, match.RetryAfter(r.Error))
	var rulings []callvet.Ruling
	for _, in := range a.checker.Result(callvet.Call{Tool: call.Tool, Result: r.Result, Error: r.Error}) {
		action := callvet.RulingRedact
		switch a.of.cfg.Policy.Guard.action(in.Rule) {
		case Flag:
			action = callvet.RulingFlag
		case Cut:
			r.Result = cut(r.Result, a.of.Rules().MaxResultBytes)
		case Redact:
			r.Result, r.Error = a.results.JSON(r.Result), a.results.Text(r.Error)
		default:
			if r.Result != nil || r.Error == "" { // an error alone is unchanged
				r.Result = text("[withheld by the guard: " + string(in.Rule) + "]")
			}
			if r.Error != "" {
				r.Error = "withheld by the guard: " + string(in.Rule)
			}
		}
		rulings = append(rulings, callvet.Ruling{Rule: string(in.Rule), Action: action, Detail: in.Note})
	}
	return r, rulings
}

// cut is the beginning of a result as a text, with a remark, in about most bytes of JSON.
func cut(result json.RawMessage, most int) json.RawMessage {
	const note = " [cut by the guard]"
	s := string(result)
	var whole string
	if json.Unmarshal(result, &whole) == nil {
		s = whole
	}
	for keep := min(len(s), max(most-len(note)-2, 0)); ; keep = keep * 9 / 10 {
		for keep > 0 && keep < len(s) && !utf8.RuneStart(s[keep]) {
			keep--
		}
		if out := text(s[:keep] + note); len(out) <= most || keep == 0 {
			return out
		}
	}
}

// text is a string as JSON.
func text(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return json.RawMessage(`""`)
	}
	return b
}
