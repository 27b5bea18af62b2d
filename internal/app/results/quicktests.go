// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// The findings that are completed here: the wrong tool, unneeded calls, and results that change.
// Source: Evaluating Tool Calling, §7.
const (
	findingTool     = "S2"
	findingChatter  = "S5"
	findingUnsteady = "S7"
)

// resultUse counts calls with a label, a result and a later answer, and those of them with a result
// that no answer uses: needed calls and unneeded ones.
type resultUse struct{ needed, unneeded struct{ Of, Unused int } }

// whileRead calls do with attempts as they are read.
func whileRead(list iter.Seq2[trace.Attempt, error], do ...func(*trace.Attempt)) iter.Seq2[trace.Attempt, error] {
	return func(yield func(trace.Attempt, error) bool) {
		for at, err := range list {
			for _, f := range do {
				if err == nil {
					f(&at)
				}
			}
			if !yield(at, err) {
				return
			}
		}
	}
}

func (u *resultUse) attempt(at *trace.Attempt) {
	if at.Trace.Answer == "" || at.Floor || !at.Labelled() {
		return
	}
	var asked, answer match.Corpus
	answer.Add([]byte(at.Trace.Answer))
	asked.Add([]byte(at.Goal))
	for i := range at.Input {
		asked.Add([]byte(at.Input[i].Content))
	}
	for i, c := range at.Trace.Calls() {
		needed, known := neededBy(at.Steps[i].Gold)
		if !known || len(c.Result) == 0 {
			continue
		}
		result, err := value.Parse(c.Result)
		if err != nil {
			continue
		}
		var inputs match.Corpus
		inputs.Set(&asked)
		inputs.Add(c.Args)
		used, decided := match.Used(result, &inputs, &answer)
		if !decided {
			continue
		}
		of := &u.unneeded
		if needed {
			of = &u.needed
		}
		of.Of++
		if !used {
			of.Unused++
		}
	}
}

// betweenTargets compares the results of the same calls that several targets make at a case. It
// reads the attempts case by case, or in any order; then it keeps the calls of all cases.
type betweenTargets struct {
	anyOrder  bool
	cases     map[string]*answeredCase
	count, of int
	tools     map[string]int
}

// answeredCase has the answers of tools at a case.
type answeredCase struct {
	first map[toolCall]givenResult
	seen  map[string]map[toolCall]bool // by target: each call once
}

type toolCall struct {
	tool string
	args uint64
}

type givenResult struct {
	target string
	hash   uint64
}

func (b *betweenTargets) attempt(at *trace.Attempt) {
	if at.Floor {
		return
	}
	of := b.cases[at.Trace.CaseID]
	if of == nil {
		if b.cases == nil || !b.anyOrder {
			b.cases = map[string]*answeredCase{}
		}
		of = &answeredCase{map[toolCall]givenResult{}, map[string]map[toolCall]bool{}}
		b.cases[at.Trace.CaseID] = of
	}
	by := at.Trace.Target
	if of.seen[by] == nil {
		of.seen[by] = map[toolCall]bool{}
	}
	for _, c := range at.Trace.Calls() {
		if c.Result == nil {
			continue
		}
		args, err := c.ArgsValue()
		result, bad := value.Parse(c.Result)
		call := toolCall{tool: c.Tool, args: args.Sum()}
		if err != nil || bad != nil || of.seen[by][call] || len(of.first) >= maxCompared {
			continue
		}
		of.seen[by][call] = true
		was, known := of.first[call]
		if !known {
			of.first[call] = givenResult{at.Trace.Target, result.Sum()}
			continue
		}
		if b.of++; was.hash != result.Sum() {
			b.count++
			if b.tools == nil {
				b.tools = map[string]int{}
			}
			b.tools[c.Tool]++
		}
	}
}

// maxCompared bounds the calls of a case that are compared between targets.
const maxCompared = 256

// fill adds the counts to the finding of changing results; it adds the finding if missing.
func (b *betweenTargets) fill(p *panel.Panels) {
	if b.count == 0 {
		return
	}
	text := fmt.Sprintf("between targets: %d of %s have another result (tools hit most: %s)",
		b.count, panel.Plural(b.of, "call that several targets make at a case",
			"calls that several targets make at a case"), panel.MostOf(b.tools))
	for i := range p.Findings {
		if f := &p.Findings[i]; f.Code == findingUnsteady {
			f.Evidence = append(f.Evidence, text)
			return
		}
	}
	play := panel.Playbook(findingUnsteady)
	f := panel.Finding{
		Code: play.Code, Title: play.Title, Unit: "calls that several targets make at a case", Count: b.count, Of: b.of,
		Evidence: []string{text}, Test: play.Test, Fix: play.Fix,
	}
	at := slices.IndexFunc(p.Findings, func(o panel.Finding) bool { return o.Failed == 0 && o.Count < f.Count })
	if at < 0 {
		at = len(p.Findings)
	}
	p.Findings = slices.Insert(p.Findings, at, f)
}

// neededBy returns whether a call was needed according to its label.
func neededBy(g *trace.Gold) (needed, known bool) {
	switch {
	case g == nil:
		return false, false
	case g.Needed != nil:
		return *g.Needed, true
	}
	return true, g.Tool != ""
}

// fill adds the counts to the finding of unneeded calls.
func (u *resultUse) fill(p *panel.Panels) {
	if u.unneeded.Of == 0 {
		return
	}
	text := fmt.Sprintf("of %s, the results of %d are used in no answer",
		panel.Plural(u.unneeded.Of, "unneeded call", "unneeded calls"), u.unneeded.Unused)
	if u.needed.Of > 0 {
		text += fmt.Sprintf("; of %s, those of %d", panel.Plural(u.needed.Of, "needed call", "needed calls"),
			u.needed.Unused)
	}
	tested(p, findingChatter, text)
}

// tested adds the result of a quick test to the evidence of a finding, instead of the commands that
// would run it.
func tested(p *panel.Panels, code, text string) {
	for i := range p.Findings {
		f := &p.Findings[i]
		if f.Code != code {
			continue
		}
		f.Evidence = append(f.Evidence, text)
		if at := strings.LastIndex(f.Test, "`. "); at >= 0 {
			f.Test = f.Test[at+len("`. "):]
		}
	}
}

// hasFinding reports whether panels have a finding.
func hasFinding(p *panel.Panels, code string) bool {
	return slices.ContainsFunc(p.Findings, func(f panel.Finding) bool { return f.Code == code })
}

// maxReread bounds the steps of files that are read again for a quick test.
const maxReread = 200_000

// MeasureResultUse reads trace files again: with unneeded calls, to check whether answers use
// results; with several targets, to compare their results. Files that cannot be read again have no
// such test.
func MeasureResultUse(a *app.App, s *Scored, files []string) {
	unneeded, several := hasFinding(s.Panels, findingChatter), len(s.Panels.Targets) > 1
	if !unneeded && !several || s.Log.Steps > maxReread {
		return
	}
	var used resultUse
	between := betweenTargets{anyOrder: true}
	for _, f := range files {
		if !a.IsFile(f) || WholeAttempts(a, f, func(at *trace.Attempt) error {
			if unneeded {
				used.attempt(at)
			}
			if several {
				between.attempt(at)
			}
			return nil
		}) != nil {
			return
		}
	}
	used.fill(s.Panels)
	between.fill(s.Panels)
}

// Agreement compares the verdicts of a judge on calls with the labels of the same calls: whether a
// tool was needed, and the right one was called.
type Agreement struct{ of, passedWrong, failedRight int }

// necessity is the judge of that question.
const necessity = "necessity"

// agree compares the verdicts of the newest judge of necessity with the labels of the calls.
func (r *JudgedRun) agree(right map[labels.Key]bool) (a Agreement) {
	for i := range r.Parts.All {
		v := &r.Parts.All[i]
		gold, labelled := right[v.Key]
		if v.Unit != labels.Call || v.Name != necessity || !labelled ||
			v.ID() != r.Parts.Newest[partJudge{labels.Call, necessity}] {
			continue
		}
		passed, known := v.Passed()
		switch {
		case !known:
			continue
		case passed && !gold:
			a.passedWrong++
		case !passed && gold:
			a.failedRight++
		}
		a.of++
	}
	return a
}

// fill adds the agreement to the finding of wrong tools.
func (a Agreement) fill(p *panel.Panels) {
	if a.of == 0 {
		return
	}
	tested(p, findingTool,
		fmt.Sprintf(
			"the judge %s agrees with the labels on %d of %s: it passes %d that are labelled wrong, and fails %d that are labelled right",
			necessity, a.of-a.passedWrong-a.failedRight, panel.Plural(a.of, "call", "calls"), a.passedWrong,
			a.failedRight))
}

// rightCalls adds the labelled calls of an attempt that are in wanted, and whether each was needed
// and named the right tool.
func rightCalls(at *trace.Attempt, wanted, right map[labels.Key]bool) {
	i := -1
	for c, id := range judge.Calls(at) {
		i++
		key := callKey(at, id)
		g := at.Steps[i].Gold
		if needed, known := neededBy(g); wanted[key] && known && (!needed || g.Tool != "") {
			right[key] = needed && sameTool(c, g.Tool)
		}
	}
}

// sameTool reports whether a call names the tool of its label; a label without a version accepts any.
func sameTool(c *callvet.Call, gold string) bool {
	name, version := callvet.SplitTool(gold)
	return c.Tool == name && (version == "" || version == c.Version)
}

// callKey returns the key of a call of an attempt.
func callKey(at *trace.Attempt, id string) labels.Key {
	return labels.Key{
		Target: at.Trace.Target, TaskID: at.Trace.CaseID, Attempt: at.Trace.Repeat,
		Unit: labels.Call, CallID: id,
	}
}
