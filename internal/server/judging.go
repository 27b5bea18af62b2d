// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
)

// KindJudge is the kind of jobs that ask judges about a run.
const KindJudge = "judge"

// JudgeAsk requests verdicts of judges on the attempts of a run. Each judge with each model is one
// judging.
type JudgeAsk struct {
	Judges  []string         `json:"judge" minItems:"1" maxItems:"20" nullable:"false" doc:"those that are built in (GET /api/judges), and at most one of your own"`
	Models  []string         `json:"judge_model,omitempty" maxItems:"20" nullable:"false" doc:"provider/model"`
	Targets []api.EvalTarget `json:"targets,omitempty" maxItems:"20" nullable:"false"`
	// Prompt and Schema define a judge of the user.
	Prompt      string          `json:"prompt,omitempty" maxLength:"1000000" doc:"of a judge of your own"`
	Schema      json.RawMessage `json:"schema,omitempty" doc:"JSON Schema of its verdict: an object with pass, verdict, status or score"`
	Unit        string          `json:"unit,omitempty" enum:"task,call,turn" doc:"the unit of your own judge; default: task"`
	ShowGold    bool            `json:"show_gold,omitempty" doc:"shows the expectations of the case, which biases a judge towards them"`
	MaxEvidence int             `json:"max_evidence,omitempty" minimum:"0" doc:"bytes that a judge is shown of one thing; 0: the usual ones"`
	Threshold   *float64        `json:"threshold,omitempty" minimum:"0" maximum:"1" doc:"the least score that passes, where the score decides"`
	Under       *float64        `json:"under,omitempty" minimum:"0" maximum:"1" doc:"judges only attempts with a lower automatic score, or with none"`
	Samples     int             `json:"samples,omitempty" minimum:"0" maximum:"100" doc:"how often each question is asked; the majority verdict counts"`
	Against     string          `json:"against_eval_id,omitempty" maxLength:"100" doc:"baseline run shown to a comparing judge"`
	Again       bool            `json:"again,omitempty" doc:"begins anew although the last judging did not end"`

	MaxCostUSD       float64 `json:"max_cost_usd,omitempty" minimum:"0" doc:"of each judging"`
	MaxCalls         int     `json:"max_calls,omitempty" minimum:"0" doc:"of each judging"`
	Concurrency      int     `json:"concurrency,omitempty" minimum:"0" maximum:"256"`
	Rate             float64 `json:"rate,omitempty" minimum:"0"`
	RequestTimeoutMS int64   `json:"request_timeout_ms,omitempty" minimum:"0"`
	NoCache          bool    `json:"no_cache,omitempty"`
	Retries          *int    `json:"retries,omitempty" minimum:"0" maximum:"20" doc:"after a failure that may pass; left out: 3, and up to 9 after a 429"`
	Stream           bool    `json:"stream,omitempty" doc:"answers are streamed"`
	// Temperature and ProviderParams are sent to all models that judge.
	Temperature    *float64                   `json:"temperature,omitempty" minimum:"0" maximum:"2" doc:"0 where the model takes it, if it is not set"`
	ProviderParams map[string]json.RawMessage `json:"provider_params,omitempty"`
	Priority       int                        `json:"priority,omitempty" minimum:"-10" maximum:"10" doc:"above 0 for admins only"`
	Timeout        int                        `json:"timeout,omitempty" minimum:"0" maximum:"2592000" doc:"seconds that the job may run; 0: a day"`
}

// AddJudging adds the routes that ask judges and show their verdicts.
func AddJudging(s *api.Server) {
	run := map[string]api.Kind{"id": api.KindRun}
	op := api.Operations("judges", "/api")
	api.Answer(s, op("list-judges", http.MethodGet, "/judges", "Lists the judges that are built in."), api.Access{},
		func(context.Context, *account.Principal, *struct{}) (*api.Page[BuiltinJudge], error) {
			out := api.Page[BuiltinJudge]{Items: []BuiltinJudge{}}
			list := runs.Judges()
			for i := range list {
				j := &list[i]
				out.Items = append(out.Items,
					BuiltinJudge{j.Name, string(j.Unit), j.About, j.Hash(), j.Prompt, j.Schema})
			}
			return &out, nil
		})
	api.Add(s, api.Returning(http.StatusAccepted, op("judge-run", http.MethodPost, "/runs/{id}/judge",
		"Asks judges about the attempts of a run, as a job.")),
		api.Access{Role: account.Member, Scope: account.ScopeRun, Objects: run}, api.With(s, submitJudge))
	api.Answer(s,
		op("list-judgings", http.MethodGet, "/runs/{id}/judgings",
			"Lists what judges were asked about a run, without their verdicts."), api.Access{Objects: run},
		func(ctx context.Context, _ *account.Principal, in *api.RunIn) (*api.Page[results.JudgingView], error) {
			list, err := runs.List(ctx, s.Config.App, runs.JudgeListRequest{Side: app.Side{Run: in.ID}})
			return &api.Page[results.JudgingView]{Items: list}, err
		})
	api.Answer(s,
		op("show-judgings", http.MethodGet, "/runs/{id}/verdicts",
			"Returns the verdicts of judges on a run, how far judges agree, and their majority."),
		api.Access{Objects: run}, api.With(s, verdicts))
}

// BuiltinJudge is a judge that is built in.
type BuiltinJudge struct {
	Name   string          `json:"name"`
	Unit   string          `json:"unit" doc:"what it looks at"`
	About  string          `json:"about"`
	Hash   string          `json:"prompt_hash" doc:"version of the prompt; verdicts and calibrations name it"`
	Prompt string          `json:"prompt"`
	Schema json.RawMessage `json:"schema" doc:"JSON Schema of its verdict"`
}

// verdicts returns the verdicts of all judgings of a run, or of one.
func verdicts(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	api.RunIn
	Judging string `query:"judging" maxLength:"100" doc:"one judging; left out: all of them"`
},
) (*results.Judged, error) {
	out, err := runs.Show(ctx, s.Config.App, runs.JudgeShowRequest{Side: app.Side{Run: in.ID}}, nil)
	if errors.Is(err, callvet.ErrNotFound) { // the run exists: otherwise the request was refused before
		out, err = &results.Judged{Subject: "run " + in.ID, Judgings: []results.JudgingView{}}, nil
	}
	if err != nil {
		return nil, err
	}
	if in.Judging == "" {
		return out, nil
	}
	i := slices.IndexFunc(out.Judgings, func(v results.JudgingView) bool { return v.ID == in.Judging })
	if i < 0 {
		return nil, fmt.Errorf("judging %q of run %s: %w", in.Judging, in.ID, callvet.ErrNotFound)
	}
	return &results.Judged{Subject: out.Subject, Judgings: out.Judgings[i : i+1]}, nil
}

// judgeJob is the stored request of a job of KindJudge.
type judgeJob struct {
	About string   `json:"about"` // the names of the judges
	Run   string   `json:"run"`
	Ask   JudgeAsk `json:"ask"`
}

// judgeNote records the finished judgings of the job, one for each judge and model in their order.
type judgeNote struct {
	Done []string `json:"done"`
}

// Files of a judge of the user.
const (
	promptField = library.Reserved + "prompt"
	schemaField = library.Reserved + "schema"
)

// requests are the job's requests to an App: one for each judge and model.
func (j *judgeJob) requests() ([]app.JudgeRequest, app.Uploads, error) {
	q := &j.Ask
	zero := 0.0
	params, err := api.ParamsOf(q.ProviderParams, q.Temperature, 0)
	if err != nil {
		return nil, nil, err
	}
	var models []app.TargetSpec
	for _, m := range q.Models {
		models = append(models, app.TargetSpec{Target: m})
	}
	for _, t := range q.Targets {
		models = append(models, app.TargetSpec{
			Target: t.ProviderKey + "/" + t.ModelID, Name: t.Name,
			BaseURL: t.BaseURL, APIKeyEnv: t.APIKeyEnv,
		})
	}
	for i := range models {
		models[i].DefaultTemperature, models[i].Params, models[i].Stream = &zero, params, q.Stream
	}
	if len(models) == 0 {
		return nil, nil, &callvet.FieldError{
			Field: "judge_model",
			Text:  "{judge_model}: which model judges? name one, such as openai/gpt-5-mini",
		}
	}
	base := app.JudgeRequest{
		Side: app.Side{Run: j.Run}, Samples: q.Samples, Under: q.Under, Again: q.Again, NoCache: q.NoCache,
		Settings: app.Settings{
			MaxCostUSD: q.MaxCostUSD, MaxCalls: q.MaxCalls, Concurrency: q.Concurrency, Rate: q.Rate,
			TimeoutMS: q.RequestTimeoutMS, Retries: q.Retries,
		},
	}
	if q.Under != nil && *q.Under == 0 {
		base.Under = nil
	}
	base.ShowGold, base.MaxEvidence, base.Threshold = q.ShowGold, q.MaxEvidence, q.Threshold
	if q.Against != "" {
		base.Against = app.Side{Run: q.Against}
	}
	var known []string
	for _, b := range runs.Judges() {
		known = append(known, b.Name)
	}
	own := slices.IndexFunc(q.Judges, func(name string) bool { return !slices.Contains(known, name) })
	files := app.Uploads{}
	switch {
	case q.Prompt == "" && api.Null(q.Schema):
	case own < 0:
		return nil, nil, &callvet.FieldError{
			Field: "judge",
			Text:  "{judge}: {prompt} and {schema} are of a judge of your own: give it a name",
		}
	default:
		files[promptField], files[schemaField] = []byte(q.Prompt), q.Schema
	}
	var out []app.JudgeRequest
	for i, name := range q.Judges {
		if slices.Contains(q.Judges[:i], name) {
			return nil, nil, &callvet.FieldError{
				Field: "judge",
				Text:  fmt.Sprintf("{judge} %s: it is named twice", name),
			}
		}
		for _, m := range models {
			one := base
			one.Judges, one.Models = []string{name}, []app.TargetSpec{m}
			if i == own && len(files) > 0 {
				one.Prompt, one.Schema = promptField, schemaField
				if q.Unit != "" {
					one.Unit = runs.JudgeUnit(q.Unit)
				}
			}
			out = append(out, one)
		}
	}
	return out, files, nil
}

// judges returns an App with the files of a job.
func judges(ctx context.Context, s *api.Server, user string, files app.Uploads) (*app.App, error) {
	a, err := s.AppOf(ctx, user)
	if err == nil && len(files) > 0 {
		a = a.With(files)
	}
	return a, err
}

func submitJudge(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	api.RunIn
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same key returns the first job"`
	Body JudgeAsk
},
) (*submittedOutput, error) {
	if in.Body.Priority > 0 && by.Role != account.Admin {
		return nil, &callvet.FieldError{
			Field: "priority", Kind: callvet.ErrDenied,
			Text: "{priority} above 0 is for admins",
		}
	}
	if in.Body.Against != "" {
		if err := s.May(ctx, by, api.KindRun, in.Body.Against, false); err != nil {
			return nil, err
		}
	}
	of := judgeJob{About: strings.Join(in.Body.Judges, ", "), Run: in.ID, Ask: in.Body}
	list, files, err := of.requests()
	if err != nil {
		return nil, err
	}
	a, err := judges(ctx, s, by.User, files)
	if err != nil {
		return nil, err
	}
	h := &api.Notices{}
	for i := range list {
		if err := runs.CheckJudge(ctx, a, list[i], h.Collect); err != nil {
			if errors.Is(err, callvet.ErrNotFound) { // a provider or a judge that the body names
				err = &callvet.FieldError{Field: "judge_model", Text: err.Error()}
			}
			return nil, h.Refused(err)
		}
	}
	request, err := json.Marshal(&of)
	if err != nil {
		return nil, err
	}
	started := func(ctx context.Context, q *rows.Queries, _ string) error {
		var models []app.TargetSpec
		for i := range list {
			models = append(models, list[i].Models...)
		}
		targets, keys := api.Used(models)
		return s.Started(ctx, q, by, "judge.start", in.ID, targets, keys)
	}
	got, isNew, err := s.Jobs.Submit(ctx, job.Request{
		User: by.User, Kind: KindJudge, Priority: in.Body.Priority, Key: in.Key,
		Timeout:  time.Duration(in.Body.Timeout) * time.Second,
		Prepared: job.Prepared{Request: request, Also: started},
	})
	if err != nil {
		return nil, err
	}
	return submitted(&got, isNew, h.All()), nil
}

// Judge carries out a job of KindJudge; it resumes a judging that did not end.
func Judge(ctx context.Context, s *api.Server, j job.Job, r *job.Report) (json.RawMessage, error) {
	var of judgeJob
	if err := json.Unmarshal(j.Request, &of); err != nil {
		return nil, fmt.Errorf("read job: %w", err)
	}
	var note judgeNote
	if len(j.Note) > 0 {
		if err := json.Unmarshal(j.Note, &note); err != nil {
			return nil, fmt.Errorf("read what was done: %w", err)
		}
	}
	list, files, err := of.requests()
	if err != nil {
		return nil, err
	}
	a, err := judges(ctx, s, j.User, files)
	if err != nil {
		return nil, err
	}
	before := int64(0) // questions of the judgings that are over
	for i := len(note.Done); i < len(list); i++ {
		req := list[i]
		req.Again = req.Again && j.Attempt <= 1
		asked := int64(0)
		out, err := runs.Judge(ctx, a, req, func(ev app.Event) {
			if p := ev.Progress; p != nil && p.Of == "" {
				asked = int64(p.Total)
				r.Progress(before+int64(p.Done), before+asked*int64(len(list)-i), p.ETA*time.Duration(len(list)-i))
			}
		})
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if err != nil {
			return nil, err
		}
		// and the job was not cancelled
		if slices.ContainsFunc(out.Judgings, func(v results.JudgingView) bool { return v.Interrupted() }) {
			return nil, job.ErrCancelled
		}
		before += asked
		for k := range out.Judgings {
			v := &out.Judgings[k]
			note.Done = append(note.Done, v.ID)
			b, err := json.Marshal(&note)
			if err != nil {
				return nil, err
			}
			err = r.Publish(b, job.News{Kind: "judge_result", Data: map[string]any{
				"eval_id": of.Run, "judging_id": v.ID, "judge": v.JudgeID, "status": v.Status, "pass": v.Pass,
				"fail": v.Fail, "unscored": v.Unscored, "score": v.Score,
			}})
			if err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(map[string]any{"eval_id": of.Run, "judgings": note.Done})
}
