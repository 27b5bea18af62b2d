// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
)

func shop() []callvet.Tool {
	tool := func(name, desc, schema string) callvet.Tool {
		return callvet.Tool{Name: name, Description: desc, Parameters: json.RawMessage(schema)}
	}
	return []callvet.Tool{
		tool("getWeather", "Current weather and temperature for a city",
			`{"type":"object","required":["city"],"properties":{
			"city":{"type":"string"},"units":{"type":"string","enum":["celsius","fahrenheit"]}}}`),
		tool("search_hotels", "Search hotels in a city",
			`{"type":"object","required":["city","check_in","nights"],"properties":{
			"city":{"type":"string"},"check_in":{"type":"string","format":"date"},"nights":{"type":"integer","minimum":1},"max_price":{"type":"number","description":"Highest price in EUR"}}}`),
		tool("book_hotel", "Book a hotel room",
			`{"type":"object","required":["hotel_id"],"properties":{"hotel_id":{"type":"string"}}}`),
		tool("cancel_order", "Cancel an order",
			`{"type":"object","required":["order_id"],"properties":{"order_id":{"type":"string","pattern":"^[A-Z]{2}-[0-9]{3}$"}}}`),
		tool("refund_policy", "Refund window (reembolso) for a country",
			`{"type":"object","required":["country"],"properties":{
			"country":{"type":"string","enum":["AR","BR"],"description":"AR = Argentina, BR = Brasil"}}}`),
		tool("send_email", "Send an email message", `{"type":"object","required":["to","subject"],"properties":{
			"to":{"type":"string"},"subject":{"type":"string"},"urgent":{"type":"boolean"},"copies":{"type":"array","items":{"type":"integer"}}}}`),
		tool("convert_currency", "Convert an amount of money between currencies",
			`{"type":"object","required":["amount","from","to"],"properties":{
			"amount":{"type":"number"},"from":{"type":"string","enum":["EUR","USD","SEK"]},"to":{"type":"string","enum":["EUR","USD","SEK"]}}}`),
		tool("set_lamp", "Switch a lamp",
			`{"type":"object","required":["room","state"],"properties":{"room":{"type":"string","enum":["kitchen","living room"]},
			"state":{"type":"object","required":["on"],"properties":{"on":{"type":"boolean"},"brightness":{"type":"integer","description":"percent"}}}}}`),
	}
}

func lexicalAnswer(t testing.TB, req *callvet.Request) string {
	t.Helper()
	m, target := OpenLexical()
	if !target.Floor {
		t.Fatalf("target %+v", target)
	}
	resp, err := m.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(resp.Turns[0].Content)
	for _, c := range resp.Turns[0].Calls {
		b.WriteString(" " + c.Tool + string(c.Args))
	}
	return strings.TrimSpace(b.String())
}

func TestLexical(t *testing.T) {
	t.Parallel()
	const none = "I have no tool for that."
	for text, want := range map[string]string{
		"What's the weather in Paris?":                                         `getWeather{"city":"Paris"}`,
		"What is the temperature in São Paulo, in Fahrenheit?":                 `getWeather{"city":"São Paulo","units":"fahrenheit"}`,
		"Weather in Rio de Janeiro and London":                                 `getWeather{"city":"Rio de Janeiro"} getWeather{"city":"London"}`,
		"Search a hotel in Oslo on 3 May 2026 for two nights, max price 99.50": `search_hotels{"city":"Oslo","check_in":"2026-05-03","nights":2,"max_price":99.50}`,
		"Search hotels in Lima, Cusco and Quito on 2026-12-01 for 2 nights": `search_hotels{"city":"Lima","check_in":"2026-12-01","nights":2} ` +
			`search_hotels{"city":"Cusco","check_in":"2026-12-01","nights":2} search_hotels{"city":"Quito","check_in":"2026-12-01","nights":2}`,
		"Search hotels in Lima for tomorrow, 3 nights.":                                        `search_hotels{"city":"Lima","check_in":"2026-11-22","nights":3}`,
		"Please cancel my order AB-123.":                                                       `cancel_order{"order_id":"AB-123"}`,
		"Qual é o prazo de reembolso na Argentina?":                                            `refund_policy{"country":"AR"}`,
		"Send an urgent email to ana@example.com, subject \"Lunch and tea\"":                   `send_email{"to":"ana@example.com","subject":"Lunch and tea","urgent":true}`,
		"Convert 1,250 USD to SEK":                                                             `convert_currency{"amount":1250,"from":"USD","to":"SEK"}`,
		"Switch the living room lamp off":                                                      `set_lamp{"room":"living room","state":{"on":false}}`,
		"Cancel my order AB-123 and send an email to bo@example.com with the subject \"Gone\"": `cancel_order{"order_id":"AB-123"} send_email{"to":"bo@example.com","subject":"Gone"}`,
		"Who wrote Don Quixote?":                                                               none,
		"Good morning!":                                                                        none,
		"Book the hotel, please.":                                                              none,
		"":                                                                                     none,
	} {
		req := &callvet.Request{
			System: "Today is 2026-11-21.", Tools: callvet.NewToolset(shop()),
			Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: text}},
		}
		if got := lexicalAnswer(t, req); got != want {
			t.Errorf("%q\n got  %s\n want %s", text, got, want)
		}
	}
}

func TestLexicalChoiceAndTurns(t *testing.T) {
	t.Parallel()
	user := func(s string) callvet.Turn { return callvet.Turn{Role: callvet.RoleUser, Content: s} }
	tools := callvet.NewToolset(shop())
	check := func(want string, req *callvet.Request) {
		t.Helper()
		req.Tools = tools
		if d := cmp.Diff(want, lexicalAnswer(t, req)); d != "" {
			t.Error(d)
		}
	}
	check("I have no tool for that.",
		&callvet.Request{ToolChoice: "none", Turns: []callvet.Turn{user("Weather in Paris")}})
	check(`cancel_order{}`,
		&callvet.Request{ToolChoice: "cancel_order", Turns: []callvet.Turn{user("Weather in Paris")}})
	check(`getWeather{"city":"Rome"}`,
		&callvet.Request{
			ToolChoice: "required",
			Turns: []callvet.Turn{
				user("And Rome?"),
				{Role: callvet.RoleAssistant},
				user("I meant the weather in Rome"),
			},
		})
	check(`search_hotels{"city":"Oslo","check_in":"2026-12-01","nights":4}`, &callvet.Request{Turns: []callvet.Turn{
		user("Search hotels in Oslo on 2026-12-01"),
		{Role: callvet.RoleAssistant, Content: "How many nights?"},
		user("4 nights"),
	}})
	turns := []callvet.Turn{
		user("Search hotels in Oslo on 2026-12-01 for 2 nights and book the cheapest hotel"),
		{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: "search_hotels"}}},
		{
			Role: callvet.RoleTool, Tool: "search_hotels",
			Content: `{"hotels":[{"id":"H-1","price":140},{"id":"H-2","price":95}]}`,
		},
	}
	check(`search_hotels{"city":"Oslo","check_in":"2026-12-01","nights":2}`, &callvet.Request{Turns: turns[:1]})
	check(`book_hotel{"hotel_id":"H-2"}`, &callvet.Request{Turns: turns})
	turns = append(turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: "book_hotel"}}},
		callvet.Turn{Role: callvet.RoleTool, Content: `{"status":"confirmed","seats":[1,2]}`})
	if got := lexicalAnswer(t, &callvet.Request{Turns: turns, Tools: tools}); !strings.HasPrefix(got,
		"status: confirmed; seats: 1; seats: 2") {
		t.Error(got)
	}
}

// TestLexicalArgumentsAreJSON holds for any text: one answer, the same every
// time, with arguments that are JSON objects of known parameters only.
func TestLexicalArgumentsAreJSON(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset(shop())
	words := rapid.SampledFrom(
		strings.Fields(
			"weather in Paris and email ana@example.com 3 -2.5 1,000 \"x\" “y” book hotel H-2 kitchen off 31 May 2026-02-30 ; ? convert USD to SEK cancel order AB-123 ' É \xff"))
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 0, 14).Draw(rt, "words"), " ")
		req := &callvet.Request{
			Tools: tools, ToolChoice: "required",
			Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: text}},
		}
		m, _ := OpenLexical()
		a, err := m.Generate(t.Context(), req)
		if err != nil {
			rt.Fatal(err)
		}
		b, _ := m.Generate(t.Context(), req)
		if d := cmp.Diff(a, b); d != "" {
			rt.Fatal(d)
		}
		for _, c := range a.Turns[0].Calls {
			var args map[string]json.RawMessage
			if err := json.Unmarshal(c.Args, &args); err != nil {
				rt.Fatalf("%q: %s: %v", text, c.Args, err)
			}
			for k := range args {
				if !strings.Contains(string(tools.Find(c.Tool).Parameters), `"`+k+`"`) {
					rt.Fatalf("%q: unknown parameter %s", text, k)
				}
			}
		}
	})
}

func FuzzLexical(f *testing.F) {
	f.Add("Search a hotel in Oslo on 3 May 2026 for two nights",
		`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x"]}}}}`)
	f.Add("it's 'quoted' at 7pm #12 -- éÉ",
		`{"properties":{"time":{"pattern":"^a*$"},"d":{"format":"date-time"}},"required":["time"]}`)
	f.Fuzz(func(t *testing.T, text, schema string) {
		tools := append(shop()[:2], callvet.Tool{Name: "fuzzTool", Parameters: json.RawMessage(schema)})
		m, _ := OpenLexical()
		resp, err := m.Generate(t.Context(), &callvet.Request{
			Tools: callvet.NewToolset(tools), ToolChoice: "fuzzTool",
			Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: text}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range resp.Turns[0].Calls {
			if !json.Valid(c.Args) {
				t.Fatalf("%q %q: %s", text, schema, c.Args)
			}
		}
	})
}

func BenchmarkLexical(b *testing.B) {
	m, _ := OpenLexical()
	req := &callvet.Request{
		Tools: callvet.NewToolset(shop()),
		Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "Search a hotel in Oslo on 3 May 2026 for two nights"}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Generate(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
