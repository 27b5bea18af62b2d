// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/cases"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/app/tunes"
)

// front is a front end of the application over HTTP: POST /VERB with a request in JSON gives its
// result in JSON. It has a route for every verb of the command tree, and no other way to work than
// the command line has.
type recorder struct {
	app    *app.App
	events []app.Event
	routes map[string]func(context.Context, []byte) (any, error)
}

// route makes a route of a verb's request.
func route[Q, R any](do func(context.Context, Q) (R, error)) func(context.Context, []byte) (any, error) {
	return func(ctx context.Context, body []byte) (any, error) {
		var q Q
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			return nil, errors.Join(callvet.ErrInvalid, err)
		}
		return do(ctx, q)
	}
}

// verb returns do with the front end as the receiver of its events.
func verb[Q, R any](f *recorder,
	do func(context.Context, Q, app.Events) (R, error),
) func(context.Context, Q) (R, error) {
	return func(ctx context.Context, q Q) (R, error) { return do(ctx, q, f.record) }
}

// verbOf is a verb of a package over app.
func verbOf[Q, R any](f *recorder, a *app.App,
	do func(context.Context, *app.App, Q, app.Events) (R, error),
) func(context.Context, Q) (R, error) {
	return func(ctx context.Context, q Q) (R, error) { return do(ctx, a, q, f.record) }
}

func (f *recorder) record(ev app.Event) { f.events = append(f.events, ev) }

// ServeHTTP implements http.Handler.
func (f *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	do := f.routes[strings.TrimPrefix(r.URL.Path, "/")]
	if do == nil {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	var out any
	if err == nil {
		out, err = do(r.Context(), body)
	}
	var answer []byte
	if err == nil {
		answer, err = json.Marshal(out)
	}
	switch {
	case errors.Is(err, callvet.ErrInvalid):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, callvet.ErrNotFound):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		_, _ = w.Write(answer) // who went away gets nothing
	}
}

// named names something: a run, a file, a format.
type named struct {
	Name, Template string
	Names          []string
	Limit          int
}

// served and proxied are requests for servers of MCP, with what their agent sends.
type served struct {
	catalogs.ServeMCPRequest
	Messages string `json:"messages"`
}

type proxiedTo struct {
	catalogs.ProxyMCPRequest
	Messages string `json:"messages"`
}

func frontOf(a *app.App) *recorder {
	f := &recorder{app: a}
	search := route(func(ctx context.Context, q tunes.Request) (any, error) {
		s, err := tunes.Start(ctx, a, q, f.record)
		if err != nil {
			return nil, err
		}
		return s.Do(ctx)
	})
	f.routes = map[string]func(context.Context, []byte) (any, error){
		"run": route(func(ctx context.Context, q app.RunRequest) (any, error) {
			s, err := runs.Start(ctx, a, q, f.record)
			return f.carryOut(ctx, s, err)
		}),
		"select": route(func(ctx context.Context, q catalogs.SelectRequest) (any, error) {
			s, err := catalogs.StartSelect(ctx, a, q, f.record)
			return f.carryOut(ctx, s, err)
		}),
		"replay": route(func(ctx context.Context, q runs.ReplayRequest) (any, error) {
			s, err := runs.StartReplay(ctx, a, q, f.record)
			return f.carryOut(ctx, s, err)
		}),
		"fixtures make": route(verbOf(f, a, runs.MakeFixtures)),
		"runs": route(func(ctx context.Context, q named) (any, error) {
			if len(q.Names) > 0 {
				return results.DeleteRuns(ctx, a, q.Names)
			}
			return results.List(ctx, a, q.Limit)
		}),
		"show": route(func(ctx context.Context, q results.CaseRequest) (any, error) {
			if q.Case == "" {
				v, err := runs.View(ctx, a, results.ViewRequest{Run: q.Run}, f.record)
				if err != nil {
					return nil, err
				}
				return v.View.Panels, nil
			}
			v, err := results.ShowCase(ctx, a, q)
			if err != nil {
				return nil, err
			}
			return v.Rows[0].Cell.Result, nil
		}),
		"report": route(func(ctx context.Context, q named) (any, error) {
			v, err := runs.View(ctx, a, results.ViewRequest{Run: q.Names[0]}, f.record)
			if err != nil {
				return nil, err
			}
			return q.Name, a.WriteReport(ctx, v.View, q.Name)
		}),
		"diff": route(verbOf(f, a, traces.Diff)),
		"gate": route(func(ctx context.Context, q traces.GateRequest) (any, error) {
			g, err := traces.Gate(ctx, a, q, f.record)
			if err != nil {
				return nil, err
			}
			return g.Report, nil
		}),
		"label gold":        route(verbOf(f, a, cases.DrawGold)),
		"label apply":       route(verbOf(f, a, cases.ApplyGold)),
		"case coverage":     route(verbOf(f, a, catalogs.MeasureCoverage)),
		"case from-failure": route(verbOf(f, a, cases.FromFailure)),
		"case from-trace":   route(verbOf(f, a, cases.FromTrace)),
		"case new":          route(verbOf(f, a, cases.MakeCase)),
		"case lock":         route(verbOf(f, a, cases.Lock)),
		"case add":          route(verbOf(f, a, cases.Add)),
		"case archive": route(func(ctx context.Context, q cases.ArchiveRequest) (any, error) {
			return q.Case, cases.Archive(ctx, a, q)
		}),
		"drill": route(verbOf(f, a, runs.Drill)),
		"stale": route(func(ctx context.Context, q results.StaleRequest) (any,
			error,
		) {
			return results.Stale(ctx, a, q, f.record)
		}),
		"gates init": route(func(ctx context.Context, q named) (any, error) {
			return q.Name,
				traces.InitGates(ctx, a, q.Name, q.Template)
		}),
		"score": route(func(ctx context.Context, q traces.ScoreRequest) (any, error) {
			s, err := traces.Score(ctx, a, q, f.record)
			if err != nil {
				return nil, err
			}
			return s.View.Panels, nil
		}),
		"calibrate":   route(verbOf(f, a, results.Calibrate)),
		"judge run":   route(verbOf(f, a, runs.Judge)),
		"judge audit": route(verbOf(f, a, runs.Audit)),
		"judge list": route(func(ctx context.Context, q runs.JudgeListRequest) (any,
			error,
		) {
			return runs.List(ctx, a, q)
		}),
		"judge show": route(verbOf(f, a, runs.Show)),
		"label next": route(func(ctx context.Context, q runs.LabelNextRequest) (any,
			error,
		) {
			return runs.LabelNext(ctx, a, q, f.record)
		}),
		"label import": route(func(_ context.Context, q runs.LabelImportRequest) (any, error) {
			return runs.LabelImport(a, q, f.record)
		}),
		"label export": route(func(_ context.Context, q runs.LabelExportRequest) (any, error) {
			var b strings.Builder
			err := runs.LabelExport(a, q, &b, f.record)
			return b.String(), err
		}),
		"label stamp": route(verbOf(f, a, runs.LabelStamp)),
		"plan":        route(verbOf(f, a, traces.Plan)),
		"tune params": search, "tune prompt": search,
		"tune resume": route(func(ctx context.Context, q tunes.ResumeRequest) (any, error) {
			s, err := tunes.Resume(ctx, a, q, f.record)
			if err != nil {
				return nil, err
			}
			return s.Do(ctx)
		}),
		"tune list":  route(func(ctx context.Context, _ named) (any, error) { return tunes.List(ctx, a) }),
		"tune show":  route(func(ctx context.Context, q named) (any, error) { return tunes.Get(ctx, a, q.Name) }),
		"tune apply": route(func(ctx context.Context, q tunes.ApplyRequest) (any, error) { return tunes.Apply(ctx, a, q) }),
		"tune delete": route(func(ctx context.Context, q named) (any, error) {
			return tunes.Delete(ctx, a, q.Name)
		}),
		"tune presets add": route(func(ctx context.Context, q tunes.PresetView) (any, error) {
			return tunes.KeepPreset(ctx, a, q.Name, []byte(q.Text))
		}),
		"tune presets delete": route(func(ctx context.Context, q named) (any, error) {
			return q.Name, tunes.DeletePreset(ctx, a, q.Name)
		}),
		"prompt add": route(func(ctx context.Context, q tunes.KeepPromptRequest) (any, error) {
			p, _, err := tunes.KeepPrompt(ctx, a, q)
			return p, err
		}),
		"prompt list": route(func(ctx context.Context, q named) (any, error) {
			list, _, err := tunes.ListPrompts(ctx, a, tunes.PromptPage{N: q.Limit})
			return list, err
		}),
		"prompt show": route(func(ctx context.Context, q named) (any, error) {
			return tunes.ShowPrompt(ctx, a, "", q.Name)
		}),
		"prompt delete": route(func(ctx context.Context, q named) (any, error) {
			return tunes.DeletePrompts(ctx, a, "", q.Names)
		}),
		"variance": route(func(ctx context.Context, q traces.VarianceRequest) (any, error) {
			return traces.Variance(ctx, a, q)
		}),
		"lint":    route(verb(f, a.Lint)),
		"convert": route(verb(f, a.Convert)),
		"schema": route(func(_ context.Context, q named) (any, error) {
			b, err := app.Schema(q.Name)
			return json.RawMessage(b), err
		}),
		"targets": route(func(context.Context, named) (any, error) { return a.Targets(), nil }),
		"prices": route(func(_ context.Context, q named) (any, error) {
			p, skipped, err := a.Prices(q.Name)
			return []any{p != nil, skipped}, err
		}),
		"backup":  route(func(ctx context.Context, q app.BackupRequest) (any, error) { return a.Backup(ctx, q) }),
		"restore": route(func(ctx context.Context, q app.BackupRequest) (any, error) { return a.Restore(ctx, q) }),
		"doctor":  route(func(ctx context.Context, _ named) (any, error) { return a.Doctor(ctx) }),
		"version": route(func(context.Context, named) (any, error) { return buildVersion(), nil }),
		"init": route(func(ctx context.Context, q named) (any, error) {
			return q.Name,
				a.InitSuite(ctx, q.Name, false)
		}),
		"trace export": route(func(ctx context.Context, q traces.ExportRequest) (any, error) {
			var b strings.Builder
			err := traces.Export(ctx, a, q, &b, f.record)
			return b.String(), err
		}),
		"trace import": route(func(ctx context.Context, q traces.ImportRequest) (any, error) {
			imp, err := traces.OpenImport(ctx, a, q, f.record)
			if err != nil {
				return nil, err
			}
			var b strings.Builder
			_, err = imp.Do(&b)
			return b.String(), errors.Join(err, imp.Close())
		}),
		"trace check": route(
			func(_ context.Context, q app.CheckRequest) (any, error) { return a.Check(q, f.record) }),
		"tools cache": route(func(ctx context.Context, q catalogs.VectorsRequest) (any, error) {
			return catalogs.Vectors(ctx, a, q)
		}),
		"tools cache clear": route(func(ctx context.Context, q catalogs.VectorsRequest) (any, error) {
			return catalogs.Vectors(ctx, a, q)
		}),
		"select decisions": route(verbOf(f, a, catalogs.Decisions)),
		"select query":     route(verbOf(f, a, catalogs.Query)),
		"select sweep": route(func(ctx context.Context, q catalogs.SweepRequest) (any, error) {
			if len(q.Models) > 0 {
				return catalogs.DrawCurve(ctx, a, q, nil, f.record)
			}
			return catalogs.RunSweep(ctx, a, q, f.record)
		}),
		"select tune":         route(verbOf(f, a, catalogs.Tune)),
		"select routes learn": route(verbOf(f, a, catalogs.Learn)),
		"mcp import":          route(verbOf(f, a, catalogs.ImportMCP)),
		"prompt tool-caller":  route(verb(f, a.ToolCallerPrompt)),
		"proxy model": route(func(_ context.Context, q app.ModelProxyRequest) (any, error) {
			p, err := a.ModelProxy(q, f.record)
			if err != nil {
				return nil, err
			}
			return p.Result(), nil
		}),
		"mcp serve": route(func(ctx context.Context, q served) (any, error) {
			var b strings.Builder
			_, err := catalogs.ServeMCP(ctx, a, q.ServeMCPRequest,
				catalogs.MCPStreams{In: strings.NewReader(q.Messages), Out: &b}, f.record)
			return b.String(), err
		}),
		"proxy mcp": route(func(ctx context.Context, q proxiedTo) (any, error) {
			var b strings.Builder
			_, err := catalogs.ProxyMCP(ctx, a, q.ProxyMCPRequest,
				catalogs.MCPStreams{In: strings.NewReader(q.Messages), Out: &b}, f.record)
			return b.String(), err
		}),
		"tools lint":       route(verbOf(f, a, catalogs.LintTools)),
		"tools confusable": route(verbOf(f, a, catalogs.Confusable)),
		"tools whatif": route(
			func(ctx context.Context, q catalogs.WhatIfRequest) (any, error) {
				return catalogs.WhatIf(ctx, a, q, nil, f.record)
			}),
		"tools suggest": route(verbOf(f, a, catalogs.ListPrompts)),
		"tools apply":   route(verbOf(f, a, catalogs.Apply)),
	}
	return f
}

func (f *recorder) carryOut(ctx context.Context, s *runs.Session, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	out, err := s.Do(ctx)
	if err != nil {
		return nil, err
	}
	return out.Summary, nil
}

// verbs are the commands that do something, as a person types them: those without parts, and those
// with parts that do something by themselves.
func verbs(c *cobra.Command, path []string) (out []string) {
	for _, sub := range c.Commands() {
		name := append(slices.Clip(path), sub.Name())
		if sub.Runnable() && !sub.HasSubCommands() || sub.Name() == "select" || sub.Name() == "cache" {
			out = append(out, strings.Join(name, " "))
		}
		out = append(out, verbs(sub, name)...)
	}
	return out
}

// TestUnracedEveryVerbOverHTTP drives every verb of the command tree over plain HTTP.
func TestUnracedEveryVerbOverHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var sold atomic.Int64
	stock := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sold.Add(1)
		_, _ = fmt.Fprintf(w, `{"item":%q,"left":7}`, path.Base(r.URL.Path))
	}))
	defer stock.Close()
	for _, name := range []string{
		"weather.yaml", "scripts/weather-good.yaml", "select/catalogue.json",
		"select/suite.json", "regression/after.jsonl", "mcp/weather.sh",
	} {
		b, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"stock.json":       `{"callvet":1,"tools":[{"name":"read_stock","description":"Stock of an item.","read_only":true,"parameters":{"type":"object","properties":{"item":{"type":"string"}}}}],"cases":[{"id":"look","prompt":"Lamps?","expect":{"calls":[{"tool":"read_stock","args":{"item":"lamp"}}],"response":{"contains":"seven"}}}]}`,
		"stock-agent.json": `{"model":"m","rules":[{"case":"look","steps":[{"calls":[{"tool":"read_stock","args":{"item":"lamp"}}]},{"text":"There are seven."}]}]}`,
		"live.json": `{"tools":{"read_stock":{"read_only":true,"http":{"method":"GET","url":"` + stock.URL +
			`/stock/{{args.item}}"}}}}`,
		"bug.json":         `[{"id": "rg-a-001", "description": "d", "difficulty": "regression", "createdAt": "2026-03-01", "bugRef": "#1", "input": {"message": "m"}, "expect": {"toolsCalled": ["a"]}}]`,
		"edits.yaml":       "callvet: 1\nedits:\n  - tool: smhi_prognos\n    status: accepted\n    description: Prognos för vädret de kommande dagarna.\n",
		"written.yaml":     "callvet_gold: 1\ntasks: [{task: t_10001, turns: [{needed: true, calls: [{tool: get_refund_policy, args: {country: BR, product_type: books}, check: window_days > 0}]}, {needed: false, calls: []}]}]\n",
		"production.jsonl": `{"query": "where is my parcel?", "tools": ["smhi_prognos"]}` + "\n",
		"labels.jsonl": `{"task_id":"t1","pass":true,"by":"ana"}` + "\n" +
			`{"task_id":"t2","pass":false,"by":"ana"}` + "\n",
		"prices.json": `{"gpt-5-mini": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}}`,
		"answer.json": `{"message": "It rains.", "toolCalls": []}`,
		"judge.yaml":  "rules:\n  - case: '*'\n    text: '{\"pass\": true, \"fail_reasons\": [], \"unnecessary_calls\": [], \"notes\": \"fine\"}'\n",
		"judged.jsonl": `{"type":"task","task_id":"t1","gold":{"steps":[]},"judged":[{"judge":"j","pass":true}]}` +
			"\n" + `{"type":"task","task_id":"t2","judged":[{"judge":"j","pass":false}]}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, _, _ := newApp(dir, map[string]string{"CALLVET_CACHE": filepath.Join(dir, "cache")})
	f := frontOf(a.program())
	srv := httptest.NewServer(f)
	defer srv.Close()
	steps := []struct{ verb, request, says string }{
		{"init", `{"name": "new.yaml"}`, `new.yaml`},
		{"lint", `{"suite": "weather.yaml"}`, `{`},
		{"convert", `{"suite": "weather.yaml", "to": "openai"}`, `data`},
		{"schema", `{"name": "suite"}`, `$schema`},
		{"targets", `{}`, `offline/lexical`},
		{"version", `{}`, `devel`},
		{
			"run",
			`{"suite": "weather.yaml", "name": "first", "repeats": 2, "targets": [{"target": "script:weather-good.yaml"}]}`, `"pass":28`,
		},
		{"run", `{"suite": "weather.yaml", "name": "second", "targets": [{"target": "offline/lexical"}]}`, `"fail":`},
		{
			"run",
			`{"suite": "stock.json", "name": "called", "world": "live", "live": "live.json", "targets": [{"target": "script:stock-agent.json"}]}`, `"pass":1`,
		},
		{"replay", `{"run": "first", "name": "once-more"}`, `"pass":28`},
		{"fixtures make", `{"from": "first", "output": "made.yaml"}`, `"mocks":`},
		{"runs", `{}`, `"second"`},
		{
			"drill", `{"filter": ["drill=error_storm"], "targets": [{"target": "script:weather-good.yaml"}]}`,
			`"verdict":`,
		},
		{"show", `{"run": "first"}`, `"pass_rate"`},
		{"show", `{"run": "first", "case": "paris-now"}`, `"verdict":"pass"`},
		{"report", `{"name": "r.md", "names": ["first"]}`, `r.md`},
		{"score", `{"run": "first"}`, `"tool_selection_by_call"`},
		{"diff", `{"base": {"run": "first"}, "candidate": {"run": "second"}}`, `"targets"`},
		{"case add", `{"file": "rg.json", "from": {"suite": "bug.json"}}`, `rg-a-001`},
		{"case coverage", `{"suites": ["weather.yaml"], "run": "second"}`, `"without_golden":[`},
		{
			"case from-failure", `{"run": "second", "case": "the-coming-week", "bug": "#7", "output": "bugs.json"}`,
			`"caught":1`,
		},
		{
			"case from-trace",
			`{"traces": "after.jsonl", "task": "t_10001", "tier": "labeled", "difficulty": "straightforward", "output": "traced.json"}`, `"attempts":1`,
		},
		{
			"case new", `{"tier": "golden", "prompt": "Hail?", "expect": ["weather_now"], "output": "golden.json"}`,
			`gs-weather-now-001`,
		},
		{"case lock", `{"suite": "rg.json"}`, `"regression":1`},
		{"case archive", `{"file": "rg.json", "case": "rg-a-001", "reason": "gone"}`, `rg-a-001`},
		{"stale", `{"suite": "rg.json"}`, `"stale":false`},
		{"stale", `{"run": "first"}`, `"stale":false`},
		{"gates init", `{"name": "gates.yaml", "template": "basic"}`, `gates.yaml`},
		{"gate", `{"run": "first", "gates": "gates.yaml"}`, `"verdicts"`},
		{"trace export", `{"run": "first"}`, `paris-now`},
		{"trace import", `{"traces": "after.jsonl"}`, `task_id`},
		{"trace check", `{"traces": "judged.jsonl"}`, `{`},
		{"score", `{"traces": ["after.jsonl"]}`, `"schema_valid_by_call"`},
		{"label next", `{"traces": "judged.jsonl", "n": 2, "role": "calibration", "strategy": "random"}`, `t1`},
		{"label gold", `{"traces": "judged.jsonl", "n": 1, "output": "gold.yaml"}`, `"added":1`},
		{"label apply", `{"file": "written.yaml", "traces": "after.jsonl", "suite": "gold.json"}`, `"cases":1`},
		{"label import", `{"file": "labels.jsonl", "labels": "all.jsonl"}`, `{`},
		{"label export", `{"labels": "all.jsonl", "to": "csv"}`, `t1`},
		{
			"label stamp", `{"traces": "judged.jsonl", "labels": "all.jsonl", "output": "stamped.jsonl", "by": "ana"}`,
			`"stamped":`,
		},
		{"calibrate", `{"labels": "all.jsonl", "judge": "j", "traces": "judged.jsonl"}`, `{`},
		{
			"judge run",
			`{"run": "first", "judge": ["task"], "models": [{"target": "script:judge.yaml"}], "output": "said.jsonl"}`,
			`"pass":28`,
		},
		{
			"judge run", `{"run": "first", "judge": ["task", "verdict"], "models": [{"target": "script:judge.yaml"}]}`,
			`"majorities":[`,
		},
		{
			"judge run",
			`{"run": "first", "against": {"run": "second"}, "judge": ["compare"], "models": [{"target": "script:judge.yaml"}]}`, `"wins":[`,
		},
		{
			"judge audit",
			`{"run": "first", "judge": ["task"], "models": [{"target": "script:judge.yaml"}], "pairs": 5}`,
			`"drawn":5`,
		},
		{"judge list", `{"run": "first"}`, `"version":1`},
		{"judge show", `{"run": "first"}`, `"reason":"fine"`},
		{
			"run",
			`{"suite": "weather.yaml", "name": "twice", "repeats": 2, "targets": [{"target": "exec:cat answer.json"}]}`, `"fail":`,
		},
		{"variance", `{"runs": ["twice"]}`, `"status":"`},
		{
			"tune params",
			`{"kind": "param_tune", "run": {"suite": "weather.yaml", "targets": [{"target": "script:weather-good.yaml"}], "max_calls": 1}, "preset": "temperature"}`, `"outcome":"not_confirmed"`,
		},
		{"tune resume", `{"tune": "last", "max_calls": 1000}`, `"status":"done"`},
		{"tune list", `{}`, `"outcome":"base_best"`},
		{"tune show", `{"name": "last"}`, `"candidates":[{`},
		{"tune apply", `{"tune": "last", "anyway": true, "target_file": "best.yaml"}`, `best.yaml`},
		{"tune delete", `{"name": "last"}`, `tune-`},
		{
			"tune prompt",
			`{"kind": "prompt_tune", "run": {"suite": "weather.yaml", "targets": [{"target": "script:weather-good.yaml"}]}, "meta": {"target": "script:weather-good.yaml"}}`, `"status":"done"`,
		},
		{"tune presets add", `{"name": "mine", "text": "params: {temperature: [0, 1]}"}`, `"own":true`},
		{"tune presets delete", `{"name": "mine"}`, `mine`},
		{"prompt add", `{"name": "brief", "text": "Be brief."}`, `brief`},
		{"prompt list", `{"limit": 10}`, `brief`},
		{"prompt show", `{"name": "brief"}`, `Be brief.`},
		{"prompt delete", `{"names": ["brief"]}`, `brief`},
		{"plan", `{"metric": "pass_rate", "bound": 0.9, "truth": 0.95}`, `{`},
		{"plan", `{"metric": "pass_rate", "bound": 0.5, "from": "first"}`, `"pilot"`},
		{"plan", `{"metric": "pass_rate", "bound": 0.9, "truth": 0.99, "looks": "any"}`, `"after_each_task"`},
		{"prices", `{"name": "prices.json"}`, `true`},
		{"doctor", `{}`, `"healthy":true`},
		{"backup", `{"file": "copy.db"}`, `"runs":`},
		{"restore", `{"file": "copy.db", "force": true}`, `"runs":`},
		{"select", `{"tools": "catalogue.json", "run": {"suite": "suite.json"}}`, `"pass"`},
		{"select decisions", `{"production": "production.jsonl", "tools": "catalogue.json"}`, `callvet.decisions`},
		{"select query", `{"text": "where is my parcel?", "tools": "catalogue.json"}`, `{`},
		{"select sweep", `{"suite": "suite.json", "tools": "catalogue.json"}`, `{`},
		{
			"select sweep", `{"suite": "suite.json", "tools": "catalogue.json", "models": ["offline/lexical"]}`,
			`callvet.curve`,
		},
		{"select tune", `{"suite": "suite.json", "tools": "catalogue.json"}`, `{`},
		{"select routes learn", `{"examples": "catalogue.json", "output": "routes.json"}`, `{`},
		{"tools lint", `{"tools": "catalogue.json"}`, `{`},
		{"tools confusable", `{"tools": "catalogue.json"}`, `{`},
		{"tools whatif", `{"tools": "catalogue.json", "suite": "suite.json", "edits": "edits.yaml"}`, `{`},
		{"tools suggest", `{"tools": "catalogue.json", "suite": "suite.json"}`, `{`},
		{"tools apply", `{"tools": "catalogue.json", "edits": "edits.yaml", "output": "new.json"}`, `{`},
		{"tools cache", `{}`, `vectors`},
		{"tools cache clear", `{"drop": true}`, `{`},
		{"mcp import", `{"command": "sh weather.sh", "output": "imported.yaml", "draft_cases": true}`, `"drafts":2`},
		{"prompt tool-caller", `{"tools": "catalogue.json"}`, `How to use tools`},
		{"proxy model", `{"record": "models"}`, `"recorded":0`},
		{
			"mcp serve",
			`{"suite": "weather.yaml", "messages": "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"n\",\"version\":\"1\"}}}\n"}`, `serverInfo`,
		},
		{
			"proxy mcp",
			`{"command": "sh weather.sh", "messages": "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"n\",\"version\":\"1\"}}}\n"}`, `serverInfo`,
		},
		{"runs", `{"names": ["second"]}`, `[`},
	}
	driven := map[string]bool{}
	for _, s := range steps {
		res, err := srv.Client().Post(srv.URL+"/"+s.verb, "application/json", strings.NewReader(s.request))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), s.says) {
			t.Errorf("%s %s: %s %v\n%.600s", s.verb, s.request, res.Status, err, body)
		}
		driven[s.verb] = true
	}
	if n := sold.Load(); n != 1 {
		t.Errorf("the live tool was called %d times", n)
	}
	for _, verb := range verbs(a.rootCommand(), nil) {
		if slices.Contains([]string{"serve", "rekey", "view", "login", "logout", "jobs"}, verb) {
			continue // the server itself, and who logs in to it: TestServe
		}
		if !driven[verb] && f.routes[verb] == nil {
			t.Errorf("%s cannot be driven over HTTP", verb)
		} else if !driven[verb] {
			t.Errorf("%s is not driven here", verb)
		}
	}
	if res, err := srv.Client().Post(srv.URL+"/show", "application/json",
		strings.NewReader(`{"run": "none"}`)); err != nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown run: %v %v", res, err)
	}
}
