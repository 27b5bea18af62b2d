// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

// Verb is what an Action does.
type Verb string

// The verbs. VerbAgain starts a run like an old one.
const (
	VerbAgain  Verb = "again"
	VerbResume Verb = "resume"
	VerbSweep  Verb = "sweep" // resume, and show the curve
	VerbShow   Verb = "show"
	VerbAll    Verb = "show all"
	VerbReport Verb = "report"
	VerbDiff   Verb = "diff"
	VerbList   Verb = "list"
	VerbDelete Verb = "delete"
	VerbJudge  Verb = "judge"
	// Then Case is the file.
	VerbLint  Verb = "lint"
	VerbScore Verb = "score"
)

// Action is a suggested next step, as data: a terminal shows it as a command line, a page as a
// link.
type Action struct {
	Verb Verb   `json:"verb"`
	Run  string `json:"run,omitempty"`
	Case string `json:"case,omitempty"`
	// With are fields of the request that the action is about, such as a larger limit.
	// They replace settings of the run.
	With []Setting `json:"with,omitempty"`
}

// Setting is a field of a request with its values; one that is only switched on has none.
type Setting struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// One is a setting with one value.
func One(name, value string) Setting { return Setting{name, []string{value}} }

// Origin is the client's command that started a run. It is stored with the run, and only that
// kind of client reads it.
type Origin struct {
	// Command and Flags are those of a command line.
	Command string    `json:"command,omitempty"`
	Flags   []Setting `json:"flags,omitempty"`
}
