// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxRotated is the highest number of a rotated file that is looked for.
const maxRotated = 99

// after opens what was written after own, which is the file that was read: those that
// were rotated since, oldest first, and the one at the path. It is empty, without an
// error, where files are being renamed while it looks: the next look will tell.
func (t *Tail) after(own os.FileInfo) ([]*os.File, error) {
	f, err := os.Open(t.path)
	if errors.Is(err, os.ErrNotExist) { // renamed, and not there again yet
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	number := t.numberOf(own)
	out, missing := t.between(number)
	if !t.isAt(t.path, now) || number > 0 && !t.isAt(t.numbered(number), own) {
		return nil, errors.Join(f.Close(), closeAll(out))
	}
	if n := len(missing); n > 0 {
		some := missing[:min(n, 5)]
		if n > len(some) {
			some = append(some, fmt.Sprintf("%d more", n-len(some)))
		}
		t.warn("%s was rotated %d times between two looks, and lines are missing: those of %s, which cannot be read", t.path, number, strings.Join(some, ", "))
	}
	if number == 0 {
		t.suspect(own, now)
	}
	return append(out, f), nil
}

// between opens the files of lower numbers, oldest first, and names those that it cannot.
func (t *Tail) between(number int) (out []*os.File, missing []string) {
	for i := number - 1; i > 0; i-- {
		name := t.numbered(i)
		f, err := os.Open(name)
		switch {
		case errors.Is(err, os.ErrNotExist):
			missing = append(missing, name+packed(name))
		case err != nil:
			missing = append(missing, fmt.Sprintf("%s (%v)", name, err))
		default:
			out = append(out, f)
		}
	}
	return out, missing
}

// numbered is the name of a rotated file.
func (t *Tail) numbered(i int) string { return t.path + "." + strconv.Itoa(i) }

// numberOf finds a file under the numbers of rotated ones; 0 where it is not there, or
// where a lower number is older: those who count up give the newest file the highest.
func (t *Tail) numberOf(own os.FileInfo) int {
	for i := 1; i <= maxRotated; i++ {
		is, err := os.Stat(t.numbered(i))
		switch {
		case err != nil:
		case os.SameFile(is, own):
			return i
		case is.ModTime().Before(own.ModTime()):
			return 0
		}
	}
	return 0
}

func (t *Tail) isAt(name string, file os.FileInfo) bool {
	is, err := os.Stat(name)
	return err == nil && os.SameFile(is, file)
}

// packed tells of the file in which one that is not there may be: NAME.gz or the like.
func packed(name string) string {
	for _, ext := range []string{".gz", ".zst", ".xz", ".bz2", ".zip"} {
		if is, err := os.Stat(name + ext); err == nil {
			return fmt.Sprintf(" (%s%s has %d bytes)", name, ext, is.Size())
		}
	}
	return ""
}

// suspect tells of files that look like rotated ones and were written after own, where
// own has no number that would say which came in between.
func (t *Tail) suspect(own, now os.FileInfo) {
	dir, base := filepath.Split(t.path)
	ext := filepath.Ext(base)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return // it is told of nothing, and the reading goes on
	}
	for _, e := range entries {
		is, err := e.Info()
		if err != nil || !is.Mode().IsRegular() || os.SameFile(is, own) || os.SameFile(is, now) || !is.ModTime().After(own.ModTime()) {
			continue
		}
		after, isNamed := strings.CutPrefix(e.Name(), base)
		if !isNamed { // NAME-2026-01-02.jsonl
			after, isNamed = strings.CutPrefix(strings.TrimSuffix(e.Name(), ext), strings.TrimSuffix(base, ext))
		}
		if isNamed && isTime(after) {
			t.warn("%s was rotated between two looks, perhaps more than once: lines may be missing; %s (%d bytes) was written later than what was read, and is not read", t.path, filepath.Join(dir, e.Name()), is.Size())
		}
	}
}

// isTime tells whether the end of a name is a number or a time, as rotated files have it.
func isTime(end string) bool {
	if len(end) < 2 || !strings.ContainsRune(".-_", rune(end[0])) {
		return false
	}
	return !slices.ContainsFunc([]byte(end[1:]), func(c byte) bool { return (c < '0' || c > '9') && !strings.ContainsRune(".-_:TZ+", rune(c)) })
}

func (t *Tail) warn(format string, args ...any) {
	if t.Warn != nil {
		t.Warn(fmt.Sprintf(format, args...))
	}
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
