// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages reads the lines of an agent and passes on the messages. Any other line gets a protocol
// error, and the conversation continues. The messages of a batch are passed on one by one: protocol
// versions without batches would end the session.
type messages struct {
	in   *bufio.Reader
	out  *lineWriter
	most int // bytes of a line
	left []byte

	passed, refused atomic.Int64
}

// nonsense reports whether the agent sent lines but no message.
func (m *messages) nonsense() bool { return m.passed.Load() == 0 && m.refused.Load() > 0 }

// maxRefused bounds the error answers to one batch.
const maxRefused = 20

// lineWriter writes one message at a time.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer.
func (w *lineWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

// Close implements io.Closer: the output outlives the conversation.
func (w *lineWriter) Close() error { return nil }

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.left) == 0 {
		line, long, err := m.line()
		switch {
		case long:
			m.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message has more than %d bytes", m.most))
		case len(line) > 0:
			m.take(line)
		}
		if err != nil && len(m.left) == 0 {
			return 0, err
		}
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

// Close implements io.Closer.
func (m *messages) Close() error { return nil }

// line reads a line without the white space around it. One of more than most bytes is read to its end and dropped.
func (m *messages) line() (line []byte, long bool, err error) {
	for {
		part, err := m.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > m.most; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), long, err
		}
	}
}

// take passes on the messages of a line.
func (m *messages) take(line []byte) {
	var batch []json.RawMessage
	if line[0] != '[' {
		batch = []json.RawMessage{line}
	} else if json.Unmarshal(line, &batch) == nil && len(batch) == 0 {
		m.refuse(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
		return
	} else if batch == nil {
		batch = []json.RawMessage{line} // no JSON
	}
	bad := 0
	for _, one := range batch {
		_, err := jsonrpc.DecodeMessage(one)
		switch {
		case !json.Valid(one):
			m.refuse(nil, jsonrpc.CodeParseError, "the line is no JSON")
			continue
		case err != nil:
			if bad++; bad <= maxRefused {
				m.refuse(one, jsonrpc.CodeInvalidRequest, "this is no message of JSON-RPC 2.0")
			}
			continue
		}
		m.passed.Add(1)
		var plain bytes.Buffer
		_ = json.Compact(&plain, one) // it is valid
		m.left = append(append(m.left, plain.Bytes()...), '\n')
	}
}

// refuse answers a text that is not a message. It uses the text's id if that is a valid id.
func (m *messages) refuse(message []byte, code int64, why string) {
	m.refused.Add(1)
	var has struct {
		ID json.RawMessage `json:"id"`
	}
	id := json.RawMessage("null")
	if json.Unmarshal(message, &has) == nil && len(has.ID) > 0 &&
		bytes.IndexByte([]byte(`"-0123456789`), has.ID[0]) >= 0 {
		id = has.ID
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": jsonrpc.Error{Code: code, Message: why}})
	if err == nil {
		_, _ = m.out.Write(append(b, '\n')) // an error means that the agent left
	}
}
