// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/trace"
)

var update = flag.Bool("update", false, "write the golden files")

func data(t testing.TB, path string) string {
	t.Helper()
	root := cmp.Or(os.Getenv("CALLVET_TESTDATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	full := filepath.Join(root, path)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("no test data at %s: set CALLVET_TESTDATA", full)
	}
	return full
}

func importFile(t testing.TB, path string, o Options) ([]trace.Attempt, Report, error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	i, err := Open(f, o)
	if err != nil {
		return nil, Report{}, err
	}
	var out []trace.Attempt
	for a, err := range i.Attempts() {
		if err != nil {
			return out, i.Report(), err
		}
		out = append(out, a)
	}
	return out, i.Report(), nil
}

// summary is what an import made of a file, as one line a person can check.
func summary(attempts []trace.Attempt, r Report, err error) string {
	if err != nil {
		return "error"
	}
	tools := map[string]int{}
	var results, failed, unknown, answers int
	for i := range attempts {
		for _, c := range attempts[i].Trace.Calls() {
			tools[c.Tool]++
			if c.Result != nil {
				results++
			}
			if c.Error != "" {
				failed++
			}
			if c.Args == nil && c.ArgsRaw == "" {
				unknown++
			}
		}
		if attempts[i].Trace.Answer != "" {
			answers++
		}
	}
	lost := int64(0)
	for _, n := range r.Lost {
		lost += n
	}
	var names []string
	for _, k := range slices.Sorted(maps.Keys(tools)) {
		names = append(names, fmt.Sprintf("%s×%d", k, tools[k]))
	}
	return fmt.Sprintf("%s attempts %d answers %d calls %d results %d failed %d unknown args %d lost %d bad %d [%s]",
		r.Format, len(attempts), answers, r.Calls, results, failed, unknown, lost, r.Log.Bad, strings.Join(names, " "))
}

// TestExamples pins what comes out of every example file of the formats.
func TestExamples(t *testing.T) {
	t.Parallel()
	root := data(t, filepath.Join("..", "formats"))
	var got strings.Builder
	for _, family := range []string{
		"adk", "anthropic", "atif", "azure", "inspect", "jaeger", "langfuse", "langsmith", "openai", "otel-genai",
		"otel-genai/frameworks",
		"tau1", "tau2", "tempo", "trpc-agent-go", "openinference",
	} {
		files, err := filepath.Glob(filepath.Join(root, family, "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			a, r, err := importFile(t, f, Options{})
			fmt.Fprintf(&got, "%s/%s: %s\n", family, filepath.Base(f), summary(a, r, err))
			if again := roundTrip(t, a); again != "" {
				t.Errorf("%s: written and read again: %s", f, again)
			}
		}
	}
	golden(t, "examples.txt", got.String())
}

// roundTrip writes attempts as lines and reads them: the calls must be the same.
func roundTrip(t testing.TB, in []trace.Attempt) string {
	t.Helper()
	if len(in) == 0 {
		return ""
	}
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	for i := range in {
		if err := w.Attempt(&in[i]); err != nil {
			return err.Error()
		}
	}
	if err := w.Flush(); err != nil {
		return err.Error()
	}
	i, err := Open(&b, Options{Lines: trace.Options{Strict: true}})
	if err != nil {
		return err.Error()
	}
	n := 0
	for a, err := range i.Attempts() {
		if err != nil {
			return err.Error()
		}
		if n >= len(in) {
			return "more attempts than were written"
		}
		if d := gocmp.Diff(calls(&in[n]), calls(&a)); d != "" {
			return d
		}
		n++
	}
	if n != len(in) {
		return fmt.Sprintf("%d attempts of %d", n, len(in))
	}
	return ""
}

func calls(a *trace.Attempt) []string {
	var out []string
	for _, c := range a.Trace.Calls() {
		out = append(out,
			fmt.Sprintf("%s %s %q %s %s %q", c.Tool, compact(c.Args), c.ArgsRaw, compact(c.Result), c.Status, c.Error))
	}
	return append(out, a.Trace.Answer, string(a.Trace.Outcome))
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return "none"
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// part is the part of the public data that is read.
func part() string { return cmp.Or(os.Getenv("CALLVET_PART"), "open") }

// published reads the figures of the part of a set from the index of the data.
func published[T any](t *testing.T, set, file string) map[string]T {
	t.Helper()
	b, err := os.ReadFile(data(t, filepath.Join("sets", "EXPECTED_"+part()+".json")))
	if err != nil {
		t.Fatal(err)
	}
	var index map[string]json.RawMessage
	var out map[string]T
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(index[set+"/"+part()+"/"+file], &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPublishedRuns reads whole published sets and compares counts and rewards with the numbers
// of their publishers.
func TestPublishedRuns(t *testing.T) {
	t.Parallel()
	var tau, tau2, dojo struct{ attempts, passed, calls int }
	var trials map[string]json.RawMessage
	b, err := os.ReadFile(data(t, "sets/taubench_v1_airline/scores.json"))
	if err != nil || json.Unmarshal(b, &trials) != nil {
		t.Fatal(err)
	}
	var rates map[string]float64
	var tasks int
	if err := json.Unmarshal(trials[part()], &[]any{&rates, &tasks, &tau.attempts}); err != nil {
		t.Fatal(err)
	}
	tau.passed = int(rates["pass^1"]*float64(tau.attempts) + 0.5)
	for _, s := range published[struct {
		N, Success int
		Calls      int `json:"n_tool_calls"`
	}](t, "tau2", "scores.json") {
		tau2.attempts, tau2.passed, tau2.calls = tau2.attempts+s.N, tau2.passed+s.Success, tau2.calls+s.Calls
	}
	for name, s := range published[struct {
		Users   int `json:"n_user_tasks"`
		Attacks int `json:"n_injection_tasks_as_user"`
		Utility int
	}](t, "agentdojo", "scores.json") {
		if strings.HasSuffix(name, "|none") {
			dojo.attempts, dojo.passed = dojo.attempts+s.Users+s.Attacks, dojo.passed+s.Utility
		}
	}
	for _, c := range []struct {
		glob, format     string
		attempts, passed int
		calls            int // the simulated user's included, where published
	}{
		{"taubench_v1_airline/" + part() + "/*.jsonl.gz", "tau", tau.attempts, tau.passed, 0},
		{"tau2/" + part() + "/trajectories/*.jsonl.gz", "tau2", tau2.attempts, tau2.passed, tau2.calls},
		{"agentdojo/" + part() + "/runs/*__none.jsonl.gz", "agentdojo", dojo.attempts, dojo.passed, 0},
	} {
		files, err := filepath.Glob(filepath.Join(data(t, "sets"), c.glob))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", c.glob, err)
		}
		attempts, passed, called := 0, 0, 0
		for _, f := range files {
			as, r, err := importFile(t, f, Options{Lines: trace.Options{Strict: true}})
			if err != nil || r.Format != c.format {
				t.Errorf("%s: %s, %v", f, r.Format, err)
			}
			for i := range as {
				attempts++
				called += len(as[i].Trace.Calls()) + len(as[i].UserCalls)
				// Utility is published of AgentDojo's user tasks, not of the attacker's run as such.
				if p := as[i].Pass; p != nil && *p && !strings.Contains(as[i].Trace.CaseID, "/injection_task") {
					passed++
				}
			}
			if d := roundTrip(t, as); d != "" {
				t.Errorf("%s: written and read again: %s", f, d)
			}
		}
		if c.calls > 0 && called != c.calls {
			t.Errorf("%s: %d calls, published %d", c.glob, called, c.calls)
		}
		if attempts == 0 || attempts != c.attempts || passed != c.passed {
			t.Errorf("%s: %d attempts, %d passed; published %d and %d", c.glob, attempts, passed, c.attempts, c.passed)
		}
	}
}

// TestExportsComeBack writes real runs in every format and reads them again.
func TestExportsComeBack(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"../formats/otel-genai/otlp.genai.json", "../formats/atif/multi_tool_trajectory.json",
		"../formats/openai/responses.response.json",
		"../formats/otel-genai/frameworks/pydantic_ai_live_spans.json", "../formats/inspect/log_tool_call_error.json",
		"sets/taubench_v1_airline/" + part() + "/*.jsonl.gz",
	} {
		files, err := filepath.Glob(filepath.Join(data(t, "."), path))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %d files, %v", path, len(files), err)
		}
		in, _, err := importFile(t, files[0], Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range Exports() {
			var b bytes.Buffer
			e, err := Export(format, &b, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range in {
				if err := e.Attempt(&in[i]); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			out, r, err := importText(b.String(), Options{})
			if err != nil || r.Format != format {
				t.Errorf("%s as %s was read as %q: %v", path, format, r.Format, err)
				continue
			}
			if d := gocmp.Diff(callsIn(in, format), callsIn(out, format)); d != "" {
				t.Errorf("%s as %s: %s", path, format, d)
			}
		}
	}
	if _, err := Export("x", &bytes.Buffer{}, nil); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("an unknown format: %v", err)
	}
}

// TestExportsRedact: secrets stay out of every format, also those in payloads that are cut
// short; what was given is not changed.
func TestExportsRedact(t *testing.T) {
	t.Parallel()
	red, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const broken = `{"n":1,"password":"swordfish`
	a := trace.Attempt{Trace: callvet.Trace{
		CaseID: "c",
		Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{
			{ID: "1", Tool: "login", ArgsRaw: broken},
			{
				ID: "2", Tool: "login", Args: json.RawMessage(`{"password":"swordfish"}`),
				ArgsRaw: `{"password":"swordfish"}`,
			},
		}}},
	}}
	for _, format := range Exports() {
		var b bytes.Buffer
		e, err := Export(format, &b, red)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(e.Attempt(&a), e.Close()); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); strings.Contains(text, "swordfish") || !strings.Contains(text, "login") {
			t.Errorf("%s: %s", format, text)
		}
	}
	if got := a.Trace.Turns[0].Calls[0].ArgsRaw; got != broken {
		t.Errorf("the attempt was changed: %s", got)
	}
}

// called are the calls with their arguments; formats that cannot tell unknown
// arguments write {}.
func callsIn(attempts []trace.Attempt, format string) []string {
	var out []string
	for i := range attempts {
		for _, c := range attempts[i].Trace.Calls() {
			a := compact(c.Args)
			if a == "none" && (format == "messages" || format == "adk-evalset") {
				a = "{}"
			}
			out = append(out, c.Tool+a)
		}
	}
	return out
}

func importText(s string, o Options) ([]trace.Attempt, Report, error) {
	i, err := Open(strings.NewReader(s), o)
	if err != nil {
		return nil, Report{}, err
	}
	var out []trace.Attempt
	for a, err := range i.Attempts() {
		if err != nil {
			return out, i.Report(), err
		}
		out = append(out, a)
	}
	return out, i.Report(), nil
}

// TestCacheWritesInSpans: what an instrumentation records of a cache is in the usage, whether the
// count of input has it or not.
func TestCacheWritesInSpans(t *testing.T) {
	t.Parallel()
	const span = `[{"trace_id":"t","span_id":"s","name":"chat","attributes":{"gen_ai.operation.name":"chat","gen_ai.usage.input_tokens":%d,"gen_ai.usage.output_tokens":100,"gen_ai.usage.cache_read.input_tokens":900,"gen_ai.usage.cache_creation.input_tokens":300,` +
		`"gen_ai.output.messages":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}],\"finish_reason\":\"stop\"}]"}}]`
	for _, input := range []int{10, 1210} {
		i, err := Open(strings.NewReader(fmt.Sprintf(span, input)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []callvet.Usage
		var tasks []trace.Usage
		for a, err := range i.Attempts() {
			if err != nil {
				t.Fatal(err)
			}
			got, tasks = append(got, a.Trace.Usage), append(tasks, *a.Task().Usage)
		}
		want := callvet.Usage{
			InputTokens: 1210, OutputTokens: 100, CachedTokens: 900, CacheWriteTokens: 300,
			Known: true,
		}
		if d := gocmp.Diff([]callvet.Usage{want}, got); d != "" {
			t.Errorf("%d: %s", input, d)
		}
		if d := gocmp.Diff([]trace.Usage{{
			Input: &want.InputTokens, Output: &want.OutputTokens, Cached: 900,
			Written: 300,
		}}, tasks); d != "" {
			t.Errorf("%d: %s", input, d)
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	attr := func(k, v string) string { return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, k, v) }
	for name, c := range map[string]struct{ in, want string }{
		"arguments that were not recorded": {
			`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","name":"execute_tool a","attributes":[]}]}]}]}`,
			`otlp attempts 1 answers 0 calls 1 results 0 failed 0 unknown args 1 lost 0 bad 0 [a×1]`,
		},
		"an event per message": {
			`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","name":"chat","attributes":[` +
				attr("gen_ai.operation.name", "chat") + `],"events":[` +
				`{"name":"gen_ai.user.message","attributes":[` + attr("content", "hi") + `]},` +
				`{"name":"gen_ai.choice","attributes":[` +
				attr("message",
					`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}}]}`) +
				`]}]}]}]}]}`,
			`otlp attempts 1 answers 0 calls 1 results 0 failed 0 unknown args 0 lost 0 bad 0 [a×1]`,
		},
		"content blocks of Bedrock in events": {
			`[{"trace_id":"t","span_id":"s","name":"chat","attributes":{"gen_ai.operation.name":"chat"},"events":[` +
				`{"name":"gen_ai.choice","attributes":{"message":"[{\"text\":\"x\"},{\"toolUse\":{\"toolUseId\":\"1\",\"name\":\"a\",\"input\":{}}}]"}}]}]`,
			`spans attempts 1 answers 1 calls 1 results 0 failed 0 unknown args 0 lost 0 bad 0 [a×1]`,
		},
		"numbered attributes": {
			`[{"trace_id":"t","span_id":"s","name":"x","attributes":{"gen_ai.prompt.0.role":"user","gen_ai.prompt.0.content":"hi",` +
				`"gen_ai.completion.0.role":"assistant","gen_ai.completion.0.tool_calls.0.name":"a","gen_ai.completion.0.tool_calls.0.arguments":"{\"x\":1}"}}]`,
			`spans attempts 1 answers 0 calls 1 results 0 failed 0 unknown args 0 lost 0 bad 0 [a×1]`,
		},
		"spans over several lines of a collector's file": {
			`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"1","name":"execute_tool a","attributes":[` + attr("gen_ai.tool.call.arguments", "{") + `]}]}]}]}` + "\n" +
				`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"2","name":"execute_tool b","status":{"code":2,"message":"timeout"}}]}]}]}`,
			`otlp attempts 1 answers 0 calls 2 results 0 failed 1 unknown args 1 lost 0 bad 0 [a×1 b×1]`,
		},
		"Anthropic's messages": {
			`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{"x":1}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"no","is_error":true}]},{"role":"assistant","content":"sorry"}]}`,
			`messages attempts 1 answers 1 calls 1 results 0 failed 1 unknown args 0 lost 0 bad 0 [a×1]`,
		},
		"tool messages of LangChain's and of tau2-bench's, and an item of the Responses API": {
			`[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":"2","function":{"name":"b","arguments":"{}"}},{"id":"3","function":{"name":"c","arguments":"{}"}},{"id":"4","function":{"name":"d","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"1","content":"seat taken","status":"error"},{"role":"tool","tool_call_id":"2","content":"no","error":true},{"type":"function_call_output","call_id":"3","output":"x","status":"failed"},{"role":"tool","tool_call_id":"4","content":"y","status":"success","error":null}]`,
			`messages attempts 1 answers 0 calls 4 results 1 failed 3 unknown args 0 lost 0 bad 0 [a×1 b×1 c×1 d×1]`,
		},
		"a bare list of messages": {
			`[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"x\":"}}]},{"role":"tool","tool_call_id":"1","content":"5"}]`,
			`messages attempts 1 answers 0 calls 1 results 1 failed 0 unknown args 0 lost 0 bad 0 [a×1]`,
		},
		"lines of which one is broken": {
			`{"messages":[{"role":"user","content":"q"}]}` + "\n{\n" + `{"nothing":1}` + "\n" +
				`{"messages":[{"role":"user","content":"q"}]}`,
			`messages attempts 2 answers 0 calls 0 results 0 failed 0 unknown args 0 lost 2 bad 2 []`,
		},
		"nothing known":                {`{"a":1}`, `error`},
		"no JSON":                      {`hello`, `error`},
		"an archive of something else": {"PK\x03\x04 and so on", `error`},
	} {
		a, r, err := importText(c.in, Options{})
		if got := summary(a, r, err); got != c.want {
			t.Errorf("%s:\n got %s (%v)\nwant %s", name, got, err, c.want)
		}
		if d := roundTrip(t, a); d != "" {
			t.Errorf("%s: written and read again: %s", name, d)
		}
	}
	if _, _, err := importText(`{"a":1}`, Options{Format: "x"}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("an unknown format: %v", err)
	}
	two := strings.Repeat(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","name":"execute_tool a"}]}]}]}`+
		"\n", 2)
	if _, _, err := importText(two, Options{MaxHeld: 500}); !errors.Is(err, callvet.ErrLimited) {
		t.Errorf("spans over the limit: %v", err)
	}
	if _, _, err := importText(strings.Repeat(" ", 100)+`{"a":`+strings.Repeat(" ", 100),
		Options{MaxBytes: 50}); !errors.Is(err, callvet.ErrLimited) {
		t.Errorf("over the limit: %v", err)
	}
}

// TestTimesOfSpans: the time of a call is that of its tool's span.
func TestTimesOfSpans(t *testing.T) {
	t.Parallel()
	span := func(id, name string, start, end int) string {
		return fmt.Sprintf(
			`{"traceId":"t","spanId":%q,"name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":%q}}]}`, id, name, start, end, strings.Fields(name)[0])
	}
	in := `{"resourceSpans":[{"scopeSpans":[{"spans":[` + span("1", "invoke_agent x", 1_000_000_000, 9_000_000_000) +
		"," + span("2", "execute_tool a", 1_250_000_000, 1_300_000_000) + "," +
		`{"traceId":"t","spanId":"3","name":"execute_tool b","attributes":[]}` + `]}]}]}`
	a, _, err := importText(in, Options{})
	if err != nil || len(a) != 1 {
		t.Fatal(a, err)
	}
	got := map[string]string{}
	for _, c := range a[0].Trace.Calls() {
		got[c.Tool] = "unknown"
		if c.StartMS != nil {
			got[c.Tool] = fmt.Sprint(*c.StartMS, c.ExecMS)
		}
	}
	if d := gocmp.Diff(map[string]string{"a": "250 50", "b": "unknown"}, got); d != "" {
		t.Error(d)
	}
	if d := roundTrip(t, a); d != "" {
		t.Errorf("written and read again: %s", d)
	}
}

// TestLiveLines reads callvet's lines while the file grows.
func TestLiveLines(t *testing.T) {
	t.Parallel()
	line := func(task string) string {
		return `{"task_id":"` + task + `","tool":"x"}` + "\n" + `{"type":"task","task_id":"` + task +
			`","pass":true}` + "\n"
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "traces.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	write := func(task string) error {
		_, err := file.WriteString(line(task))
		return err
	}
	waits := 0
	grown, err := trace.FollowFile(file.Name(), func() error {
		if waits++; waits > 2 {
			return io.EOF
		}
		return write(strconv.Itoa(waits))
	})
	if err := errors.Join(err, write("a")); err != nil {
		t.Fatal(err)
	}
	defer grown.Close()
	i, err := Open(grown, Options{Lines: trace.Options{Live: true}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for a, err := range i.Attempts() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s after %d waits", a.Trace.CaseID, waits))
	}
	if d := gocmp.Diff([]string{"a after 0 waits", "1 after 1 waits", "2 after 2 waits"}, got); d != "" ||
		i.Report().Format != Contract {
		t.Errorf("%s: %s", i.Report().Format, d)
	}
}

func FuzzImport(f *testing.F) {
	for _, s := range []string{
		`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","attributes":[{"key":"k","value":{"kvlistValue":{"values":[{"key":"a","value":{"intValue":"1"}}]}}}]}]}]}]}`,
		`{"data":[{"traceID":"t","spans":[{"traceID":"t","operationName":"execute_tool x","tags":[{"key":"a","value":1}],"startTime":1,"duration":2}]}]}`,
		`[{"trace_id":"t","span_id":"s","attributes":{"llm.output_messages.0.message.tool_calls.0.tool_call.function.name":"a","openinference.span.kind":"LLM"}}]`,
		`{"choices":[{"message":{"tool_calls":[{"function":{"name":"a","arguments":"{"}}]}}]}`,
		`{"object":"response","output":[{"type":"mcp_call","name":"x","output":"y"}]}`,
		`{"type":"message","content":[{"type":"tool_use","name":"a","input":{}}]}`,
		`{"traj":[{"role":"tool","content":"Error: x"}],"task_id":1,"reward":1}`,
		`{"task_id":"1","messages":[{"role":"user","tool_calls":[{"name":"x","arguments":{}}]}],"reward_info":{"action_checks":[{"action":{"name":"x"}}]}}`,
		`{"run_type":"llm","inputs":{"messages":[[{"role":"user"}]]},"outputs":{"generations":[[{"message":{"kwargs":{"content":"x"}}}]]},"trace_id":"t"}`,
		`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"t","spanId":"s","eventName":"gen_ai.choice","body":{"kvlistValue":{"values":[{"key":"message","value":{"stringValue":"x"}}]}}}]}]}]}`,
		`{"object":"trace.span","trace_id":"t","id":"s","span_data":{"type":"function","name":"f","input":"{}","output":"{\"output\":{\"kwargs\":{\"tool_call_id\":\"1\",\"content\":[{\"type\":\"tool_result\"}]}}}"}}`,
		`[{"trace_id":"t","span_id":"s","attributes":{"ai.operationId":"ai.toolCall","ai.toolCall.name":"f","traceloop.entity.input":"{\"args\":[{}],\"kwargs\":{}}","langfuse.observation.output":"{\"generations\":[[{\"message\":{}}]]}"}}]`,
		`[{"lc":1,"id":["AIMessage"],"kwargs":{"content":[{"type":"tool-f","toolCallId":"1","output":{"type":"error-text","value":"x"}}],"tool_calls":[{"name":"f","args":{}}]}}]`,
		`{"observations":[{"type":"TOOL","name":"x","input":"{}"}]}`,
		`{"eval_cases":[{"conversation":[{"intermediate_data":{"tool_uses":[{"name":"x"}]}}]}]}`,
		`{"schema_version":"ATIF-v1","steps":[{"source":"agent","tool_calls":[{"function_name":"a","arguments":{}}],"observation":{"results":[{}]}}]}`,
		`{"events":[{"content":{"parts":[{"function_call":{"name":"x","args":{}}}],"role":"model"}}],"app_name":"a"}`,
		`{"version":2,"eval":{},"samples":[{"messages":[{"role":"tool","tool_call_id":"x","function":"f","error":{"type":"timeout"}}]}]}`,
		`{"user_task_id":"u","messages":[{"role":"tool","error":"e","tool_call":{"function":"f"}}]}`,
		"PK\x03\x04", "\x1f\x8b",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		a, r, err := importText(string(in), Options{MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		if r.Attempts != int64(len(a)) {
			t.Fatalf("%d attempts reported, %d given", r.Attempts, len(a))
		}
		w := trace.NewWriter(&bytes.Buffer{})
		for i := range a {
			if err := w.Attempt(&a[i]); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestAttacksAreTasks holds that two attacks on one user task are two tasks: they
// plant different texts, and read as one stream they must not replace each other.
func TestAttacksAreTasks(t *testing.T) {
	t.Parallel()
	line := `{"suite":"s","user_task_id":"user_task_0","injection_task_id":%s,"attack_type":%q,"pipeline":"p","messages":[{"role":"user","content":"hi"}],"utility":true}` + "\n"
	attempts, _, err := importText(fmt.Sprintf(line, "null", "none")+fmt.Sprintf(line, `"injection_task_1"`, "direct")+
		fmt.Sprintf(line, `"injection_task_1"`, "ignore_previous"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range attempts {
		got = append(got, attempts[i].Trace.CaseID)
	}
	want := []string{
		"s/user_task_0", "s/user_task_0/injection_task_1/direct",
		"s/user_task_0/injection_task_1/ignore_previous",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTauGold holds what a benchmark's task needs through import, writing and reading.
func TestTauGold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want trace.TaskGold
	}{
		"tau": {
			`{"task_id":3,"trial":1,"reward":1.0,"traj":[{"role":"user","content":"hi"}],"info":{"task":{"actions":[{"name":"book","kwargs":{"a":1}}],"outputs":["327"]}}}`,
			trace.TaskGold{
				Steps: []trace.GoldStep{{Tool: "book", Args: json.RawMessage(`{"a":1}`)}},
				Facts: []string{"327"},
			},
		},
		"tau2": {
			`{"task_id":"t","messages":[{"role":"user","content":"hi"}],"reward_info":{"action_checks":[` +
				`{"action":{"name":"on","requestor":"user","arguments":{},"compare_args":[]}},{"action":{"name":"get","arguments":{"id":1,"note":"x"},"compare_args":["id"]}},` +
				`{"action":{"name":"end","arguments":{},"compare_args":null}}],"communicate_checks":[{"info":"5 bags","met":true}]}}`,
			trace.TaskGold{Steps: []trace.GoldStep{
				{Tool: "on", Args: json.RawMessage(`{}`), By: "user", Compare: []string{}},
				{Tool: "get", Args: json.RawMessage(`{"id":1,"note":"x"}`), Compare: []string{"id"}},
				{Tool: "end", Args: json.RawMessage(`{}`)},
			}, Facts: []string{"5 bags"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines bytes.Buffer
			for step, src := range []io.Reader{strings.NewReader(c.in), &lines} {
				i, err := Open(src, Options{})
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for a, err := range i.Attempts() {
					if err != nil {
						t.Fatal(err)
					}
					n++
					if diff := gocmp.Diff(&c.want, a.Gold); diff != "" {
						t.Errorf("step %d: (-want +got)\n%s", step, diff)
					}
					if step == 0 {
						w := trace.NewWriter(&lines)
						if err := errors.Join(w.Attempt(&a), w.Flush()); err != nil {
							t.Fatal(err)
						}
					}
				}
				if n != 1 {
					t.Errorf("step %d: %d attempts", step, n)
				}
			}
		})
	}
}

// TestRepairedRecords: what other loggers write where JSON has no such value is read. The attempt
// has a note, and the log counts the line.
func TestRepairedRecords(t *testing.T) {
	t.Parallel()
	const ask, note = `{"role":"user","content":"q"}`, "read with a lone surrogate, NaN or Infinity"
	const called = `{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":{"x":NaN}}}]},{"role":"tool","tool_call_id":"1","content":"\ud83d"}`
	good := `{"messages":[` + ask + `,{"role":"assistant","content":"yes"}]}`
	bad := `{"messages":[` + ask + `,` + called + `]}`
	for name, c := range map[string]struct {
		in    string
		notes [][]string
		first int64
	}{
		"lines":          {good + "\n" + bad + "\n" + good, [][]string{nil, {note}, nil}, 2},
		"the first line": {bad + "\n" + good, [][]string{{note}, nil}, 1},
		"a document":     {strings.Replace(bad, ",", ",\n", 1), [][]string{{note}}, 1},
		"a list": {
			"[" + good + ",\n" + bad + "]",
			[][]string{{"its document was " + note}, {"its document was " + note}},
			1,
		},
		"entries of a log": {
			`{"type":"user","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"q"}}` + "\n" +
				`{"type":"assistant","parentUuid":"1","sessionId":"s","message":{"id":"m","type":"message","role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"1","name":"a","input":{"x":NaN}}]},"extra":"\ud83d"}` + "\n" +
				`{"type":"user","parentUuid":"2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"\uFFFD"}]}}`,
			[][]string{{"its file was " + note}},
			2,
		},
		"attributes of a span": {
			`[{"trace_id":"t","span_id":"1","name":"execute_tool a","attributes":{"gen_ai.tool.call.arguments":"{\"x\":NaN}","gen_ai.tool.call.result":"{\"y\":\"\\ud83d\"}"}}]`,
			[][]string{{"its file was " + note}},
			1,
		},
		"own lines": {
			`{"task_id":"t","call_id":"1","tool":"a","args":{"x":NaN},"result":"\ud83d"}` + "\n" +
				`{"type":"task","task_id":"t","outcome":"called","steps":1}`, [][]string{{note}}, 1,
		},
	} {
		list, r, err := importText(c.in, Options{})
		var notes [][]string
		calls := 0
		for i := range list {
			notes = append(notes, slices.DeleteFunc(list[i].Trace.Notes,
				func(n string) bool { return !strings.Contains(n, "read with") }))
			for _, call := range list[i].Trace.Calls() {
				calls++
				if string(call.Args) != `{"x":"NaN"}` ||
					!strings.Contains(strings.ToLower(string(call.Result)), `\ufffd`) &&
						!strings.Contains(string(call.Result), "\uFFFD") {
					t.Errorf("%s: %s, %s", name, call.Args, call.Result)
				}
			}
		}
		if d := gocmp.Diff(c.notes, notes, cmpopts.EquateEmpty()); err != nil || d != "" || calls != 1 ||
			r.Log.Repaired != 1 || r.Log.RepairedFirst != c.first || r.Log.Bad != 0 {
			t.Errorf("%s: %s, %v, %d calls, %+v", name, d, err, calls, r.Log)
		}
	}
}

// TestLongLines: a line over the limit is lost, and the lines after it are read.
func TestLongLines(t *testing.T) {
	t.Parallel()
	const short = `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"yes"}]}`
	for _, size := range []int{300, 100 << 10} { // within the buffer, and beyond it
		long := `{"messages":[{"role":"user","content":"` + strings.Repeat("x", size) + `"}]}`
		for name, in := range map[string]string{
			"in the middle": short + "\n" + long + "\n" + short,
			"the last":      short + "\n" + short + "\n" + long, "with its end": short + "\n" + short + "\n" + long + "\n",
		} {
			list, r, err := importText(in, Options{Lines: trace.Options{MaxLine: 200}})
			if err != nil || len(list) != 2 || r.Log.Bad != 1 || r.Log.Lines != 3 ||
				!strings.Contains(r.Log.List[0].Reason, "longer than the limit of 200 bytes") {
				t.Errorf("%s, %d bytes: %d attempts, %+v, %v", name, size, len(list), r.Log, err)
			}
			if _, _, err := importText(in, Options{Lines: trace.Options{MaxLine: 200, Strict: true}}); !errors.Is(err,
				callvet.ErrLimited) {
				t.Errorf("%s, %d bytes, strict: %v", name, size, err)
			}
		}
	}
}
