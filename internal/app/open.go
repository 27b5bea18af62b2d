// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/provider/agent"
	"github.com/callvet/callvet/internal/provider/offline"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/internal/trace/foreign"
)

// Opener builds the models of targets.
type Opener struct {
	app     *App
	events  Events
	prices  *provider.Prices
	timeout time.Duration
	records []*offline.Source
	session string
	closers []func() error
	// retrievers are catalogs by their target's position, once all are open.
	Retrievers map[int]*catalog.Retriever
	Stored     bool // the targets of a stored run are opened again
	warned     map[string]bool
	Models     []*provider.EmbedModels
	// Lacks, if set, is called with the missing variables of a target, which is then opened without
	// them and gets no request.
	Lacks func(s *TargetSpec, variable string)
	// learned has the parameters that models refused.
	Mu      sync.Mutex
	Learned []string
}

// Used is the retrievers' usage of models.
func (o *Opener) Used() []callvet.ModelUse {
	var out []callvet.ModelUse
	for _, m := range o.Models {
		out = append(out, m.Used()...)
	}
	return out
}

// Close releases the resources of opened targets.
func (o *Opener) Close() {
	for _, c := range o.closers {
		_ = c()
	}
}

// NewOpener prepares to open the targets of a run, which session names. prices is a file that takes
// precedence over the shipped prices, "" for none.
func (a *App) NewOpener(timeout time.Duration, prices, session string, events Events) (*Opener, error) {
	o := &Opener{
		app: a, events: events, prices: provider.ShippedPrices(), timeout: timeout, session: session,
		Retrievers: map[int]*catalog.Retriever{}, warned: map[string]bool{},
	}
	if prices != "" {
		own, _, err := a.Prices(prices)
		if err != nil {
			return nil, err
		}
		o.prices = o.prices.Over(own)
	}
	return o, nil
}

// learns records a parameter that a model refused. It is called from many goroutines.
func (o *Opener) learns(what string) {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	o.Learned = append(o.Learned, what)
}

// ReportLearned reports parameters that models refused and that were therefore changed or omitted.
func (o *Opener) ReportLearned(red *redact.Redactor) {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	slices.Sort(o.Learned)
	for _, what := range o.Learned {
		o.events.Note("learned", "%s", red.Text(what))
	}
}

// ReportUnpriced reports the models that a cost limit cannot cover, before they are asked.
func (o *Opener) ReportUnpriced(ts []run.Target, maxCost float64) {
	if !(maxCost > 0) {
		return
	}
	for i := range ts {
		t := &ts[i].Target
		if !o.Unpriced(t) {
			continue
		}
		o.events.Note("unpriced", "%s: the price is not known, so the cost limit ends the run after the first answer",
			t.Name)
	}
}

// Unpriced reports whether the cost of a target is unknown, before and after an answer.
func (o *Opener) Unpriced(t *callvet.Target) bool {
	service, _, _ := strings.Cut(t.Provider, "@")
	return !t.Free && !t.Recorded && !t.Agent && slices.Contains(provider.Names(), service) &&
		o.prices.Find(service, t.Model) == nil
}

// open builds the target of a spec; a recording may contain several.
func (o *Opener) open(ctx context.Context, s *TargetSpec) ([]run.Target, error) {
	ts, err := o.dispatch(ctx, s)
	if err != nil {
		return nil, err
	}
	for i := range ts {
		if name := s.DisplayName(); len(ts) == 1 && name != "" {
			ts[i].Name = name
		}
		if s.SystemPrompt != "" {
			ts[i].SystemPrompt, ts[i].ReplaceSystem = s.SystemPrompt, s.Replaces()
		}
		if s.ToolChoice != "" {
			ts[i].ToolChoice = s.ToolChoice
		}
	}
	return ts, nil
}

func (o *Opener) dispatch(ctx context.Context, s *TargetSpec) ([]run.Target, error) {
	o.learn(s)
	scheme, rest, _ := strings.Cut(s.Target, ":")
	switch {
	case s.Target == "offline/lexical":
		m, t := offline.OpenLexical()
		return one(m, t, nil)
	case strings.HasPrefix(s.Target, "offline/"):
		return nil, Wrong("targets", s.Target, "the only target without a model is offline/lexical")
	case scheme == "script":
		return o.script(s, rest)
	case scheme == "recorded":
		return o.recordings(rest)
	case scheme == "retrieve":
		return o.retriever(ctx, s, rest)
	case scheme == "http" || scheme == "https":
		return o.httpAgent(s)
	case scheme == "exec":
		return o.execAgent(s, rest)
	}
	base, err := redact.FillAddress(s.BaseURL, func(name string) (string, error) {
		if v := o.value(s, name); v != "" {
			return v, nil
		}
		return "", redact.EmptyVariable(name)
	})
	if err != nil {
		return nil, fmt.Errorf("open target %q: base URL: %w", s.Target, err)
	}
	cfg := provider.Config{
		Getenv: o.app.Config.Getenv, Warn: o.warn, Note: o.learns, BaseURL: base, Params: s.Params,
		DefaultTemperature: s.DefaultTemperature, HTTPClient: o.app.models, Timeout: o.timeout, Stream: s.Stream,
		Prices: o.prices, Now: o.app.Config.Now,
	}
	if o.Lacks != nil {
		cfg.Unkeyed = func(variable string) { o.Lacks(s, variable) }
	}
	if s.APIKeyEnv != "" {
		cfg.KeyName = s.APIKeyEnv
		if cfg.APIKey = o.value(s, s.APIKeyEnv); cfg.APIKey == "" {
			return nil, fmt.Errorf("open target %q: %w", s.Target, redact.EmptyVariable(s.APIKeyEnv))
		}
	}
	return one(provider.Open(s.Target, cfg))
}

// retriever opens a catalogue, or a service that selects tools.
func (o *Opener) retriever(ctx context.Context, s *TargetSpec, rest string) ([]run.Target, error) {
	if !redact.IsWebAddress(rest) {
		file, set, err := catalog.Parse(rest)
		if err != nil {
			return nil, err
		}
		m := o.app.vectorModels(o.events)
		o.closers, o.Models = append(o.closers, m.Close), append(o.Models, m)
		e := catalog.Env{
			Files: o.app.CatalogueFiles(), Models: m, Now: o.app.Config.Now, Notify: o.events.notify,
			Indexes: o.app.Config.Indexes,
		}
		if o.Lacks != nil {
			m.Config.Unkeyed = func(variable string) { o.Lacks(s, variable) }
			e.Models, e.Indexes = still{m}, nil
		}
		r, t, err := e.Open(ctx, file, set)
		return one(r, t, err)
	}
	cfg := catalog.RemoteConfig{
		URL: rest, Headers: s.Headers,
		Lookup: func(name string) string { return o.value(s, name) }, Warn: o.warn, K: 5, Timeout: o.timeout,
		Now: o.app.Config.Now, Client: o.app.Config.HTTP,
	}
	if k, err := strconv.Atoi(s.Agent["k"]); err == nil && k > 0 {
		cfg.K = k
	}
	return one(catalog.OpenRemote(cfg))
}

func one(m callvet.Model, t callvet.Target, err error) ([]run.Target, error) {
	if err != nil {
		return nil, err
	}
	return []run.Target{{Target: t, Model: m}}, nil
}

// script opens a file with answers. They may depend on parameters.
func (o *Opener) script(s *TargetSpec, name string) ([]run.Target, error) {
	path, _, err := o.app.Config.Files.Path(name)
	if err != nil {
		return nil, err
	}
	m, t, err := offline.OpenScript(path, nil)
	t.Params = s.Params
	return one(m, t, err)
}

// recordings opens a file of recorded answers.
func (o *Opener) recordings(name string) ([]run.Target, error) {
	path, _, err := o.app.Config.Files.Path(name)
	if err != nil {
		return nil, err
	}
	sources, err := offline.Open(path, o.recordedTraces)
	if err != nil {
		return nil, err
	}
	var out []run.Target
	for _, s := range sources {
		o.closers = append(o.closers, s.Close)
		for _, p := range s.Problems {
			o.events.Warn(p.Code, p.Error())
		}
		if s.Malformed > len(s.Problems) {
			o.events.Warn("unread-rows",
				fmt.Sprintf("%s: %d rows in all could not be read", s.Target.Name, s.Malformed))
		}
		o.records = append(o.records, s)
		out = append(out, run.Target{Target: s.Target, Model: s.Model})
	}
	return out, nil
}

// recordedTraces reads the attempts of a trace file of callvet's own lines.
func (o *Opener) recordedTraces(name string, f io.ReadSeeker) (iter.Seq2[*callvet.Trace, error], bool, error) {
	found, err := foreign.Open(f, foreign.Options{})
	if err != nil || found.Report().Format != foreign.Contract {
		return nil, false, nil // a file that cannot be opened as traces may contain rows
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, false, err
	}
	imp, err := foreign.Open(f, foreign.Options{Format: foreign.Contract})
	if err != nil {
		return nil, false, err
	}
	return func(yield func(*callvet.Trace, error) bool) {
		for at, err := range imp.Attempts() {
			if !yield(&at.Trace, err) {
				return
			}
		}
		log := imp.Report().Log
		o.events.Emit(Event{Lines: &LinesEvent{Problems: log.Problems(name), Log: log}})
	}, true, nil
}

// Coverage reports recorded rows without cases, cases without rows, and rows that no attempt reads: a
// case without a row is not run, never a zero. attempts is the number of attempts at a case.
func (o *Opener) Coverage(cases iter.Seq[*callvet.Case], attempts func(*callvet.Case) int) {
	for _, s := range o.records {
		if c := s.Coverage(cases); len(c.Unknown) > 0 || len(c.Missing) > 0 {
			o.events.Note("coverage", "%s: %d cases without a row (not run), %d rows of other cases", s.Target.Name,
				len(c.Missing), len(c.Unknown))
		}
		if unused, most := s.Unused(cases, attempts); unused > 0 {
			o.events.Note("coverage", "%s: %s of the cases not read: a case has up to %d rows, one for each attempt (--repeat)",
				s.Target.Name, plain.Count(unused, "more row", "more rows"), most)
		}
	}
}

// execAgent opens a command. It runs in the client's folder, and sees variables that are not
// secret.
func (o *Opener) execAgent(s *TargetSpec, line string) ([]run.Target, error) {
	args, err := sys.SplitCommand(line)
	if err != nil {
		return nil, fmt.Errorf("open target %q: %w", s.Target, err)
	}
	dir, _, err := o.app.Config.Files.Path("")
	if err != nil {
		return nil, err
	}
	env, _ := redact.ChildEnvironment(o.app.Config.Environ, KeyVariables(), s.ExecEnv)
	return one(agent.OpenExec(agent.ExecConfig{
		Args: args, Dir: dir, Env: env, Output: fields(s.Agent),
		Timeout: o.timeout, Now: o.app.Config.Now,
	}))
}

func (o *Opener) httpAgent(s *TargetSpec) ([]run.Target, error) {
	body := map[string]json.RawMessage{}
	for k, v := range s.Body {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("open target %q: body %s: %w", s.Target, k, err)
		}
		body[k] = b
	}
	g := s.Agent
	return one(agent.OpenHTTP(agent.HTTPConfig{
		URL: s.Target, Preset: g["preset"], Headers: s.Headers, InputField: g["input"], SessionField: g["session"],
		HistoryField: g["history"], SystemField: g["system"],
		ToolsField: g["tools"], StubsField: g["stubs"], SessionPrefix: o.session, Body: body, Output: fields(g),
		Timeout: o.timeout, Now: o.app.Config.Now,
		Warn: o.warn, Client: o.app.Config.HTTP,
		Lookup: func(name string) (string, bool) { v := o.value(s, name); return v, v != "" },
	}))
}

func fields(g map[string]string) message.Fields {
	return message.Fields{
		Text: g["text"], Calls: g["calls"], Name: g["name"], Args: g["args"], Result: g["result"],
		Problem: g["error"],
	}
}

// OpenAll opens every spec and makes the names of the targets unique.
func (o *Opener) OpenAll(ctx context.Context, specs []TargetSpec) ([]run.Target, error) {
	var all []run.Target
	for i := range specs {
		ts, err := o.open(ctx, &specs[i])
		if err != nil {
			return nil, err
		}
		all = append(all, ts...)
	}
	for i := range all {
		all[i].Name = filepath.ToSlash(all[i].Name)
		if r, ok := all[i].Model.(*catalog.Retriever); ok {
			o.Retrievers[i] = r
		}
	}
	red, err := redact.New(redact.Config{})
	if err != nil {
		return nil, fmt.Errorf("name targets: %w", err)
	}
	run.MakeUnique(all, func(prompt string) string { return plain.Line(red.Text(prompt)) })
	return all, nil
}

// learn adds the values of variables in a target's settings to the known secrets: those in headers,
// those in credential parameters, and those of variables with a secret's name.
func (o *Opener) learn(s *TargetSpec) {
	getenv, secrets := o.app.Config.Getenv, o.app.Secrets()
	note := func(text, name string) {
		for _, v := range redact.Variables(text) {
			if redact.CredentialName(name) || redact.SecretName(v) {
				secrets.Learn(getenv(v))
			}
		}
	}
	for name, text := range s.Headers {
		note(text, name)
		for _, v := range redact.Variables(text) {
			secrets.LearnSent(getenv(v))
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
		secrets.Learn(getenv(s.APIKeyEnv))
	}
}

// value returns the value of a variable that a target names. If no requests will be sent, an empty
// variable is reported and replaced by a placeholder.
func (o *Opener) value(s *TargetSpec, name string) string {
	v := o.app.Config.Getenv(name)
	if v == "" && o.Lacks != nil {
		o.Lacks(s, name)
		v = "unset"
	}
	return v
}

// warn reports a problem of a target, each only once.
func (o *Opener) warn(what string) {
	if !o.warned[what] {
		o.warned[what] = true
		o.events.Warn("target", what)
	}
}

// ReportWithheld reports the variables that are withheld from agents that are commands.
func (a *App) ReportWithheld(specs []TargetSpec, events Events) {
	names := map[string]bool{}
	for i := range specs {
		if specs[i].command() != "" {
			_, withheld := redact.ChildEnvironment(a.Config.Environ, KeyVariables(), specs[i].ExecEnv)
			for _, name := range withheld {
				names[name] = true
			}
		}
	}
	if len(names) == 0 {
		return
	}
	const most = 6
	list, more := slices.Sorted(maps.Keys(names)), ""
	if len(list) > most {
		more = fmt.Sprintf(" and %d more", len(list)-most)
		list = list[:most]
	}
	events.Note("withheld", "exec: agents do not see %s%s", strings.Join(list, ", "), more)
}
