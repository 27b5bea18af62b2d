// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"testing"

	"github.com/callvet/callvet"
)

func TestFailure(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		``:                  "",
		`null`:              "",
		`{}`:                "",
		`{"success":true}`:  "",
		`{"success":false}`: "the tool answered with an error",
		`{"success":false,"error":"no such city"}`:                           "no such city",
		`{"success":false,"error":{"code":404,"message":"not found"}}`:       "not found",
		`{"success":false,"message":"closed"}`:                               "closed",
		`{"success":"False"}`:                                                "the tool answered with an error",
		`{"isError":"true","content":"boom"}`:                                "boom",
		`{"ok":"true","error":"none"}`:                                       "",
		`{"success":"partly"}`:                                               "",
		`{"success":0}`:                                                      "",
		`{"ok":false,"reason":"rate limit"}`:                                 "rate limit",
		`{"ok":true,"error":"none"}`:                                         "",
		`{"success":true,"isError":true}`:                                    "the tool answered with an error",
		`{"content":[{"type":"text","text":"Invalid date"}],"isError":true}`: "Invalid date",
		`{"content":[{"type":"text","text":"fine"}],"isError":false}`:        "",
		`{"is_error":true,"content":"boom"}`:                                 "boom",
		`{"status":"error","error_message":"unknown city"}`:                  "unknown city",
		`{"status":"ok"}`:                                                    "",
		`{"status":"failed","payment":"p1"}`:                                 "", // of the payment, not of the call
		`{"status":{"code":"error"}}`:                                        "",
		`{"error":"no such order"}`:                                          "no such order",
		`{"error":{"code":"E1"}}`:                                            "E1",
		`{"error":["a"]}`:                                                    "a",
		`{"error":true}`:                                                     "the tool answered with an error",
		`{"error":""}`:                                                       "",
		`{"error":null}`:                                                     "",
		`{"error":{}}`:                                                       "",
		`{"error":false}`:                                                    "",
		`{"error":0.02}`:                                                     "", // of a measurement
		`"{\"success\":false,\"error\":\"no such city\"}"`:                   "no such city",
		`"Error: no such city"`:                                              "",
		`"{not JSON"`:                                                        "",
		`[{"success":false}]`:                                                "", // one row of many
		`{"rows":[{"success":false,"error":"x"}],"count":1}`:                 "",
		`{"data":{"success":false},"success":true}`:                          "",
		`{"temperature":21}`:                                                 "",
	} {
		c := callvet.Call{Tool: "f", Status: callvet.StatusOK}
		if result != "" {
			c.Result = json.RawMessage(result)
		}
		if got := Failure(&c); got != want {
			t.Errorf("%s: %q, want %q", result, got, want)
		}
	}
	for _, c := range []struct {
		call     callvet.Call
		want     string
		executed bool
	}{
		{callvet.Call{}, "", false},
		{callvet.Call{Status: callvet.StatusTimeout}, "timeout", true},
		{callvet.Call{Status: callvet.StatusOK, Error: "late"}, "ok late", true},
		{
			callvet.Call{Status: callvet.StatusExecErr, Error: "boom", Result: json.RawMessage(`{"success":true}`)},
			"exec_error boom", true,
		},
		{callvet.Call{Result: json.RawMessage(`1`)}, "", true},
	} {
		if got := Failure(&c.call); got != c.want || Executed(&c.call) != c.executed {
			t.Errorf("%+v: %q, executed %v", c.call, got, Executed(&c.call))
		}
	}
}

func TestPassed(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]bool{
		`{"isError":false}`: true, `{"is_error":"false"}`: true, `{"ok":true}`: true, `{"status":"success"}`: true,
		`{"error":false}`:        true,
		`{"status":"completed"}`: false, `{"error":null}`: false, `{"error":""}`: false, `{"content":"x"}`: false,
		`{"status":"ok","is_error":true}`: false, `[]`: false, `"ok"`: false,
	} {
		if got := Passed(parse(t, record)); got != want {
			t.Errorf("%s: %v", record, got)
		}
	}
	for text, want := range map[string]bool{
		"Error: no": true, "\n Error: no": true, "Errors: 0": false,
		"error: no": false, "An Error: no": false, "": false,
	} {
		if got := IsError(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
