// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/mutate"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
)

// damaged is a store with two equal runs, and a connection of its own to its tables.
type damaged struct {
	*app.App
	sql   *sql.DB
	runs  [2]string
	cells int
}

// whole are the parts of a cell with all that a trace can have.
const (
	wholeTrace = `{"case_id":"c0","target":"offline/lexical","repeat":0,"outcome":"called","turns":[{"role":"assistant","content":"I look.","reasoning":"Hm.",
		"calls":[{"tool":"weather_now","id":"1","args":{"city":"Oslo"},"args_raw":"{\"city\":\"Oslo\"}","repairs":["python_call"],"status":"ok","result":{"temp":3},"env":"mock",
		"guard":[{"rule":"size","action":"flag","detail":"long"}],"start_ms":2,"queue_ms":1,"exec_ms":3}]},{"role":"tool","content":"{\"temp\":3}","call_id":"1","tool":"weather_now"}],
		"answer":"Cold.","usage":{"input_tokens":9,"output_tokens":4,"cost_usd":0.01,"known":true},"model":"m","finish_reason":"stop","format":"PASS","notes":["n"],"tool_choice":"auto",
		"end":"answered","attempts":1,"started":"2026-01-02T03:04:05Z","wall_ms":12,"first_token_ms":3,"tool_ms":3}`
	wholeResult = `{"verdict":"fail","class":"wrong_argument","reason":"r","scores":[{"name":"overall","value":0.5},{"name":"arg_f1","value":null,"reason":"none"}],"plan":"p",
		"calls":[{"state":"wrong_args","expected":0,"actual":0,"want":["weather_now"],"want_args":{"city":"Rome"},"got":"weather_now","got_args":{"city":"Oslo"},
		"args":[{"path":"/city","expected":"Rome","actual":"Oslo","matched":false,"rule":"exact","similarity":0.2}],"violations":[{"path":"/x","keyword":"type","message":"m"}]}],
		"assertions":[{"name":"a","layer":"routing","state":"failed","reason":"r"}],"not_evaluated":1,"incidents":[{"rule":"size","call_id":"1","note":"n"}]}`
)

func newDamaged(t *testing.T, cases int) *damaged {
	t.Helper()
	d := newStored(t, cases)
	d.set(t,
		"UPDATE cells SET flags=flags&255, result=substr(result,1,length(result)-5), trace=substr(trace,1,length(trace)-5), exchanges=substr(exchanges,1,length(exchanges)-5)")
	d.set(t, "UPDATE runs SET manifest=substr(manifest,1,length(manifest)-5), totals=substr(totals,1,length(totals)-5)")
	d.set(t, "UPDATE suites SET head=substr(head,1,length(head)-5)")
	d.set(t, "UPDATE suite_chunks SET cases=substr(cases,1,length(cases)-5)")
	return d
}

// newStored is newDamaged as this version writes it, with checksums.
func newStored(t *testing.T, cases int) *damaged {
	t.Helper()
	dir := t.TempDir()
	var list []string
	for i := range cases {
		list = append(list,
			fmt.Sprintf(
				`{"id": "c%d", "prompt": "Weather in Oslo, %d?", "expected_tool": "weather_now", "expected_params": {"city": "Oslo"}, "tags": ["t%d"]}`, i, i, i%3))
	}
	text := `{"callvet": 1, "name": "cities", "tools": [{"name": "weather_now", "description": "Weather of a city.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}], "cases": [` + strings.Join(list, ",") + `]}`
	if err := os.WriteFile(filepath.Join(dir, "blob"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "runs.db")
	db, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	files := &uploads{dir: dir, known: map[string]string{"upload-1": "blob"}, written: map[string]string{}}
	d := &damaged{
		cells: cases,
		App: app.New(app.Config{
			Store: func(context.Context) (*store.DB, error) { return db, nil }, Files: files,
			Version: "test",
		}),
	}
	for i := range d.runs {
		s, err := runs.Start(t.Context(), d.App,
			as[app.RunRequest](t,
				`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "no_cache": true}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.runs[i] = s.Stored.ID
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if d.sql, err = sql.Open("sqlite", path); err != nil {
		t.Fatal(err)
	}
	d.sql.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = d.sql.Close() })
	return d
}

func (d *damaged) set(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := d.sql.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

// list reports whether the list has both runs.
func (d *damaged) list(t *testing.T, what string) {
	t.Helper()
	if list, err := results.List(t.Context(), d.App, 0); err != nil || len(list) != 2 {
		t.Errorf("%s: the list has %d runs: %v", what, len(list), err)
	}
}

// read reads a run in every way: each attempt counts once.
func (d *damaged) read(t *testing.T, run, what string) {
	t.Helper()
	ctx := t.Context()
	v, err := runs.View(ctx, d.App, results.ViewRequest{Run: run}, nil)
	if err != nil {
		t.Errorf("%s: view: %v", what, err)
		return
	}
	if c := v.View.Panels.Targets[0].Overall.Verdicts; c.Pass+c.Fail+c.Error+c.NotRun != d.cells {
		t.Errorf("%s: %+v, want %d attempts", what, c, d.cells)
	}
	for _, form := range []string{"html", "md", "xml", "csv", "json", "jsonl", "txt"} {
		face, err := report.ByPath("x." + form)
		if err == nil {
			err = face(io.Discard, v.View)
		}
		if err != nil {
			t.Errorf("%s: %s: %v", what, form, err)
		}
	}
	rows := 0
	for row, err := range v.Rows(ctx, store.Filter{}) {
		if rows++; err != nil || row.Cell.Trace.Outcome == callvet.OutcomeAbstained {
			t.Errorf("%s: row %d: %v, %+v", what, rows, err, row.Cell)
			break
		}
	}
	if rows != d.cells {
		t.Errorf("%s: %d rows", what, rows)
	}
	for _, to := range append([]string{""}, traces.TraceExports()...) {
		var b bytes.Buffer
		if err := traces.Export(ctx, d.App, traces.ExportRequest{Run: run, To: to}, &b, nil); err != nil {
			t.Errorf("%s: export %q: %v", what, to, err)
		}
	}
	if _, err := results.ShowCase(ctx, d.App,
		results.CaseRequest{Run: run, Case: fmt.Sprintf("c%d", d.cells-1)}); err != nil {
		t.Errorf("%s: show: %v", what, err)
	}
	if _, err := traces.Score(ctx, d.App, traces.ScoreRequest{Run: run}, nil); err != nil {
		t.Errorf("%s: score: %v", what, err)
	}
	if _, err := traces.Diff(ctx, d.App,
		traces.DiffRequest{Base: app.Side{Run: d.runs[1]}, Candidate: app.Side{Run: run}},
		nil); err != nil {
		t.Errorf("%s: diff: %v", what, err)
	}
	if _, err := results.State(ctx, d.App, run); err != nil {
		t.Errorf("%s: state: %v", what, err)
	}
	feed, err := results.NewFeed(ctx, d.App, run)
	if err == nil {
		var list []report.Row
		if list, _, err = feed.Next(ctx, 0, d.cells+1); err == nil && len(list) != d.cells {
			err = fmt.Errorf("%d rows", len(list))
		}
	}
	if err != nil {
		t.Errorf("%s: feed: %v", what, err)
	}
}

// TestBadStoredCells changes the stored parts of every attempt of a run: each of them counts,
// and all that reads runs goes on.
func TestBadStoredCells(t *testing.T) {
	t.Parallel()
	const cases = 100
	count := mutate.Count(os.Getenv, 2*cases)
	d := newDamaged(t, cases)
	for round := 0; round*cases < count; round++ {
		var what []string
		i := 0
		for c := range mutate.Some([]byte(wholeTrace), cases/2, mutate.Huge(count), uint64(round)) {
			d.set(t, "UPDATE cells SET trace=?, result=? WHERE run=1 AND case_ix=?", c.Text, []byte(wholeResult), i)
			what = append(what, fmt.Sprintf("c%d: %s", i, c.String()))
			i++
		}
		for c := range mutate.Some([]byte(wholeResult), cases/2, mutate.Huge(count), uint64(round)) {
			d.set(t, "UPDATE cells SET trace=?, result=? WHERE run=1 AND case_ix=?", []byte(wholeTrace), c.Text, i)
			what = append(what, fmt.Sprintf("c%d: %s", i, c.String()))
			i++
		}
		name := fmt.Sprintf("round %d", round)
		d.list(t, name)
		if d.read(t, d.runs[0], name); t.Failed() {
			t.Log(strings.Join(what, "\n"))
			return
		}
	}
}

// TestBadStoredColumns puts values of other types into each column, a different one into each attempt.
func TestBadStoredColumns(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, 8)
	for _, column := range []string{
		"outcome", "verdict", "class", "case_id", "overall", "cost", "requests", "flags",
		"exchanges", "repeat",
	} {
		d.set(t, "UPDATE cells SET trace=?, result=? WHERE run=1", []byte(wholeTrace), []byte(wholeResult))
		for i, v := range []any{"", "x", int64(-1), 1e300, []byte{0xff}, strings.Repeat("y", 1<<16)} {
			d.set(t, "UPDATE cells SET "+column+"=? WHERE run=1 AND case_ix=?", v, i)
		}
		d.list(t, column)
		if d.read(t, d.runs[0], column); t.Failed() {
			return
		}
	}
}

// TestBadStoredRuns changes the stored data of a run and its suite: the list still has it, and the
// other run can be read.
func TestBadStoredRuns(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, 3)
	count := mutate.Count(os.Getenv, 200)
	for _, column := range []string{"manifest", "totals"} {
		var whole []byte
		if err := d.sql.QueryRow("SELECT " + column + " FROM runs WHERE num=1").Scan(&whole); err != nil ||
			!json.Valid(whole) {
			t.Fatal(err, string(whole))
		}
		for c := range mutate.Some(whole, count/2, mutate.Huge(count), 3) {
			d.set(t, "UPDATE runs SET "+column+"=? WHERE num=1", c.Text)
			d.list(t, column+" "+c.String())
			_, _ = runs.View(t.Context(), d.App, results.ViewRequest{Run: d.runs[0]}, nil) // may be refused
			_, _, _ = results.Line(t.Context(), d.App, d.runs[0])
			_, _ = results.State(t.Context(), d.App, d.runs[0])
			if t.Failed() {
				return
			}
		}
		d.set(t, "UPDATE runs SET "+column+"=? WHERE num=1", whole)
	}
	d.read(t, d.runs[1], "the other run")
}

// TestLostCaseCounts: attempts at a case that cannot be read are errors, and no gate passes for
// them.
func TestLostCaseCounts(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, 4)
	d.set(t, `UPDATE suite_chunks SET cases=CAST(replace(CAST(cases AS TEXT), '"id":"c2"', '"id":7') AS BLOB)`)
	v, err := runs.View(t.Context(), d.App, results.ViewRequest{Run: d.runs[0]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := v.View.Panels.Targets[0].Overall.Verdicts; c.Error != 1 || c.Pass+c.Fail != 3 {
		t.Errorf("%+v", c)
	}
}

// TestTargetsOfNoManifest: targets known only from attempts get their own names.
func TestTargetsOfNoManifest(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, 4)
	d.set(t, "UPDATE runs SET manifest='no JSON' WHERE num=1")
	d.set(t, "UPDATE cells SET target_ix=2, repeat=1 WHERE run=1 AND case_ix=3")
	v, err := runs.View(t.Context(), d.App, results.ViewRequest{Run: d.runs[0]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range v.View.Panels.Targets {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"offline/lexical", "target 2", "offline/lexical target 3"}, names); diff != "" ||
		v.View.Panels.Repeats != 2 {
		t.Errorf("%d repeats, %s", v.View.Panels.Repeats, diff)
	}
}

// TestUnevenRepeats: a run is uneven where a case has its own number of attempts.
func TestUnevenRepeats(t *testing.T) {
	t.Parallel()
	for own, uneven := range map[string]bool{"{}": false, `{"1":3}`: true} {
		d := newDamaged(t, 4)
		d.set(t, "UPDATE runs SET manifest=json_set(CAST(manifest AS TEXT), '$.own_repeats', json(?)) WHERE num=1", own)
		v, err := runs.View(t.Context(), d.App, results.ViewRequest{Run: d.runs[0]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := v.View.Panels; p.Uneven != uneven || (p.Repeats == 3) != uneven {
			t.Errorf("%s: uneven %t, %d repeats", own, p.Uneven, p.Repeats)
		}
	}
}

// TestFilterByReason: attempts are found by why they are unparseable or errors, and by the earlier
// names of classes, also where the store has those.
func TestFilterByReason(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, 6)
	set := func(at int, outcome, verdict, class, more string) {
		d.set(t, "UPDATE cells SET outcome=?, verdict=?, class=?, trace=?, result=? WHERE run=1 AND case_ix=?", outcome,
			verdict, class,
			fmt.Appendf(nil, `{"case_id":"c%d","target":"offline/lexical","outcome":%q,"usage":{}%s}`, at, outcome,
				more), fmt.Appendf(nil, `{"verdict":%q,"class":%q}`, verdict, class), at)
	}
	set(0, "unparseable", "fail", "unparseable", `,"reason":"token_limit"`)
	set(1, "unparseable", "fail", "unparseable", `,"reason":"empty_answer"`)
	set(2, "error", "error", "provider", `,"fault":{"kind":"content_filter","message":"m"}`)
	set(3, "called", "fail", "tool_hallucination", "")
	set(4, "called", "fail", "argument_hallucination", "")
	d.set(t, "UPDATE cells SET trace='no JSON' WHERE run=1 AND case_ix=5")
	for _, c := range []struct {
		name    string
		reasons []string
		classes []callvet.Class
		want    []string
	}{
		{"a reason", []string{"token_limit"}, nil, []string{"c0/0 fail"}},
		{"a kind of error", []string{"content_filter"}, nil, []string{"c2/0 error"}},
		{"two of them", []string{"empty_answer", "lost_record"}, nil, []string{"c1/0 fail", "c5/0 error"}},
		{
			"with a class",
			[]string{"empty_answer", "content_filter"},
			[]callvet.Class{"provider"},
			[]string{"c2/0 error"},
		},
		{"the name of a class", nil, []callvet.Class{"unknown_tool"}, []string{"c3/0 fail"}},
		{"its earlier name", nil, []callvet.Class{"tool_hallucination"}, []string{"c3/0 fail"}},
		{"the earlier name of the other one", nil, []callvet.Class{"argument_hallucination"}, []string{"c4/0 fail"}},
		{"none has it", []string{"refusal"}, nil, nil},
	} {
		for range 2 { // the second time from what is kept
			got, _ := attemptNames(t, d.App,
				results.AttemptsRequest{Run: d.runs[0], Reasons: c.reasons, Classes: c.classes})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: (-want +got):\n%s", c.name, diff)
			}
		}
	}
	if _, err := results.Attempts(t.Context(), d.App,
		results.AttemptsRequest{Run: d.runs[0], Reasons: []string{"tokens"}}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("an unknown reason: %v", err)
	}
	v, err := runs.View(t.Context(), d.App, results.ViewRequest{Run: d.runs[0]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range v.View.Panels.Targets[0].Overall.Reasons {
		_, page := attemptNames(t, d.App, results.AttemptsRequest{Run: d.runs[0], Reasons: []string{r.Reason}})
		if n += r.N; page.Total != r.N {
			t.Errorf("%s: counted %d, found %d", r.Reason, r.N, page.Total)
		}
	}
	if n != 4 {
		t.Errorf("%d attempts have a reason, want 4", n)
	}
}

// TestChecksums: what a damaged bit makes of a stored run is lost, counted and named, however well it reads; a session
// that goes on asks the attempt again.
func TestChecksums(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query   string
		problem string
		again   bool // the columns show it, so a resumed session runs it again
	}{
		"another verdict": {
			"UPDATE cells SET verdict='fail', class='wrong_tool' WHERE run=1 AND case_ix=2",
			"1 attempt cannot be read", true,
		},
		"another score": {"UPDATE cells SET overall=0.5 WHERE run=1 AND case_ix=2", "1 attempt cannot be read", true},
		"another outcome": {
			"UPDATE cells SET outcome='abstained' WHERE run=1 AND case_ix=2",
			"1 attempt cannot be read", true,
		},
		"another case": {
			"UPDATE cells SET case_id='c3' WHERE run=1 AND case_ix=2",
			"1 attempt cannot be read", true,
		},
		"another cost": {"UPDATE cells SET cost=9 WHERE run=1 AND case_ix=2", "1 attempt cannot be read", true},
		"another result": {
			"UPDATE cells SET result=replace(result, 'pass', 'fail') WHERE run=1 AND case_ix=2",
			"1 attempt cannot be read", false,
		},
		"another answer": {
			"UPDATE cells SET trace=replace(trace, 'Oslo', 'Bslo') WHERE run=1 AND case_ix=2",
			"1 attempt cannot be read", false,
		},
		"another manifest": {
			"UPDATE runs SET manifest=replace(manifest, 'lexical', 'lexicam') WHERE num=1",
			"read manifest of run", false,
		},
		"another suite": {"UPDATE suites SET head=replace(head, 'weather', 'weathes')", "read suite of run", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newStored(t, 6)
			d.set(t, c.query)
			v, err := runs.View(t.Context(), d.App, results.ViewRequest{Run: d.runs[0]}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if doc := v.View.Document(); !strings.Contains(doc.Problem, c.problem) {
				t.Errorf("problem %q", doc.Problem)
			}
			errors := strings.Count(c.problem, "1 attempt")
			if n := v.View.Panels.Targets[0].Overall.Verdicts; n.Error != errors || n.Pass != 6-errors {
				t.Errorf("%+v", n)
			}
			if !c.again {
				return
			}
			d.set(t, "UPDATE runs SET status='interrupted' WHERE num=1")
			s, err := runs.Resume(t.Context(), d.App, runs.ResumeRequest{Run: d.runs[0]}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
			if v, err = runs.View(t.Context(), d.App, results.ViewRequest{Run: d.runs[0]}, nil); err != nil ||
				v.View.Panels.Targets[0].Overall.Verdicts.Pass != 6 {
				t.Errorf("after it went on: %+v, %v", v.View.Panels.Targets[0].Overall.Verdicts, err)
			}
		})
	}
}

// TestDamagedRun: a run with an unreadable manifest, suite or attempts is shown with its readable
// parts, its problem names the missing ones, and gates refuse it or are inconclusive.
func TestDamagedRun(t *testing.T) {
	t.Parallel()
	const gates = "gates: [{metric: pass_rate, at_least: 0.01, min_n: 1}, {metric: error_rate, at_most: 0.99, min_n: 1}]"
	for name, c := range map[string]struct {
		query      string
		counted    int    // attempts that have a place
		problem    string // of the document
		list, lost bool   // the list has a problem, too; records are lost
		refused    bool   // by gates
	}{
		"whole": {query: "UPDATE runs SET name='x' WHERE num=1", counted: 6},
		"a manifest that is no JSON": {
			query:   "UPDATE runs SET manifest='{\"version\": 1, \"targets\"' WHERE num=1",
			counted: 6, problem: "read manifest of run", list: true, refused: true,
		},
		"a manifest of another type": {
			query: "UPDATE runs SET manifest='[1]' WHERE num=1", counted: 6,
			problem: "read manifest of run", list: true, refused: true,
		},
		"a manifest without targets": {
			query: "UPDATE runs SET manifest='{}' WHERE num=1", counted: 6,
			problem: "it names no target", list: true, refused: true,
		},
		"an empty manifest": {
			query: "UPDATE runs SET manifest='' WHERE num=1", counted: 6,
			problem: "read manifest of run", list: true, refused: true,
		},
		"the head of the suite": {
			query: "UPDATE suites SET head='no JSON'", counted: 6,
			problem: "read suite of run", refused: true,
		},
		"an attempt": {
			query:   "UPDATE cells SET trace='no JSON' WHERE run=1 AND case_ix=2",
			counted: 6, problem: "1 attempt cannot be read",
		},
		"an attempt of a target not there": {
			query:   "UPDATE cells SET target_ix=7 WHERE run=1 AND case_ix=2",
			counted: 5, problem: `1 record is lost: an attempt at case "c2" has the target 7 of 1`, lost: true,
		},
		"an attempt of the next target": {
			query:   "UPDATE cells SET target_ix=1 WHERE run=1 AND case_ix=2",
			counted: 5, problem: "has the target 1 of 1", lost: true,
		},
		"an attempt of a target -1": {
			query:   "UPDATE cells SET target_ix=-1 WHERE run=1 AND case_ix=2",
			counted: 5, problem: "1 record is lost", lost: true,
		},
		"an attempt of no target": {
			query:   "UPDATE cells SET target_ix='x' WHERE run=1 AND case_ix=2",
			counted: 5, problem: "has the target x of 1", lost: true,
		},
		"an attempt at a case not there": {
			query:   "UPDATE cells SET case_ix=99 WHERE run=1 AND case_ix=2",
			counted: 5, problem: "the case 99 of 6", lost: true,
		},
		"an attempt at no case": {
			query:   "UPDATE cells SET case_ix='x' WHERE run=1 AND case_ix=2",
			counted: 5, problem: "the case x of 6", lost: true,
		},
		"a manifest with a case not there":  {query: `UPDATE runs SET manifest=json_set(CAST(manifest AS TEXT), '$.cases', json('[0,99]')) WHERE num=1`, counted: 6, problem: "it has a case that the suite does not have", refused: true},
		"a manifest with a seed of a text":  {query: `UPDATE runs SET manifest=json_set(CAST(manifest AS TEXT), '$.seed', 'x') WHERE num=1`, counted: 6, problem: "read manifest of run", list: true, refused: true},
		"targets of a manifest are no list": {query: `UPDATE runs SET manifest=json_set(CAST(manifest AS TEXT), '$.targets', 7) WHERE num=1`, counted: 6, problem: "read manifest of run", list: true, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDamaged(t, 6)
			ctx, run := t.Context(), d.runs[0]
			d.set(t, c.query)
			v, err := runs.View(ctx, d.App, results.ViewRequest{Run: run}, nil)
			if err != nil {
				t.Fatal(err)
			}
			doc := v.View.Document()
			if c.problem == "" && doc.Problem != "" || !strings.Contains(doc.Problem, c.problem) || c.problem != "" &&
				!slices.Contains(doc.Warnings, doc.Problem) {
				t.Errorf("problem %q, warnings %q", doc.Problem, doc.Warnings)
			}
			if v := doc.Panels.Targets[0].Overall.Verdicts; v.Pass+v.Fail+v.Error != c.counted ||
				v.NotRun != 6-c.counted || doc.Panels.Targets[0].Name != "offline/lexical" ||
				(doc.Panels.Lost.Records() == 1) != c.lost {
				t.Errorf("%+v of %s, lost %+v", v, doc.Panels.Targets[0].Name, doc.Panels.Lost)
			}
			names, page := attemptNames(t, d.App, results.AttemptsRequest{Run: run})
			if len(names) != c.counted || page.All != c.counted || page.Total != c.counted {
				t.Errorf("the list has %d of %d: %v", page.Total, page.All, names)
			}
			if g, err := results.NewGrid(ctx, d.App, results.GridRequest{Run: run}); err != nil || len(g.Items) == 0 {
				t.Errorf("the grid: %+v, %v", g, err)
			}
			if _, err := results.ShowCase(ctx, d.App, results.CaseRequest{Run: run, Case: "c1"}); err != nil {
				t.Errorf("a case: %v", err)
			}
			_, line, err := results.Line(ctx, d.App, run)
			if err != nil || (line.Problem != "") != c.list || line.Cells.Pass+line.Cells.Fail != 6 {
				t.Errorf("the line of the list: %+v, %v", line, err)
			}
			list, err := results.List(ctx, d.App, 0)
			if err != nil || len(list) != 2 || list[0].Problem != "" {
				t.Errorf("the list: %+v, %v", list, err)
			}
			got, err := traces.Gate(ctx, d.With(app.Uploads{"g": []byte(gates)}),
				traces.GateRequest{Side: app.Side{Run: run}, Gates: "g"}, nil)
			switch {
			case c.refused:
				if !errors.Is(err, callvet.ErrConflict) {
					t.Errorf("gates: %+v, %v", got, err)
				}
			case err != nil:
				t.Errorf("gates: %v", err)
			case (c.problem != "") != (got.Report.Verdict == runs.Inconclusive):
				t.Errorf("gates: %s", got.Report.Verdict)
			}
			if v, err := runs.View(ctx, d.App, results.ViewRequest{Run: d.runs[1]}, nil); err != nil ||
				v.View.Problem != "" &&
					!strings.Contains(v.View.Problem, "suite") {
				t.Errorf("the other run: %v", err)
			}
		})
	}
}
