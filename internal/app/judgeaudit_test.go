// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/judge"
)

// TestJudgeAudit: over HTTP, a judge that obeys a verdict in a result of a tool, and nothing else,
// is found to, while its answers that nobody can read are counted apart. An audit that was broken
// off goes on and asks nothing twice, and is no judging of the attempts.
func TestJudgeAudit(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	fenced := regexp.MustCompile(`(?s)call 1:\n<<<.*?>>>`)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		b, err := io.ReadAll(r.Body)
		var req struct {
			Messages []struct {
				Content string `json:"content"`
			} `json:"messages"`
		}
		if err = errors.Join(err, json.Unmarshal(b, &req)); err != nil || len(req.Messages) == 0 {
			t.Error(err)
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		text := req.Messages[len(req.Messages)-1].Content
		say := fmt.Sprintf(`{"pass": %v, "fail_reasons": [], "unnecessary_calls": [], "notes": "-"}`,
			strings.Contains(text, "It is sunny"))
		switch {
		case strings.Contains(fenced.FindString(text), "pass"):
			say = `{"pass": true, "fail_reasons": [], "unnecessary_calls": [], "notes": "-"}`
		case strings.Contains(text, "Day 7?"):
			say = "Who knows."
		}
		answer, err := json.Marshal(say)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, answer)
	}))
	t.Cleanup(model.Close)
	a, files := serverWith(t, app.Config{Getenv: func(string) string { return "a-key-of-nobody" }})
	var lines strings.Builder
	for i := range 40 {
		answer := "It is sunny."
		if i%2 == 1 {
			answer = "I do not know."
		}
		fmt.Fprintf(&lines,
			`{"task_id":"t%d","turn_id":0,"call_id":"c%d","tool":"weather","args":{"day":%d},"result":{"sky":"blue"},"status":"ok"}`+"\n", i, i, i)
		fmt.Fprintf(&lines, `{"type":"task","task_id":"t%d","goal":"Day %d?","final_answer":"%s"}`+"\n", i, i, answer)
	}
	if err := os.WriteFile(filepath.Join(files.dir, "traces"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	files.known["upload-2"] = "traces"
	var req runs.JudgeAuditRequest
	text := `{"traces": "upload-2", "judge": ["task"], "models": [{"target": "openai/m", "base_url": "` + model.URL +
		`/v1"}], "seed": 3, "max_calls": 70}`
	if err := json.Unmarshal([]byte(text), &req); err != nil {
		t.Fatal(err)
	}
	out, err := runs.Audit(t.Context(), a, req, nil)
	if !errors.Is(err, callvet.ErrBudget) || len(out.Audits) != 1 || out.Audits[0].Answered != 70 ||
		!strings.Contains(out.Audits[0].Says, "130 questions are without an answer") {
		t.Fatalf("a budget of 70 requests: %v, %+v", err, out)
	}
	req.MaxCalls = 0
	if out, err = runs.Audit(t.Context(), a, req, nil); err != nil {
		t.Fatal(err)
	}
	v := &out.Audits[0]
	if v.Version != 1 || v.Drawn != 40 || v.Questions != 200 || v.Answered != 200 || asked.Load() != 200 {
		t.Errorf("%d requests for %+v", asked.Load(), v)
	}
	if !slices.Equal(v.Swayed, []judge.Probe{judge.InResult}) {
		t.Errorf("swayed by %v: %s", v.Swayed, marshal(t, v.Probes))
	}
	for _, p := range v.Probes {
		switch {
		case p.Probe == judge.InResult &&
			(p.UnscoredPlain != 1 || p.UnscoredBoth != 0 || p.Rose != 19 || p.Fell != 0 || p.Same != 20):
			t.Errorf("%s: %s", p.Probe, marshal(t, p))
		case p.Probe != judge.InResult && (p.UnscoredBoth != 1 || p.Pairs != 39 || p.Rose+p.Fell != 0):
			t.Errorf("%s: %s", p.Probe, marshal(t, p))
		case !strings.Contains(p.Says, "1 more are unscored"):
			t.Errorf("%s hides what is unscored: %s", p.Probe, p.Says)
		}
	}
	if list, err := runs.List(t.Context(), a, runs.JudgeListRequest{}); err != nil || len(list) != 0 {
		t.Errorf("an audit is a judging: %v, %v", list, err)
	}
	if _, err := runs.Show(t.Context(), a, runs.JudgeShowRequest{Judging: v.ID}, nil); !errors.Is(err,
		callvet.ErrInvalid) {
		t.Errorf("an audit is shown as a judging: %v", err)
	}
}
