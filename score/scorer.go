// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
)

// Config is the input of scoring apart from the suite.
type Config struct {
	// Similarity compares texts in mode semantic; nil makes this mode a problem. It must be
	// deterministic for one pair of texts and safe for concurrent use. An attempt is not judged
	// where its verdict depends on a comparison that ended with an error.
	Similarity match.Similarity
	// Explain lists expected and actual calls in every result; otherwise a pass with nothing to
	// report has no such list.
	Explain bool
	// Custom returns the implementation of a scorer that is no expression: a program, or Go code
	// registered under its name. On an error the scorer is not evaluated, with the error as the
	// reason. Nil: only expressions judge.
	Custom func(s *callvet.Scorer) (Custom, error)
	// Safety makes the function that checks attempts at a case with its own safety. The function
	// returns scores, an assertion of callvet.LayerSafety and incidents. tools are the suite's
	// tools. The error describes the mistake in the case. Nil: the assertion is not evaluated.
	Safety func(tools []callvet.Tool,
		c *callvet.Case) (func(t *callvet.Trace) ([]callvet.Score, callvet.Assertion, []callvet.Incident), error)
}

// Scorer compiles the cases of one suite. It is safe for concurrent use; the suite
// must not change while it is used.
type Scorer struct {
	suite *callvet.Suite
	tools *catalogue
	// naming is the naming of the suite's tools under the suite's settings.
	naming *callvet.Naming
	cfg    Config
	pool   sync.Pool
	// similar calls Config.Similarity; nil without one.
	similar *similarities
}

// New compiles the suite's tools and returns their problems: schemas that do not compile. It does
// not read the cases: Compile compiles one case.
func New(s *callvet.Suite, cfg Config) (*Scorer, []callvet.Problem) {
	tools, ps := newCatalogue(s.Tools, "")
	sc := &Scorer{suite: s, tools: tools, cfg: cfg}
	if cfg.Similarity != nil {
		sc.similar = &similarities{ask: cfg.Similarity}
		sc.cfg.Similarity = sc.similar.of
	}
	set := &s.Defaults.Scoring
	sc.naming = callvet.NewNaming(set.ToolNames, set.CaseSensitiveNames, tools.names)
	sc.pool.New = func() any { return new(scratch) }
	common := problems{c: &callvet.Case{}} // of scorers that every case has
	of := Compiled{src: &callvet.Case{Expect: callvet.Expect{Scorers: s.Defaults.Scorers}}}
	of.customs(&cfg, &common)
	ps = slices.Concat(ps, common.list, sc.naming.Problems())
	return sc, ps
}

// Score is Judge without a context: only their timeouts bound the suite's own scorers.
func (k *Compiled) Score(t *callvet.Trace) callvet.Result {
	r, _ := k.Judge(context.Background(), t) // which never ends
	return r
}

// Judge judges one attempt. Attempts that ended in an error or did not run get that verdict and
// no scores. It blocks only where the suite's own scorers do. The error is the error of ctx,
// where it ended while they ran: then nothing is known about the attempt.
func (k *Compiled) Judge(ctx context.Context, t *callvet.Trace) (callvet.Result, error) {
	r, err := k.asked(ctx, t)
	if err == nil && t.Decision == nil {
		r.Names = k.counted(t)
	}
	return r, err
}

// asked judges an attempt after the suite's own scorers have run.
func (k *Compiled) asked(ctx context.Context, t *callvet.Trace) (callvet.Result, error) {
	asked := t.Outcome != callvet.OutcomeError && t.Outcome != callvet.OutcomeNotRun && t.Decision == nil
	if !asked || len(k.scorers) == 0 {
		return k.compared(t, nil), nil
	}
	opinions, err := k.ask(ctx, k.naming.Trace(t))
	if err != nil {
		return callvet.Result{}, err
	}
	return k.compared(t, opinions), nil
}

// compared is judge for an attempt with texts that could be compared.
func (k *Compiled) compared(t *callvet.Trace, opinions []scorerResult) callvet.Result {
	if k.similar == nil {
		return k.judge(t, opinions)
	}
	return k.similar.judge(k.src, func() callvet.Result { return k.judge(t, opinions) })
}

// judge judges an attempt, given the results of the suite's own scorers.
func (k *Compiled) judge(t *callvet.Trace, opinions []scorerResult) callvet.Result {
	switch t.Outcome {
	case callvet.OutcomeError:
		return callvet.Result{
			Verdict: callvet.VerdictError, Class: callvet.ClassProvider, Reason: faultReason(t),
			Scores: k.blocked(t),
		}
	case callvet.OutcomeNotRun:
		left := k.src.Expect.Unevaluated()
		reason := cmp.Or(k.src.Skip, k.Idle(false), "did not run: "+string(t.End))
		return callvet.Result{Verdict: callvet.VerdictNotRun, Reason: reason, Assertions: left, NotEvaluated: len(left)}
	}
	if t.Decision != nil {
		return k.decided(t)
	}
	if !k.asserts {
		left := k.src.Expect.Unevaluated()
		return callvet.Result{
			Verdict: callvet.VerdictNotRun, Reason: idle(k.src, left), Assertions: left,
			NotEvaluated: len(left),
		}
	}
	w := k.pool.Get().(*scratch)
	w.begin(k, t)
	w.opinions = opinions
	var r callvet.Result
	if reason := k.tooMany(len(w.calls)); reason != "" {
		left := k.src.Expect.Unevaluated()
		r = callvet.Result{Verdict: callvet.VerdictNotRun, Reason: reason, Assertions: left, NotEvaluated: len(left)}
	} else {
		r = w.judge()
	}
	w.opinions = nil
	if cap(w.calls) <= maxPooledCalls {
		k.pool.Put(w)
	}
	return r
}

func faultReason(t *callvet.Trace) string {
	if t.Fault != nil {
		return t.Fault.Error()
	}
	return "the attempt ended in an error"
}

// Reached reports whether calls already hold, by name, every call that some
// plan of the case requires. False for cases without such a plan. The turn loop
// ends a multi-turn attempt when it is true.
func (k *Compiled) Reached(calls []callvet.Call) bool {
	for i := range k.plans {
		if k.plans[i].reached(k, calls) {
			return true
		}
	}
	return false
}

func (p *plan) reached(k *Compiled, calls []callvet.Call) bool {
	used := make([]bool, len(calls))
	needed := 0
next:
	for i := range p.calls {
		e := &p.calls[i]
		if e.src.Optional {
			continue
		}
		needed++
		for j := range calls {
			if !used[j] && k.accepts(e, k.naming.Of(calls[j].Tool)) {
				used[j] = true
				continue next
			}
		}
		return false
	}
	return needed > 0
}

// Check returns every violation of a tool's contract in the call. It is nil without a violation,
// without a contract, and without a catalogue.
func (k *Compiled) Check(call *callvet.Call) []callvet.Violation {
	w := k.pool.Get().(*scratch)
	defer k.pool.Put(w)
	w.k, w.calls = k, resize(w.calls, 1)
	if name := k.naming.Of(call.Tool); name != call.Tool {
		own := *call
		own.Tool, call = name, &own
	}
	w.calls[0].read(k, call)
	return w.calls[0].violations(k)
}

// Naming resolves the names of tools in the case; nil where every name counts as itself.
func (k *Compiled) Naming() *callvet.Naming { return k.naming }
