// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package cases

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// GoldDrawRequest requests tasks of a run or of a trace file, for a person to write the right calls
// of each.
type GoldDrawRequest struct {
	app.Side
	// Output is the file to which they are added; its tasks stay, and are not drawn again.
	Output string `json:"output"`
	// N is the number of tasks in the file afterwards.
	N int `json:"n"`
	// By are keys of slices: as many tasks are drawn of each of their values.
	By   []string `json:"by,omitempty"`
	Seed uint64   `json:"seed,omitempty"`
	// Edge is the share of tasks that are drawn as edge cases (failures and unusual attempts),
	// equally many of each kind, in [0,1].
	Edge float64 `json:"edge,omitempty"`
	// Blank leaves the right calls blank, instead of proposing the actual ones.
	Blank bool `json:"blank,omitempty"`
}

// GoldDrawn is what was drawn.
type GoldDrawn struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	File    string `json:"file"`
	// Tasks counts the tasks of the file, Added the new ones, Strata the values of the slice keys.
	Tasks  int `json:"tasks"`
	Added  int `json:"added"`
	Strata int `json:"strata"`
	// Open counts the tasks without a label, and the proposals that no person has confirmed.
	Open int `json:"open"`
	// Edges are the edge cases of the file, by kind.
	Edges map[string]int `json:"edges,omitempty"`
}

// DrawGold draws tasks and adds them to a file, redacted. The error wraps callvet.ErrInvalid for a
// file to which no task can be added.
func DrawGold(ctx context.Context, a *app.App, req GoldDrawRequest, events app.Events) (out *GoldDrawn, err error) {
	switch {
	case req.Output == "" || req.Output == "-":
		return nil, app.Wrong("output", req.Output, "name the file to fill in")
	case req.N < 1:
		return nil, app.Wrong("n", fmt.Sprint(req.N), "it is 1 or more")
	case !(req.Edge >= 0 && req.Edge <= 1):
		return nil, app.Wrong("edge", fmt.Sprint(req.Edge), "it is a share from 0 to 1")
	}
	if err := req.CheckOne("traces"); err != nil {
		return nil, err
	}
	release, err := a.Config.Files.Hold(ctx, req.Output)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	g, data, err := readGold(a, req.Output, events)
	if err != nil {
		return nil, err
	}
	added, strata, err := drawGold(ctx, a, &req, g)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(g.Tasks, added)
	out = &GoldDrawn{
		Format: "callvet.label_gold", Version: 1, File: req.Output, Strata: strata, Tasks: len(all),
		Added: len(added), Open: openGold(all), Edges: edgesOf(all),
	}
	if out.Added == 0 {
		return out, nil
	}
	if data, err = labels.AppendGold(req.Output, data, added); err != nil {
		return nil, err
	}
	return out, a.WriteBytes(ctx, req.Output, data)
}

// drawGold draws the tasks that a file lacks, and counts the strata that they are drawn from.
func drawGold(ctx context.Context, a *app.App, req *GoldDrawRequest, g *labels.Gold) ([]labels.GoldTask, int, error) {
	done := map[labels.Key]bool{}
	for i := range g.Tasks {
		done[g.Tasks[i].Key()] = true
	}
	pool, err := newGoldPool(ctx, a, req)
	if err != nil {
		return nil, 0, err
	}
	added, err := shownGold(ctx, a, req, pool.draw(req, g, done), pool)
	return added, len(pool.strata), err
}

// openGold counts the tasks that no person has answered.
func openGold(tasks []labels.GoldTask) (n int) {
	for i := range tasks {
		if tasks[i].Open() {
			n++
		}
	}
	return n
}

// edgesOf counts the edge cases by their kind; nil without any.
func edgesOf(tasks []labels.GoldTask) map[string]int {
	var out map[string]int
	for i := range tasks {
		if kind := tasks[i].Edge; kind != "" {
			if out == nil {
				out = map[string]int{}
			}
			out[kind]++
		}
	}
	return out
}

// readGold reads a gold file, which may be missing. It reports the problems.
func readGold(a *app.App, name string, events app.Events) (*labels.Gold, []byte, error) {
	if a.Config.Files.Kind(name) == app.KindNone {
		return &labels.Gold{}, nil, nil
	}
	data, err := a.Read(name, app.MaxSettings)
	if err != nil {
		return nil, nil, err
	}
	g, problems, err := labels.ReadGold(name, data)
	events.Problems(problems)
	return g, data, err
}

// attemptsOf yields the attempts of a run or of a trace file.
func attemptsOf(ctx context.Context, a *app.App, s app.Side) iter.Seq2[*trace.Attempt, error] {
	return func(yield func(*trace.Attempt, error) bool) {
		if s.Run == "" {
			stop := errors.New("stop")
			err := results.WholeAttempts(a, s.Traces, func(at *trace.Attempt) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if !yield(at, nil) {
					return stop
				}
				return nil
			})
			if err != nil && !errors.Is(err, stop) {
				yield(nil, err)
			}
			return
		}
		r, err := results.Open(ctx, a, s.Run)
		if err != nil {
			yield(nil, err)
			return
		}
		for at, err := range r.Attempts(ctx) {
			if !yield(&at, err) {
				return
			}
		}
	}
}

// keyOf names an attempt as labels do.
func keyOf(at *trace.Attempt) labels.Key {
	return labels.Key{Target: at.Trace.Target, TaskID: at.Trace.CaseID, Attempt: at.Trace.Repeat, Unit: labels.Task}
}

// drawnFrom is the stratum of an attempt.
type drawnFrom struct {
	name string
	of   int
}

// goldPool has the tasks to draw from: by the values of the keys, and edge cases by their kind.
type goldPool struct {
	strata, edges map[string][]labels.Key
	of            map[labels.Key]drawnFrom
	edge          map[labels.Key]string
}

// draw draws edge cases first, up to their share of the file, and then from all strata.
func (p *goldPool) draw(req *GoldDrawRequest, g *labels.Gold, done map[labels.Key]bool) []labels.Key {
	left, edges := req.N-len(g.Tasks), int(math.Round(req.Edge*float64(req.N)))
	for i := range g.Tasks {
		if g.Tasks[i].Edge != "" {
			edges--
		}
	}
	drawn := labels.DrawGold(p.edges, done, max(0, min(edges, left)), req.Seed)
	for _, k := range drawn {
		done[k] = true
	}
	for k := range p.edge { // a task that is drawn with the others is not an edge case
		if !slices.Contains(drawn, k) {
			delete(p.edge, k)
		}
	}
	return append(drawn, labels.DrawGold(p.strata, done, left-len(drawn), req.Seed)...)
}

// edgeOf returns the kind of edge case of an attempt, the rarest kind first; "" for none.
// Source: Evaluating Tool Calling, §5.
func edgeOf(at *trace.Attempt) string {
	calls := at.Trace.Calls()
	limited, failed, rejected, empty, ran := false, false, false, false, false
	made := map[string]bool{}
	again := false
	for i := range calls {
		c := &calls[i]
		key := c.Tool + "\x00" + string(c.Args)
		again, made[key] = again || made[key], true
		switch why := match.Failure(c); {
		case match.RateLimited(c):
			limited = true
		case c.Status == callvet.StatusRejected:
			rejected = true
		case why != "":
			failed = true
		default:
			ran = true
			empty = empty || noResult(c.Result)
		}
	}
	switch turns := len(calling(&at.Trace)); {
	case limited:
		return "rate limit"
	case failed && ran:
		return "partial outage"
	case failed:
		return "failed call"
	case rejected:
		return "rejected call"
	case empty:
		return "null result"
	case again:
		return "repeated call"
	case turns > 1:
		return "stateful flow"
	case len(calls) == 0:
		return "no call"
	}
	return ""
}

// noResult reports whether a tool returned an empty result: null, an empty list or object, or an
// empty text.
func noResult(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "null", "[]", "{}", `""`:
		return true
	}
	return false
}

// newGoldPool groups the tasks by the values of the keys, with one attempt of each: the first that
// did not end in an error.
func newGoldPool(ctx context.Context, a *app.App, req *GoldDrawRequest) (*goldPool, error) {
	if err := results.Unambiguous("by", req.By); err != nil {
		return nil, err
	}
	names := steps.NewSliceNames(req.By, nil)
	strata, seen := map[string][]labels.Key{}, map[string]bool{}
	p := &goldPool{
		strata: strata, edges: map[string][]labels.Key{}, of: map[labels.Key]drawnFrom{},
		edge: map[labels.Key]string{},
	}
	for at, err := range attemptsOf(ctx, a, req.Side) {
		if err != nil {
			return nil, err
		}
		if o := at.Trace.Outcome; seen[at.Trace.CaseID] || at.Trace.Fault != nil || o == callvet.OutcomeError ||
			o == callvet.OutcomeNotRun {
			continue
		}
		seen[at.Trace.CaseID] = true
		name, err := stratum(names, req.By, at)
		if err != nil {
			return nil, err
		}
		k := keyOf(at)
		strata[name] = append(strata[name], k)
		if kind := edgeOf(at); kind != "" && req.Edge > 0 {
			p.edges[kind], p.edge[k] = append(p.edges[kind], k), kind
		}
	}
	if len(strata) == 0 {
		return nil, fmt.Errorf("draw tasks of %s: %w: there is none", req.Name(), callvet.ErrInvalid)
	}
	for name, keys := range strata {
		for _, k := range keys {
			p.of[k] = drawnFrom{name, len(keys)}
		}
	}
	return p, nil
}

// stratum returns the values of an attempt for the keys, as in slices.
func stratum(names *steps.SliceNames, by []string, at *trace.Attempt) (string, error) {
	if len(by) == 0 {
		return "", nil
	}
	tags, err := asValue(at.Tags)
	if err != nil {
		return "", err
	}
	fields, err := asValue(at.Fields)
	if err != nil {
		return "", err
	}
	set := names.Set(nil, nil, tags, fields)
	var parts []string
	for _, key := range by {
		var values []string
		for _, id := range set.IDs {
			if s := names.Slice(id); s.Key == key {
				values = append(values, s.Value)
			}
		}
		slices.Sort(values)
		parts = append(parts, key+"="+strings.Join(values, "+"))
	}
	return strings.Join(parts, " "), nil
}

func asValue(of any) (value.Value, error) {
	b, err := json.Marshal(of)
	if err != nil {
		return value.Value{}, fmt.Errorf("read slices: %w", err)
	}
	return value.Parse(b)
}

// shownGold returns the drawn attempts as a person sees them, redacted, in their order.
func shownGold(ctx context.Context, a *app.App, req *GoldDrawRequest, drawn []labels.Key,
	p *goldPool,
) ([]labels.GoldTask, error) {
	at := map[labels.Key]int{}
	for i, k := range drawn {
		at[k] = i
	}
	red, err := a.Secrets().Redactor(nil)
	if err != nil {
		return nil, err
	}
	out := make([]labels.GoldTask, len(drawn))
	for one, err := range attemptsOf(ctx, a, req.Side) {
		if err != nil {
			return nil, err
		}
		i, want := at[keyOf(one)]
		if !want {
			continue
		}
		hidden := one.Redacted(red)
		k := drawn[i]
		t := labels.GoldTask{
			Task: k.TaskID, Attempt: k.Attempt, Target: k.Target, Stratum: p.of[k].name,
			Of: p.of[k].of, Edge: p.edge[k], Goal: userText(&hidden),
			Answer: plain.Limited(hidden.Trace.Answer, runs.MaxShown),
		}
		for _, turn := range calling(&hidden.Trace) {
			t.Turns = append(t.Turns, labels.GoldTurn{Called: runs.ShownCalls(turn.Calls)})
		}
		t.Turns = append(t.Turns, labels.GoldTurn{})
		if !req.Blank {
			propose(&t, &hidden)
		}
		out[i] = t
	}
	return out, nil
}

// propose fills in the actual calls, for a person to correct: the calls that did not fail, each
// once, or their labels in the trace. A turn stays blank if all its calls failed.
func propose(t *labels.GoldTask, at *trace.Attempt) {
	no := false
	t.Checked = &no
	n := 0
	made := map[string]bool{}
	for i, turn := range calling(&at.Trace) {
		g := &t.Turns[i]
		failed, needed := 0, false
		for j := range turn.Calls {
			c := &turn.Calls[j]
			label := at.Steps[n].Gold
			n++
			key := c.Tool + "\x00" + string(c.Args)
			switch {
			case label != nil && label.Needed != nil && !*label.Needed, label == nil && made[key]:
				continue
			case label == nil && match.Failure(c) != "":
				failed++
				continue
			}
			made[key], needed = true, true
			g.Calls = append(g.Calls, proposed(c, label))
		}
		if needed || failed == 0 {
			g.Needed = &needed
		}
	}
	t.Turns[len(t.Turns)-1].Needed = &no
}

// proposed returns a call as it was made, or as in its label.
func proposed(c *callvet.Call, label *trace.Gold) labels.GoldCall {
	tool, args, check := c.Tool, c.Args, labels.NoCheck
	if label != nil {
		tool, check = cmp.Or(label.Tool, tool), cmp.Or(label.ResultCheck, check)
		if label.Args != nil {
			args = label.Args
		}
	}
	if v, err := value.Parse(args); err != nil || v.Kind() != value.Object {
		args = labels.AnyGold()
	}
	return labels.GoldCall{Tool: &tool, Args: args, Check: &check}
}

// userText returns all messages of the user, or else the goal.
func userText(at *trace.Attempt) string {
	var texts []string
	for _, t := range slices.Concat(at.Input, at.Trace.Turns) {
		if text := strings.TrimSpace(t.Content); t.Role == callvet.RoleUser && text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		texts = []string{at.Goal}
	}
	return plain.Limited(strings.Join(texts, "\n"), runs.MaxShown)
}

// calling returns the turns of an attempt with calls.
func calling(t *callvet.Trace) (out []callvet.Turn) {
	for i := range t.Turns {
		if len(t.Turns[i].Calls) > 0 {
			out = append(out, t.Turns[i])
		}
	}
	return out
}

// GoldApplyRequest requests labels of steps, and a suite, from a file that a person has filled in.
type GoldApplyRequest struct {
	// File is a file of DrawGold, Side the run or trace file of its tasks.
	File string `json:"file"`
	app.Side
	// Output is a trace file for the tasks with their labels, Suite a suite file for them as cases;
	// at least one of the two. Existing files are kept, and are an error.
	Output string `json:"output,omitempty"`
	Suite  string `json:"suite,omitempty"`
	// Tools is a file or folder with the tools of the suite; "": the tools of the traces, or only
	// names.
	Tools string `json:"tools,omitempty"`
}

// GoldApplied is the result of applying a gold file.
type GoldApplied struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Tasks counts the tasks that were filled in, Open those that were not begun.
	Tasks int `json:"tasks"`
	Open  int `json:"open"`
	// Output and Suite are the files that were written; Cases counts the cases of the suite.
	Output string `json:"output,omitempty"`
	Suite  string `json:"suite,omitempty"`
	Cases  int    `json:"cases"`
	// Lost lists data for which the suite has no place.
	Lost []callvet.Problem `json:"lost,omitempty"`
}

// golden collects the results of applying a gold file.
type golden struct {
	*GoldApplied
	lines bytes.Buffer
	suite callvet.Suite
	tools []callvet.Tool // that were requested; nil: those of the traces
	day   string
	text  []byte // the suite as a file; its gold calls pass its own cases
}

// ApplyGold converts a filled-in file to labels of steps in a trace file, and to a suite. All is
// redacted. If a task is partly blank or not in the traces, it reports the blanks and writes
// nothing; the error then wraps callvet.ErrInvalid.
func ApplyGold(ctx context.Context, a *app.App, req GoldApplyRequest, events app.Events) (*GoldApplied, error) {
	if req.Output == "" && req.Suite == "" {
		return nil, app.Wrong("output", "", "name a file for the labelled traces, or {suite} FILE for a suite, or both")
	}
	if err := req.CheckOne("traces"); err != nil {
		return nil, err
	}
	for _, name := range []string{req.Output, req.Suite} {
		if _, there, err := a.Config.Files.Existing(name); name != "" && (there || err != nil) {
			return nil, errors.Join(fmt.Errorf("write %s: %w: the file exists", name, callvet.ErrConflict), err)
		}
	}
	out, err := makeGold(ctx, a, &req, events)
	if err != nil {
		return nil, err
	}
	return out.GoldApplied, writeGold(ctx, a, &req, out)
}

// makeGold converts a filled-in file. It writes nothing.
func makeGold(ctx context.Context, a *app.App, req *GoldApplyRequest, events app.Events) (*golden, error) {
	data, err := a.Read(req.File, app.MaxSettings)
	if err != nil {
		return nil, err
	}
	g, problems, err := labels.ReadGold(req.File, data)
	if err != nil {
		return nil, err
	}
	events.Problems(problems)
	if len(problems) > 0 {
		return nil, fmt.Errorf("read gold file %s: %w: %s", req.File, callvet.ErrInvalid,
			plain.Count(len(problems), "problem", "problems"))
	}
	out := &golden{GoldApplied: &GoldApplied{
		Format: "callvet.label_apply", Version: 1, Output: req.Output,
		Suite: req.Suite,
	}, day: a.Config.Now().UTC().Format(time.DateOnly)}
	if out.tools, err = a.NewestTools(req.Tools, events); err != nil {
		return nil, err
	}
	if out.tools == nil {
		if out.suite.Tools, err = offeredBy(ctx, a, req.Side); err != nil {
			return nil, err
		}
	}
	if err := labelTasks(ctx, a, req, g, out); err != nil {
		return nil, err
	}
	if req.Suite != "" {
		if out.text, err = goldSuite(ctx, a, req, out, events); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// labelTasks adds the labels of the filled-in tasks.
func labelTasks(ctx context.Context, a *app.App, req *GoldApplyRequest, g *labels.Gold, out *golden) error {
	want := map[labels.Key]*labels.GoldTask{}
	for i := range g.Tasks {
		if t := &g.Tasks[i]; t.Open() {
			out.Open++
		} else {
			want[t.Key()] = t
		}
	}
	if out.Tasks = len(want); out.Tasks == 0 {
		return fmt.Errorf(
			"read gold file %s: %w: no task of it is filled in; a proposal counts once it has checked: true", req.File,
			callvet.ErrInvalid)
	}
	red, err := a.Secrets().Redactor(nil)
	if err != nil {
		return err
	}
	exp, err := foreign.Export(foreign.Contract, &out.lines, nil)
	if err != nil {
		return err
	}
	for at, err := range attemptsOf(ctx, a, req.Side) {
		if err != nil {
			return err
		}
		t := want[keyOf(at)]
		if t == nil {
			continue
		}
		delete(want, keyOf(at))
		own := *at
		if err := labelSteps(ctx, &own, t); err != nil {
			return err
		}
		hidden := own.Redacted(red)
		if err := exp.Attempt(&hidden); err != nil {
			return err
		}
		var checks []string
		for i := range t.Turns {
			for _, e := range t.Turns[i].Right() {
				checks = append(checks, red.Check(e.ResultCheck))
			}
		}
		out.take(&hidden, t, checks)
	}
	for k := range want {
		return fmt.Errorf("label %s: %w in %s", k, callvet.ErrNotFound, req.Name())
	}
	return exp.Close()
}

// labelSteps labels each call of an attempt, and the attempt with all calls that are right.
func labelSteps(ctx context.Context, at *trace.Attempt, t *labels.GoldTask) error {
	turns := calling(&at.Trace)
	if len(t.Turns) != len(turns)+1 {
		return fmt.Errorf("label %s: %w: it has %d turns with calls, and the file %d and the last one", at.Name(),
			callvet.ErrInvalid, len(turns), len(t.Turns)-1)
	}
	notes := map[int]trace.StepNote{}
	for i, n := range at.Steps {
		notes[i] = n
	}
	gold := trace.TaskGold{Steps: []trace.GoldStep{}}
	if at.Gold != nil {
		gold.Facts = at.Gold.Facts
	}
	at.Gold = &gold
	n := 0
	for i := range t.Turns {
		right := t.Turns[i].Right()
		for j := range right {
			at.Gold.Steps = append(at.Gold.Steps, trace.GoldStep{Tool: right[j].Tools[0], Args: right[j].Args})
		}
		if i == len(turns) {
			break
		}
		marked, err := turnGold(ctx, turns[i].Calls, right)
		if err != nil {
			return err
		}
		for j := range marked {
			note, ok := notes[n]
			if !ok {
				note.TurnID = -1
			}
			note.Gold = &marked[j]
			notes[n] = note
			n++
		}
	}
	at.Steps = notes
	return nil
}

// turnGold labels the calls of one turn by its right calls, paired as in scoring.
func turnGold(ctx context.Context, calls []callvet.Call, right []callvet.ExpectedCall) ([]trace.Gold, error) {
	c := callvet.Case{ID: "turn", Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: right}}}}
	t := callvet.Trace{
		Outcome: callvet.OutcomeCalled,
		Turns:   []callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls}},
	}
	var names draft
	names.of, names.attempts = &c, []callvet.Trace{t}
	scorer, _ := score.New(&callvet.Suite{Tools: names.named()}, score.Config{})
	by, problems := scorer.Compile(&c)
	if suite.HasErrors(problems) {
		return nil, fmt.Errorf("label calls: %w: %w", callvet.ErrInvalid, problems[0])
	}
	r, err := by.Judge(ctx, &t)
	if err != nil {
		return nil, err
	}
	given, _, _ := score.Labels(&c, &t, &r)
	out := make([]trace.Gold, len(calls))
	for j := range given {
		out[j] = trace.GoldOf(&given[j], &callvet.Scoring{})
	}
	return out, nil
}

// take makes a case from a labelled, redacted attempt, with the checks of its right calls.
func (g *golden) take(at *trace.Attempt, t *labels.GoldTask, checks []string) {
	lose := func(why string) {
		g.Lost = append(g.Lost, callvet.Problem{
			Code: "not-carried", Warning: true, Case: at.Trace.CaseID,
			Message: at.Trace.CaseID + ": " + why,
		})
	}
	c := callvet.Case{ID: at.Trace.CaseID, Tier: callvet.TierLabeled, Tags: at.Tags, Fields: at.Fields, AsOf: at.AsOf}
	if c.AsOf == "" {
		c.AsOf = g.day
	}
	for _, t := range at.Input {
		if t.Role != callvet.RoleSystem {
			c.Input = append(c.Input, t)
		} else if g.suite.SystemPrompt == "" {
			g.suite.SystemPrompt = t.Content
		}
	}
	if len(c.Input) == 0 && at.Goal != "" {
		c.Input = []callvet.Turn{{Role: callvet.RoleUser, Content: at.Goal}}
	}
	switch later := slices.ContainsFunc(at.Trace.Turns,
		func(t callvet.Turn) bool { return t.Role == callvet.RoleUser }); {
	case later:
		lose("the user speaks again after the first answer, which a case cannot say: it is in the traces only")
		return
	case c.Question() == "":
		lose("what the user asked is not recorded: it is in the traces only")
		return
	}
	for _, t := range at.Tools {
		if g.tools == nil &&
			!slices.ContainsFunc(g.suite.Tools, func(o callvet.Tool) bool { return o.Name == t.Name }) {
			g.suite.Tools = append(g.suite.Tools, t)
		}
	}
	c.Expect.Plans = []callvet.Plan{g.plan(at, &c, checks, lose)}
	c.Expect.MaxToolCalls, _ = t.MaxCalls() // reading has reported mistakes
	c.Expect.ToolsNotCalled, c.Safety, _ = t.Rules()
	g.suite.Cases = append(g.suite.Cases, c)
	g.Cases++
}

// plan returns the right calls as a plan, with mocks of the tools' results. A post-condition on an
// unrecorded result is dropped, because no result could satisfy it.
func (g *golden) plan(at *trace.Attempt, c *callvet.Case, checks []string, lose func(string)) callvet.Plan {
	p := callvet.Plan{Calls: []callvet.ExpectedCall{}}
	calls := at.Trace.Calls()
	for i := range calls {
		k := &calls[i]
		if k.Result != nil && k.Error == "" && k.Args != nil && (k.Status == callvet.StatusOK || k.Status == "") {
			c.Mocks = append(c.Mocks,
				callvet.Mock{Tool: k.Tool, Args: k.Args, Replies: []callvet.MockReply{{Result: k.Result}}})
		}
	}
	for _, s := range at.Gold.Steps {
		p.Calls = append(p.Calls, callvet.ExpectedCall{Tools: []string{s.Tool}, Args: s.Args})
	}
	if len(p.Calls) > 1 {
		p.Order = callvet.OrderInOrder
	}
	for i := range p.Calls {
		e := &p.Calls[i]
		if checks[i] == "" {
			continue
		}
		if slices.ContainsFunc(c.Mocks,
			func(m callvet.Mock) bool { return m.Tool == e.Tools[0] && sameJSON(e.Args, m.Args) }) {
			e.ResultCheck = checks[i]
		} else {
			lose("no result is recorded for the check " + checks[i] + ": it is not in the suite")
		}
	}
	return p
}

// sameJSON reports whether two values are equal; a nil a equals any.
func sameJSON(a, b json.RawMessage) bool {
	if a == nil {
		return true
	}
	x, err := value.Parse(a)
	if err != nil {
		return false
	}
	y, err := value.Parse(b)
	return err == nil && value.Equal(x, y)
}

// writeGold writes what was made.
func writeGold(ctx context.Context, a *app.App, req *GoldApplyRequest, g *golden) error {
	if req.Suite != "" {
		if err := a.WriteBytes(ctx, req.Suite, g.text); err != nil {
			return err
		}
	}
	if req.Output == "" {
		return nil
	}
	return a.WriteBytes(ctx, req.Output, g.lines.Bytes())
}

// goldSuite is the suite as a file, without errors.
func goldSuite(ctx context.Context, a *app.App, req *GoldApplyRequest, g *golden, events app.Events) ([]byte, error) {
	s := &g.suite
	s.Name = "gold"
	if g.tools != nil {
		s.Tools = g.tools
	}
	var known draft
	for i := range s.Cases {
		known.of = &s.Cases[i]
		for _, t := range known.named() {
			if g.tools == nil && !slices.ContainsFunc(s.Tools, func(o callvet.Tool) bool { return o.Name == t.Name }) {
				s.Tools = append(s.Tools, t)
			}
		}
	}
	if len(s.Cases) == 0 {
		return nil, fmt.Errorf("make a suite of %s: %w: no task can be a case", req.File, callvet.ErrInvalid)
	}
	form := "yaml"
	if strings.HasSuffix(req.Suite, ".json") {
		form = "json"
	}
	text, err := suite.Export(s, form)
	if err != nil {
		return nil, err
	}
	read, problems, err := suite.Open("-", suite.Options{Stdin: io.NopCloser(bytes.NewReader(text)), NoIncludes: true},
		suite.LintOptions{
			World: func(s *callvet.Suite,
				c *callvet.Case,
			) callvet.World {
				return world.Mocks(s, c, world.MockOptions{})
			},
		})
	if err == nil {
		for range read.Cases(ctx) {
			continue // reading lints
		}
		problems = read.Problems()
	}
	problems = slices.DeleteFunc(problems, func(p callvet.Problem) bool { return p.Warning })
	events.Problems(problems)
	if err != nil || len(problems) > 0 {
		return nil, errors.Join(fmt.Errorf("make a suite of %s: %w: %s in what is right; nothing was written", req.File,
			callvet.ErrInvalid, plain.Count(len(problems), "error", "errors")), err)
	}
	return text, nil
}
