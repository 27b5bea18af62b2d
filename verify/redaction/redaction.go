// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package redaction answers one question: what does redaction remove from public data, and what of it
// should have stayed?
//
// It reads every set of the test data through the redactor of traces and runs, and checks all that can
// be decided without a person. No figure and no type may change, a second pass may change nothing, and
// labels in the set of personal data are compared span by span. The rest is counted by kind and
// listed.
package redaction

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
	"github.com/callvet/callvet/verify/proof"
)

// measure has the findings in one set.
type measure struct {
	set              string
	records, due     int
	strings, numbers int
	wrong            []string // violations
	kinds            map[safety.DataKind]int
	found            map[string]int // listed: kind, where, and the text around it
}

// Verify measures every set of the part. It checks that every record kept the parts that must not
// change, and each kind of labelled spans by its limits. The findings in the set named list are
// printed.
func Verify(c *proof.Check, d proof.Data, list string) error {
	names, err := Sets(d.Root)
	if err != nil {
		return err
	}
	c.Printf("%-24s %9s %9s %9s  redacted\n", "set", "records", "texts", "numbers")
	for _, set := range names {
		m, err := measureSet(filepath.Join(d.Root, "sets"), set, d.Part)
		if err != nil {
			return err
		}
		c.Printf("%-24s %9d %9d %9d  %s\n", set, m.records, m.strings, m.numbers, kindList(m.kinds))
		subject := "records of " + set
		c.Due(subject, max(1, m.due), "its files")
		c.Agree(subject, m.records)
		for i, w := range m.wrong {
			c.Compare(subject, fmt.Sprint(i+1), false, "%s", w)
		}
		if set == list {
			for _, line := range slices.Sorted(maps.Keys(m.found)) {
				c.Printf("  %d × %s\n", m.found[line], line)
			}
		}
	}
	return spans(c, d)
}

// Sets returns the sets on the page of the data. A set without a folder, or a folder that the page
// does not list, is an error.
func Sets(data string) ([]string, error) {
	b, err := os.ReadFile(filepath.Join(data, "README.md"))
	if err != nil {
		return nil, fmt.Errorf("list sets: %w", err)
	}
	entries, err := os.ReadDir(filepath.Join(data, "sets"))
	if err != nil {
		return nil, fmt.Errorf("list sets: %w", err)
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name()] = e.IsDir()
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| set ") {
			continue
		}
		cell, _, _ := strings.Cut(line[2:], "|")
		for name := range strings.SplitSeq(cell, ",") {
			if name = strings.TrimSpace(name); name == "" || strings.HasSuffix(name, "/") {
				continue
			}
			if !there[name] {
				return nil, fmt.Errorf("list sets: %w: the page lists %s, and there is no such folder",
					callvet.ErrNotFound, name)
			}
			out = append(out, name)
		}
	}
	for name, dir := range there {
		if dir && !slices.Contains(out, name) {
			return nil, fmt.Errorf("list sets: %w: the page does not list %s", callvet.ErrInvalid, name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("list sets: %w: the page lists none", callvet.ErrInvalid)
	}
	slices.Sort(out)
	return out, nil
}

// otherPart reports whether a folder has another part of a set: it is next to the folder of the
// part and has a file of the same name. Other folders there belong to every part.
func otherPart(dir, name, part string) bool {
	if name == part {
		return false
	}
	files, err := os.ReadDir(filepath.Join(dir, part))
	return err == nil && slices.ContainsFunc(files, func(f fs.DirEntry) bool {
		info, err := os.Stat(filepath.Join(dir, name, f.Name()))
		return err == nil && info.Mode().IsRegular()
	})
}

func measureSet(root, set, part string) (*measure, error) {
	red, err := redact.New(redact.Config{})
	if err != nil {
		return nil, err
	}
	detect, err := safety.NewDetector(safety.DetectorConfig{})
	if err != nil {
		return nil, err
	}
	m := &measure{set: set, kinds: map[safety.DataKind]int{}, found: map[string]int{}}
	err = filepath.WalkDir(filepath.Join(root, set), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && otherPart(filepath.Dir(path), e.Name(), part):
			return fs.SkipDir
		case e.IsDir() || !strings.Contains(e.Name(), ".json"):
			return nil
		}
		return m.file(path, red, detect)
	})
	return m, err
}

// file reads a file of JSON, or of JSON Lines.
func (m *measure) file(path string, red *redact.Redactor, detect *safety.Detector) error {
	b, err := read(path)
	if err != nil {
		return err
	}
	records := [][]byte{b}
	if strings.Contains(filepath.Base(path), ".jsonl") {
		records = bytes.Split(b, []byte{'\n'})
	}
	for _, r := range records {
		if len(bytes.TrimSpace(r)) == 0 {
			continue
		}
		m.due++
		if err := m.record(r, red, detect); err != nil {
			m.wrong = append(m.wrong, fmt.Sprintf("%s: %v", filepath.Base(path), err))
			continue
		}
		m.records++
	}
	return nil
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read test data: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("read test data %s: %w", path, err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read test data %s: %w", path, err)
	}
	return b, nil
}

func (m *measure) record(raw []byte, red *redact.Redactor, detect *safety.Detector) error {
	before, err := value.Parse(raw)
	if err != nil {
		return err
	}
	w := walker{m: m, detect: detect}
	w.value("", before, safety.RoleNone)
	red.Begin()
	start := red.Total()
	hidden := red.JSON(json.RawMessage(raw))
	if n := int(red.Total() - start); n != w.n {
		return fmt.Errorf("%d values are found, and %d were redacted", w.n, n)
	}
	after, err := value.Parse(hidden)
	if err != nil {
		return fmt.Errorf("what is left is not JSON: %w", err)
	}
	if err := same(before, after); err != nil {
		return err
	}
	red.Begin()
	if again := red.JSON(hidden); !bytes.Equal(again, hidden) {
		at := 0
		for at < len(again) && at < len(hidden) && again[at] == hidden[at] {
			at++
		}
		from := max(0, at-40)
		return fmt.Errorf("a second pass changed %s to %s", clip(string(hidden[from:])), clip(string(again[from:])))
	}
	return nil
}

// same compares the parts that redaction must not change: kinds of values, numbers of members and
// items, and numbers. Integers of 9 to 19 digits and numbers under a secret's name may change.
func same(a, b value.Value) error {
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return fmt.Errorf("%s became %s", clip(string(a.Raw())), clip(string(b.Raw())))
	}
	if a.Kind() == value.Number && !bytes.Equal(a.Raw(), b.Raw()) &&
		(bytes.ContainsAny(a.Raw(), ".eE-") || len(a.Raw()) != len(b.Raw())) {
		return fmt.Errorf("the number %s became %s", a.Raw(), b.Raw())
	}
	y, _ := b.First()
	for x, ok := a.First(); ok; x, ok = a.Next(x) {
		if err := same(x, y); err != nil {
			return err
		}
		y, _ = b.Next(y)
	}
	return nil
}

// walker lists the possible findings, with the text around them.
type walker struct {
	m      *measure
	detect *safety.Detector
	n      int
}

func (w *walker) add(k safety.DataKind, path, text string) {
	w.n++
	w.m.kinds[k]++
	w.m.found[string(k)+"  "+path+"  "+text]++
}

func (w *walker) value(path string, v value.Value, r safety.NameRole) {
	switch v.Kind() {
	case value.String:
		w.m.strings++
		w.text(path, v.Str(), r)
	case value.Number:
		w.m.numbers++
		if k, ok := w.detect.Number(v.Raw(), r); ok {
			w.add(k, path, string(v.Raw()))
		}
	case value.Array, value.Object:
		w.members(path, v, r)
	}
}

func (w *walker) members(path string, v value.Value, r safety.NameRole) {
	pair := w.detect.Announced(v)
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		key, at := "", path+"[]"
		if v.Kind() == value.Object {
			key = e.Key()
			at = path + "." + clip(key)
			w.finds(path+" (name)", key, safety.RoleID)
		}
		role := w.detect.Below(r, key, e)
		if pair != safety.RoleNone && key == "value" {
			role = pair
		}
		w.value(at, e, role)
	}
}

func (w *walker) text(path, s string, r safety.NameRole) {
	if k, ok := w.detect.Whole(s, r); ok {
		w.add(k, path, clip(s))
		return
	}
	if t := strings.TrimSpace(s); t != "" && (t[0] == '{' || t[0] == '[') {
		if v, err := value.Parse([]byte(s)); err == nil {
			w.value(path+"$", v, safety.RoleNone)
			return
		}
	}
	w.finds(path, s, r)
}

func (w *walker) finds(path, s string, r safety.NameRole) {
	const around = 25
	for f, ok := w.detect.Find(s, 0, r); ok; f, ok = w.detect.Find(s, f.End, r) {
		from, to := max(0, f.Start-around), min(len(s), f.End+around)
		w.add(f.Kind, path, clip(strings.ToValidUTF8(s[from:f.Start], ""))+"«"+clip(s[f.Start:f.End])+"»"+
			clip(strings.ToValidUTF8(s[f.End:to], "")))
	}
}

func clip(s string) string {
	const most = 60
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func kindList(m map[safety.DataKind]int) string {
	var out []string
	for _, k := range safety.DataKinds() {
		if m[k] > 0 {
			out = append(out, fmt.Sprintf("%s %d", k, m[k]))
		}
	}
	return strings.Join(out, ", ")
}
