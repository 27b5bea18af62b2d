// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet/verify/jsonl"
)

// TestSayings: each suite that expresses tests of peers has attempts with different verdicts, and all
// are right. An inverted verdict is noticed.
func TestSayings(t *testing.T) {
	t.Parallel()
	words, err := readSayings(peerSuites)
	if err != nil {
		t.Fatal(err)
	}
	for i := range words {
		s := &words[i]
		verdicts := map[string]bool{}
		for _, a := range s.Attempts {
			verdicts[a.Verdict] = true
		}
		name := strings.Join([]string{s.Peer, s.Test, s.Kind}, " ")
		if len(verdicts) < 2 {
			t.Errorf("%s: every attempt is a %v", name, verdicts)
		}
		if d := s.differs(t.Context()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		s.Attempts[0].Verdict = "another"
		if s.differs(t.Context()) == "" {
			t.Errorf("%s: an attempt may come out in any way", name)
		}
	}
}

func peerRowOf(t *testing.T, text string) *peerRow {
	t.Helper()
	r := &peerRow{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPeerReasons: a row differs for a reason of principle only if nothing else differs.
func TestPeerReasons(t *testing.T) {
	t.Parallel()
	got := func(expect, actual, expected string) string {
		return `{"peer":"ragas","route":"native","suite":{"case":{"expect":` + expect + `},"actual":` + actual +
			`},"expected":` + expected + `}`
	}
	text := func(output, expected string) string {
		b, err := json.Marshal(output)
		if err != nil {
			t.Fatal(err)
		}
		return `{"peer":"promptfoo","route":"native","suite":{"case":{"expect":{"tools_called":["a"]}},"actual_output":` + string(b) + `},"expected":` + expected + `}`
	}
	const a, b = `{"type":"tool_use","name":"a","input":{}}`, `{"type":"tool_use","name":"b","input":{}}`
	fence := "```json\n" + b + "\n```\n"
	for name, tt := range map[string]struct{ row, why string }{
		"agrees": {
			got(`{"calls":["a"]}`, `[{"tool":"a","args":{}}]`, `{"verdict":"pass"}`),
			"",
		},
		"another verdict": {
			got(`{"calls":["a"]}`, `[{"tool":"a","args":{}}]`, `{"verdict":"fail"}`),
			"no reason",
		},
		"another score": {got(`{"calls":["a"]}`, `[{"tool":"a","args":{}}]`,
			`{"verdict":"pass","scores":{"tool_f1":0.5}}`), "no reason"},
		"repeated": {got(`{"calls":["a"]}`, `[{"tool":"a","args":{}},{"tool":"a","args":{}}]`,
			`{"verdict":"pass"}`), ofRepeats},
		"repeated, and another too": {
			got(`{"calls":["a"]}`,
				`[{"tool":"a","args":{}},{"tool":"a","args":{}},{"tool":"b","args":{}}]`, `{"verdict":"pass"}`),
			"no reason",
		},
		"repeated with other arguments": {got(`{"calls":["a"]}`,
			`[{"tool":"a","args":{}},{"tool":"a","args":{"x":1}}]`, `{"verdict":"pass"}`), "no reason"},
		"nothing": {
			got(`{"no_call":true}`, `[]`, `{"verdict":"fail","scores":{"tool_f1":0}}`),
			ofNothing,
		},
		"nothing, without a score": {got(`{"no_call":true}`, `[]`, `{"verdict":"fail"}`), "no reason"},
		"nothing for something":    {got(`{"calls":["a"]}`, `[]`, `{"verdict":"pass"}`), "no reason"},
		"nothing, half right": {got(`{"no_call":true}`, `[]`,
			`{"verdict":"fail","scores":{"tool_f1":0.5}}`), "no reason"},
		"no answer": {got(`{"no_call":true,"response":{"contains":["x"]}}`, `[]`,
			`{"verdict":"pass"}`), ofAnswer},
		"no answer, and a call": {got(`{"no_call":true,"response":{"contains":["x"]}}`,
			`[{"tool":"a","args":{}}]`, `{"verdict":"pass"}`), "no reason"},
		"prose":                   {text("I call\n"+a, `{"verdict":"pass"}`), ""},
		"prose with another call": {text("I call\n"+b, `{"verdict":"pass"}`), "no reason"},
		"prose with both, by its score": {
			text("Now\n"+a+"\n"+b, `{"verdict":"fail","scores":{"tool_f1":0.6666}}`),
			"",
		},
		"prose with both, another score": {
			text("Now\n"+a+"\n"+b, `{"verdict":"fail","scores":{"tool_f1":0.9}}`),
			"no reason",
		},
		"a call within a line of prose": {text("I call "+a, `{"verdict":"pass"}`), "no reason"},
		"next to a fence":               {text("So:\n"+fence+a, `{"verdict":"pass"}`), ofProse},
		"nothing but calls":             {text(a+"\n"+a, `{"verdict":"pass"}`), "no reason"},
		"nothing but a call":            {text(b, `{"verdict":"pass"}`), "no reason"},
		"no output":                     {`{"peer":"promptfoo","route":"native","suite":{"case":{"expect":{"tools_called":["a"]}},"actual_output":null},"expected":{"verdict":"fail","scores":{"tool_f1":0}}}`, ofNone},
		"no output, with a score":       {`{"peer":"promptfoo","route":"native","suite":{"case":{"expect":{"tools_called":["a"]}},"actual_output":null},"expected":{"verdict":"fail","scores":{"tool_f1":1}}}`, "no reason"},
		"no output that passes":         {`{"peer":"promptfoo","route":"native","suite":{"case":{"expect":{"tools_called":["a"]}},"actual_output":null},"expected":{"verdict":"pass"}}`, "no reason"},
		"steps of commands":             {`{"route":"promptfoo import","suite":{"assert":[{"type":"trajectory:step-count","value":{"type":"command","min":1}}],"actual_output":{"tool_calls":[]}},"expected":{"verdict":"pass"}}`, ofSteps},
		"another assertion that is not": {`{"route":"promptfoo import","suite":{"assert":[{"type":"trajectory:goal-success","value":"x"}],"actual_output":"x"},"expected":{"verdict":"pass"}}`, "no reason"},
		"blank where nothing is right":  {`{"route":"bfcl import","suite":{"bfcl":{"id":"irrelevance_1","category":"irrelevance","ground_truth":null},"result":" "},"expected":{"verdict":"fail"}}`, ofBlank},
		"a text where nothing is right": {`{"route":"bfcl import","suite":{"bfcl":{"id":"irrelevance_1","category":"irrelevance","ground_truth":null},"result":"I cannot."},"expected":{"verdict":"fail"}}`, "no reason"},
		"a call where nothing is right": {`{"route":"bfcl import","suite":{"bfcl":{"id":"irrelevance_1","category":"irrelevance","ground_truth":null},"result":"[get_weather(city='SF')]"},"expected":{"verdict":"pass"}}`, "no reason"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			differs, why, err := peerRowOf(t, tt.row).compared(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if differs != "" && why == "" {
				why = "no reason"
			}
			if why != tt.why {
				t.Errorf("%q: %q, want %q", differs, why, tt.why)
			}
		})
	}
	words, err := readSayings(peerSuites)
	if err != nil {
		t.Fatal(err)
	}
	for missing, want := range map[string]string{
		"user-supplied compare function":              ofProgram,
		"extraction from OTel spans, no scoring rule": ofReading, "a rule of tomorrow": "",
	} {
		r := &peerRow{Unsaid: missing}
		if differs, why := r.suiteDiffers(t.Context(), words); differs == "" || why != want {
			t.Errorf("%s: %q %q", missing, differs, why)
		}
	}
}

// TestPeersTurnedRound: an agreeing row differs once its verdict is inverted, and for no reason of
// principle.
func TestPeersTurnedRound(t *testing.T) {
	t.Parallel()
	data := cmp.Or(os.Getenv("CALLVET_TESTDATA"), filepath.Join("..", "..", "shared", "data"))
	files, err := filepath.Glob(filepath.Join(data, "sets", "peer_tests", "*", "cases.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skipf("SKIPPED: no tests of peers in %s; set CALLVET_TESTDATA to check against them", data)
	}
	turned := 0
	for _, file := range files {
		if err := jsonl.Each(file, func(r peerRow) error {
			if r.Suite == nil || r.Peer == "promptfoo (import)" &&
				strings.Contains(string(r.Suite.Assert), "is-valid") {
				return nil // the tools are in another row
			}
			differs, _, err := r.compared(t.Context(), nil)
			if err != nil || differs != "" {
				return err
			}
			turned++
			r.Expected.Verdict = map[string]string{"pass": "fail", "fail": "pass"}[r.Expected.Verdict]
			differs, why, err := r.compared(t.Context(), nil)
			if differs == "" || why != "" {
				t.Errorf("%s turned round: %q %q", r.name(), differs, why)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if turned < 200 {
		t.Errorf("%d rows were turned round", turned)
	}
}
