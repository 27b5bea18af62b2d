// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/retrieve/learn"
)

type fileText struct {
	Version int        `json:"callvet"`
	Edits   []editText `json:"edits"`
	Seen    []string   `json:"seen,omitempty"`
}

type editText struct {
	Tool        string        `json:"tool"`
	Status      learn.Status  `json:"status,omitempty"`
	Reason      string        `json:"reason,omitempty"`
	Was         *string       `json:"was,omitempty"`
	Name        *string       `json:"name,omitempty"`
	Title       *string       `json:"title,omitempty"`
	Description *string       `json:"description,omitempty"`
	Keywords    []string      `json:"keywords,omitzero"`
	Examples    []string      `json:"example_queries,omitzero"`
	Parameters  members       `json:"parameters,omitempty"`
	Measured    *measuredText `json:"measured,omitempty"`
}

type measuredText struct {
	Cases      int        `json:"cases"`
	Before     int        `json:"right_before"`
	After      int        `json:"right_after"`
	Change     float64    `json:"change"`
	Interval   [2]float64 `json:"interval"`
	P          float64    `json:"p"`
	NewlyRight []string   `json:"newly_right"`
	NewlyWrong []string   `json:"newly_wrong"`
}

// members are texts by name, in their order.
type members []learn.ParameterText

// MarshalJSON writes an object.
func (m members) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, p := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(doc.Quote(b, p.Path), ':')
		b = doc.Quote(b, p.Text)
	}
	return append(b, '}'), nil
}

// WriteEdits writes YAML that Read reads back as the same edits; numbers that were measured are
// rounded to six decimals. The comment is written at the top. The error is for an edit without a
// text.
func WriteEdits(f *EditFile, comment []string) ([]byte, error) {
	out := fileText{Version: 1, Edits: []editText{}, Seen: f.Seen}
	for i := range f.Edits {
		e := &f.Edits[i]
		t := editText{
			Tool: e.Tool, Status: e.Status, Reason: e.Reason, Was: e.Was, Name: e.Name, Title: e.Title,
			Description: e.Description,
			Keywords:    e.Keywords, Examples: e.Examples, Parameters: e.Parameters,
		}
		if m := e.Measured; m != nil {
			t.Measured = &measuredText{
				m.Cases, m.Before, m.After, rounded(m.Change),
				[2]float64{rounded(m.Lower), rounded(m.Upper)},
				rounded(m.P),
				append([]string{}, m.NewlyRight...), append([]string{}, m.NewlyWrong...),
			}
		}
		out.Edits = append(out.Edits, t)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write edits: %w", err)
	}
	document, bad := doc.ReadJSON("", b)
	if bad != nil {
		return nil, fmt.Errorf("write edits: %w: %w", callvet.ErrInvalid, bad)
	}
	var w bytes.Buffer
	for _, line := range comment {
		fmt.Fprintln(&w, strings.TrimRight("# "+line, " "))
	}
	w.Write(doc.WriteYAML(&document.Root))
	return visible(w.Bytes()), nil
}

// visible escapes invisible characters and characters that change how others are shown. They
// occur only in quotes and in comments: other styles of YAML cannot contain them.
func visible(b []byte) []byte {
	if !bytes.ContainsFunc(b, concealed) {
		return b
	}
	var out []byte
	for _, r := range string(b) {
		switch {
		case !concealed(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			out = fmt.Appendf(out, `\U%08x`, r)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

func concealed(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// rounded keeps six decimals; NaN and infinities become 0.
func rounded(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return math.Round(x*1e6) / 1e6
}
