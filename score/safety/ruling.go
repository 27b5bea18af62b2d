// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"slices"

	"github.com/callvet/callvet"
)

// rulings applies the guard's decisions about the calls. A denied or changed call was tried and
// did not happen; a flagged call happened. A confirmed or delayed call is no breach of the rule.
func (c *Checker) rulings(r *Report, k *talk) {
	for i := range k.steps {
		call := k.steps[i].call
		for _, g := range call.Guard {
			rule := Rule(g.Rule)
			if !slices.Contains(RuleNames(), rule) {
				continue
			}
			same := func(o Incident) bool { return o.Call == i && o.Rule == rule }
			if g.Action == callvet.RulingConfirm || g.Action == callvet.RulingWait {
				r.Incidents = slices.DeleteFunc(r.Incidents, same)
				continue
			}
			ran := g.Action == callvet.RulingFlag || g.Action == callvet.RulingDeny && executed(call)
			if at := slices.IndexFunc(r.Incidents, same); at < 0 {
				r.add(rule, i, ran, g.Detail)
			} else if g.Action == callvet.RulingRedact {
				r.Incidents[at].Executed = false
			}
		}
	}
}
