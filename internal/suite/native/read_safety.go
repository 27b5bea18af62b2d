// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

const (
	caseSafetyKeys = "tools domains read_only confirm_writes deny_pii confirmations honeypots secrets attack"
	attackKeys     = "name plant texts harm answer own"
	harmKeys       = "contains from replaceable key"
	faultKeys      = "tool fault nth every from times probability message latency_ms retry_after_ms at text"
)

// ReadFaults reads a file of faults: a list of them, or a mapping with faults.
func ReadFaults(d *doc.File) ([]callvet.ToolFault, []callvet.Problem) {
	r := &reader{doc: d, format: "suite", beside: true}
	r.duplicates()
	n := &d.Root
	if n.Kind == doc.List {
		return r.faults(n), r.problems
	}
	var out []callvet.ToolFault
	r.fields(n, "faults", func(key string, v *doc.Node) bool {
		if key == "faults" {
			out = r.faults(v)
		}
		return key == "faults"
	})
	return out, r.problems
}

// faults reads how tools are made to fail; null is nil, an empty list is empty.
func (r *reader) faults(n *doc.Node) []callvet.ToolFault {
	if n.Kind == doc.Null {
		return nil
	}
	out := []callvet.ToolFault{}
	r.each(n, func(_ int, v *doc.Node) {
		var f callvet.ToolFault
		r.fields(v, faultKeys, func(key string, v *doc.Node) bool { return r.faultField(&f, key, v) })
		if v.Kind == doc.Map {
			r.faultFits(v, &f)
		}
		out = append(out, f)
	})
	return out
}

func (r *reader) faultField(f *callvet.ToolFault, key string, v *doc.Node) bool {
	switch key {
	case "tool":
		f.Tool = r.str(v)
	case "fault":
		var words []string
		for _, w := range callvet.FaultWays() {
			words = append(words, string(w))
		}
		f.Way = callvet.FaultWay(r.choice(v, words...))
	case "nth":
		f.Nth = r.count(v, 1)
	case "every":
		f.Every = r.count(v, 1)
	case "from":
		f.From = r.count(v, 1)
	case "times":
		f.Times = r.count(v, 1)
	case "probability":
		if f.Probability = r.number(v, 0); f.Probability != nil && *f.Probability > 1 {
			r.problem(v.At, "out-of-range", "", "%s is above 1", v.Raw)
		}
	case "message":
		f.Message = r.str(v)
	case "latency_ms":
		f.LatencyMS = r.amount(v)
	case "retry_after_ms":
		f.RetryAfterMS = r.amount(v)
	case "at":
		f.At = r.str(v)
	case "text":
		f.Text = r.str(v)
	default:
		return false
	}
	return true
}

func (r *reader) amount(v *doc.Node) float64 {
	if f := r.number(v, 0); f != nil {
		return *f
	}
	return 0
}

// faultFits holds the keys of a fault against what it does.
func (r *reader) faultFits(n *doc.Node, f *callvet.ToolFault) {
	if n.Get("fault") == nil {
		r.problem(n.At, "incomplete", "fault: error", "the entry does not say which fault")
		return
	}
	of := func(key string, ways ...callvet.FaultWay) {
		if v := n.Get(key); v != nil && f.Way != "" && !slices.Contains(ways, f.Way) {
			r.problem(v.At, "no-effect", "remove it", "%s has no effect on the fault %s", key, f.Way)
		}
	}
	of("message", callvet.WayError, callvet.WayTimeout, callvet.WayRateLimit)
	of("latency_ms", callvet.WayLatency, callvet.WayTimeout)
	of("retry_after_ms", callvet.WayRateLimit)
	of("at", callvet.WayNull, callvet.WayInject)
	of("text", callvet.WayInject)
	switch {
	case f.Way == callvet.WayInject && f.Text == "":
		r.problem(n.At, "incomplete", "text: what is planted", "the fault inject plants no text")
	case f.Way == callvet.WayLatency && f.LatencyMS == 0:
		r.problem(n.At, "incomplete", "latency_ms: 5000", "the fault latency adds no time")
	}
}

// caseSafety reads what a case says of its own safety.
func (r *reader) caseSafety(n *doc.Node) *callvet.Safety {
	if n.Kind == doc.Null {
		return nil
	}
	var s callvet.Safety
	r.fields(n, caseSafetyKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "tools":
			s.Tools = r.strs(v)
		case "domains":
			s.Domains = r.strs(v)
		case "read_only":
			s.ReadOnly = r.boolean(v)
		case "confirm_writes":
			s.ConfirmWrites = r.boolean(v)
		case "deny_pii":
			s.DenyPII = r.boolean(v)
		case "confirmations":
			s.Confirmations = r.oneOrMore(v)
		case "honeypots":
			s.Honeypots = r.oneOrMore(v)
		case "secrets":
			s.Secrets = r.oneOrMore(v)
		case "attack":
			s.Attack = r.attack(v)
		default:
			return false
		}
		return true
	})
	return &s
}

func (r *reader) attack(n *doc.Node) *callvet.Attack {
	if n.Kind == doc.Null {
		return nil
	}
	var a callvet.Attack
	r.fields(n, attackKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "name":
			a.Name = r.label(v)
		case "plant":
			r.each(v, func(_ int, v *doc.Node) { a.Plant = append(a.Plant, r.plant(v)) })
		case "texts":
			a.Texts = r.oneOrMore(v)
		case "answer":
			a.Answer = r.oneOrMore(v)
		case "harm":
			r.each(v, func(_ int, v *doc.Node) { a.Harm = append(a.Harm, r.harm(v)) })
		case "own":
			r.each(v, func(_ int, v *doc.Node) { a.Own = append(a.Own, r.expectedCall(v)) })
		default:
			return false
		}
		return true
	})
	switch {
	case n.Kind != doc.Map:
	case a.Name == "":
		r.problem(n.At, "no-name", "name: wire-transfer", "the attack has no name")
	case len(a.Harm) == 0 && len(a.Answer) == 0:
		r.problem(n.At, "asserts-nothing", "harm: [{tool: NAME}], or answer: [text]",
			"the attack wants neither a call nor words, so that it can never succeed")
	}
	return &a
}

func (r *reader) plant(n *doc.Node) callvet.Plant {
	var p callvet.Plant
	r.fields(n, "tool at text instead", func(key string, v *doc.Node) bool {
		switch key {
		case "tool":
			p.Tool = r.str(v)
		case "at":
			p.At = r.str(v)
		case "text":
			p.Text = r.str(v)
		case "instead":
			p.Instead = r.str(v)
		default:
			return false
		}
		return true
	})
	if p.Text == "" && n.Kind == doc.Map {
		r.problem(n.At, "incomplete", "text: what is planted", "nothing is planted")
	}
	return p
}

// harm reads a call that an attacker wants: an expected call with what else must hold.
func (r *reader) harm(n *doc.Node) callvet.Harm {
	var h callvet.Harm
	if n.Kind == doc.String {
		h.Call.Tools = []string{n.Text()}
		return h
	}
	r.fields(n, "tool args params "+harmKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "contains":
			h.Contains = r.oneOrMore(v)
		case "from":
			r.fields(v, "", func(key string, v *doc.Node) bool {
				if h.From == nil {
					h.From = map[string][]string{}
				}
				h.From[key] = r.oneOrMore(v)
				return true
			})
		case "replaceable":
			h.Replaceable = r.boolean(v)
		case "key":
			h.Key = r.oneOrMore(v)
		case "id", "after", "optional", "result", "result_check", "nth", "message", "extra_args":
			return false // of plans
		default:
			return r.wantedField(&h.Call, key, v)
		}
		return true
	})
	r.namesTool(&h.Call, n)
	return h
}

func exportFault(b builder, f *callvet.ToolFault) {
	b.str("tool", f.Tool)
	b.str("fault", string(f.Way))
	b.num("nth", f.Nth)
	b.num("every", f.Every)
	b.num("from", f.From)
	b.num("times", f.Times)
	b.float("probability", f.Probability)
	b.str("message", f.Message)
	b.floatValue("latency_ms", f.LatencyMS)
	b.floatValue("retry_after_ms", f.RetryAfterMS)
	b.str("at", f.At)
	b.str("text", f.Text)
}

// exportFaults writes an empty list too: it takes the suite's faults off a case.
func exportFaults(b builder, list []callvet.ToolFault) {
	if list != nil && len(list) == 0 {
		b.put("faults", doc.Node{Kind: doc.List})
	}
	children(b, "faults", list, exportFault)
}

func exportSafety(b builder, s *callvet.Safety) {
	c := b.child()
	c.list("tools", s.Tools)
	c.list("domains", s.Domains)
	c.yes("read_only", s.ReadOnly)
	c.yes("confirm_writes", s.ConfirmWrites)
	c.yes("deny_pii", s.DenyPII)
	c.list("confirmations", s.Confirmations)
	c.list("honeypots", s.Honeypots)
	c.list("secrets", s.Secrets)
	if a := s.Attack; a != nil {
		t := c.child()
		t.str("name", a.Name)
		children(t, "plant", a.Plant, func(b builder, p *callvet.Plant) {
			b.str("tool", p.Tool)
			b.str("at", p.At)
			b.str("text", p.Text)
			b.str("instead", p.Instead)
		})
		t.list("texts", a.Texts)
		children(t, "harm", a.Harm, exportHarm)
		t.list("answer", a.Answer)
		children(t, "own", a.Own, exportCall)
		c.put("attack", *t.n)
	}
	b.put("safety", *c.n)
}

func exportHarm(b builder, h *callvet.Harm) {
	exportCall(b, &h.Call)
	b.list("contains", h.Contains)
	from := b.child()
	for _, p := range slices.Sorted(maps.Keys(h.From)) {
		from.list(p, h.From[p])
	}
	b.obj("from", from)
	b.yes("replaceable", h.Replaceable)
	b.list("key", h.Key)
}
