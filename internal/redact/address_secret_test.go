// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// Secrets are kept nowhere: one that is spelled out is refused, and the message does
// not repeat it.
func TestSpelled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address string
		headers map[string]string
		hint    string // "": fine
	}{
		{"http://h/x?api_key=SECRETS", nil, "api_key=${API_KEY}"},
		{"http://h/x?a=1&accessToken=SECRETS&sig=SECRETS", nil, "ACCESSTOKEN"},
		{"http://user:SECRETS@h/x", nil, "header"},
		{"http://h/x", map[string]string{"Authorization": "Bearer SECRETS"}, "Authorization: ${AUTHORIZATION}"},
		{
			"http://h/x?api_key=${KEY}&keywords=a&k=5",
			map[string]string{"Authorization": "Bearer ${KEY}", "Accept-Language": "sv"},
			"",
		},
		{"http://h/x?api_key=", nil, ""},
		{"http://h/x?pass=SECRETS", nil, "pass=${PASS}"},
		{"http://h/x?pwd=SECRETS", nil, "pwd=${PASSWORD}"},
		{"http://h/x?passage=a", map[string]string{"X-JWT": "SECRETS"}, "X-JWT: ${X_JWT}"},
		{"http://h/x?passage=a", nil, ""},
	} {
		err := RefuseSpelled(c.address, c.headers)
		var h *callvet.Hinted
		if (err == nil) != (c.hint == "") || err != nil &&
			(!errors.Is(err, callvet.ErrInvalid) || !errors.As(err, &h) || !strings.Contains(h.Hint, c.hint) ||
				strings.Contains(err.Error()+h.Hint, "SECRETS")) {
			t.Errorf("%s %v: %v", c.address, c.headers, err)
		}
	}
}

func TestExposed(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://example.com/v1": true, "https://example.com": false, "http://localhost:8000": false,
		"http://app.localhost": false, "http://LOCALHOST.": false,
		"http://127.0.0.1:1": false, "http://127.9.9.9": false, "http://[::1]:8": false, "http://10.0.0.5": true,
		"http://0.0.0.0:8000": false, "http://[2001:db8::1]": true, "http://localhost.example.com": true,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := ExposedAddress(u); got != want {
			t.Errorf("%s: %v", address, got)
		}
		if want && !strings.Contains(UnencryptedWarning(u), u.Host) {
			t.Errorf("%s is not named", u.Host)
		}
	}
}

// TestCut: no half of a word is left, and a text without words is cut all the same.
func TestCut(t *testing.T) {
	t.Parallel()
	const text = "the key is sk-Zx81kQp02LmVt7RbYc45 and no more"
	for most := range len(text) + 2 {
		got := CutText(text, most)
		if len(got) > max(most, 0) || strings.Contains(got, "Zx8") != strings.Contains(got, "c45") {
			t.Errorf("%d: %q", most, got)
		}
	}
	long := strings.Repeat("é", 1000)
	if got := CutText(long, 801); len(got) != 800 {
		t.Errorf("%d bytes", len(got))
	}
}
