// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// table is a table that a check writes into a page of the docs.
type table struct {
	name string // of its place in the page
	head []string
	rows [][]string
}

// The places of tables begin and end with these lines.
func tableBegins(name string) string { return "<!-- table: " + name + " -->\n" }

const tableEnds = "<!-- end of table -->\n"

// place finds the position of a table in a page.
func (t *table) place(page string) (from, to int, err error) {
	from = strings.Index(page, tableBegins(t.name))
	if from >= 0 {
		from += len(tableBegins(t.name))
		to = strings.Index(page[from:], tableEnds)
	}
	if from < 0 || to < 0 {
		return 0, 0, fmt.Errorf("find the table %q: the page has no %q: %w", t.name,
			strings.TrimSpace(tableBegins(t.name)), callvet.ErrInvalid)
	}
	return from, from + to, nil
}

// share is a number out of a total, which a table writes as 3/3.
var share = regexp.MustCompile(`\b(\d+) of (\d+)\b`)

// merged joins rows that differ only in their first cells: "LangGraph 1, invoke; values".
func merged(rows [][]string) [][]string {
	var out [][]string
	for _, row := range rows {
		i := slices.IndexFunc(out, func(earlier []string) bool { return slices.Equal(earlier[1:], row[1:]) })
		if i < 0 {
			out = append(out, slices.Clone(row))
			continue
		}
		name := row[0]
		before, after, ok := strings.Cut(name, ", ")
		if ok && strings.HasPrefix(out[i][0], before+", ") {
			name = after
		}
		out[i][0] += "; " + name
	}
	return out
}

// write puts the table into a page, in the place with its name. Without a page it does nothing.
func (t *table) write(page string) error {
	if page == "" {
		return nil
	}
	b, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text := string(b)
	from, to, err := t.place(text)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	var out strings.Builder
	for i, row := range append([][]string{t.head, nil}, merged(t.rows)...) {
		if i == 1 {
			out.WriteString(strings.Repeat("|---", len(t.head)) + "|\n")
			continue
		}
		for _, cell := range row {
			cell = share.ReplaceAllString(strings.ReplaceAll(cell, "|", `\|`), "$1/$2")
			out.WriteString("| " + cell + " ")
		}
		out.WriteString("|\n")
	}
	info, err := os.Stat(page)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(text[:from]+out.String()+text[to:]), info.Mode().Perm())
}

// httpTable lists the values read from agents over HTTP, one row for each shape.
func httpTable(rows [][]string) *table {
	return &table{
		name: "agents",
		head: []string{
			"agent and shape", "versions", "calls", "results", "error", "requests", "tokens",
			"cut streams read wrongly", "not recorded",
		}, rows: rows,
	}
}

// telemetryTable lists the values read from the telemetry of SDKs, one row for each of sdks.
func telemetryTable(rows [][]string) *table {
	return &table{
		name: "telemetry",
		head: []string{
			"SDK", "versions", "calls", "results", "error", "times", "tokens", "tasks", "forms read alike",
			"not recorded",
		}, rows: rows,
	}
}

// wireTable lists the values read from the answers of providers, one row for each provider and kind.
func wireTable(rows [][]string) *table {
	return &table{
		name: "wire",
		head: []string{
			"provider", "API", "recorded answers", "calls and text equal", "usage equal", "errors",
			"streams",
		}, rows: rows,
	}
}
