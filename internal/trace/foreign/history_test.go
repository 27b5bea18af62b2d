// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/trace"
)

// note is a message of the chats of these tests: a text, a call of get_weather, or its result.
type note struct{ role, text string }

const theCall, theResult = "call", "result"

// request is one of a model: what it was sent, and what it gave.
type testRequest struct {
	in  []note
	out note
}

// The chat has a first turn with a call, in two requests, and a second one without.
func firstTurn() []testRequest {
	u := note{"user", "Weather in Paris?"}
	return []testRequest{
		{[]note{u}, note{theCall, "c1"}},
		{[]note{u, {theCall, "c1"}, {theResult, "c1"}}, note{"assistant", "20 degrees."}},
	}
}

func secondTurn() testRequest {
	in := firstTurn()[1]
	return testRequest{append(slices.Clone(in.in), in.out, note{"user", "Your name?"}), note{"assistant", "I am Bot."}}
}

type dict = map[string]any

func asText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func each1[T any](in []note, f func(note) T) []T {
	out := make([]T, len(in))
	for i := range in {
		out[i] = f(in[i])
	}
	return out
}

// The messages of the forms.

func chatMessage(n note) dict {
	switch n.role {
	case theCall:
		return dict{
			"role": "assistant", "content": nil,
			"tool_calls": []dict{{
				"id": n.text, "type": "function",
				"function": dict{"name": "get_weather", "arguments": `{"city":"Paris"}`},
			}},
		}
	case theResult:
		return dict{"role": "tool", "tool_call_id": n.text, "content": "20"}
	}
	return dict{"role": n.role, "content": n.text}
}

func genAI(n note) dict {
	switch n.role {
	case theCall:
		return dict{
			"role": "assistant",
			"parts": []dict{{
				"type": "tool_call", "id": n.text, "name": "get_weather",
				"arguments": dict{"city": "Paris"},
			}}, "finish_reason": "tool_call",
		}
	case theResult:
		return dict{"role": "user", "parts": []dict{{"type": "tool_call_response", "id": n.text, "result": "20"}}}
	}
	return dict{"role": n.role, "parts": []dict{{"type": "text", "content": n.text}}, "finish_reason": "stop"}
}

func aiSDK(n note) dict {
	switch n.role {
	case theCall:
		return dict{
			"role": "assistant",
			"content": []dict{{
				"type": "tool-call", "toolCallId": n.text, "toolName": "get_weather",
				"input": dict{"city": "Paris"},
			}},
		}
	case theResult:
		return dict{
			"role": "tool",
			"content": []dict{{
				"type": "tool-result", "toolCallId": n.text, "toolName": "get_weather",
				"output": dict{"type": "text", "value": "20"},
			}},
		}
	}
	return dict{"role": n.role, "content": []dict{{"type": "text", "text": n.text}}}
}

func item(n note) dict {
	switch n.role {
	case theCall:
		return dict{"type": "function_call", "call_id": n.text, "name": "get_weather", "arguments": `{"city":"Paris"}`}
	case theResult:
		return dict{"type": "function_call_output", "call_id": n.text, "output": "20"}
	case "user":
		return dict{"role": "user", "content": n.text}
	}
	return dict{
		"type": "message", "role": n.role, "status": "completed",
		"content": []dict{{"type": "output_text", "text": n.text}},
	}
}

func anthropic(n note) dict {
	switch n.role {
	case theCall:
		return dict{
			"role": "assistant",
			"content": []dict{{
				"type": "tool_use", "id": n.text, "name": "get_weather",
				"input": dict{"city": "Paris"},
			}},
		}
	case theResult:
		return dict{"role": "user", "content": []dict{{"type": "tool_result", "tool_use_id": n.text, "content": "20"}}}
	}
	return dict{"role": n.role, "content": n.text}
}

func langChain(n note) dict {
	lc := func(class string, kwargs dict) dict {
		return dict{"lc": 1, "type": "constructor", "id": []string{"langchain", "schema", class}, "kwargs": kwargs}
	}
	switch n.role {
	case theCall:
		return lc("AIMessage",
			dict{
				"content": "",
				"tool_calls": []dict{{
					"id": n.text, "name": "get_weather", "args": dict{"city": "Paris"},
					"type": "tool_call",
				}},
			})
	case theResult:
		return lc("ToolMessage", dict{"content": "20", "tool_call_id": n.text, "status": "success"})
	case "user":
		return lc("HumanMessage", dict{"content": n.text})
	}
	return lc("AIMessage", dict{"content": n.text, "tool_calls": []dict{}})
}

func numberedMessages(to dict, prefix string, notes []note) {
	for i, n := range notes {
		at := prefix + strconv.Itoa(i) + ".message."
		m := chatMessage(n)
		to[at+"role"], to[at+"content"] = m["role"], m["content"]
		switch n.role {
		case theCall:
			call := at + "tool_calls.0.tool_call."
			to[call+"id"], to[call+"function.name"], to[call+"function.arguments"] = n.text, "get_weather",
				`{"city":"Paris"}`
			delete(to, at+"content")
		case theResult:
			to[at+"tool_call_id"] = n.text
		}
	}
}

// times are those of the n-th request of a trace.
func at(n int) string { return fmt.Sprintf("2026-01-01T00:00:%02dZ", n) }

// spanForm writes a span for each request, with attributes of a dialect.
func spanForm(attrs func(testRequest) dict) func(id string, begin int, rs []testRequest) string {
	return func(id string, begin int, rs []testRequest) string {
		var spans []dict
		for i, r := range rs {
			spans = append(spans, dict{
				"trace_id": id, "span_id": id + strconv.Itoa(i), "name": "chat",
				"start_time": at(begin + i), "end_time": at(begin + i), "attributes": attrs(r),
			})
		}
		return asText(spans)
	}
}

// recorded are the forms that keep what a model was sent apart from what it gave. Each writes a
// line for the requests of one trace.
func recorded() map[string]func(id string, begin int, rs []testRequest) string {
	phoenix := func(columns bool) func(string, int, []testRequest) string {
		return func(id string, begin int, rs []testRequest) string {
			var spans []dict
			for i, r := range rs {
				sp := dict{
					"name": "chat", "span_kind": "LLM", "parent_id": nil, "status_code": "OK",
					"start_time": at(begin + i), "end_time": at(begin + i),
				}
				nested := func(n note) dict {
					m := chatMessage(n)
					if n.role == theCall {
						m["tool_calls"] = []dict{{"tool_call": dict{
							"id":       n.text,
							"function": dict{"name": "get_weather", "arguments": `{"city":"Paris"}`},
						}}}
					}
					return dict{"message": m}
				}
				in, out := each1(r.in, nested), []dict{nested(r.out)}
				if columns {
					sp["context.trace_id"], sp["context.span_id"] = id, id+strconv.Itoa(i)
					sp["attributes.llm.input_messages"], sp["attributes.llm.output_messages"] = in, out
				} else {
					sp["context"] = dict{"trace_id": id, "span_id": id + strconv.Itoa(i)}
					sp["attributes"] = dict{"llm": dict{"input_messages": in, "output_messages": out}}
				}
				spans = append(spans, sp)
			}
			return asText(spans)
		}
	}
	return map[string]func(string, int, []testRequest) string{
		"OpenTelemetry": spanForm(func(r testRequest) dict {
			return dict{
				"gen_ai.operation.name": "chat", "gen_ai.input.messages": each1(r.in, genAI),
				"gen_ai.output.messages": []dict{genAI(r.out)},
			}
		}),
		"Anthropic's messages in OpenTelemetry": spanForm(func(r testRequest) dict {
			return dict{
				"gen_ai.operation.name": "chat", "gen_ai.input.messages": asText(each1(r.in, anthropic)),
				"gen_ai.output.messages": asText([]dict{anthropic(r.out)}),
			}
		}),
		"AI SDK": spanForm(func(r testRequest) dict {
			out := dict{
				"ai.operationId": "ai.streamText.doStream", "ai.prompt.messages": asText(each1(r.in, aiSDK)),
				"ai.model.id": "m",
			}
			if r.out.role == theCall {
				out["ai.response.toolCalls"] = asText(
					[]dict{{"toolCallId": r.out.text, "toolName": "get_weather", "input": `{"city":"Paris"}`}})
			} else {
				out["ai.response.text"] = r.out.text
			}
			return out
		}),
		"OpenInference": spanForm(func(r testRequest) dict {
			out := dict{"openinference.span.kind": "LLM"}
			numberedMessages(out, "llm.input_messages.", r.in)
			numberedMessages(out, "llm.output_messages.", []note{r.out})
			return out
		}),
		"OpenInference of LangChain": spanForm(func(r testRequest) dict {
			return dict{
				"openinference.span.kind": "LLM",
				"input.value":             asText(dict{"messages": [][]dict{each1(r.in, langChain)}}),
				"output.value":            asText(dict{"generations": [][]dict{{{"message": langChain(r.out)}}}}),
			}
		}),
		"Langfuse's attributes": spanForm(func(r testRequest) dict {
			return dict{
				"langfuse.observation.type":   "generation",
				"langfuse.observation.input":  asText(each1(r.in, chatMessage)),
				"langfuse.observation.output": asText(chatMessage(r.out)),
			}
		}),
		"Traceloop": spanForm(func(r testRequest) dict {
			return dict{
				"traceloop.span.kind":     "llm",
				"traceloop.entity.input":  asText(dict{"messages": each1(r.in, chatMessage)}),
				"traceloop.entity.output": asText(dict{"choices": []dict{{"message": chatMessage(r.out)}}}),
			}
		}),
		"Phoenix":            phoenix(false),
		"columns of Phoenix": phoenix(true),
		"OpenAI Agents": func(id string, begin int, rs []testRequest) string {
			var lines []string
			for i, r := range rs {
				lines = append(lines, asText(dict{
					"object": "trace.span", "id": id + strconv.Itoa(i), "trace_id": id, "started_at": at(begin + i),
					"ended_at": at(begin + i),
					"span_data": dict{
						"type": "generation", "input": each1(r.in, chatMessage),
						"output": []dict{chatMessage(r.out)},
					},
				}))
			}
			return strings.Join(lines, "\n")
		},
		"OpenAI Agents on the Responses API": func(id string, begin int, rs []testRequest) string {
			var lines []string
			for i, r := range rs {
				lines = append(lines, asText(dict{
					"object": "trace.span", "id": id + strconv.Itoa(i), "trace_id": id, "started_at": at(begin + i),
					"ended_at": at(begin + i),
					"span_data": dict{
						"type": "response", "_input": each1(r.in, item),
						"_response": dict{"object": "response", "status": "completed", "output": []dict{item(r.out)}},
					},
				}))
			}
			return strings.Join(lines, "\n")
		},
		"Langfuse": func(id string, begin int, rs []testRequest) string {
			var obs []dict
			for i, r := range rs {
				obs = append(obs,
					dict{
						"id": id + strconv.Itoa(i), "type": "GENERATION", "name": "chat", "startTime": at(begin + i),
						"endTime": at(begin + i), "input": each1(r.in, chatMessage), "output": chatMessage(r.out),
					})
			}
			return asText(dict{"trace": dict{"id": id}, "observations": obs})
		},
		"LangSmith": func(id string, begin int, rs []testRequest) string {
			lines := []string{asText(dict{
				"id": id, "trace_id": id, "run_type": "chain", "name": "agent",
				"start_time": at(begin), "inputs": dict{"messages": each1(rs[0].in, langChain)}, "outputs": dict{},
			})}
			for i, r := range rs {
				lines = append(lines, asText(dict{
					"id": id + strconv.Itoa(i), "trace_id": id, "parent_run_id": id, "run_type": "llm", "name": "m",
					"start_time": at(begin + i),
					"inputs":     dict{"messages": [][]dict{each1(r.in, langChain)}},
					"outputs":    dict{"generations": [][]dict{{{"message": langChain(r.out)}}}},
				}))
			}
			return strings.Join(lines, "\n")
		},
	}
}

// summaries are the outcome, the number of calls and the goal of each attempt.
func summaries(as []trace.Attempt) []string {
	var out []string
	for i := range as {
		out = append(out, fmt.Sprint(as[i].Trace.Outcome, " ", len(as[i].Trace.Calls()), " ", as[i].Goal))
	}
	slices.Sort(out)
	return out
}

// TestHistory holds that what a trace's first request has before its last question is no action
// of the attempt, in every form that keeps a request apart from its answer, and that an attempt is
// the same alone in its file, with others, and whatever their order.
func TestHistory(t *testing.T) {
	t.Parallel()
	const one, two, hello = "called 1 Weather in Paris?", "abstained 0 Your name?", "abstained 0 hello"
	for name, form := range recorded() {
		first, second := form("a", 1, firstTurn()), form("b", 5, []testRequest{secondTurn()})
		third := form("c", 3, []testRequest{{[]note{{"user", "hello"}}, note{"assistant", "hi"}}})
		again := secondTurn()
		again.out = note{theCall, "c1"}
		more := testRequest{
			append(slices.Clone(again.in), again.out, note{theResult, "c1"}),
			note{"assistant", "Still 20."},
		}
		guard := guardOf("Your name?")
		grown := testRequest{
			append(slices.Clone(secondTurn().in), secondTurn().out, note{"user", "And Oslo?"}),
			note{theCall, "c2"},
		}
		for what, c := range map[string]struct {
			in   []string
			want []string
		}{
			"the second turn":                 {[]string{second}, []string{two}},
			"both turns":                      {[]string{first, second}, []string{two, one}},
			"both turns, the other way round": {[]string{second, first}, []string{two, one}},
			"the second turn and another":     {[]string{third, second}, []string{hello, two}},
			"all":                             {[]string{second, third, first}, []string{two, hello, one}},
			"the same call once more": {
				[]string{form("b", 5, []testRequest{again, more})},
				[]string{"called 1 Your name?"},
			},
			"the same call after both turns": {
				[]string{first, form("b", 5, []testRequest{again, more})},
				[]string{one, "called 1 Your name?"},
			},
			"a question within the trace": {
				[]string{form("b", 5, []testRequest{secondTurn(), grown})},
				[]string{"called 1 Your name?"},
			},
			"a guard before the second turn": {
				[]string{form("b", 5, []testRequest{guard, secondTurn()})},
				[]string{two},
			},
			"a guard before the first turn": {[]string{form("b", 5,
				append([]testRequest{guardOf("Weather in Paris?")}, firstTurn()...))}, []string{one}},
			"a loop that began elsewhere": {[]string{form("b", 5, firstTurn()[1:])}, []string{one}},
		} {
			as, r, err := importText(strings.Join(c.in, "\n"), Options{})
			slices.Sort(c.want)
			if d := gocmp.Diff(c.want, summaries(as)); d != "" || err != nil {
				t.Errorf("%s: %s: %v, %v: %s", name, what, err, r.Lost, d)
			}
			if d := roundTrip(t, as); d != "" {
				t.Errorf("%s: %s: written and read again: %s", name, what, d)
			}
		}
	}
}

// guardOf is a request that another model is sent first, about the last question alone.
func guardOf(question string) testRequest {
	return testRequest{[]note{{"user", question}}, note{"assistant", "allowed"}}
}

// TestLoopOverTraces holds that an agent which begins a trace per request is one attempt, whatever
// else is in the file and in whatever order.
func TestLoopOverTraces(t *testing.T) {
	t.Parallel()
	forms := recorded()
	maps.DeleteFunc(forms, func(name string, _ func(string, int, []testRequest) string) bool {
		return name == "Langfuse" || name == "LangSmith" // a trace of theirs is a task
	})
	for name, form := range forms {
		a, b := form("a", 1, firstTurn()[:1]), form("b", 1, firstTurn()[1:])
		second := form("c", 5, []testRequest{secondTurn()})
		for _, in := range [][]string{{a, b, second}, {b, a, second}, {second, b, a}} {
			as, _, err := importText(strings.Join(in, "\n"), Options{})
			want := []string{"abstained 0 Your name?", "called 1 Weather in Paris?"}
			if d := gocmp.Diff(want, summaries(as)); d != "" || err != nil {
				t.Errorf("%s: %v: %s", name, err, d)
			}
		}
	}
}

// TestResponsesInput holds the same for a body of the Responses API that repeats its input.
func TestResponsesInput(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]testRequest{
		"abstained 0 Your name?":     secondTurn(),
		"called 1 Weather in Paris?": firstTurn()[1],
	} {
		as, _, err := importText(
			asText(dict{
				"object": "response", "status": "completed", "input": each1(r.in, item),
				"output": []dict{item(r.out)},
			}), Options{})
		if d := gocmp.Diff([]string{want}, summaries(as)); d != "" || err != nil {
			t.Errorf("%v: %s", err, d)
		}
	}
}

// TestStateOfAgent checks the same where only an agent, or a trace as a whole, records the
// conversation: its output repeats its input. That nothing was called is not known then.
func TestStateOfAgent(t *testing.T) {
	t.Parallel()
	r := secondTurn()
	in, out := dict{"messages": each1(r.in, chatMessage)},
		dict{"messages": each1(append(slices.Clone(r.in), r.out), chatMessage)}
	for name, form := range map[string]string{
		"OpenInference": asText(
			[]dict{{
				"trace_id": "t", "span_id": "a", "name": "agent",
				"attributes": dict{
					"openinference.span.kind": "AGENT", "input.value": asText(in),
					"output.value": asText(out),
				},
			}}),
		"Langfuse": asText(dict{
			"trace":        dict{"id": "t", "input": in, "output": out},
			"observations": []dict{{"id": "1", "type": "SPAN", "name": "x"}},
		}),
		"LangSmith": asText(dict{
			"id": "t", "trace_id": "t", "run_type": "chain", "name": "agent", "inputs": in,
			"outputs": out,
		}),
	} {
		as, _, err := importText(form, Options{})
		if d := gocmp.Diff([]string{"error 0 Your name?"}, summaries(as)); d != "" || err != nil ||
			as[0].Trace.Answer != "I am Bot." {
			t.Errorf("%s: %v: %s", name, err, d)
		}
	}
	as, _, err := importText(
		asText(dict{
			"messages": each1(r.in, chatMessage),
			"choices":  []dict{{"message": chatMessage(r.out), "finish_reason": "stop"}},
		}), Options{})
	if d := gocmp.Diff([]string{"abstained 0 Your name?"}, summaries(as)); d != "" || err != nil {
		t.Errorf("a request with its answer: %v: %s", err, d)
	}
}

// TestMessagesAreAction holds that one list of messages is one attempt, whatever is in it.
func TestMessagesAreAction(t *testing.T) {
	t.Parallel()
	r := secondTurn()
	list := each1(append(slices.Clone(r.in), r.out), chatMessage)
	for _, in := range []any{list, dict{"messages": list}, dict{"task_id": 1, "reward": 1, "traj": list}} {
		as, _, err := importText(asText(in), Options{})
		if d := gocmp.Diff([]string{"called 1 Weather in Paris?"}, summaries(as)); d != "" || err != nil {
			t.Errorf("%v: %s", err, d)
		}
	}
}
