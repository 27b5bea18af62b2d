// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/value"
)

// alone is the value in a text of its own, which contains nothing else.
func alone(t *testing.T, v value.Value) value.Value {
	t.Helper()
	if v.Kind() == value.Invalid {
		return v
	}
	o, err := value.Parse(bytes.Clone(v.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// FuzzShared: a step is worth the same whether its values come from one line, with known
// repetitions, and after others, or each from a text of its own.
func FuzzShared(f *testing.F) {
	tools := []callvet.Tool{
		{
			Name: "f", Version: "1",
			Parameters: json.RawMessage(
				`{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":10},"s":{"type":"string","minLength":2,"maxLength":4},"e":{"enum":["x","y","z\""]},"d":{"type":"number","exclusiveMinimum":0.5,"default":3}},"required":["a"],"additionalProperties":false}`),
		},
		{
			Name: "F", Version: "2",
			Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		},
		{Name: "g"},
	}
	f.Add(
		`{"task_id":"t","tool":"f@v1","args":{"a":1},"args_raw":"{\"a\":1}","gold":{"args":{"a":1},"needed":true,"tool":"f","result_check":"a >= 1","result":{"a":1}},"result":{"a":1}}`,
		`{"task_id":"t","tool":"f@v2","args":{"a":"é"},"args_raw":"{\"a\":\"\\u00e9\"}","gold":{"args":{"a":"É"},"needed":true,"tool":"F@2","result_check":"a != 1 && b < 2","result":{"a":1.0}},"result":{"a":1},"status":"ok"}`)
	f.Add(
		`{"task_id":"t","tool":"f@v1","args":{"a":1,"s":"abc","e":"x","d":0.75},"args_raw":"{\"a\":1,\"s\":\"abc\",\"e\":\"x\",\"d\":0.75}","gold":{"args":{"a":1,"s":"abd"},"needed":true}}`,
		`{"task_id":"t","tool":"f","args":{"a":10.0,"s":"\u00e9","e":"z\"","d":1e0},"args_raw":"{\"a\":10.5}","gold":{"args":{"a":1e1},"needed":false}}`)
	f.Add(`{"task_id":"t","tool":"f","args":[1],"args_raw":"[1]","gold":{"args":{"a":1e1}}}`,
		`{"task_id":"t","tool":"h","args":null,"args_raw":"{\"a\": 1}","gold":{"args":{"a":1e1},"result":[1],"result_check":"a == 1.5"},"result":[1],"status":"exec_error"}`)
	first, _ := score.NewStepScorer(score.StepConfig{Tools: tools})
	f.Fuzz(func(t *testing.T, a, b string) {
		scan := trace.NewScanner(trace.Options{})
		kept := first.Fork()
		data := []byte(a + "\n" + b + "\n" + a + "\n" + b + "\n")
		data = append(make([]byte, 0, len(data)+len(b)%300), data...)
		err := scan.Scan(trace.Block{Data: data, Line: 1}, func(v *trace.View) error {
			if v.IsTask {
				return nil
			}
			in := score.StepInput{
				Tool: v.Tool, Args: v.Args, ArgsRaw: v.ArgsRaw, Result: v.Result, Error: v.Error, Status: v.Status,
				Needed:   v.Needed,
				GoldTool: v.GoldTool, GoldArgs: v.GoldArgs, GoldResult: v.GoldResult, ResultCheck: v.ResultCheck,
			}
			var got, want callvet.StepScore
			kept.Score(&in, &got)
			lone := in
			for _, p := range []*value.Value{
				&lone.Args, &lone.ArgsRaw, &lone.Result, &lone.Error, &lone.GoldTool,
				&lone.GoldArgs, &lone.GoldResult, &lone.ResultCheck,
			} {
				*p = alone(t, *p)
			}
			first.Fork().Score(&lone, &want)
			if got != want {
				t.Fatalf("%s: %+v, want %+v", v.Raw, got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
