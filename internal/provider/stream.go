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
			content, last, bad = d.add(data[1:])
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
	if int64(raw.Len()) > m.maxBody {
		return ans, m.tooLarge(res.StatusCode)
	}
	return ans, nil
}

func streamFault(status int, err error) *callvet.Fault {
	var f *callvet.Fault
	if errors.As(err, &f) {
		return f
	}
	return malformed(status, fmt.Sprintf("read an event: %v", err))
}
