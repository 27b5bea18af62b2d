// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"github.com/callvet/callvet/internal/endpoint"
)

// Variable reads the environment for what is sent; its value is hidden from then on.
func (a *App) Variable(name string) (string, error) {
	v := a.Config.Getenv(name)
	if v == "" {
		return "", endpoint.Empty(name)
	}
	a.SecretKeeper.Learn(v)
	return v, nil
}
