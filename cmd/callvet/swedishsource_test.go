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
	files string // a pattern of paths, or a folder with its slash and patterns of names in it
	// all: every literal of several words is one; otherwise those that stand where errors and notes are made.
	all bool
	// but are expressions of those that the page never shows.
	but []string
}

// unsaid returns whether the page never shows a sentence.
func (s *sentenceFile) unsaid(text string) bool {
	return slices.ContainsFunc(s.but, func(e string) bool { return regexp.MustCompile("^(?s:" + e + ")$").MatchString(text) })
}

// What the page never shows: files that the command line writes, prompts, words of formats and queries.
var (
	toFiles = []string{
		`write -?.*: (invalid|conflict): .*`, `apply: invalid: .*`, `output .*`, `where are the edits written\? .*`, `another name, or move it away`,
		`(edits|suite|tools|abstain_on) [A-Z]+.*`, `write edits: .*`, `read examples: \{\}`, `write \{"query.*`,
	}
	ofFormats = []string{
		`callvet edits seen`, `tool status reason .*`, `cases right_before .*`, `\[one, two\]`, `Bearer \{\}`, `\n(Keywords|Examples): \{\}`, `agent gate`, `\(\?i\).*`,
		`You write descriptions.*`, `Your answer cannot be used.*`, `attachment; .*`,
	}
	// The comments of a file of edits, which is shown as it is.
	ofEdits = []string{`what they say of those .*`, `each alone against .*`, `Descriptions that .*`, `Made of .*`, `All that are proposed .*`, `The same questions have .*`, `Nothing is changed yet.*`}
	// The page has advice of its own for these codes.
	ofAdvice = []string{`(Improve|Rework|Review|Judge|Look at|Cases tagged) .*`}
	ofNames  = []string{`\{\} of \{\} pass`, `(at most \{\} characters|default \{\}|at \{\})`, `(suite|catalogue|judging) \{\} \{\}`, `against \{\} .*`, `ranks \{\}`}
)

// paths returns the files.
func (s sentenceFile) paths(t *testing.T) (out []string) {
	t.Helper()
	folder, names, several := strings.Cut(s.files, "/ ")
	if !several {
		folder, names = filepath.Split(s.files)
	}
	for name := range strings.FieldsSeq(names) {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, name))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s of %s: no files: %v", name, folder, err)
		}
		out = append(out, files...)
	}
	return out
}

var sentenceFiles = []sentenceFile{
	{files: "internal/catalog/ abstain.go env.go indexes.go open.go search.go settings.go sources.go wanted.go weights.go", all: true, but: toFiles},
	{files: "internal/catalog/ explain.go query.go", all: true},
	{files: "internal/catalog/ edits_apply.go edits_models.go edits.go suggest.go suggestask.go whatif.go", all: true, but: slices.Concat(toFiles, ofEdits)},
	{files: "internal/catalog/ effect.go effect_questions.go", all: true},
	{files: "internal/catalog/ confusable.go lint.go", all: true},
	{files: "internal/catalog/ sweep_asked.go curve.go sweep_expand.go sweep.go", all: true},
	{files: "internal/catalog/ learn_expected.go", all: true},
	{files: "internal/catalog/ file_load.go routes.go", all: true, but: toFiles},
	{files: "internal/suite/ edits.go edits_write.go", all: true, but: slices.Concat(toFiles, ofFormats)},
	{files: "internal/provider/ embed_cache.go embed_client.go embed_form.go embed_open.go embedder.go embed_listing.go embed_lock_other.go embed_lock_unix.go embed_models.go embed_record.go", all: true, but: slices.Concat(ofFormats, []string{`nothing is kept.*`})},
	{files: "panel/routing/*.go", all: true, but: ofAdvice},
	{files: "retrieve/ additive.go agents.go build.go calibrate.go catalogue.go entry.go explain.go index.go likeness.go match.go options.go own.go pipeline.go rerank.go search.go", all: true, but: ofFormats},
	{files: "retrieve/ catalogue_read.go", all: true},
	{files: "retrieve/learn/ check.go choose.go edit.go leak.go prompt.go rewrite.go split.go", all: true, but: ofFormats},
	{files: "retrieve/ routes_features.go routes_learned.go routes_model.go routes_pattern.go routes_rules.go"},
	{files: "retrieve/learn/ knobs.go search.go trial.go tuned.go vectors.go"},
	{files: "retrieve/ vector_matrix.go vector_ngram.go vector_sketch.go"},
	{files: "internal/app/select.go", all: true},
	{files: "internal/app/decisions.go", all: true},
	{files: "internal/app/semantic.go"},
	{files: "internal/account/*.go"},
	{files: "internal/library/ catalogues.go diff.go document.go form.go library.go"},
	{files: "internal/doc/ decode.go json.go json_write.go lists.go node.go notes.go path.go position.go file.go yaml.go yaml_write.go"},
	{files: "internal/suite/dialect/ frame.go message.go node.go read.go text.go tools.go yaml.go yaml_write.go", but: []string{`write suite: .*`, `.* is not carried: the format has no place for .*`, `version, flags, .*`}},
	{files: "internal/suite/dialect/categories.go"},
	{files: "internal/suite/dialect/toolsuite.go"},
	{files: "internal/suite/dialect/dialect.go"},
	{files: "internal/suite/lint*.go"},
	{files: "internal/suite/load.go"},
	{files: "internal/suite/detect.go"},
	{files: "internal/provider/address.go"},
	{files: "internal/provider/open.go"},
	{files: "internal/app/words.go"},
	{files: "internal/app/probe.go"},
	{files: "internal/app/reach.go"},
	{files: "internal/app/settings.go", but: []string{`to check the gates.*`}},
	{files: "internal/app/start.go"},
	{files: "internal/job/times.go"},
	{files: "internal/server/*.go", but: slices.Concat(ofFormats, ofNames)},
	{files: "errors.go"},
}

// Calls and fields that make errors and notes.
var (
	speakingCalls = []string{
		"Errorf", "New", "Sprintf", "Invalid", "invalid", "Conflict", "conflict", "NewError", "Error400BadRequest", "Error415UnsupportedMediaType",
		"Error422UnprocessableEntity", "writeProblem", "refused", "refuse", "wrong", "fail", "problem", "note", "warn", "Notice", "append",
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
				if text = sentenceOf(text); !more || !isText || !severalWords.MatchString(text) || !all && !slices.Contains(known, of) {
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

// calledName returns the name of what is called, without its package.
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
