// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// errStreamEnded is the error of an answer that was cut off.
var errStreamEnded = errors.New("the stream ended before the answer did")

// deltas assembles a streamed answer from its events, and keeps every fragment of arguments
// unchanged.
type deltas interface {
	// add adds the data of one event. content: the event had a part of the answer; last: the answer
	// is complete.
	add(data []byte) (content, last bool, err error)
	// finish fills resp. An answer that was cut off is an error.
	finish(q *query, resp *callvet.Response) error
}

// readStream reads server-sent events, or JSON Lines. The raw text is kept as the body.
func (m *model) readStream(outer, ctx context.Context, res *http.Response, d deltas,
	start time.Time,
) (answer, *callvet.Fault) {
	ans := answer{status: res.StatusCode, streamed: d}
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(io.LimitReader(res.Body, m.maxBody+1), &raw))
	s := stream{deltas: d, halves: &halves{}, content: func() {
		if ans.first == 0 {
			ans.first = m.now().Sub(start)
		}
	}}
	err := s.read(in)
	ans.body = raw.Bytes()
	switch {
	case err != nil:
		return ans, begun(res, m.lost(outer, ctx, err))
	case int64(raw.Len()) > m.maxBody:
		return ans, m.tooLarge(res.StatusCode)
	case s.wrong == nil && s.halves.first != nil:
		// Half a character remained. The text lacks it: all events are read again, each separately.
		s = stream{deltas: m.wire.deltas(), content: func() {}}
		if err := s.read(bufio.NewReader(bytes.NewReader(ans.body))); err != nil {
			return ans, streamFault(res.StatusCode, err)
		}
		ans.streamed = s.deltas
	}
	if s.wrong != nil {
		return ans, streamFault(res.StatusCode, s.wrong)
	}
	ans.made = s.made
	return ans, nil
}

// stream reads the events of an answer one after the other.
type stream struct {
	deltas
	halves  *halves // nil: each event is read separately
	content func()  // is called for each event that has a part of the answer
	wrong   error   // of an event; it ends the reading
	made    value.Repairs
}

// read reads to the last event. The error is an error of reading.
func (s *stream) read(in *bufio.Reader) error {
	if head, _ := in.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = in.Discard(len(head)) // these bytes are buffered
	}
	var data []byte
	for {
		line, err := in.ReadBytes('\n')
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		whole := bytes.HasPrefix(line, []byte("{")) // of JSON Lines
		if ok || whole {
			data = append(append(data, '\n'), bytes.TrimSpace(value)...)
		}
		if (whole || len(bytes.TrimSpace(line)) == 0 || err != nil) && len(data) > 0 {
			if last := s.event(data[1:]); last || s.wrong != nil {
				return nil
			}
			data = data[:0]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// event adds the data of one event; it repairs invalid JSON.
func (s *stream) event(data []byte) (last bool) {
	if s.halves != nil {
		data = s.halves.join(data)
	}
	content, last, err := s.add(data)
	if syntax := (*value.SyntaxError)(nil); errors.As(err, &syntax) {
		if text, made, ok := value.Repair(data); ok {
			s.made |= made
			content, last, err = s.add(text)
		}
	}
	if content {
		s.content()
	}
	s.wrong = err
	return last
}

// halves joins characters of two UTF-16 units that a server split between two events, as servers in
// JavaScript do. The first half waits for the event with the second half at the beginning of its
// text.
//
//	{"text":"a lamp \ud83d"}  {"text":"\udecb"}  ─►  {"text":"a lamp "}  {"text":"\ud83d\udecb"}
type halves struct{ first []byte }

var (
	firstHalf  = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}"`)
	secondHalf = regexp.MustCompile(`"\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
)

func (h *halves) join(data []byte) []byte {
	if h.first != nil {
		if at := secondHalf.FindIndex(data); at != nil {
			data = slices.Insert(data, at[0]+1, h.first...)
			h.first = nil
		}
	}
	at := firstHalf.FindIndex(data)
	if at == nil || h.first != nil || escaped(data[:at[0]]) {
		return data
	}
	end := at[1] - 1
	h.first = bytes.Clone(data[at[0]:end])
	return slices.Delete(data, at[0], end)
}

// escaped reports whether text ends in a backslash that escapes the next character of a JSON
// string.
func escaped(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}

func streamFault(status int, err error) *callvet.Fault {
	var f *callvet.Fault
	if errors.As(err, &f) {
		return f
	}
	return malformed(status, fmt.Sprintf("read an event: %v", err))
}
