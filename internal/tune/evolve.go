// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve/learn"
)

// PromptMode is how prompts are searched.
type PromptMode string

// The modes.
const (
	// Quick writes variations of the base, once.
	Quick PromptMode = "quick"
	// Evolve writes a generation of prompts from the best of the previous generations.
	Evolve PromptMode = "evolve"
	// Reflect is Evolve with attempts that failed.
	Reflect PromptMode = "reflect"
)

// PromptModes are all modes.
func PromptModes() []PromptMode { return []PromptMode{Quick, Evolve, Reflect} }

// The defaults and the bounds of an EvolveConfig.
const (
	DefaultPopulation, MinPopulation, MaxPopulation = 6, 3, 20
	DefaultGenerations, MaxGenerations              = 3, 20
	DefaultSelection, MinSelection, MaxSelection    = 0.4, 0.2, 0.8
	// DefaultPromptLength is the most characters of a new prompt, or twice those of the base if that is more.
	DefaultPromptLength = 8_000
)

// EvolveConfig is the input of a search for prompts.
type EvolveConfig struct {
	Mode PromptMode
	// Base is the present prompt; it may be empty.
	Base string
	// Population is how many prompts a generation has, its parents included: 3 to 20; 0: 6. Quick
	// writes one less, because the base is one of them.
	Population int
	// Generations is how many times new prompts are written: 1 to 20; 0: 3. Quick has one.
	Generations int
	// Selection is the share of the population that become the parents of the next: 0.2 to 0.8; 0: 0.4.
	Selection float64
	// Tools are the tools of the suite, or of its training half, without data of the held-out half.
	Tools []callvet.Tool
	Seed  uint64
	// MaxLength is the most characters of a new prompt; 0: DefaultPromptLength.
	MaxLength int
}

// Evolution is a search for prompts. It is deterministic in its configuration, the scores and the answers. Its
// driver repeats:
//
//	questions, ok := e.Ask(scores, evidence)   the next generation; !ok: the search has ended
//	taken := e.Take(answers)                   new candidates; taken.Again are second tries
//	… e.Take(answers to taken.Again)           once
//	… scores for the prompts of e.Population()
type Evolution struct {
	cfg         EvolveConfig
	limit       int
	page        string // the tools, for the model
	definitions string // the tools, folded
	all         []Candidate
	generation  int
	parents     []int
	fresh       []int // candidates of this generation
	open        []asked
}

// asked is a question that waits for its answer.
type asked struct {
	Question
	evidence []Evidence
	given    string // the prompts in it, folded
	second   bool
}

// NewEvolution makes a search. The error wraps callvet.ErrInvalid.
func NewEvolution(cfg EvolveConfig) (*Evolution, error) {
	cfg.Mode = cmp.Or(cfg.Mode, Quick)
	cfg.Population = cmp.Or(cfg.Population, DefaultPopulation)
	cfg.Generations = cmp.Or(cfg.Generations, DefaultGenerations)
	cfg.Selection = cmp.Or(cfg.Selection, DefaultSelection)
	bad := func(format string, args ...any) (*Evolution, error) {
		return nil, fmt.Errorf("tune prompt: %w: %s", callvet.ErrInvalid, fmt.Sprintf(format, args...))
	}
	switch {
	case !slices.Contains(PromptModes(), cfg.Mode):
		return bad("mode %q is not quick, evolve or reflect", cfg.Mode)
	case cfg.Population < MinPopulation || cfg.Population > MaxPopulation:
		return bad("a population has %d to %d prompts, and not %d", MinPopulation, MaxPopulation, cfg.Population)
	case cfg.Generations < 1 || cfg.Generations > MaxGenerations:
		return bad("there are 1 to %d generations, and not %d", MaxGenerations, cfg.Generations)
	case !(cfg.Selection >= MinSelection && cfg.Selection <= MaxSelection):
		return bad("the share of parents is from %g to %g, and not %g", MinSelection, MaxSelection, cfg.Selection)
	case cfg.MaxLength < 0:
		return bad("the most characters of a prompt are a positive number, and not %d", cfg.MaxLength)
	}
	if cfg.Mode == Quick {
		cfg.Generations = 1
	}
	cfg.Base = strings.TrimSpace(cfg.Base)
	return &Evolution{
		cfg: cfg, page: toolsPage(cfg.Tools), definitions: definitions(cfg.Tools),
		limit: cmp.Or(cfg.MaxLength, max(DefaultPromptLength, 2*utf8.RuneCountInString(cfg.Base))),
		all:   []Candidate{{Prompt: cfg.Base, Parent: -1, Mutation: MutationBase}},
	}, nil
}

// Candidates returns all prompts so far; the base is the first, and a position never changes.
func (e *Evolution) Candidates() []Candidate { return slices.Clone(e.all) }

// Generation is the number of the present generation; 0 before the first Ask.
func (e *Evolution) Generation() int { return e.generation }

// Population returns the candidates of the present generation: the base, the parents, which stay in
// the race, and the prompts that were written from them.
func (e *Evolution) Population() []int {
	out := append(append([]int{0}, e.parents...), e.fresh...)
	slices.Sort(out)
	return slices.Compact(out)
}

// MostQuestions is the greatest number of questions that the search asks, second tries included.
func (e *Evolution) MostQuestions() int { return 2 * e.cfg.Generations * (e.cfg.Population - 1) }

// MostCandidates returns the largest number of prompts of the search, with the base, and the
// largest sum of racing candidates over all generations.
func (e *Evolution) MostCandidates() (prompts, racing int) {
	prompts = 1 + e.cfg.Generations*(e.cfg.Population-1)
	racing = e.cfg.Generations * (e.cfg.Population + 1)
	if e.cfg.Mode == Reflect {
		racing++
	}
	return prompts, racing
}

// Ask returns the questions of the next generation; ok is false if there is none. scores are the
// scores of the candidates, in their order; with NaN or without a score the candidate cannot be a
// parent. Evidence is about attempts of the training half, in any order; only Reflect uses it.
func (e *Evolution) Ask(scores []float64, evidence []Evidence) (qs []Question, ok bool) {
	if e.generation >= e.cfg.Generations {
		return nil, false
	}
	e.generation++
	e.fresh, e.open = nil, nil
	e.parents = e.best(scores)
	rng := rand.New(rand.NewPCG(e.cfg.Seed, uint64(e.generation)))
	order := rng.Perm(len(aspects()))
	of := map[int][]Evidence{}
	if e.cfg.Mode == Reflect {
		for _, p := range e.parents {
			of[p] = mixed(evidence, p, rng)
		}
	}
	times := map[int]int{} // questions about a parent
	for i := range e.cfg.Population - len(e.parents) {
		at := i / 2 % len(e.parents) // a bold and a conservative one of each
		q := asked{Question: Question{
			ID: fmt.Sprintf("g%d.%d", e.generation, i+1), Generation: e.generation, Parent: e.parents[at],
		}}
		q.evidence = window(of[q.Parent], times[q.Parent])
		times[q.Parent]++
		q.Mutation = e.mutation(i, len(q.evidence) > 0)
		aspect := aspects()[order[i%len(order)]]
		if i >= len(order) {
			aspect += " Make it unlike other variations."
		}
		if q.Mutation == MutationReflection || q.Mutation == MutationConservative {
			aspect = ""
		}
		data := questionData{Prompt: e.all[q.Parent].Prompt, Tools: e.page, Attempts: q.evidence}
		if other := e.parents[(at+1)%len(e.parents)]; q.Mutation == MutationBold && other != q.Parent {
			data.Other = e.all[other].Prompt
		}
		q.given = fold(data.Prompt) + "\n" + fold(data.Other)
		q.Turns = []callvet.Turn{{Role: callvet.RoleUser, Content: data.text(e.task(&q, aspect, i))}}
		e.open = append(e.open, q)
		qs = append(qs, q.Question)
	}
	return qs, true
}

// task returns the text of a question. Equal questions get a number, so that a stored answer is not
// reused for another of them.
func (e *Evolution) task(q *asked, aspect string, i int) string {
	s := task(q.Mutation, aspect, e.limit)
	if aspect == "" {
		s += fmt.Sprintf(" This is suggestion %d of %d.", i+1, e.cfg.Population-len(e.parents))
	}
	return s
}

// mutation returns the kind of the i-th question of a generation.
func (e *Evolution) mutation(i int, evidence bool) Mutation {
	switch {
	case evidence:
		return MutationReflection
	case e.generation == 1:
		return MutationVariation
	case i%2 == 0:
		return MutationBold
	}
	return MutationConservative
}

// best returns the parents of the next generation: the candidates with the highest scores, the
// earlier of equal ones. They leave room for two new prompts. Without a score the base is the
// parent.
func (e *Evolution) best(scores []float64) []int {
	var out []int
	for i := range e.all[:min(len(e.all), len(scores))] {
		if !math.IsNaN(scores[i]) {
			out = append(out, i)
		}
	}
	if e.generation == 1 || len(out) == 0 {
		return []int{0}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	n := int(math.Round(e.cfg.Selection * float64(e.cfg.Population)))
	return out[:min(len(out), max(1, min(n, e.cfg.Population-2)))]
}

// mixed returns the attempts of a candidate, with alternating classes of errors.
func mixed(all []Evidence, candidate int, rng *rand.Rand) []Evidence {
	byClass := map[callvet.Class][]Evidence{}
	var classes []callvet.Class
	n := 0
	for i := range all {
		if all[i].Candidate != candidate {
			continue
		}
		c := all[i].class
		if byClass[c] == nil {
			classes = append(classes, c)
		}
		byClass[c] = append(byClass[c], all[i])
		n++
	}
	slices.Sort(classes)
	for _, c := range classes {
		list := byClass[c]
		rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	}
	out := make([]Evidence, 0, n)
	for at := 0; len(out) < n; at++ {
		for _, c := range classes {
			if at < len(byClass[c]) {
				out = append(out, byClass[c][at])
			}
		}
	}
	return out
}

// window returns the attempts for the round-th question about a candidate: different ones from the
// earlier questions, while there are any.
func window(all []Evidence, round int) []Evidence {
	n := min(len(all), questionAttempts)
	out := make([]Evidence, n)
	for i := range n {
		out[i] = all[(round*questionAttempts+i)%len(all)]
	}
	return out
}

// Taken is the result of reading answers.
type Taken struct {
	Added    []int // positions of new candidates
	Failures []Failure
	// Again are second tries: the next Take reads their answers.
	Again []Question
}

// Take reads the answers to the questions of Ask, or to those of the last Take, in their order; a
// missing answer counts as no answer of the model. After an unusable answer the question is asked
// once more, with the mistake.
func (e *Evolution) Take(answers []Answer) Taken {
	var t Taken
	var again []asked
	for i := range e.open {
		q := &e.open[i]
		a := Answer{Why: "it was not asked"}
		if i < len(answers) {
			a = answers[i]
		}
		c, f := e.read(q, a)
		if f.Kind == "" {
			e.all = append(e.all, c)
			e.fresh = append(e.fresh, len(e.all)-1)
			t.Added = append(t.Added, len(e.all)-1)
			continue
		}
		if !q.second && f.Kind != FailureNoAnswer {
			f.Again = true
			again = append(again, q.retry(a.Text, f.Detail))
			t.Again = append(t.Again, again[len(again)-1].Question)
		}
		t.Failures = append(t.Failures, f)
	}
	asking := len(e.open) > 0
	if e.open = again; asking && len(again) == 0 && len(e.fresh) == 0 {
		t.Failures = append(t.Failures, Failure{
			Generation: e.generation, Kind: FailureNothingNew,
			Detail: fmt.Sprintf("generation %d gave no new prompt", e.generation),
		})
	}
	return t
}

// retry returns the second try after an unusable answer.
func (q *asked) retry(answer, wrong string) asked {
	out := *q
	out.ID, out.second = q.ID+".again", true
	out.Turns = slices.Clone(q.Turns)
	if strings.TrimSpace(answer) != "" {
		out.Turns = append(out.Turns,
			callvet.Turn{Role: callvet.RoleAssistant, Content: plain.Limited(answer, questionEcho)})
	}
	out.Turns = append(out.Turns,
		callvet.Turn{Role: callvet.RoleUser, Content: learn.RetryPrompt([]string{wrong}, answerForm)})
	return out
}
