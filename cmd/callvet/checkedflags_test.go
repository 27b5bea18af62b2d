// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"math"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestValues(t *testing.T) {
	t.Parallel()
	var n int
	var x float64
	var d time.Duration
	for _, c := range []struct {
		name string
		v    pflag.Value
		in   string
		want string // the value, or ""
		err  string
	}{
		{"repeats", wholeFlag(&n, 7, 1), "3", "3", ""},
		{"no repeat", wholeFlag(&n, 7, 1), "0", "", "the least is 1"},
		{"negative", wholeFlag(&n, 7, 1), "-4", "", "the least is 1"},
		{"all failures", wholeFlag(&n, 7, -1), "-1", "-1", ""},
		{"no limit", orNoneFlag(&n, wholeFlag(&n, 7, 1)), "none", "none", ""},
		{"a limit", orNoneFlag(&n, wholeFlag(&n, 0, 1)), "5", "5", ""},
		{"no such limit", orNoneFlag(&x, positiveFlag(&x, 0)), "0", "", "it must be more than 0, or none"},
		{"half", wholeFlag(&n, 7, 1), "1.5", "", "write a whole number of 1 or more"},
		{"too many digits", wholeFlag(&n, 7, 1), "99999999999999999999", "", "write a whole number of 1 or more"},
		{"share", shareFlag(&x, 0), "0.95", "0.95", ""},
		{"percent", shareFlag(&x, 0), "50%", "0.5", ""},
		{"percent apart", shareFlag(&x, 0), "50 %", "0.5", ""},
		{"ends", shareFlag(&x, 0), "100%", "1", ""},
		{"forgotten percent", shareFlag(&x, 0), "95", "", "a share is at most 1: write 95% or 0.95"},
		{"negative share", shareFlag(&x, 0), "-1", "", "a share is from 0 to 1, or from 0% to 100%"},
		{"over all", shareFlag(&x, 0), "120%", "", "a share is from 0 to 1, or from 0% to 100%"},
		{"huge", shareFlag(&x, 0), "9500", "", "a share is from 0 to 1, or from 0% to 100%"},
		{"not a number", shareFlag(&x, 0), "NaN", "", "write a share from 0 to 1, or in percent: 0.95 or 95%"},
		{"word", shareFlag(&x, 0), "half", "", "write a share from 0 to 1, or in percent: 0.95 or 95%"},
		{"open end", innerShareFlag(&x, 0), "1", "", "this share is more than 0 and less than 1"},
		{"inside", innerShareFlag(&x, 0), "0.5", "0.5", ""},
		{"amount", amountFlag(&x, 0), "0", "0", ""},
		{"infinite amount", amountFlag(&x, 0), "Inf", "", "write a number such as 0.5"},
		{"negative amount", amountFlag(&x, 0), "-0.1", "", "it cannot be negative"},
		{"nothing to spend", positiveFlag(&x, 0), "0", "", "it must be more than 0"},
		{"timeout", durationFlag(&d, 0), "30s", "30s", ""},
		{"no time", durationFlag(&d, 0), "0", "", "it must be more than 0"},
		{"no unit", durationFlag(&d, 0), "30", "", "write a time with its unit, such as 30s or 2m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.v.Set(c.in)
			if got := message(err); got != c.err {
				t.Fatalf("Set(%q) = %q, want %q", c.in, got, c.err)
			}
			if err == nil && c.v.String() != c.want {
				t.Errorf("Set(%q) gives %s, want %s", c.in, c.v, c.want)
			}
		})
	}
}

// TestRefusedKeeps: a refused input leaves the value unchanged.
func TestRefusedKeeps(t *testing.T) {
	t.Parallel()
	var x float64
	v := shareFlag(&x, 0.8)
	for _, s := range []string{"1.1", "-0.1", "x", "", "Inf", "%"} {
		if err := v.Set(s); err == nil {
			t.Errorf("Set(%q) was accepted", s)
		}
	}
	if math.Abs(x-0.8) > 0 {
		t.Errorf("the value became %v", x)
	}
}

// TestExplained: no flag's error names a function of the standard library.
func TestExplained(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--n=x":                    `invalid argument "x" for "--n" flag: write a whole number`,
		"--n=99999999999999999999": `invalid argument "99999999999999999999" for "--n" flag: write a whole number that is not so large`,
		"--n=1.5":                  `invalid argument "1.5" for "--n" flag: write a whole number`,
		"--x=many":                 `invalid argument "many" for "--x" flag: write a number such as 0.5`,
		"--b=perhaps":              `invalid argument "perhaps" for "--b" flag: write true or false`,
		"--r=-1":                   `invalid argument "-1" for "--r" flag: the least is 1`,
		"--none":                   "unknown flag: --none",
	} {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		fs.Int64("n", 0, "")
		fs.Float64("x", 0, "")
		fs.Bool("b", false, "")
		fs.Var(wholeFlag(new(int), 1, 1), "r", "")
		if got := message(explainedFlagError(fs.Parse([]string{args}))); got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestOrNone: none removes the value, another value sets it again, and a refused one changes
// nothing.
func TestOrNone(t *testing.T) {
	t.Parallel()
	n, x := 0, new(float64)
	limit := orNoneFlag(&n, wholeFlag(&n, 0, 1))
	heat := orNoneFlag(&x, amountFlag(x, 0.25))
	if heat.String() != "0.25" || limit.String() != "0" {
		t.Errorf("before: %s, %s", limit, heat)
	}
	for _, c := range []struct {
		in    string
		n     int
		shown string
		x     float64 // below 0: none
		hot   string
	}{
		{"none", 0, "none", -1, "none"},
		{"5", 5, "5", 5, "5"},
		{"-3", 5, "5", 5, "5"},
		{"none", 0, "none", -1, "none"},
		{"-3", 0, "none", -1, "none"},
	} {
		for _, v := range []pflag.Value{limit, heat} {
			if err := v.Set(c.in); (err != nil) != (c.in == "-3") {
				t.Fatalf("%s: %v", c.in, err)
			}
		}
		if n != c.n || limit.String() != c.shown {
			t.Errorf("%s: the limit is %d, shown as %s", c.in, n, limit)
		}
		if (x == nil) != (c.x < 0) || x != nil && *x != c.x || heat.String() != c.hot {
			t.Errorf("%s: the amount is %v, shown as %s", c.in, x, heat)
		}
	}
}
