// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// spellings is the subject of the words that a set lists.
const spellings = "spellings"

// judgeParsing reads recorded answers of judges and compares the verdicts with published ones. An
// answer may be unscored, which is counted, but must not get a different verdict.
func judgeParsing(c *proof.Check, d proof.Data) error {
	j, err := judge.Builtin("task")
	if err != nil {
		return err
	}
	words, err := listedWords(d)
	if err != nil {
		return err
	}
	c.Due(spellings, len(words), words.source())
	for _, w := range words {
		v := j.Read(w.text, judge.Did{})
		c.Compare(spellings, w.text, verdictWord(&v) == w.want, "%q is %s, and listed as %s", w.text, verdictWord(&v), w.want)
	}
	for _, set := range []struct {
		name string
		row  func(file string) string
	}{
		{"livemcpbench_judges", func(file string) string { return file }},
		{"tau2_judges", func(file string) string { return strings.Replace(file, "__", "|", 1) }},
	} {
		if err := recordedVerdicts(c, d, j, set.name, set.row); err != nil {
			return err
		}
	}
	return nil
}

// recordedVerdicts reads the answers of one set.
func recordedVerdicts(c *proof.Check, d proof.Data, j *judge.Judge, set string, row func(file string) string) error {
	figures, err := d.Published(set)
	if err != nil {
		return err
	}
	due := 0
	for _, name := range figures.Keys() {
		n, err := figures.Count(name, "n")
		if err != nil {
			return err
		}
		due += n
	}
	c.Due(set, due, set+"/scores.json")
	files, err := d.Files(set, "*.jsonl*")
	if err != nil {
		return err
	}
	unscored, mended := map[string]int{}, 0
	all := 0
	for _, path := range files {
		name, _, _ := strings.Cut(filepath.Base(path), ".jsonl")
		if !figures.Has(row(name), "n") {
			c.Problem(fmt.Errorf("read %s: %w: no figures are published for it", path, callvet.ErrNotFound))
		}
		n := 0
		err := jsonl.Each(path, func(r struct {
			TaskID string `json:"task_id"`
			Raw    string `json:"verdict_raw"`
			Strict *bool  `json:"verdict_strict_parse"`
			Pass   *bool  `json:"verdict_pass"`
		},
		) error {
			n++
			want := r.Pass
			if want == nil {
				want = r.Strict
			}
			v := j.Read(r.Raw, judge.Did{})
			if v.Mended {
				mended++
			}
			if !v.Scored() {
				unscored[v.Unscored]++
			}
			c.Compare(set, name+" "+r.TaskID, !v.Scored() || want != nil && *want == *v.Pass,
				"outside verdict %s, callvet %s", outside(want), verdictWord(&v))
			return nil
		})
		if err != nil {
			return err
		}
		all += n
	}
	none, why := 0, ""
	for _, reason := range slices.Sorted(maps.Keys(unscored)) {
		none += unscored[reason]
		why += fmt.Sprintf(" (%s %d)", reason, unscored[reason])
	}
	c.Printf("%s: %d answers of %d judges: %d were not JSON, %d are unscored%s\n", set, all, len(files),
		mended, none, why)
	return nil
}

func verdictWord(v *judge.Verdict) string {
	if !v.Scored() {
		return "unscored"
	}
	return outside(v.Pass)
}

func outside(pass *bool) string {
	switch {
	case pass == nil:
		return "unscored"
	case *pass:
		return "pass"
	}
	return "fail"
}

// listedWord is a spelling of a verdict with its meaning.
type listedWord struct{ text, want string }

type wordList []listedWord

func (wordList) source() string { return "tau2_judges/README.md" }

// free matches the lists of spellings on the page of the set: of a pass, of a fail and of neither.
var free = regexp.MustCompile(`free text \(([^)]*)\)`)

// listedWords are the spellings that the page of the set lists.
func listedWords(d proof.Data) (wordList, error) {
	page, err := proof.ReadReadme(d.Set("tau2_judges"))
	if err != nil {
		return nil, err
	}
	m := free.FindStringSubmatch(page.Text())
	if m == nil {
		return nil, fmt.Errorf("read %s: %w: it does not list how verdicts are spelled", page.Source(),
			callvet.ErrNotFound)
	}
	var out wordList
	for i, group := range strings.Split(m[1], " / ") {
		for _, w := range strings.Split(group, ",") {
			out = append(out, listedWord{strings.TrimSpace(w), []string{"pass", "fail", "unscored"}[min(i, 2)]})
		}
	}
	return out, nil
}
