// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys_test

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/sys"
)

// TestLine: lines of any length up to the limit, and what ends them.
func TestLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000) // more than the reader holds
	for name, tt := range map[string]struct {
		in   string
		most int64
		want []string
		err  error
	}{
		"two":               {"a\nb\r\n", 9, []string{"a", "b"}, io.EOF},
		"empty":             {"\n\na\n", 9, []string{"", "", "a"}, io.EOF},
		"no end":            {"a\nrest", 9, []string{"a"}, io.EOF},
		"nothing":           {"", 9, nil, io.EOF},
		"long":              {long + "\na\n", 5001, []string{long, "a"}, io.EOF},
		"longer":            {"a\n" + long + "\n", 5000, []string{"a"}, sys.ErrLongLine},
		"longer, and open":  {long, 4999, nil, sys.ErrLongLine},
		"as long as it may": {"abc\n", 4, []string{"abc"}, io.EOF},
		"one more":          {"abcd\n", 4, nil, sys.ErrLongLine},
	} {
		r := bufio.NewReaderSize(strings.NewReader(tt.in), 64)
		var got []string
		var err error
		for err == nil {
			var line []byte
			if line, err = sys.ReadLine(r, tt.most); err == nil {
				got = append(got, string(line))
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v: %s", name, err, tt.err, d)
		}
	}
}
