// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
)

const (
	// mostPast is how many earlier runs are searched, mostSampled how many attempts of one are
	// read.
	mostPast    = 50
	mostSampled = 200
	// usualConcurrency is how many requests of a provider are in flight by default.
	usualConcurrency = 8
)

// Estimate is a figure of a run that was not made.
type Estimate struct {
	// Value is nil if unknown; Reason is why.
	Value  *float64 `json:"value" doc:"null: not known"`
	Reason string   `json:"reason,omitempty" doc:"why there is no value"`
	Basis  string   `json:"basis,omitempty" doc:"what it is estimated from"`
}

// sampled has the mean usage of earlier attempts of a target.
type sampled struct {
	run, suite            string
	n                     int // attempts
	counted, priced       int // of them with tokens, with a cost
	in, out, usd, seconds float64
}

// estimate estimates the usage of the run from earlier runs.
func (s *Session) estimate(ctx context.Context, d *DryRun, past []store.Run) error {
	var basis, missing, uncounted, unpriced []string
	var in, out, usd float64
	busy := map[string]float64{} // seconds of attempts, by provider
	for i := range s.Manifest.Targets {
		t := &s.Manifest.Targets[i]
		of, err := s.sample(ctx, i, past)
		if err != nil {
			return err
		}
		if of == nil || of.n == 0 {
			missing = append(missing, t.Name)
			if !t.Free && !t.Floor && !t.Recorded {
				uncounted, unpriced = append(uncounted, t.Name), append(unpriced, t.Name)
			}
			continue
		}
		basis = append(basis, fmt.Sprintf("%s of %s in run %s (suite %s)", plain.Count(of.n, "attempt", "attempts"),
			t.Name, of.run, of.suite))
		n, free := float64(d.asked[i]), t.Free || t.Floor || t.Recorded
		busy[t.Provider] += n * of.seconds / float64(of.n)
		if of.counted > 0 {
			in, out = in+n*of.in/float64(of.counted), out+n*of.out/float64(of.counted)
		} else if !free {
			uncounted = append(uncounted, t.Name)
		}
		if of.priced > 0 {
			usd += n * of.usd / float64(of.priced)
		} else if !free {
			unpriced = append(unpriced, t.Name)
		}
	}
	from := strings.Join(basis, "; ")
	d.InputTokens, d.OutputTokens = estimated(in, from, uncounted, "no earlier run has the tokens of"),
		estimated(out, from, uncounted, "no earlier run has the tokens of")
	d.CostUSD = estimated(usd, from, unpriced, "no earlier run gives the cost of")
	d.Seconds = estimated(s.seconds(busy, d), from, missing, "no earlier run shows how long it takes to ask")
	if len(d.judges) == 0 {
		return nil
	}
	of, err := s.judgesUse(ctx, d, past)
	if err != nil {
		return err
	}
	targets := d.Usage
	d.OfTargets, d.OfJudges, d.Usage = &targets, of, together(&targets, of, s.Manifest.Judges.Live)
	return nil
}

// estimated returns a figure, unless it is unknown for some targets.
func estimated(v float64, basis string, missing []string, why string) Estimate {
	if len(missing) > 0 {
		return Estimate{Reason: why + " " + strings.Join(missing, ", ")}
	}
	return Estimate{Value: &v, Basis: cmp.Or(basis, "targets that cost nothing")}
}

// seconds returns how long the run takes with all providers at the same time, each with its limits
// of concurrency and rate.
func (s *Session) seconds(busy map[string]float64, d *DryRun) float64 {
	longest := 0.0
	for _, of := range busy {
		longest = max(longest, of/float64(cmp.Or(s.settings.Concurrency, usualConcurrency)))
	}
	if s.settings.Rate > 0 && len(busy) > 0 {
		longest = max(longest, float64(d.RequestsLeast)/float64(len(busy))/s.settings.Rate)
	}
	return longest
}

// sample reads the usage of the target at a position in its latest run, preferably of a suite with
// the same name; nil: none.
func (s *Session) sample(ctx context.Context, target int, past []store.Run) (*sampled, error) {
	if len(s.Manifest.Specs) != len(s.Manifest.Targets) {
		return nil, nil
	}
	for _, same := range []bool{true, false} {
		for i := range past {
			r := &past[i]
			if (r.SuiteName == s.Suite.Name) != same {
				continue
			}
			at, err := askedToo(r, &s.Manifest.Specs[target])
			if err != nil || at < 0 { // a run of another version may not be readable
				continue
			}
			of, err := sampleOf(ctx, s.DB, r, at)
			if err != nil || of.n > 0 {
				return of, err
			}
		}
	}
	return nil, nil
}

// askedToo returns the position of a target in a run, with any parameters; -1: the run does not
// have it.
func askedToo(r *store.Run, spec *app.TargetSpec) (int, error) {
	m, err := results.ReadManifest(r)
	if err != nil || len(m.Specs) != len(m.Targets) {
		return -1, err
	}
	return slices.IndexFunc(m.Specs,
		func(s app.TargetSpec) bool { return s.Target == spec.Target && s.BaseURL == spec.BaseURL }), nil
}

// sampleOf reads the first answered attempts of a target.
func sampleOf(ctx context.Context, db *store.DB, r *store.Run, target int) (*sampled, error) {
	out := &sampled{run: r.ID, suite: r.SuiteName}
	for c, err := range db.Cells(ctx, r.ID,
		store.Filter{Target: &target, Verdicts: []callvet.Verdict{callvet.VerdictPass, callvet.VerdictFail}}) {
		if err != nil {
			return nil, err
		}
		t := &c.Trace
		if t.Cached {
			continue
		}
		out.n++
		out.seconds += t.WallMS / 1000
		if t.Usage.Known {
			out.counted, out.in, out.out = out.counted+1, out.in+float64(t.Usage.InputTokens),
				out.out+float64(t.Usage.OutputTokens)
		}
		if t.Usage.CostUSD != nil {
			out.priced, out.usd = out.priced+1, out.usd+*t.Usage.CostUSD
		}
		if out.n == mostSampled {
			break
		}
	}
	return out, nil
}
