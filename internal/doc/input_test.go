// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

func zipped(t *testing.T, parts ...io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, io.MultiReader(parts...)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestLimits(t *testing.T) {
	t.Parallel()
	small := zipped(t, strings.NewReader("hello"))
	bomb := zipped(t, io.LimitReader(zeros{}, 200<<20))
	for _, c := range []struct {
		name  string
		data  []byte
		limit int64
		want  string
		kind  error
	}{
		{"plain", []byte("hello"), 5, "hello", nil},
		{"plain, too long", []byte("hello!"), 5, "read f: more than 5 bytes: limited", callvet.ErrLimited},
		{"zipped", small, 64, "hello", nil},
		{"two members", append(bytes.Clone(small), small...), 64, "hellohello", nil},
		{
			"unpacked, too long", zipped(t, strings.NewReader(strings.Repeat("x", 2048))), 1024,
			"read f: more than 1 KiB: limited", callvet.ErrLimited,
		},
		{"cut off", small[:len(small)-6], 64, "read f: the gzip stream is cut off: invalid", callvet.ErrInvalid},
		{"broken", []byte("\x1f\x8bxx"), 64, "read f: read gzip: invalid: unexpected EOF", callvet.ErrInvalid},
		{
			"zstd", []byte("\x28\xb5\x2f\xfdxx"), 64, "read f: it is compressed with zstd, which is not read",
			callvet.ErrInvalid,
		},
		{
			"bomb", bomb, 1 << 30, fmt.Sprintf("read f: it unpacks to more than 500 times its size (%d bytes", 0),
			callvet.ErrLimited,
		},
	} {
		got, err := doc.ReadAll("f", c.data, c.limit)
		text := string(got)
		if err != nil {
			text = err.Error()
		}
		if c.name == "bomb" {
			c.want = "read f: it unpacks to more than 500 times its size ("
		}
		if !strings.HasPrefix(text, c.want) || !errors.Is(err, c.kind) {
			t.Errorf("%s: %q, %v; want %q", c.name, text, err, c.want)
		}
	}
	for name, magic := range map[string]string{"zstd": "\x28\xb5\x2f\xfdxx", "xz": "\xfd7zXZ\x00", "bzip2": "BZh91A"} {
		if _, _, err := doc.Unpack(strings.NewReader(magic), 0); !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain, packed, err := doc.Unpack(bytes.NewReader(bomb), 0)
	if err != nil || !packed {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, plain); !errors.Is(err, callvet.ErrLimited) || n > 100<<20 {
		t.Errorf("a bomb without a limit: %d bytes, %v", n, err)
	}
}

// TestFile: a device that never ends is read to the limit and no further.
func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := doc.ReadFile(path, 5); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := doc.ReadFile(path, 4); !errors.Is(err, callvet.ErrLimited) ||
		!strings.Contains(err.Error(), "f: more than 4 bytes") {
		t.Error(err)
	}
	if _, err := doc.ReadFile(path+"x", 4); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := doc.ReadFile("/dev/zero", 1<<20); !errors.Is(err, callvet.ErrLimited) {
			t.Error(err)
		}
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 64 << 10, 64<<10 + 1, 1 << 20, 33<<20 + 7} {
		b, err := doc.ReadWhole(io.LimitReader(zeros{}, size), size)
		if err != nil || int64(len(b)) != size {
			t.Errorf("%d: %d bytes, %v", size, len(b), err)
		}
		if cap(b) > len(b)+64<<10 {
			t.Errorf("%d: %d bytes of room", size, cap(b))
		}
	}
}
