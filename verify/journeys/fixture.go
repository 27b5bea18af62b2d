// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package journeys

import (
	"cmp"
	"fmt"
	"strings"
)

// verdict is the right verdict of one attempt. The fixtures are written so that it is known before
// callvet runs.
type verdict int

const (
	pass verdict = iota
	fail
	failed // with an error of the provider
)

// counts are the verdicts of one target.
type counts struct{ Pass, Fail, Error int }

func (c *counts) add(v verdict) {
	switch v {
	case pass:
		c.Pass++
	case fail:
		c.Fail++
	case failed:
		c.Error++
	}
}

func (c counts) judged() int { return c.Pass + c.Fail }

// shape is the kind of verdicts of a journey's attempts.
type shape struct {
	name  string
	cases []string // of the fixture's cases, in its order
	want  func(target, ix, repeat int) verdict
}

func always(v verdict) func(int, int, int) verdict {
	return func(int, int, int) verdict { return v }
}

// cycle alternates pass, fail and error, shifted by target, case and repeat, so that repeats of one
// case differ and targets differ.
func cycle(target, ix, repeat int) verdict { return verdict((target + ix + repeat) % 3) }

var every = []string{"rome", "oslo", "thanks", "lima"}

var shapes = []shape{
	{"all pass", every, always(pass)},
	{"all fail", every, always(fail)},
	{"mixed", every, cycle},
	{"all errors", every, always(failed)},
	{"one case", every[:1], func(target, _, _ int) verdict { return verdict(target % 3) }},
	{"no case", nil, always(pass)},
}

// question is a case of the fixture with an answer that passes and one that fails.
type question struct {
	prompt, expect, tags string
	right, wrong         string
	tool                 string // gold tool, for traces and retrieval
}

var questions = map[string]question{
	"rome": {
		prompt: "How is the weather in Rome?", expect: "expected_tool: get_weather\n    expected_params: {city: Rome}",
		tags:  "city",
		right: "calls: [{tool: get_weather, args: {city: Rome}}]",
		wrong: "calls: [{tool: get_weather, args: {city: Paris}}]", tool: "get_weather",
	},
	"oslo": {
		prompt: "What is the forecast for three days in Oslo?",
		expect: "expected_tool: get_forecast\n    expected_params: {city: Oslo, days: 3}", tags: "cold",
		right: "calls: [{tool: get_forecast, args: {city: Oslo, days: 3}}]",
		wrong: "calls: [{tool: get_weather, args: {city: Oslo}}]", tool: "get_forecast",
	},
	"thanks": {
		prompt: "Thank you, that is all.", expect: "expected_tool: null", tags: "smalltalk",
		right: "text: You are welcome.", wrong: "calls: [{tool: get_weather, args: {city: Rome}}]",
	},
	"lima": {
		prompt: "How is the weather in Lima?", expect: "expected_tool: get_weather\n    expected_params: {city: Lima}",
		tags:  "city",
		right: "calls: [{tool: get_weather, args: {city: Lima}}]", wrong: "text: I do not know.", tool: "get_weather",
	},
}

const tools = `tools:
  - name: get_weather
    description: The weather in a city now.
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
  - name: get_forecast
    description: The forecast for a city, for a number of days.
    parameters: {type: object, properties: {city: {type: string}, days: {type: integer}}, required: [city]}
`

// suiteFile is a suite in callvet's own format.
func suiteFile(ids []string) string {
	var b strings.Builder
	b.WriteString("name: trip\nversion: \"1.0\"\n" + tools)
	if len(ids) == 0 {
		b.WriteString("cases: []\n")
		return b.String()
	}
	b.WriteString("cases:\n")
	for _, id := range ids {
		q := questions[id]
		fmt.Fprintf(&b, "  - id: %s\n    prompt: %q\n    tags: [%s]\n    %s\n", id, q.prompt, q.tags, q.expect)
	}
	return b.String()
}

// scriptFile has answers to every attempt that lead to the verdicts of the shape.
func scriptFile(s *shape, target, repeats int) string {
	if len(s.cases) == 0 {
		return "model: script\nrules:\n  - contains: weather\n    text: It is sunny.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "model: script-%d\nrules:\n", target)
	for ix, id := range s.cases {
		for r := range repeats {
			q := questions[id]
			fmt.Fprintf(&b, "  - case: %s\n    repeat: %d\n    ", id, r)
			switch s.want(target, ix, r) {
			case pass:
				b.WriteString(q.right)
			case fail:
				b.WriteString(q.wrong)
			case failed:
				b.WriteString("error: {kind: server, http: 500, message: the model is down}")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// traceFile has one record per call and one per task: the attempts of the shape, as in an agent's log.
func traceFile(s *shape, targets, repeats int) string {
	var b strings.Builder
	for t := range targets {
		for ix, id := range s.cases {
			for r := range repeats {
				traceAttempt(&b, s, t, ix, r, id)
			}
		}
	}
	return b.String()
}

func traceAttempt(b *strings.Builder, s *shape, target, ix, repeat int, id string) {
	q, v := questions[id], s.want(target, ix, repeat)
	at := fmt.Sprintf(`"task_id":%q,"attempt":%d,"target":"agent-%d"`, id, repeat, target)
	if v == failed {
		fmt.Fprintf(b, `{"type":"task",%s,"outcome":"error","tags":[%q],"input":[{"role":"user","content":%q}]}`+"\n",
			at, q.tags, q.prompt)
		return
	}
	args := `{"city":"Rome"}`
	if v == fail {
		args = `{"city":"Paris"}`
	}
	tool := cmp.Or(q.tool, "get_weather")
	fmt.Fprintf(b,
		`{"type":"step",%s,"turn_id":0,"call_id":"c%d-%d-%d","tool":%q,"args":%s,"status":"ok","result":{"ok":true},"latency_ms":{"queue":1,"exec":%d},"gold":{"needed":true,"tool":%q,"args":{"city":"Rome"}},"tags":[%q]}`+"\n",
		at, target, ix, repeat, tool, args, 10+ix+repeat, tool, q.tags)
	fmt.Fprintf(b,
		`{"type":"task",%s,"pass":%v,"judged":[{"judge":"panel","pass":%v}],"gold":{"steps":[{"tool":%q,"args":{"city":"Rome"}}]},"wall_ms":%d,"usage":{"input_tokens":100,"output_tokens":%d},"cost_usd":0.00%d,"tags":[%q],"input":[{"role":"user","content":%q}],"final_answer":"It is sunny."}`+"\n",
		at, v == pass, v == pass, tool, 100+ix, 10+repeat, 1+ix, q.tags, q.prompt)
}

// catalogue has the tools that a retriever searches.
const catalogue = `{"name":"trip","tools":[
 {"id":"get_weather","name":"get_weather","description":"The weather in a city now.","keywords":["weather"],"examples":["How is the weather in Rome?","How is the weather in Lima?"]},
 {"id":"get_forecast","name":"get_forecast","description":"The forecast for a city, for a number of days.","keywords":["forecast"],"examples":["What is the forecast for three days in Oslo?"]}]}
`

// questionFile is a suite for a retriever.
func questionFile(ids []string) string {
	var b strings.Builder
	b.WriteString(
		`{"name":"trip questions","config":{"test_routing":false,"test_agents":false},"categories":[{"category_id":"trip","category_name":"Trip","test_cases":[`)
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		q := questions[id]
		gold := "[]"
		if q.tool != "" {
			gold = fmt.Sprintf("[%q]", q.tool)
		}
		fmt.Fprintf(&b, `{"id":%q,"query":%q,"expected_tools":%s,"acceptable_tools":%s,"tags":[%q]}`, id, q.prompt,
			gold, gold, q.tags)
	}
	b.WriteString("]}]}")
	return b.String()
}

// targetName is callvet's name of a script.
func targetName(i int) string { return "script:" + scriptName(i) }

func scriptName(i int) string { return fmt.Sprintf("model-%d.yaml", i) }

// counts are the verdicts that each target must have.
func (s *shape) counts(targets, repeats int) []counts {
	out := make([]counts, targets)
	for t := range targets {
		for ix := range s.cases {
			for r := range repeats {
				out[t].add(s.want(t, ix, r))
			}
		}
	}
	return out
}
