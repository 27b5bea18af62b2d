// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score"
)

// TestDocsDocuments checks the tables of docs/design/documents.md with the documents' numbers next
// to callvet's. The first are computed by the documents' formulas as written here, the second by
// callvet.
func TestDocsDocuments(t *testing.T) {
	t.Parallel()
	text := document(t, "docs/design/documents.md")
	for name, table := range map[string]func(*testing.T) string{
		"arguments": argumentNumbers, "over-calls": overCallNumbers, "true success": successNumbers,
		"overall": overallNumbers, "multi-turn": multiTurnNumbers, "composite": compositeNumbers,
	} {
		begin, end := "<!-- numbers: "+name+" -->\n\n", "\n<!-- end -->"
		before, rest, found := strings.Cut(text, begin)
		old, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("docs/design/documents.md has no place for %q", name)
		}
		got := table(t)
		if d := cmp.Diff(old, got); d != "" && !*update {
			t.Errorf("%s (-doc +computed); -update writes it:\n%s", name, d)
		}
		text = before + begin + got + end + after
	}
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "design", "documents.md"), []byte(text),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// inTable writes a number of a table; NaN is what is not defined.
func inTable(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

func tableRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func code(s string) string { return "`" + s + "`" }

// scoreLines returns the output of callvet score for trace lines.
func scoreLines(t *testing.T, lines string, args ...string) *panel.Slice {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	a, out, errs := plainApp()
	a.dir = dir
	if code := a.run(t.Context(), a.rootCommand(),
		append([]string{"score", "t.jsonl", "--json"}, args...)); code != exitOK {
		t.Fatalf("score %s: exit %d: %s", lines, code, errs)
	}
	var p panel.Panels
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	return &p.Targets[0].Overall
}

// pointOf is the value of a metric, NaN where it is not defined, with the share labelled.
func pointOf(s *panel.Slice, name string) float64 {
	if m := s.Metric(name); m != nil && m.Interval.Defined() {
		return m.Interval.Point
	}
	return math.NaN()
}

// pythonText is a JSON value as the text that Evaluating Tool Calling, §10.2, compares.
func pythonText(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return strings.ToLower(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = pythonText(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return strings.ToLower(fmt.Sprint(v))
}

// pythonFloat is a JSON value as the number that §10.2 reads in it.
func pythonFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return f, err == nil
	}
	return 0, false
}

// argFidelity is §10.2's formula.
func argFidelity(gold, pred map[string]any) (exact, soft float64) {
	keys := map[string]bool{}
	for _, m := range []map[string]any{gold, pred} {
		for k := range m {
			keys[k] = true
		}
	}
	for k := range keys {
		if pythonText(gold[k]) == pythonText(pred[k]) {
			exact++
		}
		g, isNumber := pythonFloat(gold[k])
		p, both := pythonFloat(pred[k])
		switch {
		case isNumber && both:
			if math.Abs(g-p) <= 1e-6 {
				soft++
			}
		case strings.TrimSpace(pythonText(gold[k])) == strings.TrimSpace(pythonText(pred[k])):
			soft++
		}
	}
	n := float64(max(1, len(keys)))
	return exact / n, soft / n
}

func argumentNumbers(t *testing.T) string {
	var b strings.Builder
	b.WriteString(tableRow("gold", "emitted", "§10.2 `exact_match`", "§10.2 `f1_like`", "`arg_em`", "`arg_em_keys`",
		"`arg_f1`") + tableRow("---", "---", "---", "---", "---", "---", "---"))
	for _, c := range [][2]string{
		{`{"country":"AR","days":30}`, `{"country":"AR","days":30}`},
		{`{"country":"AR","days":30}`, `{"country":"BR","days":30}`},
		{`{"country":"AR"}`, `{"country":"ar"}`},
		{`{"country":"AR"}`, `{"country":" AR"}`},
		{`{"country":"AR"}`, `{"country":"AR","limit":5}`},
		{`{"country":"AR","days":30}`, `{"country":"AR"}`},
		{`{}`, `{}`},
		{`{"days":30}`, `{"days":30.0}`},
		{`{"days":30}`, `{"days":"30"}`},
		{`{"urgent":true}`, `{"urgent":1}`},
		{`{"note":null}`, `{}`},
		{`{"id":9007199254740993}`, `{"id":9007199254740992}`},
		{`{"rate":0.1}`, `{"rate":0.1000001}`},
		{`{"tags":["a","b"]}`, `{"tags":["b","a"]}`},
	} {
		var sides [2]map[string]any
		for i := range c {
			d := json.NewDecoder(strings.NewReader(c[i]))
			d.UseNumber()
			if err := d.Decode(&sides[i]); err != nil {
				t.Fatal(err)
			}
		}
		exact, soft := argFidelity(sides[0], sides[1])
		s := scoreLines(t,
			fmt.Sprintf(
				`{"task_id":"t","tool":"f","args":%s,"status":"ok","gold":{"needed":true,"tool":"f","args":%s}}`+"\n",
				c[1], c[0]))
		b.WriteString(tableRow(code(c[0]), code(c[1]), inTable(exact), inTable(soft), inTable(pointOf(s, "arg_em")),
			inTable(pointOf(s, "arg_em_keys")), inTable(pointOf(s, "arg_f1"))))
	}
	return b.String()
}

func overCallNumbers(t *testing.T) string {
	var b strings.Builder
	b.WriteString(tableRow("calls", "labelled needed", "labelled not needed", "§10.3 `overcall_rate`",
		"`over_call_rate`") + tableRow("---", "---", "---", "---", "---"))
	for _, c := range []struct{ calls, needed, unneeded int }{{4, 4, 0}, {4, 2, 2}, {4, 1, 1}, {4, 0, 0}, {0, 0, 0}} {
		lines := `{"type":"task","task_id":"t","pass":true}` + "\n"
		for i := range c.calls {
			label := ""
			switch {
			case i < c.needed:
				label = `,"gold":{"needed":true,"tool":"f"}`
			case i < c.needed+c.unneeded:
				label = `,"gold":{"needed":false}`
			}
			lines += fmt.Sprintf(`{"task_id":"t","call_id":"c%d","tool":"f","args":{},"status":"ok"%s}`+"\n", i, label)
		}
		rate := float64(c.unneeded) / float64(max(1, c.calls)) // §10.3
		b.WriteString(tableRow(strconv.Itoa(c.calls), strconv.Itoa(c.needed), strconv.Itoa(c.unneeded), inTable(rate),
			inTable(pointOf(scoreLines(t, lines), "over_call_rate"))))
	}
	return b.String()
}

// trueSuccess is §10.4's formula, with its bootstrap by task.
func trueSuccess(passed, tasks int, s, t float64) (point, lower, upper float64) {
	rate := func(k int) float64 { return (float64(k)/float64(tasks) + t - 1) / max(1e-6, s+t-1) }
	random := rand.New(rand.NewPCG(10, 4))
	draws := make([]float64, 2000)
	for i := range draws {
		k := 0
		for range tasks {
			if random.IntN(tasks) < passed {
				k++
			}
		}
		draws[i] = rate(k)
	}
	slices.Sort(draws)
	return rate(passed), draws[50], draws[1950]
}

func successNumbers(t *testing.T) string {
	var b strings.Builder
	b.WriteString(tableRow("judged pass", "labels: sensitivity, specificity", "§10.4", "callvet") +
		tableRow("---", "---", "---", "---"))
	for _, c := range []struct{ passed, tasks, tp, fn, tn, fp int }{
		{172, 200, 95, 5, 90, 10},
		{172, 200, 38, 2, 18, 2},
		{190, 200, 95, 5, 90, 10},
		{200, 200, 95, 5, 90, 10},
		{172, 200, 60, 40, 60, 40},
		{172, 200, 50, 50, 50, 50},
		{172, 200, 60, 0, 0, 0},
	} {
		var judged, labels strings.Builder
		for i := range c.tasks {
			fmt.Fprintf(&judged, `{"type":"task","task_id":"r%d","judged":[{"judge":"j","pass":%v}]}`+"\n", i,
				i < c.passed)
		}
		i := 0
		for _, g := range []struct {
			n           int
			person, jud bool
		}{{c.tp, true, true}, {c.fn, true, false}, {c.tn, false, false}, {c.fp, false, true}} {
			for range g.n {
				fmt.Fprintf(&labels, `{"task_id":"l%d","pass":%v,"by":"ana","judged":[{"judge":"j","pass":%v}]}`+"\n",
					i, g.person, g.jud)
				i++
			}
		}
		s, sp := float64(c.tp)/float64(c.tp+c.fn), float64(c.tn)/float64(max(1, c.tn+c.fp))
		point, lower, upper := trueSuccess(c.passed, c.tasks, s, sp)
		b.WriteString(tableRow(fmt.Sprintf("%d of %d", c.passed, c.tasks),
			fmt.Sprintf("%d of %d, %d of %d", c.tp, c.tp+c.fn, c.tn, c.tn+c.fp),
			fmt.Sprintf("%s [%s, %s]", inTable(point), inTable(lower), inTable(upper)),
			corrected(t, judged.String(), labels.String())))
	}
	return b.String()
}

// corrected is the output of callvet calibrate for judged tasks.
func corrected(t *testing.T, judged, labels string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"judged.jsonl": judged, "labels.jsonl": labels} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, out, errs := plainApp()
	a.dir = dir
	exit := a.run(t.Context(), a.rootCommand(),
		[]string{"calibrate", "labels.jsonl", "--judge", "j", "--run", "judged.jsonl", "--json"})
	var doc struct {
		Why     string
		Success []struct {
			True    *struct{ Point, Lower, Upper *float64 }
			Refused string
			Why     string
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Success) != 1 || exit != exitOK &&
		exit != exitInconclusive {
		t.Fatalf("calibrate: exit %d, %v: %s%s", exit, err, out, errs)
	}
	if exit == exitInconclusive {
		return "refused: " + strings.TrimPrefix(errs.String()+doc.Success[0].Refused+doc.Success[0].Why, "callvet: ")
	}
	v := doc.Success[0].True
	return fmt.Sprintf("%s [%s, %s]", inTable(*v.Point), inTable(*v.Lower), inTable(*v.Upper))
}

// attemptOf is a trace of native calls, each a name and its arguments.
func attemptOf(pairs ...string) *callvet.Trace {
	tr := &callvet.Trace{}
	turn := callvet.Turn{Role: callvet.RoleAssistant}
	for i := 0; i < len(pairs); i += 2 {
		turn.Calls = append(turn.Calls,
			callvet.Call{ID: strconv.Itoa(i), Tool: pairs[i], Args: json.RawMessage(pairs[i+1])})
	}
	if len(pairs) == 0 {
		turn.Content = "I cannot help with that."
	}
	tr.Turns = []callvet.Turn{turn}
	return tr
}

// loadSuite reads a suite.
func loadSuite(t *testing.T, text string) *callvet.Suite {
	t.Helper()
	path := filepath.Join(t.TempDir(), "suite.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, problems, err := suite.Load(path, suite.Options{})
	if err != nil || suite.HasErrors(problems) {
		t.Fatal(err, problems)
	}
	return s
}

// judgedBy scores calls by a case of Tool Calling Evaluation's own format.
func judgedBy(t *testing.T, testCase string, tr *callvet.Trace) callvet.Result {
	t.Helper()
	s := loadSuite(t, `{"name":"d","tools":[`+
		`{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"units":{"type":"string"},"days":{"type":"integer"}}}}},`+
		`{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}},`+
		`{"type":"function","function":{"name":"search_flights","parameters":{"type":"object","properties":{"to":{"type":"string"}}}}},`+
		`{"type":"function","function":{"name":"book_flight","parameters":{"type":"object","properties":{"to":{"type":"string"}}}}}],"test_cases":[`+testCase+`]}`)
	sc, problems := score.New(s, score.Config{})
	compiled, more := sc.Compile(&s.Cases[0])
	problems = append(problems, more...)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return compiled.Score(tr)
}

func scoreOf(r *callvet.Result, name string) float64 {
	if s := r.Score(name); s.Scored {
		return s.Value
	}
	return math.NaN()
}

// writeCalls writes calls as a reader of the table wants them.
func writeCalls(pairs []string) string {
	if len(pairs) == 0 {
		return "no call"
	}
	var calls []string
	for i := 0; i < len(pairs); i += 2 {
		calls = append(calls, code(pairs[i]+" "+pairs[i+1]))
	}
	return strings.Join(calls, ", ")
}

func overallNumbers(t *testing.T) string {
	var b strings.Builder
	b.WriteString(tableRow("expected", "called", "document: tool, params, overall",
		"callvet: `tool_selection`, `arg_accuracy`, `overall`", "verdict") +
		tableRow("---", "---", "---", "---", "---"))
	nan := math.NaN()
	for _, c := range []struct {
		expected     string
		calls        []string
		tool, params float64 // as the document's "Scoring" says; NaN: null
	}{
		{
			`"expected_tool":"get_weather","expected_params":{"city":"Paris"}`,
			[]string{"get_weather", `{"city":"paris"}`},
			1, 1,
		},
		{
			`"expected_tool":"get_weather","expected_params":{"city":"Paris","days":3}`,
			[]string{"get_weather", `{"city":"Paris","days":4}`},
			1, .5,
		},
		{
			`"expected_tool":"get_weather","expected_params":{"city":"Paris"}`,
			[]string{"get_time", `{"city":"Paris"}`},
			0, 1,
		},
		{`"expected_tool":"get_weather","expected_params":null`, []string{"get_weather", `{"city":"Rome"}`}, 1, nan},
		{`"expected_tool":"get_weather","expected_params":{}`, []string{"get_weather", `{}`}, 1, 1},
		{`"expected_tool":null`, nil, 1, nan},
		{`"expected_tool":null`, []string{"get_weather", `{"city":"Paris"}`}, 0, nan},
		{`"expected_tool":"get_weather","expected_params":{"city":"Paris"}`, nil, 0, 0},
		{
			`"expected_tool":"get_weather","expected_params":{"city":"Paris"}`,
			[]string{"get_weather", `{"city":"Paris","units":"celsius"}`},
			1, 1,
		},
		{
			`"expected_tool":"get_weather","expected_params":{"city":"Paris"}`,
			[]string{"get_weather", `{"city":"Paris"}`, "get_time", `{"city":"Paris"}`},
			1, 1,
		},
	} {
		overall := c.tool
		if !math.IsNaN(c.params) {
			overall = 0.6*c.tool + 0.4*c.params
		}
		r := judgedBy(t, `{"prompt":"q",`+c.expected+`}`, attemptOf(c.calls...))
		b.WriteString(tableRow(code(c.expected), writeCalls(c.calls),
			strings.Join([]string{inTable(c.tool), inTable(c.params), inTable(overall)}, ", "),
			strings.Join([]string{
				inTable(scoreOf(&r, score.ToolSelection)), inTable(scoreOf(&r, score.ArgAccuracy)),
				inTable(scoreOf(&r, score.Overall)),
			}, ", "), string(r.Verdict)))
	}
	return b.String()
}

func multiTurnNumbers(t *testing.T) string {
	var b strings.Builder
	b.WriteString(tableRow("calls", "document", "callvet", "verdict") + tableRow("---", "---", "---", "---"))
	const search, oslo, book = `search_flights`, `{"to":"Oslo"}`, `book_flight`
	for _, c := range [][]string{
		{search, oslo, book, oslo},
		{search, `{"to":"Rome"}`, search, oslo, book, oslo},
		{search, oslo, search, oslo, book, oslo},
		{"get_time", `{"city":"Oslo"}`, book, oslo},
		{book, oslo},
		{search, oslo},
		{search, oslo, book, `{"to":"Rome"}`},
	} {
		// "Multi-Turn Scoring"; the document's system recognizes identical calls by their names.
		n, last := len(c)/2, len(c)-2
		completion, redundant, detour := 0.0, 0, 0
		if c[last] == book {
			completion = 0.6
			if c[last+1] == oslo {
				completion = 1
			}
		}
		for i := 0; i <= last; i += 2 {
			if i > 0 && c[i] == c[i-2] {
				redundant++
			}
			if c[i] != search && c[i] != book {
				detour++
			}
		}
		overall := min(1, max(0, completion*min(1, 2/float64(n))-0.1*float64(redundant)-0.1*float64(detour)))
		r := judgedBy(t,
			`{"prompt":"q","expected_tool":"book_flight","expected_params":{"to":"Oslo"},"multi_turn":true,"max_rounds":5,"optimal_hops":2,"valid_prerequisites":["search_flights"]}`, attemptOf(c...))
		b.WriteString(tableRow(writeCalls(c), inTable(overall), inTable(scoreOf(&r, score.Overall)), string(r.Verdict)))
	}
	return b.String()
}

func compositeNumbers(t *testing.T) string {
	var b strings.Builder
	b.WriteString(tableRow("route", "sub-route", "agents", "tools", "document", "callvet `composite`") +
		tableRow("---", "---", "---", "---", "---", "---"))
	const right, wrong, off = "right", "wrong", "not decided"
	for _, c := range []struct{ route, sub, agents, tools string }{
		{right, right, right, "exact"},
		{right, right, right, "acceptable"},
		{right, right, right, "partial"},
		{right, right, right, "none"},
		{right, right, off, "exact"},
		{wrong, wrong, off, "exact"},
		{off, off, off, "exact"},
		{off, off, off, "acceptable"},
	} {
		want := callvet.Selection{
			Route: "a", SubRoute: "b", Agents: []string{"c"}, Tools: []string{"x"},
			Acceptable: []string{"y"},
		}
		got := &callvet.Decision{}
		raw := 0.0
		for _, l := range []struct {
			state, layer string
			weight       float64
			set          func(string)
		}{
			{c.route, callvet.SelectRoute, .15, func(s string) { got.Route = strings.TrimSuffix("a"+s, right) }},
			{c.sub, callvet.SelectSubRoute, .10, func(s string) { got.SubRoute = strings.TrimSuffix("b"+s, right) }},
			{
				c.agents, callvet.SelectAgents, .25,
				func(s string) { got.Agents = []string{strings.TrimSuffix("c"+s, right)} },
			},
		} {
			if l.state == off {
				continue
			}
			got.Layers = append(got.Layers, callvet.LayerTime{Layer: l.layer})
			l.set(l.state)
			if l.state == right {
				raw += l.weight
			}
		}
		got.Layers = append(got.Layers, callvet.LayerTime{Layer: callvet.SelectTools})
		given := map[string][]string{"exact": {"x"}, "acceptable": {"y"}, "partial": {"x", "z"}, "none": {"z"}}[c.tools]
		for _, name := range given {
			got.Tools = append(got.Tools, callvet.Ranked{Tool: name})
		}
		raw += map[string]float64{"exact": 1, "acceptable": .7, "partial": .4}[c.tools] * .5
		r := score.JudgeSelection(&want, got, score.SelectionDefaults())
		b.WriteString(tableRow(c.route, c.sub, c.agents, c.tools, inTable(raw), inTable(scoreOf(&r, score.Composite))))
	}
	return b.String()
}

// TestDocsDocumentsAreComplete requires that every key, endpoint, default, metric and heading of
// the documents is mentioned, as far as it can be listed.
func TestDocsDocumentsAreComplete(t *testing.T) {
	t.Parallel()
	text := strings.Join(strings.Fields(document(t, "docs/design/documents.md")), " ")
	names, err := os.ReadFile(filepath.Join("testdata", "documents.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(names)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		if !regexp.MustCompile(`(^|[^A-Za-z_])` + regexp.QuoteMeta(line) + `($|[^A-Za-z_])`).MatchString(text) {
			t.Errorf("docs/design/documents.md does not mention %s", line)
		}
	}
	if n < 150 {
		t.Errorf("only %d terms are listed", n)
	}
	for _, m := range regexp.MustCompile("`callvet ([a-z]+)").FindAllStringSubmatch(text, -1) {
		if c, _, err := new(cli).rootCommand().Find([]string{m[1]}); err != nil || c.Name() != m[1] {
			t.Errorf("docs/design/documents.md tells of callvet %s, which is no command", m[1])
		}
	}
}
