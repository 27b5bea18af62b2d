// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/score/condition"
	"github.com/callvet/callvet/value"
)

// scriptVars are the variables of a test.
func scriptVars() []Member {
	var out []Member
	for _, v := range [][2]string{
		{"city", `"Paris"`},
		{"quote", `"say \"hi\""`},
		{"n", `3`},
		{"list", `["a"]`},
		{"lost", `"\ufffd"`},
	} {
		out = append(out, Member{Name: v[0], Val: Node{Raw: []byte(v[1])}})
	}
	return out
}

// TestFormula: what becomes an expression, and what stays a program.
func TestFormula(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`output.includes('x')`:                                                     `answer contains "x"`,
		`output.includes("it's");`:                                                 `answer contains "it's"`,
		"output.startsWith(`a\"b`)":                                                `answer startsWith "a\"b"`,
		`output.includes("a${b}")`:                                                 `answer contains "a${b}"`,
		`output.endsWith('a\n\\')`:                                                 `answer endsWith "a\n\\"`,
		`output === 'Paris'`:                                                       `answer == "Paris"`,
		`output.includes(context.vars.city)`:                                       `answer contains "Paris"`,
		`output.includes( context.vars.quote ) `:                                   `answer contains "say \"hi\""`,
		`output.toLowerCase().includes('oslo')`:                                    `answer matches "[oO][sS][lL][oO]"`,
		`output.toLowerCase().startsWith('hi')`:                                    `answer matches "^[hH][iI\\x{130}]"`,
		`output.toLowerCase().endsWith('k.i')`:                                     `answer matches "[kK\\x{212A}]\\.[iI]$"`,
		`output.toLowerCase() === '(ok)'`:                                          `answer matches "^\\([oO][kK\\x{212A}]\\)$"`,
		`JSON.parse(output).a === 'x'`:                                             `fromJSON(answer)["a"] == "x"`,
		`JSON.parse(output).a.b2 === -3.5`:                                         `fromJSON(answer)["a"]["b2"] == -3.5`,
		`JSON.parse(output).ok === true`:                                           `fromJSON(answer)["ok"] == true`,
		`JSON.parse(output).gone === null`:                                         `fromJSON(answer)["gone"] == null`,
		`JSON.parse(output).name === "Ana"`:                                        `fromJSON(answer)["name"] == "Ana"`,
		`output.includes('a') && output.includes('b')`:                             `answer contains "a" && answer contains "b"`,
		`output.includes('a') || output === 'b'`:                                   `(answer contains "a" || answer == "b")`,
		`output.includes('a') && (output === 'b' || output.endsWith('c'))`:         `answer contains "a" && (answer == "b" || answer endsWith "c")`,
		`(output.includes('a') && output.includes('b')) || output.startsWith('c')`: `(answer contains "a" && answer contains "b" || answer startsWith "c")`,
		`JSON.parse(output).a === 1 && output.includes('b')`:                       `fromJSON(answer)["a"] == 1 && answer contains "b"`,
	} {
		if got := formula(script, scriptVars()); got != isText+" && "+want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
	for script, why := range map[string]string{
		`!output.includes('x')`:                                  "true of a list of calls",
		`output !== 'x'`:                                         "true of a list of calls",
		`output == 'x'`:                                          "a list becomes a text",
		`output.includes('')`:                                    "true of every text, also of none",
		`output.length > 3`:                                      "UTF-16 units, or calls",
		`output.trim() === 'x'`:                                  "other spaces",
		`/x/.test(output)`:                                       "another language",
		`output.includes(context.vars.n)`:                        "no text",
		`output.includes(context.vars.list)`:                     "no text",
		`output.includes(context.vars.lost)`:                     "no character",
		`output.includes(context.vars.nobody)`:                   "no variable",
		`output.includes(context.vars.city.name)`:                "more than a variable",
		`output.includes('x', 3)`:                                "from a place",
		"output.includes(`a${1}`)":                               "a template",
		`output.includes('\u0061')`:                              "an escape",
		`output.toLowerCase().includes('ñ')`:                     "a letter beyond ASCII",
		`output.toLowerCase().includes('Paris')`:                 "never true",
		`output.toUpperCase().includes('X')`:                     "",
		`JSON.parse(output).a > 3`:                               `true of {"a":"5"} too`,
		`JSON.parse(output).a !== 'x'`:                           "",
		`JSON.parse(output).length === 3`:                        "the length of a list",
		`JSON.parse(output).constructor.name === 'Object'`:       "the name of a function",
		`JSON.parse(output).at.name === 'at'`:                    "the name of a function",
		`JSON.parse(output)[0] === 'x'`:                          "a letter of a text",
		`JSON.parse(output).a[0] === 'x'`:                        "a letter of a text",
		`JSON.parse(output).a === 1 || output.includes('b')`:     "an error is false here, and all fails there",
		`(JSON.parse(output).a === 1 && true) || output === 'b'`: "",
		`JSON.parse(output).a === 12345678901234567890`:          "no exact number",
		`JSON.parse(output).a === 1e3`:                           "",
		`JSON.parse(output).a === 07`:                            "",
		`JSON.parse(output).a === truer`:                         "",
		"return output.includes('x')":                            "not an expression",
		"output.includes('x')\n|| output.includes('y')":          "the body of a function",
		"\noutput.includes('x')":                                 "the body of a function",
		"output.includes('x');\n;":                               "the body of a function",
		`output.includes('x') output`:                            "",
		`output.includes('x'`:                                    "",
		`output.includes('x`:                                     "",
		`(output.includes('x')`:                                  "",
		`output`:                                                 "",
		``:                                                       "",
		`output.includes('` + strings.Repeat("x", 4096) + `')`:   "too long for an expression",
	} {
		if got := formula(script, scriptVars()); got != "" {
			t.Errorf("%s becomes %s: %s", script, got, why)
		}
	}
}

// node runs scripts as promptfoo does, an expression of output and context: the answer is whether
// each passes for each output. What throws, or gives no truth, fails.
const node = `
const { scripts, outputs, vars } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(scripts.map((s) => {
  const f = new Function('output', 'context', 'process', 'return ' + s.trim().replace(/;+\s*$/, ''));
  return outputs.map((o) => { try { return f(o, { vars }, process) === true; } catch { return false; } });
})));`

// textOutputs are attempts with what promptfoo calls their output.
func textOutputs() (attempts []callvet.Trace, outputs []any) {
	texts := []string{
		"", "x", "ab", "a b c", "b", "c", "Paris", "paris", "It is PARIS.", "Oslo", "oslo!", "OSLO", "Hİ", "hİs", "KİK",
		"\u212A.i", "k.i", "K.I", "ſ", "(ok)", "(OK)", "(O\u212A)", "say \"hi\"", "it's", "a\"b", "a\n\\", "a\nb",
		"ñ Ñ", "😀", "😀x", "ΟΔΟΣ", "[object Object]", "\u2028x", "null", "true", "3", `"x"`, `"abc"`, `[]`, `["x"]`,
		`{}`, `{"a":"x"}`, `{"a":"X"}`, `{"a":{"b2":-3.5}}`, `{"a":{"b2":"-3.5"}}`, `{"ok":true}`, `{"ok":"true"}`,
		`{"ok":1}`, `{"gone":null}`, `{"a":1}`, `{"a":1.0,"b":2}`, `{"a":1}b`, `{"a":"1"}`, `{"a":1,"a":"x"}`,
		`{"a":"x","a":1}`, `{"a":[1]}`, `{"a":null}`, ` {"a": 1} `, `{"a":1,}`, `{"name":"Ana"}`, `{"a":"\ud800"}`,
		`{"a":10000000000000001}`,
		`{"a":-0}`, `{"a":0}`, "```json\n{\"a\":1}\n```", `{"__proto__":{"a":1}}`, `{"a":"x\n"}`,
	}
	for _, s := range texts {
		attempts = append(attempts,
			callvet.Trace{Answer: s, Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Content: s}}})
		outputs = append(outputs, s)
	}
	call := callvet.Call{ID: "1", Tool: "x", Args: json.RawMessage(`{"city":"Paris"}`)}
	made := map[string]any{
		"id": "1", "type": "function",
		"function": map[string]any{"name": "x", "arguments": `{"city":"Paris"}`},
	}
	result := callvet.Turn{Role: callvet.RoleTool, CallID: "1", Content: "x"}
	for _, s := range []string{"", "x", "Paris", `{"a":1}`} {
		turn := callvet.Turn{Role: callvet.RoleAssistant, Content: s, Calls: []callvet.Call{call}}
		var output any = []any{made}
		if s != "" {
			output = map[string]any{"role": "assistant", "content": s, "tool_calls": []any{made}}
		}
		for _, turns := range [][]callvet.Turn{{turn}, {turn, result}} {
			attempts, outputs = append(attempts, callvet.Trace{Answer: s, Turns: turns}), append(outputs, output)
		}
		turns := []callvet.Turn{turn, result, {Role: callvet.RoleAssistant, Content: "x" + s}}
		attempts, outputs = append(attempts, callvet.Trace{Answer: "x" + s, Turns: turns}), append(outputs, "x"+s)
	}
	return append(attempts, callvet.Trace{}), append(outputs, "")
}

// TestFormulaAsNode: for scripts made at random of all that is understood, and of what is near it,
// an expression passes exactly where JavaScript does.
func TestFormulaAsNode(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("SKIPPED: node is not here")
	}
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	text := func() string {
		return pick(`'x'`, `"x"`, "`ab`", `'a'`, `'b'`, `'c'`, `'Paris'`, `'paris'`, `'oslo'`, `'hi'`, `'k'`, `'i'`,
			`'k.i'`, `'(ok)'`, `'it\'s'`, `'a\n\\'`, `'a\nb'`, `'ñ'`, `'😀'`, `'[object Object]'`, `'s'`, `'"'`,
			`context.vars.city`, `context.vars.quote`, `'null'`, `'3'`)
	}
	atom := func() string {
		switch r.IntN(6) {
		case 0:
			return "output === " + text()
		case 1:
			return "output" + pick("", ".toLowerCase()") + " === " + text()
		case 2, 3:
			return "output" + pick("", ".toLowerCase()") + pick(".includes(", ".startsWith(", ".endsWith(") +
				text() + ")"
		}
		return "JSON.parse(output)" + pick(".a", ".a", ".a.b2", ".ok", ".gone", ".name", ".at", ".a.length",
			".constructor.name") + " === " + pick(text(), "1", "-3.5", "0", "true", "null", "10000000000000001", "1.0")
	}
	var scripts, formulas []string
	for len(scripts) < 500 {
		s := atom()
		for r.IntN(2) == 0 {
			if s += pick(" && ", " || ", "&&") + atom(); r.IntN(3) == 0 {
				s = "(" + s + ")"
			}
		}
		if f := formula(s, scriptVars()); f != "" {
			scripts, formulas = append(scripts, s), append(formulas, f)
		}
	}
	attempts, outputs := textOutputs()
	in, err := json.Marshal(map[string]any{
		"scripts": scripts, "outputs": outputs,
		"vars": map[string]any{"city": "Paris", "quote": `say "hi"`},
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "-e", node)
	cmd.Stdin = bytes.NewReader(in)
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][]bool
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	var shown []value.Value
	for i := range attempts {
		b, err := (&score.Attempt{Case: &callvet.Case{}, Trace: &attempts[i]}).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, v)
	}
	passes := 0
	for i, text := range formulas {
		f, err := condition.CompileFormula(text)
		if err != nil {
			t.Fatalf("%s: %s: %v", scripts[i], text, err)
		}
		for j := range shown {
			got, err := f.Of(shown[j])
			if err != nil || got.Number || got.Holds != want[i][j] {
				t.Errorf("%s of %v: %+v %v, node says %v\n%s", scripts[i], outputs[j], got, err, want[i][j], text)
			}
			if want[i][j] {
				passes++
			}
		}
	}
	if all := len(formulas) * len(shown); passes < all/100 || passes > all/2 {
		t.Errorf("%d of %d pass: that tells little", passes, all)
	}
}
