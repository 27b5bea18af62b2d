// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package pii_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety/pii"
	"github.com/callvet/callvet/value"
)

func newDetector(t testing.TB, c pii.Config) *pii.Detector {
	t.Helper()
	d, err := pii.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func parse(t testing.TB, s string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNext(t *testing.T) {
	t.Parallel()
	d := newDetector(t, pii.Config{})
	s := "write to ana@example.com or 219-09-9999@example.com"
	type hit struct {
		Text string
		Kind pii.Kind
	}
	var got []hit
	for f, ok := d.Next(s, 0); ok; f, ok = d.Next(s, f.End) {
		got = append(got, hit{s[f.Start:f.End], f.Kind})
	}
	if diff := cmp.Diff([]hit{{"ana@example.com", pii.KindEmail}, {"219-09-9999", pii.KindID}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	in := `{"to":["a@b.com","nobody"],"card":4111111111111111,"auth":{"password":"x","pin":7},"id":"[REDACTED:email]","n":12}`
	want := []pii.Found{{"to[0]", pii.KindEmail}, {"card", pii.KindCard}, {"auth.password", pii.KindSecret}, {"auth.pin", pii.KindSecret}}
	if diff := cmp.Diff(want, newDetector(t, pii.Config{Keys: []string{"PIN"}}).Value(parse(t, in))); diff != "" {
		t.Error(diff)
	}
	off := newDetector(t, pii.Config{Off: []pii.Kind{pii.KindEmail, pii.KindSecret, pii.KindCard}})
	if got := off.Value(parse(t, in)); got != nil {
		t.Errorf("kinds that are off were found: %v", got)
	}
	if _, err := pii.New(pii.Config{Off: []pii.Kind{"mail"}}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("an unknown kind was taken: %v", err)
	}
}

func FuzzNext(f *testing.F) {
	for _, s := range []string{"219-09-9999@example.com", "+46 70 123 45 67", "a@b.co c@d.org", "Bearer abc123def456ghi7", "X1234567L"} {
		f.Add(s)
	}
	d := newDetector(f, pii.Config{})
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for f, ok := d.Next(s, 0); ok; f, ok = d.Next(s, f.End) {
			if f.Start < at || f.End <= f.Start || f.End > len(s) || f.Kind == "" {
				t.Fatalf("%q: %+v after %d", s, f, at)
			}
			at = f.End
		}
	})
}
