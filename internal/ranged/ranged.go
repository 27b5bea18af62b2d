// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package ranged

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Int is a whole number of at least least, which std is unless the flag is given.
func Int(p *int, std, least int) pflag.Value {
	*p = std
	return &whole{p, least}
}

// Share is a number from 0 to 1, written so or in percent (0.95 or 95%).
func Share(p *float64, std float64) pflag.Value {
	*p = std
	return &share{p, true}
}

// Between is a share without its ends: more than 0 and less than 1.
func Between(p *float64, std float64) pflag.Value {
	*p = std
	return &share{p, false}
}

// Amount is a number of 0 or more.
func Amount(p *float64, std float64) pflag.Value {
	*p = std
	return &amount{p, true}
}

// Positive is a number of more than 0. Its default may be 0, for none.
func Positive(p *float64, std float64) pflag.Value {
	*p = std
	return &amount{p, false}
}

// OrNone accepts the word none in addition to the values of v, which writes to p, or to what p
// points to. None is the zero value.
func OrNone[T any](p *T, v pflag.Value) pflag.Value { return &orNone[T]{Value: v, p: p, std: *p} }

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
	*o.p = o.std // a pointer may be gone by an earlier none
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

// Duration is a time of more than 0.
func Duration(p *time.Duration, std time.Duration) pflag.Value {
	*p = std
	return &duration{p}
}

type whole struct {
	p     *int
	least int
}

// Set implements pflag.Value.
func (v *whole) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return fmt.Errorf("write a whole number of %d or more", v.least)
	case n < v.least:
		return fmt.Errorf("the least is %d", v.least)
	}
	*v.p = n
	return nil
}

// Type implements pflag.Value.
func (*whole) Type() string { return "int" }

func (v *whole) String() string {
	if v.p == nil {
		return "0"
	}
	return strconv.Itoa(*v.p)
}

type share struct {
	p    *float64
	ends bool // 0 and 1 are allowed
}

// Set implements pflag.Value.
func (v *share) Set(s string) error {
	text, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if percent {
		x /= 100
	}
	switch {
	case err != nil || math.IsNaN(x):
		return fmt.Errorf("write a share from 0 to 1, or in percent: 0.95 or 95%%")
	case !percent && x > 1 && x <= 100:
		return fmt.Errorf("a share is at most 1: write %s%% or %s", text, strconv.FormatFloat(x/100, 'g', -1, 64))
	case x < 0 || x > 1:
		return fmt.Errorf("a share is from 0 to 1, or from 0%% to 100%%")
	case !v.ends && (x == 0 || x == 1):
		return fmt.Errorf("this share is more than 0 and less than 1")
	}
	*v.p = x
	return nil
}

// Type implements pflag.Value.
func (*share) Type() string { return "share" }

func (v *share) String() string { return rangedNumber(v.p) }

type amount struct {
	p    *float64
	zero bool // 0 is allowed
}

// Set implements pflag.Value.
func (v *amount) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Errorf("write a number such as 0.5")
	case x < 0:
		return fmt.Errorf("it cannot be negative")
	case x == 0 && !v.zero:
		return fmt.Errorf("it must be more than 0")
	}
	*v.p = x
	return nil
}

// Type implements pflag.Value.
func (*amount) Type() string { return "float" }

func (v *amount) String() string { return rangedNumber(v.p) }

func rangedNumber(p *float64) string {
	if p == nil {
		return "0"
	}
	return strconv.FormatFloat(*p, 'g', -1, 64)
}

type duration struct{ p *time.Duration }

// Set implements pflag.Value.
func (v *duration) Set(s string) error {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return fmt.Errorf("write a time with its unit, such as 30s or 2m")
	case d <= 0:
		return fmt.Errorf("it must be more than 0")
	}
	*v.p = d
	return nil
}

// Type implements pflag.Value.
func (*duration) Type() string { return "duration" }

func (v *duration) String() string {
	if v.p == nil {
		return "0s"
	}
	return v.p.String()
}

// Explained improves an error of parsing flags: it describes the valid form of a number or a
// switch, where the library only names the failed function.
func Explained(err error) error {
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
