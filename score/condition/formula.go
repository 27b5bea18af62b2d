// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr/file"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Formula is a compiled expression with a number or a boolean as its value. It is immutable and
// safe for concurrent use.
type Formula struct{ root *expression }

// Outcome is the result of a formula: a number, or a boolean where Number is false.
type Outcome struct {
	Number bool
	Value  float64
	Holds  bool
	// Missing, for a boolean: a compared value is missing, or of a wrong kind, so that the
	// comparison is false.
	Missing bool
}

// CompileFormula reads an expression in the language of conditions that may also return a number.
// The error wraps callvet.ErrInvalid and contains the place where the text is not understood.
func CompileFormula(text string) (*Formula, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("%w: the expression is empty", callvet.ErrInvalid)
	}
	c, err := Compile(text)
	if err != nil {
		return nil, err
	}
	return &Formula{c.root}, nil
}

// errLimit wraps callvet.ErrLimited.
var errLimit = fmt.Errorf("%w: it takes more memory than an expression may, or looks at more than a megabyte",
	callvet.ErrLimited)

// Of evaluates the formula for a value. The error wraps callvet.ErrLimited where it exceeds a
// limit. It wraps callvet.ErrInvalid where the result is neither a number nor a boolean, or a
// number cannot be computed because a value is missing or of a wrong kind.
func (f *Formula) Of(v value.Value) (Outcome, error) {
	switch e := f.root; e.op {
	case opLibrary:
		return libraryOutcome(e, v)
	case opTruth:
		switch at := at(v, e.left.path); at.Kind() {
		case value.Number:
			x, err := decode(at)
			if err != nil {
				return Outcome{}, fmt.Errorf("%w: %s is out of range", callvet.ErrInvalid, at.Raw())
			}
			return numeric(x)
		case value.Bool:
			return Outcome{Holds: at.Bool()}, nil
		case value.Invalid:
			return Outcome{Missing: true}, nil
		default:
			return Outcome{}, fmt.Errorf("%w: it gives %s, and neither a number nor true or false",
				callvet.ErrInvalid, at.Kind())
		}
	}
	if f.root.reaches(v) {
		return Outcome{}, errLimit
	}
	t := f.root.eval(v)
	return Outcome{Holds: t == yes, Missing: t == unknown}, nil
}

// reaches reports whether the library would refuse a part because of a limit: the part is then
// unknown, but not because a value is missing.
func (e *expression) reaches(v value.Value) bool {
	switch e.op {
	case opAnd, opOr:
		return e.a.reaches(v) || e.b.reaches(v)
	case opNot:
		return e.a.reaches(v)
	case opLibrary:
		_, err := libraryValue(e.program, v)
		return errors.Is(err, callvet.ErrLimited)
	}
	return false
}

func libraryOutcome(e *expression, v value.Value) (Outcome, error) {
	out, err := libraryValue(e.program, v)
	switch {
	case errors.Is(err, callvet.ErrLimited):
		return Outcome{}, err
	case err != nil && e.truth:
		return Outcome{Missing: true}, nil
	case err != nil:
		return Outcome{}, fmt.Errorf("%w: %s", callvet.ErrInvalid, oneLine(err))
	}
	if b, ok := out.(bool); ok {
		return Outcome{Holds: b}, nil
	}
	return numeric(out)
}

// oneLine is the message of a failed evaluation, without the excerpt that the library adds.
func oneLine(err error) string {
	var f *file.Error
	if errors.As(err, &f) {
		if f.Prev != nil {
			return f.Prev.Error()
		}
		return f.Message
	}
	return err.Error()
}

func numeric(x any) (Outcome, error) {
	switch n := x.(type) {
	case int:
		return Outcome{Number: true, Value: float64(n)}, nil
	case float64:
		if !math.IsNaN(n) && !math.IsInf(n, 0) {
			return Outcome{Number: true, Value: n}, nil
		}
		return Outcome{}, fmt.Errorf("%w: it gives no finite number", callvet.ErrInvalid)
	}
	return Outcome{}, fmt.Errorf("%w: it gives neither a number nor true or false", callvet.ErrInvalid)
}
