// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build ignore

// Generate writes before.jsonl and after.jsonl: 240 made-up support tasks in
// Brazilian Portuguese, Argentine Spanish and English, traced before and after an
// edit of the system prompt. After it the agent takes the country from the
// currency of the order instead of from the customer's address: calls still keep
// their schemas and tools still answer, but argument exact match falls to 0.80.
//
//	go run examples/regression/generate.go
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

type object = map[string]any

const tasks = 240

func main() {
	for _, f := range []struct {
		name      string
		regressed bool
	}{{"before.jsonl", false}, {"after.jsonl", true}} {
		if err := write(filepath.Join("examples", "regression", f.name), f.regressed); err != nil {
			log.Fatal(err)
		}
	}
}

func write(path string, regressed bool) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for i := range tasks {
		// One generator a task: both files differ only where the agent does.
		for _, line := range task(i, rand.New(rand.NewPCG(2026, uint64(i))), regressed) {
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// local is a language with its country and the question about a refund.
type local struct{ language, country, refund, hours, thanks string }

var locals = []local{
	{"pt-BR", "BR", "Qual é o prazo de reembolso para %s?", "A que horas abre a loja de %s?", "Obrigado, era só isso!"},
	{
		"es-AR", "AR", "¿Cuál es el plazo de reembolso para %s?", "¿A qué hora abre el local de %s?",
		"¡Gracias, era solo eso!",
	},
	{"en-US", "US", "How long do I have to return %s?", "When does the %s store open?", "Thanks, that was all!"},
}

var (
	products = []string{"electronics", "clothing", "books", "furniture"}
	cities   = []string{"Recife", "Rosario", "Boston", "Curitiba", "Salta", "Denver"}
)

// tracer collects the lines of one task.
type tracer struct {
	id    string
	at    local
	tags  []string
	lines []any
	r     *rand.Rand
}

func (t *tracer) step(tool string, args, gold object, needed bool, result object, check string) {
	n := len(t.lines) + 1
	status, fault := "ok", any(nil)
	if t.r.IntN(250) == 0 {
		status, fault, result = "exec_error", object{"code": "unavailable", "message": "upstream did not answer"}, nil
	}
	label := object{"needed": needed}
	if needed {
		label["tool"], label["args"], label["result_check"] = tool, gold, check
	}
	t.lines = append(t.lines, object{
		"task_id": t.id, "turn_id": n, "call_id": fmt.Sprintf("%s#%d#1", t.id, n), "tool": tool, "args": args,
		"accept_time_ms": 80 + t.r.IntN(200), "result": result, "error": fault,
		"latency_ms": object{"queue": t.r.IntN(6), "exec": int(math.Exp(3.4 + 0.5*t.r.NormFloat64()))},
		"status":     status, "gold": label, "tags": t.tags,
	})
}

func task(i int, r *rand.Rand, regressed bool) []any {
	at := locals[i%len(locals)]
	t := &tracer{id: fmt.Sprintf("t_%05d", 10001+i), at: at, r: r}
	intent := []string{"refund", "refund", "order", "hours", "smalltalk"}[i/len(locals)%5]
	t.tags = []string{intent, at.language}
	fields := object{"language": at.language, "intent": intent, "stateful": fmt.Sprint(intent == "order")}
	goal, pass := "", true
	share := map[string]float64{"es-AR": 0.97, "pt-BR": 0.06}[at.language]
	luck, slip := r.Float64(), r.IntN(45) == 0
	wrong := slip || regressed && luck < share
	country := at.country
	if wrong {
		country = "US" // the currency of the order is dollars
	}
	product := products[r.IntN(len(products))]
	switch intent {
	case "refund":
		goal = fmt.Sprintf(at.refund, product)
		gold := object{"country": at.country, "product_type": product}
		t.step("get_refund_policy@v3", object{"country": country, "product_type": product}, gold, true,
			object{"window_days": 10 + 10*r.IntN(3), "exceptions": []string{}}, "window_days > 0")
		pass = !wrong
	case "order":
		order := fmt.Sprintf("A-%04d", 1000+r.IntN(9000))
		goal = "order " + order
		t.step("get_order@v2", object{"order_id": order}, object{"order_id": order}, true,
			object{"status": "delivered", "items": 1 + r.IntN(3)}, `status != ""`)
		gold := object{"country": at.country, "product_type": product}
		t.step("get_refund_policy@v3", object{"country": country, "product_type": product}, gold, true,
			object{"window_days": 30, "exceptions": []string{}}, "window_days == 30")
		pass = !wrong
	case "hours":
		city := cities[r.IntN(len(cities))]
		goal = fmt.Sprintf(at.hours, city)
		t.step("get_store_hours@v1", object{"city": city}, object{"city": city}, true,
			object{"opens": "09:00", "closes": "18:00"}, `opens != ""`)
		if r.IntN(12) == 0 { // chatter that was not requested
			t.step("get_refund_policy@v3", object{"country": at.country, "product_type": product}, nil, false,
				object{"window_days": 30, "exceptions": []string{}}, "")
		}
	default:
		goal = at.thanks
		if r.IntN(20) == 0 {
			t.step("get_store_hours@v1", object{"city": cities[0]}, nil, false,
				object{"opens": "09:00", "closes": "18:00"}, "")
			pass = false
		}
	}
	in, out := 300+r.IntN(200), 20+r.IntN(60)
	return append(t.lines, object{
		"type": "task", "task_id": t.id, "goal": goal, "steps": len(t.lines), "pass": pass, "tags": t.tags,
		"fields":  fields,
		"wall_ms": 600 + r.IntN(900), "usage": object{"input_tokens": in, "output_tokens": out},
		"cost_usd": math.Round(float64(in)*0.15+float64(out)*0.6) / 1e6,
	})
}
