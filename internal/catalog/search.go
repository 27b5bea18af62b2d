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
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

// Search is a catalogue and the settings of the search.
type Search struct {
	// Tools is the file of the catalog, Via the address of a service that is used instead.
	Tools string `json:"tools,omitempty"`
	Via   string `json:"via,omitempty"`
	Settings
	// WeightsFile is a file with weights of retrieval and of the layers of a decision.
	WeightsFile string `json:"weights,omitempty"`
	// AbstainOn is a suite. Its questions set the confidence below which no tool is returned.
	AbstainOn string `json:"abstain_on,omitempty"`
	// Tuned is the record in the file of weights about how they were chosen.
	Tuned *learn.Tuned `json:"-"`
}

// NoCatalogue is the error of a request that names none.
func NoCatalogue() error {
	return Invalid("tools", "{tools} CATALOGUE", "which tools are searched? invalid: no catalogue")
}

// Ready reads the files of a search: its weights, the retrieval settings of a suite that the search
// leaves open, and the questions that set the confidence of abstaining. suite is the suite that
// will be asked, empty for none. It returns the weights of the layers of a decision, nil for the
// defaults. Errors are those of files, and wrap callvet.ErrInvalid for invalid settings.
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
		if f.Via != "" { // the settings of retrieval do not apply to a service
			quiet.Notify = nil
		}
		if err := quiet.FromSuite(&f.Settings, suite); err != nil {
			return nil, err
		}
	}
	if f.Via != "" {
		return composite, nil
	}
	return composite, e.calibrate(ctx, f, suite)
}

// weights reads the search's file of weights, and returns the weights of the composite.
func (e *Env) weights(f *Search) (*callvet.SelectionScoring, error) {
	if f.WeightsFile == "" {
		return nil, nil
	}
	b, err := e.Read(f.WeightsFile)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	w, err := ReadWeights(f.WeightsFile, b)
	if err != nil {
		return nil, err
	}
	f.Weights, f.Tuned = w.Retrieval, w.Tuned
	if preset := cmp.Or(f.Preset, "default"); f.Tuned != nil && f.Tuned.Preset != preset {
		return nil, Invalid("weights", "{preset} "+f.Tuned.Preset,
			"read weights %s: invalid: they were tuned for the preset %s, not %s", f.WeightsFile,
			f.Tuned.Preset, preset)
	}
	only := Settings{Preset: f.Preset, Fusion: f.Fusion, Weights: w.Retrieval}
	if _, err := only.Options(&retrieve.Catalogue{}); err != nil {
		return nil, fmt.Errorf("read weights %s: %w", f.WeightsFile, err)
	}
	return w.Composite, nil
}

var variable = regexp.MustCompile(`\$(\{[^}]*\}|\w+)`)

// Setting returns the name of one setting of the search that is set, apart from the number of tools and the weights;
// empty where none is.
func (f *Search) Setting() string {
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
			return o.name
		}
	}
	return ""
}

// service checks a search through a service: only k is sent to it.
func (f *Search) service() error {
	filled := variable.ReplaceAllString(f.Via, "x") // ${VAR} may be at any place
	if u, err := url.Parse(filled); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Invalid("via", "{via} http://HOST/PATH; a file is searched with {tools}",
			"ask a service: invalid: {via} %s is no address", f.Via)
	}
	if name := f.Setting(); name != "" {
		return Invalid(name, "leave {"+name+"} away, or search the catalogue without {via}",
			"ask a service: invalid: it takes no {%s}", name)
	}
	if len(f.Weights) > 0 {
		return Invalid("weights", "",
			"ask a service: invalid: it does not get the weights of retrieval in %s, only those of the composite count",
			f.WeightsFile)
	}
	return nil
}

// suiteConfig are the retrieval settings of a suite of the Tool Selection Evaluation System.
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

// FromSuite fills in open settings from a suite's config.tool_retrieval: the number of tools, the
// use of vectors, and, under bigtool, the namespaces. If the suite requires a reranker and the
// request names none, there is a notice. Files of other forms have no such settings. The error
// wraps callvet.ErrInvalid.
func (e *Env) FromSuite(s *Settings, file string) error {
	if file == "-" { // standard input is read once
		return nil
	}
	data, err := e.Read(file)
	if err != nil {
		return nil // reading the suite reports the error
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if !bytes.HasPrefix(data, []byte("{")) || !bytes.Contains(data, []byte(`"tool_retrieval"`)) {
		return nil
	}
	var c suiteConfig
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("read config of suite %s: %w: %w", file, callvet.ErrInvalid, doc.Explain(err))
	}
	from := c.Config.Retrieval
	if from == nil {
		return nil
	}
	if from.Limit != nil && s.K == 0 {
		if s.K = *from.Limit; s.K < 1 || s.K > MaxDepth {
			return fmt.Errorf(
				"read config of suite %s: %w: tool_retrieval.limit is %d, and a number from 1 to %d belongs there",
				file, callvet.ErrInvalid, *from.Limit, MaxDepth)
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
