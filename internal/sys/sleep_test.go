// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if err := Sleep(ctx, time.Nanosecond); err != nil {
		t.Error(err)
	}
	cancel()
	if err := Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWhenCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	stop := WhenCanceled(ctx, func() { close(done) })
	off := WhenCanceled(ctx, func() { t.Error("called after it was called off") })
	off()
	cancel()
	<-done
	stop()
}
