// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score"
)

// TestExcerptsByMarks: reading from mark to mark shows what reading all does, also
// where a task goes on behind a mark.
func TestExcerptsByMarks(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	var list []panel.Example
	for i := range 20_000 {
		fmt.Fprintf(&file, `{"task_id":"t%d","call_id":"c%d","tool":"f","args":{"n":%d}}`+"\n", i/3, i, i)
		if i%6000 == 3 {
			list = append(list, panel.Example{Kind: "weakest", Task: fmt.Sprint("t", i/3), Line: int64(i + 1)})
		}
	}
	blocks, err := trace.NewBlocks(bytes.NewReader(file.Bytes()), trace.Options{Block: 8 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var marks []measure.Mark
	for {
		b, err := blocks.Next(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		marks = append(marks, measure.Mark{Line: b.Line, Offset: b.Offset})
	}
	x := NewExhibitor(nil, redactor(t))
	want, err := x.fileExcerpts(io.NopCloser(bytes.NewReader(file.Bytes())), list, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.fileExcerpts(bytes.NewReader(file.Bytes()), list, marks)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(marks) < 50 {
		t.Error(len(marks), diff)
	}
	for i, text := range got {
		if n := bytes.Count([]byte(text), []byte("\n")); n != 3 {
			t.Errorf("example %d has %d lines: %s", i, n, text)
		}
	}
}

// TestExcerptsOfChangedFiles: a file that is another one by now is no reason to fail.
func TestExcerptsOfChangedFiles(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	var marks []measure.Mark
	for i := range 5000 {
		if i%50 == 0 {
			marks = append(marks, measure.Mark{Line: int64(i + 1), Offset: int64(file.Len())})
		}
		fmt.Fprintf(&file, `{"task_id":"t%d","tool":"f","args":{"n":%d}}`+"\n", i, i)
	}
	x := NewExhibitor(nil, redactor(t))
	list := []panel.Example{{Task: "t10", Line: 11}, {Task: "t4990", Line: 4991}}
	all := file.Bytes()
	for _, c := range []struct {
		text []byte
		want [2]bool
	}{
		{all, [2]bool{true, true}},
		{append(bytes.Clone(all), all...), [2]bool{true, true}},
		{all[:len(all)/2], [2]bool{true, false}},
		{all[:7], [2]bool{}},
		{nil, [2]bool{}},
		{bytes.Repeat([]byte("{\"\xff"), len(all)/3), [2]bool{}},
	} {
		got, err := x.fileExcerpts(bytes.NewReader(c.text), list, marks)
		if err != nil || (got[0] != "") != c.want[0] || (got[1] != "") != c.want[1] {
			t.Errorf("%d bytes: %q (%v), want %v", len(c.text), got, err, c.want)
		}
	}
}

// TestReasons: an excerpt lists the mistakes of its calls, and no sentence reveals a masked value.
func TestReasons(t *testing.T) {
	t.Parallel()
	scorer, _ := score.NewStepScorer(score.StepConfig{Tools: []callvet.Tool{{Name: "pay", Parameters: json.RawMessage(
		`{"type":"object","properties":{"sum":{"type":"integer","maximum":10},"api_key":{"type":"string","maxLength":3},
		"password":{"enum":["geheim-5","geheim-6"]}},"required":["sum"]}`,
	)}}})
	x := NewExhibitor(scorer, redactor(t))
	for _, c := range []struct {
		line           string
		contains, bars []string
	}{
		{
			line: `"args":{"sum":5},"status":"ok","result":{"n":1},"gold":{"args":{"sum":5},"result_check":"n == 1"}`,
			bars: []string{"✗"},
		},
		{
			line: `"args":{"sum":50},"status":"ok","result":{"n":1},"gold":{"args":{"sum":5},"result_check":"n == 2"}`,
			contains: []string{
				"✗ arguments break the schema at /sum", "✗ argument sum is 50, expected 5",
				"✗ the post-condition n == 2 does not hold",
			},
		},
		{
			line: `"args":{"sum":50,"api_key":"geheim-4711"},"gold":{"args":{"sum":5,"api_key":"geheim-4712"}}`,
			contains: []string{
				"✗ arguments break the schema: /sum maximum",
				"✗ argument api_key differs from the expected one", "✗ argument sum differs from the expected one",
			},
			bars: []string{"geheim"},
		},
		{
			line:     `"args":{"sum":5},"args_raw":"{\"sum\":5,\"api_key\":\"geheim-4711\"}"`,
			contains: []string{"✗ arguments break the schema: /api_key maxLength"}, bars: []string{"geheim"},
		},
		{
			line:     `"args":{"sum":5,"api_key":"geheim-4711"},"status":"timeout","gold":{"needed":false}`,
			contains: []string{"✗ the call was not needed", "✗ the tool did not answer in time"}, bars: []string{"geheim"},
		},
		{ // only what was emitted is recorded: it is shown as arguments are
			line:     `"args_raw":"{\"password\":\"geheim\",\"sum\":50}"`,
			contains: []string{"REDACTED", "✗ arguments break the schema: /sum maximum"}, bars: []string{"geheim"},
		},
		{ // broken: where the secret ends is not known
			line:     `"args_raw":"{\"sum\":50,\"password\":[\"geheim\",\"geheim-2\"]"`,
			contains: []string{`pay({"sum":50,"password":[REDACTED:secret])`}, bars: []string{"geheim"},
		},
		{
			line:     `"args":{"sum":5},"status":"ok","result":{"n":1},"gold":{"result_check":"password == \"geheim-47\" and n == 2"}`,
			contains: []string{`expected: password == "[REDACTED:secret]" and n == 2`}, bars: []string{"geheim"},
		},
		{ // nothing is left to mask, and the contract has it
			line:     `"args":{"sum":5,"password":""}`,
			contains: []string{"✗ arguments break the schema: /password enum"}, bars: []string{"geheim"},
		},
		{ // redacted values are not checked against the contract
			line:     `"args":{"sum":5,"password":"[REDACTED:secret]"}`,
			contains: []string{`pay({"sum":5,"password":"[REDACTED:secret]"})`}, bars: []string{"geheim", "✗ arguments"},
		},
		{ // names are no sentences
			line:     `"args":{"sum":5},"gold":{"args":{"sum":5,"a\n  ✗ b":1}}`,
			contains: []string{`✗ argument a\n  ✗ b is missing`},
		},
		{
			line:     `"args":{"sum":5,"secret":"geheim"},"gold":{"args":{"sum":5,"j@geheim.example":1}}`,
			contains: []string{"✗ argument [REDACTED:email] differs from the expected one"},
		},
		{
			line: `"args":{"sum":5},"status":"ok","result":{"password":"geheim-1"},"gold":{"result":{"password":"geheim-2"}}`,
			bars: []string{"geheim"},
		},
	} {
		got, err := x.fileExcerpts(strings.NewReader(`{"task_id":"t","tool":"pay",`+c.line+"}\n"),
			[]panel.Example{{Task: "t", Line: 1}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.contains {
			if !strings.Contains(got[0], want) {
				t.Errorf("no %q in\n%s", want, got[0])
			}
		}
		for _, bad := range c.bars {
			if strings.Contains(got[0], bad) {
				t.Errorf("%q in\n%s", bad, got[0])
			}
		}
	}
}

func redactor(t *testing.T) *redact.Redactor {
	t.Helper()
	red, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return red
}
