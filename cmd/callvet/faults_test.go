// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/parallel"
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

// bench is a server, and a place at which commands are typed.
type bench struct {
	t           *testing.T
	s           *seat
	base, token string
}

// newBench starts a server that may ask models of this machine, and logs in.
func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t: t, s: &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db"), "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}}}
	owner := &parallel.Group{}
	t.Cleanup(owner.Wait)
	told, stop := b.s.serve(t, owner, "--allow-private", "127.0.0.1")
	t.Cleanup(func() { stop() })
	var link []string
	for deadline := time.Now().Add(time.Minute); link == nil && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		link = toldLink.FindStringSubmatch(told.String())
	}
	if link == nil {
		t.Fatalf("no link: %s", told)
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

// imported is what the command line and the API make of a trace file.
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

// collected is what the API makes of a trace file; nil where it refuses it.
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

// fault is an input with what is right for it.
type fault struct {
	// file is a name in the folder of faults; text, where it is set, is an input of our own.
	file, text string
	code       int
	want       map[string]witness
	// refused is a word that a refusal contains.
	refused string
}

// same compares what is right with what was seen; only what is set in the right answer counts.
func same(want, got map[string]witness) string {
	if want == nil {
		return ""
	}
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
		out := fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"text","content":%q}],"finish_reason":%q}]`, text, finish)
		return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"aa","spanId":"1","name":"chat","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[`+
			`{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.input.messages","value":{"stringValue":%q}},{"key":"gen_ai.output.messages","value":{"stringValue":%q}}]}]}]}]}`, in, out)
	}
	const asked = `[{"role":"user","parts":[{"type":"text","content":"Ring Ann."}]}]`
	const twice = `[{"role":"user","parts":[{"type":"text","content":"Ring Ann."}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"ring","arguments":{}}]},` +
		`{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":"done"}]},{"role":"assistant","parts":[{"type":"text","content":"Done."}]},{"role":"user","parts":[{"type":"text","content":"Who are you?"}]}]`
	chat := func(finish, message string) string {
		return fmt.Sprintf(`{"id":"a","object":"chat.completion","choices":[{"index":0,"finish_reason":%q,"message":%s}]}`, finish, message)
	}
	return []fault{
		{file: "own-stop.json", text: otlp("stop", asked, "No."), want: map[string]witness{"aa": {Outcome: "abstained", Goal: "Ring Ann.", Answer: "No."}}},
		{file: "own-length.json", text: otlp("length", asked, "No, be"), code: exitError, want: map[string]witness{"aa": {Outcome: "unparseable", Why: "token_limit"}}},
		{file: "own-filter.json", text: otlp("content_filter", asked, "No, be"), code: exitError, want: map[string]witness{"aa": {Outcome: "error", Why: "content_filter"}}},
		{file: "own-history.json", text: otlp("stop", twice, "I am a bot."), want: map[string]witness{"aa": {Outcome: "abstained", Goal: "Who are you?", Answer: "I am a bot."}}},
		{file: "own-markup.json", text: otlp("stop", asked, `<tool_call>{"name":"ring","arguments":{}}</tool_call>`), want: map[string]witness{"aa": called("ring")}},
		{file: "own-torn.json", text: otlp("stop", asked, `<tool_call>{"name":"ring","argu`), code: exitError, want: map[string]witness{"aa": {Outcome: "unparseable", Why: "unreadable_call"}}},
		{file: "own-chat.json", text: chat("stop", `{"role":"assistant","content":"No."}`), want: map[string]witness{"a": {Outcome: "abstained"}}},
		{file: "own-refusal.json", text: chat("refusal", `{"role":"assistant","content":"No."}`), code: exitError, want: map[string]witness{"a": {Outcome: "error", Why: "refusal"}}},
		{file: "own-other.json", text: chat("other", `{"role":"assistant","content":"No."}`), code: exitError, want: map[string]witness{"a": {Outcome: "error", Why: "unknown"}}},
		{file: "own-silent.json", text: chat("tool_calls", `{"role":"assistant","content":"No."}`), code: exitError, want: map[string]witness{"a": {Outcome: "error", Why: "malformed"}}},
		{
			file: "own-roles.json", text: `{"id":"a","messages":[{"role":"user","content":"Ring."},{"role":"assistant","content":"No."},{"role":"critic","content":"Bad."},{"role":"info","content":"x"}]}`,
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
		{file: "own-nan.jsonl", text: "{\"id\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"Ring \\ud800.\"},{\"role\":\"assistant\",\"content\":\"No.\",\"score\":NaN}]}\n", want: map[string]witness{"a": {Outcome: "abstained"}}},
	}
}

// sharedFaults are the trace files of the folder.
func sharedFaults() []fault {
	// unknown are attempts of which it is not known, or not legible, what was called.
	refused := func(product string, files ...string) []fault {
		var out []fault
		for _, f := range files {
			out = append(out, fault{file: f, code: exitUsage, refused: product})
		}
		return out
	}
	return slices.Concat([]fault{
		{file: "evidence/history/langfuse-both.jsonl", want: map[string]witness{"t1": called("get_weather ok"), "t2": {Outcome: "abstained", Goal: thanks, Answer: "I am Bot."}}},
		{file: "evidence/history/hist_turn2.json", want: map[string]witness{strings.Repeat("b", 32): {Outcome: "abstained", Goal: thanks}}},
		{file: "evidence/history/aisdk-turn2.json", want: map[string]witness{strings.Repeat("c", 32): {Outcome: "abstained", Goal: "Thanks, your name?"}}},
		{file: "evidence/history/langfuse-turn2.json", want: map[string]witness{"t2": {Outcome: "abstained", Goal: thanks}}},
		{file: "evidence/history/hist_both.json", want: map[string]witness{strings.Repeat("a", 32): called("get_weather ok"), strings.Repeat("b", 32): {Outcome: "abstained", Goal: thanks}}},
		{file: "evidence/truncated/otlp-length.json", code: exitError, want: map[string]witness{strings.Repeat("a", 32): {Outcome: "unparseable", Why: "token_limit"}}},
		{file: "evidence/langfuse/pydantic-ai-calls-twice.json", want: map[string]witness{"t1": called("web_search ok")}},
		{file: "evidence/roles/error-role.json", want: map[string]witness{"task-1": {Outcome: "abstained", Answer: "Hello."}}},
		{file: "evidence/fmt/otlp-args-differ.json"},
		{file: "newcomer/err.jsonl", want: map[string]witness{"s1": called("get_weather exec_error")}},
	},
		refused("Claude", "evidence/fmt/claude-code.jsonl", "evidence/fmt/claude-stream.jsonl", "evidence/coders/claude-session.jsonl", "evidence/coders/claude-stdout.jsonl"),
		refused("Codex", "evidence/fmt/codex-rollout.jsonl", "evidence/coders/codex-session.jsonl"),
		refused("Gemini", "evidence/fmt/gemini-stream.jsonl", "evidence/coders/gemini-stdout.jsonl"),
		refused("pencode", "evidence/coders/opencode-stdout.jsonl"), refused("ydantic", "evidence/fmt/pydantic-ai.json"), refused("utogen", "evidence/fmt/autogen.jsonl"),
		refused("hoenix", "evidence/fmt/phoenix-rest.json", "evidence/fmt/phoenix-spans.json"), refused("ssistants", "evidence/fmt/openai-run-steps.json"), refused("ang", "evidence/fmt/langgraph-state.json"),
		refused("molagents", "evidence/fmt/smolagents.json"), refused("edrock", "evidence/fmt/bedrock-invocation-log.jsonl"), refused("ite", "evidence/fmt/litellm-log.jsonl"),
		refused("opilot", "evidence/fmt/vscode-copilot-chat.json"), refused("SDK", "evidence/fmt/vercel-ui-v4.json"),
	)
}

// counts are the calls, and those that failed, of files in forms that may be read.
func counts() map[string][2]int {
	return map[string][2]int{
		"claude-code.jsonl": {2, 1}, "claude-stream.jsonl": {1, 0}, "codex-rollout.jsonl": {2, 0}, "gemini-stream.jsonl": {1, 0}, "pydantic-ai.json": {2, 1}, "autogen.jsonl": {1, 0},
		"phoenix-rest.json": {1, 0}, "phoenix-spans.json": {1, 0}, "openai-run-steps.json": {1, 0}, "langgraph-state.json": {1, 0}, "smolagents.json": {2, 0}, "bedrock-invocation-log.jsonl": {1, 0},
		"litellm-log.jsonl": {1, 0}, "vscode-copilot-chat.json": {1, 0}, "vercel-ui-v4.json": {1, 0}, "strands-messages.json": {1, 1}, "anthropic-server-tools.json": {3, 0},
		"claude-messages-unwrapped.json": {2, 1}, "claude-session.jsonl": {2, 1}, "claude-stdout.jsonl": {2, 1}, "codex-session.jsonl": {2, 1}, "gemini-stdout.jsonl": {2, 0}, "opencode-stdout.jsonl": {2, 1},
		"gemini-cli-session.json": {3, 1},
	}
}

// counted compares the calls of a file that is read with those in it.
func counted(name string, got map[string]witness) string {
	want, ok := counts()[filepath.Base(name)]
	if !ok {
		return ""
	}
	n, failed := 0, 0
	for _, s := range got {
		for _, c := range s.Calls {
			n++
			if strings.HasSuffix(c, " exec_error") {
				failed++
			}
		}
	}
	if n != want[0] || failed < want[1] {
		return fmt.Sprintf("%d calls, %d of them failed; want %v: %v", n, failed, want, got)
	}
	return ""
}

// right compares a fault by command line and through the API.
func (b *bench) right(f *fault, file []byte) {
	b.t.Helper()
	code, here, there, said := b.imported(f.file, file)
	switch {
	case f.refused != "" && len(here) > 0: // the form is read by now
		if d := counted(f.file, here); d != "" {
			b.t.Errorf("%s: %s", f.file, d)
		}
	case f.refused != "":
		if lower := strings.ToLower(said); code != exitUsage || !strings.Contains(lower, strings.ToLower(f.refused)) {
			b.t.Errorf("%s: exit %d, want a refusal that names %s: %.300s", f.file, code, f.refused, said)
		}
	default:
		if code != f.code {
			b.t.Errorf("%s: exit %d, want %d: %.300s", f.file, code, f.code, said)
		}
		if d := same(f.want, here); d != "" {
			b.t.Errorf("%s (-want +got):\n%s", f.file, d)
		}
	}
	if d := cmp.Diff(ends(here), ends(there)); d != "" {
		b.t.Errorf("%s: the API shows something else (-here +there):\n%s", f.file, d)
	}
}

// ends are the outcomes, reasons and calls of attempts.
func ends(all map[string]witness) map[string]string {
	out := map[string]string{}
	for id, s := range all {
		out[id] = s.Outcome + " " + s.Why + " " + strings.Join(s.Calls, ",")
	}
	return out
}

// TestFaultsOwn: inputs of each kind that was wrong once, with the right answers.
func TestFaultsOwn(t *testing.T) {
	t.Parallel()
	oneByOne(t)
	b := newBench(t)
	for _, f := range ownFaults() {
		b.right(&f, []byte(f.text))
	}
}

// TestFaultsTraces: the trace files of the folder of faults.
func TestFaultsTraces(t *testing.T) {
	t.Parallel()
	oneByOne(t)
	dir := folderOfFaults(t)
	b := newBench(t)
	for _, f := range sharedFaults() {
		file, err := os.ReadFile(filepath.Join(dir, f.file))
		if err != nil {
			t.Fatal(err)
		}
		b.right(&f, file)
	}
	for _, name := range []string{"strands-messages.json", "anthropic-server-tools.json", "gemini-cli-session.json", "../coders/claude-messages-unwrapped.json"} {
		name = filepath.Join("evidence", "fmt", name)
		_, here, there, _ := b.imported(name, readFile(t, dir, name))
		if d := counted(name, here); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff(ends(here), ends(there)); d != "" {
			t.Errorf("%s: the API shows something else (-here +there):\n%s", name, d)
		}
	}
	differing := b.collected("differ", readFile(t, dir, "evidence/fmt/otlp-args-differ.json"))
	for _, s := range differing {
		if !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "differ") }) {
			t.Errorf("arguments that differ between message and span: %v", s)
		}
	}
	for _, name := range []string{"evidence/text-calls/trace.jsonl", "evidence/text-calls/cline-api-history.json"} {
		_, here, there, _ := b.imported(name, readFile(t, dir, name))
		neverAbstained(t, name, here)
		neverAbstained(t, name+" through the API", there)
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

// neverAbstained: none of the attempts is one without a call.
func neverAbstained(t *testing.T, name string, all map[string]witness) {
	t.Helper()
	if len(all) == 0 {
		t.Errorf("%s: nothing is read", name)
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if s := all[id]; s.Outcome != "called" && s.Outcome != "unparseable" && s.Outcome != "error" {
			t.Errorf("%s: %s is %s", name, id, s.Outcome)
		}
	}
}

// modelServer answers each request with the body for which its last message asks.
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

// run is what a run of a suite shows, and its exit code.
func (b *bench) run(suite string, args ...string) (code int, all map[string]witness) {
	b.t.Helper()
	out := filepath.Join(b.s.dir, "attempts.jsonl")
	_ = os.Remove(out)
	code, said := b.types("", append([]string{"run", suite, "--no-cache", "-q", "--require-pass", "-o", out}, args...)...)
	text, err := os.ReadFile(out)
	if err != nil {
		b.t.Fatalf("%s: exit %d: %s", suite, code, said)
	}
	return code, ledger(b.t, text)
}

// ran is what the command line and a server make of a suite whose model is at an address.
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

// TestFaultsRuns: suites of the folder of faults, recorded, at a model here, and on a server.
func TestFaultsRuns(t *testing.T) {
	t.Parallel()
	oneByOne(t)
	dir := folderOfFaults(t)
	b := newBench(t)
	texts := filepath.Join(dir, "evidence", "text-calls")
	bodies := recordedBodies(t, readFile(t, texts, "suite_no.json"), readFile(t, texts, "rec.jsonl"))
	base := modelServer(t, func(asked string) (string, string) {
		for prompt, body := range bodies {
			if strings.Contains(asked, prompt) {
				return "application/json", body
			}
		}
		return "application/json", `{}`
	})
	code, here, there := b.ran(filepath.Join(texts, "suite_no.json"), base+"/v1")
	neverAbstained(t, "text calls", here)
	if d := cmp.Diff(ends(here), ends(there)); d != "" || code != exitGateFailed {
		t.Errorf("text calls: exit %d, a server shows something else (-here +there):\n%s", code, d)
	}
	_, recorded := b.run(filepath.Join(texts, "suite_no.json"), "-m", "recorded:"+filepath.Join(texts, "rec.jsonl"), "--no-lint")
	maps.DeleteFunc(recorded, func(_ string, s witness) bool { return s.Outcome == "not_run" }) // it has no row
	neverAbstained(t, "text calls, recorded", recorded)

	cut := filepath.Join(dir, "evidence", "truncated")
	row := map[string]witness{"none": {Outcome: "unparseable", Why: "token_limit"}}
	code, here = b.run(filepath.Join(cut, "suite.yaml"), "-m", "recorded:"+filepath.Join(cut, "recorded.jsonl"), "--no-lint")
	if d := same(row, here); code != exitGateFailed || d != "" {
		t.Errorf("cut off, recorded: exit %d (-want +got):\n%s", code, d)
	}
	base = modelServer(t, func(string) (string, string) {
		return "application/json", `{"choices":[{"finish_reason":"length","message":{"role":"assistant","content":"Let me check the weath"}}]}`
	})
	code, here, there = b.ran(filepath.Join(cut, "suite.yaml"), base+"/v1")
	if d := same(row, here) + same(row, there); code != exitGateFailed || d != "" {
		t.Errorf("cut off: exit %d (-want +got):\n%s", code, d)
	}
}

// TestFaultsAgent: JSON of an agent without a place for calls does not show that nothing was called.
func TestFaultsAgent(t *testing.T) {
	t.Parallel()
	oneByOne(t)
	dir := t.TempDir()
	s := &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db"), "PATH": os.Getenv("PATH")}}
	writeFiles(t, dir, map[string]string{
		"suite.yaml":  "name: s\ntools:\n  - {name: ring, description: Rings., parameters: {type: object}}\ncases:\n  - {id: quiet, prompt: Say hi., expect: {no_call: true}}\n",
		"answer.json": `{"session":"s","response":"I rang Ann.","stats":{"tools":{"totalCalls":1}}}`,
	})
	var out bytes.Buffer
	code := s.run(t.Context(), &out, "", "run", "suite.yaml", "-m", "exec:cat answer.json", "--no-lint", "-q", "--retries", "0", "-o", "out.jsonl")
	got := ledger(t, readFile(t, dir, "out.jsonl"))["quiet"]
	if code != exitError || got.Outcome != "error" || got.Why != "malformed" && got.Why != "unknown" {
		t.Errorf("exit %d, %+v: %s", code, got, out.String())
	}
	if shared := filepath.Join(faultsFolder(), "evidence", "gemini-json"); dirExists(shared) {
		abs, err := filepath.Abs(shared)
		if err != nil {
			t.Fatal(err)
		}
		code = s.run(t.Context(), &out, "", "run", filepath.Join(abs, "suite.yaml"), "-m", "exec:cat "+filepath.Join(abs, "answer.json"), "--no-lint", "-q", "--retries", "0", "-o", "out.jsonl")
		if got := ledger(t, readFile(t, dir, "out.jsonl"))["notouch"]; code != exitError || got.Outcome != "error" {
			t.Errorf("exit %d, %+v", code, got)
		}
	}
}

func dirExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// TestFaultsStreams: calls that servers stream in unusual ways.
func TestFaultsStreams(t *testing.T) {
	t.Parallel()
	oneByOne(t)
	dir := t.TempDir()
	b := &bench{t: t, s: &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db"), "OPENAI_API_KEY": "k"}}}
	writeFiles(t, b.s.dir, map[string]string{
		"suite.yaml": "name: s\ntools:\n  - {name: get_weather, description: Weather., parameters: {type: object, properties: {city: {type: string}}}}\ncases:\n  - {id: one, prompt: Weather?, expected_tool: get_weather}\n",
	})
	piece := func(id, args string) string {
		return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":"get_weather","arguments":%q}}]}}]}`, id, args)
	}
	for name, tt := range map[string]struct {
		pieces []string
		calls  []string
	}{
		"one index, two ids":    {[]string{piece("a", `{"city":"Paris"}`), piece("b", `{"city":"Rome"}`)}, []string{"get_weather", "get_weather"}},
		"a name in each chunk":  {[]string{piece("a", `{"city":`), piece("a", `"Paris"}`)}, []string{"get_weather"}},
		"cumulative arguments":  {[]string{piece("a", `{"city":`), piece("a", `{"city":"Paris"}`)}, []string{"get_weather"}},
		"calls, then no ending": {[]string{piece("a", `{"city":"Paris"}`)}, []string{"get_weather"}},
	} {
		last := `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
		if name == "calls, then no ending" {
			last = `{"choices":[]}`
		}
		base := modelServer(t, func(string) (string, string) {
			return "text/event-stream", "data: " + strings.Join(append(slices.Clone(tt.pieces), last), "\n\ndata: ") + "\n\ndata: [DONE]\n\n"
		})
		_, here := b.run(filepath.Join(b.s.dir, "suite.yaml"), "-m", "openai/m", "--base-url", base+"/v1", "--no-lint", "--stream", "--retries", "0")
		if d := same(map[string]witness{"one": called(tt.calls...)}, here); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestFaultsPrices: tokens written to a cache are paid.
func TestFaultsPrices(t *testing.T) {
	t.Parallel()
	oneByOne(t)
	dir := t.TempDir()
	s := &seat{dir: dir, env: map[string]string{"HOME": dir, "CALLVET_DB": filepath.Join(dir, "x.db"), "ANTHROPIC_API_KEY": "k"}}
	writeFiles(t, dir, map[string]string{
		"suite.yaml": "name: s\ncases:\n  - {id: one, prompt: Hi., expect: {response: {non_empty: true}}}\n",
		"list.json":  `{"own":{"litellm_provider":"anthropic","mode":"chat","input_cost_per_token":2e-6,"cache_read_input_token_cost":2e-7,"cache_creation_input_token_cost":3e-6,"output_cost_per_token":1e-5}}`,
	})
	base := modelServer(t, func(string) (string, string) {
		return "application/json", `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":10,"cache_creation_input_tokens":300,"cache_read_input_tokens":900,"output_tokens":100}}`
	})
	cost := func(list, model string) float64 {
		t.Helper()
		for _, args := range [][]string{{"prices", list, "-o", "prices.json"}, {"run", "suite.yaml", "-m", "anthropic/" + model, "--base-url", base, "--no-lint", "--no-cache", "-q", "--prices", "prices.json", "-o", "out.jsonl"}} {
			var out bytes.Buffer
			if code := s.run(t.Context(), &out, "", args...); code != exitOK {
				t.Fatalf("%v: exit %d: %s", args, code, out.String())
			}
		}
		var r struct {
			Cost float64 `json:"cost_usd"`
		}
		if err := json.Unmarshal(readFile(t, dir, "out.jsonl"), &r); err != nil {
			t.Fatal(err)
		}
		return r.Cost
	}
	if got := cost("list.json", "own"); fmt.Sprintf("%.6f", got) != "0.002100" {
		t.Errorf("%v, want 0.0021", got)
	}
	if list, err := filepath.Abs(filepath.Join(faultsFolder(), "evidence", "cost", "litellm-prices.json")); err == nil && dirExists(filepath.Dir(list)) {
		if got := cost(list, "anth"); fmt.Sprintf("%.6f", got) != "0.001475" {
			t.Errorf("%v, want 0.001475", got)
		}
	}
}

// TestFaultsSchemas: an MCP server with schemas that clients drop is read with a warning for each.
func TestFaultsSchemas(t *testing.T) {
	t.Parallel()
	oneByOne(t)
	dir := folderOfFaults(t)
	script, err := filepath.Abs(filepath.Join(dir, "evidence", "mcp", "odd-schemas.py"))
	if err != nil {
		t.Fatal(err)
	}
	at := t.TempDir()
	s := &seat{dir: at, env: map[string]string{"HOME": at, "CALLVET_DB": filepath.Join(at, "x.db"), "PATH": os.Getenv("PATH")}}
	var out bytes.Buffer
	if code := s.run(t.Context(), &out, "", "mcp", "import", "--command", "python3 "+script+" a", "-o", "suite.yaml"); code > exitError {
		t.Fatalf("exit %d: %s", code, out.String())
	}
	for _, word := range []string{"read_file", "oneOf", "the schema of its results"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("no warning about %s: %s", word, out.String())
		}
	}
	out.Reset()
	suite, err := filepath.Abs(filepath.Join(dir, "evidence", "promptfoo", "toolspec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if code := s.run(t.Context(), &out, "", "lint", suite); code != exitOK {
		t.Errorf("toolSpec: exit %d: %s", code, out.String())
	}
}

// TestFaultsLost: a value that JSON does not have does not hide an incident.
func TestFaultsLost(t *testing.T) {
	t.Parallel()
	oneByOne(t)
	dir := folderOfFaults(t)
	b := newBench(t)
	from := filepath.Join(dir, "decisions", "lost-lines")
	for _, name := range []string{"m_plain.jsonl", "m_surrogate.jsonl", "m_nan.jsonl"} {
		abs, err := filepath.Abs(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Dir(abs)
		if code, out := b.types("", "gate", abs, "--gates", filepath.Join(at, "zero3.yaml"), "--safety", filepath.Join(at, "safety.yaml")); code != exitGateFailed {
			t.Errorf("%s: exit %d: %s", name, code, out)
		}
		status, answer := b.asks(http.MethodPost, "/api/traces?collection="+name, readFile(t, from, name))
		var made struct{ ID string }
		if err := json.Unmarshal(answer, &made); err != nil || status >= 300 {
			t.Errorf("%s: %d: %s", name, status, answer)
			continue
		}
		body, err := json.Marshal(map[string]any{"gates": string(readFile(t, from, "zero3.yaml")), "safety": map[string]bool{"deny_pii": true, "deny_private": true}})
		if err != nil {
			t.Fatal(err)
		}
		if status, answer = b.asks(http.MethodPost, "/api/traces/"+made.ID+"/gate", body); status != http.StatusOK || !bytes.Contains(answer, []byte(`"verdict":"FAIL"`)) {
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
	schema = `{"type":"object","properties":{"q":{"$ref":"#/$defs/e0"}},"$defs":{` + strings.Join(append(defs, `"e40":{"type":"integer"}`), ",") + `}}`
	return `{"name":"s","tools":[{"name":"dig","description":"Digs.","parameters":` + schema + `}],"cases":[{"id":"one","prompt":"Dig.","expected_tool":"dig"}]}`, schema
}

// TestFaultsEndless: a schema without end ends with an error that names it, in every command and on a server.
func TestFaultsEndless(t *testing.T) {
	t.Parallel()
	oneByOne(t)
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
