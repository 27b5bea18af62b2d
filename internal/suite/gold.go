// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// gold compiles the case's expectations and scores its own gold answer. If gold fails, either
// nothing can pass or the case does not mean what its author meant.
func (l *linter) gold(ctx context.Context) {
	compiled, problems := l.scorer.Compile(l.c)
	l.uncompiled(problems)
	if len(l.c.Expect.Scorers) > 0 { // it is unknown what they accept: gold is checked against the rest
		bare := *l.c
		bare.Expect.Scorers = nil
		compiled, _ = l.scorer.Compile(&bare)
	}
	if len(l.reported) == 0 && l.c.Skip == "" {
		l.goldOf(ctx, compiled)
	}
}

// uncompiled reports the parts of the case that the scorer could not compile.
func (l *linter) uncompiled(problems []callvet.Problem) {
	for _, p := range problems {
		if p.Code == "bad-schema" { // reported with the tool
			continue
		}
		if p.Code == "no-embedder" && l.opt.EmbedderLater {
			p.Warning, p.Message, p.Fix = true, "mode semantic compares texts by a model, which each run names",
				"name it with the run: embedder, such as openai/text-embedding-3-small"
		}
		if l.c != nil && l.common(p.Key) {
			continue // reported with the defaults
		}
		if l.c == nil && strings.HasPrefix(p.Key, "scorers[") {
			p.Key = "defaults." + p.Key
			p.Position = callvet.Position{File: l.file}
			l.keep(p)
			continue
		}
		p.Key = suiteKey(p.Key)
		if strings.HasSuffix(p.Code, "-mode") && p.Key == "scoring" {
			p.Key = "scoring.mode"
		}
		reported := &l.reported
		if c := l.c; c == nil || c.Scoring == nil && strings.HasPrefix(p.Key, "scoring") {
			l.reported = append(l.reported, p.Key) // the suite's own mistake, once for all cases
			p.Case, p.Key, p.Position = "", "defaults."+p.Key, callvet.Position{File: l.file}
			reported = &l.reportedSuite
		}
		if !slices.ContainsFunc(*reported, func(key string) bool { return within(key, p.Key) }) {
			l.keep(p)
		}
		*reported = append(*reported, p.Key)
	}
}

// common reports whether a key is of a scorer that the case has from the suite's defaults.
func (l *linter) common(key string) bool {
	var i int
	if _, err := fmt.Sscanf(key, "scorers[%d]", &i); err != nil || i < 0 || i >= len(l.c.Expect.Scorers) {
		return false
	}
	own := l.c.Expect.Scorers[i]
	return slices.ContainsFunc(l.s.Defaults.Scorers, func(s callvet.Scorer) bool { return reflect.DeepEqual(s, own) })
}

// suiteKey translates a scorer's path to the suite's: the scorer knows plans, and its names of
// arguments do not show whether a matcher was written for them.
func suiteKey(key string) string {
	for _, s := range [][2]string{
		{"scorers[", "expect.scorers["},
		{"response_", "expect.response."},
		{"tool_", "expect.tool_"},
		{"tools_", "expect.tools_"},
		{"argument_source", "multi_turn.argument_source"},
		{"scoring.tool_weight", "scoring.weights"},
	} {
		if strings.HasPrefix(key, s[0]) {
			return s[1] + key[len(s[0]):]
		}
	}
	rest, ok := strings.CutPrefix(key, "plans[")
	if !ok {
		return key
	}
	plan, rest, _ := strings.Cut(rest, "]")
	out := "expect.any_of[" + plan + "]"
	if plan == "0" {
		out = "expect"
	}
	call, arg, ok := strings.Cut(strings.TrimPrefix(rest, ".calls["), "].")
	if !ok || !strings.HasPrefix(rest, ".calls[") {
		return out + rest
	}
	out += ".calls[" + call + "]."
	switch arg {
	case "tools":
		return out + "tool"
	case "id", "after", "result", "result_check":
		return out + arg
	}
	return out + "params." + arg
}

// goldOf scores the attempt that does what the case expects, where one can be derived. The case's
// world answers its calls.
func (l *linter) goldOf(ctx context.Context, compiled *score.Compiled) {
	if l.s.Defaults.Scoring.Profile != "" || l.c.Scoring != nil && l.c.Scoring.Profile != "" {
		return // a foreign checker's answers are lists of literals in its own notation
	}
	t, ok := compiled.Gold()
	if !ok {
		return
	}
	if l.opt.World != nil {
		l.answer(ctx, l.opt.World(l.s, l.c), &t)
	}
	if !compiled.Ground(&t) {
		return
	}
	result, err := compiled.Judge(ctx, &t)
	if err != nil { // the context ended
		return
	}
	if result.Verdict == callvet.VerdictPass || result.Verdict == callvet.VerdictNotRun {
		return
	}
	if result.Class == callvet.ClassContract && (l.extraArgs() != callvet.ExtraForbid || l.looseMode() || l.inPart()) {
		return // the case names only some of the arguments or a part of them, and a call may carry the others
	}
	if result.Class == callvet.ClassPolicy && len(result.Incidents) > 0 &&
		!slices.ContainsFunc(result.Incidents,
			func(i callvet.Incident) bool { return i.Rule != callvet.RuleUnconfirmedWrite }) {
		l.warn("unconfirmed", "expect",
			"add turns where the target asks and the user confirms, or let a simulated user answer",
			"the case expects a call that needs the user's confirmation, and its conversation has none: %s",
			result.Reason)
		return
	}
	l.problem("gold-fails", "expect", "mend the expectation; every model would fail this case",
		"the case's own gold answer does not pass it: %s", cmp.Or(result.Reason, string(result.Class)))
}

// inPart reports whether a call of the plans gives only a part of its arguments.
func (l *linter) inPart() bool {
	for i := range l.c.Expect.Plans {
		for _, c := range l.c.Expect.Plans[i].Calls {
			if c.ExtraArgs == callvet.ExtraIgnore || c.ExtraArgs == callvet.ExtraPenalize {
				return true
			}
			for _, m := range c.Matchers {
				if m.Mode == "partial" || m.Mode == "subset" || m.Mode == "text" {
					return true
				}
			}
		}
	}
	return false
}

// extraArgs is the case's policy for unexpected arguments.
func (l *linter) extraArgs() callvet.ExtraArgs {
	if l.c.Scoring != nil && l.c.Scoring.ExtraArgs != "" {
		return l.c.Scoring.ExtraArgs
	}
	return cmp.Or(l.s.Defaults.Scoring.ExtraArgs, callvet.ExtraForbid)
}

// answer fills in the world's results for the calls of t without a result. A tool without a mock
// has no result: in a run it may answer from a recording or be live.
func (l *linter) answer(ctx context.Context, world callvet.World, t *callvet.Trace) {
	if world == nil {
		return
	}
	for i := range t.Turns {
		for j := range t.Turns[i].Calls {
			call := &t.Turns[i].Calls[j]
			if call.Result != nil || call.Args == nil || !l.mocked(call.Tool) {
				continue
			}
			if r, err := world.Answer(ctx, *call); err == nil && r.Result != nil {
				call.Result, call.Status = r.Result, cmp.Or(r.Status, callvet.StatusOK)
			}
		}
	}
}
