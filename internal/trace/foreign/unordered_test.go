// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"fmt"
	"strings"
	"testing"
)

// logRecord is a log record of the GenAI conventions; body is a list of members in JSON of OTLP.
func logRecord(span, name, body string) string {
	return fmt.Sprintf(`{"timeUnixNano":"5000000","traceId":"t","spanId":%q,"body":{"kvlistValue":{"values":[%s]}},`+
		`"attributes":[{"key":"event.name","value":{"stringValue":"gen_ai.%s"}}]}`, span, body, name)
}

func textMember(key, text string) string {
	return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, key, text)
}

func callsMember(ids ...string) string {
	var list []string
	for _, id := range ids {
		list = append(list, `{"kvlistValue":{"values":[`+textMember("id", id)+`,{"key":"function","value":{"kvlistValue":`+
			`{"values":[`+textMember("name", "f")+`,`+textMember("arguments", `{"of":"`+id+`"}`)+`]}}}]}}`)
	}
	return `{"key":"tool_calls","value":{"arrayValue":{"values":[` + strings.Join(list, ",") + `]}}}`
}

// TestUnorderedRecords: log records of one request that arrive in any order give each call its result.
func TestUnorderedRecords(t *testing.T) {
	t.Parallel()
	ask := []string{
		logRecord("1", "system.message", textMember("content", "You help.")),
		logRecord("1", "user.message", textMember("content", "Do both.")),
		logRecord("1", "choice", `{"key":"message","value":{"kvlistValue":{"values":[`+callsMember("a", "b")+`]}}}`),
	}
	again := []string{
		logRecord("2", "system.message", textMember("content", "You help.")),
		logRecord("2", "user.message", textMember("content", "Do both.")),
		logRecord("2", "assistant.message", callsMember("a", "b")),
		logRecord("2", "tool.message", textMember("id", "a")+","+textMember("content", "1")),
		logRecord("2", "tool.message", textMember("id", "b")+","+textMember("content", "2")),
	}
	end := logRecord("2", "choice", `{"key":"message","value":{"kvlistValue":{"values":[`+textMember("content", "Done.")+`]}}}`)
	var orders func(done, left []string)
	orders = func(done, left []string) {
		for i := range left {
			rest := append(append([]string{}, left[:i]...), left[i+1:]...)
			orders(append(append([]string{}, done...), left[i]), rest)
		}
		if len(left) > 0 {
			return
		}
		lines := ""
		for _, r := range append(append(append([]string{}, ask...), done...), end) {
			lines += `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + r + `]}]}]}` + "\n"
		}
		as, _, err := importText(lines, Options{})
		if err != nil || len(as) != 1 {
			t.Fatalf("%d attempts, %v", len(as), err)
		}
		got := ""
		for _, turn := range as[0].Trace.Turns {
			for _, c := range turn.Calls {
				got += c.ID + "=" + string(c.Result) + " "
			}
		}
		if got != "a=1 b=2 " {
			var names []string
			for _, r := range done {
				_, name, _ := strings.Cut(r, `"stringValue":"gen_ai.`)
				names = append(names, name[:6])
			}
			t.Errorf("%s: %s", strings.Join(names, " "), got)
		}
	}
	orders(nil, again)
}
