// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
)

// TestAuthorization walks every route of the server as each kind of user who may not use it, and
// then as one who may. A route without an entry fails it, and so does a field that names an object
// and is not tried with an id of another user. To add a route, add an entry:
//
//   - Nothing but the operation's id, where the path names objects alone (Access.Objects).
//   - params: parameters of the path that name no object of a user, such as a variable.
//   - body, query: those of a good request. {suite}, {traces}, {run}, {job}, {experiment}, {schedule},
//     {catalogue}, {gate}, {prompt} and {token} are replaced by ids, {run2} by another one. They are ids of the
//     user who asks, and once each of another user: that request must be refused.
//   - unowned: fields that are named like ids and are none of a user's objects, with the reason.
//   - makers: where a row alone is not enough for the route to answer well, make the real thing there.
func entries() map[string]entry {
	const own = "one's own profiles alone: TestProfiles tries those of others"
	modelID := map[string]string{"model_id": "names a model of a provider", "profile_id": own}
	candidate := map[string]string{"candidate": "its number in a search"}
	ofCase := map[string]string{"id": "of a case in the suite"}
	return map[string]entry{
		"health": {}, "ready": {}, "metrics": {},

		"login":  {body: `{"name":"ana","password":"{password}"}`, prepare: withPassword},
		"claim":  {body: `{"link":"{link}","password":"a password for ana"}`, prepare: withLink},
		"logout": {},
		"me":     {},
		"quota":  {},
		// users log in here
		"open-view": {
			body: `{"token":"x"}`, gives: http.StatusNotFound,
			unowned: map[string]string{"token": "is the secret of a link"},
		},
		"change-password": {body: `{"before":"{password}","password":"another one for ana"}`, prepare: withPassword},
		"list-tokens":     {},
		"create-token":    {body: `{"name":"ci","scopes":["read"]}`},
		"revoke-token":    {},

		"list-users":  {},
		"create-user": {body: `{"name":"new","role":"viewer"}`, unowned: map[string]string{"max_jobs": "a number"}},
		"get-user":    {params: map[string]string{"id": "user_ana"}},
		"change-user": {
			params: map[string]string{"id": "user_ana"}, body: `{"max_jobs":3}`,
			unowned: map[string]string{"max_jobs": "a number"},
		},
		"remove-user": {params: map[string]string{"id": "user_ana"}},
		"link-user":   {params: map[string]string{"id": "user_ana"}},
		"resume-job":  {gives: http.StatusConflict}, // it did not fail
		"list-logins": {params: map[string]string{"id": "user_ana"}},
		"end-logins":  {params: map[string]string{"id": "user_ana"}},
		"list-audit": {
			query:   "user_id=user_ana",
			unowned: map[string]string{"user_id": "admins choose lines by user"},
		},

		"get-settings":    {},
		"change-settings": {body: `{"private_addresses":false,"private_hosts":[],"server_keys":true}`},

		"list-suites":             {},
		"create-suite":            {body: `{"name":"x"}`, unowned: ofCase},
		"get-suite":               {},
		"update-suite":            {body: `{"description":"x"}`, unowned: ofCase},
		"patch-suite":             {body: `{"description":"x"}`, unowned: ofCase},
		"put-suite-source":        {body: weatherSuite},
		"delete-suite":            {},
		"restore-suite":           {},
		"list-suite-versions":     {},
		"get-suite-version":       {params: map[string]string{"version": "1"}},
		"diff-suite-versions":     {params: map[string]string{"version": "1"}},
		"return-to-suite-version": {params: map[string]string{"version": "1"}},
		"export-suite":            {},
		"list-test-cases":         {},
		"create-test-cases":       {body: `{"prompt":"Rain in Oslo?","expected_tool":"get_weather"}`},
		"get-test-case":           {params: map[string]string{"cid": "case-1"}},
		"update-test-case": {
			params: map[string]string{"cid": "case-1"},
			body:   `{"prompt":"Rain in Oslo?","expected_tool":"get_weather"}`, unowned: ofCase,
		},
		"delete-test-case": {params: map[string]string{"cid": "case-1"}},

		"import-suite":     {body: weatherSuite},
		"import-example":   {},
		"list-suite-forms": {},
		"get-schema":       {params: map[string]string{"name": "suite"}},
		"lint":             {body: `{"text":"callvet: 1"}`},
		// an address that no admin allowed
		"discover-mcp":     {body: `{"url":"http://127.0.0.1:1/"}`, gives: http.StatusBadGateway},
		"import-mcp":       {body: `{"url":"http://127.0.0.1:1/"}`, gives: http.StatusBadGateway},
		"list-catalogues":  {},
		"create-catalogue": {body: searched},
		"get-catalogue":    {},
		"update-catalogue": {body: searched},
		"delete-catalogue": {},

		"list-catalogue-tools": {},

		"select-one": {
			body: `{"query":"weather","catalogue_id":"{kept}"}`, prepare: withCatalogue,
			unowned: map[string]string{"catalogue_id": "admins search all"},
		},
		"select-run": {
			body: questions, query: "catalogue_id={kept}", prepare: withCatalogue,
			unowned: map[string]string{"catalogue_id": "admins search all"},
		},
		"invalidate-cache": {},

		"list-select-runs": {query: "catalogue_id=x", unowned: map[string]string{"catalogue_id": "admins search all"}},
		"get-select-run":   {params: map[string]string{"id": "{kept}"}, prepare: withSelectRun},
		"export-failed":    {params: map[string]string{"id": "{kept}"}, prepare: withSelectRun},
		"select-sweep": {
			body: `{"suite":"{questions}","catalogue_id":"{kept}"}`, prepare: withQuestions,
			unowned: searchedByAdmins(),
		},
		"select-tune": {
			body: `{"folds":2,"suite":"{tunable}","catalogue_id":"{kept}"}`, prepare: withQuestions,
			unowned: searchedByAdmins(),
		},
		"select-whatif": {body: `{"suite":"{questions}","catalogue_id":"{kept}","edits":"edits: [{tool: weather_now, keywords: [sun]}]"}`, prepare: withQuestions, unowned: searchedByAdmins()},
		"select-suggest": {
			body:    `{"suite":"{questions}","catalogue_id":"{kept}","tools":["traffic_incidents"]}`,
			prepare: withQuestions, unowned: searchedByAdmins(),
		},
		"compare-decisions": {body: `{"production":"[{\"query\": \"weather\", \"tools\": [\"weather_now\"]}]","catalogue_id":"{kept}"}`, prepare: withCatalogue, unowned: searchedByAdmins()},
		"get-decisions":     {params: map[string]string{"id": "{kept}"}, prepare: withDecisions},
		"select-apply":      {body: `{"catalogue_id":"{kept}","edits":"edits: [{tool: weather_now, status: accepted, keywords: [sun]}]"}`, prepare: withCatalogue, unowned: searchedByAdmins()},

		"list-history": {
			query:   "suite_id=suite_1&experiment_id=x",
			unowned: map[string]string{"suite": filters, "suite_id": filters, "experiment_id": filters},
		},
		"get-history":    {},
		"delete-history": {},
		"get-run":        {},
		"get-run-change": {},
		"resume-run":     {gives: http.StatusConflict}, // it lost nothing
		"rerun-failed":   {gives: http.StatusConflict}, // its suite is not in the library
		"patch-run":      {body: `{"shared":true,"experiment_id":"{experiment}"}`},
		"list-cells":     {},
		"get-grid":       {query: "disagree=false&search=a"},
		"get-case":       {query: "case=paris-now"},
		"get-case-text":  {query: "case=paris-now"},
		"add-run-case":   {body: `{"case":"paris-now","suite_id":"{suite}"}`, gives: http.StatusConflict},
		"export-run":     {query: "format=csv"},
		"get-badge":      {},
		"gate-run":       {body: `{"gate_id":"{gate}","baseline_eval_id":"{run2}"}`},
		"lint-gates":     {body: `{"text":"gates: [{metric: pass_rate, at_least: 0.1}]"}`},
		"gate-templates": {},
		"gate-metrics":   {},
		"list-gates":     {},
		"create-gates":   {body: `{"name":"release","text":"gates: [{metric: pass_rate, at_least: 0.1}]"}`},
		"get-gates":      {},
		"update-gates":   {body: `{"name":"release"}`},
		"delete-gates":   {},
		"gate-history":   {},
		"diff-runs":      {query: "base={run}&candidate={run2}"},

		// no case names its safety
		"run-drills": {
			body:  `{"suite_id":"{suite}","models":["offline/lexical"]}`,
			gives: http.StatusUnprocessableEntity, unowned: modelID,
		},
		// a run, and none of drills
		"drill-result":      {gives: http.StatusUnprocessableEntity},
		"list-incidents":    {},
		"list-recordings":   {},
		"export-recordings": {},

		"upload-traces": {body: sampleTraces},
		"list-traces":   {},
		"get-traces":    {},
		"patch-traces":  {body: `{"shared":true}`},
		"delete-traces": {},
		"list-attempts": {},
		"export-traces": {},
		"score": {
			body:    `{"traces_id":"{traces}","suite_id":"{suite}"}`,
			unowned: map[string]string{"eval_id": "as of score-report"},
		},
		"score-report": {
			body:    `{"eval_id":"{run}"}`,
			unowned: map[string]string{"traces_id": "as of score", "suite_id": "as of score"},
		},
		"gate-traces": {body: `{"gates":"gates: [{metric: calls, at_least: 0}]","baseline_traces_id":"{traces}","suite_id":"{suite}"}`, unowned: map[string]string{"baseline_eval_id": "as of diff-traces"}, gives: http.StatusUnprocessableEntity},
		"diff-traces": {
			query:   "baseline_eval_id={run}",
			unowned: map[string]string{"baseline_traces_id": "as of gate-traces"},
		},
		"otlp-traces": {body: `{}`},
		"otlp-logs":   {body: `{}`},

		"label-next-run":    {},
		"label-run":         {body: `{"task_id":"paris-now","pass":true}`},
		"export-labels-run": {},
		"unlabel-run": {
			query: "task_id=paris-now",
			unowned: map[string]string{
				"task_id": "names a task of what is labelled",
				"call_id": "names a call of what is labelled",
			},
		},
		// no label, and no judge
		"calibrate-run":        {body: `{"judge":"j"}`, gives: http.StatusUnprocessableEntity},
		"label-next-traces":    {},
		"label-traces":         {body: `{"task_id":"t1","pass":true}`},
		"export-labels-traces": {},
		"unlabel-traces": {
			query: "task_id=t1",
			unowned: map[string]string{
				"task_id": "names a task of what is labelled",
				"call_id": "names a call of what is labelled",
			},
		},
		"calibrate-traces": {body: `{"judge":"j"}`, gives: http.StatusUnprocessableEntity},

		"draw-gold-run":  {},
		"check-gold-run": {query: "tools=true", body: `{"callvet_gold":1,"tasks":[]}`},
		// nothing is filled in
		"apply-gold-run":    {body: `{"callvet_gold":1,"tasks":[]}`, gives: http.StatusUnprocessableEntity},
		"draw-gold-traces":  {},
		"check-gold-traces": {query: "tools=true", body: `{"callvet_gold":1,"tasks":[]}`},
		"apply-gold-traces": {body: `{"callvet_gold":1,"tasks":[]}`, gives: http.StatusUnprocessableEntity},

		"list-judges": {},
		"judge-run": {
			body:    `{"judge":["compare"],"judge_model":["openai/m1"],"against_eval_id":"{run2}"}`,
			prepare: withModelKey, unowned: map[string]string{"model_id": "names a model of a provider"},
		},
		"list-judgings": {},
		"show-judgings": {},

		"list-experiments": {},
		// a run of another suite
		"create-experiment": {
			body:  `{"name":"x","suite_id":"{suite}","baseline_eval_id":"{run}"}`,
			gives: http.StatusUnprocessableEntity,
		},
		"list-param-presets":  {},
		"keep-param-preset":   {body: `{"name":"mine","search_space":{"params":{"temperature":[0,1]}}}`},
		"delete-param-preset": {params: map[string]string{"name": "mine"}, gives: http.StatusNotFound},

		"list-profiles":  {query: "model=openai/m1"},
		"keep-profile":   {body: `{"name":"x","model":"openai/m1","prompt_id":"{prompt}"}`},
		"delete-profile": {params: map[string]string{"id": "profile_x"}, gives: http.StatusNotFound},

		"list-prompts":  {},
		"create-prompt": {body: `{"name":"guide","text":"Be brief.","parent_prompt_id":"{prompt}"}`},
		"get-prompt":    {},
		"delete-prompt": {},

		"get-experiment":    {},
		"update-experiment": {body: `{"name":"y"}`},
		"delete-experiment": {},
		"pin-baseline":      {body: `{"eval_id":"{run}"}`},
		"get-timeline":      {},
		"get-leaderboard":   {query: "suite_id={suite}"},
		"test-target": {
			body:    `{"provider_key":"offline","model_id":"lexical"}`,
			unowned: map[string]string{"model_id": "names a model of a provider"},
		},
		"get-trend": {query: "config_hash=x"},
		"run-best":  {gives: http.StatusConflict}, // nothing has a score yet

		"list-keys":    {},
		"set-key":      {params: map[string]string{"variable": "HF_TOKEN"}, body: `{"value":"hf-0123456789abcdef"}`},
		"delete-key":   {params: map[string]string{"variable": "HF_TOKEN"}, prepare: withKey},
		"list-targets": {},

		// an experiment about another suite
		"tool-eval": {
			body:    untilDecided,
			gives:   http.StatusUnprocessableEntity,
			unowned: modelID,
		},
		// as of tool-eval
		"estimate-eval": {
			body:    untilDecided,
			gives:   http.StatusUnprocessableEntity,
			unowned: modelID,
		},
		"tool-eval-cancel": {body: `{"job_id":"{job}"}`},
		// the experiment is about another suite
		"param-tune":          {body: searchedParams, gives: http.StatusUnprocessableEntity, unowned: modelID},
		"estimate-param-tune": {body: searchedParams, gives: http.StatusUnprocessableEntity, unowned: modelID},
		"cancel-param-tune":   {body: `{"job_id":"{job}"}`},
		"resume-param-tune":   {gives: http.StatusConflict},
		"list-param-tunes":    {},
		"get-param-tune":      {},
		"delete-param-tune":   {},
		// the search has no model
		"apply-param-tune":     {body: `{"suite_id":"{suite}"}`, gives: http.StatusUnprocessableEntity, unowned: candidate},
		"apply-prompt-tune":    {body: `{"suite_id":"{suite}"}`, gives: http.StatusUnprocessableEntity, unowned: candidate},
		"prompt-tune":          {body: searchedPrompt, gives: http.StatusUnprocessableEntity, unowned: modelID},
		"estimate-prompt-tune": {body: searchedPrompt, gives: http.StatusUnprocessableEntity, unowned: modelID},
		"cancel-prompt-tune":   {body: `{"job_id":"{job}"}`},
		"resume-prompt-tune":   {gives: http.StatusConflict},
		"list-prompt-tunes":    {},
		"get-prompt-tune":      {},
		"delete-prompt-tune":   {},

		"list-schedules": {},
		"schedule-times": {query: "cron=0+3+*+*+*"},
		// the experiment and the baseline are of other suites
		"create-schedule":  {body: scheduled, gives: http.StatusUnprocessableEntity, unowned: modelID},
		"get-schedule":     {},
		"update-schedule":  {body: scheduled, gives: http.StatusUnprocessableEntity, unowned: modelID},
		"delete-schedule":  {},
		"run-schedule":     {},
		"schedule-history": {},
		"test-webhook":     {gives: http.StatusConflict}, // there is none

		"list-jobs": {
			query:   "user_id=",
			unowned: map[string]string{"user_id": "the jobs of others are for admins, which TestEval tries"},
		},
		"get-job":         {},
		"list-job-events": {},
		"cancel-job":      {},
		"ws-ticket":       {},
		"list-events":     {query: "since=0"},
		"stream-events":   {query: "since=x", gives: http.StatusUnprocessableEntity}, // a good one does not end
	}
}

// untilDecided is a run that names all the objects that a run may name.
const untilDecided = `{"suite_id":"{suite}","experiment_id":"{experiment}","models":["offline/lexical"],"until_decided":true,"gates":"- {metric: pass_rate, baseline: true}","baseline_eval_id":"{run}"}`

const (
	searchedParams = `{"suite_id":"{suite}","experiment_id":"{experiment}","models":["offline/lexical"],"search_space":{"temperature":[0,1]}}`
	searchedPrompt = `{"suite_id":"{suite}","experiment_id":"{experiment}","models":["offline/lexical"],"meta_model":"openai/m"}`
)

// scheduled names all that a schedule may name.
const scheduled = `{"name":"nightly","eval":{"suite_id":"{suite}","experiment_id":"{experiment}","models":["offline/lexical"]},"on":["catalogue_changed"],"catalogue_id":"{catalogue}","baseline_eval_id":"{run}"}`

// filters is the reason why an id needs no check: it selects among objects that the user sees
// anyway.
const filters = "chooses among the user's own"

// entry is how a good request of a route is made.
type entry struct {
	params  map[string]string
	query   string
	body    string
	unowned map[string]string
	// gives is the status of a good request; 0: one of 200 to 299.
	gives int
	// prepare makes the further preconditions of the request, for the user (ana, root) who sends
	// it, and returns the values of further words in braces.
	prepare func(t *testing.T, s *site, user string) map[string]string
}

// makers make objects of a user, for requests that need more than a row. The others have a row.
func makers() map[api.Kind]func(t *testing.T, s *site, user string, shared bool) string {
	return map[api.Kind]func(t *testing.T, s *site, user string, shared bool) string{
		api.KindDeletedSuite: func(t *testing.T, s *site, user string, _ bool) string {
			as := strings.TrimPrefix(user, "user_")
			made := give[suiteAnswer](t, s, as, "POST", suites, weatherSuite)
			give[any](t, s, as, "DELETE", suites+"/"+made.ID, "")
			return made.ID
		},
		api.KindCatalogue: func(t *testing.T, s *site, user string, shared bool) string {
			return give[suiteAnswer](t, s, strings.TrimPrefix(user, "user_"), "POST",
				fmt.Sprintf("/api/catalogues?shared=%v", shared), searched).ID
		},
		api.KindPrompt: func(t *testing.T, s *site, user string, shared bool) string {
			s.made++
			return give[struct{ ID string }](t, s, strings.TrimPrefix(user, "user_"), "POST", "/api/prompts",
				fmt.Sprintf(`{"name":"prompt %d","text":"Be brief.","shared":%v}`, s.made, shared)).ID
		},
		api.KindGate: func(t *testing.T, s *site, user string, shared bool) string {
			return give[struct{ ID string }](t, s, strings.TrimPrefix(user, "user_"), "POST", "/api/gates",
				fmt.Sprintf(`{"name":"release","text":"gates: [{metric: pass_rate, at_least: 0.1}]","shared":%v}`,
					shared)).ID
		},
		api.KindSuite: func(t *testing.T, s *site, user string, shared bool) string {
			as := strings.TrimPrefix(user, "user_")
			made := give[suiteAnswer](t, s, as, "POST", suites, weatherSuite)
			give[suiteAnswer](t, s, as, "PATCH", suites+"/"+made.ID,
				fmt.Sprintf(`{"shared":%v,"system_prompt":"Be brief."}`, shared))
			return made.ID
		},
		api.KindTraces: func(t *testing.T, s *site, user string, shared bool) string {
			s.made++
			made := give[struct{ ID string }](t, s, strings.TrimPrefix(user, "user_"), "POST",
				fmt.Sprintf("/api/traces?collection=c%d", s.made), sampleTraces)
			if shared {
				if code, text := s.ask(t, strings.TrimPrefix(user, "user_"), "PATCH", "/api/traces/"+made.ID,
					`{"shared":true}`); code != 204 {
					t.Fatal(code, text)
				}
			}
			return made.ID
		},
		api.KindTune: func(t *testing.T, s *site, user string, _ bool) string {
			s.made++
			id := fmt.Sprintf("tune_%d", s.made)
			err := s.db.Change(t.Context(), "keep search", func(q *rows.Queries) error {
				return q.AddTune(t.Context(), rows.AddTuneParams{
					ID: id, UserID: user, Suite: "x", Kind: "param_tune", State: "done", Created: 1,
					Content: fmt.Appendf(nil, `{"id":%q,"kind":"param_tune","status":"done","suite_name":"x","models":[],"runs":[]}`, id),
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			return id
		},
		api.KindSchedule: func(t *testing.T, s *site, user string, _ bool) string {
			as := strings.TrimPrefix(user, "user_")
			made := give[suiteAnswer](t, s, as, "POST", suites, weatherSuite)
			return give[server.Schedule](t, s, as, "POST", "/api/schedules",
				fmt.Sprintf(`{"name":"nightly","eval":{"suite_id":%q,"models":["offline/lexical"]},"cron":"0 3 * * *"}`,
					made.ID)).ID
		},
		api.KindRun: func(t *testing.T, s *site, user string, shared bool) string {
			id := s.ran(t, strings.TrimPrefix(user, "user_"), "", 1)
			if _, err := s.db.Handle().ExecContext(t.Context(), "UPDATE run_entries SET shared = $1 WHERE run_id = $2",
				shared, id); err != nil {
				t.Fatal(err)
			}
			return id
		},
	}
}

// object makes an object that belongs to a user.
func (s *site) object(t *testing.T, kind api.Kind, user string, shared bool) string {
	t.Helper()
	if m := makers()[kind]; m != nil {
		return m(t, s, user, shared)
	}
	s.made++
	id := fmt.Sprintf("%s_%s%d", kind, strings.TrimPrefix(user, "user_"), s.made)
	text := map[api.Kind]string{
		api.KindRun:        "INSERT INTO run_entries(run_id, user_id, shared, suite_id, suite_version, experiment_id, job_id, created) VALUES ($1, $2, $3, '', 0, '', '', 1)",
		api.KindExperiment: "INSERT INTO experiments(id, user_id, shared, name, description, suite_id, baseline, baseline_target, state, created, updated, deleted) VALUES ($1, $2, $3, 'x', x'', 'suite_1', '', '', 'active', 1, 1, 0)",
		api.KindJob:        "INSERT INTO jobs(id, user_id, kind, state, priority, place, request, result_ref, done, total, eta, detail, error, attempt, timeout, ran, idle, reached, note, created, queued, started, finished, cancel, idempotency) SELECT $1, $2, 'x', 'done', 0, coalesce(max(place), 0) + 1, x'7b7d', '', 0, 0, 0, x'7b7d', x'', 0, 0, 0, 0, 0, x'', 1, 1, 1, 1, $3, '' FROM jobs",
		api.KindToken:      "INSERT INTO tokens(id, user_id, revoked, hash, name, scopes, created, expires, used) VALUES ($1, $2, $3, randomblob(32), 'x', 'read', 1, 9000000000000, 0)",
	}[kind]
	if text == "" {
		t.Fatalf("objects of kind %s: write here how a row of one is made", kind)
	}
	if _, err := s.db.Handle().ExecContext(t.Context(), text, id, user, shared); err != nil {
		t.Fatal(err)
	}
	return id
}

// knowsShared are the kinds that can be shared.
func knowsShared(k api.Kind) bool {
	return k == api.KindSuite || k == api.KindCatalogue || k == api.KindRun || k == api.KindExperiment ||
		k == api.KindTraces || k == api.KindGate || k == api.KindPrompt
}

func withKey(t *testing.T, s *site, user string) map[string]string {
	t.Helper()
	if _, err := s.users.SetProviderKey(t.Context(), people()[user], "HF_TOKEN",
		account.Kept{Value: "hf-0123456789abcdef", Hosts: []string{"router.huggingface.co"}}); err != nil {
		t.Fatal(err)
	}
	return nil
}

func withModelKey(t *testing.T, s *site, user string) map[string]string {
	t.Helper()
	if _, err := s.users.SetProviderKey(t.Context(), people()[user], "OPENAI_API_KEY",
		account.Kept{Value: "sk-0123456789abcdef", Hosts: []string{"api.openai.com"}}); err != nil {
		t.Fatal(err)
	}
	return nil
}

func withCatalogue(t *testing.T, s *site, user string) map[string]string {
	t.Helper()
	return map[string]string{"kept": give[suiteAnswer](t, s, user, "POST", "/api/catalogues", searched).ID}
}

func withDecisions(t *testing.T, s *site, user string) map[string]string {
	t.Helper()
	kept := withCatalogue(t, s, user)["kept"]
	return map[string]string{"kept": give[struct{ ID string }](t, s, user, "POST", lab+"/decisions",
		`{"production":"[{\"query\": \"weather\", \"tools\": [\"weather_now\"]}]","catalogue_id":"`+kept+`"}`).ID}
}

func withSelectRun(t *testing.T, s *site, _ string) map[string]string {
	t.Helper()
	_, rep := selected(t, s)
	return map[string]string{"kept": rep.RunID}
}

// withQuestions keeps a catalogue, and has questions as a text in a body.
func withQuestions(t *testing.T, s *site, user string) map[string]string {
	t.Helper()
	words := withCatalogue(t, s, user)
	words["questions"], words["tunable"] = strings.Trim(quoted(t, questions), `"`),
		strings.Trim(quoted(t, tunable), `"`)
	return words
}

func searchedByAdmins() map[string]string {
	return map[string]string{
		"catalogue_id": "admins search all", "suite_id": "admins read all", "suite": "a text",
		"base": "models", "traces_id": "admins read all", "eval_id": "admins read all", "run_id": "admins read all",
		"experiment_id": "admins change all",
	}
}

func withLink(t *testing.T, s *site, _ string) map[string]string {
	t.Helper()
	link, err := s.users.Relink(t.Context(), people()["root"], "user_ana")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"link": link}
}

func withPassword(t *testing.T, s *site, user string) map[string]string {
	t.Helper()
	const password = "a password of mine"
	link, err := s.users.Relink(t.Context(), people()["root"], "user_"+user)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.users.Claim(t.Context(), link, "", password, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"password": password}
}

// login is how a request is sent: with a token, or with the cookie of a session.
type login struct{ token, cookie string }

// grant makes a token of a user with scopes, which is good for a while from now.
func (s *site) grant(t *testing.T, user string, scopes []account.Scope, good time.Duration) login {
	t.Helper()
	s.made++
	secret := fmt.Sprintf("%sgranted%d", account.TokenPrefix, s.made)
	hash := sha256.Sum256([]byte(secret))
	words := []string{}
	for _, scope := range scopes {
		words = append(words, string(scope))
	}
	err := s.db.Change(t.Context(), "make token", func(q *rows.Queries) error {
		return q.AddToken(t.Context(), rows.AddTokenParams{
			ID: fmt.Sprintf("token_granted%d", s.made), Hash: hash[:], UserID: user, Name: "x",
			Scopes: strings.Join(words, " "), Created: 1, Expires: time.Now().Add(good).UnixMilli(),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return login{token: secret}
}

// session makes a session of a user, which is good for a while from now.
func (s *site) session(t *testing.T, user string, good time.Duration) login {
	t.Helper()
	s.made++
	secret := fmt.Sprintf("session%d", s.made)
	hash := sha256.Sum256([]byte(secret))
	now := time.Now()
	err := s.db.Change(t.Context(), "make session", func(q *rows.Queries) error {
		return q.AddSession(t.Context(),
			rows.AddSessionParams{
				Hash: hash[:], UserID: user, Created: now.UnixMilli(),
				Expires: now.Add(good).UnixMilli(), Seen: now.UnixMilli(),
			})
	})
	if err != nil {
		t.Fatal(err)
	}
	return login{cookie: secret}
}

// walk is the walk over one route.
type walk struct {
	t     *testing.T
	s     *site
	route api.Route
	entry entry
	words map[string]string
	tried int
}

// request sends the request of the entry, with ids in place of words in braces.
func (w *walk) request(as login, ids map[string]string) (code int, text string) {
	w.t.Helper()
	w.tried++
	fill := func(text string) string {
		for word, id := range ids {
			text = strings.ReplaceAll(text, "{"+word+"}", id)
		}
		for word, id := range w.words {
			text = strings.ReplaceAll(text, "{"+word+"}", id)
		}
		return text
	}
	path := w.route.Path
	for name, value := range w.entry.params {
		path = strings.ReplaceAll(path, "{"+name+"}", fill(value))
	}
	for name := range w.route.Access.Objects {
		path = strings.ReplaceAll(path, "{"+name+"}", ids["path "+name])
	}
	if w.entry.query != "" {
		path += "?" + fill(w.entry.query)
	}
	body := fill(w.entry.body)
	req, err := http.NewRequestWithContext(w.t.Context(), w.route.Method, w.s.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if as.token != "" {
		req.Header.Set("Authorization", "Bearer "+as.token)
	}
	if as.cookie != "" {
		req.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: as.cookie})
	}
	res, err := w.s.Client().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if err != nil && !errors.Is(err, context.Canceled) {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// refused sends a request that must be refused with one of the codes.
func (w *walk) refused(what string, as login, ids map[string]string, codes ...int) {
	w.t.Helper()
	if code, text := w.request(as, ids); !slices.Contains(codes, code) {
		w.t.Errorf("%s %s: %s: %d, not %v: %s", w.route.Method, w.route.Path, what, code, codes, text)
	}
}

// word finds the objects that a body or a query names.
var word = regexp.MustCompile(`\{(suite|traces|run|job|experiment|schedule|catalogue|gate|prompt|token)(2?)\}`)

// named are the words of the entry outside the path, with their kinds.
func (w *walk) named() map[string]api.Kind {
	out := map[string]api.Kind{}
	for _, m := range word.FindAllStringSubmatch(w.entry.body+w.entry.query, -1) {
		out[m[1]+m[2]] = api.Kind(m[1])
	}
	return out
}

// ids are objects of a user, for the path and for the words.
func (w *walk) ids(user string, shared bool) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(w.route.Access.Objects)) {
		out["path "+name] = w.s.object(w.t, w.route.Access.Objects[name], user, shared)
	}
	for word, kind := range w.named() {
		out[word] = w.s.object(w.t, kind, user, shared)
	}
	return out
}

func all() []account.Scope { return account.Scopes() }

// strangers sends the request without a valid login.
func (w *walk) strangers(ids map[string]string) {
	gone := &account.Principal{User: "user_gone_" + w.route.ID, Name: "gone_" + w.route.ID, Role: account.Admin}
	addPerson(w.t, w.s.db, gone)
	token, session := w.s.grant(w.t, gone.User, all(), time.Hour), w.s.session(w.t, gone.User, time.Hour)
	if err := w.s.users.Remove(w.t.Context(), people()["root"], gone.User); err != nil {
		w.t.Fatal(err)
	}
	revoked := w.s.grant(w.t, "user_root", all(), time.Hour)
	p, err := w.s.users.ByToken(w.t.Context(), revoked.token)
	if err == nil {
		err = w.s.users.RevokeToken(w.t.Context(), p, p.Token)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for what, as := range map[string]login{
		"nobody": {}, "no token": {token: account.TokenPrefix + "x"}, "another kind of token": {token: "x"},
		"no session":       {cookie: "x"},
		"an expired token": w.s.grant(w.t, "user_root", all(), -time.Second), "a revoked token": revoked,
		"an expired session":          w.s.session(w.t, "user_root", -time.Second),
		"the token of a removed user": token, "the session of a removed user": session,
		"a bad token beside a good session": {token: "cv_x", cookie: w.s.session(w.t, "user_root", time.Hour).cookie},
	} {
		w.refused(what, as, ids, http.StatusUnauthorized)
	}
}

// lesser sends the request as users of lesser roles, and with tokens that are for something else.
func (w *walk) lesser(user string, ids map[string]string) {
	access := w.route.Access
	for name, p := range people() {
		if name != "bo" && !p.Role.AtLeast(access.Role) {
			w.refused("the role "+string(p.Role), w.s.session(w.t, p.User, time.Hour), ids, http.StatusForbidden)
			w.refused("a token of the role "+string(p.Role), w.s.grant(w.t, p.User, all(), time.Hour), ids,
				http.StatusForbidden)
		}
	}
	scope := access.Scope
	if scope == "" {
		scope = account.ScopeWrite
		if w.route.Method == http.MethodGet {
			scope = account.ScopeRead
		}
	}
	others := slices.DeleteFunc(all(), func(s account.Scope) bool { return s == scope })
	w.refused("a token without the scope "+string(scope), w.s.grant(w.t, user, others, time.Hour), ids,
		http.StatusForbidden)
	w.refused("a token without scopes", w.s.grant(w.t, user, nil, time.Hour), ids, http.StatusForbidden)
	if access.Session {
		w.refused("a token", w.s.grant(w.t, user, all(), time.Hour), ids, http.StatusForbidden)
	}
}

// foreign sends ids of ana's objects as bo, each once among his own, and ids that there are not.
func (w *walk) foreign() {
	if len(w.route.Access.Objects) == 0 && len(w.named()) == 0 {
		return
	}
	bo := w.s.session(w.t, "user_bo", time.Hour)
	vera := w.s.session(w.t, "user_vera", time.Hour)
	own, hers, shared := w.ids("user_bo", false), w.ids("user_ana", false), w.ids("user_ana", true)
	for name := range own {
		mixed := maps.Clone(own)
		mixed[name] = hers[name]
		w.refused("an id of another user: "+name, bo, mixed, http.StatusForbidden, http.StatusNotFound)
		w.refused("an id of another user, by a viewer: "+name, vera, mixed, http.StatusForbidden, http.StatusNotFound)
		mixed[name] = "none_such"
		w.refused("an id that there is not: "+name, bo, mixed, http.StatusNotFound)
		param, inPath := strings.CutPrefix(name, "path ")
		if kind := w.route.Access.Objects[param]; inPath && knowsShared(kind) && w.route.Method != http.MethodGet &&
			!w.route.Access.Reads {
			mixed[name] = shared[name]
			w.refused("what another user shares is changed: "+name, bo, mixed, http.StatusForbidden)
		}
	}
}

// all sends the request as every user.
func (w *walk) all() {
	w.complete()
	user := "ana"
	if w.route.Access.Role == account.Admin {
		user = "root"
	}
	if w.entry.prepare != nil {
		w.words = w.entry.prepare(w.t, w.s, user)
	}
	ids := w.ids("user_"+user, false)
	as := login{}
	if !w.route.Access.Open {
		w.strangers(ids)
		w.lesser("user_"+user, ids)
		w.foreign()
		as = w.s.session(w.t, "user_"+user, time.Hour)
	}
	code, text := w.request(as, ids)
	if gives := w.entry.gives; gives != 0 && code != gives || gives == 0 && code/100 != 2 {
		w.t.Errorf("%s %s: a good request of %s was not answered well, so that the others prove nothing: %d %s",
			w.route.Method, w.route.Path, user, code, text)
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	table, used := entries(), map[string]bool{}
	routes := newSite(t).srv.Routes()
	if len(routes) < 20 {
		t.Fatalf("%d routes", len(routes))
	}
	var total atomic.Int64
	// Routes that only read share a site; each of the others has its own.
	var sites [][]api.Route
	var reads []api.Route
	for _, route := range routes {
		id := strings.TrimSuffix(route.ID, "-alias")
		if _, ok := table[id]; !ok {
			t.Errorf("%s %s (%s) has no entry here: say how a good request is made, and it is tried as everybody",
				route.Method, route.Path, id)
			continue
		}
		used[id] = true
		if route.Method == http.MethodGet {
			reads = append(reads, route)
		} else {
			sites = append(sites, []api.Route{route})
		}
	}
	sites = slices.AppendSeq(sites, slices.Chunk(reads, 16))
	t.Run("routes", func(t *testing.T) {
		for i, routes := range sites {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				for _, route := range routes {
					t.Run(route.ID, func(t *testing.T) {
						w := &walk{t: t, s: s, route: route, entry: table[strings.TrimSuffix(route.ID, "-alias")]}
						w.all()
						total.Add(int64(w.tried))
					})
				}
			})
		}
	})
	for id := range table {
		if !used[id] {
			t.Errorf("entry %s: there is no such route", id)
		}
	}
	if !t.Failed() {
		t.Logf("%d routes: %d of %d requests agree with who may use them", len(routes), total.Load(), total.Load())
	}
}

// looksLikeID finds names of fields that may name an object.
var looksLikeID = regexp.MustCompile(
	`(^|_)(id|ids|run|runs|suite|suites|job|jobs|experiment|experiments|schedule|token|base|baseline|candidate)$`)

// complete compares the entry with the description of the route: every place that may name an
// object is tried.
func (w *walk) complete() {
	op := operation(w.s.srv.OpenAPI(), w.route)
	if op == nil {
		if !strings.HasSuffix(w.route.ID, "-alias") {
			w.t.Errorf("%s %s is not described", w.route.Method, w.route.Path)
		}
		return
	}
	for _, p := range op.Parameters {
		_, object := w.route.Access.Objects[p.Name]
		_, given := w.entry.params[p.Name]
		switch {
		case p.In == "path" && !object && !given:
			w.t.Errorf("%s: {%s} of the path is neither in Access.Objects nor in params", w.route.ID, p.Name)
		case p.In == "query" && looksLikeID.MatchString(p.Name):
			w.tries(p.Name, w.entry.query)
		}
	}
	if op.RequestBody == nil {
		return
	}
	for _, media := range op.RequestBody.Content {
		w.fields(media.Schema, 0)
	}
}

// fields looks for fields of a body that may name an object.
func (w *walk) fields(schema *huma.Schema, depth int) {
	if schema == nil || depth > 6 {
		return
	}
	if schema.Ref != "" {
		schema = w.s.srv.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	for name, p := range schema.Properties {
		if looksLikeID.MatchString(name) {
			w.tries(name, w.entry.body)
		}
		w.fields(p, depth+1)
	}
	w.fields(schema.Items, depth+1)
}

func (w *walk) tries(name, text string) {
	if w.entry.unowned[name] != "" {
		return
	}
	i := strings.Index(text, name)
	if i < 0 || !word.MatchString(text[i:min(len(text), i+len(name)+40)]) {
		w.t.Errorf("%s: %s may name an object: write an object in braces there, or say in unowned why it is none",
			w.route.ID, name)
	}
}

func operation(api *huma.OpenAPI, route api.Route) *huma.Operation {
	item := api.Paths[route.Path]
	if item == nil {
		return nil
	}
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete, http.MethodHead: item.Head,
	}[route.Method]
}
