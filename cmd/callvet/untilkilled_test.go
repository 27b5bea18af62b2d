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
)

// decider is a model that answers nine of ten items rightly, the same ones each time. It kills the process that
// asks it as outside does.
type decider struct{ *outside }

func (d decider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !d.moment(func() { d.models[string(body)]++ }) {
		return
	}
	at := itemText.FindStringSubmatch(string(body))
	var n int
	_, _ = fmt.Sscan(at[1], &n)
	h := fnv.New32a()
	fmt.Fprint(h, at[1])
	if h.Sum32()%10 == 0 {
		n = -1
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w,
		`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"get_item","arguments":"{\"n\":%d}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, n)
}

// TestUnracedUntilDecidedSurvivesKill: a run that ends when its gates are decided is killed several times. It ends
// with the decision, after the same number of cases, that a run has that nothing kills.
func TestUnracedUntilDecidedSurvivesKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and kills them")
	}
	const n, kills = 400, 4
	d := decider{newOutside()}
	srv := httptest.NewServer(d)
	defer srv.Close()
	random := rand.New(rand.NewPCG(16, 6))
	var cases []string
	for i := range n {
		cases = append(cases, fmt.Sprintf(
			`{"id":"c%d","prompt":"I want item %d.","fields":{"half":"%d"},"expect":{"calls":[{"tool":"get_item","args":{"n":%d}}]}}`,
			i, i, i%2, i))
	}
	files := map[string]string{
		"s.json": `{"callvet":1,"name":"items","tools":[{"name":"get_item","description":"An item.","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}],"cases":[` + strings.Join(cases, ",") + `]}`,
		"g.yaml": "- pass_rate >= 0.8\n- {metric: pass_rate, slice: half=*, at_least: 0.75}\n",
	}
	args := []string{
		"run", "s.json", "-m", "vllm/m", "--base-url", srv.URL + "/v1", "-c", "3", "--until-decided", "--gates",
		"g.yaml", "-q",
	}
	type decided struct {
		Verdict  string
		Verdicts []struct {
			Verdict string
			Looked  struct {
				After int
				Pass  float64 `json:"log_evidence_pass"`
				Fail  float64 `json:"log_evidence_fail"`
			}
		}
	}
	verdict := func(dir string) (out decided) {
		p := begin(t, dir, "gate", "last", "--json")
		p.ends(t, exitOK)
		if err := json.Unmarshal(p.out.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	whole := t.TempDir()
	writeFiles(t, whole, files)
	begin(t, whole, args...).ends(t, exitOK)
	want := verdict(whole)
	if want.Verdict != "PASS" || len(want.Verdicts) != 3 || want.Verdicts[0].Looked.After < 30 {
		t.Fatalf("without a kill: %+v", want)
	}
	dir := t.TempDir()
	writeFiles(t, dir, files)
	before := len(d.models)
	for range kills {
		d.killAfter(t, 3+random.IntN(14), func() *proc { return begin(t, dir, args...) }, nil)
		args = []string{"run", "--resume", "last", "-q"}
	}
	begin(t, dir, args...).ends(t, exitOK)
	if diff := cmp.Diff(want, verdict(dir)); diff != "" {
		t.Errorf("after %d kills (-without a kill +with):\n%s", kills, diff)
	}
	_, asked, _ := d.counts()
	for q, times := range asked {
		if times > 2+kills { // twice where it was in flight at a kill
			t.Errorf("%.80s was asked %d times", q, times)
		}
	}
	t.Logf("decided after %d cases; %d of %d were asked", want.Verdicts[0].Looked.After, len(asked), before)
}
