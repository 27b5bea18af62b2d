// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/condition"
	"github.com/callvet/callvet/value"
)

// checks are the compiled post-conditions by their exact text in a line; nil for a text that does
// not compile, or is empty.
type checks struct {
	byText   map[string]*condition.Condition
	recent   value.Recent[*condition.Condition]
	problems []callvet.Problem
}

func newChecks() checks { return checks{byText: map[string]*condition.Condition{}} }

func (c *checks) find(v value.Value) *condition.Condition {
	if k, ok := c.recent.Get(v.Raw()); ok {
		return k
	}
	k, known := c.byText[string(v.Raw())]
	if !known {
		k = c.compile(v)
	}
	c.recent.Put(v.Raw(), k)
	return k
}

func (c *checks) compile(v value.Value) (k *condition.Condition) {
	var err error
	text := string(v.Raw())
	if text != `""` {
		k, err = condition.Compile(v.Str())
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
