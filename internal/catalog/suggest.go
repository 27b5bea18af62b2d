// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

// Suggestions are descriptions that a model wrote, with their effect on questions that it has not
// seen.
type Suggestions struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Model   string  `json:"model"`
	Holdout float64 `json:"holdout"`
	Seed    int64   `json:"seed"`
	// Train and Held count the questions of both halves, LeftOut the cases without a question.
	Train   int          `json:"train"`
	Held    int          `json:"held_out"`
	LeftOut int          `json:"left_out"`
	Usage   *EffectUsage `json:"usage"`
	Tools   []Suggestion `json:"tools"`
	// Together compares all proposed edits with the unchanged catalog; nil for none.
	Together *Comparison `json:"together"`
	Output   string      `json:"output"`
	// Catalogue is the file of the catalog.
	Catalogue string `json:"catalogue"`
	seen      []string
}

// Suggestion is the suggestion for one tool.
type Suggestion struct {
	Tool string `json:"tool"`
	// Lost and Taken count train questions that other tools took from this tool, and that it took
	// from others.
	Lost        int          `json:"lost"`
	Taken       int          `json:"taken"`
	Status      learn.Status `json:"status"`
	Reasons     []string     `json:"reasons,omitempty"`
	Was         string       `json:"was"`
	Description string       `json:"description,omitempty"`
	// Requests is the number of requests to the model, Mended whether a fence was removed.
	Requests int  `json:"requests"`
	Mended   bool `json:"mended,omitempty"`
	// Own is how many of the held-out questions belong to the tool. Alone and Adjusted (Holm over
	// all measured suggestions) are for this suggestion without the others; nil where it was not
	// measured.
	Own      int               `json:"held_out_cases"`
	Alone    *panel.Difference `json:"difference,omitempty"`
	Adjusted *float64          `json:"p_adjusted,omitempty"`
	Took     []string          `json:"took,omitempty"`
	of       *Comparison
	told     []string // the reasons in the form for the model, if different
}

// SuggestRequest requests better descriptions from a model.
type SuggestRequest struct {
	Search
	Suite string `json:"suite"`
	// Only are the tools for new descriptions; none: the Top that fail most; 0: 5.
	Only []string `json:"only,omitempty"`
	Top  int      `json:"top,omitempty"`
	// Holdout is the share of the questions that is kept from the model; 0: a half.
	Holdout float64 `json:"holdout,omitempty"`
	Seed    int64   `json:"seed"`
	// Models is the writing model.
	Models []string `json:"models"`
	// Output is a file for the edits; it must not exist.
	Output string `json:"output"`
}

// check checks a request; dry: no model is asked.
func (q *SuggestRequest) check(dry bool) error {
	q.Holdout, q.Top = cmp.Or(q.Holdout, 0.5), cmp.Or(q.Top, 5)
	switch {
	case !(q.Holdout > 0 && q.Holdout < 1):
		return Invalid("holdout", "", "read {holdout} %v: invalid: above 0 and below 1", q.Holdout)
	case q.Top < 1 || q.Top > 1000:
		return Invalid("top", "", "read {top} %d: invalid: from 1 to 1000", q.Top)
	case dry:
		return nil
	case len(q.Models) != 1:
		return Invalid("models", "{models} openai/gpt-5-mini, or {dry_run} to see the prompts",
			"which model suggests? invalid: exactly one is asked")
	}
	return nil
}

// writable is the error of an output file that cannot be written.
func (q *SuggestRequest) writable(e *Env) error {
	if q.Output == "" {
		return Invalid("output", "{output} edits.yaml", "where are the edits written? invalid: no file")
	}
	if _, there, err := e.Old(q.Output); err != nil {
		return err
	} else if there {
		return Invalid("output", "another name, or move it away",
			"write %s: invalid: it exists, and may hold decisions of a person", q.Output)
	}
	return nil
}

// study has the data for making and measuring suggestions.
type study struct {
	*bench
	asked       *SuggestRequest
	all         []learn.Question
	train, held []Question
	candidates  []learn.Candidate
}

// prepare chooses the tools, and the questions that a model may see.
func prepare(ctx context.Context, e *Env, q *SuggestRequest) (*study, error) {
	b, err := open(ctx, e, &q.Search, q.Suite)
	if err != nil {
		return nil, err
	}
	t := &study{bench: b, asked: q, all: PlainQuestions(b.qs)}
	return t, t.divide(ctx, b.qs)
}

// Unwritten is the error of edits that could not be written. Data are the edits, so that paid
// results are not lost.
type Unwritten struct {
	Data []byte
	Err  error
}

func (u *Unwritten) Error() string { return u.Err.Error() }

// Unwrap returns the error of the file.
func (u *Unwritten) Unwrap() error { return u.Err }

// Suggest has a model write descriptions of the tools that fail most, measures them on questions
// that it has not seen, and writes them to a file of edits. The catalog is not changed.
func Suggest(ctx context.Context, e *Env, q SuggestRequest) (*Suggestions, error) {
	if err := q.check(false); err != nil {
		return nil, err
	}
	if err := q.writable(e); err != nil {
		return nil, err
	}
	out, b, err := Propose(ctx, e, q)
	if err != nil {
		return nil, err
	}
	if err := e.Write(ctx, q.Output, b); err != nil {
		return nil, &Unwritten{b, err}
	}
	return out, nil
}

// Propose is Suggest without writing: it returns the text of the file of edits; the output may be
// empty.
func Propose(ctx context.Context, e *Env, q SuggestRequest) (*Suggestions, []byte, error) {
	if err := q.check(false); err != nil {
		return nil, nil, err
	}
	t, err := prepare(ctx, e, &q)
	if err != nil {
		return nil, nil, err
	}
	out := &Suggestions{
		Format: "callvet.tools-suggest", Version: 1, Model: q.Models[0], Holdout: q.Holdout, Seed: q.Seed,
		Train: len(t.train), Held: len(t.held), LeftOut: t.left, Output: q.Output, Catalogue: q.Tools,
	}
	for i := range t.train {
		out.seen = append(out.seen, t.train[i].Case)
	}
	if err := t.ask(ctx, out); err != nil {
		return nil, nil, err
	}
	if err := t.measure(ctx, out); err != nil {
		return nil, nil, err
	}
	b, err := out.file(&q)
	return out, plain.Visible(b), err
}

// Prompts are the prompts that a model would get.
type Prompts struct {
	Format  string   `json:"format"`
	Version int      `json:"version"`
	System  string   `json:"system"`
	Prompts []Prompt `json:"prompts"`
}

// Prompt is the prompt about one tool.
type Prompt struct {
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// DryRun returns the prompts of Suggest, and sends no request.
func DryRun(ctx context.Context, e *Env, q SuggestRequest) (*Prompts, error) {
	if err := q.check(true); err != nil {
		return nil, err
	}
	t, err := prepare(ctx, e, &q)
	if err != nil {
		return nil, err
	}
	p := &Prompts{Format: "callvet.prompts", Version: 1, System: learn.RewriteInstructions()}
	for i := range t.candidates {
		text, err := learn.RewritePrompt(t.catalogue, &t.candidates[i], PlainQuestions(t.held))
		if err != nil {
			return nil, err
		}
		p.Prompts = append(p.Prompts, Prompt{t.candidates[i].Tool, text})
	}
	return p, nil
}

// divide holds questions out and chooses tools by the others.
func (t *study) divide(ctx context.Context, qs []Question) error {
	leaked := learn.Leaked(t.catalogue, t.all) // the model reads the catalogue
	for i, held := range learn.SplitQuestions(t.all, t.asked.Holdout, t.asked.Seed) {
		if held && !leaked[i] {
			t.held = append(t.held, qs[i])
		} else {
			t.train = append(t.train, qs[i])
		}
	}
	if len(t.train) == 0 || len(t.held) == 0 {
		return fmt.Errorf("divide suite: %w: two parts need more questions: %d of %d could be seen, %d held out",
			callvet.ErrInvalid, len(t.train), len(qs), len(t.held))
	}
	got, err := t.search(ctx, t.catalogue, t.settings, t.train)
	if err != nil {
		return err
	}
	var outcomes []learn.Outcome
	for i := range t.train {
		if q, first := &t.train[i],
			got[i].First(); !slices.Contains(q.Want.Acceptable, first) || slices.Contains(q.Right, first) {
			outcomes = append(outcomes, learn.Outcome{Question: q.Question, First: first})
		}
	}
	if len(t.asked.Only) == 0 {
		t.candidates = learn.Choose(outcomes, t.asked.Top)
	} else {
		t.candidates = learn.CandidatesOf(outcomes, slices.Compact(slices.Sorted(slices.Values(t.asked.Only))))
	}
	if len(t.candidates) == 0 {
		return fmt.Errorf("choose tools: %w: no tool loses or takes any of the %d questions that the model may see",
			callvet.ErrInvalid, len(t.train))
	}
	for i := range t.candidates { // an unknown tool is reported before a model is asked
		name := t.candidates[i].Tool
		text := "x"
		if _, err := learn.ApplyEdits(t.catalogue, []learn.Edit{{Tool: name, Description: &text}}); err != nil {
			return fmt.Errorf("choose tools: %w", err)
		}
	}
	return nil
}

func (t *study) entry(name string) *retrieve.Entry {
	for i := range t.catalogue.Entries {
		if e := &t.catalogue.Entries[i]; e.Tool.Name == name {
			return e
		}
	}
	return nil
}

// ask requests a description from the model, and a second time where its answer cannot be used.
func (t *study) ask(ctx context.Context, out *Suggestions) error {
	var todo []request
	for i := range t.candidates {
		c := &t.candidates[i]
		text, err := learn.RewritePrompt(t.catalogue, c, PlainQuestions(t.held))
		if err != nil {
			return err
		}
		todo = append(todo,
			request{at: i, id: "suggest:" + c.Tool, turns: []callvet.Turn{{Role: callvet.RoleUser, Content: text}}})
		out.Tools = append(out.Tools,
			Suggestion{Tool: c.Tool, Lost: len(c.Lost), Taken: len(c.Taken), Was: t.entry(c.Tool).Tool.Description})
	}
	out.Usage = &EffectUsage{}
	for round := range 2 {
		answers, err := t.round(ctx, todo, out.Usage)
		if err != nil && (round == 0 || ctx.Err() != nil) {
			return err
		} else if err != nil { // the answers before the error are used
			t.env.Notice("not-asked-again", "the model was not asked once more about all that cannot be used: %v", err)
			todo = slices.DeleteFunc(todo, func(q request) bool { return answers[q.id].text == "" })
		}
		for _, q := range todo {
			s := &out.Tools[q.at]
			s.Requests++
			t.take(s, &t.candidates[q.at], answers[q.id])
		}
		if err := t.strange(ctx, out, todo); err != nil {
			return err
		}
		var again []request
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

// nearby is the number of tools among which a description must find its own tool.
const nearby = 3

// strange finds descriptions that seem to describe other tools. With the new description as a
// question, the present catalog returns other tools first, although with the present description it
// returns the tool. Held-out questions may not show that.
func (t *study) strange(ctx context.Context, out *Suggestions, todo []request) error {
	var qs []Question
	var of []*Suggestion
	for _, q := range todo {
		if s := &out.Tools[q.at]; len(s.Reasons) == 0 {
			of = append(of, s)
			for _, text := range []string{s.Was, s.Description} {
				qs = append(qs, Question{
					Question: learn.Question{Case: s.Tool, Text: text},
					Want:     callvet.Selection{Tools: []string{s.Tool}},
				})
			}
		}
	}
	set := t.settings
	set.K, set.Threshold = nearby, 0
	set.Abstain, set.AbstainPercent, set.AbstainRoutes = 0, 0, nil
	got, err := t.search(ctx, t.catalogue, set, qs)
	if err != nil {
		return err
	}
	for i, s := range of {
		was, is := got[2*i], got[2*i+1]
		if slices.Contains(was.Chosen, s.Tool) && !slices.Contains(is.Chosen, s.Tool) {
			s.Reasons = []string{fmt.Sprintf("it seems to describe another tool: asked for it, the catalogue gives %s",
				plain.Names(is.Chosen))}
		}
	}
	return nil
}

// request is a request about a tool.
type request struct {
	at    int // in the candidates
	id    string
	turns []callvet.Turn
}

// maxEcho is how many bytes of an unusable answer are shown to the model again.
const maxEcho = 4 << 10

func (q request) again(answer string, wrong []string) request {
	return request{at: q.at, id: q.id + ":again", turns: append(slices.Clone(q.turns),
		callvet.Turn{Role: callvet.RoleAssistant, Content: plain.Limited(answer, maxEcho)},
		callvet.Turn{Role: callvet.RoleUser, Content: learn.RetryPrompt(wrong, learn.RewriteForm)})}
}

// take reads an answer and checks its suggestion.
func (t *study) take(s *Suggestion, c *learn.Candidate, a reply) {
	s.Reasons, s.told, s.Description, s.Mended = nil, nil, "", false
	if a.text == "" {
		s.Reasons = []string{"the model gave no answer: " + a.why}
		return
	}
	d, mended, wrong := learn.ReadAnswer(a.text)
	if wrong != "" {
		s.Reasons = []string{"the answer cannot be read: " + wrong}
		return
	}
	s.Description, s.Mended = d, mended
	names := make([]string, len(t.catalogue.Entries))
	for i := range t.catalogue.Entries {
		names[i] = t.catalogue.Entries[i].Tool.Name
	}
	suspect := learn.Suspect{Description: d, Tool: t.entry(s.Tool), Names: names, Rivals: c.Named(), Questions: t.all}
	s.Reasons = learn.CheckSuspect(&suspect)
	suspect.Unnamed = true
	s.told = learn.CheckSuspect(&suspect)
}

// toModel are the reasons without held-out questions.
func (s *Suggestion) toModel() []string {
	if len(s.told) > 0 {
		return s.told
	}
	return s.Reasons
}

// edit is the suggestion as an edit.
func (s *Suggestion) edit() learn.Edit {
	return learn.Edit{Tool: s.Tool, Was: &s.Was, Description: &s.Description}
}

// measure compares the remaining suggestions on the held-out questions.
func (t *study) measure(ctx context.Context, out *Suggestions) error {
	base, err := t.search(ctx, t.catalogue, t.settings, t.held)
	if err != nil {
		return err
	}
	var left []*Suggestion
	var of []*Comparison
	for i := range out.Tools {
		s := &out.Tools[i]
		for _, q := range t.held {
			if slices.Contains(q.Right, s.Tool) {
				s.Own++
			}
		}
		if s.Status = learn.Proposed; len(s.Reasons) > 0 {
			s.Status = learn.Rejected
			continue
		}
		if s.of, err = t.one(ctx, []learn.Edit{s.edit()}, t.held, base); err != nil {
			return err
		}
		whole := s.of.Whole()
		s.Alone, s.Took = &whole, s.of.Tools[0].Took
		left, of = append(left, s), append(of, s.of)
	}
	family := make([]*panel.Difference, len(left))
	for i, p := range Holm(of) {
		left[i].Adjusted, family[i] = &p, left[i].Alone
	}
	panel.Family(family)
	left = slices.DeleteFunc(left, func(s *Suggestion) bool {
		why := s.of.Lowers()
		if why != "" {
			s.reject("it lowers the held-out part: " + why)
		}
		return why != ""
	})
	return t.together(ctx, out, left, base)
}

// together measures all remaining suggestions, and removes the least useful one as long as all
// together lower a measure that none lowers alone.
func (t *study) together(ctx context.Context, out *Suggestions, left []*Suggestion, base []SearchAnswer) error {
	for len(left) > 0 {
		var edits []learn.Edit
		for _, s := range left {
			edits = append(edits, s.edit())
		}
		c, err := t.one(ctx, edits, t.held, base)
		if err != nil {
			return err
		}
		why := c.Lowers()
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
	switch a, b := s.of.Whole().Change.Point-o.of.Whole().Change.Point, s.of.MRRChange()-o.of.MRRChange(); {
	case a < 0 || a == 0 && b < 0:
		return -1
	case a > 0 || b > 0:
		return 1
	}
	return strings.Compare(o.Tool, s.Tool)
}

func (s *Suggestion) reject(why string) {
	s.Status, s.Reasons = learn.Rejected, append(s.Reasons, why)
}

// file is the file of edits, with proposed edits first.
func (s *Suggestions) file(q *SuggestRequest) ([]byte, error) {
	out := suite.EditFile{Seen: s.seen}
	for _, status := range []learn.Status{learn.Proposed, learn.Rejected} {
		for i := range s.Tools {
			t := &s.Tools[i]
			if t.Status != status || t.Description == "" {
				continue
			}
			e := t.edit()
			text := plain.Clean(t.Description)
			e.Description, e.Status, e.Reason = &text, t.Status, plain.Clean(t.Why())
			e.Measured = t.measured()
			out.Edits = append(out.Edits, e)
		}
	}
	return suite.WriteEdits(&out, s.comment(q))
}

// Why is a sentence with the reason against the suggestion, or its measured effect.
func (s *Suggestion) Why() string {
	if len(s.Reasons) > 0 {
		return strings.Join(s.Reasons, "; ")
	}
	if d := s.of.Whole(); d.NewlyPassing+d.NewlyFailing == 0 && s.of.MRRChange() > 0 {
		return fmt.Sprintf("no first tool changed on the held-out part; MRR rose by %.4f", s.of.MRRChange())
	} else if d.NewlyPassing+d.NewlyFailing == 0 {
		return fmt.Sprintf("nothing shows that it is better or worse: no held-out case changed, %s the tool's",
			plain.Count(s.Own, "is", "are"))
	}
	return s.of.Sentence
}

func (s *Suggestion) measured() *learn.Measured {
	if s.of == nil {
		return nil
	}
	d := s.of.Whole()
	m := &learn.Measured{
		Cases: d.Cases, Before: int(d.Baseline.Point*float64(d.Cases) + 0.5),
		After:  int(d.Candidate.Point*float64(d.Cases) + 0.5),
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

// Count is how many tools have a status.
func (s *Suggestions) Count(status learn.Status) int {
	n := 0
	for i := range s.Tools {
		if s.Tools[i].Status == status {
			n++
		}
	}
	return n
}

// Flattered is the remark that the numbers of remaining edits are biased if the same questions
// removed others.
const Flattered = "the result on those that stayed is slightly too good; fresh ones are a better test"

// Sorted reports that the questions that measured the suggestions removed some of them.
func (s *Suggestions) Sorted() bool {
	return slices.ContainsFunc(s.Tools, func(t Suggestion) bool { return t.Status == learn.Rejected && t.Alone != nil })
}

// comment is the comment at the top of the file of edits.
func (s *Suggestions) comment(q *SuggestRequest) []string {
	out := []string{
		fmt.Sprintf("Descriptions that %s suggests for tools of %s.", plain.Line(s.Model), plain.Line(s.Catalogue)),
		fmt.Sprintf("Made of %d questions of %s, measured by the retriever on %d others (holdout %v, seed %d):",
			s.Train, plain.Line(q.Suite), s.Held, q.Holdout, q.Seed),
		"each alone against the catalogue as it is; right_before and right_after count questions whose first tool is right.",
	}
	if s.Together != nil {
		out = append(out,
			fmt.Sprintf("All that are proposed (%d) together: %s.", s.Count(learn.Proposed), s.Together.Sentence))
		if s.Sorted() {
			out = append(out, "The same questions have sorted the suggestions: "+Flattered+".")
		}
	}
	return append(out,
		"Nothing is changed yet. Write status: accepted where a text is true and wanted, then callvet tools apply.", "")
}
