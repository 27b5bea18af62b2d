// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// maxLost is the largest share of planned attempts without an outcome such that the rest still
// represents the whole. Source: Statistics specification, section 16.2.
const maxLost = 0.05

// TooManyLost reports whether so many of the planned attempts are lost that nothing can pass.
func TooManyLost(lost, planned int) bool { return float64(lost) > maxLost*float64(planned) }

// lost is how many attempts have no outcome for the metric of the gate, and how many were planned.
// A record that could not be read has no fields: it counts in the table of all tasks.
func (c *claim) lost() (n, of int) {
	if c.g.Lost == LostIgnore {
		return 0, c.slice.Cells
	}
	if m := c.judged(); m != nil {
		return m.Lost.N, m.Lost.Of // includes those without a verdict of the judge
	}
	return c.slice.Lost(c.g.Metric, c.unread())
}

// silent is the number of units without a readable verdict of the metric's judge.
func (c *claim) silent() int {
	if m := c.judged(); m != nil {
		return m.Excluded
	}
	return 0
}

// judged is the metric where it is the share that a judge passes and some of it is lost; else nil.
func (c *claim) judged() *panel.Metric {
	thing, corrected := panel.JudgedPart(c.g.Metric)
	if (thing == "" || corrected) && !panel.OfJudge(c.g.Metric) {
		return nil
	}
	if m := c.slice.Metric(c.g.Metric); m != nil && m.Lost != nil && m.Lost.N > 0 {
		return m
	}
	return nil
}

// planned is the unit of the gate's losses.
func (c *claim) planned() string {
	if thing, _ := panel.JudgedPart(c.g.Metric); thing != "" {
		return thing
	}
	return "attempt"
}

// mayHold reports whether something is lost that may contain an incident.
func (c *claim) mayHold() bool {
	n, _ := c.lost()
	return c.g.Lost != LostIgnore && (n > 0 || c.gone.Records() > 0)
}

// unread is how many unreadable records count in the table of the gate.
func (c *claim) unread() int64 {
	if c.g.Key != "" {
		return 0
	}
	return c.gone.Records()
}

// tooManyLost reports whether too many attempts are lost, or for a slice, too many records that may
// belong to it.
func (c *claim) tooManyLost() bool {
	n, of := c.lost()
	return TooManyLost(n, of) || c.unreadOfSlice()
}

func (c *claim) unreadOfSlice() bool {
	return c.g.Key != "" && c.g.Lost != LostIgnore && float64(c.gone.Records()) > maxLost*float64(c.slice.Cells)
}

// withLost is a decision that lost attempts cannot change. A pass holds only where few are lost and
// with each of them at its worst; a failure only with each at its best. lost is their possible
// effect, nil where it has no bound; hold decides on an interval. Source: Statistics specification,
// section 16.2.
func (c *claim) withLost(dec gate.Decision, lost *panel.LostRange,
	hold func(stats.Interval) gate.Decision,
) gate.Decision {
	n, _ := c.lost()
	many := c.tooManyLost()
	if n == 0 && !many {
		return dec
	}
	stays := lost == nil || hold(lost.Low).Verdict == dec.Verdict && hold(lost.High).Verdict == dec.Verdict
	switch {
	case dec.Verdict == gate.Inconclusive && !many, dec.Verdict == gate.Pass && stays && !many:
		return dec
	case dec.Verdict == gate.Fail && stays && (lost != nil || !many) && !c.unreadOfSlice():
		return dec
	}
	return gate.Decision{Verdict: gate.Inconclusive, Reason: c.lostReason()}
}

// lostReason is the reason code for what is lost.
func (c *claim) lostReason() string {
	if n, of := c.slice.Lost(c.g.Metric, 0); TooManyLost(n, of) {
		return ReasonErrors
	}
	return ReasonLost
}

// lostWords describes the losses, and the remedy.
func (c *claim) lostWords() (sentence, cure string) {
	var parts, cures []string
	n, of := c.lost()
	v := &c.slice.Verdicts
	errors, unrun := v.Error, v.NotRun-v.Skipped
	if panel.CountsErrors(c.g.Metric) {
		errors = 0
	}
	switch {
	case errors > 0 && unrun > 0:
		parts, cures = append(parts, "ended in an error or did not run"),
			append(cures, c.resume("run those attempts again"))
	case errors > 0:
		parts, cures = append(parts, "ended in an error"), append(cures, c.resume("run those attempts again"))
	case unrun > 0:
		parts, cures = append(parts, "did not run"), append(cures, c.resume("run the rest"))
	}
	if c.slice.Torn > 0 && panel.OfCalls(c.g.Metric) {
		parts, cures = append(parts, "have fewer step lines than their records count"),
			append(cures, "add the missing step lines")
	}
	if c.silent() > 0 {
		parts, cures = append(parts, "got no verdict of the judge that can be read"),
			append(cures, "ask the judge again: callvet judge run --again")
	}
	if unread := int(c.gone.Records()); unread > 0 {
		parts, cures = append(parts, "could not be read"), append(cures, c.mendLines())
		if c.g.Key != "" {
			n, of = n+unread, of+unread
		}
	}
	sentence = fmt.Sprintf("%d of %s %s", n, count(of, c.planned()), strings.Join(parts, ", or "))
	switch {
	case c.tooManyLost():
		sentence += " and are in no mean, more than 5 %"
	case c.g.Kind == Zero:
		sentence += ", and each may hold an incident"
	default:
		sentence += ", and the verdict depends on them"
	}
	return sentence, strings.Join(cures, "; ")
}

// resume adds the command that helps, for a run.
func (c *claim) resume(what string) string {
	if c.task == "case" {
		return what + ": callvet run --resume"
	}
	return what
}

// mendLines is where the first unreadable record is.
func (c *claim) mendLines() string {
	cure := "mend the lines that cannot be read"
	if len(c.gone.First) > 0 {
		r := c.gone.First[0]
		cure += fmt.Sprintf(", the first is line %d", r.Line)
		if r.File != "" {
			cure += " of " + r.File
		}
	}
	return cure
}

// atWorst is the estimate with each lost attempt at its worst for the gate; "" where there are none.
func (c *claim) atWorst(lost *panel.LostRange, digits int) string {
	n, of := c.lost()
	if n == 0 || lost == nil && (c.v.Reason == ReasonErrors || c.v.Reason == ReasonLost) {
		return ""
	}
	s := fmt.Sprintf("; %d of %s lost", n, count(of, c.planned()))
	if lost == nil {
		return s
	}
	worst := lost.Low.Point
	if c.g.Direction == gate.AtMost {
		worst = lost.High.Point
	}
	return s + ", " + number(c.unit, worst, digits+1) + " at worst"
}

// changeLost checks a decision on a change for the losses of both sides, and reports whether they
// leave it open. For an amount their effect has no bound.
func (c *claim) changeLost(in *Input, dec *gate.Decision, d *change) bool {
	if c.g.Lost == LostIgnore {
		return false
	}
	c.gone = in.Comparison.Lost()
	unread := int(c.unread())
	if d.Lost+unread == 0 && !c.unreadOfSlice() || dec.Verdict == gate.Inconclusive {
		return false
	}
	many := d.tooManyLost(unread) || c.unreadOfSlice()
	stays := d.Relative || c.changeStays(dec.Verdict, d, float64(unread))
	if stays && (!many || dec.Verdict == gate.Fail && !d.Relative && !c.unreadOfSlice()) {
		return false
	}
	*dec = gate.Decision{Verdict: gate.Inconclusive, Reason: ReasonLost}
	return true
}

// tooManyLost reports whether too many tasks are lost, with the given unreadable records added.
func (d *change) tooManyLost(unread int) bool {
	return float64(d.Lost+unread) > maxLost*float64(max(d.Planned, d.Cases)+unread)
}

// changeStays reports whether the verdict on a change is the same with everything lost at its
// worst, and at its best.
func (c *claim) changeStays(v gate.Verdict, d *change, unread float64) bool {
	n, more := float64(d.Cases), float64(max(0, d.Planned-d.Cases))+unread
	by := d.LostWeight + unread
	for _, by := range []float64{-by, by} {
		other := *d.Difference
		for _, x := range []*float64{&other.Change.Point, &other.Change.Lower, &other.Change.Upper} {
			*x = (*x*n + by) / (n + more)
		}
		if c.g.HoldChange(&other, &d.Pairing).Verdict != v {
			return false
		}
	}
	return true
}

// changeLostWords describes the losses of a comparison, and the remedy.
func (c *claim) changeLostWords(d *change) (sentence, cure string) {
	unread := int(c.gone.Records())
	sentence = fmt.Sprintf("%d of %s without an outcome in one of the runs", d.Lost, c.tasks(d.Planned))
	cure = c.resume("run those attempts again")
	if unread > 0 {
		sentence, cure = count(unread, "record")+" could not be read", c.mendLines()
		if d.Lost > 0 {
			sentence += fmt.Sprintf(", and %s without an outcome in one of the runs", c.tasks(d.Lost))
		}
	}
	if d.tooManyLost(unread) {
		return sentence + ", more than 5 %", cure
	}
	return sentence + ", and the verdict depends on them", cure
}
