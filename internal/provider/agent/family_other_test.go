// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !linux

package agent

import "errors"

func detached(string) error { return errors.ErrUnsupported }
