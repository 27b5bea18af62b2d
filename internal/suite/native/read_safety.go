// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// ReadFaults reads a file of faults: a list of them, or a mapping with faults.
func ReadFaults(d *doc.File) ([]callvet.ToolFault, []callvet.Problem) {
	r := newReader(d, "suite")
	r.Duplicates()
	n := &d.Root
	var out []callvet.ToolFault
	if n.Kind == doc.List {
		r.into("faults", n, &out)
		return out, r.Problems
	}
	r.Fields(n, []string{"faults"}, func(key string, v *doc.Node) bool {
		if key == "faults" {
			r.into("faults", v, &out)
		}
		return key == "faults"
	})
	return out, r.Problems
}

// faultFits compares the keys of a fault with what it does.
func (r *reader) faultFits(n *doc.Node, f *callvet.ToolFault) {
	if n.Get("fault") == nil {
		r.Note(n.At, "incomplete", "fault: error", "the entry does not say which fault")
		return
	}
	of := func(key string, ways ...callvet.FaultWay) {
		if v := n.Get(key); v != nil && f.Way != "" && !slices.Contains(ways, f.Way) {
			r.Note(v.At, "no-effect", "remove it", "%s has no effect on the fault %s", key, f.Way)
		}
	}
	of("message", callvet.WayError, callvet.WayTimeout, callvet.WayRateLimit)
	of("latency_ms", callvet.WayLatency, callvet.WayTimeout)
	of("retry_after_ms", callvet.WayRateLimit)
	of("at", callvet.WayNull, callvet.WayInject)
	of("text", callvet.WayInject)
	switch {
	case f.Way == callvet.WayInject && f.Text == "":
		r.Note(n.At, "incomplete", "text: what is planted", "the fault inject plants no text")
	case f.Way == callvet.WayLatency && f.LatencyMS == 0:
		r.Note(n.At, "incomplete", "latency_ms: 5000", "the fault latency adds no time")
	}
}

func (r *reader) attackFits(n *doc.Node, a *callvet.Attack) {
	switch {
	case a.Name == "":
		r.Note(n.At, "no-name", "name: wire-transfer", "the attack has no name")
	case len(a.Harm) == 0 && len(a.Answer) == 0:
		r.Note(n.At, "asserts-nothing", "harm: [{tool: NAME}], or answer: [text]",
			"the attack wants neither a call nor words, so that it can never succeed")
	}
}

func (r *reader) plantFits(n *doc.Node, p *callvet.Plant) {
	if p.Text == "" {
		r.Note(n.At, "incomplete", "text: what is planted", "nothing is planted")
	}
}
