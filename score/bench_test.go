// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package score_test

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// bookTool is a tool of the size that function-calling suites have.
const bookTool = `{"type":"object","properties":{"origin":{"type":"string","description":"city"},"destination":{"type":"string"},
 "passengers":{"type":"integer","minimum":1},"date":{"type":"string","format":"date"},"cabin":{"type":"string","enum":["economy","business"],"default":"economy"}},
 "required":["origin","destination","date"]}`

func benchSuite(plan callvet.Plan) *callvet.Suite {
	return &callvet.Suite{
		Tools: []callvet.Tool{
			{Name: "book_flight", Parameters: json.RawMessage(bookTool)},
			{Name: "cancel", Parameters: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}}}`)},
		},
		Cases: []callvet.Case{{
			ID: "c", Input: []callvet.Turn{{
				Role:    callvet.RoleUser,
				Content: "Please book a flight from New York to London for 3 people on 2026-05-01, and take the cheapest one you can find.",
			}},
			Expect: callvet.Expect{Plans: []callvet.Plan{plan}},
		}},
	}
}

// cpu is the processor time this process has used; the machine may be shared.
func cpu(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

const (
	rightArgs = `{"origin": "New York", "destination": "London", "passengers": 3, "date": "2026-05-01"}`
	wrongArgs = `{"origin": "New York", "destination": "Lyon", "passengers": 3, "date": "2026-05-01"}`
)

func benchmark(b *testing.B, plan callvet.Plan, tr *callvet.Trace, want callvet.Verdict) {
	s := benchSuite(plan)
	sc, ps := compile(s)
	if len(ps) > 0 {
		b.Fatal(ps)
	}
	b.ReportAllocs()
	start := cpu(b)
	for b.Loop() {
		if r := sc[0].Score(tr); r.Verdict != want {
			b.Fatal(r.Verdict, r.Reason)
		}
	}
	b.ReportMetric(float64(b.N)/(cpu(b)-start).Seconds(), "cases/cpu-s")
}

func BenchmarkPass(b *testing.B) {
	benchmark(b, wants("book_flight", rightArgs), made("book_flight", rightArgs), callvet.VerdictPass)
}

func BenchmarkFail(b *testing.B) {
	benchmark(b, wants("book_flight", rightArgs), made("book_flight", wrongArgs), callvet.VerdictFail)
}

func BenchmarkFourParallel(b *testing.B) {
	p := []string{"book_flight", rightArgs, "cancel", `{"id":"A"}`, "cancel", `{"id":"B"}`, "book_flight", wrongArgs}
	q := []string{"cancel", `{"id":"B"}`, "book_flight", wrongArgs, "book_flight", rightArgs, "cancel", `{"id":"A"}`}
	benchmark(b, wants(p...), made(q...), callvet.VerdictPass)
}

func BenchmarkTwoThousandCases(b *testing.B) {
	s := benchSuite(wants("book_flight", rightArgs))
	for range 1999 {
		s.Cases = append(s.Cases, s.Cases[0])
	}
	sc, _ := compile(s)
	tr := made("book_flight", rightArgs)
	b.ReportAllocs()
	start := cpu(b)
	i := 0
	for b.Loop() {
		if r := sc[i%len(s.Cases)].Score(tr); r.Verdict != callvet.VerdictPass {
			b.Fatal(r.Reason)
		}
		i++
	}
	b.ReportMetric(float64(b.N)/(cpu(b)-start).Seconds(), "cases/cpu-s")
}

func BenchmarkCompile(b *testing.B) {
	s := benchSuite(wants("book_flight", rightArgs))
	for range 999 {
		s.Cases = append(s.Cases, s.Cases[0])
	}
	b.ReportAllocs()
	start := cpu(b)
	for b.Loop() {
		compile(s)
	}
	b.ReportMetric((cpu(b)-start).Seconds()*1e6/float64(b.N)/1000, "µs/case")
}

// BenchmarkTenThousandCalls scores the longest attempt that there may be, with what looks at
// all of its calls.
func BenchmarkTenThousandCalls(b *testing.B) {
	message := callvet.Turn{Role: callvet.RoleAssistant}
	for i := range 10_000 {
		message.Calls = append(message.Calls,
			callvet.Call{Tool: fmt.Sprintf("tool_%d", i), Args: fmt.Appendf(nil, `{"n":%d}`, i/2)})
	}
	tr := &callvet.Trace{Turns: []callvet.Turn{message}, End: callvet.EndCalled}
	tr.Classify("")
	any, one := -1, 1
	last := callvet.ExpectedCall{Tools: []string{"*"}, Args: json.RawMessage(`{"n":4999}`), Nth: -1, Message: 1}
	for name, e := range map[string]callvet.Expect{
		"max_same_calls":  {MaxSameCalls: &one},
		"nth and message": {Counts: []callvet.CallCount{{Call: last}}},
		"nth in a plan":   {Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{last}, MaxExtraCalls: &any}}},
		"tool_set_f1": {
			Plans:     []callvet.Plan{{Calls: []callvet.ExpectedCall{last}, MaxExtraCalls: &any}},
			MinScores: map[string]float64{score.ToolSetF1: 0.0001},
		},
	} {
		b.Run(name, func(b *testing.B) {
			cases, _ := compile(&callvet.Suite{Cases: []callvet.Case{{Expect: e}}})
			for b.Loop() {
				cases[0].Score(tr)
			}
		})
	}
}
