// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/callvet/callvet/internal/doc"
)

// request contains texts to embed, or texts to score for a question.
type request struct {
	model, question string
	texts           []string
	dimensions      int
}

// form is a wire format: it writes a request and reads its answer.
type form interface {
	write(r request) any
	// read returns a vector for each of n texts; a score is a vector of one number.
	read(body []byte, n int) (vs [][]float32, tokens int, err error)
}

type openaiForm struct{}

func (openaiForm) write(r request) any {
	return struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Encoding   string   `json:"encoding_format"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{r.model, r.texts, "base64", r.dimensions}
}

func (openaiForm) read(body []byte, n int) ([][]float32, int, error) {
	var a struct {
		Data []struct {
			Index     *int   `json:"index"`
			Embedding floats `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Total int `json:"total_tokens"`
		} `json:"usage"`
	}
	if err := decode(body, &a); err != nil {
		return nil, 0, err
	}
	p := newPlaces(n)
	for i, d := range a.Data {
		if d.Index == nil { // some servers leave it out, and keep the order
			d.Index = &i
		}
		if err := p.put(*d.Index, d.Embedding); err != nil {
			return nil, 0, err
		}
	}
	return p.all(a.Usage.Total)
}

// floats is a vector as JSON numbers, or as base64 of little-endian bytes.
type floats []float32

// UnmarshalJSON reads both forms.
func (f *floats) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		return json.Unmarshal(b, (*[]float32)(f))
	}
	var raw []byte
	if err := json.Unmarshal(b, &raw); err != nil {
		var s string
		if json.Unmarshal(b, &s) != nil {
			return err
		}
		if raw, err = base64.RawStdEncoding.DecodeString(s); err != nil {
			return errors.New("a vector is no base64")
		}
	}
	if len(raw)%4 != 0 {
		return fmt.Errorf("a vector in base64 has %d bytes, no multiple of 4", len(raw))
	}
	*f = make(floats, len(raw)/4)
	for i := range *f {
		(*f)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

type ollamaForm struct{}

func (ollamaForm) write(r request) any {
	return struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Truncate   bool     `json:"truncate"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{r.model, r.texts, true, r.dimensions}
}

func (ollamaForm) read(body []byte, n int) ([][]float32, int, error) {
	var a struct {
		Embeddings [][]float32 `json:"embeddings"`
		Tokens     int         `json:"prompt_eval_count"`
	}
	if err := decode(body, &a); err != nil {
		return nil, 0, err
	}
	return inOrder(a.Embeddings, n, a.Tokens)
}

type teiForm struct{}

func (teiForm) write(r request) any {
	return struct {
		Inputs    []string `json:"inputs"`
		Normalize bool     `json:"normalize"`
		Truncate  bool     `json:"truncate"`
	}{r.texts, true, true}
}

func (teiForm) read(body []byte, n int) ([][]float32, int, error) {
	var a [][]float32
	if err := decode(body, &a); err != nil {
		return nil, 0, err
	}
	return inOrder(a, n, 0)
}

type cohereForm struct{}

func (cohereForm) write(r request) any {
	return struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}{r.model, r.question, r.texts, len(r.texts)}
}

func (cohereForm) read(body []byte, n int) ([][]float32, int, error) {
	var a struct {
		Results []struct {
			Index *int     `json:"index"`
			Score *float32 `json:"relevance_score"`
		} `json:"results"`
		Usage struct {
			Total int `json:"total_tokens"`
		} `json:"usage"`
	}
	if err := decode(body, &a); err != nil {
		return nil, 0, err
	}
	p := newPlaces(n)
	for _, r := range a.Results {
		if err := p.score(r.Index, r.Score); err != nil {
			return nil, 0, err
		}
	}
	return p.all(a.Usage.Total)
}

type teiRerankForm struct{}

func (teiRerankForm) write(r request) any {
	return struct {
		Query    string   `json:"query"`
		Texts    []string `json:"texts"`
		Truncate bool     `json:"truncate"`
	}{r.question, r.texts, true}
}

func (teiRerankForm) read(body []byte, n int) ([][]float32, int, error) {
	var a []struct {
		Index *int     `json:"index"`
		Score *float32 `json:"score"`
	}
	if err := decode(body, &a); err != nil {
		return nil, 0, err
	}
	p := newPlaces(n)
	for _, r := range a {
		if err := p.score(r.Index, r.Score); err != nil {
			return nil, 0, err
		}
	}
	return p.all(0)
}

// places orders answers by their index.
type places [][]float32

func newPlaces(n int) places { return make(places, n) }

func (p places) put(i int, v []float32) error {
	switch {
	case i < 0 || i >= len(p):
		return fmt.Errorf("it answers about text %d of %d", i, len(p))
	case p[i] != nil:
		return fmt.Errorf("it answers twice about text %d", i)
	case len(v) == 0:
		return fmt.Errorf("it gives nothing for text %d", i)
	}
	p[i] = v
	return nil
}

func (p places) score(i *int, s *float32) error {
	if i == nil || s == nil {
		return errors.New("a result has no index or no score")
	}
	return p.put(*i, []float32{*s})
}

func (p places) all(tokens int) ([][]float32, int, error) {
	n := 0
	for _, v := range p {
		if v != nil {
			n++
		}
	}
	if n < len(p) {
		return nil, 0, fmt.Errorf("it answers about %d of %d texts", n, len(p))
	}
	return p, tokens, nil
}

func inOrder(vs [][]float32, n, tokens int) ([][]float32, int, error) {
	if len(vs) != n {
		return nil, 0, fmt.Errorf("it gives %d vectors for %d texts", len(vs), n)
	}
	return vs, tokens, nil
}

// decode reads JSON; the error for other texts names the format that they look like.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	start := bytes.TrimSpace(body)
	switch {
	case len(start) == 0:
		return errors.New("its answer is empty")
	case bytes.HasPrefix(start, []byte("<")):
		return fmt.Errorf("its answer is a web page, no JSON: %s", excerpt(string(start), 300))
	case err != nil:
		return fmt.Errorf("its answer is not what it should be (%w): %s", doc.Explain(err), excerpt(string(start), 300))
	}
	if say := messageOf(body); say != "" && bytes.Contains(body[:min(len(body), 200)], []byte(`"error"`)) {
		return fmt.Errorf("it answers with an error: %s", excerpt(say, 300))
	}
	return nil
}

// messageOf finds the message in the bodies of errors; otherwise it is the body.
func messageOf(body []byte) string {
	if len(body) > 64<<10 {
		return ""
	}
	var a struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  string          `json:"detail"`
	}
	if json.Unmarshal(body, &a) != nil && a.Error == nil && a.Message == "" {
		return strings.TrimSpace(string(body))
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(a.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	case json.Unmarshal(a.Error, &text) == nil && text != "":
		return text
	case a.Message != "":
		return a.Message
	case a.Detail != "":
		return a.Detail
	}
	return strings.TrimSpace(string(body))
}
