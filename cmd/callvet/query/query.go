// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package query

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/report/selection"
	"github.com/callvet/callvet/panel/routing"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/route"
	rules "github.com/callvet/callvet/score/selection"
)

// Answer is what one question got.
type Answer struct {
	Format   string           `json:"format"`
	Version  int              `json:"version"`
	Query    string           `json:"query"`
	Decision callvet.Decision `json:"decision"`
	// Route says what decided the route; nil where routes are not decided, or elsewhere.
	Route *RouteReason `json:"route_reason,omitempty"`
	// Matched are the words that the question shares with each tool given.
	Matched []Matched `json:"matched,omitempty"`
	// Verdict and Scores hold the decision against what is expected, where anything
	// is; Why has each expected tool that is not first.
	Verdict callvet.Verdict     `json:"verdict,omitempty"`
	Reason  string              `json:"reason,omitempty"`
	Scores  []callvet.Score     `json:"scores,omitempty"`
	Why     []routing.Diagnosis `json:"why,omitempty"`
	// Models are those that were asked for vectors and orders.
	Models []report.ModelUse `json:"models,omitempty"`
}

// RouteReason is a rule by its number, from 1, the pattern of it that was found and in
// which words; or, for learned routes, the route's probability.
type RouteReason struct {
	Rule       int     `json:"rule,omitempty"`
	Pattern    string  `json:"pattern,omitempty"`
	Matched    string  `json:"matched,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	Text       string  `json:"text"`
}

// Matched is a tool with the words that it shares with the question.
type Matched struct {
	Tool     string        `json:"tool"`
	Words    []MatchedWord `json:"words"`
	Keywords []string      `json:"keywords,omitempty"`
	Examples []string      `json:"examples,omitempty"`
}

// MatchedWord is a word of the question and the fields of the tool that have it.
type MatchedWord struct {
	Word   string   `json:"word"`
	Fields []string `json:"fields"`
}

// Search asks one question of a catalog; want may be nil.
func Search(ctx context.Context, r *retriever.Retriever, question string, want *callvet.Selection, k int) (*Answer, error) {
	d, err := r.Decide(ctx, question)
	if err != nil {
		return nil, err
	}
	a := &Answer{Format: "callvet.query", Version: 1, Query: question, Decision: *d}
	p := r.Pipeline()
	if p.Routes != nil {
		a.Route = reasonOf(p.Routes.Route(question))
	}
	for _, t := range d.Tools {
		m, err := p.Tools.Match(question, t.Tool)
		if err != nil {
			return nil, err
		}
		a.Matched = append(a.Matched, matchedOf(t.Tool, m))
	}
	if want == nil {
		return a, nil
	}
	for _, tool := range slices.Concat(want.Tools, want.Acceptable) {
		e, err := r.Explain(ctx, question, tool)
		if err != nil {
			return nil, &callvet.Hinted{Err: err, Hint: "an expected tool is named as the catalogue names it"}
		}
		if e.Lost() && slices.Contains(want.Tools, tool) {
			a.Why = append(a.Why, selector.Diagnosis(e))
		}
	}
	a.judge(want, k)
	return a, nil
}

// Ask asks a service one question; want may be nil.
func Ask(ctx context.Context, m callvet.Model, question string, want *callvet.Selection, k int) (*Answer, error) {
	res, err := m.Generate(ctx, &callvet.Request{Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: question}}})
	if err != nil {
		return nil, err
	}
	a := &Answer{Format: "callvet.query", Version: 1, Query: question, Decision: *res.Decision}
	if want != nil {
		a.judge(want, k)
	}
	return a, nil
}

func (a *Answer) judge(want *callvet.Selection, k int) {
	set := rules.Defaults()
	set.K = selector.Depths(k)
	res := rules.Judge(want, &a.Decision, set)
	a.Verdict, a.Reason, a.Scores = res.Verdict, res.Reason, res.Scores
}

func reasonOf(d route.Decision) *RouteReason {
	return &RouteReason{Rule: d.Rule + 1, Pattern: d.Pattern, Matched: d.Matched, Confidence: d.Confidence, Text: selector.WhyRoute(d)}
}

func matchedOf(tool string, m retrieve.Match) Matched {
	out := Matched{Tool: tool, Words: []MatchedWord{}, Keywords: m.Keywords, Examples: m.Examples}
	for _, w := range m.Words {
		out.Words = append(out.Words, MatchedWord{w.Text, w.Fields})
	}
	return out
}

// JSON writes an answer.
func (a *Answer) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(a) }

// Text writes an answer for people.
func (a *Answer) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", plain.Line(a.Query))
	selection.Decision(&b, &a.Decision)
	if a.Route != nil {
		fmt.Fprintf(&b, "the route is %s\n", plain.Line(a.Route.Text))
	}
	for _, m := range a.Matched {
		b.WriteString(m.line())
	}
	for i := range a.Why {
		y := &a.Why[i]
		place := "is not ranked"
		if y.Rank > 0 {
			place = fmt.Sprintf("has rank %d", y.Rank)
		}
		fmt.Fprintf(&b, "expected %s %s: %.4g (%s)\n", plain.Line(y.Tool.Tool), place, y.Tool.Score, selection.Parts(y.Tool.Parts))
		for _, r := range y.Reasons {
			fmt.Fprintf(&b, "    because %s\n", plain.Line(r))
		}
	}
	if a.Verdict != "" {
		fmt.Fprintf(&b, "%s:", a.Verdict)
		for _, s := range a.Scores {
			fmt.Fprintf(&b, " %s %.3g", s.Name, s.Value)
		}
		b.WriteString("\n")
		if a.Reason != "" {
			fmt.Fprintf(&b, "    %s\n", plain.Line(a.Reason))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line says what a tool shares with the question.
func (m *Matched) line() string {
	if len(m.Words)+len(m.Keywords)+len(m.Examples) == 0 {
		return fmt.Sprintf("%s shares no word with the question\n", plain.Line(m.Tool))
	}
	var words []string
	for _, w := range m.Words {
		words = append(words, fmt.Sprintf("%s (%s)", w.Word, strings.Join(w.Fields, ", ")))
	}
	say := m.Tool + " has " + strings.Join(words, ", ")
	if len(words) == 0 {
		say = m.Tool + " has no single word"
	}
	for _, list := range []struct {
		what  string
		texts []string
	}{{"keywords", m.Keywords}, {"examples", m.Examples}} {
		if n := len(list.texts); n > 0 {
			say += fmt.Sprintf("; %s: %s", list.what, strings.Join(list.texts[:min(n, maxShown)], ", "))
			if n > maxShown {
				say += fmt.Sprintf(" and %d more", n-maxShown)
			}
		}
	}
	return plain.Line(say) + "\n"
}

// maxShown is how many keywords and examples of a tool are printed.
const maxShown = 3

// flags are those of Command.
type flags struct {
	selector.Flags
	via                string
	headers            []string
	want               callvet.Selection
	timeout            time.Duration
	expected, accepted []string
}

// Command asks one question.
func Command(e selector.Env) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "query TEXT --tools CATALOGUE | --via URL", Short: "Ask one question and tell every score",
		Long: `Ask one question: the route with the rule that decided it, agents, tools with the parts of their scores and the words that
they share with the question. With --expect and its like the decision is judged as a case is: exit 3 when it fails.`,
		Example: `  callvet select query "Finns det några trafikstörningar på E4?" --tools catalogue.json --expect trafikverket_trafikinfo_storningar
  callvet select query "Finns det tåg till Luleå?" --via http://localhost:8000/retrieve --expect-route action`,
		Args: cobra.ExactArgs(1),
	}
	fs := cmd.Flags()
	f.Register(fs)
	fs.StringVar(&f.via, "via", "", "address of a service that selects tools")
	fs.StringArrayVar(&f.headers, "header", nil, "'NAME: VALUE' for the service; ${VAR} reads the environment; may be repeated")
	fs.Var(ranged.Duration(&f.timeout, 30*time.Second), "timeout", "time for the service")
	fs.StringSliceVar(&f.expected, "expect", nil, "tool that is right; may be repeated; none: nothing fits")
	fs.StringSliceVar(&f.accepted, "acceptable", nil, "tool that is not wrong; may be repeated")
	fs.StringVar(&f.want.Route, "expect-route", "", "route that is right")
	fs.StringVar(&f.want.SubRoute, "expect-sub-route", "", "sub-route that is right")
	fs.StringSliceVar(&f.want.Agents, "expect-agents", nil, "agents that are right; may be repeated")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), &e, args[0], &f) }
	return cmd
}

// wanted is what is expected; nil for nothing.
func (f *flags) wanted() (*callvet.Selection, error) {
	w := f.want
	w.Tools, w.Acceptable = f.expected, f.accepted
	if slices.Contains(w.Tools, "none") {
		if len(w.Tools) > 1 {
			return nil, fmt.Errorf("expect tools: %w: none stands alone", callvet.ErrInvalid)
		}
		w.Tools = []string{}
	}
	if w.Tools == nil && w.Acceptable == nil && w.Route == "" && w.SubRoute == "" && w.Agents == nil {
		return nil, nil
	}
	return &w, nil
}

func run(ctx context.Context, e *selector.Env, question string, f *flags) error {
	if f.Tools == "" && f.via == "" {
		return selector.NoCatalogue()
	}
	want, err := f.wanted()
	if err != nil {
		return err
	}
	if _, err := f.Ready(e.Read); err != nil {
		return err
	}
	var a *Answer
	if f.via != "" {
		a, err = ask(ctx, e, question, f, want)
	} else {
		a, err = search(ctx, e, question, f, want)
	}
	if err != nil {
		return err
	}
	if a.Verdict != "" && a.Verdict != callvet.VerdictPass {
		e.Missed()
	}
	return e.Tell(a)
}

func ask(ctx context.Context, e *selector.Env, question string, f *flags, want *callvet.Selection) (*Answer, error) {
	if err := f.Service(f.via); err != nil {
		return nil, err
	}
	cfg := retriever.RemoteConfig{URL: f.via, Headers: map[string]string{}, Lookup: e.Models().Getenv, K: f.Settings.Depth(), Timeout: f.timeout, Now: e.Now}
	for _, h := range f.headers {
		name, v, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("read header: %w: write --header 'NAME: VALUE'", callvet.ErrInvalid)
		}
		cfg.Headers[strings.TrimSpace(name)] = strings.TrimSpace(v)
	}
	m, _, err := retriever.OpenRemote(cfg)
	if err != nil {
		return nil, err
	}
	return Ask(ctx, m, question, want, f.Settings.Depth())
}

func search(ctx context.Context, e *selector.Env, question string, f *flags, want *callvet.Selection) (*Answer, error) {
	m := e.Models()
	defer func() { _ = m.Close() }() // has told of what went wrong
	if err := f.Calibrate(ctx, e, m.Warn, ""); err != nil {
		return nil, err
	}
	r, _, err := selector.Open(ctx, f.Tools, f.Settings, e.Read, m, e.Now)
	if err != nil {
		return nil, err
	}
	a, err := Search(ctx, r, question, want, f.Settings.Depth())
	if err != nil {
		return nil, err
	}
	a.Models = m.Used()
	selector.TellUse(m.Warn, a.Models)
	return a, nil
}
