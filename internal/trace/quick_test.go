// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// texts are a View whose values are told by what they say.
type texts struct {
	View
	Of []string
}

func textsOf(v *View) texts {
	t := texts{View: *v}
	for _, m := range []*value.Value{
		&t.Record, &t.Args, &t.ArgsRaw, &t.Result, &t.Error, &t.GoldTool, &t.ResultCheck, &t.GoldArgs, &t.GoldResult, &t.Tags, &t.Fields,
	} {
		t.Of = append(t.Of, m.Kind().String()+" "+string(m.Raw()))
		*m = value.Value{}
	}
	return t
}

// quicklyRead reads a line both ways, after others of its kind, and tells
// whether the quick way was taken.
func quicklyRead(t testing.TB, s *Scanner, line string) bool {
	t.Helper()
	var document value.Doc
	var want View
	err := document.Parse([]byte(line))
	if quick := s.doc.Parse([]byte(line)); (quick == nil) != (err == nil) {
		t.Fatalf("%s: %v, want %v", line, quick, err)
	}
	if err != nil {
		return false
	}
	strange := 0
	err = want.fill(document.Root(), s.forms, func(doc.Unknown) { strange++ })
	got := View{Head: Head{TaskID: []byte("of the line before"), Attempt: 7, AcceptMS: 7}, Call: Call{Needed: 1}}
	if !got.quick(&s.doc) {
		return false
	}
	if err != nil || strange > 0 {
		t.Fatalf("%s: read quickly, but %v, %d unknown members", line, err, strange)
	}
	if diff := cmp.Diff(textsOf(&want), textsOf(&got), cmp.AllowUnexported(value.Value{}), cmpopts.IgnoreUnexported(View{})); diff != "" {
		t.Fatalf("%s: %s", line, diff)
	}
	return true
}

// TestQuick: which lines are read quickly; those that are no steps never are.
func TestQuick(t *testing.T) {
	t.Parallel()
	s := NewScanner(Options{})
	for _, c := range []struct {
		line string
		want bool
	}{
		{example, true},
		{`{"task_id":"t","tool":"f"}`, true},
		{`{"task_id":"t","tool":"f","args":null,"args_raw":null,"turn_id":null,"gold":null,"latency_ms":null,"status":null,"tags":null}`, true},
		{`{"task_id":"\u0074","tool":"f","status":"\u006fk","gold":{"needed":false}}`, true},
		{`{"task_id":"t","tool":"f","gold":{"neded":false}}`, false},
		{`{"task_id":"t","tool":"f","latency_ms":{"exe":1}}`, false},
		{`{"tool":"f","task_id":"t","gold":{"\u0061rgs":{}}}`, false},
		{`{"task_id":"","tool":"f"}`, false},
		{`{"task_id":"t"}`, false},
		{`{"task_id":"t","tool":"f","type":"step"}`, false},
		{`{"task_id":"t","tool":"f","type":"task"}`, false},
		{`{"task_id":"t","tool":"f","status":""}`, false},
		{`{"task_id":"t","tool":"f","latency_ms":[{"exec":1}]}`, false},
		{`{"task_id":"t","tool":"f","latency_ms":{"exec":-1}}`, false},
		{`{"task_id":"t","tool":"f","tags":["a",1]}`, false},
		{`{"task_id":"t","tool":"f","mine":1}`, false},
		{`{"task_id":"t","tool":"f","env":"mock","status":"ok"}`, true},
		{`{"task_id":"t","tool":"f","start_ms":0}`, true},
		{`{"task_id":"t","tool":"f","start_ms":1.5}`, true},
		{`{"task_id":"t","tool":"f","start_ms":-1}`, false},
		{`{"task_id":"t","tool":"f","start_ms":"1"}`, false},
		{`{"task_id":"t","tool":"f","env":"guard","guard":[{"rule":"size","action":"deny"}]}`, false},
		{`[]`, false},
		{example, true},
	} {
		if got := quicklyRead(t, s, c.line); got != c.want {
			t.Errorf("%s: read quickly is %v", c.line, got)
		}
	}
}

// FuzzQuick: a line that is read quickly says the same as when it is read slowly.
func FuzzQuick(f *testing.F) {
	f.Add(example, strings.ReplaceAll(example, `:3`, `: "3"`))
	f.Add(`{"type":"task","task_id":"t"}`, `{"task_id":"t","tool":"f","args":{"a":1},"gold":{"args":{"a":1},"needed":null}}`)
	f.Add(`{"task_id":"t","tool":"f","status":"ok","fields":{"a":1}}`, `{"task_id":"t","tool":"f","status":"no","fields":[]}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		s := NewScanner(Options{})
		for _, line := range []string{a, b, a, b} {
			quicklyRead(t, s, line)
		}
	})
}

// TestSkimmed: a line that is skimmed, after others of its kind, says the same as when it is
// read slowly.
func TestSkimmed(t *testing.T) {
	t.Parallel()
	lines := []string{
		example, `{"task_id":"t","tool":"f"}`, strings.Replace(example, `"task_id":"`, `"attempt":3,"target":"m","task_id":"`, 1),
		strings.Replace(example, `"turn_id":3`, `"turn_id":"3"`, 1), strings.Replace(example, `"ok"`, `"exec_error"`, 1), strings.Replace(example, `"ok"`, `"fine"`, 1),
		strings.Replace(example, `"ok"`, `null`, 1), strings.Replace(example, `"task_id":"`, `"task_id":"", "x":"`, 1), `{"type":"task","task_id":"t"}`,
		`{"task_id":"t","tool":"f","args":null,"args_raw":null,"turn_id":null,"gold":null,"latency_ms":null,"status":null,"tags":null}`,
		strings.Replace(example, `"result"`, `"start_ms":12,"result"`, 1), strings.Replace(example, `"result"`, `"start_ms":12.5,"result"`, 1),
		`{"task_id":"t","tool":"f","gold":{"needed":false,"tool":"g","args":{"a":[1,"b"]},"result":{"x":null}},"tags":["a","b:c"],"fields":{"k":1}}`,
	}
	s := NewScanner(Options{})
	skimmed := 0
	for round := range 3 {
		for _, line := range lines {
			data := append(make([]byte, 0, len(line)+300), line+"\n"...)
			got, _, err := s.one(1, data)
			if err != nil {
				t.Fatal(err)
			}
			var document value.Doc
			want := View{Head: Head{Line: 1}, Raw: []byte(line)}
			if err := document.Parse([]byte(line)); err != nil {
				t.Fatal(err)
			}
			if err := want.fill(document.Root(), s.forms, func(doc.Unknown) {}); (err == nil) != (got != nil) {
				t.Fatalf("%s: %v", line, err)
			}
			if got == nil || got.IsTask {
				continue
			}
			if round == 2 && got.Record.Kind() == value.Invalid {
				skimmed++
			}
			a, b := textsOf(&want), textsOf(got)
			for _, i := range []int{2, 5, 6, 9} { // nulls where strings may be are not told
				a.Of[i], b.Of[i] = strings.Replace(a.Of[i], "null null", "invalid ", 1), strings.Replace(b.Of[i], "null null", "invalid ", 1)
			}
			if diff := cmp.Diff(a.Of[1:], b.Of[1:]); diff != "" {
				t.Fatalf("%s: %s", line, diff)
			}
			if diff := cmp.Diff(a.View, b.View, cmp.AllowUnexported(value.Value{}), cmpopts.IgnoreUnexported(View{})); diff != "" {
				t.Fatalf("%s: %s", line, diff)
			}
		}
	}
	if skimmed != 8 {
		t.Errorf("%d lines were skimmed", skimmed)
	}
}

// FuzzSkimmed: lines with room after them, which may be skimmed, say the same as each alone.
func FuzzSkimmed(f *testing.F) {
	f.Add(example+"\n"+strings.ReplaceAll(example, `:3`, `: 3`)+"\r\n", `{"task_id":"t","tool":"f","result":null}`+"\n{}\n\n", `}}`+"\n")
	f.Add(`{"task_id":"t","tool":"f","tags":["a",["b"]]}`+"\n", strings.Replace(example, `"status":"ok"`, `"status":"ok","status":"ok"`, 1)+"\n", `"}]}`)
	f.Fuzz(func(t *testing.T, a, b, behind string) {
		all := a + a + b + a + b
		room := append(make([]byte, 0, len(all)+len(behind)+200), all+behind...)[:len(all)]
		skims, parses := NewScanner(Options{}), NewScanner(Options{})
		for line := int64(1); len(room) > 0; line++ {
			alone, _, _ := strings.Cut(string(room), "\n")
			alone = string(room)[:min(len(room), len(alone)+1)]
			got, rest, _ := skims.one(line, room)
			want, _, _ := parses.one(line, slices.Clip([]byte(alone)))
			if (got == nil) != (want == nil) || len(rest) != len(room)-len(alone) {
				t.Fatalf("%q: read is %v, want %v; %q is left", alone, got != nil, want != nil, rest)
			}
			if room = rest; got == nil {
				continue
			}
			x, y := textsOf(want), textsOf(got)
			for _, i := range []int{2, 5, 6, 9} { // nulls where strings may be are not told
				x.Of[i], y.Of[i] = strings.Replace(x.Of[i], "null null", "invalid ", 1), strings.Replace(y.Of[i], "null null", "invalid ", 1)
			}
			if diff := cmp.Diff(x.Of[1:], y.Of[1:]) + cmp.Diff(x.View, y.View, cmp.AllowUnexported(value.Value{}), cmpopts.IgnoreUnexported(View{})); diff != "" {
				t.Fatalf("%q: %s", alone, diff)
			}
		}
		if diff := cmp.Diff(parses.Log, skims.Log, cmp.AllowUnexported(Log{})); diff != "" {
			t.Fatal(diff)
		}
	})
}
