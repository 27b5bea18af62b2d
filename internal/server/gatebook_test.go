// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/server"
)

type gateAnswer struct {
	ID, Name, Text string
	Shared         bool
	Updated        string `json:"updated_at"`
}

type pastVerdicts struct {
	Items []server.PastVerdict
	Next  string `json:"next_cursor"`
}

// TestGatebook: gates are stored, changed and shared, and list their verdicts on runs.
func TestGatebook(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const strict, easy = "gates: [{metric: pass_rate, at_least: 0.999}]",
		"gates: [{metric: pass_rate, at_least: 0.0, min_n: 5}]"
	lint := give[server.GateLint](t, s, "vera", "POST", "/api/gates/lint",
		`{"text": "gates:\n  - {metric: pass_rate, at_lest: 0.9}\n"}`)
	if lint.OK || len(lint.Problems) == 0 || lint.Problems[0].Line != 2 || lint.Problems[0].Column == 0 ||
		lint.Problems[0].Message == "" {
		t.Errorf("%+v", lint)
	}
	if good := give[server.GateLint](t, s, "vera", "POST", "/api/gates/lint", `{"text": "`+strict+`"}`); !good.OK ||
		good.Gates != 1 || len(good.Problems) != 0 {
		t.Errorf("%+v", good)
	}
	templates := give[struct{ Items []server.GateTemplate }](t, s, "vera", "GET", "/api/gates/templates", "")
	if len(templates.Items) != 2 || templates.Items[0].Name != "basic" {
		t.Fatalf("%+v", templates)
	}
	for _, tpl := range templates.Items {
		if l := give[server.GateLint](t, s, "vera", "POST", "/api/gates/lint",
			`{"text": `+quoted(t, tpl.Text)+`}`); !l.OK || l.Gates == 0 {
			t.Errorf("%s: %+v", tpl.Name, l)
		}
	}
	metrics := give[struct{ Items []server.GateMetric }](t, s, "vera", "GET", "/api/gates/metrics", "")
	if !slices.Contains(metrics.Items, server.GateMetric{Name: "pass_rate"}) {
		t.Errorf("%+v", metrics)
	}
	for body, place := range map[string]string{
		`{"text": "` + strict + `"}`:                    "body.name",
		`{"name": "x", "text": "gates: [{metric: 5}]"}`: "body.text", `{"name": "x", "text": ""}`: "body.text",
	} {
		if places, _ := s.refuse(t, "ana", "POST", "/api/gates", body, 422); len(places) == 0 || places[0] != place {
			t.Errorf("%s: %v", body, places)
		}
	}
	made := give[gateAnswer](t, s, "ana", "POST", "/api/gates", `{"name": " release ", "text": "`+strict+`"}`)
	at := "/api/gates/" + made.ID
	ours := give[gateAnswer](t, s, "ana", "POST", "/api/gates",
		`{"name": "ours", "shared": true, "text": "`+strict+`"}`)
	if text := s.answers(t, 200, "root", "GET", "/api/audit?action=gate.share", ""); strings.Count(text,
		`"gate.share"`) != 1 {
		t.Errorf("gates that are made shared are in the audit log: %s", text)
	}
	s.answers(t, 204, "ana", "DELETE", "/api/gates/"+ours.ID, "")
	if made.Name != "release" || made.Text != strict || made.Shared {
		t.Errorf("%+v", made)
	}
	s.refuse(t, "bo", "GET", at, "", 404)

	run, other := s.ran(t, "ana", "", 1), s.ran(t, "bo", "", 1)
	type verdict struct{ Report struct{ Verdict string } }
	if v := give[verdict](t, s, "ana", "POST", "/api/runs/"+run+"/gate",
		`{"gate_id": "`+made.ID+`"}`); v.Report.Verdict == "PASS" {
		t.Errorf("%+v", v)
	}
	put := give[gateAnswer](t, s, "ana", "PUT", at, `{"text": "`+easy+`", "shared": true}`)
	if put.Name != "release" || put.Text != easy || !put.Shared || put.Updated == made.Updated {
		t.Errorf("%+v", put)
	}
	if v := give[verdict](t, s, "ana", "POST", "/api/runs/"+run+"/gate",
		`{"gate_id": "`+made.ID+`", "baseline_eval_id": "`+run+`"}`); v.Report.Verdict != "PASS" {
		t.Errorf("%+v", v)
	}
	if v := give[verdict](t, s, "bo", "POST", "/api/runs/"+other+"/gate",
		`{"gate_id": "`+made.ID+`"}`); v.Report.Verdict != "PASS" {
		t.Errorf("%+v", v)
	}
	s.refuse(t, "ana", "POST", "/api/runs/"+run+"/gate", `{"gate_id": "`+made.ID+`", "gates": "`+easy+`"}`, 422)
	got := give[pastVerdicts](t, s, "ana", "GET", at+"/history", "")
	if len(got.Items) != 2 { // that of bo's run is bo's to read
		t.Fatalf("%+v", got)
	}
	if now := got.Items[0]; now.Verdict != "PASS" || now.Changed || now.RunID != run || now.Baseline != run ||
		len(now.Failed) != 0 || now.User != "user_ana" {
		t.Errorf("%+v", now)
	}
	if was := got.Items[1]; was.Verdict == "PASS" || !was.Changed || len(was.Failed) != 1 ||
		was.Failed[0].Metric != "pass_rate" || was.Failed[0].Sentence == "" {
		t.Errorf("%+v", was)
	}
	if his := give[pastVerdicts](t, s, "bo", "GET", at+"/history", ""); len(his.Items) != 1 ||
		his.Items[0].RunID != other {
		t.Errorf("%+v", his)
	}
	if all := give[pastVerdicts](t, s, "root", "GET", at+"/history?limit=2", ""); len(all.Items) != 2 ||
		all.Next == "" {
		t.Errorf("%+v", all)
	}
	list := give[struct{ Items []gateAnswer }](t, s, "bo", "GET", "/api/gates", "")
	if d := cmp.Diff([]gateAnswer{{ID: made.ID, Name: "release", Shared: true, Updated: put.Updated}},
		list.Items); d != "" {
		t.Error(d)
	}
	s.refuse(t, "bo", "PUT", at, `{"name": "mine"}`, 403)
	give[any](t, s, "ana", "DELETE", "/api/tool-eval/history/"+run, "")
	if left := give[pastVerdicts](t, s, "root", "GET", at+"/history", ""); len(left.Items) != 1 ||
		!strings.HasPrefix(left.Items[0].ID, "verdict_") {
		t.Errorf("%+v", left)
	}
	give[any](t, s, "ana", "DELETE", at, "")
	s.refuse(t, "ana", "GET", at, "", 404)
}
