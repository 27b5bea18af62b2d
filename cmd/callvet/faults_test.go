// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/sys"
)

// faultsFolder is where the small inputs of others are.
func faultsFolder() string {
	if dir := os.Getenv("CALLVET_FAULTS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared", "faults")
}

// witness is what callvet shows of an attempt: its outcome, the reason or the kind of its fault,
// and its calls with their statuses.
type witness struct {
	Outcome, Why string
	Calls        []string
	Goal, Answer string
	Notes        []string
}

// ledger reads records of traces, by their task.
func ledger(t *testing.T, text []byte) map[string]witness {
	t.Helper()
	out := map[string]witness{}
	for line := range bytes.Lines(text) {
		var r struct {
			Type    string
			TaskID  string `json:"task_id"`
			Outcome string
			Reason  string
			Goal    string
			Notes   []string
			Answer  string `json:"final_answer"`
			Fault   *struct{ Kind string }
			Tool    string
			Status  string
		}
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		s := out[r.TaskID]
		if r.Type != "task" {
			s.Calls = append(s.Calls, strings.TrimSuffix(r.Tool+" "+r.Status, " "))
		} else {
			s.Outcome, s.Why, s.Goal, s.Answer, s.Notes = r.Outcome, r.Reason, r.Goal, r.Answer, r.Notes
			if r.Fault != nil {
				s.Why = r.Fault.Kind
			}
		}
		out[r.TaskID] = s
	}
	return out
}

// bench is a server, and a seat for commands.
type bench struct {
	t           *testing.T
	s           *seat
	base, token string
}

// newBench starts a server that may ask models of this machine, and logs in.
func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{
		t: t,
		s: &seat{dir: dir, env: map[string]string{
			"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db"),
			"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k",
		}},
	}
	owner := &sys.Group{}
	t.Cleanup(owner.Wait)
	stderr, stop := b.s.serve(t, owner, "--allow-private", "127.0.0.1")
	t.Cleanup(func() { stop() })
	var link []string
	for deadline := time.Now().Add(time.Minute); link == nil &&
		time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		link = startLink.FindStringSubmatch(stderr.String())
	}
	if link == nil {
		t.Fatalf("no link: %s", stderr)
	}
	b.base, _, _ = strings.Cut(link[1], "/#claim=")
	if code, out := b.types("correct horse battery\nroot\n", "login", link[1]); code != exitOK {
		t.Fatalf("login: exit %d: %s", code, out)
	}
	_, token, err := (&cli{getenv: func(k string) string { return b.s.env[k] }, now: time.Now}).remoteToken(b.base)
	if err != nil {
		t.Fatal(err)
	}
	b.token = token
	return b
}

// types runs a command.
func (b *bench) types(in string, args ...string) (code int, out string) {
	var buf bytes.Buffer
	code = b.s.run(b.t.Context(), &buf, in, args...)
	return code, buf.String()
}

// asks sends a request to the API.
func (b *bench) asks(method, path string, body []byte) (status int, answer []byte) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	if len(body) > 0 && body[0] == '{' && !strings.HasPrefix(path, "/api/traces?") {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, answer
}

// imported is the result of the command line and the API for a trace file.
func (b *bench) imported(name string, file []byte) (code int, here, there map[string]witness, said string) {
	b.t.Helper()
	path, out := filepath.Join(b.s.dir, filepath.Base(name)), filepath.Join(b.s.dir, "out.jsonl")
	_ = os.Remove(out)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		b.t.Fatal(err)
	}
	code, said = b.types("", "trace", "import", path, "-o", out)
	text, err := os.ReadFile(out)
	if err != nil && code != exitUsage {
		b.t.Fatalf("%s: exit %d: %s", name, code, said)
	}
	return code, ledger(b.t, text), b.collected(name, file), said
}

// collected is the result of the API for a trace file; nil if it refuses it.
func (b *bench) collected(name string, file []byte) map[string]witness {
	b.t.Helper()
	status, answer := b.asks(http.MethodPost, "/api/traces?collection="+url.QueryEscape(name), file)
	if status >= 300 {
		return nil
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" {
		b.t.Fatalf("%s: %v: %s", name, err, answer)
	}
	status, answer = b.asks(http.MethodGet, "/api/traces/"+made.ID+"/export?format=callvet", nil)
	if status != http.StatusOK {
		return nil
	}
	return ledger(b.t, answer)
}

// fault is an input with the right result for it.
type fault struct {
	// file is a name in the folder of faults; text, where it is set, is an input of our own.
	file, text string
	code       int
	want       map[string]witness
}

// same compares the right result with the actual one; only fields that are set in the right one
// count.
func same(want, got map[string]witness) string {
	cut := map[string]witness{}
	for id, g := range got {
		w := want[id]
		s := witness{Outcome: g.Outcome, Why: g.Why, Calls: g.Calls}
		if w.Goal != "" {
			s.Goal = g.Goal
		}
		if w.Answer != "" {
			s.Answer = g.Answer
		}
		if w.Notes != nil {
			s.Notes = g.Notes
		}
		cut[id] = s
	}
	return cmp.Diff(want, cut)
}

// calls are n calls of a tool.
func called(calls ...string) witness { return witness{Outcome: "called", Calls: calls} }

const thanks = "Thanks, what is your name?"

// ownFaults are inputs of our own, one of each kind.
func ownFaults() []fault {
	otlp := func(finish, in, text string) string {
		out := fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"text","content":%q}],"finish_reason":%q}]`,
			text, finish)
		return fmt.Sprintf(
			`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"aa","spanId":"1","name":"chat","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[`+
				`{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.input.messages","value":{"stringValue":%q}},{"key":"gen_ai.output.messages","value":{"stringValue":%q}}]}]}]}]}`, in, out)
	}
	const asked = `[{"role":"user","parts":[{"type":"text","content":"Ring Ann."}]}]`
	const twice = `[{"role":"user","parts":[{"type":"text","content":"Ring Ann."}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"ring","arguments":{}}]},` +
		`{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":"done"}]},{"role":"assistant","parts":[{"type":"text","content":"Done."}]},{"role":"user","parts":[{"type":"text","content":"Who are you?"}]}]`
	chat := func(finish, message string) string {
		return fmt.Sprintf(
			`{"id":"a","object":"chat.completion","choices":[{"index":0,"finish_reason":%q,"message":%s}]}`,
			finish, message)
	}
	// A call of Gemini with arguments that are streamed.
	const begun = `{"functionCall":{"name":"ring","willContinue":true}}`
	const grown = `{"functionCall":{"partialArgs":[{"jsonPath":"$.who","stringValue":"Ann"}]}}`
	gemini := func(parts ...string) string {
		return fmt.Sprintf(
			`{"key":"a","request":{"contents":[{"role":"user","parts":[{"text":"Ring Ann."}]}]},"response":{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP"}]}}`, strings.Join(parts, ","))
	}
	return []fault{
		{
			file: "own-stop.json", text: otlp("stop", asked, "No."),
			want: map[string]witness{"aa": {Outcome: "abstained", Goal: "Ring Ann.", Answer: "No."}},
		},
		{
			file: "own-length.json", text: otlp("length", asked, "No, be"), code: exitError,
			want: map[string]witness{"aa": {Outcome: "unparseable", Why: "token_limit"}},
		},
		{
			file: "own-filter.json", text: otlp("content_filter", asked, "No, be"), code: exitError,
			want: map[string]witness{"aa": {Outcome: "error", Why: "content_filter"}},
		},
		{
			file: "own-history.json", text: otlp("stop", twice, "I am a bot."),
			want: map[string]witness{"aa": {Outcome: "abstained", Goal: "Who are you?", Answer: "I am a bot."}},
		},
		{
			file: "own-markup.json", text: otlp("stop", asked, `<tool_call>{"name":"ring","arguments":{}}</tool_call>`),
			want: map[string]witness{"aa": called("ring")},
		},
		{
			file: "own-torn.json", text: otlp("stop", asked, `<tool_call>{"name":"ring","argu`), code: exitError,
			want: map[string]witness{"aa": {Outcome: "unparseable", Why: "unreadable_call"}},
		},
		{
			file: "own-chat.json", text: chat("stop", `{"role":"assistant","content":"No."}`),
			want: map[string]witness{"a": {Outcome: "abstained"}},
		},
		{
			file: "own-refusal.json", text: chat("refusal", `{"role":"assistant","content":"No."}`), code: exitError,
			want: map[string]witness{"a": {Outcome: "error", Why: "refusal"}},
		},
		{
			file: "own-other.json", text: chat("other", `{"role":"assistant","content":"No."}`), code: exitError,
			want: map[string]witness{"a": {Outcome: "error", Why: "unknown"}},
		},
		{
			file: "own-silent.json", text: chat("tool_calls", `{"role":"assistant","content":"No."}`), code: exitError,
			want: map[string]witness{"a": {Outcome: "error", Why: "malformed"}},
		},
		{
			file: "own-roles.json",
			text: `{"id":"a","messages":[{"role":"user","content":"Ring."},{"role":"assistant","content":"No."},{"role":"critic","content":"Bad."},{"role":"info","content":"x"}]}`,
			want: map[string]witness{"a": {Outcome: "abstained", Answer: "No.", Notes: []string{"stop not recorded"}}},
		},
		{
			file: "own-error.jsonl",
			text: `{"id":"a","messages":[{"role":"user","content":"Ring."},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"ring","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"Error: busy"},{"role":"assistant","content":"Busy."}]}`,
			want: map[string]witness{"a": called("ring exec_error")},
		},
		{
			file: "own-names.json",
			text: `{"trace":{"id":"a","input":"Ring."},"observations":[{"id":"g","traceId":"a","type":"GENERATION","startTime":"2026-01-01T00:00:01Z","input":[{"role":"user","content":"Ring."}],"output":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"ring","arguments":"{}"}}]}},` +
				`{"id":"x","traceId":"a","type":"TOOL","name":"tool run","startTime":"2026-01-01T00:00:02Z","input":{},"output":"ok","metadata":{"attributes":{"gen_ai.tool.name":"ring","gen_ai.tool.call.id":"c"}}}]}`,
			want: map[string]witness{"a": called("ring ok")},
		},
		{file: "own-growing.json", text: gemini(begun, grown), want: map[string]witness{"a": called("ring")}},
		{
			file: "own-unfinished.json", text: gemini(begun),
			want: map[string]witness{"a": {
				Outcome: "unparseable", Why: "unreadable_arguments",
				Calls: []string{"ring"},
			}},
		},
		{
			file: "own-contents.json",
			text: `{"id":"a","messages":[{"role":"user","parts":[{"text":"Ring Ann."}]},{"role":"model","parts":[` +
				begun + `]},{"role":"model","parts":[` + grown + `]}]}`,
			want: map[string]witness{"a": called("ring")},
		},
		{
			file: "own-nan.jsonl",
			text: "{\"id\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"Ring \\ud800.\"},{\"role\":\"assistant\",\"content\":\"No.\",\"score\":NaN}]}\n", want: map[string]witness{"a": {Outcome: "abstained"}},
		},
	}
}

// sharedFaults are the trace files of the folder.
func sharedFaults() []fault {
	one := func(id string, w witness) map[string]witness { return map[string]witness{id: w} }
	cut := witness{Outcome: "unparseable", Why: "token_limit"}
	return slices.Concat([]fault{
		{
			file: "evidence/history/langfuse-both.jsonl",
			want: map[string]witness{
				"t1": called("get_weather ok"),
				"t2": {Outcome: "abstained", Goal: thanks, Answer: "I am Bot."},
			},
		},
		{
			file: "evidence/history/hist_turn2.json",
			want: one(strings.Repeat("b", 32), witness{Outcome: "abstained", Goal: thanks}),
		},
		{
			file: "evidence/history/aisdk-turn2.json",
			want: one(strings.Repeat("c", 32), witness{Outcome: "abstained", Goal: "Thanks, your name?"}),
		},
		{file: "evidence/history/langfuse-turn2.json", want: one("t2", witness{Outcome: "abstained", Goal: thanks})},
		{
			file: "evidence/history/hist_both.json",
			want: map[string]witness{
				strings.Repeat("a", 32): called("get_weather ok"),
				strings.Repeat("b", 32): {Outcome: "abstained", Goal: thanks},
			},
		},
		{file: "evidence/truncated/otlp-length.json", code: exitError, want: one(strings.Repeat("a", 32), cut)},
		{file: "evidence/langfuse/pydantic-ai-calls-twice.json", want: one("t1", called("web_search ok"))},
		{file: "evidence/roles/error-role.json", want: one("task-1", witness{Outcome: "abstained", Answer: "Hello."})},
		{file: "evidence/text-calls/trace.jsonl", code: exitError, want: textCalls()},
		{
			file: "evidence/text-calls/cline-api-history.json", code: exitError,
			want: one("task-1", witness{Outcome: "error", Why: "malformed"}),
		},
		{file: "newcomer/err.jsonl", want: one("s1", called("get_weather exec_error"))},
	}, clientFaults(), coderFaults())
}

// clientFaults are files of clients, frameworks and logs.
func clientFaults() []fault {
	differ := witness{Outcome: "called", Calls: []string{"get_weather ok"}, Answer: "20", Notes: []string{
		"the executed arguments of a call of get_weather differ from those that the model gave: city",
	}}
	words := func(w witness, goal, answer string) witness {
		w.Goal, w.Answer = goal, answer
		return w
	}
	row := func(file, id string, w witness) fault {
		return fault{file: "evidence/fmt/" + file, want: map[string]witness{id: w}}
	}
	const weather = "Weather in Paris?"
	return []fault{
		row("otlp-args-differ.json", strings.Repeat("a", 32), differ),
		row("claude-code.jsonl", "s1", words(called("Read ok", "Read exec_error"), "compare a and b", "b is missing.")),
		row("claude-stream.jsonl", "s1", words(called("Bash ok"), "", "two files")),
		row("codex-rollout.jsonl", "s1", words(called("shell ok", "apply_patch ok"), "run date", "done")),
		row("gemini-stream.jsonl", "s1", words(called("list_directory ok"), "list", "one file")),
		row("gemini-cli-session.json", "s-1",
			words(called("run_shell_command exec_error", "read_file ok", "run_shell_command"), "run the tests",
				"The test fails.")),
		row("pydantic-ai.json", "task-1",
			words(called("get_weather ok", "get_weather exec_error"), "Weather in Paris and Rome?", "Paris 20.")),
		row("autogen.jsonl", "task-1", words(called("get_weather ok"), weather, "It is 20.")),
		row("phoenix-rest.json", "aa", words(called("get_weather ok"), weather, "")),
		row("phoenix-spans.json", "aa", words(called("get_weather ok"), weather, "")),
		row("openai-run-steps.json", "run_1", called("get_weather ok")),
		row("langgraph-state.json", "t1", words(called("get_weather ok"), weather, "It is 20.")),
		row("smolagents.json", "task-1", words(called("get_weather ok", "final_answer ok"), weather, "20")),
		row("bedrock-invocation-log.jsonl", "r1", words(called("get_weather"), weather, "")),
		row("litellm-log.jsonl", "x", words(called("get_weather"), weather, "")),
		row("vscode-copilot-chat.json", "task-1", words(called("list_dir ok"), "list files", "One file.")),
		row("vercel-ui-v4.json", "task-1", words(called("get_weather ok"), weather, "20")),
		row("strands-messages.json", "task-1",
			words(called("get_weather exec_error"), weather, "The service is down.")),
		row("anthropic-server-tools.json", "task-1",
			words(called("web_search ok", "echo ok", "computer ok"), "news on X?", "done")),
		{
			file: "evidence/fmt/mini-swe.traj.json", code: exitError,
			want: map[string]witness{"task-1": {Outcome: "error", Why: "malformed"}},
		},
	}
}

// coderFaults are what coding agents recorded: each made two shell calls at once, and the second
// failed. Gemini's stream records that both succeeded; a recorded status decides.
func coderFaults() []fault {
	const done = "All done: it printed the mark."
	row := func(file, id, goal, answer string, calls ...string) fault {
		return fault{
			file: "evidence/coders/" + file,
			want: map[string]witness{id: {Outcome: "called", Calls: calls, Goal: goal, Answer: answer}},
		}
	}
	return []fault{
		row("claude-messages-unwrapped.json", "task-1", "print the mark", done, "Bash ok", "Bash exec_error"),
		row("claude-session.jsonl", "5adaae96-75a4-4e81-9c06-904255202884", "print the mark", done, "Bash ok",
			"Bash exec_error"),
		row("claude-stdout.jsonl", "5adaae96-75a4-4e81-9c06-904255202884", "", done, "Bash ok", "Bash exec_error"),
		row("codex-session.jsonl", "task-1", "print the mark", done, "exec_command ok", "exec_command exec_error"),
		row("gemini-stdout.jsonl", "20abeebb-ce16-4eff-958a-90f5725f266d", "print the mark", done,
			"run_shell_command ok", "run_shell_command ok"),
		row("opencode-stdout.jsonl", "ses_ddd896c90ffeTfxcvKrEFoU1eb", "", "", "bash exec_error", "bash ok"),
	}
}

// textCalls are the attempts of text-calls in a trace file, which does not record the offered tools.
func textCalls() map[string]witness {
	out := map[string]witness{"hermes_broken": {Outcome: "unparseable", Why: "unreadable_call"}}
	for _, id := range strings.Fields(
		`hermes qwen3coder glm45 deepseek deepseek_dsml mistral_new llama31 llama_bare anthropic_xml harmony phi4 granite_fn
		xlam olmo internlm think_hermes openai_leak to_functions longcat ernie lfm2`) {
		out[id] = called("get_weather")
	}
	for _, id := range []string{"pythonic", "gemma_print", "react_json"} {
		out[id] = witness{Outcome: "error", Why: "malformed"}
	}
	return out
}

// right compares a fault by command line and through the API.
func (b *bench) right(f *fault, file []byte) {
	b.t.Helper()
	code, here, there, said := b.imported(f.file, file)
	if code != f.code {
		b.t.Errorf("%s: exit %d, want %d: %.300s", f.file, code, f.code, said)
	}
	if d := same(f.want, here); d != "" {
		b.t.Errorf("%s (-want +got):\n%s", f.file, d)
	}
	if d := same(f.want, there); d != "" {
		b.t.Errorf("%s: through the API (-want +got):\n%s", f.file, d)
	}
	body, err := json.Marshal(map[string]string{"traces": string(file)})
	if err != nil {
		b.t.Fatal(err)
	}
	status, answer := b.asks(http.MethodPost, "/api/score", body)
	if d := cmp.Diff(tally(f.want), scored(b.t, answer)); d != "" || status != http.StatusOK {
		b.t.Errorf("%s: scored through the API: %d (-want +got):\n%s", f.file, status, d)
	}
	code, text := b.types("", "score", filepath.Join(b.s.dir, filepath.Base(f.file)), "--json")
	if d := cmp.Diff(tally(f.want), scored(b.t, []byte(text))); d != "" || code != exitOK {
		b.t.Errorf("%s: scored: exit %d (-want +got):\n%s", f.file, code, d)
	}
}

// tally counts attempts, errors, calls, and why attempts are neither called nor abstained.
func tally(all map[string]witness) map[string]int {
	out := map[string]int{"attempts": len(all)}
	for _, w := range all {
		if out["calls"] += len(w.Calls); w.Why != "" {
			out[w.Outcome+" "+w.Why]++
		}
	}
	return out
}

// scored is the tally in a report on traces.
func scored(t *testing.T, report []byte) map[string]int {
	t.Helper()
	type panels struct {
		Targets []struct {
			Overall struct {
				Cells   int
				Reasons []struct {
					Outcome, Reason string
					N               int
				}
				Metrics []struct {
					Name     string
					Interval struct {
						Point float64
						N     int
					}
				}
			}
		}
	}
	var r struct {
		panels
		Panels panels
	}
	if err := json.NewDecoder(bytes.NewReader(report[max(0, bytes.IndexByte(report, '{')):])).Decode(&r); err != nil {
		t.Fatalf("%v: %.300s", err, report)
	}
	out := map[string]int{"calls": 0} // attempts that ended in an error are in no mean of calls
	for _, target := range slices.Concat(r.Targets, r.Panels.Targets) {
		o := &target.Overall
		out["attempts"] += o.Cells
		for _, why := range o.Reasons {
			out[why.Outcome+" "+why.Reason] += why.N
		}
		for _, m := range o.Metrics {
			if m.Name == "calls_per_attempt" {
				out["calls"] += int(math.Round(m.Interval.Point * float64(m.Interval.N)))
			}
		}
	}
	return out
}

// ends are the outcomes, reasons and calls of attempts.
func ends(all map[string]witness) map[string]string {
	out := map[string]string{}
	for id, s := range all {
		out[id] = s.Outcome + " " + s.Why + " " + strings.Join(s.Calls, ",")
	}
	return out
}

// TestUnracedFaultsOwn: inputs of each kind that was wrong once, with the right answers.
func TestUnracedFaultsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, f := range ownFaults() {
		b.right(&f, []byte(f.text))
	}
}

// TestUnracedFaultsTraces: the trace files of the folder of faults.
func TestUnracedFaultsTraces(t *testing.T) {
	t.Parallel()
	dir := folderOfFaults(t)
	b := newBench(t)
	for _, f := range sharedFaults() {
		file, err := os.ReadFile(filepath.Join(dir, f.file))
		if err != nil {
			t.Fatal(err)
		}
		b.right(&f, file)
	}
}

// folderOfFaults skips where the folder is not there.
func folderOfFaults(t *testing.T) string {
	t.Helper()
	dir := faultsFolder()
	if _, err := os.Stat(filepath.Join(dir, "evidence")); err != nil {
		t.Skipf("SKIPPED: no inputs with right answers in %s; set CALLVET_FAULTS to check against them", dir)
	}
	return dir
}

// modelServer answers each request with the body that its last message asks for.
func modelServer(t *testing.T, answer func(asked string) (typ, body string)) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		typ, text := answer(string(body))
		w.Header().Set("Content-Type", typ)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// run is the output of a run of a suite, and its exit code.
func (b *bench) run(suite string, args ...string) (code int, all map[string]witness) {
	b.t.Helper()
	out := filepath.Join(b.s.dir, "attempts.jsonl")
	_ = os.Remove(out)
	code, said := b.types("",
		append([]string{"run", suite, "--no-cache", "-q", "--require-pass", "-o", out}, args...)...)
	text, err := os.ReadFile(out)
	if err != nil {
		b.t.Fatalf("%s: exit %d: %s", suite, code, said)
	}
	all = ledger(b.t, text)
	if d := cmp.Diff(ends(all), ends(ledger(b.t, b.newest("/export?format=jsonl")))); d != "" {
		b.t.Errorf("%s %v: the API shows something else (-here +there):\n%s", suite, args, d)
	}
	return code, all
}

// newest is a resource of the newest run, as the API has it.
func (b *bench) newest(path string) []byte {
	b.t.Helper()
	status, answer := b.asks(http.MethodGet, "/api/tool-eval/history?limit=1", nil)
	var list struct {
		Items []struct {
			ID string `json:"id"`
		}
	}
	if err := json.Unmarshal(answer, &list); err != nil || len(list.Items) == 0 {
		b.t.Fatalf("list of runs: %d, %v: %.300s", status, err, answer)
	}
	if status, answer = b.asks(http.MethodGet, "/api/runs/"+list.Items[0].ID+path, nil); status != http.StatusOK {
		b.t.Fatalf("run %s: %d: %.300s", list.Items[0].ID, status, answer)
	}
	return answer
}

// ran is the result of the command line and of a server for a suite with its model at an address.
func (b *bench) ran(suite, base string) (code int, here, there map[string]witness) {
	b.t.Helper()
	code, here = b.run(suite, "-m", "openai/m", "--base-url", base, "--no-lint", "--retries", "0")
	again, there := b.run(suite, "-m", "openai/m", "--base-url", base, "--remote", b.base)
	if code != again {
		b.t.Errorf("%s: exit %d here, %d on a server", suite, code, again)
	}
	return code, here, there
}

// recordedBodies are the outputs of a recording by the prompts of the cases of a suite.
func recordedBodies(t *testing.T, suite, rows []byte) map[string]string {
	t.Helper()
	var s struct{ Cases []struct{ ID, Prompt string } }
	if err := json.Unmarshal(suite, &s); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range bytes.Lines(rows) {
		var r struct {
			ID     string `json:"case_id"`
			Output json.RawMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Cases {
			if c.ID == r.ID {
				out[c.Prompt] = string(r.Output)
			}
		}
	}
	return out
}

// TestUnracedFaultsRuns: suites of the folder of faults, recorded, at a model here, and on a server.
func TestUnracedFaultsRuns(t *testing.T) {
	t.Parallel()
	dir := folderOfFaults(t)
	b := newBench(t)
	texts := filepath.Join(dir, "evidence", "text-calls")
	bodies := recordedBodies(t, readFile(t, texts, "suite_no.json"), readFile(t, texts, "rec.jsonl"))
	spelled := modelServer(t, func(asked string) (string, string) {
		for prompt, body := range bodies {
			if strings.Contains(asked, prompt) {
				return "application/json", body
			}
		}
		return "application/json", `{}` // the case has no answer
	})
	stopped := modelServer(t, func(string) (string, string) {
		return "application/json",
			`{"choices":[{"finish_reason":"length","message":{"role":"assistant","content":"Let me check the weath"}}]}`
	})
	for _, tt := range []struct {
		folder, suite, recording, base string
		want                           map[string]witness
	}{
		{"text-calls", "suite_no.json", "rec.jsonl", spelled, spelledCalls()},
		{
			"truncated", "suite.yaml", "recorded.jsonl", stopped,
			map[string]witness{"none": {Outcome: "unparseable", Why: "token_limit"}},
		},
	} {
		at := filepath.Join(dir, "evidence", tt.folder)
		suite := filepath.Join(at, tt.suite)
		code, recorded := b.run(suite, "-m", "recorded:"+filepath.Join(at, tt.recording), "--no-lint")
		maps.DeleteFunc(recorded, func(_ string, s witness) bool { return s.Outcome == "not_run" }) // it has no row
		if d := same(tt.want, recorded); d != "" || code != exitGateFailed {
			t.Errorf("%s, recorded: exit %d (-want +got):\n%s", tt.folder, code, d)
		}
		code, here, there := b.ran(suite, tt.base+"/v1")
		for _, all := range []map[string]witness{here, there} {
			maps.DeleteFunc(all,
				func(id string, s witness) bool { return tt.want[id].Outcome == "" && s.Outcome == "error" })
			if d := same(tt.want, all); d != "" || code != exitGateFailed {
				t.Errorf("%s: exit %d (-want +got):\n%s", tt.folder, code, d)
			}
		}
	}
}

// spelledCalls are the attempts of text-calls in a run, which has the offered tools.
func spelledCalls() map[string]witness {
	out := textCalls()
	for _, id := range []string{"pythonic", "gemma_print", "react_json"} {
		out[id] = called("get_weather")
	}
	return out
}

// notListed is an agent's answer that reports calls and does not list them.
const notListed = `{"session":"s","response":"I rang Ann.","stats":{"tools":{"totalCalls":1}}}`

// quietSuite has one case, which expects no call.
const quietSuite = "name: s\ntools:\n  - {name: ring, description: Rings., parameters: {type: object}}\ncases:\n  - {id: quiet, prompt: Say hi., expect: {no_call: true}}\n"

// TestUnracedFaultsAgent: JSON of an agent without a place for calls does not show that nothing was called.
func TestUnracedFaultsAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent(quietSuite, "quiet", notListed)
	if at := filepath.Join(faultsFolder(), "evidence", "gemini-json"); dirExists(at) {
		b.agent(string(readFile(t, at, "suite.yaml")), "notouch", string(readFile(t, at, "answer.json")))
	}
}

// agent runs a suite with an agent that gives an answer: a command, and an address.
func (b *bench) agent(suite, id, answer string) {
	b.t.Helper()
	writeFiles(b.t, b.s.dir, map[string]string{"suite.yaml": suite, "answer.json": answer})
	base := modelServer(b.t, func(string) (string, string) { return "application/json", answer })
	want := map[string]witness{id: {Outcome: "error", Why: "malformed"}}
	for _, target := range []string{"exec:cat answer.json", base + "/agent"} {
		code, got := b.run(filepath.Join(b.s.dir, "suite.yaml"), "-m", target, "--no-lint", "--retries", "0")
		if d := same(want, got); d != "" || code != exitError {
			b.t.Errorf("%s: exit %d (-want +got):\n%s", target, code, d)
		}
	}
}

func dirExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// weatherSuite has one case, which expects a call.
const weatherSuite = "name: s\ntools:\n  - {name: get_weather, description: Weather., parameters: {type: object, properties: {city: {type: string}}}}\n" +
	"cases:\n  - {id: one, prompt: Weather?, expected_tool: get_weather}\n"

// TestUnracedFaultsStreams: calls that servers stream in unusual ways.
func TestUnracedFaultsStreams(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	writeFiles(t, b.s.dir, map[string]string{"suite.yaml": weatherSuite})
	piece := func(id, args string) string {
		return fmt.Sprintf(
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":"get_weather","arguments":%q}}]}}]}`, id, args)
	}
	const last, none = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `{"choices":[]}`
	for _, tt := range []struct {
		name   string
		pieces []string
		calls  []string
		code   int
	}{
		{
			"one index, two ids",
			[]string{piece("a", `{"city":"Paris"}`), piece("b", `{"city":"Rome"}`), last},
			[]string{"get_weather", "get_weather"},
			exitGateFailed,
		},
		{
			"a name in each chunk",
			[]string{piece("a", `{"city":`), piece("a", `"Paris"}`), last},
			[]string{"get_weather"},
			exitOK,
		},
		{
			"cumulative arguments",
			[]string{piece("a", `{"city":`), piece("a", `{"city":"Paris"}`), last},
			[]string{"get_weather"},
			exitOK,
		},
		{"calls, then no ending", []string{piece("a", `{"city":"Paris"}`), none}, []string{"get_weather"}, exitOK},
	} {
		base := modelServer(t, func(string) (string, string) {
			return "text/event-stream", "data: " + strings.Join(tt.pieces, "\n\ndata: ") + "\n\ndata: [DONE]\n\n"
		})
		code, got := b.run(filepath.Join(b.s.dir, "suite.yaml"), "-m", "openai/m", "--base-url", base+"/v1",
			"--no-lint", "--stream", "--retries", "0")
		if d := same(map[string]witness{"one": called(tt.calls...)}, got); d != "" || code != tt.code {
			t.Errorf("%s: exit %d, want %d (-want +got):\n%s", tt.name, code, tt.code, d)
		}
	}
}

// TestUnracedFaultsPrices: tokens written to a cache are paid.
func TestUnracedFaultsPrices(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	writeFiles(t, b.s.dir, map[string]string{
		"suite.yaml": "name: s\ncases:\n  - {id: one, prompt: Hi., expect: {response: {non_empty: true}}}\n",
		"list.json":  `{"own":{"litellm_provider":"anthropic","mode":"chat","input_cost_per_token":2e-6,"cache_read_input_token_cost":2e-7,"cache_creation_input_token_cost":3e-6,"output_cost_per_token":1e-5}}`,
	})
	base := modelServer(t, func(string) (string, string) {
		return "application/json",
			`{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":10,"cache_creation_input_tokens":300,"cache_read_input_tokens":900,"output_tokens":100}}`
	})
	b.costs("list.json", "own", base, "0.002100")
	if list, err := filepath.Abs(filepath.Join(faultsFolder(), "evidence", "cost",
		"litellm-prices.json")); err == nil && dirExists(filepath.Dir(list)) {
		b.costs(list, "anth", base, "0.001475")
	}
}

// costs compares the cost of a run by a list of prices, in the file of attempts and by the API.
func (b *bench) costs(list, model, base, want string) {
	b.t.Helper()
	if code, said := b.types("", "prices", list, "-o", "prices.json"); code != exitOK {
		b.t.Fatalf("%s: exit %d: %s", list, code, said)
	}
	code, _ := b.run(filepath.Join(b.s.dir, "suite.yaml"), "-m", "anthropic/"+model, "--base-url", base, "--no-lint",
		"--prices", "prices.json")
	var attempt struct {
		Cost float64 `json:"cost_usd"`
	}
	if err := json.Unmarshal(readFile(b.t, b.s.dir, "attempts.jsonl"), &attempt); err != nil {
		b.t.Fatal(err)
	}
	var report struct {
		Panels struct {
			Targets []struct {
				Overall struct {
					Usage struct {
						Cost float64 `json:"cost_usd"`
					}
				}
			}
		}
	}
	if err := json.Unmarshal(b.newest(""), &report); err != nil || len(report.Panels.Targets) != 1 {
		b.t.Fatalf("%s: %v, %+v", list, err, report)
	}
	got := fmt.Sprintf("%d %.6f %.6f", code, attempt.Cost, report.Panels.Targets[0].Overall.Usage.Cost)
	if d := cmp.Diff(fmt.Sprintf("%d %s %s", exitOK, want, want), got); d != "" {
		b.t.Errorf("%s: %s", list, d)
	}
}

// TestUnracedFaultsSchemas: an MCP server with schemas that clients drop is read with a warning for each.
func TestUnracedFaultsSchemas(t *testing.T) {
	t.Parallel()
	dir := folderOfFaults(t)
	script, err := filepath.Abs(filepath.Join(dir, "evidence", "mcp", "odd-schemas.py"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.s.env["PATH"] = os.Getenv("PATH")
	code, said := b.types("", "mcp", "import", "--command", "python3 "+script+" a", "-o", "suite.yaml")
	srv := modelServer(t,
		func(asked string) (string, string) { return "application/json", mcpAnswer(t, script, asked) })
	status, answer := b.asks(http.MethodPost, "/api/mcp/discover", []byte(`{"url":"`+srv+`"}`))
	linted, lint := b.types("", "lint", "suite.yaml")
	body, err := json.Marshal(map[string]string{"text": string(readFile(t, b.s.dir, "suite.yaml"))})
	if err != nil {
		t.Fatal(err)
	}
	kept, problems := b.asks(http.MethodPost, "/api/lint", body)
	// the suite has no cases
	if code != exitOK || status != http.StatusOK || linted != exitUsage || kept != http.StatusOK {
		t.Errorf("exit %d, status %d, lint: exit %d, status %d: %s%s", code, status, linted, kept, said, lint)
	}
	for _, word := range []string{
		"read_file out: the schema of its arguments has no type",
		"op out: the schema of its arguments has oneOf", "op out: the schema of its results has no type",
	} {
		for how, text := range map[string]string{
			"mcp import": said, "discover": string(answer), "lint": lint,
			"API lint": string(problems),
		} {
			// a suite keeps no schema of results
			if strings.Contains(word, "results") && strings.HasSuffix(how, "lint") {
				continue
			}
			if !strings.Contains(text, word) {
				t.Errorf("%s: no warning %q: %.600s", how, word, text)
			}
		}
	}
}

// mcpAnswer is the answer of a server over standard input to one message.
func mcpAnswer(t *testing.T, script, asked string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", script, "a")
	cmd.Stdin = strings.NewReader(asked + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v", asked, err)
	}
	return string(out)
}

// TestUnracedFaultsToolSpec: the form of Bedrock for tools is read in a suite of promptfoo.
func TestUnracedFaultsToolSpec(t *testing.T) {
	t.Parallel()
	dir := folderOfFaults(t)
	b := newBench(t)
	suite := readFile(t, dir, "evidence/promptfoo/toolspec.yaml")
	writeFiles(t, b.s.dir, map[string]string{"suite.yaml": string(suite)})
	if code, said := b.types("", "lint", "suite.yaml"); code != exitOK || !strings.Contains(said, "1 case, no errors") {
		t.Errorf("lint: exit %d: %s", code, said)
	}
	code, said := b.types("", "convert", "suite.yaml", "--to", "callvet", "-o", "out.json")
	if code != exitOK {
		t.Fatalf("convert: exit %d: %s", code, said)
	}
	status, answer := b.asks(http.MethodPost, "/api/tool-eval/import", suite)
	var made struct {
		ID string `json:"suite_id"`
	}
	if err := json.Unmarshal(answer, &made); err != nil || status != http.StatusCreated {
		t.Fatalf("import: %d, %v: %s", status, err, answer)
	}
	status, exported := b.asks(http.MethodGet, "/api/tool-suites/"+made.ID+"/export?format=callvet", nil)
	if status != http.StatusOK {
		t.Fatalf("export: %d: %s", status, exported)
	}
	for how, text := range map[string][]byte{"convert": readFile(t, b.s.dir, "out.json"), "API": exported} {
		var s struct {
			Tools []struct {
				Name       string
				Parameters struct{ Required []string }
			}
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("%s: %v: %s", how, err, text)
		}
		if got := fmt.Sprint(s.Tools); got != "[{get_weather {[city]}}]" {
			t.Errorf("%s: tools %s", how, got)
		}
	}
}

// TestUnracedFaultsLost: a value that JSON does not have does not hide an incident.
func TestUnracedFaultsLost(t *testing.T) {
	t.Parallel()
	dir := folderOfFaults(t)
	b := newBench(t)
	from := filepath.Join(dir, "decisions", "lost-lines")
	for _, name := range []string{"m_plain.jsonl", "m_surrogate.jsonl", "m_nan.jsonl"} {
		abs, err := filepath.Abs(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Dir(abs)
		if code, out := b.types("", "gate", abs, "--gates", filepath.Join(at, "zero3.yaml"), "--safety",
			filepath.Join(at, "safety.yaml")); code != exitGateFailed {
			t.Errorf("%s: exit %d: %s", name, code, out)
		}
		status, answer := b.asks(http.MethodPost, "/api/traces?collection="+name, readFile(t, from, name))
		var made struct{ ID string }
		if err := json.Unmarshal(answer, &made); err != nil || status >= 300 {
			t.Errorf("%s: %d: %s", name, status, answer)
			continue
		}
		body, err := json.Marshal(map[string]any{
			"gates":  string(readFile(t, from, "zero3.yaml")),
			"safety": map[string]bool{"deny_pii": true, "deny_private": true},
		})
		if err != nil {
			t.Fatal(err)
		}
		if status, answer = b.asks(http.MethodPost, "/api/traces/"+made.ID+"/gate", body); status != http.StatusOK ||
			!bytes.Contains(answer, []byte(`"verdict":"FAIL"`)) {
			t.Errorf("%s: %d: %.400s", name, status, answer)
		}
	}
}

// endlessSuite is a suite with a small schema that asks for 2^40 steps.
func endlessSuite() (suite, schema string) {
	var defs []string
	for i := range 40 {
		defs = append(defs, fmt.Sprintf(`"e%d":{"anyOf":[{"$ref":"#/$defs/e%d"},{"$ref":"#/$defs/e%d"}]}`, i, i+1, i+1))
	}
	schema = `{"type":"object","properties":{"q":{"$ref":"#/$defs/e0"}},"$defs":{` +
		strings.Join(append(defs, `"e40":{"type":"integer"}`), ",") + `}}`
	return `{"name":"s","tools":[{"name":"dig","description":"Digs.","parameters":` + schema +
		`}],"cases":[{"id":"one","prompt":"Dig.","expected_tool":"dig"}]}`, schema
}

// TestUnracedFaultsEndless: a schema without end ends with an error that names it, in every command and on a server.
func TestUnracedFaultsEndless(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	suite, schema := endlessSuite()
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"dig","arguments":"{\"q\":\"x\"}"}}]}`
	writeFiles(t, b.s.dir, map[string]string{
		"suite.json": suite,
		"rec.jsonl":  `{"case_id":"one","output":` + call + "}\n",
		"t.jsonl":    `{"task_id":"one","turn_id":1,"call_id":"c","tool":"dig","args":{"q":"x"},"status":"ok"}` + "\n",
		"tools.json": `[{"name":"dig","description":"Digs.","parameters":` + schema + `}]`,
		"server.py": `import json, sys
for line in sys.stdin:
    q = json.loads(line)
    if "id" not in q: continue
    r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}} if q["method"] == "initialize" else {"tools": [{"name": "dig", "description": "Digs.", "inputSchema": ` + schema + `}]}
    print(json.dumps({"jsonrpc": "2.0", "id": q["id"], "result": r}), flush=True)
`,
	})
	b.s.env["PATH"] = os.Getenv("PATH")
	at := func(name string) string { return filepath.Join(b.s.dir, name) }
	for _, args := range [][]string{
		{"lint", at("suite.json")},
		{"run", at("suite.json"), "-m", "recorded:" + at("rec.jsonl"), "-q"},
		{"run", at("suite.json"), "-m", "recorded:" + at("rec.jsonl"), "--no-lint"},
		{"score", at("t.jsonl"), "--tools", at("tools.json")},
		{"mcp", "import", "--command", "python3 " + at("server.py"), "-o", at("mcp.yaml")},
		{"run", at("suite.json"), "-m", "openai/m", "--base-url", b.base, "--remote", b.base},
	} {
		start := time.Now()
		code, out := b.types("", args...)
		if !strings.Contains(out, "schema-without-end") || code == exitOK && args[0] != "score" && args[0] != "mcp" {
			t.Errorf("%v: exit %d: %s", args[:1], code, out)
		}
		if took := time.Since(start); took > 10*time.Second { // a second where the machine is idle
			t.Errorf("%v: %v", args[:1], took)
		}
	}
}

// TestUnracedFaultsDocuments: files as others write them are read whole, and right suites have no error.
func TestUnracedFaultsDocuments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db")}}
	const tool = "tools:\n  - {name: stock, description: Counts a shelf., read_only: true, parameters: {type: object, properties: {shelf: {type: string}, place: {type: object, properties: {street: {type: string}}}}, required: [shelf]}}\n"
	writeFiles(t, dir, map[string]string{
		"rubric.json": `[{"id":"r-1","description":"kind","input":{"message":"Greet Ann."},"rubric":[{"dimension":"tone","maxScore":1,"criteria":"1 = kind"}]}]`,
		"llm.yaml":    "prompts: ['{{q}}']\nproviders: [openai:x]\ntests: [{vars: {q: Greet Ann.}, assert: [{type: llm-rubric, value: is kind}]}]\n",
		"numbers.yaml": "name: s\n" + tool +
			"mocks: [{tool: stock, args: {shelf: A}, result: {left: 12}}]\ncases:\n  - {id: a, prompt: What is on shelf A?, expect: {calls: [{tool: stock, args: {shelf: A}, result_check: left == 12}], response: {contains: ['12'], no_ungrounded_numbers: true}}}\n",
		"wrong.yaml": "name: s\n" + tool +
			"mocks: [{tool: stock, args: {shelf: A}, result: {left: 7}}]\ncases:\n  - {id: a, prompt: What is on shelf A?, expect: {calls: [{tool: stock, args: {shelf: A}, result_check: left == 12}], response: {contains: ['12']}}}\n",
		"live.yaml": "name: s\n" + tool +
			"cases:\n  - {id: a, prompt: What is on shelf A?, multi_turn: {max_rounds: 3}, expect: {calls: [{tool: stock, args: {shelf: A}, result_check: left > 1}], response: {contains: ['12']}}}\n",
		"typo.yaml": "name: s\n" + tool +
			"cases:\n  - {id: a, prompt: What is there?, expect: {calls: [{tool: stock, params: {shelf: {mode: present}, place.stret: {mode: contains, value: Main}}}]}}\n",
		"table.yaml":    "prompts: ['Ask: {{q}}']\nproviders: [openai:x]\ntests: file://rows.csv\n",
		"rows.csv":      "q,__expected,__description\n\"Hi, Ann\",contains: Ann,one\nBye,Bye,two\n",
		"scenario.yaml": "prompts: ['{{q}}']\nproviders: [openai:x]\nscenarios:\n  - config: [{vars: {who: Ann}}, {vars: {who: Bo}}]\n    tests: [{vars: {q: 'Greet {{who}}.'}, assert: [{type: contains, value: '{{who}}'}]}, {vars: {q: 'Bye {{who}}.'}, assert: [{type: contains, value: Bye}]}]\ntests: [{vars: {q: Hm.}, assert: [{type: contains, value: Hm}]}]\n",
	})
	for _, tt := range []struct {
		file      string
		code      int
		says, not string
	}{
		{"rubric.json", exitOK, "--judge rubric --judge-model MODEL", "skip"},
		{"llm.yaml", exitOK, "--judge rubric --judge-model MODEL", "skip"},
		{"numbers.yaml", exitOK, "1 case, no errors, 0 warnings", ""},
		{"wrong.yaml", exitUsage, "gold-fails", ""},
		{"live.yaml", exitOK, "no errors", "gold-fails"},
		{"typo.yaml", exitOK, `no argument "stret" (of "place.stret") (did you mean "street"?)`, ""},
		{"table.yaml", exitOK, "2 cases, no errors", "not carried"},
		{"scenario.yaml", exitOK, "5 cases, no errors", "not carried"},
	} {
		var out bytes.Buffer
		if code := s.run(t.Context(), &out, "", "lint", tt.file); code != tt.code ||
			!strings.Contains(out.String(), tt.says) || tt.not != "" && strings.Contains(out.String(), tt.not) {
			t.Errorf("%s: exit %d: %s", tt.file, code, out.String())
		}
	}
}
