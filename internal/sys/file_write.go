// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/callvet/callvet"
)

// WriteFile replaces the content of the file at path by what write writes. After an error, and when
// ctx ends, a regular file is unchanged and no temporary file is left. Of two concurrent writers
// the last one wins, with only its content.
//
// A path that is not a regular file, or in a folder that accepts no new file, is written in place;
// there a failed write leaves a part.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) error {
	err := ctx.Err()
	var to fileTarget
	if err == nil {
		to, err = resolve(path)
	}
	switch {
	case err != nil:
	case to.special():
		err = inPlace(ctx, to, write)
	default:
		err = replace(ctx, to, write)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// inPlace opens the file and writes to it.
func inPlace(ctx context.Context, to fileTarget, write func(io.Writer) error) error {
	f, err := to.open()
	if err != nil {
		return bare(err)
	}
	err = write(&guarded{ctx, f})
	return errors.Join(err, bare(f.Close()))
}

// replace writes a temporary file and renames it to the target.
func replace(ctx context.Context, to fileTarget, write func(io.Writer) error) error {
	f, err := temporaryFile(to)
	if errors.Is(err, fs.ErrPermission) && to.info != nil {
		return inPlace(ctx, to, write)
	}
	if err != nil {
		return err
	}
	defer WhenCanceled(ctx, func() { _ = os.Remove(f.Name()) })()
	renamed := false
	defer func() {
		_ = f.Close() // its content is on the disk
		if !renamed {
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(&guarded{ctx, f}); err != nil {
		return err
	}
	if to.info != nil {
		if err := keepMode(f, to.info); err != nil {
			return bare(err)
		}
	}
	if err := f.Sync(); err != nil {
		return bare(err)
	}
	if !renamesOpen {
		if err := f.Close(); err != nil {
			return bare(err)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err = os.Rename(f.Name(), to.path)
	renamed = err == nil
	if errors.Is(err, syscall.EBUSY) { // a file that is mounted by itself, as into a container
		err = inPlace(ctx, to, func(w io.Writer) error { return copyFile(w, f.Name()) })
	}
	return bare(err)
}

func copyFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// guarded writes to f until ctx ends.
type guarded struct {
	ctx context.Context
	f   *os.File
}

// Write implements io.Writer.
func (g *guarded) Write(b []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := g.f.Write(b)
	return n, bare(err)
}

// bare returns an error of package os without its path, which may be that of a temporary file.
func bare(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// CreateFile opens a new file for writing, in place, so that others can read along. An existing regular
// file is emptied if over is set, else refused with fs.ErrExist; other kinds of files are opened.
func CreateFile(path string, over bool) (*os.File, error) {
	to, err := resolve(path)
	switch {
	case err != nil:
	case to.special(), over && to.info != nil:
		var f *os.File
		if f, err = to.open(); err == nil {
			return f, nil
		}
	default:
		var f *os.File
		if f, err = os.OpenFile(to.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("write %s: %w", path, bare(err))
}

// MakeFolder makes a folder that all users of the machine may read, with missing parents.
func MakeFolder(path string) error { return os.MkdirAll(path, 0o755) } //nolint:gosec // files for git, which others read

// ScratchFolder makes a folder that other users cannot read, for the files of one task; remove
// deletes it with its content.
func ScratchFolder(prefix string) (folder string, remove func() error, err error) {
	if folder, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, bare(err)
	}
	return folder, func() error { return bare(os.RemoveAll(folder)) }, nil
}

// RemoveFile deletes an unfinished file.
func RemoveFile(path string) error { return bare(os.Remove(path)) }

// ReadExisting reads a regular file that will be overwritten. there is false if no content would be
// lost: the path does not exist, or is not a regular file.
func ReadExisting(path string) (data []byte, there bool, err error) {
	to, err := resolve(path)
	if err != nil || to.info == nil || to.special() {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // Write reports it
		}
		return nil, false, err
	}
	data, err = os.ReadFile(to.path)
	return data, true, bare(err)
}

// AppendFile opens a file to read it and to write at its end, and creates it if missing. A pipe,
// which cannot be read back, is refused with callvet.ErrInvalid.
func AppendFile(path string) (*os.File, error) {
	to, err := resolve(path)
	if err == nil && to.info != nil && to.info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		err = fmt.Errorf("a pipe cannot be read back: %w", callvet.ErrInvalid)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, bare(err))
	}
	f, err := os.OpenFile(to.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, bare(err))
	}
	return f, nil
}

// PrivateFile opens a file for reading and writing that only its owner may read, and creates it, with
// its folder, if missing. It removes temporary files of ended processes in the folder. A path that
// is not a regular file is refused with callvet.ErrInvalid.
func PrivateFile(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create folder: %w", err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open %s: it is no regular file: %w", path, callvet.ErrInvalid)
	}
	sweep(dir)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, bare(err))
	}
	return f, nil
}
