// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// The most that one attempt can take: far more than any model reads or writes, and than any user
// pays.
const (
	MaxTokens = 1_000_000_000
	MaxUSD    = 1_000_000
)

// UsageReader collects the counts of one usage. The zero value is ready; it is for one
// goroutine.
type UsageReader struct {
	// Lists lets a count be a list of counts, one for each turn or step: their sum.
	Lists   bool
	spoiled bool
	note    string
}

// WholeTokens is the count in v: ok is false unless v is a whole number from 0 to
// MaxTokens.
func WholeTokens(v value.Value) (n int, ok bool) {
	f, ok := v.Float()
	if !ok || f < 0 || f > MaxTokens || v.Decimal() && !v.IsInteger() {
		return 0, false
	}
	return int(f), true
}

// Count reads the first of these members that v has; their names may be dotted paths. The second
// result is false when v has none of them. A member that is no count makes the usage unknown.
func (r *UsageReader) Count(v value.Value, names ...string) (n int, told bool) {
	for _, name := range names {
		if m, _ := At(v, name); m.Kind() != value.Invalid && m.Kind() != value.Null {
			return r.Value(name, m), true
		}
	}
	return 0, false
}

// Value is Count of a member that was found already.
func (r *UsageReader) Value(name string, v value.Value) int {
	n, ok := r.whole(v)
	switch {
	case ok:
	case v.Kind() == value.Invalid || v.Kind() == value.Null:
		r.Spoil(name + " is missing")
	default:
		r.Spoil(fmt.Sprintf("%s is %s, not a count of tokens", name, excerpt(v)))
	}
	return n
}

// Need is Count of a member that must be there.
func (r *UsageReader) Need(v value.Value, names ...string) int {
	n, told := r.Count(v, names...)
	if !told {
		r.Spoil(names[0] + " is missing")
	}
	return n
}

// May is Count of a member that is 0 where it is missing.
func (r *UsageReader) May(v value.Value, names ...string) int {
	n, _ := r.Count(v, names...)
	return n
}

func (r *UsageReader) whole(v value.Value) (int, bool) {
	if !r.Lists || v.Kind() != value.Array {
		return WholeTokens(v)
	}
	sum := 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		n, ok := r.whole(e)
		if sum += n; !ok || sum > MaxTokens {
			return 0, false
		}
	}
	return sum, true
}

// Object reports whether v holds counts. A usage that is not there, or is no
// object, is unknown.
func (r *UsageReader) Object(v value.Value) bool {
	switch v.Kind() {
	case value.Object:
		return true
	case value.Invalid, value.Null:
		r.Spoil("the answer has no usage")
	default:
		r.Spoil(fmt.Sprintf("the usage is %s, not an object", excerpt(v)))
	}
	return false
}

// Spoil makes the usage unknown, for this reason.
func (r *UsageReader) Spoil(why string) {
	if !r.spoiled {
		r.spoiled, r.note = true, why
	}
}

// Total compares a sum in the source with the sum of its parts. A difference is only noted,
// because the parts are billed.
func (r *UsageReader) Total(v value.Value, name string, parts int) {
	if m, _ := At(v, name); m.Kind() == value.Invalid || m.Kind() == value.Null {
		return
	} else if n, ok := r.whole(m); !ok || n != parts {
		r.note = cmp.Or(r.note, fmt.Sprintf("%s is %s, and its parts make %d", name, excerpt(m), parts))
	}
}

// USD returns an amount of money in the source: nil when there is none, and nil with a note for
// an impossible amount.
func (r *UsageReader) USD(v value.Value, names ...string) *float64 {
	for _, name := range names {
		if m, _ := At(v, name); m.Kind() != value.Invalid && m.Kind() != value.Null {
			return r.Dollars(name, m)
		}
	}
	return nil
}

// Dollars is USD of a member that was found already.
func (r *UsageReader) Dollars(name string, v value.Value) *float64 {
	if k := v.Kind(); k == value.Invalid || k == value.Null {
		return nil
	}
	f, ok := v.Float()
	if v.Kind() == value.Array && r.Lists {
		f, ok = usageSum(v)
	}
	if !ok || f < 0 || f > MaxUSD {
		r.note = cmp.Or(r.note, fmt.Sprintf("%s is %s, not an amount of money", name, excerpt(v)))
		return nil
	}
	return &f
}

func usageSum(v value.Value) (total float64, ok bool) {
	if v.Kind() != value.Array {
		return v.Float()
	}
	for e, more := v.First(); more; e, more = v.Next(e) {
		f, ok := usageSum(e)
		if !ok || f < 0 {
			return 0, false
		}
		total += f
	}
	return total, true
}

// Done returns the usage of everything that was read. u contains the counts and a recorded cost.
// When a count was spoiled, the counts are dropped and the cost stays.
func (r *UsageReader) Done(u callvet.Usage) callvet.Usage {
	if u.CachedTokens > u.InputTokens {
		r.Spoil(fmt.Sprintf("%d tokens from a cache, of %d of input", u.CachedTokens, u.InputTokens))
	}
	if u.CacheWriteTokens > u.InputTokens-u.CachedTokens { // OpenRouter does this: the rest can be true
		r.note = cmp.Or(r.note, fmt.Sprintf("%d tokens to a cache and %d from it, of %d of input",
			u.CacheWriteTokens, u.CachedTokens, u.InputTokens))
	}
	if u.CacheHourTokens > u.CacheWriteTokens {
		r.Spoil(fmt.Sprintf("%d tokens to a cache for an hour, of %d", u.CacheHourTokens, u.CacheWriteTokens))
	}
	if r.spoiled {
		return callvet.Usage{CostUSD: u.CostUSD, Note: r.note}
	}
	u.Known, u.Note = true, r.note
	return u
}

// Caches reads how much of the input was read from a cache and written to one. input is the input
// count of the source. Anthropic and Amazon Bedrock do not include both in it: the sum of all, or
// counts larger than the input, or the names show this.
func (r *UsageReader) Caches(v value.Value, u callvet.Usage, cached ...string) callvet.Usage {
	u.CachedTokens = r.May(v, append(cached, "cache_read_input_tokens", "cacheReadInputTokens")...)
	written, own := r.Count(v, "cache_creation_input_tokens", "cacheWriteInputTokens")
	if !own {
		written = r.May(v, "cache_write_tokens", "cache_write_input_tokens", "prompt_tokens_details.cache_write_tokens",
			"prompt_tokens_details.cache_creation_tokens",
			"input_tokens_details.cache_write_tokens", "input_token_details.cache_creation",
			"inputTokenDetails.cacheWriteTokens", "prompt_details.cache_write")
	}
	u.CacheWriteTokens = written
	both := u.CachedTokens + written
	sum, told := WholeTokens(first(v, "total_tokens", "totalTokens"))
	_, bare := r.Count(v, "input_tokens", "inputTokens")
	switch apart := told && sum == u.InputTokens+u.OutputTokens+both; {
	case both == 0:
	case apart, both > u.InputTokens, own && bare && !told:
		u.InputTokens += both
	}
	return u
}

// Money returns the usage of a source without counts: the cost in u.
func (r *UsageReader) Money(u callvet.Usage) callvet.Usage {
	return callvet.Usage{CostUSD: u.CostUSD, Note: r.note}
}

// tokens reads the counts of v into u, in the spellings of all sources; in and out are the names of those
// of input and output.
func (r *UsageReader) tokens(v value.Value, u callvet.Usage, in, out []string) callvet.Usage {
	u.InputTokens, u.OutputTokens = r.Need(v, in...), r.Need(v, out...)
	u.ReasoningTokens = r.May(v, "completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens",
		"completionDetails.reasoning", "completionDetails.reasoning_tokens", "completion_details.reasoning",
		"reasoning_tokens", "reasoningTokens", "thoughts_token_count", "output_token_details.reasoning",
		"outputTokensDetails.reasoning_tokens")
	return r.Caches(v, u, "cached_tokens", "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens",
		"cached_input_tokens", "cachedInputTokens", "inputTokenDetails.cacheReadTokens",
		"input_token_details.cache_read", "inputTokensDetails.cached_tokens", "input_tokens_cache_read",
		"prompt_details.cache_read")
}

// UsageOf reads the token counts of the common spellings, and money where cost has
// it under one of the names.
func UsageOf(u, cost value.Value, names ...string) callvet.Usage {
	var r UsageReader
	out := callvet.Usage{CostUSD: r.USD(cost, names...)}
	inputs := []string{"input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "prompt_token_count", "input"}
	outputs := []string{
		"output_tokens", "completion_tokens", "outputTokens", "completionTokens", "candidates_token_count", "output",
	}
	if First(u, append(inputs, outputs...)...).Kind() == value.Invalid {
		return r.Money(out)
	}
	return r.Done(r.tokens(u, out, inputs, outputs))
}

// usageOf reads the usage of a record: from its usage member, or else from its own members, where
// only unambiguous names count.
func usageOf(v value.Value) callvet.Usage {
	r := UsageReader{Lists: true}
	u := callvet.Usage{CostUSD: r.USD(v, "cost_usd", "cost")}
	in, out := []string{"input_tokens", "prompt_tokens", "input_token_count", "inputTokens", "promptTokens"},
		[]string{"output_tokens", "completion_tokens", "output_token_count", "outputTokens", "completionTokens"}
	m, own := firstOf(v, "usage", "token_usage", "tokenUsage", "usage_metadata", "usageMetadata", "totalUsage")
	if own && m.Kind() == value.Array && m.Len() > 0 { // one for each model
		return usages(m)
	}
	if list, ok := m.Get("requestUsageEntries"); ok && list.Len() > 0 { // of the OpenAI Agents SDK
		return usages(list)
	}
	if own && m.Kind() != value.Null {
		if !r.Object(m) {
			return r.Done(u)
		}
		v, u.CostUSD = m, cmp.Or(u.CostUSD, r.USD(m, "cost_usd", "cost"))
		in, out = append(in, "prompt", "promptTokenCount"), append(out, "completion", "candidatesTokenCount")
	} else if _, told := firstOf(v, append(in, out...)...); !told {
		return r.Money(u)
	}
	u = r.tokens(v, u, in, out)
	r.Total(v, "total_tokens", u.InputTokens+u.OutputTokens)
	return r.Done(u)
}

// usages is the usage of a list of records, each with its own.
func usages(list value.Value) callvet.Usage {
	var all []callvet.Usage
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		all = append(all, usageOf(e))
	}
	return SumUsage(all)
}

// SumUsage adds up the usages of the requests of an attempt. One that is unknown makes the sum
// unknown; so does a list without any usage.
func SumUsage(all []callvet.Usage) callvet.Usage {
	var out callvet.Usage
	told := false
	for i := range all {
		u := &all[i]
		told = told || *u != callvet.Usage{}
		out.InputTokens, out.OutputTokens = out.InputTokens+u.InputTokens, out.OutputTokens+u.OutputTokens
		out.CachedTokens, out.ReasoningTokens = out.CachedTokens+u.CachedTokens, out.ReasoningTokens+u.ReasoningTokens
		out.CacheWriteTokens += u.CacheWriteTokens
		out.Note = cmp.Or(out.Note, u.Note)
		if u.CostUSD != nil {
			sum := *u.CostUSD
			if out.CostUSD != nil {
				sum += *out.CostUSD
			}
			out.CostUSD = &sum
		}
	}
	out.Known = told
	for i := range all {
		if told && !all[i].Known {
			return callvet.Usage{CostUSD: out.CostUSD, Note: cmp.Or(out.Note, "some requests have no usage")}
		}
	}
	if out.InputTokens > MaxTokens || out.OutputTokens > MaxTokens {
		return callvet.Usage{CostUSD: out.CostUSD, Note: "the requests have more tokens than there can be"}
	}
	return out
}

// excerpt is the beginning of the text of v.
func excerpt(v value.Value) string { return clipText(string(v.Raw()), 40) }
