// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
)

// RetryAfter is how long an error asks to wait: "retry after 7" (seconds, like HTTP's Retry-After)
// or "retry after 1.5s"; 0 for other texts.
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

// FirstBackoff is the wait before the first retry of a failed call, where the tool asked for no
// wait. It is about the least wait of the guard with its default settings.
const FirstBackoff = 100 * time.Millisecond

// Backoff is the wait before the next retry after a number of failures in a row: as long as the
// tool asked, else FirstBackoff, doubled for each earlier failure. failures below 1 count as 1.
// Source: Evaluating Tool Calling, §12 ("retries with backoff").
func Backoff(failed *callvet.Call, failures int) time.Duration {
	for _, text := range []string{failed.Error, string(failed.Result)} {
		if d := RetryAfter(text); d > 0 {
			return d
		}
	}
	const most = 10 // doublings: at most two minutes unless the tool asks for more
	return FirstBackoff << min(max(failures-1, 0), most)
}

// Waited is how long after the end of a call the same target made the next one; known is false
// where the times are not recorded. It is negative where the target did not wait for the end.
func Waited(failed, again *callvet.Call) (wait time.Duration, known bool) {
	if failed.StartMS == nil || again.StartMS == nil {
		return 0, false
	}
	return time.Duration(
		(*again.StartMS - *failed.StartMS - failed.QueueMS - failed.ExecMS) * float64(time.Millisecond)), true
}
