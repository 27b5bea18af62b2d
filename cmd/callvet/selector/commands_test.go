// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// world runs commands over files in memory.
type world struct {
	files  map[string]string
	failed bool
}

func (w *world) env(out io.Writer) Env {
	return Env{
		Read: func(name string) ([]byte, error) {
			if s, ok := w.files[name]; ok {
				return []byte(s), nil
			}
			return nil, os.ErrNotExist
		},
		Now: time.Now, Out: out, JSON: func() bool { return false }, Failed: func() { w.failed = true },
		Models: func() *Models {
			return &Models{Getenv: func(name string) string { return map[string]string{"KEY": "s3cret-key"}[name] }, Now: time.Now, Warn: io.Discard}
		},
	}
}

func (w *world) run(t *testing.T, command func(Env) *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := command(w.env(&out))
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func zipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A catalogue may be in any form that tools are written in.
func TestLoad(t *testing.T) {
	t.Parallel()
	w := &world{files: map[string]string{
		"a.json":   "\ufeff" + `[{"name":"a","description":"x"}]`,
		"b.json":   "// tools\n" + `[{"name":"a","description":"x"},]`,
		"a.yaml":   "tools:\n- name: a\n  description: x\n",
		"a.jsonl":  "{\"name\":\"a\",\"description\":\"x\"}\n",
		"a.gz":     zipped(t, `[{"name":"a","description":"x"}]`),
		"bad.yaml": "tools:\n- name: a\n  description:\n    5\n- name: a\n",
		"bad.gz":   "\x1f\x8bx",
		"bad.csv":  "a,b",
	}}
	read := w.env(nil).Read
	for _, name := range []string{"a.json", "b.json", "a.yaml", "a.jsonl", "a.gz"} {
		c, problems, err := Load(name, read)
		if err != nil || len(problems) > 0 || len(c.Entries) != 1 || c.Entries[0].Tool.Description != "x" {
			t.Errorf("%s: %+v %v %v", name, c, problems, err)
		}
	}
	for name, say := range map[string]string{
		"bad.yaml": "read catalogue: invalid: bad.yaml:4: tool a: description is 5, not text, and 1 mistake more",
		"bad.gz":   "read bad.gz: read gzip", "bad.csv": "bad.csv", "none": "file does not exist",
	} {
		if _, _, err := Load(name, read); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a catalogue calls its tools is not sent to the terminal as it is, and a mistake
// does not keep lint from the others.
func TestToolsLint(t *testing.T) {
	t.Parallel()
	w := &world{files: map[string]string{"c.json": "[{\"name\":\"a\\u001b[31mX\"},\n{\"name\":\"b\",\"namespace\":\"x\"},{\"name\":\"b\"}]"}}
	out, err := w.run(t, ToolsCommand, "lint", "c.json")
	if err != nil || !w.failed || strings.Contains(out, "\x1b") {
		t.Errorf("%q, %v", out, err)
	}
	for _, say := range []string{`a\u001b[31mX`, "c.json:2:25: tool b: namespace is", "tool b is there twice", "no-description: c.json: b has no description", "2 tools, 4 errors"} {
		if !strings.Contains(out, say) {
			t.Errorf("%q is not in %s", say, out)
		}
	}
}

// A service is told nothing but k; flags that it would not hear of are refused.
func TestService(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ via, flag, say string }{
		{"http://h/x", "--k=3", ""},
		{"http://${HOST}/x?key=${KEY}", "--tools=c.json", ""},
		{"localhost:8000/x", "", "is no address"},
		{"https:///x", "", "is no address"},
		{"c.json", "", "is no address"},
		{"http://h", "--preset=bigtool", "not told --preset"},
		{"http://h", "--threshold=0", "not told --threshold"},
		{"http://h", "--embed=x", "not told --embed"},
		{"http://h", "--routes=none", "not told --routes"},
		{"http://h", "--weights=w.json", "weights of retrieval in w.json"},
	} {
		var f Flags
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.Register(fs)
		if err := fs.Parse([]string{c.flag}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Ready(func(string) ([]byte, error) { return []byte(`{"retrieval":{"vector":0.5}}`), nil }); err != nil {
			t.Fatal(err)
		}
		if err := f.Service(c.via); (err == nil) != (c.say == "") || err != nil && !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s %s: %v", c.via, c.flag, err)
		}
	}
}
