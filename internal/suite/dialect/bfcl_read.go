// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// Limits of the input.
const (
	maxFile = 256 << 20 // unpacked: its cases are in memory, as those of any suite that is not streamed
	maxLine = 16 << 20
)

// OpenBFCL reads a file next to the imported one; nil where no other file may be read.
type OpenBFCL func(path string) ([]byte, error)

// Detect reports whether data (plain or gzip) starts with a BFCL question row.
func detectBFCL(data []byte, _ string) bool {
	line, err := firstLine(data)
	if err != nil {
		return false
	}
	v, err := value.Parse(line)
	if err != nil {
		return false
	}
	_, question := v.Get("question")
	_, one := v.Get("function")
	_, many := v.Get("functions")
	_, multi := v.Get("initial_config")
	_, id := v.Get("id")
	return id && question && (one || many || multi)
}

func firstLine(data []byte) ([]byte, error) {
	r, err := plainRow(data)
	if err != nil {
		return nil, err
	}
	br := bufio.NewReader(io.LimitReader(r, maxLine))
	for {
		line, err := br.ReadBytes('\n')
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		if len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// plainRow decompresses gzip.
func plainRow(data []byte) (io.Reader, error) {
	r, _, err := doc.Unpack(bytes.NewReader(data), maxFile)
	return r, err
}

// eachRow parses the rows of a JSON Lines file.
func eachRow(data []byte, path string, do func(v value.Value, line int) []callvet.Problem) ([]callvet.Problem, error) {
	r, err := plainRow(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	var problems []callvet.Problem
	line := 0
	for sc.Scan() {
		line++
		text := bytes.TrimSpace(sc.Bytes())
		if len(text) == 0 {
			continue
		}
		v, err := value.Parse(bytes.Clone(text))
		if err != nil {
			problems = append(problems,
				problem(path, line, "bad-row", "", "the row is not JSON: "+err.Error(), "", false))
			continue
		}
		problems = append(problems, do(v, line)...)
	}
	if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
		return problems, fmt.Errorf("read %s:%d: %w: a line is longer than %s", path, line+1, callvet.ErrLimited,
			doc.SizeText(maxLine))
	} else if err != nil {
		return problems, fmt.Errorf("read %s: %w: %w", path, callvet.ErrInvalid, err)
	}
	return problems, nil
}

func problem(path string, line int, code, id, msg, fix string, warning bool) callvet.Problem {
	return callvet.Problem{
		Position: callvet.Position{File: path, Line: line}, Code: code, Case: id, Message: msg,
		Fix: fix, Warning: warning,
	}
}

// Import reads one file of questions. Answers are taken from the rows or, by open, from the file of
// the same name in possible_answer next to path. The error is set when no case could be made of the
// file; it wraps callvet.ErrInvalid and has a hint.
func importBFCL(data []byte, path string, open OpenBFCL) (*callvet.Suite, []callvet.Problem, error) {
	im := &importer{path: path, category: categoryOfFile(path)}
	answers, err := readAnswers(path, open)
	if err != nil {
		return nil, nil, err
	}
	im.answers = answers
	s := &callvet.Suite{Name: suiteName(path), Dialect: "bfcl"}
	problems, err := eachRow(data, path, func(v value.Value, line int) []callvet.Problem {
		c, problems := im.row(v, line)
		if c != nil {
			s.Cases = append(s.Cases, *c)
		}
		return problems
	})
	if err != nil {
		return nil, problems, err
	}
	if len(s.Cases) == 0 {
		return nil, problems, im.nothing(problems)
	}
	s.Defaults.Scoring = callvet.Scoring{Profile: im.profile(), Contract: "report"}
	return s, problems, nil
}

func (im *importer) nothing(problems []callvet.Problem) error {
	err := fmt.Errorf("read BFCL file %s: %w: no case in it can be carried", im.path, callvet.ErrInvalid)
	hint := "a BFCL file has one question with its functions per line"
	if im.multiTurn > 0 {
		err = fmt.Errorf("read BFCL file %s: %w: %d multi-turn cases, which need BFCL's simulated APIs", im.path,
			callvet.ErrInvalid, im.multiTurn)
		hint = "import the single-turn categories"
	} else if len(problems) > 0 {
		hint = problems[0].Message
	}
	return &callvet.Hinted{Err: err, Hint: hint}
}

func readAnswers(path string, open OpenBFCL) (map[string]value.Value, error) {
	if open == nil || path == "" {
		return nil, nil
	}
	base := filepath.Base(path)
	dir := filepath.Join(filepath.Dir(path), "possible_answer")
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	for _, name := range []string{base, stem + ".json", stem + ".jsonl"} {
		full := filepath.Join(dir, name)
		data, err := open(full)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read answers: %w", err)
		}
		out := map[string]value.Value{}
		problems, err := eachRow(data, full, func(v value.Value, _ int) []callvet.Problem {
			id, _ := v.Get("id")
			if gt, ok := v.Get("ground_truth"); ok {
				out[id.Str()] = gt
			}
			return nil
		})
		if err != nil || len(problems) > 0 { // which quote the file
			at := ""
			if len(problems) > 0 {
				at = fmt.Sprintf(" in line %d", problems[0].Line)
			}
			return nil, fmt.Errorf("read answers %s: %w: they are no rows of JSON%s", full, callvet.ErrInvalid, at)
		}
		return out, nil
	}
	return nil, nil
}

// categoryOfFile takes "simple_java" from BFCL_v4_simple_java.json and
// "parallel" from parallel.jsonl.gz.
func categoryOfFile(path string) string {
	name := suiteName(path)
	if rest, ok := strings.CutPrefix(name, "BFCL_v"); ok {
		if _, cat, ok := strings.Cut(rest, "_"); ok {
			return cat
		}
	}
	return name
}

func suiteName(path string) string {
	name := filepath.Base(path)
	for _, ext := range []string{".gz", ".jsonl", ".ndjson", ".json"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// ImportBFCLTree reads every question file directly in dir into one suite, in the
// order of names. Files that are not BFCL questions, and categories that cannot
// be carried, are problems. Files are read by open. callvet.ErrNotFound when no file could be
// read.
func ImportBFCLTree(dir string, open OpenBFCL) (*callvet.Suite, []callvet.Problem, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read BFCL folder: %w", err)
	}
	var all *callvet.Suite
	var problems []callvet.Problem
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() || !strings.Contains(e.Name(), ".json") {
			continue
		}
		data, err := open(path)
		if err != nil {
			return nil, problems, fmt.Errorf("read BFCL folder: %w", err)
		}
		if !detectBFCL(data, path) {
			problems = append(problems,
				problem(path, 0, "file-ignored", "", "the file is left out: it holds no BFCL questions", "", true))
			continue
		}
		s, found, err := importBFCL(data, path, open)
		if err != nil {
			problems = append(problems, problem(path, 0, "not-carried", "", err.Error(), "", true))
			continue
		}
		problems = append(problems, found...)
		if all == nil {
			all = s
			continue
		}
		problems = append(problems, join(all, s, path)...)
	}
	if all == nil {
		return nil, problems, fmt.Errorf("read BFCL folder %s: %w: no file in it holds BFCL questions", dir,
			callvet.ErrNotFound)
	}
	all.Name = filepath.Base(dir)
	return all, problems, nil
}

// join adds b's cases to a; a file of another edition keeps its profile case by case.
func join(a, b *callvet.Suite, path string) []callvet.Problem {
	if a.Defaults.Scoring.Profile != b.Defaults.Scoring.Profile {
		for i := range b.Cases {
			s := b.Defaults.Scoring
			if own := b.Cases[i].Scoring; own != nil {
				s.Language = own.Language
			}
			b.Cases[i].Scoring = &s
		}
	}
	have := make(map[string]bool, len(a.Cases))
	for i := range a.Cases {
		have[a.Cases[i].ID] = true
	}
	var problems []callvet.Problem
	for i := range b.Cases {
		if have[b.Cases[i].ID] {
			problems = append(problems,
				problem(path, b.Cases[i].Position.Line, "duplicate-id", b.Cases[i].ID,
					"another file has a case of this id; this one is left out", "", false))
			continue
		}
		a.Cases = append(a.Cases, b.Cases[i])
	}
	sort.SliceStable(problems, func(i, j int) bool { return problems[i].Line < problems[j].Line })
	return problems
}
