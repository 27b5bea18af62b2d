// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import "testing"

func TestOllama(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"0.0.0.0":                "http://127.0.0.1:11434",
		":8080":                  "http://127.0.0.1:8080",
		"[::]:8080":              "http://127.0.0.1:8080",
		"box":                    "http://box:11434",
		"box:1/":                 "http://box:1/",
		"http://box":             "http://box:11434",
		"https://box.example":    "https://box.example",
		"https://[2001:db8::1]":  "https://[2001:db8::1]",
		"http://[2001:db8::1]/x": "http://[2001:db8::1]:11434/x",
		"https://box:9/v1":       "https://box:9/v1",
		"a b":                    "a b",
	} {
		if got := ollamaAddress(host); got != want {
			t.Errorf("%q: %s, want %s", host, got, want)
		}
	}
}
