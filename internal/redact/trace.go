// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// Trace is t without secrets and personal data; t is not changed. Ids, times and numbers stay,
// except known secret values. In names of tools and models, texts with the form of a secret are
// replaced.
func (r *Redactor) Trace(t *callvet.Trace) callvet.Trace {
	out, _ := r.trace(t)
	return out
}

// trace is Trace; said reports whether turns, answer or decision changed.
func (r *Redactor) trace(t *callvet.Trace) (out callvet.Trace, changed bool) {
	out = *t
	out.CaseID, out.Target, out.Model, out.FinishReason = r.Known(t.CaseID), r.Known(t.Target), r.Name(t.Model),
		r.Name(t.FinishReason)
	before := r.Total()
	out.Turns, out.Answer = r.Turns(t.Turns), r.Text(t.Answer)
	out.Decision = r.decision(t.Decision)
	changed = r.Total() > before
	if f := t.Fault; f != nil {
		own := *f
		own.Message, own.Param, own.Exchanges = r.Text(f.Message), r.Name(f.Param), r.exchanges(f.Exchanges, changed)
		out.Fault = &own
	}
	out.Exchanges = r.exchanges(t.Exchanges, changed)
	return out, changed
}

// Turns are the turns without secrets and personal data; nil stays nil.
func (r *Redactor) Turns(in []callvet.Turn) []callvet.Turn {
	if in == nil {
		return nil
	}
	out := append([]callvet.Turn{}, in...)
	for i := range out {
		t := &out[i]
		t.Content, t.Reasoning, t.CallID, t.Tool = r.Text(t.Content), r.Text(t.Reasoning), r.Known(t.CallID),
			r.Name(t.Tool)
		t.Calls, t.Raw = r.Calls(t.Calls), r.parsed(t.Raw, t.Parsed)
	}
	return out
}

// Calls are the calls without secrets and personal data; nil stays nil.
func (r *Redactor) Calls(in []callvet.Call) []callvet.Call {
	if in == nil {
		return nil
	}
	out := append([]callvet.Call{}, in...)
	for i := range out {
		c := &out[i]
		c.ID, c.Tool, c.Version = r.Known(c.ID), r.Name(c.Tool), r.Name(c.Version)
		c.Args, c.ArgsRaw = r.parsed(c.Args, c.Parsed), r.Payload(c.ArgsRaw)
		c.Result, c.Error, c.Note = r.JSON(c.Result), r.Text(c.Error), r.Text(c.Note)
		c.Env, c.Guard = callvet.Env(r.Name(string(c.Env))), slices.Clone(c.Guard)
		for j := range c.Guard {
			c.Guard[j].Detail = r.Text(c.Guard[j].Detail)
		}
	}
	return out
}

// parsed is JSON of a text; kept may be its parsed value.
func (r *Redactor) parsed(raw json.RawMessage, kept callvet.Parsed) json.RawMessage {
	if v, ok := kept.Of(raw); ok {
		r.keep(v)
	}
	return r.JSON(raw)
}

func (r *Redactor) decision(d *callvet.Decision) *callvet.Decision {
	if d == nil {
		return nil
	}
	out := *d
	out.Route, out.SubRoute = r.Name(d.Route), r.Name(d.SubRoute)
	out.Agents = slices.Clone(d.Agents)
	for i := range out.Agents {
		out.Agents[i] = r.Name(out.Agents[i])
	}
	out.Tools = slices.Clone(d.Tools)
	for i := range out.Tools {
		out.Tools[i].Tool = r.Name(out.Tools[i].Tool)
	}
	out.Odd = make([]string, len(d.Odd))
	for i, s := range d.Odd {
		out.Odd[i] = r.Text(s)
	}
	if d.Odd == nil {
		out.Odd = nil
	}
	return &out
}

// exchanges redacts the traffic. A streamed answer cuts a secret into pieces that cannot be found.
// So where a part of the attempt was redacted (changed), an exchange that is not a whole JSON value
// is dropped.
func (r *Redactor) exchanges(in []callvet.Exchange, changed bool) []callvet.Exchange {
	if in == nil {
		return nil
	}
	out := append([]callvet.Exchange{}, in...)
	for i := range out {
		x := &out[i]
		x.Error = r.Text(x.Error)
		if x.Request != nil {
			x.Request = r.JSON(x.Request)
		}
		if changed && streamed(x.Response) {
			x.Response = safety.RedactionMark + "stream]"
			continue
		}
		if v, ok := x.Parsed.OfText(strings.Trim(x.Response, space)); ok {
			r.keep(v)
		}
		x.Response = r.Text(x.Response)
	}
	return out
}

// streamed reports whether an answer consists of events: server-sent events, or one JSON value
// per line.
func streamed(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "data:") || strings.HasPrefix(s, "event:") || strings.HasPrefix(s, ":") {
		return true
	}
	return strings.Contains(s, "\n") && (s[0] == '{' || s[0] == '[') && !value.Valid([]byte(s)) &&
		json.Valid([]byte(s[:strings.IndexByte(s, '\n')]))
}
