// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A small module: every operator that is changed, in the places where Go allows it.
const code = `package room

import "time"

const limit = 2 * 5

type Age int

// Young is tested at its bound, Old is not.
func Young(a Age) bool { return a < 18 && a != -1 }

func Old(a Age) bool { return a >= 65 }

func Never(err error) bool { return err == nil }

func Sum(xs []int, names map[string]string) (n int, s string) {
	for i := 0; i < len(xs); i++ {
		n += xs[i] * (limit - 9) // a comment
	}
	return n, names["a"] + names["b"]
}

type box[T ~int | ~float64] struct{ at T }

func (b *box[T]) Half() T { return b.at / 2 }

func Wait(d time.Duration) time.Duration {
	for d > time.Second {
		d -= 2 * time.Second
	}
	return -d % time.Second
}
`

const tests = `package room

import (
	"testing"
	"time"
)

func TestYoung(t *testing.T) {
	if !Young(17) || Young(18) || Young(-1) {
		t.Fatal()
	}
}

func TestOld(t *testing.T) {
	for name, age := range map[string]Age{"old/er": 70, "old": 68, "young": 60} {
		t.Run(name, func(t *testing.T) {
			if Old(age) != (name != "young") {
				t.Fatal()
			}
		})
	}
}

func TestSum(t *testing.T) {
	if n, s := Sum([]int{1, 2, 3}, map[string]string{"a": "x", "b": "y"}); n != 6 || s != "xy" {
		t.Fatal(n, s)
	}
}

// The second subtest needs the first.
func TestHalf(t *testing.T) {
	var b box[float64]
	t.Run("set", func(t *testing.T) { b.at = 3 })
	t.Run("halve", func(t *testing.T) {
		if b.Half() != 1.5 {
			t.Fatal()
		}
	})
}

func TestWait(t *testing.T) {
	if Wait(3500*time.Millisecond) != 500*time.Millisecond {
		t.Fatal()
	}
}
`

func try(t *testing.T, code, known string, files ...string) (reported string, err error) {
	t.Helper()
	return tryTests(t, code, tests, known, files...)
}

func tryTests(t *testing.T, code, tests, known string, files ...string) (reported string, err error) {
	t.Helper()
	return tryConfig(t, config{floor: 0.85, files: files}, code, tests, known)
}

func tryConfig(t *testing.T, c config, code, tests, known string) (reported string, err error) {
	t.Helper()
	dir := t.TempDir()
	c.module, c.survivors, c.jobs = dir, filepath.Join(dir, "survivors.tsv"), 2
	for name, text := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.24\n", "room/room.go": code, "room/room_test.go": tests,
		"survivors.tsv": known,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	err = run(context.Background(), c, []string{"./room"}, &out)
	return strings.ReplaceAll(out.String(), dir+"/", ""), err
}

const (
	bound   = "room\tOld\tfunc Old(a Age) bool { return a [>= → >] 65 }\t"
	never   = "room\tNever\tfunc Never(err error) bool { return err [== → !=] nil }\t"
	seconds = "room\tWait\tfor d [> → >=] time.Second {\t"
	product = "room\tSum\tn += xs[i] [* → /] (limit - 9) // a comment\t"
)

func TestSurvivorsAreReportedAndHeld(t *testing.T) {
	t.Parallel()
	listed := bound + "only tells what 65 is called\n" + never + "nobody asks\n" + seconds + "the rest is the same\n" +
		product + "times one\n"
	for name, tc := range map[string]struct {
		known string
		want  []string
		fails bool
	}{
		"none listed": {"", []string{
			"room/room.go:12: lives\t" + bound, "room/room.go:14: not covered\t" + never,
			"room/room.go:28: lives\t" + seconds, "room/room.go:18: lives\t" + product, "below 85 %",
		}, true},
		"all listed": {listed, []string{"room  18  14  4  1  4  77.8 %  below 85 %"}, true},
		"one is gone": {listed +
			"room\tYoung\tfunc Young(a Age) bool { return a [< → <=] 18 && a != -1 }\tnobody is 18\n", []string{
			"survivors.tsv:5: no such survivor any more, delete the line: room\tYoung",
		}, true},
		"its package is gone": {
			listed + "house\tF\ta [< → <=] b\twhy\n",
			[]string{"survivors.tsv:5: no such survivor any more"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reported, err := try(t, code, tc.known)
			if (err != nil) != tc.fails {
				t.Error(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(reported, strings.TrimSuffix(want, "\t")) {
					t.Errorf("want %q", want)
				}
			}
			if t.Failed() {
				t.Log(reported)
			}
		})
	}
}

// TestSample: with a sample, as many changes are tried, different ones with another seed. Their share
// has an interval and is compared with the floor. A listed change that was not drawn is not stale.
func TestSample(t *testing.T) {
	t.Parallel()
	listed := bound + "why\n" + never + "why\n" + seconds + "why\n" + product + "why\n"
	for name, tc := range map[string]struct {
		c     config
		want  string
		fails bool
	}{
		"six": {
			config{sample: 6, seed: 1, floor: 0.8},
			"room  6  5  1  0  1  83.3 %  95 % interval 35.9 to 99.6 %, a sample of 18, seed 1\n", false,
		},
		"six others": {
			config{sample: 6, seed: 2, floor: 0.8},
			"room  6  6  0  0  0  100.0 %  95 % interval 54.1 to 100.0 %, a sample of 18, seed 2\n", false,
		},
		"below the floor": {config{sample: 6, seed: 1, floor: 0.85}, "seed 1  below 85 %\n", true},
		"more than all":   {config{sample: 19, floor: 0.7}, "room  18  14  4  1  4  77.8 %\n", false},
		"fewer than none": {config{sample: -1}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reported, err := tryConfig(t, tc.c, code, tests, listed)
			if (err != nil) != tc.fails || !strings.Contains(reported, tc.want) {
				t.Errorf("want %q: %v\n%s", tc.want, err, reported)
			}
		})
	}
}

// TestOneFile: with a file, neither the other listed survivors nor the share are checked.
func TestOneFile(t *testing.T) {
	t.Parallel()
	listed := bound + "why\n" + never + "why\n" + seconds + "why\n" + product + "why\nroom\tF\ta [< → <=] b\twhy\n"
	if reported, err := try(t, code, listed, "room.go"); err != nil ||
		!strings.Contains(reported, "room  18  14  4  1  4  77.8 %") {
		t.Error(err, reported)
	}
	if reported, err := try(t, code, listed, "roam.go"); err == nil {
		t.Error("a file that is not there was changed:", reported)
	}
}

// TestNewLines: with a commit, only later lines are changed, and tests of other packages may notice
// them. Tests that fail without a change notice nothing.
func TestNewLines(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not there")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		set := []string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}
		if out, err := exec.CommandContext(t.Context(), "git", append(set, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write("go.mod", "module example.org/m\n\ngo 1.24\n")
	write("room/room.go", "package room\n\nfunc Old(a int) bool { return a < 3 }\n")
	write("other/other_test.go", `package other

import (
	"testing"

	"example.org/m/room"
)

func TestNew(t *testing.T) {
	if !room.New(4) || room.New(5) {
		t.Fatal()
	}
}

func TestBroken(t *testing.T) { t.Fatal(room.New(4)) }
`)
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	write("room/room.go",
		"package room\n\nfunc New(a int) bool { return a < 5 }\n\nfunc Old(a int) bool { return a < 3 }\n")
	for _, tt := range []struct {
		tests []string
		want  string
		fails bool
	}{
		{nil, "room  2  0  2  2  0  0.0 %  below 85 %", true},
		{[]string{"./other"}, "room  2  2  0  0  0  100.0 %", false},
	} {
		var out bytes.Buffer
		c := config{module: dir, floor: 0.85, jobs: 2, since: "HEAD", tests: tt.tests}
		if err := run(t.Context(), c, []string{"./room"}, &out); (err != nil) != tt.fails ||
			!strings.Contains(out.String(), tt.want) {
			t.Errorf("tests of %v: %v\n%s", tt.tests, err, out.String())
		}
	}
	if err := run(t.Context(), config{module: dir, since: "nothing"}, []string{"./room"}, io.Discard); err == nil {
		t.Error("a commit that is not there was taken")
	}
}

// TestNothingToChange: a package without operators has no survivors, so a listed line is stale.
func TestNothingToChange(t *testing.T) {
	t.Parallel()
	reported, err := tryTests(t, "package room\n", "package room\n", bound+"why\n")
	if err == nil || !strings.Contains(reported, "survivors.tsv:1: no such survivor any more") {
		t.Error(err, reported)
	}
}

// TestListIsRead: a list without a reason, or with a line twice, is refused.
func TestListIsRead(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]string{
		"no reason": bound + "\n",
		"spaces":    strings.ReplaceAll(bound, "\t", " ") + "why\n",
		"twice":     bound + "why\n" + bound + "why\n",
	} {
		if _, err := try(t, code, known); err == nil || !strings.Contains(err.Error(), "survivors.tsv:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFailingTestsAreNoKills: tests that fail without a change kill no mutant.
func TestFailingTestsAreNoKills(t *testing.T) {
	t.Parallel()
	if _, err := try(t, strings.Replace(code, "a < 18", "a < 20", 1), ""); err == nil ||
		!strings.Contains(err.Error(), "TestYoung fails without a change") {
		t.Error(err)
	}
}
