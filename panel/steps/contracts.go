// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// contracts are tools reduced to their name, latency budget and rate limit; the highest version of
// each name.
func contracts(tools []callvet.Tool) []callvet.Tool {
	highest := map[string]*callvet.Tool{}
	for i := range tools {
		t := &tools[i]
		if o := highest[t.Name]; o == nil || callvet.CompareVersions(o.Version, t.Version) < 0 {
			highest[t.Name] = t
		}
	}
	var out []callvet.Tool
	for name, t := range highest {
		c := callvet.Tool{Name: name, LatencyBudgetMS: t.LatencyBudgetMS, LatencyP50MS: t.LatencyP50MS}
		if l := t.RateLimit; l != nil && l.PerSeconds > 0 {
			c.RateLimit = l
		}
		if c.LatencyBudgetMS != nil || c.LatencyP50MS != nil || c.RateLimit != nil {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, byName)
	return out
}

func byName(a, b callvet.Tool) int { return strings.Compare(a.Name, b.Name) }

// contract is the contract of a tool; nil where none is known.
func (s *Sheet) contract(name string) *callvet.Tool {
	i, ok := slices.BinarySearchFunc(s.cfg.Tools, callvet.Tool{Name: name}, byName)
	if !ok {
		return nil
	}
	return &s.cfg.Tools[i]
}

// rateLimits are the known rate limits, by the tool's number.
func (s *Sheet) rateLimits() map[uint32]*callvet.RateLimit {
	out := map[uint32]*callvet.RateLimit{}
	for i := range s.cfg.Tools {
		if t := &s.cfg.Tools[i]; t.RateLimit != nil {
			out[s.names.Tools.Number([]byte(t.Name))] = t.RateLimit
		}
	}
	return out
}

// sameContracts reports whether two lists are equal.
func sameContracts(a, b []callvet.Tool) bool {
	var x, y writer
	x.contracts(a)
	y.contracts(b)
	return slices.Equal(x.b, y.b)
}

func (w *writer) contracts(tools []callvet.Tool) {
	w.Uint(uint64(len(tools)))
	for i := range tools {
		t := &tools[i]
		w.Text(t.Name)
		for _, ms := range []*float64{t.LatencyBudgetMS, t.LatencyP50MS} {
			if w.Bool(ms != nil); ms != nil {
				w.Float(*ms)
			}
		}
		if w.Bool(t.RateLimit != nil); t.RateLimit != nil {
			w.Int(int64(t.RateLimit.Calls))
			w.Float(t.RateLimit.PerSeconds)
		}
	}
}

func (r *reader) contracts() []callvet.Tool {
	var out []callvet.Tool
	for range r.Count() {
		t := callvet.Tool{Name: r.Text(), LatencyBudgetMS: r.optional(), LatencyP50MS: r.optional()}
		if r.Bool() {
			t.RateLimit = &callvet.RateLimit{Calls: int(r.Int()), PerSeconds: r.Float()}
			if t.RateLimit.Calls < 0 || !(t.RateLimit.PerSeconds > 0) {
				r.Fail()
			}
		}
		out = append(out, t)
	}
	if r.err != nil {
		return nil
	}
	return out
}

// optional reads a number that may be absent.
func (r *reader) optional() *float64 {
	if !r.Bool() {
		return nil
	}
	f := r.Float()
	return &f
}
