// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job_test

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/job"
)

func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, spec, zone, after, want string }{
		{"a day", "0 6 * * *", "", "2026-03-01T05:59:59Z", "2026-03-01T06:00:00Z 2026-03-02T06:00:00Z"},
		{"strictly after", "0 6 * * *", "", "2026-03-01T06:00:00Z", "2026-03-02T06:00:00Z"},
		{
			"working days", "30 7 * * MON-FRI", "Europe/Stockholm", "2026-01-02T08:00:00+01:00",
			"2026-01-05T07:30:00+01:00",
		},
		{"a leap day", "0 0 29 2 *", "", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		// 29 March 2026: 02:00 becomes 03:00. 25 October: 03:00 becomes 02:00.
		{
			"a time that is left out", "30 2 * * *", "Europe/Stockholm", "2026-03-28T12:00:00+01:00",
			"2026-03-29T03:30:00+02:00 2026-03-30T02:30:00+02:00",
		},
		{
			"a time that is there twice", "30 2 * * *", "Europe/Stockholm", "2026-10-24T12:00:00+02:00",
			"2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00",
		},
		{"between both", "30 2 * * *", "Europe/Stockholm", "2026-10-25T02:10:00+01:00", "2026-10-26T02:30:00+01:00"},
		{
			"after the change", "30 6 * * *", "Europe/Stockholm", "2026-03-29T01:00:00+01:00",
			"2026-03-29T06:30:00+02:00",
		},
		{
			"every half hour in spring", "*/30 * * * *", "Europe/Stockholm", "2026-03-29T01:00:00+01:00",
			"2026-03-29T01:30:00+01:00 2026-03-29T03:00:00+02:00",
		},
		{
			"every half hour in autumn", "*/30 * * * *", "Europe/Stockholm", "2026-10-25T02:00:00+02:00",
			"2026-10-25T02:30:00+02:00 2026-10-25T02:00:00+01:00 2026-10-25T02:30:00+01:00 2026-10-25T03:00:00+01:00",
		},
		{"far from Greenwich", "0 0 * * *", "Pacific/Auckland", "2026-09-26T12:00:00Z", "2026-09-28T00:00:00+13:00"},
		{
			"across the date line", "15 9 * * *", "Pacific/Kiritimati", "2026-06-01T00:00:00Z",
			"2026-06-02T09:15:00+14:00",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			times, err := job.Parse(c.spec, c.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, c.after)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range strings.Fields(c.want) {
				if at = times.Next(at); at.Format(time.RFC3339) != want {
					t.Fatalf("next: %s, want %s", at.Format(time.RFC3339), want)
				}
			}
		})
	}
}

// Every time is after the one before, in every zone and season.
func TestNextGoesOn(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{
		"UTC", "Europe/Stockholm", "America/Sao_Paulo", "Australia/Lord_Howe",
		"Africa/Casablanca", "America/New_York",
	} {
		for _, spec := range []string{"*/20 1-3 * * *", "0 0 * * *", "5 * * * *", "59 23 31 * *"} {
			times, err := job.Parse(spec, zone)
			if err != nil {
				t.Fatal(err)
			}
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for range 2_000 {
				next := times.Next(at)
				if !next.After(at) || next.Sub(at) > 63*24*time.Hour {
					t.Fatalf("%s in %s: after %s comes %s", spec, zone, at, next)
				}
				at = next
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, zone, field string }{
		{"", "", "cron"},
		{"* * * *", "", "cron"},
		{"* * * * * *", "", "cron"},
		{"@every 1s", "", "cron"},
		{"@daily", "", "cron"},
		{"60 * * * *", "", "cron"},
		{"TZ=UTC 1 2 3 4", "", "cron"},
		{"CRON_TZ=Asia/Tokyo", "", "cron"},
		{"0 0 30 2 *", "", "cron"},
		{"* * * * {x}", "", "cron"},
		{strings.Repeat("1,", 200) + "1 * * * *", "", "cron"},
		{"0 6 * * *", "Local", "time_zone"},
		{"0 6 * * *", "Mars/Olympus", "time_zone"},
		{"0 6 * * *", "../../etc/passwd", "time_zone"},
	} {
		_, err := job.Parse(c.spec, c.zone)
		var field *callvet.FieldError
		if !errors.As(err, &field) || field.Field != c.field || !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%q in %q: %v", c.spec, c.zone, err)
		}
	}
}

// The example is that of the specification: standard-webhooks, spec/standard-webhooks.md.
func TestSign(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	err := job.Sign(h, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek",
		time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if err != nil || h.Get("webhook-signature") != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" ||
		h.Get("webhook-timestamp") != "1614265330" || h.Get("webhook-id") != "msg_p5jXN8AQM9LWM0D4loKWxJek" {
		t.Errorf("%v %v", h, err)
	}
	made, err := job.NewSecret(bytes.NewReader(make([]byte, 100)))
	if err != nil || !strings.HasPrefix(made, job.SecretPrefix) || job.Sign(h, made, "x", time.Unix(1, 0), nil) != nil {
		t.Errorf("%q %v", made, err)
	}
	if _, err := job.NewSecret(bytes.NewReader(nil)); err == nil {
		t.Error("a secret of nothing")
	}
	for _, secret := range []string{"", "x", "whsec_", "whsec_?"} {
		if err := job.Sign(h, secret, "x", time.Unix(1, 0), nil); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	sum, n := time.Duration(0), 1
	for ; ; n++ {
		wait, ok := job.Retry(n)
		if !ok {
			break
		}
		sum += wait
	}
	if n != 8 || sum < 12*time.Hour || sum > 25*time.Hour {
		t.Errorf("%d attempts in %s", n, sum)
	}
	if _, ok := job.Retry(0); ok {
		t.Error("a wait before the first attempt")
	}
}
