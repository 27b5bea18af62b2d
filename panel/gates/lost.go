// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// withLost is a decision that lost records do not change. Such a record has no fields: it counts
// in the table of all tasks of each target, and leaves a slice undecided where there are more than
// 5 % of the slice's attempts. A pass holds only with each of them at its worst, and a failure with
// each at its best; hold decides on an interval.
// Source: Statistics specification, section 16.2.
func (c *claim) withLost(dec gate.Decision, lost *panel.LostRange, hold func(stats.Interval) gate.Decision) gate.Decision {
	n := float64(c.gone.Records())
	if n == 0 || dec.Verdict == gate.Inconclusive {
		return dec
	}
	open := gate.Decision{Verdict: gate.Inconclusive, Reason: ReasonLost}
	if c.g.Key != "" {
		if n > maxLost*float64(c.slice.Cells) {
			return open
		}
		return dec
	}
	if dec.Verdict == gate.Pass && n > maxLost*(float64(c.slice.Cells)+n) {
		return open
	}
	if lost != nil && (hold(lost.Low).Verdict != dec.Verdict || hold(lost.High).Verdict != dec.Verdict) {
		return open
	}
	return dec
}

// goneWords is a sentence on how many records are lost, and what helps.
func (c *claim) goneWords() (sentence, cure string) {
	n := int(c.gone.Records())
	of := c.slice.Cells
	if c.g.Key == "" {
		of += n
	}
	sentence = fmt.Sprintf("%s could not be read, next to %s", count(n, "record"), count(c.slice.Cells, "attempt"))
	switch {
	case c.g.Kind == Zero:
		sentence += ", and each may hold an incident"
	case float64(n) > maxLost*float64(of):
		sentence += ", more than 5 %"
	default:
		sentence += ", and the verdict depends on them"
	}
	cure = "mend the lines that cannot be read"
	if len(c.gone.First) > 0 {
		r := c.gone.First[0]
		cure += fmt.Sprintf(", the first is line %d", r.Line)
		if r.File != "" {
			cure += " of " + r.File
		}
	}
	return sentence, cure
}

// atWorst is the estimate with each lost record at its worst for the gate; "" where there are none.
func (c *claim) atWorst(lost *panel.LostRange, digits int) string {
	if lost == nil {
		return ""
	}
	worst := lost.Low.Point
	if c.g.Direction == gate.AtMost {
		worst = lost.High.Point
	}
	n := int(c.gone.Records())
	return fmt.Sprintf("; %d of %s lost, %s at worst", n, count(c.slice.Cells+n, "attempt"), number(c.unit, worst, digits))
}

// changeLost holds a decision on a change against the lost records of both sides, and reports
// whether they leave it open. Of an amount nothing bounds what they may change.
func (c *claim) changeLost(in *Input, dec *gate.Decision, d *change) bool {
	c.gone = in.Comparison.Lost()
	var lost *panel.LostRange
	if n, k := float64(d.Cases), float64(c.gone.Records()); !d.Relative {
		moved := func(by float64) stats.Interval {
			iv := d.Change
			for _, x := range []*float64{&iv.Point, &iv.Lower, &iv.Upper} {
				*x = (*x*n + by) / (n + k)
			}
			return iv
		}
		lost = &panel.LostRange{Low: moved(-k), High: moved(k)}
	}
	*dec = c.withLost(*dec, lost, func(iv stats.Interval) gate.Decision {
		other := *d.Difference
		other.Change = iv
		return c.g.HoldChange(&other, &d.Pairing)
	})
	return dec.Reason == ReasonLost
}
