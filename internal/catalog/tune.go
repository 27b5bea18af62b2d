// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
	"github.com/callvet/callvet/score"
)

// TuneRequest are the settings to tune, and the questions for it.
type TuneRequest struct {
	Suite string `json:"suite"`
	Tools string `json:"tools"`
	// Settings are the settings for the search for weights; they contain no weights.
	Settings
	// Goal is one of Goals; empty: the first.
	Goal string `json:"goal,omitempty"`
	// Holdout is the share of the sets of right tools that is held out, 0 for a half; Folds,
	// in its place, holds every case out once.
	Holdout float64 `json:"holdout,omitempty"`
	Folds   int     `json:"folds,omitempty"`
	Seed    uint64  `json:"seed"`
	// Rounds is the largest number of passes over all weights; 0: 4.
	Rounds int `json:"rounds,omitempty"`
	// Output is a file for the weights; empty: only the result contains them.
	Output string `json:"output,omitempty"`
}

func (q *TuneRequest) check() error {
	switch {
	case q.Tools == "":
		return NoCatalogue()
	case q.Goal != "" && !slices.Contains(TuningGoals(), q.Goal):
		return Invalid("goal", strings.Join(TuningGoals(), ", "), "choose goal: invalid: none is called %q", q.Goal)
	case q.Folds != 0 && q.Holdout != 0:
		return Invalid("folds", "", "tune: invalid: either {holdout} or {folds}")
	case !(q.Holdout >= 0 && q.Holdout < 1):
		return Invalid("holdout", "", "tune: invalid: {holdout} is above 0 and below 1")
	case q.Rounds < 0 || q.Rounds > 20:
		return Invalid("rounds", "", "tune: invalid: {rounds} is from 1 to 20")
	case q.Folds < 0 || q.Folds == 1 || q.Folds > 100:
		return Invalid("folds", "", "tune: invalid: {folds} is from 2 to 100")
	}
	q.Goal, q.Rounds = cmp.Or(q.Goal, TuningGoals()[0]), cmp.Or(q.Rounds, 4)
	if q.Folds == 0 {
		q.Holdout = cmp.Or(q.Holdout, 0.5)
	}
	return nil
}

// Tune searches for weights that find the right tools of a suite more often than the weights of
// the preset. Errors are errors of files, of models and of settings, and wrap callvet.ErrInvalid
// where the cases cannot be used.
func Tune(ctx context.Context, e *Env, q TuneRequest) (*Tuning, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if err := mayWriteWeights(e, q.Output); err != nil {
		return nil, err
	}
	w := tuner{TuneRequest: &q}
	var err error
	if w.catalogue, _, err = e.Catalogue(q.Tools); err != nil {
		return nil, err
	}
	s, err := e.Suite(ctx, q.Suite, Tools(w.catalogue))
	if err != nil {
		return nil, err
	}
	w.cases = s.Cases
	o, err := q.Options(w.catalogue)
	if err != nil {
		return nil, err
	}
	if err := e.OpenModels(ctx, &q.Settings, &o); err != nil {
		return nil, err
	}
	t, err := w.run(ctx, o)
	if err != nil {
		return nil, err
	}
	if t.File = q.Output; q.Output == "" || len(t.Weights) == 0 {
		return t, nil
	}
	b, err := t.Text()
	if err != nil {
		return nil, err
	}
	return t, e.Write(ctx, q.Output, b)
}

// mayWriteWeights returns an error where a file would be lost that tuning did not write.
func mayWriteWeights(e *Env, file string) error {
	if file == "" {
		return nil
	}
	b, there, err := e.Old(file)
	if err != nil || !there {
		return err
	}
	var old struct {
		Composite, Tuned json.RawMessage
	}
	if json.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), &old) != nil || old.Tuned == nil || old.Composite != nil {
		return Conflict("write weights %s: conflict: there is a file that was not written by select tune", file)
	}
	return nil
}

// tuner judges weights by the cases of a suite.
type tuner struct {
	*TuneRequest
	catalogue *retrieve.Catalogue
	cases     []callvet.Case
}

// TuningGoals are the goals for choosing weights, the usual one first.
func TuningGoals() []string { return []string{"mrr", "hit1", "ndcg", "pass"} }

// Tuning is the result of a search for weights.
type Tuning struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Cases   int    `json:"cases"`
	LeftOut int    `json:"left_out"`
	// TrainBefore and TrainAfter are the goal's means over the cases of the search.
	TrainBefore float64 `json:"train_preset_mean"`
	TrainAfter  float64 `json:"train_tuned_mean"`
	// Moves are the kept moves, in their order.
	Moves []learn.Move `json:"moves"`
	// Tried is how many settings were tried; Cut: the search was ended early.
	Tried int  `json:"tried"`
	Cut   bool `json:"cut,omitempty"`
	// Weights are the weights that differ from the preset; empty where nothing was better.
	Weights     map[string]float64 `json:"weights"`
	Tuned       learn.Tuned        `json:"tuned"`
	FoldChanges []float64          `json:"fold_changes,omitempty"`
	// NewlyRight and NewlyWrong are ids of cases held out: by their first tool, or, where
	// the goal is pass, by all tools given.
	NewlyRight []string `json:"newly_right"`
	NewlyWrong []string `json:"newly_wrong"`
	// File is the written file of weights; empty: none.
	File string `json:"file,omitempty"`
}

// leastGain is the least improvement of a mean to keep a move: a smaller one means only that one
// tool far from the top moved up.
const leastGain = 0.0005

// rankDepth is how deep ranks are read for mrr and ndcg.
const rankDepth = 10

// run searches for weights. o are the options of the settings.
func (c *tuner) run(ctx context.Context, o retrieve.Options) (*Tuning, error) {
	known := Positions(c.catalogue)
	t := &Tuning{
		Format: "callvet.tuning", Version: 1, NewlyRight: []string{}, NewlyWrong: []string{},
		Moves: []learn.Move{},
	}
	var cases []*Wanted
	var keys []string
	for i := range c.cases {
		k, ok := WantedOf(&c.cases[i], known)
		if !ok {
			t.LeftOut++
			continue
		}
		if want, ok := score.SelectionOf(&c.cases[i].Expect); ok {
			k.Want.Acceptable = want.Acceptable
		}
		cases = append(cases, k)
		keys = append(keys, rightTools(k.Want.Tools))
	}
	if t.Cases = len(cases); t.Cases == 0 {
		return nil, fmt.Errorf("tune: %w: no case expects a tool that the catalogue has", callvet.ErrInvalid)
	}
	o = learn.Remember(o, c.catalogue.Entries)
	o.Limit, o.Threshold, o.MinConfidence, o.Confidence = max(rankDepth, c.Settings.Depth()), 0, 0, nil
	trial := learn.Trial{
		Search: learn.Search{Start: o, Knobs: learn.Weights(o.Formula), Rounds: c.Rounds, Least: leastGain},
		Keys:   keys, Holdout: c.Holdout, Folds: c.Folds, Seed: c.Seed, Judge: c.judge(cases),
	}
	r, err := trial.Run(ctx)
	if err != nil {
		return nil, err
	}
	t.take(&r, cases)
	t.Weights = learn.Changed(o, r.Found.Options, trial.Search.Knobs)
	t.Tuned = learn.Tuned{
		Suite: SuiteHash(c.cases), Catalogue: callvet.NewToolset(Tools(c.catalogue)).Hash,
		Preset: cmp.Or(c.Settings.Preset, "default"), K: c.Settings.Depth(),
		Embed: c.Settings.Embed, Goal: c.Goal, Seed: c.Seed, Folds: c.Folds, Train: r.Train, Held: r.Held,
		Before: r.Preset, After: r.Tuned,
		Change: r.Change, P: r.P, Exact: r.Exact, BeyondChance: r.BeyondChance,
	}
	if c.Folds == 0 {
		t.Tuned.Holdout = c.Holdout
	}
	return t, nil
}

func (t *Tuning) take(r *learn.TuneResult, cases []*Wanted) {
	t.TrainBefore, t.TrainAfter, t.Tried, t.Cut, t.FoldChanges = r.Found.Start, r.Found.Goal, r.Tried, r.Found.Cut,
		r.FoldChanges
	t.Moves = append(t.Moves, r.Found.Moves...)
	for _, q := range r.NewlyRight {
		t.NewlyRight = append(t.NewlyRight, cases[q].ID)
	}
	for _, q := range r.NewlyWrong {
		t.NewlyWrong = append(t.NewlyWrong, cases[q].ID)
	}
}

func rightTools(tools []string) string {
	return strings.Join(slices.Sorted(slices.Values(tools)), "\x00")
}

// judge searches for the cases in an index that is built for the options.
func (c *tuner) judge(cases []*Wanted) learn.Judge {
	return func(ctx context.Context, o retrieve.Options, questions []int) ([]learn.TuneOutcome, error) {
		x, err := retrieve.New(ctx, o, c.catalogue.Entries)
		if err != nil {
			return nil, err
		}
		out := make([]learn.TuneOutcome, len(questions))
		for i, q := range questions {
			found, err := x.Search(ctx, cases[q].Question, o.Limit)
			if err != nil {
				return nil, err
			}
			out[i] = c.outcome(&cases[q].Want, found.Hits)
		}
		return out, nil
	}
}

// outcome scores the found tools by the rules for runs.
func (c *tuner) outcome(want *callvet.Selection, hits []retrieve.Hit) learn.TuneOutcome {
	set := score.SelectionDefaults()
	set.K = []int{rankDepth}
	name := map[string]string{
		"hit1": score.Precision1, "ndcg": score.NDCGAt + strconv.Itoa(rankDepth),
		"pass": score.ToolsRight,
	}[c.Goal]
	if name == "" {
		name = score.MRR
	}
	if c.Goal == "pass" {
		hits = hits[:min(len(hits), c.Settings.Depth())]
	}
	d := callvet.Decision{Layers: []callvet.LayerTime{{Layer: callvet.SelectTools}}}
	for _, h := range hits {
		d.Tools = append(d.Tools, callvet.Ranked{Tool: h.ID, Score: h.Score})
	}
	res := score.JudgeSelection(want, &d, set)
	right := score.Precision1
	if c.Goal == "pass" {
		right = score.ToolsRight
	}
	return learn.TuneOutcome{Score: res.Score(name).Value, Right: res.Score(right).Value == 1}
}

// SuiteHash is a hash of the questions and expected tools of cases, in any order.
func SuiteHash(cases []callvet.Case) string {
	lines := make([]string, len(cases))
	for i := range cases {
		want, _ := score.SelectionOf(&cases[i].Expect)
		lines[i] = strconv.Quote(cases[i].ID) + strconv.Quote(cases[i].Question()) +
			strconv.Quote(rightTools(want.Tools))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return fmt.Sprintf("sha256:%x", sum[:16])
}

// weightsFile is the content of the file of weights.
type weightsFile struct {
	Retrieval map[string]float64 `json:"retrieval"`
	Tuned     learn.Tuned        `json:"tuned"`
}

// Text is what `select --weights` reads; empty where nothing was better.
func (t *Tuning) Text() ([]byte, error) {
	if len(t.Weights) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(weightsFile{t.Weights, t.Tuned}); err != nil {
		return nil, fmt.Errorf("write weights: %w", err)
	}
	return plain.Visible(b.Bytes()), nil
}
