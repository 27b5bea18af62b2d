// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace"
)

// A judge is asked as any target is: its questions are the cases of a suite that is made of
// attempts, and one judging is a run of it, with the same limits, retries, budget, cache, lease
// and resumption. Such a run stands in no list of runs; it belongs to what it is about.

// JudgeSpec says which judge, and what it is shown.
type JudgeSpec struct {
	// Judge is one of those that are built in, or the name of one of somebody's own, whose
	// prompt and schema are in the files Prompt and Schema.
	Judge  string `json:"judge"`
	Prompt string `json:"prompt,omitempty"`
	Schema string `json:"schema,omitempty"`
	// Unit is what one of somebody's own looks at: task (the default), call or turn.
	Unit judge.Unit `json:"unit,omitempty"`
	// ShowGold shows what the case expects.
	ShowGold bool `json:"show_gold,omitempty"`
	// MaxEvidence bounds what is shown of one thing, in bytes; 0 means judge.DefaultEvidence.
	MaxEvidence int `json:"max_evidence,omitempty"`
	// Threshold is the least score in [0,1] that passes, where the score decides.
	Threshold *float64 `json:"threshold,omitempty"`
}

// JudgeRequest asks judges for their verdicts on a run or a trace file.
type JudgeRequest struct {
	Side
	JudgeSpec
	// Models are asked, each as a judge of its own.
	Models []TargetSpec `json:"models"`
	// Samples is how often each is asked the same; 0 means once.
	Samples int `json:"samples,omitempty"`
	// Under limits the judging to attempts whose automatic score is less, or not known.
	Under *float64 `json:"under,omitempty"`
	// Tools are files with the catalogue, for trace files that have none.
	Tools []string `json:"tools,omitempty"`
	// Again makes a new version although the last one did not end.
	Again bool `json:"again,omitempty"`
	// Output is a labels file that the verdicts are added to; "": none.
	Output string `json:"output,omitempty"`
	// Prices is a file that goes before the shipped prices.
	Prices string `json:"prices,omitempty"`
	// NoCache asks again what any judging asked before. Keep are kinds of personal data that
	// the judge is shown.
	NoCache bool     `json:"no_cache,omitempty"`
	Keep    []string `json:"keep,omitempty"`
	Settings
}

func (q *JudgeRequest) check() error {
	switch {
	case q.Judge == "":
		return wrong("judge", "", "which judge?")
	case len(q.Models) == 0:
		return &callvet.FieldError{Field: "models", Text: "no model to ask", Fix: "{models} openai/gpt-5-mini"}
	case q.Samples < 0:
		return wrong("samples", strconv.Itoa(q.Samples), "write 1 or more")
	case q.Under != nil && !(*q.Under > 0 && *q.Under <= 1):
		return wrong("under", fmt.Sprint(*q.Under), "write a score above 0, up to 1")
	case (q.Prompt == "") != (q.Schema == ""):
		return wrong("prompt", "", "a judge of your own has a prompt and a schema: give both")
	case q.Unit != "" && q.Prompt == "":
		return wrong("unit", string(q.Unit), "it is for a judge of your own; one that is built in has its own")
	}
	_, err := Kinds(q.Keep)
	return errors.Join(err, q.Side.one("subject"), q.Settings.check())
}

// Judges are those that are built in.
func Judges() []judge.Judge { return judge.All() }

// The bounds of JudgeSpec.MaxEvidence, in bytes.
const (
	DefaultEvidence = judge.DefaultEvidence
	MinEvidence     = judge.MinEvidence
)

// judgeOf makes the judge of a spec.
func (a *App) judgeOf(s *JudgeSpec) (*judge.Judge, error) {
	var j *judge.Judge
	var err error
	if s.Prompt == "" {
		j, err = judge.Builtin(s.Judge)
	} else {
		var prompt, schema []byte
		if prompt, err = a.read(s.Prompt, MaxSettings); err != nil {
			return nil, fmt.Errorf("read prompt: %w", err)
		}
		if schema, err = a.read(s.Schema, MaxSettings); err != nil {
			return nil, fmt.Errorf("read schema: %w", err)
		}
		j, err = judge.New(s.Judge, s.Unit, string(prompt), schema)
	}
	if err != nil {
		return nil, err
	}
	j.ShowGold = s.ShowGold
	if s.MaxEvidence != 0 {
		j.MaxEvidence = s.MaxEvidence
	}
	if s.Threshold != nil {
		j.Threshold = s.Threshold
	}
	return j, j.Check()
}

// Judging is what a run of a judge keeps of what it does.
type Judging struct {
	Judge judge.Judge `json:"judge"`
	// Identity is that of the judge with its model, as labels and calibrations have it.
	Identity labels.Judge `json:"identity"`
	// About is the run or the file that was judged, Version counts judgings of it by this
	// very judge, from 1.
	About   string `json:"about"`
	Version int    `json:"version"`
	// Under is that of the request. Skipped counts attempts that were not asked about, by
	// the reason.
	Under   *float64       `json:"under,omitempty"`
	Skipped map[string]int `json:"skipped,omitempty"`
	// Audit is there when the attempts were changed to see whether that moves the judge.
	Audit *AuditPlan `json:"audit,omitempty"`
}

// identity is what makes the judge with its model another one when it changes.
func identity(j *judge.Judge, t *callvet.Target, samples int) labels.Judge {
	out := labels.Judge{Name: j.Name, Model: t.Name, PromptHash: j.Hash(), Threshold: j.Threshold, Params: map[string]float64{"samples": float64(max(samples, 1))}}
	p := &t.Params
	put := func(name string, v *float64) {
		if v != nil {
			out.Params[name] = *v
		}
	}
	put("temperature", p.Temperature)
	put("top_p", p.TopP)
	if p.MaxTokens != nil {
		out.Params["max_tokens"] = float64(*p.MaxTokens)
	}
	if p.Seed != nil {
		out.Params["seed"] = float64(*p.Seed)
	}
	if p.ReasoningEffort != "" || len(p.Stop) > 0 || len(p.Extra) > 0 {
		b, err := json.Marshal([]any{out.PromptHash, p.ReasoningEffort, p.Stop, p.Extra})
		if err != nil {
			panic(err) // they were checked to be JSON
		}
		sum := sha256.Sum256(b)
		out.PromptHash = hex.EncodeToString(sum[:8])
	}
	return out
}

// asked is what the case of a question keeps beside its text.
type asked struct {
	Key judge.Key `json:"key"`
	Did judge.Did `json:"did"`
}

// questionSuite makes questions the cases of a suite.
func questionSuite(j *judge.Judge, name string, qs []judge.Question) (*callvet.Suite, error) {
	s := &callvet.Suite{Name: name, SystemPrompt: j.System(), Dialect: "callvet", Cases: make([]callvet.Case, len(qs))}
	for i := range qs {
		b, err := json.Marshal(asked{qs[i].Key, qs[i].Did})
		if err != nil {
			return nil, fmt.Errorf("write question: %w", err)
		}
		s.Cases[i] = callvet.Case{ID: qs[i].Key.String(), Input: []callvet.Turn{{Role: callvet.RoleUser, Content: qs[i].Evidence}}, ToolChoice: "none", Foreign: b}
	}
	return s, nil
}

// maxQuestions bounds one judging: its questions are in memory until they are stored.
const maxQuestions = 100_000

// subject is what is judged: its attempts one by one, and its id in the store.
type subject struct {
	about, name string
	each        func(func(judge.Subject, *float64) error) error
}

// subjectOf opens what a request is about.
func (a *App) subjectOf(ctx context.Context, req *JudgeRequest, tell Events) (*subject, error) {
	if req.Run != "" {
		r, err := a.Run(ctx, req.Run)
		if err != nil {
			return nil, err
		}
		if r.Stored.Judges != "" {
			return nil, wrong("run", req.Run, "it is what a judge said, and is not judged itself")
		}
		return &subject{about: r.Stored.ID, name: "run " + r.Stored.ID, each: func(do func(judge.Subject, *float64) error) error {
			return a.eachAttempt(ctx, r, req.Keep, do)
		}}, nil
	}
	if a.once(req.Traces) {
		return nil, wrong("traces", req.Traces, "it is read twice, and can be read only once: name a file")
	}
	tools, err := a.ReadTools(req.Tools, tell)
	if err != nil {
		return nil, err
	}
	hash, err := a.hashOf(req.Traces)
	if err != nil {
		return nil, err
	}
	return &subject{about: hash, name: req.Traces, each: func(do func(judge.Subject, *float64) error) error { return a.eachTraced(req, tools, do) }}, nil
}

// hashOf names a trace file by its content.
func (a *App) hashOf(name string) (string, error) {
	f, err := a.cfg.Files.Open(name)
	if err != nil {
		return "", fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read traces %s: %w", name, err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// eachAttempt gives the attempts of a run as a judge may see them.
func (a *App) eachAttempt(ctx context.Context, r *Run, keep []string, do func(judge.Subject, *float64) error) error {
	red, err := a.viewer(r.Manifest, keep)
	if err != nil {
		return err
	}
	for row, err := range r.attempted(ctx, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return err
		}
		at := trace.OfCell(row.Case, &r.Manifest.Targets[row.Cell.Target], row.Cell)
		at = at.Redacted(red)
		told := make([]callvet.Turn, 0, len(at.Input)+2)
		for _, text := range []string{r.Suite.SystemPrompt, row.Case.Context} {
			if text != "" {
				told = append(told, callvet.Turn{Role: callvet.RoleSystem, Content: red.Text(text)})
			}
		}
		at.Input = append(told, at.Input...)
		if err := do(judge.Subject{Attempt: &at, Tools: toolsOf(r.Suite, row.Case), Expect: &row.Case.Expect}, automatic(&row.Cell.Result)); err != nil {
			return err
		}
	}
	return nil
}

// toolsOf are the tools that a case offers.
func toolsOf(s *callvet.Suite, c *callvet.Case) []callvet.Tool {
	all := s.Tools
	if c.Tools != nil {
		all = c.Tools
	}
	if c.ToolNames == nil {
		return all
	}
	out := []callvet.Tool{}
	for i := range all {
		if slices.Contains(c.ToolNames, all[i].Name) {
			out = append(out, all[i])
		}
	}
	return out
}

// automatic is the score that callvet gave itself; nil where there is none.
func automatic(r *callvet.Result) *float64 {
	if s := r.Score("overall"); s.Scored {
		return &s.Value
	}
	return ofVerdict(r.Verdict == callvet.VerdictPass, r.Verdict == callvet.VerdictPass || r.Verdict == callvet.VerdictFail)
}

func ofVerdict(pass, known bool) *float64 {
	x := 0.0
	switch {
	case !known:
		return nil
	case pass:
		x = 1
	}
	return &x
}

// eachTraced gives the attempts of a trace file as a judge may see them.
func (a *App) eachTraced(req *JudgeRequest, tools []callvet.Tool, do func(judge.Subject, *float64) error) error {
	kinds, err := Kinds(req.Keep)
	if err != nil {
		return err
	}
	red, err := a.secrets.Redactor(kinds)
	if err != nil {
		return err
	}
	n := 0
	err = a.wholeAttempts(req.Traces, func(at *trace.Attempt) error {
		n++
		hidden := at.Redacted(red)
		offered := tools
		if len(offered) == 0 {
			offered = at.Tools
		}
		var auto *float64
		overall, scored := 0.0, false
		if at.Scored != nil {
			overall, scored = at.Scored.Scores["overall"]
		}
		switch {
		case scored:
			auto = &overall
		case at.Pass != nil:
			auto = ofVerdict(*at.Pass, true)
		case at.Reward != nil && *at.Reward >= 0 && *at.Reward <= 1:
			auto = at.Reward
		}
		return do(judge.Subject{Attempt: &hidden, Tools: offered}, auto)
	})
	if err == nil && n == 0 {
		err = a.nothingScored([]string{req.Traces})
	}
	return err
}

// questions are all that a judge is asked about a subject, and how many attempts it is not asked
// about, by the reason.
func questions(j *judge.Judge, s *subject, under *float64) (qs []judge.Question, skipped map[string]int, err error) {
	skipped = map[string]int{}
	var many multiple
	err = s.each(func(one judge.Subject, auto *float64) error {
		if under != nil && auto != nil && *auto >= *under {
			skipped[fmt.Sprintf("the automatic score is %g or more", *under)]++
			return nil
		}
		if j.Unit == judge.Pair || j.Unit == judge.Target {
			many.add(j, one)
			return nil
		}
		more, none := j.Questions(one)
		if none != "" {
			skipped[none]++
		}
		qs = append(qs, more...)
		if len(qs) > maxQuestions {
			return fmt.Errorf("judge %s: %w: more than %d questions; judge fewer attempts at once", j.Name, callvet.ErrInvalid, maxQuestions)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	qs = append(qs, many.questions(j, skipped)...)
	if len(qs) == 0 {
		return nil, nil, nothingJudged(s, skipped)
	}
	return qs, skipped, nil
}

// nothingJudged says why there is no question.
func nothingJudged(s *subject, skipped map[string]int) error {
	why := "there is no attempt"
	if len(skipped) > 0 {
		why = slices.Sorted(maps.Keys(skipped))[0]
	}
	return fmt.Errorf("judge %s: %w: nothing is to be judged: %s", s.name, callvet.ErrInvalid, why)
}

// JudgeRun asks judges about a run or a trace file and keeps what they say. Each model is a
// judging of its own; one that did not end goes on where it was. With what came out may come
// an error that wraps callvet.ErrBudget, or says that nothing could be asked.
func (a *App) JudgeRun(ctx context.Context, req JudgeRequest, tell Events) (*Judged, error) {
	j, s, err := a.preparedJudge(ctx, &req, tell)
	if err != nil {
		return nil, err
	}
	qs, skipped, err := questions(j, s, req.Under)
	if err != nil {
		return nil, err
	}
	made, err := questionSuite(j, "judge "+j.Name, qs)
	if err != nil {
		return nil, err
	}
	out := &Judged{Subject: s.name, about: s.about}
	for i := range req.Models {
		o, err := a.judging(ctx, &req, &Judging{Judge: *j, About: s.name, Under: req.Under, Skipped: skipped}, s.about, made, req.Models[i], tell)
		if o != nil {
			out.Judgings = append(out.Judgings, *o)
		}
		if err != nil {
			return out, err
		}
		if o.Interrupted() {
			return out, nil
		}
	}
	out.agree()
	if req.Output != "" {
		if err := a.addLabels(req.Output, out, tell); err != nil {
			return out, err
		}
	}
	return out, nil
}

// RunRequest is what the request asks of a run.
func (q *JudgeRequest) RunRequest() *RunRequest {
	return &RunRequest{Repeats: q.Samples, Keep: q.Keep, Prices: q.Prices, NoCache: q.NoCache, Settings: q.Settings}
}

// judging carries out, or goes on with, one judging by one model.
func (a *App) judging(ctx context.Context, req *JudgeRequest, what *Judging, about string, made *callvet.Suite, model TargetSpec, tell Events) (_ *JudgingView, err error) {
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	rr := req.RunRequest()
	rr.Made, rr.Suite = made, what.About
	op, err := a.newOpener(rr.timeout(), req.Prices, about, tell)
	if err != nil {
		return nil, err
	}
	s := &Session{app: a, tell: tell, op: op, settings: rr.Settings, noWait: true, judging: what, judges: about}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.targets, err = op.openAll(ctx, []TargetSpec{model}); err != nil {
		return nil, err
	}
	if len(s.targets) != 1 || s.targets[0].Selects || s.targets[0].Floor {
		return nil, wrong("models", model.Target, "it answers no question: a judge is a model or an agent")
	}
	what.Identity = identity(&what.Judge, &s.targets[0].Target, rr.Repeats)
	before, err := judgingsThat(ctx, db, about, what.Audit != nil)
	if err != nil {
		return nil, err
	}
	hash, err := store.SuiteHashFrom(made, withoutErrors(slices.Values(pointers(made.Cases))))
	if err != nil {
		return nil, err
	}
	what.Version = 1
	for i := range before {
		b := &before[i]
		if b.what.Identity.ID() != what.Identity.ID() {
			continue
		}
		what.Version = b.what.Version + 1
		if b.run.State() != store.StatusDone && b.run.SuiteHash == hash && !req.Again {
			return a.goOn(ctx, s, b.run.ID, req, tell)
		}
	}
	tellNewJudge(what, before, tell)
	if err := s.start(ctx, db, rr, nil, []TargetSpec{model}); err != nil {
		return nil, err
	}
	return s.judge(ctx)
}

func pointers(cs []callvet.Case) []*callvet.Case {
	out := make([]*callvet.Case, len(cs))
	for i := range cs {
		out[i] = &cs[i]
	}
	return out
}

// goOn takes a judging up that did not end, with the settings of the request.
func (a *App) goOn(ctx context.Context, s *Session, id string, req *JudgeRequest, tell Events) (*JudgingView, error) {
	tell.note("judging-resumed", "going on with judging %s, which did not end", id)
	if err := s.Close(); err != nil {
		return nil, err
	}
	set := &req.Settings
	s.resume = &ResumeRequest{Run: id, NoWait: true, Changes: Changes{
		MaxCostUSD: &set.MaxCostUSD, MaxCalls: &set.MaxCalls, Concurrency: &set.Concurrency, Rate: &set.Rate, TimeoutMS: &set.TimeoutMS, Retries: set.Retries, KeepErrors: &set.KeepErrors,
	}}
	if err := s.takeUp(ctx); err != nil {
		return nil, err
	}
	return s.judge(ctx)
}

// tellNewJudge says where a judge of the same name said something before and was another one:
// what is known of that one says nothing of this one.
func tellNewJudge(what *Judging, before []judgingRun, tell Events) {
	for i := len(before) - 1; i >= 0; i-- {
		b := before[i].what.Identity
		if b.Name != what.Identity.Name {
			continue
		}
		if d := b.Differs(what.Identity); len(d) > 0 && b.Model == what.Identity.Model {
			tell.note("new-judge", "judge %s is another one than %s before (%s): it needs a calibration of its own", what.Identity.ID(), b.ID(), strings.Join(d, ", "))
		}
		return
	}
}

// judge carries a judging out and tells what came out.
func (s *Session) judge(ctx context.Context) (*JudgingView, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer s.app.cancelable(s.Stored.ID, cancel)()
	s.tell.emit(Event{Session: &SessionEvent{Run: s.Stored.ID, Resume: s.Resume()}})
	lease, err := s.acquire(ctx, cancel)
	if err != nil {
		return nil, err
	}
	sum, runErr := s.record(ctx, lease)
	if runErr != nil && !errors.Is(runErr, callvet.ErrBudget) {
		return nil, runErr
	}
	s.tell.emit(Event{Ended: s.ended(sum)})
	ctx = context.WithoutCancel(ctx)
	red, err := s.app.viewer(s.Manifest, nil)
	if err != nil {
		return nil, err
	}
	s.op.tellLearned(red)
	if s.Stored, err = s.db.Run(ctx, s.Stored.ID); err != nil {
		return nil, err
	}
	v, err := s.app.viewJudging(ctx, s.db, &judgingRun{s.Stored, s.Manifest.Judging})
	if err != nil {
		return nil, err
	}
	v.Stopped = sum.Stopped
	if runErr == nil && sum.Status == run.StatusDone && v.Answered == 0 {
		return v, fmt.Errorf("nothing was judged: %s ended in an error", plain.Count(v.Errors, "question", "questions"))
	}
	return v, runErr
}

// formed is a model that is asked for answers of one form.
type formed struct {
	callvet.Model
	form *callvet.AnswerForm
}

// Generate asks for the form.
func (m formed) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	with := *req
	with.Form = m.form
	return m.Model.Generate(ctx, &with)
}

// identified is formed where answers may be used again.
type identified struct {
	formed
	run.Identifier
}

// Identity is that of the request with the form.
func (m identified) Identity(req *callvet.Request) [sha256.Size]byte {
	with := *req
	with.Form = m.form
	return m.Identifier.Identity(&with)
}

// inForm lets targets answer in the form of a judge.
func inForm(ts []run.Target, j *judge.Judge) []run.Target {
	out := slices.Clone(ts)
	for i := range out {
		f := formed{out[i].Model, j.Form()}
		out[i].Model = f
		if id, ok := f.Model.(run.Identifier); ok {
			out[i].Model = identified{f, id}
		}
	}
	return out
}

// opinion reads the answers to one question.
type opinion struct {
	judge *judge.Judge
	did   judge.Did
}

// opinionOf makes a question ready to be answered.
func opinionOf(j *judge.Judge, c *callvet.Case) opinion {
	var q asked
	if err := json.Unmarshal(c.Foreign, &q); err != nil {
		q = asked{} // written by questionSuite
	}
	return opinion{j, q.Did}
}

// Idle implements run.Compiled: every question is asked.
func (o opinion) Idle(bool) string { return "" }

// Check implements run.Compiled: a judge has no tools.
func (o opinion) Check(*callvet.Call) []callvet.Violation { return nil }

// Reached implements run.Compiled.
func (o opinion) Reached([]callvet.Call) bool { return false }

// Names of the scores by which a verdict is kept.
const (
	keptPass   = "pass"
	keptScore  = "score"
	keptMended = "mended"
)

// Judge implements run.Compiled: it keeps what the answer says. An answer without a verdict is
// a failure to answer, and is not asked for again.
func (o opinion) Judge(_ context.Context, t *callvet.Trace) (callvet.Result, error) {
	return o.score(t), nil
}

func (o opinion) score(t *callvet.Trace) callvet.Result {
	switch t.Outcome {
	case callvet.OutcomeError:
		r := callvet.Result{Verdict: callvet.VerdictError, Class: callvet.ClassProvider}
		if t.Fault != nil {
			r.Reason = t.Fault.Error()
		}
		return r
	case callvet.OutcomeNotRun:
		return callvet.Result{Verdict: callvet.VerdictNotRun}
	case callvet.OutcomeCalled, callvet.OutcomeAbstained, callvet.OutcomeUnparseable:
	}
	return keep(o.judge.Read(t.Answer, o.did))
}

// keep writes a verdict as a result, kept reads it again.
func keep(v judge.Verdict) callvet.Result {
	r := callvet.Result{Verdict: callvet.VerdictPass, Plan: v.Word, Reason: v.Reason}
	score := func(name string, x *float64) {
		s := callvet.Score{Name: name, Reason: v.Unscored}
		if x != nil {
			s = callvet.Score{Name: name, Value: *x, Scored: true}
		}
		r.Scores = append(r.Scores, s)
	}
	var pass *float64
	if v.Pass != nil {
		pass = ofVerdict(*v.Pass, true)
	}
	score(keptPass, pass)
	score(keptScore, v.Score)
	if v.Mended {
		one := 1.0
		score(keptMended, &one)
	}
	switch {
	case !v.Scored():
		r.Verdict, r.Class = callvet.VerdictFail, callvet.ClassUnparseable
	case v.Pass != nil && !*v.Pass:
		r.Verdict, r.Class = callvet.VerdictFail, callvet.ClassAnswer
	}
	return r
}

func kept(r *callvet.Result) judge.Verdict {
	v := judge.Verdict{Word: r.Plan, Reason: r.Reason, Mended: r.Score(keptMended).Scored}
	p := r.Score(keptPass)
	if r.Class == callvet.ClassUnparseable {
		v.Unscored = p.Reason
		return v
	}
	if p.Scored {
		pass := p.Value == 1
		v.Pass = &pass
	}
	if s := r.Score(keptScore); s.Scored {
		v.Score = &s.Value
	}
	return v
}

// judgingRun is a stored judging.
type judgingRun struct {
	run  store.Run
	what *Judging
}

// judgings are the stored ones about something, the oldest first; "" means all.
func (a *App) judgings(ctx context.Context, about string) ([]judgingRun, error) {
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	return judgingsOf(ctx, db, about)
}

// judgingsOf are the stored ones that are no audits.
func judgingsOf(ctx context.Context, db *store.DB, about string) ([]judgingRun, error) {
	return judgingsThat(ctx, db, about, false)
}

// judgingsThat are the audits, or all others.
func judgingsThat(ctx context.Context, db *store.DB, about string, audits bool) ([]judgingRun, error) {
	list, err := db.Judgings(ctx, about)
	if err != nil {
		return nil, err
	}
	var out []judgingRun
	for i := range list {
		m, err := readManifest(&list[i])
		if err != nil {
			return nil, err
		}
		if m.Judging == nil {
			return nil, fmt.Errorf("read judging %s: %w: its manifest has no judge", list[i].ID, callvet.ErrInvalid)
		}
		if audits == (m.Judging.Audit != nil) {
			out = append(out, judgingRun{list[i], m.Judging})
		}
	}
	return out, nil
}
