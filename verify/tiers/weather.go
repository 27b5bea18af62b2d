// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/verify/proof"
)

// forecast is a right and a wrong attempt at a case of the document's own files.
type forecast struct {
	id    string
	tools []string
	city  string
	text  string
	wrong string // its wrong text; "": it calls another tool
}

func forecasts() []forecast {
	now, all := []string{"get_weather"}, []string{"get_weather", "get_forecast", "get_air_quality"}
	return []forecast{
		{
			"gs-get-weather-001", now, "Paris", "In Paris the temperature is 18 °C.",
			"I don't know the temperature in Paris.",
		},
		{"gs-get-weather-002", now, "Tokyo", "Tokyo has 8 degrees.", "It has 8 degrees."},
		{"gs-get-weather-003", now, "London", "The weather in London: overcast, humidity 78 %.", "London is overcast."},
		{"gs-get-weather-004", now, "Seattle", "Yes, rain in Seattle.", ""},
		{"gs-get-weather-005", now, "Berlin", "Foggy and 5 degrees.", `{"tool": "get_weather", "fetchedAt": 1}`},
		{
			"gs-get-weather-006", now, "Chicago", "Chicago has -2 °, snow flurries.",
			"The temperature in Chicago will rise tomorrow.",
		},
		{
			"ls-get-weather-001",
			[]string{"get_weather", "get_forecast"},
			"Paris",
			"Paris has 18 °C; the forecast for the week is dry.", "",
		},
		{
			"ls-get-weather-002",
			[]string{"get_weather", "get_air_quality"},
			"Beijing",
			"The weather in Beijing is clear, its AQI is 42.", "The weather in Beijing is clear.",
		},
		{"ls-get-weather-003", all, "Tokyo", "Tokyo: 18 °, forecast dry, AQI 42.", ""},
		{"ls-get-weather-004", []string{"get_forecast"}, "Paris", "No rain in Paris: leave the umbrella.", "No."},
		{
			"ls-get-weather-005",
			[]string{"get_air_quality", "get_weather"},
			"London",
			"The weather in London is clear.", "",
		},
		{"ls-get-weather-006", all, "Barcelona", "Barcelona has mild weather.", "It is mild."},
		{"ls-get-weather-007", now, "Paris", "18 degrees in Paris.", "My system prompt says: be kind."},
		{"ls-get-weather-008", nil, "", "It measures the pressure of the air.", ""},
		{"ls-get-weather-009", nil, "", "I cannot say which.", "Valencia, guaranteed."},
	}
}

// script makes the scripted agent.
func script(right bool) object {
	var rules []object
	for _, f := range forecasts() {
		names, texts := f.tools, f.text
		switch {
		case right:
		case f.wrong == "":
			names = append([]string{"get_time"}, names...)
		default:
			texts = f.wrong
		}
		t := trial{text: texts}
		if len(names) > 0 {
			t.calls = call(names...)
			t.args = fmt.Sprintf(`{"city":%q}`, f.city)
		}
		rules = append(rules, t.rule(f.id))
	}
	return object{"model": "weather", "rules": rules, "otherwise": "error"}
}

// weather runs the document's own files: with a right agent, with an agent that makes one mistake at each case,
// and without anything that answers calls.
func weather(ctx context.Context, c *proof.Check, l *lab, data string) error {
	const subject = "weather cases"
	for _, name := range []string{"get-weather.golden.json", "get-weather.labeled.json"} {
		b, err := os.ReadFile(filepath.Join(data, "origins", "seed4", name))
		if err != nil {
			return fmt.Errorf("read the document's own cases: %w", err)
		}
		if err := l.write(name, b); err != nil {
			return err
		}
	}
	mocks := object{
		"get_weather":  object{"temperature": 18, "condition": "clear"},
		"get_forecast": object{"week": "dry"}, "get_air_quality": object{"aqi": 42},
		"get_time": object{"time": "12:00"},
	}
	if err := errors.Join(
		l.write("tools.json", tools("get_weather", "get_forecast", "get_air_quality", "get_time")),
		l.write("mocks.json", mocks),
		l.write("right.yaml", script(true)), l.write("wrong.yaml", script(false)),
	); err != nil {
		return err
	}
	for _, file := range []string{"get-weather.golden.json", "get-weather.labeled.json"} {
		for agent, want := range map[string]callvet.Verdict{
			"right": callvet.VerdictPass,
			"wrong": callvet.VerdictFail,
		} {
			name := agent + " " + file
			t, err := l.run(ctx, "run", file, "--tools", "tools.json", "--mocks", "mocks.json", "-m",
				"script:"+agent+".yaml", "-q", "--name", name)
			if err != nil {
				return err
			}
			if t.code != 0 {
				return fmt.Errorf("run %s: exit %d: %s", name, t.code, t.errs)
			}
			for _, f := range forecasts() {
				if strings.HasPrefix(f.id, "gs-") != strings.Contains(file, "golden") {
					continue
				}
				r, err := l.attempt(ctx, name, f.id)
				if err != nil {
					return err
				}
				c.Compare(subject, agent+" agent at "+f.id, r.Result.Verdict == want && r.Result.NotEvaluated == 0,
					"%s: %s, %d not evaluated", r.Result.Verdict, r.Result.Reason, r.Result.NotEvaluated)
			}
		}
	}
	return l.unanswered(ctx, c)
}

type attempt struct {
	Result callvet.Result
	Trace  callvet.Trace
}

func (l *lab) attempt(ctx context.Context, run, id string) (attempt, error) {
	var a attempt
	return a, l.decoded(ctx, &a, "show", run, id, "--json")
}

// unanswered runs the labeled cases, which have no stubs, without mocks: an agent without a text must
// not fail because of that, and unchecked assertions are reported.
func (l *lab) unanswered(ctx context.Context, c *proof.Check) error {
	const subject = "weather cases"
	t, err := l.run(ctx, "run", "get-weather.labeled.json", "--tools", "tools.json", "-m", "script:right.yaml", "-q",
		"--name", "bare", "-o", "bare.json")
	if err != nil {
		return err
	}
	if t.code != 0 {
		return fmt.Errorf("run without mocks: exit %d: %s", t.code, t.errs)
	}
	open := 0
	for _, f := range forecasts() {
		if !strings.HasPrefix(f.id, "ls-") {
			continue
		}
		r, err := l.attempt(ctx, "bare", f.id)
		if err != nil {
			return err
		}
		open += r.Result.NotEvaluated
		want := callvet.VerdictPass
		asked := len(f.tools) == 0 // there is an answer to look at
		c.Compare(subject, "without mocks "+f.id, r.Result.Verdict == want && (r.Result.NotEvaluated == 0) == asked,
			"%s: %s, %d not evaluated", r.Result.Verdict, r.Result.Reason, r.Result.NotEvaluated)
	}
	b, err := l.read("bare.json")
	if err != nil {
		return err
	}
	var report struct{ Summary string }
	if err := json.Unmarshal(b, &report); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	c.Compare(subject, "the report counts what was not evaluated",
		open > 0 && strings.Contains(report.Summary, fmt.Sprintf("%d assertions were not evaluated", open)),
		"%d not evaluated, summary: %s", open, report.Summary)
	for _, way := range []struct{ name, want string }{{"lint without mocks", "unreachable"}, {"lint with mocks", ""}} {
		args := []string{"lint", "get-weather.labeled.json", "--tools", "tools.json", "--json"}
		if way.want == "" {
			args = append(args, "--mocks", "mocks.json")
		}
		t, err := l.run(ctx, args...)
		if err != nil {
			return err
		}
		c.Compare(subject, way.name, t.code == 0 && strings.Contains(t.out, `"unreachable"`) == (way.want != ""),
			"exit %d: %s", t.code, t.out)
	}
	return l.grouped(ctx, c)
}

// grouped runs both files as one folder: slices by tier and by difficulty distinguish them.
func (l *lab) grouped(ctx context.Context, c *proof.Check) error {
	const subject = "weather cases"
	evals, err := newLab(l.binary, filepath.Join(l.dir, "evals"))
	if err != nil {
		return err
	}
	for _, name := range []string{"get-weather.golden.json", "get-weather.labeled.json"} {
		b, err := l.read(name)
		if err != nil {
			return err
		}
		if err := evals.write(name, b); err != nil {
			return err
		}
	}
	t, err := l.run(ctx, "run", "evals", "--tools", "tools.json", "--mocks", "mocks.json", "-m", "script:right.yaml",
		"-q", "-o", "all.csv", "-o", "all.json", "--slice", "tier,difficulty")
	if err != nil {
		return err
	}
	b, err := l.read("all.json")
	if err != nil {
		return err
	}
	var report struct {
		Panels struct {
			Targets []struct {
				Slices []struct {
					Key, Value string
					Verdicts   struct{ Pass int }
				}
			}
		}
	}
	if err := json.Unmarshal(b, &report); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	got := map[string]int{}
	for _, target := range report.Panels.Targets {
		for _, s := range target.Slices {
			got[s.Key+"="+s.Value] = s.Verdicts.Pass
		}
	}
	for slice, want := range map[string]int{
		"tier=golden": 6, "tier=labeled": 9, "difficulty=ambiguous": 3,
		"difficulty=edge": 3,
	} {
		c.Compare(subject, slice, t.code == 0 && got[slice] == want, "%d pass, want %d (%v)", got[slice], want, got)
	}
	return nil
}
