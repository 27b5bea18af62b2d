// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package walk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
)

// logged is a file that is added to a parser's package: it appends each text that has the mark to a log, with the
// calling functions.
const logged = `package %s

import (
	"bytes"
	"os"
	"runtime"
	"strings"
)

func logParse(how string, text []byte) {
	name := os.Getenv("CALLVET_PARSES")
	if name == "" || !bytes.Contains(text, []byte(os.Getenv("CALLVET_MARK"))) {
		return
	}
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	line := []string{how}
	for {
		f, more := frames.Next()
		if at := strings.LastIndexByte(f.Function, '/'); !strings.HasPrefix(f.Function, "runtime.") {
			line = append(line, f.Function[at+1:])
		}
		if !more {
			break
		}
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	_, _ = f.WriteString(strings.Join(line, " < ") + "\n")
}
`

// entries are the functions that parse or validate a whole text: the first line of each, and the name of the text.
var entries = []struct{ file, line, text string }{
	{"value/parse.go", "func (d *Doc) Parse(src []byte) error {", "src"},
	{"value/parse.go", "func Valid(src []byte) bool {", "src"},
	{"encoding/json/scanner.go", "func checkValid(data []byte, scan *scanner) error {", "data"},
	{"encoding/json/indent.go", "func appendCompact(dst, src []byte, escape bool) ([]byte, error) {", "src"},
	{"encoding/json/indent.go", "func appendIndent(dst, src []byte, prefix, indent string) ([]byte, error) {", "src"},
	{"encoding/json/stream.go", "\tdec.d.init(dec.buf[dec.scanp : dec.scanp+n])", "dec.buf[dec.scanp:dec.scanp+n]"},
}

// build compiles the command of the module in root with parsers that log.
func build(ctx context.Context, root, work string) (string, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find GOROOT: %w", err)
	}
	replace, texts := map[string]string{}, map[string][]byte{}
	for _, e := range entries {
		path := filepath.Join(root, filepath.FromSlash(e.file))
		if strings.HasPrefix(e.file, "encoding/") {
			path = filepath.Join(strings.TrimSpace(string(goroot)), "src", filepath.FromSlash(e.file))
		}
		text := texts[path]
		if text == nil {
			if text, err = os.ReadFile(path); err != nil {
				return "", err
			}
		}
		call := fmt.Sprintf("%s\n\tlogParse(%q, %s)", e.line, e.file, e.text)
		changed := bytes.Replace(text, []byte(e.line), []byte(call), 1)
		if bytes.Equal(changed, text) {
			return "", fmt.Errorf("%w: %s has no line %q", callvet.ErrInvalid, path, e.line)
		}
		texts[path] = changed
		texts[filepath.Join(filepath.Dir(path), "log_parse.go")] = fmt.Appendf(nil, logged,
			filepath.Base(filepath.Dir(path)))
	}
	for path, text := range texts {
		to := filepath.Join(work, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return "", err
		}
		replace[path] = to
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file, to := filepath.Join(work, "overlay.json"), filepath.Join(work, "callvet")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-overlay", file, "-o", to,
		"./cmd/callvet")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the command: %w: %s", err, out)
	}
	return to, nil
}
