// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bigtool

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// twin is the suffix of the name of a tool that the system's data lists a second time.
const twin = "#2"

// readCatalog reads the tools of the system, in the order of its registry. A tool
// that is listed twice is returned once, or with twins a second time under a separate name.
func readCatalog(path string, twins bool) (*retrieve.Catalogue, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	var file struct {
		Groups map[string][]struct {
			ID                string `json:"tool_id"`
			Name, Description string
			Keywords          []string
			Examples          []string `json:"example_queries"`
		}
		Keywords   map[string][]string `json:"tool_keywords"`
		Namespaces map[string][]string `json:"namespace_overrides"`
		Agents     []struct {
			Name, Description   string
			Keywords, Namespace []string
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("read catalog %s: %w", path, err)
	}
	c := &retrieve.Catalogue{Primary: [][]string{{"tools"}}, Fallback: [][]string{}}
	for _, a := range file.Agents {
		c.Agents = append(c.Agents,
			retrieve.Agent{Name: a.Name, Description: a.Description, Keywords: a.Keywords, Namespace: a.Namespace})
	}
	seen := map[string]bool{} // one tool is in two groups
	for _, group := range []string{"scb", "riksdagen", "bolagsverket", "trafikverket", "geoapify", "builtin"} {
		for _, t := range file.Groups[group] {
			name := t.ID
			if seen[t.ID] {
				if !twins {
					continue
				}
				name += twin
			}
			seen[t.ID] = true
			e := retrieve.Entry{
				Title: t.Name, Tool: callvet.Tool{Name: name, Description: t.Description},
				Keywords: t.Keywords, Examples: t.Examples, Namespace: []string{"tools", group},
			}
			if k, ok := file.Keywords[t.ID]; ok {
				e.Keywords = k
			}
			if n, ok := file.Namespaces[t.ID]; ok {
				e.Namespace = n
			}
			c.Entries = append(c.Entries, e)
		}
	}
	if len(c.Entries) == 0 {
		return nil, fmt.Errorf("read catalog %s: %w", path, errNothing)
	}
	return c, nil
}
