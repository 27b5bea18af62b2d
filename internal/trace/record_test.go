// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// filled sets every field below v to something that is not its zero value.
func filled(v reflect.Value, n *int) {
	*n++
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes(fmt.Appendf(nil, `{"n": %d}`, *n))
		return
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 3, 1, 2, 3, 4, *n, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 8)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			filled(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 3 {
			key, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			filled(key, n)
			filled(e, n)
			v.SetMapIndex(key, e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				filled(f, n)
			}
		}
	default:
		panic("a kind that nobody fills: " + v.Kind().String())
	}
}

// sameRecord compares what a Writer writes with what encoding/json would.
func sameRecord(t *testing.T, task Task) {
	t.Helper()
	task.TaskID = "t"
	var got bytes.Buffer
	w := NewWriter(&got)
	if err := w.Task(&task); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(raw), "{", `{"type":"task","version":1,`, 1)
	if d := cmp.Diff(want, strings.TrimSuffix(got.String(), "\n")); d != "" {
		t.Error(d)
	}
}

// TestRecordIsItsJSON: each field of a task record, alone and with all others, is written as
// encoding/json writes it; a field that a Task gets one day must be written too.
func TestRecordIsItsJSON(t *testing.T) {
	t.Parallel()
	var all Task
	n := 0
	filled(reflect.ValueOf(&all).Elem(), &n)
	messages := all
	messages.Input, messages.Conversation = nil, nil // which are written at the end
	sameRecord(t, messages)
	sameRecord(t, Task{})
	each := func(of reflect.Value, set func(reflect.Value)) {
		for i := range of.NumField() {
			alone := reflect.New(of.Type()).Elem()
			alone.Field(i).Set(of.Field(i))
			set(alone)
		}
	}
	each(reflect.ValueOf(all), func(v reflect.Value) { sameRecord(t, v.Interface().(Task)) })
	each(reflect.ValueOf(*all.Scored), func(v reflect.Value) {
		s := v.Interface().(Scored)
		sameRecord(t, Task{Scored: &s})
	})
	each(reflect.ValueOf(*all.Usage), func(v reflect.Value) {
		u := v.Interface().(Usage)
		sameRecord(t, Task{Usage: &u})
	})
	each(reflect.ValueOf(*all.Gold), func(v reflect.Value) {
		g := v.Interface().(TaskGold)
		sameRecord(t, Task{Gold: &g})
	})
	each(reflect.ValueOf(all.Gold.Steps[0]), func(v reflect.Value) {
		sameRecord(t, Task{Gold: &TaskGold{Steps: []GoldStep{v.Interface().(GoldStep), {Tool: "b"}}}})
	})
	each(reflect.ValueOf(all.Scored.Signs[0]), func(v reflect.Value) {
		s := reflect.ValueOf(&Scored{}).Elem()
		s.FieldByName("Signs").Set(reflect.Append(s.FieldByName("Signs"), v, v))
		sameRecord(t, Task{Scored: s.Addr().Interface().(*Scored)})
	})
	sameRecord(t, Task{
		Gold: &TaskGold{Steps: []GoldStep{}}, Scored: &Scored{}, Usage: &Usage{}, Safety: []Incident{},
		Tags: []string{}, Fields: map[string]string{},
	})
	for _, f := range []float64{
		0, math.Copysign(0, -1), -1.5, 1e-6, 9e-7, -1e-9, 1e20, 1e21, -1e21, 123456789.125,
		1.0 / 3, math.MaxFloat64, 5e-324,
	} {
		sameRecord(t, Task{WallMS: &f, Scored: &Scored{Scores: map[string]float64{"a": f, "b": 1}}})
	}
	if err := NewWriter(&bytes.Buffer{}).Task(&Task{TaskID: "t", Reward: new(math.NaN())}); err == nil {
		t.Error("a record was written with what is no number")
	}
	if err := NewWriter(&bytes.Buffer{}).Task(&Task{TaskID: "t", Foreign: json.RawMessage("{")}); err == nil {
		t.Error("a record was written with what is no JSON")
	}
}

// FuzzRecordTexts: texts of every kind are written as encoding/json writes them.
func FuzzRecordTexts(f *testing.F) {
	for _, s := range []string{
		"", "plain", `"\`, "<a href='x'>&amp;</a>", "\x00\x1f\x7f",
		"Göteborg \u2028 \u2029 \U0001F600", "half \xf0\x9f a rune", "a\nb\tc\r\b\f",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		task := Task{
			Target: a, Tags: []string{b, a}, Fields: map[string]string{a: b, b + "x": a}, Answer: &b,
			Scored: &Scored{Reason: a, Scores: map[string]float64{b: 1}}, Outcome: callvet.Outcome(b),
		}
		if !utf8.ValidString(a + b) {
			task.Fields = map[string]string{a: b} // the order of names that become equal is not defined
		}
		sameRecord(t, task)
	})
}
