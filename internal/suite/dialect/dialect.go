// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
)

// The dialects, as Detect names them.
const (
	Toolsuite  = "toolsuite"  // import file of Tool Calling Evaluation
	Forge      = "forge"      // golden, labeled, regression and rubric files of Eval Case Interfaces
	Categories = "categories" // suites of the Tool Selection Evaluation System, first and later form
	Tasks      = "tasks"      // labelled tasks of Evaluating Tool Calling, §5
	OpenAI     = "openai"     // messages and tools, one record per line
	Promptfoo  = "promptfoo"  // promptfoo configuration with tool-call assertions
)

// Options are what an import may use beside the file itself. The zero value is
// fine: tokens then stay unresolved and tools unknown.
type Options struct {
	// Seeds and Snapshots are the JSON that {{seed:…}} and {{snapshot:…}} tokens
	// point into; nil leaves them unresolved.
	Seeds     json.RawMessage
	Snapshots json.RawMessage
	// Tools become the suite's in dialects whose files have none.
	Tools []callvet.Tool
}

// Names lists the dialects in the order in which they are tried.
func Names() []string {
	return []string{Toolsuite, Forge, Categories, Tasks, OpenAI, Promptfoo}
}

// Import reads a file of the named dialect. path is used in positions, as the
// name of suites that have none, and to find files that a promptfoo
// configuration names.
//
// The error is set only when no suite could be made of the file (it is not
// JSON or YAML, a template, another format); it wraps callvet.ErrInvalid and
// carries a hint. Everything else is a Problem: those with Warning false are
// mistakes in the file, those with Warning true and code "not-carried" are
// what the suite could not take over.
func Import(name string, data []byte, path string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	src, err := open(data, path)
	if err != nil {
		return nil, nil, err
	}
	r := newReader(src, opt)
	var s *callvet.Suite
	switch name {
	case Toolsuite:
		s, err = r.toolsuite()
	case Forge:
		s, err = r.forge()
	case Categories:
		s, err = r.categories()
	case Tasks:
		s, err = r.tasks()
	case OpenAI:
		s, err = r.openAI()
	case Promptfoo:
		s, err = r.promptfoo()
	default:
		return nil, nil, unknownName(name)
	}
	if err != nil {
		return nil, nil, err
	}
	s.Dialect = name
	problems := r.finish()
	return s, problems, nil
}

// Export writes a suite in the named dialect. A suite that was imported from
// the same dialect comes out as the document it was, with what has changed
// since laid over it. The problems list what the dialect could not say.
func Export(name string, s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	switch name {
	case Toolsuite:
		return exportToolsuite(s)
	case Forge:
		return exportForge(s)
	case Categories:
		return exportCategories(s)
	case Tasks:
		return exportTasks(s)
	case OpenAI:
		return exportOpenAI(s)
	case Promptfoo:
		return exportPromptfoo(s)
	}
	return nil, nil, unknownName(name)
}

func unknownName(name string) error {
	return &callvet.Hinted{
		Err:  fmt.Errorf("choose dialect: %w: no dialect is called %q", callvet.ErrInvalid, name),
		Hint: "use one of " + strings.Join(Names(), ", "),
	}
}

// Values gives the JSON of every top-level value of a file: one for JSON and
// YAML, several for JSON Lines and YAML documents. Comments are dropped and
// YAML is rewritten as JSON; numbers keep the form in which they are written.
func Values(data []byte, path string) ([]json.RawMessage, error) {
	src, err := open(data, path)
	if err != nil {
		return nil, err
	}
	out := make([]json.RawMessage, len(src.values))
	for i, v := range src.values {
		out[i] = v.raw
	}
	return out, nil
}
