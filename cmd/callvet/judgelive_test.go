// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/store"
)

// liveSuite has so many cases, with rubrics; one in four is passed by a target that calls ping.
func liveSuite(cases int) string {
	var b strings.Builder
	b.WriteString(
		"callvet: 1\nname: s\ntools:\n  - {name: ping, description: Ping a host., parameters: {type: object, properties: {host: {type: string}}}}\ncases:\n")
	for i := range cases {
		calls := "[]"
		if i%4 == 0 {
			calls = "[{tool: ping}]"
		}
		fmt.Fprintf(&b, "  - {id: c%02d, prompt: Ask %02d, expect: {calls: "+calls+
			", rubric: [{dimension: tone, max_score: 5, criteria: is kind}, {dimension: depth, max_score: 1, criteria: is deep}]}}\n", i, i)
	}
	return b.String()
}

// liveVerdict answers each question in the form of its judge.
func liveVerdict(evidence string) string {
	odd := strings.Contains(evidence, "1\n") || strings.Contains(evidence, "7\n")
	switch {
	case strings.Contains(evidence, "Ask 05"):
		return "I would rather not say."
	case strings.HasPrefix(evidence, "One dimension") && strings.Contains(evidence, "greatest score is 1"):
		return fmt.Sprintf(`{"score": %d, "rationale": "-"}`, map[bool]int{true: 0, false: 1}[odd])
	case strings.HasPrefix(evidence, "One dimension"):
		return `{"score": 4, "rationale": "-"}`
	case strings.HasPrefix(evidence, "The arguments"):
		return fmt.Sprintf(`{"args_correct": %v, "missing_fields": [], "bad_fields": [], "rationale": "-"}`, !odd)
	}
	return fmt.Sprintf(`{"pass": %v, "fail_reasons": [], "unnecessary_calls": [], "notes": "-"}`, !odd)
}

// pinged is a target that pings, and holds its answers to a case back until a channel closes. It is
// asked from many goroutines.
type pinged struct {
	hold  string
	until <-chan struct{}
	late  atomic.Bool // it had to give up waiting
}

func (p *pinged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if p.hold != "" && strings.Contains(string(body), p.hold) {
		select {
		case <-p.until:
		case <-r.Context().Done():
			return
		case <-time.After(time.Minute):
			p.late.Store(true)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w,
		`{"model":"m","choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"ping","arguments":"{\"host\":\"h\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`)
}

var varies = regexp.MustCompile(
	`"(?:created|started|id|about|run|run_id)":"[^"]*",?|"(?:ms|wall_ms|latency_ms|queue_ms|latency_ns)":[0-9.e+-]+,?|run [0-9a-z]{10}|127\.0\.0\.1:[0-9]+`)

// judgingsKept is all stored data of the judgings of a run, without the parts that differ between
// runs.
func judgingsKept(t *testing.T, dir, run string) (all []string) {
	t.Helper()
	a, out, errs := newApp(dir, nil)
	if a.run(t.Context(), a.rootCommand(), []string{"judge", "show", run, "--json"}) != exitOK {
		t.Fatal(errs)
	}
	var d struct {
		Judgings []struct {
			ID string `json:"id"`
		} `json:"judgings"`
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	all = append(all, varies.ReplaceAllString(out.String(), ""))
	db, err := store.Open(t.Context(), filepath.Join(dir, "runs.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, j := range d.Judgings {
		r, err := db.Run(t.Context(), j.ID)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.SuiteHash, string(varies.ReplaceAll(r.Manifest, nil)))
		for c, err := range db.Cells(t.Context(), j.ID, store.Filter{Order: store.ByCase, Exchanges: true}) {
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(varies.ReplaceAll(b, nil)))
		}
	}
	return all
}

// TestJudgeLive: attempts are judged while others run. The stored data equal, to the byte, those of
// a judging after the run.
func TestJudgeLive(t *testing.T) {
	t.Parallel()
	const cases = 12
	kept := map[bool][]string{}
	for _, live := range []bool{false, true} {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"suite.yaml": liveSuite(cases)})
		first := make(chan struct{})
		var once sync.Once
		j := &judgeServer{asked: map[string]int{}, answer: func(evidence string) string {
			once.Do(func() { close(first) })
			return liveVerdict(evidence)
		}}
		target := &pinged{until: first}
		if live { // the last attempt ends only when the judge was asked about another one
			target.hold = fmt.Sprintf("Ask %02d", cases-1)
		}
		targets, judges := httptest.NewServer(target), httptest.NewServer(j)
		defer targets.Close()
		defer judges.Close()
		args := []string{
			"run", "suite.yaml", "-m", "openai/m", "--base-url", targets.URL + "/v1", "--name", "r", "-q",
			"--no-lint", "-c", "3",
			"--judge", "task", "--judge", "arguments", "--judge", "rubric", "--judge-model", "openai/judge",
			"--judge-base-url", judges.URL + "/v1", "--judge-under", "0.9",
		}
		if live {
			args = append(args, "--judge-live")
		}
		runApp(t, dir, map[string]string{"OPENAI_API_KEY": "k"}, exitOK, args...)
		if target.late.Load() {
			t.Error("no attempt was judged while others ran")
		}
		if questions, answers := j.counts(); questions != answers {
			t.Errorf("%d answers to %d questions", answers, questions)
		}
		kept[live] = judgingsKept(t, dir, "r")
		// What was answered while others ran is found again, as any answer is.
		_, before := j.counts()
		runApp(t, dir, map[string]string{"OPENAI_API_KEY": "k"}, exitOK, "judge", "run", "r", "--judge", "task", "-m",
			"openai/judge", "--base-url", judges.URL+"/v1", "--under", "0.9")
		if _, after := j.counts(); after != before {
			t.Errorf("live %v: judged again, %d answers were paid for twice", live, after-before)
		}
	}
	if len(kept[true]) < 3*cases { // three in four attempts, with four questions each
		t.Fatalf("%d cells and judgings are kept", len(kept[true]))
	}
	if d := cmp.Diff(kept[false], kept[true]); d != "" {
		t.Errorf("judged afterwards (-) and live (+):\n%s", d)
	}
}

// TestUnracedJudgeLiveSurvivesKill: a process that is killed while it judges the attempts of an
// unfinished run loses no answer. The one that resumes the run asks nothing twice.
func TestUnracedJudgeLiveSurvivesKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a process and kills it")
	}
	const cases, before = 24, 15
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"suite.yaml": liveSuite(cases)})
	release := make(chan struct{})
	j := &judgeServer{answer: liveVerdict, asked: map[string]int{}}
	target := &pinged{until: release, hold: fmt.Sprintf("Ask %02d", before)}
	targets, judges := httptest.NewServer(target), httptest.NewServer(j)
	defer targets.Close()
	defer judges.Close()
	args := []string{
		"run", "suite.yaml", "-m", "openai/m", "--base-url", targets.URL + "/v1", "--name", "r", "-q",
		"--no-lint", "-c", "1",
		"--judge", "task", "--judge-model", "openai/judge", "--judge-base-url", judges.URL + "/v1", "--judge-live",
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args, cmd.Dir, cmd.Env = append([]string{"callvet", "--db", filepath.Join(dir, "runs.db")}, args...), dir,
		append(os.Environ(), "HOME="+dir, "OPENAI_API_KEY=k")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(dir, "runs.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	stored := func() (n int) {
		list, err := db.Judgings(t.Context(), "")
		if err != nil || len(list) != 1 {
			return 0
		}
		p, err := db.Progress(t.Context(), list[0].ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		return p.Done
	}
	// each look takes a while
	for deadline := time.Now().Add(time.Minute); stored() < before && time.Now().Before(deadline); {
		continue
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if n := stored(); n != before {
		t.Fatalf("%d answers are stored, want %d", n, before)
	}
	// A judging without questions has no verdicts: its existence is reported.
	waiting := fmt.Sprintf("%d answers", before)
	if text := runApp(t, dir, nil, exitOK, "runs"); !strings.Contains(text, "r is judged while it runs") ||
		!strings.Contains(text, waiting) {
		t.Errorf("the list of runs hides a live judging:\n%s", text)
	}
	if text := runApp(t, dir, nil, exitOK, "judge", "list", "r"); strings.Contains(text, "Judgings") {
		t.Errorf("a live judging is listed:\n%s", text)
	}
	list, err := db.Judgings(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"r", list[0].ID} {
		text := runApp(t, dir, nil, exitOK, "judge", "show", of)
		if !strings.Contains(text, waiting+" so far; they count when the run is over") ||
			!strings.Contains(text, "run --resume") || strings.Contains(text, "pass,") {
			t.Errorf("a live judging is shown so:\n%s", text)
		}
	}
	if text := runApp(t, dir, map[string]string{"OPENAI_API_KEY": "k"}, exitUsage, "run", "--resume",
		list[0].ID); !strings.Contains(text, "resume run "+list[0].Judges) {
		t.Errorf("a live judging goes on by itself:\n%s", text)
	}
	runApp(t, dir, nil, exitOK, "show", "r")
	close(release)
	text := runApp(t, dir, map[string]string{"OPENAI_API_KEY": "k"}, exitOK, "run", "--resume", "r", "-q")
	if questions, answers := j.counts(); questions != cases || answers != cases {
		t.Errorf("%d answers to %d questions, want %d\n%s", answers, questions, cases, text)
	}
	if text = runApp(t, dir, nil, exitOK, "runs"); strings.Contains(text, "is judged while it runs") {
		t.Errorf("a judging that is over is told as live:\n%s", text)
	}
	if text = runApp(t, dir, nil, exitOK, "judge", "show", "r"); !strings.Contains(text, "version 1 of") ||
		!strings.Contains(text, fmt.Sprintf("of %d pass, 1 unscored", cases-1)) {
		t.Errorf("the judging is\n%s", text)
	}
}
