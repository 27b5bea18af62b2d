// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// VarianceRequest asks which part of the variance of verdicts is due to tasks, target, tools and judge.
type VarianceRequest struct {
	// Runs are of one suite and of the same targets.
	Runs []string `json:"runs"`
	// Judge is the name or the ID of the judge with the verdicts; "": the runs' own verdicts.
	Judge string `json:"judge,omitempty"`
	// Target is the only one; "": all.
	Target string `json:"target,omitempty"`
	// LabelCost is the cost of a label by a person; nil: not known.
	LabelCost *float64 `json:"label_cost,omitempty"`
}

// VarianceReport is the variance of the verdicts of runs, by target.
type VarianceReport struct {
	Format  string   `json:"format"`
	Version int      `json:"version"`
	Suite   string   `json:"suite"`
	Runs    []string `json:"runs"`
	// Judge is the judge with the verdicts, without its number of samples; nil: the runs' own verdicts.
	Judge *labels.Judge `json:"judge,omitempty"`
	// Population is the population that the tasks are a sample of.
	Population panel.Population `json:"population"`
	Targets    []TargetVariance `json:"targets"`
	Notes      []string         `json:"notes,omitempty"`
	// Manifest is the manifest of the first run, to repeat it.
	Manifest *results.Manifest `json:"-"`
}

// TargetVariance is the variance of the verdicts on one target.
type TargetVariance struct {
	Target string `json:"target"`
	stats.Variance
	// Recorded counts the compared tasks and attempts with recorded answers of tools; nil: none.
	Recorded *RecordedSide `json:"recorded,omitempty"`
	// SE is the standard error of the mean for tasks like these, SuiteSE that for the tasks of this
	// suite; nil without shares.
	SE      *float64 `json:"se,omitempty"`
	SuiteSE *float64 `json:"suite_se,omitempty"`
	// Lost counts attempts and verdicts that are not in the figures, by reason; Facts attempts that
	// repeat an earlier answer.
	Lost  map[string]int `json:"lost,omitempty"`
	Facts int            `json:"facts,omitempty"`
	// Unknown are the sources with a part that the runs do not show.
	Unknown []UnknownSource `json:"unknown,omitempty"`
	// Resamples and Seed are the settings of the intervals.
	Resamples int    `json:"resamples"`
	Seed      uint32 `json:"seed"`
	// Next are further measurements, the most effective for their cost first. ByCost: cost in
	// dollars, else in attempts and verdicts, because a cost is not known.
	Next   []Measurement `json:"next,omitempty"`
	ByCost bool          `json:"next_by_cost"`
}

// RecordedSide counts tasks and attempts with recorded answers of tools.
type RecordedSide struct {
	Tasks    int `json:"tasks"`
	Attempts int `json:"attempts"`
}

// UnknownSource is a source with an unknown part, and the action that would measure it.
type UnknownSource struct {
	Source stats.Source `json:"source"`
	Why    string       `json:"why"`
	Action *app.Action  `json:"action,omitempty"`
}

// Measurement is a further measurement, and the standard error of the mean with it.
type Measurement struct {
	What      string  `json:"what"` // tasks, attempts, verdicts or labels
	SE        float64 `json:"se"`
	Reduction float64 `json:"reduction"`
	// Attempts, Verdicts (of the judge) and Labels are the additional numbers.
	Attempts int `json:"attempts,omitempty"`
	Verdicts int `json:"verdicts,omitempty"`
	Labels   int `json:"labels,omitempty"`
	// CostUSD is their cost, without the cost of writing tasks; nil: not known.
	CostUSD *float64    `json:"cost_usd"`
	Action  *app.Action `json:"action,omitempty"`
}

// Variance splits the variance of the verdicts of runs by its sources.
func Variance(ctx context.Context, a *app.App, req VarianceRequest) (*VarianceReport, error) {
	if c := req.LabelCost; c != nil && !(*c >= 0) {
		return nil, app.Wrong("label_cost", fmt.Sprint(*c), "it is 0 or more")
	}
	runs, err := openVaried(ctx, a, req.Runs)
	if err != nil {
		return nil, err
	}
	first := runs[0]
	out := &VarianceReport{
		Format: "callvet.variance", Version: 1, Suite: first.Suite.Name, Population: panel.TasksLikeThese,
		Manifest: first.Manifest,
	}
	for _, r := range runs {
		out.Runs = append(out.Runs, r.Stored.ID)
	}
	var judged *judgedSamples
	if req.Judge != "" {
		if judged, err = samplesOfJudge(ctx, runs, req.Judge); err != nil {
			return nil, err
		}
		out.Judge, out.Notes = &judged.version, judged.notes
	}
	all, err := sameTargets(runs, &req)
	if err != nil {
		return nil, err
	}
	opinions, err := first.ReadOpinions(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		v.judged, v.rubrics = judged, judged == nil && opinions.Decides()
	}
	for k, r := range runs {
		out.Notes = append(out.Notes, r.Descriptive()...)
		if err := readVaried(ctx, r, k, all); err != nil {
			return nil, err
		}
	}
	for _, v := range all {
		if v.target.Agent && len(runs) > 1 {
			out.Notes = append(out.Notes, "whether the agent "+v.target.Name+" is the same in all runs is not known")
		}
		t, without := v.variance(first, &req, out.Runs)
		if without != nil {
			out.Notes, err = append(out.Notes, without.Error()), without
			continue
		}
		out.Targets = append(out.Targets, *t)
	}
	if len(out.Targets) == 0 {
		return nil, err
	}
	return out, nil
}

// unfit returns the error of a run that cannot be used.
func unfit(run, format string, args ...any) error {
	return fmt.Errorf("run %s: %w: %s", run, callvet.ErrInvalid, fmt.Sprintf(format, args...))
}

// openVaried opens runs of one suite. A run that repeats the answers of another run is an error.
func openVaried(ctx context.Context, a *app.App, refs []string) (runs []*results.Run, err error) {
	for _, ref := range refs {
		r, err := results.Open(ctx, a, ref)
		switch {
		case err != nil:
			return nil, err
		case r.Stored.Judges != "":
			return nil, unfit(ref, "it is the verdicts of a judge: name the run that was judged, and the judge")
		case r.Manifest.Replay != nil:
			return nil, unfit(ref, "it replays run %s, and its answers do not vary", r.Manifest.Replay.Run)
		}
		for _, b := range runs {
			if b.Stored.ID == r.Stored.ID {
				return nil, unfit(ref, "it is named twice")
			}
			if b.Stored.SuiteHash != r.Stored.SuiteHash {
				return nil, unfit(ref, "its suite %s is not that of run %s: runs are compared with the same suite",
					r.Suite.Name, b.Stored.ID)
			}
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// sameTargets finds the targets of the first run in every run. A target that always returns the
// same answer is left out, unless a judge's verdicts on it are requested.
func sameTargets(runs []*results.Run, req *VarianceRequest) (out []*varied, err error) {
	asked := make([][]string, len(runs))
	for k, r := range runs {
		if asked[k], err = r.Manifest.ConfigHashes(); err != nil {
			return nil, err
		}
	}
	fixed := ""
	ts := runs[0].Manifest.Targets
	for i := range ts {
		if req.Target != "" && ts[i].Name != req.Target {
			continue
		}
		if results.GivesFacts(&ts[i]) && req.Judge == "" {
			fixed = ts[i].Name
			continue
		}
		v := &varied{tasks: map[string]*variedTask{}, lost: map[string]int{}}
		for k := range runs {
			at := sameTarget(asked[k], asked[0][i], func(n int) bool {
				return runs[k].Manifest.Targets[n].Name == ts[i].Name
			})
			if at < 0 {
				return nil, unfit(req.Runs[k], "it has no target %s with the settings of run %s", ts[i].Name,
					runs[0].Stored.ID)
			}
			v.place = append(v.place, at)
		}
		out = append(out, v)
	}
	switch {
	case len(out) == 0 && fixed != "":
		return nil, &callvet.Hinted{
			Err: unfit(req.Runs[0], "%s answers the same each time, so that its attempts are facts and do not vary",
				fixed),
			Hint: "--judge NAME: the verdicts of a judge on them may vary",
		}
	case len(out) == 0:
		return nil, app.Wrong("target", req.Target, "the run has no such target")
	}
	return out, nil
}

// sameTarget returns the position of a target by its configuration; of several, the one with the
// same name; -1: none.
func sameTarget(asked []string, as string, named func(int) bool) int {
	for n := range asked {
		if asked[n] == as && named(n) {
			return n
		}
	}
	return slices.Index(asked, as)
}

// varied collects the verdicts on one target.
type varied struct {
	place   []int // of the target, by run
	judged  *judgedSamples
	rubrics bool // a judge decided a part of the verdicts
	tasks   map[string]*variedTask
	order   []string
	lost    map[string]int
	facts   int
	sides   [2]bool // runs where mocks or recordings answered, and runs that called tools
	target  *callvet.Target
	side    int // of the run being read
	costs   meanCost
}

// variedTask has the verdicts on a task: all, and by the kind of world that answered its calls.
type variedTask struct {
	all   stats.NestedTask
	sides [2]stats.NestedTask
	n     [2]int
	fact  []float64 // of the first attempt that repeats an earlier answer
}

const (
	recordedSide = iota
	liveSide
)

// meanCost is a mean of the costs that are known.
type meanCost struct {
	sum  float64
	n    int
	free bool
}

func (m *meanCost) add(usd *float64) {
	if usd != nil {
		m.sum, m.n = m.sum+*usd, m.n+1
	}
}

// of returns the cost of n more; nil: not known.
func (m *meanCost) of(n int) *float64 {
	x := 0.0
	switch {
	case m.free || n == 0:
	case m.n == 0:
		return nil
	default:
		x = m.sum / float64(m.n) * float64(n)
	}
	return &x
}

// readVaried adds the attempts of the k-th run to their targets, including planned attempts that
// were not made.
func readVaried(ctx context.Context, r *results.Run, k int, all []*varied) error {
	for _, v := range all {
		v.target = &r.Manifest.Targets[v.place[k]]
		v.side = recordedSide
		if r.Manifest.Live != nil || v.target.Agent {
			v.side = liveSide
		}
		v.sides[v.side] = true
		v.costs.free = v.target.Free
	}
	for row, err := range r.Planned(r.Rows(ctx, store.Filter{Order: store.ByCase}), store.ByCase) {
		if err != nil {
			return err
		}
		for _, v := range all {
			if v.place[k] == row.Cell.Target {
				v.add(r, row.Case, row.Cell)
			}
		}
	}
	return nil
}

// add adds an attempt of the run.
func (v *varied) add(r *results.Run, c *callvet.Case, cell *callvet.Cell) {
	if cell.Trace.Outcome == callvet.OutcomeNotRun {
		if c.Skip == "" {
			v.lost["attempts were not run"]++
		}
		return
	}
	samples, lost := v.verdicts(r, c, cell)
	if len(samples) == 0 {
		v.lost[lost]++
		return
	}
	t := v.tasks[c.ID]
	if t == nil {
		t = &variedTask{}
		v.tasks[c.ID], v.order = t, append(v.order, c.ID)
	}
	if cell.Trace.Cached || results.GivesFacts(v.target) {
		if v.facts++; t.fact == nil {
			t.fact = samples
		}
		return
	}
	v.costs.add(cell.Trace.Usage.CostUSD)
	t.all.Add(samples...)
	t.sides[v.side].Add(samples...)
	t.n[v.side]++
}

// verdicts returns the verdicts on an attempt, or the reason why there is none.
func (v *varied) verdicts(r *results.Run, c *callvet.Case, cell *callvet.Cell) (samples []float64, lost string) {
	passed := cell.Result.Verdict == callvet.VerdictPass
	switch {
	case cell.Trace.Outcome == callvet.OutcomeError:
		return nil, "attempts ended in an error"
	case v.judged != nil:
		if of := v.judged.of[sampledAttempt{r.Stored.ID, v.target.Name, c.ID, cell.Repeat}]; of != nil {
			v.lost["answers of the judge have no verdict"] += of.silent
			samples = of.values
		}
		return samples, "attempts have no verdict of the judge"
	case passed || cell.Result.Verdict == callvet.VerdictFail:
		return []float64{*results.VerdictValue(passed, true)}, ""
	}
	return nil, "attempts have no verdict"
}

// nested returns the tasks in the form of package stats. Real and recorded answers of tools are
// compared, on the tasks with both, if both have tasks with several attempts; else recorded is nil.
func (v *varied) nested() (all, recorded []stats.NestedTask, side *RecordedSide) {
	several := [2]bool{}
	for _, t := range v.tasks {
		for s, n := range t.n {
			several[s] = several[s] || n > 1
		}
	}
	for _, id := range v.order {
		t := v.tasks[id]
		if t.n == [2]int{} {
			t.all.Add(t.fact...) // the only observation of the task
		}
		switch {
		case !several[recordedSide] || !several[liveSide]:
			all = append(all, t.all)
		case t.n[recordedSide] > 0 && t.n[liveSide] > 0:
			if side == nil {
				side = &RecordedSide{}
			}
			all, recorded = append(all, t.sides[liveSide]), append(recorded, t.sides[recordedSide])
			side.Tasks, side.Attempts = side.Tasks+1, side.Attempts+t.n[recordedSide]
		default:
			v.lost["tasks have no attempt both with real and with recorded answers of tools"]++
		}
	}
	return all, recorded, side
}

// variance computes the figures of the target.
func (v *varied) variance(r *results.Run, req *VarianceRequest, runs []string) (*TargetVariance, error) {
	all, recorded, side := v.nested()
	maps.DeleteFunc(v.lost, func(_ string, n int) bool { return n == 0 })
	h := fnv.New32a()
	fmt.Fprint(h, "variance", v.target.Name, req.Judge, runs)
	t := &TargetVariance{
		Target: r.Manifest.Targets[v.place[0]].Name, Lost: v.lost, Facts: v.facts, Recorded: side,
		Resamples: min(stats.Replicates, max(999, mostDraws/max(1, len(all)))), Seed: h.Sum32(),
	}
	t.Variance = stats.NestedVariance(all, recorded, t.Resamples, [2]uint64{uint64(t.Seed), 1})
	switch {
	case t.Tasks == 0 && req.Judge == "":
		return nil, &callvet.Hinted{
			Err:  unfit(req.Runs[0], "no attempt of %s has a verdict", t.Target),
			Hint: "--judge NAME takes the verdicts of a judge: callvet judge list " + r.Stored.ID + " lists them",
		}
	case t.Tasks == 0:
		return nil, unfit(req.Runs[0], "judge %s has no verdict on an attempt of %s", req.Judge, t.Target)
	case t.Tasks < 2:
		return nil, unfit(req.Runs[0], "only one task has a verdict on %s: a variance needs two", t.Target)
	case t.Status == stats.StatusFewAttempts:
		return nil, v.once(r, req, t.Target)
	}
	v.unknown(t, r)
	if t.Status == stats.StatusOK {
		se, suite := t.Variance.SE(1, 1, 1), t.Variance.SuiteSE()
		t.SE, t.SuiteSE = &se, &suite
		v.next(t, r, req)
	}
	return t, nil
}

// mostDraws bounds the tasks that are drawn for intervals, because more would take seconds.
const mostDraws = 20_000_000

// once computes the error with one attempt at each task, and one verdict on it.
func (v *varied) once(r *results.Run, req *VarianceRequest, target string) error {
	why, fix := "%s has one attempt at each task, which shows no flip", "callvet run … --repeat 3, or name several runs"
	switch {
	case results.GivesFacts(v.target):
		why = "%s answers the same each time, and the judge was asked once"
		fix = "callvet judge run " + r.Stored.ID + " --judge " + v.judged.version.Name + " -m MODEL --samples 3"
	case v.facts > 0:
		why, fix = "the attempts of %s repeat earlier answers, which do not vary", "callvet run … --repeat 3 --no-cache"
	}
	return &callvet.Hinted{Err: unfit(req.Runs[0], why, target), Hint: fix}
}

// unknown returns the sources with an unknown part.
func (v *varied) unknown(t *TargetVariance, r *results.Run) {
	add := func(s stats.Source, act *app.Action, why string) {
		t.Unknown = append(t.Unknown, UnknownSource{s, why, act})
	}
	if t.Attempts == t.Tasks {
		add(stats.SourceTarget, nil, "its attempts are facts, or there is one at each task")
	}
	switch {
	case t.Recorded != nil:
	case v.sides == [2]bool{true, true}:
		add(stats.SourceTools, again(r, "repeat", "3"),
			"with real or with recorded answers of tools, no task has several attempts")
	case v.sides[recordedSide] && r.Manifest.World != nil && r.Manifest.World.Recordings != "":
		add(stats.SourceTools, nil, "recordings answered in every run: name the run that recorded them, too")
	case v.sides[recordedSide]:
		add(stats.SourceTools, again(r, "world", "live", "live", "FILE"), "mocks or recordings answered in every run")
	case v.target.Agent:
		add(stats.SourceTools, nil, "the agent called its own tools in every run")
	default:
		add(stats.SourceTools, again(r, "record", "DIR"),
			"every run called the tools: record them, and run the suite with --recordings DIR in place of --live")
	}
	switch {
	case t.Verdicts > t.Attempts:
	case v.judged != nil:
		add(stats.SourceJudge, v.judged.ask(r, 3),
			"it was asked once about each attempt, so that its part is in the target's")
	case v.rubrics:
		add(stats.SourceJudge, nil, "its verdicts on rubrics count once here, so that its part is in the target's: "+
			"--judge rubric shows it")
	}
}

// again returns the action that makes a run like r, with settings as pairs of name and value.
func again(r *results.Run, with ...string) *app.Action {
	act := &app.Action{Verb: app.VerbAgain, Run: r.Stored.ID}
	for i := 0; i < len(with); i += 2 {
		act.With = append(act.With, app.One(with[i], with[i+1]))
	}
	return act
}

// next lists measurements that would make the mean more certain.
func (v *varied) next(t *TargetVariance, r *results.Run, req *VarianceRequest) {
	judged := 0 // verdicts of a judge on so many attempts as there are
	if v.judged != nil {
		judged = t.Verdicts
	}
	cost := func(attempts, verdicts int) *float64 {
		a, b := v.costs.of(attempts), new(float64)
		if v.judged != nil {
			b = v.judged.costs.of(verdicts)
		}
		if a == nil || b == nil {
			return nil
		}
		*a += *b
		return a
	}
	add := func(m Measurement) {
		m.Reduction = *t.SE - m.SE
		if m.Labels == 0 {
			m.CostUSD = cost(m.Attempts, m.Verdicts)
		}
		t.Next = append(t.Next, m)
	}
	add(Measurement{What: "tasks", SE: t.Variance.SE(2, 1, 1), Attempts: t.Attempts, Verdicts: judged})
	if t.Attempts > t.Tasks {
		add(Measurement{
			What: "attempts", SE: t.Variance.SE(1, 2, 1), Attempts: t.Attempts, Verdicts: judged,
			Action: again(r, "repeat", fmt.Sprint((t.Attempts+t.Tasks/2)/t.Tasks)),
		})
	}
	if t.Verdicts > t.Attempts {
		more := (t.Verdicts + t.Attempts/2) / t.Attempts
		add(Measurement{
			What: "verdicts", SE: t.Variance.SE(1, 1, 2), Verdicts: judged, Action: v.judged.ask(r, more),
		})
		m := Measurement{What: "labels", SE: t.Variance.SE(1, 1, math.Inf(1)), Labels: t.Attempts}
		if req.LabelCost != nil {
			x := *req.LabelCost * float64(t.Attempts)
			m.CostUSD = &x
		}
		add(m)
	}
	t.ByCost = !slices.ContainsFunc(t.Next, func(m Measurement) bool {
		return m.Labels == 0 && (m.CostUSD == nil || *m.CostUSD <= 0)
	})
	slices.SortStableFunc(t.Next, func(a, b Measurement) int {
		return cmp.Compare(b.worth(t.ByCost), a.worth(t.ByCost))
	})
}

// worth returns the reduction per dollar, or per attempt and verdict; below 0 if it is not known.
func (m *Measurement) worth(byCost bool) float64 {
	switch {
	case byCost && m.CostUSD != nil && *m.CostUSD > 0:
		return m.Reduction / *m.CostUSD
	case byCost || m.Labels > 0:
		return -1
	}
	return m.Reduction / float64(m.Attempts+m.Verdicts)
}
