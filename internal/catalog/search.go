// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalogfile"
	"github.com/callvet/callvet/internal/report/figure"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/route"
	"github.com/callvet/callvet/value/typed"
)

// Search says what is searched and how.
type Search struct {
	// Tools is the file of the catalog, Via the address of a service that is asked instead.
	Tools string `json:"tools,omitempty"`
	Via   string `json:"via,omitempty"`
	Settings
	// WeightsFile is a file with weights of retrieval and of the layers of a decision.
	WeightsFile string `json:"weights,omitempty"`
	// AbstainOn is a suite whose questions say under which confidence nothing is given.
	AbstainOn string `json:"abstain_on,omitempty"`
	tuned     *Tuned // as the weights say
}

// NoCatalogue is the error of a request that names none.
func NoCatalogue() error {
	return invalid("tools", "{tools} CATALOGUE", "which tools are searched? invalid: no catalogue")
}

// Ready reads what a search names: its weights, what a suite says of retrieval that the
// search leaves open, and the questions that say under which confidence nothing is given.
// suite is what will be asked, empty for none. It gives the weights of the layers of a
// decision, nil for the usual ones. Errors are those of files, and wrap callvet.ErrInvalid
// for what cannot be.
func (e *Env) Ready(ctx context.Context, f *Search, suite string) (*callvet.SelectionScoring, error) {
	composite, err := e.weights(f)
	if err != nil {
		return nil, err
	}
	if f.Via != "" {
		if err := f.service(); err != nil {
			return nil, err
		}
	}
	if suite != "" {
		quiet := *e
		if f.Via != "" { // how a service finds tools is its own matter
			quiet.Notify = nil
		}
		if err := quiet.fromSuite(&f.Settings, suite); err != nil {
			return nil, err
		}
	}
	if f.Via != "" {
		return composite, nil
	}
	return composite, e.calibrate(ctx, f, suite)
}

// weights reads those of the search's file, and gives the ones of the composite.
func (e *Env) weights(f *Search) (*callvet.SelectionScoring, error) {
	if f.WeightsFile == "" {
		return nil, nil
	}
	b, err := e.read(f.WeightsFile)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	w, err := ReadWeights(f.WeightsFile, b)
	if err != nil {
		return nil, err
	}
	f.Weights, f.tuned = w.Retrieval, w.Tuned
	if preset := cmp.Or(f.Preset, "default"); f.tuned != nil && f.tuned.Preset != preset {
		return nil, invalid("weights", "{preset} "+f.tuned.Preset, "read weights %s: invalid: they were tuned for the preset %s, not %s", f.WeightsFile, f.tuned.Preset, preset)
	}
	only := Settings{Preset: f.Preset, Fusion: f.Fusion, Weights: w.Retrieval}
	if _, err := only.Options(&retrieve.Catalogue{}); err != nil {
		return nil, fmt.Errorf("read weights %s: %w", f.WeightsFile, err)
	}
	return w.Composite, nil
}

var variable = regexp.MustCompile(`\$(\{[^}]*\}|\w+)`)

// service says what is wrong with a search that asks a service, which is told k and nothing
// else.
func (f *Search) service() error {
	filled := variable.ReplaceAllString(f.Via, "x") // ${VAR} may stand anywhere
	if u, err := url.Parse(filled); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return invalid("via", "{via} http://HOST/PATH; a file is searched with {tools}", "ask a service: invalid: {via} %s is no address", f.Via)
	}
	for _, o := range []struct {
		name string
		set  bool
	}{
		{"preset", f.Preset != ""},
		{"threshold", f.Threshold != 0},
		{"abstain", f.Refuses() != ""},
		{"abstain_on", f.AbstainOn != ""},
		{"abstain_routes", f.AbstainRoutes != nil},
		{"embed", f.Embed != ""},
		{"rerank", f.Rerank != ""},
		{"fusion", f.Fusion != ""},
		{"primary", f.Primary != ""},
		{"fallback", f.Fallback != ""},
		{"agent_gate", f.AgentGate != 0},
		{"agents", f.Agents != 0},
		{"routes", f.Routes != ""},
	} {
		if o.set {
			return invalid(o.name, "leave {"+o.name+"} away, or search the catalogue without {via}", "ask a service: invalid: it is not told {%s}", o.name)
		}
	}
	if len(f.Weights) > 0 {
		return invalid("weights", "", "ask a service: invalid: it is not told the weights of retrieval in %s, only those of the composite count", f.WeightsFile)
	}
	return nil
}

// suiteConfig is what a suite of the Tool Selection Evaluation System says of retrieval.
type suiteConfig struct {
	Config struct {
		Retrieval *struct {
			Limit      *int       `json:"limit"`
			Reranker   bool       `json:"use_reranker"`
			Embeddings *bool      `json:"use_embeddings"`
			Primary    [][]string `json:"primary_namespaces"`
			Fallback   [][]string `json:"fallback_namespaces"`
		} `json:"tool_retrieval"`
	}
}

// fromSuite takes from a suite's config.tool_retrieval what the request leaves open: how
// many tools are given, whether vectors count, and, under bigtool, the namespaces. A
// reranker that it asks for and the request does not name is told. Files of other forms
// say nothing. The error wraps callvet.ErrInvalid.
func (e *Env) fromSuite(s *Settings, file string) error {
	if file == "-" { // standard input is read once
		return nil
	}
	data, err := e.read(file)
	if err != nil {
		return nil // whoever reads the suite tells
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if !bytes.HasPrefix(data, []byte("{")) || !bytes.Contains(data, []byte(`"tool_retrieval"`)) {
		return nil
	}
	var c suiteConfig
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("read config of suite %s: %w: %w", file, callvet.ErrInvalid, typed.Explain(err))
	}
	from := c.Config.Retrieval
	if from == nil {
		return nil
	}
	if from.Limit != nil && s.K == 0 {
		if s.K = *from.Limit; s.K < 1 || s.K > MaxDepth {
			return fmt.Errorf("read config of suite %s: %w: tool_retrieval.limit is %d, and a number from 1 to %d belongs there", file, callvet.ErrInvalid, *from.Limit, MaxDepth)
		}
	}
	if _, own := s.Weights["vector"]; from.Embeddings != nil && !*from.Embeddings && !own && s.Embed == "" {
		if s.Weights == nil {
			s.Weights = map[string]float64{}
		}
		s.Weights["vector"] = 0
	}
	if s.Preset == "bigtool" && s.Primary+s.Fallback == "" {
		s.Primary, s.Fallback = pathsOf(from.Primary), pathsOf(from.Fallback)
	}
	if from.Reranker && s.Rerank == "" {
		e.Notice("no-reranker", "%s asks for a reranker, and there is none", file)
	}
	return nil
}

// pathsOf writes namespaces as flags have them.
func pathsOf(list [][]string) string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = strings.Join(p, "/")
	}
	return strings.Join(out, ",")
}

// seen is how many cases ask what routes were learned from; nil saw nothing.
func seen(l *route.Learned, cases []callvet.Case) (n int) {
	for i := range cases {
		if l != nil && l.Saw(cases[i].Question()) {
			n++
		}
	}
	return n
}

// Caution tells of routes and agents that cases expect and nothing gives, when
// weights were tuned or routes learned on the very suite that they are used on, and when
// weights were tuned for other settings. It reads the suite for that.
func (e *Env) Caution(ctx context.Context, f *Search, suite string) error {
	by, _, err := routes(f.Routes, e.Files)
	if err != nil {
		return err
	}
	if f.Tools == "" || f.Via != "" || suite == "-" { // standard input is read once
		return nil
	}
	c, _, err := catalogfile.Load(f.Tools, e.Files)
	if err != nil {
		return err
	}
	s, err := e.Suite(ctx, suite, Tools(c))
	if err != nil {
		return err
	}
	for _, p := range Expected(suite, s.Cases, c, by) {
		e.Notice(p.Code, "%s", p.Error())
	}
	learned, _ := by.(*route.Learned)
	if n := seen(learned, s.Cases); n > 0 {
		e.Notice("learned-here", "%s learned the questions of %s of this suite: their routes flatter it", f.Routes, plain.Count(n, "case", "cases"))
	}
	u := f.tuned
	if u == nil {
		return nil
	}
	if u.Embed != f.Embed {
		e.Notice("other-vectors", "%s was tuned with %s, and is used with %s", f.WeightsFile, vectorsOf(u.Embed), vectorsOf(f.Embed))
	}
	if SuiteHash(s.Cases) != u.Suite {
		return nil // whether it shares cases with the other one is not known
	}
	change := fmt.Sprintf("%s %s under the preset, %s as tuned, change %s", u.Goal, plain.Percent(u.Before), plain.Percent(u.After), figure.Change(u.Change))
	if u.Folds > 0 {
		e.Notice("tuned-here", "%s was tuned on this suite, on all of its %d cases: the figures below flatter it; held out in %d folds: %s", f.WeightsFile, u.Train.Cases, u.Folds, change)
		return nil
	}
	e.Notice("tuned-here", "%s was tuned on this suite: the figures below flatter it by its train part of %s; on the %d held out: %s", f.WeightsFile, plain.Count(u.Train.Cases, "case", "cases"), u.Held.Cases, change)
	return nil
}

func vectorsOf(spec string) string {
	if spec == "" {
		return "vectors that need no model"
	}
	return "vectors of " + spec
}
