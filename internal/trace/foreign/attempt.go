// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// How an attempt is made from the spans of one task:
//
//	spans ─► sorted by what they are about: models, tools, agents, others
//	models ─► turns: of each request what no earlier one had, then the answer (conversation)
//	tools ─► joined to the calls of the turns by id, arguments, name (execution); others are calls of their own
//	what is missing ─► a missing answer of a model is counted; if it may have had calls, the attempt is unknown (evidence)

// task is the spans of one attempt.
type task struct {
	id    string
	spans []*span
}

func (t *task) give(s *trace.Sink) {
	slices.SortStableFunc(t.spans, func(a, b *span) int { return cmp.Compare(a.start, b.start) })
	var a trace.Attempt
	a.Trace.CaseID = t.id
	var of [agent + 1][]*span
	for _, sp := range t.spans {
		of[sp.what] = append(of[sp.what], sp)
		if sp.what == other {
			s.Lose("a span that is about neither a model, a tool nor an agent")
			s.See("a span " + strconv.Quote(sp.name))
			continue
		}
		about(&a, sp)
	}
	if len(of[model])+len(of[tool])+len(of[agent]) == 0 {
		return
	}
	tree := newTree(t.spans)
	c := conversation{tree: tree}
	c.read(of[model])
	if len(c.Input)+len(c.Turns) == 0 {
		c.outermost(of[agent])
	}
	c.opening(of[agent])
	a.Input, a.Trace.Turns, a.Trace.FinishReason = c.Input, c.Turns, c.end
	tree.spent(&a.Trace.Usage, t.spans)
	x := execution{tree: tree, rounds: of[model]}
	x.run(&a, of[tool], s)
	if why := c.missing(&a, of, &x, s); why != "" {
		a.Trace.Fault = trace.Unknown(why)
	}
	s.Give(a)
}

// about copies a span's attributes of the whole attempt.
func about(a *trace.Attempt, sp *span) {
	t := &a.Trace
	name := sp.str(target)
	if name == "" && sp.what == agent {
		name = sp.attrs["span_data.name"].Str()
	}
	if name == "" && t.Target == "" {
		name = sp.service
	}
	if t.Target == "" || t.Target == sp.service {
		t.Target = cmp.Or(name, t.Target)
	}
	if m := sp.str(modelName); m != "" {
		t.Model = m
	}
	if c := sp.str(spanSession); c != "" && a.Fields == nil {
		a.Fields = map[string]string{"conversation": c}
	}
	if sp.start > 0 {
		at := time.Unix(0, sp.start).UTC()
		if t.Started.IsZero() || at.Before(t.Started) {
			t.Started = at
		}
		if d := float64(sp.end-t.Started.UnixNano()) / 1e6; d > t.WallMS {
			t.WallMS = d
		}
	}
	if a.Tools == nil {
		a.Tools = offered(sp.attr(definitions))
	}
}

// offered reads definitions of tools: a list, or texts with one each.
func offered(v value.Value) []callvet.Tool {
	v = message.HeldResult(v)
	if first, _ := v.First(); first.Kind() != value.String {
		return message.Tools(v)
	}
	var out []callvet.Tool
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		out = append(out, message.Tool(message.HeldResult(e))...)
	}
	return out
}

// tree knows which span is inside which.
type tree struct{ byID map[string]*span }

func newTree(all []*span) tree {
	t := tree{map[string]*span{}}
	for _, sp := range all {
		if sp.id != "" {
			t.byID[sp.id] = sp
		}
	}
	return t
}

// above reports whether is returns true for one of the spans around sp.
func (t tree) above(sp *span, is func(*span) bool) bool {
	for n := 0; n < maxDepth; n++ { // ends even if parents form a cycle
		up, ok := t.byID[sp.parent]
		if !ok || sp.parent == "" || up == sp {
			return false
		}
		if is(up) {
			return true
		}
		sp = up
	}
	return false
}

// around returns the spans that contain one of the list.
func (t tree) around(list []*span) map[*span]bool {
	out := map[*span]bool{}
	for _, sp := range list {
		t.above(sp, func(up *span) bool { out[up] = true; return false })
	}
	return out
}

// spent adds the usage. A span around other spans with usage repeats their usage.
func (t tree) spent(u *callvet.Usage, all []*span) {
	var counted []*span
	for _, sp := range all {
		if _, ok := used(sp); ok && (sp.what == model || sp.what == agent) {
			counted = append(counted, sp)
		}
	}
	sums := t.around(counted)
	for _, sp := range counted {
		if !sums[sp] {
			one, _ := used(sp)
			u.Add(one)
		}
	}
}

func used(sp *span) (u callvet.Usage, ok bool) {
	in, out := sp.attr(inputTokens), sp.attr(outputTokens)
	if in.Kind() == value.Invalid && out.Kind() == value.Invalid {
		v := message.HeldResult(sp.attr(usageOf))
		return usageDetails(v), v.Len() > 0
	}
	var r message.UsageReader
	one := callvet.Usage{InputTokens: count(&r, "input_tokens", in), OutputTokens: count(&r, "output_tokens", out)}
	if v := sp.attr(reasoningTokens); v.Kind() != value.Invalid {
		one.ReasoningTokens = count(&r, "reasoning_tokens", v)
	}
	if v := sp.attr(cachedTokens); v.Kind() != value.Invalid {
		one.CachedTokens = count(&r, "cache_read", v)
	}
	if v := sp.attr(writtenTokens); v.Kind() != value.Invalid {
		one.CacheWriteTokens = count(&r, "cache_creation", v)
	}
	if both := one.CachedTokens + one.CacheWriteTokens; both > one.InputTokens {
		one.InputTokens += both // some count them separately, as Anthropic does
	}
	one.CostUSD = r.Dollars("cost", sp.attr(cost))
	return r.Done(one), true
}

// count reads a count of an attribute, which protobuf's JSON writes as a string.
func count(r *message.UsageReader, name string, v value.Value) int {
	if v.Kind() == value.String {
		if n, err := value.Parse([]byte(v.Str())); err == nil && n.Kind() == value.Number {
			v = n
		}
	}
	return r.Value(name, v)
}
