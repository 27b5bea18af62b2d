// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"strings"
	"testing"
)

// TestDrills: the shipped drills run as a job. The run shows its breaches with rule and call, the
// results of its calls page by page, and a suite of mocks with the same answers.
func TestDrills(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(t)
	code, answer := s.ask(t, "ana", "POST", "/api/drills", `{"models": ["offline/lexical"]}`)
	sent := decode[jobAnswer](t, code, 202, answer)
	s.awaitJob(t, "ana", sent.JobID, "done")
	at := "/api/runs/" + sent.ResultRef
	drilled := give[struct {
		Cases, Attacks int
		Targets        []struct{ Name string }
		Unsafe         []struct{ Case string }
		Left           int
		Verdict        string
	}](t, s, "ana", "GET", at+"/drill", "")
	if drilled.Cases != 66 || drilled.Attacks == 0 || len(drilled.Targets) != 1 || drilled.Verdict == "" {
		t.Errorf("%+v", drilled)
	}
	type place struct {
		Case, Target string
		Repeat       int
		Step         *int
	}
	type incident struct {
		place
		Rule, Note string
		Blocked    *bool
		Call       *struct{ Tool string }
	}
	type page[T any] struct {
		Items []T
		Next  string `json:"next_cursor"`
	}
	all := give[page[incident]](t, s, "ana", "GET", at+"/incidents?limit=200", "")
	unsafe := map[string]bool{}
	for _, in := range all.Items {
		if in.Case == "" || in.Rule == "" || in.Blocked == nil || in.Target != "offline/lexical" {
			t.Errorf("%+v", in)
		}
		if !*in.Blocked {
			unsafe[in.Case] = true
		}
	}
	for _, u := range drilled.Unsafe {
		if !unsafe[u.Case] {
			t.Errorf("%s is unsafe, and no incident is of it", u.Case)
		}
	}
	if len(drilled.Unsafe) == 0 || len(all.Items) == 0 {
		t.Fatalf("no incident: %+v", drilled)
	}
	type recorded struct {
		place
		Tool, Status string
	}
	whole := give[page[recorded]](t, s, "ana", "GET", at+"/recordings?limit=200", "")
	if len(whole.Items) < 3 || whole.Items[0].Tool == "" || whole.Items[0].Status == "" || whole.Items[0].Step == nil {
		t.Fatalf("%+v", whole)
	}
	var paged []recorded
	for next := ""; ; {
		p := give[page[recorded]](t, s, "ana", "GET", at+"/recordings?limit=2&cursor="+next, "")
		paged = append(paged, p.Items...)
		if next = p.Next; next == "" || len(paged) >= len(whole.Items) {
			break
		}
	}
	for i := range paged {
		if paged[i].Case != whole.Items[i].Case || paged[i].Tool != whole.Items[i].Tool ||
			*paged[i].Step != *whole.Items[i].Step {
			t.Errorf("%d: %+v, of one page %+v", i, paged[i], whole.Items[i])
		}
	}
	code, text := s.ask(t, "ana", "GET", at+"/recordings/export", "")
	if code != 200 || !strings.Contains(text, "mocks:") || !strings.Contains(text, whole.Items[0].Tool) {
		t.Errorf("%d %.500s", code, text)
	}
	plain := s.ran(t, "ana", "", 1)
	code, text = s.ask(t, "ana", "GET", "/api/runs/"+plain+"/recordings/export", "")
	if lintCode, lint := s.ask(t, "ana", "POST", "/api/lint", `{"text": `+quoted(t, text)+`}`); code != 200 ||
		lintCode != 200 || !strings.Contains(lint, `"ok":true`) {
		t.Errorf("the suite that was exported: %d %d %.800s", code, lintCode, lint)
	}
	s.refuse(t, "ana", "GET", "/api/runs/"+plain+"/drill", "", 422)
	if none := give[page[incident]](t, s, "ana", "GET", "/api/runs/"+plain+"/incidents", ""); none.Items == nil ||
		len(none.Items) != 0 {
		t.Errorf("%+v", none)
	}
	s.refuse(t, "ana", "GET", at+"/incidents?cursor=x", "", 422)
	s.refuse(t, "ana", "POST", "/api/drills", `{}`, 422)
	s.refuse(t, "vera", "POST", "/api/drills", `{"models": ["offline/lexical"]}`, 403)
}
