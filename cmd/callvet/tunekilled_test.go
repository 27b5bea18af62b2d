// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet/internal/app/tunes"
)

// tuned is a model that answers rightly more often at the temperature 0.5, and under a prompt with a rule. It
// writes prompts, too. It kills the process that asks it as outside does.
type tuned struct{ *outside }

func (d tuned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !d.moment(func() { d.models[string(body)]++ }) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	h := fnv.New32a()
	var q struct {
		Temperature float64
		Messages    []struct{ Role, Content string }
	}
	if json.Unmarshal(body, &q) != nil || len(q.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	if strings.Contains(string(body), "present_prompt") {
		_, _ = h.Write(body)
		answer, _ := json.Marshal(
			fmt.Sprintf(`{"prompt": "Call get_item. Rule %d.", "note": "a rule"}`, h.Sum32()%100000))
		fmt.Fprintf(w,
			`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, answer)
		return
	}
	at := itemText.FindStringSubmatch(string(body))
	var n int
	_, _ = fmt.Sscan(at[1], &n)
	wrong := uint32(45)
	if q.Temperature == 0.5 || strings.Contains(string(body), "Rule") {
		wrong = 8
	}
	fmt.Fprint(h, at[1])
	if h.Sum32()%100 < wrong {
		n = -1
	}
	fmt.Fprintf(w,
		`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"get_item","arguments":"{\"n\":%d}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, n)
}

// TestUnracedTuneSurvivesKill: searches are killed at twenty moments. They end with what a search finds that nothing
// kills, and nothing is asked again that was over.
func TestUnracedTuneSurvivesKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and kills them")
	}
	var cases []string
	for i := range 90 {
		cases = append(cases, fmt.Sprintf(
			`{"id":"c%d","family":"f%d","prompt":"I want item %d.","expect":{"calls":[{"tool":"get_item","args":{"n":%d}}]}}`,
			i, i, i, i))
	}
	files := map[string]string{
		"s.json":     `{"callvet":1,"name":"items","system_prompt":"Call get_item.","tools":[{"name":"get_item","description":"An item.","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}],"cases":[` + strings.Join(cases, ",") + `]}`,
		"space.yaml": "params: {temperature: [0, 0.5, 1], top_p: [0.9, null]}\n",
	}
	for _, of := range []struct {
		name  string
		kills int
		args  []string
	}{
		{"params", 12, []string{"params", "s.json", "--space", "space.yaml", "--mode", "bayesian"}},
		{"prompt", 8, []string{
			"prompt", "s.json", "--meta", "vllm/m", "--mode", "evolve", "--generations", "2",
			"--population", "4",
		}},
	} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			d := tuned{newOutside()}
			srv := httptest.NewServer(d)
			defer srv.Close()
			args := append([]string{"tune"}, of.args...)
			if of.name == "prompt" {
				args = append(args, "--meta-base-url", srv.URL+"/v1")
			}
			args = append(args, "-m", "vllm/m", "--base-url", srv.URL+"/v1", "-c", "3", "-q", "--temperature", "0")
			whole := t.TempDir()
			writeFiles(t, whole, files)
			begin(t, whole, args...).ends(t, exitOK)
			want := shownTune(t, whole)
			if want.State != tunes.Done || want.Models[0].Winner() == nil {
				t.Fatalf("without a kill: %s, %s", want.State, want.Models[0].Sentence)
			}
			once := total(d)
			dir := t.TempDir()
			writeFiles(t, dir, files)
			random := rand.New(rand.NewPCG(20, 39))
			open, asked, over := 0, once, 0 // requests of parts that were not over at a kill
			for range of.kills {
				d.killAfter(t, 2+random.IntN(2*once/(3*of.kills)), func() *proc { return begin(t, dir, args...) }, nil)
				args = []string{"tune", "resume", "last", "-q"}
				now := shownTune(t, dir).Spent.Requests
				open += total(d) - asked - (now - over)
				asked, over = total(d), now
			}
			begin(t, dir, args...).ends(t, exitOK)
			got := shownTune(t, dir)
			ignore := cmp.Options{
				cmpopts.IgnoreFields(tunes.Tune{}, "ID", "Created", "Updated", "Runs", "Spent", "Request"),
				cmpopts.IgnoreFields(tunes.ModelSearch{}, "ConfirmRun"),
				cmpopts.IgnoreFields(tunes.Candidate{}, "LatencyMS"),
				cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 1e-12),
			}
			if diff := cmp.Diff(want, got, ignore); diff != "" {
				t.Errorf("after %d kills (-without a kill +with):\n%s", of.kills, diff)
			}
			if again := total(d) - 2*once; again > open+3*of.kills { // 3 are in flight at a time
				t.Errorf("%d requests were sent again after %d kills, and %d were of parts that were not over", again,
					of.kills, open)
			} else {
				t.Logf("%d requests, %d of them again after %d kills", once, again, of.kills)
			}
		})
	}
}

// total counts the requests so far.
func total(d tuned) (n int) {
	_, asked, _ := d.counts()
	for _, times := range asked {
		n += times
	}
	return n
}

func shownTune(t *testing.T, dir string) *tunes.Tune {
	t.Helper()
	p := begin(t, dir, "tune", "show", "last", "--json")
	p.ends(t, exitOK)
	var out tunes.Tune
	if err := json.Unmarshal(p.out.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return &out
}
