// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/stats"
)

// flipping is a model that calls a tool and reports its result, and a tool that is right every second time.
func flipping(t *testing.T) (model, tool string) {
	t.Helper()
	var called atomic.Int64
	m := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		message,
			reason := `{"content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"left","arguments":"{}"}}]}`,
			"tool_calls"
		if _, result, made := strings.Cut(string(body), `"role":"tool"`); made {
			number := "four"
			if strings.Contains(result, "3") {
				number = "three"
			}
			message, reason = fmt.Sprintf(`{"content":"There are %s."}`, number), "stop"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"model":"m","choices":[{"message":%s,"finish_reason":%q}],"usage":{"prompt_tokens":500,"completion_tokens":500}}`,
			message, reason)
	}))
	t.Cleanup(m.Close)
	l := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"left":%d}`, 3+called.Add(1)%2)
	}))
	t.Cleanup(l.Close)
	return m.URL, l.URL
}

// TestVarianceOfTools: runs with mocks and with real tools are compared, attempt by attempt of a task. What flips
// with the real tools only is theirs; with one kind of run it is not known.
func TestVarianceOfTools(t *testing.T) {
	t.Parallel()
	model, tool := flipping(t)
	dir := t.TempDir()
	cases := make([]string, 12)
	for i := range cases { // what the mocks answer makes half of the cases fail
		cases[i] = fmt.Sprintf(
			`{"id":"c%d","prompt":"Lamps?","multi_turn":{},"mocks":[{"tool":"left","result":{"left":%d}}],`+
				`"expect":{"calls":[{"tool":"left"}],"response":{"contains":"three"}}}`, i, 3+i%2)
	}
	writeFiles(t, dir, map[string]string{
		"s.json": `{"callvet":1,"name":"s","tools":[{"name":"left","description":"How many are left.","read_only":true,` +
			`"parameters":{"type":"object","properties":{}}}],"cases":[` + strings.Join(cases, ",") + `]}`,
		"live.json":   `{"tools":{"left":{"read_only":true,"http":{"method":"GET","url":"` + tool + `/"}}}}`,
		"prices.json": `{"prices":[{"provider":"openai","model":"m","input":1,"output":1,"effective":"2026-01-01"}]}`,
	})
	env := map[string]string{"OPENAI_API_KEY": "k", "CALLVET_DB": dir + "/runs.db"}
	run := func(name string, more ...string) {
		runApp(t, dir, env, exitOK, append([]string{
			"run", "s.json", "-m", "openai/m", "--base-url", model + "/v1", "--prices", "prices.json", "-r",
			"3", "-c", "1",
			"--no-cache", "-q", "--name", name,
		}, more...)...)
	}
	run("mocked")
	run("live", "--world", "live", "--live", "live.json")
	variance := func(args ...string) (v traces.VarianceReport) {
		t.Helper()
		a, out, errs := newApp(dir, env)
		if code := a.run(t.Context(), a.rootCommand(), append(args, "--json")); code != exitOK {
			t.Fatalf("%q: exit %d: %s", args, code, errs)
		}
		if err := json.Unmarshal(out.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	both := variance("variance", "mocked", "live").Targets[0]
	shares := map[stats.Source]*stats.VarianceShare{}
	for i := range both.Sources {
		shares[both.Sources[i].Source] = &both.Sources[i]
	}
	tools, target := shares[stats.SourceTools], shares[stats.SourceTarget]
	if !tools.Known() || tools.Share.Point < 0.9 || !(*target.Estimate <= 0) || target.Share.Lower != 0 ||
		target.Share.Upper == 0 ||
		both.Recorded == nil || both.Recorded.Attempts != 36 || both.Attempts != 36 || len(both.Unknown) != 0 {
		t.Errorf("%+v\ntools %+v\ntarget %+v", both, tools, target)
	}
	// An attempt has two requests of 1,000 tokens for $1 a million: all of them again cost 7.2 cents.
	if m := both.Next[0]; !both.ByCost || m.What != "tasks" || m.CostUSD == nil ||
		fmt.Sprintf("%.4f", *m.CostUSD) != "0.0720" {
		t.Errorf("%+v", both.Next)
	}
	for name, want := range map[string]string{"mocked": "mocks or recordings", "live": "every run called the tools"} {
		v := variance("variance", name).Targets[0]
		if len(v.Unknown) != 1 || v.Unknown[0].Source != stats.SourceTools ||
			!strings.Contains(v.Unknown[0].Why, want) ||
			v.Sources[2].Known() {
			t.Errorf("%s: %+v, %+v", name, v.Unknown, v.Sources)
		}
		_, line, _ := strings.Cut(runApp(t, dir, env, exitOK, "variance", name), "to see it: ")
		line, _, _ = strings.Cut(line, "\n")
		runApp(t, dir, env, exitOK, argv(t, strings.NewReplacer("FILE", "live.json", "DIR", "records").Replace(line))...)
	}
}
