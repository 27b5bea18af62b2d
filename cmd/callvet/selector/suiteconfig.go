// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/value/typed"
)

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

// FromSuite takes from a suite's config.tool_retrieval what no flag says: how many tools
// are given, whether vectors count, and, under bigtool, the namespaces. A reranker that it
// asks for and no flag names is told on w. Files of other forms say nothing. Ready comes
// first. The error wraps callvet.ErrInvalid.
func (f *Flags) FromSuite(file string, read Files, w io.Writer) error {
	if file == "-" { // standard input is read once
		return nil
	}
	data, err := read(file)
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
	s := &f.Settings
	if from.Limit != nil && s.K == 0 {
		if s.K = *from.Limit; s.K < 1 || s.K > maxDepth {
			return fmt.Errorf("read config of suite %s: %w: tool_retrieval.limit is %d, and a number from 1 to %d belongs there", file, callvet.ErrInvalid, *from.Limit, maxDepth)
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
		fmt.Fprintf(w, "note: %s asks for a reranker, and there is none: --rerank SPEC names one\n", plain.Line(file))
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
