// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sentenceFile are files of the source with sentences that the page shows.
type sentenceFile struct {
	files string
	not   string // patterns of names of files that speak to the command line alone
	// all: every literal of several words is one; otherwise only those that are parts of errors and
	// notes.
	all bool
	// but are expressions of those that the page never shows.
	but []string
}

// unsaid returns whether the page never shows a sentence.
func (s *sentenceFile) unsaid(text string) bool {
	return slices.ContainsFunc(s.but,
		func(e string) bool { return regexp.MustCompile("^(?s:" + e + ")$").MatchString(text) })
}

// What the page never shows: files that the command line writes, prompts, words of formats and queries.
var (
	toFiles = []string{
		`write -?.*: (invalid|conflict): .*`, `apply: invalid: .*`, `output .*`, `where are the edits written\? .*`,
		`another name, or move it away`,
		`(edits|suite|tools|abstain_on) [A-Z]+.*`, `write edits: .*`, `read examples: \{\}`, `write \{"query.*`,
	}
	ofFormats = []string{
		`callvet edits seen`, `tool status reason .*`, `cases right_before .*`, `\[one, two\]`, `Bearer \{\}`,
		`\n(Keywords|Examples): \{\}`, `agent gate`, `\(\?i\).*`,
		`You write descriptions.*`, `Your answer cannot be used.*`, `attachment; .*`,
	}
	// The comments of a file of edits, which is shown as it is.
	ofEdits = []string{
		`the result on those that stayed .*`, `each alone against .*`, `Descriptions that .*`, `Made of .*`,
		`All that are proposed .*`, `The same questions have .*`, `Nothing is changed yet.*`,
	}
	// The page has advice of its own for these codes.
	ofAdvice = []string{`(Improve|Rework|Review|Judge|Look at|Cases tagged) .*`}
	ofNames  = []string{
		`\{\} of \{\} pass`, `(at most \{\} characters|default \{\}|at \{\})`,
		`(suite|catalogue|judging) \{\} \{\}`, `against \{\} .*`, `ranks \{\}`,
	}
)

// leaves reports whether a file is one of those that are not read.
func (s sentenceFile) leaves(name string) bool {
	for pattern := range strings.FieldsSeq(s.not) {
		if ok, err := filepath.Match(pattern, name); ok || err != nil {
			return true
		}
	}
	return false
}

var sentenceFiles = []sentenceFile{
	{
		files: "internal/catalog/*.go", not: "learn.go retriever*.go service_*.go tune.go", all: true,
		but: slices.Concat(toFiles, ofEdits),
	},
	{files: "internal/suite/edits*.go", all: true, but: slices.Concat(toFiles, ofFormats)},
	{
		files: "internal/provider/embed*.go", not: "embed.go", all: true,
		but: slices.Concat(ofFormats, []string{`nothing is kept.*`}),
	},
	{files: "panel/routing*.go", all: true, but: ofAdvice},
	{files: "retrieve/*.go", not: "bm25_*.go language.go", all: true, but: ofFormats},
	{files: "retrieve/learn/*.go", all: true, but: ofFormats},
	{files: "internal/app/catalogs/select.go", all: true},
	{files: "internal/app/catalogs/decisions.go", all: true},
	{files: "internal/app/semantic.go"},
	{files: "internal/account/*.go"},
	{files: "internal/library/*.go", not: "batch.go intake.go"},
	{files: "internal/doc/*.go", not: "form_read.go input.go"},
	{
		files: "internal/suite/dialect/*.go", not: "bfcl*.go forge*.go openai.go promptfoo*.go",
		but: []string{`write suite: .*`, `.* is not carried: the format has no place for .*`, `version, flags, .*`},
	},
	{files: "internal/suite/lint*.go"},
	{files: "internal/suite/load.go"},
	{files: "internal/suite/detect.go"},
	{files: "internal/provider/address.go"},
	{files: "internal/provider/open.go"},
	{files: "internal/app/request.go", but: []string{`models openai/.*`}},
	{files: "internal/app/probe.go"},
	{files: "internal/app/reach.go"},
	{files: "internal/app/settings.go", but: []string{`to check the gates.*`}},
	{files: "internal/app/runs/start.go"},
	{files: "internal/job/times.go"},
	{files: "internal/server/*/*.go", but: slices.Concat(ofFormats, ofNames)},
	{files: "errors.go"},
}

// Calls and fields that make errors and notes.
var (
	speakingCalls = []string{
		"Errorf", "New", "Sprintf", "Invalid", "invalid", "Conflict", "conflict", "NewError", "Error400BadRequest",
		"Error415UnsupportedMediaType",
		"Error422UnprocessableEntity", "writeProblem", "refused", "refuse", "wrong", "fail", "problem", "note", "warn",
		"Notice", "append",
	}
	speakingFields = []string{"Text", "Fix", "Hint", "Message", "Detail", "What"}

	severalWords = regexp.MustCompile(`\p{L}{2,}[,;:]? (\{\}|\p{L}{2,})|\{\}:? \p{L}{2,}`)
	formatVerb   = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?[0-9.*]*[a-zA-Z]`)
	fieldBraces  = regexp.MustCompile(`\{([a-z_A-Z-]+)\}`)
)

// sentencesIn returns the sentences of a file with their places, {} for what differs.
func sentencesIn(t *testing.T, file string, all bool) iter.Seq2[string, string] {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string, string) bool) {
		more := true
		say := func(of string, known []string, values ...ast.Expr) {
			for _, e := range values {
				text, isText := literal(e)
				if text = sentenceOf(text); !more || !isText || !severalWords.MatchString(text) || !all &&
					!slices.Contains(known, of) {
					continue
				}
				more = yield(fmt.Sprintf("%s:%d", filepath.Base(file), set.Position(e.Pos()).Line), text)
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				say(calledName(n), speakingCalls, n.Args...)
			case *ast.KeyValueExpr:
				key, _ := n.Key.(*ast.Ident)
				say(fmt.Sprint(key), speakingFields, n.Value)
			case *ast.ReturnStmt:
				say("", nil, n.Results...)
			case *ast.AssignStmt:
				say("", nil, n.Rhs...)
			case *ast.CompositeLit:
				say("", nil, n.Elts...)
			case *ast.ValueSpec:
				say("", nil, n.Values...)
			}
			return more
		})
	}
}

// calledName returns the name of the called function, without its package.
func calledName(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// literal returns a text that is written in the source, {} for its other parts.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, isLeft := literal(e.X)
		right, isRight := literal(e.Y)
		if e.Op == token.ADD && (isLeft || isRight) {
			return left + right, true
		}
	}
	return "%s", false
}

// sentenceOf is a format as the table of the page writes it.
func sentenceOf(text string) string {
	text = formatVerb.ReplaceAllString(strings.ReplaceAll(text, "%%", "\x00"), "{}")
	text = strings.ReplaceAll(text, "{{}}", "{}") // a field that a value names
	return strings.ReplaceAll(fieldBraces.ReplaceAllString(text, "$1"), "\x00", "%")
}
