// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package step

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/condition"
	"github.com/callvet/callvet/value"
)

// checks are the compiled post-conditions by their text as it stands in a line.
type checks struct {
	byText   map[string]*check
	recent   [256]*check // those of the last lines, found without a map
	problems []callvet.Problem
}

// check is a text as it stands in a line; compiled is nil where it does not compile.
type check struct {
	label
	compiled *condition.Condition
}

func newChecks() checks { return checks{byText: map[string]*check{}} }

// find gives nil for a text that is empty or does not compile.
func (c *checks) find(v value.Value) *condition.Condition {
	raw := v.Raw()
	if len(raw) == 2 {
		return nil
	}
	first, last := value.Ends(raw)
	if k := c.recent[slot(first, last)]; k != nil && k.is(raw, first, last) {
		return k.compiled
	}
	return c.findAny(v)
}

// findAny is find without a look at the last lines, apart so that find keeps nothing
// for it.
func (c *checks) findAny(v value.Value) *condition.Condition {
	k := c.byText[string(v.Raw())]
	if k == nil {
		k = c.compile(v)
	}
	c.recent[slot(k.first, k.last)] = k
	return k.compiled
}

func (c *checks) compile(v value.Value) *check {
	found, err := condition.Compile(v.Str())
	k := &check{labelOf(string(v.Raw())), found}
	if len(c.byText) < maxCached {
		c.byText[k.text] = k
	}
	if err != nil && len(c.problems) < maxCached {
		c.problems = append(c.problems, callvet.Problem{
			Code: "bad-condition", Key: "gold.result_check", Message: fmt.Sprintf("the post-condition %q cannot be read: %v", v.Str(), err),
			Fix: "write a comparison such as window_days >= 0 && len(exceptions) > 0",
		})
	}
	return k
}
