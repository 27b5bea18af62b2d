// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

// Notice is a warning or a note about what was done; it is no error. It is data, so that a terminal
// and a page show it alike.
type Notice struct {
	// Code identifies the notice for programs, in lower case with dashes, such as
	// "vectors-not-kept"; it does not change when the text does.
	Code string `json:"code"`
	// Text is one sentence or two in plain words, without a line break, a closing period or a word
	// such as "warning:". It may contain text of a file or a model: the code that shows it must
	// escape it.
	Text string `json:"text"`
}
