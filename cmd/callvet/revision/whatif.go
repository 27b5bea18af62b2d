// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package revision

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/internal/editfile"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/revise"
	"github.com/callvet/callvet/stats"
)

// WhatIf is what edits would change.
type WhatIf struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Edits are those held against the catalog, Left those of another status.
	Edits []string `json:"edits"`
	Left  int      `json:"edits_left_out,omitempty"`
	// Cases are those compared. LeftOut expect no tools, or one that the catalog does
	// not have; Seen are those of the half that the edits were made of.
	Cases   int `json:"cases"`
	LeftOut int `json:"left_out"`
	Seen    int `json:"seen,omitempty"`
	// Sorted tells that the others have sorted suggestions, some of which they took out.
	Sorted bool `json:"sorted,omitempty"`
	// Leaks are cases that were left out because an edit says what they ask.
	Leaks       []revise.Leak     `json:"leaks,omitempty"`
	Comparisons []*Comparison     `json:"comparisons"`
	Alone       []Alone           `json:"alone,omitempty"`
	Renamed     map[string]string `json:"renamed,omitempty"`
}

// Alone is what one edit does without the others, by the retriever.
type Alone struct {
	Tool string           `json:"tool"`
	All  panel.Difference `json:"difference"`
	// Adjusted is the p value over all edits (Holm).
	Adjusted float64  `json:"p_adjusted"`
	Took     []string `json:"took,omitempty"`
}

// whatIfFlags are those of the command.
type whatIfFlags struct {
	edits, suite string
	status       []string
	everyCase    bool
	offer        int
	settings     *selector.Flags
	asking       selector.Asking
}

const whatIfLong = `Compare a catalogue with edited texts with the catalogue as it is, case by case over a suite.

By default callvet's retriever answers on both sides; with --model a model chooses among the --offer best tools that the
retriever finds on each side, or among all of them where there are no more. Told are the cases that become right and wrong,
the paired difference, and which tools lose questions. Cases whose question stands in an edit are left out; so are the cases
that suggestions were made of, where the file says which those are (docs/SELECTION.md).`

func whatIfCommand(e *Env) *cobra.Command {
	var f whatIfFlags
	cmd := &cobra.Command{
		Use: "whatif CATALOGUE --edits EDITS --suite SUITE", Short: "Tell what other descriptions would change, before changing any", Long: whatIfLong,
		Example: "  callvet tools whatif catalogue.json --edits edits.yaml --suite suite.json\n  callvet tools whatif catalogue.json --edits edits.yaml --suite suite.json -m openai/gpt-5-mini",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.whatIf(cmd.Context(), args[0], &f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.edits, "edits", "", "file with the edits")
	fs.StringVar(&f.suite, "suite", "", "suite with the questions")
	fs.StringSliceVar(&f.status, "status", []string{"accepted", "proposed"}, "edits that are tried: accepted, proposed, rejected")
	fs.BoolVar(&f.everyCase, "all-cases", false, "also the cases that suggestions were made of")
	fs.Var(ranged.Int(&f.offer, 20, 1), "offer", "with --model: how many tools a model chooses among")
	f.settings, f.asking = settingFlags(fs), askingFlags(e, fs)
	return cmd
}

func (e *Env) whatIf(ctx context.Context, catalogue string, f *whatIfFlags) error {
	switch {
	case f.edits == "":
		return &callvet.Hinted{Err: fmt.Errorf("which edits? %w: no file", callvet.ErrInvalid), Hint: "--edits EDITS"}
	case f.offer < 2 || f.offer > 128:
		return fmt.Errorf("read --offer %d: %w: from 2 to 128", f.offer, callvet.ErrInvalid)
	}
	st, err := states(f.status)
	if err != nil {
		return err
	}
	file, err := e.edits(f.edits, st)
	if err != nil {
		return err
	}
	before, err := e.load(ctx, catalogue, f.settings, f.suite)
	if err != nil {
		return err
	}
	after, err := revise.Apply(before, file.Edits)
	if err != nil {
		return err
	}
	s, qs, out, err := e.questions(ctx, f.suite, before)
	if err != nil {
		return err
	}
	w := &WhatIf{Format: "callvet.whatif", Version: 1, Left: file.left, LeftOut: out, Sorted: file.sorted && len(file.Seen) > 0}
	if qs, err = w.fair(before, file.File, qs, f.everyCase); err != nil {
		return err
	}
	defer e.open()()
	t := trial{env: e, flags: f, suite: s, before: before, after: after, edits: file.Edits, qs: qs}
	if err := t.run(ctx, w); err != nil {
		if len(w.Comparisons) > 0 && !e.JSON() { // what was found without a model is not lost with it
			_ = w.Text(e.Out)
		}
		return err
	}
	return e.tell(w)
}

// fair leaves out the cases that the edits, or who made them, have seen.
func (w *WhatIf) fair(c *retrieve.Catalogue, file *editfile.File, qs []question, every bool) ([]question, error) {
	for i := range file.Edits {
		d := &file.Edits[i]
		w.Edits = append(w.Edits, d.Tool)
		if d.Name != nil && *d.Name != d.Tool {
			if w.Renamed == nil {
				w.Renamed = map[string]string{}
			}
			w.Renamed[d.Tool] = *d.Name
		}
	}
	if !every && len(file.Seen) > 0 {
		seen := map[string]bool{}
		for _, id := range file.Seen {
			seen[id] = true
		}
		kept := slices.DeleteFunc(slices.Clone(qs), func(q question) bool { return seen[q.Case] })
		w.Seen, qs = len(qs)-len(kept), kept
	}
	w.Leaks = revise.Leaks(c, file.Edits, plainQuestions(qs))
	qs = slices.DeleteFunc(slices.Clone(qs), func(q question) bool {
		return slices.ContainsFunc(w.Leaks, func(l revise.Leak) bool { return l.Case == q.Case })
	})
	if w.Cases = len(qs); w.Cases == 0 {
		return nil, fmt.Errorf("compare catalogues: %w: no case is left: the edits have seen all of them", callvet.ErrInvalid)
	}
	return qs, nil
}

// trial is what is compared.
type trial struct {
	env           *Env
	flags         *whatIfFlags
	suite         *callvet.Suite
	before, after *retrieve.Catalogue
	edits         []revise.Edit
	qs            []question
}

func (t *trial) run(ctx context.Context, w *WhatIf) error {
	base, err := t.env.search(ctx, t.before, t.flags.settings, t.qs)
	if err != nil {
		return err
	}
	edited, err := t.env.search(ctx, t.after, t.flags.settings, t.qs)
	if err != nil {
		return err
	}
	w.Comparisons = []*Comparison{searched(t.qs, base, edited, w.Edits)}
	if w.Alone, err = t.env.alone(ctx, t.before, t.edits, t.flags.settings, t.qs, base); err != nil {
		return err
	}
	if !t.flags.asking.Models() {
		return nil
	}
	more, err := t.ask(ctx)
	w.Comparisons = append(w.Comparisons, more...)
	return err
}

// maxAlone is how many edits are also held against the catalog alone: each takes an
// index of its own, and all questions.
const maxAlone = 50

// alone holds each of several edits against the catalog without the others; of more
// than maxAlone none.
func (e *Env) alone(ctx context.Context, c *retrieve.Catalogue, edits []revise.Edit, f *selector.Flags, qs []question, base []answer) ([]Alone, error) {
	if len(edits) < 2 || len(edits) > maxAlone {
		return nil, nil
	}
	var out []Alone
	var ps []float64
	for i := range edits {
		one, err := e.one(ctx, c, edits[i:i+1], f, qs, base)
		if err != nil {
			return nil, err
		}
		out = append(out, Alone{Tool: edits[i].Tool, All: one.main, Took: one.Tools[0].Took})
		ps = append(ps, one.main.P)
	}
	for i, p := range stats.Holm(ps) {
		out[i].Adjusted = p
	}
	return out, nil
}

// one holds edits against the catalog by the retriever.
func (e *Env) one(ctx context.Context, c *retrieve.Catalogue, edits []revise.Edit, f *selector.Flags, qs []question, base []answer) (*Comparison, error) {
	with, err := revise.Apply(c, edits)
	if err != nil {
		return nil, err
	}
	got, err := e.search(ctx, with, f, qs)
	if err != nil {
		return nil, err
	}
	var tools []string
	for i := range edits {
		tools = append(tools, edits[i].Tool)
	}
	return searched(qs, base, got, tools), nil
}

// JSON writes what would change.
func (w *WhatIf) JSON(to io.Writer) error { return json.NewEncoder(to).Encode(w) }

// applied is what apply did.
type applied struct {
	Format    string   `json:"format"`
	Version   int      `json:"version"`
	Catalogue string   `json:"catalogue"`
	Tools     []string `json:"tools"`
	Renamed   []string `json:"renamed,omitempty"`
	Left      int      `json:"edits_left_out"`
	// Converted tells that the catalog was not plain JSON before.
	Converted bool `json:"converted,omitempty"`
	form      string
}

// JSON writes what was done.
func (a *applied) JSON(to io.Writer) error { return json.NewEncoder(to).Encode(a) }

// Text says what was done.
func (a *applied) Text(to io.Writer) error {
	_, err := fmt.Fprintf(to, "%s in %s", plain.Count(len(a.Tools), "edit", "edits"), plain.Line(a.Catalogue))
	if a.Left > 0 && err == nil {
		_, err = fmt.Fprintf(to, "; %s of another status left out", plain.Count(a.Left, "edit", "edits"))
	}
	if err == nil {
		_, err = fmt.Fprintln(to)
	}
	switch {
	case err != nil || a.form == "":
	case a.form == formZip:
		_, err = fmt.Fprintln(to, "it is plain JSON now, not compressed")
	default:
		_, err = fmt.Fprintf(to, "it is JSON now, and was %s; comments and the layout of the other form are not kept\n", a.form)
	}
	if len(a.Renamed) > 0 && err == nil {
		_, err = fmt.Fprintf(to, "%s called otherwise now: suites and code that name them must follow\n", plain.Count(len(a.Renamed), "tool is", "tools are"))
	}
	return err
}
