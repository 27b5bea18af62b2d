// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/sys"
)

// Appender adds labels to a file, each of them safe on disk before Append returns.
type Appender struct {
	f *os.File
	// Mended reports that the file ended in the middle of a line, which was kept unchanged and
	// ended.
	Mended bool
}

// OpenAppender opens or creates a labels file. A last line without its end, for example after a
// crash, is kept and ended, so that the next label is a line of its own.
func OpenAppender(path string) (_ *Appender, err error) {
	f, err := sys.AppendFile(path)
	if err != nil {
		return nil, fmt.Errorf("open labels: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("open labels: %w", err)
	}
	a := &Appender{f: f}
	if end == 0 {
		return a, nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, end-1); err != nil {
		return nil, fmt.Errorf("open labels: %w", err)
	}
	if last[0] != '\n' {
		a.Mended = true
		if _, err := f.Write([]byte("\n")); err != nil {
			return nil, fmt.Errorf("open labels: %w", err)
		}
	}
	return a, nil
}

// Append writes labels and waits until the disk has them. The error wraps
// callvet.ErrInvalid for a label that Read would refuse; nothing is written then.
func (a *Appender) Append(ls ...Label) error {
	var lines []byte
	for _, l := range ls {
		line, err := encode(l)
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	if _, err := a.f.Write(lines); err != nil {
		return fmt.Errorf("append label: %w", err)
	}
	if err := a.f.Sync(); err != nil {
		return fmt.Errorf("append label: %w", err)
	}
	return nil
}

// Close closes the file.
func (a *Appender) Close() error { return a.f.Close() }

// encode writes a label as a line that Read accepts.
func encode(l Label) ([]byte, error) {
	l.Version = FileVersion
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return nil, fmt.Errorf("encode label of %s: %w", l.Key, err)
	}
	if _, err := parseLabel(doc.Of[Label](), bytes.TrimSpace(buf.Bytes())); err != nil {
		return nil, fmt.Errorf("encode label of %s: %w: %w", l.Key, callvet.ErrInvalid, err)
	}
	return plain.Visible(buf.Bytes()), nil
}
