// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a container may have no time zones

	"github.com/robfig/cron/v3"

	"github.com/callvet/callvet"
)

// maxSpec bounds a cron spec, in bytes.
const maxSpec = 200

// Times are the times of a cron spec in a time zone.
type Times struct {
	spec cron.Schedule
	zone *time.Location
	// hourly: every hour matches. Such a spec means an interval, others a time of day.
	hourly bool
}

// Parse reads a cron spec of five fields (minute, hour, day of month, month, day of week) and the name of
// a time zone of the IANA; "" is UTC. A spec that matches no time is refused. The error is a
// *callvet.FieldError about cron or time_zone.
func Parse(spec, zone string) (*Times, error) {
	at, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, &callvet.FieldError{
			Field: "time_zone",
			Text:  fmt.Sprintf("{time_zone} %q: it is no time zone", zone),
			Fix:   "write one of the IANA, such as Europe/Stockholm",
		}
	}
	const fix = "write minute, hour, day of month, month and day of week, such as 0 6 * * 1-5"
	if len(spec) > maxSpec || len(strings.Fields(spec)) != 5 || strings.ContainsFunc(spec, outside) {
		return nil, &callvet.FieldError{
			Field: "cron",
			Text:  "{cron} has five fields of digits, names and * , - / ?", Fix: fix,
		}
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(spec)
	if err != nil {
		return nil, &callvet.FieldError{
			Field: "cron",
			Text:  fmt.Sprintf("{cron} %q: %s", spec, strings.NewReplacer("{", "", "}", "").Replace(err.Error())),
			Fix:   fix,
		}
	}
	t := &Times{spec: parsed, zone: at, hourly: strings.HasPrefix(strings.Fields(spec)[1], "*")}
	if parsed.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, &callvet.FieldError{
			Field: "cron",
			Text:  fmt.Sprintf("{cron} %q: there is no such day", spec), Fix: fix,
		}
	}
	return t, nil
}

// outside reports characters that no spec may have, including those of a time zone.
func outside(r rune) bool {
	return !strings.ContainsRune("*,-/? \t", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// Next is the first time after a moment; zero if there is none within five years.
//
// When clocks change, a time of day occurs once. A skipped time occurs later by the change of the
// clock, and of a repeated time the first counts. A spec for every hour uses elapsed time.
func (t *Times) Next(after time.Time) time.Time {
	after = after.In(t.zone)
	if t.hourly {
		return t.spec.Next(after)
	}
	// Clock readings are compared as if they were UTC, which has no change of clocks.
	for read := reading(after, time.UTC); ; {
		read = t.spec.Next(read)
		if read.IsZero() {
			return read
		}
		if at := t.moment(read); at.After(after) {
			return at
		}
	}
}

// reading is the clock time of t as if it were in another zone.
func reading(t time.Time, zone *time.Location) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
}

// moment returns when clocks show a reading for the first time; a skipped reading uses the offset
// before the change.
func (t *Times) moment(read time.Time) time.Time {
	_, before := read.Add(-26 * time.Hour).In(t.zone).Zone()
	_, after := read.Add(26 * time.Hour).In(t.zone).Zone()
	first := read.Add(-time.Duration(before) * time.Second).In(t.zone)
	if before == after || reading(first, time.UTC).Equal(read) {
		return first
	}
	if second := read.Add(-time.Duration(after) * time.Second).In(t.zone); reading(second, time.UTC).Equal(read) {
		return second
	}
	return first
}
