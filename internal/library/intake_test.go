// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package library_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/store"
)

func open(t *testing.T, collection, user int64) *library.Intake {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return library.NewIntake(library.IntakeConfig{Store: db, MaxCollection: collection, MaxUser: user})
}

// TestLimits: a batch without room is refused as a whole, and the stored ones stay. Another user
// has room of his own.
func TestLimits(t *testing.T) {
	t.Parallel()
	in := open(t, 100, 150)
	add := func(user, name string, size int, c byte) error {
		_, _, err := in.Append(t.Context(), user, name,
			&library.Batch{Form: "callvet", Lines: true, Items: 1, Text: bytes.Repeat([]byte{c}, size)})
		return err
	}
	for _, c := range []struct {
		user, name string
		size       int
		c          byte
		full       string
	}{
		{"a", "x", 60, '1', ""},
		{"a", "x", 41, '2', "it"},
		{"a", "x", 60, '1', ""},
		{"a", "x", 40, '3', ""},
		{"a", "y", 51, '4', "the user"},
		{"a", "y", 50, '4', ""},
		{"b", "x", 100, '5', ""},
	} {
		err := add(c.user, c.name, c.size, c.c)
		var full *library.FullError
		if errors.As(err, &full) != (c.full != "") || full != nil && full.Of != c.full || full == nil && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	list, err := in.List(t.Context(), "a", false, 1<<62, "", 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	for i := range list {
		text, err := in.Text(t.Context(), &list[i])
		want := map[string]string{
			"x": strings.Repeat("1", 60) + "\n" + strings.Repeat("3", 40),
			"y": strings.Repeat("4", 50),
		}[list[i].Name]
		if err != nil || string(text) != want {
			t.Errorf("%s: %s %v", list[i].Name, text, err)
		}
	}
}

// TestFile: a file that more can follow becomes lines; archives, frames and lists of records stay
// single files.
func TestFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form, in, out string
		lines         bool
		items         int64
	}{
		{
			"callvet", "\uFEFF{\"task_id\":\"a\"}\n{\"task_id\":\"b\"}\n",
			"{\"task_id\":\"a\"}\n{\"task_id\":\"b\"}\n", true, 2,
		},
		{"callvet", `[{"task_id":"a"}]`, `[{"task_id":"a"}]`, false, 1},
		{"otlp", "{\n \"resourceSpans\": [ ]\n}\n", `{"resourceSpans":[]}`, true, 1},
		{"messages", "{\"a\":1}\n{\"a\":2}", "{\"a\":1}\n{\"a\":2}", true, 2},
		{"inspect", "PK\x03\x04x", "PK\x03\x04x", false, 1},
	} {
		b, err := library.FileBatch([]byte(c.in), c.form)
		if err != nil || string(b.Text) != c.out || b.Lines != c.lines || b.Items != c.items || b.Form != c.form {
			t.Errorf("%q: %+v %v", c.in, b, err)
		}
	}
}

// FuzzOTLP: no input panics, and an error has its kind. A stored export is one line that is an
// export again.
func FuzzOTLP(f *testing.F) {
	f.Add(
		[]byte(
			`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"}]}]}]}`), false)
	f.Add(
		[]byte(
			"{\"resource_logs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"a\\u0000\"}}]}}],\n\"resourceSpans\":[]}"), false)
	f.Add([]byte("\x0a\x12\x12\x10\x12\x0e\x0a\x0c123456789012"), true)
	f.Fuzz(func(t *testing.T, body []byte, protobuf bool) {
		of, err := library.OTLP(body, protobuf, false)
		if err != nil {
			if !errors.Is(err, callvet.ErrInvalid) && !errors.Is(err, callvet.ErrLimited) {
				t.Fatal(err)
			}
			return
		}
		for i := range of {
			again, err := library.OTLP(of[i].Text, false, true)
			if err != nil || len(again) > 1 || bytes.ContainsAny(of[i].Text, "\n") || len(again) == 1 &&
				(again[0].Spans != of[i].Spans || again[0].Records != of[i].Records) {
				t.Fatalf("%+v %+v %v", of[i], again, err)
			}
		}
	})
}
