// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
)

// MaxQuestions bounds one judging: its questions are in memory until they are stored.
const MaxQuestions = 100_000

// Subject is the run or file to judge: its attempts one by one, and its id in the store.
type Subject struct {
	About, Name string
	Each        func(func(judge.Subject, *float64) error) error
	// Against is the id of the baseline; "": none.
	Against   string
	eachOther func(func(judge.Subject, *float64) error) error
}

// SubjectOf opens the subject of a request, and its baseline.
func SubjectOf(ctx context.Context, a *app.App, req *app.JudgeRequest, events app.Events) (*Subject, error) {
	s, err := SideOf(ctx, a, req.Side, req, events)
	if err != nil || req.Against == (app.Side{}) {
		return s, err
	}
	other, err := SideOf(ctx, a, req.Against, req, events)
	if err != nil {
		return nil, err
	}
	s.Name, s.Against, s.eachOther = s.Name+" against "+other.Name, other.About, other.Each
	return s, nil
}

// SideOf opens a run or a trace file.
func SideOf(ctx context.Context, a *app.App, side app.Side, req *app.JudgeRequest,
	events app.Events,
) (*Subject, error) {
	if side.Run != "" {
		r, err := Open(ctx, a, side.Run)
		if err != nil {
			return nil, err
		}
		if r.Stored.Judges != "" {
			return nil, app.Wrong("run", side.Run, "it is what a judge said, and is not judged itself")
		}
		return &Subject{
			About: r.Stored.ID, Name: "run " + r.Stored.ID,
			Each: func(do func(judge.Subject, *float64) error) error {
				return eachAttempt(ctx, a, r, req.Keep, do)
			},
		}, nil
	}
	if a.IsStream(side.Traces) {
		return nil, app.Wrong("traces", side.Traces, "it is read twice, and can be read only once: name a file")
	}
	tools, err := a.ReadTools(req.Tools, events)
	if err != nil {
		return nil, err
	}
	hash, err := HashOfTraces(a, side.Traces)
	if err != nil {
		return nil, err
	}
	return &Subject{About: hash, Name: side.Traces, Each: func(do func(judge.Subject, *float64) error) error {
		return eachTraced(a, side.Traces, req.Keep, tools, do)
	}}, nil
}

// HashOfTraces names a trace file by its content.
func HashOfTraces(a *app.App, name string) (string, error) {
	f, err := a.Config.Files.Open(name)
	if err != nil {
		return "", fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	h, text := sha256.New(), bufio.NewReader(f)
	if mark, err := text.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = text.Discard(len(mark)) // the byte order mark is not part of the text
	}
	if _, err := io.Copy(h, text); err != nil {
		return "", fmt.Errorf("read traces %s: %w", name, err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// eachAttempt yields the attempts of a run, redacted for a judge.
func eachAttempt(ctx context.Context, a *app.App, r *Run, keep []string, do func(judge.Subject, *float64) error) error {
	red, err := RedactorOf(a, r.Manifest, keep)
	if err != nil {
		return err
	}
	for row, err := range r.attempted(ctx, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return err
		}
		if err := do(r.Subject(row, red), AutomaticScore(&row.Cell.Result)); err != nil {
			return err
		}
	}
	return nil
}

// Subject returns an attempt for a judge, redacted by red.
func (r *Run) Subject(row report.Row, red *redact.Redactor) judge.Subject {
	at := trace.OfCell(row.Case, &r.Manifest.Targets[row.Cell.Target], row.Cell, &r.Suite.Defaults.Scoring)
	output := outputOf(&at)
	at = at.Redacted(red)
	turns := make([]callvet.Turn, 0, len(at.Input)+2)
	for _, text := range []string{r.Suite.SystemPrompt, row.Case.Context} {
		if text != "" {
			turns = append(turns, callvet.Turn{Role: callvet.RoleSystem, Content: red.Text(text)})
		}
	}
	at.Input = append(turns, at.Input...)
	return judge.Subject{Attempt: &at, Output: output, Tools: toolsOf(r.Suite, row.Case), Expect: &row.Case.Expect}
}

// toolsOf returns the tools that a case offers.
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

// AutomaticScore returns callvet's own score; nil if there is none.
func AutomaticScore(r *callvet.Result) *float64 {
	if s := r.Score("overall"); s.Scored {
		return &s.Value
	}
	return VerdictValue(r.Verdict == callvet.VerdictPass,
		r.Verdict == callvet.VerdictPass || r.Verdict == callvet.VerdictFail)
}

// VerdictValue is 1 for a pass, 0 for a failure and nil for a verdict that is not known.
func VerdictValue(pass, known bool) *float64 {
	x := 0.0
	switch {
	case !known:
		return nil
	case pass:
		x = 1
	}
	return &x
}

// eachTraced yields the attempts of a trace file, redacted for a judge.
func eachTraced(a *app.App, name string, keep []string, tools []callvet.Tool,
	do func(judge.Subject, *float64) error,
) error {
	kinds, err := app.Kinds(keep)
	if err != nil {
		return err
	}
	red, err := a.Secrets().Redactor(kinds)
	if err != nil {
		return err
	}
	n := 0
	err = WholeAttempts(a, name, func(at *trace.Attempt) error {
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
			auto = VerdictValue(*at.Pass, true)
		case at.Reward != nil && *at.Reward >= 0 && *at.Reward <= 1:
			auto = at.Reward
		}
		return do(judge.Subject{Attempt: &hidden, Output: outputOf(at), Tools: offered}, auto)
	})
	if err == nil && n == 0 {
		err = a.NoTracesError([]string{name})
	}
	return err
}

// WhyNotJudged returns why an attempt with this automatic score is not judged; "" if it is.
func WhyNotJudged(auto, under *float64) string {
	if under == nil || auto == nil || *auto < *under {
		return ""
	}
	return fmt.Sprintf("the automatic score is %g or more", *under)
}

// Questions returns all questions to a judge about a subject, and how many attempts have none, by
// the reason.
func Questions(j *judge.Judge, s *Subject, under *float64) (qs []judge.Question, skipped map[string]int, err error) {
	skipped = map[string]int{}
	var many AttemptGroups
	err = s.Each(func(one judge.Subject, auto *float64) error {
		if why := WhyNotJudged(auto, under); why != "" {
			skipped[why]++
			return nil
		}
		if j.Unit == judge.Pair || j.Unit == judge.Target {
			many.Add(j, one)
			return nil
		}
		more, none := j.Questions(one)
		if none != "" {
			skipped[none]++
		}
		qs = append(qs, more...)
		if len(qs) > MaxQuestions {
			return fmt.Errorf("judge %s: %w: more than %d questions; judge fewer attempts at once", j.Name,
				callvet.ErrInvalid, MaxQuestions)
		}
		return nil
	})
	if err == nil {
		err = many.ReadBaseline(s)
	}
	if err != nil {
		return nil, nil, err
	}
	qs = append(qs, many.questions(j, skipped)...)
	if len(qs) == 0 {
		return nil, nil, NoQuestionError(s, skipped)
	}
	return qs, skipped, nil
}

// NoQuestionError is the error of a judging without a question, with the reason.
func NoQuestionError(s *Subject, skipped map[string]int) error {
	why := "there is no attempt"
	if len(skipped) > 0 {
		why = slices.Sorted(maps.Keys(skipped))[0]
	}
	return fmt.Errorf("judge %s: %w: nothing is to be judged: %s", s.Name, callvet.ErrInvalid, why)
}

// WholeAttempts reads the attempts of a trace file of any form, one by one.
func WholeAttempts(a *app.App, name string, do func(*trace.Attempt) error) error {
	f, err := a.Config.Files.Open(name)
	if err != nil {
		return fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	imp, own, err := app.Importer(f)
	if err == nil && own {
		imp, err = foreign.Open(f, foreign.Options{Format: foreign.Contract})
	}
	if err != nil {
		return fmt.Errorf("read traces %s: %w", name, err)
	}
	for at, err := range imp.Attempts() {
		if err != nil {
			return fmt.Errorf("read traces %s: %w", name, err)
		}
		if err := do(&at); err != nil {
			return err
		}
	}
	return nil
}
