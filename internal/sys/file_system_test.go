// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build linux

package sys

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestSpecialFiles: a FIFO and a device are not replaced and get the text.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func() error{
		"Write": func() error { return WriteFile(context.Background(), fifo, text("x")) },
		"Create": func() error {
			f, err := CreateFile(fifo, false)
			if err != nil {
				return err
			}
			return errors.Join(text("x")(f), f.Close())
		},
	} {
		var got []byte
		err := InParallel(2, 2, func(i int) (err error) {
			if i == 0 {
				return write()
			}
			got, err = os.ReadFile(fifo)
			return err
		})
		info, lerr := os.Lstat(fifo)
		if err != nil || lerr != nil || string(got) != "x" || info.Mode()&fs.ModeNamedPipe == 0 {
			t.Errorf("%s: %q, %v, %v", name, got, info.Mode(), err)
		}
	}
	if _, err := AppendFile(fifo); !errors.Is(err, callvet.ErrInvalid) {
		t.Error(err)
	}
	if _, err := PrivateFile(fifo); !errors.Is(err, callvet.ErrInvalid) {
		t.Error(err)
	}
	if d := cmp.Diff([]string{"fifo"}, names(t, dir)); d != "" {
		t.Error(d)
	}

	full := filepath.Join(dir, "full")
	if err := syscall.Mknod(full, syscall.S_IFCHR|0o666, 1<<8|7); err != nil {
		t.Skipf("devices cannot be made here: %v", err)
	}
	err := WriteFile(t.Context(), full, text("x"))
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("devices cannot be opened here: %v", err)
	}
	if info, lerr := os.Lstat(full); !errors.Is(err, syscall.ENOSPC) || lerr != nil ||
		info.Mode()&fs.ModeCharDevice == 0 {
		t.Errorf("%v: %v", err, info.Mode())
	}
}

// TestOpenDescriptors: /dev/fd/N goes on where the descriptor stands, under each of
// its names.
func TestOpenDescriptors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := strconv.Itoa(int(f.Fd()))
	if err := os.Symlink("/proc/self/fd/"+n, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, name := range []string{"/dev/fd/" + n, "/proc/self/fd/" + n, filepath.Join(dir, "out")} {
		if err := errors.Join(text("before\n")(f), WriteFile(t.Context(), name, text(name+"\n")),
			text("after\n")(f)); err != nil {
			t.Fatal(err)
		}
		want += "before\n" + name + "\nafter\n"
	}
	if d := cmp.Diff(want, read(t, path)); d != "" {
		t.Error(d)
	}
	if err := WriteFile(t.Context(), "/dev/fd/987654", text("x")); err == nil {
		t.Error("a closed descriptor was written to")
	}
}

// TestOwners: as root, a file of another user keeps its owner; as another user, a file in a folder
// that accepts no new file is written in place, and the group loses access to a file if it cannot
// be kept.
func TestOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	const nobody = 65534
	dir := t.TempDir()
	locked, open := filepath.Join(dir, "locked"), filepath.Join(dir, "open")
	for d, perm := range map[string]fs.FileMode{filepath.Dir(dir): 0o755, dir: 0o755, locked: 0o755, open: 0o777} {
		if err := errors.Join(os.MkdirAll(d, perm), os.Chmod(d, perm)); err != nil {
			t.Fatal(err)
		}
	}
	own := func(path string) (uid, gid int, perm fs.FileMode) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		s := info.Sys().(*syscall.Stat_t)
		return int(s.Uid), int(s.Gid), info.Mode().Perm()
	}
	theirs := filepath.Join(open, "theirs")
	put(t, theirs, "old", 0o640)
	if err := errors.Join(os.Chown(theirs, nobody, nobody), WriteFile(t.Context(), theirs, text("new"))); err != nil {
		t.Fatal(err)
	}
	if u, g, perm := own(theirs); u != nobody || g != nobody || perm != 0o640 {
		t.Errorf("owner %d:%d, mode %v", u, g, perm)
	}

	inPlace, roots := filepath.Join(locked, "in place"), filepath.Join(open, "roots")
	put(t, inPlace, "a longer old text", 0o666)
	put(t, roots, "old", 0o660)
	runtime.LockOSThread() // only this thread is a different user for the file system
	defer runtime.UnlockOSThread()
	if err := errors.Join(syscall.Setfsgid(nobody), syscall.Setfsuid(nobody)); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(WriteFile(t.Context(), inPlace, text("new")), WriteFile(t.Context(), roots, text("new")))
	denied := WriteFile(t.Context(), filepath.Join(locked, "other"), text("new"))
	if err := errors.Join(syscall.Setfsuid(0), syscall.Setfsgid(0)); err != nil {
		t.Fatal(err)
	}
	if err != nil || !errors.Is(denied, fs.ErrPermission) {
		t.Errorf("%v, %v", err, denied)
	}
	if u, _, perm := own(inPlace); u != 0 || perm != 0o666 || read(t, inPlace) != "new" {
		t.Errorf("owner %d, mode %v: %s", u, perm, read(t, inPlace))
	}
	if u, g, perm := own(roots); u != nobody || g != nobody || perm != 0o600 || read(t, roots) != "new" {
		t.Errorf("owner %d:%d, mode %v: %s", u, g, perm, read(t, roots))
	}
}

// TestFullDisk: the old file survives a disk without room.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("callvet-test", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, 0) }()
	path := filepath.Join(dir, "f")
	put(t, path, "old", 0o600)
	err := WriteFile(t.Context(), path, text(string(make([]byte, 1<<20))))
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "write "+path+": no space left on device" {
		t.Error(err)
	}
	if d := cmp.Diff([]string{"f"}, names(t, dir)); d != "" || read(t, path) != "old" {
		t.Errorf("%s %q", d, read(t, path))
	}
}
