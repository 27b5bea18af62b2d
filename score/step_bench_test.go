// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// benchTools are twelve tools of two or three arguments each.
func benchTools() []callvet.Tool {
	var out []callvet.Tool
	for _, t := range [][3]string{
		{"find_orders@v4", "query", "state"},
		{"find_articles@v1", "query", "lang"},
		{"read_order@v2", "order_id", "region"},
		{"open_ticket@v5", "subject", "priority"},
		{"convert_money@v2", "from", "into"},
		{"send_mail@v2", "to", "template"},
		{"send_text@v1", "to", "template"},
		{"route_ticket@v1", "ticket_id", "team"},
		{"return_policy@v2", "country", "product_type"},
		{"refund_policy@v3", "country", "product_type"},
		{"weather@v1", "city", "units"},
		{"cancel_order@v1", "order_id", "reason"},
	} {
		name, version := callvet.SplitTool(t[0])
		out = append(out, callvet.Tool{Name: name, Version: version, Parameters: fmt.Appendf(nil,
			`{"type":"object","properties":{%q:{"type":"string","minLength":1,"maxLength":64},%q:{"type":"string","minLength":1},"amount":{"type":"number","minimum":0,"maximum":10000}},"required":[%q,%q],"additionalProperties":false}`,
			t[1], t[2], t[1], t[2])})
	}
	return out
}

// benchLines are steps of those tools, one in twelve with another argument than the
// labeled one.
func benchLines(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{
		"open", "low", "damaged on arrival", "SE", "42", "EUR", "lämplig jacka", "electronics",
		"não chegou ainda", "A-104233",
	}
	tools := benchTools()
	out := make([][]byte, n)
	for i := range out {
		t := &tools[r.IntN(len(tools))]
		s, err := value.Parse(t.Parameters)
		if err != nil {
			panic(err)
		}
		props, _ := s.Get("required")
		first, _ := props.First()
		second, _ := props.Next(first)
		rest, amount, text := "}", fmt.Sprintf(`,%s:%d.%02d}`, `"amount"`, r.IntN(10000), r.IntN(100)),
			texts[r.IntN(len(texts))]
		if r.IntN(3) == 0 {
			rest = amount
		}
		args := fmt.Sprintf(`{%s:%q,%s:%q%s`, first.Raw(), texts[r.IntN(len(texts))], second.Raw(), text, rest)
		gold := args
		if r.IntN(12) == 0 {
			gold = fmt.Sprintf(`{%s:%q,%s:%q%s`, first.Raw(), texts[r.IntN(len(texts))], second.Raw(), text, rest)
		}
		out[i] = fmt.Appendf(nil,
			`{"tool":"%s@%s","args":%s,"args_raw":%q,"result":{"window_days":%d,"notes":["x"]},"error":null,"status":"ok","gold":{"needed":true,"args":%s,"result_check":"window_days>=0"}}`,
			t.Name, t.Version, args, args, r.IntN(90), gold)
	}
	return out
}

// BenchmarkScoreLines scores lines that differ, parsed before.
func BenchmarkScoreLines(b *testing.B) {
	scorer, ps := NewStepScorer(StepConfig{Tools: benchTools()})
	if len(ps) > 0 {
		b.Fatal(ps)
	}
	var in []StepInput
	for _, line := range benchLines(512) {
		v, err := value.Parse(line)
		if err != nil {
			b.Fatalf("%s: %v", line, err)
		}
		at := func(v value.Value, name string) value.Value {
			m, _ := v.Get(name)
			return m
		}
		gold := at(v, "gold")
		in = append(in, StepInput{
			Tool: at(v, "tool").Bytes(), Args: at(v, "args"), ArgsRaw: at(v, "args_raw"), Result: at(v, "result"),
			Error:  at(v, "error"),
			Status: at(v, "status").Bytes(), Needed: 1, GoldArgs: at(gold, "args"),
			ResultCheck: at(gold, "result_check"),
		})
	}
	var out callvet.StepScore
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		scorer.Score(&in[i%len(in)], &out)
	}
	if out.Known == 0 {
		b.Fatal("nothing is known")
	}
}
