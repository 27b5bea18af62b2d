// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"fmt"

	"github.com/callvet/callvet"
)

const (
	// maxCharsPerToken is twice the average of texts and JSON: a prompt that took fewer tokens was
	// truncated.
	maxCharsPerToken = 8
	// ideograph is the weight of a Chinese, Japanese or Korean character: a token contains fewer
	// of them.
	ideograph, firstIdeograph = 3, '\u2E80'
	// shortPrompt is the length, in characters, below which prompts are not checked: a few long
	// words may be one token each.
	shortPrompt = 8000
	// Context sizes are multiples of contextStep, at least leastContext. A prompt of exactly such a
	// size was truncated.
	contextStep, leastContext = 1024, 2048
)

// wasCut is the fault of an answer to a prompt that the server truncated silently, as local servers
// do when it is longer than their context. Such an answer must not be judged. It is nil if the
// counted tokens can be the whole prompt, and if the server does not count them.
func wasCut(u *callvet.Usage, q *query) *callvet.Fault {
	n := u.InputTokens
	full := n > 0 && n == q.context || n >= leastContext && n%contextStep == 0
	bytes := len(q.req.System) + len(q.tools)
	for i := range q.turns {
		bytes += len(q.turns[i].Content)
	}
	if !full && n*maxCharsPerToken >= bytes { // no character weighs more than its bytes
		return nil
	}
	size := characters(q.req.System) + characters(string(q.tools))
	for i := range q.turns {
		size += characters(q.turns[i].Content)
	}
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

// characters counts the characters of a text. A run of one character counts once: a line of dashes,
// or indentation, may be one token.
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
