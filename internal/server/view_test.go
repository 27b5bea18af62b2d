// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// orphan makes a run without a user, like one of the command line.
func (s *site) orphan(t *testing.T) string {
	t.Helper()
	id := s.ran(t, "ana", "", 1)
	if err := s.db.Change(t.Context(), "forget whose",
		func(q *rows.Queries) error { return q.DropRunEntry(t.Context(), id) }); err != nil {
		t.Fatal(err)
	}
	return id
}

// visitor is a browser that has used a link.
type visitor struct {
	t      *testing.T
	s      *site
	cookie *http.Cookie
}

func (v *visitor) ask(method, path, body string) (int, string) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.s.URL+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if v.cookie != nil {
		req.AddCookie(v.cookie)
	}
	res, err := v.s.Client().Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	for _, c := range res.Cookies() {
		v.cookie = c
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// visit uses the link of a server that only reads.
func (s *site) visit(t *testing.T) *visitor {
	t.Helper()
	v := &visitor{t: t, s: s}
	_, token, ok := strings.Cut(s.srv.ViewLink(), "/#view=")
	if code, text := v.ask("GET", "/api/me", ""); !ok || code != 401 ||
		!strings.Contains(text, "the link that callvet view has printed") {
		t.Fatalf("without the link: %d %s", code, text)
	}
	if code, text := v.ask("POST", "/api/session/view", `{"token":"x"}`); code != 403 || v.cookie != nil {
		t.Fatalf("with another token: %d %s", code, text)
	}
	if code, text := v.ask("POST", "/api/session/view", `{"token":"`+token+`"}`); code != 200 ||
		!strings.Contains(text, `"read_only":true`) || v.cookie == nil || !v.cookie.HttpOnly ||
		v.cookie.SameSite != http.SameSiteStrictMode {
		t.Fatalf("with the token: %d %s %v", code, text, v.cookie)
	}
	if code, text := (&visitor{t: t, s: s}).ask("POST", "/api/session/view", `{"token":"`+token+`"}`); code != 403 ||
		!strings.Contains(text, "was used") {
		t.Fatalf("with the token once more: %d %s", code, text)
	}
	return v
}

func readOnly(c *api.Config) { c.ReadOnly = true }

// TestView: a reader with the link reads everything, also objects of users and those without a
// user, and changes nothing. This holds next to the server of the users, and on a store that cannot
// be written to.
func TestView(t *testing.T) {
	t.Parallel()
	users := newSite(t)
	first, second := users.orphan(t), users.ran(t, "bo", "", 1)
	made := give[suiteAnswer](t, users, "ana", "POST", suites, weatherSuite)
	job := users.object(t, api.KindJob, "user_ana", false)
	if code, text := users.ask(t, "root", "POST", "/api/session/view", `{"token":"x"}`); code != 404 {
		t.Errorf("a link on a server with users: %d %s", code, text)
	}
	locked, err := store.Open(t.Context(), users.db.Path(), store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locked.Close() })
	for name, s := range map[string]*site{
		"next to a server": users.restart(t, readOnly),
		"unwritable":       serveSite(t, locked, users.users, readOnly),
	} {
		v := s.visit(t)
		if code, text := v.ask("GET", "/api/me", ""); code != 200 || !strings.Contains(text, `"role":"admin"`) {
			t.Errorf("%s: %d %s", name, code, text)
		}
		code, list := v.ask("GET", "/api/tool-eval/history?suite=weather", "")
		if code != 200 || strings.Index(list, first) < strings.Index(list, second) ||
			strings.Contains(list, `"avg_score":null`) {
			t.Errorf("%s: %d %s", name, code, list)
		}
		for _, path := range []string{
			"/api/tool-eval/history/" + first, "/api/runs/" + first, "/api/runs/" + first + "/cells",
			"/api/runs/" + first + "/case?case=paris-now", "/api/runs/" + first + "/export?format=csv",
			"/api/diff?base=" + first + "&candidate=" + second, suites + "/" + made.ID, "/api/jobs/" + job,
			"/api/jobs?user_id=*", "/api/events/list", "/api/targets", "/api/ready", "/metrics",
		} {
			if code, text := v.ask("GET", path, ""); code != 200 {
				t.Errorf("%s: GET %s: %d %s", name, path, code, text)
			}
		}
		for path, body := range map[string]string{
			"/api/runs/" + first +
				"/gate": `{"gates":"gates: [{metric: pass_rate, at_least: 0.1}]","baseline_eval_id":"` + second + `"}`,
			"/api/score/report": `{"eval_id":"` + first + `"}`, "/api/lint": `{"suite":"suite: x"}`,
		} {
			if code, text := v.ask("POST", path, body); code != 200 && !strings.Contains(path, "lint") || code == 403 {
				t.Errorf("%s: POST %s: %d %s", name, path, code, text)
			}
		}
		if code, text := (&visitor{t: t, s: s}).ask("GET", "/api/runs/"+first, ""); code != 401 {
			t.Errorf("%s: without a login: %d %s", name, code, text)
		}
	}
}

// TestViewChangesNothing walks every route that changes something.
func TestViewChangesNothing(t *testing.T) {
	t.Parallel()
	users := newSite(t)
	s := users.restart(t, readOnly)
	v := s.visit(t)
	refused := 0
	for _, r := range users.srv.Routes() { // also those of users, which are not there
		if r.Method == http.MethodGet || r.Access.Scope == "read" && r.ID != "logout" && r.ID != "logout-alias" ||
			r.Access.Open && strings.Contains(r.Path, "/session/view") {
			continue
		}
		refused++
		if code, text := v.ask(r.Method, r.Path, `{}`); code != 403 ||
			!strings.Contains(text, "callvet view only reads; callvet serve is for more") {
			t.Errorf("%s %s: %d %s", r.Method, r.Path, code, text)
		}
	}
	if refused < 50 {
		t.Errorf("%d routes", refused)
	}
	old := v.cookie
	v = s.visit(t)
	if code, _ := (&visitor{t: t, s: s, cookie: old}).ask("GET", "/api/me", ""); code != 401 ||
		v.cookie.Value == old.Value {
		t.Errorf("the session of an earlier link: %d", code)
	}
}

// TestRunsWithoutOwner: runs of the command line are for admins, until one shares them.
func TestRunsWithoutOwner(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, judged := s.orphan(t), s.ran(t, "ana", "", 1)
	const history = "/api/tool-eval/history"
	// as one that a judge made
	if _, err := s.db.Handle().ExecContext(t.Context(), "UPDATE runs SET judges = $1 WHERE id = $2", "sha256:x",
		s.orphan(t)); err != nil {
		t.Fatal(err)
	}
	list := stored[api.Page[server.EvalRun]](t, s, "root", "GET", history, "")
	if len(list.Items) != 2 || list.Items[0].ID != judged || list.Items[1].ID != id || list.Items[1].User != "" ||
		list.Items[1].AvgScore == nil {
		t.Errorf("%+v", list)
	}
	page := stored[api.Page[server.EvalRun]](t, s, "root", "GET", history+"?limit=1", "")
	rest := stored[api.Page[server.EvalRun]](t, s, "root", "GET", history+"?limit=1&cursor="+page.Next, "")
	if len(page.Items) != 1 || len(rest.Items) != 1 || rest.Items[0].ID != id || rest.Next != "" {
		t.Errorf("%+v %+v", page, rest)
	}
	if other := stored[api.Page[server.EvalRun]](t, s, "root", "GET", history+"?suite=another",
		""); len(other.Items) != 0 {
		t.Errorf("%+v", other)
	}
	for _, user := range []string{"ana", "bo"} {
		if code, text := s.ask(t, user, "GET", "/api/runs/"+id, ""); code != 404 {
			t.Errorf("as %s: %d %s", user, code, text)
		}
		if list := stored[api.Page[server.EvalRun]](t, s, user, "GET", history+"?suite=weather",
			""); len(list.Items) > 1 {
			t.Errorf("as %s: %+v", user, list)
		}
	}
	stored[map[string]any](t, s, "root", "GET", "/api/runs/"+id, "")
	if code, text := s.ask(t, "root", "PATCH", "/api/runs/"+id, `{"shared":true}`); code != 204 {
		t.Errorf("%d %s", code, text)
	}
	stored[map[string]any](t, s, "bo", "GET", "/api/runs/"+id, "")
	if code, text := s.ask(t, "bo", "DELETE", history+"/"+id, ""); code != 403 {
		t.Errorf("%d %s", code, text)
	}
	if code, text := s.ask(t, "root", "DELETE", history+"/"+id, ""); code != 204 {
		t.Errorf("%d %s", code, text)
	}
	if _, err := s.db.Run(t.Context(), id); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
}
