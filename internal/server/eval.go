// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// KindToolEval is the kind of jobs that run a suite.
const KindToolEval = "tool_eval"

// Asked is what requests for runs, drills and searches have in common.
type Asked struct {
	Models      []string          `json:"models,omitempty" doc:"provider/model, or retrieve:CATALOGUE_ID for the search of a catalogue, with its settings behind: retrieve:catalogue_…?k=2&preset=bigtool"`
	Targets     []RunTarget       `json:"targets,omitempty"`
	Profiles    map[string]string `json:"profiles,omitempty" doc:"ids of profiles by provider/model or by model_id: their settings are used where the request has none"`
	Temperature *float64          `json:"temperature,omitempty" minimum:"0" maximum:"2" doc:"0 where the model takes it, if it is not set"`
	ToolChoice  string            `json:"tool_choice,omitempty" doc:"auto, required, none or the name of a tool; that of the suite, if it is not set"`
	// ProviderParams are sent to all targets.
	ProviderParams map[string]json.RawMessage `json:"provider_params,omitempty"`
	// SystemPrompt is one text for all targets, or a text for each provider_key::model_id. It is
	// added to the suite's. Source: Tool Calling Evaluation, "System Prompt Per Suite".
	SystemPrompt  any  `json:"system_prompt,omitempty" doc:"a text for all targets, or an object of texts by provider_key::model_id, with _global for all others; it stands before the suite's"`
	ReplaceSystem bool `json:"replace_system,omitempty" doc:"system_prompt replaces the suite's"`

	Repeats          int      `json:"repeats,omitempty" minimum:"0" maximum:"100" doc:"attempts of each target at each case that has no number of its own (repeat in the suite); of a search, of each candidate; 0: 1"`
	Seed             int64    `json:"seed,omitempty"`
	Sample           int      `json:"sample,omitempty" minimum:"0" doc:"cases that are drawn at random; 0: all"`
	Filter           []string `json:"filter,omitempty" doc:"patterns for ids, tag:smoke, tier:golden, category=flights; all must match"`
	Tags             []string `json:"tags,omitempty" doc:"cases with one of these tags"`
	MaxCostUSD       float64  `json:"max_cost_usd,omitempty" minimum:"0" doc:"of the whole run or search"`
	MaxCalls         int      `json:"max_calls,omitempty" minimum:"0" doc:"requests of the whole run or search; a search keeps what its confirmation needs"`
	Concurrency      int      `json:"concurrency,omitempty" minimum:"0" maximum:"256" doc:"requests of a provider in flight; 0: 8"`
	Rate             float64  `json:"rate,omitempty" minimum:"0" doc:"requests per second and provider; 0: no limit"`
	RequestTimeoutMS int64    `json:"request_timeout_ms,omitempty" minimum:"0"`
	Retries          *int     `json:"retries,omitempty" minimum:"0" maximum:"20" doc:"after a failure that may pass; left out: 3, and up to 9 after a 429"`
	Stream           bool     `json:"stream,omitempty" doc:"answers are streamed"`
	NoCache          bool     `json:"no_cache,omitempty"`
	RealLatency      bool     `json:"real_latency,omitempty" doc:"waits for the latencies of the mocks"`
	Keep             []string `json:"keep,omitempty" maxItems:"20" nullable:"false" doc:"kinds of personal data that are not redacted, such as email"`
	Embedder         string   `json:"embedder,omitempty" maxLength:"200" doc:"the model that compares texts in mode semantic, as in openai/text-embedding-3-small"`

	Priority int `json:"priority,omitempty" minimum:"-10" maximum:"10" doc:"above 0 for admins only"`
	Timeout  int `json:"timeout,omitempty" minimum:"0" maximum:"2592000" doc:"seconds that the job may run; 0: a day"`
}

// EvalRequest requests a run of a suite.
type EvalRequest struct {
	SuiteID      string `json:"suite_id" minLength:"1" maxLength:"100"`
	ExperimentID string `json:"experiment_id,omitempty" maxLength:"100"`
	Asked

	Name        string         `json:"name,omitempty" doc:"for people; other runs may have it too"`
	Notes       string         `json:"notes,omitempty" doc:"for people"`
	RunTags     []string       `json:"run_tags,omitempty" doc:"tags of the run, for people; tags chooses cases"`
	Interleave  bool           `json:"interleave,omitempty" doc:"the models of one provider are asked in turn for each case"`
	FailedFrom  string         `json:"failed_from,omitempty" maxLength:"100" doc:"a run: only the cases that did not pass there"`
	ForceRubric bool           `json:"force_rubric,omitempty" doc:"rubric cases run also of a target with other attempts that did not pass"`
	Slices      []string       `json:"slices,omitempty" maxItems:"20" nullable:"false" doc:"of the report: tag, tier or names of fields; * for all fields"`
	Judge       *app.RunJudges `json:"judge,omitempty"`

	UntilDecided   bool   `json:"until_decided,omitempty" doc:"asks cases in random order (seed), and ends when every gate is decided"`
	Gates          string `json:"gates,omitempty" maxLength:"1000000" doc:"with until_decided: a gate file, YAML or JSON; empty: the gates of the suite"`
	BaselineEvalID string `json:"baseline_eval_id,omitempty" maxLength:"100" doc:"with until_decided: the run that gates about a baseline compare with"`
	TargetVersion  string `json:"target_version,omitempty" maxLength:"200" doc:"identifies the version of the target, such as a commit, for gates that are looked at again"`
}

// Submitted is the answer to a request for a job.
type Submitted struct {
	JobID     string           `json:"job_id"`
	Status    string           `json:"status" doc:"submitted, or the state of a job that was there already"`
	ResultRef string           `json:"result_ref,omitempty" doc:"the id of the run"`
	Warnings  []callvet.Notice `json:"warnings,omitempty"`
}

type submittedOutput struct {
	Status int
	Body   Submitted
}

// submitted is the answer about a job that was queued, or that an earlier request with the same key queued.
func submitted(j *job.Job, isNew bool, warnings []callvet.Notice) *submittedOutput {
	out := &submittedOutput{Status: http.StatusOK, Body: Submitted{JobID: j.ID, Status: string(j.State), ResultRef: j.ResultRef}}
	if isNew {
		out.Status, out.Body.Status, out.Body.Warnings = http.StatusAccepted, "submitted", warnings
	}
	return out
}

// AddEval adds the route that runs a suite.
func AddEval(s *api.Server) {
	type input struct {
		Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same key returns the first job"`
		Body EvalRequest
	}
	op := api.Operations("jobs", "/api/tool-eval")
	api.Add(s, api.Returning(http.StatusAccepted, op("tool-eval", http.MethodPost, "", "Run a suite as a job")),
		api.Access{Role: account.Member, Scope: account.ScopeRun},
		func(ctx context.Context, by *account.Principal, in *input) (*submittedOutput, error) {
			return submitEval(ctx, s, by, &in.Body, in.Key)
		})
	api.Answer(s, op("estimate-eval", http.MethodPost, "/estimate",
		"What a run would ask, and what it would take; nothing is asked or kept"),
		api.Access{Role: account.Member, Scope: account.ScopeRun, Reads: true}, api.With(s, estimateEval))
	type cancelInput struct {
		Body struct {
			JobID string `json:"job_id" minLength:"1"`
		}
	}
	api.Answer(s, op("tool-eval-cancel", http.MethodPost, "/cancel", "Cancel a job"),
		api.Access{Role: account.Member, Scope: account.ScopeRun},
		func(ctx context.Context, by *account.Principal, in *cancelInput) (*job.Job, error) {
			if err := s.May(ctx, by, api.KindJob, in.Body.JobID, true); err != nil {
				return nil, err
			}
			return s.CancelJob(ctx, in.Body.JobID)
		})
}

// submitEval queues a job that runs a suite; the run is created at once. The user must be able to
// read every object that the request names.
func submitEval(ctx context.Context, s *api.Server, by *account.Principal, req *EvalRequest,
	key string,
) (*submittedOutput, error) {
	q, err := req.submission(ctx, s, by, key)
	if err != nil {
		return nil, err
	}
	return submitRun(ctx, s, by, q)
}

// estimateEval estimates the run of a request from runs that the user may read.
func estimateEval(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body EvalRequest },
) (*runs.DryRun, error) {
	q, err := in.Body.submission(ctx, s, by, "")
	if err != nil {
		return nil, err
	}
	if _, err := ready(ctx, s, by, q); err != nil {
		return nil, err
	}
	past, err := pastRuns(ctx, s, by)
	if err != nil {
		return nil, err
	}
	a, err := s.WithCatalogues(ctx, by.User, q.ask.Targets)
	if err != nil {
		return nil, err
	}
	var h api.Notices
	out, err := runs.PreviewFrom(ctx, a, *q.ask, past, h.Collect)
	if err != nil {
		return nil, cmp.Or(assets.BadGates(err), h.Explain(err))
	}
	out.Warnings = slices.Concat(q.notices, h.All(), out.Warnings)
	return out, nil
}

// pastRuns are the latest runs that by may read.
func pastRuns(ctx context.Context, s *api.Server, by *account.Principal) ([]string, error) {
	list, err := s.Config.Store.Rows().RunEntriesOf(ctx,
		rows.RunEntriesOfParams{
			UserID: by.User, Everything: by.Role == account.Admin, Before: math.MaxInt64,
			AtMost: estimatedFrom,
		})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	past := make([]string, len(list))
	for i := range list {
		past[i] = list[i].RunID
	}
	return past, nil
}

// estimatedFrom is how many of the latest runs an estimate reads.
const estimatedFrom = 50

// submission returns the run that the request of a user describes.
func (q *EvalRequest) submission(ctx context.Context, s *api.Server, by *account.Principal, key string,
) (*submission, error) {
	if q.Priority > 0 && by.Role != account.Admin {
		return nil, &callvet.FieldError{
			Field: "priority", Kind: callvet.ErrDenied,
			Text: "{priority} above 0 is for admins",
		}
	}
	ask, err := q.run()
	if err != nil {
		return nil, err
	}
	notices, err := q.useProfiles(ctx, s, by, ask.Targets)
	if err != nil {
		return nil, err
	}
	return &submission{
		notices: notices,
		suite:   q.SuiteID, experiment: q.ExperimentID, ask: ask, key: key, priority: q.Priority,
		timeout: time.Duration(q.Timeout) * time.Second,
	}, nil
}

// submission is a requested run of a user.
type submission struct {
	suite      string // its id; "" for the shipped drills
	drill      bool
	experiment string // its id; "" for none
	ask        *app.RunRequest
	key        string // idempotency key of the job; "" for none
	priority   int
	timeout    time.Duration
	notices    []callvet.Notice // of the request
}

// mayRun refuses a run that needs objects that by may not use.
func mayRun(ctx context.Context, s *api.Server, by *account.Principal, q *submission) error {
	if q.drill && q.suite == "" {
		return nil
	}
	if err := s.May(ctx, by, api.KindSuite, q.suite, false); err != nil {
		return err
	}
	named := []string{q.ask.FailedFrom}
	if u := q.ask.UntilDecided; u != nil {
		named = append(named, u.Baseline)
	}
	for _, id := range named {
		if id == "" {
			continue
		}
		if err := s.May(ctx, by, api.KindRun, id, false); err != nil {
			return err
		}
	}
	if q.experiment != "" {
		return assets.Linkable(ctx, s, by, q.experiment, q.suite)
	}
	return nil
}

// ready puts the current suite into the request, after the permission checks.
func ready(ctx context.Context, s *api.Server, by *account.Principal, q *submission) (library.Entry, error) {
	if err := mayRun(ctx, s, by, q); err != nil {
		return library.Entry{}, err
	}
	if q.drill && q.suite == "" {
		return library.Entry{Name: "drills"}, nil
	}
	entry, version, err := s.Library.Now(ctx, q.suite)
	if err != nil {
		return entry, err
	}
	q.ask.Suite, q.ask.Text, q.ask.Format = entry.Name, version.Document.Bytes(), version.Document.Form
	return entry, giveEmbedder(ctx, s, by.User, q.ask)
}

// giveEmbedder sets the server's embedding model if the run names none and its suite has a case in
// mode semantic. An unreadable suite is refused later.
func giveEmbedder(ctx context.Context, s *api.Server, user string, ask *app.RunRequest) error {
	models, err := s.Models(ctx)
	if err != nil || models.Embedder == "" || ask.Embedder != "" || !bytes.Contains(ask.Text, []byte("semantic")) {
		return err
	}
	a, err := s.AppOf(ctx, user)
	if err != nil {
		return err
	}
	_, problems, err := assets.LintSuite(ctx, a, ask.Text, ask.Format, cmp.Or(s.Config.ReadFor, assets.DefaultReadFor))
	if slices.ContainsFunc(problems, api.NoEmbedder) && err == nil {
		ask.Embedder = models.Embedder
	}
	return nil
}

// ownTargets refuses targets of another user that set an address or a key variable: the keys of by
// would be sent there. A provider's model at its usual address is allowed to all users. known are
// targets that by wrote or accepted before.
func ownTargets(by *account.Principal, wrote string, targets, known []app.TargetSpec) error {
	if by.User == wrote {
		return nil
	}
	for i := range targets {
		t := &targets[i]
		if !t.Directed() || slices.ContainsFunc(known, func(k app.TargetSpec) bool { return t.SameDirection(&k) }) {
			continue
		}
		return &callvet.Hinted{
			Err: fmt.Errorf(
				"run %s: %w: another user wrote where its requests go and which key they carry, and the keys of %s are not sent there",
				t.Target, callvet.ErrDenied, by.Name),
			Hint: "look at its address, then ask for it yourself (POST /api/tool-eval)",
		}
	}
	return nil
}

// everyTarget returns all targets that a run asks, including judges and embedding models.
func everyTarget(q *app.RunRequest) []app.TargetSpec {
	all := slices.Concat(q.Targets, runs.JudgeTargets(q.Judges))
	if q.Embedder != "" {
		all = append(all, app.TargetSpec{Target: q.Embedder})
	}
	return all
}

// submitRun queues a job that runs the current suite.
func submitRun(ctx context.Context, s *api.Server, by *account.Principal, q *submission) (*submittedOutput, error) {
	entry, err := ready(ctx, s, by, q)
	if err != nil {
		return nil, err
	}
	if err := s.Config.Quota.RoomForAttempts(ctx, s.Config.Store.Rows(), by.User); err != nil {
		return nil, err
	}
	var made *startedRun
	got, isNew, err := s.Jobs.Submit(ctx, job.Request{
		User: by.User, Kind: KindToolEval, Priority: q.priority, Key: q.key, Timeout: q.timeout,
		Prepare: func(ctx context.Context, _ string) (p job.Prepared, err error) {
			if made, err = startRun(ctx, s, by.User, q.ask, q.drill); err != nil {
				return p, err
			}
			made.warnings = slices.Concat(q.notices, made.warnings)
			p.ResultRef, p.Total = made.run, int64(made.total)
			if p.Request, err = json.Marshal(evalJob{Suite: entry.Name, Experiment: q.experiment}); err != nil {
				return p, err
			}
			p.Also = func(ctx context.Context, rq *rows.Queries, id string) error {
				targets, keys := api.Used(everyTarget(q.ask))
				if err := s.Started(ctx, rq, by, "run.start", made.run, targets, keys); err != nil {
					return err
				}
				return rq.AddRunEntry(ctx, rows.AddRunEntryParams{
					RunID: made.run, UserID: by.User, SuiteID: q.suite, SuiteVersion: entry.Version,
					ExperimentID: q.experiment, JobID: id, Created: s.Config.Now().UnixMilli(),
				})
			}
			for _, w := range made.warnings {
				p.News = append(p.News, warningNews(w))
			}
			return p, nil
		},
	})
	if err != nil {
		if made != nil { // the job was cancelled meanwhile, or could not be stored
			err = errors.Join(err, s.Config.Store.DeleteRun(context.WithoutCancel(ctx), made.run, nil, nil))
		}
		return nil, err
	}
	if !isNew {
		return submitted(&got, false, nil), nil
	}
	return submitted(&got, true, made.warnings), nil
}

// evalJob is the stored request of a job of KindToolEval; the run stores the rest.
type evalJob struct {
	Suite      string `json:"about"` // its name
	Experiment string `json:"experiment,omitempty"`
	// Changes are settings of a run that is resumed.
	Changes app.Changes `json:"changes,omitzero"`
}

// startedRun is a run that was created and has not begun.
type startedRun struct {
	run      string
	total    int
	warnings []callvet.Notice
}

// startRun creates the run of a request, or of drills.
func startRun(ctx context.Context, s *api.Server, user string, ask *app.RunRequest, drill bool) (*startedRun, error) {
	a, err := s.WithCatalogues(ctx, user, ask.Targets)
	if err != nil {
		return nil, err
	}
	var h api.Notices
	ask.Owned = true
	start := runs.Start
	if drill {
		start = func(ctx context.Context, a *app.App, ask app.RunRequest, tell app.Events) (*runs.Session, error) {
			return runs.StartDrill(ctx, a, runs.DrillRequest{RunRequest: ask}, tell)
		}
	}
	session, err := start(ctx, a, *ask, h.Collect)
	if err != nil {
		return nil, cmp.Or(assets.BadGates(err), h.Explain(err))
	}
	out := &startedRun{warnings: h.All()}
	out.run = session.Stored.ID
	out.total = session.Size()
	w, err := runs.Unwinnable(session.Run)
	if w != nil {
		out.warnings = append(out.warnings, *w)
	}
	return out, errors.Join(err, session.Close())
}

// run is the request in the form of internal/app.
func (q *EvalRequest) run() (*app.RunRequest, error) {
	specs, err := q.specs()
	if err != nil {
		return nil, err
	}
	ask := &app.RunRequest{
		Words:   store.Words{Name: q.Name, Notes: q.Notes, Tags: slices.Clone(q.RunTags)},
		Targets: specs, Repeats: q.Repeats, Seed: q.Seed, Sample: q.Sample, Filter: slices.Clone(q.Filter),
		NoCache: q.NoCache, Judges: q.Judge,
		FailedFrom: q.FailedFrom, RealLatency: q.RealLatency, Slices: slices.Clone(q.Slices),
		Keep: slices.Clone(q.Keep),
		Settings: app.Settings{
			Retries: q.Retries, Interleave: q.Interleave, ForceRubric: q.ForceRubric,
			MaxCostUSD: q.MaxCostUSD, MaxCalls: q.MaxCalls, Concurrency: q.Concurrency, Rate: q.Rate,
			TimeoutMS: q.RequestTimeoutMS,
		},
	}
	switch {
	case q.UntilDecided:
		ask.UntilDecided = &app.UntilRequest{Baseline: q.BaselineEvalID}
		if q.Gates != "" {
			ask.UntilDecided.Text = []byte(q.Gates)
		}
	case q.Gates+q.BaselineEvalID != "":
		return nil, app.Refused("until_decided", "gates and baseline_eval_id belong to {until_decided}")
	}
	ask.Embedder = q.Embedder
	if len(q.Tags) > 0 {
		tags := make([]string, len(q.Tags))
		for i, t := range q.Tags {
			if strings.ContainsAny(t, ",!") || strings.TrimSpace(t) == "" {
				return nil, &callvet.FieldError{
					Field: "tags",
					Text:  fmt.Sprintf("{tags} %q: a tag has neither a comma nor a !, and is not empty", t),
				}
			}
			tags[i] = "tag:" + t
		}
		ask.Filter = append(ask.Filter, strings.Join(tags, ","))
	}
	return ask, nil
}

// specs are the targets, each with the settings for all of them.
func (q *EvalRequest) specs() ([]app.TargetSpec, error) {
	if len(q.Models)+len(q.Targets) == 0 {
		return nil, &callvet.FieldError{
			Field: "models",
			Text:  "{models}: name at least one model, such as openai/gpt-5-mini",
		}
	}
	params, err := api.ParamsOf(q.ProviderParams, q.Temperature, q.Seed)
	if err != nil {
		return nil, err
	}
	zero := 0.0
	var specs []app.TargetSpec
	keys := map[string][]int{} // by provider_key::model_id
	put := func(provider, model string, spec app.TargetSpec) {
		spec.Params, spec.ToolChoice, spec.DefaultTemperature, spec.Stream = params, q.ToolChoice, &zero, q.Stream
		spec.TargetVersion = q.TargetVersion
		key := provider + "::" + model
		keys[key] = append(keys[key], len(specs))
		specs = append(specs, spec)
	}
	for _, m := range q.Models {
		if spec := (app.TargetSpec{Target: m}); spec.Catalogue() != "" {
			put("retrieve", spec.Catalogue(), spec)
			continue
		}
		provider, model, ok := strings.Cut(m, "/")
		if !ok || provider == "" || model == "" {
			return nil, &callvet.FieldError{
				Field: "models",
				Text: fmt.Sprintf(
					"{models} %q: write provider/model, such as openai/gpt-5-mini, or retrieve:CATALOGUE_ID", m),
			}
		}
		put(provider, model, app.TargetSpec{Target: m})
	}
	for _, t := range q.Targets {
		put(t.ProviderKey, t.ModelID,
			app.TargetSpec{
				Target: t.ProviderKey + "/" + t.ModelID, Name: t.Name, BaseURL: t.BaseURL,
				APIKeyEnv: t.APIKeyEnv,
			})
	}
	if err := q.prompt(specs, keys); err != nil {
		return nil, err
	}
	for i := range q.Targets {
		t, spec := &q.Targets[i], &specs[len(q.Models)+i]
		spec.Params, spec.ToolChoice = t.Params.Over(spec.Params), cmp.Or(t.ToolChoice, spec.ToolChoice)
		if t.SystemPrompt != "" {
			spec.SystemPrompt, spec.ReplaceSystem = t.SystemPrompt, &t.ReplaceSystem
		}
	}
	return specs, nil
}

// globalPrompt is the key of the prompt for targets without their own prompt.
const globalPrompt = "_global"

// prompt sets the system prompts of the targets. keys are the positions of targets by
// provider_key::model_id.
func (q *EvalRequest) prompt(specs []app.TargetSpec, keys map[string][]int) error {
	each := map[string]string{}
	switch prompt := q.SystemPrompt.(type) {
	case nil:
	case string:
		each[globalPrompt] = prompt
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(prompt)) {
			text, ok := prompt[key].(string)
			if !ok {
				return &callvet.FieldError{
					Field: "system_prompt",
					Text:  fmt.Sprintf("{system_prompt} %s: it is a text", key),
				}
			}
			if key != globalPrompt && keys[key] == nil {
				return &callvet.FieldError{
					Field: "system_prompt",
					Text: fmt.Sprintf(
						"{system_prompt} %s: no target of that name is asked; they are %s, or %s for all others", key,
						strings.Join(slices.Sorted(maps.Keys(keys)), ", "), globalPrompt),
				}
			}
			each[key] = text
		}
	default:
		return &callvet.FieldError{
			Field: "system_prompt",
			Text:  "{system_prompt}: it is a text, or an object of texts by provider_key::model_id",
		}
	}
	for key, positions := range keys {
		text, own := each[key]
		if !own {
			text = each[globalPrompt]
		}
		if text == "" {
			continue
		}
		for _, i := range positions {
			specs[i].SystemPrompt, specs[i].ReplaceSystem = text, &q.ReplaceSystem
		}
	}
	return nil
}
