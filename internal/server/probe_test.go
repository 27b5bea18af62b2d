// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
)

func TestTestTarget(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("Authorization") != "Bearer sk-right":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, r.Header.Get("Authorization"))
		case strings.Contains(string(b), `"gone"`):
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"message":"The model gone does not exist"}}`)
		case strings.Contains(string(b), `"busy"`):
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"message":"slow down"}}`)
		default:
			fmt.Fprint(w,
				`{"model":"m1-2026","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"hello"}}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`)
		}
	}))
	t.Cleanup(model.Close)
	nobody := httptest.NewServer(nil)
	nobody.Close()
	ask := func(name, base string) (int, string) {
		return s.ask(t, "ana", "POST", "/api/targets/test",
			fmt.Sprintf(`{"provider_key":"openai","model_id":%q,"base_url":%q}`, name, base))
	}
	probe := func(name, base string) app.Probe {
		t.Helper()
		code, body := ask(name, base)
		return decode[app.Probe](t, code, 200, body)
	}
	key := func(value string) {
		t.Helper()
		if code, body := s.ask(t, "ana", "PUT", "/api/keys/OPENAI_API_KEY",
			fmt.Sprintf(`{"value":%q,"hosts":[%q,%q]}`, value, model.Listener.Addr(),
				nobody.Listener.Addr())); code != 200 {
			t.Fatalf("key: %d %s", code, body)
		}
	}
	key("sk-wrong-secret")
	if code, body := ask("m1", model.URL); code == 200 && strings.Contains(body, `"ok":true`) {
		t.Errorf("a private address was asked: %d %s", code, body)
	}
	s.private(t)
	if p := probe("m1", model.URL); p.OK || p.Fault != callvet.FaultAuth || p.HTTP != 401 || p.Message == "" ||
		strings.Contains(p.Message, "sk-wrong-secret") {
		t.Errorf("wrong key: %+v", p)
	}
	key("sk-right")
	if p := probe("m1", model.URL); !p.OK || p.Model != "m1-2026" || p.Fault != "" || p.LatencyMS <= 0 {
		t.Errorf("right key: %+v", p)
	}
	if p := probe("gone", model.URL); p.OK || p.Fault != callvet.FaultRequest || p.HTTP != 404 ||
		!strings.Contains(p.Message, "does not exist") {
		t.Errorf("no such model: %+v", p)
	}
	if p := probe("busy", model.URL); p.OK || p.Fault != callvet.FaultRateLimit || p.RetryMS != 7000 {
		t.Errorf("rate limit: %+v", p)
	}
	if p := probe("m1", nobody.URL); p.OK || p.Fault != callvet.FaultNetwork {
		t.Errorf("nobody there: %+v", p)
	}
	for _, bad := range []string{"exec:rm", "nobody-knows-it", "http://x"} {
		if code, body := s.ask(t, "ana", "POST", "/api/targets/test",
			fmt.Sprintf(`{"provider_key":%q,"model_id":"m"}`, bad)); code/100 != 4 {
			t.Errorf("%s: %d %s", bad, code, body)
		}
	}
}

func TestTargetList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	list := give[struct {
		Targets   []string       `json:"targets"`
		Providers []app.Provider `json:"providers"`
	}](t, s, "ana", "GET", "/api/targets", "")
	for _, p := range list.Providers {
		if !slices.Contains(list.Targets, p.Name+"/MODEL") || len(p.Keys) == 0 {
			t.Errorf("provider %+v is no target, or has no key", p)
		}
	}
	if p := list.Providers[0]; p.Name != "openai" || p.Keys[0] != "OPENAI_API_KEY" || p.Local {
		t.Errorf("the first is %+v", p)
	}
}
