// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// interrupted watches a command that never returns. It returns the output before the end of the
// process, with its exit code.
func interrupted(t *testing.T, err io.Writer, signals int, command func(p *Process)) int {
	t.Helper()
	ch, left := make(chan os.Signal, signals), make(chan int)
	p := WatchProcess(ch, io.Discard, err, false, func(code int) { left <- code; select {} })
	command(p)
	for range signals {
		ch <- os.Interrupt
	}
	return <-left
}

func TestLeft(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		signals int
		command func(*Process)
		want    string
	}{
		{"blocked", 1, func(*Process) {}, "callvet: interrupted\n"},
		{"second signal", 2, func(*Process) {}, "callvet: interrupted\n"},
		{
			"with a run", 1, func(p *Process) { p.OnInterrupt("interrupted; go on with: callvet run --resume r") },
			"callvet: interrupted; go on with: callvet run --resume r\n",
		},
	} {
		var out bytes.Buffer
		if code := interrupted(t, &out, tt.signals, tt.command); code != ExitInterrupted || out.String() != tt.want {
			t.Errorf("%s: exit %d, %q", tt.name, code, out.String())
		}
	}
	r, w := io.Pipe() // no process reads standard error
	defer r.Close()
	if code := interrupted(t, w, 1, func(*Process) {}); code != ExitInterrupted {
		t.Errorf("exit %d", code)
	}
}

// TestReturnsAfterSignal: a command that returns is not left, and its output after the signal is passed on.
func TestReturnsAfterSignal(t *testing.T) {
	t.Parallel()
	ch := make(chan os.Signal, 2)
	var out bytes.Buffer
	p := WatchProcess(ch, &out, &out, false, func(code int) { panic(fmt.Sprint("left with ", code)) })
	ch <- os.Interrupt
	<-p.Soft.Done()
	p.WriteInterrupt()
	p.End()
	if p.Hard.Err() == nil || out.String() != "callvet: interrupted\n" {
		t.Errorf("%v, %q", p.Hard.Err(), out.String())
	}
}

type thing struct{ list []int }

// past is a bug to be found in a report.
func (x *thing) past(i int) int { return x.list[i] }

func TestBug(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func() error{
		"own":   func() error { _ = (&thing{}).past(3); return nil },
		"other": func() error { return InParallel(2, 2, func(i int) error { _ = (&thing{}).past(3); return nil }) },
	} {
		var p *Panic
		if !errors.As(CatchPanic(do), &p) {
			t.Fatalf("%s: no panic", name)
		}
		text := BugReport(p, "v1", false)
		if !strings.Contains(text, "index out of range [3] with length 0") ||
			!strings.Contains(text, "(*thing).past (process_test.go:") || strings.Contains(text, "goroutine") {
			t.Errorf("%s: %s", name, text)
		}
		if text := BugReport(p, "v1", true); !strings.Contains(text, "goroutine ") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if err := CatchPanic(func() error { return io.EOF }); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if text := BugReport(&Panic{Value: "x\ny", Stack: []byte("odd")}, "", false); !strings.Contains(text,
		"ended: x y\n") || !strings.Contains(text, "outside of callvet") {
		t.Error(text)
	}
}
