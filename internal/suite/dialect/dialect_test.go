// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// decode reads the values of a JSON, JSONC, JSON Lines or YAML document with
// numbers as they are written.
func decode(t testing.TB, data []byte) []any {
	t.Helper()
	src, err := Open(data, "")
	if err != nil {
		t.Fatalf("decode: %v\n%s", err, data)
	}
	var out []any
	for _, top := range src.Values {
		dec := json.NewDecoder(bytes.NewReader(top.Raw))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// compacted is s with raw JSON on one line, for comparison.
func compacted(s *callvet.Suite) *callvet.Suite {
	b, err := json.Marshal(s) // Marshal compacts raw messages
	if err != nil {
		panic(err)
	}
	var out callvet.Suite
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return &out
}

func load(t testing.TB, name, doc string, opt Options) (*callvet.Suite, []callvet.Problem) {
	t.Helper()
	if got := Detect([]byte(doc), "x"); got != name {
		t.Fatalf("Detect = %q, want %q", got, name)
	}
	s, problems, err := Import(name, []byte(doc), "x", opt)
	if err != nil {
		t.Fatal(err)
	}
	return s, problems
}

// messages returns problems as "code@line:column key".
func messages(problems []callvet.Problem) []string {
	out := []string{}
	for _, p := range problems {
		kind := "error"
		if p.Warning {
			kind = "warning"
		}
		out = append(out, fmt.Sprintf("%s %s %s %d:%d %s", kind, p.Code, p.Key, p.Line, p.Column, p.Fix))
	}
	return out
}

func suiteOf(cases string) string {
	return `{"name":"s","tools":[{"type":"function","function":{"name":"t"}}],"test_cases":[` + cases + `]}`
}

func TestToolsuiteCase(t *testing.T) {
	t.Parallel()
	eps := 0.5
	one := func(tools []string, args string) []callvet.Plan {
		c := callvet.ExpectedCall{Tools: tools}
		if args != "" {
			c.Args = json.RawMessage(args)
		}
		return []callvet.Plan{{Calls: []callvet.ExpectedCall{c}}}
	}
	none := []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}
	multi := &callvet.MultiTurn{
		MaxRounds: 5, OptimalHops: 2, ValidPrerequisites: []string{"a"},
		ArgumentSource: map[string]string{"id": "a.result.flights[0].id"},
	}
	mocks := []callvet.Mock{{Tool: "a", Replies: []callvet.MockReply{{Result: json.RawMessage(`{"n":1.0}`)}}}}
	for name, c := range map[string]struct {
		doc  string
		want callvet.Case
	}{
		"params given": {
			`{"prompt":"p","expected_tool":"t","expected_params":{"n":1.50}}`,
			callvet.Case{Expect: callvet.Expect{Plans: one([]string{"t"}, `{"n":1.50}`)}},
		},
		"params null": {
			`{"prompt":"p","expected_tool":"t","expected_params":null}`,
			callvet.Case{Expect: callvet.Expect{Plans: one([]string{"t"}, "")}},
		},
		"params empty": {
			`{"prompt":"p","expected_tool":["t","u"],"expected_params":{}}`,
			callvet.Case{Expect: callvet.Expect{Plans: one([]string{"t", "u"}, "{}")}},
		},
		"tool null": {`{"prompt":"p","expected_tool":null}`, callvet.Case{Expect: callvet.Expect{Plans: none}}},
		"should not call": {
			`{"prompt":"p","should_call_tool":false,"category":"irrelevance"}`,
			callvet.Case{Expect: callvet.Expect{Plans: none}, Fields: map[string]string{"category": "irrelevance"}},
		},
		"config over mode": {`{"prompt":"p","expected_tool":null,"param_scoring":"fuzzy","scoring_config":{"mode":"numeric_tolerance","epsilon":0.5}}`, callvet.Case{Expect: callvet.Expect{Plans: none}, Scoring: &callvet.Scoring{Mode: "numeric_tolerance", Epsilon: &eps}}},
		"flat multi-turn": {
			`{"prompt":"p","expected_tool":null,"multi_turn":true,"max_rounds":5,"optimal_hops":2,"valid_prerequisites":["a"],"mock_responses":{"a":{"n":1.0}},"argument_source":{"id":"a.flights[0].id"}}`,
			callvet.Case{Expect: callvet.Expect{Plans: none}, MultiTurn: multi, Mocks: mocks},
		},
		"nested multi-turn": {
			`{"prompt":"p","expected_tool":null,"multi_turn":{"max_rounds":5,"optimal_hops":2,"valid_prerequisites":["a"],"mock_responses":{"a":{"n":1.0}},"argument_source":{"id":"a.flights[0].id"}}}`,
			callvet.Case{Expect: callvet.Expect{Plans: none}, MultiTurn: multi, Mocks: mocks},
		},
		"nested config, flat wins": {
			`{"prompt":"p","expected_tool":null,"max_rounds":5,"multi_turn_config":{"max_rounds":9,"optimal_hops":2,"valid_prerequisites":["a"],"mock_responses":{"a":{"n":1.0}},"argument_source":{"id":"a.flights[0].id"}}}`,
			callvet.Case{Expect: callvet.Expect{Plans: none}, MultiTurn: multi, Mocks: mocks},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, problems := load(t, Toolsuite, suiteOf(c.doc), Options{})
			if len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
			c.want.ID, c.want.Input = "case-1", []callvet.Turn{{Role: callvet.RoleUser, Content: "p"}}
			if diff := cmp.Diff(c.want, s.Cases[0],
				cmpopts.IgnoreFields(callvet.Case{}, "Position", "Foreign")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dialect, doc string
		want         []string
	}{
		"unknown key": {
			Toolsuite,
			"{\"name\":\"s\",\n \"tools\":[],\n \"test_cases\":[\n  {\"prompt\":\"p\", \"expectd_tool\":\"t\", \"expected_tool\":null}]}",
			[]string{`error unknown-key expectd_tool 4:18 did you mean "expected_tool"?`},
		},
		"unknown mode": {
			Toolsuite, suiteOf(`{"prompt":"é","expected_tool":null,"param_scoring":"fuzy"}`),
			[]string{`error unknown-mode param_scoring 1:132 did you mean "fuzzy"?`},
		},
		"contradiction": {
			Toolsuite, suiteOf(`{"prompt":"p","expected_tool":"t","should_call_tool":false}`),
			[]string{"error contradiction should_call_tool 1:115 remove one of the two"},
		},
		"not multi-turn": {
			Toolsuite, suiteOf(`{"prompt":"p","expected_tool":"t","max_rounds":3}`),
			[]string{"warning not-carried max_rounds 1:115 "},
		},
		"params without tool": {
			Toolsuite, suiteOf(`{"prompt":"p","expected_params":{"a":1}}`),
			[]string{"error no-expected-tool expected_tool 1:95 name the tool in expected_tool; without one it is not known which call has these arguments"},
		},
		"no expected tool": {
			Toolsuite, suiteOf(`{"prompt":"p"}`),
			[]string{`warning no-expected-tool expected_tool 1:81 write "expected_tool": null to say that no call is right`},
		},
		"both tool lists": {
			Forge,
			`[{"id":"gs-a-001","input":{"message":"m"},"expect":{"toolsCalled":["a"],"toolsAcceptable":[["a"]]}}]`,
			[]string{"error contradiction toolsAcceptable 1:73 keep toolsCalled for an exact set, toolsAcceptable for alternatives"},
		},
		"unknown assertion": {
			Forge, `[{"id":"gs-a-001","input":{"message":"m"},"expect":{"toolCalled":["a"]}}]`,
			[]string{`error unknown-key toolCalled 1:53 did you mean "toolsCalled"?`},
		},
		"token in message": {
			Forge, `[{"id":"gs-a-001","input":{"message":"{{seed:x}}"},"expect":{"toolsCalled":["a"]}}]`,
			[]string{"error token-not-allowed input.message 1:38 use tokens in response assertions and toolParams only"},
		},
		"no expect": {
			Forge, `[{"id":"gs-a-001","description":"d","input":{"message":"m"}}]`,
			[]string{"error asserts-nothing expect 1:2 add expect with toolsCalled or another assertion"},
		},
		"yaml task": {
			Tasks, "- task_id: t1\n  goal: g\n  gold_stepz: []\n  gold_steps: []\n",
			[]string{`error unknown-key gold_stepz 3:3 did you mean "gold_steps"?`},
		},
		"bad arguments": {
			OpenAI,
			`{"messages":[{"role":"user","content":"u"},{"role":"assistant","tool_calls":[{"function":{"name":"t","arguments":"{\"a\":1,\"a\":2}"}}]}]}`,
			[]string{"error arguments-not-json arguments 1:114 write a JSON object with unique keys"},
		},
		"no answer": {
			OpenAI, `{"messages":[{"role":"user","content":"u"}]}`,
			[]string{"error asserts-nothing messages 1:1 end the record with the assistant's answer"},
		},
		"program": {
			Promptfoo, "prompts: [p]\ntests:\n  - assert:\n      - type: javascript\n        value: x\n",
			[]string{"warning not-carried javascript 4:9 "},
		},
		"unknown filter": {
			Promptfoo,
			"prompts: ['{{a | upper}}']\ntests:\n  - vars: {a: x}\n    assert: [{type: contains, value: y}]\n",
			[]string{"error template prompts 1:11 only {{name}} and {{name.key}} are rendered"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := load(t, c.dialect, c.doc, Options{})
			if diff := cmp.Diff(c.want, messages(problems)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, path, want string }{
		"duplicate key": {
			"{\"name\":\"a\",\n\"test_cases\":[{\"prompt\":1,\"prompt\":2}]}", "s.json",
			`s.json:2:27: key "prompt" is given twice`,
		},
		"duplicate yaml key": {
			"a: 1\nb:\n  c: 1\n  c: 2\n", "s.yaml",
			"s.yaml:4:3: key \"c\" is given twice, first on line 3",
		},
		"cut off": {
			`{"name": "a", "test`, "s.json",
			"s.json:1:20: not valid JSON: the file ends in the middle of a value",
		},
		"not UTF-8": {"{\"a\":\"\xff\"}", "s.json", "byte 6 is not valid UTF-8"},
		"alias bomb": {
			"a: &a [1,1,1,1,1,1,1,1,1,1]\n" + bomb(), "s.yaml",
			"the document stands for millions of values once its aliases are followed",
		},
		"wide aliases": {
			"a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a,", 200) + "]\n", "s.yaml",
			"the aliases of the document make it too large",
		},
		"octal": {"a: 0123\n", "s.yaml", "s.yaml:1:4: 0123 is octal to some YAML readers and decimal to others"},
		"deep":  {strings.Repeat("[", 100000), "s.yaml", "nested more than 200 deep"},
		"empty": {" \n// nothing\n", "s.json", "s.json is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Import(Toolsuite, []byte(c.doc), c.path, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %q in it", err, c.want)
			}
			if !errors.Is(err, callvet.ErrInvalid) && !errors.Is(err, callvet.ErrLimited) {
				t.Errorf("error %v has no kind", err)
			}
		})
	}
}

func bomb() string {
	var b strings.Builder
	for c := 'b'; c <= 'z'; c++ {
		p := c - 1
		fmt.Fprintf(&b, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, p, p, p, p, p, p, p, p)
	}
	return b.String()
}

func TestForgeTokens(t *testing.T) {
	t.Parallel()
	doc := `[{"id":"rg-a-001","description":"d","difficulty":"regression","bugRef":"#7","input":{"message":"m"},"expect":{
	  "responseContains":["{{seed:qty[1].n}}","is {{seed:on}}","{{seed:big}}","{{seed:gone}}"],
	  "responseContainsAny":[["{{seed:gone}}","x"],["{{seed:gone}}"]],
	  "responseNotContains":["{{snapshot:o}}"],
	  "toolParams":[{"tool":"a","paramName":"n","assertion":"equals","value":"{{seed:qty[1].n}}"},{"tool":"a","param":"c","oneOf":["{{seed:gone}}","z"]}]}},
	 {"id":"ls-a-001","description":"d","input":{"message":"m"},"expect":{"responseContains":["{{seed:gone}}"]}}]`
	s, problems := load(t, Forge, doc,
		Options{
			Seeds:     json.RawMessage(`{"qty":[0,{"n":4.50e2}],"on":true,"big":12345678901234567890}`),
			Snapshots: json.RawMessage(`{"o":{"k": 1}}`),
		})
	want := callvet.Expect{
		ResponseContains: []string{"450", "is true", "12345678901234567890"}, ResponseContainsAny: [][]string{{"x"}},
		ResponseNotContains: []string{`{"k":1}`},
		ToolParams: []callvet.ToolParam{
			{Tool: "a", Path: "n", Matcher: callvet.Matcher{Mode: "exact", Value: json.RawMessage("4.50e2")}},
			{Tool: "a", Path: "c", Matcher: callvet.Matcher{Mode: "any_of", Value: json.RawMessage(`["z"]`)}},
		},
		Unsupported: []callvet.Unsupported{
			{Name: "responseContains", Reason: "the token {{seed:gone}} has no value"},
			{Name: "responseContainsAny", Reason: "the token {{seed:gone}} has no value"},
			{Name: "responseContainsAny", Reason: "the token {{seed:gone}} has no value"},
			{Name: "toolParams", Reason: "the token {{seed:gone}} has no value"},
		},
	}
	if diff := cmp.Diff(want, s.Cases[0].Expect); diff != "" {
		t.Error(diff)
	}
	if s.Cases[0].Tier != callvet.TierRegression || s.Cases[0].Fields["bugRef"] != "#7" {
		t.Errorf("tier %q, fields %v", s.Cases[0].Tier, s.Cases[0].Fields)
	}
	if s.Cases[1].Skip == "" || len(s.Cases[1].Expect.Unsupported) != 1 {
		t.Errorf("a case with nothing left to assert must be skipped: %+v", s.Cases[1])
	}
	codes := map[string]int{}
	for _, p := range problems {
		codes[p.Code]++
	}
	if diff := cmp.Diff(map[string]int{"unresolved-token": 5, "snapshot-in-regression": 1}, codes); diff != "" {
		t.Error(diff)
	}
	out, lost, err := Export(Forge, s)
	if err != nil || len(lost) > 0 {
		t.Fatal(err, lost)
	}
	if diff := cmp.Diff(decode(t, []byte(doc)), decode(t, out)); diff != "" {
		t.Errorf("tokens must survive an export:\n%s", diff)
	}
}

// TestForgeEnvelope: what was recorded when the cases were made.
func TestForgeEnvelope(t *testing.T) {
	t.Parallel()
	doc := `{"metadata":{"toolName":"a","toolVersion":"1.2.0","descriptionHash":"2cf24dba5fb0","registrySize":2,"tier":"golden"},
	 "cases":[{"id":"x-001","description":"d","input":{"message":"m"},"expect":{"toolsCalled":["a"]}}]} // kept` + "\n/* too */"
	s, problems := load(t, Forge, doc, Options{})
	if s.Cases[0].Tier != callvet.TierGolden || len(problems) > 0 {
		t.Errorf("tier %q, %v", s.Cases[0].Tier, problems)
	}
	const want = `{"toolName":"a","toolVersion":"1.2.0","descriptionHash":"2cf24dba5fb0","registrySize":2,"tier":"golden"}`
	if got := string(Envelope([]byte(doc), "x.json")); got != want {
		t.Errorf("%s", got)
	}
	for _, other := range []string{"", "[]", `{"metadata": {`, `{"metadata": {}}`} {
		if got := Envelope([]byte(other), "x.json"); got != nil {
			t.Errorf("%s has the envelope %s", other, got)
		}
	}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	const doc = `
- task_id: t1
  goal: Qual é o prazo de reembolso para eletrônicos na Argentina?
  context: {locale: pt-BR}
  gold_steps:
    - {tool: get_refund_policy@v3, args: {country: AR, limit: 1.10}}
  gold_postconditions: ["window_days==30", "the answer names the window", {response_contains: "30"}]
  budget: {max_tokens: 500, max_cost_usd: 0.01}
  as_of: 2025-08-21
  tags: [refunds, es-AR]
  safety_rules: [no PII, never issue_refund, Confirm writes, ask twice before a refund]
- task_id: t2
  goal: Obrigado!
  gold_steps: []
`
	s, problems := load(t, Tasks, doc, Options{})
	five, cent := 500, 0.01
	want := callvet.Case{
		ID: "t1", Tags: []string{"refunds", "es-AR"}, AsOf: "2025-08-21", Context: `{"locale":"pt-BR"}`,
		Input: []callvet.Turn{{
			Role:    callvet.RoleUser,
			Content: "Qual é o prazo de reembolso para eletrônicos na Argentina?",
		}},
		Expect: callvet.Expect{
			Plans: []callvet.Plan{{Order: callvet.OrderInOrder, Calls: []callvet.ExpectedCall{
				{Tools: []string{"get_refund_policy"}, Args: json.RawMessage(`{"country":"AR","limit":1.10}`)},
			}}}, Postconditions: []string{"window_days==30"}, ToolsNotCalled: []string{"issue_refund"},
			ResponseContains: []string{"30"}, MaxTokens: &five, MaxCostUSD: &cent,
			Rubric: []callvet.RubricDimension{
				{
					Dimension: "postcondition", MaxScore: 1,
					Criteria: "the answer names the window",
				},
				{Dimension: "safety", MaxScore: 1, Criteria: "ask twice before a refund"},
			},
		},
		Safety:   &callvet.Safety{ConfirmWrites: true, DenyPII: true},
		Position: callvet.Position{File: "x", Line: 2, Column: 3},
	}
	if diff := cmp.Diff(want, s.Cases[0], cmpopts.IgnoreFields(callvet.Case{}, "Foreign")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]callvet.Plan{{Calls: []callvet.ExpectedCall{}}}, s.Cases[1].Expect.Plans); diff != "" {
		t.Error(diff)
	}
	if len(problems) != 2 {
		t.Errorf("problems: %v", problems)
	}
	for _, form := range []string{
		doc, `[{"task_id":1,"goal":"g","gold_steps":["a@v1","b"],"needed":true}]`,
		"{\"task_id\":\"a\",\"goal\":\"g\",\"gold_steps\":[]}\n{\"task_id\":\"b\",\"goal\":\"g\",\"gold_steps\":[]}\n",
		`{"name":"n","tools":[{"name":"a","version":"v2","inputSchema":{}}],"tasks":[{"task_id":"a","goal":"g","gold_steps":[]}]}`,
	} {
		s, _ := load(t, Tasks, form, Options{})
		out, lost, err := Export(Tasks, s)
		if err != nil || len(lost) > 0 {
			t.Error(err, lost)
		}
		if diff := cmp.Diff(decode(t, []byte(form)), decode(t, out)); diff != "" {
			t.Errorf("changed (-was +now):\n%s", diff)
		}
	}
}

func TestOpenAITurns(t *testing.T) {
	t.Parallel()
	const doc = `{"messages":[{"role":"developer","content":"s"},{"role":"user","content":"u"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{\"n\":1.0}"}},{"id":"2","function":{"name":"b","arguments":""}}]},{"role":"tool","tool_call_id":"1","content":"r"},{"role":"assistant","tool_calls":[{"id":"3","function":{"name":"c","arguments":"{}"}}]},{"role":"assistant","content":"done"}],"tools":[{"type":"function","function":{"name":"a"}}]}
{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}],"tools":[{"type":"function","function":{"name":"a"}}]}
`
	s, _ := load(t, OpenAI, doc, Options{})
	var got []string
	for _, c := range s.Cases {
		var calls []string
		for _, e := range c.Expect.Plans[0].Calls {
			calls = append(calls, e.Tools[0]+string(e.Args))
		}
		got = append(got, fmt.Sprintf("%s line %d after %d turns: %v", c.ID, c.Position.Line, len(c.Input), calls))
	}
	want := []string{
		`case-1/turn-1 line 1 after 2 turns: [a{"n":1.0} b{}]`,
		"case-1/turn-2 line 1 after 4 turns: [c{}]", "case-2 line 2 after 1 turns: []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s.Cases[1].Input[3].Tool != "a" || len(s.Tools) != 1 || s.Cases[0].Tools != nil {
		t.Errorf("tool turn %+v, tools %v", s.Cases[1].Input[3], s.Tools)
	}
	out, lost, err := Export(OpenAI, s)
	if err != nil || len(lost) > 0 {
		t.Fatal(err, lost)
	}
	if diff := cmp.Diff(decode(t, []byte(doc)), decode(t, out)); diff != "" {
		t.Errorf("changed (-was +now):\n%s", diff)
	}
}

func TestPromptfoo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("tools.json",
		`[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object"}}},{"type":"function","function":{"name":"get_time"}}]`)
	write("more.jsonl",
		"\n{\"description\":\"from a file\",\"vars\":{\"q\":\"bye\"},\"assert\":[{\"type\":\"not-is-valid-openai-tools-call\"}]}\n")
	doc := `
prompts: ['[{"role":"system","content":"be brief"},{"role":"user","content":"{{q}} in {{where.city}}"}]']
providers: [{id: 'openai:x', config: {tools: 'file://tools.json', tool_choice: required}}]
defaultTest: {vars: {where: {city: Paris}}, assert: [{type: latency, threshold: 3000}]}
tests:
  - vars: {q: [now, later]}
    assert:
      - {type: trajectory:tool-sequence, value: {steps: [get_weather, get_time]}}
      - {type: trajectory:tool-args-match, value: {name: get_weather, args: {city: '{{where.city}}', opt: {a: 1}}}}
      - {type: trajectory:tool-used, value: {pattern: 'get_*', min: 3}}
      - {type: icontains, value: "21°"}
  - file://more.jsonl
  - file://../outside.yaml
`
	path := filepath.Join(dir, "promptfooconfig.yaml")
	s, problems, err := Import(Promptfoo, []byte(doc), path, Options{Include: func(dir, name string) ([]byte, error) {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s leads out of the folder", name)
		}
		return os.ReadFile(filepath.Join(dir, name))
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cases) != 3 || len(s.Tools) != 2 || s.Defaults.ToolChoice != "required" {
		t.Fatalf("%d cases, %d tools, tool choice %q: %v", len(s.Cases), len(s.Tools), s.Defaults.ToolChoice, problems)
	}
	ms, extra, three := 3000.0, -1, 3
	want := callvet.Expect{
		Plans: []callvet.Plan{{Order: callvet.OrderInOrder, MaxExtraCalls: &extra, Calls: []callvet.ExpectedCall{
			{Tools: []string{"get_weather"}},
			{Tools: []string{"get_time"}},
		}}},
		Counts: []callvet.CallCount{
			{Call: callvet.ExpectedCall{
				Tools: []string{"get_weather"}, Args: json.RawMessage(`{"city":"Paris","opt":{"a":1}}`),
				ExtraArgs: callvet.ExtraIgnore,
				Matchers:  map[string]callvet.Matcher{"opt": {Mode: "partial"}},
			}},
			{Call: callvet.ExpectedCall{Tools: []string{"get_*"}}, Min: &three},
		},
		MaxLatencyMS: &ms, ResponseMatches: []string{"(?i)(?:21°)"},
	}
	if diff := cmp.Diff(want, s.Cases[1].Expect); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]callvet.Turn{
		{Role: "system", Content: "be brief"},
		{Role: "user", Content: "later in Paris"},
	}, s.Cases[1].Input); diff != "" {
		t.Error(diff)
	}
	if p := s.Cases[2].Position; filepath.Base(p.File) != "more.jsonl" || p.Line != 2 {
		t.Errorf("position of a test in another file: %v", p)
	}
	found := false
	for _, p := range problems {
		found = found || p.Code == "file" && strings.Contains(p.Message, "outside.yaml") && p.Line == 13
	}
	if !found {
		t.Errorf("a file outside the directory must not be read: %v", problems)
	}
}

// A suite of one dialect can be written in every other and read again.
func TestExportAcross(t *testing.T) {
	t.Parallel()
	s, _ := load(t, Toolsuite,
		suiteOf(
			`{"prompt":"p","expected_tool":["t","u"],"expected_params":{"a":1},"multi_turn":true,"valid_prerequisites":["q"]},{"prompt":"bye","expected_tool":null}`), Options{})
	for _, name := range Names() {
		out, lost, err := Export(name, s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := Detect(out, "x"); got != name {
			t.Errorf("%s: detected as %q:\n%s", name, got, out)
			continue
		}
		again, problems, err := Import(name, out, "x", Options{})
		if err != nil || len(again.Cases) != 2 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, p := range problems {
			if !p.Warning && (p.Code != "asserts-nothing" || name != OpenAI) {
				t.Errorf("%s: %v\n%s", name, p, out)
			}
		}
		if name != Toolsuite && len(lost) == 0 {
			t.Errorf("%s: nothing is said to be lost", name)
		}
		if got := again.Cases[0].Input; got[len(got)-1].Content != "p" {
			t.Errorf("%s: the prompt became %v", name, got)
		}
	}
}

func examples() map[string]string {
	return map[string]string{
		Toolsuite: suiteOf(
			`{"prompt":"p","expected_tool":["t"],"multi_turn":{"max_rounds":2},"scoring_config":{"mode":"regex"}},{"id":"x","prompt":"q","expected_tool":null}`),
		Forge:      `{"metadata":{"toolName":"a","tier":"labeled"},"cases":[{"id":"ls-a-001","description":"d","input":{"message":"m"},"stubs":{"a":1},"maxTurns":2,"expect":{"toolsAcceptable":[["a"],["__none__"]],"responseContains":["{{seed:x}}"],"toolParams":[{"tool":"a","param":"p","matches":"x"}]}}]}`,
		Categories: `{"name":"n","config":{},"categories":[{"category_id":"c","category_name":"C","test_cases":[{"id":"1","query":"q","expected_tools":["a"],"acceptable_tools":["b"],"tags":["x"]}]}]}`,
		Tasks:      `[{"task_id":"t","goal":"g","gold_steps":[{"tool":"a@v1","args":{"x":1},"result":{"y":2}},"b"],"gold_postconditions":["y==2"],"budget":{"max_steps":3}}]`,
		OpenAI:     `{"messages":[{"role":"user","content":"u"},{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":"{}"}}]}]}`,
		Promptfoo:  "prompts: ['{{q}}']\ntests:\n  - vars: {q: hi}\n    assert: [{type: contains, value: y}, {type: tool-call-f1, value: [a]}]\n",
	}
}

// FuzzImport: no input panics; what loads can be written and read again with
// as many cases, and the lossless dialects give the same document.
func FuzzImport(f *testing.F) {
	for i, name := range Names() {
		f.Add(uint8(i), []byte(examples()[name]))
	}
	f.Add(uint8(3), []byte("- task_id: &a x\n  goal: *a\n  <<: {gold_steps: []}\n"))
	f.Add(uint8(1), []byte("[{\"id\":\"gs-a-1\", // c\n\"input\":{\"message\":\"m\"},\"expect\":{},}]"))
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		name := Names()[int(which)%len(Names())]
		_ = Refusal(data, "")
		s, _, err := Import(name, data, "", Options{Seeds: json.RawMessage(`{"x":1}`)})
		if err != nil {
			return
		}
		out, _, err := Export(name, s)
		if err != nil {
			t.Fatalf("export: %v", err)
		}
		again, _, err := Import(name, out, "", Options{Seeds: json.RawMessage(`{"x":1}`)})
		if err != nil && len(s.Cases) > 0 {
			t.Fatalf("read again: %v\n%s", err, out)
		}
		if err == nil && name != Promptfoo && len(again.Cases) != len(s.Cases) {
			t.Fatalf("%d cases became %d:\n%s", len(s.Cases), len(again.Cases), out)
		}
		if Detect(data, "") != name || name == OpenAI || name == Promptfoo {
			return
		}
		if diff := cmp.Diff(decode(t, data), decode(t, out)); diff != "" {
			t.Fatalf("%s changed (-was +now):\n%s", name, diff)
		}
	})
}

// BenchmarkImport reads 100,000 cases of about 200 bytes.
func BenchmarkImport(b *testing.B) {
	var doc bytes.Buffer
	doc.WriteString(`{"name":"s","tools":[],"test_cases":[` + "\n")
	for i := range 100_000 {
		if i > 0 {
			doc.WriteString(",\n")
		}
		fmt.Fprintf(&doc, ` {"prompt":"What is the weather in city number %d, and will it rain tomorrow?",`+"\n"+
			`  "expected_tool":"get_weather","expected_params":{"city":"c%d","days":%d},"category":"weather","param_scoring":"exact"}`, i, i, i%7)
	}
	doc.WriteString("]}")
	b.SetBytes(int64(doc.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if Detect(doc.Bytes(), "x.json") != Toolsuite {
			b.Fatal("not detected")
		}
		s, _, err := Import(Toolsuite, doc.Bytes(), "x.json", Options{})
		if err != nil || len(s.Cases) != 100_000 {
			b.Fatal(err)
		}
	}
}
