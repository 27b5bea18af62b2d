// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"runtime"

	"github.com/callvet/callvet/cmd/callvet-verify/proof"
	"github.com/callvet/callvet/internal/parallel"
	"github.com/callvet/callvet/stats/conform"
)

const (
	// coverageTrials is the number of simulated runs a study; dear ones have fewer.
	coverageTrials = 10_000
	// coverageSeed is the seed of all studies.
	coverageSeed = 1
)

// coverage simulates how often intervals hold the truth, and how often gates decide as
// plans and open gates promise.
func coverage(_ context.Context, c *proof.Check, _ place) error {
	studies := append(conform.Studies(), pairedStudies()...)
	studies = append(append(studies, neededStudies()...), decisionStudies()...)
	planned, err := plannedStudies()
	if err != nil {
		return err
	}
	studies = append(studies, planned...)
	c.Due("studies", len(studies), "the list of studies")
	c.Printf("%d studies, seed %d\n", len(studies), coverageSeed)
	outcomes := make([]conform.Outcome, len(studies))
	err = parallel.Each(runtime.NumCPU(), len(studies), func(i int) error {
		outcomes[i] = studies[i].Run(coverageTrials, coverageSeed)
		return nil
	})
	for i, s := range studies {
		o := outcomes[i]
		c.Compare("studies", s.Name, o.OK, "%.4f of %d, band %.3f to %.3f", o.Share, o.Trials, s.Low, s.High)
		c.Printf("%-100s %.4f of %5d  band %.3f to %.3f\n", s.Name, o.Share, o.Trials, s.Low, s.High)
	}
	return err
}

// bar is how far a promised chance may be from what is measured.
const bar = 0.03

// promised is the study of a chance that is told: within bar of it.
func promised(name string, chance float64, trial func(t *trialRun) bool) conform.Study {
	return strictly(name, chance-bar, chance+bar, trial)
}

// strictly is a study of 2,000 gates whose band leaves room for the noise.
func strictly(name string, low, high float64, trial func(t *trialRun) bool) conform.Study {
	return conform.Study{Name: name, Low: max(0, low), High: min(1, high), Cost: 5, Strict: true, Trial: trialOf(trial)}
}
