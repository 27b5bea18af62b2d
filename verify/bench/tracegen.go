// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
)

// param is one argument of a generated tool, with the JSON texts it may take.
type param struct {
	name     string
	schema   string
	texts    []string
	optional bool
}

// traceTool is a tool of a generated trace file.
type traceTool struct {
	name, version, family string
	params                []param
}

// traceCatalog has the tools of generated traces: twelve tools of six families.
func traceCatalog() []traceTool {
	country := oneOf("country", "AR", "BR", "US", "SE", "DE")
	goods := oneOf("category", "electronics", "clothing", "books", "furniture")
	query := free("query", "lämplig jacka", "não chegou ainda", "wireless keyboard", "pedido dañado", "Größe 42, blau")
	orderID := free("order_id", "A-104233", "A-593811", "B-000127", "C-771902")
	amount := param{
		name: "amount", schema: `{"type":"number","minimum":0,"maximum":10000}`,
		texts: numbers(0, 0.25, 97), optional: true,
	}
	quantity := param{
		name: "quantity", schema: `{"type":"integer","minimum":1,"maximum":40}`, texts: numbers(1, 1, 40),
		optional: true,
	}
	contact := free("to", "customer-5531", "customer-8802", "warehouse-north", "billing")
	template := oneOf("template", "refund_sent", "order_late", "parcel_lost")
	reason := free("reason", "damaged on arrival", "ordered twice", "changed my mind")
	return []traceTool{
		{"get_refund_policy", "v3", "refunds", []param{country, goods, amount}},
		{"issue_refund", "v2", "refunds", []param{orderID, reason, amount}},
		{"find_articles", "v1", "search", []param{query, oneOf("lang", "es", "pt", "en", "sv", "de")}},
		{"find_orders", "v4", "search", []param{query, oneOf("state", "open", "shipped", "closed"), quantity}},
		{"read_order", "v2", "orders", []param{orderID, country}},
		{"change_order", "v1", "orders", []param{orderID, reason, quantity}},
		{"stock_level", "v1", "goods", []param{goods, country, quantity}},
		{
			"convert_money", "v2", "goods",
			[]param{oneOf("from", "EUR", "SEK", "USD"), oneOf("into", "BRL", "ARS", "EUR"), amount},
		},
		{"open_ticket", "v5", "support", []param{reason, oneOf("priority", "low", "normal", "high")}},
		{
			"route_ticket", "v1", "support",
			[]param{free("ticket", "T-1", "T-20", "T-300"), oneOf("team", "north", "south", "night")},
		},
		{"send_mail", "v2", "messages", []param{contact, template}},
		{"send_text", "v1", "messages", []param{contact, template, country}},
	}
}

func oneOf(name string, values ...string) param {
	texts := quoted(values)
	list, _ := json.Marshal(values)
	return param{name: name, schema: `{"type":"string","enum":` + string(list) + `}`, texts: texts}
}

func free(name string, values ...string) param {
	return param{name: name, schema: `{"type":"string","minLength":1,"maxLength":200}`, texts: quoted(values)}
}

func quoted(values []string) []string {
	var out []string
	for _, v := range values {
		out = append(out, `"`+v+`"`)
	}
	return out
}

func numbers(from, step float64, n int) []string {
	var out []string
	for i := range n {
		out = append(out, strconv.FormatFloat(from+step*float64(i), 'f', -1, 64))
	}
	return out
}

// traceTools returns the tools file of the traces.
func traceTools() ([]byte, error) {
	var out []any
	for _, t := range traceCatalog() {
		props, required := map[string]json.RawMessage{}, []string{}
		for _, p := range t.params {
			props[p.name] = json.RawMessage(p.schema)
			if !p.optional {
				required = append(required, p.name)
			}
		}
		out = append(out, map[string]any{
			"name": t.name, "version": t.version, "tags": []string{t.family},
			"parameters": map[string]any{
				"type": "object", "properties": props, "required": required, "additionalProperties": false,
			},
		})
	}
	return json.Marshal(out)
}

// traceMaker writes steps of tasks one after the other. Everything it writes is
// a function of its seed.
type traceMaker struct {
	r     *rand.Rand
	tools []traceTool
	task  int
	turn  int
	left  int
	lang  string
	line  []byte
	args  []byte
	gold  []byte
	vals  []string
}

func newTraceMaker(seed uint64) *traceMaker {
	return &traceMaker{r: rand.New(rand.NewPCG(seed, 0x7261636573)), tools: traceCatalog()}
}

// writeTraces writes n step records of about 500 bytes in the form of
// "Evaluating Tool Calling", Trace schema. Every brokenth line is cut short, so
// that it is no record; with 0 no line is cut.
func writeTraces(ctx context.Context, w io.Writer, n int, seed uint64, broken int) error {
	out := bufio.NewWriterSize(w, 1<<20)
	m := newTraceMaker(seed)
	for i := range n {
		if i&0xffff == 0 && ctx.Err() != nil {
			return fmt.Errorf("write traces: %w", ctx.Err())
		}
		line := m.next()
		if broken > 0 && i%broken == broken-1 {
			line = line[:len(line)/2]
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write traces: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write traces: %w", err)
	}
	return nil
}

// next returns the next line without its end; it is valid until the following call.
func (m *traceMaker) next() []byte {
	if m.left == 0 {
		m.task++
		m.turn, m.left = 0, 1+m.r.IntN(8)
		m.lang = [...]string{"es-AR", "pt-BR", "en-US", "sv-SE", "de-DE"}[m.r.IntN(5)]
	}
	m.left--
	m.turn++
	t := &m.tools[m.r.IntN(len(m.tools))]
	status := m.status()
	m.arguments(t, status == "rejected_by_contract" || m.r.IntN(400) == 0)
	b := append(m.line[:0], `{"task_id":"t_`...)
	b = append(seven(b, m.task), `","turn_id":`...)
	b = append(strconv.AppendInt(b, int64(m.turn), 10), `,"call_id":"t_`...)
	b = append(seven(b, m.task), '#')
	b = append(strconv.AppendInt(b, int64(m.turn), 10), `#1","tool":"`...)
	b = append(append(append(append(b, t.name...), '@'), t.version...), `","args":`...)
	b = append(append(b, m.args...), `,"args_raw":"`...)
	for _, c := range m.args {
		if c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	b = append(b, `","accept_time_ms":`...)
	b = strconv.AppendInt(b, int64(40+m.r.IntN(500)), 10)
	b = m.result(b, status)
	b = append(b, `,"latency_ms":{"queue":`...)
	b = append(strconv.AppendInt(b, int64(m.r.IntN(15)), 10), `,"exec":`...)
	b = append(strconv.AppendInt(b, int64(math.Exp(4+0.8*m.r.NormFloat64())), 10), `},"status":"`...)
	b = append(append(b, status...), `","gold":{"needed":`...)
	b = append(strconv.AppendBool(b, m.r.IntN(100) >= 7), `,"args":`...)
	b = append(append(b, m.gold...), `,"result_check":"`...)
	b = append(b, [...]string{"count >= 0", "count >= 3", "count < 85"}[m.r.IntN(3)]...)
	b = append(append(append(b, `"},"tags":["`...), t.family...), `","`...)
	m.line = append(append(b, m.lang...), `"]}`...)
	return m.line
}

func (m *traceMaker) status() string {
	switch p := m.r.IntN(1000); {
	case p < 15:
		return "rejected_by_contract"
	case p < 35:
		return "exec_error"
	case p < 43:
		return "timeout"
	}
	return "ok"
}

// arguments makes gold and emitted arguments; one in twelve has a different value. Invalid arguments
// lack a required argument or have an undeclared one.
func (m *traceMaker) arguments(t *traceTool, invalid bool) {
	m.vals = m.vals[:0]
	for _, p := range t.params {
		v := ""
		if !p.optional || m.r.IntN(2) == 0 {
			v = p.texts[m.r.IntN(len(p.texts))]
		}
		m.vals = append(m.vals, v)
	}
	m.gold = m.object(m.gold[:0], t, m.vals)
	if m.r.IntN(12) == 0 {
		k := m.r.IntN(2)
		m.vals[k] = t.params[k].texts[m.r.IntN(len(t.params[k].texts))]
	}
	if invalid {
		m.vals[m.r.IntN(2)] = [...]string{"", "null", "[1,2]"}[m.r.IntN(3)]
	}
	m.args = m.object(m.args[:0], t, m.vals)
}

func (m *traceMaker) object(b []byte, t *traceTool, vals []string) []byte {
	b = append(b, '{')
	for i, v := range vals {
		if v == "" {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), t.params[i].name...), `":`...)
		b = append(b, v...)
	}
	return append(b, '}')
}

func (m *traceMaker) result(b []byte, status string) []byte {
	if status != "ok" {
		b = append(append(b, `,"result":null,"error":{"code":"`...), status...)
		return append(b, `","message":"the service behind the tool gave no answer"}`...)
	}
	b = append(b, `,"result":{"count":`...)
	b = append(strconv.AppendInt(b, int64(m.r.IntN(90)), 10), `,"notes":["`...)
	b = append(b, [...]string{
		"defecto de fabricación: 90 días", "só com nota fiscal", "unopened, within 30 days of \\\"delivery\\\"",
		"kontakta butiken först", "Versand nach Österreich dauert länger",
	}[m.r.IntN(5)]...)
	return append(b, `"]},"error":null`...)
}

// seven appends a number with at least seven digits.
func seven(b []byte, n int) []byte {
	for limit := 1_000_000; limit > n && limit > 1; limit /= 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(n), 10)
}
