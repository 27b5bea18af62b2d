// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"net/url"
	"strings"
	"testing"
)

// TestPathHider: recordings have no key that a client sends in an address.
func TestPathHider(t *testing.T) {
	t.Parallel()
	hide, err := pathHider(func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") })
	if err != nil {
		t.Fatal(err)
	}
	const form = "sk-proj-4f9Ab71cD2eF8gH3iJ6kL0mN5oP9qR2sT7uV1wX4yZ8" // made up
	for in, want := range map[string]string{
		"/v1/chat/completions":                            "/v1/chat/completions",
		"/v1/chat/completions?key=anything":               "/v1/chat/completions?key=REDACTED",
		"/v1/x?alt=sse&api-key=a%20b&b=1":                 "/v1/x?alt=sse&api-key=REDACTED&b=1",
		"/v1/x?X-Amz-Signature=00ff&n=2":                  "/v1/x?X-Amz-Signature=REDACTED&n=2",
		"/v1/hunter2/x":                                   "/v1/REDACTED/x",
		"/v1/x?note=hunter2":                              "/v1/x?note=REDACTED",
		"/v1/" + form + "/chat":                           "/v1/REDACTED/chat",
		"/v1/x?q=" + form:                                 "/v1/x?q=REDACTED",
		"/v1/x?" + form:                                   "/v1/x?REDACTED",
		"/v1/files?page_token=abc&pageToken=d":            "/v1/files?page_token=abc&pageToken=d",
		"/v1/x?next_api_key=abc":                          "/v1/x?next_api_key=REDACTED",
		"/v1/x?code=print":                                "/v1/x?code=print",
		"/v1/x?key":                                       "/v1/x?key",
		"/v1/models/gpt%2F4?api-version=2024-10-21&limit": "/v1/models/gpt%2F4?api-version=2024-10-21&limit",
	} {
		u, err := url.ParseRequestURI(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := hide(u); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
