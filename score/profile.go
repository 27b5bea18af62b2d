// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/bfcl"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// Under a foreign profile the package score/bfcl compares names and arguments and contracts are
// not checked; which call answers which expectation, and everything else, is unchanged.

// profileRules reads the profile in force.
func (k *Compiled) profileRules(ps *problems) {
	if k.scoring.Profile == "" {
		return
	}
	rules, ok := bfcl.RulesFor(k.scoring.Profile, k.scoring.Language)
	if !ok {
		ps.add("unknown-profile", "scoring.profile", fmt.Sprintf("profile %q is not known", k.scoring.Profile),
			fmt.Sprintf("leave it out, or %s, or %s", bfcl.Profile, bfcl.ProfileV1))
		return
	}
	k.rules, k.foreign = rules, true
	k.contract, k.enforce = false, false
}

func (k *Compiled) foreignCall(e *expected, set match.Settings, key string, ps *problems) {
	var src *callvet.Tool
	if e.tool != nil {
		src = e.tool.src
	}
	var err error
	if e.foreign, err = bfcl.Compile(src, e.src, k.rules); err != nil {
		ps.add("bad-bfcl", key, err.Error(), "give acceptable values as any_of matchers")
		e.foreign = nil
		return
	}
	// The rules of this profile fill in the counts: args only defines what an extra argument means.
	e.args, _ = match.Compile(nil, nil, value.Value{}, set, k.scoring.ExtraArgs)
}

// compareForeign applies the profile's rules. The counts for the scores come from its diffs,
// which are only needed when something is wrong.
func compareForeign(e *expected, a *actual) pair {
	if e.foreign.Match(a.src.Tool, a.args) == bfcl.OK {
		n := a.args.Len()
		hits := float64(n)
		return pair{
			tally: match.Tally{Expected: n, Matched: n, Soft: hits, Hits: hits, Gold: n, Emitted: n, Union: n},
			near:  1, pass: true,
		}
	}
	var t match.Tally
	for _, d := range e.foreign.Diffs(a.args) {
		t.Union++
		t.Emitted += truth(d.Actual != nil)
		if d.Expected == nil {
			t.Extra++
			continue
		}
		t.Expected++
		t.Gold++
		if d.Matched {
			t.Matched++
			t.Soft++
			t.Hits++
		}
	}
	// A list in place of an object, or a required parameter without an expected value,
	// fails a call even if all its values match.
	if t.Matched == t.Expected && t.Extra == 0 {
		t.Expected, t.Gold, t.Union = t.Expected+1, t.Gold+1, t.Union+1
	}
	return pair{tally: t, near: min(t.Soft/float64(max(t.Expected+t.Extra, 1)), 0.999)}
}

// accuracy is the argument score of one pair.
func (e *expected) accuracy(p *pair) float64 {
	if e.foreign != nil && p.pass {
		return 1
	}
	return e.args.Accuracy(&p.tally)
}
