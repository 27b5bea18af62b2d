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
)

// errStreamEnded is what became of an answer that was cut off.
var errStreamEnded = errors.New("the stream ended before the answer did")

// deltas puts a streamed answer together from its events, keeping every
// fragment of arguments as it came.
type deltas interface {
	// add takes the data of one event. content tells that it carried a part of
	// the answer; last that the answer is complete.
	add(data []byte) (content, last bool, err error)
	// finish fills resp. An answer that was cut off is an error.
	finish(q *query, resp *callvet.Response) error
}

// readStream reads server-sent events, or JSON Lines. The raw text is kept as the body.
func (m *model) readStream(outer, ctx context.Context, res *http.Response, d deltas, start time.Time) (answer, *callvet.Fault) {
	ans := answer{status: res.StatusCode, streamed: d}
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(io.LimitReader(res.Body, m.maxBody+1), &raw))
	if head, _ := in.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = in.Discard(len(head)) // which is there
	}
	var data []byte
	var letters halves
	for last := false; !last; {
		line, err := in.ReadBytes('\n')
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		whole := bytes.HasPrefix(line, []byte("{")) // of JSON Lines
		if ok || whole {
			data = append(append(data, '\n'), bytes.TrimSpace(value)...)
		}
		if (whole || len(bytes.TrimSpace(line)) == 0 || err != nil) && len(data) > 0 {
			var content bool
			var bad error
			content, last, bad = d.add(letters.join(data[1:]))
			data = data[:0]
			if content && ans.first == 0 {
				ans.first = m.now().Sub(start)
			}
			if bad != nil && int64(raw.Len()) <= m.maxBody {
				ans.body = raw.Bytes()
				return ans, streamFault(res.StatusCode, bad)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			ans.body = raw.Bytes()
			return ans, begun(res, m.lost(outer, ctx, err))
		}
	}
	ans.body = raw.Bytes()
	switch {
	case int64(raw.Len()) > m.maxBody:
		return ans, m.tooLarge(res.StatusCode)
	case letters.first != nil:
		return ans, streamFault(res.StatusCode, errors.New("half a character, of which the other half did not come"))
	}
	return ans, nil
}

// halves joins characters of two UTF-16 units that a server divided between two events, as
// those written in JavaScript do: the first half waits for the event that begins a text with
// the second.
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

// escaped reports whether what follows text in a JSON string belongs to a backslash at its end.
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
