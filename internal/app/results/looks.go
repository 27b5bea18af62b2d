// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
)

// Looks are the looks at the gates of a run: the present one and the earlier ones with a suite of
// the same name and targets of the same identity. If gates are looked at again, their error rates
// hold for all looks together. Source: Statistics specification, section 16.6.
type Looks struct {
	// At has the numbers of the looks, Earlier the tasks of the earlier looks.
	At      map[gates.LookAt]gates.Look
	Earlier map[gates.LookAt][]panel.TaskSum
	// Warnings list, for people, looks that are not tracked or not the first.
	Warnings []string

	book  lookBook
	suite string
	fresh []newLook
}

// look is a stored look at the gates of a target.
type look struct {
	Run     string                     `json:"run"`
	Created time.Time                  `json:"created"`
	Gates   []keptLook                 `json:"gates"`
	Tasks   map[string][]panel.TaskSum `json:"tasks"` // by metric
}

// keptLook is a gate that was looked at. Declared: it may be looked at any number of times.
type keptLook struct {
	gates.LookAt
	Declared bool `json:"declared,omitempty"`
}

// newLook is a look that is not stored yet.
type newLook struct {
	target, identity string
	look
	kept []keptLook // of the same data
}

// has reports whether the look has a gate, or a gate with the same data.
func (n *newLook) has(at gates.LookAt) bool {
	return slices.ContainsFunc(slices.Concat(n.kept, n.Gates), func(k keptLook) bool { return k.LookAt == at })
}

// lookBook stores looks.
type lookBook interface {
	looks(ctx context.Context, suite, identity string) ([]look, error)
	add(ctx context.Context, suite string, list []newLook) error
}

// LookBack finds the earlier looks at gates of a run. tasks has its attempts, with the metrics, in
// the order of the ids of a target; nil: they will still run, each with a new answer. file stores
// the looks; "": the store does.
func LookBack(ctx context.Context, a *app.App, r *Run, file string, tasks *panel.Ledger, gs []gates.Gate,
	order func(target string) []string,
) (_ *Looks, err error) {
	l := &Looks{
		At: map[gates.LookAt]gates.Look{}, Earlier: map[gates.LookAt][]panel.TaskSum{}, suite: r.Suite.Name,
	}
	l.book = lookFile{a, file}
	if file == "" {
		of, err := r.DB.Rows().RunOwner(ctx, r.Stored.ID)
		if err != nil {
			return nil, fmt.Errorf("read the owner of run %s: %w", r.Stored.ID, err)
		}
		l.book = storedLooks{r.DB, of.UserID}
	}
	if r.Manifest.FailedFrom != "" {
		l.Warnings = append(l.Warnings, "this look is not kept: its cases were chosen by their outcome in run "+
			r.Manifest.FailedFrom)
		return l, nil
	}
	var ran []map[string]bool // by target and id; nil: all cases did, or are to
	if tasks != nil && r.Stored.Status != store.StatusDone {
		if ran, err = r.ran(ctx); err != nil {
			return nil, err
		}
	}
	for i := range r.Manifest.Targets {
		t := &r.Manifest.Targets[i]
		identity, err := r.Manifest.identity(i)
		switch {
		case err != nil:
			return nil, err
		case GivesFacts(t):
			continue
		case identity == "":
			l.Warnings = append(l.Warnings, fmt.Sprintf(
				"looks at %s are not tracked, because it is not known whether the agent is the same: give it a version (--target-version)",
				t.Name))
			continue
		}
		earlier, err := l.book.looks(ctx, l.suite, identity)
		if err != nil {
			return nil, err
		}
		now := newLook{target: t.Name, identity: identity, look: look{
			Run: r.Stored.ID, Created: a.Config.Now().UTC(), Tasks: map[string][]panel.TaskSum{},
		}}
		for _, m := range append([]string{panel.MetricPass}, Sequenced(gs)...) {
			if sums, why := sumsOf(tasks, t.Name, m, order(t.Name)); why == "" {
				now.Tasks[m] = slices.DeleteFunc(sums, func(s panel.TaskSum) bool { return ran != nil && !ran[i][s.Task] })
			}
		}
		l.target(now, earlier)
	}
	return l, l.slices(r, gs)
}

// ran returns the cases with attempts that ran, by target. The others are not evidence at a look.
func (r *Run) ran(ctx context.Context) ([]map[string]bool, error) {
	out := make([]map[string]bool, len(r.Manifest.Targets))
	for i := range out {
		out[i] = map[string]bool{}
	}
	for c, err := range r.DB.DoneCells(ctx, r.Stored.ID) {
		if err != nil {
			return nil, err
		}
		if c.Target < len(out) && c.Result.Verdict != callvet.VerdictNotRun {
			out[c.Target][c.Trace.CaseID] = true
		}
	}
	return out, nil
}

// slices leaves out the earlier attempts at cases that changed since, and selects the attempts in
// the gates' slices. The slices of expected and of called tools are known only for the tasks of
// this run.
func (l *Looks) slices(r *Run, gs []gates.Gate) error {
	if len(l.Earlier) == 0 {
		return nil
	}
	of, asks := map[string]*callvet.Case{}, map[string]string{}
	var err error
	for c := range r.Chosen(&err) {
		of[c.ID], asks[c.ID] = c, panel.Asks(c.Identity())
	}
	if err != nil {
		return err
	}
	for at, sums := range maps.Clone(l.Earlier) {
		sums = slices.DeleteFunc(sums, func(t panel.TaskSum) bool { // of a case that was changed since
			now, there := asks[t.Task]
			return there && t.Asks != "" && t.Asks != now
		})
		l.Earlier[at] = sums
		for i := range gs {
			g := &gs[i]
			if g.Metric != at.Metric || g.Key == "" || !OfCases(g.Key) {
				continue
			}
			for _, value := range ValuesOf(maps.Values(of), g) {
				at.Key, at.Value = g.Key, value
				l.Earlier[at] = slices.DeleteFunc(slices.Clone(sums),
					func(t panel.TaskSum) bool { return of[t.Task] == nil || !InSlice(of[t.Task], g.Key, value) })
			}
		}
	}
	return nil
}

// sumsOf returns the sums of the attempts at tasks; without tasks, those of the tasks that will
// run.
func sumsOf(tasks *panel.Ledger, target, metric string, order []string) (out []panel.TaskSum, why string) {
	if tasks != nil {
		return tasks.Sums(target, metric, panel.SliceID{}, order)
	}
	for _, id := range order {
		out = append(out, panel.TaskSum{Task: id})
	}
	return out, ""
}

// identity returns the identity of a target: its version if it has one, else the hash of its
// settings. It is "" for an agent without a version.
func (m *Manifest) identity(target int) (string, error) {
	t := &m.Targets[target]
	if len(m.Specs) == len(m.Targets) {
		if s := &m.Specs[target]; s.TargetVersion != "" {
			sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", s.Target, s.TargetVersion))
			return "version:" + hex.EncodeToString(sum[:12]), nil
		}
	}
	if t.Agent {
		return "", nil
	}
	hashes, err := m.ConfigHashes()
	if err != nil {
		return "", err
	}
	return hashes[target], nil
}

// target sets the number of the look at a target.
func (l *Looks) target(now newLook, earlier []look) {
	same := slices.IndexFunc(earlier, func(e look) bool { return e.Run == now.Run && sameTasks(e.Tasks, now.Tasks) })
	if same >= 0 { // the data of an earlier look again, perhaps for other gates
		for i := range earlier[same:] {
			if e := &earlier[same+i]; e.Run == now.Run {
				now.kept = append(now.kept, e.Gates...)
			}
		}
		earlier = earlier[:same]
	}
	fresh, repeated := 0, false
	for metric, sums := range now.Tasks {
		pooled := panel.Pool(lastSums(earlier, now.Run, metric)...)
		if len(pooled) > 0 {
			l.Earlier[gates.LookAt{Target: now.target, Metric: metric}] = pooled
		}
		n, again := newTasks(pooled, sums)
		fresh, repeated = fresh+n, repeated || again
	}
	again := fresh == 0 && len(earlier) > 0 // answers that were reused
	number := 1
	if again {
		number = 0
	}
	most := 0
	for i := range earlier {
		for _, g := range earlier[i].Gates {
			g.Target = now.target
			k, known := l.At[g.LookAt]
			if !known {
				k = gates.Look{Number: number, Declared: true}
			}
			k.Number++
			k.Declared = k.Declared && g.Declared && !repeated
			l.At[g.LookAt] = k
			most = max(most, k.Number)
		}
	}
	if most > 1 && !again {
		l.Warnings = append(l.Warnings, fmt.Sprintf(
			"this is look %d at %s, the first was on %s: gates count all looks, so that their promise holds", most,
			now.target, earlier[0].Created.UTC().Format(time.DateOnly)))
	}
	if !again {
		l.fresh = append(l.fresh, now)
	}
}

// lastSums returns the sums of a metric at the last look at each other run, in the order of the
// runs.
func lastSums(earlier []look, run, metric string) (out [][]panel.TaskSum) {
	at := map[string]int{} // by run
	for i := range earlier {
		e := &earlier[i]
		sums, has := e.Tasks[metric]
		if e.Run == run || !has {
			continue
		}
		if k, known := at[e.Run]; known {
			out[k] = sums
			continue
		}
		at[e.Run], out = len(out), append(out, sums)
	}
	return out
}

// newTasks counts the tasks that are new, or have new attempts; again reports whether known tasks
// have new attempts.
func newTasks(known, now []panel.TaskSum) (n int, again bool) {
	asked := make(map[string]string, len(known))
	for i := range known {
		asked[known[i].Task] = known[i].Asks
	}
	for i := range now {
		asks, seen := asked[now[i].Task]
		switch {
		case !seen || asks != now[i].Asks && now[i].Asks != "":
			n++
		case !now[i].Cached:
			n, again = n+1, true
		}
	}
	return n, again
}

// sameTasks reports whether two looks have the same tasks, in the metrics that both have.
func sameTasks(a, b map[string][]panel.TaskSum) bool {
	for metric, sums := range a {
		other, has := b[metric]
		if !has {
			continue
		}
		x, err := json.Marshal(sums)
		y, bad := json.Marshal(other)
		if err != nil || bad != nil || !bytes.Equal(x, y) {
			return false
		}
	}
	return true
}

// Keep stores this look at the gates with verdicts, unless it is stored already. The warning is not
// empty if the store cannot be written to.
func (l *Looks) Keep(ctx context.Context, verdicts []gates.Verdict) (warning string, err error) {
	for i := range l.fresh {
		n := &l.fresh[i]
		for j := range verdicts {
			v := &verdicts[j]
			k := keptLook{
				gates.LookAt{Metric: v.Gate.Metric, Key: v.Key, Value: v.Value}, v.Gate.Looks == gates.LooksAny,
			}
			if v.Target == n.target && v.Key != gates.KeyCase && !n.has(k.LookAt) {
				n.Gates = append(n.Gates, k)
			}
		}
	}
	l.fresh = slices.DeleteFunc(l.fresh, func(n newLook) bool { return len(n.Gates) == 0 })
	if len(l.fresh) == 0 {
		return "", nil
	}
	if err = l.book.add(ctx, l.suite, l.fresh); errors.Is(err, callvet.ErrDenied) {
		return "this look is not kept, because the store cannot be written to: the next one will not know of it", nil
	}
	return "", err
}

// storedLooks are the looks in a store, of a user of a server or of its only user.
type storedLooks struct {
	db   *store.DB
	user string
}

func (s storedLooks) looks(ctx context.Context, suite, identity string) ([]look, error) {
	list, err := s.db.Rows().Looks(ctx, rows.LooksParams{UserID: s.user, Suite: suite, Target: identity})
	if err != nil {
		return nil, fmt.Errorf("read looks: %w", err)
	}
	out := make([]look, len(list))
	for i := range list {
		whole := list[i].Whole
		if err := store.Intact(whole, "a look at gates"); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(list[i].Content, &out[i]); err != nil {
			return nil, fmt.Errorf("read look %s: %w", list[i].ID, doc.Explain(err))
		}
	}
	return out, nil
}

func (s storedLooks) add(ctx context.Context, suite string, list []newLook) error {
	return s.db.Change(ctx, "keep looks at gates", func(q *rows.Queries) error {
		for i := range list {
			n := &list[i]
			id, err := store.NewID(nil, "look")
			if err != nil {
				return err
			}
			b, err := json.Marshal(n.look)
			if err != nil {
				return fmt.Errorf("write look: %w", err)
			}
			err = q.AddLook(ctx, rows.AddLookParams{
				ID: id, UserID: s.user, Suite: suite, Target: n.identity, RunID: n.Run,
				Created: n.Created.UnixMilli(), Content: b,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// lookFile is a file with looks, one per line, for builds without a permanent store.
type lookFile struct {
	app  *app.App
	name string
}

// lookLine is a line of the file.
type lookLine struct {
	Format   string `json:"format"` // callvet.look
	Version  int    `json:"version"`
	Suite    string `json:"suite"`
	Target   string `json:"target"`
	Identity string `json:"identity"`
	look
}

const (
	lookFormat       = "callvet.look"
	maxLookFileBytes = 256 << 20
)

// CheckLedger returns an error for a file that cannot store looks, before any request is sent.
func CheckLedger(a *app.App, file string) error {
	_, _, err := lookFile{a, file}.lines()
	return err
}

// lines reads the file; a missing one is empty.
func (f lookFile) lines() (text []byte, list []lookLine, err error) {
	if f.app.Config.Files.Kind(f.name) == app.KindNone {
		if dir := filepath.Dir(f.name); dir != "." && f.app.Config.Files.Kind(dir) == app.KindNone {
			return nil, nil, app.Wrong("ledger", f.name, "there is no folder %s", dir)
		}
		return nil, nil, nil
	}
	if text, err = f.app.Read(f.name, maxLookFileBytes); err != nil {
		return nil, nil, fmt.Errorf("read looks: %w", err)
	}
	n := 0
	for line := range bytes.Lines(text) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var l lookLine
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, nil, fmt.Errorf("read looks: %s:%d: %w: %w", f.name, n, callvet.ErrInvalid, doc.Explain(err))
		}
		if l.Format != lookFormat || l.Version != 1 {
			return nil, nil, fmt.Errorf("read looks: %s:%d: %w: not a line of format %s, version 1", f.name, n,
				callvet.ErrInvalid, lookFormat)
		}
		for _, sums := range l.Tasks {
			if slices.ContainsFunc(sums, func(t panel.TaskSum) bool { return !t.Valid() }) {
				return nil, nil, fmt.Errorf("read looks: %s:%d: %w: a task without attempts, or a sum that they cannot have",
					f.name, n, callvet.ErrInvalid)
			}
		}
		list = append(list, l)
	}
	return text, list, nil
}

func (f lookFile) looks(_ context.Context, suite, identity string) (out []look, err error) {
	_, list, err := f.lines()
	for i := range list {
		if list[i].Suite == suite && list[i].Identity == identity {
			out = append(out, list[i].look)
		}
	}
	return out, err
}

func (f lookFile) add(ctx context.Context, suite string, list []newLook) error {
	text, _, err := f.lines()
	if err != nil {
		return err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	for i := range list {
		line, err := json.Marshal(lookLine{lookFormat, 1, suite, list[i].target, list[i].identity, list[i].look})
		if err != nil {
			return fmt.Errorf("write looks: %w", err)
		}
		text = append(append(text, line...), '\n')
	}
	return f.app.Config.Files.Write(ctx, f.name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// GivesFacts reports whether a target always returns the same answer.
func GivesFacts(t *callvet.Target) bool {
	return t.Floor || t.Recorded || t.Provider == "script"
}
