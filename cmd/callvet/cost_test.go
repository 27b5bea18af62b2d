// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet/internal/report"
)

// A cost limit holds where a server reports no usage, or one that cannot be true. With a price the
// cost is bounded from the text, with a note in the run. Without one the run stops.
func TestCostLimitWithoutUsage(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	var usage atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"model":"m","choices":[{"message":{"content":"no"},"finish_reason":"stop"}],"usage":%s}`,
			usage.Load())
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	cases := make([]string, 40)
	for i := range cases {
		cases[i] = fmt.Sprintf(`{"id":"c%d","prompt":"hello %d","expected_tool":"ping"}`, i, i)
	}
	writeFiles(t, dir, map[string]string{
		"s.json": `{"name":"s","tools":[{"name":"ping","parameters":{"type":"object"}}],"cases":[` +
			strings.Join(cases, ",") + `]}`,
		"prices.json": `{"prices":[{"provider":"vllm","model":"m","input":1,"output":1,"effective":"2026-01-01"}]}`,
	})
	run := []string{
		"run", "s.json", "-m", "vllm/m", "--base-url", srv.URL + "/v1", "--max-cost", "0.002", "-c", "4",
		"--no-cache", "-q",
	}
	for _, bad := range []string{
		`null`, `{"prompt_tokens":-10,"completion_tokens":5}`,
		`{"prompt_tokens":"10","completion_tokens":"5"}`, `{"prompt_tokens":1e99,"completion_tokens":5}`,
	} {
		usage.Store(bad)
		before := asked.Load()
		out := runApp(t, dir, nil, exitBudget, append(run, "--prices", "prices.json", "-o", "out.json")...)
		// Each request has some 230 bytes, so that the limit is reached after some eight.
		if n := asked.Load() - before; n < 5 || n > 12 || !strings.Contains(out, "have no plausible usage") ||
			!strings.Contains(out, "a token for each byte") {
			t.Errorf("usage %s: %d requests\n%s", bad, n, out)
		}
		var doc report.Document
		if err := json.Unmarshal(readFile(t, dir, "out.json"), &doc); err != nil {
			t.Fatal(err)
		}
		if u := doc.Panels.Targets[0].Overall.Usage; u.UsageUnknown == 0 || u.CostUnknown != u.UsageUnknown ||
			u.CostKnown != 0 || u.CostUSD != 0 {
			t.Errorf("usage %s is told as %+v", bad, u)
		}
		before = asked.Load()
		if out := runApp(t, dir, nil, exitBudget, append(run, "-c", "1")...); asked.Load()-before != 1 ||
			!strings.Contains(out, "--prices") {
			t.Errorf("usage %s without a price: %d requests\n%s", bad, asked.Load()-before, out)
		}
	}
	before := asked.Load() // the command of the hint continues
	runApp(t, dir, nil, exitOK, "run", "--resume", "last", "--max-cost", "none", "--max-calls", "60",
		"--no-cache", "-q")
	if n := asked.Load() - before; n != 39 {
		t.Errorf("%d requests without a cost limit, want 39", n)
	}
	if out := runApp(t, dir, nil, exitOK, "show", "last",
		"c0"); !strings.Contains(strings.Join(strings.Fields(out), " "),
		"usage not known: prompt_tokens is 1e99, not a count of tokens") {
		t.Errorf("show does not say why:\n%s", out)
	}
	runApp(t, dir, nil, exitOK, "report", "last", "-o", "out.md")
	if md := string(readFile(t, dir, "out.md")); !strings.Contains(md, "have no plausible usage") ||
		!strings.Contains(md, "| unknown |") {
		t.Errorf("the report does not say it: %s", md)
	}
	usage.Store(`{"prompt_tokens":10,"completion_tokens":5}`)
	before = asked.Load()
	if out := runApp(t, dir, nil, exitOK, append(run, "--prices", "prices.json")...); asked.Load()-before != 40 ||
		strings.Contains(out, "no plausible usage") {
		t.Errorf("a usage that is told: %d requests\n%s", asked.Load()-before, out)
	}
}
