// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package modelproxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/sys"
)

const (
	format  = "callvet model recording"
	version = 1
	// maxRecording is the size of a file, above which it is not read.
	maxRecording = 256 << 20
	// keyLength is the length of the hash in a file's name: 80 bits.
	keyLength = 20
)

// recording are the answers to one request, in the order of their requests.
type recording struct {
	Format  string    `json:"format" form:"required"`
	Version int       `json:"version" form:"required"`
	Key     string    `json:"key" form:"required"`
	Request request   `json:"request" form:"required"`
	Answers []*answer `json:"answers" form:"required"`

	name   string // of its file
	given  int    // answers replayed by this process
	leaves map[string]string
}

// request is the identity of a request.
type request struct {
	Method string `json:"method" form:"required"`
	// Path includes the query.
	Path string `json:"path" form:"required"`
	// Headers are the headers that change the answer.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is for people: secrets are masked in it. The key is that of the original body.
	Body json.RawMessage `json:"body,omitempty"`
}

// answer is one answer: Body, where it is JSON, Lines, where it is a stream or another text.
type answer struct {
	Status int             `json:"status" form:"required"`
	Type   string          `json:"type,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	Lines  []string        `json:"lines,omitempty"`
}

// text are the bytes of an answer that are sent.
func (a *answer) text() []byte {
	if a.Body == nil {
		return []byte(strings.Join(a.Lines, "\n"))
	}
	var b bytes.Buffer
	if json.Compact(&b, a.Body) != nil {
		return a.Body
	}
	return b.Bytes()
}

// newAnswer converts an answer for a file.
func newAnswer(status int, contentType string, body []byte) *answer {
	a := &answer{Status: status, Type: contentType}
	if json.Valid(body) {
		a.Body = body
	} else {
		a.Lines = strings.Split(string(body), "\n")
	}
	return a
}

// answerHeaders are the headers of a request that change the answer.
var answerHeaders = []string{"Anthropic-Version", "Anthropic-Beta", "Openai-Beta"}

// key identifies a request: the hash of its canonical JSON without the top-level keys in ignore. It
// also sets Body to the form of the file.
func (q *request) key(ignore []string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", q.Method, q.Path)
	for _, name := range answerHeaders {
		fmt.Fprintf(h, "%s: %s\n", name, q.Headers[name])
	}
	if len(q.Body) > 0 {
		d := json.NewDecoder(bytes.NewReader(q.Body))
		d.UseNumber()
		var body any
		if err := d.Decode(&body); err != nil {
			return "", fmt.Errorf("read request: %w", err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return "", errors.New("read request: text after the JSON value")
		}
		if m, ok := body.(map[string]any); ok {
			for _, k := range ignore {
				delete(m, k)
			}
		}
		plain, err := json.Marshal(body) // with sorted keys
		if err != nil {
			return "", fmt.Errorf("write request: %w", err)
		}
		h.Write(plain)
	}
	return hex.EncodeToString(h.Sum(nil))[:keyLength], nil
}

// word is the form of a path in the name of a file.
func (q *request) word() string {
	path, _, _ := strings.Cut(strings.TrimPrefix(q.Path, "/v1/"), "?")
	word := unsafeLetters.ReplaceAllString(path, "-")
	return word[:min(len(word), 40)]
}

var unsafeLetters = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// load reads the recordings of a folder; a missing folder has none.
func load(folder string) (map[string]*recording, error) {
	list, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[string]*recording{}, nil
	case err != nil:
		return nil, fmt.Errorf("read recordings: %w", err)
	}
	all := map[string]*recording{}
	for _, e := range list {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := filepath.Join(folder, e.Name())
		r, err := readRecording(name)
		if err != nil {
			return nil, err
		}
		if other := all[r.Key]; other != nil {
			return nil, &callvet.Hinted{
				Err: fmt.Errorf("read recording %s: key %s is that of %s, too: %w", name, r.Key, other.name,
					callvet.ErrInvalid),
				Hint: "remove one of the two files",
			}
		}
		all[r.Key] = r
	}
	return all, nil
}

func readRecording(name string) (*recording, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, maxRecording+1))
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	if len(text) > maxRecording {
		return nil, fmt.Errorf("read recording %s: more than %d MiB: %w", name, maxRecording>>20, callvet.ErrInvalid)
	}
	return decode(name, text)
}

// decode reads one file. Errors wrap callvet.ErrInvalid.
func decode(name string, text []byte) (*recording, error) {
	r := &recording{name: name}
	if err := doc.DecodeJSON(name, text, r); err != nil {
		return nil, fmt.Errorf("read recording: %w: %w", callvet.ErrInvalid, err)
	}
	wrong := ""
	switch {
	case r.Format != format:
		wrong = fmt.Sprintf("format is %q, and not %q", r.Format, format)
	case r.Version != version:
		wrong = fmt.Sprintf("version %d is not read, only %d", r.Version, version)
	case len(r.Answers) == 0:
		wrong = "answers is empty"
	}
	for i, a := range r.Answers {
		if a == nil || a.Status < 100 || a.Status > 999 {
			wrong = fmt.Sprintf("answers[%d].status is no status of HTTP", i)
		} else if (a.Body == nil) == (a.Lines == nil) {
			wrong = fmt.Sprintf("answers[%d] has a body or lines, one of the two", i)
		}
	}
	if wrong != "" {
		return nil, fmt.Errorf("read recording %s: %s: %w", name, wrong, callvet.ErrInvalid)
	}
	return r, nil
}

// save writes the file of r. Readable letters are not escaped.
func (r *recording) save(ctx context.Context, folder string) error {
	if r.name == "" {
		r.name = filepath.Join(folder, r.Request.word()+"-"+r.Key+".json")
	}
	if err := sys.MakeFolder(folder); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	err := sys.WriteFile(ctx, r.name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	})
	if err != nil {
		return fmt.Errorf("write recording %s: %w", r.name, err)
	}
	return nil
}

// nearest is the recording that differs least from the request, and the places where it differs.
func nearest(all map[string]*recording, q *request, ignore []string) (*recording, []string) {
	wanted := leaves(q.Body, ignore)
	var best *recording
	var fewest []string
	for _, key := range sortedKeys(all) {
		r := all[key]
		if r.Request.Method != q.Method || r.Request.Path != q.Path {
			continue
		}
		if r.leaves == nil {
			r.leaves = leaves(r.Request.Body, ignore)
		}
		d := differences(r, q, wanted)
		if best == nil || len(d) < len(fewest) {
			best, fewest = r, d
		}
	}
	return best, fewest
}

func differences(r *recording, q *request, wanted map[string]string) (out []string) {
	for _, name := range answerHeaders {
		if a, b := r.Request.Headers[name], q.Headers[name]; a != b {
			out = append(out, fmt.Sprintf("header %s: recorded %q, asked %q", name, a, b))
		}
	}
	paths := map[string]bool{}
	for _, m := range []map[string]string{r.leaves, wanted} {
		for p := range m {
			paths[p] = true
		}
	}
	for _, p := range sortedKeys(paths) {
		a, had := r.leaves[p]
		b, has := wanted[p]
		switch {
		case had && !has:
			out = append(out, fmt.Sprintf("%s: recorded %s, not asked", p, cut(a)))
		case has && !had:
			out = append(out, fmt.Sprintf("%s: asked %s, not recorded", p, cut(b)))
		case a != b:
			out = append(out, fmt.Sprintf("%s: recorded %s, asked %s", p, cut(a), cut(b)))
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// cut shortens a text for a message.
func cut(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// leaves are the values of a body by their paths.
func leaves(body []byte, ignore []string) map[string]string {
	out := map[string]string{}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return out
	}
	if m, ok := v.(map[string]any); ok {
		for _, k := range ignore {
			delete(m, k)
		}
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				walk(strings.TrimPrefix(path+"."+k, "."), e)
			}
			if len(v) == 0 {
				out[path] = "{}"
			}
		case []any:
			for i, e := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), e)
			}
			if len(v) == 0 {
				out[path] = "[]"
			}
		default:
			text, _ := json.Marshal(v)
			out[path] = string(text)
		}
	}
	walk("", v)
	return out
}
