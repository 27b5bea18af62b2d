// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"strconv"
	"strings"
	"time"
)

// moment is a point in time as ISO 8601 spells it.
type moment struct {
	at      time.Time // UTC; a time without zone is read as UTC
	day     time.Time // midnight of the calendar date as written
	hasTime bool
}

var dateLayouts = [...]string{"2006-01-02", "20060102", "2006-002"}

var clockLayouts = [...]string{"15:04:05", "15:04", "150405", "1504", "15"}

var zoneLayouts = [...]string{"Z07:00", "Z0700", "Z07"}

// parseMoment reads calendar, ordinal and week dates, basic and extended, with
// an optional time (fractions with point or comma) and zone.
func parseMoment(s string) (moment, bool) {
	s = strings.TrimSpace(s)
	if len(s) < 8 || len(s) > 48 {
		return moment{}, false
	}
	date, clock := s, ""
	if i := strings.IndexAny(s, "Tt "); i >= 0 {
		date, clock = s[:i], strings.ToUpper(strings.TrimSpace(s[i+1:]))
		if clock == "" {
			return moment{}, false
		}
	}
	day, ok := parseDay(date)
	if !ok {
		return moment{}, false
	}
	if clock == "" {
		return moment{at: day, day: day}, true
	}
	return parseClock(day, strings.Replace(clock, ",", ".", 1))
}

func parseDay(s string) (time.Time, bool) {
	for _, l := range dateLayouts {
		if t, err := time.Parse(l, s); err == nil {
			return t, true
		}
	}
	return parseWeekDay(s)
}

// parseWeekDay reads 2026-W18-5 and 2026W185; Monday is 1.
func parseWeekDay(s string) (time.Time, bool) {
	s = strings.ReplaceAll(s, "-", "")
	if len(s) != 8 || s[4] != 'W' && s[4] != 'w' {
		return time.Time{}, false
	}
	year, err1 := strconv.Atoi(s[:4])
	week, err2 := strconv.Atoi(s[5:7])
	day := int(s[7] - '0')
	if err1 != nil || err2 != nil || week < 1 || week > 53 || day < 1 || day > 7 {
		return time.Time{}, false
	}
	jan4 := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := jan4.AddDate(0, 0, -(int(jan4.Weekday())+6)%7)
	t := monday.AddDate(0, 0, (week-1)*7+day-1)
	if y, w := t.ISOWeek(); y != year || w != week {
		return time.Time{}, false
	}
	return t, true
}

func parseClock(day time.Time, s string) (moment, bool) {
	// 24:00 is the end of the day.
	if rest, ok := strings.CutPrefix(s, "24:00"); ok {
		day, s = day.AddDate(0, 0, 1), "00:00"+rest
	}
	for _, c := range clockLayouts {
		if t, err := time.Parse(c, s); err == nil {
			return moment{day.Add(t.Sub(midnight(t))), day, true}, true
		}
		for _, z := range zoneLayouts {
			if t, err := time.Parse(c+z, strings.Replace(s, " ", "", 1)); err == nil {
				_, offset := t.Zone()
				return moment{day.Add(t.Sub(midnight(t)) - time.Duration(offset)*time.Second), day, true}, true
			}
		}
	}
	return moment{}, false
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// sameMoment: equal instants; where only a calendar date was expected, the same
// date; a bare date stands for its midnight where a time was expected. A
// tolerance widens all three.
func sameMoment(want, got moment, tolerance time.Duration) bool {
	a, b := want.at, got.at
	if !want.hasTime && got.hasTime {
		b = got.day
	}
	return a.Sub(b).Abs() <= tolerance
}
