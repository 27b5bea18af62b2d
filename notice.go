// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

// Notice is something that a person should know of what was done, and that is no
// error: a warning or a note, as data, so that a terminal and a page show it alike.
type Notice struct {
	// Code is what is asked about the notice by programs, in lower case with dashes,
	// such as "vectors-not-kept"; it does not change when the text does.
	Code string `json:"code"`
	// Text is one sentence or two in plain words, without a line break, a closing period
	// or a word such as "warning:". It may hold what a file or a model said: who shows it
	// escapes it.
	Text string `json:"text"`
}
