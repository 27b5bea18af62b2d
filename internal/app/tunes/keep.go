// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/internal/tune"
)

// add stores a new search.
func (s *Session) add(ctx context.Context) error {
	s.Updated = s.app.Config.Now().UTC()
	return insert(ctx, s.db, s.Tune, rows.AddTuneParams{
		UserID: s.app.Config.User, Suite: s.splitKey, SuiteID: s.Request.SuiteID, ExperimentID: s.Request.Experiment,
	})
}

// insert adds the record of a search; row has the columns that are not in the record.
func insert(ctx context.Context, db *store.DB, t *Tune, row rows.AddTuneParams) (err error) {
	row.ID, row.Kind, row.State, row.Created = t.ID, string(t.Kind), string(t.State), t.Created.UnixMilli()
	if row.Content, err = json.Marshal(t); err != nil {
		return fmt.Errorf("write search: %w", err)
	}
	return db.Change(ctx, "keep search", func(q *rows.Queries) error { return q.AddTune(ctx, row) })
}

// save stores the search. While the parts of earlier sessions are read again it does nothing,
// because the stored search has more.
func (s *Session) save(ctx context.Context) error {
	if s.next < len(s.Runs) && s.State == Running {
		return nil
	}
	if s.begun != nil {
		s.Spent.Seconds = s.begun()
	}
	s.Updated = s.app.Config.Now().UTC()
	return change(ctx, s.db, s.Tune)
}

func change(ctx context.Context, db *store.DB, t *Tune) error {
	b, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("write search: %w", err)
	}
	return db.Change(ctx, "keep search", func(q *rows.Queries) error {
		n, err := q.ChangeTune(ctx, rows.ChangeTuneParams{
			ID: t.ID, State: string(t.State), Updated: t.Updated.UnixMilli(), Content: b,
		})
		if err == nil && n != 1 {
			err = fmt.Errorf("search %s: %w: it was deleted", t.ID, callvet.ErrNotFound)
		}
		return err
	})
}

// use numbers this search's uses of the held-out cases, one for each model, before they run.
func (s *Session) use(ctx context.Context) error {
	if s.Use > 0 {
		return nil
	}
	n := int64(len(s.models))
	return s.db.Change(ctx, "use held-out cases", func(q *rows.Queries) error {
		if _, err := q.UseHoldout(ctx, rows.UseHoldoutParams{ID: s.ID, Uses: n}); err != nil {
			return err
		}
		t, err := q.Tune(ctx, s.ID)
		if err != nil {
			return err
		}
		s.Use = int(t.HoldoutUse - n + 1)
		return nil
	})
}

// earlier returns the sides of the cases of the suite in earlier searches. They, and the uses of
// its held-out cases, are kept when the suite is renamed: a suite is identified by its id on a
// server, else by its cases.
func (s *Session) earlier(ctx context.Context, members []tune.Member) (out []tune.Assigned, err error) {
	s.splitKey = cmp.Or(s.Request.SuiteID, s.Suite)
	list, err := s.earlierOf(ctx, s.splitKey)
	if err != nil || len(list) > 0 {
		return list, err
	}
	all, err := s.db.Rows().UserTunes(ctx, rows.UserTunesParams{UserID: s.app.Config.User, AtMost: mostListed})
	if err != nil {
		return nil, fmt.Errorf("read earlier searches: %w", err)
	}
	for i := range all {
		t, err := readTune(all[i].ID, all[i].Content, all[i].Whole)
		if err != nil || t.Halves == nil || !t.Halves.Same(members) {
			continue
		}
		s.splitKey = all[i].Suite
		s.Notes = append(s.Notes, fmt.Sprintf("the cases are those of the suite %s, under another name: which ones are "+
			"held out stays, and so does the number of uses", plain.Limited(plain.Line(t.Suite), 100)))
		return s.earlierOf(ctx, s.splitKey)
	}
	return nil, nil
}

// earlierOf returns the sides of cases in all searches on a suite.
func (s *Session) earlierOf(ctx context.Context, key string) (out []tune.Assigned, err error) {
	list, err := s.db.Rows().SplitTunes(ctx, rows.SplitTunesParams{UserID: s.app.Config.User, Suite: key})
	if err != nil {
		return nil, fmt.Errorf("read earlier searches: %w", err)
	}
	for i := range list {
		t, err := readTune(list[i].ID, list[i].Content, list[i].Whole)
		if err != nil {
			return nil, &callvet.Hinted{
				Err:  err,
				Hint: "which cases it saw is not known: use another name for the suite",
			}
		}
		if t.Halves != nil {
			out = append(out, t.Halves.Cases...)
		}
	}
	return out, nil
}

// readTune decodes a stored search.
func readTune(id string, content []byte, whole bool) (*Tune, error) {
	if err := store.Intact(whole, "search "+id); err != nil {
		return nil, err
	}
	var t Tune
	if err := json.Unmarshal(content, &t); err != nil {
		return nil, fmt.Errorf("read search %s: %w", id, doc.Explain(err))
	}
	return &t, nil
}

// mostListed bounds a list of searches.
const mostListed = 1000

// List returns the searches of the app's user, the newest first. A damaged one has only its ID and
// its Problem.
func List(ctx context.Context, a *app.App) ([]Tune, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	list, err := db.Rows().Tunes(ctx, rows.TunesParams{
		UserID: a.Config.User, Before: 1 << 62, AtMost: mostListed,
	})
	if err != nil {
		return nil, fmt.Errorf("list searches: %w", err)
	}
	out := make([]Tune, len(list))
	for i := range list {
		out[i] = *Listed(ctx, db, &list[i])
	}
	return out, nil
}

// Listed is a search as it is shown. A damaged one has only its ID and its Problem.
func Listed(ctx context.Context, db *store.DB, r *rows.CheckedTune) *Tune {
	t, err := readTune(r.ID, r.Content, r.Whole)
	if err != nil {
		return &Tune{
			ID: r.ID, Kind: Kind(r.Kind), State: Failed, Suite: r.Suite, Problem: err.Error(),
			Created: time.UnixMilli(r.Created).UTC(),
		}
	}
	return t.shown(ctx, db)
}

// shown returns a search as it is shown: without the sides of its cases, and with its present
// state.
func (t *Tune) shown(ctx context.Context, db *store.DB) *Tune {
	out := *t
	out.Halves = nil
	if out.State == Running && !active(ctx, db, t) {
		out.State = Interrupted
	}
	return &out
}

// active reports whether a process carries out a part of the search.
func active(ctx context.Context, db *store.DB, t *Tune) bool {
	parts, err := db.Judgings(ctx, t.ID)
	return err == nil && slices.ContainsFunc(parts, func(r store.Run) bool { return r.Owner != nil })
}

// Get reads a search: by its id or the beginning of it, or last, last~1, …
func Get(ctx context.Context, a *app.App, ref string) (*Tune, error) {
	t, db, err := get(ctx, a, ref)
	if err != nil {
		return nil, err
	}
	return t.shown(ctx, db), nil
}

func get(ctx context.Context, a *app.App, ref string) (*Tune, *store.DB, error) {
	r, db, err := row(ctx, a, ref)
	if err != nil {
		return nil, nil, err
	}
	t, err := readTune(r.ID, r.Content, r.Whole)
	return t, db, err
}

// row finds a stored search. A search of another user must be named by its whole id: a server has
// checked who may read it.
func row(ctx context.Context, a *app.App, ref string) (*rows.CheckedTune, *store.DB, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	one, err := db.Rows().Tune(ctx, ref)
	if !errors.Is(err, sql.ErrNoRows) {
		return &one, db, err
	}
	base, back := ref, 0
	if before, after, ok := strings.Cut(ref, "~"); ok {
		if base, back = before, -1; after != "" {
			if n, err := strconv.Atoi(after); err == nil {
				back = n
			}
		}
	}
	most := mostListed
	if last := base == "last" || base == "latest"; last && back >= 0 {
		most = back + 1
	}
	list, err := db.Rows().Tunes(ctx, rows.TunesParams{UserID: a.Config.User, Before: 1 << 62, AtMost: int64(most)})
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read search: %w", err)
	case back < 0 || ref == "":
		return nil, nil, missing(ref)
	case base == "last" || base == "latest":
		if back >= len(list) {
			return nil, nil, missing(ref)
		}
		return &list[back], db, nil
	}
	list = slices.DeleteFunc(list, func(r rows.CheckedTune) bool {
		return !strings.HasPrefix(r.ID, ref) && !strings.HasPrefix(r.ID, store.TunePrefix+ref)
	})
	switch len(list) {
	case 0:
		return nil, nil, missing(ref)
	case 1:
		return &list[0], db, nil
	}
	return nil, nil, &callvet.Hinted{
		Err:  fmt.Errorf("search %q: several ids begin so: %w", ref, callvet.ErrConflict),
		Hint: "write more of the id, for example " + list[0].ID,
	}
}

func missing(ref string) error {
	return &callvet.Hinted{
		Err:  fmt.Errorf("search %q: %w", ref, callvet.ErrNotFound),
		Hint: "callvet tune list shows those that there are",
	}
}

// Delete removes a search and its parts. Its uses of the held-out cases still count.
func Delete(ctx context.Context, a *app.App, ref string) (string, error) {
	of, db, err := row(ctx, a, ref) // also for one that cannot be read
	if err != nil {
		return "", err
	}
	c, err := a.Config.Claim()
	if err != nil {
		return "", err
	}
	id := of.ID
	parts, err := db.Judgings(ctx, id)
	if err != nil {
		return "", err
	}
	slices.SortFunc(parts, func(a, b store.Run) int { return cmp.Compare(partOf(b.ID), partOf(a.ID)) })
	for i := range parts { // a running part is the last: then nothing is deleted
		if err := db.DeleteRun(ctx, parts[i].ID, c.Gone, nil); err != nil {
			return "", err
		}
	}
	return id, db.Change(ctx, "delete search", func(q *rows.Queries) error {
		_, err := q.DeleteTune(ctx, rows.DeleteTuneParams{ID: id, Deleted: a.Config.Now().UnixMilli()})
		return err
	})
}

// partOf is the number of a part, by its id.
func partOf(id string) int {
	n, _ := strconv.Atoi(id[strings.LastIndexByte(id, '.')+1:])
	return n
}

// Cancel marks a search without a process as cancelled. It can be resumed.
func Cancel(ctx context.Context, a *app.App, ref string) error {
	return alter(ctx, a, ref, func(t *Tune) {
		if t.State == Running || t.State == Interrupted {
			t.State = Cancelled
		}
	})
}

// Promote records the run to which a confirmed winner was promoted, and other uses of it.
func Promote(ctx context.Context, a *app.App, ref, run string, notes ...string) error {
	return alter(ctx, a, ref, func(t *Tune) {
		t.Promoted = cmp.Or(run, t.Promoted)
		for _, n := range notes {
			if !slices.Contains(t.Notes, n) {
				t.Notes = append(t.Notes, n)
			}
		}
	})
}

// alter changes a stored search that no process carries out.
func alter(ctx context.Context, a *app.App, ref string, do func(*Tune)) error {
	t, db, err := get(ctx, a, ref)
	if err != nil {
		return err
	}
	do(t)
	t.Updated = a.Config.Now().UTC()
	return change(ctx, db, t)
}

// ResumeRequest resumes a search. Limits that are set replace those of the search.
type ResumeRequest struct {
	Tune       string   `json:"tune"`
	MaxCalls   *int     `json:"max_calls,omitempty"`
	MaxCostUSD *float64 `json:"max_cost_usd,omitempty"`
	MaxSeconds *float64 `json:"max_seconds,omitempty"`
}

// Reopen sets new limits of an unfinished search, so that Resume can resume it. The error wraps
// callvet.ErrConflict for a finished search, and for one that its limits ended if there are no new
// limits.
func Reopen(ctx context.Context, a *app.App, req ResumeRequest) (*Tune, error) {
	t, db, err := get(ctx, a, req.Tune)
	if err != nil {
		return nil, err
	}
	if err := t.CanGoOn(); err != nil {
		return nil, err
	}
	set := &t.Request.Run.Settings
	set.MaxCalls = orKept(req.MaxCalls, set.MaxCalls)
	set.MaxCostUSD = orKept(req.MaxCostUSD, set.MaxCostUSD)
	t.Request.MaxSeconds = orKept(req.MaxSeconds, t.Request.MaxSeconds)
	if req.MaxCalls == nil && req.MaxCostUSD == nil && req.MaxSeconds == nil {
		if t.State != Done {
			return t, nil // another process may be carrying it out: its record stays
		}
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("resume search %s: %w: its limits ended it", t.ID, callvet.ErrConflict),
			Hint: "raise them: callvet tune resume " + t.ID + " --max-calls N",
		}
	}
	for i := range t.Models {
		if m := &t.Models[i]; m.Confirmation == nil {
			m.Ended, m.EndedAt = "", 0
		}
	}
	if t.State == Done {
		t.State = Interrupted
	}
	t.Updated = a.Config.Now().UTC()
	return t, change(ctx, db, t)
}

func orKept[T any](given *T, kept T) T {
	if given != nil {
		return *given
	}
	return kept
}

// Resume opens an unfinished search. Do reads its parts again, and continues after them.
func Resume(ctx context.Context, a *app.App, req ResumeRequest, events app.Events) (*Session, error) {
	t, err := Reopen(ctx, a, req)
	if err != nil {
		return nil, err
	}
	s := &Session{Tune: t, app: a, events: events}
	if s.db, err = a.Config.Store(ctx); err != nil {
		return nil, err
	}
	ended := slices.Clone(t.Models)
	if s.plan, err = results.Open(context.WithoutCancel(ctx), a, t.Runs[0]); err != nil {
		return nil, err
	}
	if err := s.locate(); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	for i, m := range s.models {
		if i < len(ended) {
			m.Ended, m.EndedAt = ended[i].Ended, ended[i].EndedAt
		}
	}
	return s, nil
}

// CanGoOn returns an error that wraps callvet.ErrConflict for a finished search.
func (t *Tune) CanGoOn() error {
	if !t.Over() {
		return nil
	}
	return &callvet.Hinted{
		Err: fmt.Errorf("resume search %s: %w: it is over", t.ID, callvet.ErrConflict),
		Hint: "callvet tune show " + t.ID +
			"; a new search has larger limits, and is a further use of the held-out cases",
	}
}

// Over reports whether the search is finished or damaged.
func (t *Tune) Over() bool {
	if t.Request == nil || len(t.Runs) == 0 {
		return true
	}
	return t.State == Done && !slices.ContainsFunc(t.Models, func(m ModelSearch) bool {
		return m.Outcome == Unconfirmed || m.Ended != "" && m.Confirmation == nil
	})
}

// locate finds the cases of a stored search in its suite.
func (s *Session) locate() error {
	at, tiers := map[string]int{}, map[string]callvet.Tier{}
	var err error
	i := 0
	for c := range s.plan.AllCases(&err) {
		at[c.ID], tiers[c.ID] = i, c.Tier
		i++
	}
	if err != nil {
		return err
	}
	s.arrange(func(id string) int { return at[id] }, func(id string) callvet.Tier { return tiers[id] })
	return nil
}
