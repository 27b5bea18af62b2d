// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/bfcl"
	"github.com/callvet/callvet/score/condition"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// Compiled is a case with all precomputed parts that do not depend on the attempt. It is
// immutable and safe for concurrent use; its case must not change while it is used.
type Compiled struct {
	src     *callvet.Case
	pool    *sync.Pool    // of *scratch, the scorer's
	similar *similarities // nil without a model that compares texts
	scoring callvet.Scoring
	explain bool       // passes, too
	tools   *catalogue // nil: nothing is known about tools
	naming  *callvet.Naming
	others  []callvet.Counted // names in the case that count as a different name
	names   []string          // restricts tools; nil: all
	only    bool              // names is in force
	plans   []plan
	widest  int              // of the longest list that attempts are compared with
	texts   []*regexp.Regexp // of response_matches
	params  []paramAssertion
	posts   []postcondition
	sources match.Corpus
	multi   *multi
	counts  []callCount
	allOf   []claim
	not     []claim
	answer  *match.Rule // of the answer as JSON
	graded  bool        // scores decide in place of the plans
	scorers []custom
	// watch checks attempts against the case's own safety; nil where the case has none.
	watch    func(t *callvet.Trace) ([]callvet.Score, callvet.Assertion, []callvet.Incident)
	asserts  bool // the case asserts something that can be evaluated
	routing  bool
	toolW    float64
	argsW    float64
	rules    bfcl.Rules
	foreign  bool // a foreign profile compares the arguments
	enforce  bool // a broken contract fails
	contract bool // contracts are checked
}

type plan struct {
	src      *callvet.Plan
	calls    []expected
	maxExtra int // -1: any number
	sequence match.Sequence
}

type expected struct {
	src   *callvet.ExpectedCall
	tool  *tool       // of the first known acceptable name
	args  *match.Args // nil: not asserted
	known bool        // every asserted key is declared by the tool
	check *condition.Condition
	// result is the required result of the call; the zero Value: not asserted.
	result value.Value
	// foreign compares the arguments under a foreign profile, in place of args.
	foreign *bfcl.Expectation
}

// problems collects the mistakes of one case.
type problems struct {
	c    *callvet.Case
	list []callvet.Problem
}

func (p *problems) add(code, key, msg, fix string) {
	p.list = append(p.list,
		callvet.Problem{Position: p.c.Position, Code: code, Case: p.c.ID, Key: key, Message: msg, Fix: fix})
}

func (p *problems) from(prefix string, ps []match.Problem) {
	for _, m := range ps {
		p.add(m.Code, prefix+m.Key, m.Message, m.Fix)
	}
}

// Compile prepares a case for judging, and returns its mistakes. These are own tools with a schema
// that does not compile, unknown modes, semantic matching without an embedder, and invalid
// patterns, thresholds, tolerances, dates and expressions. The result is usable in spite of them: a
// part with a mistake matches nothing. The case need not be one of the suite's. Compiling takes as
// long as judging a few attempts, so compile once for several attempts at a case.
func (s *Scorer) Compile(c *callvet.Case) (*Compiled, []callvet.Problem) {
	ps := &problems{c: c}
	k := &Compiled{
		src: c, pool: &s.pool, similar: s.similar, scoring: Merged(s.suite.Defaults.Scoring, c.Scoring),
		tools: s.tools, names: c.ToolNames, only: c.ToolNames != nil, explain: s.cfg.Explain,
	}
	if c.Tools != nil {
		k.tools, ps.list = newCatalogue(c.Tools, c.ID)
		k.names, k.only = nil, false
	} else if len(s.suite.Tools) == 0 && !k.only {
		k.tools = nil
	}
	k.settings(ps)
	k.nameTools(s, ps)
	c = k.src
	set, bad := match.FromScoring(&k.scoring, s.cfg.Similarity)
	ps.from("", bad)
	e := &c.Expect
	for i := range e.Plans {
		k.plans = append(k.plans, k.plan(&e.Plans[i], set, fmt.Sprintf("plans[%d]", i), ps))
	}
	if e.Plans == nil && e.ToolsCalled != nil {
		k.plans = []plan{k.plan(planOf(e.ToolsCalled), set, "tools_called", ps)}
	}
	if e.ToolsCalled != nil && e.ToolsAcceptable != nil {
		ps.add("conflict", "tools_acceptable", "tools_called and tools_acceptable exclude each other",
			"keep one of them")
	}
	k.assertions(set, ps)
	k.customs(&s.cfg, ps)
	k.bounds(set, ps)
	k.safety(s, ps)
	if c.MultiTurn != nil {
		k.multi = compileMulti(c.MultiTurn, k, ps)
	}
	k.sources = readSources(c)
	return k, ps.list
}

// planOf is the plan that asks for exactly these names.
func planOf(names []string) *callvet.Plan {
	p := &callvet.Plan{Calls: make([]callvet.ExpectedCall, len(names))}
	for i, n := range names {
		p.Calls[i].Tools = []string{n}
	}
	return p
}

// Merged returns the case's settings over the suite's, field by field.
func Merged(base callvet.Scoring, over *callvet.Scoring) callvet.Scoring {
	if over == nil {
		return base
	}
	str(&base.Profile, over.Profile)
	str(&base.Language, over.Language)
	str(&base.Mode, over.Mode)
	str(&base.Tolerance, over.Tolerance)
	str(&base.ExtraArgs, over.ExtraArgs)
	str(&base.Contract, over.Contract)
	str(&base.FailedCalls, over.FailedCalls)
	ptr(&base.Epsilon, over.Epsilon)
	ptr(&base.Relative, over.Relative)
	ptr(&base.Threshold, over.Threshold)
	ptr(&base.MaxExtraCalls, over.MaxExtraCalls)
	ptr(&base.ToolWeight, over.ToolWeight)
	ptr(&base.ArgsWeight, over.ArgsWeight)
	ptr(&base.Selection, over.Selection)
	ptr(&base.ToolNames, over.ToolNames)
	base.Unanchored = base.Unanchored || over.Unanchored
	base.CaseSensitiveNames = base.CaseSensitiveNames || over.CaseSensitiveNames
	base.RequireNative = base.RequireNative || over.RequireNative
	return base
}

func str[T ~string](dst *T, v T) {
	if v != "" {
		*dst = v
	}
}

func ptr[T any](dst **T, v *T) {
	if v != nil {
		*dst = v
	}
}

func (k *Compiled) settings(ps *problems) {
	sc := &k.scoring
	k.toolW, k.argsW = DefaultToolWeight, DefaultArgsWeight
	if sc.ToolWeight != nil {
		k.toolW = *sc.ToolWeight
	}
	if sc.ArgsWeight != nil {
		k.argsW = *sc.ArgsWeight
	}
	if !(k.toolW >= 0 && k.argsW >= 0 && k.toolW+k.argsW > 0 && k.toolW+k.argsW < 1e300) {
		ps.add("bad-weight", "scoring.tool_weight",
			"the weights must be at least 0, not both 0, and add up to less than 1e300", "0.6 and 0.4 are the default")
		k.toolW, k.argsW = DefaultToolWeight, DefaultArgsWeight
	}
	if _, err := SelectionSettingsOf(sc.Selection); err != nil {
		ps.add("bad-weight", "scoring.selection", err.Error(),
			"weights route, sub_route, agents and tools, depths k: [1, 3, 5]")
	}
	sum := k.toolW + k.argsW
	k.toolW, k.argsW = k.toolW/sum, k.argsW/sum
	switch sc.Contract {
	case "", "enforce":
		k.contract, k.enforce = true, true
	case "report":
		k.contract = true
	case "off":
	default:
		ps.add("bad-contract", "scoring.contract", fmt.Sprintf("contract %q is not known", sc.Contract),
			"enforce, report or off")
	}
	switch sc.FailedCalls {
	case "", "count", "ignore":
	default:
		ps.add("bad-failed-calls", "scoring.failed_calls", fmt.Sprintf("failed_calls %q is not known", sc.FailedCalls),
			"count or ignore")
	}
	k.profileRules(ps)
}

func (k *Compiled) plan(src *callvet.Plan, set match.Settings, key string, ps *problems) plan {
	p := plan{src: src, calls: make([]expected, len(src.Calls))}
	switch {
	case src.MaxExtraCalls != nil:
		p.maxExtra = *src.MaxExtraCalls
	case k.scoring.MaxExtraCalls != nil:
		p.maxExtra = *k.scoring.MaxExtraCalls
	}
	switch src.Order {
	case "", callvet.OrderAny, callvet.OrderStrict, callvet.OrderInOrder, callvet.OrderSubset, callvet.OrderPrecision,
		callvet.OrderSuperset, callvet.OrderRecall, callvet.OrderSingle:
	default:
		ps.add("unknown-order", key+".order", fmt.Sprintf("order %q is not known", src.Order),
			"any_order, strict, in_order, subset, superset, precision, recall or single_tool_use")
	}
	k.expects(len(src.Calls), key+".calls", ps)
	for i := range src.Calls {
		k.expected(&p.calls[i], &src.Calls[i], set, fmt.Sprintf("%s.calls[%d]", key, i), ps)
	}
	p.link(key, ps)
	return p
}

// expects adds a list of expectations; each is compared with every call.
func (k *Compiled) expects(n int, key string, ps *problems) {
	k.widest = max(k.widest, n)
	if n > MaxExpectedCalls {
		ps.add("too-many-calls", key, fmt.Sprintf("%d calls are expected, and %d can be compared", n, MaxExpectedCalls),
			"make several cases of it, or bound the number of calls: min_tool_calls, max_tool_calls")
	}
}

// postconditions compiles the conditions of the task.
func (k *Compiled) postconditions(ps *problems) {
	for i, text := range k.src.Expect.Postconditions {
		c, err := condition.Compile(text)
		if err != nil {
			ps.add("bad-check", fmt.Sprintf("postconditions[%d]", i), err.Error(),
				"for example: window_days == 30 && len(items) > 0")
			continue
		}
		k.posts = append(k.posts, postcondition{text, c})
	}
}

// postcondition is a condition that the result of at least one call must satisfy.
type postcondition struct {
	text  string
	check *condition.Condition
}

func (k *Compiled) expected(e *expected, src *callvet.ExpectedCall, set match.Settings, key string, ps *problems) {
	e.src = src
	if len(src.Tools) == 0 {
		ps.add("no-tool", key+".tools", "an expected call names no tool", "tools: [name]")
	}
	for _, n := range src.Tools {
		if e.tool == nil && k.tools != nil {
			e.tool = k.find(n)
		}
	}
	var err error
	if src.ResultCheck != "" {
		if e.check, err = condition.Compile(src.ResultCheck); err != nil {
			ps.add("bad-check", key+".result_check", err.Error(), "for example: window_days == 30 && len(items) > 0")
		}
	}
	if src.Result != nil {
		if e.result, err = value.Parse(src.Result); err != nil {
			ps.add("bad-result", key+".result", "the expected result is not JSON: "+err.Error(), "")
		}
	}
	if k.foreign {
		k.foreignCall(e, set, key, ps)
		return
	}
	if src.Args == nil && len(src.Matchers) == 0 {
		return
	}
	var bad []match.Problem
	e.args, bad = match.Compile(src.Args, src.Matchers, e.params(), set, cmp.Or(src.ExtraArgs, k.scoring.ExtraArgs))
	ps.from(key+".", bad)
	e.known = e.tool != nil && e.tool.declares(e.args)
}

func (e *expected) params() value.Value {
	if e.tool == nil {
		return value.Value{}
	}
	return e.tool.params
}

func (t *tool) declares(a *match.Args) bool {
	if a.Patterned() {
		return false
	}
	for _, key := range a.Keys() {
		if t.schema == nil || !t.schema.HasProperty(key) {
			return false
		}
	}
	return true
}

// link resolves After and refuses unknown names and cycles. The order of calls is the order in
// which the target emitted them, also within parallel turns. A strict or in_order plan and an
// after entry state a dependency, which this order must keep. Under any_order, and between calls
// without after, any order is right.
func (p *plan) link(key string, ps *problems) {
	ids := map[string]int{}
	for i := range p.calls {
		if id := p.calls[i].src.ID; id != "" {
			if _, twice := ids[id]; twice {
				ps.add("duplicate-id", fmt.Sprintf("%s.calls[%d].id", key, i), fmt.Sprintf("id %q is used twice", id),
					"give each call its own id")
			}
			ids[id] = i
		}
	}
	for i := range p.calls {
		for _, id := range p.calls[i].src.After {
			j, ok := ids[id]
			if !ok {
				ps.add("unknown-id", fmt.Sprintf("%s.calls[%d].after", key, i),
					fmt.Sprintf("no call has the id %q", id), "give the earlier call that id")
				continue
			}
			if p.sequence.After == nil {
				p.sequence.After = make([][]int, len(p.calls))
			}
			p.sequence.After[i] = append(p.sequence.After[i], j)
		}
	}
	p.sequence.Strict = p.src.Order == callvet.OrderStrict
	p.sequence.Total = p.sequence.Strict || p.src.Order == callvet.OrderInOrder
	if p.sequence.Topological = p.topological(); p.sequence.After != nil && p.sequence.Topological == nil {
		ps.add("cycle", key+".after", "the calls wait for one another in a circle", "remove one of the after entries")
	}
}

// topological returns the positions so that each call comes after the calls in its After,
// otherwise in the written order; nil when there is a cycle.
func (p *plan) topological() []int {
	out := make([]int, 0, len(p.calls))
	done := make([]bool, len(p.calls))
	for len(out) < len(p.calls) {
		moved := false
	next:
		for i := range p.calls {
			if done[i] {
				continue
			}
			if p.sequence.After != nil {
				for _, j := range p.sequence.After[i] {
					if !done[j] {
						continue next
					}
				}
			}
			done[i], moved = true, true
			out = append(out, i)
		}
		if !moved {
			return nil
		}
	}
	return out
}

func (k *Compiled) sameName(a, b string) bool {
	return a == b || !k.scoring.CaseSensitiveNames && callvet.SameName(a, b)
}

// nameKey is equal for names that mean the same tool.
func (k *Compiled) nameKey(name string) string {
	if k.scoring.CaseSensitiveNames {
		return name
	}
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, callvet.Unspaced(name))
}

func (k *Compiled) accepts(e *expected, name string) bool {
	if e.foreign != nil {
		return e.foreign.NameMatches(name)
	}
	for _, t := range e.src.Tools {
		if callvet.NameFits(t, name, k.scoring.CaseSensitiveNames) {
			return true
		}
	}
	return false
}

// offered are the names of the tools that the case offers.
func (k *Compiled) offered() []string {
	switch {
	case k.only:
		return k.names
	case k.tools == nil:
		return nil
	}
	return k.tools.names
}

// find returns the tool with a call's name, nil when the case does not offer it.
func (k *Compiled) find(name string) *tool {
	t := k.tools.find(name, k.scoring.CaseSensitiveNames)
	if t == nil || !k.only {
		return t
	}
	for _, n := range k.names {
		if n == t.src.Name {
			return t
		}
	}
	return nil
}
