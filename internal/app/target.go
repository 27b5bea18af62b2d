// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
)

// TargetSpec is one target with its settings, as in the manifest: it can be opened again, and
// contains no secret (headers name their variables).
type TargetSpec struct {
	Target string `json:"target" form:"required full"`
	Name   string `json:"name,omitempty"`
	// TargetVersion identifies the version of the target, such as a commit of an agent: looks at
	// the gates of the same version count together. "": the settings of the target identify it, and
	// an agent has no known identity.
	TargetVersion string         `json:"target_version,omitempty"`
	BaseURL       string         `json:"base_url,omitempty"`
	APIKeyEnv     string         `json:"api_key_env,omitempty"`
	SystemPrompt  string         `json:"system_prompt,omitempty"`
	ToolChoice    string         `json:"tool_choice,omitempty"`
	Params        callvet.Params `json:"params,omitzero"`
	// DefaultTemperature is sent if Params has none and the model accepts it; nil: none, as in
	// older runs.
	DefaultTemperature *float64 `json:"default_temperature,omitempty"`
	// ReplaceSystem lets SystemPrompt replace the suite's prompt; nil: it does, as in older runs.
	ReplaceSystem *bool             `json:"replace_system,omitempty"`
	Stream        bool              `json:"stream,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	Agent         map[string]string `json:"agent,omitempty"`
	Body          map[string]any    `json:"body,omitempty"`
	Concurrency   int               `json:"concurrency,omitempty"`
	Rate          float64           `json:"rate,omitempty"`
	// Profile is the name of the profile with these settings, for reports; it changes nothing.
	Profile string `json:"profile,omitempty"`
	// ExecEnv are the variables that an exec: agent sees although they are named like secrets.
	ExecEnv []string `json:"exec_env,omitempty"`
}

// Directed reports whether the target sets the destination or the credentials of requests itself:
// an address, a command, a header, or the variable of a key. A model of a provider at its usual
// address does not.
func (s *TargetSpec) Directed() bool {
	return s.BaseURL != "" || s.APIKeyEnv != "" || len(s.Headers)+len(s.Body)+len(s.Agent)+len(s.ExecEnv) > 0 ||
		s.service() != "" || s.command() != "" || s.embeds()
}

// embeds reports whether the search of a catalogue uses embedders or rerankers, which may have
// addresses.
func (s *TargetSpec) embeds() bool {
	_, asks, _ := catalog.Searches([]string{s.Target})
	return asks
}

// SameDirection reports whether requests of both targets go to the same place with the same
// credentials.
func (s *TargetSpec) SameDirection(o *TargetSpec) bool {
	return reflect.DeepEqual(s.direction(), o.direction())
}

// direction returns the settings of a target that define the destination and the credentials of its
// requests.
func (s *TargetSpec) direction() TargetSpec {
	return TargetSpec{
		Target: s.Target, BaseURL: s.BaseURL, APIKeyEnv: s.APIKeyEnv, Headers: s.Headers, Body: s.Body, Agent: s.Agent,
		ExecEnv: s.ExecEnv,
	}
}

// KeyVariables returns the variables with keys that the target names or that its provider reads,
// each once.
func (s *TargetSpec) KeyVariables() []string {
	out := redact.Variables(s.BaseURL + " " + s.Target)
	for _, v := range s.Headers {
		out = append(out, redact.Variables(v)...)
	}
	if s.APIKeyEnv != "" {
		out = append(out, s.APIKeyEnv)
	} else if name, _, ok := strings.Cut(s.Target, "/"); ok {
		keys, _ := provider.Keys(name)
		out = append(out, keys...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Replaces reports whether SystemPrompt replaces the suite's prompt.
func (s *TargetSpec) Replaces() bool { return s.ReplaceSystem == nil || *s.ReplaceSystem }

// service returns the address of an agent or a retriever over HTTP; "" for other targets.
func (s *TargetSpec) service() string {
	if address := strings.TrimPrefix(s.Target, "retrieve:"); redact.IsWebAddress(address) {
		return address
	}
	return ""
}

// command returns the command line of an exec: agent; "" for other targets.
func (s *TargetSpec) command() string {
	line, _ := strings.CutPrefix(s.Target, "exec:")
	if line == s.Target {
		return ""
	}
	return line
}

// reads reports whether the target reads a file.
func (s *TargetSpec) reads() bool {
	scheme, _, _ := strings.Cut(s.Target, ":")
	return scheme == "script" || scheme == "recorded" || scheme == "retrieve" && s.service() == ""
}

// Catalogue returns the file, or the name of a stored catalogue, that a target searches in this
// process; "" for other targets.
func (s *TargetSpec) Catalogue() string {
	rest, own := catalog.TargetFile(s.Target)
	if !own {
		return ""
	}
	name, _, _ := strings.Cut(rest, "?")
	return name
}

// DisplayName is the name of a target in reports: the given name, or the typed target without the
// folders of a file.
func (s *TargetSpec) DisplayName() string {
	scheme, rest, _ := strings.Cut(s.Target, ":")
	switch {
	case s.Name != "":
		return s.Name
	case scheme == "retrieve":
		return "" // the target names itself
	case scheme == "script" || scheme == "recorded":
		return scheme + ":" + filepath.Base(rest)
	}
	return s.Target
}

// TargetNames returns the targets of specs as they were written.
func TargetNames(specs []TargetSpec) []string {
	out := make([]string, len(specs))
	for i := range specs {
		out[i] = specs[i].Target
	}
	return out
}

// TargetSpecs lists all targets of a request, checked.
func (a *App) TargetSpecs(req *RunRequest, events Events) ([]TargetSpec, error) {
	out := slices.Clone(req.Targets)
	if req.TargetFile != "" {
		more, err := a.readTargets(req.TargetFile, req.Shared)
		if err != nil {
			return nil, err
		}
		if err := mayRun(req, more, events); err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if len(out) == 0 {
		return nil, &callvet.FieldError{
			Field: "targets", Text: "no target to evaluate",
			Fix: "{targets} openai/gpt-5-mini, or {targets} offline/lexical, which needs no key",
		}
	}
	if err := SystemPrompts(out, req.SystemFor); err != nil {
		return nil, err
	}
	if err := agentSettings(&req.Shared, out); err != nil {
		return nil, err
	}
	if err := a.Permitted(out); err != nil {
		return nil, err
	}
	return out, a.CheckSecrets(out)
}

// SystemPrompts sets the prompts of single targets, by target or name.
func SystemPrompts(specs []TargetSpec, prompts map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(prompts)) {
		hit := false
		for i := range specs {
			if specs[i].Target == name || specs[i].Name == name {
				specs[i].SystemPrompt, hit = prompts[name], true
			}
		}
		if !hit {
			return Wrong("system_for", name, "no target of that name is evaluated")
		}
	}
	return nil
}

// agentKind is a kind of target with settings of agents.
type agentKind struct {
	what     string
	is       func(*TargetSpec) bool
	settings []string
}

// agentKinds lists the settings of each kind of target.
func agentKinds() []agentKind {
	answers := []string{"text", "calls", "name", "args", "result", "error"}
	web := func(s *TargetSpec) bool { return redact.IsWebAddress(s.Target) }
	return []agentKind{
		{
			"agents over HTTP (http://…, https://…)", web,
			append([]string{"preset", "body", "input", "session", "history", "system", "tools", "stubs"}, answers...),
		},
		{"agents that are commands (exec:…)", func(s *TargetSpec) bool { return s.command() != "" }, answers},
		{
			"services that select tools (retrieve:http://…)",
			func(s *TargetSpec) bool { return s.service() != "" && !web(s) },
			[]string{"k"},
		},
	}
}

// agentSettings returns an error for settings of agents without an effect: with an unknown name, or
// without an agent that uses them.
func agentSettings(shared *TargetSpec, specs []TargetSpec) error {
	kinds := agentKinds()
	var known, heeded []string
	for i := range kinds {
		for _, name := range kinds[i].settings {
			if !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
		if slices.ContainsFunc(specs, func(s TargetSpec) bool { return kinds[i].is(&s) }) {
			heeded = append(heeded, kinds[i].settings...)
		}
	}
	overHTTP := false
	for i := range specs {
		s := &specs[i]
		overHTTP = overHTTP || s.service() != ""
		names := slices.Sorted(maps.Keys(s.Agent))
		if len(s.Body) > 0 {
			names = append(names, "body")
		}
		for _, name := range names {
			if err := heeds(name, known, heeded, kinds); err != nil {
				return err
			}
		}
		if k, set := s.Agent["k"]; set {
			if n, err := strconv.Atoi(k); err != nil || n < 1 {
				return Wrong("agent", "k="+k, "write a whole number of at least 1")
			}
		}
	}
	if len(shared.Headers) > 0 && !overHTTP {
		return Wrong("headers", "", "they are for agents and services over HTTP, and none is evaluated")
	}
	return nil
}

// heeds returns an error for a setting of agents that is unknown, or that no target uses.
func heeds(name string, known, heeded []string, kinds []agentKind) error {
	if !slices.Contains(known, name) {
		hint := "settings: " + strings.Join(known, ", ")
		if near := callvet.Nearest(name, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return &callvet.Hinted{Err: Wrong("agent", "", "agents have no setting %q", name), Hint: hint}
	}
	if slices.Contains(heeded, name) {
		return nil
	}
	var takers []string
	for _, k := range kinds {
		if slices.Contains(k.settings, name) {
			takers = append(takers, k.what)
		}
	}
	hint := "leave it out, or evaluate http://HOST/PATH"
	if len(heeded) > 0 {
		hint = "leave it out; these targets take " + strings.Join(heeded, ", ")
	}
	return &callvet.Hinted{Err: Wrong("agent", name, "it is for %s, and none is evaluated",
		strings.Join(takers, " and ")), Hint: hint}
}

// mayRun reports the commands of a targets file, and refuses them unless allowed: a file from
// another person could run anything. A command that the request names too is allowed.
func mayRun(req *RunRequest, specs []TargetSpec, events Events) error {
	commands := UnnamedCommands(TargetNames(req.Targets), specs)
	if len(commands) > 0 && !req.AllowExec {
		return &callvet.FieldError{
			Field: "target_file", Kind: callvet.ErrDenied,
			Text: fmt.Sprintf("{target_file} %s: denied: it would run: %s", req.TargetFile,
				strings.Join(commands, "; ")),
			Fix: "look at the commands, then {allow_exec}",
		}
	}
	ReportCommands(req.TargetFile, commands, events)
	return nil
}

// ReportCommands reports the commands that from runs, such as a targets file or a stored run.
func ReportCommands(from string, commands []string, events Events) {
	if len(commands) > 0 {
		events.Note("runs-commands", "%s runs: %s", from, strings.Join(commands, "; "))
	}
}

// UnnamedCommands returns the commands of specs, each once, that are not among the named targets.
func UnnamedCommands(named []string, specs []TargetSpec) []string {
	var out []string
	for i := range specs {
		if command := specs[i].command(); command != "" && !slices.Contains(named, specs[i].Target) {
			if command = plain.Line(command); !slices.Contains(out, command) {
				out = append(out, command)
			}
		}
	}
	return out
}

// Permitted returns an error for targets that this client may not open.
func (a *App) Permitted(specs []TargetSpec) error {
	for i := range specs {
		s := &specs[i]
		switch {
		case s.command() != "" && !a.Config.Permit.Commands:
			return denied(s, "run commands")
		case s.reads() && !a.Config.Permit.Files && a.catalogues[s.Catalogue()] == nil:
			return denied(s, "read files")
		}
	}
	return nil
}

func denied(s *TargetSpec, what string) error {
	return &callvet.FieldError{
		Field: "targets", Kind: callvet.ErrDenied,
		Text: fmt.Sprintf("{targets} %s: denied: targets may not %s here", s.Target, what),
	}
}

// CheckSecrets returns an error for targets with a secret in their settings, because they are
// stored with the run.
func (a *App) CheckSecrets(specs []TargetSpec) error {
	for i := range specs {
		s := &specs[i]
		if err := redact.RefuseSpelled(s.service(), s.Headers); err != nil {
			return err
		}
		if err := redact.RefuseSpelled(s.BaseURL, nil); err != nil {
			return err
		}
		if err := a.secrets.Spelled(s.settings()); err != nil {
			return err
		}
	}
	return nil
}

// settings returns all settings that a person wrote for a target.
func (s *TargetSpec) settings() []redact.Setting {
	const variable = "write ${NAME} for it and export NAME"
	hint := variable
	if s.command() != "" {
		hint = "export it as a variable, and name that one in exec_env"
	}
	out := []redact.Setting{
		{Name: "the target", Text: s.Target, Command: s.command() != "", Hint: hint},
		{Name: "the name of the target", Text: s.Name, Hint: "choose another name"},
		{Name: "the base URL", Text: s.BaseURL, Hint: variable},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		out = append(out, redact.Setting{Name: "the header " + name, Text: s.Headers[name], Hint: variable})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Params.Extra)) {
		out = append(out, redact.Setting{
			Name: "the parameter " + name, Key: name, JSON: s.Params.Extra[name],
			Hint: "give keys in the environment: api_key_env names the variable",
		})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Body)) {
		if raw, err := json.Marshal(s.Body[name]); err == nil {
			out = append(out, redact.Setting{Name: "the body field " + name, Key: name, JSON: raw, Hint: variable})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Agent)) {
		out = append(out,
			redact.Setting{Name: "the agent setting " + name, Text: s.Agent[name], Hint: "it is the name of a field"})
	}
	return append(out, redact.Setting{Name: "the system prompt", Prose: s.SystemPrompt, Hint: "take it out"})
}
