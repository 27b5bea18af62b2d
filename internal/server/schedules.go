// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// What makes a schedule run.
const (
	causeTime      = "time"
	causeSuite     = "suite_changed"
	causeCatalogue = "catalogue_changed"
	causeManual    = "manual"
)

const (
	// maxSchedules bounds the schedules of a user.
	maxSchedules = 100
	// maxSchedule bounds a request that creates one, in bytes.
	maxSchedule = 2 << 20
)

// ScheduleFields are the fields of a schedule that a user sets.
type ScheduleFields struct {
	Name      string      `json:"name" minLength:"1" maxLength:"256"`
	Eval      EvalRequest `json:"eval" doc:"what is run: a body of POST /api/tool-eval"`
	Cron      string      `json:"cron,omitempty" maxLength:"200" doc:"minute, hour, day of month, month, day of week, as in 0 6 * * 1-5; empty: at no times"`
	Zone      string      `json:"time_zone,omitempty" maxLength:"100" doc:"of the IANA, as in Europe/Stockholm; empty: UTC"`
	On        []string    `json:"on,omitempty" enum:"suite_changed,catalogue_changed" maxItems:"2" doc:"an edit of the suite or of the catalogue queues a run; edits within half a minute make one"`
	Catalogue string      `json:"catalogue_id,omitempty" maxLength:"64" doc:"the catalogue that is watched"`
	Gates     string      `json:"gates,omitempty" maxLength:"1000000" doc:"a gate file, YAML or JSON; empty: the gates of the suite, where it has any. Metrics are looked up in a run: in the baseline at once, else in the history"`
	Baseline  string      `json:"baseline_eval_id,omitempty" maxLength:"100" doc:"each run is compared with this one"`
	LastGood  bool        `json:"baseline_last_good,omitempty" doc:"each run is compared with the last one of the schedule that passed its gates"`
	Webhook   string      `json:"webhook_url,omitempty" maxLength:"2000" doc:"gets a signed message when a run is over; https, or what admins allow"`
	NewSecret bool        `json:"webhook_new_secret,omitempty" doc:"replace the secret that messages are signed with"`
	Enabled   *bool       `json:"enabled,omitempty" doc:"default: true"`
}

// Schedule starts runs at times or after edits.
type Schedule struct {
	ID string `json:"id"`
	ScheduleFields
	Stopped string     `json:"stopped,omitempty" doc:"why the server disabled it"`
	Next    *time.Time `json:"next_at" doc:"null: at no time"`
	User    string     `json:"user_id"`
	Created time.Time  `json:"created"`
	Updated time.Time  `json:"updated"`
	Secret  string     `json:"webhook_secret,omitempty" doc:"the secret that signs messages: shown once, when it is made"`
	// Warnings are in the responses that create or change a schedule.
	Warnings []callvet.Notice `json:"warnings,omitempty"`
}

// ScheduleRun is an entry in the history of a schedule.
type ScheduleRun struct {
	ID       string    `json:"id"`
	Cause    string    `json:"cause" enum:"time,suite_changed,catalogue_changed,manual"`
	Due      time.Time `json:"due" doc:"the time that it is for; of missed times the first one"`
	State    string    `json:"state" enum:"running,done,failed,cancelled,interrupted,skipped"`
	Run      string    `json:"eval_id,omitempty"`
	Job      string    `json:"job_id,omitempty"`
	Baseline string    `json:"baseline_eval_id,omitempty"`
	// Verdict is the verdict of the gates; "" until the run is over, and without gates.
	Verdict gate.Verdict `json:"verdict,omitempty" enum:"PASS,FAIL,INCONCLUSIVE"`
	ScheduleOutcome
	Error    string            `json:"error,omitempty" doc:"why there is no run, or no verdict"`
	Created  time.Time         `json:"created"`
	Finished time.Time         `json:"finished,omitzero"`
	Webhook  *HookState        `json:"webhook,omitempty" doc:"the message about it"`
	Links    map[string]string `json:"links,omitempty" doc:"the run and the job, in this API"`
}

// ScheduleOutcome is the result of a run of a schedule.
type ScheduleOutcome struct {
	Sentence string       `json:"sentence,omitempty" doc:"the verdict in words"`
	Blocks   bool         `json:"blocks,omitempty" doc:"a build must stop: failed, or inconclusive under the strict policy"`
	Failed   []FailedGate `json:"failed_gates,omitempty" doc:"gates that did not pass"`
	Totals   *RunTotals   `json:"totals,omitempty"`
	// Changes are paired by case, with their intervals.
	Changes  []ScheduleChange `json:"changes,omitempty" doc:"of the overall score of each target against the baseline, paired by case"`
	Warnings []string         `json:"warnings,omitempty"`
}

// FailedGate is a gate that did not pass.
type FailedGate struct {
	Metric   string       `json:"metric"`
	Target   string       `json:"target,omitempty"`
	Slice    string       `json:"slice,omitempty" doc:"as in category=flights"`
	Verdict  gate.Verdict `json:"verdict"`
	Reason   string       `json:"reason"`
	Sentence string       `json:"sentence"`
}

// RunTotals are the totals of a run.
type RunTotals struct {
	Attempts    int             `json:"total_cases"`
	LeftOut     int             `json:"left_out,omitempty" doc:"attempts that were not made, because the gates were decided"`
	Verdicts    panel.Verdicts  `json:"verdicts"`
	AvgScore    *float64        `json:"avg_score"`
	AvgInterval *stats.Interval `json:"avg_interval" doc:"avg_score with its interval and n"`
	CostUSD     *float64        `json:"cost_usd"`
}

// ScheduleChange is how a target differs from the baseline.
type ScheduleChange struct {
	Target  string          `json:"target"`
	Against string          `json:"against"`
	Change  *stats.Interval `json:"change"`
	P       *float64        `json:"p,omitempty"`
	Verdict panel.Change    `json:"verdict,omitempty"`
}

// SchedulePath is a path that names a schedule.
type SchedulePath struct {
	ID string `path:"id" maxLength:"100"`
}

// AddSchedules adds the routes of schedules. A schedule has an owner, so that a server without
// users has no schedules.
func AddSchedules(s *api.Server) {
	if s.Config.Accounts == nil {
		return
	}
	one := map[string]api.Kind{"id": api.KindSchedule}
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/api/schedules" + path, Summary: summary,
			Tags: []string{"schedules"}, MaxBodyBytes: maxSchedule,
		}
	}
	runs := api.Access{Role: account.Member, Scope: account.ScopeRun}
	changes := runs
	changes.Objects = one
	api.Answer(s, op("list-schedules", http.MethodGet, "", "Your schedules, the newest first"), api.Access{},
		api.With(s, listSchedules))
	api.Answer(s, api.Returning(http.StatusCreated, op("create-schedule", http.MethodPost, "", "Make a schedule")),
		runs, api.With(s, createSchedule))
	times := op("schedule-times", http.MethodGet, "", "The next times of a cron spec")
	times.Path = "/api/schedule-times"
	api.Answer(s, times, api.Access{}, api.With(s, scheduleTimes))
	api.Answer(s, op("get-schedule", http.MethodGet, "/{id}", "One schedule"), api.Access{Objects: one},
		func(ctx context.Context, _ *account.Principal, in *SchedulePath) (*Schedule, error) {
			sc, err := schedule(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			return scheduleView(sc, nil)
		})
	api.Answer(s, op("update-schedule", http.MethodPut, "/{id}", "Put another schedule in its place; what it did stays"),
		changes, api.With(s, updateSchedule))
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-schedule", http.MethodDelete, "/{id}",
		"Delete a schedule with its history; its runs stay")), changes, api.With(s, deleteSchedule))
	api.Answer(s, api.Returning(http.StatusAccepted, op("run-schedule", http.MethodPost, "/{id}/run",
		"Run a schedule now")), changes, api.With(s, runSchedule))
	api.Answer(s, op("test-webhook", http.MethodPost, "/{id}/webhook/test", "Send a message to the webhook now, once"),
		changes, api.With(s, testWebhook))
	api.Answer(s, op("schedule-history", http.MethodGet, "/{id}/history", "What a schedule did, the newest first"),
		api.Access{Objects: one}, api.With(s, scheduleHistory))
}

// schedule reads a row.
func schedule(ctx context.Context, s *api.Server, id string) (*rows.CheckedSchedule, error) {
	sc, err := s.Config.Store.Rows().Schedule(ctx, id)
	if api.IsMissing(err) {
		return nil, fmt.Errorf("schedule %q: %w", id, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read schedule: %w", err)
	}
	return &sc, nil
}

// scheduleView converts a schedule for a response.
func scheduleView(sc *rows.CheckedSchedule, warnings []callvet.Notice) (*Schedule, error) {
	out := Schedule{
		ID: sc.ID, Stopped: string(sc.Stopped), User: sc.UserID, Created: assets.Milli(sc.Created),
		Updated:  assets.Milli(sc.Updated),
		Warnings: warnings,
		ScheduleFields: ScheduleFields{
			Name: sc.Name, Cron: sc.Spec, Zone: sc.Zone, Catalogue: sc.CatalogueID, Gates: string(sc.Gates),
			Baseline: sc.Baseline, LastGood: sc.LastGood, Webhook: string(sc.Webhook), Enabled: &sc.Enabled,
		},
	}
	err := store.Intact(sc.Whole, "schedule")
	if err == nil {
		err = json.Unmarshal(sc.Request, &out.Eval)
	}
	if err != nil { // a list has others
		out.Eval, out.Stopped = EvalRequest{}, fmt.Sprintf("its request cannot be read: %v", err)
	}
	if sc.OnSuite {
		out.On = append(out.On, causeSuite)
	}
	if sc.OnCatalogue {
		out.On = append(out.On, causeCatalogue)
	}
	if sc.NextAt > 0 {
		next := assets.Milli(sc.NextAt)
		out.Next = &next
	}
	return &out, nil
}

func listSchedules(ctx context.Context, s *api.Server, by *account.Principal,
	in *api.PageIn,
) (*api.Page[Schedule], error) {
	m, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Config.Store.Rows().Schedules(ctx,
		rows.SchedulesParams{
			UserID: by.User, Everything: by.Role == account.Admin, Before: m.At, BeforeID: m.ID,
			AtMost: int64(in.Limit) + 1,
		})
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	return api.Listed(list, in.Limit,
		func(e *rows.CheckedSchedule) api.PageMark { return api.PageMark{At: e.Created, ID: e.ID} },
		func(e *rows.CheckedSchedule) (*Schedule, error) { return scheduleView(e, nil) })
}

// fill checks the fields against the rights of the schedule's owner and puts them into a row. It
// returns a new secret if it made one.
func fill(ctx context.Context, s *api.Server, owner *account.Principal, f *ScheduleFields,
	sc *rows.CheckedSchedule,
) (warnings []callvet.Notice, secret string, err error) {
	if strings.ContainsFunc(f.Name, unicode.IsControl) || strings.TrimSpace(f.Name) == "" {
		return nil, "", &callvet.FieldError{Field: "name", Text: "{name} is one line, and not empty"}
	}
	if err := mayUse(ctx, s, owner, f); err != nil {
		return nil, "", err
	}
	was := *sc
	f.watchOnly()
	sc.Name, sc.Spec, sc.Zone, sc.CatalogueID, sc.Gates, sc.LastGood = f.Name, f.Cron, f.Zone, f.Catalogue,
		[]byte(f.Gates), f.LastGood
	sc.OnSuite, sc.OnCatalogue = slices.Contains(f.On, causeSuite), slices.Contains(f.On, causeCatalogue)
	sc.Enabled, sc.Stopped, sc.NextAt, sc.Updated = f.Enabled == nil || *f.Enabled, []byte{}, 0,
		s.Config.Now().UnixMilli()
	if sc.NextAt, err = next(sc, s.Config.Now()); err != nil {
		return nil, "", err
	}
	sc.SuiteID = f.Eval.SuiteID
	baseline := f.Baseline
	if f.LastGood {
		if baseline, err = baselineNow(ctx, s, owner, sc); err != nil {
			return nil, "", err
		}
	}
	asked := f.Eval.within(f.Gates, baseline)
	if warnings, err = checkEval(ctx, s, owner, &asked); err != nil {
		return nil, "", within("eval", err)
	}
	warnings = append(warnings, f.unused()...)
	if sc.Request, err = json.Marshal(&f.Eval); err != nil {
		return nil, "", fmt.Errorf("write schedule: %w", err)
	}
	q := s.Config.Store.Rows()
	if !was.OnSuite || !was.Enabled || was.SuiteID != sc.SuiteID { // earlier edits cause no run
		if sc.SuiteSeen, err = q.SuiteVersionNow(ctx, sc.SuiteID); err != nil {
			return nil, "", fmt.Errorf("read suite: %w", err)
		}
	}
	if err := fillCatalogue(ctx, s, f, &was, sc); err != nil {
		return nil, "", err
	}
	if f.Gates != "" {
		if _, err := traces.CheckGates(s.Config.App.With(app.Uploads{gateFile: []byte(f.Gates)}),
			gateFile); err != nil {
			return nil, "", cmp.Or(assets.BadGates(err), err)
		}
	}
	if err := fillBaseline(ctx, s, owner, f, sc); err != nil {
		return nil, "", err
	}
	secret, err = fillWebhook(ctx, s, f, sc)
	return warnings, secret, err
}

// watchOnly sets the watched catalogue if edits of a catalogue cause runs, none is named and the
// targets search exactly one.
func (f *ScheduleFields) watchOnly() {
	if ids := api.Searched(f.Eval.Models); f.Catalogue == "" && len(ids) == 1 && slices.Contains(f.On, causeCatalogue) {
		f.Catalogue = ids[0]
	}
}

// unused warns about a watched catalogue that no target searches.
func (f *ScheduleFields) unused() []callvet.Notice {
	if f.Catalogue == "" || slices.Contains(api.Searched(f.Eval.Models), f.Catalogue) {
		return nil
	}
	return []callvet.Notice{{
		Code: "catalogue-unused",
		Text: "no target searches the catalogue that is watched: an edit of it makes a run, and changes none of its results; add the target retrieve:" + f.Catalogue,
	}}
}

// fillCatalogue sets the version of the watched catalogue; was is the schedule before the change.
func fillCatalogue(ctx context.Context, s *api.Server, f *ScheduleFields, was, sc *rows.CheckedSchedule) (err error) {
	switch {
	case f.Catalogue == "" && sc.OnCatalogue:
		return &callvet.FieldError{Field: "catalogue_id", Text: "{catalogue_id}: catalogue_changed needs one"}
	case f.Catalogue == "" || was.OnCatalogue && was.Enabled && was.CatalogueID == f.Catalogue:
		return nil
	}
	if sc.CatalogueSeen, err = s.Config.Store.Rows().CatalogueVersionNow(ctx, f.Catalogue); err != nil {
		return fmt.Errorf("read catalogue: %w", err)
	}
	return nil
}

// mayUse refuses a schedule that names objects its owner may not use, before any other check.
func mayUse(ctx context.Context, s *api.Server, owner *account.Principal, f *ScheduleFields) error {
	for _, o := range []struct {
		kind   api.Kind
		id     string
		change bool
	}{
		{api.KindSuite, f.Eval.SuiteID, false},
		{api.KindExperiment, f.Eval.ExperimentID, true},
		{api.KindCatalogue, f.Catalogue, false},
		{api.KindRun, f.Baseline, false},
	} {
		if o.id == "" {
			continue
		}
		if err := s.May(ctx, owner, o.kind, o.id, o.change); err != nil {
			return err
		}
	}
	return nil
}

// fillBaseline sets the baseline run.
func fillBaseline(ctx context.Context, s *api.Server, owner *account.Principal, f *ScheduleFields,
	sc *rows.CheckedSchedule,
) error {
	if sc.Baseline = f.Baseline; f.Baseline == "" {
		return nil
	}
	if f.LastGood {
		return &callvet.FieldError{
			Field: "baseline_last_good",
			Text:  "{baseline_last_good} and {baseline_eval_id}: only one of them",
		}
	}
	if err := baselineFits(ctx, s, owner, f.Baseline, sc.SuiteID, ""); err != nil {
		var field *callvet.FieldError
		if errors.As(err, &field) { // with the field name of this request
			err = &callvet.FieldError{
				Field: "baseline_eval_id",
				Text:  strings.ReplaceAll(field.Text, "{eval_id}", "{baseline_eval_id}"), Kind: field.Kind,
			}
		}
		return err
	}
	if f.Gates != "" { // whether the metrics exist is known only after a run
		if _, err := hold(ctx, s, f.Baseline, f.Gates, "", ""); err != nil {
			return err
		}
	}
	return nil
}

// next is when a schedule is due after now; 0 for never.
func next(sc *rows.CheckedSchedule, now time.Time) (int64, error) {
	if sc.Spec == "" {
		if sc.Zone != "" {
			return 0, &callvet.FieldError{Field: "time_zone", Text: "{time_zone} is of {cron}, which is not there"}
		}
		return 0, nil
	}
	times, err := job.Parse(sc.Spec, sc.Zone)
	if err != nil || !sc.Enabled {
		return 0, err
	}
	at := times.Next(now)
	if at.IsZero() {
		return 0, nil
	}
	return at.UnixMilli(), nil
}

// timesShown is how many times of a spec a response contains.
const timesShown = 5

// ScheduleTimes are the next times of a cron spec.
type ScheduleTimes struct {
	Times []time.Time `json:"times" nullable:"false"`
}

// scheduleTimes returns when a schedule would run, before it is created.
func scheduleTimes(_ context.Context, s *api.Server, _ *account.Principal, in *struct {
	Cron string `query:"cron" required:"true" maxLength:"200" doc:"as of a schedule"`
	Zone string `query:"time_zone" maxLength:"100" doc:"as of a schedule"`
},
) (*ScheduleTimes, error) {
	spec, err := job.Parse(in.Cron, in.Zone)
	if err != nil {
		return nil, err
	}
	out := &ScheduleTimes{}
	at := s.Config.Now()
	for range timesShown {
		if at = spec.Next(at); at.IsZero() {
			break
		}
		out.Times = append(out.Times, at)
	}
	return out, nil
}

// within is the request of a schedule with these gates and this baseline. A run until its gates are decided has
// them, unless the request has others.
func (q EvalRequest) within(gates, baseline string) EvalRequest {
	if q.UntilDecided {
		q.Gates, q.BaselineEvalID = cmp.Or(q.Gates, gates), cmp.Or(q.BaselineEvalID, baseline)
	}
	return q
}

// checkEval checks whether a run could be made now, and makes none.
func checkEval(ctx context.Context, s *api.Server, owner *account.Principal,
	req *EvalRequest,
) ([]callvet.Notice, error) {
	q, err := req.submission(ctx, s, owner, "")
	if err != nil {
		return nil, err
	}
	if _, err := ready(ctx, s, owner, q); err != nil {
		return nil, err
	}
	a, err := s.WithCatalogues(ctx, owner.User, q.ask.Targets)
	if err != nil {
		return nil, err
	}
	var h api.Notices
	d, err := runs.Preview(ctx, a, *q.ask, h.Collect)
	if err != nil {
		return nil, cmp.Or(assets.BadGates(err), h.Explain(err))
	}
	return slices.Concat(q.notices, h.All(), d.Warnings), nil
}

// within puts the name of the outer field before an error's field.
func within(name string, err error) error {
	var field *callvet.FieldError
	if !errors.As(err, &field) {
		return err
	}
	inner := *field
	inner.Field, inner.Kind = name+"."+field.Field, field.Unwrap()
	var hinted *callvet.Hinted
	if errors.As(err, &hinted) {
		return &callvet.Hinted{Err: &inner, Hint: hinted.Hint, Variable: hinted.Variable}
	}
	return &inner
}

func createSchedule(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body ScheduleFields },
) (*Schedule, error) {
	sc := rows.CheckedSchedule{
		Whole: true, UserID: by.User, Created: s.Config.Now().UnixMilli(), Webhook: []byte{},
		Secret: []byte{},
	}
	id, err := store.NewID(nil, "schedule")
	if err != nil {
		return nil, err
	}
	sc.ID = id
	warnings, secret, err := fill(ctx, s, by, &in.Body, &sc)
	if err != nil {
		return nil, err
	}
	err = s.Config.Store.Change(ctx, "make schedule", func(q *rows.Queries) error {
		n, err := q.CountSchedules(ctx, by.User)
		if err == nil && n >= maxSchedules {
			err = fmt.Errorf("make schedule: %w: there are %d: delete one", callvet.ErrConflict, n)
		}
		if err != nil {
			return err
		}
		return errors.Join(q.AddSchedule(ctx, rows.AddScheduleParams{
			ID: sc.ID, UserID: sc.UserID, Name: sc.Name, Spec: sc.Spec, Zone: sc.Zone, NextAt: sc.NextAt,
			SuiteID: sc.SuiteID, OnSuite: sc.OnSuite, SuiteSeen: sc.SuiteSeen, CatalogueID: sc.CatalogueID,
			OnCatalogue: sc.OnCatalogue, CatalogueSeen: sc.CatalogueSeen, Request: sc.Request, Gates: sc.Gates,
			Baseline: sc.Baseline, LastGood: sc.LastGood, Webhook: sc.Webhook, Secret: sc.Secret,
			Enabled: sc.Enabled, Stopped: sc.Stopped, Created: sc.Created, Updated: sc.Updated,
		}), s.Config.Accounts.Record(ctx, q, by, "schedule.create", sc.ID, nil))
	})
	if err != nil {
		return nil, err
	}
	return shown(&sc, warnings, secret)
}

func updateSchedule(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	SchedulePath
	Body ScheduleFields
},
) (*Schedule, error) {
	s.Firing.Lock()
	defer s.Firing.Unlock()
	sc, err := schedule(ctx, s, in.ID)
	if err != nil {
		return nil, err
	}
	owner, err := s.Principal(ctx, sc.UserID)
	if err != nil {
		return nil, err
	}
	if err := keepsTargets(owner, by, sc, &in.Body.Eval); err != nil {
		return nil, err
	}
	warnings, secret, err := fill(ctx, s, owner, &in.Body, sc)
	if err != nil {
		return nil, err
	}
	err = s.Config.Store.Change(ctx, "change schedule", func(q *rows.Queries) error {
		_, err := q.PutSchedule(ctx, rows.PutScheduleParams{
			ID: sc.ID, Name: sc.Name, Spec: sc.Spec, Zone: sc.Zone, NextAt: sc.NextAt, SuiteID: sc.SuiteID,
			OnSuite: sc.OnSuite, SuiteSeen: sc.SuiteSeen, CatalogueID: sc.CatalogueID, OnCatalogue: sc.OnCatalogue,
			CatalogueSeen: sc.CatalogueSeen, Request: sc.Request, Gates: sc.Gates, Baseline: sc.Baseline,
			LastGood: sc.LastGood, Webhook: append([]byte{}, sc.Webhook...), Secret: append([]byte{}, sc.Secret...),
			Enabled: sc.Enabled, Stopped: sc.Stopped, Updated: sc.Updated,
		})
		return errors.Join(err, s.Config.Accounts.Record(ctx, q, by, "schedule.change", sc.ID, nil))
	})
	if err != nil {
		return nil, err
	}
	sc.Whole = true // all fields were written
	return shown(sc, warnings, secret)
}

// keepsTargets refuses a change by a user other than the owner that redirects the owner's keys.
func keepsTargets(owner, by *account.Principal, sc *rows.CheckedSchedule, now *EvalRequest) error {
	var known []app.TargetSpec // empty if the stored request is unreadable
	var was EvalRequest
	if json.Unmarshal(sc.Request, &was) == nil {
		if before, err := was.run(); err == nil {
			known = everyTarget(before)
		}
	}
	ask, err := now.run()
	if err != nil {
		return within("eval", err)
	}
	return ownTargets(owner, by.User, everyTarget(ask), known)
}

func deleteSchedule(ctx context.Context, s *api.Server, by *account.Principal, in *SchedulePath) (*struct{}, error) {
	s.Firing.Lock()
	defer s.Firing.Unlock()
	return nil, s.Config.Store.Change(ctx, "delete schedule", func(q *rows.Queries) error {
		return errors.Join(q.DropRunsOfSchedule(ctx, in.ID), q.DropSchedule(ctx, in.ID),
			s.Config.Accounts.Record(ctx, q, by, "schedule.delete", in.ID, nil))
	})
}

func runSchedule(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	SchedulePath
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same key returns the first run"`
},
) (*ScheduleRun, error) {
	s.Firing.Lock()
	defer s.Firing.Unlock()
	sc, err := schedule(ctx, s, in.ID)
	if err != nil {
		return nil, err
	}
	// its key differs from those of times and edits
	f := &firing{cause: causeManual, due: s.Config.Now().UnixMilli(), key: causeManual + " " + in.Key}
	if in.Key == "" {
		if f.key, err = store.NewID(nil, causeManual); err != nil {
			return nil, err
		}
	}
	r, err := fire(ctx, s, sc, f)
	if err != nil {
		return nil, err
	}
	if r.State == runFailed {
		return nil, fmt.Errorf("run schedule: %w: %s", callvet.ErrConflict, r.Error)
	}
	return scheduleRunView(r), nil
}

func scheduleHistory(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	SchedulePath
	api.PageIn
},
) (*api.Page[ScheduleRun], error) {
	m, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Config.Store.Rows().ScheduleRuns(ctx,
		rows.ScheduleRunsParams{ScheduleID: in.ID, Before: m.At, BeforeID: m.ID, AtMost: int64(in.Limit) + 1})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return api.Listed(list, in.Limit,
		func(e *rows.CheckedScheduleRun) api.PageMark { return api.PageMark{At: e.Created, ID: e.ID} },
		func(e *rows.CheckedScheduleRun) (*ScheduleRun, error) { return scheduleRunView(e), nil })
}

// scheduleRunView converts an entry of a history for a response.
func scheduleRunView(r *rows.CheckedScheduleRun) *ScheduleRun {
	out := &ScheduleRun{
		ID: r.ID, Cause: r.Cause, Due: assets.Milli(r.Due), State: r.State, Run: r.RunID, Job: r.JobID,
		Baseline: r.Baseline,
		Verdict:  gate.Verdict(r.Verdict), Error: string(r.Error), Created: assets.Milli(r.Created),
	}
	if r.Finished > 0 {
		out.Finished = assets.Milli(r.Finished)
	}
	if r.RunID != "" {
		out.Links = map[string]string{"run": "/api/runs/" + r.RunID, "job": "/api/jobs/" + r.JobID}
	}
	if r.HookState != "" {
		out.Webhook = &HookState{
			State: r.HookState, Attempts: r.HookAttempts, Status: r.HookStatus,
			Error: string(r.HookError),
		}
		if r.HookState == hookWaiting {
			at := assets.Milli(r.HookAt)
			out.Webhook.Next = &at
		}
	}
	err := store.Intact(r.Whole, "entry")
	if err == nil {
		err = json.Unmarshal(r.Outcome, &out.ScheduleOutcome)
	} else {
		out.Verdict, out.Run, out.Baseline, out.Links = "", "", "", nil
	}
	if err != nil { // a history has other entries
		out.ScheduleOutcome, out.Error = ScheduleOutcome{},
			cmp.Or(out.Error, fmt.Sprintf("what came out of it cannot be read: %v", err))
	}
	return out
}
