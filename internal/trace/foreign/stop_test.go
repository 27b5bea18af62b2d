// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// stops are forms of a record of one answer in words, with REASON, the JSON of a text, where the
// form records why it ended. The Responses API has statuses of its own.
func stops() map[string]string {
	const conversation = `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"`
	attribute := func(name string) string { return "[" + chat("1", asked+","+answered+`,"`+name+`":REASON`) + "]" }
	langchain := `{"lc":1,"id":["x","AIMessage"],"kwargs":{"content":"hello","response_metadata":{"finish_reason":REASON}}}`
	langsmith := func(outputs string) string {
		return `{"id":"1","trace_id":"1","run_type":"llm","name":"m","start_time":"2026-01-01T00:00:00Z","inputs":{"messages":[{"role":"user","content":"hi"}]},"outputs":` + outputs + `}`
	}
	langfuse := func(members string) string {
		return `{"id":"t","observations":[{"id":"1","type":"GENERATION","input":[{"role":"user","content":"hi"}],` +
			members + `}]}`
	}
	return map[string]string{
		"chat":                   `{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":REASON}]}`,
		"anthropic":              `{"type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":REASON}`,
		"messages":               `{` + conversation + `,"finish_reason":REASON}]}`,
		"messages of Anthropic":  `{"messages":[{"role":"user","content":"hi"},{"type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":REASON}]}`,
		"messages, next to them": `{` + conversation + `}],"finish_reason":REASON}`,
		"messages, bare":         `[{"role":"user","content":"hi"},{"role":"assistant","content":"hello","finish_reason":REASON}]`,
		"langchain": `[{"lc":1,"id":["x","HumanMessage"],"kwargs":{"content":"hi"}},` +
			langchain + `]`,
		"atif":                `{"schema_version":"ATIF-v1.4","session_id":"s","agent":{"name":"a"},"steps":[{"source":"user","message":"hi"},{"source":"agent","message":"hello","extra":{"finish_reason":REASON}}]}`,
		"adk session":         `{"id":"s","app_name":"a","events":[{"author":"user","content":{"role":"user","parts":[{"text":"hi"}]}},{"author":"a","content":{"role":"model","parts":[{"text":"hello"}]},"finish_reason":REASON}]}`,
		"adk session, a code": `{"id":"s","app_name":"a","events":[{"author":"user","content":{"role":"user","parts":[{"text":"hi"}]}},{"author":"a","content":{"role":"model","parts":[{"text":"hello"}]},"errorCode":REASON}]}`,
		"inspect":             `{"id":"1","epoch":1,"target":"","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}],"output":{"model":"m","choices":[{"message":{"role":"assistant","content":"hello"},"stop_reason":REASON}]}}`,
		"langfuse, of a completion": langfuse(
			`"output":{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":REASON}]}`),
		"langfuse, of metadata": langfuse(`"output":"hello","metadata":{"finish_reason":REASON}`),
		"langfuse, of attributes": langfuse(
			`"output":"hello","metadata":{"attributes":{"gen_ai.response.finish_reasons":[REASON]}}`),
		"langsmith, of a generation": langsmith(
			`{"generations":[[{"text":"hello","generation_info":{"finish_reason":REASON},"message":{"lc":1,"id":["x","AIMessage"],"kwargs":{"content":"hello"}}}]]}`),
		"langsmith, of a message": langsmith(`{"generations":[[{"text":"hello","message":` + langchain + `}]]}`),
		"langsmith, of a completion": langsmith(
			`{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":REASON}]}`),
		"spans, finish_reasons": strings.Replace(attribute("gen_ai.response.finish_reasons"), "REASON",
			"[REASON]", 1),
		"spans, of the AI SDK":    attribute("ai.response.finishReason"),
		"spans, of OpenInference": attribute("llm.finish_reason"),
		"spans, of OpenLLMetry":   attribute("gen_ai.completion.0.finish_reason"),
		"spans, in the answer": "[" +
			chat("1",
				asked+
					`,"gen_ai.output.messages":[{"role":"assistant","parts":[{"type":"text","content":"hello"}],"finish_reason":REASON}]`) + "]",
		"spans, in an event":          `[{"trace_id":"t","span_id":"1","name":"chat","attributes":{"gen_ai.operation.name":"chat"},"events":[{"name":"gen_ai.user.message","attributes":{"content":"hi"}},{"name":"gen_ai.choice","attributes":{"message":"{\"role\":\"assistant\",\"content\":\"hello\"}","finish_reason":REASON}}]}]`,
		"spans, of ADK":               `[{"trace_id":"t","span_id":"1","name":"call_llm","attributes":{"gcp.vertex.agent.llm_request":{"contents":[{"role":"user","parts":[{"text":"hi"}]}]},"gcp.vertex.agent.llm_response":{"content":{"role":"model","parts":[{"text":"hello"}]},"finish_reason":REASON},"gen_ai.request.model":"m"}}]`,
		"openai agents, a generation": `{"object":"trace.span","id":"s","trace_id":"t","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:01Z","span_data":{"type":"generation","model":"m","input":[{"role":"user","content":"hi"}],"output":[{"role":"assistant","content":"hello","finish_reason":REASON}]}}`,
	}
}

// TestStops holds that every form takes the reason why the last answer ended from where it
// records it, and what follows of it.
func TestStops(t *testing.T) {
	t.Parallel()
	for name, form := range stops() {
		for reason, want := range map[string]string{
			`"stop"`: "abstained", `"END_TURN"`: "abstained", `"FinishReason.STOP"`: "abstained",
			`"length"`: "unparseable token_limit", `"MAX_TOKENS"`: "unparseable token_limit",
			`"model_context_window_exceeded"`: "unparseable context_window", `"content-filter"`: "error content_filter",
			`"refusal"`: "error refusal", `"SAFETY"`: "error content_filter",
			`"tool_calls"`: "error malformed", `"other"`: "error unknown", `"a-new-one"`: "error unknown",
			`null`: "abstained, stop not recorded", `""`: "abstained, stop not recorded",
		} {
			as, r, err := importText(strings.Replace(form, "REASON", reason, 1), Options{})
			if err != nil || len(as) != 1 {
				t.Errorf("%s, %s: %d attempts, %v, %v", name, reason, len(as), r.Log, err)
				continue
			}
			if want == "error malformed" || name == "adk session, a code" && want == "error unknown" {
				want = "error"
			}
			if got := ending(&as[0].Trace); got != want && !(want == "error" && strings.HasPrefix(got, want)) {
				t.Errorf("%s, %s: %s, want %s", name, reason, got, want)
			}
		}
	}
}

// ending is what is known of how an attempt ended.
func ending(tr *callvet.Trace) string {
	got := string(tr.Outcome)
	switch {
	case tr.Fault != nil:
		got += " " + string(tr.Fault.Kind)
	case tr.Reason != "":
		got += " " + string(tr.Reason)
	case len(tr.Notes) > 0:
		got += ", " + strings.Join(tr.Notes, ", ")
	}
	return got
}

// TestOtherStops holds forms that record the end of an answer in other words.
func TestOtherStops(t *testing.T) {
	t.Parallel()
	response := func(status string) string {
		return `{"object":"response",` + status +
			`,"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}]}`
	}
	langfuse := `{"id":"t","observations":[{"id":"1","type":"GENERATION","input":[{"role":"user","content":"hi"}],"output":"hello",STATE}]}`
	run := `{"id":"1","trace_id":"1","run_type":"llm","name":"m","inputs":{"messages":[{"role":"user","content":"hi"}]},"outputs":{"choices":[{"message":{"role":"assistant","content":"hello"}}]},STATE}`
	failed := strings.Replace(chat("1", asked+","+answered), `"name"`, `"status":{"code":"ERROR"},"name"`, 1)
	again := strings.Replace(strings.Replace(failed, `"span_id":"1"`, `"span_id":"0"`, 1), `"start_time":1`,
		`"start_time":0`, 1)
	for name, c := range map[string]struct{ in, want string }{
		"a response": {response(`"status":"completed"`), "abstained"},
		"a response, incomplete": {response(
			`"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`), "unparseable token_limit"},
		"a response, filtered": {response(
			`"status":"incomplete","incomplete_details":{"reason":"content_filter"}`), "error content_filter"},
		"a response, incomplete for no reason": {
			response(`"status":"incomplete","incomplete_details":null`),
			"unparseable cut_off",
		},
		"a response, failed":    {response(`"status":"failed"`), "error failed"},
		"a response, cancelled": {response(`"status":"cancelled"`), "error dropped"},
		"a response under way":  {response(`"status":"in_progress"`), "error unknown"},
		"a piece of a stream": {
			`{"choices":[{"delta":{"role":"assistant","content":"hel"},"finish_reason":null}]}`,
			"error malformed",
		},
		"a generation of Langfuse that failed": {strings.Replace(langfuse, "STATE",
			`"level":"ERROR","statusMessage":"overloaded"`, 1), "error failed"},
		"a generation of Langfuse": {
			strings.Replace(langfuse, "STATE", `"level":"DEFAULT"`, 1),
			"abstained, stop not recorded",
		},
		"a run of LangSmith that failed": {strings.Replace(run, "STATE", `"status":"error"`, 1), "error failed"},
		"a run of LangSmith": {
			strings.Replace(run, "STATE", `"status":"success"`, 1),
			"abstained, stop not recorded",
		},
		"a span that failed within its answer": {"[" + failed + "]", "error failed"},
		"a span that failed, and another": {"[" + again + "," +
			chat("1", asked+","+answered+`,"gen_ai.response.finish_reasons":["stop"]`) + "]", "abstained"},
		"an error of ADK that is no end":        {`{"id":"s","app_name":"a","events":[{"author":"user","content":{"role":"user","parts":[{"text":"hi"}]}},{"author":"a","content":{"role":"model","parts":[{"text":"hel"}]},"error_code":"503","error_message":"down"}]}`, "error server"},
		"an answer that ended after its calls":  {`[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}],"finish_reason":"tool_calls"},{"role":"tool","tool_call_id":"1","content":"5"},{"role":"assistant","content":"fi","finish_reason":"length"}]`, "called, the answer was cut off after its calls (length)"},
		"a benchmark, whose authors have rules": {`{"task_id":0,"reward":1,"info":{},"traj":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello","finish_reason":"length"}]}`, "abstained"},
	} {
		as, _, err := importText(c.in, Options{})
		if err != nil || len(as) != 1 {
			t.Errorf("%s: %d attempts, %v", name, len(as), err)
			continue
		}
		if got := ending(&as[0].Trace); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestExportedEnd: an export to OpenTelemetry has the finish reason in the last answer.
func TestExportedEnd(t *testing.T) {
	t.Parallel()
	turnsOf := func(roles ...callvet.Role) (turns []callvet.Turn) {
		for _, r := range roles {
			turns = append(turns, callvet.Turn{Role: r, Content: "Hi."})
		}
		return turns
	}
	for name, tt := range map[string]struct {
		turns  []callvet.Turn
		reason string
		want   int // finish reasons of messages
	}{
		"the last of two answers": {turnsOf(callvet.RoleAssistant, callvet.RoleAssistant), "length", 1},
		"no reason":               {turnsOf(callvet.RoleAssistant), "", 0},
		"the last is a question":  {turnsOf(callvet.RoleAssistant, callvet.RoleUser), "length", 0},
	} {
		text := parts(tt.turns, tt.reason)
		if got := strings.Count(text, `"finish_reason"`); got != tt.want || tt.want > 0 &&
			!strings.HasSuffix(text, `"role":"assistant"}]`) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestRecordsInReport counts task records that are copies, and those that contradict each other.
func TestRecordsInReport(t *testing.T) {
	t.Parallel()
	const pass, fail = `{"type":"task","task_id":"t","pass":true}`, `{"type":"task","task_id":"t","pass":false}`
	for name, tt := range map[string]struct {
		lines []string
		want  map[string]int64
	}{
		"one":    {[]string{pass}, map[string]int64{}},
		"a copy": {[]string{pass, pass}, map[string]int64{"a task record that is a copy of an earlier one": 1}},
		"conflict": {
			[]string{pass, fail},
			map[string]int64{"an attempt with task records that contradict each other": 1},
		},
	} {
		_, r, err := importText(strings.Join(tt.lines, "\n")+"\n", Options{})
		if d := cmp.Diff(tt.want, r.Lost); err != nil || d != "" || r.Format != Contract {
			t.Errorf("%s: %v, %s", name, err, d)
		}
	}
}
