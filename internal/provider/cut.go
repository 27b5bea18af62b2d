// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"fmt"
	"unicode/utf8"

	"github.com/callvet/callvet"
)

const (
	// maxCharsPerToken is more than texts and JSON have on average, in any language: of a prompt
	// that took fewer tokens, a part was left out.
	maxCharsPerToken = 8
	// shortPrompt in characters is not looked at: a few long words may be one token each.
	shortPrompt = 8000
)

// wasCut is the fault of an answer to a prompt that the server cut without a word, as local
// servers do where it is longer than their context: the model never saw what it would be
// judged by. It is nil where the tokens that were read can be all of the prompt, and where the
// server does not count them.
func wasCut(u *callvet.Usage, q *query) *callvet.Fault {
	size := utf8.RuneCountInString(q.req.System) + utf8.RuneCount(q.tools)
	for i := range q.turns {
		size += utf8.RuneCountInString(q.turns[i].Content)
	}
	if !u.Known || size < shortPrompt || u.InputTokens*maxCharsPerToken >= size {
		return nil
	}
	return &callvet.Fault{Kind: callvet.FaultRequest, Message: fmt.Sprintf(
		"the server cut the prompt: it read %d tokens of %d characters; give it a larger context (num_ctx, --ctx-size)", u.InputTokens, size)}
}
