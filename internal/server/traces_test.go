// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/traces"
)

// sampleTraces are three tasks; one failed.
const sampleTraces = `{"task_id":"t1","call_id":"1","tool":"get_weather","args":{"city":"Paris"},"result":{"temp":18},"status":"ok","gold":{"tool":"get_weather","args":{"city":"Paris"}},"exec_time_ms":12}
{"type":"task","task_id":"t1","pass":true,"final_answer":"18 degrees"}
{"task_id":"t2","call_id":"1","tool":"get_weather","args":{"city":"Rome","station":"x"},"result":null,"status":"exec_error","gold":{"tool":"get_weather","args":{"city":"Oslo"}},"exec_time_ms":7}
{"task_id":"t2","call_id":"2","tool":"get_rain","args":{},"status":"ok"}
{"type":"task","task_id":"t2","pass":false}
{"type":"task","task_id":"t3","pass":true,"final_answer":"You are welcome."}
`

type tracesAnswer struct {
	ID, Name, Form      string
	Parts, Items, Bytes int64
	Added, Lines        bool
	Attempts, Calls     int64
	BadLines            int64 `json:"malformed_lines"`
	Problems            []string
}

type sheetAnswer struct {
	Files        []string
	Lines, Steps int64
	Tasks        int64 `json:"task_records"`
	Panels       json.RawMessage
	Problems     []string
}

// scoreOf returns the result of the command line for a file, as `callvet score -o x.json` writes
// it.
func scoreOf(t *testing.T, s *site, req traces.ScoreRequest, files app.Uploads) sheetAnswer {
	t.Helper()
	out, err := traces.Score(t.Context(), s.app.With(files), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := out.WriteAs(&text, "json"); err != nil {
		t.Fatal(err)
	}
	var a sheetAnswer
	if err := json.Unmarshal(text.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func compact(t *testing.T, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// same compares panels digit by digit.
func same(t *testing.T, what string, want, got sheetAnswer) {
	t.Helper()
	if got.Steps != want.Steps || got.Tasks != want.Tasks {
		t.Errorf("%s: %d steps, %d tasks; want %d, %d", what, got.Steps, got.Tasks, want.Steps, want.Tasks)
	}
	if a, b := compact(t, want.Panels), compact(t, got.Panels); a != b {
		t.Errorf("%s: %s", what, cmp.Diff(a, b))
	}
}

// TestTraces: files are joined in a collection. Its scores are those of the joined file.
func TestTraces(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	lines := strings.SplitAfter(strings.TrimSpace(sampleTraces), "\n")
	one := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=prod", strings.Join(lines[:3], ""))
	if !one.Added || one.Name != "prod" || one.Form != "callvet" || one.Calls != 2 || one.Attempts != 2 ||
		one.Items != 3 {
		t.Fatalf("%+v", one)
	}
	// A later file has more of a task that an earlier one began.
	two := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=prod", strings.Join(lines[3:], ""))
	if two.ID != one.ID || two.Parts != 2 || two.Items != 6 {
		t.Errorf("%+v", two)
	}
	if again := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=prod",
		strings.Join(lines[3:], "")); again.Added || again.Parts != 2 {
		t.Errorf("the same again: %+v", again)
	}
	suite := give[suiteAnswer](t, s, "ana", "POST", suites, weatherSuite)
	_, text := s.ask(t, "ana", "GET", suites+"/"+suite.ID+"/export", "")
	tools := `[{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"station":{"type":"integer"}}}}]`
	for body, req := range map[string]traces.ScoreRequest{
		`{"traces_id":"%s"}`: {},
		`{"traces_id":"%s","slices":["called_tool"],"confidence":0.8}`: {
			Slices:     []string{"called_tool"},
			Confidence: 0.8,
		},
		`{"traces_id":"%s","suite_id":"` + suite.ID +
			`"}`: {TraceSettings: app.TraceSettings{Suite: "suite"}},
		`{"traces_id":"%s","tools":` + tools +
			`,"scoring":{"mode":"fuzzy"}}`: {TraceSettings: app.TraceSettings{
			Tools:   []string{"tools"},
			Scoring: `{"mode":"fuzzy"}`,
		}},
	} {
		req.Traces = []string{"prod"}
		want := scoreOf(t, s, req,
			app.Uploads{"prod": []byte(sampleTraces), "suite": []byte(text), "tools": []byte(tools)})
		got := give[sheetAnswer](t, s, "ana", "POST", "/api/score", fmt.Sprintf(body, one.ID))
		same(t, body, want, got)
		sent := strings.Replace(fmt.Sprintf(body, "x"), `"traces_id":"x"`, `"traces":`+string(jsonOf(sampleTraces)), 1)
		same(t, "as text: "+body, want, give[sheetAnswer](t, s, "ana", "POST", "/api/score", sent))
	}
	if code, html := s.ask(t, "ana", "POST", "/api/score/report?format=html", `{"traces_id":"`+one.ID+
		`"}`); code != 200 || !strings.Contains(html, "<html") || !strings.Contains(html, "get_rain") {
		t.Errorf("%d %.300s", code, html)
	}
	page := give[traces.TracePage](t, s, "ana", "GET", "/api/traces/"+one.ID+"/attempts?limit=1&cursor=1", "")
	if len(page.Items) != 1 || page.Next != 2 || len(page.Items[0].Records) != 3 ||
		!strings.Contains(string(page.Items[0].Records[1]), "get_rain") {
		t.Errorf("%+v", page)
	}
	if last := give[traces.TracePage](t, s, "ana", "GET", "/api/traces/"+one.ID+"/attempts?cursor=2",
		""); len(last.Items) != 1 || last.Next != 0 {
		t.Errorf("%+v", last)
	}
	if code, out := s.ask(t, "ana", "GET", "/api/traces/"+one.ID+"/export?format=otlp", ""); code != 200 ||
		!strings.Contains(out, "resourceSpans") {
		t.Errorf("%d %.200s", code, out)
	}
	gate := give[struct{ Report struct{ Verdict string } }](t, s, "ana", "POST", "/api/traces/"+one.ID+"/gate",
		`{"gates":"gates: [{metric: pass_rate, at_least: 0.99}]"}`)
	if gate.Report.Verdict != "INCONCLUSIVE" { // two of three
		t.Errorf("%+v", gate)
	}
	other := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=before",
		strings.ReplaceAll(sampleTraces, `"pass":false`, `"pass":true`))
	code, diff := s.ask(t, "ana", "GET", "/api/traces/"+one.ID+"/diff?baseline_traces_id="+other.ID, "")
	if code != 200 || !strings.Contains(diff, `"broke":1`) && !strings.Contains(diff, "t2") ||
		!strings.Contains(diff, `"estimates":"Numbers are about tasks like these`) {
		t.Errorf("%d %s", code, diff)
	}
	pair := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=pair",
		`{"type":"task","task_id":"t1","target":"x","pass":true}
{"type":"task","task_id":"t1","target":"y","pass":false}
`)
	if code, diff := s.ask(t, "ana", "GET", "/api/traces/"+pair.ID+"/diff?base_target=x", ""); code != 200 ||
		!strings.Contains(diff, `"kind":"newly_failing"`) || !strings.Contains(diff, `"candidate":"y"`) {
		t.Errorf("targets of one collection: %d %s", code, diff)
	}
	give[any](t, s, "ana", "DELETE", "/api/traces/"+pair.ID, "")
	if list := give[struct{ Items []tracesAnswer }](t, s, "ana", "GET", "/api/traces", ""); len(list.Items) != 2 ||
		list.Items[0].Name != "before" && list.Items[1].Name != "before" {
		t.Errorf("%+v", list)
	}
	if list := give[struct{ Items []tracesAnswer }](t, s, "bo", "GET", "/api/traces", ""); len(list.Items) != 0 {
		t.Errorf("of ana: %+v", list)
	}
	give[any](t, s, "ana", "DELETE", "/api/traces/"+one.ID, "")
	if code, _ := s.ask(t, "ana", "GET", "/api/traces/"+one.ID, ""); code != 404 {
		t.Error(code)
	}
}

// TestTracesLost: a collection has as many lost records as its score sheet.
func TestTracesLost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=prod",
		sampleTraces+`{"type":"task","task_id":"t3","pass":false}
no JSON
{"type":"task","task_id":"t4","pass":true}
`)
	type counts struct {
		Attempts *int64 `json:"attempt_count"`
		Lost     *int64 `json:"lost_count"`
	}
	check := func(what string, c counts) {
		if c.Attempts == nil || c.Lost == nil || *c.Attempts != 4 || *c.Lost != 2 {
			t.Errorf("%s: %s", what, jsonOf(c))
		}
	}
	check("of the list", give[struct{ Items []counts }](t, s, "ana", "GET", "/api/traces", "").Items[0])
	for range 2 { // the second time as it was kept
		check("of its own", give[counts](t, s, "ana", "GET", "/api/traces/"+one.ID, ""))
	}
	type where struct {
		File string
		Line int64
	}
	sheet := give[struct {
		Bad    int64 `json:"malformed_lines"`
		Panels struct {
			Lost struct {
				Count int64
				First []where
			}
		}
	}](t, s, "ana", "POST", "/api/score", `{"traces_id":"`+one.ID+`"}`)
	if d := cmp.Diff([]where{{"prod", 7}, {"prod", 8}}, sheet.Panels.Lost.First); sheet.Bad != 2 ||
		sheet.Panels.Lost.Count != 2 || d != "" {
		t.Errorf("%+v\n%s", sheet, d)
	}
}

// TestTracesRefused: an unreadable file, or one without room, is refused with the reason, and
// nothing of it is stored.
func TestTracesRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=mine", sampleTraces)
	chat := `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`
	for _, c := range []struct {
		path, body, says string
		want             int
	}{
		{"/api/traces", "", "", 400},
		{"/api/traces", "nonsense", "not JSON", 422},
		{"/api/traces", `{"a":1}`, "known form", 422},
		{"/api/traces?collection=-", sampleTraces, "needs a name", 422},
		{"/api/traces?collection=body.x", sampleTraces, "body.", 422},
		{"/api/traces?collection=mine", chat, "of the form callvet", 409},
		{"/api/score", `{}`, "one of the three", 422},
		{"/api/score", `{"traces":"nonsense"}`, "trace", 422},
		{"/api/score", `{"traces_id":"none"}`, "not found", 404},
		{"/api/score", `{"traces":"x","eval_id":"y"}`, "one of the three", 422},
		{
			"/api/score", `{"traces":` + string(jsonOf(sampleTraces)) + `,"scoring":{"mode":"none such"}}`,
			"scoring", 422,
		},
		{"/api/score", `{"traces":` + string(jsonOf(sampleTraces)) + `,"confidence":2}`, "confidence", 422},
		{"/api/score", `{"traces":` + string(jsonOf("x\n"+sampleTraces)) + `,"strict":true}`, "line 1", 422},
	} {
		if code, answer := s.ask(t, "ana", "POST", c.path, c.body); code != c.want ||
			!strings.Contains(answer, c.says) {
			t.Errorf("%s %.60s: %d %s", c.path, c.body, code, answer)
		}
	}
	list := give[struct{ Items []tracesAnswer }](t, s, "ana", "GET", "/api/traces", "")
	if len(list.Items) != 1 || list.Items[0].Parts != 1 {
		t.Errorf("%+v", list)
	}
}

// export sends OTLP as an exporter does.
func (s *site) export(t *testing.T, path, kind string, body []byte,
	packed bool,
) (code int, contentType string, answer []byte) {
	t.Helper()
	if packed {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		body = b.Bytes()
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+"ana")
	if packed {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Content-Type"), b
}

const protobufType = "application/x-protobuf"

// TestOTLP: exports of real SDKs, in protobuf and in JSON, packed or not, score as `callvet score` scores
// the file that a sink made of them.
func TestOTLP(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(os.Getenv("CALLVET_REAL"), "captures")
	captures, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(captures) == 0 {
		t.Skipf("SKIPPED: no captures of real SDKs in %s; set CALLVET_REAL to send them", dir)
	}
	s := newSite(t)
	tried := 0
	for i, path := range captures {
		name := filepath.Base(path)
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var kind string
		var sent [][]byte
		switch {
		case strings.HasSuffix(name, ".otlp.jsonl"):
			kind = "application/json"
			for line := range bytes.Lines(file) {
				sent = append(sent, line)
			}
		case strings.HasSuffix(name, ".pb"), strings.HasSuffix(name, ".pb.gz"):
			kind, sent = protobufType, append(sent, file)
		default:
			continue
		}
		tried++
		for j, body := range sent {
			code, as, answer := s.export(t, fmt.Sprintf("/v1/traces?collection=c%d", i), kind, body,
				j%2 == 0 && !strings.HasSuffix(name, ".gz"))
			if empty := map[string]string{"application/json": "{}", protobufType: ""}[kind]; code != 200 ||
				as != kind || string(answer) != empty {
				t.Fatalf("%s: %d %s %q", name, code, as, answer)
			}
		}
		made := s.collection(t, fmt.Sprintf("c%d", i))
		want := scoreOf(t, s, traces.ScoreRequest{Traces: []string{"x"}}, app.Uploads{"x": file})
		same(t, name, want, give[sheetAnswer](t, s, "ana", "POST", "/api/score", `{"traces_id":"`+made.ID+`"}`))
		if want.Steps == 0 && name != "otel-openai.otlp.jsonl" { // no calls in spans there
			t.Errorf("%s: no calls", name)
		}
	}
	if tried < 8 {
		t.Errorf("%d captures", tried)
	}
	t.Logf("exports of %d of %d captures score as their files", tried, tried)
}

func (s *site) collection(t *testing.T, name string) tracesAnswer {
	t.Helper()
	list := give[struct{ Items []tracesAnswer }](t, s, "ana", "GET", "/api/traces", "")
	i := slices.IndexFunc(list.Items, func(a tracesAnswer) bool { return a.Name == name })
	if i < 0 {
		t.Fatalf("no collection %s in %+v", name, list)
	}
	return list.Items[i]
}

// spansOf are spans of one service as OTLP's JSON has them.
func spansOf(service string, spans ...string) string {
	return `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"` + service +
		`"}}]},"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

const (
	agentSpan = `{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"invoke_agent","startTimeUnixNano":"1","endTimeUnixNano":"9000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}}]}`
	toolSpan  = `{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b175","parentSpanId":"eee19b7ec3c1b174","name":"execute_tool get_weather","startTimeUnixNano":"2","endTimeUnixNano":"3000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"get_weather"}},{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{\"city\":\"Oslo\"}"}}]}`
)

// TestOTLPJoins: the spans of a trace come in several exports, the parent last, and are one
// attempt; repeated exports count once; each service has its own collection.
func TestOTLPJoins(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	other := strings.ReplaceAll(toolSpan, "5b8e", "6c9f")
	for _, body := range []string{
		spansOf("shop", toolSpan), spansOf("shop", toolSpan), spansOf("shop", agentSpan),
		spansOf("desk", other), "{}", "",
	} {
		if code, _, answer := s.export(t, "/v1/traces", "application/json", []byte(body), true); code != 200 ||
			string(answer) != "{}" {
			t.Fatalf("%d %s", code, answer)
		}
	}
	shop, desk := s.collection(t, "shop"), s.collection(t, "desk")
	if shop.Parts != 2 || shop.Items != 2 || desk.Items != 1 {
		t.Errorf("%+v %+v", shop, desk)
	}
	page := give[traces.TracePage](t, s, "ana", "GET", "/api/traces/"+shop.ID+"/attempts", "")
	if len(page.Items) != 1 || len(page.Items[0].Records) != 2 ||
		!strings.Contains(string(page.Items[0].Records[0]), `"Oslo"`) {
		t.Errorf("%s", jsonOf(page))
	}
	if code, _, answer := s.export(t, "/v1/traces?collection=all", "application/json",
		[]byte(spansOf("shop", toolSpan)), false); code != 200 {
		t.Errorf("%d %s", code, answer)
	}
	if all := s.collection(t, "all"); all.Items != 1 {
		t.Errorf("%+v", all)
	}
}

// TestOTLPRefused: an exporter receives the error in its own form, with the place.
func TestOTLPRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=lines", sampleTraces)
	for _, c := range []struct {
		path, kind, body, says string
		want                   int
	}{
		{"/v1/traces", "text/plain", "{}", "application/x-protobuf", 415},
		{"/v1/traces", "application/json", "[1", "no JSON", 400},
		{"/v1/traces", "application/json", `{"spans":[]}`, "resourceSpans", 400},
		{"/v1/traces", "application/json", `{"resourceSpans":5}`, "no list", 400},
		{
			"/v1/traces", "application/json",
			spansOf("x", strings.Replace(toolSpan, "5b8efff798038103d269b633813fc60c", "5b8e", 1)),
			"resourceSpans[0].scopeSpans[0].spans[0].traceId", 400,
		},
		{"/v1/traces", protobufType, "\x0a\xff\xff", "protobuf", 400},
		{
			"/v1/traces?collection=lines", "application/json", spansOf("x", toolSpan, agentSpan),
			`"rejectedSpans":"2"`, 200,
		},
		{"/v1/traces?collection=body.x", "application/json", spansOf("x", toolSpan), `"rejectedSpans":"1"`, 200},
	} {
		code, as, answer := s.export(t, c.path, c.kind, []byte(c.body), false)
		if code != c.want || !strings.Contains(string(answer), c.says) {
			t.Errorf("%s %s %.80s: %d %s", c.path, c.kind, c.body, code, answer)
		}
		if c.kind == protobufType && (as != protobufType || !bytes.HasPrefix(answer, []byte{8, 3, 0x12})) {
			t.Errorf("no google.rpc.Status: %s %q", as, answer)
		}
	}
	if list := give[struct{ Items []tracesAnswer }](t, s, "ana", "GET", "/api/traces", ""); len(list.Items) != 1 {
		t.Errorf("kept: %+v", list)
	}
}
