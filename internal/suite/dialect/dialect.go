// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"iter"
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

// Options are the other inputs of an import: seeds and snapshots for tokens, and tools for dialects
// that have none.
type Options = ReaderOptions

// Names lists the dialects in the order of detection.
func Names() []string {
	return []string{Toolsuite, Forge, Categories, Tasks, OpenAI, Promptfoo}
}

// Import reads a file of the named dialect. path is used in positions, as the
// name of suites that have none, and to find files that a promptfoo
// configuration names.
//
// The error is set only when no suite could be made of the file (it is not JSON or YAML, a
// template, another format). It wraps callvet.ErrInvalid and has a hint. Everything else is a
// Problem. Those with Warning false are mistakes in the file. Those with Warning true and code
// "not-carried" are parts that the suite cannot express.
func Import(name string, data []byte, path string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	src, err := Open(data, path)
	if err != nil {
		return nil, nil, err
	}
	r := newReader(src, opt)
	read := map[string]func() (*callvet.Suite, error){
		Toolsuite: r.toolsuite, Forge: r.forge, Categories: r.categories, Tasks: r.tasks, OpenAI: r.openAI,
		Promptfoo: r.promptfoo,
	}[name]
	if read == nil {
		return nil, nil, unknownName(name)
	}
	s, err := read()
	if err != nil {
		return nil, nil, err
	}
	s.Dialect = name
	return s, r.Finish(), nil
}

// Stream is Import for the dialect with large suites, Toolsuite: cases are read one by one, once,
// and the problems are complete after the last case. The suite is nil when the file is of another
// dialect or cannot be read.
func Stream(data []byte, path string,
	opt Options,
) (s *callvet.Suite, cases iter.Seq[*callvet.Case], problems func() []callvet.Problem) {
	src, err := Open(data, path)
	if err != nil || detect(src) != Toolsuite {
		return nil, nil, nil
	}
	r := newReader(src, opt)
	if s, cases, err = r.toolsuiteStream(); err != nil {
		return nil, nil, nil
	}
	s.Dialect = Toolsuite
	return s, cases, r.Finish
}

// Export writes a suite in the named dialect. A suite that was imported from the same dialect is
// written as its original document, with later changes applied. The problems list what the
// dialect cannot express.
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
