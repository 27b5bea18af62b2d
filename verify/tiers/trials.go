// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

// The results of a trial.
const (
	pass    = "pass"
	fail    = "fail"
	notRun  = "not_run"
	refused = "refused" // lint has an error
	warned  = "warned"  // lint has a warning of that code, and no error
)

// trial is one case with the actions of an agent and the expected result. Tools are a, b and c; the
// calls of each step are made together, and text is the answer after them.
type trial struct {
	row    string // the name of the trial
	expect string
	stubs  string // JSON; "": {"a":{"v":1},"b":{"v":2}}; "none": the case has none
	calls  [][]string
	args   string // of every call; "": {}
	text   string
	want   string
	code   string // of refused and warned
	tokens int    // that the agent reports for each answer; 0: none
	open   int    // assertions that are not evaluated
	more   string // further members of the case
}

func call(names ...string) [][]string { return [][]string{names} }

// trials are the rows that a case and an agent can test.
func trials() []trial {
	ab, a := call("a", "b"), call("a")
	return []trial{
		// Requirements of the document that its own runner does not meet.
		{row: "toolsNotCalled is evaluated", expect: `{"toolsNotCalled":["b"]}`, calls: ab, text: "x", want: fail},
		{row: "toolsNotCalled holds", expect: `{"toolsNotCalled":["b"]}`, calls: a, text: "x", want: pass},
		{
			row: "toolsNotCalled alone is a warning", expect: `{"toolsNotCalled":["b"]}`, want: warned,
			code: "only-forbids",
		},
		{
			row: "responseMatches is evaluated", expect: `{"toolsCalled":["a"],"responseMatches":["^\\d+$"]}`, calls: a,
			text: "no number", want: fail,
		},
		{
			row: "responseMatches holds", expect: `{"toolsCalled":["a"],"responseMatches":["^\\d+$"]}`, calls: a,
			text: "12", want: pass,
		},
		{
			row: "maxTokens is evaluated", expect: `{"toolsCalled":["a"],"maxTokens":1}`, calls: a, text: "one two three",
			tokens: 3, want: fail,
		},
		{
			row: "maxTokens holds", expect: `{"toolsCalled":["a"],"maxTokens":10}`, calls: a, text: "one two three",
			tokens: 3, want: pass,
		},
		{
			row: "maxTokens without recorded tokens is not evaluated", expect: `{"toolsCalled":["a"],"maxTokens":1}`, calls: a,
			text: "one two three", want: pass, open: 1,
		},
		{
			row:    "toolParams is evaluated",
			expect: `{"toolsCalled":["a"],"toolParams":[{"tool":"a","paramName":"n","assertion":"equals","value":1}]}`,
			calls:  a, args: `{"n":2}`, text: "x", want: fail,
		},
		{
			row:    "toolParams holds",
			expect: `{"toolsCalled":["a"],"toolParams":[{"tool":"a","paramName":"n","assertion":"equals","value":1}]}`,
			calls:  a, args: `{"n":1}`, text: "x", want: pass,
		},
		{
			row: "toolsCalled takes repeats", expect: `{"toolsCalled":["a","b"]}`, calls: call("b", "a", "a"), text: "x",
			want: pass,
		},
		{
			row: "toolsCalled wants all", expect: `{"toolsCalled":["a","b"]}`, calls: call("a", "a"), text: "x",
			want: fail,
		},
		{
			row: "toolsCalled takes any order", expect: `{"toolsCalled":["a","b"]}`, calls: call("b", "a"), text: "x",
			want: pass,
		},
		{row: "toolsCalled takes nothing else", expect: `{"toolsCalled":["a"]}`, calls: ab, text: "x", want: fail},
		{
			row: "a tool that is called later counts", expect: `{"toolsCalled":["a"]}`, calls: [][]string{{"a"}, {"b"}},
			text: "x", want: fail,
		},
		{
			row: "toolsCalled over several turns", expect: `{"toolsCalled":["a","b"],"responseNonEmpty":true}`,
			calls: [][]string{{"a"}, {"b"}}, text: "x", want: pass,
		},
		{
			row: "responseContains is case-sensitive", expect: `{"toolsCalled":["a"],"responseContains":["Paris"]}`, calls: a,
			text: "paris", want: fail,
		},
		{
			row: "responseContains holds", expect: `{"toolsCalled":["a"],"responseContains":["Paris","18"]}`, calls: a,
			text: "Paris: 18", want: pass,
		},
		{
			row: "responseContains wants all", expect: `{"toolsCalled":["a"],"responseContains":["Paris","18"]}`, calls: a,
			text: "Paris", want: fail,
		},
		{
			row: "noToolErrors sees success: false", expect: `{"toolsCalled":["a"],"noToolErrors":true}`,
			stubs: `{"a":{"success":false,"error":"down"}}`, calls: a, text: "x", want: fail,
		},
		{
			row: "noToolErrors sees error", expect: `{"toolsCalled":["a"],"noToolErrors":true}`,
			stubs: `{"a":{"error":"down"}}`, calls: a, text: "x", want: fail,
		},
		{
			row: "noToolErrors holds", expect: `{"toolsCalled":["a"],"noToolErrors":true}`, calls: a, text: "x",
			want: pass,
		},
		{
			row: "noToolErrors without stubs is not evaluated", expect: `{"toolsCalled":["a"],"noToolErrors":true}`,
			stubs: "none", calls: a, text: "x", want: pass, open: 1,
		},
		{
			row: "schemaData is not evaluated", expect: `{"toolsCalled":["a"],"schemaData":{"x":1},"requiredKeys":["x"]}`,
			calls: a, text: "garbage", want: pass, open: 2,
		},
		{
			row: "only schemaData is refused", expect: `{"schemaData":{"x":1},"requiredKeys":["x"]}`, want: refused,
			code: "not-evaluated",
		},
		{
			row:    "an unresolved token is skipped and counted",
			expect: `{"toolsCalled":["a"],"responseContains":["{{seed:x.y}}"]}`, calls: a, text: "x",
			want: pass, open: 1,
		},
		{
			row: "only unresolved tokens do not pass", expect: `{"responseContains":["{{seed:x.y}}"]}`, calls: a,
			text: "x", want: notRun, open: 1,
		},
		{row: "a misspelt assertion is refused", expect: `{"toolsCaled":["a"]}`, want: refused, code: "unknown-key"},
		{row: "no assertion is refused", expect: `{}`, want: refused, code: "asserts-nothing"},
		{
			row: "generated shapes without expect are refused", more: `"expectedTool":"a","checks":[]`, want: refused,
			code: "unknown-key",
		},
		// Features of its runner, and their traps.
		{
			row: "toolsAcceptable takes any listed set", expect: `{"toolsAcceptable":[["a"],["a","b"]]}`, calls: ab,
			text: "x", want: pass,
		},
		{
			row: "toolsAcceptable takes no other set", expect: `{"toolsAcceptable":[["a"],["a","b"]]}`, calls: call("b"),
			text: "x", want: fail,
		},
		{row: "__none__ takes no tools", expect: `{"toolsAcceptable":[["__none__"]]}`, text: "x", want: pass},
		{
			row: "__none__ takes nothing but that", expect: `{"toolsAcceptable":[["__none__"]]}`, calls: a, text: "x",
			want: fail,
		},
		{
			row: "__none__ with a tool is refused", expect: `{"toolsAcceptable":[["a","__none__"]]}`, want: refused,
			code: "contradiction",
		},
		{
			row: "toolsCalled with toolsAcceptable is refused", expect: `{"toolsCalled":["a"],"toolsAcceptable":[["a"]]}`,
			want: refused, code: "contradiction",
		},
		{
			row: "a whole word can be asked for", expect: `{"toolsCalled":["a"],"responseMatches":["\\b5\\b"]}`, calls: a,
			text: "15 degrees", want: fail,
		},
		{
			row:    "responseContainsAny wants one of each group",
			expect: `{"toolsCalled":["a"],"responseContainsAny":[["x","y"],["z"]]}`, calls: a, text: "x and y",
			want: fail,
		},
		{
			row: "responseContainsAny holds", expect: `{"toolsCalled":["a"],"responseContainsAny":[["x","y"],["z"]]}`,
			calls: a, text: "y and z", want: pass,
		},
		{
			row: "responseContainsAny takes a flat list", expect: `{"toolsCalled":["a"],"responseContainsAny":["x","y"]}`,
			calls: a, text: "y", want: pass,
		},
		{
			row: "mixed groups are refused", expect: `{"toolsCalled":["a"],"responseContainsAny":["x",["y"]]}`,
			want: refused, code: "wrong-type",
		},
		{
			row: "responseNotContains is case-sensitive", expect: `{"toolsCalled":["a"],"responseNotContains":["API_KEY"]}`,
			calls: a, text: "api_key", want: pass,
		},
		{
			row: "responseNotContains fails", expect: `{"toolsCalled":["a"],"responseNotContains":["API_KEY"]}`, calls: a,
			text: "my API_KEY is", want: fail,
		},
		{
			row:    "responseNonEmpty takes a polite abstention",
			expect: `{"toolsAcceptable":[["__none__"]],"responseNonEmpty":true}`,
			text:   "Unfortunately, I can't do that.", want: pass,
		},
		{
			row: "responseNonEmpty takes no blanks", expect: `{"toolsCalled":["a"],"responseNonEmpty":true}`, calls: a,
			text: " ", want: fail,
		},
		{
			row:    "an answer that nothing asks for is not evaluated",
			expect: `{"toolsCalled":["a"],"responseNonEmpty":true,"responseContains":["Paris"]}`, stubs: "none",
			calls: a, text: "Paris", want: pass, open: 2,
		},
		{
			row:    "an answer that no stub reaches is a warning",
			expect: `{"toolsCalled":["a"],"responseContains":["Paris"]}`, stubs: "none", want: warned,
			code: "unreachable",
		},
		{
			row:    "an expected tool without a stub is a warning",
			expect: `{"toolsCalled":["a","c"],"responseContains":["Paris"]}`, want: warned, code: "no-stub",
		},
		{
			row: "maxLatencyMs fails", expect: `{"toolsCalled":["a"],"maxLatencyMs":0.0000001}`, calls: a, text: "x",
			want: fail,
		},
		{
			row: "maxLatencyMs holds", expect: `{"toolsCalled":["a"],"maxLatencyMs":600000}`, calls: a, text: "x",
			want: pass,
		},
		{
			row: "maxCost of an unknown price is not evaluated", expect: `{"toolsCalled":["a"],"maxCost":1}`, calls: a,
			text: "x", want: pass, open: 1,
		},
		{row: "minToolCalls", expect: `{"minToolCalls":2}`, calls: a, text: "x", want: fail},
		{row: "maxToolCalls", expect: `{"maxToolCalls":1}`, calls: ab, text: "x", want: fail},
		{
			row: "jsonValid is not evaluated", expect: `{"toolsCalled":["a"],"jsonValid":true}`, calls: a, text: "{",
			want: pass, open: 1,
		},
		{
			row: "minLength is not evaluated", expect: `{"toolsCalled":["a"],"minLength":100}`, calls: a, text: "x",
			want: pass, open: 1,
		},
		{
			row: "a pattern that does not compile is refused", expect: `{"toolsCalled":["a"],"responseMatches":["("]}`,
			want: refused, code: "bad-pattern",
		},
		{
			row: "numbers of a date are grounded", expect: `{"toolsCalled":["a"],"noUngroundedNumbers":true}`,
			stubs: `{"a":{"day":"2024-01-05"}}`, calls: a, text: "On 2024-01-05.", want: pass,
		},
		{
			row: "numbers of a list are no numbers", expect: `{"toolsCalled":["a"],"noUngroundedNumbers":true}`,
			stubs: `{"a":{"v":40}}`, calls: a, text: "1. It is 40.", want: pass,
		},
		{
			row: "a wrong amount within one percent fails", expect: `{"toolsCalled":["a"],"noUngroundedNumbers":true}`,
			stubs: `{"a":{"usd":1234}}`, calls: a, text: "It is $1,240.", want: fail,
		},
		{
			row: "a rounded amount holds", expect: `{"toolsCalled":["a"],"noUngroundedNumbers":true}`,
			stubs: `{"a":{"v":18.37}}`, calls: a, text: "It is 18.4.", want: pass,
		},
		{
			row: "a case without a message is refused", more: `"input":{"message":""},"expect":{"toolsCalled":["a"]}`,
			want: refused, code: "empty-prompt",
		},
		{
			row:    "stubs: {} is no stub: its answer is not evaluated",
			expect: `{"toolsCalled":["a"],"responseContains":["Paris"]}`, stubs: `{}`, calls: a, text: "Paris",
			want: pass, open: 1,
		},
		{
			row:    "one failed assertion does not hide another",
			expect: `{"toolsCalled":["b"],"responseContains":["Paris"],"responseNotContains":["x"]}`, calls: a,
			text: "x", want: fail,
		},
		{
			row: "responseContainsAny is case-sensitive", expect: `{"toolsCalled":["a"],"responseContainsAny":[["Paris"]]}`,
			calls: a, text: "paris", want: fail,
		},
		{
			row:    "responseNotContains is about any part of a word",
			expect: `{"toolsCalled":["a"],"responseNotContains":["error"]}`, calls: a, text: "terror", want: fail,
		},
		{row: "minToolCalls holds", expect: `{"minToolCalls":1}`, calls: a, text: "x", want: pass},
		{row: "maxToolCalls holds", expect: `{"maxToolCalls":2}`, calls: ab, text: "x", want: pass},
		{
			row:    "toolParams contains",
			expect: `{"toolsCalled":["a"],"toolParams":[{"tool":"a","paramName":"s","assertion":"contains","value":"ari"}]}`, calls: a, args: `{"s":"Oslo"}`, text: "x", want: fail,
		},
		{
			row:    "toolParams oneOf",
			expect: `{"toolsCalled":["a"],"toolParams":[{"tool":"a","paramName":"s","assertion":"oneOf","value":["Paris","Rome"]}]}`, calls: a, args: `{"s":"Oslo"}`, text: "x", want: fail,
		},
		{
			row:    "toolParams exists",
			expect: `{"toolsCalled":["a"],"toolParams":[{"tool":"a","paramName":"s","assertion":"exists"}]}`, calls: a,
			args: `{}`, text: "x", want: fail,
		},
		{
			row:    "toolParams notExists",
			expect: `{"toolsCalled":["a"],"toolParams":[{"tool":"a","paramName":"s","assertion":"notExists"}]}`,
			calls:  a, args: `{"s":1}`, text: "x", want: fail,
		},
		{
			row:    "toolParams matches",
			expect: `{"toolsCalled":["a"],"toolParams":[{"tool":"a","paramName":"s","assertion":"matches","value":"^P"}]}`, calls: a, args: `{"s":"Oslo"}`, text: "x", want: fail,
		},
		{
			row:    "toolParams of all kinds hold",
			expect: `{"toolsCalled":["a"],"toolParams":[{"tool":"a","paramName":"s","assertion":"contains","value":"ari"},{"tool":"a","paramName":"s","assertion":"oneOf","value":["Paris","Rome"]},{"tool":"a","paramName":"s","assertion":"exists"},{"tool":"a","paramName":"t","assertion":"notExists"},{"tool":"a","paramName":"s","assertion":"matches","value":"^P"}]}`, calls: a, args: `{"s":"Paris"}`, text: "x", want: pass,
		},
		{
			row:    "toolParams of an uncalled tool is reported by the call alone",
			expect: `{"toolsCalled":["a"],"toolParams":[{"tool":"a","paramName":"n","assertion":"equals","value":1}]}`,
			calls:  call("b"), text: "x", want: fail, open: 1,
		},
		{
			row: "regexPattern is evaluated", expect: `{"toolsCalled":["a"],"regexPattern":"^x$"}`, calls: a, text: "y",
			want: fail,
		},
		{
			row:    "a regexPattern that does not compile is refused before the run",
			expect: `{"toolsCalled":["a"],"regexPattern":"("}`, want: refused, code: "bad-pattern",
		},
		{
			row: "maxLength is not evaluated", expect: `{"toolsCalled":["a"],"maxLength":1}`, calls: a, text: "long",
			want: pass, open: 1,
		},
		{
			row: "typeChecks is not evaluated", expect: `{"toolsCalled":["a"],"typeChecks":{"x":"number"}}`, calls: a,
			text: "x", want: pass, open: 1,
		},
		{
			row: "requiresPreamble is not evaluated", expect: `{"toolsCalled":["a"],"requiresPreamble":true}`, calls: a,
			text: "I can't.", want: pass, open: 1,
		},
		{
			row: "noHallucinatedNumbers is evaluated", expect: `{"toolsCalled":["a"],"noHallucinatedNumbers":true}`,
			calls: a, text: "It is 99.", want: fail,
		},
		// Tiers.
		{
			row: "an unknown difficulty is refused", more: `"difficulty":"easy","expect":{"toolsCalled":["a"]}`,
			want: refused, code: "unknown-difficulty",
		},
		{
			row: "regression of another id is refused", more: `"difficulty":"regression","expect":{"toolsCalled":["a"]}`,
			want: refused, code: "contradiction",
		},
		{
			row: "a golden case without exact tools is a warning", expect: `{"toolsAcceptable":[["a"],["b"]]}`,
			want: warned, code: "tier-form",
		},
		{
			row:  "a rubric without criteria is refused",
			more: `"rubric":[{"dimension":"tone","maxScore":1}],"expect":{"toolsCalled":["a"]}`, want: refused,
			code: "missing-key",
		},
		{
			row:  "a rubric without reference data is a warning",
			more: `"rubric":[{"dimension":"tone","maxScore":1,"criteria":"kind"}],"expect":{"toolsCalled":["a"]}`,
			want: warned, code: "no-reference",
		},
	}
}
