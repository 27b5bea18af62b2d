// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"

	"github.com/callvet/callvet/stats/conform"
)

// coverageTrials is the number of simulated runs a study; dear ones have fewer.
const coverageTrials = 10_000

// coverage simulates how often intervals hold the truth.
func coverage(out io.Writer) (bool, error) {
	studies, good := append(conform.Studies(), pairedStudies()...), 0
	for i, s := range studies {
		o := s.Run(coverageTrials, uint64(i)+1)
		mark := "WRONG"
		if o.OK {
			mark = "ok"
			good++
		}
		fmt.Fprintf(out, "%-5s %-70s %.4f of %5d  band %.3f to %.3f\n", mark, s.Name, o.Share, o.Trials, s.Low, s.High)
	}
	fmt.Fprintf(out, "coverage: %d of %d studies in their band\n", good, len(studies))
	return good == len(studies), nil
}
