// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/value"
)

func labelsRead(t *testing.T, text string) ([]labels.Label, []string) {
	t.Helper()
	ls, problems, err := labels.Read(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	var reported []string
	for _, p := range problems {
		reported = append(reported, p.Error())
	}
	return ls, reported
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"task_id":"a","pass":true,"rol":"test"}`:                           `f:1: unknown key "rol" (did you mean "role"?)`,
		`{"task_id":"a","Pass":true}`:                                        `did you mean "pass"?`,
		`{"task_id":"a"}`:                                                    `f:1: neither "pass" nor "rating" is there, and no verdict of a judge`,
		`{"pass":true}`:                                                      `"task_id" is missing`,
		`{"task_id":"a","pass":"yes"}`:                                       `"pass" is a string, not a boolean`,
		`{"task_id":"a","pass":true,"role":"train"}`:                         `"role" is "train"; it must be calibration, validation, test or design`,
		`{"task_id":"a","pass":true,"unit":"call"}`:                          `"call_id" is missing`,
		`{"task_id":"a","pass":true,"stratum":"judge-pass"}`:                 `did you mean "judge_pass"?`,
		`{"task_id":"a","pass":true,"pass":false}`:                           "pass",
		`{"task_id":"a","pass":true,"judged":[{"pass":true}]}`:               `"judged[0].judge" is missing`,
		`{"task_id":"a","pass":true,"judged":[{"judge":"j"},{"judge":"j"}]}`: "second verdict of the same judge",
		`{"task_id":"a","pass":true,"judged":[{"judge":"j","modle":"x"}]}`:   `unknown key "judged[0].modle" (did you mean "model"?)`,
		`{"task_id":"a","pass":true,"frame":{"judge_pass":-1}}`:              `"frame.judge_pass" is -1; it must be a whole number from 0`,
		`{"task_id":"a","attempt":-1,"pass":true}`:                           `"attempt" is -1; it must be a whole number from 0`,
		`{"task_id":"a","pass":true,"fingerprint":"00ff"}`:                   `"fingerprint" is not 64 hexadecimal digits`,
		`{"task_id":"a","pass":true,"fingerprint":"` + strings.Repeat("AB", 32) +
			`"}`: `"fingerprint" is not 64 hexadecimal digits`,
		`{"task_id":"a","pass":true,"fingerprint":"` + strings.Repeat("xy", 32) +
			`"}`: `"fingerprint" is not 64 hexadecimal digits`,
		`{"task_id":null,"pass":true}`:          `"task_id" is null, not a string`,
		`{"task_id":"a","pass":true,"role":""}`: `"role" is ""; it must be`,
		`[1]`:                                   `the value is an array, not an object`,
		`{"task_id":"a","pa`:                    "was cut off",
	} {
		ls, reported := labelsRead(t, line+"\n")
		if len(ls) != 0 || len(reported) != 1 || !strings.Contains(reported[0], want) {
			t.Errorf("%s: %d labels, %q; want %q", line, len(ls), reported, want)
		}
	}
}

// TestAppendAfterCrash: a partial last line stays in the file, is reported, and damages nothing
// else.
func TestAppendAfterCrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	whole := `{"task_id":"a","by":"ana","pass":true}` + "\n"
	for _, cut := range []string{`{"task_id":"b","by":"ana","pa`, `{"task_id":"b","by":"ana","pass":false}`} {
		if err := os.WriteFile(path, []byte(whole+cut), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := labels.OpenAppender(path)
		if err != nil {
			t.Fatal(err)
		}
		pass := true
		if err := a.Append(labels.Label{Key: labels.Key{TaskID: "c"}, By: "bo", Pass: &pass}); err != nil {
			t.Fatal(err)
		}
		if err := a.Append(labels.Label{Key: labels.Key{TaskID: "d"}}); err == nil {
			t.Error("a label without a verdict was written")
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !a.Mended || !strings.HasPrefix(string(b), whole+cut+"\n") {
			t.Errorf("the partial line is not kept: %s", b)
		}
		ls, reported := labelsRead(t, string(b))
		complete := strings.HasSuffix(cut, "}")
		if want := map[bool]int{true: 3, false: 2}[complete]; len(ls) != want || (len(reported) == 0) != complete {
			t.Errorf("%q: %d labels, told %q", cut, len(ls), reported)
		}
	}
}

func TestLatest(t *testing.T) {
	t.Parallel()
	ls, _ := labelsRead(t, `{"task_id":"a","by":"x","pass":true,"at":"2026-01-02T00:00:00Z"}
{"task_id":"a","by":"x","pass":false,"at":"2026-01-01T00:00:00Z"}
{"task_id":"a","by":"y","pass":false}
{"task_id":"b","by":"x","pass":false,"judged":[{"judge":"j","pass":true}]}
{"task_id":"b","by":"x","pass":false}
`)
	got, n := labels.Latest(ls)
	if d := cmp.Diff(labels.Repeats{Same: 1, Changed: 1}, n); d != "" {
		t.Error(d)
	}
	if len(got) != 3 || !*got[0].Pass || *got[1].Pass || len(got[2].Judged) != 1 {
		t.Errorf("%+v", got)
	}
}

func FuzzRead(f *testing.F) {
	schema, err := contract.Compile(labels.Schema())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(
		[]byte(
			`{"task_id":"a","pass":true,"judged":[{"judge":"j","score":0.5,"threshold":0.4,"params":{"temperature":0}}],"frame":{"judge_pass":3,"judge_fail":1}}`))
	f.Add(
		[]byte(
			`{"task_id":"a","unit":"call","call_id":"c","rating":-1,"at":"2026-01-01T00:00:00Z","stratum":"random"}`))
	f.Add([]byte(`{"task_id":"a","pass":true,"at":"2026-01-01T0:00:00Z"}`))
	f.Add([]byte(`{"task_id":"a","pass":true,"at":"2026-01-01T00:00:00.25+23:59"}`))
	f.Add([]byte("{\"task_id\":\"a\"\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ls, problems, err := labels.Read(bytes.NewReader(data), "f")
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\n"))
		full := 0
		for _, l := range lines {
			if len(bytes.TrimSpace(l)) > 0 {
				full++
			}
		}
		if len(ls)+len(problems) != full {
			t.Fatalf("%d labels and %d problems of %d lines", len(ls), len(problems), full)
		}
		for _, l := range ls {
			line := bytes.TrimSpace(lines[l.Line-1])
			if !conforms(schema, line) {
				t.Fatalf("accepted against the schema: %s", line)
			}
			var out bytes.Buffer
			if err := labels.Export(&out, []labels.Label{l}, "jsonl"); err != nil {
				t.Fatal(err)
			}
			again, _, _ := labels.Read(&out, "f")
			if len(again) != 1 {
				t.Fatalf("not read again: %s", line)
			}
			l.Line = 1
			if d := cmp.Diff(l, again[0]); d != "" {
				t.Fatalf("%s: %s", line, d)
			}
		}
	})
}

func FuzzImport(f *testing.F) {
	for _, s := range importSamples() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := labels.Import(bytes.NewReader(data), labels.ImportOptions{By: "x"})
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := labels.Export(&out, m.Labels, "jsonl"); err != nil {
			t.Fatal(err)
		}
		if ls, problems, _ := labels.Read(&out, "f"); len(ls) != len(m.Labels) {
			t.Fatalf("%d labels imported, %d written and read: %v", len(m.Labels), len(ls), problems)
		}
	})
}

// conforms holds a text against a published schema.
func conforms(s *contract.Schema, text []byte) bool {
	v, err := value.Parse(bytes.TrimSpace(text))
	return err == nil && s.Valid(v)
}

func importSamples() []string {
	return []string{
		"task_id,pass,note,color\na,yes,fine,red\nb,0,,\nc,,,\nd,maybe,,\n",
		`[{"id":1,"data":{"task_id":"a"},"annotations":[{"completed_by":{"email":"ana@example.org"},"created_at":"2026-01-01T00:00:00Z","result":[{"type":"choices","value":{"choices":["Pass"]}},{"type":"textarea","value":{"text":["fine"]}}]}]},{"id":2,"data":{},"annotations":[{"completed_by":7,"result":[{"type":"choices","value":{"choices":["fail"]}}]}]},{"id":3,"data":{},"annotations":[]}]`,
		`{"run_id":"a","key":"correct","score":1,"comment":"fine","created_at":"2026-01-01T00:00:00.5","feedback_source":{"type":"app","user_id":"u"}}` + "\n" + `{"run_id":"b","key":"correct","score":false}` + "\n" + `{"run_id":"c","key":"correct","score":null}` + "\n" + `{"run_id":"d","key":"correct","score":1,"feedback_source":{"type":"model"}}`,
		`{"task_id":"a","pass":true,"goal":"g","steps":["s"],"answer":"x","stratum":"random"}` + "\n" +
			`{"task_id":"b","pass":false}` + "\n" + `{"task_id":"c","pass":null}` + "\n" +
			`{"task_id":"d","pas":1,"pass":true}`,
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	for i, want := range []struct {
		form           string
		open, problems int
	}{{"csv", 1, 1}, {"label-studio", 1, 0}, {"langsmith", 1, 0}, {"labels", 1, 1}} {
		m, err := labels.Import(strings.NewReader(importSamples()[i]), labels.ImportOptions{By: "me"})
		if err != nil {
			t.Fatal(err)
		}
		if m.Form != want.form || len(m.Labels) != 2 || m.Open != want.open || len(m.Problems) != want.problems {
			t.Errorf("%s: %+v", want.form, m)
			continue
		}
		a, b := m.Labels[0], m.Labels[1]
		if a.TaskID != "a" || !*a.Pass || *b.Pass || b.By == "" || a.Role != labels.Calibrating {
			t.Errorf("%s: %+v %+v", want.form, a, b)
		}
	}
	if _, err := labels.Import(strings.NewReader("id;verdict\n1;yes"), labels.ImportOptions{}); err == nil {
		t.Error("a table without task_id was read")
	}
}

func TestExportCSV(t *testing.T) {
	t.Parallel()
	ls, _ := labelsRead(t, `{"task_id":"=1+1","by":"ana","pass":true,"note":"a,b"}`)
	var b strings.Builder
	if err := labels.Export(&b, ls, "csv"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "'=1+1,,0,task,,ana,calibration,true,,\"a,b\",,,,\n") {
		t.Error(b.String())
	}
	if err := labels.Export(&b, ls, "xls"); err == nil {
		t.Error("an unknown form was written")
	}
}

// TestCSVRoundTrip: what is exported as a table and imported again is the same,
// ids included that a spreadsheet would take for formulas.
func TestCSVRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`('{0,2}[-=+@a]?[a-z0-9'",; ]{0,6}[a-z0-9'])`)
		var ls []labels.Label
		for range rapid.IntRange(1, 4).Draw(t, "n") {
			pass := rapid.Bool().Draw(t, "pass")
			l := labels.Label{
				Key: labels.Key{
					TaskID: text.Draw(t, "task"), Target: text.Draw(t, "target"),
					Attempt: rapid.IntRange(0, 3).Draw(t, "attempt"), Unit: labels.Task,
				},
				By: text.Draw(t, "by"), Role: labels.Calibrating, Pass: &pass, Note: text.Draw(t, "note"),
			}
			for _, s := range []*string{&l.TaskID, &l.Target, &l.By, &l.Note} {
				*s = strings.TrimSpace(*s)
			}
			ls = append(ls, l)
		}
		var b bytes.Buffer
		if err := labels.Export(&b, ls, "csv"); err != nil {
			t.Fatal(err)
		}
		m, err := labels.Import(&b, labels.ImportOptions{})
		if err != nil || len(m.Problems) > 0 {
			t.Fatal(err, m.Problems)
		}
		for i := range m.Labels {
			m.Labels[i].Line = 0
		}
		if d := cmp.Diff(ls, m.Labels); d != "" {
			t.Fatal(d)
		}
	})
}
