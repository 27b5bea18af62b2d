// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package answer

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// tell writes what was read of a record: texts in quotes, calls with id and arguments,
// results of tools after an arrow, or the fault.
func tell(resp *callvet.Response, err error) string {
	var f *callvet.Fault
	if errors.As(err, &f) {
		return string(f.Kind) + ": " + f.Message
	}
	var words []string
	for _, t := range resp.Turns {
		if t.Role == callvet.RoleTool {
			words = append(words, fmt.Sprintf("-> %s", t.Content))
			continue
		}
		if t.Content != "" || len(t.Calls) == 0 {
			words = append(words, fmt.Sprintf("%q", t.Content))
		}
		for _, c := range t.Calls {
			args := string(c.Args)
			if c.Args == nil {
				args = "?" + c.ArgsRaw
			}
			words = append(words, c.Tool+"#"+c.ID+args)
		}
	}
	return strings.Join(words, " ")
}

// calls are the forms in which a call stands in an answer, alone, in a list and below a
// member, with the one call that each holds.
var forms = map[string]string{
	`{"id":"1","type":"function","function":{"name":"del","arguments":"{\"a\":1}"}}`:                          `del#1{"a":1}`,
	`{"type":"tool_use","id":"1","name":"del","input":{"a":1}}`:                                               `del#1{"a":1}`,
	`{"type":"function_call","call_id":"1","name":"del","arguments":"{\"a\":1}"}`:                             `del#1{"a":1}`,
	`{"type":"tool-call","toolCallId":"1","toolName":"del","input":{"a":1}}`:                                  `del#1{"a":1}`,
	`{"functionCall":{"name":"del","args":{"a":1}}}`:                                                          `del#{"a":1}`,
	`{"functionCall":{"id":"1","name":"del","args":{"a":1}},"thoughtSignature":"x"}`:                          `del#1{"a":1}`,
	`{"toolUse":{"toolUseId":"1","name":"del","input":{"a":1}}}`:                                              `del#1{"a":1}`,
	`{"name":"del","arguments":{"a":1}}`:                                                                      `del#{"a":1}`,
	`{"name":"del","arguments":"{\"a\":1}"}`:                                                                  `del#{"a":1}`,
	`{"tool":"del","args":{"a":1}}`:                                                                           `del#{"a":1}`,
	`{"function_call":{"name":"del","arguments":"{\"a\":1}"}}`:                                                `del#{"a":1}`,
	`{"role":"assistant","content":null,"function_call":{"name":"del","arguments":{"a":1}}}`:                  `del#{"a":1}`,
	`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}`:            `del#1{"a":1}`,
	`{"tool_calls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}`:                               `del#1{"a":1}`,
	`{"content":[{"type":"tool_use","id":"1","name":"del","input":{"a":1}}]}`:                                 `del#1{"a":1}`,
	`{"parts":[{"functionCall":{"name":"del","args":{"a":1}}}]}`:                                              `del#{"a":1}`,
	`{"role":"model","parts":[{"functionCall":{"name":"del","args":{"a":1}}}]}`:                               `del#{"a":1}`,
	`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"del","args":{"a":1}}}],"role":"model"}}]}`:  `del#{"a":1}`,
	`{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"del","arguments":"{\"a\":1}"}}]}}]}`: `del#1{"a":1}`,
}

// TestCallsAreRead: a call in any form is read wherever an answer may stand, and where it
// cannot be read the record is malformed; it is never an answer without a call.
func TestCallsAreRead(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset([]callvet.Tool{{Name: "del"}})
	for form, want := range forms {
		for _, record := range []string{
			`{"case_id":"c","output":` + form + `}`,
			`{"case_id":"c","output":[` + form + `]}`,
			`{"case_id":"c","response":` + form + `}`,
			`{"case_id":"c","message":` + form + `}`,
			`{"promptIdx":0,"response":{"output":` + form + `}}`,
			`{"promptIdx":0,"response":{"output":[` + form + `]}}`,
			`{"promptIdx":0,"response":{"output":` + quote(form) + `}}`,
			`{"promptIdx":0,"response":{"output":` + quote("["+form+"]") + `}}`,
			`[` + form + `]`,
			form,
		} {
			v, err := value.Parse([]byte(record))
			if err != nil {
				t.Fatal(record, err)
			}
			if d := cmp.Diff(want, tell(Decode(v, Options{Tools: tools}))); d != "" {
				t.Errorf("%s: %s", record, d)
			}
		}
	}
}

func quote(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }

// TestRecords: what is said, what is called, and what nobody can tell.
func TestRecords(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset([]callvet.Tool{{Name: "del"}})
	for record, want := range map[string]string{
		// Nothing that is no answer is one without calls.
		`{"output":{}}`:                  `malformed: {} is not an answer`,
		`{"output":123}`:                 `malformed: 123 is not an answer`,
		`{"output":true}`:                `malformed: true is not an answer`,
		`{"output":{"tool":"a"}}`:        `malformed: {"tool":"a"} is not an answer`,
		`{"output":[{}]}`:                `malformed: {} is no part of an answer`,
		`{"output":[1]}`:                 `malformed: 1 is no part of an answer`,
		`{"output":[{"tool":"a"}]}`:      `malformed: {"tool":"a"} is no part of an answer`,
		`{"output":null}`:                `malformed: no text and no calls in the record`,
		`{"calls":[{}]}`:                 `malformed: {} stands in a list of calls and is none`,
		`{"calls":[{"functionCall":1}]}`: `malformed: {"functionCall":1} stands in a list of calls and is none`,
		`{"calls":7}`:                    `malformed: 7 stands where a call is due and is none`,
		`{}`:                             `malformed: no text and no calls in the record`,
		`{"tool":"a"}`:                   `malformed: no text and no calls in the record`,
		`{"promptIdx":0,"response":{"output":{}}}`:                                          `malformed: {} is not an answer`,
		`{"output":[{"type":"web_search_call","status":"completed"}]}`:                      `malformed: [{"type":"web_search_call","status":"completed"}] says nothing and calls nothing that is known`,
		`{"text":"Done.","steps":[{"toolCalls":[{"toolName":"del","input":{}}]}]}`:          `malformed: the record holds a call in a form that is not known`,
		`{"text":"Done.","trace":{"events":[{"type":"tool_use","name":"del","input":{}}]}}`: `malformed: the record holds a call in a form that is not known`,

		// What has a name is not always a call.
		`{"output":[{"type":"response_metadata","name":"del"},{"type":"text","text":"No."}]}`:                     `"No."`,
		`{"output":"No.","tools":[{"type":"function","function":{"name":"del","parameters":{"properties":{}}}}]}`: `"No."`,
		`{"output":"No.","input":[{"role":"assistant","tool_calls":[{"function":{"name":"del"}}]}]}`:              `"No."`,
		`{"name":"my case","input":"Hello","output":"Hi."}`:                                                       `"Hi."`,
		`{"choices":[{"message":{"content":"No.","function_call":{"name":"","arguments":""}}}]}`:                  `"No."`,
		`{"choices":[{"message":{"content":"No.","function_call":{},"tool_calls":[]}}]}`:                          `"No."`,

		// An answer without a call.
		`{"output":[]}`:             `""`,
		`{"calls":[]}`:              `""`,
		`{"output":""}`:             `""`,
		`{"output":{"text":"No."}}`: `"No."`,
		`{"output":{"role":"assistant","content":"No."}}`: `"No."`,
		`{"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}]},{"type":"message","content":[{"type":"output_text","text":"No."}]}]}`: `"No."`,
		`{"candidates":[{"content":{"parts":[{"text":"No."}]},"finishReason":"STOP"}]}`:                                                                       `"No."`,
		`{"candidates":[]}`: `malformed: a list of candidates without one`,

		// Calls with their results.
		`{"output":[{"type":"function_call","call_id":"1","name":"del","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"gone"},{"type":"message","content":[{"type":"output_text","text":"Done."}]}]}`: `del#1{} -> gone "Done."`,
		`{"parts":[{"functionCall":{"name":"del","args":{}}},{"functionResponse":{"name":"del","response":{"ok":true}}},{"text":"Done."}]}`:                                                                                    `del#{} -> {"ok":true} "Done."`,
		`{"parts":[{"text":"think","thought":true},{"text":"No."}]}`: `"No."`,
		`{"output":[{"del":{"a":1}}]}`:                               `del#{"a":1}`,
		`{"output":[{"other":{"a":1}}]}`:                             `malformed: {"other":{"a":1}} is no part of an answer`,
		`{"calls":["del",{"other":{}}]}`:                             `del#? other#{}`,
	} {
		v, err := value.Parse([]byte(record))
		if err != nil {
			t.Fatal(record, err)
		}
		if d := cmp.Diff(want, tell(Decode(v, Options{Tools: tools}))); d != "" {
			t.Errorf("%s: %s", record, d)
		}
	}
}

// TestFormatsPage: every form that docs/FORMATS.md lists is read as the page says.
func TestFormatsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/FORMATS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "## Answers")
	rows, _, _ = strings.Cut(rows, "## Files")
	tools := callvet.NewToolset([]callvet.Tool{{Name: "del"}})
	n := 0
	for row := range strings.Lines(rows) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 || !strings.HasPrefix(cells[2], " `{") {
			continue
		}
		n++
		example, _, _ := strings.Cut(strings.TrimPrefix(cells[2], " `"), "`")
		v, err := value.Parse([]byte(`{"id":"c",` + example[1:]))
		if err != nil {
			t.Fatal(example, err)
		}
		resp, err := Decode(v, Options{Tools: tools, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "Delete."}}})
		if err != nil || len(resp.Turns) != 1 || len(resp.Turns[0].Calls) != 1 || resp.Turns[0].Calls[0].Tool != "del" || strings.ReplaceAll(string(resp.Turns[0].Calls[0].Args), " ", "") != `{"a":1}` {
			t.Errorf("%s: %v %s", example, err, tell(resp, err))
		}
	}
	if n != 14 {
		t.Errorf("%d forms are listed", n)
	}
}
