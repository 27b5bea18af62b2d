// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
)

// RetryAfter is how long an error asks to wait: "retry after 7", in seconds as of HTTP's
// Retry-After, or "retry after 1.5s"; 0 where it says nothing of it.
func RetryAfter(text string) time.Duration {
	const words = "retry after "
	i := strings.Index(strings.ToLower(text), words)
	if i < 0 {
		return 0
	}
	word := text[i+len(words):]
	if end := strings.IndexFunc(word,
		func(r rune) bool { return !strings.ContainsRune("0123456789.hmsµu", r) }); end >= 0 {
		word = word[:end]
	}
	word = strings.TrimRight(word, ".")
	if seconds, err := strconv.ParseUint(word, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	d, err := time.ParseDuration(word)
	if err != nil {
		return 0
	}
	return max(d, 0)
}

// FirstBackoff is how long a call that failed once is to wait before it is made again, where the
// tool asked for nothing else: the least that the guard waits with its own settings, in round numbers.
const FirstBackoff = 100 * time.Millisecond

// Backoff is how long a call is to wait that failed, the last of several failures of it in a row:
// as long as the tool asked, else FirstBackoff, doubled by each failure before. failures below 1
// count as 1. Source: Evaluating Tool Calling, §12 ("retries with backoff").
func Backoff(failed *callvet.Call, failures int) time.Duration {
	for _, text := range []string{failed.Error, string(failed.Result)} {
		if d := RetryAfter(text); d > 0 {
			return d
		}
	}
	const most = 10 // doublings: nobody waits for longer than two minutes without being asked to
	return FirstBackoff << min(max(failures-1, 0), most)
}

// Waited is how long after the end of a call the same target made another one; known is false where
// it is not known when both were made. It is negative where it did not wait for the end.
func Waited(failed, again *callvet.Call) (wait time.Duration, known bool) {
	if failed.StartMS == nil || again.StartMS == nil {
		return 0, false
	}
	return time.Duration(
		(*again.StartMS - *failed.StartMS - failed.QueueMS - failed.ExecMS) * float64(time.Millisecond)), true
}
