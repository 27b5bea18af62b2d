// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

func cpu() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// streamed stores a suite of n cases without ever holding it, and opens it so.
func streamed(b *testing.B, db *store.DB, n int) (*callvet.Suite, run.Source, string) {
	b.Helper()
	hash, err := db.PutSuiteFrom(b.Context(), suite(0), func(yield func(*callvet.Case, error) bool) {
		one := suite(1).Cases[0]
		for i := range n {
			c := one
			c.ID = fmt.Sprintf("case-%06d", i)
			if !yield(&c, nil) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	head, cases, err := db.OpenSuite(context.Background(), hash)
	if err != nil {
		b.Fatal(err)
	}
	r, err := db.CreateRun(b.Context(), store.NewRun{SuiteHash: hash, Manifest: json.RawMessage(`{}`)})
	if err != nil {
		b.Fatal(err)
	}
	return head, cases, r.ID
}

// BenchmarkRun measures what the engine, the encoding and the store cost for a
// cell whose model answers at once: one iteration is one durable cell.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"plain", "keyed", "streamed"} {
		b.Run(name, func(b *testing.B) {
			db, s := openStore(b), suite(0)
			request := json.RawMessage(`{"model":"fake-1","messages":[{"role":"user","content":"` + strings.Repeat("What is the weather like? ", 8) + `"}],"tools":{"$tools":"0123456789abcdef"},"tool_choice":"auto"}`)
			response := `{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"fake-1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_000001","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\",\"days\":3}"}}]},"finish_reason":"tool_calls","logprobs":null}],"usage":{"prompt_tokens":620,"completion_tokens":24,"total_tokens":644}}`
			m := modelFunc(func(context.Context, *callvet.Request) (*callvet.Response, error) {
				cost := 0.001
				return &callvet.Response{
					Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{{ID: "call_000001", Tool: "weather", Args: json.RawMessage(`{"city":"Oslo","days":3}`)}}}},
					Usage: callvet.Usage{InputTokens: 620, OutputTokens: 24, Known: true, CostUSD: &cost}, Model: "fake-1", FinishReason: "tool_calls",
					Exchanges: []callvet.Exchange{{Request: request, Response: response, HTTP: 200, MS: 1.25}},
				}, nil
			})
			if name != "streamed" {
				s = suite(b.N)
			}
			cfg := config(b, db, s, m)
			if name == "streamed" {
				cfg.Suite, cfg.Source, cfg.RunID = streamed(b, db, b.N)
			}
			cfg.Limits = map[string]run.Limits{"": {Concurrency: 64}}
			if name == "keyed" {
				cfg.Cache, cfg.Targets[0].Model = db, identified{m, "here"}
			}
			b.ReportAllocs()
			b.ResetTimer()
			c0 := cpu()
			sum, err := run.Run(context.Background(), cfg)
			if err != nil || sum.Done != b.N {
				b.Fatalf("%+v, %v", sum, err)
			}
			b.ReportMetric(float64((cpu()-c0).Microseconds())/float64(b.N), "cpu-µs/cell")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cells/s")
		})
	}
}
