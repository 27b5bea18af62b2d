// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/callvet/callvet"
)

// baseURL is the base address of requests; own reports that it is not the provider's default.
func baseURL(svc *providerRow, cfg *Config) (u *url.URL, own bool, err error) {
	text, own := cfg.BaseURL, cfg.BaseURL != ""
	if text == "" && svc.baseEnv != "" {
		text = cfg.Getenv(svc.baseEnv)
		// Azure has no default: its variable only names the resource.
		own = text != "" && !svc.onAzure()
		if text != "" && svc.name == "ollama" {
			text = ollamaAddress(text)
		}
	}
	if text == "" {
		if text, err = expand(svc.base, cfg.Getenv); err != nil {
			return nil, false, err
		}
	}
	if text == "" {
		hint := "give a base URL"
		if svc.baseEnv != "" {
			hint = "export " + svc.baseEnv + "=https://…"
		}
		return nil, false, invalidSpec(svc.name+" has no default base URL", hint)
	}
	u, err = url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, false, invalidSpec("the base URL is not an http(s) URL", "for example http://localhost:8000/v1")
	}
	if u.User != nil {
		return nil, false, invalidSpec("the base URL holds a user name or password",
			"give the key apart from the URL")
	}
	return u, own, nil
}

// expand replaces {NAME} by the environment's NAME.
func expand(base string, getenv func(string) string) (string, error) {
	before, rest, ok := strings.Cut(base, "{")
	if !ok {
		return base, nil
	}
	name, after, _ := strings.Cut(rest, "}")
	v := getenv(name)
	if v == "" {
		return "", callvet.Unset(fmt.Errorf("%s is not set: %w", name, callvet.ErrInvalid), name)
	}
	return before + v + after, nil
}

// address is the full URL of the model's endpoint.
func address(svc *providerRow, base *url.URL, id string, cfg *Config) string {
	u := *base
	apiVersion := cfg.apiVersion()
	switch {
	case svc.wire == wireMessages:
		u = *u.JoinPath(strings.TrimPrefix("v1/messages", versionOf(base)))
	case svc.wire == wireGemini:
		u = *u.JoinPath("models", url.PathEscape(strings.TrimPrefix(id, "models/")))
		if !cfg.Stream {
			u.Path, u.RawPath = u.Path+":generateContent", ""
			break
		}
		u.Path, u.RawPath = u.Path+":streamGenerateContent", ""
		q := u.Query()
		q.Set("alt", "sse")
		u.RawQuery = q.Encode()
	case svc.wire == wireOllama:
		u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/v1"), "/api") // other tools want these suffixes
		u = *u.JoinPath("api/chat")
	case svc.name == azureResponses && !strings.Contains(u.Path, "/v1"):
		u = *u.JoinPath("openai/v1/responses")
	case svc.wire == wireResponses:
		u = *u.JoinPath("responses")
	case svc.name == azure && apiVersion != "":
		u = *u.JoinPath("openai/deployments", url.PathEscape(id), "chat/completions")
		q := u.Query()
		q.Set("api-version", apiVersion)
		u.RawQuery = q.Encode()
	case svc.name == azure && !strings.Contains(u.Path, "/v1"):
		u = *u.JoinPath("openai/v1/chat/completions")
	default:
		u = *u.JoinPath("chat/completions")
	}
	return u.String()
}

// versionOf allows a base URL for Messages with or without /v1.
func versionOf(base *url.URL) string {
	if strings.HasSuffix(base.Path, "/v1") {
		return "v1/"
	}
	return ""
}

func headers(svc *providerRow, key string) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"application/json"},
		"User-Agent":   {"callvet"},
	}
	if svc.wire == wireMessages {
		h.Set("anthropic-version", "2023-06-01")
	}
	if key == "" {
		return h
	}
	switch {
	case svc.wire == wireMessages:
		h.Set("x-api-key", key)
	case svc.wire == wireGemini:
		h.Set("x-goog-api-key", key)
	case svc.onAzure():
		h.Set("api-key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

// withoutQuery removes the user and the query, which may contain a key.
func withoutQuery(u *url.URL) string {
	c := *u
	c.RawQuery = ""
	return c.String()
}
