// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/internal/endpoint"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/report/plain"
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
}

func (f *targetFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.baseURL, "base-url", "", "endpoint of an OpenAI-compatible server, instead of the provider's own; ${VAR} reads the environment")
	fs.StringVar(&f.keyEnv, "api-key-env", "", "environment variable with the API key, instead of the provider's own")
	fs.StringVar(&f.system, "system", "", "system prompt, before the suite's (@FILE reads a file)")
	fs.StringArrayVar(&f.systemFor, "system-for", nil, "TARGET=PROMPT: system prompt for one target (@FILE reads a file); may be repeated")
	fs.BoolVar(&f.replace, "replace-system", false, "let --system and --system-for stand in place of the suite's system prompt")
	f.temperature = new(float64)
	fs.Var(ranged.OrNone(&f.temperature, ranged.Amount(f.temperature, 0)), "temperature", "sampling temperature; none is the provider's own (default 0, where the model takes it)")
	fs.Var(ranged.Share(&f.topP, 0), "top-p", "nucleus sampling")
	fs.Var(ranged.Int(&f.maxTokens, 0, 1), "max-tokens", "longest answer in tokens")
	fs.StringVar(&f.effort, "reasoning-effort", "", "low, medium, high, … for models that take it")
	fs.BoolVar(&f.parallel, "parallel-calls", true, "let the model make several calls at once")
	fs.BoolVar(&f.stream, "stream", false, "stream answers, to measure the time to the first token")
	fs.StringArrayVar(&f.set, "set", nil, "NAME=JSON: further request parameter, sent as it is; may be repeated")
	fs.StringVar(&f.prices, "prices", "", "JSON price table that goes before the shipped one")
	fs.StringArrayVar(&f.headers, "header", nil, "'NAME: VALUE' for an HTTP agent; ${VAR} reads the environment; may be repeated")
	fs.StringSliceVar(&f.execEnv, "exec-env", nil, "variable that exec: agents may see although it is named like a secret; * stands for any letters; may be repeated")
	fs.StringArrayVar(&f.agent, "agent", nil, "SETTING=VALUE for agents: preset, body, input, session, history, system, tools, stubs, text, calls, name, args, result, error; may be repeated")
}

// targetSpec is one target with its settings, as the manifest keeps it: it can
// be opened again, and holds no secret (headers name their variables).
type targetSpec struct {
	Target       string         `json:"target" form:"required full"`
	Name         string         `json:"name,omitempty"`
	BaseURL      string         `json:"base_url,omitempty"`
	APIKeyEnv    string         `json:"api_key_env,omitempty"`
	SystemPrompt string         `json:"system_prompt,omitempty"`
	ToolChoice   string         `json:"tool_choice,omitempty"`
	Params       callvet.Params `json:"params,omitzero"`
	// DefaultTemperature is sent where Params has none and the model takes it; nil:
	// none, and so of older runs.
	DefaultTemperature *float64 `json:"default_temperature,omitempty"`
	// ReplaceSystem lets SystemPrompt stand in place of the suite's; nil: it does, as in
	// older runs.
	ReplaceSystem *bool             `json:"replace_system,omitempty"`
	Stream        bool              `json:"stream,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	Agent         map[string]string `json:"agent,omitempty"`
	Body          map[string]any    `json:"body,omitempty"`
	Concurrency   int               `json:"concurrency,omitempty"`
	Rate          float64           `json:"rate,omitempty"`
	// ExecEnv are the variables that an exec: agent sees although they are named like secrets.
	ExecEnv []string `json:"exec_env,omitempty"`
}

// service is the address of an agent or a retriever that is asked over HTTP; "" for all others.
func (s *targetSpec) service() string {
	if address := strings.TrimPrefix(s.Target, "retrieve:"); endpoint.Web(address) {
		return address
	}
	return ""
}

// specs lists the targets of the command line and the targets file.
func (a *app) specs(f *runFlags, changed func(string) bool) ([]targetSpec, error) {
	shared, err := a.sharedSpec(f, changed)
	if err != nil {
		return nil, err
	}
	var out []targetSpec
	for _, t := range f.targets {
		s := shared
		s.Target = t
		out = append(out, s)
	}
	if f.targetFile != "" {
		more, err := readTargets(a.path(f.targetFile), shared)
		if err != nil {
			return nil, err
		}
		if err := a.mayExec(f, more); err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if len(out) == 0 {
		return nil, usageError{&callvet.Hinted{Err: fmt.Errorf("no target to evaluate"), Hint: "-m openai/gpt-5-mini, or -m offline/lexical, which needs no key"}}
	}
	if err := a.systemPrompts(out, f.target.systemFor); err != nil {
		return nil, err
	}
	if err := agentSettings(f, out); err != nil {
		return nil, err
	}
	return out, a.unspelled(out)
}

// agentSettings refuses settings of agents that nothing would heed: of a name that there is
// not, or without an agent that takes them.
func agentSettings(f *runFlags, specs []targetSpec) error {
	known := []string{"preset", "input", "session", "history", "system", "tools", "stubs", "text", "calls", "name", "args", "result", "error", "k"}
	overHTTP, agents := false, false
	for i := range specs {
		s := &specs[i]
		web := s.service() != ""
		overHTTP, agents = overHTTP || web, agents || web || strings.HasPrefix(s.Target, "exec:")
		for _, name := range slices.Sorted(maps.Keys(s.Agent)) {
			if !slices.Contains(known, name) {
				hint := "settings: " + strings.Join(known, ", ")
				if near := callvet.Nearest(name, known); near != "" {
					hint = "did you mean " + near + "?"
				}
				return usageError{&callvet.Hinted{Err: fmt.Errorf("agents have no setting %q", name), Hint: hint}}
			}
		}
	}
	switch {
	case len(f.target.headers) > 0 && !overHTTP:
		return usagef("--header is for agents and services over HTTP, and none is evaluated")
	case len(f.target.agent) > 0 && !agents:
		return usagef("--agent is for agents (http://…, https://…, exec:…), and none is evaluated")
	}
	return nil
}

// mayExec says which commands a targets file runs, and refuses them unless they were allowed:
// a file that somebody else wrote would run anything. A command that -m names too is allowed.
func (a *app) mayExec(f *runFlags, specs []targetSpec) error {
	commands := unnamedCommands(f.targets, specs)
	if len(commands) == 0 || f.allowExec {
		a.tellCommands(f.targetFile, commands)
		return nil
	}
	return usageError{&callvet.Hinted{
		Err:  fmt.Errorf("--targets %s: %w: it would run: %s", f.targetFile, callvet.ErrDenied, strings.Join(commands, "; ")),
		Hint: "look at the commands, then --allow-exec",
	}}
}

// tellCommands says what from runs, such as a targets file or a stored run.
func (a *app) tellCommands(from string, commands []string) {
	if len(commands) > 0 {
		fmt.Fprintf(a.err, "note: %s runs: %s\n", from, strings.Join(commands, "; "))
	}
}

// unnamedCommands are the commands of specs, each once, that are not among the targets of a command line.
func unnamedCommands(named []string, specs []targetSpec) []string {
	var out []string
	for i := range specs {
		if command, ok := strings.CutPrefix(specs[i].Target, "exec:"); ok && !slices.Contains(named, specs[i].Target) {
			if command = plain.Line(command); !slices.Contains(out, command) {
				out = append(out, command)
			}
		}
	}
	return out
}

// targetsOf are the targets of specs as they were written.
func targetsOf(specs []targetSpec) []string {
	out := make([]string, len(specs))
	for i := range specs {
		out[i] = specs[i].Target
	}
	return out
}

func (a *app) sharedSpec(f *runFlags, changed func(string) bool) (targetSpec, error) {
	t := &f.target
	s := targetSpec{BaseURL: t.baseURL, APIKeyEnv: t.keyEnv, ToolChoice: f.toolChoice, Stream: t.stream, ReplaceSystem: &t.replace, ExecEnv: t.execEnv, Params: callvet.Params{ReasoningEffort: t.effort}}
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
	if err := s.takeBody(); err != nil {
		return s, err
	}
	s.SystemPrompt, err = a.textOrFile(t.system)
	return s, err
}

// takeBody moves the body of --agent body=JSON to where a targets file has it.
func (s *targetSpec) takeBody() error {
	text, ok := s.Agent["body"]
	if !ok {
		return nil
	}
	delete(s.Agent, "body")
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&s.Body) != nil || s.Body == nil || d.More() {
		return usagef("--agent body=%s: write a JSON object, for example --agent body='{\"input\": {\"messages\": [{\"role\": \"user\"}]}}'", text)
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

// systemPrompts lays TARGET=PROMPT settings over the specs.
func (a *app) systemPrompts(specs []targetSpec, list []string) error {
	for _, kv := range list {
		name, text, ok := strings.Cut(kv, "=")
		if !ok {
			return usagef("--system-for %q: write TARGET=PROMPT or TARGET=@FILE", kv)
		}
		text, err := a.textOrFile(text)
		if err != nil {
			return err
		}
		hit := false
		for i := range specs {
			if specs[i].Target == name || specs[i].Name == name {
				specs[i].SystemPrompt, hit = text, true
			}
		}
		if !hit {
			return usagef("--system-for %s: no target of that name is evaluated", name)
		}
	}
	return nil
}

// textOrFile reads "@FILE"; other text stands for itself.
func (a *app) textOrFile(s string) (string, error) {
	name, isFile := strings.CutPrefix(s, "@")
	if !isFile {
		return s, nil
	}
	b, err := input.File(a.path(name), maxSettings)
	if err != nil {
		return "", fmt.Errorf("read system prompt: %w", err)
	}
	return strings.TrimPrefix(string(b), "\ufeff"), nil // what an editor puts first is no part of a prompt
}
