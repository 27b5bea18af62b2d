// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/retrieve"
)

const (
	selectSuite     = "../../examples/select/suite.json"
	selectCatalogue = "../../examples/select/catalogue.json"
)

// selectCase is a case as the file has it.
type selectCase struct {
	ID, Query, Difficulty, Language string
	Route                           string   `json:"expected_route"`
	SubRoute                        string   `json:"expected_sub_route"`
	Agents                          []string `json:"expected_agents"`
	Tools                           []string `json:"expected_tools"`
	Acceptable                      []string `json:"acceptable_tools"`
	Tags                            []string
}

func readSelect(t *testing.T, path string) (*callvet.Suite, []selectCase, *retrieve.Catalogue) {
	t.Helper()
	data, err := os.ReadFile(selectCatalogue)
	if err != nil {
		t.Fatal(err)
	}
	c, problems, err := retrieve.LoadCatalogue(selectCatalogue, data)
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v %v", err, problems)
	}
	tools, problems, err := LoadTools(selectCatalogue, ToolOptions{})
	if err != nil || HasErrors(problems) {
		t.Fatalf("%v %v", err, problems)
	}
	s, problems, err := Load(path, Options{Tools: tools})
	if err != nil || HasErrors(problems) {
		t.Fatalf("%v %v", err, problems)
	}
	problems = lint(t.Context(), s, LintOptions{})
	if len(problems) > 0 {
		t.Errorf("lint: %v", problems)
	}
	cases := make([]selectCase, len(s.Cases))
	for i := range s.Cases {
		if err := json.Unmarshal(s.Cases[i].Foreign, &cases[i]); err != nil {
			t.Fatal(err)
		}
	}
	return s, cases, c
}

func TestSelectCatalogue(t *testing.T) {
	t.Parallel()
	s, _, c := readSelect(t, selectSuite)
	if len(c.Entries) < 60 || len(c.Agents) == 0 || len(c.Primary) == 0 || len(c.Fallback) == 0 {
		t.Errorf("%d tools, %d agents, namespaces %v %v", len(c.Entries), len(c.Agents), c.Primary, c.Fallback)
	}
	asked := map[string]string{}
	callable := regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	for i := range c.Entries {
		e, home := &c.Entries[i], c.Homes[c.Entries[i].Tool.Name]
		name := e.Tool.Name
		if !callable.MatchString(name) || e.Title == "" || len([]rune(e.Tool.Description)) < 40 ||
			len(e.Keywords) < 3 || len(e.Examples) < 2 || len(e.Examples) > 4 || len(e.Namespace) < 2 {
			t.Errorf("%s is not fully described", name)
		}
		if home.Category == "" || home.Route == "" || len(home.Agents) == 0 {
			t.Errorf("%s has no home: %+v", name, home)
		}
		if _, err := contract.Compile(e.Tool.Parameters); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if i < len(s.Tools) && s.Tools[i].Name != name {
			t.Errorf("tool %d is %s for suites and %s for retrieval", i, s.Tools[i].Name, name)
		}
		for _, q := range e.Examples {
			if other, twice := asked[strings.ToLower(q)]; twice {
				t.Errorf("%s and %s have the same example %q", other, name, q)
			}
			asked[strings.ToLower(q)] = name
		}
	}
	if len(s.Tools) != len(c.Entries) {
		t.Errorf("%d tools for suites, %d for retrieval", len(s.Tools), len(c.Entries))
	}
}

// TestEveryToolIsAsked: the 80 questions of every-tool.json, 20 in each category, expect every tool and
// every route and sub-route of the catalogue, and repeat no question of the other suite.
func TestEveryToolIsAsked(t *testing.T) {
	t.Parallel()
	asked := map[string]bool{}
	_, others, _ := readSelect(t, selectSuite)
	for i := range others {
		asked[strings.ToLower(others[i].Query)] = true
	}
	s, cases, c := readSelect(t, filepath.Join(filepath.Dir(selectSuite), "every-tool.json"))
	tools, homes, perCategory := map[string]bool{}, map[string]bool{}, map[string]int{}
	for i := range cases {
		k := &cases[i]
		checkSelectCase(t, k, c)
		perCategory[s.Cases[i].Fields["category"]]++
		homes[k.Route+"/"+k.SubRoute] = true
		for _, name := range k.Tools {
			tools[name] = true
		}
		if q := strings.ToLower(k.Query); asked[q] {
			t.Errorf("%s asks what is asked elsewhere: %s", k.ID, q)
		} else {
			asked[q] = true
		}
	}
	if d := cmp.Diff(map[string]int{"traffic": 20, "companies": 20, "general": 20, "hard": 20}, perCategory); d != "" {
		t.Error(d)
	}
	for name, home := range c.Homes {
		if !tools[name] || !homes[home.Route+"/"+home.SubRoute] {
			t.Errorf("no question expects %s of %s/%s", name, home.Route, home.SubRoute)
		}
	}
}

func TestSelectSuiteIsSane(t *testing.T) {
	t.Parallel()
	s, cases, c := readSelect(t, selectSuite)
	examples := map[string]bool{}
	for i := range c.Entries {
		for _, q := range c.Entries[i].Examples {
			examples[strings.ToLower(q)] = true
		}
	}
	perCategory, difficulties, ids, queries := map[string]int{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	nothing := 0
	for i := range cases {
		k := &cases[i]
		perCategory[s.Cases[i].Fields["category"]]++
		difficulties[k.Difficulty]++
		q := strings.ToLower(strings.TrimSpace(k.Query))
		if ids[k.ID] || queries[q] || examples[q] || q == "" {
			t.Errorf("%s: its id or its query is there already, or an example of a tool: %q", k.ID, k.Query)
		}
		ids[k.ID], queries[q] = true, true
		if len(k.Tags) == 0 || !slices.Contains([]string{"sv", "sv-en"}, k.Language) {
			t.Errorf("%s: tags %v, language %q", k.ID, k.Tags, k.Language)
		}
		if len(k.Tools) == 0 {
			nothing++
		}
		checkSelectCase(t, k, c)
	}
	if d := cmp.Diff(map[string]int{"trafikverket": 20, "bolagsverket": 20, "general": 20, "adversarial": 20},
		perCategory); d != "" {
		t.Error(d)
	}
	if difficulties["easy"] < 10 || difficulties["medium"] < 10 || difficulties["hard"] < 10 || len(difficulties) != 3 {
		t.Errorf("difficulties %v", difficulties)
	}
	if nothing < 5 {
		t.Errorf("%d cases where nothing fits", nothing)
	}
}

// checkSelectCase holds what a case expects against the homes of its tools.
func checkSelectCase(t *testing.T, k *selectCase, c *retrieve.Catalogue) {
	t.Helper()
	for _, name := range slices.Concat(k.Tools, k.Acceptable) {
		if _, ok := c.Homes[name]; !ok {
			t.Errorf("%s: tool %s does not exist", k.ID, name)
		}
	}
	for _, list := range [][]string{k.Tools, k.Acceptable, k.Agents, k.Tags} {
		if len(slices.Compact(slices.Sorted(slices.Values(list)))) != len(list) {
			t.Errorf("%s: %v says something twice", k.ID, list)
		}
	}
	if len(k.Tools) == 0 {
		if len(k.Acceptable) > 0 || len(k.Agents) > 0 || k.SubRoute != "" || !slices.Contains(k.Tags, "inget-verktyg") {
			t.Errorf("%s: nothing fits, and yet it expects %+v", k.ID, *k)
		}
		return
	}
	if len(k.Tools) > 2 || len(k.Acceptable) > 6 ||
		slices.ContainsFunc(k.Tools, func(n string) bool { return !slices.Contains(k.Acceptable, n) }) {
		t.Errorf("%s: %v are expected, %v acceptable", k.ID, k.Tools, k.Acceptable)
	}
	var agents []string
	for _, name := range k.Tools {
		home := c.Homes[name]
		if home.Route != k.Route || home.SubRoute != k.SubRoute {
			t.Errorf("%s: %s/%s does not lead to %s", k.ID, k.Route, k.SubRoute, name)
		}
		agents = append(agents, home.Agents...)
	}
	slices.Sort(agents)
	if d := cmp.Diff(slices.Compact(agents), slices.Sorted(slices.Values(k.Agents))); d != "" {
		t.Errorf("%s: agents: %s", k.ID, d)
	}
}

// TestSelectNumbersAreNoNames holds every organization number in the example files
// to have a check digit that is wrong, so that it cannot be anybody's.
func TestSelectNumbersAreNoNames(t *testing.T) {
	t.Parallel()
	for _, path := range []string{selectSuite, selectCatalogue} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		numbers := regexp.MustCompile(`\b[0-9]{6}-?[0-9]{4}\b`).FindAllString(string(data), -1)
		if len(numbers) == 0 {
			t.Errorf("%s has no numbers", path)
		}
		for _, n := range numbers {
			if !strings.HasPrefix(n, "559999-0") || luhn(strings.ReplaceAll(n, "-", "")) {
				t.Errorf("%s: %s may be somebody's", path, n)
			}
		}
	}
}

func luhn(digits string) bool {
	sum := 0
	for i, d := range digits {
		n := int(d - '0')
		if i%2 == 0 {
			n *= 2
		}
		sum += n/10 + n%10
	}
	return sum%10 == 0
}

// TestSelectSuiteLosesNothing exports the suite to its own form.
func TestSelectSuiteLosesNothing(t *testing.T) {
	t.Parallel()
	s, _, _ := readSelect(t, selectSuite)
	out, problems, err := ExportAs("categories", s)
	if err != nil || HasErrors(problems) {
		t.Fatalf("%v %v", err, problems)
	}
	data, err := os.ReadFile(selectSuite)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
