// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package step

import (
	"bytes"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/condition"
	"github.com/callvet/callvet/value"
)

// checks are the compiled post-conditions by their text as it stands in a line.
type checks struct {
	byText   map[string]*condition.Condition // nil: does not compile
	last     *condition.Condition
	lastText []byte
	problems []callvet.Problem
}

func newChecks() checks { return checks{byText: map[string]*condition.Condition{}} }

// find gives nil for a text that is empty or does not compile.
func (c *checks) find(v value.Value) *condition.Condition {
	raw := v.Raw()
	if len(raw) == 2 {
		return nil
	}
	if c.lastText != nil && bytes.Equal(raw, c.lastText) {
		return c.last
	}
	found, seen := c.byText[string(raw)]
	if !seen {
		found = c.compile(v)
	}
	c.last, c.lastText = found, append(c.lastText[:0], raw...)
	return found
}

func (c *checks) compile(v value.Value) *condition.Condition {
	found, err := condition.Compile(v.Str())
	if len(c.byText) < maxCached {
		c.byText[string(v.Raw())] = found
	}
	if err != nil && len(c.problems) < maxCached {
		c.problems = append(c.problems, callvet.Problem{
			Code: "bad-condition", Key: "gold.result_check", Message: fmt.Sprintf("the post-condition %q cannot be read: %v", v.Str(), err),
			Fix: "write a comparison such as window_days >= 0 && len(exceptions) > 0",
		})
	}
	return found
}
