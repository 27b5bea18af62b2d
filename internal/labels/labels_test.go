// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/value"
)

func read(t *testing.T, text string) ([]labels.Label, []string) {
	t.Helper()
	ls, problems, err := labels.Read(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, p := range problems {
		told = append(told, p.Error())
	}
	return ls, told
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"task_id":"a","pass":true,"rol":"test"}`:                           `f:1: unknown key "rol" (did you mean "role"?)`,
		`{"task_id":"a","Pass":true}`:                                        `did you mean "pass"?`,
		`{"task_id":"a"}`:                                                    `f:1: neither "pass" nor "rating"`,
		`{"pass":true}`:                                                      `"task_id" is missing`,
		`{"task_id":"a","pass":"yes"}`:                                       `"pass" is a string, not a boolean`,
		`{"task_id":"a","pass":true,"role":"train"}`:                         `"role" is "train"; it must be calibration, validation or test`,
		`{"task_id":"a","pass":true,"unit":"call"}`:                          `"call_id" is missing`,
		`{"task_id":"a","pass":true,"stratum":"judge-pass"}`:                 `did you mean "judge_pass"?`,
		`{"task_id":"a","pass":true,"pass":false}`:                           "pass",
		`{"task_id":"a","pass":true,"judged":[{"pass":true}]}`:               `"judged[0].judge" is missing`,
		`{"task_id":"a","pass":true,"judged":[{"judge":"j"},{"judge":"j"}]}`: "second verdict of the same judge",
		`{"task_id":"a","pass":true,"judged":[{"judge":"j","modle":"x"}]}`:   `unknown key "judged[0].modle" (did you mean "model"?)`,
		`{"task_id":"a","pass":true,"frame":{"judge_pass":-1}}`:              `"frame.judge_pass" is -1; it must be a whole number from 0`,
		`{"task_id":"a","attempt":-1,"pass":true}`:                           `"attempt" is -1; it must be a whole number from 0`,
		`{"task_id":null,"pass":true}`:                                       `"task_id" is null, not a string`,
		`{"task_id":"a","pass":true,"role":""}`:                              `"role" is ""; it must be`,
		`[1]`:                                                                `the value is an array, not an object`,
		`{"task_id":"a","pa`:                                                 "was cut off",
	} {
		ls, told := read(t, line+"\n")
		if len(ls) != 0 || len(told) != 1 || !strings.Contains(told[0], want) {
			t.Errorf("%s: %d labels, %q; want %q", line, len(ls), told, want)
		}
	}
}

// TestAppendAfterCrash: a partial last line stays in the file, is told, and takes
// nothing else with it.
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
		ls, told := read(t, string(b))
		complete := strings.HasSuffix(cut, "}")
		if want := map[bool]int{true: 3, false: 2}[complete]; len(ls) != want || (len(told) == 0) != complete {
			t.Errorf("%q: %d labels, told %q", cut, len(ls), told)
		}
	}
}

func TestLatest(t *testing.T) {
	t.Parallel()
	ls, _ := read(t, `{"task_id":"a","by":"x","pass":true,"at":"2026-01-02T00:00:00Z"}
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

func compiled(t testing.TB, name string) *contract.Schema {
	b, err := labels.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := contract.Compile(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func FuzzRead(f *testing.F) {
	schema := compiled(f, "labels")
	f.Add([]byte(`{"task_id":"a","pass":true,"judged":[{"judge":"j","score":0.5,"threshold":0.4,"params":{"temperature":0}}],"frame":{"judge_pass":3,"judge_fail":1}}`))
	f.Add([]byte(`{"task_id":"a","unit":"call","call_id":"c","rating":-1,"at":"2026-01-01T00:00:00Z","stratum":"random"}`))
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

func FuzzCalibration(f *testing.F) {
	schema := compiled(f, "calibration")
	f.Add([]byte(`{"format":"callvet.calibration","version":1,"judge":{"judge":"j"},"unit":"task","design":"transport","table":{"tp":1,"fn":0,"tn":2,"fp":0},"strata":[{"stratum":"random","tp":1,"fn":0,"tn":2,"fp":0}],"roles":["calibration"],"made":"2026-01-01T00:00:00Z","stats_version":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := labels.ParseCalibration("f", data)
		if err != nil {
			return
		}
		if !conforms(schema, data) {
			t.Fatalf("accepted against the schema: %s", data)
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := labels.ParseCalibration("f", b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if b2, _ := json.Marshal(again); string(b) != string(b2) {
			t.Fatalf("%s is not %s", b, b2)
		}
	})
}

// conforms holds a text against a published schema.
func conforms(s *contract.Schema, text []byte) bool {
	v, err := value.Parse(bytes.TrimSpace(text))
	return err == nil && s.Valid(v)
}

// TestCalibrationTooLong: a file over the limit is refused as one, and not as bad JSON.
func TestCalibrationTooLong(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.json")
	for size, kind := range map[int]error{1 << 20: callvet.ErrInvalid, 1<<20 + 1: callvet.ErrLimited} {
		if err := os.WriteFile(path, bytes.Repeat([]byte(" "), size), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := labels.LoadCalibration(path); !errors.Is(err, kind) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
