// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/stats/conform"
	"github.com/callvet/callvet/verify/proof"
)

const (
	// coverageTrials is the number of simulated runs of a study; expensive studies have fewer.
	coverageTrials = 10_000
	// coverageSeed is the seed of all studies.
	coverageSeed = 1
)

// coverage simulates how often intervals contain the truth, and how often gates decide as plans and
// open gates promise. It runs the studies with a name that the pattern matches, or all.
func coverage(_ context.Context, c *proof.Check, p place) error {
	studies, err := coverageStudies()
	if err != nil {
		return err
	}
	return simulate(c, studies, strings.Join(p.args, ""), coverageTrials)
}

// coverageStudies are all of them.
func coverageStudies() ([]conform.Study, error) {
	planned, err := plannedStudies()
	return slices.Concat(conform.Studies(), pairedStudies(), neededStudies(), decisionStudies(), varianceStudies(), planned), err
}

// simulate runs the studies with a name that the pattern matches, and prints each as it ends.
func simulate(c *proof.Check, studies []conform.Study, pattern string, trials int) error {
	named, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("coverage: %w", err)
	}
	seen := map[string]bool{}
	for _, s := range studies {
		if s.Name == "" || seen[s.Name] {
			return fmt.Errorf("coverage: two studies have the name %q", s.Name)
		}
		seen[s.Name] = true
	}
	studies = slices.DeleteFunc(slices.Clone(studies), func(s conform.Study) bool { return !named.MatchString(s.Name) })
	if len(studies) == 0 {
		return fmt.Errorf("coverage: no study has a name like %q", pattern)
	}
	c.Due("studies", len(studies), "the list of studies")
	c.Printf("%d studies, seed %d\n", len(studies), coverageSeed)
	var mu sync.Mutex
	return sys.InParallel(runtime.NumCPU(), len(studies), func(i int) error {
		s := &studies[i]
		o := s.Run(trials, coverageSeed)
		mu.Lock()
		defer mu.Unlock()
		c.Compare("studies", s.Name, o.OK, "%.4f of %d, band %.3f to %.3f", o.Share, o.Trials, s.Low, s.High)
		c.Printf("%-100s %.4f of %5d  band %.3f to %.3f\n", s.Name, o.Share, o.Trials, s.Low, s.High)
		return nil
	})
}

// bar is the largest allowed difference between a promised and the measured chance.
const bar = 0.03

// promised is the study of a reported probability: it must hold within bar.
func promised(name string, chance float64, trial func(t *trialRun) bool) conform.Study {
	return strictly(name, chance-bar, chance+bar, trial)
}

// strictly is a study of 2,000 gates, with a band that allows for the noise.
func strictly(name string, low, high float64, trial func(t *trialRun) bool) conform.Study {
	return conform.Study{Name: name, Low: max(0, low), High: min(1, high), Cost: 5, Strict: true, Trial: trialOf(trial)}
}
