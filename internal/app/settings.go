// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
)

// Settings are the settings of a session other than its cases and targets: its limits, its pace,
// and its required results. A resumed run keeps them.
type Settings struct {
	// MaxCostUSD and MaxCalls bound the spending; 0: no limit.
	MaxCostUSD float64 `json:"max_cost_usd,omitempty"`
	MaxCalls   int     `json:"max_calls,omitempty"`
	// Concurrency is how many requests of a provider are in flight; 0 means 8.
	Concurrency int  `json:"concurrency,omitempty"`
	Interleave  bool `json:"interleave,omitempty"`
	// Rate is requests per second and provider; 0: no limit.
	Rate float64 `json:"rate,omitempty"`
	// TimeoutMS is the time for one request; 0 means two minutes.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// Retries after a temporary failure; nil means 3, and up to 9 after a 429.
	Retries    *int `json:"retries,omitempty"`
	KeepErrors bool `json:"keep_errors,omitempty"`
	// ForceRubric also runs the rubric cases of targets with other attempts that did not pass.
	ForceRubric bool `json:"force_rubric,omitempty"`
	// RequirePass and FailUnder decide the verdict: every attempt passes, or the whole
	// interval of the pass rate is FailUnder (0 to 1) or more. 0: no requirement.
	RequirePass bool    `json:"require_pass,omitempty"`
	FailUnder   float64 `json:"fail_under,omitempty"`
	// Gates is a gate file; cases in its quarantine do not count for either. "": the suite's own
	// gates.
	Gates string `json:"gates,omitempty"`
}

// Changes are settings of another session of a run; nil ones stay unchanged.
type Changes struct {
	MaxCostUSD  *float64 `json:"max_cost_usd,omitempty"`
	MaxCalls    *int     `json:"max_calls,omitempty"`
	Concurrency *int     `json:"concurrency,omitempty"`
	Interleave  *bool    `json:"interleave,omitempty"`
	Rate        *float64 `json:"rate,omitempty"`
	TimeoutMS   *int64   `json:"timeout_ms,omitempty"`
	Retries     *int     `json:"retries,omitempty"`
	KeepErrors  *bool    `json:"keep_errors,omitempty"`
	ForceRubric *bool    `json:"force_rubric,omitempty"`
	RequirePass *bool    `json:"require_pass,omitempty"`
	FailUnder   *float64 `json:"fail_under,omitempty"`
	Gates       *string  `json:"gates,omitempty"`
}

// With returns the settings after the changes.
func (s Settings) With(c *Changes) Settings {
	put(&s.MaxCostUSD, c.MaxCostUSD)
	put(&s.MaxCalls, c.MaxCalls)
	put(&s.Concurrency, c.Concurrency)
	put(&s.Interleave, c.Interleave)
	put(&s.Rate, c.Rate)
	put(&s.TimeoutMS, c.TimeoutMS)
	put(&s.KeepErrors, c.KeepErrors)
	put(&s.ForceRubric, c.ForceRubric)
	put(&s.RequirePass, c.RequirePass)
	put(&s.FailUnder, c.FailUnder)
	put(&s.Gates, c.Gates)
	if c.Retries != nil {
		s.Retries = c.Retries
	}
	return s
}

func put[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// Check returns an error for invalid settings.
func (s *Settings) Check() error {
	switch {
	case !(s.MaxCostUSD >= 0):
		return Wrong("max_cost_usd", fmt.Sprint(s.MaxCostUSD), "write an amount above 0, or 0 for no limit")
	case s.MaxCalls < 0:
		return Wrong("max_calls", fmt.Sprint(s.MaxCalls), "write a number above 0, or 0 for no limit")
	case s.Concurrency < 0:
		return Wrong("concurrency", fmt.Sprint(s.Concurrency), "write 1 or more")
	case !(s.Rate >= 0):
		return Wrong("rate", fmt.Sprint(s.Rate), "write requests per second, or 0 for no limit")
	case s.TimeoutMS < 0:
		return Wrong("timeout_ms", fmt.Sprint(s.TimeoutMS), "write 1 or more")
	case s.Retries != nil && *s.Retries < 0:
		return Wrong("retries", fmt.Sprint(*s.Retries), "write 0 or more")
	case !(s.FailUnder >= 0 && s.FailUnder <= 1):
		return Wrong("fail_under", fmt.Sprint(s.FailUnder), "write a share between 0 and 1")
	case s.Gates != "" && !s.RequirePass && s.FailUnder == 0:
		return &callvet.FieldError{
			Field: "gates",
			Text:  "{gates} says what {require_pass} and {fail_under} leave out: give one of them",
			Fix:   "to check the gates: callvet gate RUN --gates FILE",
		}
	}
	return nil
}

const (
	defaultTimeout = 2 * time.Minute
	defaultRetries = 3
)

// Timeout returns the time limit of one request.
func (s *Settings) Timeout() time.Duration {
	if s.TimeoutMS == 0 {
		return defaultTimeout
	}
	return time.Duration(s.TimeoutMS) * time.Millisecond
}

// Retry returns the rules for retries.
func (s *Settings) Retry() run.Retry {
	if s.Retries == nil {
		return run.Retry{Attempts: defaultRetries + 1}
	}
	return run.Retry{Attempts: *s.Retries + 1, RateLimited: *s.Retries + 1}
}

// Limits returns the limits of every provider, with those of a targets file for its providers.
func (s *Settings) Limits(specs []TargetSpec, targets []run.Target) map[string]run.Limits {
	all := run.Limits{Concurrency: s.Concurrency, PerSecond: s.Rate}
	m := map[string]run.Limits{"": all}
	if len(specs) != len(targets) { // a recording has several
		return m
	}
	for i := range specs {
		own := all
		put(&own.Concurrency, positive(specs[i].Concurrency))
		put(&own.PerSecond, positive(specs[i].Rate))
		if own != all {
			m[targets[i].Provider] = own
		}
	}
	return m
}

func positive[T int | float64](v T) *T {
	if v > 0 {
		return &v
	}
	return nil
}

// HoldRubrics returns why rubric cases of a target do not run, if unmet of its other attempts
// failed or ended in an error; "" if they run.
func (s *Settings) HoldRubrics(unmet int) string {
	if unmet == 0 || s.ForceRubric {
		return ""
	}
	return fmt.Sprintf("rubric cases run when all others pass, and %s did not: --force-rubric runs them all the same",
		plain.Count(unmet, "attempt", "attempts"))
}
