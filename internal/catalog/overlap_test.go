// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"testing"

	"github.com/callvet/callvet"
)

func TestOverlap(t *testing.T) {
	t.Parallel()
	alike, err := Overlap(t.Context(), []callvet.Tool{
		{Name: "get_weather", Description: "Current weather of a city"},
		{Name: "get_forecast", Description: "Weather forecast of a city for the coming days"},
		{Name: "weather_now", Description: "Gives the current weather in a city."},
		{Name: "pay_invoice", Description: "Pays an open invoice from an account"},
		{Name: "send_email", Description: "Sends a message to a person"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for pair, want := range map[[2]string]bool{
		{"get_weather", "weather_now"}: true, {"get_weather", "get_forecast"}: true,
		{"get_weather", "pay_invoice"}: false, {"get_weather", "send_email"}: false,
		{"pay_invoice", "send_email"}: false, {"get_weather", "get_weather"}: false, {"get_weather", "gone"}: false,
	} {
		if alike(pair[0], pair[1]) != want || alike(pair[1], pair[0]) != want {
			t.Errorf("%v: %v", pair, !want)
		}
	}
}
