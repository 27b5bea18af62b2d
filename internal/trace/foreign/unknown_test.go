// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	gocmp "github.com/google/go-cmp/cmp"
)

// chat is a model's span with attributes in plain JSON.
func chat(id, attributes string) string {
	return `{"trace_id":"t","span_id":"` + id + `","name":"chat","start_time":` + id +
		`,"attributes":{"gen_ai.operation.name":"chat",` + attributes + `}}`
}

const (
	asked    = `"gen_ai.input.messages":[{"role":"user","parts":[{"type":"text","content":"hi"}]}]`
	calledF  = `"gen_ai.output.messages":[{"role":"assistant","parts":[{"type":"tool_call","id":"1","name":"f","arguments":{}}]}]`
	answered = `"gen_ai.output.messages":[{"role":"assistant","parts":[{"type":"text","content":"hello"}]}]`
)

// TestUnknown checks when an import reports that nothing was called: only where the question and an
// answer without a call are there, and nothing in the file contradicts that.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"an answer": {"[" + chat("1", asked+","+answered) + "]", "abstained"},
		"an answer that ended": {"[" +
			chat("1", asked+","+answered+`,"gen_ai.response.finish_reasons":["stop"]`) + "]", "abstained"},
		"an answer that ended with a call": {"[" +
			chat("1", asked+","+answered+`,"gen_ai.response.finish_reasons":["tool_calls"]`) + "]", "error"},
		"no answer":   {"[" + chat("1", asked) + "]", "error"},
		"no question": {"[" + chat("1", answered) + "]", "error"},
		"nothing": {
			"[" + chat("1", `"gen_ai.request.model":"m"`) + "]",
			"error",
		},
		"one answer of two": {"[" + chat("1", asked) + "," +
			chat("2", asked+","+answered) + "]", "error"},
		"a call, and an empty answer that ended": {"[" + chat("1", asked+","+calledF) + "," +
			chat("2", asked+`,"gen_ai.output.messages":[],"gen_ai.response.finish_reasons":["stop"]`) + "]", "called"},
		"a call, and an answer that is not there": {"[" + chat("1", asked+","+calledF) + "," +
			chat("2", asked) + "]", "error"},
		"a call, and an answer that ended with one": {"[" + chat("1", asked+","+calledF) + "," +
			chat("2", asked+`,"gen_ai.response.finish_reasons":["tool_calls"]`) + "]", "error"},
		"a request that failed, and an answer": {"[" + strings.Replace(chat("1", asked), `"name"`,
			`"status":{"code":"ERROR"},"name"`, 1) + "," + chat("2", asked+","+answered) + "]", "abstained"},
		"a request that failed": {"[" +
			strings.Replace(chat("1", asked), `"name"`, `"status":{"code":"ERROR"},"name"`, 1) + "]", "error"},
		"an answer that the next request tells": {"[" + chat("1", asked) + "," +
			chat("2",
				`"gen_ai.input.messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes?"},{"role":"user","content":"hi"}],`+answered) + "]", "abstained"},
		"an answer and the spans of other work": {"[" + chat("1", asked+","+answered) +
			`,{"trace_id":"t","span_id":"2","name":"GET /","attributes":{}}]`, "abstained"},
		"an answer and a span that may be a call": {"[" + chat("1", asked+","+answered) +
			`,{"trace_id":"t","span_id":"2","name":"Tool: search","attributes":{"x.kind":"y"}}]`, "error"},
		"an answer and an attribute that may be of a call": {"[" + chat("1", asked+","+answered) +
			`,{"trace_id":"t","span_id":"2","name":"search","attributes":{"my.tool_call.id":"y"}}]`, "error"},
		"an agent's text": {`[{"trace_id":"t","span_id":"1","name":"a","attributes":{"openinference.span.kind":"AGENT","input.value":"hi","output.value":"hello"}}]`, "error"},
		"a part of an unknown kind": {"[" +
			chat("1",
				asked+
					`,"gen_ai.output.messages":[{"role":"assistant","parts":[{"type":"text","content":"x"},{"type":"remote_tool_request","body":{}}]}]`) + "]", "error"},
		"a call without a name": {"[" +
			chat("1",
				asked+
					`,"gen_ai.output.messages":[{"role":"assistant","parts":[{"type":"tool_call","arguments":{}}]}]`) +
			"]", "error"},
		"a conversation": {`[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]`, "abstained"},
		"a conversation that ended with an empty answer":    {`[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[]}]`, "unparseable"},
		"a conversation without an answer":                  {`[{"role":"user","content":"hi"}]`, "error"},
		"a result without its call":                         {`[{"role":"user","content":"hi"},{"role":"tool","content":"5"},{"role":"assistant","content":"five"}]`, "error"},
		"a member of an unknown kind":                       {`[{"role":"user","content":"hi"},{"role":"assistant","content":"","toolRequests":[{"x":1}]}]`, "error"},
		"a message of LangChain's that ended with a call":   {`[{"lc":1,"id":["HumanMessage"],"kwargs":{"content":"hi"}},{"lc":1,"id":["AIMessage"],"kwargs":{"content":"","tool_calls":[],"response_metadata":{"finish_reason":"tool_calls"}}}]`, "error"},
		"a call of LangChain's that could not be parsed":    {`[{"lc":1,"id":["HumanMessage"],"kwargs":{"content":"hi"}},{"lc":1,"id":["AIMessage"],"kwargs":{"content":"","tool_calls":[],"invalid_tool_calls":[{"name":"f","args":"{"}]}}]`, "unparseable"},
		"an answer of Chat Completions that ended":          {`{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`, "abstained"},
		"an answer of Chat Completions without its calls":   {`{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"tool_calls"}]}`, "error"},
		"an answer of Anthropic's without its calls":        {`{"type":"message","role":"assistant","content":[{"type":"text","text":"x"}],"stop_reason":"tool_use"}`, "error"},
		"a message of an unknown role after the answer":     {`[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"error","content":"[API Error 400]"}]`, "abstained"},
		"a message of an unknown role instead of an answer": {`[{"role":"user","content":"hi"},{"role":"info","content":"hello"}]`, "error"},
		"a call of an unknown role":                         {`[{"role":"user","content":"hi"},{"role":"info","content":"","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},{"role":"assistant","content":"hello"}]`, "error"},
		"a role for calls alone":                            {`[{"role":"user","content":"hi"},{"role":"tool-call","content":"f()"},{"role":"assistant","content":"hello"}]`, "error"},
		"an answer of an unknown role in a span": {"[" +
			chat("1", asked+`,"gen_ai.output.messages":[{"role":"critic","parts":[{"type":"text","content":"bad"}]}]`) +
			"]", "error"},
		"a message of an unknown type": {`[{"role":"user","content":"hi"},{"type":"error","content":"broken"},{"type":"ai","content":"hello"}]`, "abstained"},
		"an answer without a role in a span": {"[" + chat("1",
			asked+`,"gen_ai.output.messages":[{"parts":[{"type":"text","content":"hello"}]}]`) + "]", "abstained"},
		"a call in the text": {`[{"role":"user","content":"hi"},{"role":"assistant","content":"I look.\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"},{"role":"user","content":"5"},{"role":"assistant","content":"five"}]`, "called"},
		"a call in the text of a span": {"[" +
			chat("1",
				asked+
					`,"gen_ai.output.messages":[{"role":"assistant","parts":[{"type":"text","content":"[TOOL_CALLS]f{}"}]}]`) + "]", "called"},
		"a call in the text, of an offered tool":            {`{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"I look.\nf(a=1)"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}`, "called"},
		"what may be a call of a tool that is not known":    {`{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"f(a=1)"}]}`, "error"},
		"Python of no offered tool":                         {`{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"f(a=1)"}],"tools":[{"type":"function","function":{"name":"g","parameters":{}}}]}`, "abstained"},
		"a mark that is quoted":                             {"[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"It begins with `<tool_call>`.\"}]", "abstained"},
		"a native call, and what may be one":                {`[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"5"},{"role":"assistant","content":"f(a=5)"}]`, "called"},
		"a trace of Langfuse's without a generation":        {`{"id":"t","input":"hi","output":"hello","observations":[{"id":"1","type":"SPAN","name":"x"}]}`, "error"},
		"a trace of Langfuse's with a generation":           {`{"id":"t","observations":[{"id":"1","type":"GENERATION","input":[{"role":"user","content":"hi"}],"output":{"role":"assistant","content":"hello"}}]}`, "abstained"},
		"a trace of Langfuse's with an answer that is lost": {`{"id":"t","observations":[{"id":"1","type":"GENERATION","input":[{"role":"user","content":"hi"}],"output":null}]}`, "error"},
	} {
		as, r, err := importText(c.in, Options{})
		if err != nil || len(as) != 1 {
			t.Errorf("%s: %d attempts, %v", name, len(as), err)
			continue
		}
		got := string(as[0].Trace.Outcome)
		if unknown := r.Unknown == 1; got != c.want || unknown != (c.want == "error") {
			t.Errorf("%s: %s, %d unknown, %v", name, got, r.Unknown, r.Lost)
		}
		if f := as[0].Trace.Fault; c.want == "error" &&
			(f == nil || !strings.HasPrefix(f.Message, "what was called is not known: ") || r.Lost[f.Message] != 1) {
			t.Errorf("%s: %+v, %v", name, f, r.Lost)
		}
	}
}

// TestUnreadableText holds that the mark of a call that cannot be read is no abstention, and is
// counted as what was not understood.
func TestUnreadableText(t *testing.T) {
	t.Parallel()
	as, r, err := importText(
		`{"choices":[{"message":{"role":"assistant","content":"<tool_call>{\"name\":\"f\""},"finish_reason":"stop"}]}`,
		Options{})
	if err != nil || len(as) != 1 {
		t.Fatalf("%d attempts, %v", len(as), err)
	}
	if got := as[0].Trace; string(got.Outcome) != "unparseable" || got.Reason != callvet.ReasonCall || r.Unknown != 1 {
		t.Errorf("%s, %s, %d unknown", got.Outcome, got.Reason, r.Unknown)
	}
}

// TestSeen holds that an import which understands nothing names what it saw.
func TestSeen(t *testing.T) {
	t.Parallel()
	span := func(name string) string {
		return `{"trace_id":"t","span_id":"1","name":"` + name + `","attributes":{}}`
	}
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"spans of other work": {
			"[" + span("GET /") + "," + span("GET /") + "," + span("SELECT") + "]",
			[]string{`a span "GET /"`, `a span "SELECT"`},
		},
		"lines": {
			`{"event":"x","tool":"y"}` + "\n[1]\n" + `{"event":"z","tool":"y"}`,
			[]string{`an object with "event", "tool"`, `a list whose first element is number`},
		},
	} {
		_, r, err := importText(c.in, Options{})
		if d := gocmp.Diff(c.want, r.Seen); d != "" || err != nil || r.Attempts > 0 {
			t.Errorf("%s: %d attempts, %v: %s", name, r.Attempts, err, d)
		}
	}
	if _, _, err := importText(`{"event":"x"}`, Options{}); err == nil ||
		!strings.Contains(err.Error(), `an object with "event"`) {
		t.Errorf("one value: %v", err)
	}
}

// TestTracesOfOneTask holds which requests of an agent that begins a trace for each are one
// task, and that the history of an earlier task is not made again.
func TestTracesOfOneTask(t *testing.T) {
	t.Parallel()
	const (
		call   = `{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}`
		other  = `{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"g","arguments":"{}"}}]}`
		result = `{"role":"tool","tool_call_id":"1","content":"5"}`
		five   = `{"role":"assistant","content":"five"}`
		hi     = `{"role":"user","content":"hi"}`
		more   = `{"role":"user","content":"more"}`
	)
	request := func(trace, in, out string) string {
		return `{"trace_id":"` + trace + `","span_id":"s` + trace + `","name":"chat","start_time":` + trace +
			`,"attributes":{"gen_ai.operation.name":"chat","gen_ai.input.messages":[` + in +
			`],"gen_ai.output.messages":[` + out + `]}}`
	}
	for name, c := range map[string]struct {
		in   []string
		want []string
	}{
		"a request that goes on": {[]string{
			request("1", hi, call),
			request("2", hi+","+call+","+result, five),
		}, []string{"called 1"}},
		"a request that came before": {[]string{
			request("2", hi+","+call+","+result, five),
			request("1", hi, call),
		}, []string{"called 1"}},
		"a call of another tool with the same id": {[]string{
			request("1", hi, other),
			request("2", hi+","+call+","+result, five),
		}, []string{"called 1", "called 1"}},
		"another question": {[]string{
			request("1", more, call),
			request("2", hi+","+call+","+result, five),
		}, []string{"called 1", "called 1"}},
		"the next question of a conversation": {
			[]string{
				request("1", hi, call),
				request("2", hi+","+call+","+result, five), request("3", hi+","+call+","+result+","+five+","+more, five),
			},
			[]string{"called 1", "abstained 0"},
		},
		"two answers to one request": {
			[]string{
				request("1", hi, call),
				request("2", hi+","+call+","+result, five), request("3", hi+","+call+","+result, five),
			},
			[]string{"called 1", "called 1"},
		},
		"two tasks with the same ids, one by one": {[]string{
			request("1", hi, call),
			request("2", hi+","+call+","+result, five), request("3", hi, call),
			request("4", hi+","+call+","+result, five),
		}, []string{"called 1", "called 1"}},
		"two tasks with the same ids at the same time": {
			[]string{
				request("1", hi, call), request("2", hi, call),
				request("3", hi+","+call+","+result, five), request("4", hi+","+call+","+result, five),
			},
			[]string{"called 1", "called 1"},
		},
	} {
		as, _, err := importText("["+strings.Join(c.in, ",")+"]", Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range as {
			got = append(got, string(as[i].Trace.Outcome)+" "+string(rune('0'+len(as[i].Trace.Calls()))))
		}
		if d := gocmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestRolesAndErrors checks the role of each text, by the names that formats have for roles, and
// which results are errors: what is recorded of a call decides, else how its result begins.
func TestRolesAndErrors(t *testing.T) {
	t.Parallel()
	const call = `{"role":"user","content":"hi"},{"role":"Chatbot","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},`
	for name, c := range map[string]struct{ in, want string }{
		"results of other names": {
			`[` + call +
				`{"role":"ipython","content":"5"},{"role":"critic","content":"bad"},{"role":"bot","content":"five"}]`,
			"ok five 1",
		},
		"what an environment gave": {`[` + call +
			`{"role":"environment","content":"5"},{"role":"model","content":"five"}]`, "ok five 0"},
		"a result that begins like an error": {
			`[` + call +
				`{"role":"tool","tool_call_id":"1","content":"Error: timeout"},{"role":"assistant","content":"sorry"}]`,
			"exec_error sorry 0",
		},
		"a result that speaks of an error": {
			`[` + call +
				`{"role":"tool","tool_call_id":"1","content":"Errors: none"},{"role":"assistant","content":"five"}]`,
			"ok five 0",
		},
		"such a result of a call that went well": {`[` + call +
			`{"role":"tool","tool_call_id":"1","status":"success","content":"Error: is a word"},{"role":"assistant","content":"five"}]`, "ok five 0"},
		"such a result that is no error": {`[` + call +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":false,"content":"Error: is a word"}]},{"role":"assistant","content":"five"}]`, "ok five 0"},
		"an error without the word": {`[` + call +
			`{"role":"tool","tool_call_id":"1","status":"error","content":"no"},{"role":"assistant","content":"sorry"}]`, "exec_error sorry 0"},
		"a span that does not say how it ended": {spanOf(``), "exec_error  0"},
		"a span that says that it went well":    {spanOf(`"status":{"code":"OK"},`), "ok  0"},
		"a span that says that it went wrong": {
			spanOf(`"status":{"code":"ERROR","message":"no"},`),
			"exec_error  0",
		},
		"a status that stands beside the span's ": {spanOf(`"status_code":"OK",`), "ok  0"},
	} {
		as, r, err := importText(c.in, Options{})
		if err != nil || len(as) != 1 || len(as[0].Trace.Calls()) != 1 {
			t.Errorf("%s: %d attempts, %v", name, len(as), err)
			continue
		}
		got := fmt.Sprint(as[0].Trace.Calls()[0].Status, " ", as[0].Trace.Answer, " ",
			r.Lost[`a message of the role "critic"`])
		if got != c.want || r.Unknown > 0 {
			t.Errorf("%s: %s, not %s; %v", name, got, c.want, r.Lost)
		}
	}
}

// spanOf is a tool's span of which the result begins like an error.
func spanOf(status string) string {
	return `[{"trace_id":"t","span_id":"1","name":"execute_tool f",` + status +
		`"attributes":{"gen_ai.tool.call.arguments":{},"gen_ai.tool.call.result":"Error: timeout"}}]`
}
