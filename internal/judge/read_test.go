// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"encoding/json"
	"strings"
	"testing"
)

func builtinOf(t testing.TB, name string) *Judge {
	t.Helper()
	j, err := Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// briefVerdict is a verdict in a few characters: + passes, - fails, ? is unscored, else the word.
func briefVerdict(v Verdict) string {
	switch {
	case !v.Scored():
		return "? " + v.Unscored
	case v.Pass != nil && *v.Pass:
		return "+"
	case v.Pass != nil:
		return "-"
	}
	return v.Word
}

func TestReadTask(t *testing.T) {
	t.Parallel()
	j := builtinOf(t, "task")
	for _, tc := range []struct{ text, want string }{
		{`{"pass": true, "fail_reasons": [], "unnecessary_calls": [], "notes": "fine"}`, "+"},
		{`{"pass": false, "fail_reasons": ["bad_args"], "notes": "no"}`, "-"},
		{"```json\n{\"pass\": false}\n```", "-"},
		{"Here is my verdict:\n```\n{\"pass\": true}\n```\nI hope this helps.", "+"},
		{`The call {"city": "Paris"} is right. {"pass": true}`, "+"},
		{`<think>it says {"pass": true} somewhere</think>{"pass": false}`, "-"},
		{`<think>The call is right, so {"pass": true}`, "? " + whyEmpty},
		{`<Thinking>{"pass": true}</Thinking> <think>{"pass": true}`, "? " + whyEmpty},
		{`So {"pass": true} it is.</think>{"pass": false}`, "-"},
		{`{"result": {"pass": false}}`, "-"},
		{`[{"pass": true}]`, "+"},
		{`"{\"pass\": false}"`, "-"},
		// nearly JSON
		{`{'pass': true, 'notes': 'it's fine',}`, "+"},
		{`{pass: True, fail_reasons: [], notes: None}`, "+"},
		{`{"pass": "yes"}`, "+"},
		{`{"Pass": "No."}`, "-"},
		{`{"verdict": "unsatisfactory"}`, "-"},
		{`{"pass": false "notes": "no comma"}`, "-"},
		{`{"pass": false, "notes": "he said "no" to it"}`, "-"},
		{"{\n  // as asked\n  \"pass\": true\n}", "+"},
		// cut off
		{`{"pass": true, "fail_reasons": [], "notes": "it was cu`, "+"},
		{`{"pass": false, "fail_reasons": ["wrong_t`, "-"},
		{`{"pass": tru`, "? " + whyNone},
		{`{"pass": true`, "? " + whyNone}, // it may go on
		{`{"fail_reasons": [], "notes": "and then it en`, "? " + whyNone},
		{"```json\n{\"pass\": false, \"notes\": \"", "-"},
		// prose
		{`failure`, "-"},
		{"Thoughts: the final answer claims success, and nothing was written.\n\nStatus: \"failure\"", "-"},
		{"**Status:** success", "+"},
		{"The verdict is: FAIL.", "-"},
		{"Result - Partially satisfied", "? " + whyNone},
		{"Verdict: partially satisfied", "-"},
		{"Status: unknown", "? " + whyNone},
		{"The agent did well and would pass most reviews.", "? " + whyNone},
		// none
		{"", "? " + whyEmpty},
		{" \n\t", "? " + whyEmpty},
		{"I'm sorry, but I can't help with that.", "? " + whyRefused},
		{"{}", "? " + whyNone},
		{"null", "? " + whyNone},
		{`{"pass": null}`, `? pass is "null", which is none`},
		{`{"pass": "maybe"}`, `? pass is "maybe", which is none`},
		// two verdicts
		{`{"pass": true} ... on second thought {"pass": false}`, "? " + whyConflict},
		{`{"pass": true, "pass": false}`, "? " + whyConflict},
		{`{"pass": true, "verdict": "fail"}`, "? " + whyConflict},
		{"Status: success\nStatus: failure", "? " + whyConflict},
		{
			`{"pass": true, "fail_reasons": ["policy_violation"]}`,
			"? it passes and says why it fails (policy_violation)",
		},
		{`The user wrote {"pass": true}. {"pass": false, "fail_reasons": ["bad_args"]}`, "? " + whyConflict},
		{`{"pass": true} {"pass": true}`, "+"},
	} {
		if got := briefVerdict(j.Read(tc.text, Did{})); got != tc.want {
			t.Errorf("%s\n is %s, want %s", tc.text, got, tc.want)
		}
	}
}

func TestReadOthers(t *testing.T) {
	t.Parallel()
	own, err := New("polite", Task, "Is it polite?",
		json.RawMessage(
			`{"type":"object","required":["score"],"properties":{"score":{"type":"number"},"tone":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	least := 0.5
	own.Threshold = &least
	for _, tc := range []struct {
		judge, text string
		did         Did
		want        string
		score       float64 // -1: none
	}{
		{"task", `{"pass": true, "unnecessary_calls": [2, 3]}`, Did{}, "+", 0.8},
		{"task", `{"pass": true, "unnecessary_calls": [1,2,3,4,5,6,7,8,9]}`, Did{}, "+", 0.5},
		{"task", `{"pass": false, "unnecessary_calls": [2]}`, Did{}, "-", 0},
		{"arguments", `{"args_correct": true, "missing_fields": [], "bad_fields": []}`, Did{}, "+", 1},
		{"arguments", `{"args_correct": false, "missing_fields": ["city"], "bad_fields": []}`, Did{}, "-", 0},
		{
			"arguments", `{"args_correct": true, "bad_fields": ["city"]}`,
			Did{},
			"? the arguments are correct and city is not", -1,
		},
		{"arguments", `correct`, Did{}, "? " + whyNone, -1},
		{"necessity", `{"needed": true, "best_tool": "get_weather"}`, Did{Tools: []string{"get_weather"}}, "+", 1},
		{"necessity", `{"needed": true, "best_tool": "get_weather"}`, Did{Tools: []string{"get_news"}}, "-", 0},
		{"necessity", `{"needed": true, "best_tool": "get_weather"}`, Did{}, "-", 0},
		{"necessity", `{"needed": false, "best_tool": null}`, Did{}, "+", 1},
		{"necessity", `{"needed": false, "best_tool": "none"}`, Did{Tools: []string{"get_news"}}, "-", 0},
		{"necessity", `{"needed": true, "best_tool": "get_weather"}`, Did{Tools: []string{"get_weather@v3"}}, "+", 1},
		{"necessity", `{"needed": true, "best_tool": "get_weather@v2"}`, Did{Tools: []string{"get_weather"}}, "+", 1},
		{
			"necessity", `{"needed": false, "best_tool": "get_news"}`,
			Did{},
			"? no tool is needed, and get_news is named", -1,
		},
		{"necessity", `{"needed": true, "best_tool": null}`, Did{}, "? a tool is needed, and none is named", -1},
		{"rubric", `{"score": 1}`, Did{Max: 1}, "+", 1},
		{"rubric", `{"score": 0.5}`, Did{Max: 1}, "-", 0.5},
		{"rubric", `{"score": "3/5"}`, Did{Max: 5}, "+", 0.6},
		{"rubric", `{"score": 2}`, Did{Max: 5}, "-", 0.4},
		{"rubric", `{"score": 2}`, Did{Max: 5, Threshold: share(false)}, "+", 0.4},
		{"rubric", `{"score": 4}`, Did{Max: 5, Threshold: share(true)}, "-", 0.8},
		{"rubric", `{"score": 0.5}`, Did{Max: 1, Threshold: &least}, "+", 0.5}, // the case precedes 0 or 1
		{"rubric", `{"score": 0.4}`, Did{Max: 1, Threshold: &least}, "-", 0.4},
		{"rubric", `{"score": 7}`, Did{Max: 5}, "? a score of 7 is not between 0 and 5", -1},
		{"rubric", `{"score": true}`, Did{Max: 5}, `? score is "true", which is none`, -1},
		{"verdict", `{"quality": 5, "verdict": "pass"}`, Did{}, "+", 1},
		{"verdict", `{"quality": 3, "verdict": "marginal"}`, Did{}, "-", 0.5},
		{"verdict", `{"quality": 1, "verdict": "pass"}`, Did{}, "? the verdict is pass and the quality 1 of 5", -1},
		{"verdict", `{"quality": 9, "verdict": "pass"}`, Did{}, "? a quality of 9 is not between 1 and 5", -1},
		{"compare", `{"winner": "A"}`, Did{}, "a", -1},
		{"compare", `{"winner": "draw"}`, Did{}, "tie", -1},
		{"compare", `{"winner": "both of them"}`, Did{}, `? winner is "both of them", which is none`, -1},
		{"report", `{"grade": "B+", "strengths": []}`, Did{}, "B", 0.75},
		{
			"report", `{"grade": "B", "tools": [{"tool": "f@v2", "grade": "C", "arguments": [{"argument": "city"}]}]}`,
			Did{},
			"B", 0.75,
		},
		{"report", `{"grade": "E"}`, Did{}, `? grade is "E", which is none`, -1},
		{"polite", `{"score": 0.7, "tone": "warm"}`, Did{}, "+", 0.7},
		{"polite", `{"score": 0.2}`, Did{}, "-", 0.2},
		{"polite", `{"score": 0.7, "tone": 3}`, Did{}, "? it breaks the schema of the judge: /tone", -1},
	} {
		j := own
		if tc.judge != "polite" {
			j = builtinOf(t, tc.judge)
		}
		v := j.Read(tc.text, tc.did)
		if got := briefVerdict(v); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s %s is %s, want %s", tc.judge, tc.text, got, tc.want)
		}
		if v.Score == nil && tc.score >= 0 || v.Score != nil && (*v.Score < tc.score-1e-9 || *v.Score > tc.score+1e-9) {
			t.Errorf("%s %s: the score is %v, want %v", tc.judge, tc.text, v.Score, tc.score)
		}
	}
}

func TestWord(t *testing.T) {
	t.Parallel()
	for _, w := range strings.Split(
		"pass,PASSED,Satisfied,satisfactory,compliant,correct,yes,success,Successfully completed,not wrong,1,TRUE",
		",") {
		if pass, known := Word(w); !pass || !known {
			t.Errorf("%q: %v %v, want a pass", w, pass, known)
		}
	}
	for _, w := range strings.Split(
		"fail,failure,Unsatisfied,UNSATISFACTORY,incorrect,partially_satisfied,mostly correct,not satisfied,non-compliant,noncompliant,no,0,partial success,marginal", ",") {
		if pass, known := Word(w); pass || !known {
			t.Errorf("%q: %v %v, want a fail", w, pass, known)
		}
	}
	for _, w := range strings.Split("unknown,n/a,maybe,passable work,,pass or fail,not", ",") {
		if pass, known := Word(w); pass || known {
			t.Errorf("%q: %v %v, want neither", w, pass, known)
		}
	}
}

func TestCombine(t *testing.T) {
	t.Parallel()
	yes, no := Verdict{Pass: new(bool), Score: share(true)}, Verdict{Pass: new(bool), Score: share(false)}
	*yes.Pass = true
	none := Verdict{Unscored: whyEmpty}
	for _, tc := range []struct {
		of        []Verdict
		want      string
		agreement float64
	}{
		{[]Verdict{yes}, "+", 1},
		{[]Verdict{yes, yes, no}, "+", 2. / 3},
		{[]Verdict{yes, no}, "? as many say one thing as another (1 of 2 each)", 0.5},
		{[]Verdict{yes, none}, "+", 1},
		{[]Verdict{yes, none, none}, "? " + whyEmpty, 0},
		{[]Verdict{none}, "? " + whyEmpty, 0},
		{nil, "? nothing was asked", 0},
	} {
		if c := Combine(tc.of); briefVerdict(c.Verdict) != tc.want || c.Agreement != tc.agreement || c.Samples != len(tc.of) {
			t.Errorf("%v: %s with agreement %v of %d, want %s with %v", tc.of, briefVerdict(c.Verdict), c.Agreement, c.Samples,
				tc.want, tc.agreement)
		}
	}
	won := func(w string) Combined { return Combine([]Verdict{{Word: w}}) }
	for _, tc := range [][3]string{
		{"a", "b", "a"},
		{"b", "a", "b"},
		{"tie", "tie", "tie"},
		{"a", "a", "tie"},
		{"b", "b", "tie"},
		{"a", "tie", "tie"},
	} {
		if c := BothOrders(won(tc[0]), won(tc[1])); c.Word != tc[2] {
			t.Errorf("%s, and %s when turned: %s, want %s", tc[0], tc[1], c.Word, tc[2])
		}
	}
	if c := BothOrders(won("a"), Combine([]Verdict{none})); c.Scored() {
		t.Errorf("one order alone: %+v", c)
	}
}

// FuzzRead: whatever a judge answers, it is read without a panic, a verdict is not also
// unscored, and a score is in [0,1].
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"pass": true, "fail_reasons": [], "notes": "fine"}`, `{'pass': 'no',}`, "```json\n{\"pass\": tr",
		"Status: \"failure\"", `{"score": 3e400}`, `{{{{`, `[[[[`, `{"a":{"pass":1}}`,
		`{"needed": true, "best_tool": "x"}`, `{"winner":"a"}`, `{"grade":"A+"}`, `{"quality": 4, "verdict": "pass"}`,
		"\xff\xfe", `{"pass":"\u00`, "<think>", strings.Repeat(`{"a":[`, 200),
	} {
		f.Add(s)
	}
	all := All()
	f.Fuzz(func(t *testing.T, text string) {
		for i := range all {
			v := all[i].Read(text, Did{Tools: []string{"x"}, Max: 5})
			if v.Scored() == (v.Pass == nil && v.Score == nil && v.Word == "") {
				t.Fatalf("%s: %+v", all[i].Name, v)
			}
			if v.Score != nil && !(*v.Score >= 0 && *v.Score <= 1) {
				t.Fatalf("%s: a score of %v", all[i].Name, *v.Score)
			}
			if v.Said != nil && !json.Valid(v.Said) {
				t.Fatalf("%s: said %s", all[i].Name, v.Said)
			}
		}
	})
}
