// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/callvet/callvet"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Update is flag -update, for the tests of both packages.
var Update = flag.Bool("update", false, "write the golden files")

// golden compares with testdata/name, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *Update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got), -update writes it:\n%s", name, d)
	}
}

func write(t *testing.T, f Face, v *View) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// faces of files, by the extension that chooses them.
var faces = []string{"run.html", "run.md", "run.xml", "run.json", "run.jsonl", "run.csv", "run.txt"}

func TestFaces(t *testing.T) {
	t.Parallel()
	for _, name := range faces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := ByPath(name)
			if err != nil {
				t.Fatal(err)
			}
			got := write(t, f, sampleView())
			golden(t, name, got)
			if !utf8.Valid(got) || bytes.ContainsAny(got, "\x1b\x00\x07") || bytes.Contains(got, []byte("\u202e")) &&
				filepath.Ext(name) != ".json" && filepath.Ext(name) != ".jsonl" {
				t.Errorf("%s carries control characters", name)
			}
			if again := write(t, f, sampleView()); !bytes.Equal(got, again) {
				t.Errorf("%s is not deterministic", name)
			}
		})
	}
	if _, err := ByPath("run.pdf"); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("pdf: %v", err)
	}
}

func TestFacesOfNothing(t *testing.T) {
	t.Parallel()
	for _, name := range faces {
		f, _ := ByPath(name)
		if got := write(t, f, &View{ID: "r"}); bytes.Contains(got, []byte("NaN")) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestFacesReportReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	v := sampleView()
	v.Cells = func(...callvet.Verdict) iter.Seq2[Row, error] {
		return func(yield func(Row, error) bool) { yield(Row{}, broken) }
	}
	for _, name := range faces {
		f, _ := ByPath(name)
		if err := f(io.Discard, v); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOtherScreens(t *testing.T) {
	t.Parallel()
	v := sampleView()
	var rows []Row
	for r := range v.Cells() {
		if r.Case.ID == "flight-date" || r.Case.ID == "hostile-text" {
			rows = append(rows, r)
		}
	}
	cents := 0.42
	runs := []RunSummary{
		{
			ID: "r-sample", Created: v.Created, Suite: "travel 3", Targets: []string{"openai/demo"}, Status: "done",
			Cells: v.Panels.Targets[0].Overall.Verdicts, Pass: RateOf(v.Panels.Targets[0].Overall.Verdicts),
			CostUSD: &cents,
		},
		{ID: "r-old", Name: "before", Created: v.Created.Add(-time.Hour), Suite: "travel 3", Status: "interrupted"},
	}
	for name, draw := range map[string]func(io.Writer) error{
		"show.txt":   func(w io.Writer) error { return Attempts(w, v, rows, TerminalOptions{Width: 100}) },
		"runs.txt":   func(w io.Writer) error { return Runs(w, runs, time.UTC, TerminalOptions{Width: 120}) },
		"diff.txt":   func(w io.Writer) error { return Comparison(w, v.Diff, TerminalOptions{Width: 100}) },
		"narrow.txt": func(w io.Writer) error { return Terminal(w, v, TerminalOptions{Width: 60, MaxFailures: 2}) },
		"color.txt": func(w io.Writer) error {
			return Terminal(w, v, TerminalOptions{Width: 200, Color: true, MaxFailures: 1})
		},
	} {
		var b bytes.Buffer
		if err := draw(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		golden(t, name, b.Bytes())
	}
}

func TestNarrowTablesFit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Terminal(&b, sampleView(), TerminalOptions{Width: 72}); err != nil {
		t.Fatal(err)
	}
	for l := range strings.SplitSeq(b.String(), "\n") {
		if n := utf8.RuneCountInString(l); n > 72 && !strings.HasPrefix(l, "  callvet") {
			t.Errorf("%d columns: %s", n, l)
		}
	}
}

// TestListsCountOmissions: a list that is cut has a note with the number left out.
func TestListsCountOmissions(t *testing.T) {
	t.Parallel()
	v := sampleView()
	kinds := make([]panel.UnevaluatedKind, maxKinds+1)
	evidence := make([]string, maxKinds+2)
	for i := range evidence {
		evidence[i] = fmt.Sprintf("evidence %d", i)
	}
	for i := range kinds {
		kinds[i] = panel.UnevaluatedKind{Name: fmt.Sprintf("kind %d", i), Reason: "none", N: 1}
	}
	v.Panels.Targets[0].NotEvaluated = kinds
	v.Panels.Findings = []panel.Finding{{Code: "X", Title: "x", Evidence: evidence}}
	md := string(write(t, Markdown, v))
	for _, left := range []string{": … and 1 more kind\n", "  - … and 2 more pieces of evidence\n"} {
		if !strings.Contains(md, left) {
			t.Errorf("Markdown does not say %q", left)
		}
	}
	text := string(write(t, func(w io.Writer, v *View) error { return Terminal(w, v, TerminalOptions{}) }, v))
	if !strings.Contains(text, "… and 1 more kind\n") {
		t.Error("the terminal does not say what it left out")
	}
}

func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	v := bigView(1000)
	long := make([]string, 2000)
	for i := range long {
		long[i] = strings.Repeat("a weakness ", 1000)
	}
	for range 200 {
		v.JudgeReports = append(v.JudgeReports, JudgeReport{
			Judge: "j", Target: "t",
			JudgeReport: &callvet.JudgeReport{Grade: "F", Weaknesses: long},
		})
	}
	if n := len(write(t, Markdown, v)); n > plain.MaxMarkdown {
		t.Errorf("Markdown has %d bytes", n)
	}
	page := write(t, HTML, v)
	if len(page) > maxHTMLBytes+2<<20 {
		t.Errorf("HTML has %d bytes", len(page))
	}
	for _, said := range []string{
		"the first 300 shown", "300 of 1,000 attempts that did not pass are on this page",
		"500 of 1,000 passes are on this page", `id="list" data-total="1000"`, "The first 200 of 2,000 cases.",
	} {
		if !bytes.Contains(page, []byte(said)) {
			t.Errorf("the page does not say %q", said)
		}
	}
	var b bytes.Buffer
	if err := Terminal(&b, v, TerminalOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\n… and 997 more: callvet show r-sample") {
		t.Error("the terminal does not say what it left out")
	}
	v.All = "" // of a server
	var md bytes.Buffer
	b.Reset()
	if err := errors.Join(Terminal(&b, v, TerminalOptions{}), Markdown(&md, v)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\n… and 997 more\n") ||
		!strings.Contains(md.String(), " more that did not pass\n") {
		t.Error("without a line of a shell the terminal or Markdown names one, or says nothing")
	}
}

// TestAttemptsAreBounded: the text of an attempt is bounded in every face, and what is left out is
// counted. Differences are shown before equal parts.
func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	var turns []callvet.Turn
	list := make([]callvet.Call, 120)
	for i := range list {
		list[i] = callvet.Call{Tool: "book_hotel", Args: raw(`{"city":"Faro"}`)}
	}
	for i := range 5000 {
		turns = append(turns, said(callvet.RoleAssistant, fmt.Sprint("turn ", i)))
	}
	turns = append(turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: list})
	wide := callvet.CallMatch{State: callvet.StatePartial, Want: []string{"book_hotel"}, Got: "book_hotel"}
	for i := range 3000 {
		wide.Args = append(wide.Args,
			callvet.ArgDiff{
				Path: fmt.Sprint("k", i), Expected: raw("1"), Actual: raw("1"), Matched: i != 2999,
				Rule: "exact",
			})
		wide.Violations = append(wide.Violations, callvet.Violation{Path: fmt.Sprint("/k", i), Message: "unknown"})
	}
	matches := []callvet.CallMatch{wide}
	for range 2000 {
		matches = append(matches,
			callvet.CallMatch{State: callvet.StateMatched, Want: []string{"book_hotel"}, Got: "book_hotel"})
	}
	matches = append(matches, callvet.CallMatch{State: callvet.StateMissing, Want: []string{"last_tool"}})
	cases := sampleCases()[:2]
	cell := func(i int, v callvet.Verdict) callvet.Cell {
		return callvet.Cell{
			Case:   i,
			Trace:  callvet.Trace{CaseID: cases[i].ID, Outcome: callvet.OutcomeCalled, Turns: turns},
			Result: callvet.Result{Verdict: v, Class: callvet.ClassWrongArgs, Calls: matches},
		}
	}
	cells := []callvet.Cell{cell(0, callvet.VerdictFail), cell(1, callvet.VerdictPass)}
	v := viewOf(cases, cells)
	all := func(w io.Writer, v *View) error {
		return Attempts(w, v, []Row{{Case: &cases[0], Cell: &cells[0]}}, TerminalOptions{})
	}
	compared := []string{
		"… and 1,952 more calls", "… and 2,900 more arguments",
		"… and 2,980 more violations of the schema", "k2999", "last_tool",
	}
	talked := []string{"… and 4,801 more turns", "… and 70 more calls", "turn 0", "turn 4999"}
	for name, f := range map[string]struct {
		face Face
		says []string
	}{
		"HTML":     {HTML, slices.Concat(compared, talked)},
		"attempts": {all, slices.Concat(compared, talked)},
		"Markdown": {Markdown, compared},
		"terminal": {func(w io.Writer, v *View) error { return Terminal(w, v, TerminalOptions{}) }, compared},
	} {
		text := string(write(t, f.face, v))
		if len(text) > 200<<10 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		for _, s := range f.says {
			if !strings.Contains(text, s) {
				t.Errorf("%s does not say %q", name, s)
			}
		}
	}
}

func TestPageIsHarmless(t *testing.T) {
	t.Parallel()
	page := string(write(t, HTML, sampleView()))
	for _, bad := range []string{"<script>alert", "<img src=x", "onerror=alert(1)>", "</script><b>", "\u202e"} {
		if strings.Contains(page, bad) {
			t.Errorf("page contains %q", bad)
		}
	}
	if strings.Count(page, "<script") != 1 || strings.Contains(page, " style=") {
		t.Error("the page needs more than its policy allows")
	}
}

func TestJSONFaceIsReadable(t *testing.T) {
	t.Parallel()
	var doc struct {
		Document
		Cells []Record `json:"cells"`
	}
	if err := json.Unmarshal(write(t, JSON, sampleView()), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Version != FormatVersion || len(doc.Cells) != 9 {
		t.Errorf("version %d, %d cells", doc.Version, len(doc.Cells))
	}
	for _, c := range doc.Cells {
		if c.Verdict == callvet.VerdictPass {
			t.Errorf("a pass among the cells: %+v", c)
		}
	}
}

func TestCSVAndJUnitAreWellFormed(t *testing.T) {
	t.Parallel()
	rows, err := csv.NewReader(bytes.NewReader(write(t, CSV, sampleView()))).ReadAll()
	if err != nil || len(rows) != 15 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	var suites struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(write(t, JUnit, sampleView()), &suites); err != nil {
		t.Fatal(err)
	}
	if len(suites.Suites) != 1 || suites.Suites[0].Tests != 7 || suites.Suites[0].Failures != 3 ||
		suites.Suites[0].Errors != 1 {
		t.Errorf("%+v", suites)
	}
}

func TestTextsAreSafeWhateverTheyAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s") + string(rapid.SliceOf(rapid.Byte()).Draw(t, "b"))
		c := plain.Clean(s)
		if !utf8.ValidString(c) || strings.ContainsFunc(c, plain.Hidden) {
			t.Fatalf("clean(%q) = %q", s, c)
		}
		if plain.Clean(c) != c {
			t.Fatalf("clean is not idempotent on %q", s)
		}
		if x := cell(s); x != "" && strings.ContainsRune("=+-@\t\r", rune(x[0])) {
			t.Fatalf("cell(%q) = %q", s, x)
		}
		if strings.ContainsAny(plain.Markdown(s), "<>@|`\n") &&
			strings.Count(plain.Markdown(s), "`") != strings.Count(plain.Markdown(s), "\\`") {
			t.Fatalf("plain.Markdown(%q) = %q", s, plain.Markdown(s))
		}
		if err := xml.Unmarshal([]byte("<a><![CDATA["+strings.ReplaceAll(plain.XML(s), "]]>", "")+"]]></a>"),
			new(struct{})); err != nil {
			t.Fatalf("plain.XML(%q): %v", s, err)
		}
		a, b := parts(s, rapid.String().Draw(t, "other"))
		if a.Before+a.Part+a.After == "" && s != "" || !strings.HasPrefix(s, a.Before) || a.Before != b.Before &&
			len(s) < maxHTMLText && a.Part != "" {
			t.Fatalf("parts: %+v %+v", a, b)
		}
	})
}

func TestRates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		x    float64
		want string
	}{{1, "100.0 %"}, {0.99999, "99.9 %"}, {0, "0.0 %"}, {0.0001, "<0.1 %"}, {0.8249, "82.5 %"}} {
		if got := plain.Percent(tc.x); got != tc.want {
			t.Errorf("percent(%g) = %s, want %s", tc.x, got, tc.want)
		}
	}
	if got := plain.Rate(stats.Interval{}); got != "–" {
		t.Errorf("undefined rate is %s", got)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	tick := func(done int) Tick {
		return Tick{Done: done, Total: 1000, Failed: done / 10, CostUSD: 0.5, ETA: 90 * time.Second}
	}
	var tty, plain bytes.Buffer
	live := &Progress{W: &tty, TTY: true, Width: 80, Now: func() time.Time { return now }}
	log := &Progress{W: &plain, Now: func() time.Time { return now }}
	for i := range 1000 {
		live.Update(tick(i))
		log.Update(tick(i))
		now = now.Add(20 * time.Millisecond)
	}
	live.Finish()
	live.Update(tick(1000))
	if n := strings.Count(tty.String(), "\r"); n != 202 {
		t.Errorf("%d redraws in 20 seconds, want 200 and 2 to clear", n)
	}
	for l := range strings.SplitSeq(tty.String(), "\r") {
		if utf8.RuneCountInString(l) > 79 {
			t.Errorf("too wide: %q", l)
		}
	}
	if n := strings.Count(plain.String(), "\n"); n != 3 || strings.Contains(plain.String(), "\r") {
		t.Errorf("plain progress:\n%s", plain.String())
	}
	golden(t, "progress.txt", plain.Bytes())
}

// TestProgressIsNarrow: the counts are on a line of 40 columns, whatever else there is.
func TestProgressIsNarrow(t *testing.T) {
	t.Parallel()
	full := Tick{
		Done: 1234, Total: 20_000, Failed: 123, Errors: 12, CostUSD: 1.25, CostUnknown: true,
		ETA: 2 * time.Hour,
	}
	for _, tt := range []struct {
		tick Tick
		want string
	}{
		{full, "1,234/20,000  123 failed  12 errors"},
		{Tick{Done: 3, Total: 14, ETA: 9 * time.Second}, "3/14  21 %  0 failed  9 s left"},
		{Tick{Done: 100, Total: 1400, Of: "searches", ETA: 65 * time.Second}, "100/1,400 searches  1 min 05 s left"},
	} {
		if got := tt.tick.line(40); got != tt.want || utf8.RuneCountInString(got) > 39 {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	if got := full.line(120); !strings.HasSuffix(got,
		"1,234/20,000  6 %  123 failed  12 errors  ≥ $1.25  2 h 00 min left") {
		t.Errorf("wide: %q", got)
	}
}

// TestSentenceNamesTheBaseline: "all passed" is not above a table with a target that failed.
func TestSentenceNamesTheBaseline(t *testing.T) {
	t.Parallel()
	v := sampleView()
	v.Panels.Targets[0].Overall.Verdicts = panel.Verdicts{Pass: 6}
	v.Panels.Targets[0].Overall.NotEvaluated = panel.Unevaluated{}
	if got, want := v.Sentence(),
		"All 6 judged attempts of openai/demo passed. The baseline offline/lexical passed 2 of 6."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	v.Panels.Targets[0].Overall.Verdicts = panel.Verdicts{Pass: 1}
	if got, want := v.Sentence(),
		"The only judged attempt of openai/demo passed. The baseline offline/lexical passed 2 of 6."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSpacesAroundNames: a name with spaces is quoted, so that a reader sees why it is none of the
// offered tools.
func TestSpacesAroundNames(t *testing.T) {
	t.Parallel()
	m := callvet.CallMatch{State: callvet.StateExtra, Expected: -1, Got: " pay ", GotArgs: raw(`{"a":1}`)}
	if got := diffCall(&m).Lines[0].Actual; got != `" pay "({"a":1})` {
		t.Error(got)
	}
}

// TestGrid: the grid is made of verdicts alone. It has the first cases only, each with its outcome
// at every target.
func TestGrid(t *testing.T) {
	t.Parallel()
	v := &View{Suite: SuiteMeta{Cases: maxGridCases + 2}, Targets: []callvet.Target{{Name: "a"}, {Name: "b"}}}
	v.Cells = func(...callvet.Verdict) iter.Seq2[Row, error] {
		t.Error("whole attempts were read")
		return func(func(Row, error) bool) {}
	}
	v.Verdicts = func() iter.Seq2[Row, error] {
		return func(yield func(Row, error) bool) {
			for i := range v.Suite.Cases {
				for target, verdict := range []callvet.Verdict{callvet.VerdictPass, callvet.VerdictFail} {
					row := Row{
						Case: &callvet.Case{ID: fmt.Sprint("case ", i)},
						Cell: &callvet.Cell{Case: i, Target: target, Result: callvet.Result{Verdict: verdict}},
					}
					if !yield(row, nil) {
						return
					}
				}
			}
		}
	}
	p := newPage(v, nil)
	g := p.Grid()
	if p.err != nil || len(g.Rows) != maxGridCases {
		t.Fatal(p.err, len(g.Rows))
	}
	want := []GridCell{{Pass: 1, Judged: 1}, {Judged: 1}}
	for i, row := range g.Rows {
		if d := cmp.Diff(GridRow{fmt.Sprint("case ", i), want}, row); d != "" {
			t.Error(d)
		}
	}
}

// TestCallRemarks: who answered, the decision of the guard and the error are below a call.
func TestCallRemarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call callvet.Call
		want []string
	}{
		{callvet.Call{Env: callvet.EnvMock, Status: callvet.StatusOK}, nil},
		{
			callvet.Call{Env: callvet.Live("http", "https://a.example/x")},
			[]string{"answered by: live http https://a.example/x"},
		},
		{
			callvet.Call{Env: callvet.EnvMock, Status: callvet.StatusTimeout, Error: "slow\x1b[2J"},
			[]string{`✗ timeout: slow\u001b[2J`},
		},
		{
			callvet.Call{
				Env: callvet.EnvGuard, Error: "no",
				Guard: []callvet.Ruling{{Rule: "size", Action: callvet.RulingDeny, Detail: "9 > 8"}},
			},
			[]string{"guard: deny, size: 9 > 8", "✗ denied: no"},
		},
	} {
		if d := cmp.Diff(c.want, callRemarks(&c.call)); d != "" {
			t.Error(d)
		}
	}
}
