// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/value"
)

var catalog = []callvet.Tool{
	{
		Name: "get_order", Version: "v2", Tags: []string{"orders"},
		Parameters: json.RawMessage(
			`{"type":"object","properties":{"id":{"type":"integer"},"region":{"type":"string"}},"required":["id"]}`),
	},
	{
		Name: "send", Version: "v1",
		Parameters: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`),
	},
}

// file writes n tasks with one to four attempts for two targets, their lines
// mixed with those of up to open others, and some lines that are no records.
func file(seed uint64, n, open int) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var queues [][]string
	var out strings.Builder
	emit := func() {
		q := r.IntN(len(queues))
		out.WriteString(queues[q][0] + "\n")
		if queues[q] = queues[q][1:]; len(queues[q]) == 0 {
			queues = append(queues[:q], queues[q+1:]...)
		}
		switch r.IntN(60) {
		case 0:
			out.WriteString("{\"task_id\":\"broken\n")
		case 1:
			out.WriteString("{\"task_id\":\xff\xfe,\"tool\":\"x\"}\n\n")
		case 2:
			out.WriteString(`{"task_id":"t1"}` + "\n")
		}
	}
	for i := range n {
		if lines := task(r, i); len(lines) > 0 {
			queues = append(queues, lines)
		}
		for len(queues) > open {
			emit()
		}
	}
	for len(queues) > 0 {
		emit()
	}
	return out.String()
}

func task(r *rand.Rand, i int) []string {
	target := [...]string{"alpha", "beta"}[r.IntN(2)]
	lang := [...]string{"es-AR", "pt-BR", "en-US"}[r.IntN(3)]
	intent := [...]string{"refund", "status"}[r.IntN(2)]
	var lines []string
	for attempt := range 1 + r.IntN(4) {
		head := fmt.Sprintf(`"task_id":"t%d","target":%q,"attempt":%d`, i, target, attempt)
		for s := range r.IntN(12) {
			id, gold := r.IntN(9), r.IntN(9)
			if r.IntN(4) > 0 {
				gold = id
			}
			status := [...]string{"ok", "ok", "ok", "exec_error", "timeout", "rejected_by_contract"}[r.IntN(6)]
			tool, args := "get_order@v2", fmt.Sprintf(`{"id":%d,"region":"r%d"}`, id, r.IntN(3))
			switch r.IntN(8) {
			case 0:
				tool, args = "send@v1", fmt.Sprintf(`{"to":%d}`, id)
			case 1:
				tool = "get_ordr"
			}
			gold1 := ""
			if r.IntN(5) > 0 {
				gold1 = fmt.Sprintf(
					`,"gold":{"needed":%v,"tool":"get_order","args":{"id":%d,"region":"r1"},"result_check":"n>=2"}`,
					r.IntN(6) > 0, gold)
			}
			lines = append(lines,
				fmt.Sprintf(
					`{%s,"turn_id":%d,"call_id":"c%d","tool":%q,"args":%s,"accept_time_ms":%d,"result":{"n":%d},"latency_ms":{"queue":%d,"exec":%d},"status":%q%s,"tags":[%q,"tier:%d"],"fields":{"intent":%q}}`,
					head, s, s, tool, args, r.IntN(300), r.IntN(5), r.IntN(9), r.IntN(3000), status, gold1, lang,
					r.IntN(3), intent))
		}
		switch r.IntN(8) {
		case 0:
		case 1:
			lines = append(lines,
				fmt.Sprintf(`{"type":"task",%s,"fault":{"kind":"timeout"},"fields":{"stateful":true}}`, head))
		default:
			lines = append(lines,
				fmt.Sprintf(
					`{"type":"task",%s,"pass":%v,"judged":[{"judge":"j","pass":%v}],"usage":{"input_tokens":%d,"output_tokens":7},"cost_usd":0.00%d,"wall_ms":%d,"safety":[],"gold":{"steps":[{"tool":"get_order"},{"tool":"send"}]},"fields":{"stateful":true},"tags":["new"]}`,
					head, r.IntN(3) > 0, r.IntN(2) > 0, 100+r.IntN(1000), 1+r.IntN(9), r.IntN(9000)))
		}
	}
	return lines
}

func source(name, text string) measure.Source {
	return measure.Source{
		Name: name,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
	}
}

func run(t *testing.T, cfg steps.Config, jobs, block int, texts ...string) *measure.Result {
	t.Helper()
	cfg.Catalogue = true
	scorer, _ := score.NewStepScorer(score.StepConfig{
		Tools: catalog,
		Safe:  func(tool string, _ value.Value) (bool, bool) { return !strings.HasPrefix(tool, "send"), true },
	})
	var sources []measure.Source
	for i, text := range texts {
		sources = append(sources, source(fmt.Sprint("f", i), text))
	}
	res, err := measure.Run(context.Background(), sources,
		measure.Config{Steps: cfg, Scorer: scorer, Jobs: jobs, Lines: trace.Options{Block: block}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func panels(t *testing.T, s *steps.Sheet) []byte {
	t.Helper()
	b, err := json.MarshalIndent(s.Panels(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// parts cuts a text into n runs of whole lines.
func parts(text string, n int) []string {
	lines := strings.SplitAfter(text, "\n")
	var out []string
	for i := range n {
		out = append(out, strings.Join(lines[len(lines)*i/n:len(lines)*(i+1)/n], ""))
	}
	return out
}

// TestSameForAnyWorkersAndParts: one worker or several, the whole file or parts
// of it merged, give the same bytes; also where the window closes tasks all the time.
func TestSameForAnyWorkersAndParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		window  int
		sliceBy []string
		parts   []int
	}{
		// closes tasks all the time
		{16 * 10, []string{
			"expected_tool", "called_tool", "api_version", "tool_family", "language", "tag",
			"language*intent", "*",
		}, []int{2, 40}},
		{1 << 12, []string{"language*intent"}, []int{1, 7}},
	} {
		cfg := steps.Config{Window: c.window, SliceBy: c.sliceBy}
		text := file(7, 220, 9)
		want := panels(t, run(t, cfg, 1, 0, text).Sheet)
		for _, how := range [][2]int{{2, 2000}, {5, 64 << 10}} {
			got := run(t, cfg, how[0], how[1], text)
			if diff := cmp.Diff(string(want), string(panels(t, got.Sheet))); diff != "" {
				t.Fatalf("window %d, %d workers, blocks of %d: %s", c.window, how[0], how[1], diff)
			}
		}
		part := cfg
		part.Partial = true
		for _, n := range c.parts {
			merged := steps.New(withCatalog(cfg))
			for _, p := range parts(text, n) {
				res := run(t, part, 2, 3000, p)
				if _, err := merged.Merge(res.Sheet.AppendPartial(nil, nil)); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want), string(panels(t, merged))); diff != "" {
				t.Fatalf("window %d, %d parts: %s", c.window, n, diff)
			}
		}
	}
}

func withCatalog(cfg steps.Config) steps.Config {
	cfg.Catalogue = true
	return cfg
}

// TestPartsOfParts: merging is associative as long as parts stay partial.
func TestPartsOfParts(t *testing.T) {
	t.Parallel()
	cfg := steps.Config{Window: 16 * 12, Catalogue: true}
	text := file(8, 200, 8)
	want := panels(t, run(t, cfg, 1, 0, text).Sheet)
	part := cfg
	part.Partial = true
	ps := parts(text, 6)
	merge := func(cfg steps.Config, in ...[]byte) *steps.Sheet {
		s := steps.New(cfg)
		for _, b := range in {
			if _, err := s.Merge(b); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	var raw [][]byte
	for _, p := range ps {
		raw = append(raw, run(t, part, 1, 0, p).Sheet.AppendPartial(nil, nil))
	}
	left := merge(part, raw[:4]...).AppendPartial(nil, nil)
	right := merge(part, raw[4:]...).AppendPartial(nil, nil)
	if diff := cmp.Diff(string(want), string(panels(t, merge(cfg, left, right)))); diff != "" {
		t.Error(diff)
	}
}

// TestNumbers compares panels with a plain recomputation with float sums.
func TestNumbers(t *testing.T) {
	t.Parallel()
	text := file(9, 200, 5)
	got := run(t, steps.Config{}, 2, 4000, text).Sheet.Panels()
	scorer, _ := score.NewStepScorer(score.StepConfig{Tools: catalog})
	r, err := trace.Open(strings.NewReader(text), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type obs struct {
		values   []float64
		clusters []int
	}
	all := map[string]*obs{}
	ids := map[string]int{}
	add := func(key, task string, v float64) {
		if all[key] == nil {
			all[key] = &obs{}
		}
		if _, ok := ids[task]; !ok {
			ids[task] = len(ids)
		}
		all[key].values, all[key].clusters = append(all[key].values, v), append(all[key].clusters, ids[task])
	}
	num := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	for {
		v, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		task, target := string(v.TaskID), string(v.Target)
		if v.IsTask {
			if p, ok := v.Record.Get("pass"); ok {
				add(target+" pass_rate", task, num(p.Bool()))
			}
			continue
		}
		var sc callvet.StepScore
		scorer.Score(&score.StepInput{
			Tool: v.Tool, Args: v.Args, ArgsRaw: v.ArgsRaw, Result: v.Result, Error: v.Error, Status: v.Status,
			Needed:   v.Needed,
			GoldTool: v.GoldTool, GoldArgs: v.GoldArgs, ResultCheck: v.ResultCheck,
		}, &sc)
		lang, _ := v.Tags.First()
		for name, m := range map[string]callvet.StepMetric{
			"schema_valid": callvet.StepSchemaValid,
			"arg_em":       callvet.StepArgEM, "execution_success": callvet.StepExecuted,
		} {
			if yes, known := sc.Get(m); known {
				add(target+" "+name, task, num(yes))
				add(target+" "+lang.Str()+" "+name, task, num(yes))
			}
		}
		if _, known := sc.Get(callvet.StepArgEM); known {
			add(target+" arg_recall", task, float64(sc.Matched)/float64(sc.Expected))
			add(target+" arg_em_keys", task, float64(sc.Matched)/float64(sc.Union))
		}
	}
	checked := 0
	for i := range got.Targets {
		tp := &got.Targets[i]
		check := func(key string, iv stats.Interval) {
			o := all[key]
			want := stats.NeffInterval(o.values, o.clusters, 0.95, stats.DefaultRho0)
			if want.N != iv.N || want.Clusters != iv.Clusters || math.Abs(want.Point-iv.Point) > 1e-6 ||
				math.Abs(want.Lower-iv.Lower) > 1e-5 || math.Abs(want.Upper-iv.Upper) > 1e-5 {
				t.Errorf("%s: %+v, want %+v", key, iv, want)
			}
			checked++
		}
		for _, name := range []string{
			"schema_valid", "arg_em", "execution_success", "arg_recall", "arg_em_keys",
			"pass_rate",
		} {
			check(tp.Name+" "+name, tp.Overall.Metric(name).Interval)
		}
		for j := range tp.Slices {
			if s := &tp.Slices[j]; s.Key == "language" {
				for _, name := range []string{"schema_valid", "arg_em", "execution_success"} {
					check(tp.Name+" "+s.Value+" "+name, s.Metric(name).Interval)
				}
			}
		}
	}
	if checked != 2*(6+9) {
		t.Errorf("%d numbers were checked", checked)
	}
}

// TestEnds: every reading ends, and reports why.
func TestEnds(t *testing.T) {
	t.Parallel()
	text := file(7, 20, 20)
	scorer, _ := score.NewStepScorer(score.StepConfig{Tools: catalog})
	full := errors.New("full")
	for _, jobs := range []int{1, 2, 5, 40} {
		for _, block := range []int{1, 700, 1 << 20} {
			run := func(each func(stop func()) error, more ...measure.Source) error {
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				_, err := measure.Run(ctx, append([]measure.Source{source("f", text)}, more...), measure.Config{
					Scorer: scorer, Jobs: jobs, Lines: trace.Options{Block: block},
					Each: func([]measure.Scored) error { return each(stop) },
				})
				return err
			}
			var tiny []measure.Source
			for _, part := range parts(text, 60) {
				tiny = append(tiny, source("tiny", part), source("empty", ""))
			}
			gone := measure.Source{Name: "gone", Open: func() (io.ReadCloser, error) { return nil, full }}
			nothing := func(func()) error { return nil }
			n := 0
			late := func(func()) error {
				if n++; n > 20 || block == 1<<20 {
					return full
				}
				return nil
			}
			if err := run(nothing, tiny...); err != nil {
				t.Error(jobs, block, err)
			}
			if err := run(nothing, gone); !errors.Is(err, full) {
				t.Error(jobs, block, err)
			}
			if err := run(late); !errors.Is(err, full) {
				t.Error(jobs, block, err)
			}
			if err := run(func(stop func()) error { stop(); return nil }, tiny...); err != nil &&
				!errors.Is(err, context.Canceled) {
				t.Error(jobs, block, err)
			}
		}
	}
}

// TestStrict ends at the first bad line, whichever worker meets one first.
func TestStrict(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`{"task_id":"a","tool":"x"}`+"\n", 500)
	text += "{\n" + text + "[\n" + text
	scorer, _ := score.NewStepScorer(score.StepConfig{})
	for range 5 {
		_, err := measure.Run(context.Background(), []measure.Source{source("f", text)},
			measure.Config{Scorer: scorer, Jobs: 4, Lines: trace.Options{Strict: true, Block: 600}})
		if err == nil || !strings.Contains(err.Error(), "line 501:") {
			t.Fatal(err)
		}
	}
}

// TestHostilePartial: whatever is in a partial result, there is no panic.
func TestHostilePartial(t *testing.T) {
	t.Parallel()
	cfg := steps.Config{Window: 64, Partial: true, Catalogue: true}
	good := run(t, cfg, 1, 0, file(3, 6, 2)).Sheet.AppendPartial(nil, []byte("note"))
	if note, err := steps.New(cfg).Merge(good); err != nil || string(note) != "note" {
		t.Fatal(string(note), err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		bad := bytes.Clone(good)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] = byte(r.IntN(256))
		}
		if r.IntN(4) == 0 {
			bad = bad[:r.IntN(len(bad))]
		}
		s := steps.New(cfg)
		if _, err := s.Merge(bad); err == nil {
			if _, err := json.Marshal(s.Panels()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
