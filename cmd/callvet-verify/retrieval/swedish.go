// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// swedish loads the catalog and the suites of the Tool Selection Evaluation System.
// Questions that are word for word an example of the catalog are left out, and so are
// those without a right tool that the catalog has.
func swedish(sets string) ([]benchmark, error) {
	entries, err := seedCatalog(filepath.Join(sets, "..", "origins", "seed2", "tool_and_agent_metadata.json"))
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
	if err := seedSuite(filepath.Join(sets, "..", "origins", "seed2", "full_pipeline_eval_v1.orig-730ca5c.json"), func(q question) { add(&suite, q) }); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(sets, "oneseek_sv_suites", "open", "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list suites: %w", err)
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
				ID: t.ID, Tool: callvet.Tool{Name: t.Name, Description: t.Description}, Keywords: t.Keywords, Examples: t.Examples,
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

// seedTests reads one later suite; other files of the folder have no tests.
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
