// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"syscall"
	"testing"

	"github.com/callvet/callvet/value"
)

// benchCalls are eight simple tools with a valid call each, the kind a real
// catalog consists of.
func benchCalls() [][2]string {
	currency := `{"type":"string","enum":["USD","EUR","BRL","JPY","SEK","GBP"]}`
	policy := `{"type":"object","properties":{"country":{"type":"string","enum":["DE","AR","BR","US","SE","JP","FR"]},"product_type":{"type":"string","enum":["electronics","clothing","books","food"]}},"required":["country","product_type"],"additionalProperties":false}`
	return [][2]string{
		{
			`{"type":"object","properties":{"city":{"type":"string"},"units":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["city"],"additionalProperties":false}`,
			`{"city":"Paris","units":"fahrenheit"}`,
		},
		{
			`{"type":"object","properties":{"origin":{"type":"string"},"destination":{"type":"string"},"passengers":{"type":"integer","minimum":1,"maximum":9},"date":{"type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}$"}},"required":["origin","destination","date"],"additionalProperties":false}`,
			`{"date":"2026-03-17","destination":"LHR","origin":"NYC","passengers":2}`,
		},
		{
			`{"type":"object","properties":{"amount":{"type":"number","minimum":0,"maximum":1e9},"from":` + currency +
				`,"to":` + currency + `},"required":["amount","from","to"],"additionalProperties":false}`,
			`{"amount":4711,"from":"USD","to":"SEK"}`,
		},
		{policy, `{"country":"AR","product_type":"electronics"}`},
		{policy, `{"country":"SE","product_type":"books"}`},
		{
			`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":50}},"required":["query"],"additionalProperties":false}`,
			`{"limit":12,"query":"electronics in Tokyo"}`,
		},
		{
			`{"type":"object","properties":{"order_id":{"type":"string","pattern":"^ORD-\\d{6}$"},"include_items":{"type":"boolean"}},"required":["order_id"],"additionalProperties":false}`,
			`{"include_items":true,"order_id":"ORD-004711"}`,
		},
		{
			`{"type":"object","properties":{"customer":{"type":"string"},"currency":` + currency +
				`,"lines":{"type":"array","minItems":1,"items":{"type":"object","properties":{"sku":{"type":"string"},"qty":{"type":"integer","minimum":1,"maximum":1000},"price":{"type":"number","minimum":0,"maximum":1e6}},"required":["sku","qty","price"]}}},"required":["customer","lines"],"additionalProperties":false}`,
			`{"currency":"EUR","customer":"cust-042","lines":[{"price":12.25,"qty":3,"sku":"A-17"}]}`,
		},
	}
}

// BenchmarkValidText is one call from raw text: parse and validate.
func BenchmarkValidText(b *testing.B) {
	calls := benchCalls()
	schemas := make([]*Schema, len(calls))
	texts := make([][]byte, len(calls))
	for i, c := range calls {
		schemas[i], texts[i] = mustCompile(b, c[0]), []byte(c[1])
	}
	var doc value.Doc
	b.ReportAllocs()
	start := cpuSeconds(b)
	for i := 0; b.Loop(); i++ {
		k := i % len(calls)
		if doc.Parse(texts[k]) != nil || !schemas[k].Valid(doc.Root()) {
			b.Fatalf("call %d is not valid", k)
		}
	}
	b.ReportMetric(float64(b.N)/(cpuSeconds(b)-start), "calls/cpu-s")
}

// cpuSeconds is the processor time used so far; on a busy machine it is more exact than the clock.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// BenchmarkParseOnly is the part of BenchmarkValidText that is not validation.
func BenchmarkParseOnly(b *testing.B) {
	calls := benchCalls()
	texts := make([][]byte, len(calls))
	for i, c := range calls {
		texts[i] = []byte(c[1])
	}
	var doc value.Doc
	for i := 0; b.Loop(); i++ {
		if doc.Parse(texts[i%len(calls)]) != nil {
			b.Fatal("not JSON")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	calls := benchCalls()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		mustCompile(b, calls[i%len(calls)][0])
	}
}

func BenchmarkCheckInvalid(b *testing.B) {
	s := mustCompile(b, flightSchema)
	v := mustParse(b, `{"origin":"osl","passengers":12}`)
	for b.Loop() {
		if len(s.Check(v)) != 3 {
			b.Fatal("want three violations")
		}
	}
}

// TestValidAllocatesNothing keeps the hot path free of garbage.
func TestValidAllocatesNothing(t *testing.T) {
	for _, c := range benchCalls() {
		s, text := mustCompile(t, c[0]), []byte(c[1])
		var doc value.Doc
		n := testing.AllocsPerRun(100, func() {
			if doc.Parse(text) != nil || !s.Valid(doc.Root()) {
				t.Fatalf("%s is not valid", c[1])
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", c[1], n)
		}
	}
}
