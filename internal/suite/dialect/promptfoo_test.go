// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect"
	"github.com/callvet/callvet/score"
)

// TestPromptfooMeans compares imported assertions with attempts: each means what it means where it
// comes from, or the case is skipped with a reason.
func TestPromptfooMeans(t *testing.T) {
	t.Parallel()
	call := func(tool, args string) callvet.Call { return callvet.Call{Tool: tool, Args: []byte(args)} }
	search, other := call("search", `{"q":"a","n":1}`), call("search", `{"q":"b"}`)
	reply := call("reply", `{}`)
	for _, tt := range []struct {
		name    string
		asserts string // separated by |
		calls   []callvet.Call
		want    callvet.Verdict
	}{
		{
			"short form of a sequence", `{type: trajectory:tool-sequence, value: [search, reply]}`,
			[]callvet.Call{search, other, reply},
			callvet.VerdictPass,
		},
		{
			"short form in another order", `{type: trajectory:tool-sequence, value: [reply, search]}`,
			[]callvet.Call{search, reply},
			callvet.VerdictFail,
		},
		{
			"steps by name and pattern",
			`{type: trajectory:tool-sequence, value: {mode: exact, steps: [{name: search}, {pattern: "re*"}]}}`,
			[]callvet.Call{search, reply},
			callvet.VerdictPass,
		},
		{
			"exact with a call between",
			`{type: trajectory:tool-sequence, value: {mode: exact, steps: [search, reply]}}`,
			[]callvet.Call{search, other, reply},
			callvet.VerdictFail,
		},
		{
			"a sequence that must not be, made", `{type: not-trajectory:tool-sequence, value: [search, reply]}`,
			[]callvet.Call{search, other, reply},
			callvet.VerdictFail,
		},
		{
			"a sequence that must not be, turned round", `{type: not-trajectory:tool-sequence, value: [search, reply]}`,
			[]callvet.Call{reply, search},
			callvet.VerdictPass,
		},
		{
			"one call for two assertions",
			`{type: trajectory:tool-args-match, value: {name: search, args: {q: a}}} | {type: trajectory:tool-args-match, value: {name: search, args: {n: 1}}}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"arguments of the second call", `{type: trajectory:tool-args-match, value: {name: search, args: {q: b}}}`,
			[]callvet.Call{search, other},
			callvet.VerdictPass,
		},
		{
			"exact next to partial",
			`{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: a}}} | {type: trajectory:tool-args-match, value: {name: search, args: {q: a}}}`,
			[]callvet.Call{search},
			callvet.VerdictFail,
		},
		{
			"exact next to partial, met",
			`{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: b}}} | {type: trajectory:tool-args-match, value: {name: search, args: {q: a}}}`,
			[]callvet.Call{search, other},
			callvet.VerdictPass,
		},
		{
			"partial inside a list",
			`{type: trajectory:tool-args-match, value: {name: search, args: {items: [{a: 1}]}}}`,
			[]callvet.Call{call("search", `{"items":[{"a":1,"b":2}]}`)},
			callvet.VerdictPass,
		},
		{
			"partial inside a longer list",
			`{type: trajectory:tool-args-match, value: {name: search, args: {items: [{a: 1}]}}}`,
			[]callvet.Call{call("search", `{"items":[{"a":1},{"a":2}]}`)},
			callvet.VerdictFail,
		},
		{
			"a default spelled out",
			`{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: a}, defaults: {n: 1}}}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"a default with another value",
			`{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: a}, defaults: {n: 2}}}`,
			[]callvet.Call{search},
			callvet.VerdictFail,
		},
		{
			"an argument ignored",
			`{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: a, n: 9}, ignore: n}}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"arguments ignored by a pattern",
			`{type: trajectory:tool-args-match, value: {name: get, mode: exact, args: {}, ignore: ["*_id"]}}`,
			[]callvet.Call{call("get", `{"a_id":1,"b_id":2}`)},
			callvet.VerdictPass,
		},
		{
			"an argument next to those ignored",
			`{type: trajectory:tool-args-match, value: {name: get, mode: exact, args: {}, ignore: ["*_id"]}}`,
			[]callvet.Call{call("get", `{"a_id":1,"x":2}`)},
			callvet.VerdictFail,
		},
		{
			"arguments that must not be sent",
			`{type: not-trajectory:tool-args-match, value: {name: search, args: {q: b}}}`,
			[]callvet.Call{search, other},
			callvet.VerdictFail,
		},
		{
			"arguments that were not sent",
			`{type: not-trajectory:tool-args-match, value: {name: search, args: {q: c}}}`,
			[]callvet.Call{search, other},
			callvet.VerdictPass,
		},
		{
			"not twice, called once", `{type: not-trajectory:tool-used, value: {name: search, min: 2}}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"not twice, called twice", `{type: not-trajectory:tool-used, value: {name: search, min: 2}}`,
			[]callvet.Call{search, other},
			callvet.VerdictFail,
		},
		{
			"at most once", `{type: trajectory:tool-used, value: {name: search, max: 1}}`,
			[]callvet.Call{search, other},
			callvet.VerdictFail,
		},
		{
			"a pattern", `{type: trajectory:tool-used, value: {pattern: "SEA*"}}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"a pattern that must not be", `{type: not-trajectory:tool-used, value: "sea*"}`,
			[]callvet.Call{search},
			callvet.VerdictFail,
		},
		{
			"one call for two names", `{type: trajectory:tool-used, value: [search, "s*"]}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"part of a threshold", `{type: tool-call-f1, threshold: 0.6, value: [search, reply, search]}`,
			[]callvet.Call{search, other},
			callvet.VerdictPass,
		},
		{
			"below a threshold", `{type: tool-call-f1, threshold: 0.7, value: [search, reply]}`,
			[]callvet.Call{search},
			callvet.VerdictFail,
		},
		{
			"steps of one message", `{type: trajectory:tool-sequence, value: {mode: exact, steps: [[reply, search]]}}`,
			[]callvet.Call{search, reply},
			callvet.VerdictPass,
		},
		{
			"steps of two messages",
			`{type: trajectory:tool-sequence, value: {mode: exact, steps: [[reply], [search]]}}`,
			[]callvet.Call{search, reply},
			callvet.VerdictFail,
		},
		{
			"steps of a pattern", `{type: trajectory:step-count, value: {type: tool, pattern: "s*", max: 1}}`,
			[]callvet.Call{search, reply},
			callvet.VerdictPass,
		},
		{
			"not between two bounds, below", `{type: not-trajectory:tool-used, value: {name: search, min: 2, max: 3}}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"not between two bounds, between",
			`{type: not-trajectory:tool-used, value: {name: search, min: 1, max: 2}}`,
			[]callvet.Call{search},
			callvet.VerdictFail,
		},
		{
			"an F1 that must not be, and is", `{type: not-tool-call-f1, value: [search]}`,
			[]callvet.Call{search},
			callvet.VerdictFail,
		},
		{
			"an F1 that must not be, and is not", `{type: not-tool-call-f1, value: [search, reply], threshold: 0.7}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"two sequences, both",
			`{type: trajectory:tool-sequence, value: [search, reply]} | {type: trajectory:tool-sequence, value: [search, search]}`,
			[]callvet.Call{search, other, reply},
			callvet.VerdictPass,
		},
		{
			"two sequences, one",
			`{type: trajectory:tool-sequence, value: [search, reply]} | {type: trajectory:tool-sequence, value: [reply, search]}`,
			[]callvet.Call{search, reply},
			callvet.VerdictFail,
		},
		{
			"an F1 and a sequence",
			`{type: tool-call-f1, value: [search, reply], threshold: 0.6} | {type: trajectory:tool-sequence, value: [reply, search]}`,
			[]callvet.Call{search, reply},
			callvet.VerdictFail,
		},
		{
			"a sequence and an F1",
			`{type: trajectory:tool-sequence, value: [search]} | {type: tool-call-f1, value: [search, reply], threshold: 0.6}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"two F1 of one set each", `{type: tool-call-f1, value: [search]} | {type: tool-call-f1, value: [reply]}`,
			[]callvet.Call{search},
			callvet.VerdictFail,
		},
		{
			"a default that is expected too",
			`{type: trajectory:tool-args-match, value: {name: search, args: {n: 1}, defaults: {n: 1}}}`,
			[]callvet.Call{search},
			callvet.VerdictFail,
		},
		{
			"a default that must not be expected too",
			`{type: not-trajectory:tool-args-match, value: {name: search, args: {n: 1}, defaults: {n: 1}}}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"an assertion of no weight",
			`{type: trajectory:tool-used, value: reply, weight: 0} | {type: trajectory:tool-used, value: search}`,
			[]callvet.Call{search},
			callvet.VerdictPass,
		},
		{
			"a set of assertions",
			`{type: assert-set, threshold: 1, assert: [{type: trajectory:tool-used, value: search}, {type: trajectory:tool-used, value: reply}]}`,
			[]callvet.Call{search},
			callvet.VerdictFail,
		},

		{
			"a set of which some may fail",
			`{type: assert-set, threshold: 0.5, assert: [{type: trajectory:tool-used, value: search}, {type: trajectory:tool-used, value: reply}]}`, nil, callvet.VerdictNotRun,
		},
		{
			"a mode that there is not",
			`{type: trajectory:tool-args-match, value: {name: search, args: {n: 1}, mode: strict}}`, nil,
			callvet.VerdictNotRun,
		},
		{"other steps", `{type: trajectory:step-count, value: {type: command, min: 1}}`, nil, callvet.VerdictNotRun},
		{
			"bounds that exclude each other", `{type: trajectory:tool-used, value: {name: search, max: 0}}`, nil,
			callvet.VerdictNotRun,
		},
		{
			"messages with others between", `{type: trajectory:tool-sequence, value: [[search], [reply]]}`, nil,
			callvet.VerdictNotRun,
		},
		{
			"a pattern with ? that no tool fits", `{type: trajectory:tool-used, value: {pattern: "s?"}}`, nil,
			callvet.VerdictNotRun,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := "prompts: [q]\nproviders: ['openai:x']\ntests:\n  - assert:\n"
			for a := range strings.SplitSeq(tt.asserts, " | ") {
				doc += "      - " + a + "\n"
			}
			s, _, err := dialect.Import(dialect.Promptfoo, []byte(doc), "promptfooconfig.yaml", dialect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := &s.Cases[0]
			if tt.want == callvet.VerdictNotRun {
				if !strings.Contains(c.Skip, "is not carried: ") {
					t.Errorf("skip is %q", c.Skip)
				}
				return
			}
			if c.Skip != "" {
				t.Fatal(c.Skip)
			}
			scorer, problems := score.New(s, score.Config{})
			compiled, more := scorer.Compile(&s.Cases[0])
			problems = append(problems, more...)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			tr := &callvet.Trace{
				Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: tt.calls}},
				End:   callvet.EndCalled,
			}
			tr.Classify("")
			if r := compiled.Score(tr); r.Verdict != tt.want {
				t.Errorf("%s %s, want %s", r.Verdict, r.Reason, tt.want)
			}
		})
	}
}

// TestPromptfooRows: each row of variables and each prompt makes a case with its own id, and the
// prompts are slices.
func TestPromptfooRows(t *testing.T) {
	t.Parallel()
	const doc = `prompts:
  - 'Weather in {{city}} on {{day}}?'
  - {label: terse, raw: '{{city}}, {{day}}: weather'}
providers: ['openai:x']
tests:
  - vars: {city: [Oslo, Lima], day: [today, tomorrow]}
    assert: [{type: contains, value: rain}]
  - vars: {city: Bergen, day: today}
    metadata: {prompt: own}
    assert: [{type: contains, value: rain}]
`
	s, _, err := dialect.Import(dialect.Promptfoo, []byte(doc), "promptfooconfig.yaml", dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range s.Cases {
		got = append(got, c.ID+" | "+c.Fields["prompt"]+" | "+c.Input[0].Content)
	}
	want := []string{
		"test-1/prompt-1/vars-1 | prompt-1 | Weather in Oslo on today?",
		"test-1/prompt-2/vars-1 | terse | Oslo, today: weather",
		"test-1/prompt-1/vars-2 | prompt-1 | Weather in Oslo on tomorrow?",
		"test-1/prompt-2/vars-2 | terse | Oslo, tomorrow: weather",
		"test-1/prompt-1/vars-3 | prompt-1 | Weather in Lima on today?",
		"test-1/prompt-2/vars-3 | terse | Lima, today: weather",
		"test-1/prompt-1/vars-4 | prompt-1 | Weather in Lima on tomorrow?",
		"test-1/prompt-2/vars-4 | terse | Lima, tomorrow: weather",
		"test-2/prompt-1 | own | Weather in Bergen on today?", "test-2/prompt-2 | own | Bergen, today: weather",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	one, _, err := dialect.Import(dialect.Promptfoo,
		[]byte(
			"prompts: ['{{q}}']\nproviders: ['openai:x']\ntests:\n  - vars: {q: a}\n    assert: [{type: contains, value: b}]\n"), "promptfooconfig.yaml", dialect.Options{})
	if err != nil || len(one.Cases) != 1 || one.Cases[0].ID != "test-1" || one.Cases[0].Fields != nil {
		t.Errorf("one prompt and one row: %+v %v", one, err)
	}
}

// TestPromptfooFiles: a scenario may name files for both of its lists, and tests a file without file://.
func TestPromptfooFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"config.yaml": "- vars: {city: Oslo}\n- vars: {city: Lima}\n",
		"tests.yaml":  "- vars: {q: 'Weather in {{city}}?'}\n  assert: [{type: contains, value: rain}]\n",
		"rows.csv":    "q,__expected\nhi,contains: rain\n",
	}
	s, problems, err := dialect.Import(dialect.Promptfoo, []byte(`prompts: ['{{q}}']
providers: ['openai:x']
tests: rows.csv
scenarios: [{config: 'file://config.yaml', tests: 'file://tests.yaml'}]
`), filepath.Join(t.TempDir(), "promptfooconfig.yaml"), dialect.Options{Include: func(_, name string) ([]byte, error) { return []byte(files[name]), nil }})
	if err != nil {
		t.Fatal(err, problems)
	}
	var got []string
	for _, c := range s.Cases {
		got = append(got, c.Input[0].Content)
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"Weather in Lima?", "Weather in Oslo?", "hi"}, got); d != "" {
		t.Error(d)
	}
}

// TestPromptfooTools: tools are read in the forms of all providers that promptfoo knows.
func TestPromptfooTools(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"city":{"type":"string"}}}`
	for name, config := range map[string]string{
		"OpenAI": `{"tools":[{"type":"function","function":{"name":"f","parameters":` + schema +
			`}}],"tool_choice":"required"}`,
		"functions": `{"functions":[{"name":"f","parameters":` + schema + `}],"tool_choice":{"mode":"required"}}`,
		"Anthropic": `{"tools":[{"name":"f","input_schema":` + schema + `}],"tool_choice":"any"}`,
		"Bedrock": `{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":` + schema +
			`}}}],"tool_choice":"required"}`,
		"a cache": `{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":` + schema +
			`}}},{"cachePoint":{"type":"default"}}],"tool_choice":"required"}`,
		"Gemini": `{"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}}}}]}],"tool_choice":"required"}`,
		"Vertex": `{"tools":[{"function_declarations":[{"name":"f","parameters":` + schema +
			`}]}],"tool_choice":"required"}`,
		"Nova": `{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":` + schema +
			`}}}],"toolChoice":{"any":{}}}}`,
	} {
		doc := `{"prompts":["{{q}}"],"providers":[{"id":"x","config":` + config +
			`}],"tests":[{"vars":{"q":"a"},"assert":[{"type":"contains","value":"a"}]}]}`
		s, problems, err := dialect.Import(dialect.Promptfoo, []byte(doc), "promptfooconfig.yaml", dialect.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, p := range problems {
			if !p.Warning {
				t.Errorf("%s: %v", name, p)
			}
		}
		if len(s.Tools) != 1 || s.Tools[0].Name != "f" || string(s.Tools[0].Parameters) != schema ||
			s.Defaults.ToolChoice != "required" {
			t.Errorf("%s: %+v, choice %q", name, s.Tools, s.Defaults.ToolChoice)
		}
	}
}
