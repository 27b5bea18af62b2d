// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/store"
)

// newLibrary is an App with a store of its own; each reading of its clock is a millisecond later.
func newLibrary(t *testing.T) (*app.App, *store.DB) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var mu sync.Mutex
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return app.New(app.Config{
		Store: func(context.Context) (*store.DB, error) { return db, nil },
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Millisecond)
			return now
		},
	}), db
}

func keep(t *testing.T, a *app.App, req tunes.KeepPromptRequest) *tunes.KeptPrompt {
	t.Helper()
	p, _, err := tunes.KeepPrompt(t.Context(), a, req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLibraryUsers: a user reads own prompts and shared ones, and deletes own ones only. Names of users do not meet.
func TestLibraryUsers(t *testing.T) {
	t.Parallel()
	a, _ := newLibrary(t)
	ctx := t.Context()
	mine := keep(t, a, tunes.KeepPromptRequest{User: "ann", Name: "guide", Text: "Ann's prompt."})
	open := keep(t, a, tunes.KeepPromptRequest{User: "ann", Name: "open", Text: "For all.", Shared: true})
	his := keep(t, a, tunes.KeepPromptRequest{User: "bob", Name: "guide", Text: "Bob's prompt.", Parent: open.ID})
	if his.Version != 1 || his.Parent != open.ID || his.Source != tunes.SourceUser {
		t.Errorf("%+v", his)
	}
	if p, err := tunes.ShowPrompt(ctx, a, "bob", "guide"); err != nil || p.Text != "Bob's prompt." {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := tunes.ShowPrompt(ctx, a, "bob", open.ID); err != nil || p.Text != "For all." {
		t.Errorf("%+v, %v", p, err)
	}
	for _, err := range []error{
		second(tunes.ShowPrompt(ctx, a, "bob", mine.ID)), second(tunes.ShowPrompt(ctx, a, "bob", "open")),
		second(tunes.DeletePrompts(ctx, a, "bob", []string{"guide", open.ID})),
		third(tunes.KeepPrompt(ctx, a, tunes.KeepPromptRequest{User: "bob", Name: "x", Text: "y", Parent: mine.ID})),
	} {
		if !errors.Is(err, callvet.ErrNotFound) {
			t.Errorf("%v", err)
		}
	}
	names := func(page tunes.PromptPage) string {
		list, damaged, err := tunes.ListPrompts(ctx, a, page)
		if err != nil || damaged != 0 {
			t.Fatal(damaged, err)
		}
		var out []string
		for i := range list {
			out = append(out, list[i].User+":"+list[i].Ref())
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct {
		page tunes.PromptPage
		want string
	}{
		{tunes.PromptPage{User: "bob"}, "bob:guide@1 ann:open@1"},
		{tunes.PromptPage{User: "ann"}, "ann:open@1 ann:guide@1"},
		{tunes.PromptPage{User: "ann", N: 1}, "ann:open@1"},
		{tunes.PromptPage{User: "ann", Before: open.Created.UnixMilli(), BeforeID: open.ID}, "ann:guide@1"},
		{tunes.PromptPage{User: "cleo"}, "ann:open@1"},
		{tunes.PromptPage{Everything: true}, "bob:guide@1 ann:open@1 ann:guide@1"},
	} {
		if got := names(tt.page); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.page, got, tt.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func third[T any](_ T, _ bool, err error) error { return err }

// TestLibraryAtOnce: prompts that are kept at the same time have versions of their own.
func TestLibraryAtOnce(t *testing.T) {
	t.Parallel()
	a, _ := newLibrary(t)
	const n = 20
	var wg sync.WaitGroup
	got := make([]int64, n)
	for i := range n {
		wg.Go(func() {
			p, _, err := tunes.KeepPrompt(t.Context(), a,
				tunes.KeepPromptRequest{Name: "guide", Text: fmt.Sprintf("Prompt %d.", i)})
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = p.Version
		})
	}
	wg.Wait()
	slices.Sort(got)
	for i := range n {
		if got[i] != int64(i+1) {
			t.Fatalf("versions %v", got)
		}
	}
}

// TestLibraryRefuses: a prompt is a text, and its name is one that a reference can have.
func TestLibraryRefuses(t *testing.T) {
	t.Parallel()
	a, _ := newLibrary(t)
	for _, req := range []tunes.KeepPromptRequest{
		{Name: "", Text: "x"},
		{Name: "a@2", Text: "x"},
		{Name: "prompt_x", Text: "x"},
		{Name: "-a", Text: "x"},
		{Name: strings.Repeat("a", 101), Text: "x"},
		{Name: "a", Text: " \n"},
		{Name: "a", Text: "\xff"},
		{Name: "a", Text: strings.Repeat("x", tunes.MaxPromptBytes+1)},
		{Name: "a", Text: "x", Note: strings.Repeat("n", 1001)},
	} {
		if _, _, err := tunes.KeepPrompt(t.Context(), a, req); !errors.As(err, new(*callvet.FieldError)) {
			t.Errorf("%.40q, %.10q: %v", req.Name, req.Text, err)
		}
	}
	if list, _, err := tunes.ListPrompts(t.Context(), a, tunes.PromptPage{}); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	// A text is never the name of a file.
	if p := keep(t, a, tunes.KeepPromptRequest{Name: "a", Text: "@/etc/hostname"}); p.Text != "@/etc/hostname" {
		t.Errorf("%+v", p)
	}
}

// TestLibraryDamaged: a damaged prompt is not shown and not listed; it can be replaced and deleted.
func TestLibraryDamaged(t *testing.T) {
	t.Parallel()
	a, db := newLibrary(t)
	ctx := t.Context()
	p := keep(t, a, tunes.KeepPromptRequest{Name: "guide", Text: "First."})
	if _, err := db.Handle().ExecContext(ctx, "UPDATE prompts SET sum = sum + 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := tunes.ShowPrompt(ctx, a, "", p.ID); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("%v", err)
	}
	if list, damaged, err := tunes.ListPrompts(ctx, a, tunes.PromptPage{}); err != nil || len(list) != 0 ||
		damaged != 1 {
		t.Errorf("%v, %d, %v", list, damaged, err)
	}
	if q := keep(t, a, tunes.KeepPromptRequest{Name: "guide", Text: "First."}); q.Version != 2 {
		t.Errorf("%+v", q)
	}
	if gone, err := tunes.DeletePrompts(ctx, a, "", []string{"guide@1"}); err != nil || len(gone) != 1 {
		t.Errorf("%v, %v", gone, err)
	}
}

// TestPromptName: the name that a suite gives to a prompt can be one.
func TestPromptName(t *testing.T) {
	t.Parallel()
	a, _ := newLibrary(t)
	for suite, want := range map[string]string{
		"weather": "weather", "Väder 2.0 (öppen)": "Väder 2.0 -öppen", "a@b/c": "a-b-c", "": "prompt", "//": "prompt",
		"prompt_x": "x", "prompt_prompt_x": "x", strings.Repeat("é", 80): strings.Repeat("é", 50),
	} {
		name := tunes.PromptName(suite)
		if name != want {
			t.Errorf("%q: %q, want %q", suite, name, want)
		}
		keep(t, a, tunes.KeepPromptRequest{Name: name, Text: "Of " + suite})
	}
}
