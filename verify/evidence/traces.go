// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// utterance is one message of a conversation, in no form.
type utterance struct {
	role, text string
	// call is the id of a call in the message, or of the answered call if the role is tool.
	call string
}

// exchange is one request with its answer.
type exchange struct {
	history []utterance
	reply   reply
	// tools: the request offers the tool, if the form has a place for tools.
	tools bool
}

func asked(r reply) exchange {
	return exchange{history: []utterance{{role: "user", text: question}}, reply: r}
}

// traceForm is a form of trace file.
type traceForm struct {
	name string
	// record is one attempt as a line of a file.
	record func(id string, e exchange) any
	// hex: ids are trace ids in hexadecimal.
	hex                       bool
	reasons, thoughts, offers bool
	has                       func(*cell) bool
	// apart: a request is recorded separately from its answer.
	apart bool
	// open: a missing answer may not have been recorded.
	open bool
	// whole: a record is one list of messages, and all of it is the attempt. official: the authors
	// of the form have their own rules for calls in a text.
	whole, official bool
}

func (f *traceForm) cells() []cell {
	of := form{reasons: f.reasons, thoughts: f.thoughts, has: f.has}
	return of.cells()
}

// id returns the id of the n-th attempt of a file.
func (f *traceForm) id(n int) string {
	if f.hex {
		return fmt.Sprintf("%032x", n+1)
	}
	return fmt.Sprintf("cell-%04d", n)
}

// chatMessages are messages of chat completions.
func chatMessages(history []utterance) list {
	out := list{}
	for _, m := range history {
		switch {
		case m.role == "tool":
			out = append(out, object{"role": "tool", "tool_call_id": m.call, "content": m.text})
		case m.call != "":
			call := chatCall()
			delete(call, "index")
			call["id"] = m.call
			out = append(out, object{"role": m.role, "content": orNull(m.text), "tool_calls": list{call}})
		default:
			out = append(out, object{"role": m.role, "content": m.text})
		}
	}
	return out
}

func chatTools(e exchange) list {
	if !e.tools {
		return nil
	}
	return list{object{"type": "function", "function": weatherTool()}}
}

// partForm is a form with a list of parts in each message: the spelling of a text, a call and a
// result, and the name of the list.
type partForm struct {
	key                string
	text, call, result func(utterance) object
}

func (f *partForm) messages(history []utterance) list {
	out := list{}
	for _, m := range history {
		parts := list{}
		switch {
		case m.role == "tool":
			parts = append(parts, f.result(m))
		default:
			if m.text != "" {
				parts = append(parts, f.text(m))
			}
			if m.call != "" {
				parts = append(parts, f.call(m))
			}
		}
		out = append(out, object{"role": m.role, f.key: parts})
	}
	return out
}

// partsOf are messages of the GenAI conventions.
func partsOf(history []utterance) list {
	f := partForm{
		"parts",
		func(m utterance) object { return object{"type": "text", "content": m.text} },
		func(m utterance) object {
			return object{"type": "tool_call", "id": m.call, "name": theTool, "arguments": arguments()}
		},
		func(m utterance) object {
			return object{"type": "tool_call_response", "id": m.call, "response": m.text}
		},
	}
	return f.messages(history)
}

// outParts is the answer in the GenAI conventions.
func outParts(r reply) object {
	parts := list{}
	if r.thought != "" {
		parts = append(parts, object{"type": "reasoning", "content": r.thought})
	}
	if r.text != "" {
		parts = append(parts, object{"type": "text", "content": r.text})
	}
	if r.call {
		parts = append(parts, object{"type": "tool_call", "id": "call_1", "name": theTool, "arguments": arguments()})
	}
	return object{"role": "assistant", "parts": parts}
}

// attribute is a text, or a list of texts, in the form of OTLP.
func attribute(v any) object {
	if texts, ok := v.([]string); ok {
		values := list{}
		for _, t := range texts {
			values = append(values, object{"stringValue": t})
		}
		return object{"arrayValue": object{"values": values}}
	}
	if s, ok := v.(string); ok {
		return object{"stringValue": s}
	}
	return object{"stringValue": inJSON(v)}
}

func attributes(all object) list {
	out := list{}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, object{"key": k, "value": attribute(all[k])})
	}
	return out
}

// spanOf is a span of OTLP.
func spanOf(trace, id, name string, attrs object, events ...any) object {
	return object{
		"traceId": trace, "spanId": id, "name": name, "startTimeUnixNano": "1000000",
		"endTimeUnixNano": "2000000", "attributes": attributes(attrs), "events": events,
	}
}

func otlp(spans ...any) object {
	return object{"resourceSpans": list{object{
		"resource":   object{"attributes": list{}},
		"scopeSpans": list{object{"scope": object{"name": "x"}, "spans": spans}},
	}}}
}

// genAI returns the attributes of the conventions, without the finish reason.
func genAI(e exchange) object {
	a := object{
		"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
		"gen_ai.input.messages": partsOf(e.history),
	}
	if e.tools {
		tool := weatherTool()
		tool["type"] = "function"
		a["gen_ai.tool.definitions"] = list{tool}
	}
	return a
}

// reasonOf is the finish reason as an attribute of a span.
func reasonOf(r reply, a object, key string, wrap func(string) any) object {
	if !r.absent && !r.null {
		a[key] = wrap(r.stop)
	}
	return a
}

func inList(s string) any  { return []string{s} }
func asItIs(s string) any  { return s }
func notNull(k *cell) bool { return !k.null }

// conventions are the attributes with the finish reason in the span, in the message, or both.
func conventions(span, message bool) func(exchange) object {
	return func(e exchange) object {
		a, out := genAI(e), outParts(e.reply)
		if message {
			out = e.reply.ended(out, "finish_reason")
		}
		if span {
			a = reasonOf(e.reply, a, "gen_ai.response.finish_reasons", inList)
		}
		a["gen_ai.output.messages"] = list{out}
		return a
	}
}

// flat is a form with an attribute for each member of a message, and the number of the message in
// its name.
type flat struct {
	in, out              string // names of the messages of a request, and of answers
	member, call, called string // prefixes of a member of a message, of a call, and of its function
}

func (f *flat) write(a object, e exchange) {
	one := func(prefix string, m utterance) {
		a[prefix+f.member+"role"] = m.role
		if m.text != "" {
			a[prefix+f.member+"content"] = m.text
		}
		switch {
		case m.role == "tool":
			a[prefix+f.member+"tool_call_id"] = m.call
		case m.call != "":
			a[prefix+f.call+"id"], a[prefix+f.called+"name"], a[prefix+f.called+"arguments"] = m.call, theTool,
				argumentsText()
		}
	}
	for i, m := range e.history {
		one(f.in+"."+strconv.Itoa(i)+".", m)
	}
	out := utterance{role: "assistant", text: e.reply.text}
	if e.reply.call {
		out.call = "call_1"
	}
	one(f.out+".0.", out)
}

func openInference(e exchange) object {
	a := object{"openinference.span.kind": "LLM", "llm.model_name": "m"}
	const call = "message.tool_calls.0.tool_call."
	f := flat{"llm.input_messages", "llm.output_messages", "message.", call, call + "function."}
	f.write(a, e)
	if e.tools {
		a["llm.tools.0.tool.json_schema"] = chatTools(e)[0]
	}
	return reasonOf(e.reply, a, "llm.finish_reason", asItIs)
}

func numbered(e exchange) object {
	a := object{"llm.request.type": "chat", "gen_ai.request.model": "m"}
	f := flat{"gen_ai.prompt", "gen_ai.completion", "", "tool_calls.0.", "tool_calls.0."}
	f.write(a, e)
	if e.tools {
		a["llm.request.functions.0.name"], a["llm.request.functions.0.parameters"] = theTool,
			weatherTool()["parameters"]
	}
	return reasonOf(e.reply, a, "gen_ai.completion.0.finish_reason", asItIs)
}

// uiContent is a conversation in the AI SDK's model messages.
func uiContent(history []utterance) list {
	f := partForm{
		"content",
		func(m utterance) object { return object{"type": "text", "text": m.text} },
		func(m utterance) object {
			return object{"type": "tool-call", "toolCallId": m.call, "toolName": theTool, "input": arguments()}
		},
		func(m utterance) object {
			output := object{"type": "text", "value": m.text}
			return object{"type": "tool-result", "toolCallId": m.call, "toolName": theTool, "output": output}
		},
	}
	return f.messages(history)
}

func aiSDK(id string, e exchange) any {
	answer := func(a object) object {
		if e.reply.text != "" {
			a["ai.response.text"] = e.reply.text
		}
		if e.reply.thought != "" {
			a["ai.response.reasoning"] = e.reply.thought
		}
		if e.reply.call {
			a["ai.response.toolCalls"] = list{object{
				"toolCallType": "function", "toolCallId": "call_1",
				"toolName": theTool, "input": argumentsText(),
			}}
		}
		return reasonOf(e.reply, a, "ai.response.finishReason", asItIs)
	}
	outer := answer(object{"ai.operationId": "ai.generateText", "ai.prompt": object{"messages": uiContent(e.history)}})
	inner := answer(object{
		"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m",
		"ai.prompt.messages": uiContent(e.history),
	})
	if e.tools {
		tool := weatherTool()
		inner["ai.prompt.tools"] = []string{inJSON(object{
			"type": "function", "name": tool["name"],
			"description": tool["description"], "inputSchema": tool["parameters"],
		})}
	}
	model := spanOf(id, "2222222222222222", "ai.generateText.doGenerate", inner)
	model["parentSpanId"] = "1111111111111111"
	return otlp(spanOf(id, "1111111111111111", "ai.generateText", outer), model)
}

// enveloped are messages of LangChain in their envelopes.
func enveloped(history []utterance) list {
	out := list{}
	for _, m := range history {
		class, kwargs := map[string]string{
			"user": "HumanMessage", "tool": "ToolMessage", "assistant": "AIMessage",
			"system": "SystemMessage",
		}[m.role], object{"content": m.text}
		switch {
		case m.role == "tool":
			kwargs["tool_call_id"] = m.call
		case m.call != "":
			kwargs["tool_calls"] = list{object{"id": m.call, "name": theTool, "args": arguments(), "type": "tool_call"}}
		}
		out = append(out, envelope(class, kwargs))
	}
	return out
}

func envelope(class string, kwargs object) object {
	return object{"lc": 1, "type": "constructor", "id": list{"langchain_core", "messages", class}, "kwargs": kwargs}
}

// generation is an answer of LangChain, with the finish reason in its metadata.
func generation(r reply) object {
	kwargs := object{"content": r.text, "response_metadata": r.ended(object{}, "finish_reason")}
	if r.call {
		kwargs["tool_calls"] = list{object{"id": "call_1", "name": theTool, "args": arguments(), "type": "tool_call"}}
	}
	g := object{
		"text": r.text, "message": envelope("AIMessage", kwargs),
		"generation_info": r.ended(object{}, "finish_reason"),
	}
	return object{"generations": list{list{g}}}
}

func langSmith(id string, in, out any, more object) any {
	run := object{
		"id": id, "trace_id": id, "parent_run_id": nil, "run_type": "llm", "name": "model",
		"start_time": "2026-01-02T03:04:05.000", "end_time": "2026-01-02T03:04:06.000",
		"dotted_order": "001", "inputs": in, "outputs": out, "error": nil,
	}
	maps.Copy(run, more)
	return run
}

func langfuse(id string, in, out any) any {
	return object{"trace": object{"id": id, "name": "chat"}, "observations": list{object{
		"id": "o-" + id, "traceId": id, "type": "GENERATION", "name": "chat", "startTime": "2026-01-02T03:04:05.000Z",
		"endTime": "2026-01-02T03:04:06.000Z", "input": in, "output": out,
	}}}
}

// conversation is the whole chat as one list of messages of chat completions.
func conversation(e exchange) list { return append(chatMessages(e.history), chatMessage(e.reply)) }

// itemsOf are items of the Responses API.
func itemsOf(history []utterance) list {
	out := list{}
	for _, m := range history {
		switch {
		case m.role == "tool":
			out = append(out, object{"type": "function_call_output", "call_id": m.call, "output": m.text})
		case m.call != "":
			out = append(out,
				object{"type": "function_call", "call_id": m.call, "name": theTool, "arguments": argumentsText()})
		default:
			out = append(out, object{"role": m.role, "content": m.text})
		}
	}
	return out
}

// otlpForm is a form of one span of OTLP.
func otlpForm(name string, attrs func(exchange) object) traceForm {
	return traceForm{
		name: name, hex: true, reasons: true, apart: true, offers: true, open: true, has: notNull,
		record: func(id string, e exchange) any { return otlp(spanOf(id, "1111111111111111", "chat m", attrs(e))) },
	}
}

// spanForms are the dialects of spans.
func spanForms() []traceForm {
	values := otlpForm("OpenInference, values", func(e exchange) object {
		return object{
			"openinference.span.kind": "LLM", "llm.model_name": "m",
			"input.value":  object{"messages": chatMessages(e.history), "tools": chatTools(e)},
			"output.value": chatBody(e.reply),
		}
	})
	values.offers = false
	numberedOnes := otlpForm("Traceloop, numbered", numbered)
	numberedOnes.offers = false
	inference := otlpForm("OpenInference, messages", openInference)
	inference.offers = false
	graph := otlpForm("OpenInference, LangChain", func(e exchange) object {
		return object{
			"openinference.span.kind": "LLM", "llm.model_name": "m",
			"input.value": object{"messages": list{enveloped(e.history)}}, "output.value": generation(e.reply),
		}
	})
	graph.offers = false
	adk := otlpForm("ADK", func(e exchange) object {
		contents := list{}
		for _, m := range e.history {
			var parts list
			role := m.role
			switch {
			case m.role == "tool":
				role, parts = "user",
					list{object{"function_response": object{
						"id": m.call, "name": theTool,
						"response": object{"result": m.text},
					}}}
			case m.call != "":
				role, parts = "model",
					list{object{"function_call": object{"id": m.call, "name": theTool, "args": arguments()}}}
			default:
				if m.role == "assistant" {
					role = "model"
				}
				parts = list{object{"text": m.text}}
			}
			contents = append(contents, object{"role": role, "parts": parts})
		}
		out := list{}
		if e.reply.text != "" {
			out = append(out, object{"text": e.reply.text})
		}
		if e.reply.call {
			out = append(out, object{"function_call": object{"id": "call_1", "name": theTool, "args": arguments()}})
		}
		return object{
			"gen_ai.request.model": "m", "gcp.vertex.agent.llm_request": object{"model": "m", "contents": contents},
			"gcp.vertex.agent.llm_response": e.reply.ended(object{"content": object{"role": "model", "parts": out}},
				"finish_reason"),
		}
	})
	adk.offers = false
	wrapper := otlpForm("Langfuse, attributes", func(e exchange) object {
		return object{
			"langfuse.observation.type":   "generation",
			"langfuse.observation.input":  object{"messages": chatMessages(e.history)},
			"langfuse.observation.output": chatMessage(e.reply),
		}
	})
	wrapper.offers, wrapper.reasons = false, false
	return []traceForm{
		otlpForm("GenAI", conventions(true, true)), otlpForm("GenAI, of the span", conventions(true, false)),
		otlpForm("GenAI, of the message", conventions(false, true)),
		inference, values, graph, numberedOnes, adk, wrapper,
		{name: "AI SDK", hex: true, reasons: true, apart: true, offers: true, open: true, has: notNull, record: aiSDK},
		{name: "events", hex: true, reasons: true, apart: true, open: true, has: notNull, record: events},
		{
			name: "list of spans", hex: true, reasons: true, apart: true, open: true, offers: true, has: notNull,
			record: func(id string, e exchange) any {
				return object{
					"trace_id": id, "span_id": "1111111111111111", "name": "chat m",
					"start_time": "2026-01-02T03:04:05Z", "end_time": "2026-01-02T03:04:06Z",
					"attributes": texted(conventions(true, true)(e)),
				}
			},
		},
		{
			name: "Jaeger", hex: true, reasons: true, apart: true, open: true, offers: true, has: notNull,
			record: func(id string, e exchange) any {
				tags := list{}
				for k, v := range texted(conventions(false, true)(e)) {
					tags = append(tags, object{"key": k, "type": "string", "value": v})
				}
				span := object{
					"traceID": id, "spanID": "1111111111111111", "operationName": "chat m",
					"startTime": 1000,
					"duration":  1000, "tags": tags, "processID": "p1",
				}
				return object{"data": list{object{
					"traceID": id, "spans": list{span},
					"processes": object{"p1": object{"serviceName": "s", "tags": list{}}},
				}}}
			},
		},
		{name: "OpenAI Agents", apart: true, open: true, record: func(id string, e exchange) any {
			return object{
				"object": "trace.span", "id": "span_" + id, "trace_id": id, "parent_id": nil,
				"started_at": "2026-01-02T03:04:05.000Z", "ended_at": "2026-01-02T03:04:06.000Z", "error": nil,
				"span_data": object{
					"type": "generation", "input": chatMessages(e.history),
					"output": list{chatMessage(e.reply)}, "model": "m",
				},
			}
		}},
	}
}

// texted converts values to attributes. Values other than texts and lists of texts become JSON.
func texted(all object) object {
	for k, v := range all {
		switch v.(type) {
		case string, []string:
		default:
			all[k] = inJSON(v)
		}
	}
	return all
}

// events returns the events of a span, one for each message.
func events(id string, e exchange) any {
	var out []any
	for _, m := range e.history {
		a := object{"content": m.text}
		switch {
		case m.role == "tool":
			a["id"] = m.call
		case m.call != "":
			a["tool_calls"] = chatMessages([]utterance{m})[0].(object)["tool_calls"]
		}
		out = append(out,
			object{"timeUnixNano": "1000000", "name": "gen_ai." + m.role + ".message", "attributes": attributes(a)})
	}
	choice := reasonOf(e.reply, object{"index": "0", "message": chatMessage(e.reply)}, "finish_reason", asItIs)
	out = append(out, object{"timeUnixNano": "2000000", "name": "gen_ai.choice", "attributes": attributes(choice)})
	return otlp(spanOf(id, "1111111111111111", "chat m",
		object{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}, out...))
}

// chatForms are the forms that are not spans.
func chatForms() []traceForm {
	named := func(o object, id string, e exchange) object {
		o["id"] = id
		if e.tools {
			o["tools"] = chatTools(e)
		}
		return o
	}
	return []traceForm{
		{
			name: "chat completions", reasons: true, thoughts: true, offers: true,
			record: func(id string, e exchange) any { return named(chatBody(e.reply), id, e) },
		},
		{
			name: "responses", reasons: true, thoughts: true, apart: true, offers: true,
			has: func(k *cell) bool { return responsesStatus(k) && k.stop != "failed" },
			record: func(id string, e exchange) any {
				o := named(responseBody(e.reply), id, e)
				o["input"] = itemsOf(e.history)
				return o
			},
		},
		{
			name: "Anthropic", reasons: true, thoughts: true, offers: true,
			record: func(id string, e exchange) any { return named(messageBody(e.reply), id, e) },
		},
		{
			name: "messages, with a reason", whole: true, reasons: true, thoughts: true, offers: true,
			record: func(id string, e exchange) any {
				return named(object{"messages": append(chatMessages(e.history),
					e.reply.ended(chatMessage(e.reply), "finish_reason"))}, id, e)
			},
		},
		{name: "messages of LangChain", whole: true, reasons: true, record: func(id string, e exchange) any {
			return object{"id": id, "messages": append(enveloped(e.history), langChain(e.reply))}
		}},
		{
			name: "messages", whole: true, thoughts: true, offers: true,
			record: func(id string, e exchange) any { return named(object{"messages": conversation(e)}, id, e) },
		},
		{name: "Langfuse, completion", reasons: true, apart: true, open: true, record: func(id string, e exchange) any {
			return langfuse(id, object{"messages": chatMessages(e.history)}, chatBody(e.reply))
		}},
		{
			name: "Langfuse, message", apart: true, open: true,
			record: func(id string,
				e exchange,
			) any {
				return langfuse(id, chatMessages(e.history), chatMessage(e.reply))
			},
		},
		{name: "Langfuse, LangChain", reasons: true, apart: true, open: true, record: func(id string, e exchange) any {
			return langfuse(id, enveloped(e.history), langChain(e.reply))
		}},
		{name: "LangSmith, LangChain", reasons: true, apart: true, open: true, record: func(id string, e exchange) any {
			return langSmith(id, object{"messages": list{enveloped(e.history)}}, generation(e.reply), nil)
		}},
		{
			name: "LangSmith, completion", reasons: true, apart: true, open: true,
			record: func(id string, e exchange) any {
				return langSmith(id, object{"messages": chatMessages(e.history)}, chatBody(e.reply), nil)
			},
		},
		{name: "Inspect", whole: true, reasons: true, record: func(id string, e exchange) any {
			output := object{
				"model":   "m",
				"choices": list{e.reply.ended(object{"message": chatMessage(e.reply)}, "stop_reason")},
			}
			return object{
				"version": 2, "status": "success", "eval": object{"task": "t", "model": "m"},
				"samples": list{object{
					"id": id, "epoch": 1, "target": "", "messages": conversation(e),
					"output": output,
				}},
			}
		}},
		{name: "ADK session", reasons: true, record: func(id string, e exchange) any {
			user := object{"author": "user", "content": object{"role": "user", "parts": list{object{"text": question}}}}
			return object{
				"id": id, "app_name": "a", "user_id": "u",
				"events": list{
					user,
					e.reply.ended(object{
						"author":  "agent",
						"content": object{"role": "model", "parts": parts(e.reply)},
					}, "finish_reason"),
				},
			}
		}, has: func(k *cell) bool { return k.content == words || k.content == aCall }},
		{
			name: "ADK evalset", has: func(k *cell) bool { return k.content == words || k.content == aCall },
			record: evalset,
		},
		{name: "ATIF", record: func(id string, e exchange) any {
			agent := object{"step_id": 2, "source": "agent", "message": e.reply.text}
			if e.reply.call {
				agent["tool_calls"] = list{object{
					"tool_call_id": "call_1", "function_name": theTool,
					"arguments": arguments(),
				}}
			}
			return object{
				"schema_version": "ATIF-v1.4", "session_id": id, "agent": object{"name": "a", "version": "1"},
				"steps": list{object{"step_id": 1, "source": "user", "message": question}, agent},
			}
		}},
		{name: "tau", whole: true, official: true, record: func(id string, e exchange) any {
			return object{"task_id": id, "trial": 0, "reward": 1, "info": object{}, "traj": conversation(e)}
		}},
		{name: "tau2", whole: true, official: true, record: func(id string, e exchange) any {
			return object{
				"task_id": id, "trial": 0, "termination_reason": "user_stop",
				"reward_info": object{"reward": 1}, "messages": conversation(e),
			}
		}},
	}
}

func evalset(id string, e exchange) any {
	inv := object{"invocation_id": "i", "user_content": object{"role": "user", "parts": list{object{"text": question}}}}
	if e.reply.call {
		inv["intermediate_data"] = object{"tool_uses": list{object{
			"id": "call_1", "name": theTool,
			"args": arguments(),
		}}}
	} else {
		inv["final_response"] = object{"role": "model", "parts": parts(e.reply)}
	}
	return object{"eval_set_id": "s", "eval_cases": list{object{"eval_id": id, "conversation": list{inv}}}}
}

func traceForms() []traceForm { return append(spanForms(), chatForms()...) }

// overImports reads two trace files in each form: one of understood attempts, with exit code 0, and
// one of all others, with exit code 1.
func overImports(ctx context.Context, c *checker) error {
	for _, f := range traceForms() {
		cells := f.cells()
		var clear, dim []any
		for i := range cells {
			k := &cells[i]
			k.id = f.id(i)
			record := f.record(k.id, asked(k.reply()))
			if is := k.right(false); is.outcome == "abstained" || is.outcome == "called" {
				clear = append(clear, record)
			} else {
				dim = append(dim, record)
			}
		}
		for _, file := range []struct {
			name    string
			records []any
			code    int
		}{{"understood", clear, 0}, {"not understood", dim, 1}} {
			if err := c.lines("traces.jsonl", file.records); err != nil {
				return err
			}
			code, all, errs, err := c.imported(ctx, "traces.jsonl")
			if err != nil {
				return err
			}
			if f.reasons || file.code == 0 {
				c.exits(f.name+", "+file.name, code, file.code, errs)
			}
			for i := range cells {
				k := &cells[i]
				is := k.right(false)
				if (is.outcome == "abstained" || is.outcome == "called") != (file.code == 0) {
					continue
				}
				right := []end{is}
				if f.official && is.outcome != called.outcome {
					right = []end{byItself}
				}
				if k.content == empty || k.content == reasoning {
					right = append(right, f.silence()...)
				}
				c.is(f.name+": "+k.String(), all[k.id], right...)
			}
		}
	}
	return nil
}

// silence is another right end of an answer without words, if it may not have been recorded.
func (f *traceForm) silence() []end {
	if !f.open {
		return nil
	}
	return []end{fault("malformed"), notKnown}
}
