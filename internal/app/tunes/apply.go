// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
)

// ApplyRequest requests that a candidate of a search is written to files.
type ApplyRequest struct {
	Tune string `json:"tune"`
	// Model is the model of a search with several; "": the only one with a winner.
	Model string `json:"model,omitempty"`
	// Candidate is its number; nil: the winner.
	Candidate *int `json:"candidate,omitempty"`
	// Anyway applies also an unconfirmed candidate.
	Anyway bool `json:"anyway,omitempty"`
	// Suite is the file of a suite into which the prompt is written, Targets a new file with the
	// model, its parameters and its prompt.
	Suite   string `json:"suite,omitempty"`
	Targets string `json:"target_file,omitempty"`
}

// Applied lists what was written.
type Applied struct {
	Tune      string         `json:"tune"`
	Name      string         `json:"name"`
	Candidate int            `json:"candidate"`
	Confirmed bool           `json:"confirmed"`
	Config    app.TargetSpec `json:"config"`
	Prompt    string         `json:"prompt,omitempty"`
	Written   []string       `json:"written"`
}

// Choose finds the candidate that a request applies. The error explains why there is none.
func (t *Tune) Choose(req *ApplyRequest) (*Candidate, bool, error) {
	var m *ModelSearch
	for i := range t.Models {
		of := &t.Models[i]
		if req.Model != "" && of.Model != req.Model {
			continue
		}
		if m == nil || m.Winner() == nil && of.Winner() != nil {
			m = of
		}
	}
	if m == nil {
		return nil, false, app.Wrong("model", req.Model, "the search has no such model")
	}
	won := m.Winner()
	chosen := won
	switch {
	case req.Candidate != nil:
		if chosen = m.CandidateOf(*req.Candidate); chosen == nil {
			return nil, false, app.Wrong("candidate", fmt.Sprint(*req.Candidate), "the search has no such candidate")
		}
	case chosen == nil && req.Anyway:
		chosen = m.CandidateOf(m.Best)
	}
	if confirmed := won != nil && chosen == won; confirmed || req.Anyway && chosen != nil {
		return chosen, confirmed, nil
	}
	if req.Anyway {
		return nil, false, fmt.Errorf("apply %s: %w: it has no candidate yet", t.ID, callvet.ErrConflict)
	}
	why := cmp.Or(m.Sentence, "the search is not over")
	if won != nil {
		why = fmt.Sprintf("candidate %d is not the confirmed winner, which is %d", chosen.N, won.N)
	}
	return nil, false, &callvet.FieldError{
		Field: "tune", Kind: callvet.ErrConflict, Text: "apply " + t.ID + ": " + why,
		Fix: "{anyway} applies what was not confirmed",
	}
}

// Apply writes a candidate into files.
func Apply(ctx context.Context, a *app.App, req ApplyRequest) (*Applied, error) {
	if req.Suite == "" && req.Targets == "" {
		return nil, &callvet.FieldError{
			Field: "suite", Text: "where is it written?",
			Fix: "{suite} FILE for a prompt, or {target_file} FILE for a model with its parameters",
		}
	}
	t, err := Get(ctx, a, req.Tune)
	if err != nil {
		return nil, err
	}
	c, confirmed, err := t.Choose(&req)
	if err != nil {
		return nil, err
	}
	out := &Applied{
		Tune: t.ID, Name: c.Name, Candidate: c.N, Confirmed: confirmed, Config: c.Spec, Prompt: c.Prompt,
		Written: []string{},
	}
	if req.Suite != "" {
		if t.Kind != Prompt {
			return nil, &callvet.FieldError{
				Field: "suite", Text: "{suite} " + req.Suite + ": parameters belong to a model, and a suite has none",
				Fix: "{target_file} targets.yaml",
			}
		}
		if err := applyPrompt(ctx, a, req.Suite, c.Prompt); err != nil {
			return nil, err
		}
		out.Written = append(out.Written, req.Suite)
	}
	if req.Targets != "" {
		if err := writeTarget(ctx, a, req.Targets, c); err != nil {
			return nil, err
		}
		out.Written = append(out.Written, req.Targets)
	}
	return out, nil
}

// writeTarget writes a targets file with the candidate.
func writeTarget(ctx context.Context, a *app.App, name string, c *Candidate) error {
	if _, there, err := a.Config.Files.Existing(name); err != nil || there {
		return cmp.Or(err, app.Wrong("target_file", name, "the file exists: name a new one"))
	}
	b, err := json.Marshal(map[string]any{"targets": []app.TargetSpec{c.Spec}})
	if err != nil {
		return fmt.Errorf("write targets: %w", err)
	}
	file, bad := doc.ReadJSON(name, b)
	if bad != nil {
		return fmt.Errorf("write targets: %w", bad)
	}
	text := append([]byte("# "+plain.Line(c.Name)+": callvet run SUITE --targets this file\n"),
		doc.WriteYAML(&file.Root)...)
	return write(ctx, a, name, text)
}

func write(ctx context.Context, a *app.App, name string, text []byte) error {
	if err := a.Config.Files.Write(ctx, name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

const keySystemPrompt = "system_prompt"

// applyPrompt sets the system prompt of a suite. The rest of the file stays unchanged.
func applyPrompt(ctx context.Context, a *app.App, name, prompt string) error {
	text, err := a.Read(name, 64<<20)
	if err != nil {
		return err
	}
	file, bad := doc.Read(name, text)
	if bad != nil {
		return fmt.Errorf("read suite: %w", file.Problem(bad))
	}
	byHand := func(why string) error {
		return &callvet.Hinted{
			Err:  fmt.Errorf("write the prompt into %s: %w: %s", name, callvet.ErrInvalid, why),
			Hint: "callvet convert makes a suite in callvet's own form; or write the prompt by hand: callvet tune show --json has it",
		}
	}
	if file.Root.Get("callvet") == nil {
		return byHand("the suite is not in callvet's own form")
	}
	out, ok := withPrompt(file, text, prompt)
	if !ok {
		return byHand("the place for it cannot be found")
	}
	after, bad := doc.Read(name, out)
	if bad != nil || !samePrompt(&file.Root, &after.Root, prompt) {
		return byHand("the place for it cannot be found")
	}
	return write(ctx, a, name, out)
}

// samePrompt reports whether two suites differ only in the prompt, and the second has this prompt.
func samePrompt(before, after *doc.Node, prompt string) bool {
	own := after.Get(keySystemPrompt)
	if own == nil || own.Text() != prompt {
		return false
	}
	rest := func(n *doc.Node) []byte {
		var b []byte
		for i := range n.Names {
			if n.Names[i].Name != keySystemPrompt {
				b = append(append(b, n.Names[i].Name...), 0)
				b = n.Items[i].AppendJSON(b)
			}
		}
		return b
	}
	return bytes.Equal(rest(before), rest(after))
}

// withPrompt returns the text of a suite with a different prompt.
func withPrompt(file *doc.File, text []byte, prompt string) ([]byte, bool) {
	root := &file.Root
	if len(root.Names) == 0 {
		return nil, false
	}
	at := func(place int) int { return offset(text, file.Position(place)) }
	own := -1
	for i := range root.Names {
		if root.Names[i].Name == keySystemPrompt {
			own = i
		}
	}
	if !doc.IsYAML(file.Name, text) {
		return promptInJSON(text, at(root.Names[0].At), own, root, at, prompt)
	}
	block := doc.WriteYAML(&doc.Node{
		Kind: doc.Map, Names: []doc.Entry{{Name: keySystemPrompt}}, Items: []doc.Node{doc.TextNode(prompt)},
	})
	from := at(root.Names[0].At) // before the first key
	to := from
	if own >= 0 {
		from, to = at(root.Names[own].At), len(text)
		if own+1 < len(root.Names) {
			to = at(root.Names[own+1].At)
		}
		if from > to {
			return nil, false
		}
		to = from + len(withoutComments(text[from:to]))
		if end := bytes.IndexByte(text[to:], '\n'); end >= 0 {
			to += end + 1
		} else {
			to = len(text)
		}
	}
	return bytes.Join([][]byte{text[:from], block, text[to:]}, nil), true
}

// offset returns the offset of a position in a text.
func offset(text []byte, p callvet.Position) int {
	at := 0
	for range p.Line - 1 {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return min(len(text), at+max(0, p.Column-1))
}

// withoutComments returns a text without the blank lines and the unindented comments at its end:
// they belong to the next key.
func withoutComments(text []byte) []byte {
	for {
		trimmed := bytes.TrimRight(text, " \t\r\n")
		at := bytes.LastIndexByte(trimmed, '\n') + 1
		if at == 0 || trimmed[at] != '#' {
			return trimmed
		}
		text = trimmed[:at]
	}
}

// promptInJSON returns a suite in JSON with a different prompt. own is the position of its present
// prompt, or -1.
func promptInJSON(text []byte, first, own int, root *doc.Node, at func(int) int, prompt string) ([]byte, bool) {
	quoted := doc.Quote(nil, prompt)
	if own < 0 {
		return bytes.Join([][]byte{
			text[:first], []byte(`"` + keySystemPrompt + `": `), quoted, []byte(",\n  "),
			text[first:],
		}, nil), true
	}
	from := at(root.Items[own].At)
	dec := json.NewDecoder(bytes.NewReader(text[from:]))
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		return nil, false
	}
	return bytes.Join([][]byte{text[:from], quoted, text[from+int(dec.InputOffset()):]}, nil), true
}
