// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// table reads tests in a spreadsheet: one for each row. A column is a variable; a column with a
// name that begins with __ describes the test. Positions are those of the place that names the
// file.
func (p *promptfooReader) table(at Node, ref string) {
	b, _, err := p.read(ref)
	var rows [][]string
	if err == nil {
		r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
		r.FieldsPerRecord = -1
		if rows, err = r.ReadAll(); err == nil && len(rows) == 0 {
			err = fmt.Errorf("%s has no row with names of columns", ref)
		}
	}
	if err != nil {
		p.Report(at.Off, "file", ref, "", "%v", err)
		return
	}
	head := rows[0]
	for _, name := range head {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, "__") && !columnCarried(name) {
			p.NotCarried(at.Off, name, "the column %s has no place here", name)
		}
	}
	for _, row := range rows[1:] {
		p.test(Node{Raw: testOfRow(head, row), Off: at.Off})
	}
}

var expectedColumn = regexp.MustCompile(`^__expected\d*$`)

func columnCarried(name string) bool {
	return name == "__description" || name == "__threshold" || strings.HasPrefix(name, "__metadata:") ||
		expectedColumn.MatchString(name)
}

// testOfRow writes a row as a test.
func testOfRow(head, row []string) []byte {
	var vars, meta, test Record
	var asserts [][]byte
	for i, name := range head[:min(len(head), len(row))] {
		name = strings.TrimSpace(name)
		key, isMeta := strings.CutPrefix(name, "__metadata:")
		cell := row[i]
		switch {
		case isMeta:
			meta.Raw(key, Quote(cell))
		case expectedColumn.MatchString(name):
			if cell = strings.TrimSpace(cell); cell != "" {
				asserts = append(asserts, assertOfText(cell))
			}
		case name == "__description":
			test.Raw("description", Quote(cell))
		case name == "__threshold" && number.MatchString(cell):
			test.Raw("threshold", []byte(cell))
		case !strings.HasPrefix(name, "__"):
			vars.Raw(name, Quote(cell))
		}
	}
	test.Raw("vars", vars.Bytes())
	test.Raw("metadata", meta.Bytes())
	test.Raw("assert", Array(asserts))
	return test.Bytes()
}

var (
	number = regexp.MustCompile(`^(0|[1-9]\d*)(\.\d+)?$`)
	// shortAssert is an assertion in one text: contains-any(0.5): a, b.
	shortAssert = regexp.MustCompile(`(?s)^((?:not-)?[a-z][a-z0-9:-]*?)(?:\((\d+(?:\.\d+)?)\))?(?::\s*(.*))?$`)
	// shortNames maps short names to types.
	shortNames = map[string]string{"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
	// shortTypes are the types that such a text may name; any other text is the whole answer.
	shortTypes = []string{
		"answer-relevance", "bleu", "classifier", "contains", "contains-all", "contains-any", "contains-html",
		"contains-json",
		"contains-sql", "contains-xml", "context-faithfulness", "context-recall", "context-relevance",
		"conversation-relevance",
		"cost", "equals", "factuality", "finish-reason", "g-eval", "gleu", "guardrails", "icontains", "icontains-all",
		"icontains-any", "is-html", "is-json", "is-refusal", "is-sql", "is-valid-function-call",
		"is-valid-openai-function-call",
		"is-valid-openai-tools-call", "is-xml", "javascript", "latency", "levenshtein", "llm-rubric", "meteor",
		"model-graded-closedqa", "model-graded-factuality", "moderation", "perplexity", "perplexity-score",
		"pi", "python",
		"regex", "rouge-n", "ruby", "search-rubric", "similar", "starts-with", "tool-call-f1", "trace-error-spans",
		"trace-span-count", "trace-span-duration", "webhook", "word-count",
	}
)

// assertOfText writes an assertion that is one text in a cell.
func assertOfText(text string) []byte {
	var a Record
	m := shortAssert.FindStringSubmatch(text)
	if m != nil && shortNames[m[1]] != "" {
		m[1] = shortNames[m[1]]
	}
	if m == nil || !slices.Contains(shortTypes, strings.TrimPrefix(m[1], "not-")) {
		a.Raw("type", Quote("equals"))
		a.Raw("value", Quote(text))
		return a.Bytes()
	}
	a.Raw("type", Quote(m[1]))
	if m[2] != "" {
		a.Raw("threshold", []byte(m[2]))
	}
	switch value := strings.TrimSpace(m[3]); {
	case value == "":
	case strings.HasSuffix(m[1], "contains-any") || strings.HasSuffix(m[1], "contains-all") || m[1] == "tool-call-f1":
		var items []string
		for part := range strings.SplitSeq(value, ",") {
			items = append(items, strings.TrimSpace(part))
		}
		a.Raw("value", QuoteAll(items))
	default:
		a.Raw("value", Quote(value))
	}
	return a.Bytes()
}
