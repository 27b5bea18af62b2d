// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
)

// TestPrompts: versions of a prompt with their parents; a list without texts, page by page; another
// user's private prompt does not exist, and is no parent.
func TestPrompts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	keep := func(body string) assets.PromptText {
		return stored[assets.PromptText](t, s, "ana", "POST", "/api/prompts", body)
	}
	first := keep(`{"name":"guide","text":"Be brief.","shared":true}`)
	again := keep(`{"name":"guide","text":" Be brief. "}`)
	second := keep(fmt.Sprintf(`{"name":"guide","text":"Be very brief.","note":"shorter","parent_prompt_id":%q}`,
		first.ID))
	if first.Version != 1 || again.ID != first.ID || second.Version != 2 || second.Parent != first.ID ||
		second.Source != "user" {
		t.Errorf("%+v, %+v, %+v", first, again, second)
	}
	if got := stored[assets.PromptText](t, s, "ana", "GET", "/api/prompts/"+second.ID, ""); got != second {
		t.Errorf("%+v, want %+v", got, second)
	}
	var listed []string
	path := "/api/prompts?limit=1"
	for path != "" {
		code, text := s.ask(t, "ana", "GET", path, "")
		if code != 200 || strings.Contains(text, "Be very") {
			t.Fatal(code, text)
		}
		page := stored[api.Page[assets.PromptEntry]](t, s, "ana", "GET", path, "")
		for _, p := range page.Items {
			listed = append(listed, p.ID)
		}
		if path = ""; page.Next != "" {
			path = "/api/prompts?limit=1&cursor=" + page.Next
		}
	}
	if len(listed) != 2 || listed[0] != second.ID || listed[1] != first.ID {
		t.Errorf("listed %v", listed)
	}
	vera := stored[api.Page[assets.PromptEntry]](t, s, "vera", "GET", "/api/prompts", "")
	if len(vera.Items) != 1 || vera.Items[0].ID != first.ID || vera.Items[0].Owner != "user_ana" {
		t.Errorf("vera reads %+v", vera.Items)
	}
	for _, body := range []string{
		`{"name":"a@b","text":"x"}`, `{"name":"x","text":"  "}`, `{"name":"prompt_x","text":"x"}`, `{"name":"x"}`,
		fmt.Sprintf(`{"name":"x","text":%q}`, strings.Repeat("x", 300_000)),
	} {
		if code, text := s.ask(t, "ana", "POST", "/api/prompts", body); code != 422 {
			t.Errorf("%.60s: %d %s", body, code, text)
		}
	}
	// a text is no name of a file
	if p := keep(`{"name":"at","text":"@/etc/hostname"}`); p.Text != "@/etc/hostname" {
		t.Errorf("%+v", p)
	}
	if code, text := s.ask(t, "ana", "DELETE", "/api/prompts/"+second.ID, ""); code != 204 {
		t.Error(code, text)
	}
	if code, _ := s.ask(t, "ana", "GET", "/api/prompts/"+second.ID, ""); code != 404 {
		t.Error(code)
	}
	var text string // of a deleted prompt nothing stays but its number
	if err := s.db.Handle().QueryRowContext(t.Context(), "SELECT content FROM prompts WHERE id = $1",
		second.ID).Scan(&text); err != nil || text != "" {
		t.Errorf("%q, %v", text, err)
	}
	if problems, err := s.db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if third := keep(`{"name":"guide","text":"Be kind."}`); third.Version != 3 {
		t.Errorf("%+v", third)
	}
}
