// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/condition"
	"github.com/callvet/callvet/value"
)

// checks are the compiled post-conditions by their text as it stands in a line.
type checks struct {
	byText   map[string]*stated
	recent   [256]*stated // those of the last lines, found without a map
	problems []callvet.Problem
}

// stated is a text as it stands in a line; compiled is nil where it does not compile, or
// is empty.
type stated struct {
	label
	compiled *condition.Condition
}

func newChecks() checks { return checks{byText: map[string]*stated{}} }

// recall is find among those of the last lines; nil: not found there.
func (c *checks) recall(v value.Value) *stated {
	raw := v.Raw()
	e := endsOf(raw)
	if k := c.recent[e.slot()]; k != nil && k.is(raw, e) {
		return k
	}
	return nil
}

func (c *checks) find(v value.Value) *stated {
	k := c.byText[string(v.Raw())]
	if k == nil {
		k = c.compile(v)
	}
	c.recent[k.slot()] = k
	return k
}

func (c *checks) compile(v value.Value) *stated {
	text := string(v.Raw())
	k := &stated{label: labelOf(text)}
	var err error
	if text != `""` {
		k.compiled, err = condition.Compile(v.Str())
	}
	if len(c.byText) < maxCached {
		c.byText[text] = k
	}
	if err != nil && len(c.problems) < maxCached {
		c.problems = append(c.problems, callvet.Problem{
			Code: "bad-condition", Key: "gold.result_check",
			Message: fmt.Sprintf("the post-condition %q cannot be read: %v", v.Str(), err),
			Fix:     "write a comparison such as window_days >= 0 && len(exceptions) > 0",
		})
	}
	return k
}
