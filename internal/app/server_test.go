// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

// uploads are files as a server has them: names are ids, which lead into a folder of its
// own, and what is written stays in memory.
type uploads struct {
	dir     string
	known   map[string]string // names of files in dir by id
	written map[string]string
}

func (u *uploads) Path(id string) (string, bool, error) {
	name, ok := u.known[id]
	if !ok {
		return "", false, fmt.Errorf("open upload %q: %w", id, callvet.ErrNotFound)
	}
	return filepath.Join(u.dir, name), false, nil
}

func (u *uploads) Open(id string) (io.ReadCloser, error) {
	path, _, err := u.Path(id)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

func (u *uploads) Kind(id string) app.FileKind {
	if _, ok := u.known[id]; ok {
		return app.KindFile
	}
	return app.KindNone
}

func (u *uploads) Folder(context.Context, string) error { return nil }

func (u *uploads) Same(a, b string) bool { return a == b }

func (u *uploads) Existing(name string) ([]byte, bool, error) {
	text, ok := u.written[name]
	return []byte(text), ok, nil
}

func (u *uploads) Append(string) (app.Growing, error) { return nil, errors.ErrUnsupported }

func (u *uploads) Hold(context.Context, string) (func() error, error) {
	return func() error { return nil }, nil
}

func (u *uploads) Write(_ context.Context, name string, write func(io.Writer) error) error {
	var b strings.Builder
	err := write(&b)
	u.written[name] = b.String()
	return err
}

const suiteText = `{"callvet": 1, "name": "cities", "tools": [
  {"name": "weather_now", "description": "Current weather of a city.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}],
 "cases": [
  {"id": "oslo", "prompt": "How is the weather in Oslo?", "expected_tool": "weather_now", "expected_params": {"city": "Oslo"}},
  {"id": "rome", "prompt": "How is the weather in Rome?", "expected_tool": "weather_now", "expected_params": {"city": "Rome"}}]}`

// server is an application as a server makes it, on a store of its own.
func server(t testing.TB, permit app.Permit) (*app.App, *uploads) {
	t.Helper()
	return serverWith(t, app.Config{Permit: permit})
}

func serverWith(t testing.TB, cfg app.Config) (*app.App, *uploads) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "blob"), []byte(suiteText), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(dir, "runs.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	files := &uploads{dir: dir, known: map[string]string{"upload-1": "blob"}, written: map[string]string{}}
	cfg.Store, cfg.Files, cfg.Version = func(context.Context) (*store.DB, error) { return db, nil }, files, "test"
	return app.New(cfg), files
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWithoutATerminal: a run is started by a request in JSON, carried out by a session that
// another request opens, and viewed, listed, reported and deleted, all without a path, a
// terminal or a line for a shell.
func TestWithoutATerminal(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, files := server(t, app.Permit{})
	started, err := runs.Start(ctx, a,
		as[app.RunRequest](t,
			`{"suite": "upload-1", "name": "first", "repeats": 2, "targets": [{"target": "offline/lexical"}], "fail_under": 0.99}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	id := started.Stored.ID
	if err := started.Close(); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	s, err := runs.Resume(ctx, a, runs.ResumeRequest{Run: "first"}, func(ev app.Event) {
		b, err := json.Marshal(ev)
		if err != nil {
			t.Error(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(b, &fields); err != nil || len(fields) != 1 {
			t.Errorf("an event has one field: %s (%v)", b, err)
		}
		for kind := range fields {
			if len(kinds) == 0 || kinds[len(kinds)-1] != kind {
				kinds = append(kinds, kind)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"session", "progress", "ended"}, kinds); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if out.Summary.Pass+out.Summary.Fail != 4 || out.Stored.ID != id || out.Verdict == "" || len(out.Next) == 0 {
		t.Errorf("outcome: %+v, verdict %q, next %+v", out.Summary, out.Verdict, out.Next)
	}
	v, err := runs.View(ctx, a, results.ViewRequest{Run: id}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(out.View.Panels, v.View.Panels); d != "" {
		t.Errorf("the panels of the outcome and of the view differ:\n%s", d)
	}
	if v.View.All != "" || v.View.Next != nil {
		t.Errorf("lines for a shell: %q %q", v.View.All, v.View.Next)
	}
	if err := a.WriteReport(ctx, v.View, "report.html"); err != nil ||
		!strings.Contains(files.written["report.html"], "oslo") {
		t.Errorf("report: %v, %d bytes", err, len(files.written["report.html"]))
	}
	c, err := results.ShowCase(ctx, a, results.CaseRequest{Run: id, Case: "oslo"})
	if err != nil || len(c.Rows) != 2 {
		t.Errorf("case: %v, %+v", err, c)
	}
	list, err := results.List(ctx, a, 0)
	if err != nil || len(list) != 1 || list[0].Name != "first" {
		t.Errorf("list: %v, %+v", err, list)
	}
	if gone, err := results.DeleteRuns(ctx, a, []string{"first", "first"}); len(gone) != 1 ||
		!errors.As(err, new(*results.NoRunError)) {
		t.Errorf("deleted %v, %v", gone, err)
	}
}

// TestCatalogsWithoutATerminal: a question is asked of a catalogue that was uploaded, over the
// tools of a suite that was.
func TestCatalogsWithoutATerminal(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	const tools = `[{"name": "weather_now", "description": "Current weather of a city."}, {"name": "open_ticket", "description": "Open a ticket of support."}]`
	if err := os.WriteFile(filepath.Join(files.dir, "tools"), []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
	files.known["upload-2"] = "tools"
	const examples = `[{"query": "where is my parcel", "route": "action"}, {"query": "track my parcel", "route": "action"}, {"query": "what is a parcel", "route": "knowledge"}, {"query": "what is a tool", "route": "knowledge"}]`
	if err := os.WriteFile(filepath.Join(files.dir, "examples"), []byte(examples), 0o600); err != nil {
		t.Fatal(err)
	}
	files.known["upload-3"] = "examples"
	used := 0
	events := func(ev app.Event) { used += len(ev.Used) }
	var q catalogs.QueryRequest
	if err := json.Unmarshal([]byte(`{"text": "weather in Oslo", "tools": "upload-2", "k": 1}`), &q); err != nil {
		t.Fatal(err)
	}
	answer, err := catalogs.Query(t.Context(), a, q, events)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(answer)
	if err != nil || !strings.Contains(string(b), `"weather_now"`) || strings.Contains(string(b), "open_ticket") {
		t.Errorf("answer: %s (%v)", b, err)
	}
	q.Tools = "/etc/hostname"
	if _, err := catalogs.Query(t.Context(), a, q, events); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("a path of the machine: %v", err)
	}
	var sw catalogs.SweepRequest
	if err := json.Unmarshal([]byte(`{"suite": "upload-1", "tools": "upload-2"}`), &sw); err != nil {
		t.Fatal(err)
	}
	if out, err := catalogs.RunSweep(t.Context(), a, sw, events); err != nil || out.Cases+out.LeftOut != 2 {
		t.Errorf("sweep: %+v, %v", out, err)
	}
	if _, err := catalogs.Learn(t.Context(), a, catalogs.LearnRequest{Examples: "upload-3", Output: "routes.json"},
		events); err != nil || !strings.HasPrefix(files.written["routes.json"], "{") {
		t.Errorf("written %q, %v", files.written, err)
	}
	if used > 0 {
		t.Errorf("%d models were asked", used)
	}
}

// TestConclude: a request about a catalogue with models shows its run to the client before it reads
// it, returns the client's error of the run, and uses no retriever.
func TestConclude(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	const tools = `[{"name": "weather_now", "description": "Current weather of a city."}, {"name": "open_ticket", "description": "Open a ticket of support."}]`
	if err := os.WriteFile(filepath.Join(files.dir, "tools"), []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
	files.known["upload-2"] = "tools"
	sweep := func(model string) (req catalogs.SweepRequest) {
		t.Helper()
		if err := json.Unmarshal([]byte(`{"suite": "upload-1", "tools": "upload-2", "models": ["`+model+
			`"], "run": {"repeats": 2, "name": "curve"}}`), &req); err != nil {
			t.Fatal(err)
		}
		return req
	}
	why := errors.New("go on with it")
	shown := 0
	conclude := func(out *runs.Outcome, ended error) error {
		shown++
		if ended != nil || out.Manifest.Repeats != 2 || out.Stored.Name != "curve" || !out.Manifest.Made {
			t.Errorf("ended %v: %+v of %+v", ended, out.Stored, out.Manifest)
		}
		return why
	}
	c, err := catalogs.DrawCurve(t.Context(), a, sweep("offline/lexical"), conclude, nil)
	if c == nil || c.Cases != 2 || len(c.Models) != 1 || !errors.Is(err, why) || shown != 1 {
		t.Fatalf("curve %+v, %v; shown %d times", c, err, shown)
	}
	again, err := catalogs.ResumeCurve(t.Context(), a, runs.ResumeRequest{Run: "curve"}, nil, nil)
	if diff := cmp.Diff(marshal(t, c), marshal(t, again)); err != nil || diff != "" {
		t.Errorf("resumed: %v\n%s", err, diff)
	}
	var bad *callvet.FieldError
	if _, err := catalogs.DrawCurve(t.Context(), a, sweep("retrieve:upload-2"), conclude, nil); !errors.As(err, &bad) ||
		bad.Field != "models" || shown != 1 {
		t.Errorf("a retriever: %v; shown %d times", err, shown)
	}
}

// TestMistakesNameTheirField: a mistake in a request names the field, in the spelling of JSON,
// before anything is stored.
func TestMistakesNameTheirField(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"targets": [{"target": "offline/lexical"}]}`:                                                           "suite",
		`{"suite": "upload-1"}`:                                                                                  "targets",
		`{"suite": "upload-1", "targets": [{"target": "exec:true"}]}`:                                            "targets",
		`{"suite": "upload-1", "targets": [{"target": "recorded:upload-1"}]}`:                                    "targets",
		`{"suite": "upload-1", "targets": [{"target": "script:upload-1"}]}`:                                      "targets",
		`{"suite": "upload-1", "targets": [{"target": "retrieve:upload-1"}]}`:                                    "targets",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "keep": ["emial"]}`:                   "keep",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "repeats": -1}`:                       "repeats",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "sample": -1}`:                        "sample",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "max_cost_usd": -1}`:                  "max_cost_usd",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "max_calls": -1}`:                     "max_calls",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "concurrency": -1}`:                   "concurrency",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "rate": -1}`:                          "rate",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "timeout_ms": -1}`:                    "timeout_ms",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "retries": -1}`:                       "retries",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "fail_under": 90}`:                    "fail_under",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "slices": ["nosuch"]}`:                "slices",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "system_for": {"other": "Be brief"}}`: "system_for",
		`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "shared": {"headers": {"A": "b"}}}`:   "headers",
	} {
		a, _ := server(t, app.Permit{})
		_, err := runs.Start(t.Context(), a, as[app.RunRequest](t, text), nil)
		var field *callvet.FieldError
		if !errors.As(err, &field) || field.Field != want {
			t.Errorf("%s: %v, want a mistake in %s", text, err, want)
		}
		if list, err := results.List(t.Context(), a, 0); err != nil || len(list) > 0 {
			t.Errorf("%s: %v, kept %+v", text, err, list)
		}
	}
}

// TestScorersThatRun: a suite with scorers that are programs runs if commands are permitted and the
// request allows them.
func TestScorersThatRun(t *testing.T) {
	t.Parallel()
	const text = `{"suite": "upload-9", "targets": [{"target": "offline/lexical"}], "allow_exec": %t}`
	for _, tc := range []struct {
		permit app.Permit
		allow  bool
		want   string
	}{
		{
			app.Permit{},
			true,
			"suite upload-9: denied: scorers may not run commands here: sh check.sh; node, with JavaScript of the suite",
		},
		{
			app.Permit{Commands: true},
			false,
			"suite upload-9: denied: its scorers would run: sh check.sh; node, with JavaScript of the suite",
		},
		{app.Permit{Commands: true}, true, ""},
	} {
		a, files := server(t, tc.permit)
		files.known["upload-9"] = "scored.json"
		suite := strings.Replace(suiteText, `"expected_params": {"city": "Oslo"}`,
			`"expect": {"scorers": [{"name": "a", "exec": "sh check.sh"}, {"name": "b", "javascript": "true"}]}`, 1)
		if err := os.WriteFile(filepath.Join(files.dir, "scored.json"), []byte(suite), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := runs.Start(t.Context(), a, as[app.RunRequest](t, fmt.Sprintf(text, tc.allow)), nil)
		if tc.want == "" {
			if err != nil {
				t.Error(err)
				continue
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, callvet.ErrDenied) || err.Error() != tc.want {
			t.Errorf("%+v: %v, want %s", tc.permit, err, tc.want)
		}
	}
}

// TestPermits: what a client may not do is denied, and done for one that may.
func TestPermits(t *testing.T) {
	t.Parallel()
	for target, permit := range map[string]app.Permit{
		"exec:true":         {Commands: true},
		"recorded:upload-1": {Files: true},
	} {
		text := `{"suite": "upload-1", "targets": [{"target": "` + target + `"}]}`
		a, _ := server(t, app.Permit{})
		if _, err := runs.Start(t.Context(), a, as[app.RunRequest](t, text), nil); !errors.Is(err, callvet.ErrDenied) {
			t.Errorf("%s without a permit: %v", target, err)
		}
		a, files := server(t, permit)
		if err := os.WriteFile(filepath.Join(files.dir, "rows"), []byte(`{"case_id": "oslo", "text": "cold"}`+"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		files.known[""], files.known["upload-1"] = ".", "blob"
		files.known["rows"] = "rows"
		s, err := runs.Start(t.Context(), a,
			as[app.RunRequest](t, strings.Replace(text, "recorded:upload-1", "recorded:rows", 1)), nil)
		if err != nil {
			t.Errorf("%s with a permit: %v", target, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// guard refuses all requests, and counts them.
type guard struct{ met atomic.Int64 }

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	g.met.Add(1)
	return nil, fmt.Errorf("%s may not be asked: %w", r.URL.Host, callvet.ErrDenied)
}

// TestOneWayOut: whatever is sent goes by the client's HTTP, where a server refuses addresses
// of its own network.
func TestOneWayOut(t *testing.T) {
	t.Parallel()
	open := httptest.NewServer(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s got a request", r.Host) }))
	t.Cleanup(open.Close)
	for _, target := range []string{
		`"openai/m", "base_url": "` + open.URL + `/v1"`, `"` + open.URL + `/agent"`,
		`"retrieve:` + open.URL + `/select"`,
	} {
		g := &guard{}
		a, _ := serverWith(t,
			app.Config{HTTP: &http.Client{Transport: g}, Getenv: func(string) string { return "a-key-of-nobody" }})
		s, err := runs.Start(t.Context(), a,
			as[app.RunRequest](t, `{"suite": "upload-1", "targets": [{"target": `+target+`}]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Do(t.Context())
		if err == nil || out == nil || out.Summary.Error != 2 || g.met.Load() != 2 { // none is tried again
			t.Errorf("%s: %v, %+v, %d requests met", target, err, out, g.met.Load())
		}
		for row, err := range out.Rows(t.Context(), store.Filter{}) {
			if f := row.Cell.Trace.Fault; err != nil || f == nil || f.Kind != callvet.FaultAuth || f.Retryable {
				t.Errorf("%s: %v, %+v", target, err, f)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	g := &guard{}
	a, _ := serverWith(t, app.Config{HTTP: &http.Client{Transport: g}})
	if _, err := catalogs.Query(t.Context(), a,
		catalogs.QueryRequest{Text: "weather", Search: catalogs.Search{Via: open.URL}},
		nil); err == nil || g.met.Load() != 1 {
		t.Errorf("a service: %v, %d requests met", err, g.met.Load())
	}
}

// TestCancel: a run is canceled by its id while it is carried out, keeps its attempts, and can be
// resumed; a run without an owner cannot be canceled.
func TestCancel(t *testing.T) {
	t.Parallel()
	a, _ := server(t, app.Permit{})
	var canceled atomic.Bool
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if canceled.CompareAndSwap(false, true) {
			if c, err := runs.Cancel(r.Context(), a, "slow"); err != nil || c.By != nil {
				t.Error(c, err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, `{"text": "cold", "tool_calls": []}`)
	}))
	t.Cleanup(agent.Close)
	s, err := runs.Start(t.Context(), a,
		as[app.RunRequest](t, `{"suite": "upload-1", "name": "slow", "targets": [{"target": "`+agent.URL+
			`"}], "concurrency": 1, "retries": 0}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context())
	if err = errors.Join(err, s.Close()); err != nil || !out.Interrupted() ||
		out.Summary.Status != run.StatusInterrupted {
		t.Fatalf("canceled: %v, %+v", err, out)
	}
	if out.Next[0].Verb != app.VerbResume {
		t.Errorf("next: %+v", out.Next)
	}
	if _, err := runs.Cancel(t.Context(), a, "slow"); !errors.Is(err, callvet.ErrConflict) {
		t.Errorf("nobody carries it out: %v", err)
	}
	if s, err = runs.Resume(t.Context(), a, runs.ResumeRequest{Run: "slow"}, nil); err != nil {
		t.Fatal(err)
	}
	if out, err = s.Do(t.Context()); err != nil || out.Summary.Status != run.StatusDone || out.Summary.Fail != 2 {
		t.Errorf("resumed: %v, %+v", err, out)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestChanges: a session has the settings of the run but for those that are changed, and the
// run keeps them.
func TestChanges(t *testing.T) {
	t.Parallel()
	a, _ := server(t, app.Permit{})
	s, err := runs.Start(t.Context(), a,
		as[app.RunRequest](t,
			`{"suite": "upload-1", "targets": [{"target": "offline/lexical"}], "max_calls": 1, "concurrency": 1, "rate": 7, "require_pass": true}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context())
	if !errors.Is(err, callvet.ErrBudget) || out == nil {
		t.Fatalf("a limit of one call: %v", err)
	}
	raise := out.Raise()
	if d := cmp.Diff([]app.Setting{app.One("max_calls", "2")}, raise.With); d != "" {
		t.Errorf("what goes on (-want +got):\n%s", d)
	}
	none := 0
	again, err := runs.Resume(t.Context(), a,
		runs.ResumeRequest{Run: out.Stored.ID, Changes: app.Changes{MaxCalls: &none}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out, err = again.Do(t.Context()); err != nil || out.Summary.Done != 2 {
		t.Fatalf("without the limit: %v, %+v", err, out)
	}
	if err := errors.Join(s.Close(), again.Close()); err != nil {
		t.Error(err)
	}
	r, err := results.Open(t.Context(), a, out.Stored.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&app.Settings{Concurrency: 1, Rate: 7, RequirePass: true}, r.Manifest.Settings); d != "" {
		t.Errorf("settings that are kept (-want +got):\n%s", d)
	}
}
