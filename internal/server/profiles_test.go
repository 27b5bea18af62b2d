// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
)

// calm is a profile of openai/m1.
const calm = `{"name":"calm","model":"openai/m1","params":{"temperature":0.5,"extra":{"top_k":20}},"tool_choice":"required","system_prompt":"Be calm."}`

// recordedModel is a model that keeps the last request.
type recordedModel struct {
	url  string
	mu   sync.Mutex
	last struct {
		Temperature *float64
		TopK        int    `json:"top_k"`
		ToolChoice  string `json:"tool_choice"`
		Messages    []struct{ Role, Content string }
	}
	asked int
}

func newRecordedModel(t *testing.T) *recordedModel {
	t.Helper()
	m := &recordedModel{}
	m.url, _ = tunableModel(t, func(_ int, body string) bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.asked++
		m.last.Temperature, m.last.TopK, m.last.ToolChoice, m.last.Messages = nil, 0, "", nil
		if err := json.Unmarshal([]byte(body), &m.last); err != nil {
			t.Error(err)
		}
		return true
	})
	return m
}

// want compares the last request with settings, and forgets it.
func (m *recordedModel) want(t *testing.T, what string, temperature float64, topK int, choice, system string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	got := &m.last
	if m.asked == 0 || got.Temperature == nil || *got.Temperature != temperature || got.TopK != topK ||
		got.ToolChoice != choice || len(got.Messages) != 2 || got.Messages[0].Content != system {
		b, _ := json.Marshal(got)
		t.Errorf("%s: asked %d times, the last with %s", what, m.asked, b)
	}
	m.asked = 0
}

// TestProfiles: a run has the settings of a profile under its own, and its manifest has the result.
// A profile of another model, of another user, or one that was deleted, is refused before anything
// is asked.
func TestProfiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	m := newRecordedModel(t)
	suite := s.familySuite(t, "ana", 1)
	keep := func(user, body string) string {
		return stored[tunes.Profile](t, s, user, "POST", "/api/profiles", body).ID
	}
	id := keep("ana", calm)
	run := func(more string) jobAnswer {
		t.Helper()
		sent := s.eval(t, "ana", suite, m.url, `,"no_cache":true`+more)
		s.awaitJob(t, "ana", sent.JobID, "done")
		return sent
	}
	const both = "Be calm.\n\nHelp."
	sent := run(fmt.Sprintf(`,"profiles":{"openai/m1":%q}`, id))
	m.want(t, "by provider/model", 0.5, 20, "required", both)
	config, err := runs.Configuration(t.Context(), s.app, sent.ResultRef)
	if err != nil {
		t.Fatal(err)
	}
	if spec := &config.Targets[0].Spec; spec.Profile != "calm" || *spec.Params.Temperature != 0.5 ||
		!strings.HasPrefix(runs.BriefOf(spec), "profile calm, ") {
		t.Errorf("%+v", spec)
	}
	same := run(`,"temperature":0.5,"provider_params":{"top_k":20},"tool_choice":"required","system_prompt":"Be calm."`)
	m.want(t, "the same settings without a profile", 0.5, 20, "required", both)
	if plain, err := runs.Configuration(t.Context(), s.app, same.ResultRef); err != nil ||
		plain.Targets[0].Hash != config.Targets[0].Hash {
		t.Errorf("the name of a profile makes another configuration: %v", err)
	}
	run(fmt.Sprintf(`,"profiles":{"m1":%q}`, id))
	m.want(t, "by model_id", 0.5, 20, "required", both)
	named := fmt.Sprintf(
		`{"suite_id":%q,"no_cache":true,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q,"profile_id":%q}]`,
		suite, m.url, id)
	s.awaitJob(t, "ana", decodeJob(t, s, named+"}").JobID, "done")
	m.want(t, "by profile_id", 0.5, 20, "required", both)

	// What the request sets stays, and the warning has the names.
	over := decodeJob(t, s, named+
		`,"temperature":0,"provider_params":{"top_k":7},"system_prompt":"Be brief.","tool_choice":"auto"}`)
	s.awaitJob(t, "ana", over.JobID, "done")
	m.want(t, "explicit settings", 0, 7, "auto", "Be brief.\n\nHelp.")
	if text := fmt.Sprint(over.Warnings); !strings.Contains(text,
		"the request sets temperature, tool_choice, top_k, system_prompt too") ||
		!strings.Contains(text, "profile calm") {
		t.Errorf("warnings %s", text)
	}

	// What a target sets itself comes first: two targets of one model are asked with their own settings.
	two := decodeJob(t, s, fmt.Sprintf(`{"suite_id":%q,"no_cache":true,"temperature":0,"concurrency":1,"targets":[
		{"provider_key":"openai","model_id":"m1","base_url":%q},
		{"provider_key":"openai","model_id":"m1","base_url":%[2]q,"name":"odd","profile_id":%[3]q,
			"params":{"temperature":0.9,"extra":{"top_k":3}},"tool_choice":"auto","system_prompt":"Be odd.","replace_system":true}]}`,
		suite, m.url, id))
	s.awaitJob(t, "ana", two.JobID, "done")
	m.want(t, "a target's own settings", 0.9, 3, "auto", "Be odd.")
	if config, err = runs.Configuration(t.Context(), s.app, two.ResultRef); err != nil || len(config.Targets) != 2 ||
		*config.Targets[0].Spec.Params.Temperature != 0 || config.Targets[0].Spec.SystemPrompt != "" ||
		*config.Targets[1].Spec.Params.Temperature != 0.9 {
		t.Errorf("%+v, %v", config, err)
	}

	// The same name is replaced, and has the same id.
	prompt := give[struct{ ID string }](t, s, "ana", "POST", "/api/prompts", `{"name":"guide","text":"Be exact."}`).ID
	if again := keep("ana",
		fmt.Sprintf(`{"name":"calm","model":"openai/m1","prompt_id":%q,"replace_system":true}`, prompt)); again != id {
		t.Errorf("%s became %s", id, again)
	}
	run(fmt.Sprintf(`,"profiles":{"m1":%q},"temperature":1`, id))
	m.want(t, "a prompt of the library", 1, 0, "auto", "Be exact.")
	list := func(query string) []tunes.Profile {
		return give[server.ProfileList](t, s, "ana", "GET", "/api/profiles"+query, "").Items
	}
	other := keep("ana", `{"name":"calm","model":"openai/m2","params":{"temperature":1}}`)
	if all, some := list(""), list("?model=openai/m1"); len(all) != 2 || len(some) != 1 || some[0].PromptID != prompt ||
		some[0].SystemPrompt != "Be exact." || some[0].Source != "user" {
		t.Errorf("%+v, %+v", all, some)
	}

	// Refusals.
	bos := keep("bo", calm)
	if l := give[server.ProfileList](t, s, "bo", "GET", "/api/profiles", "").Items; len(l) != 1 || l[0].ID != bos {
		t.Errorf("bo has %+v", l)
	}
	s.answers(t, http.StatusNotFound, "bo", "DELETE", "/api/profiles/"+id, "")
	s.answers(t, http.StatusNotFound, "bo", "POST", "/api/profiles",
		fmt.Sprintf(`{"name":"x","model":"openai/m1","prompt_id":%q}`, prompt))
	schedule := give[server.Schedule](t, s, "ana", "POST", "/api/schedules", fmt.Sprintf(
		`{"name":"nightly","eval":{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q,"profile_id":%q}]},"cron":"0 6 * * *"}`,
		suite, m.url, id))
	if code, text := s.ask(t, "ana", "DELETE", "/api/profiles/"+id, ""); code != http.StatusNoContent {
		t.Fatal(code, text)
	}
	target := fmt.Sprintf(`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}]`,
		suite, m.url)
	for _, refused := range []struct {
		more string
		code int
		want string
	}{
		{fmt.Sprintf(`,"profiles":{"m1":%q}`, id), 404, "no such profile"},
		{fmt.Sprintf(`,"profiles":{"m1":%q}`, bos), 404, "no such profile"},
		{fmt.Sprintf(`,"profiles":{"m1":%q}`, other), 422, "it is a profile of openai/m2, not of openai/m1"},
		{fmt.Sprintf(`,"profiles":{"m2":%q}`, other), 422, "no model of that name is asked"},
	} {
		for path, more := range map[string]string{
			"": "", "/estimate": "", "/param-tune": `,"search_space":{"temperature":[0,1]}`,
			"/prompt-tune": `,"meta_model":"openai/w"`,
		} {
			if text := s.answers(t, refused.code, "ana", "POST", "/api/tool-eval"+path,
				target+refused.more+more+"}"); !strings.Contains(text, refused.want) {
				t.Errorf("%s%s: %s", path, refused.more, text)
			}
		}
	}
	if text := s.answers(t, http.StatusNotFound, "ana", "POST", "/api/schedules/"+schedule.ID+"/run",
		""); !strings.Contains(text, "no such profile") {
		t.Errorf("the schedule: %s", text)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked != 0 {
		t.Errorf("%d were asked", m.asked)
	}
	for _, body := range []string{
		`{"name":"x","model":"openai/m1"}`, `{"name":"x","model":"openai/m1","params":{"extra":{}},"replace_system":true}`, `{"name":" ","model":"openai/m1","params":{"temperature":1}}`,
		`{"name":"x","model":"m1","params":{"temperature":1}}`,

		`{"name":"x","model":"openai/m1","params":{"temprature":1}}`,
		`{"name":"x","model":"openai/m1","system_prompt":"a","prompt_id":"prompt_x"}`,
		fmt.Sprintf(`{"name":"x","model":"openai/m1","system_prompt":%q}`, strings.Repeat("x", tunes.MaxProfileBytes)),
	} {
		s.answers(t, http.StatusUnprocessableEntity, "ana", "POST", "/api/profiles", body)
	}
	s.answers(t, http.StatusForbidden, "vera", "POST", "/api/profiles", calm)
}

func decodeJob(t *testing.T, s *site, body string) jobAnswer {
	t.Helper()
	code, answer := s.ask(t, "ana", "POST", "/api/tool-eval", body)
	return decode[jobAnswer](t, code, 202, answer)
}

// TestProfilesHeld: profiles count for the quota, and so many are kept. A damaged one is shown as damaged, is used for
// nothing, and can be deleted.
func TestProfilesHeld(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	keep := func(name string) (int, string) {
		return s.ask(t, "ana", "POST", "/api/profiles", strings.Replace(calm, "calm", name, 1))
	}
	for i := range tunes.MaxProfiles {
		if code, text := keep(fmt.Sprint("p", i)); code != http.StatusCreated {
			t.Fatal(code, text)
		}
	}
	if code, text := keep("more"); code != http.StatusTooManyRequests || !strings.Contains(text, "at most 200") {
		t.Errorf("%d %s", code, text)
	}
	if code, text := keep("p7"); code != http.StatusCreated {
		t.Errorf("in place of an earlier one: %d %s", code, text)
	}
	held, err := s.db.Rows().BytesHeld(t.Context(), "user_ana")
	if err != nil || held < 200*100 {
		t.Errorf("%d bytes held: %v", held, err)
	}
	list := give[server.ProfileList](t, s, "ana", "GET", "/api/profiles", "").Items
	if code, text := s.ask(t, "ana", "DELETE", "/api/profiles/"+list[0].ID, ""); code != http.StatusNoContent {
		t.Fatal(code, text)
	}
	s.flip(t, "profiles", "content=replace(content,'0.5','0.7') WHERE id='"+list[1].ID+"'")
	damaged := 0
	for _, p := range give[server.ProfileList](t, s, "ana", "GET", "/api/profiles", "").Items {
		if p.Problem != "" {
			damaged++
			if p.ID != list[1].ID || p.Name != list[1].Name || p.Params.Temperature != nil ||
				!strings.Contains(p.Problem, damagedWords) {
				t.Errorf("%+v", p)
			}
		}
	}
	suite := s.familySuite(t, "ana", 1)
	text := s.answers(t, http.StatusUnprocessableEntity, "ana", "POST", "/api/tool-eval",
		fmt.Sprintf(`{"suite_id":%q,"models":["openai/m1"],"profiles":{"m1":%q}}`, suite, list[1].ID))
	if damaged != 1 || !strings.Contains(text, damagedWords) {
		t.Errorf("%d damaged: %s", damaged, text)
	}
	if problems, err := s.db.Check(t.Context()); err != nil || len(problems) != 1 ||
		!strings.Contains(problems[0], "profiles") {
		t.Errorf("%v, %v", problems, err)
	}
	if code, text := s.ask(t, "ana", "DELETE", "/api/profiles/"+list[1].ID, ""); code != http.StatusNoContent {
		t.Error(code, text)
	}
	if held, err = s.db.Rows().BytesHeld(t.Context(), "user_ana"); err != nil {
		t.Fatal(err)
	}
	s = s.restart(t, func(c *api.Config) { c.Quota = store.Quota{Bytes: held + 20} })
	if code, text := s.ask(t, "ana", "POST", "/api/profiles", calm); code != http.StatusTooManyRequests ||
		!strings.Contains(text, "bytes of suites, catalogues, prompts and profiles") {
		t.Errorf("%d %s", code, text)
	}
}
