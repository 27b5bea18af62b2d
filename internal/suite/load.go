// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// DefaultLimit is how many bytes one input file may have: 256 MiB.
const DefaultLimit = 256 << 20

// Options are the settings of Load. The zero value reads files as they are.
type Options struct {
	// Limit is the largest file in bytes; 0 means DefaultLimit.
	Limit int64
	// Stdin is what the path "-" reads. Nil: "-" is an error.
	Stdin io.Reader
	// Seeds and Snapshots are the values of {{seed:path}} and {{snapshot:path}}
	// tokens, as JSON objects. Nil: those tokens stay unresolved.
	Seeds, Snapshots []byte
	// KeepTokens leaves tokens as they are, for a conversion that loses nothing.
	KeepTokens bool
	// NoIncludes refuses every path in a suite, for suites of strangers.
	NoIncludes bool
	// Outside lets paths in a suite lead out of its folder.
	Outside bool
	// Programs carries assertions of other formats that are JavaScript or Python as scorers.
	// By default they are not evaluated. Whether they may run is another question.
	Programs bool
	// Dialect, when set, is the format to read instead of detecting it.
	Dialect string
	// Tools and Mocks are added to the suite's own.
	Tools []callvet.Tool
	Mocks []callvet.Mock
}

// Load reads the suite in a file, in all suite files of a folder (their cases and tools are
// merged) or, for "-", on Stdin. It detects the format by content: callvet's own in YAML or JSON
// (comments allowed) and every dialect.
//
// The problems are the rejected parts, in the order of the file. A problem that is not a warning
// means that the suite differs from what its author wrote, and should not run. The error is for
// input that cannot be used at all: missing, too large, not text, not a suite.
func Load(path string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	r, problems, err := suiteRead(path, opt)
	if err != nil {
		return nil, problems, err
	}
	return r.all(), r.problems(), nil
}

// readPath reads a file, a folder or standard input.
func readPath(path string, opt Options) (*reading, []callvet.Problem, error) {
	var data []byte
	info, err := os.Stat(path)
	switch {
	case path == "-":
		if opt.Stdin == nil {
			return nil, nil, &callvet.Hinted{
				Err:  fmt.Errorf("read suite: %w: no standard input", callvet.ErrInvalid),
				Hint: "name a file or a folder",
			}
		}
		data, err = opt.read(opt.Stdin, "-")
	case err != nil:
		err = missing(path, err)
	case info.IsDir():
		s, files, problems, err := loadFolder(path, opt)
		r, problems, err := inMemory(s, problems, err)
		if r != nil {
			r.files = files
		}
		return r, problems, err
	default:
		data, err = opt.readFile(path)
	}
	if err != nil {
		return nil, nil, err
	}
	r, problems, err := readData(data, path, opt)
	if err != nil {
		return r, problems, err
	}
	if r.files = []File{fileOf(path, data, nil)}; path == "-" {
		return r, problems, err
	}
	r, err = r.watched(path, data, opt)
	return r, nil, err
}

func readData(data []byte, path string, opt Options) (*reading, []callvet.Problem, error) {
	if r, err := stream(data, path, opt); r != nil || err != nil {
		return r, nil, err
	}
	return inMemory(parse(data, path, opt))
}

func missing(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		hint := "`callvet init` writes a suite to start from"
		if near := nearestFile(path); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return &callvet.Hinted{Err: fmt.Errorf("read suite %s: %w", path, callvet.ErrNotFound), Hint: hint}
	}
	return fmt.Errorf("read suite: %w", err)
}

func nearestFile(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if best := callvet.Nearest(filepath.Base(path), names); best != "" {
		return filepath.Join(filepath.Dir(path), best)
	}
	return ""
}

func (o *Options) limit() int64 {
	if o.Limit > 0 {
		return o.Limit
	}
	return DefaultLimit
}

func tooLarge(name string, limit int64) error {
	return &callvet.Hinted{Err: fmt.Errorf("read suite %s: %w: more than %s", name, callvet.ErrLimited,
		doc.SizeText(limit)), Hint: "split the suite into several files of one folder"}
}

func (o *Options) readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, missing(path, err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	return o.read(f, path)
}

func (o *Options) read(r io.Reader, name string) ([]byte, error) {
	size := 0
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			size = int(min(info.Size(), o.limit()))
		}
	}
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(r, o.limit()+1)); err != nil {
		return nil, fmt.Errorf("read suite %s: %w", name, err)
	}
	if int64(buf.Len()) > o.limit() {
		return nil, tooLarge(name, o.limit())
	}
	return buf.Bytes(), nil
}

// parse detects the format of data in memory and reads it as Load would read a file of that name. A
// tools_from path is relative to the name's folder.
func parse(data []byte, name string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	if opt.Dialect == "" && dialect.IsBFCL(data, name) {
		return parseBFCL(data, name, opt)
	}
	if err := checkText(data, name); err != nil {
		return nil, nil, err
	}
	return parseAs(data, name, opt)
}

func checkText(data []byte, name string) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("read suite %s: %w: the file is empty", name, callvet.ErrInvalid)
	}
	packed, err := doc.Packed(data)
	if packed {
		err = &callvet.Hinted{Err: fmt.Errorf("it is compressed with gzip, which is read for BFCL questions only: %w",
			callvet.ErrInvalid), Hint: "gunzip -k FILE unpacks it"}
	}
	if err != nil {
		return fmt.Errorf("read suite %s: %w", name, err)
	}
	if !utf8.Valid(data) {
		valid := 0
		for valid < len(data) {
			c, size := utf8.DecodeRune(data[valid:])
			if c == utf8.RuneError && size == 1 {
				break
			}
			valid += size
		}
		line := 1 + bytes.Count(data[:valid], []byte{'\n'})
		return &callvet.Hinted{Err: fmt.Errorf("read suite %s:%d: %w: the text is not UTF-8", name, line,
			callvet.ErrInvalid), Hint: "save the file as UTF-8"}
	}
	return nil
}
