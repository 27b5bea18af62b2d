// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

const attempt = `{"answer":"It rains in Paris.","calls":[{"tool":"weather","args":{"city":"Paris","days":2}},{"tool":"news","args":{}}],"usage":{"cost_usd":0.25},"ok":true,"none":[]}`

func TestFormula(t *testing.T) {
	t.Parallel()
	v, err := value.Parse([]byte(attempt))
	if err != nil {
		t.Fatal(err)
	}
	number := func(x float64) Outcome { return Outcome{Number: true, Value: x} }
	for text, want := range map[string]Outcome{
		`answer contains "Paris"`:                           {Holds: true},
		`answer contains "London"`:                          {},
		`lower(answer) contains "paris" && len(calls) == 2`: {Holds: true},
		`calls[0].args.city == "Paris"`:                     {Holds: true},
		`calls[5].args.city == "Paris"`:                     {Missing: true},
		`not (calls[5].args.city == "Paris")`:               {Missing: true},
		`any(calls, .tool == "news" && len(.args) == 0)`:    {Holds: true},
		`any(calls, .args.city == "Rome")`:                  {Missing: true}, // the second call has no city
		`count(calls, .tool == "weather") / len(calls)`:     number(0.5),
		`1 - usage.cost_usd`:                                number(0.75),
		`usage.cost_usd`:                                    number(0.25),
		`len(calls) == 2 ? 1 : 0.5`:                         number(1),
		`min(1, len(answer) / 36)`:                          number(0.5),
		`ok`:                                                {Holds: true},
		`missing`:                                           {Missing: true},
		`exists(missing) || ok`:                             {Holds: true},
		`0.5`:                                               number(0.5),
		`answer matches "^It .*\\.$"`:                       {Holds: true},
		`len(none) == 0 and not (answer contains "snow") and ok == true`: {Holds: true},
	} {
		f, err := CompileFormula(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := f.Of(v)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v %s", text, err, d)
		}
	}
}

func TestFormulaWithoutOutcome(t *testing.T) {
	t.Parallel()
	v, err := value.Parse([]byte(attempt))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`answer`: "neither a number", `calls`: "neither a number", `usage.tokens + 1`: "a member is missing",
		`1 / len(none)`: "no finite number", `trim(answer)`: "neither a number",
	} {
		f, err := CompileFormula(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := f.Of(v); !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v %v, want %q", text, got, err, want)
		}
	}
	long, err := value.Parse([]byte(`{"calls":["` + strings.Repeat("x", maxResult) + `"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`any(calls, # == "y")`, `len(calls) == 1 && any(calls, # == "y")`,
		`not any(calls, # == "y")`,
	} {
		f, err := CompileFormula(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Of(long); !errors.Is(err, callvet.ErrLimited) {
			t.Errorf("%s of a long attempt: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", " ", "answer contains", `env("HOME")`, "map(calls, .tool)",
		strings.Repeat("(", MaxBytes+1),
	} {
		if _, err := CompileFormula(text); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}
