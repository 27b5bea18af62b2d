// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet/verify/proof"
	"github.com/callvet/callvet/verify/serving"
)

// due is the number of rows of each document.
var due = []struct {
	document string
	rows     int
}{
	{"Evaluating Tool Calling", 64},
	{"Tool Selection Evaluation System", 41},
	{"Tool Calling Evaluation", 41},
	{"Eval Case Interfaces", 31},
}

// patience is the longest wait for a required value.
const patience = time.Minute

// Verify runs the steps of every row with the binary, prints the table, and compares.
func Verify(ctx context.Context, c *proof.Check, binary, examples string) error {
	documents, err := Documents()
	if err != nil {
		return err
	}
	for _, d := range due {
		c.Due(d.document, d.rows, "the list of the documents")
	}
	for i := range documents {
		err = errors.Join(err, documents[i].verify(ctx, c, binary, examples))
	}
	return err
}

// verify checks the rows of one document, in a folder with a separate store and server.
func (d *Document) verify(ctx context.Context, c *proof.Check, binary, examples string) (err error) {
	l, err := newLab(binary, examples, d.Files)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Title, err)
	}
	defer func() { err = errors.Join(err, l.close()) }()
	c.Printf("\n%s: %d rows\n\n| row | command or request | seen | expected |\n|---|---|---|---|\n", d.Title,
		len(d.Rows))
	for i := range d.Rows {
		r := &d.Rows[i]
		wrong := l.row(ctx, c, r)
		c.Compare(d.Title, r.Term, len(wrong) == 0, "%s", strings.Join(wrong, "; "))
	}
	return nil
}

// row runs the steps of a row, prints their results, and returns the differences.
func (l *lab) row(ctx context.Context, c *proof.Check, r *Row) (wrong []string) {
	compared := 0
	for _, s := range r.Steps {
		line := l.filled(s.Line)
		for j, e := range l.made(ctx, &s, line) {
			compared++
			seen := cell(e.seen)
			if !e.right {
				wrong = append(wrong, fmt.Sprintf("%s: %s, seen %s", s.Line, e.of, seen))
			}
			if j > 0 {
				line = ""
			}
			c.Printf("| %s | %s | %s | %s |\n", cell(r.Term), cell(line), seen, cell(e.of))
		}
	}
	if r.Hand == "" {
		wrong = append(wrong, "no word of how the expected values were worked out")
	}
	if compared == 0 {
		wrong = append(wrong, "the row has no check")
	}
	return wrong
}

// longest is the largest printed length of a cell.
const longest = 300

func cell(s string) string {
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}

// compared is an expectation with the actual value.
type compared struct {
	of, seen string
	right    bool
}

// made runs a step and compares its results.
func (l *lab) made(ctx context.Context, s *Step, line string) []compared {
	var out []compared
	for end := time.Now().Add(patience); ; {
		a, err := l.do(ctx, s.Request, line)
		if err != nil {
			return []compared{{of: "an answer", seen: err.Error()}}
		}
		out = l.compare(s, a)
		late := time.Now().After(end)
		waits := slices.ContainsFunc(s.Expect, func(e Expectation) bool { return e.Kind == kindUntil })
		if !waits || late || !slices.ContainsFunc(out, func(e compared) bool { return !e.right }) {
			return out
		}
		select {
		case <-ctx.Done():
			return out
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// compare compares an answer with all expectations of a step. By default the exit code or status must be a
// success.
func (l *lab) compare(s *Step, a answer) []compared {
	var out []compared
	coded := false
	for _, e := range s.Expect {
		if e.Kind == kindKeep {
			v, ok := at(a.doc, e.Want)
			if l.kept[e.At] = written(v); !ok {
				out = append(out, compared{of: "a value at " + e.Want, seen: a.text})
			}
			continue
		}
		want := l.filled(e.Want)
		coded = coded || e.Kind == kindExit || e.Kind == kindStatus
		seen, right := seenOf(&e, a, want)
		of := e.String()
		out = append(out, compared{of: of, seen: seen, right: right})
	}
	if success := a.code == 0 || s.Request && a.code/100 == 2; !coded && !success {
		out = append(out, compared{of: "success", seen: fmt.Sprintf("%d: %s", a.code, a.text)})
	}
	return out
}

// seenOf returns the value of an answer at the place of an expectation, and whether it is as expected.
func seenOf(e *Expectation, a answer, want string) (string, bool) {
	switch e.Kind {
	case kindHas:
		return found(strings.Contains(a.text, want), a)
	case kindNot:
		seen, has := found(strings.Contains(a.text, want), a)
		return seen, !has
	case kindExit, kindStatus:
		return strconv.Itoa(a.code), strconv.Itoa(a.code) == want
	case kindMetric:
		v, ok := metric(a.doc, e.At)
		return written(v), ok && same(v, want)
	case kindCount:
		v, _ := at(a.doc, e.At)
		list, ok := v.([]any)
		return strconv.Itoa(len(list)), ok && strconv.Itoa(len(list)) == want
	}
	v, ok := at(a.doc, e.At)
	if !ok {
		return "nothing: " + a.text, false
	}
	return written(v), same(v, want)
}

func found(has bool, a answer) (string, bool) {
	if has {
		return "it has", true
	}
	return "it has not: " + a.text, false
}

// lab is a folder with the files of a document, for the check of its rows.
type lab struct {
	binary, dir string
	kept        map[string]string // values by their names
	server      *serving.Server
	model       *model
}

func newLab(binary, examples string, files map[string]string) (*lab, error) {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, kept: map[string]string{}, model: startModel()}
	l.kept["model"] = l.model.URL
	if l.binary, err = filepath.Abs(binary); err != nil {
		return nil, err
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			return nil, err
		}
	}
	if examples, err = filepath.Abs(examples); err != nil {
		return nil, err
	}
	return l, errors.Join(os.Symlink(examples, filepath.Join(dir, "examples")),
		os.Mkdir(filepath.Join(dir, "bin"), 0o700),
		os.Symlink(l.binary, filepath.Join(dir, "bin", "callvet")))
}

func (l *lab) close() error {
	l.model.Close()
	var err error
	if l.server != nil {
		err = l.server.Stop()
	}
	return errors.Join(err, os.RemoveAll(l.dir))
}

// filled replaces names in braces by stored values.
func (l *lab) filled(text string) string {
	for name, value := range l.kept {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// do runs a step.
func (l *lab) do(ctx context.Context, request bool, line string) (answer, error) {
	if request {
		return l.ask(ctx, line)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = l.dir
	cmd.Env = []string{
		"HOME=" + l.dir, "PATH=" + filepath.Join(l.dir, "bin") + ":" + os.Getenv("PATH"), "NO_COLOR=1",
		"OPENAI_API_KEY=k",
		"CALLVET_DB=" + filepath.Join(l.dir, "runs.db"),
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return answer{}, fmt.Errorf("run %s: %w", line, err)
	}
	return answerOf(out.Bytes(), errs.String(), cmd.ProcessState.ExitCode()), nil
}

// ask sends a request: METHOD PATH, then a body of JSON, @FILE for an unchanged file, or +FILE for an
// uploaded file. The prefix anonymous leaves out the login.
func (l *lab) ask(ctx context.Context, line string) (answer, error) {
	if err := l.serve(ctx); err != nil {
		return answer{}, err
	}
	server := l.server
	if rest, ok := strings.CutPrefix(line, "anonymous "); ok {
		server, line = &serving.Server{Base: server.Base}, rest
	}
	method, rest, _ := strings.Cut(line, " ")
	path, text, _ := strings.Cut(rest, " ")
	body, err := l.body(text)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", line, err)
	}
	status, b, err := server.Answer(ctx, method, path, body)
	return answerOf(b, "", status), err
}

// serve starts the server of a document with its first request.
func (l *lab) serve(ctx context.Context) (err error) {
	if l.server != nil {
		return nil
	}
	dir := filepath.Join(l.dir, "server")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	l.server, err = serving.Start(ctx, l.binary, dir, "--allow-private", "127.0.0.1")
	return err
}

// body returns the body of a request.
func (l *lab) body(text string) (any, error) {
	name, asIs := strings.CutPrefix(text, "@")
	if upload, ok := strings.CutPrefix(text, "+"); ok {
		b, err := os.ReadFile(filepath.Join(l.dir, upload))
		return serving.Upload{Name: filepath.Base(upload), Text: b}, err
	}
	switch {
	case asIs:
		return os.ReadFile(filepath.Join(l.dir, name))
	case text == "":
		return nil, nil
	case !json.Valid([]byte(text)):
		return nil, errors.New("the body is not JSON")
	}
	return []byte(text), nil
}
