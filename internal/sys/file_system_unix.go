// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package sys

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// renamesOpen: an open file can be renamed. It keeps its lock.
const renamesOpen = true

// lock takes the system's lock of a file or folder, which ends with the process.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// claim takes the lock of a file that no process has claimed.
func claim(f *os.File) bool { return lock(f) == nil }

// tryHold locks a folder with the system's lock; nil if it is locked.
func tryHold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err = lock(f); err == nil {
		return f, nil
	}
	_ = f.Close() // of a folder that was only read
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, err
}

// tryOwn makes a file and locks it; nil if another process has it.
func tryOwn(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		err = lock(f)
		if err == nil {
			mine, merr := f.Stat()
			there, terr := os.Stat(path)
			if merr == nil && terr == nil && os.SameFile(mine, there) {
				return f, nil
			}
			err = errors.Join(merr, terr)
			if terr == nil || errors.Is(terr, fs.ErrNotExist) { // its owner removed it before it was locked
				_ = f.Close() // of a file that is gone
				continue
			}
		}
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = nil
		}
		return nil, err
	}
}

// disown ends what tryOwn began. The file is removed first: another process finds it locked or not
// at all.
func disown(f *os.File) error { return errors.Join(os.Remove(f.Name()), f.Close()) }

// letGo ends what tryHold began.
func letGo(f *os.File) error { return f.Close() }

// keepMode gives a file the mode of another one, and its owner and group where the
// system allows it. If the group cannot be kept, the file's new group loses its permissions.
func keepMode(f *os.File, old fs.FileInfo) error {
	perm := old.Mode().Perm()
	is, err := f.Stat()
	if err != nil {
		return err
	}
	was, ok := old.Sys().(*syscall.Stat_t)
	now, ok2 := is.Sys().(*syscall.Stat_t)
	if ok && ok2 && (was.Uid != now.Uid || was.Gid != now.Gid) && f.Chown(int(was.Uid), int(was.Gid)) != nil &&
		was.Gid != now.Gid && f.Chown(-1, int(was.Gid)) != nil {
		perm &^= 0o070
	}
	return f.Chmod(perm)
}

// duplicate opens the file of a descriptor once more, at the same position.
func duplicate(descriptor int, name string) (*os.File, error) {
	n, err := syscall.Dup(descriptor)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(n)
	return os.NewFile(uintptr(n), name), nil
}

// OwnedByAnother reports whether a file exists and belongs to a user other than the user of this
// process, and the owner's uid. It is false for files of the administrator (0), because nothing is
// safe from that user, and for files without readable metadata.
func OwnedByAnother(path string) (uid int, other bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok || is.Uid == 0 || int(is.Uid) == os.Geteuid() {
		return 0, false
	}
	return int(is.Uid), true
}
