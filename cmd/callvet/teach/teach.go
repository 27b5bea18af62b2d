// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package teach

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite/source"
	"github.com/callvet/callvet/retrieve/catalogue"
	"github.com/callvet/callvet/retrieve/route"
	"github.com/callvet/callvet/stats"
)

// Lesson is what was learned and how often it was right.
type Lesson struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Examples were learned; None of them belong to no route, and Repeated were there
	// before with the same answer.
	Examples int      `json:"examples"`
	None     int      `json:"none"`
	Repeated int      `json:"repeated"`
	Routes   []string `json:"routes"`
	// Threshold is the probability under which a question belongs to no route.
	Threshold float64 `json:"threshold"`
	// Held is measured on every fifth example of each route, with routes that were
	// learned without them; Test on the questions of --test, with all that was learned.
	Held Measured  `json:"held_out"`
	Test *Measured `json:"test,omitempty"`
	// File is where the routes are; empty when they are kept nowhere.
	File string `json:"file,omitempty"`
}

// Measured counts questions. Seen of those of a test were among the examples and are
// left out of all other counts.
type Measured struct {
	Questions int `json:"questions"`
	Seen      int `json:"seen,omitempty"`
	// Route are those whose route is right of InScope, SubRoute of WithSub; Refused
	// of Outside are given no route, rightly, and Lost of InScope are given none, wrongly.
	InScope  int `json:"in_scope"`
	Route    int `json:"right_route"`
	Lost     int `json:"lost"`
	WithSub  int `json:"with_sub_route"`
	SubRoute int `json:"right_sub_route"`
	Outside  int `json:"outside"`
	Refused  int `json:"refused"`
}

// every fifth example of a route is held out.
const every = 5

// Learn learns routes from examples and measures them. Errors are those of route.Learn,
// and examples that contradict one another.
func Learn(examples, test []route.Example, o route.LearnOptions) (*route.Learned, *Lesson, error) {
	kept, repeated, err := distinct(examples)
	if err != nil {
		return nil, nil, err
	}
	l := &Lesson{Format: "callvet.lesson", Version: 1, Examples: len(kept), Repeated: repeated}
	var fit, held []route.Example
	seen := map[route.Example]int{}
	for _, e := range kept {
		label := route.Example{Route: e.Route, SubRoute: e.SubRoute}
		if seen[label]++; seen[label]%every == 0 {
			held = append(held, e)
		} else {
			fit = append(fit, e)
		}
		if e.Route == "" {
			l.None++
		} else if !slices.Contains(l.Routes, e.Route) {
			l.Routes = append(l.Routes, e.Route)
		}
	}
	slices.Sort(l.Routes)
	part, err := route.Learn(fit, o)
	if err != nil {
		return nil, nil, err
	}
	l.Held = measure(part, held)
	all, err := route.Learn(kept, o)
	if err != nil {
		return nil, nil, err
	}
	l.Threshold = all.Threshold()
	if test != nil {
		m := measure(all, test)
		l.Test = &m
	}
	return all, l, nil
}

// distinct leaves out examples that are there before with the same answer.
func distinct(examples []route.Example) (kept []route.Example, repeated int, err error) {
	at := map[uint64]route.Example{}
	for _, e := range examples {
		first, twice := at[route.Mark(e.Text)]
		switch {
		case !twice:
			at[route.Mark(e.Text)] = e
			kept = append(kept, e)
		case first.Route != e.Route || first.SubRoute != e.SubRoute:
			return nil, 0, fmt.Errorf("learn routes: %w: %q belongs to %s and to %s", callvet.ErrInvalid, e.Text, nameOf(first), nameOf(e))
		default:
			repeated++
		}
	}
	return kept, repeated, nil
}

func nameOf(e route.Example) string {
	if e.Route == "" {
		return "no route"
	}
	return strings.TrimSuffix(e.Route+"/"+e.SubRoute, "/")
}

func measure(l *route.Learned, questions []route.Example) (m Measured) {
	for _, q := range questions {
		if l.Saw(q.Text) {
			m.Seen++
			continue
		}
		m.Questions++
		d := l.Route(q.Text)
		if q.Route == "" {
			m.Outside += 1
			m.Refused += is(d.Route == "")
			continue
		}
		m.InScope++
		m.Route += is(d.Route == q.Route)
		m.Lost += is(d.Route == "")
		if q.SubRoute != "" {
			m.WithSub++
			m.SubRoute += is(d.Route == q.Route && d.SubRoute == q.SubRoute)
		}
	}
	return m
}

func is(b bool) int {
	if b {
		return 1
	}
	return 0
}

// maxExamples is the size of the largest file of examples in bytes.
const maxExamples = 256 << 20

// ReadExamples reads questions with their routes: a list, or one a line, of objects with
// query (or text), route and sub_route, where a route of null or "" is none; or a
// catalog, whose example questions lead to the routes of their tools. The error wraps
// callvet.ErrInvalid and names file and example.
func ReadExamples(name string, data []byte) ([]route.Example, error) {
	data, err := input.All(name, data, maxExamples)
	if err != nil {
		return nil, fmt.Errorf("read examples: %w", err)
	}
	text, _, err := source.PlainJSON(name, data)
	if err != nil {
		return nil, fmt.Errorf("read examples: %w: %w", callvet.ErrInvalid, err)
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return ofCatalogue(name, text)
	}
	var out []route.Example
	for i, raw := range list {
		var e struct {
			Query, Text string
			Route       *json.RawMessage
			SubRoute    string `json:"sub_route"`
		}
		err := json.Unmarshal(raw, &e)
		one := route.Example{Text: strings.TrimSpace(cmp.Or(e.Query, e.Text)), SubRoute: e.SubRoute}
		if err == nil && e.Route != nil {
			err = json.Unmarshal(*e.Route, &one.Route)
		}
		var members map[string]json.RawMessage
		_ = json.Unmarshal(raw, &members) // told above
		if _, given := members["route"]; err != nil || one.Text == "" || !given || one.Route == "" && one.SubRoute != "" {
			return nil, &callvet.Hinted{
				Err:  fmt.Errorf("read examples %s: %w: example %d is none: %s", name, callvet.ErrInvalid, i+1, plain.Limited(plain.Line(string(raw)), 120)),
				Hint: `write {"query": "When do trains leave?", "route": "action", "sub_route": "travel"}, or "route": null for a question that belongs to none`,
			}
		}
		out = append(out, one)
	}
	return out, nil
}

func ofCatalogue(name string, text []byte) ([]route.Example, error) {
	c, _, err := catalogue.Load(name, text)
	if err != nil {
		return nil, err
	}
	out := c.RouteExamples()
	if len(out) == 0 {
		return nil, &callvet.Hinted{Err: fmt.Errorf("read examples %s: %w: no tool has example questions and a route", name, callvet.ErrInvalid), Hint: "example_queries and route of its tools, or a list of questions"}
	}
	return out, nil
}

// JSON writes what was learned.
func (l *Lesson) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(l) }

// Text writes what was learned for people.
func (l *Lesson) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s learned", plain.Count(l.Examples, "example", "examples"), plain.Count(len(l.Routes), "route", "routes"))
	if l.None > 0 {
		fmt.Fprintf(&b, ", %d of them of none", l.None)
	}
	if l.Repeated > 0 {
		fmt.Fprintf(&b, "; %d were there twice", l.Repeated)
	}
	b.WriteString("\n")
	l.Held.text(&b, "Held out, one in five of each route, learned without them")
	if l.Test != nil {
		l.Test.text(&b, "Test, with all examples learned")
	}
	if l.None == 0 {
		b.WriteString("No example belongs to no route: no question will be refused.\n")
	}
	if l.File != "" {
		fmt.Fprintf(&b, "callvet select SUITE --tools CATALOGUE --routes %s\n", plain.Line(l.File))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (m *Measured) text(b *strings.Builder, head string) {
	fmt.Fprintf(b, "%s: %s", head, plain.Count(m.Questions, "question", "questions"))
	if m.Seen > 0 {
		fmt.Fprintf(b, " (%d more were examples, and say nothing)", m.Seen)
	}
	b.WriteString("\n")
	for _, r := range []struct {
		what string
		x, n int
	}{{"right route", m.Route, m.InScope}, {"right sub-route", m.SubRoute, m.WithSub}, {"given no route, wrongly", m.Lost, m.InScope}, {"given no route, rightly", m.Refused, m.Outside}} {
		if r.n > 0 {
			iv := stats.Wilson(r.x, r.n, 0.95, stats.TwoSided)
			fmt.Fprintf(b, "  %-24s %d of %d, %s [%.1f–%.1f]\n", r.what, r.x, r.n, plain.Percent(float64(r.x)/float64(r.n)), 100*iv.Lower, 100*iv.Upper)
		}
	}
}

// Command is `callvet select routes`.
func Command(e selector.Env) *cobra.Command {
	group := &cobra.Command{
		Use: "routes", Short: "Learn routes from questions that are known to belong to them",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var f flags
	learn := &cobra.Command{
		Use: "learn EXAMPLES -o MODEL", Short: "Learn routes from examples, for select --routes MODEL",
		Long: `Learn routes from questions: a list, or one a line, of {"query": …, "route": …, "sub_route": …}, where a route of null is for a
question that belongs to none; or a catalogue, whose example questions lead to the routes of their tools.

How often the routes are right is measured on every fifth example of each route, with routes that were learned without these;
the file has those of all examples. --test FILE measures them on other questions.`,
		Example: "  callvet select routes learn examples.jsonl -o routes.json\n  callvet select suite.json --tools catalogue.json --routes routes.json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return learn(cmd.Context(), &e, args[0], &f) },
	}
	fs := learn.Flags()
	fs.StringVarP(&f.output, "output", "o", "", "file for the routes")
	fs.StringVar(&f.test, "test", "", "file with other questions to measure on")
	fs.Var(ranged.Share(&f.refuse, 0.05), "refuse", "share of right routes that may be lost so that questions that belong to none are refused")
	fs.Int64Var(&f.seed, "seed", 1, "seed of the order in which examples are gone through")
	group.AddCommand(learn)
	return group
}

type flags struct {
	output, test string
	refuse       float64
	seed         int64
}

func learn(ctx context.Context, e *selector.Env, name string, f *flags) error {
	if !(f.refuse > 0 && f.refuse < 1) {
		return fmt.Errorf("learn routes: %w: --refuse is a share over 0 and under 1", callvet.ErrInvalid)
	}
	read := func(name string) ([]route.Example, error) {
		b, err := e.Read(name)
		if err != nil {
			return nil, fmt.Errorf("read examples: %w", err)
		}
		return ReadExamples(name, b)
	}
	examples, err := read(name)
	if err != nil {
		return err
	}
	var test []route.Example
	if f.test != "" {
		if test, err = read(f.test); err != nil {
			return err
		}
	}
	if f.output != "" {
		old, there, err := e.Old(f.output)
		if err != nil {
			return err
		}
		if there && !route.IsLearned(old) {
			return &callvet.Hinted{Err: fmt.Errorf("write routes %s: %w: there is a file that was not learned", f.output, callvet.ErrConflict), Hint: "-o with another name"}
		}
	}
	model, lesson, err := Learn(examples, test, route.LearnOptions{Refuse: f.refuse, Seed: uint64(f.seed)})
	if err != nil {
		return err
	}
	if f.output != "" {
		b, err := json.Marshal(model)
		if err != nil {
			return err
		}
		if err := e.Write(ctx, f.output, plain.Visible(append(b, '\n'))); err != nil {
			return err
		}
		lesson.File = f.output
	}
	return e.Tell(lesson)
}
