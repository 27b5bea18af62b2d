// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/assets"
)

// mailCase expects an address that reports redact.
const mailCase = `{"callvet":1,"name":"post","system_prompt":"Be brief.","tools":[{"name":"send","description":"Sends a mail","parameters":{"type":"object","properties":{"to":{"type":"string"},"minutes":{"type":"number"}}}}],
"mocks":[{"tool":"send","result":{"ok":true}}],"defaults":{"scoring":{"epsilon":0.5}},
"cases":[{"id":"to-kim","prompt":"Write to kim.lund@example.org in 5 minutes.","multi_turn":true,"expect":{"calls":[{"tool":"send","args":{"to":"kim.lund@example.org","minutes":5}}]}}]}`

// TestRunCaseKept: the owner of a run copies a case with its personal data, others are refused; a case
// that is added to another suite keeps its tools, mocks and tolerances.
func TestRunCaseKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(t)
	from := stored[assets.Imported](t, s, "ana", "POST", "/api/tool-eval/import", mailCase).SuiteID
	ran := stored[jobAnswer](t, s, "ana", "POST", "/api/tool-eval",
		`{"suite_id":"`+from+`","models":["offline/lexical"]}`)
	run := s.awaitJob(t, "ana", ran.JobID, "done").ResultRef
	text := stored[server.CaseText](t, s, "ana", "GET",
		"/api/runs/"+run+"/case/text?case=to-kim&tier=regression&bug=%2312", "")
	for _, part := range []string{
		"kim.lund@example.org", "Be brief.", "tier: regression", "bugRef", "#12",
		"multi_turn", "epsilon: 0.5",
	} {
		if !strings.Contains(text.YAML, part) {
			t.Errorf("the copy has no %q:\n%s", part, text.YAML)
		}
	}
	if code, answer := s.ask(t, "ana", "GET", "/api/runs/"+run+"/case/text?case=to-kim&tier=regression",
		""); code != 422 || !strings.Contains(answer, "bug") {
		t.Errorf("a regression case without a bug: %d %s", code, answer)
	}
	if code, answer := s.ask(t, "ana", "PATCH", "/api/runs/"+run, `{"shared":true}`); code >= 300 {
		t.Fatalf("share: %d %s", code, answer)
	}
	if code, answer := s.ask(t, "bo", "GET", "/api/runs/"+run+"/case/text?case=to-kim", ""); code != 403 ||
		!strings.Contains(answer, "email") || strings.Contains(answer, "kim.lund") {
		t.Errorf("the case of another user: %d %s", code, answer)
	}

	if code, answer := s.ask(t, "root", "GET", "/api/runs/"+run+"/case/text?case=to-kim", ""); code != 403 ||
		strings.Contains(answer, "kim.lund") {
		t.Errorf("the case of another user, for an admin: %d %s", code, answer)
	}

	into := stored[assets.Imported](t, s, "ana", "POST", "/api/tool-eval/import",
		`{"callvet":1,"name":"kept","tools":[{"name":"other"}],"cases":[{"id":"hi","prompt":"Hi","expect":{"no_call":true}}]}`).SuiteID
	body := `{"case":"to-kim","suite_id":"` + into + `","tier":"regression","bug":"#12"}`
	added := stored[server.CaseAdded](t, s, "ana", "POST", "/api/runs/"+run+"/case/suite", body)
	if added.ID != "rg-send-001" || len(added.Differ) != 1 || added.Differ[0] != "system_prompt" {
		t.Errorf("added: %+v", added)
	}
	_, kept := s.ask(t, "ana", "GET", "/api/tool-suites/"+into+"/export?format=callvet", "")
	for _, part := range []string{
		"rg-send-001", "kim.lund@example.org", "Sends a mail", `"epsilon"`, `"mocks"`, "#12",
		`"multi_turn"`,
	} {
		if !strings.Contains(kept, part) {
			t.Errorf("the suite has no %q:\n%s", part, kept)
		}
	}
	if code, answer := s.ask(t, "ana", "POST", "/api/runs/"+run+"/case/suite", body); code != 409 ||
		!strings.Contains(answer, "rg-send-001") {
		t.Errorf("the second time: %d %s", code, answer)
	}
	s.damage(t, "DELETE FROM run_entries WHERE run_id = ?", run) // as a run of the command line
	if code, answer := s.ask(t, "ana", "GET", "/api/runs/"+run+"/case/text?case=to-kim", ""); code != 404 {
		t.Errorf("a run of the command line, for a member: %d %s", code, answer)
	}
	if text := stored[server.CaseText](t, s, "root", "GET", "/api/runs/"+run+"/case/text?case=to-kim",
		""); !strings.Contains(text.YAML, "kim.lund@example.org") {
		t.Errorf("a run of the command line, for an admin: %s", text.YAML)
	}
}
