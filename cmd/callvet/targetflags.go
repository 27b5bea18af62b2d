// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
)

// targetFlags are the settings that all targets of a command line share; a
// targets file sets them one by one.
type targetFlags struct {
	baseURL     string
	keyEnv      string
	system      string
	systemFor   []string
	replace     bool
	temperature *float64 // nil: the provider's own
	topP        float64
	maxTokens   int
	effort      string
	parallel    bool
	stream      bool
	set         []string
	prices      string
	headers     []string
	agent       []string
	execEnv     []string
	version     string
}

func (f *targetFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.baseURL, "base-url", "",
		"endpoint of an OpenAI-compatible server, instead of the provider's own; ${VAR} reads the environment")
	fs.StringVar(&f.keyEnv, "api-key-env", "", "environment variable with the API key, instead of the provider's own")
	fs.StringVar(&f.system, "system", "", "system prompt, before the suite's (@FILE reads a file)")
	fs.StringArrayVar(&f.systemFor, "system-for", nil,
		"TARGET=PROMPT: system prompt for one target (@FILE reads a file); may be repeated")
	fs.BoolVar(&f.replace, "replace-system", false,
		"--system and --system-for replace the suite's system prompt")
	f.temperature = new(float64)
	fs.Var(orNoneFlag(&f.temperature, amountFlag(f.temperature, 0)), "temperature",
		"sampling temperature; none is the provider's own (default 0, where the model takes it)")
	fs.Var(shareFlag(&f.topP, 0), "top-p", "nucleus sampling")
	fs.Var(wholeFlag(&f.maxTokens, 0, 1), "max-tokens", "longest answer in tokens")
	fs.StringVar(&f.effort, "reasoning-effort", "", "low, medium, high, … for models that take it")
	fs.BoolVar(&f.parallel, "parallel-calls", true, "let the model make several calls at once")
	fs.BoolVar(&f.stream, "stream", false, "stream answers, to measure the time to the first token")
	fs.StringArrayVar(&f.set, "set", nil, "NAME=JSON: further request parameter, sent as it is; may be repeated")
	fs.StringVar(&f.prices, "prices", "", "JSON price table that goes before the shipped one")
	fs.StringArrayVar(&f.headers, "header", nil,
		"'NAME: VALUE' for an HTTP agent; ${VAR} reads the environment; may be repeated")
	fs.StringSliceVar(&f.execEnv, "exec-env", nil,
		"variable named like a secret that exec: agents may see; * stands for any letters; may be repeated")
	fs.StringVar(&f.version, "target-version", "",
		"identifies what is asked, such as a commit of an agent, for gates that are looked at again")
	fs.StringArrayVar(&f.agent, "agent", nil,
		"SETTING=VALUE for agents: preset, body, input, session, history, system, tools, stubs, text, calls, name, args, result, error; k for services that select tools; may be repeated")
}

// shared are the settings of all targets of a command line.
func (a *cli) shared(f *runFlags, changed func(string) bool) (app.TargetSpec, error) {
	t := &f.target
	s := app.TargetSpec{
		BaseURL: t.baseURL, APIKeyEnv: t.keyEnv, ToolChoice: f.toolChoice, Stream: t.stream,
		TargetVersion: t.version,
		ReplaceSystem: &t.replace, ExecEnv: t.execEnv, Params: callvet.Params{ReasoningEffort: t.effort},
	}
	if changed("temperature") {
		s.Params.Temperature = t.temperature
	} else {
		s.DefaultTemperature = t.temperature
	}
	if changed("top-p") {
		s.Params.TopP = &t.topP
	}
	if changed("max-tokens") {
		s.Params.MaxTokens = &t.maxTokens
	}
	if changed("seed") {
		s.Params.Seed = &f.seed
	}
	if changed("parallel-calls") {
		s.Params.ParallelCalls = &t.parallel
	}
	for _, kv := range t.set {
		name, v, ok := strings.Cut(kv, "=")
		if !ok || !json.Valid([]byte(v)) {
			return s, usagef("--set %s: write NAME=JSON, for example --set top_k=40 or --set user='\"eval\"'", kv)
		}
		if s.Params.Extra == nil {
			s.Params.Extra = map[string]json.RawMessage{}
		}
		s.Params.Extra[name] = json.RawMessage(v)
	}
	var err error
	if s.Headers, err = pairs(t.headers, ":", "--header 'NAME: VALUE'"); err != nil {
		return s, err
	}
	if s.Agent, err = pairs(t.agent, "=", "--agent SETTING=VALUE"); err != nil {
		return s, err
	}
	if err := takeBody(&s); err != nil {
		return s, err
	}
	s.SystemPrompt, err = a.program().Text(t.system)
	return s, err
}

// takeBody moves the body of --agent body=JSON to its key in a targets file.
func takeBody(s *app.TargetSpec) error {
	text, ok := s.Agent["body"]
	if !ok {
		return nil
	}
	delete(s.Agent, "body")
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&s.Body) != nil || s.Body == nil || d.More() {
		return usagef(
			"--agent body=%s: write a JSON object, for example --agent body='{\"input\": {\"messages\": [{\"role\": \"user\"}]}}'", text)
	}
	return nil
}

func pairs(list []string, sep, form string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	m := map[string]string{}
	for _, kv := range list {
		k, v, ok := strings.Cut(kv, sep)
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, usagef("%q: write %s", kv, form)
		}
		m[k] = strings.TrimSpace(v)
	}
	return m, nil
}

// systemFor are the prompts of single targets, by target or name.
func (a *cli) systemFor(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range list {
		name, text, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, usagef("--system-for %q: write TARGET=PROMPT or TARGET=@FILE", kv)
		}
		if _, twice := out[name]; twice {
			return nil,
				usagef(
					"--system-for %s: given twice; to compare two prompts, write the target twice into a file for --targets", name)
		}
		text, err := a.program().Text(text)
		if err != nil {
			return nil, err
		}
		out[name] = text
	}
	return out, nil
}
