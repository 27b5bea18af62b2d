// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package losses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/callvet/callvet/verify/proof"
	"github.com/callvet/callvet/verify/serving"
)

// faces compares all outputs that show a run.
type faces struct {
	*proof.Check

	lab    *lab
	server *serving.Server
	loss   *loss

	id   string
	lost int
	// lower is the lower end of the interval over the judged attempts.
	lower float64
}

// report is a report of gates.
type report struct {
	Verdict  string `json:"verdict"`
	Verdicts []struct {
		Lost     int    `json:"lost_attempts"`
		Planned  int    `json:"planned"`
		Sentence string `json:"sentence"`
	} `json:"verdicts"`
}

// matches reports whether a gate has this verdict, the counts, and a sentence with them.
func (r *report) matches(verdict string, lost int) bool {
	return r.Verdict == verdict && len(r.Verdicts) == 1 && r.Verdicts[0].Lost == lost &&
		r.Verdicts[0].Planned == planned &&
		strings.Contains(r.Verdicts[0].Sentence, fmt.Sprintf("%d of %d attempts lost", lost, planned))
}

// Verdicts of gates, and their exit codes.
const (
	failed, inconclusive         = "FAIL", "INCONCLUSIVE"
	failedCode, inconclusiveCode = 3, 4
)

// tight is a gate that passes by the judged attempts alone, and high a gate that can never pass.
func tight(lower float64) string {
	return `[{"metric": "pass_rate", "at_least": ` + strconv.FormatFloat(lower, 'f', 9, 64) + `, "min_n": 5}]`
}

const high = `[{"metric": "pass_rate", "at_least": 0.97, "min_n": 5}]`

// panels are the tables of a run or of a trace file.
type panels struct {
	Targets []struct {
		Overall struct {
			Verdicts counts `json:"verdicts"`
			Metrics  []struct {
				Name     string `json:"name"`
				Interval struct {
					Lower float64 `json:"lower"`
				} `json:"interval"`
			} `json:"metrics"`
		} `json:"overall"`
	} `json:"targets"`
	Lost struct {
		Count int `json:"count"`
	} `json:"lost"`
}

// of returns the counts of the only target, and the lower end of its pass rate.
func (p *panels) of() (c counts, lower float64, err error) {
	if len(p.Targets) != 1 {
		return c, 0, fmt.Errorf("there are %d targets", len(p.Targets))
	}
	o := &p.Targets[0].Overall
	for i := range o.Metrics {
		if o.Metrics[i].Name == "pass_rate" {
			return o.Verdicts, o.Metrics[i].Interval.Lower, nil
		}
	}
	return c, 0, errors.New("there is no pass rate")
}

// verify compares every face of the run with the attempts that have a verdict.
func (f *faces) verify(ctx context.Context) error {
	line, err := f.lab.line(ctx)
	if err != nil {
		return err
	}
	if line == nil {
		return fmt.Errorf("there is no run %s", name)
	}
	f.id = line.ID
	var doc struct {
		Panels panels `json:"panels"`
	}
	if err := f.server.Ask(ctx, http.MethodGet, f.path(""), nil, &doc); err != nil {
		return err
	}
	var api counts
	if api, f.lower, err = doc.Panels.of(); err != nil {
		return err
	}
	judged, err := f.judged(ctx)
	if err != nil {
		return err
	}
	f.lost = planned - judged
	right := f.lost > 0 && judged > 0 && (f.loss.lost == 0 || f.lost == f.loss.lost)
	f.is("attempts with a verdict", right, "%d", judged)
	f.counts("API of the run", api)
	f.counts("list of runs", line.Verdicts)
	for _, part := range []func(context.Context) error{f.gates, f.badge, f.junit, f.lists, f.grid, f.page} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *faces) path(more string) string { return "/api/runs/" + url.PathEscape(f.id) + more }

func (f *faces) is(face string, ok bool, format string, args ...any) {
	f.Compare(f.loss.name, f.loss.name+": "+face, ok, format, args...)
}

func (f *faces) counts(face string, got counts) {
	f.is(face, got.planned() == planned && got.lost() == f.lost, "%d planned and %d lost, want %d and %d",
		got.planned(), got.lost(), planned, f.lost)
}

// judged counts the attempts of the trace export that passed or failed.
func (f *faces) judged(ctx context.Context) (n int, err error) {
	text, err := f.server.Text(ctx, f.path("/export?format=jsonl"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		var task struct {
			Type string `json:"type"`
			Pass *bool  `json:"pass"`
		}
		if err := json.Unmarshal([]byte(line), &task); err != nil {
			return 0, fmt.Errorf("read traces: %w", err)
		}
		if task.Type == "task" && task.Pass != nil {
			n++
		}
	}
	return n, nil
}

func (f *faces) gates(ctx context.Context) error {
	of := gated{f.lab, name, f.server, f.path("/gate"), f.lower, f.lost}
	return of.verify(ctx, f.is)
}

// gated is the object that gates judge: a run, or a trace file.
type gated struct {
	lab     *lab
	subject string // on the command line
	server  *serving.Server
	path    string // of its gates in the API
	lower   float64
	lost    int
}

// verify checks it with a gate that is inconclusive, and with a gate that fails.
func (o *gated) verify(ctx context.Context, is func(face string, ok bool, format string, args ...any)) error {
	for _, g := range []struct {
		name, text, verdict string
		code                int
	}{{"open", tight(o.lower), inconclusive, inconclusiveCode}, {"failed", high, failed, failedCode}} {
		if err := o.lab.write("gates.json", []byte(g.text)); err != nil {
			return err
		}
		got, err := o.lab.ask(ctx, "gate", o.subject, "--gates", "gates.json", "--json", "-o", "gates.xml")
		if err != nil {
			return err
		}
		var r report
		err = json.Unmarshal([]byte(got.out), &r)
		right := err == nil && got.code == g.code && r.matches(g.verdict, o.lost)
		is("gate that is "+g.name, right, "exit code %d, %v, %.900s%s", got.code, err, got.out, got.errs)
		xml, err := os.ReadFile(filepath.Join(o.lab.dir, "gates.xml"))
		if err != nil {
			return fmt.Errorf("read gates.xml: %w", err)
		}
		stops := strings.Contains(string(xml), "<failure") || strings.Contains(string(xml), "<error")
		counted := strings.Contains(string(xml), fmt.Sprintf("%d of %d attempts lost", o.lost, planned))
		is("JUnit of the gate that is "+g.name, stops && counted, "%.500s", xml)
		var v struct {
			Report report `json:"report"`
		}
		if err := o.server.Ask(ctx, http.MethodPost, o.path, map[string]any{"gates": g.text}, &v); err != nil {
			return err
		}
		is("gate of the API that is "+g.name, v.Report.matches(g.verdict, o.lost), "%+v", v.Report)
	}
	return nil
}

// green is the background of the badge of a run without a problem.
const green = "#187a3a"

func (f *faces) badge(ctx context.Context) error {
	text, err := f.server.Text(ctx, f.path("/badge.svg"))
	f.is("badge", strings.Contains(text, "not all judged") && !strings.Contains(text, green), "%.300s", text)
	return err
}

var testsOf = regexp.MustCompile(`<testsuites [^>]*tests="(\d+)"`)

// junit compares the reports for builds that both commands write.
func (f *faces) junit(ctx context.Context) error {
	text, err := f.server.Text(ctx, f.path("/export?format=xml"))
	if err != nil {
		return err
	}
	if err := f.lab.runs(ctx, 0, []string{"report", name, "-o", "run.xml"}); err != nil {
		return err
	}
	file, err := os.ReadFile(filepath.Join(f.lab.dir, "run.xml"))
	if err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	for face, text := range map[string]string{"JUnit of the API": text, "JUnit": string(file)} {
		tests := testsOf.FindStringSubmatch(text)
		faults := strings.Count(text, "<error ")
		f.is(face, len(tests) == 2 && tests[1] == strconv.Itoa(planned) &&
			strings.Count(text, "<testcase") == planned && faults == f.lost,
			"tests %v, %d errors, want %d: %.200s", tests, faults, f.lost, text)
	}
	return nil
}

// lists compares the lists of the terminal and of the API.
func (f *faces) lists(ctx context.Context) error {
	got, err := f.lab.ask(ctx, "runs")
	if err != nil {
		return err
	}
	f.is("list on the terminal", strings.Contains(got.out, fmt.Sprintf(" %d of %d ", f.lost, planned)), "%s", got.out)
	var page struct {
		Items []struct {
			ID       string `json:"id"`
			Verdicts counts `json:"verdicts"`
			Total    int    `json:"total_cases"`
		} `json:"items"`
	}
	if err := f.server.Ask(ctx, http.MethodGet, "/api/tool-eval/history", nil, &page); err != nil {
		return err
	}
	for i := range page.Items {
		if r := &page.Items[i]; r.ID == f.id {
			f.counts("list of the API", r.Verdicts)
			if r.Total != planned {
				return fmt.Errorf("the list of the API has %d attempts of %d", r.Total, planned)
			}
		}
	}
	return nil
}

// grid adds up the cells that the page shows.
func (f *faces) grid(ctx context.Context) error {
	var grid struct {
		Items []struct {
			Cells []counts `json:"cells"`
		} `json:"items"`
	}
	if err := f.server.Ask(ctx, http.MethodGet, f.path("/grid?limit=200"), nil, &grid); err != nil {
		return err
	}
	var sum counts
	for i := range grid.Items {
		for _, c := range grid.Items[i].Cells {
			sum = counts{
				sum.Pass + c.Pass, sum.Fail + c.Fail, sum.Error + c.Error, sum.NotRun + c.NotRun,
				sum.Skipped + c.Skipped,
			}
		}
	}
	f.counts("grid of the page", sum)
	return nil
}

var tagged = regexp.MustCompile(`<[^>]*>`)

// page compares the report that a browser shows.
func (f *faces) page(ctx context.Context) error {
	text, err := f.server.Text(ctx, f.path("/export?format=html"))
	text = tagged.ReplaceAllString(text, "")
	f.is("page",
		regexp.MustCompile(
			fmt.Sprintf(`\b%d (of %d )?attempts? [^.]*(did not run|error|not evaluated|could not be judged)`, f.lost,
				planned)).MatchString(text), "the report does not contain %d", f.lost)
	return err
}
