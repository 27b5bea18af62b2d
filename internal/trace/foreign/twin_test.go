// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/trace"
)

// TestTwins holds that two records with one id are one thing, which has what either has.
func TestTwins(t *testing.T) {
	t.Parallel()
	question := chatMessage(note{"user", "Weather in Paris?"})
	call, empty := chatMessage(note{theCall, "c1"}), dict{"role": "assistant", "content": "", "tool_calls": []dict{}}
	long := dict{"role": "assistant", "content": strings.Repeat("thinking about it ", 30)}
	langfuse := func(out any, more dict) dict {
		o := dict{
			"id": "g", "type": "GENERATION", "name": "chat", "startTime": at(1), "input": []dict{question},
			"output": out,
		}
		for k, v := range more {
			o[k] = v
		}
		return o
	}
	run := func(out any, more dict) dict {
		r := dict{
			"id": "g", "trace_id": "t", "run_type": "llm", "name": "m", "start_time": at(1),
			"inputs": dict{"messages": []dict{question}}, "outputs": out,
		}
		for k, v := range more {
			r[k] = v
		}
		return r
	}
	span := func(attrs dict, end int) dict {
		attrs["gen_ai.operation.name"] = "chat"
		return dict{
			"trace_id": "t", "span_id": "g", "name": "chat", "start_time": at(1), "end_time": at(end),
			"attributes": attrs,
		}
	}
	in := dict{"gen_ai.input.messages": []dict{genAI(note{"user", "Weather in Paris?"})}}
	out := dict{"gen_ai.output.messages": []dict{genAI(note{theCall, "c1"})}}
	for name, twins := range map[string][2]any{
		"an observation that began, and that ended": {langfuse(nil, nil), langfuse(call, dict{"endTime": at(2)})},
		"an observation of which a part came": {
			langfuse(call, dict{"endTime": at(2)}),
			langfuse(empty, dict{"endTime": at(2)}),
		},
		"an observation with a longer text": {
			langfuse(call, dict{"endTime": at(2)}),
			langfuse(long, dict{"endTime": at(2)}),
		},
		"a run that began, and that ended": {
			run(nil, nil),
			run(dict{"messages": []dict{call}}, dict{"end_time": at(2)}),
		},
		"a run of which a part came": {
			run(dict{"messages": []dict{call}}, nil),
			run(dict{"messages": []dict{empty}}, nil),
		},
		"a span that began, and that ended": {span(in, 1), span(out, 2)},
		"a span of which an attribute came two ways": {span(dict{
			"gen_ai.input.messages":  in["gen_ai.input.messages"],
			"gen_ai.output.messages": []dict{empty},
		}, 2), span(out, 2)},
	} {
		for range 2 {
			text2 := asText(twins[0]) + "\n" + asText(twins[1])
			if strings.Contains(name, "observation") {
				text2 = asText(dict{"trace": dict{"id": "t"}, "observations": twins})
			}
			as, _, err := importText(text2, Options{})
			if d := gocmp.Diff([]string{"called 1 Weather in Paris?"}, summaries(as)); d != "" || err != nil {
				t.Errorf("%s: %v: %s", name, err, d)
			}
			slices.Reverse(twins[:])
		}
	}
	// Spans that are about different things are two, whatever their ids.
	as, _, err := importText(
		asText(
			[]dict{span(dict{
				"gen_ai.input.messages":  in["gen_ai.input.messages"],
				"gen_ai.output.messages": out["gen_ai.output.messages"],
			}, 2), {
				"trace_id": "t", "span_id": "g", "name": "execute_tool get_weather", "start_time": at(1),
				"attributes": dict{
					"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "c1",
					"gen_ai.tool.call.result": "20",
				},
			}}), Options{})
	if err != nil || len(as) != 1 || len(as[0].Trace.Calls()) != 1 || string(as[0].Trace.Calls()[0].Result) != "20" {
		t.Errorf("a call and its tool with one id: %v, %+v", err, as)
	}
}

// TestToolsOfObservations holds that the name of a tool and the id of its call are what the
// instrumentation wrote, not the name of the observation or the run, and that arguments which
// differ from the message's are remarked.
func TestToolsOfObservations(t *testing.T) {
	t.Parallel()
	attrs := dict{"gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": "c1"}
	langfuse := func(typ string, meta any, args dict) string {
		var obs []dict
		for i, r := range firstTurn() {
			obs = append(obs, dict{
				"id": string(rune('0' + i)), "type": "GENERATION", "startTime": at(2*i + 1),
				"input": each1(r.in, chatMessage), "output": chatMessage(r.out),
			})
		}
		obs = append(obs, dict{
			"id": "x", "type": typ, "name": "running tool: get_weather", "startTime": at(2),
			"metadata": meta, "input": args, "output": "20",
		})
		return asText(dict{"id": "t", "observations": obs})
	}
	langsmith := func(args dict) string {
		form := recorded()["LangSmith"]("t", 1, firstTurn())
		return form + "\n" +
			asText(dict{
				"id": "x", "trace_id": "t", "parent_run_id": "t", "run_type": "tool", "name": "running tool",
				"start_time": at(1), "extra": dict{"metadata": attrs}, "inputs": args, "outputs": dict{"output": "20"},
			})
	}
	span := func(args dict) string {
		form := recorded()["OpenTelemetry"]("t", 1, firstTurn())
		return form + "\n" +
			asText(
				[]dict{{
					"trace_id": "t", "span_id": "x", "name": "running tool", "start_time": at(1),
					"attributes": dict{
						"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather",
						"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": args,
						"gen_ai.tool.call.result": "20",
					},
				}})
	}
	paris, oslo := dict{"city": "Paris"}, dict{"city": "Oslo", "days": 1}
	const remark = "the executed arguments of a call of get_weather differ from those that the model gave: city, days"
	for name, c := range map[string]struct {
		in    string
		notes []string
	}{
		"an observation":            {langfuse("TOOL", dict{"attributes": attrs}, paris), nil},
		"one of another type":       {langfuse("SPAN", dict{"attributes": attrs}, paris), nil},
		"one with metadata as text": {langfuse("TOOL", asText(dict{"attributes": attrs}), paris), nil},
		"one with attributes of the AI SDK": {langfuse("TOOL",
			dict{"attributes": dict{"ai.toolCall.name": "get_weather", "ai.toolCall.id": "c1"}}, paris), nil},
		"one with other arguments": {langfuse("TOOL", dict{"attributes": attrs}, oslo), []string{remark}},
		"one with arguments as LangChain writes": {langfuse("TOOL", dict{"attributes": attrs},
			dict{"input": "{'city': 'Paris'}"}), nil},
		"a run":                       {langsmith(paris), nil},
		"a run with other arguments":  {langsmith(oslo), []string{remark}},
		"a span":                      {span(paris), nil},
		"a span with other arguments": {span(oslo), []string{remark}},
	} {
		as, r, err := importText(c.in, Options{})
		if err != nil || len(as) != 1 || len(as[0].Trace.Calls()) != 1 {
			t.Errorf("%s: %v, %v", name, err, summaries(as))
			continue
		}
		call := as[0].Trace.Calls()[0]
		if call.Tool != "get_weather" || compact(call.Args) != `{"city":"Paris"}` || call.Status != "ok" {
			t.Errorf("%s: %+v", name, call)
		}
		notes := slices.DeleteFunc(slices.Clone(as[0].Trace.Notes),
			func(n string) bool { return !strings.Contains(n, "arguments") })
		if d := gocmp.Diff(c.notes, notes); d != "" && len(notes)+len(c.notes) > 0 ||
			r.Lost[trace.Differ] != int64(len(c.notes)) {
			t.Errorf("%s: %v: %s", name, r.Lost, d)
		}
	}
}
