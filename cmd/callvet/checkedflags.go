// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// checked is the value of a flag that refuses what is out of range: the error of parse describes a
// valid form, and leaves the value unchanged.
type checked[T any] struct {
	p     *T
	kind  string
	parse func(string) (T, error)
	text  func(T) string
}

// Set implements pflag.Value.
func (c *checked[T]) Set(s string) error {
	v, err := c.parse(s)
	if err == nil {
		*c.p = v
	}
	return err
}

// Type implements pflag.Value.
func (c *checked[T]) Type() string { return c.kind }

// String implements pflag.Value.
func (c *checked[T]) String() string { return c.text(*c.p) }

// wholeFlag is a whole number of at least least; its default is std.
func wholeFlag(p *int, std, least int) pflag.Value {
	*p = std
	return &checked[int]{p, "int", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		switch {
		case err != nil:
			return 0, fmt.Errorf("write a whole number of %d or more", least)
		case n < least:
			return 0, fmt.Errorf("the least is %d", least)
		}
		return n, nil
	}, strconv.Itoa}
}

// shareFlag is a number from 0 to 1, as 0.95 or as 95%.
func shareFlag(p *float64, std float64) pflag.Value { return newShare(p, std, true) }

// innerShareFlag is a share of more than 0 and less than 1.
func innerShareFlag(p *float64, std float64) pflag.Value { return newShare(p, std, false) }

func newShare(p *float64, std float64, ends bool) pflag.Value {
	*p = std
	return &checked[float64]{p, "share", func(s string) (float64, error) {
		text, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if percent {
			x /= 100
		}
		switch {
		case err != nil || math.IsNaN(x):
			return 0, fmt.Errorf("write a share from 0 to 1, or in percent: 0.95 or 95%%")
		case !percent && x > 1 && x <= 100:
			return 0, fmt.Errorf("a share is at most 1: write %s%% or %s", text, shortFloat(x/100))
		case x < 0 || x > 1:
			return 0, fmt.Errorf("a share is from 0 to 1, or from 0%% to 100%%")
		case !ends && (x == 0 || x == 1):
			return 0, fmt.Errorf("this share is more than 0 and less than 1")
		}
		return x, nil
	}, shortFloat}
}

// amountFlag is a number of 0 or more.
func amountFlag(p *float64, std float64) pflag.Value { return newAmount(p, std, true) }

// positiveFlag is a number of more than 0. Its default may be 0, for none.
func positiveFlag(p *float64, std float64) pflag.Value { return newAmount(p, std, false) }

func newAmount(p *float64, std float64, zero bool) pflag.Value {
	*p = std
	return &checked[float64]{p, "float", func(s string) (float64, error) {
		x, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
			return 0, fmt.Errorf("write a number such as 0.5")
		case x < 0:
			return 0, fmt.Errorf("it cannot be negative")
		case x == 0 && !zero:
			return 0, fmt.Errorf("it must be more than 0")
		}
		return x, nil
	}, shortFloat}
}

func shortFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// durationFlag is a time of more than 0.
func durationFlag(p *time.Duration, std time.Duration) pflag.Value {
	*p = std
	return &checked[time.Duration]{p, "duration", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return 0, fmt.Errorf("write a time with its unit, such as 30s or 2m")
		case d <= 0:
			return 0, fmt.Errorf("it must be more than 0")
		}
		return d, nil
	}, time.Duration.String}
}

// orNoneFlag accepts the word none in addition to the values of v, which writes to p, or to what p
// points to. None is the zero value.
func orNoneFlag[T any](p *T, v pflag.Value) pflag.Value {
	return &orNone[T]{Value: v, p: p, std: *p}
}

type orNone[T any] struct {
	pflag.Value
	p    *T
	std  T
	none bool
}

// Set implements pflag.Value.
func (o *orNone[T]) Set(s string) error {
	if s == "none" {
		var zero T
		*o.p, o.none = zero, true
		return nil
	}
	before := *o.p
	*o.p = o.std // an earlier none may have removed a pointer
	if err := o.Value.Set(s); err != nil {
		*o.p = before
		return fmt.Errorf("%w, or none", err)
	}
	o.none = false
	return nil
}

// String implements pflag.Value. A value that was set to none is "none": suggested commands contain
// it, where a 0 may be out of range.
func (o *orNone[T]) String() string {
	if o.none {
		return "none"
	}
	return o.Value.String()
}

// explainedFlagError improves an error of parsing flags: it describes the valid form of a number or
// a switch, where the library only names the failed function.
func explainedFlagError(err error) error {
	var bad *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &bad) || !errors.As(err, &number) {
		return err
	}
	write := "a whole number"
	switch bad.GetFlag().Value.Type() {
	case "float64":
		write = "a number such as 0.5"
	case "bool":
		write = "true or false"
	}
	if errors.Is(err, strconv.ErrRange) {
		write += " that is not so large"
	}
	return fmt.Errorf("invalid argument %q for \"--%s\" flag: write %s", bad.GetValue(), bad.GetFlag().Name, write)
}
