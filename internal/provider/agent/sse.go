// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// event is one server-sent event.
type event struct {
	name string
	data string
}

// events reads server-sent events (HTML Living Standard, "Server-sent events") and passes each to
// take until take returns stop. Lines may end in LF, CRLF or CR. An event that the end of the
// stream cuts off counts when it has data.
func events(r io.Reader, take func(event) (stop bool, err error)) error {
	br := bufio.NewReaderSize(r, 1<<15)
	var e event
	var data []string
	for first := true; ; first = false {
		line, err := readLine(br)
		if first {
			line = strings.TrimPrefix(line, "\uFEFF")
		}
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		field, val, _ := strings.Cut(line, ":")
		val = strings.TrimPrefix(val, " ")
		switch field {
		case "event":
			e.name = val
		case "data":
			data = append(data, val)
		}
		if (line == "" || end) && data != nil {
			e.data = strings.Join(data, "\n")
			if stop, err := take(e); stop || err != nil {
				return err
			}
		}
		if line == "" {
			e, data = event{}, nil
		}
		if end {
			return nil
		}
	}
}

// readLine reads up to LF, CRLF or CR, which it drops.
func readLine(br *bufio.Reader) (string, error) {
	var line []byte
	for {
		c, err := br.ReadByte()
		if err != nil {
			return string(line), err
		}
		if c == '\n' {
			return string(line), nil
		}
		if c == '\r' {
			if n, err := br.Peek(1); err == nil && n[0] == '\n' {
				_, _ = br.ReadByte()
			}
			return string(line), nil
		}
		line = append(line, c)
	}
}
