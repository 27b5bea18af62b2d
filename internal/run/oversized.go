// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Limits of one answer. A model returns at most some hundred calls at once, and an agent that
// returns its whole work some thousand; scoring takes a second for as much as this.
const (
	maxAnswerCalls = 10_000
	// maxAnswerValues counts the values of all arguments and results, nested ones included.
	maxAnswerValues = 100_000
)

// oversized returns a fault for an answer with more values than can be scored, else nil.
func oversized(resp *callvet.Response) *callvet.Fault {
	calls, values := 0, 0
	for i := range resp.Turns {
		for j := range resp.Turns[i].Calls {
			c := &resp.Turns[i].Calls[j]
			if calls++; calls > maxAnswerCalls {
				return &callvet.Fault{
					Kind:    callvet.FaultTooLarge,
					Message: fmt.Sprintf("the answer has more than %d calls", maxAnswerCalls),
				}
			}
			if values += valuesIn(c.Args, c.Parsed) + valuesIn(c.Result, callvet.Parsed{}); values > maxAnswerValues {
				return &callvet.Fault{
					Kind: callvet.FaultTooLarge,
					Message: fmt.Sprintf("the arguments and results of the answer have more than %d values",
						maxAnswerValues),
				}
			}
		}
	}
	return nil
}

// valuesIn counts the values of a JSON text; kept may be its parsed value. It returns more than the
// limit for too many, and 0 for a text that is not JSON.
func valuesIn(text []byte, kept callvet.Parsed) int {
	if len(text) == 0 {
		return 0
	}
	if v, ok := kept.Of(text); ok {
		return v.Values()
	}
	doc := value.Doc{Max: maxAnswerValues}
	if err := doc.Parse(text); err != nil {
		if value.Over(err) {
			return maxAnswerValues + 1
		}
		return 0
	}
	return doc.Root().Values()
}
