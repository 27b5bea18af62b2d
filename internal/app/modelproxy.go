// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/modelproxy"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/redact"
)

// ModelProxyRequest requests a proxy in front of models. One of Replay and Record is a folder.
type ModelProxyRequest struct {
	// Replay answers from recordings alone.
	Replay string `json:"replay,omitempty"`
	// Record answers from recordings, and asks the models for missing answers.
	Record string `json:"record,omitempty"`
	// Fresh, with Record, asks the models for all answers.
	Fresh bool `json:"fresh,omitempty"`
	// OpenAI and Anthropic are the addresses of the providers; "": the environment variables that
	// their own clients read, or the providers' own addresses. ${NAME} reads the environment.
	OpenAI    string `json:"openai,omitempty"`
	Anthropic string `json:"anthropic,omitempty"`
	// Ignore are keys of a request's body that do not identify a request.
	Ignore []string `json:"ignore,omitempty"`
}

// ModelProxyResult counts the requests through a proxy.
type ModelProxyResult struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	modelproxy.Counts
}

// ModelProxy is a proxy in front of models, for an HTTP server of the client.
type ModelProxy struct{ *modelproxy.Proxy }

// Result returns the counts so far.
func (p *ModelProxy) Result() *ModelProxyResult {
	return &ModelProxyResult{Format: "callvet model proxy", Version: 1, Counts: p.Counts()}
}

// ModelProxy makes a proxy. It reports its actions as notes with the codes of modelproxy.What, and
// problems as warnings.
func (a *App) ModelProxy(q ModelProxyRequest, events Events) (*ModelProxy, error) {
	cfg := modelproxy.Config{
		Mode: modelproxy.Replay, Ignore: q.Ignore, Hide: a.secrets.Hide,
		HTTP: a.models.Transport,
	}
	switch {
	case (q.Replay == "") == (q.Record == ""):
		return nil, Refused("record",
			"name the folder of recordings: {replay} to answer from them alone, or {record} to ask for what is not there")
	case q.Fresh && q.Record == "":
		return nil, Refused("fresh", "{fresh} asks models again, which {replay} never does")
	}
	var err error
	if cfg.HidePath, err = pathHider(a.secrets.Hide); err != nil {
		return nil, err
	}
	folder, _, err := a.Config.Files.Path(cmp.Or(q.Replay, q.Record))
	if err != nil {
		return nil, err
	}
	if cfg.Folder = folder; a.Config.Files.Kind(cmp.Or(q.Replay, q.Record)) == KindFile {
		return nil, Wrong(map[bool]string{true: "replay", false: "record"}[q.Replay != ""], cmp.Or(q.Replay, q.Record),
			"it is a file, and recordings are a folder")
	}
	if q.Record != "" {
		if cfg.Mode = modelproxy.Record; q.Fresh {
			cfg.Mode = modelproxy.Fresh
		}
		if cfg.HTTP == nil {
			cfg.HTTP = http.DefaultTransport
		}
		if cfg.OpenAI, err = a.upstream("openai", q.OpenAI); err != nil {
			return nil, err
		}
		if cfg.Anthropic, err = a.upstream("anthropic", q.Anthropic); err != nil {
			return nil, err
		}
	}
	cfg.OnAnswer = func(x modelproxy.Answered) {
		n := callvet.Notice{
			Code: string(x.What),
			Text: fmt.Sprintf("%s %s: %s", x.Method, x.Path, cmp.Or(x.Text, x.File)),
		}
		switch x.What {
		case modelproxy.Missing, modelproxy.Failed, modelproxy.Refused:
			events.Emit(Event{Warning: &n})
		default:
			events.Emit(Event{Note: &n})
		}
	}
	p, err := modelproxy.New(cfg)
	if err != nil {
		return nil, err
	}
	return &ModelProxy{p}, nil
}

// upstream returns the address of a provider.
func (a *App) upstream(name, address string) (*url.URL, error) {
	own, variable := provider.Base(name)
	address = cmp.Or(address, a.Config.Getenv(variable), own)
	if err := redact.RefuseSpelled(address, nil); err != nil {
		return nil, err
	}
	filled, err := redact.FillAddress(address, a.Variable)
	if err != nil {
		return nil, fmt.Errorf("make proxy: %s: %w", name, err)
	}
	u, err := url.Parse(filled)
	if err != nil || !redact.IsWebAddress(filled) || u.Host == "" {
		return nil, Wrong(name, address, "it is an address such as https://host/v1")
	}
	return u, nil
}
