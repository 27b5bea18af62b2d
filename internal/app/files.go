// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
)

// Files resolves the names of files in requests: paths for a command line, uploads for a server,
// which never accepts a path from a client. It is called from many goroutines.
type Files interface {
	// Open reads a file; "-" is a stream of the client, such as standard input.
	Open(name string) (io.ReadCloser, error)
	// Path is the path of a name, for packages that read folders, neighbouring files, or one file
	// at several offsets; folder: it is a folder. A missing file has a path too, the path of "-" is
	// "-", and "" is the working folder of commands.
	Path(name string) (path string, folder bool, err error)
	// Kind returns what a name stands for, as far as it is known without reading.
	Kind(name string) FileKind
	// Same reports whether two names are one file.
	Same(a, b string) bool
	// Existing reads a file that will be overwritten; there is false if no content would be lost.
	Existing(name string) (data []byte, there bool, err error)
	// Write replaces the content of a file by what write writes, whole or not at all.
	Write(ctx context.Context, name string, write func(io.Writer) error) error
	// Append opens a file that grows, and creates it if missing.
	Append(name string) (Growing, error)
	// Folder makes a folder if it is missing.
	Folder(ctx context.Context, name string) error
	// Hold locks the folder of a file against other callers of Hold until release: between Open and
	// Write of the same file.
	Hold(ctx context.Context, name string) (release func() error, err error)
}

// FileKind is what the name of a file stands for.
type FileKind string

// The kinds. A stream can be read only once: "-", a pipe, a device.
const (
	KindNone   FileKind = "" // the file does not exist yet
	KindFile   FileKind = "file"
	KindFolder FileKind = "folder"
	KindStream FileKind = "stream"
)

// KindOf returns the kind of a file by the result of os.Stat.
func KindOf(info fs.FileInfo, err error) FileKind {
	switch {
	case err != nil:
		return KindNone
	case info.IsDir():
		return KindFolder
	case info.Mode().IsRegular():
		return KindFile
	}
	return KindStream
}

// MaxSettings bounds a file of settings (prices, targets, rules of safety, a prompt): people
// do not write more. maxTokens bounds the values of tokens, which programs write.
const (
	MaxSettings = 16 << 20
	MaxTokens   = 64 << 20
)

// Read returns a whole file of at most limit bytes.
func (a *App) Read(name string, limit int64) ([]byte, error) {
	f, err := a.Config.Files.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := doc.ReadWhole(f, limit)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b, nil
}

// Text returns s, or for "@FILE" the content of the file, for example a prompt.
func (a *App) Text(s string) (string, error) {
	name, isFile := strings.CutPrefix(s, "@")
	if !isFile {
		return s, nil
	}
	b, err := a.Read(name, MaxSettings)
	if err != nil {
		return "", fmt.Errorf("read text: %w", err)
	}
	return strings.TrimPrefix(string(b), "\ufeff"), nil // the byte order mark of an editor is not a part of a prompt
}

// WriteReport writes a view to a file in the form that the end of its name names (.html .pdf .md
// .xml .csv .json .jsonl .txt). The error wraps callvet.ErrInvalid for another end.
func (a *App) WriteReport(ctx context.Context, v *report.View, name string) error {
	if err := a.Reports(name); err != nil {
		return err
	}
	return a.Config.Files.Write(ctx, name, func(w io.Writer) error { return a.Report(ctx, v, name, w) })
}

// Reports returns why a report cannot be written to a file of this name; nil if it can.
func (a *App) Reports(name string) error {
	if !isPDF(name) {
		_, err := report.ByPath(name)
		return err
	}
	_, err := a.pdf.Find()
	return err
}

// Report writes a view to w in the form that the end of name names. Reports checks the name before.
func (a *App) Report(ctx context.Context, v *report.View, name string, w io.Writer) error {
	if isPDF(name) {
		return a.pdf.Print(ctx, func(page io.Writer) error { return escaped(report.HTML, v, page) }, w)
	}
	face, err := report.ByPath(name)
	if err != nil {
		return err
	}
	return escaped(face, v, w)
}

// escaped writes a report without characters that change how a text is displayed.
func escaped(face report.Face, v *report.View, w io.Writer) error {
	text := &plain.Writer{W: w}
	return errors.Join(face(text, v), text.Flush())
}

func isPDF(name string) bool { return strings.EqualFold(filepath.Ext(name), ".pdf") }

// Growing is a file that is read from its beginning and written at its end. What was written is
// kept when Sync has returned.
type Growing interface {
	io.ReaderAt
	io.Writer
	io.Closer
	Sync() error
}

// WriteText replaces the content of a file, whole or not at all.
func (a *App) WriteText(ctx context.Context, name string, write func(io.Writer) error) error {
	return a.Config.Files.Write(ctx, name, func(w io.Writer) error {
		text := &plain.Writer{W: w}
		return errors.Join(write(text), text.Flush())
	})
}
