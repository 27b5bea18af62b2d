// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
)

// TestConnections: a live tool is not reached at an address of this machine, by whatever name,
// and not sent there by a redirect; the policy's networks and domains are.
func TestConnections(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer inner.Close()
	port := inner.URL[strings.LastIndexByte(inner.URL, ':'):]
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	}))
	defer outer.Close()
	const machine = `networks: [127.0.0.1, "::1"], `
	for name, c := range map[string]struct {
		policy, url string
		rule        safety.Rule // "": it is reached
	}{
		"this machine":           {``, inner.URL, safety.RulePrivate},
		"by its name":            {``, "http://localhost" + port, safety.RulePrivate},
		"allowed":                {machine, inner.URL, ""},
		"allowed, by its name":   {machine, "http://localhost" + port, ""},
		"a redirect elsewhere":   {machine, outer.URL + "?to=http://other.test/", safety.RuleDomain},
		"a redirect to a domain": {machine + `domains: [localhost], `, outer.URL + "?to=http://localhost" + port, ""},
		"a redirect to a file":   {machine, outer.URL + "?to=file:///etc/passwd", safety.RuleDomain},
		"a redirect in circles": {
			machine + `domains: [127.0.0.1], `,
			outer.URL + "?to=?to=?to=?to=?to=?to=" + inner.URL, safety.RuleDomain,
		},
		"a redirect to metadata": {
			machine + `domains: ["*"], `, outer.URL + "?to=http://169.254.169.254/latest",
			safety.RuleDomain,
		},
		"private is not denied":   {`deny_private: false, `, inner.URL, ""},
		"another network allowed": {`networks: [10.0.0.0/8], `, inner.URL, safety.RulePrivate},
	} {
		p, err := world.ReadPolicy("policy.yaml", []byte("{"+c.policy+"guard: {}}"))
		if err != nil {
			t.Fatal(err)
		}
		g, err := world.NewGuards(world.GuardsConfig{Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, client := hits.Load(), g.Client(nil)
		resp, err := client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		client.CloseIdleConnections()
		var denied *callvet.DeniedError
		switch errors.As(err, &denied) {
		case true:
			if denied.Ruling.Rule != string(c.rule) || !errors.Is(err, callvet.ErrDenied) || hits.Load() != before {
				t.Errorf("%s: %v, %d hits", name, err, hits.Load()-before)
			}
		default:
			if c.rule != "" || err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
