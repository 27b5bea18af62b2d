// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"fmt"

	"github.com/callvet/callvet"
)

const (
	// maxCharsPerToken is twice what texts and JSON have on average: of a prompt that took fewer
	// tokens, a part was left out.
	maxCharsPerToken = 8
	// ideograph is for how many characters one of Chinese, Japanese or Korean counts, of which a
	// token holds fewer.
	ideograph, firstIdeograph = 3, '\u2E80'
	// shortPrompt in characters is not looked at: a few long words may be one token each.
	shortPrompt = 8000
	// Contexts are multiples of contextStep, the least that servers have is leastContext. A
	// prompt that ends just there was made to.
	contextStep, leastContext = 1024, 2048
)

// wasCut is the fault of an answer to a prompt that the server cut without a word, as local
// servers do where it is longer than their context: the model never saw what it would be
// judged by. It is nil where the tokens that were read can be all of the prompt, and where the
// server does not count them.
func wasCut(u *callvet.Usage, q *query) *callvet.Fault {
	size := characters(q.req.System) + characters(string(q.tools))
	for i := range q.turns {
		size += characters(q.turns[i].Content)
	}
	n := u.InputTokens
	full := n > 0 && n == q.context || n >= leastContext && n%contextStep == 0
	little := size >= shortPrompt && n*maxCharsPerToken < size
	if !u.Known || !little && (!full || size < n) {
		return nil
	}
	what := fmt.Sprintf("%d tokens of %d characters", n, size)
	if !little {
		what = fmt.Sprintf("just %d tokens, which is the size of a context", n)
	}
	return &callvet.Fault{Kind: callvet.FaultRequest, Message: "the server cut the prompt: it read " + what +
		"; give it a larger context (num_ctx, --ctx-size; ollama/MODEL sets its own)"}
}

// characters counts those of a text; a character that is repeated counts once, since a line of
// dashes and the spaces before a line may be one token each.
func characters(text string) (n int) {
	last := rune(-1)
	for _, r := range text {
		switch {
		case r == last:
		case r >= firstIdeograph:
			n += ideograph
		default:
			n++
		}
		last = r
	}
	return n
}
