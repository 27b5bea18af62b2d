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

// maxRotated is the highest number of a rotated file that is searched.
const maxRotated = 99

// after opens the files written after own, the file that was read: the files rotated since,
// oldest first, and the file at the path. It is empty, without an error, while files are being
// renamed: the next call finds them.
func (t *Tail) after(own os.FileInfo) ([]*os.File, error) {
	name := target(t.path)
	before := first(name)
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
	number := t.numberOf(name, own)
	out, missing := between(name, number, now)
	if !isAt(t.path, now) || number > 0 && !isAt(numbered(name, number), own) {
		return nil, errors.Join(f.Close(), closeAll(out))
	}
	if len(missing) > 0 {
		t.warn("%s was rotated %d times between two looks, and lines are missing: those of %s, which cannot be read",
			t.path, number, firstNames(missing))
	}
	if number == 0 {
		t.suspect(name, own, now)
	}
	t.first = before
	return append(out, f), nil
}

// target resolves links: rotated files are next to the target of a link.
func target(path string) string {
	if is, err := os.Lstat(path); err == nil && is.Mode()&os.ModeSymlink != 0 {
		if to, err := filepath.EvalSymlinks(path); err == nil {
			return to
		}
	}
	return path
}

// copied reports data that was written between the last look and the truncation of the file: it is
// only in the copy, a new FILE.1.
func (t *Tail) copied() {
	name := target(t.path)
	is := first(name)
	if is == nil || t.first != nil && os.SameFile(is, t.first) {
		return
	}
	if t.first = is; is.Size() > t.offset {
		t.warn("%s was cut between two looks, and lines may be missing: %s has %d bytes more than what was read",
			t.path, numbered(name, 1), is.Size()-t.offset)
	}
}

// first is the rotated file with the lowest number; nil without one.
func first(name string) os.FileInfo {
	is, err := os.Stat(numbered(name, 1))
	if err != nil {
		return nil
	}
	return is
}

// between opens the files of lower numbers, oldest first, each once, and names those that it cannot
// open. now is the file that follows them.
func between(name string, number int, now os.FileInfo) (out []*os.File, missing []string) {
	seen := []os.FileInfo{now}
	for i := number - 1; i > 0; i-- {
		one := numbered(name, i)
		is, err := os.Stat(one)
		switch {
		case errors.Is(err, os.ErrNotExist):
			missing = append(missing, one+packed(one))
			continue
		case err == nil && slices.ContainsFunc(seen, func(s os.FileInfo) bool { return os.SameFile(s, is) }):
			continue
		case err == nil && !is.Mode().IsRegular(): // opening a pipe could block forever
			missing = append(missing, one+" (not a file)")
			continue
		}
		f, err := os.Open(one)
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s (%v)", one, err))
			continue
		}
		out, seen = append(out, f), append(seen, is)
	}
	return out, missing
}

// numbered is the name of a rotated file.
func numbered(name string, i int) string { return name + "." + strconv.Itoa(i) }

// numberOf finds the number of a rotated file. It is 0 if the file is not found, or if the numbers
// count up: then a lower number is older, or FILE.1 has not changed.
func (t *Tail) numberOf(name string, own os.FileInfo) int {
	for i := 1; i <= maxRotated; i++ {
		is, err := os.Stat(numbered(name, i))
		switch {
		case err != nil:
		case os.SameFile(is, own):
			return i
		case is.ModTime().Before(own.ModTime()), t.first != nil && i == 1 && os.SameFile(is, t.first):
			return 0
		}
	}
	return 0
}

func isAt(name string, file os.FileInfo) bool {
	is, err := os.Stat(name)
	return err == nil && os.SameFile(is, file)
}

// extensions are the extensions of compressed files.
func extensions() []string { return []string{".gz", ".zst", ".xz", ".bz2", ".zip"} }

// packed is a remark about the compressed form of a missing file: NAME.gz or the like.
func packed(name string) string {
	for _, ext := range extensions() {
		if is, err := os.Stat(name + ext); err == nil {
			return fmt.Sprintf(" (%s%s has %d bytes)", name, ext, is.Size())
		}
	}
	return ""
}

// suspect reports files that look rotated and were written after own, if own has no number that
// shows which files are between. A compressed file, which may keep the time of its content, may be
// own itself.
func (t *Tail) suspect(name string, own, now os.FileInfo) {
	dir, base := filepath.Split(name)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return // no warning, and the reading continues
	}
	var later, packed []string
	for _, e := range entries {
		is, err := e.Info()
		if err != nil || !is.Mode().IsRegular() || os.SameFile(is, own) || os.SameFile(is, now) {
			continue
		}
		plain := e.Name()
		if ext := filepath.Ext(plain); slices.Contains(extensions(), ext) {
			plain = strings.TrimSuffix(plain, ext)
		}
		entry := fmt.Sprintf("%s (%d bytes)", filepath.Join(dir, e.Name()), is.Size())
		switch {
		case !isRotated(plain, base):
		case plain != e.Name():
			if is.ModTime().Unix() >= own.ModTime().Unix() {
				packed = append(packed, entry)
			}
		case is.ModTime().After(own.ModTime()):
			later = append(later, entry)
		}
	}
	if len(later) > 0 {
		t.warn(
			"%s was rotated between two looks, perhaps more than once: lines may be missing, as what was written later than what was read is not read: %s", t.path, firstNames(later))
	}
	if len(packed) > 1 {
		t.warn(
			"%s was rotated between two looks, perhaps more than once: lines may be missing, as only one of these can be what was read: %s", t.path, firstNames(packed))
	}
}

// firstNames lists the first of many names.
func firstNames(names []string) string {
	some := names[:min(len(names), 5)]
	if n := len(names) - len(some); n > 0 {
		some = append(slices.Clip(some), fmt.Sprintf("%d more", n))
	}
	return strings.Join(some, ", ")
}

// isRotated reports whether a name is base with a number or a time at its end, or before its
// extension: NAME-2026-01-02.jsonl.
func isRotated(name, base string) bool {
	ext := filepath.Ext(base)
	end, is := strings.CutPrefix(name, base)
	if !is {
		end, is = strings.CutPrefix(strings.TrimSuffix(name, ext), strings.TrimSuffix(base, ext))
	}
	return is && isTime(end)
}

// isTime reports whether the end of a name is a number or a time of a rotated file.
func isTime(end string) bool {
	if len(end) < 2 || !strings.ContainsRune(".-_", rune(end[0])) {
		return false
	}
	return !slices.ContainsFunc([]byte(end[1:]),
		func(c byte) bool { return (c < '0' || c > '9') && !strings.ContainsRune(".-_:TZ+", rune(c)) })
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
