// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package revision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// Suggestions are descriptions that a model wrote, with what they do to questions that
// it has not seen.
type Suggestions struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Model   string  `json:"model"`
	Holdout float64 `json:"holdout"`
	Seed    int64   `json:"seed"`
	// Train and Held count the questions of both halves, LeftOut the cases without.
	Train   int          `json:"train"`
	Held    int          `json:"held_out"`
	LeftOut int          `json:"left_out"`
	Usage   *Usage       `json:"usage"`
	Tools   []Suggestion `json:"tools"`
	// Together holds all that are proposed against the catalog as it is; nil for none.
	Together *Comparison `json:"together"`
	Output   string      `json:"output"`
	path     string      // of the catalog
	seen     []string
}

// Suggestion is one tool's.
type Suggestion struct {
	Tool string `json:"tool"`
	// Lost and Taken count train questions that the tool should have got, and that it
	// got from others.
	Lost        int           `json:"lost"`
	Taken       int           `json:"taken"`
	Status      revise.Status `json:"status"`
	Reasons     []string      `json:"reasons,omitempty"`
	Was         string        `json:"was"`
	Description string        `json:"description,omitempty"`
	// Requests is how often the model was asked, Mended whether a fence was taken off.
	Requests int  `json:"requests"`
	Mended   bool `json:"mended,omitempty"`
	// Own is how many of the held-out questions are the tool's. Alone and Adjusted (Holm
	// over all that were measured) are of this suggestion without the others; nil where
	// it was not measured.
	Own      int               `json:"held_out_cases"`
	Alone    *panel.Difference `json:"difference,omitempty"`
	Adjusted *float64          `json:"p_adjusted,omitempty"`
	Took     []string          `json:"took,omitempty"`
	of       *Comparison
	told     []string // the reasons as the model is told them, where they are others
}

// suggestFlags are those of the command.
type suggestFlags struct {
	suite, output string
	tools, models []string
	holdout       float64
	seed          int64
	most          int
	dryRun        bool
	settings      *selector.Flags
	asking        selector.Asking
}

const suggestLong = `Ask a model for better descriptions of the tools that fail most, and measure them on questions that it has not seen.

The suite is divided in two. The tools are chosen, and the prompts made, with one part; the descriptions are measured on the
other, each alone and all together, by callvet's retriever. What repeats a question, names parameters or numbers that the
tool does not tell of, orders its reader, or lowers the held-out part is written as rejected, with the reason; the rest as
proposed. The catalogue is not changed: look at the file, write status: accepted, then callvet tools apply.`

func suggestCommand(e *Env) *cobra.Command {
	var f suggestFlags
	cmd := &cobra.Command{
		Use: "suggest CATALOGUE --suite SUITE --model MODEL -o EDITS", Short: "Have a model suggest descriptions, measured on questions it has not seen", Long: suggestLong,
		Example: "  callvet tools suggest catalogue.json --suite suite.json -m openai/gpt-5-mini -o edits.yaml\n  callvet tools suggest catalogue.json --suite suite.json --tool smhi_prognos --dry-run",
		Args:    cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "", "suite with the questions")
	flags.StringArrayVar(&f.tools, "tool", nil, "tool to describe anew; may be repeated (default: those that fail most)")
	flags.Var(ranged.Int(&f.most, 5, 1), "top", "how many tools, where none is named")
	flags.Var(ranged.Between(&f.holdout, 0.5), "holdout", "share of the questions that is kept from the model")
	flags.Int64Var(&f.seed, "seed", 1, "seed of the division")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what the model would be asked, and do not ask it")
	flags.StringVarP(&f.output, "output", "o", "", "file with edits to write; one that exists is kept, and is an error")
	f.settings = settingFlags(flags)
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.asking = e.Asking(own)
	addBut(flags, own, "output", "resume", "name", "quiet", "seed", "repeat")
	flags.Lookup("model").Usage = "model that writes the descriptions"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var err error
		if f.models, err = flags.GetStringArray("model"); err != nil {
			return err
		}
		return e.suggest(cmd.Context(), args[0], &f)
	}
	return cmd
}

func (f *suggestFlags) check(e *Env) error {
	switch {
	case !(f.holdout > 0 && f.holdout < 1):
		return fmt.Errorf("read --holdout %v: %w: above 0 and below 1", f.holdout, callvet.ErrInvalid)
	case f.most < 1 || f.most > 1000:
		return fmt.Errorf("read --top %d: %w: from 1 to 1000", f.most, callvet.ErrInvalid)
	case f.dryRun:
		return nil
	case len(f.models) != 1:
		return &callvet.Hinted{Err: fmt.Errorf("which model suggests? %w: exactly one is asked", callvet.ErrInvalid), Hint: "-m openai/gpt-5-mini, or --dry-run to see the prompts"}
	case f.output == "":
		return &callvet.Hinted{Err: fmt.Errorf("where are the edits written? %w: no file", callvet.ErrInvalid), Hint: "-o edits.yaml"}
	}
	if _, there, err := e.Old(f.output); err != nil {
		return err
	} else if there {
		return &callvet.Hinted{Err: fmt.Errorf("write %s: %w: it exists, and may hold what somebody decided", f.output, callvet.ErrInvalid), Hint: "another name, or move it away"}
	}
	return nil
}

// study is what suggestions are made and measured with.
type study struct {
	env         *Env
	flags       *suggestFlags
	suite       *callvet.Suite
	catalogue   *retrieve.Catalogue
	all         []revise.Question
	train, held []question
	candidates  []revise.Candidate
}

func (e *Env) suggest(ctx context.Context, catalogue string, f *suggestFlags) error {
	if err := f.check(e); err != nil {
		return err
	}
	c, err := e.load(ctx, catalogue, f.settings, f.suite)
	if err != nil {
		return err
	}
	s, qs, left, err := e.questions(ctx, f.suite, c)
	if err != nil {
		return err
	}
	defer e.open()()
	t := &study{env: e, flags: f, suite: s, catalogue: c, all: plainQuestions(qs)}
	if err := t.divide(ctx, qs); err != nil {
		return err
	}
	if f.dryRun {
		return t.show()
	}
	out := &Suggestions{
		Format: "callvet.tools-suggest", Version: 1, Model: f.models[0], Holdout: f.holdout, Seed: f.seed,
		Train: len(t.train), Held: len(t.held), LeftOut: left, Output: f.output, path: catalogue,
	}
	for i := range t.train {
		out.seen = append(out.seen, t.train[i].Case)
	}
	if err := t.ask(ctx, out); err != nil {
		return err
	}
	if err := t.measure(ctx, out); err != nil {
		return err
	}
	b, err := out.file(f)
	if err != nil {
		return err
	}
	if err := e.Write(ctx, f.output, plain.Visible(b)); err != nil {
		_, _ = e.Out.Write(b) // what was paid for is not lost with a file that cannot be written
		return err
	}
	return e.tell(out)
}

// divide holds questions out and chooses tools by the others.
func (t *study) divide(ctx context.Context, qs []question) error {
	said := revise.Said(t.catalogue, t.all) // the model reads the catalogue
	for i, held := range revise.Split(t.all, t.flags.holdout, t.flags.seed) {
		if held && !said[i] {
			t.held = append(t.held, qs[i])
		} else {
			t.train = append(t.train, qs[i])
		}
	}
	if len(t.train) == 0 || len(t.held) == 0 {
		return fmt.Errorf("divide suite: %w: two parts need more questions: %d of %d could be seen, %d held out", callvet.ErrInvalid, len(t.train), len(qs), len(t.held))
	}
	got, err := t.env.search(ctx, t.catalogue, t.flags.settings, t.train)
	if err != nil {
		return err
	}
	var outcomes []revise.Outcome
	for i := range t.train {
		if q, first := &t.train[i], got[i].first(); !slices.Contains(q.want.Acceptable, first) || slices.Contains(q.Right, first) {
			outcomes = append(outcomes, revise.Outcome{Question: q.Question, First: first})
		}
	}
	if len(t.flags.tools) == 0 {
		t.candidates = revise.Choose(outcomes, t.flags.most)
	} else {
		t.candidates = revise.Of(outcomes, slices.Compact(slices.Sorted(slices.Values(t.flags.tools))))
	}
	if len(t.candidates) == 0 {
		return fmt.Errorf("choose tools: %w: no tool loses or takes any of the %d questions that the model may see", callvet.ErrInvalid, len(t.train))
	}
	for i := range t.candidates { // a tool that there is not is told before anything is asked
		name := t.candidates[i].Tool
		text := "x"
		if _, err := revise.Apply(t.catalogue, []revise.Edit{{Tool: name, Description: &text}}); err != nil {
			return fmt.Errorf("choose tools: %w", err)
		}
	}
	return nil
}

// show prints the prompts.
func (t *study) show() error {
	p := prompts{Format: "callvet.prompts", Version: 1, System: revise.Instructions()}
	for i := range t.candidates {
		text, err := revise.Prompt(t.catalogue, &t.candidates[i], plainQuestions(t.held))
		if err != nil {
			return err
		}
		p.Prompts = append(p.Prompts, prompt{t.candidates[i].Tool, text})
	}
	return t.env.tell(&p)
}

func (t *study) entry(name string) *retrieve.Entry {
	for i := range t.catalogue.Entries {
		if e := &t.catalogue.Entries[i]; e.Tool.Name == name {
			return e
		}
	}
	return nil
}

// ask has the model write, and once more where its answer cannot be used.
func (t *study) ask(ctx context.Context, out *Suggestions) error {
	var todo []asked
	for i := range t.candidates {
		c := &t.candidates[i]
		text, err := revise.Prompt(t.catalogue, c, plainQuestions(t.held))
		if err != nil {
			return err
		}
		todo = append(todo, asked{at: i, id: "suggest:" + c.Tool, turns: []callvet.Turn{{Role: callvet.RoleUser, Content: text}}})
		out.Tools = append(out.Tools, Suggestion{Tool: c.Tool, Lost: len(c.Lost), Taken: len(c.Taken), Was: t.entry(c.Tool).Tool.Description})
	}
	out.Usage = &Usage{}
	for round := range 2 {
		answers, err := t.round(ctx, todo, out.Usage)
		if err != nil && (round == 0 || ctx.Err() != nil) {
			return err
		} else if err != nil { // what was answered all the same is used
			fmt.Fprintf(t.env.Err, "warning: the model was not asked once more about all that cannot be used: %s\n", plain.Line(err.Error()))
			todo = slices.DeleteFunc(todo, func(q asked) bool { return answers[q.id].text == "" })
		}
		for _, q := range todo {
			s := &out.Tools[q.at]
			s.Requests++
			t.take(s, &t.candidates[q.at], answers[q.id])
		}
		if err := t.strange(ctx, out, todo); err != nil {
			return err
		}
		var again []asked
		for _, q := range todo {
			if s, a := &out.Tools[q.at], answers[q.id]; len(s.Reasons) > 0 && a.text != "" {
				again = append(again, q.again(a.text, s.toModel()))
			}
		}
		if todo = again; len(todo) == 0 {
			return nil
		}
	}
	return nil
}

// nearby is among how many tools a description has to find its own tool.
const nearby = 3

// strange finds descriptions that seem to be of other tools: asked for what they say,
// the catalog as it is gives others first, although it gives the tool when it is asked
// for what is said of it now. No held-out question need tell that.
func (t *study) strange(ctx context.Context, out *Suggestions, todo []asked) error {
	var qs []question
	var of []*Suggestion
	for _, q := range todo {
		if s := &out.Tools[q.at]; len(s.Reasons) == 0 {
			of = append(of, s)
			for _, text := range []string{s.Was, s.Description} {
				qs = append(qs, question{Question: revise.Question{Case: s.Tool, Text: text}, want: callvet.Selection{Tools: []string{s.Tool}}})
			}
		}
	}
	f := *t.flags.settings
	f.Settings.K, f.Settings.Threshold = nearby, 0
	f.Settings.Abstain, f.Settings.AbstainPercent, f.Settings.AbstainRoutes = 0, 0, nil
	got, err := t.env.search(ctx, t.catalogue, &f, qs)
	if err != nil {
		return err
	}
	for i, s := range of {
		was, is := got[2*i], got[2*i+1]
		if slices.Contains(was.chosen, s.Tool) && !slices.Contains(is.chosen, s.Tool) {
			s.Reasons = []string{fmt.Sprintf("it seems to describe another tool: asked for it, the catalogue gives %s", names(is.chosen))}
		}
	}
	return nil
}

// asked is one request about a tool.
type asked struct {
	at    int // in the candidates
	id    string
	turns []callvet.Turn
}

// maxEcho is how much of an answer that could not be used the model is shown again.
const maxEcho = 4 << 10

func (q asked) again(answer string, wrong []string) asked {
	return asked{at: q.at, id: q.id + ":again", turns: append(slices.Clone(q.turns),
		callvet.Turn{Role: callvet.RoleAssistant, Content: plain.Limited(answer, maxEcho)}, callvet.Turn{Role: callvet.RoleUser, Content: revise.Again(wrong)})}
}

// take reads an answer and checks what it suggests.
func (t *study) take(s *Suggestion, c *revise.Candidate, a reply) {
	s.Reasons, s.told, s.Description, s.Mended = nil, nil, "", false
	if a.text == "" {
		s.Reasons = []string{"the model gave no answer: " + a.why}
		return
	}
	d, mended, wrong := revise.ReadAnswer(a.text)
	if wrong != "" {
		s.Reasons = []string{"the answer cannot be read: " + wrong}
		return
	}
	s.Description, s.Mended = d, mended
	names := make([]string, len(t.catalogue.Entries))
	for i := range t.catalogue.Entries {
		names[i] = t.catalogue.Entries[i].Tool.Name
	}
	suspect := revise.Suspect{Description: d, Tool: t.entry(s.Tool), Names: names, Rivals: c.Named(), Questions: t.all}
	s.Reasons = revise.Check(&suspect)
	suspect.Unnamed = true
	s.told = revise.Check(&suspect)
}

// toModel are the reasons without what is held out.
func (s *Suggestion) toModel() []string {
	if len(s.told) > 0 {
		return s.told
	}
	return s.Reasons
}

// edit is the suggestion as an edit.
func (s *Suggestion) edit() revise.Edit {
	return revise.Edit{Tool: s.Tool, Was: &s.Was, Description: &s.Description}
}

// measure holds what survived against the held-out questions.
func (t *study) measure(ctx context.Context, out *Suggestions) error {
	base, err := t.env.search(ctx, t.catalogue, t.flags.settings, t.held)
	if err != nil {
		return err
	}
	var left []*Suggestion
	var ps []float64
	for i := range out.Tools {
		s := &out.Tools[i]
		for _, q := range t.held {
			if slices.Contains(q.Right, s.Tool) {
				s.Own++
			}
		}
		if s.Status = revise.Proposed; len(s.Reasons) > 0 {
			s.Status = revise.Rejected
			continue
		}
		if s.of, err = t.env.one(ctx, t.catalogue, []revise.Edit{s.edit()}, t.flags.settings, t.held, base); err != nil {
			return err
		}
		s.Alone, s.Took = &s.of.main, s.of.Tools[0].Took
		left, ps = append(left, s), append(ps, s.of.main.P)
	}
	for i, p := range stats.Holm(ps) {
		left[i].Adjusted = &p
	}
	left = slices.DeleteFunc(left, func(s *Suggestion) bool {
		why := lowers(s.of)
		if why != "" {
			s.reject("it lowers the held-out part: " + why)
		}
		return why != ""
	})
	return t.together(ctx, out, left, base)
}

// together measures all that are left, and takes out the least useful as long as all
// together lower what each alone does not.
func (t *study) together(ctx context.Context, out *Suggestions, left []*Suggestion, base []answer) error {
	for len(left) > 0 {
		var edits []revise.Edit
		for _, s := range left {
			edits = append(edits, s.edit())
		}
		c, err := t.env.one(ctx, t.catalogue, edits, t.flags.settings, t.held, base)
		if err != nil {
			return err
		}
		why := lowers(c)
		if why == "" {
			out.Together = c
			return nil
		}
		worst := slices.MinFunc(left, func(a, b *Suggestion) int { return a.gain(b) })
		worst.reject("together with the others it lowers the held-out part: " + why)
		left = slices.DeleteFunc(left, func(s *Suggestion) bool { return s == worst })
	}
	return nil
}

func (s *Suggestion) gain(o *Suggestion) int {
	switch a, b := s.of.main.Change.Point-o.of.main.Change.Point, s.of.mrrChange()-o.of.mrrChange(); {
	case a < 0 || a == 0 && b < 0:
		return -1
	case a > 0 || b > 0:
		return 1
	}
	return strings.Compare(o.Tool, s.Tool)
}

func (s *Suggestion) reject(why string) {
	s.Status, s.Reasons = revise.Rejected, append(s.Reasons, why)
}

func (c *Comparison) mrrChange() float64 {
	if c.MRR == nil {
		return 0
	}
	return c.MRR.Change.Point
}

// lowers says how a change lowers what it is measured on: fewer first tools are right,
// or as many and the right ones stand lower. Empty where it does not.
func lowers(c *Comparison) string {
	d := &c.main
	switch {
	case d.Change.Point < 0:
		return fmt.Sprintf("%s newly wrong, %d newly right", plain.Count(d.NewlyFailing, "case is", "cases are"), d.NewlyPassing)
	case d.Change.Point == 0 && c.mrrChange() < -1e-12:
		return fmt.Sprintf("as many first tools are right, and MRR falls by %.4f", -c.mrrChange())
	}
	return ""
}

// file is the file of edits: what is proposed first.
func (s *Suggestions) file(f *suggestFlags) ([]byte, error) {
	out := editfile.File{Seen: s.seen}
	for _, status := range []revise.Status{revise.Proposed, revise.Rejected} {
		for i := range s.Tools {
			t := &s.Tools[i]
			if t.Status != status || t.Description == "" {
				continue
			}
			e := t.edit()
			text := plain.Clean(t.Description)
			e.Description, e.Status, e.Reason = &text, t.Status, plain.Clean(t.why())
			e.Measured = t.measured()
			out.Edits = append(out.Edits, e)
		}
	}
	return editfile.Write(&out, s.comment(f))
}

// why says in a sentence what speaks against the suggestion, or what was measured.
func (s *Suggestion) why() string {
	if len(s.Reasons) > 0 {
		return strings.Join(s.Reasons, "; ")
	}
	if d := &s.of.main; d.NewlyPassing+d.NewlyFailing == 0 && s.of.mrrChange() > 0 {
		return fmt.Sprintf("no first tool changed on the held-out part; MRR rose by %.4f", s.of.mrrChange())
	} else if d.NewlyPassing+d.NewlyFailing == 0 {
		return fmt.Sprintf("nothing shows that it is better or worse: no held-out case changed, %s the tool's", plain.Count(s.Own, "is", "are"))
	}
	return s.of.Sentence
}

func (s *Suggestion) measured() *revise.Measured {
	if s.of == nil {
		return nil
	}
	d := &s.of.main
	m := &revise.Measured{
		Cases: d.Cases, Before: int(d.Baseline.Point*float64(d.Cases) + 0.5), After: int(d.Candidate.Point*float64(d.Cases) + 0.5),
		Change: d.Change.Point, Lower: d.Change.Lower, Upper: d.Change.Upper, P: d.P,
	}
	for _, c := range s.of.Right {
		m.NewlyRight = append(m.NewlyRight, c.Case)
	}
	for _, c := range s.of.Wrong {
		m.NewlyWrong = append(m.NewlyWrong, c.Case)
	}
	return m
}
