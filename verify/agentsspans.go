// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/verify/proof"
)

// sdk is one way of an SDK to report the work of an agent.
type sdk struct {
	name    string
	program string   // of an agent, in the folder of the agents
	args    []string // of the program
	// versions are the packages with versions in the table.
	versions []string
	// writes is the file that the program writes itself; "" if it sends OTLP.
	writes string
	// only is the part of OTLP that is read: "traces" or "logs"; "" is both.
	only string
	// node is the lowest major version of Node that the SDK supports.
	node int
	lost omissions
}

// omissions names the values that an SDK does not record, in a reader's words. Each empty text is
// compared.
type omissions struct {
	calls, args, results, reason, times, tokens string
	// rest names values that are not compared here.
	rest string
	// failed: no call failed, or no failure is recorded.
	failed bool
}

const (
	noToolSpans = "times of calls (there are no spans of tools)"
	underMS     = "times below a millisecond"
	unrecorded  = "arguments and results, where recordInputs and recordOutputs are off"
	redacted    = "the text of the error (the SDK redacts it)"
)

func sdks() []sdk {
	aiSDK, openInference := []string{"ai"}, "@arizeai/openinference-instrumentation-"
	openaiOI, otel := []string{openInference + "openai"}, []string{"@opentelemetry/instrumentation-openai"}
	agentsOI := []string{"@openai/agents", openInference + "openai-agents"}
	langchainOI := []string{"langchain", openInference + "langchain"}
	const oi, oa, tl, x = "oi-openai.mjs", "sdk-oa/oa.mjs", "sdk-tl/", "sdk-tl/x.mjs"
	return []sdk{
		{
			name: "AI SDK 6, Chat Completions", program: "vercel.mjs", args: []string{"chat"}, versions: aiSDK,
			lost: omissions{rest: unrecorded},
		},
		{
			name: "AI SDK 6, Chat Completions, streamed", program: "vercel.mjs", args: []string{"chat-stream"},
			versions: aiSDK, lost: omissions{rest: unrecorded},
		},
		{
			name: "AI SDK 6, Responses", program: "vercel.mjs", args: []string{"responses"}, versions: aiSDK,
			lost: omissions{rest: unrecorded},
		},
		{
			name: "AI SDK 6, Responses, streamed", program: "vercel.mjs", args: []string{"responses-stream"},
			versions: aiSDK, lost: omissions{rest: unrecorded},
		},
		{
			name: "AI SDK 7", program: "sdk7/v7.mjs", versions: []string{"ai", "@ai-sdk/otel"}, node: 22,
			lost: omissions{rest: "reasoning tokens"},
		},
		{
			name: "Langfuse", program: tl + "lf.mjs", versions: []string{"@langfuse/otel", "@langfuse/openai"},
			lost: omissions{rest: "observations of other types than generation, agent, chain and tool"},
		},
		{
			name: "OpenLLMetry (Traceloop)", program: tl + "tl.mjs", versions: []string{"@traceloop/node-server-sdk"},
			lost: omissions{
				times: "the time of a call that threw (it has no span)",
				rest:  "cached and reasoning tokens",
			},
		},
		{name: "OpenTelemetry, spans and log records", program: x, versions: otel, lost: omissions{times: noToolSpans}},
		{
			name: "OpenTelemetry, log records alone", program: x, versions: otel, only: "logs",
			lost: omissions{times: noToolSpans, tokens: "tokens"},
		},
		{
			name: "OpenTelemetry, spans alone", program: tl + "oteloa.mjs", versions: otel,
			lost: omissions{calls: "the calls and their results: they are unknown"},
		},
		{
			name: "Mastra", program: "sdk-mastra/m.mjs", versions: []string{"@mastra/core", "@mastra/otel-exporter"},
			lost: omissions{
				times: underMS,
				rest:  "histories of requests (cut by [MaxDepth]); the answer, where no step has it",
			},
		},
		{name: "OpenInference, OpenAI", program: oi, args: []string{"chat"}, versions: openaiOI},
		{
			name: "OpenInference, OpenAI, no spans of tools", program: oi, args: []string{"chat-notool"},
			versions: openaiOI, lost: omissions{times: noToolSpans},
		},
		{
			name: "OpenInference, OpenAI, a trace per request", program: oi, args: []string{"chat-bare"},
			versions: openaiOI, lost: omissions{times: noToolSpans},
		},
		{name: "OpenInference, OpenAI Responses", program: oi, args: []string{"resp"}, versions: openaiOI},
		{
			name: "OpenInference, Anthropic", program: "oi-anth.mjs", versions: []string{openInference + "anthropic"},
			lost: omissions{times: noToolSpans},
		},
		{name: "OpenInference, LangGraph", program: "sdk-lc/lc.mjs", versions: langchainOI},
		{
			name: "LangChain, messages as JSON", program: "sdk-lc/lc.mjs", versions: langchainOI[:1],
			writes: "langchain-messages.json", lost: omissions{times: "times"},
		},
		{
			name: "OpenInference, OpenAI Agents", program: oa, versions: agentsOI,
			lost: omissions{reason: redacted, times: underMS},
		},
		{
			name: "OpenInference, OpenAI Agents, Chat Completions", program: oa, args: []string{"chat"},
			versions: agentsOI, lost: omissions{reason: redacted, times: underMS},
		},
		{
			name: "OpenAI Agents, native traces", program: oa, versions: agentsOI[:1],
			writes: "openai-agents-native.jsonl",
			lost: omissions{
				reason: redacted, times: underMS,
				rest: "texts of models (spans have only the id of the response); ids of calls",
			},
		},
		{
			name: "OpenAI Agents, native traces, Chat Completions", program: oa, args: []string{"chat"},
			versions: agentsOI[:1], writes: "openai-agents-native.jsonl",
			lost: omissions{reason: redacted, times: underMS},
		},
		{
			name: "OpenAI Agents, history", program: oa, versions: agentsOI[:1], writes: "agents-history.json",
			lost: omissions{reason: redacted, times: "times", tokens: "tokens"},
		},
	}
}

// The subjects of the comparisons.
const (
	spanCalls   = "telemetry: calls and arguments in one task"
	spanResults = "telemetry: results"
	spanError   = "telemetry: the error"
	spanTimes   = "telemetry: times of calls"
	spanTokens  = "telemetry: tokens"
	spanUnknown = "telemetry: the calls are not recorded, and unknown"
	spanDeleted = "telemetry: no attempt abstained, no call made up, where attributes are deleted"
)

// telemetry runs every agent under its SDK, as JSON and as protobuf, and imports its telemetry,
// plain and compressed. It returns a table of the imported data.
func telemetry(ctx context.Context, c *proof.Check, dir string) (table [][]string, err error) {
	model := scriptedModel()
	defer model.Close()
	node, err := nodeVersion(ctx)
	if err != nil {
		return nil, err
	}
	runs := map[string][2]*sent{}
	telemetryHead(c)
	for _, r := range sdks() {
		key := r.program + " " + strings.Join(r.args, " ")
		if _, done := runs[key]; !done {
			var both [2]*sent
			for i, protobuf := range []bool{false, true} {
				if both[i], err = r.run(ctx, dir, model.Listener.Addr().String(), protobuf); err != nil {
					break
				}
			}
			if err != nil && node < r.node {
				c.Printf(
					"SKIPPED %s: it asks for Node %d, this is %d; CALLVET_CAPTURES may name a folder with a capture of it: %v\n", r.name, r.node, node, err)
				skipped := append([]string{
					r.name,
					versionsOf(filepath.Join(dir, "agents", filepath.Dir(r.program)), r.versions...),
				},
					make([]string, 7)...)
				table = append(table, append(skipped, fmt.Sprintf("not run: it asks for Node %d", r.node)))
				continue
			} else if err != nil {
				return nil, fmt.Errorf("run %s: %w", r.name, err)
			}
			runs[key] = both
		}
		forms := r.forms(runs[key])
		got := r.compare(c, forms)
		(&capture{name: r.name, content: forms[0].content}).withLess(c)
		table = append(table,
			append([]string{r.name, versionsOf(filepath.Join(dir, "agents", filepath.Dir(r.program)), r.versions...)},
				append(got, r.lost.text())...))
	}
	return table, nil
}

func telemetryHead(c *proof.Check) {
	c.Printf("\n%-48s %-7s %-9s %-7s %-7s %-7s %-6s %s\n", "telemetry of", "calls", "results", "error", "times",
		"tokens", "tasks", "forms")
}

func (l omissions) text() string {
	return strings.Join(slices.DeleteFunc([]string{l.calls, l.args, l.results, l.reason, l.times, l.tokens, l.rest},
		func(s string) bool { return s == "" }), "; ")
}

func nodeVersion(ctx context.Context) (major int, err error) {
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err == nil {
		_, err = fmt.Sscanf(string(out), "v%d", &major)
	}
	if err != nil {
		return 0, fmt.Errorf("read the version of Node: %w", err)
	}
	return major, nil
}

// versionsOf names packages that are installed in a folder, with their versions.
func versionsOf(room string, packages ...string) string {
	var out []string
	for _, name := range packages {
		var p struct{ Version string }
		b, err := os.ReadFile(filepath.Join(room, "node_modules", name, "package.json"))
		if err != nil || json.Unmarshal(b, &p) != nil {
			p.Version = "?"
		}
		out = append(out, name+" "+p.Version)
	}
	return strings.Join(out, ", ")
}

// sent is the result of one run of a program.
type sent struct {
	mu           sync.Mutex
	traces, logs [][]byte
	files        map[string][]byte
	wrong        []string // exports in a wrong form
}

const (
	sinkPort   = "7040" // where the programs send their telemetry
	runsWithin = time.Minute
)

// run starts the program with a separate sink and waits for its end.
func (r *sdk) run(ctx context.Context, dir, model string, protobuf bool) (*sent, error) {
	s := &sent{files: map[string][]byte{}}
	sink := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { s.take(w, req, protobuf) }))
	defer sink.Close()
	room := filepath.Join(dir, "agents", filepath.Dir(r.program))
	text, err := os.ReadFile(filepath.Join(room, filepath.Base(r.program)))
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte("127.0.0.1:"+modelPort), []byte(model))
	text = bytes.ReplaceAll(text, []byte("127.0.0.1:"+sinkPort), []byte(sink.Listener.Addr().String()))
	// In the pinned version the log processor has its exporter under this name.
	text = regexp.MustCompile(`SimpleLogRecordProcessor\((new OTLPLogExporter\(\{[^}]*\}\))\)`).ReplaceAll(text,
		[]byte("SimpleLogRecordProcessor({exporter:$1})"))
	if protobuf {
		text = regexp.MustCompile(`exporter-(trace|logs)-otlp-http`).ReplaceAll(text, []byte("exporter-$1-otlp-proto"))
		text = bytes.ReplaceAll(text, []byte("http/json"), []byte("http/protobuf"))
	}
	own := "recorded-" + filepath.Base(r.program)
	if err := os.WriteFile(filepath.Join(room, own), text, 0o600); err != nil {
		return nil, err
	}
	out, err := os.MkdirTemp("", "callvet-agents-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(out) }()
	limited, cancel := context.WithTimeout(ctx, runsWithin)
	defer cancel()
	cmd := exec.CommandContext(limited, "node", append([]string{own}, r.args...)...)
	cmd.Dir = room
	// Nothing is sent elsewhere, and protobuf is compressed, as usual.
	cmd.Env = append(os.Environ(), "OUT="+out, "OPENAI_API_KEY=", "TRACELOOP_TELEMETRY=false",
		"MASTRA_TELEMETRY_DISABLED=1")
	if protobuf {
		cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_COMPRESSION=gzip")
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %.300s", err, bytes.TrimSpace(output))
	}
	list, err := os.ReadDir(out)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if s.files[e.Name()], err = os.ReadFile(filepath.Join(out, e.Name())); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) > 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(s.wrong, ", "), callvet.ErrInvalid)
	}
	return s, nil
}

// take stores the body of an export. An agent that sends both forms at once is set to one.
func (s *sent) take(w http.ResponseWriter, req *http.Request, protobuf bool) {
	body, err := io.ReadAll(req.Body)
	if err == nil && req.Header.Get("Content-Encoding") == "gzip" {
		body, err = decompressed(body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	isProtobuf := strings.Contains(req.Header.Get("Content-Type"), "protobuf")
	switch {
	case err != nil:
		s.wrong = append(s.wrong, err.Error())
	case strings.Contains(req.URL.Path, "-pb/"):
	case isProtobuf != protobuf:
		s.wrong = append(s.wrong, req.Header.Get("Content-Type"))
	case strings.HasSuffix(req.URL.Path, "/logs"):
		s.logs = append(s.logs, body)
	default:
		s.traces = append(s.traces, body)
	}
	w.Header().Set("Content-Type", req.Header.Get("Content-Type"))
	if !isProtobuf {
		_, _ = io.WriteString(w, "{}")
	}
}

// form is one way to write the same telemetry.
type form struct {
	name    string
	content []byte
}

// forms returns the forms of one task, as received or in the file of the program.
func (r *sdk) forms(both [2]*sent) []form {
	if r.writes != "" {
		b := both[0].files[r.writes]
		return []form{{"JSON", b}, {"JSON, gzip", compressed(b)}}
	}
	var out []form
	for i, name := range []string{"JSON", "protobuf"} {
		var list [][]byte
		if r.only != "logs" {
			list = append(list, both[i].traces...)
		}
		if r.only != "traces" {
			list = append(list, both[i].logs...)
		}
		end := []byte("\n")
		if name == "protobuf" {
			end = nil
		}
		var zipped []byte
		for _, b := range list { // as a sink appends its input
			zipped = append(zipped, compressed(append(slices.Clone(b), end...))...)
		}
		out = append(out, form{name, bytes.Join(list, end)}, form{name + ", gzip", zipped})
	}
	return out
}

func compressed(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		panic(err) // a write to memory never fails
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func decompressed(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// imported returns the attempts that `callvet trace import` reads.
func imported(content []byte) ([]trace.Attempt, foreign.Report, error) {
	imp, err := foreign.Open(bytes.NewReader(content), foreign.Options{})
	if err != nil {
		return nil, foreign.Report{}, err
	}
	var out []trace.Attempt
	for a, err := range imp.Attempts() {
		if err != nil {
			return out, imp.Report(), err
		}
		out = append(out, a)
	}
	return out, imp.Report(), nil
}

// readTask is an imported task.
type readTask struct {
	calls, names   string
	n, times       int
	results        int // of different calls, with the error
	rounds, again  int // answers that called; calls made again after they failed
	failed, tokens string
	answered       bool
	outcome        callvet.Outcome
}

func taskOf(a *trace.Attempt) readTask {
	r := readTask{tokens: "no", outcome: a.Trace.Outcome, answered: strings.HasPrefix(a.Trace.Answer, scriptedText)}
	if u := a.Trace.Usage; u.Known {
		r.tokens = fmt.Sprintf("%d in, %d out", u.InputTokens, u.OutputTokens)
	}
	for _, t := range a.Trace.Turns {
		r.rounds += min(1, len(t.Calls))
	}
	var list, names, failed, ids []string
	for _, call := range a.Trace.Calls() {
		key := call.Tool + " " + sameArgs(call.Args)
		if n := len(list); n > 0 && len(failed) > 0 && key == list[n-1] && call.ID != "" &&
			!slices.Contains(ids, call.ID) {
			r.again++
			ids = append(ids, call.ID)
			continue
		}
		list, names, ids = append(list, key), append(names, call.Tool), append(ids, call.ID)
		switch {
		case call.Error != "":
			failed = append(failed, []string{"first", "second", "third"}[min(len(list), 3)-1]+": "+call.Error)
			r.results++
		case bytes.Contains(call.Result, []byte("18")):
			r.results++
		}
		if call.ExecMS > 0 {
			r.times++
		}
	}
	r.n, r.calls, r.names, r.failed = len(list), strings.Join(list, "; "), strings.Join(names, "; "),
		strings.Join(failed, ", ")
	return r
}

// follows reports whether the calls are the calls of the script, in its two answers.
func (r *readTask) follows(script string, args bool) bool {
	same := r.calls == script || !args && r.names == "get_weather; get_weather; book_flight"
	return same && r.rounds == 2+r.again && r.outcome == callvet.OutcomeCalled
}

// due returns the tokens of the answered requests of an attempt, 120 and 30 each.
func (r *readTask) due() string {
	n := r.rounds
	if r.answered {
		n++
	}
	return fmt.Sprintf("%d in, %d out", 120*n, 30*n)
}

// compare imports every form and returns the cells of the table. Each attempt of a file must be a
// whole task.
func (r *sdk) compare(c *proof.Check, forms []form) []string {
	var cells []string
	same := 0
	for i, f := range forms {
		as, report, err := imported(f.content)
		for _, s := range r.subjects() {
			c.Due(s, max(len(as), 1), "the list of SDKs and the captures")
		}
		if err != nil || len(as) == 0 {
			c.Compare(r.subjects()[0], r.name+", "+f.name, false, "no attempt: %v, %v", err, report.Seen)
			continue
		}
		good := true
		for k := range as {
			item := r.name + ", " + f.name
			if k > 0 {
				item += fmt.Sprintf(", task %d", k+1)
			}
			got := taskOf(&as[k])
			good = r.judge(c, item, &got) && good
			if i == 0 && k == 0 {
				cells = r.cells(&got, len(as))
			}
		}
		if good && (r.program == "" || len(as) == 1) {
			same++
		}
	}
	if cells == nil {
		cells = make([]string, 6)
	}
	cells = append(cells, fmt.Sprintf("%d of %d", same, len(forms)))
	c.Printf("%-48s %-7s %-9s %-7s %-7s %-7s %-6s %s\n", r.name, cells[0], cells[1], cells[2], cells[3], cells[4],
		cells[5], cells[6])
	return cells
}

func (r *sdk) cells(got *readTask, tasks int) []string {
	total := "-"
	var in, out int
	if n, err := fmt.Sscanf(got.tokens, "%d in, %d out", &in, &out); err == nil && n == 2 {
		total = fmt.Sprint(in + out)
	}
	if r.lost.calls != "" {
		return []string{"unknown", "-", "-", "-", total, fmt.Sprint(tasks)}
	}
	failed, _, _ := strings.Cut(got.failed, ":")
	if got.again > 0 {
		total += fmt.Sprintf(", %d calls again", got.again)
	}
	times := fmt.Sprintf("%d of 3", got.times)
	if r.lost.times != "" && r.program != "" {
		times = "-"
	}
	return []string{
		fmt.Sprintf("%d of 3", got.n), fmt.Sprintf("%d of 3", got.results), cmp.Or(failed, "-"), times,
		total, fmt.Sprint(tasks),
	}
}

func (r *sdk) subjects() []string {
	if r.lost.calls != "" {
		return []string{spanUnknown}
	}
	out := []string{spanCalls}
	if r.lost.results == "" {
		out = append(out, spanResults)
	}
	if !r.lost.failed {
		out = append(out, spanError)
	}
	if r.lost.times == "" {
		out = append(out, spanTimes)
	}
	if r.lost.tokens == "" {
		out = append(out, spanTokens)
	}
	return out
}

// judge compares one imported form with the script. In a capture the agent may have repeated the
// failing call, or answered before the end of the script.
func (r *sdk) judge(c *proof.Check, item string, got *readTask) bool {
	live := r.program != ""
	good := true
	compare := func(subject string, agree bool, detail string, args ...any) {
		good = c.Compare(subject, item, agree, detail, args...) && good
	}
	for _, s := range r.subjects() {
		switch s {
		case spanUnknown:
			compare(s, got.outcome == callvet.OutcomeError && got.n == 0, "%s, %s", got.outcome, got.calls)
		case spanCalls:
			want := strings.Join(scriptedCalls(), "; ")
			compare(s, got.follows(want, r.lost.args == "") && (got.again == 0 || !live),
				"want %s, got %s in %d answers, %d again, %s", want, got.calls, got.rounds, got.again, got.outcome)
		case spanResults:
			compare(s, got.results == 3 || got.results == 2 && r.lost.failed, "%d of 3", got.results)
		case spanError:
			compare(s, strings.HasPrefix(got.failed, "third: ") &&
				(strings.Contains(got.failed, "seat taken") || r.lost.reason != ""), "failed: %s", got.failed)
		case spanTimes:
			compare(s, got.times == 3, "%d of 3", got.times)
		case spanTokens:
			compare(s, got.tokens == scriptedUsage || !live && got.tokens == got.due(), "want %s, got %s",
				scriptedUsage, got.tokens)
		}
	}
	return good
}
