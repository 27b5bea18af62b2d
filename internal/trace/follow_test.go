// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/trace"
)

// TestFollowFile lets a file grow, be rotated and be cut, one step at a wait.
func TestFollowFile(t *testing.T) {
	t.Parallel()
	type world struct {
		path string
		file *os.File
	}
	write := func(text string) func(*world) error {
		return func(w *world) error {
			_, err := w.file.WriteString(text)
			return err
		}
	}
	rename := func(w *world) error { return os.Rename(w.path, w.path+".1") }
	create := func(text string) func(*world) error { // without the writer knowing of it
		return func(w *world) error { return os.WriteFile(w.path, []byte(text), 0o600) }
	}
	reopen := func(w *world) error {
		err := w.file.Close()
		if err != nil {
			return err
		}
		w.file, err = os.OpenFile(w.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		return err
	}
	cut := func(w *world) error { return os.Truncate(w.path, 0) }
	all := func(steps ...func(*world) error) func(*world) error {
		return func(w *world) error {
			for _, step := range steps {
				if err := step(w); err != nil {
					return err
				}
			}
			return nil
		}
	}
	rotate := func(w *world) error { // as logrotate does: FILE.1 becomes FILE.2, and so on
		for i := 8; i > 0; i-- {
			if err := os.Rename(fmt.Sprint(w.path, ".", i), fmt.Sprint(w.path, ".", i+1)); err != nil &&
				!errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		return os.Rename(w.path, w.path+".1")
	}
	nothing := func(*world) error { return nil }
	for name, tc := range map[string]struct {
		steps []func(*world) error
		want  string
	}{
		"grows":   {[]func(*world) error{write("a\n"), write("b"), write("c\n")}, "a\nbc\n"},
		"rotated": {[]func(*world) error{write("a\n"), rename, reopen, write("b\n")}, "a\nb\n"},
		"the old one ends later": {[]func(*world) error{
			write("a\n"), rename, create("new\n"), write("b\n"),
			nothing, nothing,
		}, "a\nb\nnew\n"},
		"in the middle of a line": {[]func(*world) error{
			write("a\nhal"), rename, create("new\n"), nothing,
			nothing,
		}, "a\nhal\nnew\n"},
		"rotated twice": {[]func(*world) error{
			write("a\n"), rename, reopen, write("b\n"), nothing,
			rename, reopen, write("c\n"),
		}, "a\nb\nc\n"},
		"cut":                         {[]func(*world) error{write("aaaa\n"), cut, write("b\n")}, "aaaa\nb\n"},
		"cut in the middle of a line": {[]func(*world) error{write("aaaa"), cut, write("b\n")}, "aaaa\nb\n"},
		"gone for good":               {[]func(*world) error{write("a\n"), rename, write("b\n")}, "a\nb\n"},
		"ended while a new one waits": {[]func(*world) error{write("a\n"), rename, create("new\n")}, "a\nnew\n"},
		"the same file under its name": {[]func(*world) error{
			write("a\n"), rename,
			func(w *world) error { return os.Rename(w.path+".1", w.path) }, write("b\n"),
		}, "a\nb\n"},
		"an empty one takes its place": {
			[]func(*world) error{write("a\n"), rename, create(""), nothing, nothing},
			"a\n",
		},
		"twice in one wait": {[]func(*world) error{
			write("a\n"),
			all(rename, reopen, write("b\n"), rotate, reopen, write("c\n")),
		}, "a\nb\nc\n"},
		"three times, with half a line": {
			[]func(*world) error{
				write("a\n"),
				all(rename, reopen, write("b"), rotate, reopen, write("c\n"), rotate, reopen, write("d\n")), write("e\n"),
			},
			"a\nb\nc\nd\ne\n",
		},
		"twice, and then once more": {[]func(*world) error{
			write("a\n"),
			all(rename, reopen, write("b\n"), rotate, reopen, write("c\n")), nothing, nothing, nothing,
			all(rotate, reopen, write("d\n")),
		}, "a\nb\nc\nd\n"},
		"cut to nothing and left alone": {[]func(*world) error{write("a\n"), cut, nothing}, "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{path: filepath.Join(t.TempDir(), "in.jsonl")}
			var err error
			if w.file, err = os.OpenFile(w.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.file.Close() }()
			next := 0
			tail, err := trace.FollowFile(w.path, func() error {
				if next == len(tc.steps) {
					return errors.New("enough")
				}
				next++
				return tc.steps[next-1](w)
			})
			if err != nil {
				t.Fatal(err)
			}
			tail.Warn = func(what string) { t.Errorf("nothing is missing: %s", what) }
			got, err := io.ReadAll(tail)
			if err != nil || string(got) != tc.want {
				t.Errorf("%q %v, want %q", got, err, tc.want)
			}
			if err := tail.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := trace.FollowFile(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestFollowReportsWhatIsMissing: what came and went between two looks and cannot be found
// again is named, with its bytes.
func TestFollowReportsWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		between  map[string]string // files written after the one that is read
		to       string            // the name that one has then; empty when it is deleted
		reported []string
	}{
		"packed at once": {
			map[string]string{"in.jsonl.1.gz": "12345"},
			"in.jsonl.2",
			[]string{"in.jsonl was rotated 2 times between two looks, and lines are missing: those of in.jsonl.1 (in.jsonl.1.gz has 5 bytes), which cannot be read"},
		},
		"gone": {
			nil, "in.jsonl.2",
			[]string{"in.jsonl was rotated 2 times between two looks, and lines are missing: those of in.jsonl.1, which cannot be read"},
		},
		"many are gone": {
			nil, "in.jsonl.6",
			[]string{"in.jsonl was rotated 6 times between two looks, and lines are missing: those of in.jsonl.5, in.jsonl.4, in.jsonl.3, in.jsonl.2, in.jsonl.1, which cannot be read"},
		},
		"numbers that go up": {nil, "in.jsonl.8", nil},
		"only one is kept": {
			map[string]string{"in.jsonl.1": "b\n"},
			"",
			[]string{"in.jsonl was rotated between two looks, perhaps more than once: lines may be missing, as what was written later than what was read is not read: in.jsonl.1 (2 bytes)"},
		},
		"named by time": {
			map[string]string{"in-2026-01-02T03.jsonl": "bb\n"},
			"in-2026-01-02T02.jsonl",
			[]string{"in.jsonl was rotated between two looks, perhaps more than once: lines may be missing, as what was written later than what was read is not read: in-2026-01-02T03.jsonl (3 bytes)"},
		},
		"packed by time, once": {map[string]string{"in.jsonl-20260102.gz": "bb\n"}, "", nil},
		"packed by time": {
			map[string]string{"in-20260102.jsonl.gz": "bb\n", "in-20260103.jsonl.gz": "c"},
			"",
			[]string{"in.jsonl was rotated between two looks, perhaps more than once: lines may be missing, as only one of these can be what was read: in-20260102.jsonl.gz (3 bytes), in-20260103.jsonl.gz (1 bytes)"},
		},
		"packed at each turn": {
			map[string]string{"in.jsonl.1.gz": "b", "in.jsonl.2.gz": "aa"},
			"",
			[]string{"in.jsonl was rotated between two looks, perhaps more than once: lines may be missing, as only one of these can be what was read: in.jsonl.1.gz (1 bytes), in.jsonl.2.gz (2 bytes)"},
		},
		"files of others": {
			map[string]string{"in.jsonl.out": "b\n", "inside-1.jsonl": "b\n", "other.1": "b\n"},
			"in.jsonl-1", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "in.jsonl")
			write := func(name, text string, age time.Duration) error {
				at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(-age)
				return errors.Join(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600),
					os.Chtimes(filepath.Join(dir, name), at, at))
			}
			if err := errors.Join(write("in.jsonl", "a\n", time.Hour), write("in.jsonl.7", "old\n", 2*time.Hour),
				write("in.jsonl.8.gz", "old", 3*time.Hour)); err != nil {
				t.Fatal(err)
			}
			waits := 0
			tail, err := trace.FollowFile(path, func() error {
				switch waits++; {
				case waits > 3:
					return errors.New("enough")
				case waits > 1:
					return nil
				case tc.to == "":
					if err := os.Remove(path); err != nil {
						return err
					}
				default:
					if err := os.Rename(path, filepath.Join(dir, tc.to)); err != nil {
						return err
					}
				}
				for name, text := range tc.between {
					if err := write(name, text, time.Minute); err != nil {
						return err
					}
				}
				return write("in.jsonl", "c\n", 0)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer tail.Close()
			var reported []string
			tail.Warn = func(what string) {
				reported = append(reported,
					strings.ReplaceAll(what, dir+string(filepath.Separator), ""))
			}
			got, err := io.ReadAll(tail)
			if err != nil || string(got) != "a\nc\n" {
				t.Errorf("%q, %v", got, err)
			}
			if diff := cmp.Diff(tc.reported, reported); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFollowOddFiles: files next to the file with the names of rotated ones need not be one, nor
// be only there.
func TestFollowOddFiles(t *testing.T) {
	t.Parallel()
	put := func(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }
	const cannot = "PATH was rotated 2 times between two looks, and lines are missing: those of PATH.1 (not a file), which cannot be read"
	for name, tc := range map[string]struct {
		set, rotate func(path string) error
		want        string
		reported    []string
	}{
		"a folder": {nil, func(p string) error {
			return errors.Join(os.Rename(p, p+".2"), os.Mkdir(p+".1", 0o700), put(p, "c\n"))
		}, "a\nc\n", []string{cannot}},
		"another name of the new one": {nil, func(p string) error {
			return errors.Join(os.Rename(p, p+".2"), put(p, "c\n"), os.Link(p, p+".1"))
		}, "a\nc\n", nil},
		"numbers that go up, written to": {
			func(p string) error { return put(p+".1", "old\n") }, func(p string) error {
				return errors.Join(os.Rename(p, p+".2"), os.Chtimes(p+".1", time.Time{}, time.Now().Add(time.Hour)),
					put(p, "c\n"))
			}, "a\nc\n",
			[]string{"PATH was rotated between two looks, perhaps more than once: lines may be missing, as what was written later than what was read is not read: PATH.1 (4 bytes)"},
		},
		"copied and cut": {
			nil, func(p string) error {
				return errors.Join(put(p+".1", "a\nb\n"), os.Truncate(p, 0))
			}, "a\n",
			[]string{"PATH was cut between two looks, and lines may be missing: PATH.1 has 2 bytes more than what was read"},
		},
		"copied as it was read and cut": {nil, func(p string) error {
			return errors.Join(put(p+".1", "a\n"), os.Truncate(p, 0))
		}, "a\n", nil},
		"cut, and an old one is longer": {
			func(p string) error { return put(p+".1", "old\nold\n") },
			func(p string) error {
				return os.Truncate(p, 0)
			}, "a\n", nil,
		},
		"beside what a link names": {func(p string) error {
			return errors.Join(os.Mkdir(p+"s", 0o700), os.Rename(p, filepath.Join(p+"s", "0.log")),
				os.Symlink(filepath.Join(p+"s", "0.log"), p))
		}, func(p string) error {
			log := filepath.Join(p+"s", "0.log")
			return errors.Join(os.Rename(log, log+".2"), put(log+".1", "b\n"), put(log, "c\n"))
		}, "a\nb\nc\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "in.jsonl")
			if err := put(path, "a\n"); err != nil {
				t.Fatal(err)
			}
			if tc.set != nil {
				if err := tc.set(path); err != nil {
					t.Fatal(err)
				}
			}
			waits := 0
			tail, err := trace.FollowFile(path, func() error {
				switch waits++; {
				case waits == 1:
					return tc.rotate(path)
				case waits > 5:
					return errors.New("enough")
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer tail.Close()
			var reported []string
			tail.Warn = func(what string) { reported = append(reported, strings.ReplaceAll(what, path, "PATH")) }
			if got, err := io.ReadAll(tail); err != nil || string(got) != tc.want {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
			if diff := cmp.Diff(tc.reported, reported); diff != "" {
				t.Error(diff)
			}
		})
	}
}
