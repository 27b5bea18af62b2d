// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/stats"
)

// TuneAsk has the common fields of searches for parameters and for prompts. The present settings of
// the models are the base of the search.
type TuneAsk struct {
	SuiteID      string `json:"suite_id" minLength:"1" maxLength:"100"`
	ExperimentID string `json:"experiment_id,omitempty" maxLength:"100"`
	Asked

	Holdout    float64 `json:"holdout,omitempty" minimum:"0" maximum:"0.95" doc:"share of the families of cases that the search does not see; 0: a half. Cases keep the side that they had in earlier searches on the suite"`
	Margin     float64 `json:"margin,omitempty" minimum:"0" maximum:"0.99" doc:"least improvement that counts"`
	Metric     string  `json:"metric,omitempty" maxLength:"100" doc:"the metric to maximize; default: pass_rate"`
	MaxSeconds float64 `json:"max_seconds,omitempty" minimum:"0" doc:"ends the search after this time, and confirms its result"`
	NoRace     bool    `json:"no_race,omitempty" doc:"asks every candidate about all training cases"`
}

// ParamTune requests a search for parameters.
type ParamTune struct {
	TuneAsk
	SearchSpace json.RawMessage            `json:"search_space,omitempty" doc:"values by parameter: a list, or {min, max, step}; null in a list: not sent"`
	ModelSpaces map[string]json.RawMessage `json:"per_model_search_spaces,omitempty" doc:"search spaces of single models, in place of search_space"`
	Preset      string                     `json:"preset,omitempty" maxLength:"100" doc:"a search space by its name: a shipped one, or one's own"`
	Mode        string                     `json:"optimization_mode,omitempty" enum:"grid,random,bayesian,halving" doc:"left out: grid"`
	Trials      int                        `json:"n_trials,omitempty" minimum:"0" maximum:"10000" doc:"combinations that modes other than grid try; 0: 50"`
}

// PromptTune requests a search for a system prompt.
type PromptTune struct {
	TuneAsk
	MetaModel  string          `json:"meta_model,omitempty" maxLength:"500" doc:"provider/model that writes the prompts"`
	MetaTarget *api.EvalTarget `json:"meta_target,omitempty" doc:"in place of meta_model"`
	Mode       string          `json:"optimization_mode,omitempty" enum:"quick,evolve,reflect" doc:"left out: quick"`
	Config     *PromptConfig   `json:"config,omitempty"`
}

// PromptConfig are the settings of the evolution of prompts.
type PromptConfig struct {
	Population  int     `json:"population,omitempty" minimum:"0" maximum:"20" doc:"0: the usual number"`
	Generations int     `json:"generations,omitempty" minimum:"0" maximum:"20" doc:"0: the usual number"`
	Selection   float64 `json:"selection_ratio,omitempty" minimum:"0" maximum:"0.8" doc:"share of a generation that are parents of the next; 0: the usual one"`
}

// searchRequest is the body of a request for a search.
type searchRequest interface {
	common() *TuneAsk
	search(*tunes.Request) error
}

func (q *TuneAsk) common() *TuneAsk { return q }

func (q *ParamTune) search(r *tunes.Request) error {
	r.Kind, r.Mode, r.Trials, r.Preset = tunes.Params, q.Mode, q.Trials, q.Preset
	if !api.Null(q.SearchSpace) {
		r.SpaceText = q.SearchSpace
	}
	if len(q.ModelSpaces) == 0 {
		return nil
	}
	b, err := json.Marshal(q.ModelSpaces)
	r.ModelSpaces = b
	return err
}

func (q *PromptTune) search(r *tunes.Request) error {
	r.Kind, r.Mode = tunes.Prompt, q.Mode
	if c := q.Config; c != nil {
		r.Population, r.Generations, r.Selection = c.Population, c.Generations, c.Selection
	}
	switch t := q.MetaTarget; {
	case t != nil && q.MetaModel != "":
		return app.Refused("meta_model", "{meta_model} and {meta_target} are the same thing: give one of them")
	case t != nil:
		r.Meta = &app.TargetSpec{
			Target: t.ProviderKey + "/" + t.ModelID, Name: t.Name, BaseURL: t.BaseURL, APIKeyEnv: t.APIKeyEnv,
		}
	case q.MetaModel != "":
		r.Meta = &app.TargetSpec{Target: q.MetaModel}
	}
	return nil
}

// tuning is a requested search of a user.
type tuning struct {
	*submission
	search *tunes.Request
}

// tuningOf reads a request, after the permission checks.
func tuningOf(ctx context.Context, s *api.Server, by *account.Principal, asked searchRequest, key string) (*tuning, error) {
	q := asked.common()
	eval := &EvalRequest{SuiteID: q.SuiteID, ExperimentID: q.ExperimentID, Asked: q.Asked}
	sub, err := eval.submission(ctx, s, by, key)
	if err != nil {
		return nil, err
	}
	if _, err := ready(ctx, s, by, sub); err != nil {
		return nil, err
	}
	out := &tuning{sub, &tunes.Request{
		NoRace: q.NoRace, Holdout: q.Holdout, Margin: q.Margin, Metric: q.Metric, MaxSeconds: q.MaxSeconds,
		SuiteID: q.SuiteID, Experiment: q.ExperimentID,
	}}
	if err := asked.search(out.search); err != nil {
		return nil, err
	}
	sub.ask.Owned = true
	out.search.Run = *sub.ask
	return out, out.search.Check()
}

// TuneView is a search with its job.
type TuneView struct {
	tunes.Tune
	Job        string `json:"job_id,omitempty"`
	SuiteID    string `json:"suite_id"`
	Experiment string `json:"experiment_id,omitempty"`
	User       string `json:"user_id"`
	Resumable  bool   `json:"resumable" doc:"it ended early: by its limits, a failure or a person; it can go on"`
}

// TuneLine is a search in a list.
type TuneLine struct {
	ID         string      `json:"id"`
	Kind       tunes.Kind  `json:"kind"`
	Status     tunes.State `json:"status"`
	Timestamp  time.Time   `json:"timestamp"`
	Job        string      `json:"job_id,omitempty"`
	SuiteID    string      `json:"suite_id"`
	Suite      string      `json:"suite_name"`
	Experiment string      `json:"experiment_id,omitempty"`
	User       string      `json:"user_id"`
	Mode       string      `json:"optimization_mode,omitempty"`
	Use        int         `json:"holdout_use" doc:"which use of the held-out cases its confirmation is; 0: they were not used"`
	Models     []TuneModel `json:"models" nullable:"false"`
	Spent      tunes.Spent `json:"spent"`
	Promoted   string      `json:"promoted_eval_id,omitempty"`
	Problem    string      `json:"problem,omitempty"`
}

// TuneModel is the result of a search for a model in a few words.
type TuneModel struct {
	Model      string          `json:"model"`
	Outcome    string          `json:"outcome" doc:"empty: it is not over"`
	Sentence   string          `json:"sentence"`
	Candidates int             `json:"candidates"`
	Best       string          `json:"best,omitempty" doc:"the best candidate on the training cases"`
	Gain       *stats.Interval `json:"gain" doc:"of the best candidate over the base on the held-out cases; null until it is measured"`
}

// TuneIn names a search in a path.
type TuneIn struct {
	ID string `path:"id" maxLength:"100"`
}

type tuneInput[B any] struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same key returns the first job"`
	Body B
}

// AddTunes adds the routes of searches for parameters and for prompts.
func AddTunes(s *api.Server) {
	addTune(s, tunes.Params, "param-tune", "parameters", func(q *ParamTune) searchRequest { return q })
	addTune(s, tunes.Prompt, "prompt-tune", "a prompt", func(q *PromptTune) searchRequest { return q })
	addTunePresets(s)
	addProfiles(s)
}

// addTune adds the routes of a kind of searches.
func addTune[B any](s *api.Server, kind tunes.Kind, name, what string, of func(*B) searchRequest) {
	op := api.Operations("tunes", "/api/tool-eval/"+name)
	run := api.Access{Role: account.Member, Scope: account.ScopeRun}
	one := map[string]api.Kind{"id": api.KindTune}
	api.Add(s, api.Returning(http.StatusAccepted, op(name, http.MethodPost, "",
		"Searches for "+what+", as a job, and confirms the winner on held-out cases.")), run,
		func(ctx context.Context, by *account.Principal, in *tuneInput[B]) (*submittedOutput, error) {
			return submitTune(ctx, s, by, of(&in.Body), in.Key)
		})
	reads := run
	reads.Reads = true
	api.Answer(s, op("estimate-"+name, http.MethodPost, "/estimate",
		"Returns what a search would ask, and what it would take; nothing is asked or kept."), reads,
		func(ctx context.Context, by *account.Principal,
			in *struct{ Body B },
		) (*tunes.SearchEstimate, error) {
			return estimateTune(ctx, s, by, of(&in.Body))
		})
	type cancelInput struct {
		Body struct {
			JobID string `json:"job_id" minLength:"1" maxLength:"100"`
		}
	}
	api.Answer(s, op("cancel-"+name, http.MethodPost, "/cancel", "Cancels a search; what it found is kept."), run,
		func(ctx context.Context, by *account.Principal, in *cancelInput) (*job.Job, error) {
			if err := s.May(ctx, by, api.KindJob, in.Body.JobID, true); err != nil {
				return nil, err
			}
			return s.CancelJob(ctx, in.Body.JobID)
		})
	api.Add(s, op("resume-"+name, http.MethodPost, "/history/{id}/resume",
		"Goes on with a search that ended early, as a job. Limits that are set replace those of the whole search."),
		api.Access{Role: account.Member, Scope: account.ScopeRun, Objects: one}, api.With(s, resumeTune))
	api.Answer(s, op("list-"+name+"s", http.MethodGet, "/history", "Lists searches for "+what+"."), api.Access{},
		func(ctx context.Context, by *account.Principal, in *api.PageIn) (*api.Page[TuneLine], error) {
			return listTunes(ctx, s, by, kind, in)
		})
	api.Answer(s, op("get-"+name, http.MethodGet, "/history/{id}", "Returns a search with its candidates."),
		api.Access{Objects: one},
		func(ctx context.Context, _ *account.Principal, in *TuneIn) (*TuneView, error) {
			return getTune(ctx, s, in.ID)
		})
	api.Answer(s, op("apply-"+name, http.MethodPost, "/history/{id}/apply",
		"Returns the settings of a confirmed winner, or of another candidate; gives a prompt to a suite as a new version; keeps a profile."),
		api.Access{Role: account.Member, Objects: one, Reads: true}, api.With(s, applyTune))
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-"+name, http.MethodDelete, "/history/{id}",
		"Deletes a search and its attempts. Its uses of the held-out cases still count.")),
		api.Access{Role: account.Member, Objects: one},
		func(ctx context.Context, by *account.Principal, in *TuneIn) (*struct{}, error) {
			return nil, deleteTune(ctx, s, by, in.ID)
		})
}

// submitTune queues a job that carries out a search; the search is stored immediately.
func submitTune(ctx context.Context, s *api.Server, by *account.Principal, asked searchRequest, key string,
) (*submittedOutput, error) {
	q, err := tuningOf(ctx, s, by, asked, key)
	if err != nil {
		return nil, err
	}
	if err := s.Config.Quota.RoomForAttempts(ctx, s.Config.Store.Rows(), by.User); err != nil {
		return nil, err
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	var h api.Notices
	made := ""
	got, isNew, err := s.Jobs.Submit(ctx, job.Request{
		User: by.User, Kind: string(q.search.Kind), Priority: q.priority, Key: key, Timeout: q.timeout,
		Prepare: func(ctx context.Context, _ string) (p job.Prepared, err error) {
			session, err := tunes.Start(ctx, a, *q.search, h.Collect)
			if err != nil {
				return p, cmp.Or(assets.BadGates(err), h.Explain(err))
			}
			made = session.ID
			p.ResultRef = made
			if p.Request, err = json.Marshal(evalJob{Suite: session.Suite, Experiment: q.experiment}); err != nil {
				return p, err
			}
			p.Also = func(ctx context.Context, rq *rows.Queries, _ string) error {
				targets, keys := api.Used(tuneTargets(q.search))
				return s.Started(ctx, rq, by, "tune.start", made, targets, keys)
			}
			for _, w := range slices.Concat(q.notices, h.All()) {
				p.News = append(p.News, warningNews(w))
			}
			return p, nil
		},
	})
	if err != nil {
		if made != "" { // the job was cancelled meanwhile, or could not be stored
			_, derr := tunes.Delete(context.WithoutCancel(ctx), a, made)
			err = errors.Join(err, derr)
		}
		return nil, err
	}
	return submitted(&got, isNew, slices.Concat(q.notices, h.All())), nil
}

// resumeTune resumes a search that ended early, with the keys of the user of the request.
func resumeTune(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	TuneIn
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same key returns the first job"`
	Body *struct {
		MaxCalls   *int     `json:"max_calls,omitempty" minimum:"0" doc:"left out: as it was; 0: no limit"`
		MaxCostUSD *float64 `json:"max_cost_usd,omitempty" minimum:"0" doc:"left out: as it was; 0: no limit"`
		MaxSeconds *float64 `json:"max_seconds,omitempty" minimum:"0" doc:"left out: as it was; 0: no limit"`
	}
},
) (*submittedOutput, error) {
	t, err := tunes.Get(ctx, s.Config.App, in.ID)
	if err != nil {
		return nil, err
	}
	owner, err := s.Owner(ctx, api.KindTune, in.ID)
	if err != nil {
		return nil, err
	}
	if err := t.CanGoOn(); err != nil {
		return nil, err
	}
	all := tuneTargets(t.Request)
	if err := ownTargets(by, owner.User, all, nil); err != nil {
		return nil, err
	}
	ask := tunes.ResumeRequest{Tune: in.ID}
	if b := in.Body; b != nil {
		ask.MaxCalls, ask.MaxCostUSD, ask.MaxSeconds = b.MaxCalls, b.MaxCostUSD, b.MaxSeconds
	}
	got, isNew, err := s.Jobs.Submit(ctx, job.Request{
		User: by.User, Kind: string(t.Kind), Key: in.Key,
		Prepare: func(ctx context.Context, _ string) (p job.Prepared, err error) {
			if err := atRest(ctx, s, in.ID); err != nil {
				return p, err
			}
			if _, err := tunes.Reopen(ctx, s.Config.App, ask); err != nil {
				return p, err
			}
			p.ResultRef = in.ID
			p.Also = func(ctx context.Context, q *rows.Queries, _ string) error {
				targets, keys := api.Used(all)
				return s.Started(ctx, q, by, "tune.resume", in.ID, targets, keys)
			}
			p.Request, err = json.Marshal(evalJob{Suite: t.Suite, Experiment: t.Request.Experiment})
			return p, err
		},
	})
	if err != nil {
		return nil, err
	}
	return submitted(&got, isNew, nil), nil
}

func estimateTune(ctx context.Context, s *api.Server, by *account.Principal, asked searchRequest,
) (*tunes.SearchEstimate, error) {
	q, err := tuningOf(ctx, s, by, asked, "")
	if err != nil {
		return nil, err
	}
	past, err := pastRuns(ctx, s, by)
	if err != nil {
		return nil, err
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	var h api.Notices
	out, err := tunes.Preview(ctx, a, *q.search, past, h.Collect)
	if err != nil {
		return nil, h.Explain(err)
	}
	return out, nil
}

// tuneTargets returns all targets that a search asks.
func tuneTargets(q *tunes.Request) []app.TargetSpec {
	all := everyTarget(&q.Run)
	if q.Meta != nil {
		all = append(all, *q.Meta)
	}
	return all
}

// jobOf returns the job of a search; nil if it has none.
func jobOf(ctx context.Context, s *api.Server, id string) (*job.Job, error) {
	j, err := s.Jobs.OfResult(ctx, id)
	if errors.Is(err, callvet.ErrNotFound) {
		return nil, nil //nolint:nilnil // a missing job is no error
	}
	return &j, err
}

// follow sets the state and the problem of a search from those of its job.
func follow(t *tunes.Tune, j *job.Job) {
	switch {
	case j == nil || t.State == tunes.Done:
	case j.Active():
		t.State = tunes.Running
	case j.State == job.Cancelled:
		t.State = tunes.Cancelled
	case j.State == job.Failed:
		t.State, t.Problem = tunes.Failed, cmp.Or(t.Problem, j.Error)
	}
}

func listTunes(ctx context.Context, s *api.Server, by *account.Principal, kind tunes.Kind, in *api.PageIn,
) (*api.Page[TuneLine], error) {
	from, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Config.Store.Rows().Tunes(ctx, rows.TunesParams{
		UserID: by.User, Everything: by.Role == account.Admin, Kind: string(kind), Before: from.At, BeforeID: from.ID,
		AtMost: int64(in.Limit) + 1,
	})
	if err != nil {
		return nil, fmt.Errorf("list searches: %w", err)
	}
	return api.Listed(list, in.Limit,
		func(r *rows.CheckedTune) api.PageMark { return api.PageMark{At: r.Created, ID: r.ID} },
		func(r *rows.CheckedTune) (*TuneLine, error) { return lineOfTune(ctx, s, r) })
}

// lineOfTune is a search in a list.
func lineOfTune(ctx context.Context, s *api.Server, row *rows.CheckedTune) (*TuneLine, error) {
	t := tunes.Listed(ctx, s.Config.Store, row)
	j, err := jobOf(ctx, s, t.ID)
	if err != nil {
		return nil, err
	}
	follow(t, j)
	out := &TuneLine{
		ID: t.ID, Kind: t.Kind, Status: t.State, Timestamp: assets.Milli(row.Created), SuiteID: row.SuiteID,
		Suite:      t.Suite,
		Experiment: row.ExperimentID, User: row.UserID, Use: t.Use, Models: []TuneModel{}, Spent: t.Spent,
		Promoted: t.Promoted, Problem: t.Problem,
	}
	if j != nil {
		out.Job = j.ID
	}
	if t.Request != nil {
		out.Mode = t.Request.Mode
	}
	for i := range t.Models {
		m := &t.Models[i]
		of := TuneModel{Model: m.Model, Outcome: string(m.Outcome), Sentence: m.Sentence, Candidates: len(m.Candidates)}
		for k := range m.Candidates {
			if m.Candidates[k].N == m.Best {
				of.Best = m.Candidates[k].Name
			}
		}
		if m.Confirmation != nil {
			of.Gain = &m.Confirmation.Gain
		}
		out.Models = append(out.Models, of)
	}
	return out, nil
}

// getTune returns a search of either kind.
func getTune(ctx context.Context, s *api.Server, id string) (*TuneView, error) {
	t, err := tunes.Get(ctx, s.Config.App, id)
	if err != nil {
		return nil, err
	}
	j, err := jobOf(ctx, s, id)
	if err != nil {
		return nil, err
	}
	follow(t, j)
	out := TuneView{Tune: *t}
	if j != nil {
		out.Job = j.ID
	}
	if t.Request != nil {
		out.SuiteID, out.Experiment = t.Request.SuiteID, t.Request.Experiment
	}
	out.Resumable = (j == nil || !j.Active()) && !t.Over()
	owner, err := s.Owner(ctx, api.KindTune, id)
	out.User = owner.User
	return &out, err
}

// atRest returns an error for a search that a job carries out.
func atRest(ctx context.Context, s *api.Server, id string) error {
	j, err := jobOf(ctx, s, id)
	if err != nil || j == nil || !j.Active() {
		return err
	}
	return &callvet.Hinted{
		Err:  fmt.Errorf("search %s: %w: it goes on", id, callvet.ErrConflict),
		Hint: "cancel it first: POST /api/jobs/" + j.ID + "/cancel",
	}
}

func deleteTune(ctx context.Context, s *api.Server, by *account.Principal, id string) error {
	if err := atRest(ctx, s, id); err != nil {
		return err
	}
	if _, err := tunes.Delete(ctx, s.Config.App, id); err != nil {
		return err
	}
	return s.Config.Store.Change(ctx, "record deletion", s.Deletes(ctx, by, api.KindTune, id).Do)
}

// tuneNote is how many events of a search a job has stored.
type tuneNote struct {
	Events int `json:"told"`
}

// tuneEvents stores the events of a search. A resumed search goes through its parts again; events
// that were stored before are left out.
type tuneEvents struct {
	report *job.Report
	note   tuneNote
	seen   int
	most   int64 // requests
	err    error
	// stop ends the search between two rounds, when another job waits.
	stop context.CancelCauseFunc
}

func (e *tuneEvents) collect(ev app.Event) {
	t := ev.Tune
	if t == nil || t.What == "" || t.What == tunes.EventComplete && t.Text == string(tunes.Interrupted) { // it goes on
		return
	}
	e.report.Progress(int64(t.Requests), max(e.most, int64(t.Requests)), 0)
	if e.seen++; e.seen <= e.note.Events || e.err != nil {
		return
	}
	e.note.Events = e.seen
	e.err = e.publish(job.News{Kind: t.What, Data: t})
	if t.What == tunes.EventRound && e.report.GiveWay() {
		e.stop(job.ErrGaveWay)
	}
}

func (e *tuneEvents) publish(news ...job.News) error {
	b, err := json.Marshal(&e.note)
	if err != nil {
		return err
	}
	return e.report.Publish(b, news...)
}

// Tune carries out the search of a job; it resumes a search that has begun.
func Tune(ctx context.Context, s *api.Server, j job.Job, r *job.Report) (json.RawMessage, error) {
	a, err := s.AppOf(ctx, j.User)
	if err != nil {
		return nil, err
	}
	stored := context.WithoutCancel(ctx)
	e := &tuneEvents{report: r}
	if len(j.Note) > 0 {
		if err := json.Unmarshal(j.Note, &e.note); err != nil {
			return nil, fmt.Errorf("read sent events: %w", err)
		}
	}
	t, err := tunes.Get(stored, a, j.ResultRef)
	if err != nil {
		return nil, err
	}
	if t.State != tunes.Done {
		e.most = int64(t.Request.Run.MaxCalls)
		if t, err = carryOutTune(ctx, a, j.ResultRef, e); err != nil {
			return nil, err
		}
	}
	if err := promote(stored, s, a, j.User, t, e); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"tune_id": t.ID, "kind": t.Kind, "sentences": sentences(t), "promoted_eval_id": t.Promoted,
		"requests": t.Spent.Requests,
	})
}

func carryOutTune(ctx context.Context, a *app.App, id string, e *tuneEvents) (*tunes.Tune, error) {
	ctx, e.stop = context.WithCancelCause(ctx)
	defer e.stop(nil)
	session, err := tunes.Resume(ctx, a, tunes.ResumeRequest{Tune: id}, e.collect)
	var t *tunes.Tune
	if err == nil {
		t, err = session.Do(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && err != nil {
		if errors.Is(cause, job.ErrCancelled) {
			cause = errors.Join(cause, tunes.Cancel(context.WithoutCancel(ctx), a, id))
		}
		return nil, cause
	}
	return t, cmp.Or(err, e.err)
}

func sentences(t *tunes.Tune) []string {
	out := []string{}
	for i := range t.Models {
		out = append(out, t.Models[i].Model+": "+t.Models[i].Sentence)
	}
	return out
}

// promote runs the suite with the confirmed winners, as an ordinary run, and stores their prompts.
// If that fails, the reason becomes a note of the search.
func promote(ctx context.Context, s *api.Server, a *app.App, user string, t *tunes.Tune, e *tuneEvents) error {
	var winners []*tunes.Candidate
	var models []string
	for i := range t.Models {
		if w := t.Models[i].Winner(); w != nil {
			winners, models = append(winners, w), append(models, t.Models[i].Model)
		}
	}
	if len(winners) == 0 || t.Promoted != "" {
		return nil
	}
	var notes []string
	for _, m := range models {
		if t.Kind != tunes.Prompt {
			break
		}
		p, _, err := tunes.KeepFound(ctx, a, tunes.KeepFoundRequest{
			Chosen: tunes.ApplyRequest{Tune: t.ID, Model: m}, User: user,
			Room: func(q *rows.Queries, bytes int) error { return s.Config.Quota.RoomFor(ctx, q, user, bytes) },
		})
		if err != nil {
			notes = append(notes, "the prompt was not kept: "+plain.Limited(a.Secrets().Hide(err.Error()), 500))
			continue
		}
		notes = append(notes, "the prompt is kept as "+p.Ref())
	}
	run, err := promotedRun(ctx, s, user, t, winners)
	if err != nil {
		notes = append(notes, "the winner was not promoted to a run: "+
			plain.Limited(a.Secrets().Hide(err.Error()), 500))
	}
	t.Promoted = run
	if err := tunes.Promote(ctx, a, t.ID, run, notes...); err != nil || run == "" {
		return err
	}
	return e.publish(job.News{
		Kind: "eval_promoted",
		Data: map[string]any{"tune_id": t.ID, "eval_id": run, "notes": notes},
	})
}

// promotedRun queues a run of all cases of the search with the winners and new attempts, within the limits of the search.
func promotedRun(ctx context.Context, s *api.Server, user string, t *tunes.Tune, winners []*tunes.Candidate,
) (string, error) {
	by := &account.Principal{User: user, Role: account.Member}
	if s.Config.Accounts != nil {
		var err error
		if by, err = s.Principal(ctx, user); err != nil {
			return "", err
		}
	}
	was := &t.Request.Run
	ask := &app.RunRequest{
		NoCache: true, Repeats: was.Repeats, Seed: was.Seed, Filter: was.Filter, Sample: was.Sample, Keep: was.Keep,
		Settings: was.Settings, RealLatency: was.RealLatency,
	}
	ask.Embedder = was.Embedder
	ask.Name = "winner of " + t.ID
	for _, w := range winners {
		ask.Targets = append(ask.Targets, w.Spec)
	}
	attempts := len(winners) * max(1, was.Repeats) * (t.Cases.Train + t.Cases.Holdout + t.Cases.Rubrics)
	if was.MaxCalls > 0 {
		if ask.MaxCalls = was.MaxCalls - t.Spent.Requests; ask.MaxCalls < attempts {
			return "", fmt.Errorf("%w: the limit of the search leaves %s, and a run needs about %d", callvet.ErrBudget,
				plain.Count(max(0, ask.MaxCalls), "request", "requests"), attempts)
		}
	}
	if was.MaxCostUSD > 0 {
		if ask.MaxCostUSD = was.MaxCostUSD - t.Spent.USD - t.Spent.AssumedUSD; ask.MaxCostUSD <= 0 {
			return "", fmt.Errorf("%w: the limit of %s is spent", callvet.ErrBudget, plain.Dollars(was.MaxCostUSD))
		}
	}
	out, err := submitRun(ctx, s, by, &submission{
		suite: t.Request.SuiteID, experiment: t.Request.Experiment, ask: ask, key: "promote " + t.ID,
	})
	if err != nil {
		return "", err
	}
	return out.Body.ResultRef, nil
}

// tuned returns the searches of an experiment that by may read, for its timeline.
func tuned(ctx context.Context, s *api.Server, by *account.Principal, experiment string) ([]TimelineEntry, error) {
	list, err := s.Config.Store.Rows().TunesOfExperiment(ctx, experiment)
	if err != nil {
		return nil, fmt.Errorf("list searches: %w", err)
	}
	var out []TimelineEntry
	for i := range list {
		if !by.MayRead(account.Owned{User: list[i].UserID}) {
			continue
		}
		t := tunes.Listed(ctx, s.Config.Store, &list[i])
		j, err := jobOf(ctx, s, t.ID)
		if err != nil {
			return nil, err
		}
		follow(t, j)
		out = append(out, *tuneEntry(t))
	}
	return out, nil
}

// tuneEntry is a search in a timeline. Its score is that of the confirmation on the held-out cases,
// because the score on the training cases is too high on average.
func tuneEntry(t *tunes.Tune) *TimelineEntry {
	out := &TimelineEntry{
		Type: string(t.Kind), ID: t.ID, Run: t.Promoted, Timestamp: t.Created, Status: string(t.State),
		Summary: strings.Join(sentences(t), "; "), Warnings: t.Notes,
	}
	if t.Problem != "" {
		out.Warnings = append(out.Warnings, t.Problem)
	}
	if w := t.Weights; w != nil {
		out.Catalogue, out.Summary = w.Catalogue, w.Sentence()
		out.Score, out.Delta, out.Gain = &w.Found.After, &w.Found.Change.Point, &w.Found.Change
	}
	highest := math.Inf(-1)
	for i := range t.Models {
		m := &t.Models[i]
		for k := range m.Candidates {
			c := &m.Candidates[k]
			if c.N != m.Best || m.Confirmation == nil || !m.Confirmation.Gain.Usable() {
				continue
			}
			gain := m.Confirmation.Gain
			out.Targets = append(out.Targets, TimelineTarget{
				Name: c.Name, Config: c.Spec, Against: m.Model, PassChange: &Claim{Change: &gain},
			})
			if score := m.Confirmation.Candidate; score > highest {
				highest = score
				out.Score, out.Delta, out.Gain = &score, &gain.Point, &gain
			}
		}
	}
	return out
}

// TuneApply chooses a candidate of a search, and the objects to change.
type TuneApply struct {
	Model     string `json:"model,omitempty" maxLength:"500" doc:"of a search for several models; left out: the one with a winner"`
	Candidate *int   `json:"candidate,omitempty" minimum:"0" doc:"its number; left out: the winner"`
	Anyway    bool   `json:"anyway,omitempty" doc:"also an unconfirmed candidate"`
	SuiteID   string `json:"suite_id,omitempty" maxLength:"100" doc:"the suite that gets the prompt as its system prompt, as a new version; left out: none"`
	Profile   string `json:"profile,omitempty" maxLength:"128" doc:"the name under which the settings are stored as a profile of the model; default: they are not stored"`
}

// TuneApplied is a candidate with the changed objects.
type TuneApplied struct {
	tunes.Applied
	SuiteID string         `json:"suite_id,omitempty"`
	Version int64          `json:"suite_version,omitempty" doc:"of the suite, with the prompt"`
	Profile *tunes.Profile `json:"profile,omitempty" doc:"that was kept"`
}

func applyTune(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	TuneIn
	Body TuneApply
},
) (*TuneApplied, error) {
	q := &in.Body
	if q.SuiteID != "" {
		if err := s.May(ctx, by, api.KindSuite, q.SuiteID, true); err != nil {
			return nil, err
		}
	}
	t, err := tunes.Get(ctx, s.Config.App, in.ID)
	if err != nil {
		return nil, err
	}
	c, confirmed, err := t.Choose(&tunes.ApplyRequest{Model: q.Model, Candidate: q.Candidate, Anyway: q.Anyway})
	if err != nil {
		return nil, err
	}
	out := TuneApplied{Applied: tunes.Applied{
		Tune: t.ID, Name: c.Name, Candidate: c.N, Confirmed: confirmed, Config: c.Spec, Prompt: c.Prompt, Written: []string{},
	}}
	if q.SuiteID != "" && t.Kind != tunes.Prompt {
		return nil, app.Refused("suite_id", "{suite_id}: parameters belong to a model, and a suite has none")
	}
	if q.Profile != "" {
		if out.Profile, err = keepProfile(ctx, s, by, tunes.ProfileOf(&c.Spec, q.Profile, t.ID)); err != nil {
			return nil, err
		}
		out.Written = append(out.Written, out.Profile.Name)
	}
	if q.SuiteID == "" {
		return &out, nil
	}
	w, err := s.Library.Edit(ctx, by.User, q.SuiteID, "system prompt of "+t.ID+": "+c.Name, nil,
		func(d *library.Document) error { return d.SetText("system_prompt", c.Prompt) })
	if err != nil {
		return nil, err
	}
	out.SuiteID, out.Version, out.Written = q.SuiteID, w.Version, append(out.Written, w.Name)
	return &out, nil
}
