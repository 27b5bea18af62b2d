// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/verify/proof"
)

// swedishSet is the set of later suites, swedishOrigin the folder of their system: its catalog, its first
// suite, and all later suites.
const swedishSet = "oneseek_sv_suites"

func swedishOrigin(d proof.Data, elem ...string) string {
	return filepath.Join(append([]string{d.Root, "origins", "seed2"}, elem...)...)
}

// swedish loads the catalog and the suites of the Tool Selection Evaluation System.
// Questions that are word for word an example of the catalog are left out, and so are questions without
// a right tool in the catalog.
func swedish(d proof.Data) ([]benchmark, error) {
	entries, err := seedCatalog(swedishOrigin(d, "tool_and_agent_metadata.json"))
	if err != nil {
		return nil, err
	}
	known, examples := map[string]bool{}, map[string]bool{}
	var documents []string
	for i := range entries {
		known[entries[i].ID] = true
		for _, q := range entries[i].Examples {
			examples[strings.ToLower(q)] = true
		}
		documents = append(documents, entries[i].EmbeddingText())
	}
	suite := benchmark{name: "oneseek/suite", entries: entries, documents: documents}
	api := benchmark{name: "oneseek/api", entries: entries, documents: documents}
	add := func(b *benchmark, q question) {
		q.relevant = slices.DeleteFunc(q.relevant, func(id string) bool { return !known[id] })
		if len(q.relevant) > 0 && !examples[strings.ToLower(q.text)] {
			b.questions = append(b.questions, q)
		}
	}
	first, err := filepath.Glob(swedishOrigin(d, "*.orig-*.json")) // the first version of the system
	if err != nil || len(first) != 1 {
		return nil, fmt.Errorf("read suite: %w: %d files %s", callvet.ErrNotFound, len(first),
			swedishOrigin(d, "*.orig-*.json"))
	}
	if err := seedSuite(first[0], func(q question) { add(&suite, q) }); err != nil {
		return nil, err
	}
	paths, err := swedishSuites(d)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, path := range paths {
		err := seedTests(path, func(q question) {
			if key := strings.ToLower(q.text); !seen[key] {
				seen[key] = true
				add(&api, q)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return []benchmark{suite, api}, nil
}

// swedishSuites returns the later suites of the part. The origins list all suites, and each part has every
// second suite: fewer or different suites are an error.
func swedishSuites(d proof.Data) ([]string, error) {
	all, err := filepath.Glob(swedishOrigin(d, "eval_api", "*", "*", "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list suites: %w", err)
	}
	var out []string
	for _, origin := range all {
		path := d.In(swedishSet, filepath.Base(origin))
		own, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read suite: %w", err)
		}
		first, err := os.ReadFile(origin)
		if err != nil {
			return nil, fmt.Errorf("read suite: %w", err)
		}
		if same, err := proof.SameJSON(own, first); err != nil || !same {
			return nil, errors.Join(err,
				fmt.Errorf("read suite %s: %w: it is not that of %s", path, callvet.ErrInvalid, origin))
		}
		out = append(out, path)
	}
	if len(out) < max(1, len(all)/2) {
		return nil, fmt.Errorf("list suites: %w: %s has %d of the %d suites, half of them are due", callvet.ErrNotFound,
			d.In(swedishSet), len(out), len(all))
	}
	slices.Sort(out)
	return out, nil
}

func readJSON(path string, to any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read set: %w", err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("read set %s: %w", path, err)
	}
	return nil
}

func seedCatalog(path string) ([]retrieve.Entry, error) {
	var file struct {
		Groups map[string][]struct {
			ID                          string `json:"tool_id"`
			Name, Description, Category string
			Keywords                    []string
			Examples                    []string `json:"example_queries"`
		}
		Keywords   map[string][]string `json:"tool_keywords"`
		Namespaces map[string][]string `json:"namespace_overrides"`
	}
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	var out []retrieve.Entry
	seen := map[string]bool{} // one tool is in two groups
	for _, group := range []string{"scb", "riksdagen", "bolagsverket", "trafikverket", "geoapify", "builtin"} {
		for _, t := range file.Groups[group] {
			if seen[t.ID] {
				continue
			}
			seen[t.ID] = true
			e := retrieve.Entry{
				ID: t.ID, Tool: callvet.Tool{Name: t.Name, Description: t.Description}, Keywords: t.Keywords,
				Examples:  t.Examples,
				Namespace: []string{"tools", group},
			}
			if k, ok := file.Keywords[t.ID]; ok {
				e.Keywords = k
			}
			if n, ok := file.Namespaces[t.ID]; ok {
				e.Namespace = n
			}
			out = append(out, e)
		}
	}
	return out, nil
}

func seedSuite(path string, add func(question)) error {
	var file struct {
		Categories []struct {
			Cases []struct {
				ID, Query string
				Expected  []string `json:"expected_tools"`
			} `json:"test_cases"`
		}
	}
	if err := readJSON(path, &file); err != nil {
		return err
	}
	for _, c := range file.Categories {
		for _, q := range c.Cases {
			add(question{id: q.ID, text: q.Query, relevant: q.Expected})
		}
	}
	return nil
}

// seedTests reads one later suite.
func seedTests(path string, add func(question)) error {
	var file struct {
		Tests []struct {
			ID, Question string
			Expected     struct{ Tool string }
		}
	}
	if err := readJSON(path, &file); err != nil {
		return err
	}
	for _, t := range file.Tests {
		add(question{id: filepath.Base(path) + " " + t.ID, text: t.Question, relevant: []string{t.Expected.Tool}})
	}
	return nil
}
