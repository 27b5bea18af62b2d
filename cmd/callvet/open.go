// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/secret"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/internal/endpoint"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/provider/agent"
	"github.com/callvet/callvet/internal/provider/answer"
	"github.com/callvet/callvet/internal/provider/offline"
	"github.com/callvet/callvet/internal/provider/recorded"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/internal/trace/redact"
)

// opener builds the models that targets speak through.
type opener struct {
	app     *app
	client  *http.Client
	prices  *provider.Prices
	timeout time.Duration
	records []*recorded.Source
	session string
	closers []func() error
	// retrievers are catalogs by their target's position, once all are open.
	retrievers map[int]*retriever.Retriever
	stored     bool // they were opened again
	warned     map[string]bool
	models     []*selector.Models
	// learned is what models refused while they were asked.
	mu      sync.Mutex
	learned []string
}

// used is what retrievers asked of models.
func (o *opener) used() []report.ModelUse {
	var out []report.ModelUse
	for _, m := range o.models {
		out = append(out, m.Used()...)
	}
	return out
}

// close lets go of what opened targets hold.
func (o *opener) close() {
	for _, c := range o.closers {
		_ = c()
	}
}

func (a *app) newOpener(timeout time.Duration, prices, session string) (*opener, error) {
	o := &opener{app: a, client: provider.NewHTTPClient(), prices: provider.ShippedPrices(), timeout: timeout, session: session, retrievers: map[int]*retriever.Retriever{}, warned: map[string]bool{}}
	if prices != "" {
		b, err := input.File(a.path(prices), maxSettings)
		if err != nil {
			return nil, fmt.Errorf("read prices: %w", err)
		}
		own, err := provider.ReadPrices(prices, b)
		if err != nil {
			return nil, err
		}
		o.prices = o.prices.Over(own)
	}
	return o, nil
}

// learns keeps what a model refused while it was asked. It is called from many goroutines.
func (o *opener) learns(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.learned = append(o.learned, what)
}

// tellLearned tells what models refused, so that it was not sent as it was given.
func (o *opener) tellLearned(red *redact.Redactor) {
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.Sort(o.learned)
	for _, what := range o.learned {
		fmt.Fprintf(o.app.err, "note: %s\n", plain.Line(red.Text(what)))
	}
}

// tellUnpriced tells which models a cost limit cannot hold for, before they are asked.
func (o *opener) tellUnpriced(ts []run.Target, maxCost float64) {
	if !(maxCost > 0) {
		return
	}
	for i := range ts {
		t := &ts[i].Target
		service, _, _ := strings.Cut(t.Provider, "@")
		if t.Free || t.Recorded || t.Agent || !slices.Contains(provider.Names(), service) || o.prices.Find(service, t.Model) != nil {
			continue
		}
		fmt.Fprintf(o.app.err, "note: %s: the price is not known, so --max-cost ends the run after the first answer; give it with --prices (callvet prices LIST makes such a table)\n", t.Name)
	}
}

// open builds the target of a spec; a recording may hold several.
func (o *opener) open(ctx context.Context, s *targetSpec) ([]run.Target, error) {
	ts, err := o.dispatch(ctx, s)
	if err != nil {
		return nil, err
	}
	for i := range ts {
		if name := displayName(s); len(ts) == 1 && name != "" {
			ts[i].Name = name
		}
		if s.SystemPrompt != "" {
			ts[i].SystemPrompt, ts[i].ReplaceSystem = s.SystemPrompt, s.ReplaceSystem == nil || *s.ReplaceSystem
		}
		if s.ToolChoice != "" {
			ts[i].ToolChoice = s.ToolChoice
		}
	}
	return ts, nil
}

// displayName is how reports call a target: the name given, or what was typed
// without the folders of a file.
func displayName(s *targetSpec) string {
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

func (o *opener) dispatch(ctx context.Context, s *targetSpec) ([]run.Target, error) {
	o.learn(s)
	scheme, rest, _ := strings.Cut(s.Target, ":")
	switch {
	case s.Target == "offline/lexical":
		m, t := offline.OpenLexical()
		return one(m, t, nil)
	case scheme == "script":
		return one(offline.OpenScript(o.app.path(rest), nil))
	case scheme == "recorded":
		return o.recordings(o.app.path(rest))
	case scheme == "retrieve":
		return o.retriever(ctx, s, rest)
	case scheme == "http" || scheme == "https":
		return o.httpAgent(s)
	case scheme == "exec":
		args, err := agent.SplitCommand(rest)
		if err != nil {
			return nil, fmt.Errorf("open target %q: %w", s.Target, err)
		}
		env, _ := secret.Environment(o.app.environ, keyVariables(), s.ExecEnv)
		return one(agent.OpenExec(agent.ExecConfig{Args: args, Dir: o.app.dir, Env: env, Output: fields(s.Agent), Timeout: o.timeout, Now: o.app.now}))
	}
	base, err := endpoint.FillAddress(s.BaseURL, o.value)
	if err != nil {
		return nil, fmt.Errorf("open target %q: base URL: %w", s.Target, err)
	}
	cfg := provider.Config{
		Getenv: o.app.getenv, Warn: o.warn, Note: o.learns, BaseURL: base, Params: s.Params, DefaultTemperature: s.DefaultTemperature, HTTPClient: o.client, Timeout: o.timeout, Stream: s.Stream, Prices: o.prices, Now: o.app.now,
	}
	if s.APIKeyEnv != "" {
		cfg.KeyName = s.APIKeyEnv
		if cfg.APIKey = o.app.getenv(s.APIKeyEnv); cfg.APIKey == "" {
			return nil, fmt.Errorf("open target %q: %w", s.Target, endpoint.Empty(s.APIKeyEnv))
		}
	}
	return one(provider.Open(s.Target, cfg))
}

// retriever opens a catalogue, or a service that selects tools.
func (o *opener) retriever(ctx context.Context, s *targetSpec, rest string) ([]run.Target, error) {
	if !endpoint.Web(rest) {
		file, set, err := selector.Parse(rest)
		if err != nil {
			return nil, err
		}
		m := o.app.models()
		o.closers, o.models = append(o.closers, m.Close), append(o.models, m)
		r, t, err := selector.Open(ctx, file, set, o.app.read, m, o.app.now)
		return one(r, t, err)
	}
	cfg := retriever.RemoteConfig{URL: rest, Headers: s.Headers, Lookup: o.app.getenv, Warn: o.warn, K: 5, Timeout: o.timeout, Now: o.app.now}
	if k, err := strconv.Atoi(s.Agent["k"]); err == nil && k > 0 {
		cfg.K = k
	}
	return one(retriever.OpenRemote(cfg))
}

func one(m callvet.Model, t callvet.Target, err error) ([]run.Target, error) {
	if err != nil {
		return nil, err
	}
	return []run.Target{{Target: t, Model: m}}, nil
}

// recordings opens what was recorded.
func (o *opener) recordings(path string) ([]run.Target, error) {
	sources, err := recorded.Open(path, o.app.recordedTraces)
	if err != nil {
		return nil, err
	}
	var out []run.Target
	for _, s := range sources {
		o.closers = append(o.closers, s.Close)
		for _, p := range s.Problems {
			fmt.Fprintf(o.app.err, "warning: %s\n", o.app.relative(p))
		}
		if s.Malformed > len(s.Problems) {
			fmt.Fprintf(o.app.err, "warning: %s: %d rows in all could not be read\n", s.Target.Name, s.Malformed)
		}
		o.records = append(o.records, s)
		out = append(out, run.Target{Target: s.Target, Model: s.Model})
	}
	return out, nil
}

// recordedTraces reads the attempts of a trace file of callvet's own lines.
func (a *app) recordedTraces(path string) (iter.Seq2[*callvet.Trace, error], bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	imp, own, err := importer(f)
	if err != nil || !own || imp.Report().Format != foreign.Contract {
		return nil, false, f.Close() // what cannot be opened as traces may be rows
	}
	if imp, err = foreign.Open(f, foreign.Options{Format: foreign.Contract}); err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return func(yield func(*callvet.Trace, error) bool) {
		defer func() { _ = f.Close() }() // opened for reading only
		for at, err := range imp.Attempts() {
			if !yield(&at.Trace, err) {
				return
			}
		}
		log := imp.Report().Log
		a.tellLines(log.Problems(path), &log)
	}, true, nil
}

// coverage tells on standard error which recorded rows and cases do not meet: a
// case without a row is not run, never a zero.
func (o *opener) coverage(cases iter.Seq[*callvet.Case]) {
	for _, s := range o.records {
		if c := s.Coverage(cases); len(c.Unknown) > 0 || len(c.Missing) > 0 {
			fmt.Fprintf(o.app.err, "note: %s: %d cases without a row (not run), %d rows of other cases\n", s.Target.Name, len(c.Missing), len(c.Unknown))
		}
	}
}

func (o *opener) httpAgent(s *targetSpec) ([]run.Target, error) {
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
		URL: s.Target, Preset: g["preset"], Headers: s.Headers, InputField: g["input"], SessionField: g["session"], HistoryField: g["history"], SystemField: g["system"],
		ToolsField: g["tools"], StubsField: g["stubs"], SessionPrefix: o.session, Body: body, Output: fields(g), Timeout: o.timeout, Now: o.app.now,
		Warn: o.warn, Lookup: func(name string) (string, bool) { v := o.app.getenv(name); return v, v != "" },
	}))
}

func fields(g map[string]string) answer.Fields {
	return answer.Fields{Text: g["text"], Calls: g["calls"], Name: g["name"], Args: g["args"], Result: g["result"], Problem: g["error"]}
}

// openAll opens every spec and makes the names of targets unique, because
// reports and comparisons go by name.
func (o *opener) openAll(ctx context.Context, specs []targetSpec) ([]run.Target, error) {
	var all []run.Target
	for i := range specs {
		ts, err := o.open(ctx, &specs[i])
		if err != nil {
			return nil, err
		}
		all = append(all, ts...)
	}
	seen := map[string]int{}
	for i := range all {
		n := filepath.ToSlash(all[i].Name)
		if seen[n]++; seen[n] > 1 {
			n = fmt.Sprintf("%s#%d", n, seen[n])
		}
		all[i].Name = n
		if r, ok := all[i].Model.(*retriever.Retriever); ok {
			o.retrievers[i] = r
		}
	}
	return all, nil
}
