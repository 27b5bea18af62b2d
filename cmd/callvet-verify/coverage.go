// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"

	"github.com/callvet/callvet/cmd/callvet-verify/proof"
	"github.com/callvet/callvet/stats/conform"
)

// coverageTrials is the number of simulated runs a study; dear ones have fewer.
const coverageTrials = 10_000

// coverage simulates how often intervals hold the truth.
func coverage(_ context.Context, c *proof.Check, _ place) error {
	studies := append(conform.Studies(), pairedStudies()...)
	c.Due("studies", len(studies), "the list of studies")
	for i, s := range studies {
		o := s.Run(coverageTrials, uint64(i)+1)
		c.Compare("studies", s.Name, o.OK, "%.4f of %d, band %.3f to %.3f", o.Share, o.Trials, s.Low, s.High)
		c.Printf("%-70s %.4f of %5d  band %.3f to %.3f\n", s.Name, o.Share, o.Trials, s.Low, s.High)
	}
	return nil
}
