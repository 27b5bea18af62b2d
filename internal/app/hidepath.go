// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"net/url"
	"strings"

	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/score/safety"
)

// hiddenPart replaces a secret in the path or query of a request.
const hiddenPart = "REDACTED"

// pathHider returns a function that masks secrets in the path and query of a request. Secrets are
// the values of parameters with a name of a secret, known secrets, and parts in the form of a
// secret.
func pathHider(known func(string) string) (func(*url.URL) string, error) {
	detect, err := safety.NewDetector(safety.DetectorConfig{})
	if err != nil {
		return nil, err
	}
	secretText := func(s string) bool {
		if known(s) != s {
			return true
		}
		for at := 0; ; {
			f, ok := detect.Next(s, at)
			if !ok {
				return false
			}
			if f.Kind.Secret() {
				return true
			}
			at = f.End
		}
	}
	part := func(escaped string, decode func(string) (string, error)) string {
		if text, err := decode(escaped); err != nil || secretText(text) {
			return hiddenPart
		}
		return escaped
	}
	return func(u *url.URL) string {
		segments := strings.Split(u.EscapedPath(), "/")
		for i := range segments {
			segments[i] = part(segments[i], url.PathUnescape)
		}
		out := strings.Join(segments, "/")
		if u.RawQuery == "" {
			return out
		}
		pairs := strings.Split(u.RawQuery, "&")
		for i, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			plain, err := url.QueryUnescape(name)
			switch {
			case err != nil || secretText(plain):
				pairs[i] = hiddenPart
			case value != "" && secretParameter(plain):
				pairs[i] = name + "=" + hiddenPart
			case value != "":
				pairs[i] = name + "=" + part(value, url.QueryUnescape)
			}
		}
		return out + "?" + strings.Join(pairs, "&")
	}, nil
}

// secretParameter reports whether a parameter of a query is named like a secret. The token of the
// next page of a list does not count: two pages must stay distinct.
func secretParameter(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	switch name {
	case "sig", "signature", "auth", "authorization", "access_key_id", "x_amz_signature", "x_amz_credential",
		"x_amz_security_token":
		return true
	}
	for _, place := range []string{"page", "next", "continuation", "cursor", "sync"} {
		if strings.HasSuffix(name, "token") && strings.Contains(name, place) {
			return false
		}
	}
	return redact.SecretName(name)
}
