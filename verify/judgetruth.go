// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"

	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/proof"
)

// The judged and the corrected rate of a judge, compared with the known true rate. The tasks of a
// judge are divided by a seeded hash, many times:
//
//	transport  labels on one half correct the verdicts on the other half
//	internal   labels on one half correct the verdicts on all tasks
//
// An interval of 95 % should contain the truth in 95 % of the divisions. How often the interval of the
// judged rate does, without a correction, is printed too.

// truthLevel is the share of divisions where the interval must contain the truth.
const truthLevel = 0.95

// truthTimes is the number of divisions, relative to the other sets.
const truthTimes = 5

// judgeTruth is one judge with the truth of its tasks.
type judgeTruth struct {
	who string
	ls  []labels.Label
}

// tried counts the results of the divisions of one judge in one design.
type tried struct {
	first                      *labels.Success // of the first division with an estimate
	truth                      float64         // of its tasks
	corrected, held, judgedToo int
}

// holds reports whether an interval contains the truth.
func holds(iv stats.Interval, truth float64) bool {
	return iv.Defined() && iv.Lower <= truth && truth <= iv.Upper
}

// enough reports whether the intervals contain the truth as often as their level promises.
func (t *tried) enough() bool {
	return t.corrected > 0 && float64(t.held) >= truthLevel*float64(t.corrected)
}

func (b *judgeTruth) try(design labels.QueueDesign, splits int) (tried, error) {
	var out tried
	for split := range splits {
		half, run := halves(b.ls, split)
		if design == labels.Internal {
			run = b.ls
		}
		s, _, err := corrected(b.who, half, run)
		if err != nil {
			return out, err
		}
		if s.Design != design || s.Refused != "" {
			continue
		}
		truth := trueShare(run)
		out.corrected++
		if holds(s.True, truth) {
			out.held++
		}
		if holds(s.Raw, truth) {
			out.judgedToo++
		}
		if out.first == nil {
			out.first, out.truth = &s, truth
		}
	}
	return out, nil
}

// compareWithTruth prints the judges of a set with the truth, and compares how often intervals contain
// it with their level, over all judges of a design.
func compareWithTruth(c *proof.Check, set string, list []judgeTruth, splits int) error {
	name := set + " compared with the truth"
	c.Due(name, len(designs()), "the two designs of a correction")
	for _, design := range designs() {
		var all tried
		c.Printf("\n%s, %s: %d divisions of the tasks of each judge; rates of the first\n", set, design, splits)
		c.Printf("%-36s %6s  %-21s %-21s  %s\n", "judge", "truth", "judged", "true success", "holds the truth")
		for i := range list {
			t, err := list[i].try(design, splits)
			if err != nil {
				return err
			}
			all.corrected, all.held, all.judgedToo = all.corrected+t.corrected, all.held+t.held,
				all.judgedToo+t.judgedToo
			if t.first == nil {
				c.Printf("%-36s refused in each division\n", list[i].who)
				continue
			}
			c.Printf("%-36s %6.3f  %-21s %-21s  %d of %d, judged %d\n", list[i].who, t.truth, rate(t.first.Raw),
				rate(t.first.True), t.held, t.corrected, t.judgedToo)
		}
		c.Printf("%-36s %51s  %d of %d, judged %d\n", "all", "", all.held, all.corrected, all.judgedToo)
		c.Compare(name, string(design), all.enough(), "%d of %d intervals hold it, %.0f %% are to", all.held,
			all.corrected, 100*truthLevel)
	}
	return nil
}

func rate(iv stats.Interval) string {
	return fmt.Sprintf("%.3f [%.3f, %.3f]", iv.Point, iv.Lower, iv.Upper)
}
