// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"fmt"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
)

// pacer counts calls and failures of tools. All attempts with live tools share one; other
// attempts have their own.
//
//	closed ── StopAfterFailures in a row ──► open ── ReopenSeconds ──► half-open: one call
//	  ▲                                        ▲                            │
//	  └───────── it succeeds ──────────────────┼────────────────────────────┤
//	                                           └──────── it fails ──────────┘
type pacer struct {
	mu    sync.Mutex
	tools map[string]*pace
}

func newPacer() *pacer { return &pacer{tools: map[string]*pace{}} }

// pace of one tool.
type pace struct {
	starts    []time.Time // of the last calls, at most the limit of a period
	failures  int         // in a row
	failed    time.Time   // when it failed last
	notBefore time.Time   // the tool's requested time of the next call
	trying    bool        // a call of a half-open tool is on its way
}

func (p *pacer) of(tool string) *pace {
	s := p.tools[tool]
	if s == nil {
		s = &pace{}
		p.tools[tool] = s
	}
	return s
}

// open decides about a failing tool: whether calls are denied, and whether a call is its trial.
func (p *pacer) open(tool string, now time.Time, rules *safety.Rules) (deny, trial string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.of(tool)
	if rules.StopAfterFailures == 0 || s.failures < rules.StopAfterFailures {
		return "", ""
	}
	after := time.Duration(rules.ReopenSeconds * float64(time.Second))
	reason := fmt.Sprintf("%d calls of %s in a row failed", s.failures, tool)
	switch {
	case after == 0:
		return reason + ", and it is not called again in this attempt", ""
	case s.trying:
		return reason + ", and one more is being tried", ""
	case now.Before(s.failed.Add(after)):
		return reason + fmt.Sprintf("; one more may be tried after %g s", rules.ReopenSeconds), ""
	}
	s.trying = true
	return "", reason + fmt.Sprintf("; one more is tried after %g s", rules.ReopenSeconds)
}

// backoff is how long a call waits because the last calls failed. random is in [0,1).
func (p *pacer) backoff(tool string, now time.Time, s *GuardSettings, random float64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.of(tool)
	if t.failures == 0 {
		return 0
	}
	most := millis(s.MaxBackoffMS, defaultMaxBackoffMS)
	wait := millis(s.BackoffMS, defaultBackoffMS)
	for i := 1; i < t.failures && wait < most; i++ {
		wait *= 2
	}
	jitter := defaultJitter
	if s.Jitter != nil {
		jitter = *s.Jitter
	}
	wait = time.Duration(float64(min(wait, most)) * (1 - jitter*random))
	return max(t.failed.Add(wait).Sub(now), t.notBefore.Sub(now), 0)
}

// reserve gives a call the next allowed start, and the wait until then. If the wait is longer than
// most, ok is false and nothing is reserved. The limit holds in every period, wherever it begins.
func (p *pacer) reserve(tool string, now time.Time, l callvet.RateLimit,
	most time.Duration,
) (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, start := p.of(tool), now
	if n := len(s.starts); n >= l.Calls {
		s.starts = s.starts[n-l.Calls:]
		if free := s.starts[0].Add(time.Duration(l.PerSeconds * float64(time.Second))); free.After(start) {
			start = free
		}
	}
	if wait = start.Sub(now); wait > most {
		return wait, false
	}
	s.starts = append(s.starts, start)
	return wait, true
}

// ended records the end of an executed call, and the tool's retry delay.
func (p *pacer) ended(tool string, now time.Time, status callvet.Status, after time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.of(tool)
	s.trying = false
	if status == callvet.StatusExecErr || status == callvet.StatusTimeout {
		s.failures++
		s.failed, s.notBefore = now, now.Add(after)
		return
	}
	s.failures, s.notBefore = 0, time.Time{}
}

// left cancels a trial call that was not made.
func (p *pacer) left(tool string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of(tool).trying = false
}
