// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"time"
)

// settings are what a session of a run goes by, beside what it asks: its limits, its
// pace, and what is required of it. A run keeps them when it is taken up again,
// unless new ones are given.
type settings struct {
	MaxCostUSD  float64 `json:"max_cost_usd,omitempty"`
	MaxCalls    int     `json:"max_calls,omitempty"`
	Concurrency int     `json:"concurrency,omitempty"`
	Interleave  bool    `json:"interleave,omitempty"`
	Rate        float64 `json:"rate,omitempty"`
	TimeoutMS   int64   `json:"timeout_ms,omitempty"`
	// Retries is nil where --retries was not given, which allows more after a 429.
	Retries     *int    `json:"retries,omitempty"`
	KeepErrors  bool    `json:"keep_errors,omitempty"`
	RequirePass bool    `json:"require_pass,omitempty"`
	FailUnder   float64 `json:"fail_under,omitempty"`
}

// settings of a new run are its flags.
func (f *runFlags) settings() *settings {
	s := &settings{
		MaxCostUSD: f.maxCost, MaxCalls: f.maxCalls, Concurrency: f.concurrency, Interleave: f.interleave, Rate: f.rate, TimeoutMS: f.timeout.Milliseconds(),
		KeepErrors: f.keepErrors, RequirePass: f.requirePass, FailUnder: f.failUnder,
	}
	if f.retriesGiven {
		s.Retries = &f.retries
	}
	return s
}

// keep takes the settings of a stored run for those flags that were not given. Runs of
// earlier versions have none.
func (f *runFlags) keep(s *settings, given func(string) bool) {
	if s == nil {
		return
	}
	kept(&f.maxCost, s.MaxCostUSD, given("max-cost"))
	kept(&f.maxCalls, s.MaxCalls, given("max-calls"))
	kept(&f.concurrency, s.Concurrency, given("concurrency"))
	kept(&f.interleave, s.Interleave, given("interleave"))
	kept(&f.rate, s.Rate, given("rate"))
	kept(&f.timeout, time.Duration(s.TimeoutMS)*time.Millisecond, given("timeout"))
	kept(&f.keepErrors, s.KeepErrors, given("keep-errors"))
	kept(&f.requirePass, s.RequirePass, given("require-pass"))
	kept(&f.failUnder, s.FailUnder, given("fail-under"))
	if s.Retries != nil && !given("retries") {
		f.retries, f.retriesGiven = *s.Retries, true
	}
}

func kept[T comparable](flag *T, stored T, given bool) {
	var none T
	if !given && stored != none {
		*flag = stored
	}
}

// rewritten is the manifest with the settings of this session, nil when they are those
// that it has.
func (m *manifest) rewritten(f *runFlags) (json.RawMessage, error) {
	before, err := json.Marshal(m.Settings)
	if err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	m.Settings = f.settings()
	after, err := json.Marshal(m.Settings)
	if err != nil || string(before) == string(after) {
		return nil, err
	}
	return json.Marshal(m)
}
