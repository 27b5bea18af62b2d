// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/secret"
	"github.com/callvet/callvet/internal/embed"
	"github.com/callvet/callvet/internal/endpoint"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace/redact"
)

// keyVariables are the environment variables that keys are read from.
func keyVariables() []string {
	return slices.Compact(slices.Sorted(slices.Values(append(provider.KeyVariables(), embed.KeyVariables()...))))
}

// keeper knows what is secret in this process.
func (a *app) keeper() *secret.Keeper {
	if a.secrets == nil {
		a.secrets = secret.New(a.environ, keyVariables())
	}
	return a.secrets
}

// kinds checks the kinds that --keep names. The error is a usage error.
func kinds(keep []string) ([]redact.Kind, error) {
	var out []redact.Kind
	for _, k := range keep {
		kind := redact.Kind(k)
		if !slices.Contains(redact.Kinds(), kind) {
			return nil, usagef("--keep %s is no kind; there are %v", k, redact.Kinds())
		}
		if kind.Secret() {
			return nil, usagef("--keep %s: secrets are never kept; %v are personal data", k, secret.Personal())
		}
		out = append(out, kind)
	}
	return out, nil
}

// leaves are the kinds of personal data that a run leaves as they are. What a command made up
// itself, such as descriptions of tools, is read by it again and loses secrets only.
func (m *manifest) leaves() []redact.Kind {
	if m.Made {
		return secret.Personal()
	}
	var out []redact.Kind
	for _, k := range m.Keep {
		out = append(out, redact.Kind(k))
	}
	return out
}

// viewer makes the redactor of what is shown of a run: secrets always go, and personal data but
// for the kinds that the run keeps or keep names.
func (a *app) viewer(m *manifest, keep []string) (*redact.Redactor, error) {
	more, err := kinds(keep)
	if err != nil {
		return nil, err
	}
	return a.keeper().Redactor(append(m.leaves(), more...))
}

// hiding takes what must not be kept out of the attempts of a run, and counts it.
type hiding struct {
	rest  []byte // what the suite says beside its cases
	base  *redact.Redactor
	spare sync.Pool
	mu    sync.Mutex
	count map[redact.Kind]int64
	// said is how many attempts changed in what was said.
	said atomic.Int64
}

// hiding makes the redactor of a run's attempts.
func (a *app) hiding(l *loaded) (*hiding, error) {
	base, err := a.keeper().Redactor(l.man.leaves())
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(l.suite)
	if err != nil {
		return nil, fmt.Errorf("read suite: %w", err)
	}
	return &hiding{rest: rest, base: base, count: map[redact.Kind]int64{}}, nil
}

// cell redacts a scored attempt in place. It is called from many goroutines.
func (h *hiding) cell(of *callvet.Case, cell *callvet.Cell) (said bool) {
	r, ok := h.spare.Get().(*redact.Redactor)
	if !ok {
		r = h.base.Fork()
	}
	said = r.Cell(of, h.rest, cell)
	if said {
		h.said.Add(1)
	}
	if r.Total() > 0 {
		h.mu.Lock()
		for k, n := range r.Counts {
			h.count[k] += n
		}
		h.mu.Unlock()
		clear(r.Counts)
	}
	h.spare.Put(r)
	return said
}

// text is what a fault says without what must not be kept.
func (h *hiding) text(s string) string { return h.base.Fork().Text(s) }

// tellHidden says on standard error what was taken out.
func (a *app) tellHidden(h *hiding, made bool) {
	n := h.said.Load()
	if n == 0 || made {
		return
	}
	var what []string
	for _, k := range redact.Kinds() {
		if h.count[k] > 0 {
			what = append(what, fmt.Sprintf("%d × %s", h.count[k], k))
		}
	}
	fmt.Fprintf(a.err, "note: redacted in what is kept: %s; %s not reused by later runs (--keep KIND keeps personal data)\n", strings.Join(what, ", "), plain.Count(int(n), "attempt is", "attempts are"))
}

// unspelled refuses targets whose settings hold a secret as it is: they are kept with the run.
func (a *app) unspelled(specs []targetSpec) error {
	for i := range specs {
		s := &specs[i]
		if err := endpoint.Spelled(s.service(), s.Headers); err != nil {
			return err
		}
		if err := endpoint.Spelled(s.BaseURL, nil); err != nil {
			return err
		}
		if err := a.keeper().Spelled(s.settings()); err != nil {
			return err
		}
	}
	return nil
}

// settings are all that a person wrote about a target.
func (s *targetSpec) settings() []secret.Setting {
	const variable = "write ${NAME} for it and export NAME"
	hint := variable
	if strings.HasPrefix(s.Target, "exec:") {
		hint = "export it as a variable, and let the command see that one: --exec-env NAME"
	}
	out := []secret.Setting{
		{Name: "the target", Text: s.Target, Command: strings.HasPrefix(s.Target, "exec:"), Hint: hint}, {Name: "the name of the target", Text: s.Name, Hint: "choose another name"}, {Name: "the base URL", Text: s.BaseURL, Hint: variable},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		out = append(out, secret.Setting{Name: "the header " + name, Text: s.Headers[name], Hint: variable})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Params.Extra)) {
		out = append(out, secret.Setting{Name: "the parameter " + name, Key: name, JSON: s.Params.Extra[name], Hint: "give keys in the environment: --api-key-env NAME"})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Body)) {
		if raw, err := json.Marshal(s.Body[name]); err == nil {
			out = append(out, secret.Setting{Name: "the body field " + name, Key: name, JSON: raw, Hint: variable})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Agent)) {
		out = append(out, secret.Setting{Name: "the agent setting " + name, Text: s.Agent[name], Hint: "it is the name of a field"})
	}
	return append(out, secret.Setting{Name: "the system prompt", Prose: s.SystemPrompt, Hint: "take it out"})
}

// flagSettings are the rest of what a person wrote on the command line of a run: it is kept too,
// to be able to suggest the same again.
func flagSettings(path string, f *runFlags) []secret.Setting {
	const hint = "leave it out"
	out := []secret.Setting{{Name: "the suite's path", Prose: path, Hint: hint}, {Name: "--name", Prose: f.name, Hint: hint}}
	for _, g := range f.flags {
		for _, v := range g.Values {
			out = append(out, secret.Setting{Name: "--" + g.Name, Prose: v, Hint: hint})
		}
	}
	return out
}

// learn tells the keeper the values that stand for variables in a target's settings: those in
// headers, behind a parameter that carries a credential, and of variables named like one.
func (o *opener) learn(s *targetSpec) {
	note := func(text, name string) {
		for _, v := range endpoint.Variables(text) {
			if endpoint.SecretName(name) || secret.Named(v) {
				o.app.keeper().Learn(o.app.getenv(v))
			}
		}
	}
	for name, text := range s.Headers {
		note(text, name)
		for _, v := range endpoint.Variables(text) {
			o.app.keeper().LearnSent(o.app.getenv(v))
		}
	}
	for _, address := range []string{s.Target, s.BaseURL} {
		note(address, "")
		_, query, _ := strings.Cut(address, "?")
		for pair := range strings.SplitSeq(query, "&") {
			name, text, _ := strings.Cut(pair, "=")
			note(text, name)
		}
	}
	for name, v := range s.Body {
		if raw, err := json.Marshal(v); err == nil {
			note(string(raw), name)
		}
	}
	if s.APIKeyEnv != "" {
		o.app.keeper().Learn(o.app.getenv(s.APIKeyEnv))
	}
}

// value is that of a variable in an address.
func (o *opener) value(name string) (string, error) {
	if v := o.app.getenv(name); v != "" {
		return v, nil
	}
	return "", endpoint.Empty(name)
}

// warn tells what is wrong with a target, each thing once.
func (o *opener) warn(what string) {
	if !o.warned[what] {
		o.warned[what] = true
		fmt.Fprintf(o.app.err, "warning: %s\n", what)
	}
}

// tellWithheld says which variables agents that are commands do not get to see.
func (a *app) tellWithheld(specs []targetSpec) {
	var names []string
	for i := range specs {
		if strings.HasPrefix(specs[i].Target, "exec:") {
			_, withheld := secret.Environment(a.environ, keyVariables(), specs[i].ExecEnv)
			names = append(names, withheld...)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return
	}
	const most = 6
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	fmt.Fprintf(a.err, "note: exec: agents do not see %s%s; --exec-env NAME passes a variable on\n", strings.Join(names, ", "), more)
}
