// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package journeys

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// figures are the verdicts in a report, by target. Errors is -1 if the format omits them.
type figures map[string]counts

// readers read the verdicts in a report, by its extension. A format without a reader fails the walk.
var readers = map[string]func(text string, targets []string) (figures, error){
	".json": fromJSON, ".jsonl": fromJSONL, ".csv": fromCSV, ".xml": fromJUnit, ".md": fromMarkdown,
	".txt": fromTerminal, ".html": fromHTML,
}

// sentences match the one-line summary of a report.
var sentences = map[string]*regexp.Regexp{
	".json": regexp.MustCompile(`"summary":"([^"]*)"`),
	".md":   regexp.MustCompile(`(?m)^### [^:]*: (.*)$`),
	".html": regexp.MustCompile(`<p class="sentence[^"]*">([^<]*)</p>`),
	".txt":  regexp.MustCompile(`(?m)^(.*(?:judged|No ).*)$`),
}

type jsonVerdicts struct {
	Pass   int `json:"pass"`
	Fail   int `json:"fail"`
	Error  int `json:"error"`
	NotRun int `json:"not_run"`
}

func fromJSON(text string, _ []string) (figures, error) {
	var r struct {
		Panels struct {
			Targets []struct {
				Name    string `json:"name"`
				Overall struct {
					Verdicts jsonVerdicts `json:"verdicts"`
				} `json:"overall"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	f := figures{}
	for _, t := range r.Panels.Targets {
		v := t.Overall.Verdicts
		f[t.Name] = counts{v.Pass, v.Fail, v.Error}
	}
	return f, nil
}

func (f figures) count(target, verdict string) error {
	c := f[target]
	switch verdict {
	case "pass":
		c.Pass++
	case "fail":
		c.Fail++
	case "error":
		c.Error++
	default:
		return fmt.Errorf("unknown verdict %q", verdict)
	}
	f[target] = c
	return nil
}

func fromJSONL(text string, targets []string) (figures, error) {
	f := none(targets)
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r struct {
			Type, Target, Outcome string
			Pass                  *bool
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("read a JSON line: %w", err)
		}
		verdict := r.Outcome
		switch {
		case r.Type != "task": // a call
			continue
		case r.Pass != nil && *r.Pass:
			verdict = "pass"
		case r.Pass != nil:
			verdict = "fail"
		}
		if err := f.count(r.Target, verdict); err != nil {
			return nil, err
		}
	}
	return f, lines.Err()
}

func fromCSV(text string, targets []string) (figures, error) {
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read CSV: %w", err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("the CSV has no header")
	}
	col := map[string]int{}
	for i, name := range rows[0] {
		col[name] = i
	}
	f := none(targets)
	for _, row := range rows[1:] {
		if err := f.count(row[col["target"]], row[col["verdict"]]); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func fromJUnit(text string, targets []string) (figures, error) {
	type verdicts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	var r struct {
		verdicts
		Suites []struct {
			verdicts
			Name  string `xml:"name,attr"`
			Cases []struct {
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("read XML: %w", err)
	}
	f := none(targets)
	for _, s := range r.Suites {
		_, target, _ := strings.Cut(s.Name, " · ")
		c := counts{Pass: s.Tests - s.Failures - s.Errors - s.Skipped, Fail: s.Failures, Error: s.Errors}
		var listed counts
		for i := range s.Cases {
			switch {
			case s.Cases[i].Error != nil:
				listed.Error++
			case s.Cases[i].Failure != nil:
				listed.Fail++
			case s.Cases[i].Skipped == nil:
				listed.Pass++
			}
		}
		if listed != c {
			return nil, fmt.Errorf("suite %q counts %+v and lists %+v", s.Name, c, listed)
		}
		f[target] = c
	}
	return f, nil
}

var (
	judgedOf  = regexp.MustCompile(`^(\d+) ?/ ?(\d+)$`)
	leadCount = regexp.MustCompile(`^\d+`)
	// A table of several targets has their ranks before the counts.
	htmlRow = regexp.MustCompile(
		`(?s)<th scope="row">(.*?)</th>\s*(?:<td class="n">[\d–]+</td>)?<td class="n">(\d+) / (\d+)</td>`)
	htmlTally = regexp.MustCompile(`<b class="t-warn">(\d+)</b> error`)
	htmlTags  = regexp.MustCompile(`<[^>]*>`)
)

// row reads "4/7" and, if the format has it, the number of errors.
func row(passed, errs string) (counts, error) {
	m := judgedOf.FindStringSubmatch(strings.TrimSpace(passed))
	if m == nil {
		return counts{}, fmt.Errorf("%q is no count of passes", passed)
	}
	p, _ := strconv.Atoi(m[1])
	n, _ := strconv.Atoi(m[2])
	c := counts{Pass: p, Fail: n - p, Error: -1}
	if m := leadCount.FindString(strings.TrimSpace(errs)); m != "" {
		c.Error, _ = strconv.Atoi(m)
	}
	return c, nil
}

func fromMarkdown(text string, targets []string) (figures, error) {
	rows := [][]string{}
	for line := range strings.Lines(text) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) >= 4 {
			cells = cells[1:]
			cells[0] = html.UnescapeString(strings.ReplaceAll(cells[0], `\`, ""))
			rows = append(rows, cells)
		}
	}
	return fromTable(rows, targets)
}

func (f figures) has(t string) bool { _, ok := f[t]; return ok }

// allPassed is the sentence of a run with only passed attempts. With one target it has no table.
var allPassed = regexp.MustCompile(`(?m)^(?:All (\d+) judged attempts|The only judged attempt) passed\.`)

// fromTerminal reads the table of targets: two spaces separate columns.
func fromTerminal(text string, targets []string) (figures, error) {
	if m := allPassed.FindStringSubmatch(text); m != nil && len(targets) == 1 && !strings.Contains(text, "───") {
		n, err := strconv.Atoi(cmp.Or(m[1], "1"))
		return figures{targets[0]: {Pass: n}}, err
	}
	rows := [][]string{}
	for line := range strings.Lines(text) {
		cells := columns.Split(strings.TrimSpace(line), -1)
		cells[0] = numbered.ReplaceAllString(cells[0], "")
		rows = append(rows, cells)
	}
	return fromTable(rows, targets)
}

// fromTable reads the first row of each target. The heading is the row that begins with "target".
func fromTable(rows [][]string, targets []string) (figures, error) {
	f := figures{}
	passed, errors := 1, -1
	for _, cells := range rows {
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "target" {
			passed, errors = slices.Index(cells, "pass"), slices.Index(cells, "errors")
		}
		if !slices.Contains(targets, cells[0]) || f.has(cells[0]) || passed < 0 || passed >= len(cells) {
			continue
		}
		e := ""
		if errors > 0 && errors < len(cells) {
			e = cells[errors]
		}
		c, err := row(cells[passed], e)
		if err != nil {
			return nil, err
		}
		f[cells[0]] = c
	}
	return f, nil
}

var (
	columns  = regexp.MustCompile(` {2,}`)
	numbered = regexp.MustCompile(`^\[\d+\] `)
)

func fromHTML(text string, targets []string) (figures, error) {
	f := figures{}
	_, of, found := strings.Cut(text, `<section id="targets">`) // the grid of cases is before it
	if !found {
		return nil, fmt.Errorf("read the page: it has no table of targets")
	}
	for _, m := range htmlRow.FindAllStringSubmatch(of, -1) {
		name := strings.TrimSpace(html.UnescapeString(htmlTags.ReplaceAllString(m[1], "")))
		for _, t := range targets {
			if numbered.ReplaceAllString(name, "") == t && !f.has(t) {
				c, err := row(m[2]+"/"+m[3], "")
				if err != nil {
					return nil, err
				}
				f[t] = c
			}
		}
	}
	// The page counts errors for all targets together.
	all := 0
	if m := htmlTally.FindStringSubmatch(text); m != nil {
		all, _ = strconv.Atoi(m[1])
	}
	if len(targets) == 1 {
		c := f[targets[0]]
		c.Error = all
		f[targets[0]] = c
	}
	return f, nil
}

func none(targets []string) figures {
	f := figures{}
	for _, t := range targets {
		f[t] = counts{}
	}
	return f
}
