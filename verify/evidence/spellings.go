// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"context"
	"fmt"
	"strings"
)

// spelling is one call of the tool as a model writes it into its text.
type spelling struct{ name, text string }

// marked are spellings with an unmistakable mark: they are calls whatever tools are offered, also
// with prose before them.
func marked() []spelling {
	return []spelling{
		{"Hermes", "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"},
		{
			"Qwen3-Coder",
			"<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
		},
		{
			"Seed",
			"<seed:tool_call>\n<function=get_weather>\n<parameter=city>Oslo</parameter>\n</function>\n</seed:tool_call>",
		},
		{"GLM", "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"},
		{
			"Kimi",
			"<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{\"city\": \"Oslo\"}<|tool_call_end|><|tool_calls_section_end|>",
		},
		{
			"DeepSeek 3",
			"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{\"city\": \"Oslo\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		},
		{
			"DeepSeek 3.1",
			"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": \"Oslo\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		},
		{
			"DeepSeek 3.2",
			"<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Oslo</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
		},
		{
			"harmony",
			"<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\": \"Oslo\"}<|call|>",
		},
		{
			"MiniMax",
			"<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Oslo</parameter>\n</invoke>\n</minimax:tool_call>",
		},
		{"Mistral, old", "[TOOL_CALLS] [{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}]"},
		{"Mistral, new", "[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Oslo\"}"},
		{"Llama 3", "<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\"}}"},
		{"Llama 3, function", "<function=get_weather>{\"city\": \"Oslo\"}</function>"},
		{"Llama 4", "<|python_start|>[get_weather(city=\"Oslo\")]<|python_end|>"},
		{
			"Cohere",
			"<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\"}}\n]<|END_ACTION|>",
		},
		{"Nemotron", "<TOOLCALL>[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}]</TOOLCALL>"},
		{"LFM2", "<|tool_call_start|>[get_weather(city=\"Oslo\")]<|tool_call_end|>"},
		{"FunctionGemma", "<start_function_call>call:get_weather{city:<escape>Oslo<escape>}<end_function_call>"},
		{"functools", "functools[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}]"},
		{
			"invoke",
			"<function_calls>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Oslo</parameter>\n</invoke>\n</function_calls>",
		},
		{"Gorilla", "<<function>>get_weather(city=\"Oslo\")"},
	}
}

// alone are spellings that are calls if they are the whole answer, whatever tools are offered.
func alone() []spelling {
	return []spelling{
		{"an object", "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}"},
		{"an object with parameters", "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\"}}"},
		{"an object with a string", "{\"name\": \"get_weather\", \"arguments\": \"{\\\"city\\\": \\\"Oslo\\\"}\"}"},
		{"a list", "[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}]"},
		{"a fence", "```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```"},
		{"tools", "<tools>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}</tools>"},
	}
}

// offered are spellings that are calls only with the name of an offered tool. If the offered tools
// are not known, it is unknown whether the tool was called.
func offered() []spelling {
	return []spelling{
		{"a function", "get_weather(city=\"Oslo\")"},
		{"a list of functions", "[get_weather(city=\"Oslo\")]"},
		{"tool_code", "```tool_code\nget_weather(city=\"Oslo\")\n```"},
		{"Cline", "<get_weather>\n<city>Oslo</city>\n</get_weather>"},
		{"ReAct", "Thought: I need the weather.\nAction: get_weather\nAction Input: {\"city\": \"Oslo\"}"},
		{"ReAct, as Python", "Thought: I need the weather.\nAction: get_weather(city=\"Oslo\")"},
	}
}

// prose are answers without a call.
func prose() []spelling {
	return []spelling{
		{"words", answerText},
		{"the tool's name", "I could use the get_weather tool for that, but you did not ask about a city."},
		{"a mark in inline code", "Some models write `<tool_call>` or `[TOOL_CALLS]` before a call. I wrote none."},
		{
			"markup in a fence",
			"Such a call looks like this:\n\n```\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>\n```\n\nI did not make one.",
		},
		{
			"JSON in a fence",
			"This is a record of a person:\n\n```json\n{\"name\": \"Ann\", \"age\": 3}\n```\n\nIt has two members.",
		},
		{"JSON", "{\"answer\": \"It rains in Oslo.\", \"sure\": true}"},
		{"JSON with a name", "{\"name\": \"Ann\", \"age\": 3}"},
		{"a list of JSON", "[{\"name\": \"Ann\"}, {\"name\": \"Bob\"}]"},
		{
			"a call of another tool",
			"Their API takes {\"name\": \"book_flight\", \"arguments\": {\"to\": \"Oslo\"}} as a request, and answers with a number.",
		},
		{"code", "In Python, print(\"hi\") writes a line, and f(x) = x + 1 is no code at all."},
		{"tags", "Write <b>bold</b> for bold letters, and <city>Oslo</city> in an address."},
		{"steps", "Thought leads to action: first think, then act. Action is what counts."},
		{"an arrow", "Oslo -> Bergen takes 7 hours; [1] is the source, <1> is not."},
		{
			"a list of tools",
			"<tools>[{\"name\": \"ring\", \"description\": \"Rings.\", \"parameters\": {\"type\": \"object\"}}]</tools>",
		},
		{"a mark for tools", "Write <tools> before the list of tools, and </tools> after it."},
		{"an action in words", "Action: restart the server (now).\nThen wait."},
		{"an action in a list", "Thought is one word.\nAction: f(x)\nis a formula, and no call."},
	}
}

// sample is one text, with the right reading if the tool is offered, and if the offered tools are not
// known.
type sample struct {
	id, name       string
	reply          reply
	offered, blind []end
}

// samples returns all spellings: as they are, with prose before them, and cut off in the middle.
func samples() []sample {
	var out []sample
	add := func(name, text, stop string, offered, blind []end) {
		out = append(out,
			sample{fmt.Sprintf("cell-%04d", len(out)), name, reply{text: text, stop: stop}, offered, blind})
	}
	isCall, torn := []end{called}, []end{cut("unreadable_call")}
	open := []end{notKnown, fault("malformed"), cut("unreadable_call")}
	for _, s := range marked() {
		add(s.name, s.text, "stop", isCall, isCall)
		add(s.name+", after prose", "Let me look that up.\n\n"+s.text, "stop", isCall, isCall)
		half := halves(s.text)[0]
		add(s.name+", the half", half, "stop", torn, torn)
		add(s.name+", cut off", half, "length", []end{cut("call_cut_off")}, []end{cut("call_cut_off")})
	}
	for _, s := range alone() {
		add(s.name, s.text, "stop", isCall, isCall)
	}
	for _, s := range offered() {
		add(s.name, s.text, "stop", isCall, open)
	}
	for _, s := range prose() {
		for _, stop := range strings.Fields("stop end_turn completed") {
			add(s.name+", "+stop, s.text, stop, []end{byItself}, []end{byItself})
		}
	}
	return out
}

// overSpellings reads every sample in runs, agents, recordings and forms of trace files.
func overSpellings(ctx context.Context, c *checker) error {
	all := samples()
	var ids []string
	replies := map[string]reply{}
	for i := range all {
		ids = append(ids, all[i].id)
		replies[all[i].id] = all[i].reply
	}
	if err := c.write("suite.json", suite(ids)); err != nil {
		return err
	}
	compare := func(how string, got map[string]*seen) {
		for i := range all {
			c.is(how+": "+all[i].name, got[all[i].id], all[i].offered...)
		}
	}
	for _, w := range wires() {
		if w.name == "responses" {
			continue // its status has other names
		}
		srv := w.answering(replies)
		whole, err := c.evaluated(ctx, "suite.json", w.target, "--base-url", srv.URL+w.path)
		if err == nil {
			compare("asked over "+w.name, whole)
			whole, err = c.evaluated(ctx, "suite.json", w.target, "--base-url", srv.URL+w.path, "--stream")
		}
		srv.Close()
		if err != nil {
			return err
		}
		compare("asked over "+w.name+", streamed", whole)
	}
	for _, f := range answerForms() {
		if !f.reasons || f.has != nil {
			continue
		}
		for how, row := range map[string]func(string, any) any{
			"recorded as ":          rowOf,
			"recorded in a row as ": heldRow,
		} {
			got, err := c.recorded(ctx, ids, func(i int) any { return row(ids[i], f.body(all[i].reply)) })
			if err != nil {
				return err
			}
			compare(how+f.name, got)
		}
	}
	if err := spellingsOfAgents(ctx, c, all, compare); err != nil {
		return err
	}
	for _, f := range traceForms() {
		if f.official {
			continue
		}
		for _, tools := range []bool{false, true} {
			if tools && !f.offers {
				continue
			}
			if err := spellingsInTraces(ctx, c, &f, all, tools); err != nil {
				return err
			}
		}
	}
	return nil
}

// spellingsOfAgents sends every sample to an agent over HTTP and to an agent command.
func spellingsOfAgents(ctx context.Context, c *checker, all []sample, compare func(string, map[string]*seen)) error {
	bodies := map[string]string{}
	for i := range all {
		bodies[all[i].id] = inJSON(chatBody(all[i].reply))
		if err := c.write("answers/"+all[i].id+".json", bodies[all[i].id]); err != nil {
			return err
		}
	}
	if err := c.write("answer.sh", answers); err != nil {
		return err
	}
	srv := server(func(id string, _ bool) (string, string) { return "application/json", bodies[id] })
	defer srv.Close()
	for how, target := range map[string]string{
		"agent over HTTP":         srv.URL + "/agent",
		"agent that is a command": "exec:sh answer.sh",
	} {
		got, err := c.evaluated(ctx, "suite.json", target)
		if err != nil {
			return err
		}
		compare(how, got)
	}
	return nil
}

// spellingsInTraces reads one file of prose, which must be understood, and one of calls.
func spellingsInTraces(ctx context.Context, c *checker, f *traceForm, all []sample, tools bool) error {
	how := f.name
	if tools {
		how += ", tools known"
	}
	for _, calls := range []bool{false, true} {
		var records []any
		var of []*sample
		for i := range all {
			s := &all[i]
			if isCall := s.offered[0] != byItself; isCall != calls {
				continue
			}
			r := s.reply
			if !f.reasons && r.stop == "length" || f.name == "responses" && r.stop != "stop" {
				continue
			}
			if f.name == "responses" {
				r.stop = "completed"
			}
			records, of = append(records, f.record(f.id(len(of)), exchange{asked(r).history, r, tools})), append(of, s)
		}
		if err := c.lines("traces.jsonl", records); err != nil {
			return err
		}
		code, got, errs, err := c.imported(ctx, "traces.jsonl")
		if err != nil {
			return err
		}
		if !calls {
			c.exits(how+", prose", code, 0, errs)
		}
		for i, s := range of {
			right := s.blind
			if tools {
				right = s.offered
			}
			if !f.reasons && right[0] == byItself {
				right = []end{notRecorded}
			}
			c.is(how+": "+s.name, got[f.id(i)], right...)
		}
	}
	return nil
}
