// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package score_test

import (
	"encoding/json"
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
		Tools: []callvet.Tool{{Name: "book_flight", Parameters: json.RawMessage(bookTool)}, {Name: "cancel", Parameters: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}}}`)}},
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
	sc, ps := score.New(s, score.Config{})
	if len(ps) > 0 {
		b.Fatal(ps)
	}
	c := &s.Cases[0]
	b.ReportAllocs()
	start := cpu(b)
	for b.Loop() {
		if r := sc.Score(c, tr); r.Verdict != want {
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
	sc, _ := score.New(s, score.Config{})
	tr := made("book_flight", rightArgs)
	b.ReportAllocs()
	start := cpu(b)
	i := 0
	for b.Loop() {
		if r := sc.Score(&s.Cases[i%len(s.Cases)], tr); r.Verdict != callvet.VerdictPass {
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
		score.New(s, score.Config{})
	}
	b.ReportMetric((cpu(b)-start).Seconds()*1e6/float64(b.N)/1000, "µs/case")
}
