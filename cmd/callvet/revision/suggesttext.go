// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package revision

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/report/figure"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/report/selection"
	"github.com/callvet/callvet/retrieve/revise"
)

// JSON writes the suggestions.
func (s *Suggestions) JSON(to io.Writer) error { return json.NewEncoder(to).Encode(s) }

func (s *Suggestions) count(status revise.Status) int {
	n := 0
	for i := range s.Tools {
		if s.Tools[i].Status == status {
			n++
		}
	}
	return n
}

// flattered is what becomes of the numbers of those that stay where others were taken
// out by the very questions that measured them.
const flattered = "what they say of those that stayed is a little flattered, and fresh ones tell better"

func (s *Suggestions) sorted() bool {
	return slices.ContainsFunc(s.Tools, func(t Suggestion) bool { return t.Status == revise.Rejected && t.of != nil })
}

// Text writes the suggestions for people.
func (s *Suggestions) Text(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s could be seen, %s held out (seed %d)", plain.Count(s.Train, "question", "questions"), plain.Count(s.Held, "was", "were"), s.Seed)
	if s.LeftOut > 0 {
		fmt.Fprintf(&b, "; %s left out, which expect no tools, or one that the catalogue does not have", plain.Count(s.LeftOut, "case", "cases"))
	}
	fmt.Fprintf(&b, "\n%s: ", plain.Line(s.Model))
	s.Usage.text(&b)
	b.WriteString("\n")
	rows := [][]string{{"description of", "status", "lost", "took", "held out, its own", "newly right", "newly wrong", "change [95 %]", "p", "p over all (Holm)"}}
	for i := range s.Tools {
		t := &s.Tools[i]
		r := []string{plain.Line(t.Tool), string(t.Status), plain.Thousands(t.Lost), plain.Thousands(t.Taken), plain.Thousands(t.Own), "", "", "", "", ""}
		if d := t.Alone; d != nil {
			r = append(r[:5], plain.Thousands(d.NewlyPassing), plain.Thousands(d.NewlyFailing), figure.Change(d.Change), figure.P(d.P), figure.P(*t.Adjusted))
		}
		rows = append(rows, r)
	}
	selection.Aligned(&b, rows)
	for i := range s.Tools {
		t := &s.Tools[i]
		fmt.Fprintf(&b, "  %s: %s\n", plain.Line(t.Tool), plain.Limited(plain.Line(t.why()), 600))
	}
	if c := s.Together; c != nil {
		fmt.Fprintf(&b, "\nAll that are proposed (%d) together, on the held-out questions\n", s.count(revise.Proposed))
		if s.sorted() {
			fmt.Fprintf(&b, "These questions have sorted the suggestions, too: %s.\n", flattered)
		}
		c.text(&b)
	}
	fmt.Fprintf(&b, "\n%d proposed, %d rejected, in %s. The catalogue is as it was.\n", s.count(revise.Proposed), s.count(revise.Rejected), plain.Line(s.Output))
	if s.count(revise.Proposed) > 0 {
		fmt.Fprintf(&b, "Look at the texts, write status: accepted at those that are true, then\n  callvet tools apply %s --edits %s -o NEW\n", plain.Line(s.path), plain.Line(s.Output))
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// comment stands at the top of the file of edits.
func (s *Suggestions) comment(f *suggestFlags) []string {
	out := []string{
		fmt.Sprintf("Descriptions that %s suggests for tools of %s.", plain.Line(s.Model), plain.Line(s.path)),
		fmt.Sprintf("Made of %d questions of %s, measured by the retriever on %d others (holdout %v, seed %d):", s.Train, plain.Line(f.suite), s.Held, f.holdout, f.seed),
		"each alone against the catalogue as it is; right_before and right_after count questions whose first tool is right.",
	}
	if s.Together != nil {
		out = append(out, fmt.Sprintf("All that are proposed (%d) together: %s.", s.count(revise.Proposed), s.Together.Sentence))
		if s.sorted() {
			out = append(out, "The same questions have sorted the suggestions: "+flattered+".")
		}
	}
	return append(out, "Nothing is changed yet. Write status: accepted where a text is true and wanted, then callvet tools apply.", "")
}

// prompts are what a model would be asked.
type prompts struct {
	Format  string   `json:"format"`
	Version int      `json:"version"`
	System  string   `json:"system"`
	Prompts []prompt `json:"prompts"`
}

type prompt struct {
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// JSON writes the prompts.
func (p *prompts) JSON(to io.Writer) error { return json.NewEncoder(to).Encode(p) }

// Text writes the prompts for people.
func (p *prompts) Text(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "system\n%s\n", plain.Clean(p.System))
	for _, one := range p.Prompts {
		fmt.Fprintf(&b, "\n%s\n%s", plain.Line(one.Tool), plain.Clean(one.Text))
	}
	_, err := io.WriteString(to, b.String())
	return err
}
