// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// callCount is a compiled entry of counts.
type callCount struct {
	src  *callvet.CallCount
	call expected
}

// claim is a compiled entry of all_of or not: a condition that must hold, or must not.
type claim struct {
	plan   plan
	counts []callCount
}

// bounds compiles the case's rules on calls apart from its plans.
func (k *Compiled) bounds(set match.Settings, ps *problems) {
	e := &k.src.Expect
	k.counts = k.callCounts(e.Counts, set, "", ps)
	k.allOf = k.claims(e.AllOf, set, "all_of", ps)
	k.not = k.claims(e.Not, set, "not", ps)
	if e.ResponseJSON != nil {
		rule, bad := match.One("response_json", *e.ResponseJSON, set)
		ps.from("", bad)
		k.answer = rule
	}
	for _, name := range sortedKeys(e.MinScores) {
		k.graded = k.graded || e.MinScores[name] > 0
		if !risesWithQuality(name) {
			ps.add("unknown-score", "min_scores."+name, fmt.Sprintf("%q is no score that can have a least value", name),
				"for example tool_f1, call_f1, sequence_f1, arg_accuracy")
		}
	}
	k.asserts = k.asserts || k.graded
}

func (k *Compiled) callCounts(src []callvet.CallCount, set match.Settings, within string, ps *problems) []callCount {
	k.expects(len(src), within+"counts", ps)
	out := make([]callCount, len(src))
	for i := range src {
		out[i].src = &src[i]
		k.expected(&out[i].call, &src[i].Call, set, fmt.Sprintf("%scounts[%d]", within, i), ps)
	}
	return out
}

func (k *Compiled) claims(src []callvet.Plan, set match.Settings, name string, ps *problems) []claim {
	out := make([]claim, len(src))
	for i := range src {
		key := fmt.Sprintf("%s[%d]", name, i)
		c := &out[i]
		c.plan = k.plan(&src[i], set, key, ps)
		c.counts = k.callCounts(src[i].Counts, set, key+".", ps)
		if src[i].MaxExtraCalls == nil && len(c.plan.calls) > 0 && src[i].Order != callvet.OrderStrict {
			c.plan.maxExtra = -1 // further calls make it no better
		}
		for _, score := range sortedKeys(src[i].MinScores) {
			if !gradedScore(score) {
				ps.add("unknown-score", key+".min_scores."+score,
					fmt.Sprintf("%q is no score of a list of calls", score), strings.Join(gradedNames(), ", "))
			}
		}
	}
	return out
}

// answerers reports for each call whether its name and its place allow it to answer an
// expectation. The next call of answerers overwrites the list.
func (w *scratch) answerers(e *expected) []bool {
	w.may = resize(w.may, len(w.calls))
	all := 0
	for j := range w.calls {
		w.may[j] = w.k.accepts(e, w.calls[j].src.Tool)
		all += truth(w.may[j])
	}
	if e.src.Nth == 0 && e.src.Message == 0 {
		return w.may
	}
	messages := w.number()
	before := 0
	for j := range w.calls {
		if w.may[j] {
			before++
			w.may[j] = isPlace(e.src.Nth, before, all) && isPlace(e.src.Message, w.messages[w.calls[j].at], messages)
		}
	}
	return w.may
}

// isPlace reports whether position n of so many is the wanted one; negative positions count from
// the end.
func isPlace(asked, n, of int) bool { return asked == 0 || asked == n || asked == n-of-1 }

// number records for each call of the trace which message made it, counting only messages with
// calls. It returns the number of these messages.
func (w *scratch) number() (of int) {
	w.messages = w.messages[:0]
	for i := range w.t.Turns {
		made := len(w.t.Turns[i].Calls)
		of += truth(made > 0)
		for range made {
			w.messages = append(w.messages, of)
		}
	}
	return of
}

func (w *scratch) assertBounds(e *callvet.Expect) {
	for i := range w.k.counts {
		w.assertCount(&w.k.counts[i])
	}
	w.assertClaims("all_of", w.k.allOf, true)
	w.assertClaims("not", w.k.not, false)
	if e.MaxSameCalls != nil {
		n, name := w.mostRepeated()
		w.record("max_same_calls", callvet.LayerRouting, n <= *e.MaxSameCalls, strconv.Itoa(*e.MaxSameCalls),
			strings.TrimSpace(strconv.Itoa(n)+" "+name))
	}
	if e.MaxRequests != nil {
		w.assertRequests(*e.MaxRequests)
	}
}

// assertClaims checks claims on the attempt. If the deciding arguments were not recorded, the
// result is unknown.
func (w *scratch) assertClaims(name string, claims []claim, wanted bool) {
	for i := range claims {
		c := &claims[i]
		want := cmp.Or(c.plan.src.Name, c.described())
		if !wanted {
			want = "not " + want
		}
		met, known := w.meets(c)
		if !known {
			w.skip(name, callvet.LayerArguments, unrecorded, want)
			continue
		}
		w.record(name, callvet.LayerRouting, met == wanted, want, w.madeCalls())
	}
}

const unrecorded = "the call's arguments were not recorded"

// meets reports whether all parts of a claim hold. One part that does not hold decides, even if
// other parts are unknown.
func (w *scratch) meets(c *claim) (met, known bool) {
	met, known = true, true
	if c.plan.src.Calls != nil {
		met, known = w.meetsPlan(&c.plan)
	}
	for i := range c.counts {
		count := &c.counts[i]
		least, most := count.bounds()
		n, sure := w.fitting(&count.call)
		if sure {
			met = met && n >= least && n <= most
		}
		known = known && sure
	}
	return met, known || !met
}

func (w *scratch) meetsPlan(p *plan) (met, known bool) {
	w.assign(p)
	f := &w.other
	w.judgePlan(p, f)
	met, known = f.pass, true
	if least := p.src.MinScores; len(least) > 0 {
		met = true
		for name, bound := range least {
			v, _ := w.graded(f, name)
			met = met && v >= bound
		}
	}
	for i, j := range f.match {
		known = known && (j < 0 || p.calls[i].args == nil || !w.calls[j].unknown)
	}
	return met, known || !met
}

// bounds are the least and the highest number of calls.
func (c *callCount) bounds() (least, most int) {
	least, most = 0, math.MaxInt
	if c.src.Max != nil {
		most = *c.src.Max
	}
	if c.src.Min != nil {
		least = *c.src.Min
	} else if c.src.Max == nil {
		least = 1
	}
	return least, most
}

// fitting counts the calls that fit an expectation. sure is false where a call may fit but its
// arguments were not recorded.
func (w *scratch) fitting(e *expected) (n int, sure bool) {
	for j, may := range w.answerers(e) {
		if !may {
			continue
		}
		if e.args != nil && w.calls[j].unknown {
			return 0, false
		}
		p := w.compare(e, &w.calls[j])
		n += truth(p.pass)
	}
	return n, true
}

// assertCount checks each bound separately on the number of fitting calls.
func (w *scratch) assertCount(c *callCount) {
	n, sure := w.fitting(&c.call)
	if !sure {
		w.skip("counts", callvet.LayerArguments, unrecorded, c.call.described())
		return
	}
	least, most := c.bounds()
	got := fmt.Sprintf("%d of %d calls", n, len(w.calls))
	layer := callvet.LayerRouting
	if c.call.args != nil && slices.Contains(w.may, true) {
		layer = callvet.LayerArguments
	}
	if least > 0 || c.src.Min != nil {
		w.record("counts.min", layer, n >= least, fmt.Sprintf("at least %d of %s", least, c.call.described()), got)
	}
	if c.src.Max != nil {
		w.record("counts.max", callvet.LayerRouting, n <= most,
			fmt.Sprintf("at most %d of %s", most, c.call.described()), got)
	}
}

// described describes the requirement of a claim.
func (c *claim) described() string {
	var out []string
	if c.plan.src.Calls != nil {
		s := c.plan.described()
		if len(c.plan.calls) == 0 {
			s = "no call"
		}
		for _, name := range sortedKeys(c.plan.src.MinScores) {
			s += fmt.Sprintf(", %s of at least %g", name, c.plan.src.MinScores[name])
		}
		out = append(out, s)
	}
	for i := range c.counts {
		least, most := c.counts[i].bounds()
		s := fmt.Sprintf("at least %d of ", least)
		if c.counts[i].src.Max != nil {
			s = fmt.Sprintf("%d to %d of ", least, most)
		}
		out = append(out, s+c.counts[i].call.described())
	}
	return strings.Join(out, " and ")
}

func (e *expected) described() string {
	s := strings.Join(e.src.Tools, " or ")
	if e.src.Args != nil {
		s += " " + short(e.src.Args)
	}
	return s
}

func (p *plan) described() string {
	out := make([]string, len(p.calls))
	for i := range p.calls {
		out[i] = p.calls[i].described()
	}
	if p.sequence.Total {
		return strings.Join(out, ", then ")
	}
	return strings.Join(out, ", ")
}

// madeCalls lists the actual calls.
func (w *scratch) madeCalls() string {
	if len(w.calls) == 0 {
		return "no call"
	}
	return strings.Join(w.names(), ", ")
}

// mostRepeated returns the count of the most frequent call, and its tool.
func (w *scratch) mostRepeated() (most int, name string) {
	made := make([]int, len(w.calls))
	for j, i := range w.firsts() {
		if made[i]++; made[i] > most {
			most, name = made[i], w.calls[j].src.Tool
		}
	}
	return most, name
}

// assertRequests counts the answers of the model; each took a request.
func (w *scratch) assertRequests(limit int) {
	n := 0
	for i := range w.t.Turns {
		n += truth(w.t.Turns[i].Role == callvet.RoleAssistant)
	}
	want := "at most " + strconv.Itoa(limit)
	if n == 0 {
		w.skip("max_requests", callvet.LayerBudget, "not measured", want)
		return
	}
	w.record("max_requests", callvet.LayerBudget, n <= limit, want, strconv.Itoa(n))
}

// assertJSON reads the answer as JSON, also inside a code fence.
func (w *scratch) assertJSON(m *callvet.Matcher) {
	want := strings.TrimSpace(m.Mode + " " + short(m.Value))
	v, err := value.Parse([]byte(unfenced(w.t.Answer)))
	if err != nil {
		w.record("response_json", callvet.LayerResponse, false, want, "no JSON: "+short([]byte(w.t.Answer)))
		return
	}
	ok, _ := w.k.answer.Match(v)
	w.record("response_json", callvet.LayerResponse, ok, want, short(v.Raw()))
}

// unfenced removes the code fence around a text that consists of nothing else.
func unfenced(s string) string {
	s = strings.TrimSpace(s)
	inside, ok := strings.CutPrefix(s, "```")
	if !ok {
		return s
	}
	_, inside, _ = strings.Cut(inside, "\n") // the language
	return strings.TrimSpace(strings.TrimSuffix(inside, "```"))
}
