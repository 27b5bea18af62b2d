// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// RecordingFormat and RecordingVersion are in every file.
const (
	RecordingFormat  = "callvet.recording"
	RecordingVersion = 1
)

// MaxRecording is the size in bytes of the largest recording that is read.
const MaxRecording = 32 << 20

// Recording is a tool's answer to one call. It has its own file, so that a change of one answer
// changes one file.
type Recording struct {
	Format  string `json:"format" form:"required words=callvet.recording"`
	Version int    `json:"version" form:"required min=1 max=1"`
	// Case is the id of the case of the attempt that made the call; "": the recording applies to
	// any case.
	Case        string `json:"case,omitempty"`
	Tool        string `json:"tool" form:"required full"`
	ToolVersion string `json:"tool_version,omitempty"`
	// Schema is the SchemaHash of the tool's contract.
	Schema string `json:"schema,omitempty"`
	// Args are the canonical arguments; {} for none.
	Args json.RawMessage `json:"args" form:"required"`
	// Call counts the calls of the tool with these arguments in one conversation, from 1.
	Call int `json:"call" form:"required min=1"`
	// Target and Repeat (from 1) identify an attempt with an answer that differs from the first
	// recorded attempt at the case, which has neither.
	Target string `json:"target,omitempty"`
	Repeat int    `json:"repeat,omitempty" form:"min=1"`

	Status callvet.Status `json:"status,omitempty" form:"words=ok|exec_error|timeout|rejected_by_contract"`
	// Result is the answer, with its members in the tool's order.
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Note   string          `json:"note,omitempty"`
	// Guard are the world's own decisions, such as about a refused address.
	Guard     []callvet.Ruling `json:"guard,omitempty"`
	LatencyMS float64          `json:"latency_ms,omitempty" form:"min=0"`
	// Env names the source of the answer.
	Env      callvet.Env `json:"env,omitempty"`
	Recorded time.Time   `json:"recorded,omitzero"`

	file string // the path of its file, for messages
}

// SchemaHash identifies a tool's contract: 16 digits of the hash of its canonical parameters. A
// tool without parameters has "".
func SchemaHash(t *callvet.Tool) string {
	if t == nil || len(t.Parameters) == 0 {
		return ""
	}
	return short(value.Canonical(t.Parameters))
}

func short(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// key identifies a recording.
type key struct {
	scope, tool, version, args string
	call                       int
}

// marks matches redaction marks with a number, which depends on earlier redactions.
var marks = regexp.MustCompile(`(\[REDACTED:[A-Za-z0-9_-]+)#[0-9]+\]`)

// unnumbered are arguments in the form for keys.
func unnumbered(args json.RawMessage) string { return marks.ReplaceAllString(string(args), "$1]") }

func (r *Recording) key() key {
	return key{r.Case, strings.ToLower(r.Tool), r.ToolVersion, unnumbered(r.Args), r.Call}
}

// Name is the name of the recording's file: tool, version and case for a person, and a hash that
// makes it unique. It is valid on every file system.
func (r *Recording) Name() string {
	k := r.key()
	sum := short(
		[]byte(fmt.Sprintf("%q %q %q %q %d %q %d", k.scope, k.tool, k.version, k.args, k.call, r.Target, r.Repeat)))
	tool := slug(r.Tool)
	if r.ToolVersion != "" {
		tool += "." + slug(r.ToolVersion)
	}
	return tool + "." + slug(cmp.Or(r.Case, "any")) + "." + sum + ".json"
}

const maxSlug = 48

// slug is a text in letters, digits, - and _. No device of Windows has it as its name.
func slug(s string) string {
	b := make([]byte, 0, len(s))
	for _, c := range []byte(strings.ToLower(s)) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_':
			b = append(b, c)
		case len(b) > 0 && b[len(b)-1] != '-':
			b = append(b, '-')
		}
	}
	out := strings.Trim(string(b[:min(len(b), maxSlug)]), "-")
	switch {
	case out == "":
		return "x"
	case slices.Contains([]string{"con", "prn", "aux", "nul"}, out),
		len(out) == 4 && (strings.HasPrefix(out, "com") || strings.HasPrefix(out, "lpt")):
		return out + "_"
	}
	return out
}

// Encode is the recording's file.
func (r *Recording) Encode() ([]byte, error) {
	var b, out bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("write recording of %s: %w", r.Tool, err)
	}
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("write recording of %s: %w", r.Tool, err)
	}
	return out.Bytes(), nil
}

// ReadRecording reads a recording's file.
func ReadRecording(file string, data []byte) (*Recording, error) {
	r := &Recording{file: file}
	if err := doc.DecodeJSON(file, data, r); err != nil {
		return nil, fmt.Errorf("read recording: %w: %w", callvet.ErrInvalid, err)
	}
	r.file = file
	r.Args = value.Canonical(r.Args)
	if r.Result != nil {
		r.Result = compact(r.Result)
	}
	if r.Status == "" && r.Env != callvet.EnvGuard {
		r.Status = callvet.StatusOK
		if r.Error != "" {
			r.Status = callvet.StatusExecErr
		}
	}
	if r.Status == callvet.StatusOK && r.Result == nil {
		r.Result = json.RawMessage("null")
	}
	return r, nil
}

// compact is a JSON value without the space between its parts. A text that is no JSON becomes a
// string.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return value.Quote(string(raw))
	}
	return b.Bytes()
}

// answersAs reports whether two recordings have the same answer; time and duration may differ.
func (r *Recording) answersAs(o *Recording) bool {
	return o != nil && r.Status == o.Status && r.Error == o.Error && bytes.Equal(r.Result, o.Result) &&
		r.Env == o.Env && r.Note == o.Note && r.Schema == o.Schema && slices.Equal(r.Guard, o.Guard)
}

// reply is the recorded answer.
func (r *Recording) reply() callvet.Reply {
	out := callvet.Reply{
		Status: r.Status, Result: r.Result, Error: r.Error, Note: r.Note, Guard: r.Guard,
		Env: callvet.EnvRecorded, Latency: milliseconds(r.LatencyMS),
	}
	if r.Env == callvet.EnvGuard {
		out.Env = callvet.EnvGuard
	}
	return out
}

// called is a call in the words of a message.
func called(tool, version, args string, n int) string {
	if version != "" {
		tool += "@" + version
	}
	if n > 1 {
		return "call " + strconv.Itoa(n) + " of " + tool + " " + args
	}
	return tool + " " + args
}
