// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
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

// streamed stores a suite of n cases case by case, never whole in memory, and opens it.
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
	}, nil)
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

// BenchmarkRun measures what the engine, the encoding and the store cost for a cell with a model
// that answers at once: one iteration is one durable cell.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"plain", "keyed", "streamed"} {
		b.Run(name, func(b *testing.B) {
			db, s := openStore(b), suite(0)
			request := json.RawMessage(`{"model":"fake-1","messages":[{"role":"user","content":"` +
				strings.Repeat("What is the weather like? ", 8) +
				`"}],"tools":{"$tools":"0123456789abcdef"},"tool_choice":"auto"}`)
			response := `{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"fake-1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_000001","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\",\"days\":3}"}}]},"finish_reason":"tool_calls","logprobs":null}],"usage":{"prompt_tokens":620,"completion_tokens":24,"total_tokens":644}}`
			m := modelFunc(func(context.Context, *callvet.Request) (*callvet.Response, error) {
				cost := 0.001
				return &callvet.Response{
					Turns: []callvet.Turn{{
						Role: callvet.RoleAssistant,
						Calls: []callvet.Call{{
							ID: "call_000001", Tool: "weather",
							Args: json.RawMessage(`{"city":"Oslo","days":3}`),
						}},
					}},
					Usage: callvet.Usage{InputTokens: 620, OutputTokens: 24, Known: true, CostUSD: &cost},
					Model: "fake-1", FinishReason: "tool_calls",
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

// spread is a model with times to answer as real models have: 20 ms in the middle (median of a
// log-normal distribution), 130 ms or more once in a hundred times.
func spread(s *callvet.Suite) modelFunc {
	rng := rand.New(rand.NewPCG(1, 2))
	waits := map[string]time.Duration{}
	for i := range s.Cases {
		waits[s.Cases[i].ID] = time.Duration(20 * math.Exp(0.8*rng.NormFloat64()) * float64(time.Millisecond))
	}
	return func(ctx context.Context, r *callvet.Request) (*callvet.Response, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(waits[r.CaseID]):
		}
		return &callvet.Response{Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Content: "no"}}}, nil
	}
}

// BenchmarkPieces measures the cost of making the attempts of a run in pieces, one after the other:
// at the end of each the limit of the provider is not used up. One iteration is a run of 2,000
// attempts, 8 at once, answered as spread does.
func BenchmarkPieces(b *testing.B) {
	const cells = 2000
	for _, size := range []int{cells, 1000, 250, 100} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				db, s := openStore(b), suite(cells)
				cfg := config(b, db, s, spread(s))
				cfg.Limits = map[string]run.Limits{"": {Concurrency: 8}}
				b.StartTimer()
				for from := 0; from < cells; from += size {
					cfg.Cases = nil
					for i := from; i < from+size; i++ {
						cfg.Cases = append(cfg.Cases, i)
					}
					if sum, err := run.Run(b.Context(), cfg); err != nil || sum.Done != size {
						b.Fatalf("%+v, %v", sum, err)
					}
				}
			}
		})
	}
}

// BenchmarkSplit measures a run of 4,000 attempts, 8 at once, answered as spread does, by one worker in one
// piece and by several in shards.
func BenchmarkSplit(b *testing.B) {
	const cells = 4000
	for _, workers := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				db, s := openStore(b), suite(cells)
				cfg := config(b, db, s, spread(s))
				cfg.Limits = map[string]run.Limits{"": {Concurrency: 8}}
				b.StartTimer()
				if workers > 1 {
					if complete, err := run.Split(b.Context(), cfg,
						run.Splitting{
							Workers: workers,
							Do: func(ctx context.Context, s run.Shard,
								yield <-chan struct{},
							) (run.ShardSummary, error) {
								part := cfg.Within(&s)
								part.Yield, part.Done = yield, db.DoneCells(ctx, cfg.RunID)
								sum, err := run.Run(ctx, part)
								return sum.Shard(), err
							},
						}); !complete || err != nil {
						b.Fatal(complete, err)
					}
				}
				cfg.Done = db.DoneCells(b.Context(), cfg.RunID)
				if sum, err := run.Run(b.Context(), cfg); err != nil || sum.Done != cells {
					b.Fatalf("%+v, %v", sum, err)
				}
			}
		})
	}
}
