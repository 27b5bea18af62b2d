// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
)

// BadGatesError has the problems of gates. It wraps callvet.ErrInvalid.
type BadGatesError struct{ Problems []callvet.Problem }

func (e *BadGatesError) Error() string {
	return fmt.Sprintf("read gates: %v: %s", callvet.ErrInvalid,
		plain.Count(app.ErrorsIn(e.Problems), "problem", "problems"))
}

// Unwrap returns the kind of error.
func (e *BadGatesError) Unwrap() error { return callvet.ErrInvalid }

// GateFile reads the gates of a file, or of the suite of a run.
func GateFile(a *app.App, name string, r *Run) (*suite.GateFile, error) {
	source, b := name, []byte(nil)
	if name == "-" {
		source = "standard input"
	}
	if name != "" {
		var err error
		if b, err = a.Read(name, suite.MaxGatesBytes); err != nil {
			return nil, fmt.Errorf("read gates: %w", err)
		}
	} else {
		if r != nil {
			source, b = "gates of suite "+r.Suite.Name, r.OwnGates()
		}
		if b == nil {
			return nil, &callvet.FieldError{Field: "gates", Text: "which gates? {gates} FILE"}
		}
	}
	file, problems := suite.ReadGates(source, b)
	if name == "" { // stored attempts have no line numbers
		for i := range problems {
			problems[i].Position = callvet.Position{File: source}
		}
		for i := range file.Gates {
			file.Gates[i].Position = callvet.Position{File: source}
		}
	}
	if len(problems) > 0 {
		return nil, &BadGatesError{problems}
	}
	return file, nil
}

// OwnGates are the gates in the suite of the run; nil: none.
func (r *Run) OwnGates() []byte {
	var own struct {
		Gates json.RawMessage `json:"gates"`
	}
	if json.Unmarshal(r.Suite.Foreign, &own) != nil || len(own.Gates) == 0 || string(own.Gates) == "null" {
		return nil
	}
	return own.Gates
}
