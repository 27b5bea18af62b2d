// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"errors"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
)

// Policy reads a file with rules of safety, and perhaps the actions of a guard.
func (a *App) Policy(path string) (*world.Policy, error) {
	b, err := a.Read(path, world.MaxPolicyBytes)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	p, err := world.ReadPolicy(path, b)
	if err != nil && !errors.Is(err, callvet.ErrLimited) {
		err = fmt.Errorf("read policy: %w: %w", callvet.ErrInvalid, err)
	}
	return p, err
}

// Question is the question to a person about a call before it is executed.
type Question struct {
	Tool string
	Args string
	Why  string
}
