// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Args are the compiled expected arguments of one call. Safe for concurrent use.
type Args struct {
	root  Rule // an object rule; its looseness is not used, extras are counted
	extra callvet.ExtraArgs
	// patterns apply to arguments that root does not name.
	patterns []pattern
}

// Compile makes the rules for a call. args is the expected object; nil, null and {} all mean "no
// arguments" (whether the arguments are asserted at all is decided by the caller). parameters is
// the tool's JSON Schema, or the zero Value.
func Compile(args json.RawMessage, matchers map[string]callvet.Matcher, parameters value.Value,
	set Settings, extra callvet.ExtraArgs,
) (*Args, []Problem) {
	var c compiler
	var want value.Value
	if len(args) > 0 {
		v, err := value.Parse(args)
		if err != nil {
			c.problem("bad-args", "args", "the expected arguments are not JSON: "+err.Error(), "")
		} else if k := v.Kind(); k != value.Object && k != value.Null {
			c.problem("bad-args", "args", "the expected arguments are a JSON "+k.String()+", not an object",
				"write {} for no arguments")
		}
		if v.Kind() == value.Object {
			want = composed(v)
		}
	}
	s := rootSchema(composed(parameters))
	patterns, matchers := c.patterns(composedPaths(matchers), want, s, &set)
	t, ps := buildTrie(matchers, func(name string) bool {
		_, inArgs := want.Get(name)
		return inArgs || s.property(name).at.Kind() != value.Invalid
	})
	c.ps = append(c.ps, ps...)
	switch extra {
	case "", callvet.ExtraForbid, callvet.ExtraIgnore, callvet.ExtraPenalize:
	default:
		c.problem("bad-extra-args", "extra_args", fmt.Sprintf("extra_args %q is not known", extra),
			"forbid, ignore or penalize")
	}
	r := c.object(want, t, s, &set, "")
	if (set.Subset || set.Partial) && extra == "" {
		extra = callvet.ExtraIgnore
	}
	return &Args{root: *r, extra: extra, patterns: patterns}, c.ps
}

// Tally counts what one comparison found.
type Tally struct {
	// Expected counts the asserted keys and Matched the matching ones among them; Soft sums the
	// similarities of the matching keys, so Soft <= Matched <= Expected.
	Expected, Matched int
	Soft              float64
	// Gold and Emitted count the keys of each side, after schema defaults are added where only one
	// side writes them. Union is the size of their union, and Hits the summed similarity of its
	// matching keys.
	Gold, Emitted, Union int
	Hits                 float64
	Missing, Extra       int
	// Notable marks a match that is worth showing: a default left out, a soft rule.
	Notable bool
}

// Exact reports that every key of the union matched.
func (t *Tally) Exact() bool { return t.Matched == t.Expected && t.Extra == 0 }

// Tally compares the arguments of an actual call. An absent or null value is
// the same as {}; any other kind matches nothing. Names of members compare in NFC.
func (a *Args) Tally(actual value.Value) Tally {
	t := a.tally(actual)
	if t.Exact() {
		return t
	}
	if c := composed(actual); c != actual {
		return a.tally(c)
	}
	return t
}

func (a *Args) tally(actual value.Value) Tally {
	var t Tally
	r := &a.root
	found := 0
	e, more := actual.First()
	more = more && actual.Kind() == value.Object
	for i := range r.members {
		m := &r.members[i]
		// Callers mostly write members in the expected order.
		v, has := e, more && e.KeyIs(m.key)
		if !has {
			v, has = actual.Get(m.key)
		}
		if has {
			found++
			t.count(m, v)
			e, more = actual.Next(v)
			continue
		}
		t.countAbsent(m)
	}
	found += t.countPatterns(a, actual)
	if extra := objectLen(actual) - found; extra > 0 {
		spelled := 0
		if len(r.defaults) > 0 {
			spelled = r.writtenDefaults(actual)
			t.Notable = t.Notable || spelled > 0
		}
		t.Extra = extra - spelled
		t.Gold += spelled
		t.Hits += float64(spelled)
		t.Emitted += extra
		t.Union += extra
	}
	if k := actual.Kind(); k != value.Object && k != value.Null && k != value.Invalid {
		t.Extra, t.Union, t.Emitted = t.Extra+1, t.Union+1, t.Emitted+1
	}
	return t
}

func objectLen(v value.Value) int {
	if v.Kind() != value.Object {
		return 0
	}
	return v.Len()
}

func (t *Tally) count(m *member, v value.Value) {
	t.Expected++
	t.Emitted++
	t.Union++
	if m.rule.op != opAbsent {
		t.Gold++
	}
	ok, sim := m.rule.Match(v)
	if !ok {
		return
	}
	t.Matched++
	t.Soft += sim
	t.Hits += sim
	if sim < 1 || m.rule.soft() && !value.Equal(m.rule.want, v) {
		t.Notable = true
	}
}

func (t *Tally) countAbsent(m *member) {
	switch {
	case m.rule.op == opAbsent:
		t.Expected++
		t.Matched++
		t.Soft++
	case m.optional:
	case m.omittable:
		t.Expected, t.Matched, t.Soft = t.Expected+1, t.Matched+1, t.Soft+1
		t.Gold, t.Emitted, t.Union, t.Hits = t.Gold+1, t.Emitted+1, t.Union+1, t.Hits+1
		t.Notable = true
	default:
		t.Expected, t.Gold, t.Union, t.Missing = t.Expected+1, t.Gold+1, t.Union+1, t.Missing+1
	}
}

// Pass reports whether the call's arguments count as right: every asserted key matched and there
// is no unexpected key, unless extra arguments are ignored or only penalized.
func (a *Args) Pass(t *Tally) bool {
	return t.Matched == t.Expected &&
		(t.Extra == 0 || a.extra == callvet.ExtraIgnore || a.extra == callvet.ExtraPenalize)
}

// Accuracy is matched ÷ asserted keys, soft matches by their similarity; 1 when
// nothing is asserted. Under penalize, unexpected keys join the denominator.
// Source: Tool Calling Evaluation, "Parameter accuracy".
func (a *Args) Accuracy(t *Tally) float64 {
	n := t.Expected
	if a.extra == callvet.ExtraPenalize {
		n += t.Extra
	}
	return ratio(t.Soft, n, 1)
}

// Nearness in [0,1] orders candidates when calls are paired: 1 exactly when the
// arguments pass, else the matched share of the keys that count.
func (a *Args) Nearness(t *Tally) float64 {
	if a.Pass(t) {
		return 1
	}
	n := t.Expected
	if a.extra != callvet.ExtraIgnore {
		n += t.Extra
	}
	return min(ratio(t.Soft, n, 0), 0.999)
}

// KeyShare is the matched share of the union of expected and actual keys; 1 for
// two empty sides.
func (t *Tally) KeyShare() float64 { return ratio(t.Hits, t.Union, 1) }

// Precision is matched ÷ actual keys; 1 when both sides are empty, 0 when only the actual side
// is. Source of Precision, Recall and F1: Evaluating Tool Calling, "Argument fidelity", as a real
// F1.
func (t *Tally) Precision() float64 { return ratio(t.Hits, t.Emitted, t.bothEmpty()) }

// Recall is matched ÷ expected keys; 1 when both sides are empty, 0 when only the expected side
// is.
func (t *Tally) Recall() float64 { return ratio(t.Hits, t.Gold, t.bothEmpty()) }

// F1 is 2·matched ÷ (expected + actual keys); 1 when both sides are empty.
func (t *Tally) F1() float64 { return ratio(2*t.Hits, t.Gold+t.Emitted, t.bothEmpty()) }

func (t *Tally) bothEmpty() float64 {
	if t.Gold+t.Emitted == 0 {
		return 1
	}
	return 0
}

func ratio(a float64, n int, empty float64) float64 {
	if n == 0 {
		return empty
	}
	return min(max(a/float64(n), 0), 1)
}

// Keys are the asserted top-level keys in the expected order.
func (a *Args) Keys() []string {
	out := make([]string, len(a.root.members))
	for i := range a.root.members {
		out[i] = a.root.members[i].key
	}
	return out
}
